"""The program, `vwlite` or `python -m vwlite`: ready for signals before it imports what it is made of."""

import os

from vwlite import standard
from vwlite.signals import StopSignal, end_at_once


def main() -> None:
    """Run the program and exit. As long as there is nothing to be finished, the first signal ends it."""
    standard.occupy()  # or the pipe for signals takes the place of a standard input that is closed
    end_at_once()  # before there are handlers, and when there are none any more
    signals = StopSignal()
    signals.then(lambda: os._exit(128 + (signals.number or 0)))
    with signals:
        from vwlite import cli

        cli.main()


if __name__ == "__main__":
    main()
