"""The tasks of workers: pure functions of a shard, a model and options, so that any worker can repeat them.

A command that fails returns a `Failed` with the reason, not an exception, so Dask logs nothing.
"""

import copyreg
import json
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.dask.parts import FilePart, content, file_system, first_line, naming_errors
from vwlite.errors import DataError, VwliteError, WriteError
from vwlite.input.formats import DELIMITED, by_name
from vwlite.merging.holdout import EXAMPLES, Candidate, Holdout, HoldoutScores, Vector
from vwlite.model.slots import Array, array_of
from vwlite.output.atomic import AtomicFile
from vwlite.runs.options import InputOptions

if TYPE_CHECKING:
    from vwlite.solving.rounds import shards as rounds

PROGRAM = (sys.executable, "-m", "vwlite")
HELD, MODEL, START, REPORT = "held", "model", "start", "report"  # files in the folder of a task
NOTHING = "no example was learned"


@dataclass(frozen=True)
class ShardJob:
    """What is the same for all shards of a run."""

    arguments: tuple[str, ...]  # of the command
    files: tuple[tuple[str, bytes], ...] = ()  # options, and what is in the file that each names
    period: int = 0  # one of each `period` lines is held out
    format: str = "auto"
    header: bool = True  # the first line of a file of delimited text names the columns
    options: InputOptions | None = None  # for the lines that are held out


@dataclass(frozen=True)
class Failed:
    """Why a shard could not be done. worker: where."""

    code: int
    message: str
    worker: str = ""


@dataclass(frozen=True)
class ShardResult:
    """The model of a shard. Empty: the shard has no line."""

    model: bytes
    held: bytes
    lines: int
    keys: int = 0  # of the model


def _reduced(view: Array) -> tuple[Any, ...]:
    return array_of, (view.tobytes(), view.format)


copyreg.pickle(memoryview, _reduced)  # so that models and vectors can be sent  # type: ignore[arg-type]


@dataclass(frozen=True)
class Question:
    """Candidates of a merge, and what predictions are made of."""

    settings: Settings
    classes: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    vectors: dict[Candidate, Vector]
    columns: tuple[tuple[str, Any], ...]  # of tables
    most: int  # examples of a shard


def learn(part: FilePart, start: bytes, job: ShardJob) -> ShardResult | Failed:
    """Train a model on a shard, from a start (nothing if it is empty)."""
    with _task() as task:
        more = ["-i", task.written(START, start)] if start else []
        out = ("-m", MODEL, "--holdout-to", HELD, f"--holdout-period={job.period}", "--report", REPORT, "--allow-empty")
        said = task.run(part, job, "train", *out, *more)
        results = json.loads((task.folder / REPORT).read_text())["results"]
        if not results["number_of_examples"]:
            return ShardResult(b"", b"", 0)
        if (at := said.find(NOTHING)) >= 0:
            raise DataError(f"{part.name}: {said[at:]}")
        return ShardResult((task.folder / MODEL).read_bytes(), (task.folder / HELD).read_bytes(),
                       results["number_of_examples"], results["features_in_the_table"])
    return task.failed


def evaluate(
    learned: ShardResult | Failed, part: FilePart, job: ShardJob, question: Question
) -> HoldoutScores | Failed | None:
    """The scores of candidates on the lines of a shard that are held out."""
    if isinstance(learned, Failed) or not learned.held:
        return learned if isinstance(learned, Failed) else None
    with _task() as task, holdout_in_memory(task.folder, learned, part, job, question) as holdout:
        found, most = holdout.scores(list(question.candidates), question.vectors.__getitem__), question.most
        return HoldoutScores(found.each[:, :most].copy(), *(getattr(found, name)[:most] for name in EXAMPLES))
    return task.failed


def joined_scores(parts: list[HoldoutScores]) -> HoldoutScores:
    """Those of the examples of all, in their order."""
    others = (np.concatenate([getattr(part, name) for part in parts]) for name in EXAMPLES)
    return HoldoutScores(np.concatenate([part.each for part in parts], axis=1), *others)


@contextmanager
def holdout_in_memory(
    folder: Path, learned: ShardResult, part: FilePart, job: ShardJob, question: Question
) -> Iterator[Holdout]:
    """The lines of a shard that are held out, in memory."""
    path = folder / HELD
    path.write_bytes(learned.held)
    assert job.options is not None
    with ExitStack() as stack:
        yield Holdout(replace(job.options, format=format_of(part, job)), (str(path),), question.settings,
                      list(question.classes), dict(question.columns), stack, lambda: False)


def same(x: Any) -> Any:
    """What many tasks need, as a task of its own: should it be lost, it can be had again."""
    return x


def model_of(learned: ShardResult | Failed) -> ShardResult | Failed:
    """The same without the held-out lines, which other tasks do not need."""
    return learned if isinstance(learned, Failed) else replace(learned, held=b"")


def sums(part: FilePart, model: bytes, job: ShardJob) -> "rounds.ShardSums | Failed":
    """The sums over a shard at the weights of a round, those of the model."""
    with _task() as task:
        out = task.folder / "sums"
        task.run(part, job, "dask", "sums", "-i", task.written(START, model), "-o", out.name)
        found: rounds.ShardSums = pickle.loads(out.read_bytes())
        found.name = part.name
        return found
    return task.failed


def predict(part: FilePart, model: bytes, job: ShardJob, output: str) -> int | Failed:
    """Write the predictions of a shard to a file, in the order of its lines; how many there are."""
    with _task() as task:
        out = task.folder / "predictions"
        task.run(part, job, "predict", "-m", task.written(START, model), "-p", out.name)
        return _put(out, output)
    return task.failed


def _put(path: Path, output: str) -> int:
    """Put a file in its place, whole or not at all; the number of its lines."""
    lines = 0
    with open(path, "rb") as data, ExitStack() as stack:
        if "://" in output:
            fs, name = file_system(output)
            with naming_errors(output):
                fs.put_file(str(path), name)
            while piece := data.read(1 << 22):
                lines += piece.count(b"\n")
            return lines
        file = stack.enter_context(AtomicFile(output))
        while piece := data.read(1 << 22):
            lines += piece.count(b"\n")
            file.write(piece)
        file.commit()
    return lines


# --- commands --------------------------------------------------------------------------------


class _Task:
    """A folder for what a task needs, and how it failed."""

    failed: Failed
    folder: Path

    def written(self, name: str, data: bytes) -> str:
        """Write a file; its name."""
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def run(self, part: FilePart, job: ShardJob, *arguments: str) -> str:
        """Run a command over the content of a part; what it said. CommandFailed."""
        files = [f"{option}={self.written(f'file{i}', data)}" for i, (option, data) in enumerate(job.files)]
        format = format_of(part, job)
        known = [f"--format={format}"] if format != job.format else []
        header = first_line(part.url) if part.begin and job.header and format in DELIMITED else b""
        with ExitStack() as stack:
            file: Any = subprocess.PIPE
            if part.is_local and part.end is None:
                with naming_errors(part.url):
                    file = stack.enter_context(open(part.url, "rb"))
            errors = stack.enter_context(tempfile.TemporaryFile(dir=self.folder))
            process = subprocess.Popen(
                [*PROGRAM, *arguments, "--quiet", *job.arguments, *known, *files], cwd=self.folder,
                stdin=file, stdout=subprocess.DEVNULL, stderr=errors, bufsize=0,
            )
            stack.callback(_ended, process)
            if process.stdin is not None:
                with suppress(BrokenPipeError), process.stdin as pipe:  # it has ended: its code says why
                    for data in chain([header], content(part)):
                        view = memoryview(data)
                        while view:
                            view = view[pipe.write(view) :]
            code = process.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
        if code < 0:
            raise CommandFailed(70, f"{part.name}: the command was ended by signal {-code}")
        if code:
            words = said.splitlines()[-1] if said else f"the command ended with code {code}"
            raise CommandFailed(code, _renamed(words, part, header))
        return said


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """See that a command has ended, whatever happened here."""
    process.kill()
    process.wait()


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder where the worker has its files, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="vwlite-", dir=_place()[0], ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _task() -> Iterator[_Task]:
    """What goes wrong inside becomes `failed`."""
    task = _Task()
    folder, where = _place()
    try:
        with own_folder() as task.folder:
            yield task
    except VwliteError as e:
        task.failed = Failed(e.exit_code, str(e), where)
    except OSError as e:  # of our own files: errors of other files are named
        task.failed = Failed(WriteError.exit_code, f"{folder or tempfile.gettempdir()}: {e.strerror or e}", where)
    except MemoryError:
        task.failed = Failed(70, "out of memory", where)


def _place() -> tuple[str | None, str]:
    """The folder of the worker, and its address."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None, ""
    return str(worker.local_directory), str(worker.address)


class CommandFailed(VwliteError):
    """A command has ended with an error; its code and its words are ours."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = code


def _renamed(message: str, part: FilePart, header: bytes) -> str:
    """A message about a line of standard input, about that of the shard. header: what was put before it."""
    found = re.match(r"<stdin>:(\d+):", message)
    if not found:
        return f"{part.name}: {message.replace('<stdin>', 'its lines')}"
    line = int(found[1]) - bool(header)
    return f"{part.name}:{max(line, 1)}:{message[found.end() :]}"


def format_of(part: FilePart, job: ShardJob) -> str:
    """The format of the text of a shard, as the command gets it: the name of the file tells some."""
    if job.format != "auto":
        return job.format
    if (found := by_name(part.url)) is not None:
        return found
    return "auto"

