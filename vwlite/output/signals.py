"""SIGINT, SIGTERM and SIGHUP: the first asks to stop, the second ends the program.

Python's own handler in C writes the number of each signal to a pipe at once, in whichever thread the
signal arrives (numpy has threads of its own) and while the core runs without the GIL. A thread reads
them there. Python restarts system calls that a signal interrupts.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MARK = 0  # no signal has this number


def handled() -> list[signal.Signals]:
    """Those of STOPPING that were not ignored when the program started (nohup)."""
    return [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]


class StopSignal:
    """Calls `on_stop` at the first signal, from a thread of its own; `number` is that signal then.

    A signal that is ignored when the program starts (nohup) stays ignored. At the end everything is as it was.
    If they are nested, the outer one handles the signals that came before the inner one begins.
    """

    _innermost: "StopSignal | None" = None

    def __init__(self, on_stop: Callable[[], None] | None = None) -> None:
        self.number: int | None = None
        self._on_stop = on_stop
        self._telling = threading.Lock()
        self._handled = handled()
        self._thread: threading.Thread | None = None
        self._outer: StopSignal | None = None
        self._marked = threading.Event()

    def then(self, on_stop: Callable[[], None]) -> None:
        """Set the function to call; it is called at once if the signal came earlier."""
        with self._telling:
            self._on_stop, is_late = on_stop, self.number is not None
        if is_late:
            on_stop()

    def __enter__(self) -> "StopSignal":
        if self._handled and threading.current_thread() is threading.main_thread():
            self._read, self._write = os.pipe()
            os.set_blocking(self._write, False)
            self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            self._before = {s: signal.signal(s, _nothing_more) for s in self._handled}
            self._thread = threading.Thread(target=self._wait, name="signals", daemon=True)
            self._thread.start()
            self._outer, StopSignal._innermost = StopSignal._innermost, self
            if self._outer is not None:
                self._outer._catch_up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            return
        for s, handler in self._before.items():
            signal.signal(s, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._write)  # the end for the thread
        self._thread.join()
        os.close(self._read)
        self._thread = None
        StopSignal._innermost = self._outer

    def _catch_up(self) -> None:
        """Wait for the thread to have seen the signals so far."""
        self._marked.clear()
        os.write(self._write, bytes([_MARK]))
        self._marked.wait()

    def _wait(self) -> None:
        # One that this thread took would not interrupt what the main thread waits for.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        number = self._next()
        if number is None:
            return
        with self._telling:
            self.number, on_stop = number, self._on_stop
        if on_stop is not None:
            on_stop()
        number = self._next()
        if number is None:
            return
        output = sys.modules.get("vwlite.output.atomic")
        if output is not None:
            output.abandon_all()
        os._exit(128 + number)

    def _next(self) -> int | None:
        """The next signal; None when there will be none."""
        while data := os.read(self._read, 1):
            if data[0] == _MARK:
                self._marked.set()
            elif data[0] in self._handled:
                return data[0]
        return None


def _nothing_more(number: int, frame: FrameType | None) -> None:
    """The handler of Python does nothing: the thread reacts."""
