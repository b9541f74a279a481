"""What the benchmarks share: their options, runs of programs, the tables that they make, and where results are kept.

No NumPy: a benchmark of memory stays small, as the peak of a child begins with that of its parent.
"""

import argparse
import datetime
import gzip
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SETS = ROOT / ".bench/sets"  # where the public data sets are, unless --data names another folder
VWLITE = str(Path(sys.executable).with_name("vwlite"))
VW = [sys.executable, "-m", "vowpalwabbit"]
GD = ["--algorithm", "gd"]  # Vowpal Wabbit's default update
T = TypeVar("T")


def say(text: str) -> None:
    """A message on standard error."""
    print(text, file=sys.stderr, flush=True)


def installed(*modules: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in modules)


# --- options ----------------------------------------------------------------------------------------


def options_of(doc: str | None, *, quick: str = "", data: bool = False, results: str = "") -> argparse.ArgumentParser:
    """The options that most benchmarks have. doc: of the program; quick, results: help of the options of that name."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    if data:
        parser.add_argument("--data", type=Path, default=SETS, help="the folder of the data sets")
    if results:
        parser.add_argument("--results", type=Path, help=results)
    return parser


# --- running programs -------------------------------------------------------------------------------


@dataclass
class Run:
    """One process, from its start to its end."""

    seconds: float
    processor: float  # seconds that it computed, of all its threads
    peak: int  # bytes


def run(*command: object) -> Run:
    """Run a command to its end. If it fails, the program ends with what the command wrote to standard error."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as messages:
        begin = time.perf_counter()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            said = messages.read().decode(errors="replace")
            sys.exit(f"{Path(sys.argv[0]).name}: exit {process.returncode} of {' '.join(words)}\n{said}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak)


def generate(stream: str, path: Path, *options: object) -> Path:
    """A generated text; it is made if it is not there."""
    if not path.exists():
        say(f"making {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        run(sys.executable, ROOT / "data/generate.py", stream, *options, "-o", path)
    return path


def in_turns(works: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """What each gives, round by round: all in turn, A B C A B C ..., as a machine has slower and faster minutes."""
    turns = [{name: work() for name, work in works.items()} for _ in range(rounds)]
    return {name: [turn[name] for turn in turns] for name in works}


def read_lines(path: Path) -> list[str]:
    """The lines of a data set, with their ends; .gz or plain."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as text:
        return text.readlines()


def work_folder() -> "tempfile.TemporaryDirectory[str]":
    """A temporary folder, in memory where that is possible."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def report_of(path: Path) -> Any:
    """The results in a report of vwlite."""
    return json.loads(path.read_text())["results"]


# --- tables -----------------------------------------------------------------------------------------


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], columns: str = "l") -> str:
    """A Markdown table. columns: l (left) or r (right) for each column, the last of them for all that follow."""
    columns = columns.ljust(len(titles), columns[-1])
    rules = ["---:" if side == "r" else "---" for side in columns]
    return "\n".join(row(*cells) for cells in (titles, rules, *rows))


def verdict(reached: bool) -> str:
    return "yes" if reached else "**no**"


def best_in_bold(texts: Sequence[str], best: str) -> list[str]:
    return [f"**{text}**" if text == best else text for text in texts]


def made(*packages: str, note: str = ".") -> str:
    """The day, the machine, and the versions of Python and of these packages, if they are installed."""
    found = [f"Python {platform.python_version()}"] if packages else []
    for name in packages:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    machine = f"{datetime.date.today()}; {processor()}, {os.cpu_count()} of them"
    return "; ".join([machine, *([", ".join(found)] if found else [])]) + note


def processor() -> str:
    """The name of this machine's processor."""
    with suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    with suppress(OSError, subprocess.CalledProcessError):
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()


# --- where results are kept --------------------------------------------------------------------------


def records(value: Any, depth: int, indent: str = "") -> str:
    """Results as JSON with one record a line: a record is what has at most `depth` levels of lists and objects."""
    if nesting(value) <= depth:
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(str(name))}: {records(part, depth, inner)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + records(part, depth, inner) for part in value) + f"\n{indent}]"


def nesting(value: Any) -> int:
    """How many levels of lists and objects a value has."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(nesting, parts), default=0)


def rounded(value: Any) -> Any:
    """Results with nine digits of each fraction."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.9g}") if isinstance(value, float) and not value.is_integer() else value


def write_records(path: Path, results: Any, depth: int) -> None:
    """Write results to a JSON file that is small and easy to compare."""
    path.write_text(records(rounded(results), depth) + "\n", encoding="utf-8")


def put_into(results: Path, name: str, content: str) -> None:
    """Put tables between the markers `begin bench: NAME` and `end bench: NAME`. Without them the program ends."""
    text = results.read_text(encoding="utf-8")
    pattern = rf"(<!-- begin bench: {name} -->\n).*?(<!-- end bench: {name} -->)"
    text, found = re.subn(pattern, lambda m: f"{m[1]}{content}\n{m[2]}", text, flags=re.DOTALL)
    if found != 1:
        sys.exit(f"{name}.py: {results} has no markers for its tables")
    results.write_text(text, encoding="utf-8")


def show(content: str, results: Path | None, name: str) -> None:
    """Print tables, and put them into the file of results, if there is one."""
    print(content)
    if results:
        put_into(results, name, content)


def read_results(path: Path, empty: dict[str, Any], requested: bool) -> dict[str, Any]:
    """The earlier results, if requested and available."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if requested and path.exists() else empty
    return found


def in_order(results: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: results[name] for name in names if name in results}


def document(doc: str | None, title: str, *parts: str) -> str:
    """A file of results: the text of the program without how it is started, and tables."""
    about = re.sub(r"(?s)\n\n    make.*?\n\n", "\n\n", doc or "").strip()
    return "\n\n".join([f"# {title}", about, *parts]) + "\n"


def pyplot() -> Any:
    """matplotlib.pyplot, which draws into files; None, with a message, if it is not installed."""
    if not installed("matplotlib"):
        say("no picture, as matplotlib is not installed (pip install 'vwlite[bench]')")
        return None
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def save_picture(figure: Any, path: Path, dpi: int) -> None:
    """The same bytes for the same numbers."""
    from matplotlib import pyplot as plt

    figure.savefig(path, dpi=dpi, metadata={"Software": None})
    plt.close(figure)
    say(f"wrote {path}")
