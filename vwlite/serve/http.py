"""HTTP/1.1 for asyncio: requests in, answers out, with limits on everything that a client decides.

A head is parsed strictly (RFC 9112), as what two programs read differently is how requests are smuggled: one length,
CRLF at line ends, no folded lines. Clients send the same head again and again, so parsed ones are kept.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import parse_qsl, unquote

if TYPE_CHECKING:
    from vwlite.serve.answers import Answers

MOST_HEAD = 16 << 10  # bytes of the request line and the headers; also of a chunk's line, and of trailers
MOST_HEADERS = 100
LINGER = 2.0  # seconds in which what comes after a last answer is dropped, so that the client can read it
JSON = "application/json"
REASONS = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    413: "Content Too Large", 415: "Unsupported Media Type", 417: "Expectation Failed", 422: "Unprocessable Content",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
}  # fmt: skip
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP/(\d)\.(\d)")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_ONCE = (b"content-length", b"transfer-encoding", b"host", b"content-type", b"content-encoding", b"expect")


class Refused(Exception):
    """A request that gets an answer other than 200. more: of the answer's object."""

    def __init__(self, status: int, why: str, headers: str = "", **more: object) -> None:
        super().__init__(why)
        self.status, self.headers, self.more = status, headers, more


class Head(NamedTuple):
    """What is needed of a request line and headers. length: None for a chunked body. query: the first of each."""

    method: str
    path: str
    query: dict[str, str]
    type: str
    charset: str
    encoding: str
    length: int | None
    expects: bool
    keeps: bool  # the connection
    old: bool  # HTTP/1.0


class Answer(NamedTuple):
    status: int
    body: bytes
    type: str = JSON
    headers: str = ""


def refusal(e: Refused) -> Answer:
    return Answer(e.status, json.dumps({"error": str(e), **e.more}).encode() + b"\n", JSON, e.headers)


@lru_cache(256)
def parse_head(text: bytes) -> Head:
    """The head of a request, without the empty line at its end."""
    first, *lines = text.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if not line:
        raise Refused(400, "the request does not begin with a line such as POST /predict HTTP/1.1")
    if line[3] != b"1":
        raise Refused(505, "this server speaks HTTP/1.1 and HTTP/1.0")
    if len(lines) > MOST_HEADERS:
        raise Refused(431, f"a request has {MOST_HEADERS} headers at most")
    found: dict[bytes, bytes] = {}
    for header in lines:
        match = _HEADER.fullmatch(header)
        if not match:
            raise Refused(400, "a header is a line such as Content-Type: text/plain, without control characters")
        name, value = match[1].lower(), match[2].rstrip(b" \t")
        if name in found and name in _ONCE:
            raise Refused(400, f"two headers {name.decode()}")
        found[name] = found[name] + b"," + value if name in found else value
    old = line[4] == b"0"
    if not old and b"host" not in found:
        raise Refused(400, "a request of HTTP/1.1 has a header Host")
    connection = {word.strip() for word in found.get(b"connection", b"").lower().split(b",")}
    length: int | None = 0
    if b"transfer-encoding" in found:
        if b"content-length" in found or old:
            raise Refused(400, "Transfer-Encoding excludes Content-Length, and HTTP/1.0 does not have it")
        if found[b"transfer-encoding"].lower() != b"chunked":
            raise Refused(501, "of Transfer-Encoding only chunked is supported")
        length = None
    elif b"content-length" in found:
        if not re.fullmatch(rb"\d{1,18}", found[b"content-length"]):
            raise Refused(400, "Content-Length is not a number of bytes")
        length = int(found[b"content-length"])
    if found.get(b"expect", b"100-continue").lower() != b"100-continue":
        raise Refused(417, "of Expect only 100-continue is supported")
    path, _, query = line[2].decode().partition("?")
    kind, _, parameters = found.get(b"content-type", b"").decode("latin-1").lower().partition(";")
    charset = re.search(r"charset=\"?([^\s;\"]+)", parameters)
    return Head(
        line[1].decode(), unquote(path), dict(parse_qsl(query, keep_blank_values=True)), kind.strip(),
        charset[1] if charset else "", found.get(b"content-encoding", b"").decode("latin-1").lower(), length,
        b"expect" in found, b"keep-alive" in connection if old else b"close" not in connection, old,
    )  # fmt: skip


@lru_cache(256)
def _lead(status: int, kind: str, headers: str, connection: str) -> bytes:
    """An answer's head up to its length."""
    text = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: {kind}\r\n{headers}{connection}Content-Length: "
    return text.encode("latin-1")


class Connection(asyncio.Protocol):
    """A connection. One request after the other is answered; the next ones wait in `_in`."""

    transport: asyncio.Transport

    def __init__(self, answers: "Answers") -> None:
        self._answers, self._limits = answers, answers.options
        self._in = bytearray()
        self._head: Head | None = None  # of the request whose body is awaited
        self._body: bytearray | None = None  # of chunks, so far
        self._trailers = False
        self._held = 0  # bytes of a body that the server has promised to take
        self._busy = self._stuck = self._ended = self._closing = False
        self._begun = 0.0  # when the request was complete
        self.deadline = time.monotonic() + self._limits.timeout

    # --- what asyncio calls --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if not self._answers.admit(self):
            self._refuse(Refused(503, "too many connections: try again later", "Retry-After: 1\r\n"))

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if not self._in and self._head is None:
            self.deadline = time.monotonic() + self._limits.timeout
        self._in += data
        self._advance()
        if (self._busy or self._stuck) and len(self._in) > MOST_HEAD:
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._ended = True
        if not (self._busy or self._stuck or self._closing) and (self._in or self._head):
            self._refuse(Refused(400, "the request is not complete"))
        return self._busy or self._stuck  # the answer is still to be written

    def pause_writing(self) -> None:
        self._stuck = True
        self.deadline = time.monotonic() + self._limits.timeout

    def resume_writing(self) -> None:
        self._stuck = False
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        self._closing = True
        self._release()
        self._answers.leave(self)

    # --- what the server calls -----------------------------------------------------------------

    def expire(self) -> None:
        """The deadline has come."""
        if self._busy:
            return  # the answer is late, not the client
        if self._stuck or self._closing:
            self.transport.abort()
        elif self._in or self._head:
            self._refuse(Refused(408, f"the request did not arrive within {self._limits.timeout:g} seconds"))
        else:
            self.transport.close()

    def drain(self) -> None:
        """Close the connection, after the answer to a request that is there."""
        self._ended = True
        if not (self._busy or self._in or self._head or self._closing):
            self.transport.close()

    # --- requests ------------------------------------------------------------------------------

    def _next(self) -> None:
        """Go on after an answer."""
        if self._closing:
            return
        self.deadline = time.monotonic() + self._limits.timeout
        self._advance()
        if not (self._busy or self._stuck):
            self.transport.resume_reading()
            if self._ended and not self._closing:
                self.transport.close()

    def _advance(self) -> None:
        """Answer the requests that are there."""
        try:
            while not (self._busy or self._stuck or self._closing) and self._step():
                pass
        except Refused as e:
            self._refuse(e)

    def _step(self) -> bool:
        """Take a head, a part of a body, or a request; whether there was one."""
        if self._head is None:
            return self._take_head()
        if self._head.length is None:
            return self._take_chunk()
        if len(self._in) < self._head.length:
            return False
        body = bytes(memoryview(self._in)[: self._head.length])
        del self._in[: self._head.length]
        self._answer(self._head, body)
        return True

    def _take_head(self) -> bool:
        while self._in.startswith(b"\r\n"):  # after a body of some old clients
            del self._in[:2]
        end = self._in.find(b"\r\n\r\n", 0, MOST_HEAD + 4)
        if end < 0:
            if len(self._in) > MOST_HEAD:
                raise Refused(431, f"the headers of a request have {MOST_HEAD} bytes at most")
            if self._in and not self._in[:1].isalpha() and self._in != b"\r":
                raise Refused(400, "the request does not begin with a line such as POST /predict HTTP/1.1")
            return False
        text = bytes(self._in[:end])
        del self._in[: end + 4]
        head = parse_head(text)
        if head.length is None:
            self._body = bytearray()
        elif head.length > self._limits.max_body:
            raise self._too_large()
        else:
            self._hold(head.length)
        if head.expects and not self._in and head.length != 0:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._head = head
        return True

    def _take_chunk(self) -> bool:
        assert self._body is not None and self._head is not None
        trailed = self._trailers and not self._in.startswith(b"\r\n")
        end = self._in.find(b"\r\n\r\n" if trailed else b"\r\n", 0, MOST_HEAD)
        if end < 0:
            if len(self._in) >= MOST_HEAD:
                raise Refused(431, "the line before a chunk, or what comes after the last one, does not end")
            return False
        if self._trailers:
            del self._in[: end + (4 if trailed else 2)]
            self._answer(self._head, bytes(self._body))
            return True
        match = _CHUNK.fullmatch(bytes(self._in[:end]))
        if not match:
            raise Refused(400, "a chunk begins with its length, as a hexadecimal number")
        size = int(match[1], 16)
        if len(self._body) + size > self._limits.max_body:
            raise self._too_large()
        self._hold(max(0, len(self._body) + size - self._held))
        if size and len(self._in) < end + 2 + size + 2:
            return False
        if size and self._in[end + 2 + size : end + 4 + size] != b"\r\n":
            raise Refused(400, "a chunk is not as long as it says")
        self._body += memoryview(self._in)[end + 2 : end + 2 + size]
        del self._in[: end + 2 + (size + 2 if size else 0)]
        self._trailers = size == 0
        return True

    def _too_large(self) -> Refused:
        return Refused(413, f"a body has {self._limits.max_body} bytes at most: send it in parts (--max-body)")

    def _hold(self, size: int) -> None:
        if not self._answers.hold(size):
            raise Refused(429, "the server has too many bodies in memory: try again later", "Retry-After: 1\r\n")
        self._held += size

    def _release(self) -> None:
        self._answers.hold(-self._held)
        self._held = 0

    # --- answers -------------------------------------------------------------------------------

    def _answer(self, head: Head, body: bytes) -> None:
        self._head, self._body, self._trailers = None, None, False
        self._begun = time.perf_counter()
        done: Callable[[Answer], None] = lambda answer: self._write(head, answer)  # noqa: E731
        answer = self._answers.answer(head, body, done)
        if answer is None:
            self._busy = True  # another thread predicts, and `done` is called
        else:
            self._write(head, answer)

    def _write(self, head: Head | None, answer: Answer) -> None:
        was_busy, self._busy = self._busy, False
        self._release()
        self._answers.metrics.request(answer.status, time.perf_counter() - self._begun if head else 0)
        if self.transport.is_closing():
            return
        keeps = head is not None and head.keeps and not (self._ended and not self._in)
        connection = "" if keeps and head and not head.old else f"Connection: {'keep-alive' if keeps else 'close'}\r\n"
        lead = _lead(answer.status, answer.type, answer.headers, connection)
        body = b"" if head and head.method == "HEAD" else answer.body
        self.transport.write(b"%b%d\r\n\r\n%b" % (lead, len(answer.body), body))
        if not keeps:
            self._close()
        elif was_busy:
            self._next()
        else:
            self.deadline = time.monotonic() + self._limits.timeout

    def _refuse(self, e: Refused) -> None:
        """The last answer: what the client sends after it cannot be understood."""
        self._head = None
        self._write(None, refusal(e))

    def _close(self) -> None:
        """Close, when the client has read the answer: what it still sends is dropped."""
        self._closing, self._in, self._body = True, bytearray(), None
        self.deadline = time.monotonic() + LINGER
        if self._ended or not self.transport.can_write_eof():
            self.transport.close()
        else:
            self.transport.resume_reading()
            self.transport.write_eof()
