#!/bin/sh
vwlite convert t.json --label y; echo "rc $?"
vwlite convert pretty.json --label y; echo "rc $?"
