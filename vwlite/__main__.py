"""`python -m vwlite`."""

from vwlite.cli import main

main()
