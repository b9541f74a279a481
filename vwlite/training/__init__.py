"""`vwlite train` and `vwlite tune`: passes, what `auto` chooses, models that are continued."""
