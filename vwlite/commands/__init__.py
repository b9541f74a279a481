"""One module per command of `vwlite`; each is loaded when it is called."""
