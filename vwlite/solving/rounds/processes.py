"""Shards in the memory of processes on one machine, which compute the sums over their shards at given weights.

A process is forked before anything else is started. It reads its shards, and then answers until the line is closed:
when the parent process has ended, for any reason, it ends too.
"""

import os
import pickle
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from types import FrameType
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.core.solve.weights import aligned
from vwlite.errors import ShortageError
from vwlite.output.atomic import abandon_all
from vwlite.output.signals import STOPPING
from vwlite.solving.problem import Examples
from vwlite.solving.rounds.driver import Rounds
from vwlite.solving.rounds.shards import ShardSums, facts_of, first_of, shard_of

Read = Callable[[ExitStack, str], Examples]


class Line:
    """One end of a line between two processes. EOFError: the other end is closed. OSError: it was closed before the
    call."""

    def __init__(self, end: socket.socket) -> None:
        self._file = end.makefile("rwb")
        end.close()  # when the file is

    def send(self, message: Any) -> None:
        pickle.dump(message, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._file.flush()

    def receive(self) -> Any:
        return pickle.load(self._file)

    def close(self) -> None:
        with suppress(OSError):  # of data that the other end has not read
            self._file.close()


class Processes:
    """Processes that hold shards, the files of DATA, which are dealt to them in turn. Use as a context manager: leaving
    it ends the processes. read: creates the examples of a file, which are read later.

    Any thread may call `stop`. The processes then end without an answer.
    """

    def __init__(self, paths: Sequence[str], count: int, read: Read, settings: Settings) -> None:
        self.paths = paths
        self.stopped = False
        self._busy = False  # waits for answers
        self._ours: list[Line] = []
        self._pids: list[int] = []
        self._first: list[dict[str, Any]] = [{}] * len(paths)  # what the first round needs
        self._known: list[dict[str, Any]] = [{}] * len(paths)  # what of a shard is the same in each round
        self._mine = [list(range(i, len(paths), count)) for i in range(min(count, len(paths)))]
        for mine in self._mine:
            ours, theirs = map(Line, socket.socketpair())
            pid = self._fork()
            if pid == 0:
                for line in (*self._ours, ours):
                    line.close()
                _work(theirs, [paths[i] for i in mine], read, settings, len(paths))
            theirs.close()
            self._ours.append(ours)
            self._pids.append(pid)

    @staticmethod
    def _fork() -> int:
        """As `os.fork`. The child ignores the signals that stop a run: the parent gets them and ends the child."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for number in STOPPING:
                    signal.signal(number, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, _end)
            return pid
        except OSError as e:
            raise ShortageError(f"cannot start a process for a shard: {e.strerror}; try a smaller --shards") from e
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._ours:
            line.close()
        if self._busy:
            self.stop()
        while self._pids:
            os.waitpid(self._pids.pop(), 0)

    def stop(self) -> None:
        """End the processes now."""
        self.stopped = True
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def read(self) -> None:
        """Wait until all shards are in memory, or `stop` was called. Raises the error of the first such file."""
        for i, (first, known) in self._answers():
            self._first[i], self._known[i] = first, known

    def ask(self, run: Rounds) -> list[ShardSums]:
        """The sums over each shard at the weights of the run; [] after `stop`."""
        keys, (weights, intercept) = run.state.keys, run.weights(best=False)
        for line, mine in zip(self._ours, self._mine, strict=True):
            parts = [aligned(self._first[i]["keys"], keys, weights) for i in mine]
            with suppress(OSError):  # a process that has ended is found when its answer is read
                line.send((parts, intercept))
        return [
            ShardSums(sums=sums, slopes=slopes, second=second, name=self.paths[i], **self._first[i], **self._known[i])
            for i, (sums, slopes, second) in sorted(self._answers())
        ]

    def _answers(self) -> list[tuple[int, Any]]:
        """An answer of each shard, with its number."""
        found: list[tuple[int, Any]] = []
        errors: list[tuple[int, Exception]] = []
        self._busy = True
        for number, (line, mine) in enumerate(zip(self._ours, self._mine, strict=True)):
            try:
                answer = line.receive()
            except (EOFError, OSError, pickle.UnpicklingError):
                if not self.stopped:
                    raise self._died(number) from None
                continue
            if isinstance(answer, tuple):
                at, error = answer
                errors.append((mine[at], error))
            else:
                found += zip(mine, answer, strict=True)
        self._busy = False
        if self.stopped:
            return []
        if errors:
            raise min(errors, key=lambda pair: pair[0])[1]
        return found

    def _died(self, number: int) -> ShortageError:
        pid, status = os.waitpid(self._pids[number], 0)
        self._pids.remove(pid)
        paths = ", ".join(self.paths[i] for i in self._mine[number])
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"code {os.WEXITSTATUS(status)}"
        return ShortageError(f"the process that holds {paths} has ended with {how}, perhaps out of memory")


def _end(number: int, frame: FrameType | None) -> None:
    """End this process, and delete the cache that it writes."""
    abandon_all()
    os._exit(128 + number)


def _work(line: Line, paths: Sequence[str], read: Read, settings: Settings, shards: int) -> None:
    """The work of one process, which holds the files, of so many shards in all; it does not return."""
    code = 70
    try:
        with ExitStack() as stack:
            _serve(line, paths, partial(read, stack), settings, shards)
        code = 0
    except (EOFError, BrokenPipeError, ConnectionResetError):
        code = 0
    finally:
        os._exit(code)


def _serve(
    line: Line, paths: Sequence[str], read: Callable[[str], Examples], settings: Settings, shards: int
) -> None:
    at = 0
    try:
        own, answers = [], []
        for path in paths:
            examples = read(path)
            examples.read()
            own.append(shard_of(examples, settings))
            answers.append((first_of(examples, settings, shards), facts_of(examples)))
            at += 1
        line.send(answers)
        while True:
            parts, intercept = line.receive()
            line.send([shard.sums(w, intercept) for w, shard in zip(parts, own, strict=True)])
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise
    except Exception as e:  # the parent makes a message and an exit code from it
        line.send((at, e))
