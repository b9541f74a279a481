"""Connections: HTTP/1.1 and Vowpal Wabbit's line protocol, with limits on sizes that a client chooses."""

import re
import time
from functools import lru_cache, partial

from vwlite.serve.answers import SMALL, Answers, Job
from vwlite.serve.loop import Transport
from vwlite.serve.request import MOST_HEAD, REASONS, Answer, Head, Refused, parse_fields, parse_head, refusal
from vwlite.serve.served import PIECE

LINGER = 2.0  # seconds after the last answer in which input is dropped, so that the client can read the answer
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")


@lru_cache(256)
def _lead(status: int, kind: str, headers: str, connection: str) -> bytes:
    """An answer's head up to its length."""
    text = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: {kind}\r\n{headers}{connection}Content-Length: "
    return text.encode("latin-1")


class Connection:
    """A connection. One request after the other is answered; the next ones wait in `_in`."""

    transport: Transport

    def __init__(self, answers: Answers) -> None:
        self._answers, self._limits = answers, answers.options
        self._in = bytearray()
        self._head: Head | None = None  # of the request whose body is incomplete
        self._body: bytearray | None = None  # of chunks, so far
        self._trailers = False
        self._held = 0  # bytes of a body, or of a line without end, that are counted in the server's memory
        self._job: Job | None = None  # of the request that is being answered, in another thread
        self._stuck = self._ended = self._closing = False
        self._begun = 0.0  # when the request was complete
        self.deadline = time.monotonic() + self._limits.timeout

    # --- what its transport calls --------------------------------------------------------------

    def connection_made(self, transport: Transport) -> None:
        self.transport = transport
        if not self._answers.admit(self):
            self._refuse(Refused(503, "too many connections: try again later", "Retry-After: 1\r\n"))

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if not self._in and self._head is None:
            self.deadline = time.monotonic() + self._limits.timeout
            if not (self._job or self._stuck) and self._answer_whole(data):
                return
        self._in += data
        self._advance()
        if (self._job or self._stuck) and len(self._in) > MOST_HEAD:
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._ended = True
        if not (self._job or self._stuck or self._closing) and (self._in or self._head):
            self._refuse(Refused(400, "the request is not complete"))
        return self._job is not None or self._stuck  # the answer is still to be written

    def pause_writing(self) -> None:
        self._stuck = True
        self.deadline = time.monotonic() + self._limits.timeout

    def resume_writing(self) -> None:
        self._stuck = False
        self._next()

    def connection_lost(self) -> None:
        self._closing, self._in = True, bytearray()
        if self._job is None or self._job.drop():
            self._release()  # else there is a body up to the end of the work
        self._answers.leave(self)

    # --- what the server calls -----------------------------------------------------------------

    def expire(self) -> None:
        """Act on the deadline, which has passed."""
        if self._job:
            return  # the server is late, not the client
        if self._stuck or self._closing:
            self.transport.abort()
        elif self._in or self._head:
            self._refuse(Refused(408, f"the request did not arrive within {self._limits.timeout:g} seconds"))
        else:
            self.transport.close()

    def drain(self) -> None:
        """Close the connection after the answer to the current request."""
        self._ended = True
        if not (self._job or self._in or self._head or self._closing):
            self.transport.close()

    # --- requests ------------------------------------------------------------------------------

    def _next(self) -> None:
        """Continue after an answer."""
        if self._closing:
            return
        self.deadline = time.monotonic() + self._limits.timeout
        if self._in:
            self._advance()
        if not (self._job or self._stuck):
            self.transport.resume_reading()
            if self._ended and not self._closing:
                self.transport.close()

    def _advance(self) -> None:
        """Answer the complete requests in the input."""
        try:
            while not (self._job or self._stuck or self._closing) and self._step():
                pass
        except Refused as e:
            self._refuse(e)

    def _answer_whole(self, data: bytes) -> bool:
        """Answer a small request, if it is all of the data, without a copy in `_in`. Returns whether it was one."""
        end = data.find(b"\r\n\r\n") + 4
        if not 4 < end <= len(data) <= SMALL:
            return False
        try:
            head = parse_head(data[: end - 4])
        except Refused:
            return False
        if head.length != len(data) - end or head.length > self._limits.max_body:
            return False
        self._answer(head, data[end:])
        return True

    def _step(self) -> bool:
        """Take a part of a body, or a request, from the input; returns whether there was one."""
        head = self._head or self._take_head()
        if head is None:
            return False
        if head.length is None:
            return self._take_chunk()
        if len(self._in) < head.length:
            return False
        body = bytes(memoryview(self._in)[: head.length])
        del self._in[: head.length]
        self._answer(head, body)
        return True

    def _take_head(self) -> Head | None:
        while self._in.startswith(b"\r\n"):  # after a body of some old clients
            del self._in[:2]
        end = self._in.find(b"\r\n\r\n", 0, MOST_HEAD + 4)
        if end < 0:
            if len(self._in) > MOST_HEAD:
                raise Refused(431, f"the headers of a request have {MOST_HEAD} bytes at most")
            if self._in and not self._in[:1].isalpha() and self._in != b"\r":
                raise Refused(400, "the request does not begin with a line such as POST /predict HTTP/1.1")
            return None
        text = bytes(self._in[:end])
        del self._in[: end + 4]
        head = parse_head(text)
        if head.length is None:
            self._body = bytearray()
        elif head.length > self._limits.max_body:
            raise self._too_large()
        elif head.length:
            self._hold(head.length)
        if head.expects and not self._in and head.length != 0:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._head = head
        return head

    def _take_chunk(self) -> bool:
        assert self._body is not None and self._head is not None
        trailed = self._trailers and not self._in.startswith(b"\r\n")
        end = self._in.find(b"\r\n\r\n" if trailed else b"\r\n", 0, MOST_HEAD)
        if end < 0:
            if len(self._in) >= MOST_HEAD:
                raise Refused(431, "the line before a chunk, or what comes after the last one, does not end")
            return False
        if self._trailers:
            parse_fields(bytes(self._in[:end]).split(b"\r\n") if trailed else [])  # they mean nothing here
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
        return Refused(413, f"a body has {self._limits.max_body} bytes at most: send it in parts")

    def _hold(self, size: int) -> None:
        if not self._answers.hold(size, self._held):
            raise Refused(429, "the server has too many bodies in memory: try again later", "Retry-After: 1\r\n")
        self._held += size

    def _release(self) -> None:
        if self._held:
            self._answers.hold(-self._held)
        self._held = 0

    # --- answers -------------------------------------------------------------------------------

    def _answer(self, head: Head, body: bytes) -> None:
        self._head, self._body, self._trailers = None, None, False
        self._begun = time.perf_counter()
        answer = self._answers.answer(head, body, partial(self._write, head))
        if isinstance(answer, Job):
            self._job = answer
        else:
            self._write(head, answer)

    def _write(self, head: Head | None, answer: Answer | None) -> None:
        was_busy, self._job = self._job is not None, None
        self._release()
        if answer is None:
            return  # the client has gone
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
        """Send the last answer: input after an invalid request cannot be parsed."""
        self._head = None
        self._write(None, refusal(e))

    def _close(self) -> None:
        """Close when the client has read the answer. Until then its input is dropped."""
        self._closing, self._in, self._body = True, bytearray(), None
        self.deadline = time.monotonic() + LINGER
        if self._ended:
            self.transport.close()
        else:
            self.transport.resume_reading()
            self.transport.write_eof()


class LineConnection(Connection):
    """Vowpal Wabbit's protocol: each line gets the line of `vwlite predict`, an empty one if it is bad. The model is
    the first one."""

    def _answer_whole(self, data: bytes) -> bool:
        return False

    def _step(self) -> bool:
        end = self._in.find(b"\n", PIECE) + 1 or self._in.rfind(b"\n") + 1 or len(self._in) * self._ended
        if end == 0:
            if len(self._in) > self._limits.max_body:
                self.transport.abort()  # a line without end
            self._hold(max(0, len(self._in) - self._held))
            return False
        self.deadline = time.monotonic() + self._limits.timeout
        lines = bytes(memoryview(self._in)[:end])
        del self._in[:end]
        answer = self._answers.lines(lines, self._predicted)
        if isinstance(answer, Job):
            self._job = answer
        else:
            self._write(None, answer)
        return True

    def _predicted(self, answer: Answer | None) -> None:
        """Write the answer that another thread has computed."""
        self._job = None
        self._release()
        if not self.transport.is_closing():
            self._write(None, answer)
            self._next()

    def _write(self, head: Head | None, answer: Answer | None) -> None:
        self._release()
        if answer is None:
            return
        if answer.status == 200:
            self.transport.write(answer.body)
        else:
            self._closing, self._in = True, bytearray()
            self.transport.abort()  # a client would take an error for a prediction

    def eof_received(self) -> bool:
        self._ended = True
        self._advance()
        return self._job is not None or self._stuck
