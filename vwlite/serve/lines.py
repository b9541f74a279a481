"""Vowpal Wabbit's protocol over TCP: for each line an answer, the line of `vwlite predict`; empty for a bad one."""

import asyncio
import time
from typing import TYPE_CHECKING, cast

from vwlite.core.text.parser import detect
from vwlite.errors import VwliteError
from vwlite.serve.served import PIECE

if TYPE_CHECKING:
    from vwlite.serve.answers import Answers


class LineConnection(asyncio.Protocol):
    """A connection. Its model is the first one."""

    transport: asyncio.Transport

    def __init__(self, answers: "Answers") -> None:
        self._answers, self._loaded = answers, next(iter(answers.models.values()))
        self._in = bytearray()
        self._stuck = self._ended = False
        self.deadline = time.monotonic() + answers.options.timeout

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if not self._answers.admit(self):
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._in += data
        self._advance()
        if len(self._in) > self._answers.options.max_body:
            self.transport.abort()  # a line without end
        elif self._stuck:
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._ended = True
        self._advance()
        return self._stuck

    def pause_writing(self) -> None:
        self._stuck = True
        self.deadline = time.monotonic() + self._answers.options.timeout

    def resume_writing(self) -> None:
        self._stuck = False
        self._advance()
        if not self._stuck and not self.transport.is_closing():
            self.transport.resume_reading()
            if self._ended:
                self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._answers.leave(self)

    def expire(self) -> None:
        """The deadline has come: the client neither writes nor reads."""
        self.transport.abort()

    def drain(self) -> None:
        """Close the connection: what has come was answered."""
        self._ended = True
        if not self._stuck:
            self.transport.close()

    def _advance(self) -> None:
        """Answer the lines that are there."""
        while not self._stuck and not self.transport.is_closing():
            end = self._in.find(b"\n", PIECE) + 1 or self._in.rfind(b"\n") + 1
            if end == 0 and self._ended:
                end = len(self._in)
            if end == 0:
                return
            self.deadline = time.monotonic() + self._answers.options.timeout
            lines = bytes(memoryview(self._in)[:end])
            del self._in[:end]
            model = self._loaded.model
            is_row = model.is_of_table and lines.lstrip()[:1] == b"{"
            try:
                text, counts = model.text(lines, "jsonl" if is_row else detect(lines) or "vw", skip=True)
            except (VwliteError, MemoryError):
                self.transport.close()
                return
            self._answers.metrics.predicted(self._loaded.name, counts)
            self.transport.write(text)
