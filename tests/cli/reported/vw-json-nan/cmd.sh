#!/bin/sh
vwlite vw -d t.json --json -f m --quiet; echo "rc $?"
vwlite vw -t -i m -d t.json --json -p p --readable_model r --quiet; cat p; tail -2 r
