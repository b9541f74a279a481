"""The program, `vwlite` or `python -m vwlite`: installs signal handlers before the slow imports."""

from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]
from sys import modules

# As long as there is nothing to be finished, SIGINT ends the program as other signals do, and not by a traceback. First
# of all, so from what needs no import; not in processes that multiprocessing starts, which import this file too.
if "multiprocessing" not in modules and getsignal(SIGINT) is default_int_handler:
    signal(SIGINT, SIG_DFL)

import gc
import os
import signal

from vwlite.output import stdio
from vwlite.output.signals import STOPPING, StopSignal


def main() -> None:
    """Run the program and exit. As long as there is nothing to be finished, the first signal ends it; when all is
    finished, none does."""
    gc.set_threshold(100_000)  # what is imported stays: to search it for garbage takes a tenth of a short run
    stdio.occupy()  # or the pipe for signals takes the place of a standard input that is closed
    signals = StopSignal()
    signals.then(lambda: os._exit(128 + (signals.number or 0)))
    signals.__enter__()  # for good: what was there before would end what is left of the process with another code
    from vwlite import cli

    try:
        cli.main()
    finally:
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)
        gc.freeze()  # nor at the end: all files are closed


if __name__ == "__main__":
    main()
