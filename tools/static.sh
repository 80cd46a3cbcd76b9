#!/bin/sh
# static.sh LD OBJCOPY AR IN.a OUT.a: one object of everything in IN.a, in which only public names are left global, so that
# a program which links it may have names such as arena_new of its own.
set -eu
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$1" -r -o "$object" --whole-archive "$4"
"$2" --localize-hidden "$object"
rm -f "$5"
cp "$object" "$object.o"
trap 'rm -f "$object" "$object.o"' EXIT
"$3" rcs "$5" "$object.o"
