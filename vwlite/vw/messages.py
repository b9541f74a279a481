"""The output of Vowpal Wabbit: streams, formats of numbers, errors."""

import sys
from typing import TextIO

from vwlite.errors import VwliteError
from vwlite.output.stdio import plain

VERSION = "9.11.2"

LEVELS = ["off", "critical", "error", "warning", "info"]


class Critical(VwliteError):
    """A fatal error of Vowpal Wabbit, with its message.

    place: where its sources say so. example: the number of the example, from 0, that was read then by a thread of its
    own; None: none was.
    """

    exit_code = 1
    example: int | None = None

    def __init__(self, message: str, file: str = "parse_args.cc", line: int = 1) -> None:
        super().__init__(message)
        self.place = f"{file}:{line}"


class Refused(VwliteError):
    """An unsupported option of Vowpal Wabbit."""

    exit_code = 2

    def __init__(self, what: str, why: str = "only Vowpal Wabbit supports it") -> None:
        super().__init__(f"vwlite vw: {what} is not supported: {why}")


class Streams:
    """Where messages go: by default, the driver's to standard error, log lines to standard output."""

    def __init__(self) -> None:
        self.driver: TextIO | None = sys.stderr
        self.log: TextIO | None = sys.stdout
        self.level = "info"
        self.limit = 0  # log lines at most; 0: any number
        self.count = 0

    def say(self, text: str = "") -> None:
        """A line of the driver."""
        if self.driver is not None:
            self.driver.write(plain(text) + "\n")

    def put(self, text: str) -> None:
        """A part of a line of the driver."""
        if self.driver is not None:
            self.driver.write(text)
            self.driver.flush()

    def note(self, level: str, text: str) -> None:
        """A line of the log."""
        if self.log is None or LEVELS.index(level) > LEVELS.index(self.level):
            return
        self.count += 1
        if not self.limit or self.count <= self.limit:
            self.log.write(f"[{level}] {plain(text)}\n")

    def info(self, text: str) -> None:
        self.note("info", text)

    def warn(self, text: str) -> None:
        self.note("warning", text)

    def error(self, text: str) -> None:
        self.note("error", text)

    def flush(self) -> None:
        for stream in (self.driver, self.log):
            if stream is not None:
                stream.flush()


class Messages:
    """Messages that are printed later."""

    def __init__(self) -> None:
        self._held: list[tuple[str, str]] = []

    def say(self, text: str) -> None:
        self._held.append(("say", text))

    def info(self, text: str) -> None:
        self._held.append(("info", text))

    def warn(self, text: str) -> None:
        self._held.append(("warn", text))

    def tell(self, streams: Streams) -> None:
        for how, text in self._held:
            getattr(streams, how)(text)


def short(x: float) -> str:
    """A number as C++ streams print it: %g."""
    return f"{x:g}"


def prediction(p: float) -> str:
    """A number in a file of predictions: integers without decimals."""
    if float(p).is_integer():
        return f"{p:.0f}"
    return f"{p:.6f}"
