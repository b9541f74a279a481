"""How long a projection onto the l1 ball takes: the experiment of Duchi et al. 2008 with random vectors.

    make bench-projection     writes the table and the picture in RESULTS.md

A vector of n numbers, uniform in [-1, 1] and then projected, is on the ball of radius n / 2; a random vector with k
nonzeros, uniform in [-1, 1], is added; the sum is projected. "sort" is method="sort" (NumPy); "linear" is
method="linear", which writes into an array that is there already; "sparse" is SparseBall.add, which both adds and
projects. Its vector stays from update to update, and making it at the beginning does not count; it never writes n
numbers, which is why it can be fast. The last result must agree with the eager form.

A time is the mean of `--rounds` projections, after two that do not count, in CPU seconds, as in the paper. All of it
runs `--runs` times, with other numbers; the table has the means of the runs, and their smallest and largest ratios.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import numpy as np
from harness import HERE, made, options_of, pyplot, save_picture, say, show, table

from vwlite.projection import SparseBall, project_l1

SIZES = [50_000 << i for i in range(7)]
NONZEROS = [5_000, 10_000, 20_000]
WARM = 2
Times = dict[str, dict[int, list[float]]]  # of each method, by n: a mean in seconds for each run


def clock(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measure(n: int, nonzeros: list[int], rounds: int, seed: int) -> dict[str, float]:
    """The mean time of each method, in seconds."""
    rng = np.random.default_rng(seed)
    z = n / 2
    start = project_l1(rng.uniform(-1, 1, n), z)
    found = {}

    def update(k: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.choice(n, k, replace=False), rng.uniform(-1, 1, k)

    eager: dict[str, list[float]] = {"sort": [], "linear": []}
    out = np.empty(n)
    for turn in range(WARM + rounds):
        indices, values = update(nonzeros[turn % len(nonzeros)])
        v = start.copy()
        v[indices] += values
        eager["linear"].append(clock(lambda v=v: project_l1(v, z, out=out)))  # type: ignore[misc]
        if turn < WARM + max(3, rounds // 5):
            eager["sort"].append(clock(lambda v=v: project_l1(v, z, method="sort")))  # type: ignore[misc]
    found = {name: fmean(times[WARM:]) for name, times in eager.items()}
    for k in nonzeros:
        ball = SparseBall(n, z, start)
        times = []
        for turn in range(WARM + rounds):
            indices, values = update(k)
            if turn == WARM + rounds - 1:
                v = ball.vector()
                v[indices] += values
            times.append(clock(lambda ball=ball, i=indices, x=values: ball.add(i, x)))  # type: ignore[misc]
        if np.abs(ball.vector() - project_l1(v, z)).max() > 1e-11:
            sys.exit(f"projection.py: n = {n}, k = {k}: the sparse and the eager form do not agree")
        found[sparse(k)] = fmean(times[WARM:])
    return found


def sparse(k: int) -> str:
    return f"sparse, k = {k:,}"


def table_of(times: Times) -> str:
    names = list(times)
    first_sparse = names[2]
    rows = []
    for n in times["linear"]:
        sort, linear, fast = (times[name][n] for name in ("sort", "linear", first_sparse))
        cells = [f"{fmean(times[name][n]) * 1e3:.3g} ms" for name in names]
        rows.append([f"n = {n:,}", *cells, ratio(sort, linear), ratio(linear, fast)])
    return table(["dimension", *names, "sort / linear", f"linear / {first_sparse}"], rows, "r")


def ratio(slow: list[float], fast: list[float]) -> str:
    """Of the means; and of each run, the smallest and the largest."""
    each = [a / b for a, b in zip(slow, fast, strict=True)]
    return f"{fmean(slow) / fmean(fast):.1f} ({min(each):.1f}-{max(each):.1f})"


def draw(times: Times, path: Path) -> None:
    """The figure of the paper: time over dimension, both logarithmic."""
    plt = pyplot()
    if plt is None:
        return
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    styles = {"sort": ("#b2182b", "s"), "linear": ("#e08214", "o")}
    greens = iter([("#a6d96a", "^"), ("#1a9850", "v"), ("#00441b", "D")])
    for name, by_size in times.items():
        colour, marker = styles.get(name) or next(greens)
        axes.loglog(list(by_size), [fmean(t) * 1e3 for t in by_size.values()], color=colour, marker=marker, label=name)
    axes.set_xlabel("dimension n")
    axes.set_ylabel("mean CPU time of a projection, ms")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    save_picture(figure, path, 110)


def main() -> None:
    results = "put the table into this file, between its markers"
    parser = options_of(__doc__, quick="tiny vectors: does it work? Its numbers say nothing", results=results)
    parser.add_argument("--rounds", type=int, default=40, help="projections of each kind (default: 40)")
    parser.add_argument("--runs", type=int, default=3, help="of all of it (default: 3)")
    parser.add_argument("--picture", type=Path, default=HERE / "projection.png", help="(default: beside this file)")
    typed = parser.parse_args()
    sizes, nonzeros, rounds, runs = SIZES, NONZEROS, typed.rounds, typed.runs
    if typed.quick:
        sizes, nonzeros, rounds, runs = [500, 1000], [50, 100, 200], 3, 2
    names = ["sort", "linear", *(sparse(k) for k in nonzeros)]
    times: Times = {name: {n: [] for n in sizes} for name in names}
    for run in range(runs):
        for n in sizes:
            found = measure(n, nonzeros, rounds, seed=n + run)
            for name in names:
                times[name][n].append(found[name])
            say(f"run {run + 1}, n = {n:,}: " + ", ".join(f"{name} {found[name] * 1e3:.3g} ms" for name in names))
    note = f"; CPU time, means of {runs} runs of {rounds} projections ({max(3, rounds // 5)} for sort)."
    draw(times, typed.picture)
    show(f"{table_of(times)}\n\n{made('numpy', note=note)}", typed.results, "projection")


if __name__ == "__main__":
    main()
