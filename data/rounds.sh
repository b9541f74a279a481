#!/bin/sh
# Learn from shards in rounds, as many at a time as there are processors. Usage: rounds.sh ROUNDS MODEL SHARD...
# The shards are files of any format whose names have no blanks; OPTIONS are those of `vwlite train`.
set -eu
rounds=$1 model=$2; shift 2
run=${RUN:-parallel --halt now,fail=1}  # RUN='xargs -P 4 -I{} sh -c' does without GNU parallel
begin=${OPTIONS:---algorithm gd --loss logistic} start= state=mean
for round in $(seq "$rounds"); do
    if [ "$round" = "$rounds" ]; then state=sum; fi
    printf '%s\n' "$@" | $run "vwlite train {} $begin --holdout-to {}.held -m {}.model --quiet"
    vwlite merge $(printf '%s.model ' "$@") $start $(printf -- '--holdout %s.held ' "$@") --state $state -o "$model.$round"
    begin="-i $model.$round" start="--start $model.$round"
done
mv "$model.$round" "$model"
