"""How fast `vwlite solve` is, against LIBLINEAR, celer and skglm.

    make bench-solve SETS=FOLDER     all of it (about 20 minutes); FOLDER holds the public data sets
    make bench-solve-quick           small data of this repository: does it work? Its numbers say nothing

Seconds are those that one thread of this process computes, from the problem to weights whose objective is at most 1e-4
(relative) above the best known one, which is ours at a gap of 1e-5 or less. Ours include the copy by columns and all
evaluations of the objective; the data are in memory already, for each in its own form. Strengths are parts of the least
one at which all weights are zero; no constant.

LIBLINEAR is that of the package liblinear-official, its own sources with a line more, so that it tells when a solver
begins: its time is that from there to the last word of the solver, without its copy by columns. How far it goes says
its -e: of a ladder, a factor of two between two steps, the largest that reaches the objective. celer and skglm have a
ladder of tolerances, get the columns as they like them, and have compiled themselves before.

A time is the median of the rounds, ours and theirs in turn; of short ones there are more.
"""

import ctypes
import json
import math
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from harness import (
    ROOT,
    VWLITE,
    document,
    generate,
    in_turns,
    made,
    options_of,
    report_of,
    run,
    say,
    table,
    verdict,
    write_records,
)
from papers.batch import solver_of
from papers.data import Sparse, load

from vwlite.core.solve.columns import Columns
from vwlite.core.solve.newton import Newton
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.rows import Rows

CLOSE = 1e-4
FRACTIONS = (0.1, 0.01, 0.001)
VERSION = "2.50.0"  # of liblinear-official
ROUNDS = 5
SHORT = 0.05  # seconds of LIBLINEAR's: below that there are five times as many rounds
MB = 1_000_000


@dataclass
class Goal:
    """Ratios of ours to theirs: their geometric mean, and the largest of them."""

    title: str
    mean: float | None
    most: float


GOALS = {
    "logistic": Goal("logistic l1, over LIBLINEAR `-s 6`", 0.45, 0.75),
    "squared-hinge": Goal("squared hinge l1, over LIBLINEAR `-s 5`", 0.45, 0.85),
    "lasso": Goal("Lasso, over the faster of celer and skglm", None, 0.6),
    "svm": Goal("SVM dual, over LIBLINEAR `-s 3`", None, 0.7),
    "path": Goal("path of 20 strengths to 0.01, gap 1e-3, warm over cold", None, 0.6),
    "command": Goal("whole command from text, wall time, over LIBLINEAR's `train`", None, 0.35),
    "certify": Goal("certify, cached, over a pass of `sgd`", None, 1.3),
    "memory": Goal("memory: of what is allowed", None, 1.0),
}


@dataclass
class Result:
    """One case: ours, theirs, and what else there is to say."""

    work: str
    name: str
    ours: float
    theirs: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """Ours over theirs; no number if they did not get there."""
        return self.ours / self.theirs if 0 < self.theirs < math.inf else math.nan

    def said(self) -> "Result":
        """Itself, after a message about it."""
        say(f"{self.work} {self.name}: {self.ours:.4f}, {self.theirs:.4f}, {self.ratio:.2f}; {self.note}")
        return self


# --- data -------------------------------------------------------------------------------------------


@dataclass
class Case:
    """A data set in the forms that each wants."""

    name: str
    data: Sparse
    rows: Rows
    matrix: Any  # scipy.sparse.csr_matrix, float64, of column 1, 2, ...

    @property
    def labels(self) -> np.ndarray:
        return self.data.labels

    def strongest(self, loss: str) -> float:
        return Problem(self.rows, loss, constant=False).l1_max()

    def objective(self, loss: str, w: np.ndarray, l1: float) -> float:
        p, y = self.matrix @ w[: self.matrix.shape[1]], self.labels
        values = {
            "logistic": lambda: np.logaddexp(0, -y * p),
            "squared-hinge": lambda: np.maximum(0, 1 - y * p) ** 2,
            "squared": lambda: (p - y) ** 2,
            "hinge": lambda: np.maximum(0, 1 - y * p),
        }[loss]()
        return float(values.mean() + l1 * np.abs(w).sum())


def case(name: str, data: Sparse) -> Case:
    from scipy.sparse import csr_matrix

    values = data.values.astype(np.float32).astype(float)  # as ours are kept
    indices = (data.indices - 1).astype(np.int32)
    matrix = csr_matrix((values, indices, data.begins.astype(np.int32)), shape=(len(data), data.features))
    return Case(name, data, data.rows(), matrix)


def public(folder: Path, name: str) -> Sparse:
    if name == "mnist":
        found = load(folder, "mnist.train.libsvm.gz")
        labels = np.where(found.labels >= 6, 1.0, -1.0)  # digits 5 to 9; the label is the digit plus one
        return Sparse(labels, found.begins, found.indices, found.values / 255)
    return load(folder, {"sms_spam": "sms_spam.vw.gz"}.get(name, f"{name}.train.libsvm.gz"))


# --- ours -------------------------------------------------------------------------------------------


def steps_until(solver: Any, problem: Problem, goal: float, seconds: float = 60) -> float:
    """The processor seconds until the objective is at most the goal; infinite if it does not get there."""
    began = time.process_time()
    while problem.objective > goal:
        if solver.done or time.process_time() - began > seconds:
            return math.inf
        solver.step()
    return time.process_time() - began


def ours(found: Case, loss: str, kind: Callable[..., Any], goal: float, **strength: float) -> float:
    """From the rows to the goal: the problem, the columns, the steps."""
    began = time.process_time()
    problem = Problem(found.rows, loss, constant=False, **strength)
    spent = time.process_time() - began
    return spent + steps_until(kind(problem), problem, goal)


def best_of_ours(found: Case, loss: str, kind: Callable[..., Any], gap: float = 1e-5, **strength: float) -> float:
    """The objective with a gap of at most this part of it, or after as long as that may take."""
    problem = Problem(found.rows, loss, constant=False, **strength)
    solver = kind(problem)
    began = time.process_time()
    least = math.inf
    while not solver.done and time.process_time() - began < 20:
        solver.step()
        least = min(least, problem.objective)
        if problem.gap <= gap * problem.objective:
            break
    return least


def medians(mine: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Of both, in turn."""
    found = in_turns({"mine": mine, "theirs": theirs}, rounds)
    return median(found["mine"]), median(found["theirs"])


# --- LIBLINEAR --------------------------------------------------------------------------------------


def with_marks(source: str) -> str:
    """The source of LIBLINEAR that tells when a solver begins, after any copy by columns."""
    marked, transposed = re.subn(r"(\n\t*transpose\(prob, ?&x_space ?, ?&prob_col\);)", r'\1 info("begin\\n");', source)
    marked, dual = re.subn(r"(\n\tswitch\(solver_type\)\n\t\{\n\t\tcase L2R_LR:)", r'\n\tinfo("begin\\n");\1', marked)
    if transposed != 2 or dual != 1:
        raise ValueError(f"LIBLINEAR's source is not that of {VERSION}")
    return marked


def build_liblinear(folder: Path) -> Path:
    """The library, made of the package's sources; kept in the folder."""
    library = folder / f"liblinear-{VERSION}.so"
    if library.exists():
        return library
    work = folder / "liblinear"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "liblinear-official"]
    subprocess.run([*fetch, "--dest", str(work), f"liblinear-official=={VERSION}"], check=True)
    with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
        archive.extractall(work, filter="data")
    sources = next(work.glob("*/cpp-source"))
    text = sources / "linear.cpp"
    text.write_text(with_marks(text.read_text()))
    files = [str(text), str(sources / "newton.cpp"), *map(str, sorted((sources / "blas").glob("*.c")))]
    subprocess.run(["g++", "-O3", "-fPIC", "-shared", "-w", "-o", str(library), *files], check=True)
    return library


class Liblinear:
    """LIBLINEAR on one data set."""

    def __init__(self, library: Path, found: Case) -> None:
        from liblinear import liblinear as package

        self.package = package
        self.library = ctypes.CDLL(str(library))
        self.library.train.restype = ctypes.POINTER(package.model)
        self.library.train.argtypes = [ctypes.POINTER(package.problem), ctypes.POINTER(package.parameter)]
        self.library.free_and_destroy_model.argtypes = [ctypes.POINTER(ctypes.POINTER(package.model))]
        self.problem = package.problem(found.labels, found.matrix)
        self.features = found.matrix.shape[1]
        self.marks: list[tuple[float, bytes]] = []
        kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
        self.callback = kind(lambda text: self.marks.append((time.process_time(), text)))

    def train(self, options: str) -> tuple[float, np.ndarray]:
        """The seconds of the solver, and the weights."""
        self.marks.clear()
        parameter = self.package.parameter(options)
        parameter.set_print_string_function = None
        self.library.set_print_string_function(self.callback)
        model = self.library.train(self.problem, parameter)
        w = np.array(model.contents.w[: self.features])
        if model.contents.label[0] < 0:
            w = -w
        self.library.free_and_destroy_model(ctypes.byref(model))
        began = max(at for at, text in self.marks if text == b"begin\n")
        return self.marks[-1][0] - began, w


LADDER = [2.0**-k for k in range(1, 24)]


def loosest(reaches: Callable[[float], bool], ladder: list[float]) -> float | None:
    """The first of a ladder, from loose to tight, that reaches; those that are tighter do as well. None: none does."""
    low, high = -1, len(ladder)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(ladder[middle]) else (middle, high)
    return ladder[high] if high < len(ladder) else None


# --- the works --------------------------------------------------------------------------------------


def against_liblinear(
    work: str, found: Case, loss: str, options: str, library: Path, kind: Callable[..., Any], rounds: int,
    strength: dict[str, float], name: str, l1: float, scale: float = 1.0,
) -> Result:
    """scale: what is added to the mean loss of LIBLINEAR's weights is scale / 2 ||w||^2 for the SVM."""
    rival = Liblinear(library, found)

    def objective(w: np.ndarray) -> float:
        ridge = strength.get("l2", 0.0) / 2 * float(w @ w)
        return found.objective(loss, w, l1) + ridge

    least = best_of_ours(found, loss, kind, **strength)
    goal = least * (1 + CLOSE)
    seen: list[float] = []
    seconds: list[float] = []

    def reaches(e: float) -> bool:
        spent, w = rival.train(f"{options} -e {e:.3g}")
        seconds.append(spent)
        seen.append(objective(w))
        return seen[-1] <= goal

    epsilon = next((e for e in LADDER if reaches(e)), None)
    if min(seen) < least:
        return Result(work, name, math.inf, 0.0, f"LIBLINEAR found {min(seen):.10g}, less than our {least:.10g}")
    if epsilon is None:
        return Result(work, name, ours(found, loss, kind, goal, **strength), math.inf, "LIBLINEAR does not reach it")
    mine, theirs = medians(
        lambda: ours(found, loss, kind, goal, **strength), lambda: rival.train(f"{options} -e {epsilon:.3g}")[0],
        rounds if seconds[-1] > SHORT else 5 * rounds,
    )
    return Result(work, name, mine, theirs, f"`-e {epsilon:.2g}`")


def l1_work(work: str, loss: str, solver: int, cases: Iterable[Case], library: Path, rounds: int) -> list[Result]:
    results = []
    for found in cases:
        largest = found.strongest(loss)
        for fraction in FRACTIONS:
            l1 = fraction * largest
            options = f"-s {solver} -c {1 / (l1 * len(found.labels)):.17g}"
            result = against_liblinear(
                work, found, loss, options, library, Newton, rounds, {"l1": l1}, f"{found.name} {fraction:g}", l1
            )
            results.append(result.said())
    return results


def svm_work(cases: Iterable[Case], library: Path, rounds: int) -> list[Result]:
    def kind(problem: Problem) -> Any:
        return solver_of("sdca", problem)

    results = []
    for found in cases:
        l2 = 1 / len(found.labels)  # C = 1
        name = f"{found.name} C = 1"
        result = against_liblinear("svm", found, "hinge", "-s 3 -c 1", library, kind, rounds, {"l2": l2}, name, 0.0)
        results.append(result.said())
    return results


TOLERANCES = [10.0**-k for k in range(1, 9)]


def lasso_work(cases: Iterable[Case], rounds: int) -> list[Result]:
    from celer import Lasso as Celer
    from skglm import Lasso as Skglm

    def fitted(kind: Any, found: Case, columns: Any, l1: float, tolerance: float) -> tuple[float, np.ndarray]:
        with redirect_stdout(StringIO()):
            model = kind(alpha=l1 / 2, fit_intercept=False, tol=tolerance)
            began = time.process_time()
            model.fit(columns, found.labels)
            return time.process_time() - began, np.ravel(model.coef_)

    results = []
    for found in cases:
        columns = found.matrix.tocsc()
        largest = found.strongest("squared")
        for fraction in FRACTIONS[:2]:
            l1 = fraction * largest
            best = best_of_ours(found, "squared", Newton, l1=l1)
            goal = best * (1 + CLOSE)
            times: dict[str, float] = {}
            notes = []
            mine: list[float] = []
            for name, kind in (("celer", Celer), ("skglm", Skglm)):
                fitted(kind, found, columns, l1, 0.1)

                def reaches(tolerance: float, kind: Any = kind, l1: float = l1, goal: float = goal) -> bool:
                    w = fitted(kind, found, columns, l1, tolerance)[1]  # noqa: B023
                    return found.objective("squared", w, l1) <= goal  # noqa: B023

                tolerance = next((t for t in TOLERANCES if reaches(t)), None)  # in turn: tight ones take long
                if tolerance is None:
                    continue
                theirs = []
                for _ in range(rounds):
                    theirs.append(fitted(kind, found, columns, l1, tolerance)[0])
                    mine.append(ours(found, "squared", Newton, goal, l1=l1))
                times[name] = median(theirs)
                notes.append(f"{name} {times[name]:.3f} s (tol {tolerance:g})")
            result = Result("lasso", f"{found.name} {fraction:g}", median(mine), min(times.values()), ", ".join(notes))
            results.append(result.said())
    return results


def path_work(cases: Iterable[Case], rounds: int) -> list[Result]:
    """Twenty strengths, each from the solution before, and each from zero."""

    def path(found: Case, strengths: np.ndarray, warm: bool) -> float:
        began = time.process_time()
        problem = Problem(found.rows, "logistic", constant=False, columns=Columns(found.rows))
        for l1 in strengths:
            problem.set_l1(l1)
            if not warm:
                problem.set(np.zeros(len(problem.w)), 0.0)
            problem.evaluate()
            solver = Newton(problem)
            while not solver.done and problem.gap > 1e-3 * problem.objective:
                solver.step()
        return time.process_time() - began

    results = []
    for found in cases:
        strengths = found.strongest("logistic") * np.geomspace(1, 0.01, 20)
        warm, cold = medians(lambda: path(found, strengths, True), lambda: path(found, strengths, False), rounds)  # noqa: B023
        results.append(Result("path", found.name, warm, cold, "shared columns").said())
    return results


# --- whole commands ---------------------------------------------------------------------------------


PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak(*command: object) -> int:
    """The most bytes that a process had: of a child of a small one, as the peak begins with that of the parent."""
    words = [sys.executable, "-c", PEAK, *map(str, command)]
    found = int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found * (1 if sys.platform == "darwin" else 1024)


def commands(text: Path, count: int, folder: Path, rounds: int, found: Case) -> list[Result]:
    """The rows about whole processes: solve from text, certify, memory."""
    results = []
    l1 = 0.01 * found.strongest("logistic")
    solve = [VWLITE, "solve", text, "--no-constant", "--l1", f"{l1:.17g}", "--quiet"]
    solve += ["--report", folder / "report.json"]
    goal = (1 + CLOSE) * best_of_ours(found, "logistic", Newton, l1=l1)

    def is_enough(tolerance: float) -> bool:
        run(*solve, "--tolerance", f"{tolerance:g}")
        return bool(report_of(folder / "report.json")["objective"] <= goal)

    tolerance = loosest(is_enough, [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4])
    assert tolerance is not None
    solve += ["--tolerance", f"{tolerance:g}"]
    train = shutil.which("liblinear-train") or shutil.which("train-liblinear")
    if train:
        options = [train, "-s", "6", "-c", f"{1 / (l1 * len(found.labels)):.17g}", "-q"]
        model = folder / "liblinear.model"

        def reaches(e: float) -> bool:
            run(*options, "-e", f"{e:.3g}", text, model)
            return found.objective("logistic", model_weights(model, found.matrix.shape[1]), l1) <= goal

        epsilon = loosest(reaches, LADDER)
        if epsilon is not None:
            other = [*options, "-e", f"{epsilon:.3g}", text, model]
            mine, theirs = medians(lambda: run(*solve).seconds, lambda: run(*other).seconds, rounds)
            note = f"{text.stat().st_size / MB:.0f} MB; `-e {epsilon:.2g}`, `--tolerance {tolerance:g}`"
            results.append(Result("command", f"{count:,} documents, 0.01", mine, theirs, note))
    cache, model = folder / "cache", folder / "sgd.model"
    learn = [VWLITE, "train", text, "--algorithm", "sgd", "--loss", "logistic", "--no-constant", "--cache-file", cache]
    run(*learn, "--quiet", "-m", model)
    certify = [VWLITE, "certify", text, "-m", model, "--l1", f"{l1:.17g}", "--cache-file", cache, "--quiet"]
    mine, theirs = medians(lambda: run(*certify).processor, lambda: run(*learn, "--quiet").processor, rounds)
    results.append(Result("certify", f"{count:,} documents", mine, theirs, "whole commands, processor"))
    two = folder / "two.libsvm"
    two.write_text("1 1:1\n-1 2:1\n")
    used = peak(*solve, "--cache-file", cache) - peak(VWLITE, "solve", two, "--l1", "0.1", "--quiet")
    problem = Problem(found.rows, "logistic", constant=False, l1=l1)
    Newton(problem).step()
    kept = problem.columns.nonzeros
    allowed = 12 * kept + cache.stat().st_size
    note = f"above two short lines; {kept:,} nonzeros kept as columns, cache {cache.stat().st_size / MB:.0f} MB"
    results.append(Result("memory", f"{count:,} documents, 0.01", used / MB, allowed / MB, note))
    return [result.said() for result in results]


def model_weights(path: Path, features: int) -> np.ndarray:
    """The weights of a model file of LIBLINEAR."""
    lines = path.read_text().splitlines()
    at = lines.index("w")
    labels = next(line for line in lines if line.startswith("label")).split()[1:]
    w = np.zeros(features)
    values = np.array([float(line) for line in lines[at + 1 :]])
    w[: len(values)] = values[:features]
    return -w if float(labels[0]) < 0 else w


# --- what comes out ---------------------------------------------------------------------------------


def geometric_mean(numbers: Iterable[float]) -> float:
    return math.exp(np.mean([math.log(number) for number in numbers]))


def summary(results: list[Result]) -> str:
    """A row for each goal."""
    rows = []
    for work, goal in GOALS.items():
        ratios = [result.ratio for result in results if result.work == work]
        count, ratios = len(ratios), [ratio for ratio in ratios if not math.isnan(ratio)]
        if not ratios:
            rows.append([goal.title, "", "", bound(goal.mean), "", bound(goal.most), "not measured"])
            continue
        mean, most = geometric_mean(ratios), max(ratios)
        reached = verdict((goal.mean is None or mean <= goal.mean) and most <= goal.most)
        cases = str(count) if len(ratios) == count else f"{len(ratios)} of {count}"
        rows.append([goal.title, cases, f"{mean:.2f}", bound(goal.mean), f"{most:.2f}", bound(goal.most), reached])
    titles = ["work", "cases", "ratio, geometric mean", "at most", "largest", "at most", "reached"]
    return table(titles, rows, "lrrrrrl")


def bound(most: float | None) -> str:
    return "" if most is None else f"{most:.2f}"


def table_of(results: list[Result]) -> str:
    """A row for each case."""
    rows = []
    for result in results:
        unit = "MB" if result.work == "memory" else "s"
        digits = 1 if unit == "MB" else 4
        shown = [f"{x:.{digits}f} {unit}" if math.isfinite(x) else "-" for x in (result.ours, result.theirs)]
        ratio = "-" if math.isnan(result.ratio) else f"{result.ratio:.2f}"
        rows.append([result.work, result.name, *shown, ratio, result.note])
    return table(["work", "case", "vwlite", "theirs", "ratio", ""], rows, "llrrrl")


def main() -> None:
    results_help = "put the table into this file; what is not measured now stays"
    parser = options_of(__doc__, quick="small data: does it work?", data=True, results=results_help)
    parser.add_argument("--sets", nargs="+", default=["rcv1", "a9a", "mnist", "sms_spam", "documents"], metavar="NAME")
    parser.add_argument("--only", nargs="+", choices=list(GOALS), default=list(GOALS), help="these works")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--work", type=Path, default=ROOT / ".bench", help="where LIBLINEAR and texts are made")
    typed = parser.parse_args()
    typed.work.mkdir(parents=True, exist_ok=True)
    library = build_liblinear(typed.work)
    count = 2000 if typed.quick else 100_000
    rounds = 1 if typed.quick else typed.rounds
    text = typed.work / f"documents-{count}.libsvm"
    generate("rcv1", text, "--format", "libsvm", "--examples", count)
    cases: dict[str, Case] = {}

    def of(*names: str) -> list[Case]:
        requested = ["documents"] if typed.quick else [name for name in names if name in typed.sets]
        for name in requested:
            if name not in cases:
                data = load(typed.work, text.name) if name == "documents" else public(typed.data, name)
                cases[name] = case(name, data)
        return [cases[name] for name in requested]

    works: dict[str, Callable[[], list[Result]]] = {
        "logistic": lambda: l1_work(
            "logistic", "logistic", 6, of("rcv1", "a9a", "mnist", "sms_spam", "documents"), library, rounds
        ),
        "squared-hinge": lambda: l1_work(
            "squared-hinge", "squared-hinge", 5, of("rcv1", "a9a", "mnist", "sms_spam"), library, rounds
        ),
        "lasso": lambda: lasso_work(of("rcv1", "mnist"), rounds),
        "svm": lambda: svm_work(of("rcv1", "a9a"), library, rounds),
        "path": lambda: path_work(of("rcv1", "a9a"), rounds),
        "whole": lambda: commands(text, count, typed.work, rounds, of("documents")[0]),
    }
    whole = {"command", "certify", "memory"}
    note = made("vwlite", "liblinear-official", "scikit-learn", "celer", "skglm", "numpy", "scipy")
    results: list[Result] = []
    for name, work in works.items():
        asked = whole & set(typed.only) if name == "whole" else {name} & set(typed.only)
        if asked and (name != "whole" or "documents" in typed.sets):
            results += [result for result in work() if result.work in typed.only]
            if typed.results:
                keep(typed.results, results, note)
    print(summary(results), table_of(results), note, sep="\n\n")


def keep(path: Path, results: list[Result], note: str) -> None:
    """Write the results, and those of before that were not measured now."""
    kept = path.with_suffix(".json")
    before = [Result(**r) for r in json.loads(kept.read_text())] if kept.exists() else []
    now = {(r.work, r.name) for r in results}
    every = results + [r for r in before if (r.work, r.name) not in now]
    every.sort(key=lambda r: list(GOALS).index(r.work))
    write_records(kept, [vars(r) for r in every], depth=1)
    path.write_text(
        document(__doc__, "`vwlite solve` against others", summary(every), table_of(every), note), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
