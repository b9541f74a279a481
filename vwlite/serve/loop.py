"""The event loop of a server: one thread waits for all sockets, and calls what reads them.

It does what asyncio would do for sockets. asyncio creates an object and a context for each read and each call, which
takes as long as a prediction.
"""

import os
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from types import FrameType
from typing import Any, Protocol

from vwlite.output.stdio import say

AT_ONCE = 100  # connections that are accepted before others are served and closed ones are detected
PIECE = 64 << 10  # bytes that are read from a socket before others are served
HIGH, LOW = 64 << 10, 16 << 10  # unsent bytes: above HIGH a connection must stop writing, until there are LOW
SILENCE = 60.0  # seconds between two warnings of the same shortage


class Connected(Protocol):
    """A connection, which its transport calls. The names are those of asyncio.Protocol."""

    def connection_made(self, transport: "Transport") -> None: ...
    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> bool: ...  # whether it has more to write
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...
    def connection_lost(self) -> None: ...


class Loop:
    """Calls functions in the thread of `run`: those of sockets that are ready, and those of `soon` and `later`."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self._calls: deque[Callable[[], Any]] = deque()
        self._listening: dict[socket.socket, Callable[[], Connected]] = {}
        self._accepting: list[socket.socket] = []  # those with new connections
        self._resting: list[socket.socket] = []  # those that accept nothing before the next tick
        self._warned = -SILENCE
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        self.watch(self._woken, lambda: os.read(self._woken, PIECE))

    def watch(self, file: Any, call: Callable[[], Any]) -> None:
        """Call a function whenever there is something to read."""
        self.selector.register(file, EVENT_READ, lambda mask: call())

    def soon(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Call a function after all pending reads. For the loop's thread, and handlers of signals."""
        self._calls.append(partial(call, *arguments))

    def later(self, call: Callable[..., Any], *arguments: Any) -> None:
        """As `soon`, for other threads."""
        self.soon(call, *arguments)
        with suppress(BlockingIOError):  # the pipe is full, so the loop wakes
            os.write(self._wake, b"\0")

    def on_signals(self, numbers: Collection[signal.Signals], call: Callable[[], Any]) -> None:
        """Call a function after each of these signals. Python writes their numbers to the pipe."""

        def handler(number: int, frame: FrameType | None) -> None:
            self.soon(call)

        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, handler)

    def run(self, until: Callable[[], bool], tick: Callable[[], Any], seconds: float) -> None:
        """Serve until this is true, which is asked after each wait. tick: called every so many seconds."""
        due = time.monotonic() + seconds
        while not until():
            wait = 0.0 if self._calls else max(0.0, due - time.monotonic())
            for key, mask in self.selector.select(wait):
                key.data(mask)
            for _ in range(len(self._calls)):
                try:
                    self._calls.popleft()()
                except Exception as e:
                    say(f"internal error: {type(e).__name__}: {e} (please report it)")
            while self._accepting:  # after the calls, which forget the connections that have been closed
                self._accept(self._accepting.pop())
            if time.monotonic() >= due:
                due = time.monotonic() + seconds
                while self._resting:
                    self._watch_listening(self._resting.pop())
                self.soon(tick)

    def listen(self, s: socket.socket, create: Callable[[], Connected]) -> None:
        """Accept the connections of a socket that listens. create: makes the object that gets their data."""
        s.setblocking(False)
        self._listening[s] = create
        self._watch_listening(s)

    def _watch_listening(self, s: socket.socket) -> None:
        self.watch(s, partial(self._accepting.append, s))

    def stop_listening(self) -> None:
        for s in self._listening:
            with suppress(KeyError):
                self.selector.unregister(s)
            s.close()
        self._listening.clear()
        self._resting.clear()

    def _accept(self, s: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                accepted, _address = s.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as e:  # such as too many open files: the others wait for the next tick
                if time.monotonic() - self._warned >= SILENCE:
                    self._warned = time.monotonic()
                    why = "new connections wait until others are closed; ulimit -n allows more files"
                    say(f"warning: {e.strerror}: {why}")
                self.selector.unregister(s)
                self._resting.append(s)
                return
            Transport(self, accepted, self._listening[s]())


class Transport:
    """A socket that is read for a connection, and that sends what the connection writes, as soon as it can."""

    def __init__(self, loop: Loop, s: socket.socket, connection: Connected) -> None:
        s.setblocking(False)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # an answer does not wait for the one before
        self._loop, self._socket, self._connection = loop, s, connection
        self._out = bytearray()  # what is not sent yet
        self._reads, self._sends_end, self._paused = True, False, False
        self._closing = self._lost = False
        self._mask = 0  # of events that the selector waits for
        self._wait()
        connection.connection_made(self)

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        self._reads = False
        self._wait()

    def resume_reading(self) -> None:
        if not self._reads and not self._closing:
            self._reads = True
            self._wait()

    def write(self, data: bytes) -> None:
        if self._lost:
            return
        if not self._out:
            data = data[self._send(data) :]
            if not data:
                return
        self._out += data
        self._wait()
        if len(self._out) > HIGH and not self._paused:
            self._paused = True
            self._connection.pause_writing()

    def write_eof(self) -> None:
        """Send the end of the data, after what was written."""
        self._sends_end = True
        if not self._out:
            self._send_end()

    def close(self) -> None:
        """Read no more, send what was written, and close."""
        if not self._closing:
            self._closing = True
            self._wait()
            if not self._out:
                self._loop.soon(self._lose)

    def abort(self) -> None:
        """Close now."""
        self._closing, self._paused = True, False
        self._out.clear()
        self._loop.soon(self._lose)

    # --- what the loop calls -------------------------------------------------------------------

    def _ready(self, mask: int) -> None:
        try:
            if mask & EVENT_WRITE and not self._lost:
                self._flush()
            if mask & EVENT_READ and self._reads and not self._closing:
                self._read()
        except Exception as e:  # one connection must not end the others
            say(f"internal error: {type(e).__name__}: {e} (a connection; please report it)")
            self.abort()

    def _read(self) -> None:
        try:
            data = self._socket.recv(PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # the client has gone
            self.abort()
            return
        if data:
            self._connection.data_received(data)
        else:
            self._reads = False
            if self._connection.eof_received():
                self._wait()
            else:
                self.close()

    def _flush(self) -> None:
        del self._out[: self._send(self._out)]
        if self._paused and len(self._out) <= LOW:
            self._paused = False
            self._connection.resume_writing()
        if self._out or self._lost:
            return
        self._wait()
        if self._sends_end:
            self._send_end()
        if self._closing:
            self._loop.soon(self._lose)

    def _send(self, data: bytes | bytearray) -> int:
        """Send what the socket takes now; returns the number of bytes, which is all of them if the client has gone."""
        try:
            return self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.abort()
            return len(data)

    def _send_end(self) -> None:
        with suppress(OSError):  # the client has gone
            self._socket.shutdown(socket.SHUT_WR)

    def _wait(self) -> None:
        """Have the selector wait for what is wanted now."""
        mask = EVENT_READ * (self._reads and not self._closing) | EVENT_WRITE * bool(self._out)
        if mask == self._mask:
            return
        if not mask:
            self._loop.selector.unregister(self._socket)
        elif self._mask:
            self._loop.selector.modify(self._socket, mask, self._ready)
        else:
            self._loop.selector.register(self._socket, mask, self._ready)
        self._mask = mask

    def _lose(self) -> None:
        if self._lost:
            return
        self._lost, self._closing, self._reads = True, True, False
        self._out.clear()
        self._wait()
        self._socket.close()
        self._connection.connection_lost()
