#!/bin/sh
for f in weight initial only_initial; do echo "$f:"; vwlite vw -d $f.json --json -p p 2>&1 | grep -E 'weighted'; cat p; done
