"""What workers do: pure functions of a shard, a model and options, so that it may be done again, anywhere.

A command that fails is no exception but a `Failed`: it says why, and Dask has nothing to log.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from vwlite.dask.parts import Every, Part, file_system, first_line, line_number, lines_of, told
from vwlite.errors import DataError, VwliteError, WriteError
from vwlite.input.tables import name_format
from vwlite.merging.search import Candidate, Holdout, Vector
from vwlite.model.slots import array_of
from vwlite.options.groups import TrainOptions
from vwlite.options.settings import Settings
from vwlite.output.atomic import AtomicFile

PROGRAM = (sys.executable, "-m", "vwlite")
LEARNED, HELD, MODEL, START = "learned", "held", "model", "start"  # files in the folder of a task


@dataclass(frozen=True)
class Job:
    """What is the same for all shards of a run."""

    arguments: tuple[str, ...]  # of the command
    files: tuple[tuple[str, bytes], ...] = ()  # options, and what is in the file that each names
    period: int = 0  # every so manieth line is held out; 0: none is
    format: str = "auto"
    header: bool = True  # the first line of a file of delimited text names the columns
    options: TrainOptions | None = None  # for the lines that are held out


@dataclass(frozen=True)
class Failed:
    """Why a shard could not be done. worker: where."""

    code: int
    message: str
    worker: str = ""


@dataclass(frozen=True)
class Learned:
    """What a shard has taught. An empty model: there is no line in it."""

    model: bytes
    held: bytes
    lines: int


@dataclass(frozen=True)
class Sent:
    """A `Vector` that can be sent."""

    keys: bytes
    rows: bytes
    columns: tuple[int, ...]
    unseen: tuple[float, ...]

    @staticmethod
    def of(v: Vector) -> "Sent":
        return Sent(v.keys.tobytes(), v.rows.tobytes(), tuple(v.columns), tuple(v.unseen))

    def vector(self) -> Vector:
        return Vector(array_of(self.keys, "I"), array_of(self.rows, "d"), self.columns, list(self.unseen))


@dataclass(frozen=True)
class Question:
    """Candidates of a merge, and what predictions are made of."""

    settings: Settings
    classes: tuple[str, ...]
    clip: tuple[float, float] | None
    candidates: tuple[Candidate, ...]
    vectors: dict[Candidate, Sent]  # by the `key` of each
    whole: bool
    columns: tuple[tuple[str, Any], ...]  # of tables

    def key(self, c: Candidate) -> Candidate:
        """That of the vector of a candidate: all steps along a way have one."""
        step = c.step if self.whole else 0.0
        return Candidate(c.way, step, c.shard, 0.0)


@dataclass(frozen=True)
class Answer:
    """For each candidate the sum of the losses and that of the importances."""

    sums: tuple[tuple[float, float], ...]
    examples: int


def learn(part: Part, start: bytes, job: Job) -> Learned | Failed:
    """Train a model on a shard, from a start (nothing if it is empty)."""
    with _task() as task:
        more = []
        if start:
            more = ["-i", task.written(START, start)]
        child = task.run(job, part, "train", "--quiet", "-m", MODEL, *more)
        every = Every(job.period)
        held = []
        for data in child.fed(part, job):
            learned, apart = every.split(data)
            held.append(apart if apart.endswith(b"\n") or not apart else apart + b"\n")
            child.write(learned)
        kept = b"".join(held)
        if not every.count:
            child.end(part, every.period)
            return Learned(b"", b"", 0)
        child.end(part, every.period, done=True)
        return Learned((task.folder / MODEL).read_bytes(), child.header + kept, every.count)
    return task.failed


def judge(learned: Learned | Failed, part: Part, job: Job, question: Question) -> Answer | Failed:
    """The losses of candidates on the lines of a shard that are held out."""
    if isinstance(learned, Failed):
        return learned
    if not learned.held:
        return Answer(tuple((0.0, 0.0) for _ in question.candidates), 0)
    with _task() as task, ExitStack() as stack:
        path = task.written(HELD, learned.held)
        assert job.options is not None
        o = replace(job.options, format=format_of(part, job))
        try:
            holdout = Holdout(
                o, (path,), question.settings, list(question.classes), question.clip, stack, lambda: False,
                columns=dict(question.columns),
            )  # fmt: skip
        except DataError as e:
            raise DataError(_renumbered(str(e), path, part, lambda n: n * job.period, _has_header(part, job))) from e
        vectors = {key: sent.vector() for key, sent in question.vectors.items()}
        found = holdout.sums(list(question.candidates), lambda c: vectors[question.key(c)], question.whole)
        return Answer(tuple(found), len(holdout))
    return task.failed


def same(x: Any) -> Any:
    """What many tasks need, as a task of its own: should it be lost, it can be had again."""
    return x


def model_of(learned: Learned | Failed) -> Learned | Failed:
    """The same without the lines that are held out, which nobody else needs."""
    return learned if isinstance(learned, Failed) else replace(learned, held=b"")


def predict(part: Part, model: bytes, job: Job, output: str) -> int | Failed:
    """Write the predictions of a shard to a file, in the order of its lines; how many there are."""
    with _task() as task:
        out = task.folder / "predictions"
        child = task.run(job, part, "predict", "--quiet", "-m", task.written(START, model), "-p", out.name)
        for data in child.fed(part, job):
            child.write(bytes(data))
        child.end(part, 0, done=True)
        return _put(out, output)
    return task.failed


def _put(path: Path, output: str) -> int:
    """Put a file in its place, whole or not at all; the number of its lines."""
    lines = 0
    with open(path, "rb") as data, ExitStack() as stack:
        if "://" in output:
            fs, name = file_system(output)
            with told(output):
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

    def run(self, job: Job, part: Part, *arguments: str) -> "_Child":
        more = [f"{option}={self.written(f'file{i}', data)}" for i, (option, data) in enumerate(job.files)]
        return _Child(self.folder, [*PROGRAM, *arguments, *job.arguments, *more])


@contextmanager
def _task() -> Iterator[_Task]:
    """What goes wrong inside becomes `failed`."""
    task = _Task()
    folder, where = _place()
    try:
        with tempfile.TemporaryDirectory(prefix="vwlite-", dir=folder, ignore_cleanup_errors=True) as name:
            task.folder = Path(name)
            yield task
    except VwliteError as e:
        task.failed = Failed(e.exit_code, str(e), where)
    except OSError as e:  # of our own files: those of others are told
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


class _Child:
    """The command that a worker runs, which reads lines from a pipe."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.header = b""
        self._errors: IO[bytes] = tempfile.TemporaryFile(dir=folder)
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._errors, bufsize=0
        )
        self._gone = False

    def fed(self, part: Part, job: Job) -> Iterator[bytes | memoryview]:
        """The lines of a part behind the header, if it has one, which the command has got. Should anything go wrong,
        there is no command any more."""
        try:
            first = True
            for data in lines_of(part):
                if first and _has_header(part, job):
                    if part.begin:
                        self.header = first_line(part.url)
                    else:
                        self.header = bytes(data[: bytes(data).find(b"\n") + 1 or len(data)])
                        data = data[len(self.header) :]
                    self.write(self.header)
                first = False
                if self._gone:
                    break
                if len(data):
                    yield data
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        assert self._process.stdin is not None
        try:
            while view and not self._gone:
                view = view[self._process.stdin.write(view) :]
        except BrokenPipeError:
            self._gone = True  # `end` says why

    def end(self, part: Part, period: int, done: bool = False) -> None:
        """Wait for the end. CommandFailed if it is an error; done: else there was nothing to be done."""
        assert self._process.stdin is not None
        if not done:
            self._process.kill()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        self._errors.close()
        if not done or code == 0:
            return
        if code < 0:
            raise CommandFailed(70, f"{part.name}: the command was ended by signal {-code}")
        words = said.splitlines()[-1] if said else f"the command ended with code {code}"
        words = words.partition(f"; {MODEL} is ")[0]  # nobody knows that file
        number = (lambda n: line_number(n, period)) if period else (lambda n: n)
        raise CommandFailed(code, _renumbered(words, "<stdin>", part, number, bool(self.header)))


def _renumbered(message: str, source: str, part: Part, number: Any, header: bool) -> str:
    """A message about a line that a command has got, about that of the shard."""
    found = re.match(re.escape(source) + r":(\d+):", message)
    if not found:
        return f"{part.name}: {message.replace(source, 'its lines')}"
    line = int(found[1]) - header
    shown = number(line) + header if line > 0 else 1
    if part.of > 1 and part.begin:
        shown -= header
    return f"{part.name}:{shown}:{message[found.end() :]}"


def format_of(part: Part, job: Job) -> str:
    """The format of the text of a shard, as the command gets it: the name of the file tells some."""
    if job.format != "auto":
        return job.format
    if (found := name_format(part.url)) is not None:
        return found
    return "auto"


def _has_header(part: Part, job: Job) -> bool:
    """Whether the first line of a file is about all others."""
    if not job.header:
        return False
    return format_of(part, job) in ("csv", "tsv")
