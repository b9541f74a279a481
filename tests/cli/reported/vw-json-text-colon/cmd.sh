#!/bin/sh
vwlite vw -t -d t.json --json --audit --quiet
