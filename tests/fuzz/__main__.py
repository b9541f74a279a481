"""Draws cases until the time is over, and keeps those with which something is wrong."""

import argparse
import importlib
import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random, SystemRandom

from fuzz.case import read_case
from fuzz.check_case import check_case
from fuzz.draws import Stock, draw
from fuzz.shrink import alike, shrunk

HERE = Path(__file__).resolve().parent
KEPT_OF_A_KIND = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("cases", nargs="*", type=Path, help="run these cases again, instead of drawing")
    parser.add_argument("--minutes", type=float, default=5, help="how long to draw [default: 5]")
    parser.add_argument("--seed", type=int, help="the cases follow from it [default: another one each time]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at a time [default: processors]")
    parser.add_argument("--only", help="only cases of this kind, such as lines or cache")
    parser.add_argument("--shrink", action="store_true", help="make each of the cases as small as can be")
    parser.add_argument("--work", type=Path, default=Path("fuzz-work"), help="folder for the work [default: fuzz-work]")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"), help="of the findings [default: fuzz-found]")
    o = parser.parse_args()
    o.work, o.keep = o.work.resolve(), o.keep.resolve()
    o.cases = [path.resolve() for path in o.cases]
    load_everything()
    if o.cases:
        return again(o.cases, o.work, o.shrink)
    seed = SystemRandom().randrange(10**9) if o.seed is None else o.seed
    print(f"seed {seed}: `make fuzz SEED={seed}` draws the same cases", flush=True)
    begin = time.monotonic()
    golden = sorted((HERE.parent / "golden").glob("*/*.model"))
    stock = Stock(Random(f"{seed} stock"), o.work / "stock", golden)
    workers = [start(seed, i, stock, o) for i in range(o.jobs)]
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda number, frame: [os.kill(w, signal.SIGTERM) for w in workers])
    codes = [os.waitstatus_to_exitcode(os.waitpid(w, 0)[1]) for w in workers]
    counts: Counter[str] = Counter()
    for i in range(o.jobs):
        report = o.work / f"{i}.counts"
        for line in report.read_text().splitlines() if report.exists() else []:
            kind, _, count = line.partition(" ")
            counts[kind] += int(count)
    found = counts.pop("found", 0)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"{sum(counts.values())} cases in {time.monotonic() - begin:.0f} s ({kinds}): {found or 'nothing'} found")
    if found:
        print(f"kept in {o.keep}")
    return 1 if found or any(codes) else 0


def load_everything() -> None:
    """What commands load when they are called, so that the children of this process have it."""
    import vwlite

    for path in sorted(Path(vwlite.__file__).parent.rglob("*.py")):
        name = ".".join(("vwlite", *path.relative_to(Path(vwlite.__file__).parent).with_suffix("").parts))
        if not name.endswith(("__main__", "__init__")):
            with suppress(ModuleNotFoundError):  # of what only an extra brings
                importlib.import_module(name)
    importlib.import_module("parsing")


def again(cases: list[Path], work: Path, shrink: bool) -> int:
    wrong = 0
    for path in cases:
        case = read_case(path)
        found = check_case(case, work / "again")
        wrong += bool(found)
        print(f"{path}: {found or 'nothing wrong'}")
        if shrink and found:
            case = shrunk(case, found, work / "again")
            path.write_text(case.to_json(), encoding="utf-8")
    return 1 if wrong else 0


def start(seed: int, job: int, stock: Stock, o: argparse.Namespace) -> int:
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            code = work(seed, job, stock, o)
        except SystemExit:
            code = 0
        finally:
            sys.stdout.flush()
            if code == 99:
                sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
            os._exit(code)
    return child


def work(seed: int, job: int, stock: Stock, o: argparse.Namespace) -> int:
    """Every jobs-th case of the seed."""
    o.work.mkdir(parents=True, exist_ok=True)
    folder = o.work / str(job)
    end = time.monotonic() + 60 * o.minutes
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    number = job
    try:
        while time.monotonic() < end:
            case = draw(Random(f"{seed} {number}"), stock)
            if not o.only or case.kind == o.only:
                found = check_case(case, folder)
                counts[case.kind] += 1
                if found:
                    counts["found"] += 1
                    kinds[alike(found)] += 1
                    if kinds[alike(found)] <= KEPT_OF_A_KIND:
                        keep(case, found, o.keep / f"{case.kind}-{seed}-{number}.json")
            number += o.jobs
    finally:
        (o.work / f"{job}.counts").write_text("".join(f"{kind} {count}\n" for kind, count in counts.items()))
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def keep(case, found: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    case.found = found[:2000]
    path.write_text(case.to_json(), encoding="utf-8")
    first = re.sub(r"\s+", " ", found)[:300]
    print(f"{path.name}: {first}\n  again: make fuzz CASES={os.path.relpath(path, HERE.parent.parent)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
