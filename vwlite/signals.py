"""SIGINT, SIGTERM and SIGHUP: the first asks to stop, the second ends the program.

The signals are blocked in every thread, and one thread waits for them. So they arrive while the core
runs without the GIL, and no system call of the program is ever interrupted.
"""

import os
import signal
import threading
from collections.abc import Callable
from types import TracebackType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """Calls `on_stop` at the first signal, from a thread of its own; `number` is that signal then.

    A signal that is ignored when the program starts (nohup) stays ignored.
    """

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self.number: int | None = None
        self._on_stop = on_stop
        self._handled = {s for s in STOPPING if signal.getsignal(s) is not signal.SIG_IGN}
        self._old: set[signal.Signals] | None = None

    def __enter__(self) -> "StopSignal":
        if self._handled and threading.current_thread() is threading.main_thread():
            self._old = set(signal.pthread_sigmask(signal.SIG_BLOCK, self._handled))  # type: ignore[arg-type]
            threading.Thread(target=self._wait, name="signals", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The signals stay blocked: what is left to do is short, and its thread still ends the program
        # at a second signal.
        pass

    def _wait(self) -> None:
        first = signal.sigwait(self._handled)
        self.number = int(first)
        self._on_stop()
        second = signal.sigwait(self._handled)
        os._exit(128 + int(second))

