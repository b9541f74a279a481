"""Connects to a scheduler or starts one, checks its workers, and runs tasks on them until each has a result."""

import queue
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from vwlite import __version__
from vwlite.dask.extras import distributed
from vwlite.dask.parts import one_line
from vwlite.dask.work import Failed
from vwlite.errors import UnavailableError, VwliteError, WriteError
from vwlite.runs.run import say

CONNECTING = 5  # seconds that a scheduler has to answer
ARRIVING = 60  # seconds for the first worker to come
GONE = 20  # seconds without an answer of the scheduler, after which the run ends
ALONE = 30  # seconds without a result, after which it checks whether there is a worker
ATTEMPTS = 3  # to start workers on this machine, or to ask all for their version: an attempt fails if a worker dies
CLOSING = 5  # seconds
POLL = 0.5


class Interrupted(Exception):
    """The run is stopped by a signal."""


class Cluster:
    """Runs tasks on workers; results come in the order of the tasks. Use as a context manager.

    UnavailableError: there is no scheduler, it has no worker, or it has gone. UsageError: no Dask here.
    """

    def __init__(self, address: str, retries: int) -> None:
        self.address, self._retries = address, retries
        self._stack = ExitStack()
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stopped = False

    def __enter__(self) -> "Cluster":
        library = distributed()
        with ExitStack() as stack:
            stack.enter_context(_quietly())
            self._client = self._connected(library, stack)
            self._check_workers()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *e: object) -> None:
        self._stack.close()

    def stop(self) -> None:
        """End as soon as possible. Called from the thread of the signals."""
        self._stopped = True
        self._events.put(None)

    @property
    def workers(self) -> list[str]:
        """Their addresses."""
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    def _connected(self, library: Any, stack: ExitStack) -> Any:
        import dask

        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}))
        where = self.address
        if where.startswith("local:"):
            where = stack.enter_context(_local_cluster(library, int(where.removeprefix("local:"))))
        try:
            client = library.Client(where, timeout=CONNECTING, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as e:
            raise UnavailableError(f"{self.address}: no scheduler answers ({one_line(e)}): is `dask scheduler` running "
                                   "there?") from e
        stack.callback(_close, client)
        return client

    def _check_workers(self) -> None:
        """UnavailableError if there are none, or if one has another version. One that dies meanwhile does not count."""
        for left in reversed(range(ATTEMPTS)):
            self._wait_for_workers()
            found = self._client.run(_version_there(), on_error="return")
            if not left or not any(isinstance(version, OSError) for version in found.values()):
                break
            time.sleep(POLL)
        for worker, version in sorted(found.items()):
            if isinstance(version, Exception):
                raise UnavailableError(f"{worker}: {one_line(version)}")
            if version is None:
                raise UnavailableError(f"the worker {worker} has no complete vwlite: pip install "
                                       f"'vwlite[dask]=={__version__}' there")
            if version != __version__:
                raise UnavailableError(f"the worker {worker} has vwlite {version}, but this process has {__version__}: "
                                       "all must have the same")

    def _wait_for_workers(self) -> None:
        deadline = time.monotonic() + ARRIVING
        while not self.workers:
            if self._stopped:
                raise Interrupted
            if time.monotonic() > deadline:
                raise UnavailableError(f"{self.address}: no worker has connected within {ARRIVING} seconds: start some "
                                       f"with `dask worker {self.address}`")
            time.sleep(0.1)

    # --- tasks -------------------------------------------------------------------------------

    def put(self, f: Callable[..., Any], *arguments: Any, avoid: str | None = None) -> Any:
        """The future of a task. avoid: a worker that does not get it if there are others."""
        others = [w for w in self.workers if w != avoid] if avoid else []
        where = {"workers": others, "allow_other_workers": True} if others else {}
        return self._client.submit(f, *arguments, pure=False, retries=0, **where)

    def each(
        self, count: int, make: Callable[[int, str | None], Any], named: Callable[[int], str],
        done: Callable[[int, Any], None] = lambda i, result: None,
    ) -> list[Any]:
        """The results of tasks 0, ..., count - 1. A task that fails is tried again.

        make: starts a task and returns its future; gets the worker to avoid, if the task has failed before. named: the
        name of a task in messages. done: called for each result.
        VwliteError if one has failed too often; Interrupted. Tasks that have not started are then cancelled.
        """
        results: list[Any] = [None] * count
        failures = [0] * count
        waiting = {}
        for i in range(count):
            waiting[i] = self._watched(i, make(i, None))
        gone_since: float | None = None
        news = time.monotonic()
        while waiting:
            event = self._next()
            if event is None:
                gone_since = self._still_there(gone_since)
                if gone_since is None and time.monotonic() - news > ALONE:
                    news = time.monotonic()
                    if not self.workers:
                        say(f"{self.address}: no worker is left; waiting for one: `dask worker {self.address}`")
                continue
            news = time.monotonic()
            i, future = event
            if waiting.get(i) is not future:
                continue
            result = self._result(future)
            if isinstance(result, Failed):
                failures[i] += 1
                again = failures[i] < self._retries and result.code != 2
                if not again:
                    tried = f" ({failures[i]} times)" if failures[i] > 1 else ""
                    message = result.message if named(i) in result.where else f"{named(i)}: {result.message}"
                    raise VwliteError(message + tried, exit_code=result.code)
                say(f"{result.message} (tried again)")
                waiting[i] = self._watched(i, make(i, result.worker))
                continue
            del waiting[i]
            results[i] = result
            done(i, result)
        return results

    def _watched(self, i: int, future: Any) -> Any:
        future.add_done_callback(lambda f: self._events.put((i, f)))
        return future

    def _next(self) -> Any:
        """A task that has ended, and its future; None if none has ended for a while."""
        try:
            event = self._events.get(timeout=POLL)
        except queue.Empty:
            event = None
        if self._stopped:
            raise Interrupted
        return event

    def _still_there(self, since: float | None) -> float | None:
        """The time since which the scheduler does not answer; None: it does. UnavailableError after GONE seconds."""
        if self._client.status == "running":
            return None
        since = since or time.monotonic()
        if time.monotonic() - since > GONE or self._client.status in ("closed", "closing"):
            raise self._lost()
        return since

    def _lost(self) -> VwliteError:
        return UnavailableError(f"{self.address}: the scheduler has gone, and the results of the workers are lost; "
                                "--resume continues after the last round")

    def _result(self, future: Any) -> Any:
        """The result of a task; Failed for an error of Dask."""
        if future.status in ("cancelled", "lost"):
            raise self._lost()
        if future.status != "error":
            return future.result()
        e = future.exception()
        if type(e).__name__ == "KilledWorker":
            return Failed(70, f"every worker that ran it has died, the last at {e.last_worker.address}: not enough "
                          "memory?", e.last_worker.address)
        if isinstance(e, VwliteError):
            return Failed(e.exit_code, str(e), where=e.where)
        if isinstance(e, OSError):
            return Failed(WriteError.exit_code, one_line(e))
        return Failed(70, f"{type(e).__name__}: {one_line(e)}")


def _close(what: Any) -> None:
    """Close a client or a cluster. On a busy machine, one with many results takes longer: it ends with this process."""
    with suppress(TimeoutError):
        what.close(timeout=CLOSING)


@contextmanager
def _local_cluster(library: Any, count: int) -> Iterator[Any]:
    """A cluster of processes on this machine."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="vwlite-dask-", ignore_cleanup_errors=True))
        # A terminal sends SIGINT to all of its processes: this one handles it, and the workers ignore it.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cluster = _started(library, count, folder)
        finally:
            signal.signal(signal.SIGINT, before)
        stack.callback(_close, cluster)
        yield cluster


def _started(library: Any, count: int, folder: str) -> Any:
    """A LocalCluster. UnavailableError if its workers die while they start, again and again."""
    import logging

    attempt = 1
    while True:
        try:
            return library.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0,
                local_directory=folder, silence_logs=logging.CRITICAL,
            )
        except RuntimeError as e:
            if attempt == ATTEMPTS:
                raise UnavailableError(f"local:{count}: the workers die at start-up ({one_line(e)})") from e
            attempt += 1


@contextmanager
def _quietly() -> Iterator[None]:
    """Disable what Dask logs about connections and workers that end: this module prints what matters of it. All loggers
    are changed, as the configuration of Dask gives some a level."""
    import logging

    made = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    loggers = [logging.getLogger(name) for name in ("distributed", "asyncio", "tornado", *made)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _version_there() -> Callable[[], str | None]:
    """A function that returns the version of vwlite on a worker. It is defined here so that its code is sent, not its
    name."""

    def found() -> str | None:
        try:
            from vwlite import __version__
            from vwlite.dask import work  # noqa: F401

            return str(__version__)
        except ImportError:
            return None

    return found
