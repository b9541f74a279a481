#!/bin/sh
# Makes pages of all kinds in the folder $1: two labels, two models, numbers, classes, names that try to be HTML, effects
# of a table, two days.
set -e
data=$(cd "$(dirname "$0")/../../data" && pwd)
mkdir -p "$1"
cd "$1"
vwlite train --quiet "$data/breast_cancer.train.vw" -m cancer.model
vwlite train --quiet "$data/breast_cancer.train.vw" --algorithm gd --loss logistic --passes 8 --cache-file gd.cache -m gd.model
vwlite report --quiet -m gd.model "$data/breast_cancer.test.vw" --against cancer.model -o two.html
vwlite train --quiet "$data/code.train.csv" --label is_cython -m code.model
vwlite report --quiet -m code.model "$data/code.test.csv" -o table.html
vwlite train --quiet "$data/digits.train.libsvm" --oaa 10 --loss logistic --algorithm gd --passes 4 --cache-file digits.cache -m digits.model
vwlite report --quiet -m digits.model "$data/digits.test.libsvm" -o classes.html
awk 'BEGIN { srand(1); print "y,<script>alert(1)</script>,\"\"\"><svg onload=alert(2)>\""
             for (i = 0; i < 500; i++) { x = rand(); print 3 * x + rand() "," x ",\"<img src=x onerror=alert(3)>" i % 5 "\"" } }' > hostile.csv
vwlite train --quiet hostile.csv --label y --algorithm gd --passes 4 -c -m hostile.model
vwlite report --quiet -m hostile.model hostile.csv -o numbers.html
awk 'BEGIN { srand(2); print "bought,age,visits,city"; split("Rome,Oslo,New York", city, ",")
             for (i = 0; i < 3000; i++) { a = 18 + int(62 * rand()); v = int(20 * rand()); c = city[1 + int(3 * rand())]
               s = 2 * sin(a / 9) + (c == "Rome") + v / 10 - 2
               print (rand() < 1 / (1 + exp(-s))) "," (a == 33 ? "" : a) "," v "," c } }' > customers.csv
vwlite train --quiet customers.csv --label bought -m customers.model
vwlite report --quiet -m customers.model customers.csv -o effects.html
awk -F, 'NR == 1 || $2 > 40' customers.csv > older.csv
vwlite drift --quiet -m customers.model customers.csv older.csv --page drift.html > drift.txt
