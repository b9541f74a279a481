"""The log of requests: what was asked and answered, one object of JSON on a line."""

import json
from typing import Any

from vwlite.errors import CannotCreateError
from vwlite.output.stdio import say


class AccessLog:
    """A file to append to, by several threads and processes. It is opened for each line, so it may be moved away.
    path: None if there is none."""

    def __init__(self, path: str | None) -> None:
        self.path, self._failed = path, False
        if path is not None:
            try:
                open(path, "ab").close()
            except OSError as e:
                raise CannotCreateError(f"{path}: cannot be written: {e.strerror}") from e

    def add(self, row: dict[str, Any]) -> None:
        if self.path is None:
            return
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(json.dumps(row).encode() + b"\n")  # at once, so that lines are whole
            self._failed = False
        except OSError as e:
            if not self._failed:
                say(f"warning: {self.path}: {e.strerror}; requests are not logged until it can be written again")
            self._failed = True


def text_of(data: bytes) -> str:
    """Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
    return data.decode("utf-8", "surrogateescape")
