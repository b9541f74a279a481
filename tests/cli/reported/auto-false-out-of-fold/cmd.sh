#!/bin/sh
vwlite train ratings.csv --label churned -m m --fail-if 'log_loss>0.66' > log 2>&1; echo "rc of train --fail-if 'log_loss>0.66': $?"
grep -E 'chosen|out-of-fold' log
vwlite evaluate -m m ratings.csv | sed -n '1,8p'
sed '1s/.*/score,complained/' ratings.csv > renamed.csv
echo 'the same rows with other column names:'; vwlite train renamed.csv --label complained -m n 2>&1 | grep chosen
