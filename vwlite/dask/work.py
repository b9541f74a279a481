"""The tasks of workers: pure functions of a shard, a model and options, so that any worker can repeat them.

A task that fails returns a `Failed` with the reason, not an exception, so Dask logs nothing.
"""

import copyreg
import pickle
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import numpy as np

from vwlite.dask import child
from vwlite.dask.child import ASKED, PREDICTIONS, PROGRAM, START, TASK, Task
from vwlite.dask.parts import CHUNK, FilePart, content, file_system, first_line, naming_errors
from vwlite.errors import UnavailableError, VwliteError, Where, WriteError
from vwlite.input.formats import DELIMITED, by_name
from vwlite.model.slots import Array, array_of
from vwlite.output.atomic import AtomicFile
from vwlite.runs.options import InputOptions
from vwlite.solving.rounds.shards import ShardSums
from vwlite.training.shards.drawing import is_held


@dataclass(frozen=True)
class ShardJob:
    """What is the same for all shards of a run. columns: those of Parquet that are read; None: all."""

    options: InputOptions
    header: bool = True  # the first line of a file of delimited text names the columns
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Failed:
    """Why a task could not be done. where: as of VwliteError; the message begins with it. worker: its address."""

    code: int
    message: str
    worker: str = ""
    where: Where = ()


def _reduced(view: Array) -> tuple[Any, ...]:
    return array_of, (view.tobytes(), view.format)


copyreg.pickle(memoryview, _reduced)  # so that arrays of `ShardSums` can be sent  # type: ignore[arg-type]


def same(x: Any) -> Any:
    """A value that many tasks need. As it is the result of a task, Dask computes it again if it is lost."""
    return x


def sums(part: FilePart, model: bytes, job: ShardJob, shards: int) -> ShardSums | Failed:
    """The sums over one of so many shards at the weights of a round, those of the model."""
    with _task() as task:
        task.written(START, model)
        task.written(ASKED, pickle.dumps(shards))
        found: ShardSums = task.run(part, job, child.sums)
        found.name = part.name
        return found
    return task.failed


# --- the default on shards: what is read is a draw, or answers to what is asked --------------------------


def draw(part: FilePart, job: ShardJob, start: bytes = b"") -> Any:
    """The `Draw` of a shard, or Failed. start: the model that is continued, if one is."""
    with _task() as task:
        if start:
            task.written(START, start)
        return task.run(part, job, child.draw)
    return task.failed


def drawn_facts(drawn: Any, period: int) -> Any:
    """Of a draw: its digest, rows, bytes, and how many rows would be held out by content and by place."""
    if isinstance(drawn, Failed):
        return drawn
    held = tuple(int(is_held(drawn.numbers, period, by).sum()) for by in (0, 1)) if period else (0, 0)
    return drawn.digest, len(drawn), drawn.size, held


def drawn_rows(drawn: Any, most: int) -> Any:
    """The rows of a draw with the least numbers, those of each class, and what is before them in a file."""
    if isinstance(drawn, Failed):
        return drawn
    return drawn.rows[:most], drawn.of_classes, drawn.format, drawn.header


def held_lines(drawn: Any, period: int, by: int) -> Any:
    """The numbers of the lines of a shard that are held out."""
    if isinstance(drawn, Failed) or not period:
        return drawn if isinstance(drawn, Failed) else np.zeros(0, np.uint32)
    return drawn.lines[is_held(drawn.numbers, period, by)]


def answer(part: FilePart, model: bytes, job: ShardJob, asked: Any, held: Any) -> Any:
    """What a shard answers, or Failed."""
    if isinstance(held, Failed):
        return held
    with _task() as task:
        task.written(START, model)
        task.written(ASKED, pickle.dumps((asked, held)))
        return task.run(part, job, child.answer)
    return task.failed


def is_done(answered: Any) -> Any:
    """True, or how a task has failed whose result stays on its worker."""
    return answered if isinstance(answered, Failed) else True


def called(projected: Any, method: str, *arguments: Any) -> Any:
    """The result of a method of a `Projected`."""
    return projected if isinstance(projected, Failed) else getattr(projected, method)(*arguments)


def predict(part: FilePart, model: bytes, job: ShardJob, output: str) -> int | Failed:
    """Write the predictions of a shard to a file, in the order of its lines; their number."""
    with _task() as task:
        task.written(START, model)
        count: int = task.run(part, job, child.predict)
        _put(task.folder / PREDICTIONS, output)
        return count
    return task.failed


def _put(path: Path, output: str) -> None:
    """Copy a file to an output, which is complete or absent."""
    if "://" in output:
        fs, name = file_system(output)
        with naming_errors(output):
            fs.put_file(str(path), name)
    else:
        with open(path, "rb") as data, AtomicFile(output) as file:
            copyfileobj(data, file, CHUNK)
            file.commit()


# --- processes -------------------------------------------------------------------------------


class _TaskFolder:
    """The folder of a task, and how the task failed."""

    failed: Failed
    folder: Path

    def written(self, name: str, data: bytes) -> str:
        """Write a file; its name."""
        (self.folder / name).write_bytes(data)
        return name

    def run(self, part: FilePart, job: ShardJob, do: Callable[[Any], Any], **options: Any) -> Any:
        """Call a function in a process whose standard input is the part; its result. options: of the job, that differ.
        VwliteError, with the place in the part."""
        format = format_of(part, job)
        header = first_line(part.url) if part.begin and job.header and format in DELIMITED else b""
        o = replace(job.options, format=format, **options)
        parquet = replace(part, columns=job.columns) if part.is_parquet else None
        self.written(TASK, pickle.dumps(Task(do, o, part.name, bool(header), parquet)))
        with ExitStack() as stack:
            file: Any = subprocess.PIPE
            if part.is_parquet:
                if find_spec("pyarrow") is None:
                    raise UnavailableError(f"a file of Parquet, and the worker {_place()[1]} has no pyarrow: pip "
                                           "install 'vwlite[arrow]' there", part.name)
                file = subprocess.DEVNULL
            elif part.is_local and part.end is None:
                with naming_errors(part.url):
                    file = stack.enter_context(open(part.url, "rb"))
            process = stack.enter_context(subprocess.Popen(
                PROGRAM, cwd=self.folder, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            ))
            stack.callback(process.kill)
            if process.stdin is not None:
                with suppress(BrokenPipeError), process.stdin as pipe:  # it has ended: its answer says why
                    for data in chain([header], content(part)):
                        view = memoryview(data)
                        while view:
                            view = view[pipe.write(view) :]
            assert process.stdout is not None
            answer, code = process.stdout.read(), process.wait()
        if code:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            raise VwliteError(f"the process of the task {how}", part.name, exit_code=code if code > 0 else None)
        found = pickle.loads(answer)
        if isinstance(found, VwliteError):
            raise found
        return found


@contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder on the worker."""
    with tempfile.TemporaryDirectory(prefix="vwlite-", dir=_place()[0], ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _task() -> Iterator[_TaskFolder]:
    """A folder for a task. An error in the block becomes `failed`."""
    task = _TaskFolder()
    folder, worker = _place()
    try:
        with own_folder() as task.folder:
            yield task
    except VwliteError as e:
        task.failed = Failed(e.exit_code, str(e), worker, e.where)
    except OSError as e:  # of a file in the folder: errors of others are VwliteErrors
        task.failed = Failed(WriteError.exit_code, f"{folder or tempfile.gettempdir()}: {e.strerror or e}", worker)
    except MemoryError:
        task.failed = Failed(70, "out of memory", worker)


def _place() -> tuple[str | None, str]:
    """The folder of the worker, and its address."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):  # not on a worker
        return None, ""
    return str(worker.local_directory), str(worker.address)


def format_of(part: FilePart, job: ShardJob) -> str:
    """The format of a shard: Parquet, --format, or by the name of the file if that tells it."""
    if part.is_parquet:
        return "parquet"
    return job.options.format if job.options.format != "auto" else by_name(part.url) or "auto"

