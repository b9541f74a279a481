"""The log of requests: what was asked and answered, one object of JSON on a line."""

import json
import os
from typing import Any

from vwlite.errors import CannotCreateError
from vwlite.output.stdio import say


class AccessLog:
    """A file to append to, by several threads and processes. path: None if there is none."""

    def __init__(self, path: str | None) -> None:
        self.path, self._failed = path, False
        if path is not None:
            try:
                self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError as e:
                raise CannotCreateError(f"{path}: cannot be written: {e.strerror}") from e

    def add(self, row: dict[str, Any]) -> None:
        try:
            os.write(self._fd, json.dumps(row).encode() + b"\n")  # at once, so that lines are whole
            self._failed = False
        except OSError as e:
            if not self._failed:
                say(f"warning: {self.path}: {e.strerror}; requests are not logged until it can be written again")
            self._failed = True


def text_of(data: bytes) -> str:
    """Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
    return data.decode("utf-8", "surrogateescape")
