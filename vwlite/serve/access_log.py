"""The log of requests: what was asked and answered, one object of JSON on a line."""

import json
import os
import threading
import time
from typing import Any

from vwlite.errors import CannotCreateError
from vwlite.output.stdio import say
from vwlite.serve.http import Answer, Head


class AccessLog:
    """A file to append to, by several processes. path: None if there is none."""

    def __init__(self, path: str | None) -> None:
        self.path, self._fd, self._failed, self._lock = path, -1, False, threading.Lock()
        try:
            self.reopen()
        except OSError as e:
            raise CannotCreateError(f"{path}: cannot be written: {e.strerror}") from e

    def reopen(self) -> None:
        """Open the file; again, if it was renamed or removed since."""
        if self.path is None:
            return
        with self._lock:
            try:
                if self._fd >= 0 and _same(self._fd, self.path):
                    return
                opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError as e:
                if self._fd < 0:
                    raise
                self._fail(e)
                return
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = opened

    def write(self, head: Head, body: bytes, answer: Answer, about: dict[str, Any], seconds: float) -> None:
        row = {"time": round(time.time(), 6), "method": head.method, "path": head.path, "status": answer.status,
               "seconds": round(seconds, 6), **about}  # fmt: skip
        if head.method == "POST":
            row |= {"request": _text(body), "answer": _text(answer.body)}
        self.add(row)

    def add(self, row: dict[str, Any]) -> None:
        data = json.dumps(row).encode() + b"\n"
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
                self._failed = False
            except OSError as e:
                self._fail(e)

    def _fail(self, e: OSError) -> None:
        if not self._failed:
            say(f"warning: {self.path}: {e.strerror}; requests are not logged until it can be written again")
        self._failed = True


def _same(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def _text(data: bytes) -> str:
    """Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
    return data.decode("utf-8", "surrogateescape")
