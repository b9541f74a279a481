"""Requests to the server of `vwlite serve`, without sockets: bytes as they arrive, and what is wrong with answers."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from vwlite.serve.access_log import AccessLog
from vwlite.serve.answers import Answers
from vwlite.serve.commands import ServeOptions
from vwlite.serve.connection import Connection, LineConnection
from vwlite.serve.metrics import Metrics
from vwlite.serve.models import Models
from vwlite.serve.request import REASONS

GOOD = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nConnection: close\r\n\r\n1 |a x y:2\n\n"
_HEAD = re.compile(rb"HTTP/1\.1 (\d+) ([^\r\n]+)\r\n((?:[A-Za-z-]+: [^\r\n]*\r\n)+)\r\n")
_LENGTH = re.compile(rb"Content-Length: (\d+)\r\n")


class Later:
    """Takes the place of the thread that predicts: what was submitted is done when it is asked for."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], Any]] = []

    def submit(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.waiting.append(partial(call, *arguments))

    def run(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


class Transport:
    """What a connection writes to."""

    def __init__(self) -> None:
        self.out, self.closed, self.ended, self.paused = bytearray(), False, False, False

    def write(self, data: bytes) -> None:
        assert not self.ended, "a write behind the end"
        self.out += data

    def write_eof(self) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def close(self) -> None:
        self.closed = True

    abort = close


class Clients:
    """Clients of one server, one after the other."""

    def __init__(self, model: str, max_body: int = 20_000) -> None:
        models = Models({"m": model})
        self.answers = Answers(ServeOptions(max_body=max_body), models, Metrics(list(models), 1), AccessLog(None))
        self._later = Later()
        self.answers.pool = self.answers.small = self._later  # type: ignore[assignment]
        self.answers.soon = self._later.submit

    def answered(self, pieces: list[bytes], lines: bool = False) -> bytes:
        """What a connection answers to these pieces, after which the client has no more to say."""
        connection, transport = (LineConnection if lines else Connection)(self.answers), Transport()
        connection.connection_made(transport)  # type: ignore[arg-type]
        for piece in pieces:
            if transport.closed:
                break
            connection.data_received(piece)
            self._later.run()
            assert not transport.paused, "reading was paused and is not resumed"
        if not transport.closed and not connection.eof_received():
            transport.close()
        self._later.run()
        connection.connection_lost()
        assert not self.answers.connections, "a connection is still counted"
        assert self.answers.hold(0) and self.answers._held == 0, "bytes of a body are still counted"
        return bytes(transport.out)

    def together(self, requests: list[bytes]) -> list[bytes]:
        """What connections are answered whose clients send all that they have at the same time."""
        connections = [Connection(self.answers) for _ in requests]
        transports = [Transport() for _ in requests]
        for connection, transport, request in zip(connections, transports, requests, strict=True):
            connection.connection_made(transport)  # type: ignore[arg-type]
            connection.data_received(request)
        self._later.run()
        for connection, transport in zip(connections, transports, strict=True):
            if not transport.closed and not connection.eof_received():
                transport.close()
            self._later.run()
            connection.connection_lost()
        return [bytes(transport.out) for transport in transports]


def wrong_answers(model: str, requests: list[list[bytes]], lines: list[list[bytes]]) -> str:
    """What is wrong with the answers to these connections of HTTP and of lines; "" for nothing."""
    clients = Clients(model)
    good = clients.answered([GOOD])
    for pieces in requests:
        answers = clients.answered(pieces)
        if wrong := _not_answers(answers):
            return f"{wrong}: {answers[:2000]!r}"
        whole = clients.answered([b"".join(pieces)])
        if _timeless(whole) != _timeless(answers):
            return f"the answers depend on the pieces: {answers[:1000]!r}, {whole[:1000]!r}"
    asked_for = [b"".join(pieces) for pieces in requests] + [GOOD.replace(b"Connection: close\r\n", b"")] * 3
    for asked, found in zip(asked_for, clients.together(asked_for), strict=True):
        if _timeless(found) != _timeless(clients.answered([asked])):
            return f"the answers depend on other connections: {asked[:1000]!r}, {found[:1000]!r}"
    for pieces in lines:
        asked, answered = b"".join(pieces), clients.answered(pieces, lines=True)
        count = asked.count(b"\n") + (not asked.endswith(b"\n") and asked != b"")
        if answered.count(b"\n") != count and b"\n\n" not in asked.replace(b"\r", b""):
            return f"{answered.count(bytes([10]))} lines answer {count}: {answered[:1000]!r}"
    return "" if clients.answered([GOOD]) == good else "another answer to the same request"


def _not_answers(out: bytes) -> str:
    """Why bytes are not answers of HTTP, with statuses that the server has and bodies as they say."""
    at = 0
    while at < len(out):
        if out.startswith(b"HTTP/1.1 100 Continue\r\n\r\n", at):
            at += 25
            continue
        head = _HEAD.match(out, at)
        if not head or REASONS.get(int(head[1])) != head[2].decode() or not (length := _LENGTH.search(head[3])):
            return f"not a head at {at}"
        if head[1] == b"500":
            return "internal error"
        at = head.end()
        if at == len(out) or out.startswith(b"HTTP/", at):
            continue  # the answer to HEAD, which has no body
        body = out[at : at + int(length[1])]
        if len(body) < int(length[1]):
            return "a body is shorter than it says"
        if b"Content-Type: application/json" in head[3]:
            json.loads(body)
        at += len(body)
    return ""


def _timeless(out: bytes) -> bytes:
    """Without what time changes, 100 Continue, which is sent if the body is late, and why the last request is refused:
    of several reasons the one that is seen first."""
    out = out.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    out = re.sub(rb"(?s)HTTP/1\.1 4\d\d [^\r]*\r\nContent-Type: [^\r]*\r\nConnection: close\r\n.*", b"", out)
    out = re.sub(rb'("(?:uptime|age|taken)": )[0-9.]+', rb"\1", out)
    return re.sub(rb"(?m)^vwlite_.*\n", b"", re.sub(rb"Content-Length: \d+", b"", out))
