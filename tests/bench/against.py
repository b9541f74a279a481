"""Is this checkout as fast as an earlier commit? Ratios of paired runs, on standard output.

    make bench-against REV=5cf3652d                 that commit is built in an environment of its own, in .bench/against
    make bench-against REV=... ONLY=predict SIZE=40   only rows whose name contains this; 40 MB of documents, not 400

Both run in turn, A B, B A, A B ..., after one run of each that does not count. A ratio is the median over the rounds of
this checkout's time over that of the commit, of processor time and of wall time: above 1, this checkout is slower. Each
program applies the model that it has trained. Rows of one core run on the first one, by `taskset`, where that is there.
What the commit has not (an option, a command) is a row without numbers.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

from bench import write_table
from harness import GD, ROOT, VWLITE, Run, generate, made, options_of, read_lines, run, say, table

sys.path.append(str(ROOT / "tests/support"))

from processes import processor_seconds

TITLES = ("work", "this checkout", "the commit", "processor time", "wall time")
LOGISTIC = ["--loss", "logistic"]
REQUESTS = 300
Command = list[str]


@dataclass
class Work:
    """A row: a command without its program. MODEL is the model of `trains`, which each program has made before."""

    name: str
    command: Command
    trains: Command = field(default_factory=list)
    one_core: bool = False
    serves: bytes = b""  # a body; the command is one of `serve`, which gets requests


def works(size: float, bank: Command) -> Iterator[Work]:
    """The rows. bank: a table of a real set, or one that is generated, and its label."""
    news = str(generate("rcv1", Path(f"rcv1-{size:g}MB.vw"), "--megabytes", size))
    clicks = str(generate("clicks", Path(f"clicks-{size / 4:g}MB.vw"), "--megabytes", size / 4))
    Path("one.vw").write_text("1 |w a b:0.5\n")
    rows = f"table-{max(int(size * 1000), 200)}"
    if not Path(f"{rows}.csv").exists():
        write_table(rows, int(rows.removeprefix("table-")))
    learn = ["--label", "clicked", "--labels", "0,1", *GD, *LOGISTIC]
    for name, data, options in (
        ("documents", news, [*GD, *LOGISTIC]),
        ("clicks, two namespaces crossed", clicks, [*GD, *LOGISTIC, "-q", "af"]),
        ("a table, CSV", f"{rows}.csv", learn),
    ):
        train = ["train", data, *options]
        yield Work(f"train, {name}", train)
        if data == news:
            passes = [*train, "--holdout-off", "--passes", "3", "--cache-file", "CACHE"]
            yield Work(f"cached train, three passes, {name}", passes)
        predict = ["predict", data, "-m", "MODEL", "-p", "/dev/null"]
        yield Work(f"predict, one core, {name}", predict, train, one_core=True)
    yield Work("start: --version", ["--version"], one_core=True)
    yield Work("start: train of one line", ["train", "one.vw", *GD, *LOGISTIC], one_core=True)
    one = ["predict", "one.vw", "-m", "MODEL", "-p", "/dev/null"]
    yield Work("start: predict of one line", one, ["train", "one.vw", *GD, *LOGISTIC], one_core=True)
    yield Work(f"default, {bank[0]}", ["train", *bank])
    row = read_first(Path(f"{rows}.csv"))
    yield Work(f"serve, {REQUESTS} requests of one row", ["serve", "-m", "MODEL"], ["train", f"{rows}.csv", *learn],
               serves=row)


def read_first(path: Path) -> bytes:
    """The header and the first row of a table."""
    with path.open("rb") as text:
        return text.readline() + text.readline()


def bank_of(sets: Path, size: float) -> Command:
    """A table like bank marketing, and its label: of the data sets, or a generated one."""
    for found in (sets / "tables/bank.train.csv.gz", sets / "bank.train.csv.gz"):
        if found.exists():
            Path("bank.csv").write_text("".join(read_lines(found)))
            return ["bank.csv", "--label", "target"]
    stem = f"bank-like-{max(int(size * 20), 200)}"
    if not Path(f"{stem}.csv").exists():
        write_table(stem, int(stem.rpartition("-")[2]))
    return [f"{stem}.csv", "--label", "clicked"]


# --- the other commit -------------------------------------------------------------------------------


def built(rev: str, folder: Path) -> str:
    """The program of a commit, in an environment of its own; it is built if it is not there."""
    name = ["git", "rev-parse", "--verify", f"{rev}^{{commit}}"]
    done = subprocess.run(name, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"against.py: REV={rev} is no commit of this repository")
    commit = done.stdout.strip()[:12]
    program = folder / commit / "venv/bin/vwlite"
    if not program.exists():
        say(f"building {commit}")
        shutil.rmtree(folder / commit, ignore_errors=True)
        source = folder / commit / "source"
        source.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
        run(sys.executable, "-m", "venv", folder / commit / "venv")
        run(program.with_name("pip"), "install", "--quiet", "--disable-pip-version-check", source)
    return str(program)


# --- runs -------------------------------------------------------------------------------------------


class Rival:
    """One of the two programs, with its models and caches."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder
        folder.mkdir(exist_ok=True)

    def prepare(self, work: Work) -> bool:
        """Train the model of a work, and try the work; whether this program can do it."""
        try:
            if work.trains:
                run(self.program, *work.trains, "-m", self.folder / "model", "--quiet")
            for cache in self.folder.glob("cache*"):
                cache.unlink()
            self.run(work)
        except SystemExit as refused:
            say(f"{self.folder.name}: {refused}")
            return False
        return True

    def run(self, work: Work) -> Run:
        files = {"MODEL": str(self.folder / "model"), "CACHE": str(self.folder / "cache")}
        command = [self.program, *(files.get(word, word) for word in work.command)]
        if work.serves:
            return served(command, work.serves)
        if work.one_core and shutil.which("taskset"):
            command = ["taskset", "-c", "0", *command]
        return run(*command, *([] if work.command == ["--version"] else ["--quiet"]))


def served(command: Command, body: bytes) -> Run:
    """Requests of one client, one after the other, without the start of the server. SystemExit if it answers none."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        client = HTTPConnection("127.0.0.1", port, timeout=30)
        while True:
            with suppress(ConnectionRefusedError):
                client.connect()
                break
            if process.poll() is not None:
                assert process.stderr is not None
                sys.exit(process.stderr.read().decode(errors="replace"))
            time.sleep(0.02)

        def ask() -> None:
            client.request("POST", "/predict", body, {"Content-Type": "text/csv"})
            answer = client.getresponse()
            said = answer.read()
            if answer.status != 200:
                sys.exit(said.decode(errors="replace"))

        ask()
        before, begin = processor_seconds(process.pid), time.perf_counter()
        for _ in range(REQUESTS):
            ask()
        return Run(time.perf_counter() - begin, processor_seconds(process.pid) - before, 0)
    finally:
        process.terminate()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def rows(some: list[Work], ours: Rival, theirs: Rival, rounds: int) -> Iterator[tuple[str, ...]]:
    for work in some:
        if not ours.prepare(work) or not theirs.prepare(work):
            yield work.name, "", "", "n.a.", "n.a."
            continue
        # A B, then B A: neither is always the first
        runs: dict[Rival, list[Run]] = {ours: [], theirs: []}
        for i in range(rounds):
            for rival in (theirs, ours) if i % 2 else (ours, theirs):
                runs[rival].append(rival.run(work))
        processor = ratio(*([r.processor for r in runs[of]] for of in (ours, theirs)))
        wall = ratio(*([r.seconds for r in runs[of]] for of in (ours, theirs)))
        say(f"{work.name}: {processor} of the processor time, {wall} of the wall time")
        yield work.name, *(f"{median(r.seconds for r in runs[of]):.3f} s" for of in (ours, theirs)), processor, wall


def ratio(ours: list[float], theirs: list[float]) -> str:
    """The median of the ratios of pairs, with the quartiles."""
    if min(ours + theirs) <= 0:  # too short for the clock
        return "n.a."
    found = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return f"{median(found):.2f} ({found[len(found) // 4]:.2f}-{found[-1 - len(found) // 4]:.2f})"


def main() -> None:
    parser = options_of(__doc__, quick="tiny data, two runs of each", data=True)
    parser.add_argument("rev", metavar="REV", help="the commit, or a program `vwlite` that is built")
    parser.add_argument("--size", type=float, default=400, help="MB of documents, and the rest by it (default: 400)")
    parser.add_argument("--rounds", type=int, default=10, help="pairs of runs (default: 10)")
    parser.add_argument("--only", default="", metavar="WORDS", help="only rows whose name contains this")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench/against", help="where files go")
    typed = parser.parse_args()
    if typed.quick:
        typed.size, typed.rounds = 0.2, 2
    folder, sets = typed.folder.absolute(), typed.data.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    theirs = str(Path(typed.rev).absolute()) if os.access(typed.rev, os.X_OK) else built(typed.rev, folder)
    os.chdir(folder)
    some = [work for work in works(typed.size, bank_of(sets, typed.size)) if typed.only in work.name]
    found = rows(some, Rival(VWLITE, folder / "ours"), Rival(theirs, folder / "theirs"), typed.rounds)
    about = f", against {typed.rev}.\n{typed.size:g} MB of documents; medians of {typed.rounds} pairs, and quartiles."
    print(made("vwlite", "numpy", note=about), table(TITLES, found, "lrrrr"), sep="\n\n")


if __name__ == "__main__":
    main()
