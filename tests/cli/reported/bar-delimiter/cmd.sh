#!/bin/sh
vwlite convert t.csv --format csv --label sold; echo "rc $?"
