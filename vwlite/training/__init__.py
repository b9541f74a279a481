"""`vwlite train`: passes, what `auto` chooses, models that are continued."""
