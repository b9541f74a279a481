"""The compiled part of `vwlite vw`. Only `vwlite.vw` imports it."""
