"""`vwlite vw --daemon -t -i MODEL`: lines from clients over TCP, and predictions to them, a process for each client."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from vwlite.errors import VwliteError
from vwlite.listening import listening
from vwlite.output.signals import STOPPING, handled
from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.outputs import OUTPUTS

HOST, PORT, CLIENTS = "127.0.0.1", 26542, 10


class _Ended(Exception):
    """A signal has come."""


class _Client:
    """Where predictions go. Connections that the client has closed raise OSError."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, text: str) -> None:
        self._connection.sendall(text.encode("utf-8", "surrogateescape"))

    def close(self) -> None:
        self._connection.close()


def serve(a: Arguments, make_run: Callable[[], Any]) -> int:
    """Answer clients up to a signal; the exit code. make_run: the run of these arguments, with the model."""
    if not (a.flag("testonly") and "initial_regressor" in a):
        raise Refused("--daemon without -t and -i MODEL", "it never learns: train a model first")
    for name in (*OUTPUTS, "data", "cache", "cache_file", "audit"):
        if name in a or (name == "data" and a.positional):
            raise Refused(f"--daemon with --{name}", "lines come from its clients, and predictions go to them")
    run = make_run()
    listener = listening(HOST, a.get("port", PORT))
    port = listener.getsockname()[1]
    _write(a, "port_file", port)
    run.streams.say(f"serving at {HOST}:{port}")
    run.streams.flush()
    if not a.flag("foreground"):
        if os.fork():
            return 0
        os.setsid()
    _write(a, "pid_file", os.getpid())
    run.streams.driver = None  # a client gets no summary
    children: set[int] = set()
    try:
        _handle(_end)
        signal.set_wakeup_fd(-1)  # not earlier: a signal that comes between would be lost
        _accept(listener, run, children, a.get("num_children", CLIENTS))
    except _Ended:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
    return 0


def _write(a: Arguments, name: str, number: int) -> None:
    if name in a:
        with open(a[name], "w") as file:
            file.write(f"{number}\n")


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in handled():
        signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    raise _Ended


def _accept(listener: socket.socket, run: Any, children: set[int], most: int) -> None:
    """Answer each client in a process. Those above `most` wait until another one has left."""
    while True:
        while children and (ended := os.waitpid(-1, 0 if len(children) >= most else os.WNOHANG)[0]):
            children.discard(ended)
        connection, _ = listener.accept()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # one that comes now would be lost
        child = os.fork()
        if child == 0:
            try:
                _answer(run, connection)
            finally:
                os._exit(0)
        children.add(child)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        connection.close()


def _answer(run: Any, connection: socket.socket) -> None:
    """The run, with a client in place of standard input. Lines are answered as soon as it pauses."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    os.dup2(connection.fileno(), 0)
    run.loop.predictions = _Client(connection)
    _handle(lambda number, frame: run.stop())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    try:
        run.run()
    except ConnectionError:
        pass
    except (Critical, VwliteError, OSError) as e:
        print(f"a client's lines: {e}", file=sys.stderr, flush=True)
    run.streams.flush()
