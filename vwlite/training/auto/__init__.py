"""`--algorithm auto`: learning without tuning. See `vwlite algorithms auto`."""
