"""Standard input, output and error as the program needs them.

Whatever they are - closed, a full disk, a closed pipe -, results are never lost
without an error, and failing messages never cause one.
"""

import io
import os
import select
import sys
from typing import Any, TextIO

from vwlite.errors import ClosedPipe, WriteError


class StandardStream(io.RawIOBase):
    """One of the standard streams that are written to."""

    descriptor: int

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return os.isatty(self.descriptor)


class Output(StandardStream):
    """Standard output. WriteError if it cannot be written, ClosedPipe if its reader has gone.

    What is written after that goes nowhere: it would only fail again, at the latest when Python ends.
    """

    descriptor = 1

    def __init__(self) -> None:
        self._failed = False

    def write(self, data: "memoryview", /) -> int:  # type: ignore[override]
        while not self._failed:
            try:
                return os.write(1, data)
            except BlockingIOError:  # somebody who shares it has made it so
                select.select([], [1], [])
            except BrokenPipeError as e:
                self._failed = True
                raise ClosedPipe("the reader of standard output has gone") from e
            except OSError as e:
                self._failed = True
                raise WriteError(f"standard output: cannot be written: {e.strerror}") from e
        return len(data)


class Words(StandardStream):
    """Standard error. Output that fails is dropped, and the work continues."""

    descriptor = 2

    def write(self, data: "memoryview", /) -> int:  # type: ignore[override]
        try:
            return os.write(2, data)
        except OSError:
            return len(data)


_BOLD = {"Error": "1;31", "warning": "1;33", "note": "1;33"}  # red, yellow


def is_terminal(stream: TextIO) -> bool:
    """Whether a line on it can be erased and written again."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colors(stream: TextIO) -> bool:
    """Whether to use colors: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def plain(text: str) -> str:
    """Text for a person: what is in it, such as the name of a file, must not command a terminal. Line ends and tabs are
    ours, and bytes that are not UTF-8 go out as they came in."""
    if all(c.isprintable() or c in "\n\t" for c in text):
        return text
    kept = (c.isprintable() or c in "\n\t" or "\udc80" <= c <= "\udcff" for c in text)
    return "".join(c if keep else c.encode("unicode_escape").decode() for c, keep in zip(text, kept, strict=True))


as_json = False  # lines on standard error are JSON objects


def say(text: str = "", message: str | None = None, **fields: Any) -> None:
    """A line on standard error. On a terminal, the word before an error, a warning or a note is bold.

    message, fields: of its JSON object, where these are another than the text; message "": there is none.
    """
    kind, colon, rest = text.partition(": ")
    if as_json:
        for line in (text if message is None else message).splitlines():
            if line.strip():
                print(_json(line.strip(), fields), file=sys.stderr)
        return
    rest, text = plain(rest), plain(text)
    if colon and kind in _BOLD and has_colors(sys.stderr):
        text = f"\x1b[{_BOLD[kind]}m{kind}:\x1b[0m {rest}"
    print(text, file=sys.stderr)


def say_error(text: str) -> None:
    """The error that ends the run. On a terminal it begins with a word, as there may be a table above it; a line of
    progress that was left there is erased."""
    if is_terminal(sys.stderr):
        sys.stderr.write("\r\x1b[K")
    say(f"Error: {text}" if sys.stderr.isatty() or as_json else text)


def _json(text: str, fields: dict[str, Any]) -> str:
    """A line as a JSON object: time, level, message, and the place that it names."""
    import json
    import re
    import time

    kind, _, rest = text.partition(": ")
    level, text = (kind.lower(), rest) if kind in _BOLD else ("info", text)
    place = re.match(r"([^:]+):(\d+)(?::\d+)?: ", text)
    level = "warning" if place and level == "info" else level
    found = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "level": level, "message": text}
    at = {"file": place[1], "line": int(place[2])} if place else {}
    return json.dumps({**found, **at, **fields})


def prepare() -> None:
    """Take over sys.stdout and sys.stderr; once, when the program starts."""
    occupy()
    # A file name that is not UTF-8 goes out as the bytes that came in.
    sys.stdout = _text(Output(), "surrogateescape", os.isatty(1))
    sys.stderr = _text(Words(), "backslashreplace", True)


def _text(file: io.RawIOBase, errors: str, by_line: bool) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(file), encoding="utf-8", errors=errors, line_buffering=by_line)


def occupy() -> None:
    """See that 0, 1 and 2 are open, so that no file of ours gets their numbers; using them fails as before."""
    for fd, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            opened = os.open(os.devnull, flags)  # the lowest number that is free: this one
            if opened != fd:
                os.dup2(opened, fd)
                os.close(opened)
            os.set_inheritable(fd, True)
