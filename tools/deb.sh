#!/bin/sh
# deb.sh BUILD: makes the packages of debian/ into BUILD/deb. They are built in a copy of the files that git knows or would
# take, and with the system's own tools, so that neither build folders nor environments of Python matter.
set -eu
folder=$1/deb
rm -rf "$folder"
mkdir -p "$folder/tree"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$folder/tree"
(cd "$folder/tree" && PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg-buildpackage --build=binary --no-sign) >"$folder/log" 2>&1 ||
  { tail -n 50 "$folder/log"; exit 1; }
rm -rf "$folder/tree"
ls "$folder"/*.deb
