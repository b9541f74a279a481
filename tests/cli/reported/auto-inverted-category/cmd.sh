#!/bin/sh
vwlite train renew.csv --label renewed -m m 2>&1 | grep -E 'chosen|out-of-fold'
vwlite predict -m m renew.csv -p p.txt 2>/dev/null
sed 1d renew.csv | paste -d, - p.txt | awk -F, '{n[$1]++; s[$1]+=$2; p[$1]=$3} END {for (k in n) print k, "share of 1:", s[k]/n[k], "predicted:", p[k]}'
vwlite evaluate -m m renew.csv | sed -n '1,8p'
