#!/bin/sh
# Attacks a finished build: N random problems checked by counting all plans (default 1,000,000; an hour or so), then N forged
# certificates, which the judge must refuse. SEED (default 1) numbers the first. What fails is made small and written to
# build/attack. Usage: tools/attack.sh BUILD
set -u
build=${1:-build}
n=${N:-1000000}
seed=${SEED:-1}
code=0
say() { printf '\n== %s\n' "$*"; }

say "$n problems from number $seed"
nice "$build/tests/attack/attack" --problems "$n" --seed "$seed" --tool "$build/situ" --folder "$build/attack" || code=1

# The forger of certificates: exit code 1 if one of them proves more than is true.
forge=$build/tests/oracle/test-oracle-forged_certificates
if [ -x "$forge" ]; then
  say "$n forged certificates from number $seed"
  nice "$forge" "$n" "$seed" || code=1
else
  say "no $forge in this build: no forged certificates were tried"
fi
exit "$code"
