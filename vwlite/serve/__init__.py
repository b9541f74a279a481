"""`vwlite serve`: predictions over HTTP, and over TCP line by line."""
