"""What only `vwlite vw` needs. Nothing outside of it imports it."""
