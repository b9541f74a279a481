"""SIGINT, SIGTERM and SIGHUP: the first asks to stop, the second ends the program.

Python's own handler in C writes the number of each signal to a pipe at once, in whichever thread the
signal arrives (numpy has threads of its own) and while the core runs without the GIL. A thread reads
them there. System calls that a signal interrupts are taken up again by Python.
"""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """Calls `on_stop` at the first signal, from a thread of its own; `number` is that signal then.

    A signal that is ignored when the program starts (nohup) stays ignored.
    """

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self.number: int | None = None
        self._on_stop = on_stop
        self._handled = {s for s in STOPPING if signal.getsignal(s) is not signal.SIG_IGN}

    def __enter__(self) -> "StopSignal":
        if self._handled and threading.current_thread() is threading.main_thread():
            self._read, write = os.pipe()
            os.set_blocking(write, False)
            signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            for s in self._handled:
                signal.signal(s, _nothing_more)
            threading.Thread(target=self._wait, name="signals", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Nothing is put back: what is left to do is short, and the thread still ends the program at a
        # second signal.
        pass

    def _wait(self) -> None:
        self.number = self._next()
        self._on_stop()
        os._exit(128 + self._next())

    def _next(self) -> int:
        while True:
            number = os.read(self._read, 1)[0]
            if number in self._handled:
                return number


def _nothing_more(number: int, frame: FrameType | None) -> None:
    """The thread does what there is to do."""
