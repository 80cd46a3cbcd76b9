#!/bin/sh
# Trains a policy of gdp on generated graphs of many families, by imitation of `auto` and then by trials, and writes it bare.
#
#     train.sh SITU POLICY [STEPS] [SEED]
#
# 24,000 steps unless STEPS says otherwise, some minutes of one core. Run again it continues POLICY.training, where the
# state of the training is. Held out, so that they judge it: gnmt, amoebanet-d, wavenet, llama, moe, gpt2, mobilenet-v2,
# and larger sizes of all.
set -eu
situ=$1 policy=$2 steps=${3:-24000} seed=${4:-1}

# The teacher looks at each world three times, before the first step.
set --
for size in 1 2; do
  set -- "$@" "builtin:rnnlm?layers=$((2 * size))&batch=64&steps=$((10 - size))" \
    "builtin:transformer-xl?layers=$((2 * size))&batch=8&segments=$((4 - size))" \
    "builtin:bert-base?layers=$((2 * size))&batch=$((16 / size))" \
    "builtin:randwire-ws?batch=8&nodes=$((8 + 4 * size))&seed=$size" \
    "builtin:randwire-er?batch=8&nodes=$((8 + 4 * size))&seed=$size" \
    "builtin:randwire-ba?batch=8&nodes=$((8 + 4 * size))&seed=$size" \
    "builtin:layered?operators=$((200 * size))&width=$((4 * size))&seed=$size" \
    "builtin:inception-v3?batch=$((16 * size))" "builtin:resnet50?batch=$((8 * size))" "builtin:vgg16?batch=$((8 * size))"
done
"$situ" learn gdp "$@" --platform 'cpu+2*p100-16g' --platform 'cpu+4*p100-16g' --platform 'cpu+8*v100-16g' \
  --unused cpu --training --forward --teacher auto --seed "$seed" --steps "$steps" --resume \
  -o "$policy.training"
"$situ" learn gdp --bare --from "$policy.training" -o "$policy"
