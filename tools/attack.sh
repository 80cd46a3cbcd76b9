#!/bin/sh
# Attacks a finished build: N random problems checked by counting all plans (default 1,000,000; hours), then N forged
# certificates, which the judge must refuse. SEED (default 1) numbers the first. What fails is made small and written to
# build/attack. Usage: tools/attack.sh BUILD
set -u
build=${1:-build}
n=${N:-1000000}
seed=${SEED:-1}
code=0
say() { printf '\n== %s\n' "$*"; }

say "$n problems from number $seed"
nice "$build/tests/attack/attack" --problems "$n" --seed "$seed" --folder "$build/attack" || code=1

# The forger of certificates: `forge --forgeries N --seed S`, exit code 1 if the judge takes a false one.
forge=$build/tests/attack/forge
if [ -x "$forge" ]; then
  say "$n forged certificates from number $seed"
  nice "$forge" --forgeries "$n" --seed "$seed" || code=1
else
  say "no $forge in this build: no forged certificates were tried"
fi
exit "$code"
