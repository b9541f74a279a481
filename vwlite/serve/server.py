"""The processes of a server: sockets, signals, the work of each second, and the end."""

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import NoReturn

from vwlite.listening import listening
from vwlite.output.atomic import check_apart
from vwlite.output.signals import STOPPING, handled
from vwlite.output.stdio import say
from vwlite.serve.access_log import AccessLog
from vwlite.serve.answers import Answers
from vwlite.serve.commands import ServeOptions
from vwlite.serve.connection import Connection, LineConnection
from vwlite.serve.loop import Loop
from vwlite.serve.metrics import Metrics
from vwlite.serve.models import Models
from vwlite.serve.served import Served

TICK = 1.0  # seconds between two looks at the models, and at the deadlines of connections
GRACE = 10.0  # seconds in which requests are finished at the end


def serve(o: ServeOptions) -> int:
    """Run `vwlite serve`; the exit code, 0 after a signal."""
    o.check()
    check_apart({"--log": o.log}, [(path, "a model") for path in o.files().values()])
    load = partial(Served, typed=o.typed, probabilities=o.probabilities, refuses_unknown=o.on_unknown == "error")
    models, log = Models(o.files(), load), AccessLog(o.log)
    ports: dict[type, int] = {Connection: o.port}
    if o.lines is not None:
        ports[LineConnection] = o.lines
    # All processes take connections from the same sockets. With SO_REUSEPORT, each process with sockets of its own, a
    # second server would get the same port without an error, and connections might wait for a busy process.
    sockets = {kind: listening(o.host, port) for kind, port in ports.items()}
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = o.max_connections + 100
    if most[0] < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most[1]), most[1]))
    metrics = Metrics(list(models), o.workers)

    def ready() -> None:
        if not o.quiet:
            places = [f"{'http://' if kind is Connection else ''}{_shown(s)}" for kind, s in sockets.items()]
            say(f"serving {', '.join(models)} at {' and, for lines, '.join(places)}")

    if o.workers == 1:
        _run(Answers(o, models, metrics, log), sockets, ready=ready)
        _end(0)
    return _watch(o.workers, metrics, lambda parent: _run(Answers(o, models, metrics, log), sockets, parent), ready)


def _shown(s: socket.socket) -> str:
    host, port = s.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _end(code: int) -> NoReturn:
    """End the process at once. The exit of Python would wait for threads whose results nobody needs."""
    sys.stderr.flush()
    os._exit(code)


def _watch(
    workers: int, metrics: Metrics, work: Callable[[int], None], ready: Callable[[], None]
) -> int:
    """Start the processes, restart those that end, and end all after a signal. work: gets a pipe that closes when this
    process ends for any reason. ready: called as soon as signals are handled."""
    children: dict[int, int] = {}
    parent, alive = os.pipe()
    numbers, written = os.pipe()  # of signals: a handler would not run while this process waits, if a thread took them
    os.set_blocking(written, False)
    for number in (*handled(), signal.SIGCHLD):
        signal.signal(number, _nothing_more)
    before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    ready()
    missing, stopping = list(range(workers)), 0
    while missing or children:
        for at in missing:
            signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
            child = os.fork()
            if child == 0:
                code = 70
                try:
                    for end in (alive, numbers, written):
                        os.close(end)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    metrics.at = at
                    metrics.reset()
                    work(parent)
                    code = 0
                finally:
                    _end(code)
            children[child] = at
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        missing = []
        if os.read(numbers, 1)[0] != signal.SIGCHLD:
            stopping += 1
            for child in children:
                os.kill(child, signal.SIGKILL if stopping > 1 else signal.SIGTERM)
        while children:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if not ended:
                break
            at = children.pop(ended)
            if not stopping:
                missing.append(at)
                say(f"warning: process {ended} ended with code {os.waitstatus_to_exitcode(status)}: another is started")
        if missing:
            time.sleep(TICK)  # do not restart without a pause a process that cannot start
    signal.set_wakeup_fd(before)
    return 0


def _nothing_more(number: int, frame: FrameType | None) -> None:
    """The handler of Python does nothing: the number of the signal is in the pipe."""


def _run(
    answers: Answers,
    sockets: dict[type, socket.socket],
    parent: int | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Run the server in one process until a signal, and then until the current requests are answered. parent: a pipe;
    when it closes, that counts as a signal. ready: called as soon as signals are handled and connections accepted."""
    loop, stops = Loop(), list[bool]()
    stop = partial(stops.append, True)

    def orphaned(pipe: int) -> None:
        loop.selector.unregister(pipe)
        stop()

    def drain() -> None:
        for connection in list(answers.connections):
            connection.drain()

    loop.on_signals(handled(), stop)
    if parent is not None:
        loop.watch(parent, partial(orphaned, parent))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    answers.later, answers.soon = loop.later, loop.soon
    for kind, s in sockets.items():
        loop.listen(s, partial(kind, answers))
    ready()
    loop.run(lambda: bool(stops), _tick_of(answers), TICK)
    loop.stop_listening()
    stops.clear()
    end = time.monotonic() + GRACE
    drain()
    loop.run(lambda: not answers.connections or bool(stops) or time.monotonic() >= end, drain, 0.02)


def _tick_of(answers: Answers) -> Callable[[], None]:
    """A function that looks at deadlines and models."""
    threads = ThreadPoolExecutor(len(answers.models), "models")
    reading: dict[str, Future[None]] = {}

    def tick() -> None:
        now = time.monotonic()
        for connection in list(answers.connections):
            if connection.deadline < now:
                connection.expire()
        for name, loaded in answers.models.items():
            if loaded.changed and (name not in reading or reading[name].done()):
                reading[name] = threads.submit(loaded.refresh, answers.metrics)

    return tick
