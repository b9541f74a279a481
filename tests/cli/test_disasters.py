"""Whole commands to which something happens: killed, signalled, an error of the system, a full disk, another user.

Afterwards each output is the old file or the new one, whole; what could be cleaned up is; the exit code is one that the
README knows, and the next run works. What happens when is drawn, the same in every run of the tests.
A third of it is in `make test`, the rest in `make test-long`; VWLITE_DISASTERS=10 draws ten times as many.
"""

import builtins
import errno
import fcntl
import functools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from running import PATIENT, PROGRAM, start_child, wait_child

from vwlite.cli import run
from vwlite.input.cache import open_cache
from vwlite.model import read_model
from vwlite.output import stdio

pytestmark = pytest.mark.third
TIMES = int(os.environ.get("VWLITE_DISASTERS", "1"))
ONE, OTHER = "one.vw", "other.vw"  # data
NOBODY = 65534


def lines(seed: str, count: int, bad: bool = False) -> bytes:
    chance = random.Random(seed)
    out = []
    for _ in range(count):
        names = [f"{chance.choice('abc')}{chance.randint(1, 60)}:{chance.choice((1, 0.5, 2))}" for _ in range(8)]
        label = 1 if sum(len(name) for name in names) % 2 else -1
        out.append(f"{label} |x {' '.join(names)}" + (" |x a:b:c" if bad and chance.random() < 0.02 else ""))
    return "\n".join(out).encode() + b"\n"


@dataclass(frozen=True)
class Job:
    """A command, and the outputs that it replaces. Of some, several versions may be seen, or they hold a time."""

    command: str
    outputs: tuple[str, ...]
    several: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # files that only some jobs have


JOBS = {
    "train": Job(f"train {ONE} --algorithm gd -m model", ("model",)),
    "continue": Job(f"train {ONE} -i model -m model --loss logistic", ("model",), several=("model",)),
    "passes": Job(
        f"train {ONE} --algorithm gd --passes 3 --cache-file cache -m model", ("model", "cache"), several=("cache",)
    ),
    "held out": Job(f"train {ONE} --algorithm gd -m model --holdout-to held", ("model", "held")),
    "outputs": Job(
        "train bad.vw --algorithm gd --on-error skip --rejects rejects -m model -p p -r r --report report",
        ("model", "p", "r", "rejects", "report"), several=("report",),
    ),
    "checkpoints": Job(
        f"train {ONE} --passes 2 --checkpoint-every 100 -m model --algorithm ftrl", ("model",), several=("model",)
    ),
    "predict": Job(f"predict -m good {ONE} -p p --report report", ("p", "report"), several=("report",)),
    "solve": Job(
        f"solve {ONE} --l1-of-max 0.05 --cache-file cache -m model --report report", ("model", "cache", "report"),
        several=("cache", "report"),
    ),
    "certify": Job(f"certify -m good {ONE} --l1 0.1 --report report", ("report",), several=("report",)),
    "merge": Job(
        f"merge good better --holdout {ONE} -o model --report report", ("model", "report"), several=("report",)
    ),
    "solve shards": Job(
        f"solve {ONE} {OTHER} --shards 2 --loss logistic --l1 0.01 -m model --report report", ("model", "report"),
        several=("report",), needs=(OTHER,),
    ),
    "export": Job("export good --to vw -o model", ("model",)),
    "export table": Job("export good --to tsv -o model", ("model",)),
    "export program": Job("export good --to python -o model", ("model",)),
    "import": Job("import table -m model", ("model",)),
    "train names": Job(f"train {ONE} --algorithm gd --names -q xx -m model", ("model",)),
    "names": Job(f"names good {ONE} -o model --threads 1", ("model",)),
    "vw": Job(f"vw -d {ONE} -f model --readable_model readable", ("model", "readable")),
    "vw passes": Job(
        f"vw -d {ONE} -c --passes 3 -f model", ("model", f"{ONE}.cache"), several=("model", f"{ONE}.cache")
    ),
}
CODES = {0, 1, 2, 65, 66, 73, 74, 75}  # of runs that end by themselves; not 70, an error in the program


@dataclass
class Ended:
    """How a run ended: the exit code, or minus the signal; and its words."""

    code: int
    words: str


def attempt(folder: Path, command: str, before: Callable[[], None] = lambda: None) -> Ended:
    """Run a command in a folder, in a forked process; `before` is called in it."""
    said, out = os.pipe()

    def work() -> int:
        os.chdir(folder)
        for fd in (1, 2):
            os.dup2(out, fd)
        os.close(out)
        stdio.prepare()
        before()
        code = run(command.split())
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    child = start_child(work)
    os.close(out)
    with open(said, errors="replace") as words:
        text = words.read()
    return Ended(wait_child(child), text)


@dataclass
class Known:
    """What is known of a job from runs to which nothing happened."""

    files: dict[str, bytes]  # before it
    new: dict[str, bytes]  # the outputs after it
    calls: Counter[str] = field(default_factory=Counter)  # of each function of the system


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Known]:
    place = tmp_path_factory.mktemp("known")
    data = {ONE: lines("one", 300), OTHER: lines("other", 200), "bad.vw": lines("bad", 300, bad=True)}
    (place / "good").mkdir()
    (place / "good" / OTHER).write_bytes(data[OTHER])
    assert attempt(place / "good", f"train {OTHER} --algorithm gd -m good --loss logistic").code == 0
    assert attempt(place / "good", f"train {OTHER} {OTHER} --algorithm gd -m better --loss logistic").code == 0
    assert attempt(place / "good", "export good --to tsv -o table").code == 0
    (place / "good" / ONE).write_bytes(data[ONE])
    made = ("good", "better", "table")
    data |= {name: (place / "good" / name).read_bytes() for name in made}

    @functools.cache
    def find(name: str) -> Known:
        job, folder = JOBS[name], place / name
        folder.mkdir()
        files = {n: data[n] for n in (ONE, "bad.vw", "good", "better", "table")}
        files |= {n: data["good"] if n == "model" else b"old\n" for n in job.outputs if "cache" not in n}
        files |= {n: data[n] for n in job.needs}
        found = Known(files, {})
        fill(folder, found)
        counts = folder.parent / "counts"

        def count() -> None:
            faults = Faults(lambda name, n: None)
            end = os._exit
            os._exit = lambda code: (counts.write_text(json.dumps(faults.calls)), end(code))

        ended = attempt(folder, job.command, count)
        assert ended.code == 0, ended
        found.calls = Counter(json.loads(counts.read_text()))
        found.new = {n: (folder / n).read_bytes() for n in job.outputs}
        assert sorted(os.listdir(folder)) == sorted({*files, *job.outputs})
        return found

    return find


def fill(folder: Path, known: Known) -> None:
    for name, content in known.files.items():
        (folder / name).write_bytes(content)


NAMES = (
    "open", "write", "pipe", "dup", "fsync", "rename", "close", "unlink", "fchmod", "fstat", "stat", "lstat",
    "ftruncate", "lseek", "listdir", "read", "readv", "preadv", "pathconf",
)


class Faults:
    """Counts the calls of functions of the system in this process, and does something at some: `fault` gets the name
    and number of a call, and gives what to do instead with the function and its arguments, or None."""

    def __init__(self, fault: Callable[[str, int], Callable | None]) -> None:
        self.calls: Counter[str] = Counter()
        self._fault = fault
        for module, names in ((os, NAMES), (fcntl, ("flock",)), (builtins, ("open",))):
            for name in names:
                if hasattr(module, name):
                    self._replace(module, name)

    def _replace(self, module: object, name: str) -> None:
        call = getattr(module, name)
        shown = f"{module.__name__}.{name}"

        def replacement(*arguments, **more):
            if shown == "os.write" and arguments[0] in (1, 2):
                return call(*arguments, **more)
            self.calls[shown] += 1
            instead = self._fault(shown, self.calls[shown])
            return call(*arguments, **more) if instead is None else instead(call, *arguments, **more)

        setattr(module, name, replacement)


def at_call(call: str, at: int, instead: Callable) -> None:
    """Have something else happen at that call."""
    Faults(lambda name, n: instead if (name, n) == (call, at) else None)


def check(folder: Path, name: str, known: Known, tidy: bool = True, interrupted: bool = False) -> None:
    """Each output is old or new, or the state when the run was stopped; the rest is as it was; nothing else
    is there; and the next run works."""
    job = JOBS[name]
    for n, content in known.files.items():
        if n not in job.outputs:
            assert (folder / n).read_bytes() == content, n
    for n in job.outputs:
        found = (folder / n).read_bytes() if (folder / n).exists() else None
        if found in (known.files.get(n), known.new[n]):
            continue
        assert interrupted or n in job.several, f"{n} is neither the old file nor the new one"
        if n == "report":
            json.loads(found)
        elif n.endswith("cache"):  # it knows the times of the data
            open_cache(str(folder / n), None)
        elif n in ("p", "r", "rejects"):  # lines up to there
            assert known.new[n].startswith(found)
        else:
            read_model(str(folder / n))
    beside = set(os.listdir(folder)) - {*known.files, *job.outputs}
    assert not (beside and tidy), beside
    ended = attempt(folder, job.command)
    assert ended.code == 0, ended
    locks = {f".{n}.lock" for n in job.outputs if "cache" in n}  # of a cache that is whole, and read only
    assert set(os.listdir(folder)) - locks == {*known.files, *job.outputs}
    for n in set(job.outputs) - set(job.several):
        assert (folder / n).read_bytes() == known.new[n], n


def drawn(count: int) -> pytest.MarkDecorator:
    """The number of tests."""
    return pytest.mark.parametrize("number", range(count * TIMES))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def job_of(number: int) -> str:
    return list(JOBS)[number % len(JOBS)]


# --- killed ---------------------------------------------------------------------------------------------


@drawn(40)
def test_killed(folder, known, number):
    """Three in four times while a file has a part of its bytes."""
    name, chance = job_of(number), random.Random(f"kill {number}")
    found = known(name)
    fill(folder, found)
    others = ("os.fsync", "os.rename", "os.close", "os.unlink", "os.fchmod", "os.open")
    call = "os.write" if chance.random() < 0.75 else chance.choice([other for other in others if found.calls[other]])
    at, part = chance.randint(1, found.calls[call]), chance.random()

    def killed(function, *arguments, **more):
        if call == "os.write":
            function(arguments[0], memoryview(arguments[1])[: int(len(arguments[1]) * part)])
        elif part < 0.5:
            function(*arguments, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    ended = attempt(folder, JOBS[name].command, lambda: at_call(call, at, killed))
    assert ended.code == -signal.SIGKILL
    check(folder, name, found, tidy=False)


# --- errors of the system ----------------------------------------------------------------------------


ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EMFILE, errno.ENOLCK, errno.EROFS)
POSSIBLE = {  # of calls that know few of them
    "os.pipe": (errno.EMFILE, errno.ENFILE), "os.dup": (errno.EMFILE,), "os.lseek": (errno.EIO,),
    "os.close": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
}


@drawn(60)
def test_an_error_of_the_system(folder, known, number):
    name, chance = job_of(number), random.Random(f"error {number}")
    found = known(name)
    fill(folder, found)
    aimed = [call for call in ("os.write", "os.fsync", "os.rename", "fcntl.flock", "os.ftruncate") if found.calls[call]]
    call = chance.choice(aimed if chance.random() < 0.5 else sorted(found.calls))
    at, code, does_it = chance.randint(1, found.calls[call]), chance.choice(ERRORS), chance.random() < 0.5
    if call == "os.fsync" and code == errno.EACCES:  # what file systems say that cannot flush folders
        code = errno.EIO
    if code not in POSSIBLE.get(call, (code,)):
        code = chance.choice(POSSIBLE[call])

    def failing(function, *arguments, **more):
        if call == "os.write" and does_it:
            function(arguments[0], memoryview(arguments[1])[: len(arguments[1]) // 2])
        elif call == "os.close" or (does_it and call in ("os.fsync", "os.rename", "os.unlink")):
            function(*arguments, **more)
        raise OSError(code, os.strerror(code))

    ended = attempt(folder, JOBS[name].command, lambda: at_call(call, at, failing))
    what = (call, at, errno.errorcode[code], does_it, ended)
    assert ended.code in CODES | ({71} if code in (errno.EMFILE, errno.ENFILE) else set()), what
    assert "internal error" not in ended.words and "Traceback" not in ended.words, what
    if call in ("os.write", "os.fsync", "os.rename", "fcntl.flock", "os.ftruncate"):
        assert ended.code in ({1} if name.startswith("vw") else {73, 74}), what
        assert os.strerror(code) in ended.words, what
    check(folder, name, found, tidy=call not in ("os.unlink", "os.fstat", "os.lstat", "os.stat"))


# --- another user ---------------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@drawn(9)
def test_a_killed_job_of_root_is_not_in_the_way_of_another_user(known, number):
    """In a folder that both may write into."""
    name, chance = job_of(number), random.Random(f"user {number}")
    job, found = JOBS[name], known(name)
    place = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    folder = place / "job"
    try:
        place.chmod(0o755)
        for each in (folder, place / "first"):
            each.mkdir()
            fill(each, found)
        folder.chmod(0o777)
        for n in found.files:
            (folder / n).chmod(0o666)
        at = chance.randint(1, found.calls["os.write"])

        def killed(function, *arguments, **more):
            os.kill(os.getpid(), signal.SIGKILL)

        def root() -> None:
            os.umask(chance.choice((0o022, 0o077)))
            at_call("os.write", at, killed)

        def user() -> None:
            os.chdir(place / "first")  # as that user may not read the modules of this Python
            assert run(job.command.split()) == run(job.command.split()) == 0
            os.chdir(folder)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        assert attempt(folder, job.command, root).code == -signal.SIGKILL
        for n in found.new:  # what root has finished already may be for root alone
            if (folder / n).exists():
                (folder / n).chmod(0o666)
        ended = attempt(folder, job.command, user)
        assert ended.code == 0, ended
        assert all((folder / n).stat().st_uid == NOBODY for n in job.outputs if "cache" not in n)
        assert set(os.listdir(folder)) == {*found.files, *job.outputs}
    finally:
        shutil.rmtree(place)


# --- full disks -----------------------------------------------------------------------------------------


FULL = {"limit": 8, "device": 4, "disk": 4}


@pytest.mark.parametrize("kind, number", [(kind, i) for kind, n in FULL.items() for i in range(n * TIMES)])
def test_a_full_disk(folder, known, kind, number):
    name, chance = job_of(number * 5 + 2 * list(FULL).index(kind)), random.Random(f"{kind} {number}")
    job, found = JOBS[name], known(name)
    if kind == "device":
        full_device(folder, job, found, chance)
        return
    if kind == "disk" and not mounted(folder):
        pytest.skip("only root may mount a disk")
    try:
        fill(folder, found)
        largest = max(len(content) for n, content in found.new.items() if "cache" not in n)
        limit = chance.randint(0, largest - 1)
        if kind == "limit":
            ended = attempt(
                folder, job.command, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            )
        else:
            with (folder / "ballast").open("wb") as ballast:
                left = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
                ballast.write(bytes(max(0, left - limit // 4096 * 4096)))
            ended = attempt(folder, job.command)
            (folder / "ballast").unlink()
        assert ended.code == (1 if name.startswith("vw") else 74), ended
        assert os.strerror(errno.EFBIG if kind == "limit" else errno.ENOSPC) in ended.words
        check(folder, name, found)
    finally:
        if kind == "disk":
            subprocess.run(["umount", folder], check=True)


def full_device(folder: Path, job: Job, found: Known, chance: random.Random) -> None:
    """One of the outputs is a disk that is full."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    fill(folder, found)
    output = chance.choice([n for n in job.outputs if "cache" not in n])
    words = job.command.split()
    at = max(i for i, word in enumerate(words) if word == output)
    ended = attempt(folder, " ".join([*words[:at], "/dev/full", *words[at + 1 :]]))
    assert ended.code == (1 if words[0] == "vw" else 74), ended
    assert ended.words.endswith("/dev/full: cannot be written: No space left on device\n")
    assert (folder / output).read_bytes() == found.files[output]
    assert not set(os.listdir(folder)) - {*found.files, *job.outputs}


def mounted(folder: Path) -> bool:
    """Make a small disk of the folder, if that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


# --- signals ------------------------------------------------------------------------------------------


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@drawn(20)
def test_a_signal_while_a_command_starts(folder, known, number):
    """After N imports; then it may have ended by itself."""
    name, chance = job_of(number), random.Random(f"start {number}")
    job, found, which = JOBS[name], known(name), random.Random(number).choice(SIGNALS)
    fill(folder, found)
    after = chance.randint(1, 150)
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", *PROGRAM[1:], *job.command.split()], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.endswith(b" vwlite.output.signals\n"):
            break
    for _ in range(after):
        process.stderr.readline()
    process.send_signal(which)
    _, words = process.communicate(timeout=PATIENT)
    assert process.returncode in (0, 128 + which), words
    assert b"Traceback" not in words
    check(folder, name, found, interrupted=process.returncode != 0)


@drawn(20)
def test_a_signal_while_a_command_learns(folder, known, number):
    """After N rows of its table, each printed while it runs."""
    names = ["train", "continue", "passes", "outputs", "checkpoints", "vw", "vw passes"]
    name, chance = names[number % len(names)], random.Random(f"signal {number}")
    job, found, which = JOBS[name], known(name), chance.choice(SIGNALS)
    fill(folder, found)
    rows = chance.randint(1, 200)
    process = subprocess.Popen(
        [*PROGRAM, *job.command.split(), "-P", "1"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    for line in process.stderr:
        rows -= line[:1].isdigit()
        if rows == 0:
            break
    process.send_signal(which)
    _, words = process.communicate(timeout=PATIENT)
    assert process.returncode in (0, 128 + which), words
    assert b"Traceback" not in words
    if process.returncode:
        assert b"interrupted by signal %d; the model so far was saved to model" % which in words
        read_model(str(folder / "model"))
    assert not set(os.listdir(folder)) - {*found.files, *job.outputs}
    assert attempt(folder, job.command).code == 0
    assert set(os.listdir(folder)) == {*found.files, *job.outputs}
