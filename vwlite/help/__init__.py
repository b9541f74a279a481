"""`vwlite help`, `algorithms` and `completion`: texts, and what errors of the command line say."""
