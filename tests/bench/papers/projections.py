"""Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. 2008. Figures 4 to 9.

Numbers of figures are those of the longer version of the paper. Floating point operations are counted by formula, two
for each entry of the data that is read; what is done with vectors is left out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from itertools import count as count_from
from pathlib import Path
from typing import Any

import numpy as np
from compare import error
from projection import SIZES, measure

from papers.batch import Trace, begin, follow, follow_at_best_rate, optimum
from papers.data import Sparse, gaussian, load, of_dense, topics
from papers.figures import Figure, Finding, Panel, Series, finding, reached, value_at
from papers.interior import interior_point
from papers.online import unless_diverged
from vwlite.core.solve.problem import Problem

FALLING = (0.1, 1.0, 10.0)
FLOPS = 2  # of an entry that is read
FIRST = 10.0  # step of a line search


@dataclass
class Curve:
    """How far above the optimum something is: over operations, seconds or gradients."""

    x: list[float]
    above: list[float]
    nonzeros: float = math.nan
    rate: float | None = None

    def positive(self) -> tuple[list[float], list[float]]:
        """For a logarithmic axis."""
        kept = [(x, y) for x, y in zip(self.x, self.above, strict=True) if y > 1e-12]
        return [x for x, _ in kept], [y for _, y in kept]


def series(curves: dict[str, Curve]) -> list[Series]:
    return [Series(name, *curve.positive()) for name, curve in curves.items()]


# --- figure 4: projections --------------------------------------------------------------------------


def figure4(at: Any) -> Figure:
    sizes, nonzeros, rounds = (SIZES, [5_000, 10_000, 20_000], 10)
    if at.quick:
        sizes, nonzeros, rounds = ([2000, 4000], [50, 100, 200], 3)
    times: dict[str, list[float]] = {}
    for n in sizes:
        for name, seconds in measure(n, nonzeros, rounds, seed=n).items():
            times.setdefault(name, []).append(seconds)
    small, large = (f"sparse, k = {k:,}" for k in (nonzeros[0], nonzeros[-1]))
    last = {name: values[-1] for name, values in times.items()}
    findings = [
        finding("for large n the sparse form is faster than both others",
               f"n = {sizes[-1]:,}: " + ", ".join(f"{name} {1e3 * t:.3g} ms" for name, t in last.items()),
               last[large] < min(last["sort"], last["linear"])),
        finding(f"two orders of magnitude at n = {sizes[-1]:,}, k = {nonzeros[0]:,}",
               f"{last['linear'] / last[small]:.0f} times as fast as the linear form, "
               f"{last['sort'] / last[small]:.0f} times as fast as sorting",
               last["linear"] / last[small] >= 100, last["sort"] / last[small] >= 100),
        finding("the linear form is faster than sorting", f"{last['sort'] / last['linear']:.1f} times at the largest n",
               last["linear"] < last["sort"]),
    ]
    drawn = [Series(name, list(sizes), [1e3 * t for t in values]) for name, values in times.items()]
    return Figure(
        "Projections, figure 4: time of a projection",
        f"{rounds} projections of each kind instead of 100; a heap in place of the paper's tree. `make "
        "bench-projection` has more rounds.",
        findings, [Panel("random vectors", "dimension n", "ms", drawn, log_x=True, log_y=True)], columns=1,
    )


# --- figures 5 and 6: synthetic problems ------------------------------------------------------------


def above(trace: Trace, least: float, x: list[float], factor: float = 1.0) -> Curve:
    return Curve([factor * value for value in x], [value - least for value in trace.objectives], trace.nonzeros[-1])


def best_rate(
    problem: Problem, name: str, least: float, etas: list[float], unit: float, budget: float, **options: Any
) -> Curve:
    """The best eta0 of those, times the unit: by the objective at the end of a quarter of the budget."""
    rates = [eta * unit for eta in etas]
    rate, trace = follow_at_best_rate(name, problem, rates, {"accesses": budget / 4}, {"accesses": budget}, **options)
    return replace(above(trace, least, trace.accesses, FLOPS), rate=rate)


def synthetic(at: Any, loss: str, n: int, fraction: float, products: int) -> tuple[dict[str, Curve], float]:
    """The curves for an n x n problem, and the mean loss at w = 0. products: how often the data may be read.

    The ball is that of the penalised solution at this fraction of the largest strength.
    """
    X, y, _ = gaussian(n, loss)
    rows = of_dense(X, y).rows()
    budget = float(products) * n * n
    penalised = Problem(rows, loss, l1=0.0, constant=False)
    l1 = fraction * penalised.l1_max()
    penalised.set_l1(l1)
    least_penalised = optimum(penalised, 1e-9)
    radius = float(np.abs(np.asarray(penalised.w)).sum())
    ball = Problem(rows, loss, radius=radius, constant=False)
    least = float(penalised.mean_loss)  # the same solution
    begin(ball)
    start = float(ball.objective)
    curves = {}
    line = follow("projected-gradient", ball, accesses=budget, iterations=1, eta0=FIRST)
    least = min(least, *line.objectives)
    accelerated = follow("accelerated", ball, accesses=budget, iterations=1, eta0=FIRST)
    least = min(least, *accelerated.objectives)
    # About 1 / (largest eigenvalue of the mean curvature), which is 4 l'' for a square matrix of normal numbers.
    unit = 1 / (4 * {"squared": 2.0, "logistic": 0.25}[loss])
    etas = at.some([0.3, 1.0, 3.0, 10.0])
    curves["L1 - Line"] = above(line, least, line.accesses, FLOPS)
    curves["L1 - Batch"] = best_rate(ball, "projected-gradient", least, etas, unit, budget, step="sqrt", iterations=1)
    etas = at.some([0.03, 0.1, 0.3, 1.0, 3.0])
    samples: dict[str, Any] = {"batch": 100, "step": "sqrt", "iterations": max(1, n // 400)}
    curves["L1 - Stoch"] = best_rate(ball, "minibatch", least, etas, unit, budget, **samples)
    curves["L1 - Accelerated"] = above(accelerated, least, accelerated.accesses, FLOPS)
    coordinate = follow("cd", penalised, accesses=budget)
    curves["Coordinate"] = above(coordinate, least_penalised, coordinate.accesses, FLOPS)
    points = []
    for flops, objective in interior_point(X, y, loss, l1):
        if flops > FLOPS * budget:
            break
        points.append((flops, objective - least_penalised))
    curves["IP"] = Curve([x for x, _ in points], [y for _, y in points])
    return curves, start


PROJECTED = ("L1 - Line", "L1 - Batch", "L1 - Stoch")


def first_to(curves: dict[str, Curve], names: Any, goal: float) -> float:
    """The fewest operations with which one of these reaches the goal."""
    found = [reached(curves[name].x, curves[name].above, goal) for name in names]
    return min((x for x in found if x is not None), default=math.inf)


def millions(flops: float) -> str:
    return f"{flops / 1e6:,.0f}" if flops < math.inf else "never"


def synthetic_figure(at: Any, number: int, loss: str, what: str) -> Figure:
    sizes = (40, 80) if at.quick else (800, 4000)
    fraction = 0.005
    products = {n: (400 if n == sizes[0] else 200) for n in sizes}
    runs = {n: synthetic(at, loss, n, fraction, products[n]) for n in sizes}
    early, last, descriptions, ends = {}, {}, [], []
    for n, (curves, start) in runs.items():
        goal = 1e-2 * start
        early[n] = first_to(curves, PROJECTED, goal), first_to(curves, ["IP"], goal)
        left = {name: min(curve.above) / start for name, curve in curves.items()}
        last[n] = left
        words = [f"{name} {millions(first_to(curves, [name], goal))}" for name in curves]
        descriptions.append(f"n = {n:,}: " + ", ".join(words))
        ends.append(f"n = {n:,}: " + ", ".join(f"{name} {max(share, 0):.1g}" for name, share in left.items()))
    small, large = sizes
    findings = [
        finding("the projected methods reach an error of 1e-2 quickly, before the interior point method",
               "millions of operations until f - f* is 1e-2 of f(0); " + "; ".join(descriptions),
               *(early[n][0] < early[n][1] for n in sizes)),
        finding("then they slow down: at n = 800 the interior point method is ahead of each in the end",
               f"(f - f*) / f(0) after {products[small]} products with X; {ends[0]}",
               *(last[small]["IP"] < last[small][name] for name in PROJECTED)),
        finding("at n = 4,000 the interior point method does not catch up with any",
               f"the same after {products[large]}; {ends[1]}",
               *(last[large]["IP"] > last[large][name] for name in PROJECTED)),
    ]
    panels = [
        Panel(f"{what}, n = m = {n:,}", "operations", "f - f*", series(curves), log_y=True, low=1e-8 * start)
        for n, (curves, start) in runs.items()
    ]
    return Figure(
        f"Projections, figure {number}: {what}",
        f"Drawn as the paper says; lambda is {fraction:g} of the largest one, the ball that of its solution; f is the "
        "mean loss, with lambda ||w||_1 for the interior point method (conjugate gradients within, as in the "
        "paper's) and for coordinate descent. Rates by the best of a grid; L1 - Stoch takes samples of 100. "
        "Accelerated is not in the paper.",
        findings, panels,
    )


def figure5(at: Any) -> Figure:
    return synthetic_figure(at, 5, "squared", "least squares")


def figure6(at: Any) -> Figure:
    return synthetic_figure(at, 6, "logistic", "logistic regression")


# --- figure 7: batch problems on text ---------------------------------------------------------------


def figure7(at: Any) -> Figure:
    data = load(at.data, "rcv1.train.libsvm.gz")
    if at.few:
        data = data.take(np.arange(at.few))
    rows = data.rows()
    penalised = Problem(rows, "logistic", l1=0.0, constant=False)
    penalised.set_l1(0.01 * penalised.l1_max())
    optimum(penalised, 1e-6)
    radius, least = float(np.abs(np.asarray(penalised.w)).sum()), float(penalised.mean_loss)
    ball = Problem(rows, "logistic", radius=radius, constant=False)
    seconds = 0.3 if at.quick else 2.0
    rates = [100 * eta for eta in at.some(FALLING)]
    curves: dict[str, dict[str, Curve]] = {"left": {}, "right": {}}
    traces: dict[str, Trace] = {}
    for title, side, name, batch in (
        ("L1 - Full", "left", "projected-gradient", None), ("L1 - 25 %", "left", "minibatch", 0.25),
        ("EG - Full", "left", "eg-pm", None), ("EG - 25 %", "left", "eg-pm", 0.25),
        ("L1 - 1", "right", "minibatch", 1), ("L1 - 100", "right", "minibatch", 100),
        ("EG - 1", "right", "eg-pm", 1), ("EG - 100", "right", "eg-pm", 100),
    ):
        options: dict[str, Any] = {"batch": batch} if batch else {"iterations": 1}
        if batch == 1:
            options["iterations"] = max(1, len(data) // 10)
        if title == "L1 - Full":
            traces[title] = follow(name, ball, seconds=seconds, iterations=1, eta0=FIRST)
        else:
            limits = {"seconds": seconds / 5}, {"seconds": seconds}
            _, traces[title] = follow_at_best_rate(name, ball, rates, *limits, step="sqrt", **options)
        curves[side][title] = Curve([], [])
    least = min(least, *(min(trace.objectives) for trace in traces.values()))
    for side in curves.values():
        for title in side:
            side[title] = above(traces[title], least, traces[title].seconds)
    last = {title: side[title].above[-1] for side in curves.values() for title in side}
    early = {t: value_at(side[t].x, side[t].above, 0.1 * seconds) for side in curves.values() for t in side}
    descriptions = "; ".join(f"{title} {early[title]:.2g}, {last[title]:.2g}" for title in last)
    findings = [
        finding("left: the l1 projections outperform EG, in speed and in loss",
               f"log loss above the least, {least:.4f}, after {0.1 * seconds:.2g} and {seconds:g} s: {descriptions}",
               last["L1 - Full"] < last["EG - Full"], last["L1 - 25 %"] < last["EG - 25 %"],
               early["L1 - Full"] < early["EG - Full"], early["L1 - 25 %"] < early["EG - 25 %"]),
        finding("right: with samples of 1 and 100 EG has an advantage in run time over the projections", "as above",
               early["EG - 1"] < early["L1 - 1"], early["EG - 100"] < early["L1 - 100"]),
    ]
    titles = {"left": "all documents, and a quarter", "right": "samples of 1 and 100"}
    panels = [
        Panel(titles[side], "seconds of the processor", "f - f*", series(found), log_x=True, log_y=True)
        for side, found in curves.items()
    ]
    return Figure(
        "Projections, figure 7: RCV1, batch",
        f"rcv1: {len(data):,} documents of 804,414, {data.features:,} words, CCAT, no constant; the ball is that of "
        f"the penalised solution at 0.01 of the largest strength, {radius:,.0f}. Rates fall with the root of t, each "
        f"the best of {len(rates)}; L1 - Full has a line search. Evaluating the objective is counted for none of the "
        "samples' steps apart: each step makes a pass, or a tenth of one with samples of 1.",
        findings, panels,
    )


# --- figure 8: digits, several classes --------------------------------------------------------------


def kernel(data: Sparse, centres: Sparse, width: float) -> np.ndarray:
    """exp(-||x - c||^2 / width), pixels from 0 to 1."""
    X, C = np.zeros((len(data), 784)), np.zeros((len(centres), 784))
    for part, target in ((data, X), (centres, C)):
        dense = part.dense() / 255
        target[:, : dense.shape[1]] = dense
    distances = (X**2).sum(axis=1)[:, None] + (C**2).sum(axis=1)[None, :] - 2 * X @ C.T
    return np.exp(-np.maximum(distances, 0) / width)


def figure8(at: Any) -> Figure:
    from vwlite.core.solve.softmax import SoftmaxProblem

    data = load(at.data, "mnist.train.libsvm.gz").shuffled()
    examples, many = (200, 40) if at.quick else (2000, 2766)
    centres, part = data.take(np.arange(many)), data.take(np.arange(many, many + examples))
    found = of_dense(kernel(part, centres, 25.0).astype(np.float32), part.labels)
    rows = found.rows()
    radius = 300.0
    problem = SoftmaxProblem(rows, 10, radius, True, constant=False)
    gradients = 20 if at.quick else 120
    left: dict[str, Trace] = {"L1": follow("projected-gradient", problem, steps=gradients, iterations=1)}
    zeros = np.sort(1 - np.count_nonzero(problem.w, axis=1) / many)  # of each class
    rates = at.some([0.03, 0.1, 0.3, 1.0, 3.0, 10.0])

    def best(name: str, each: int, **options: Any) -> Trace:
        """each: gradients between two looks at the objective."""
        limits = {"steps": max(gradients // each // 5, 1)}, {"steps": gradients // each}
        return follow_at_best_rate(name, problem, rates, *limits, iterations=each, **options)[1]

    each = {"left": 1, "right": 5}
    left["EG"] = best("eg", 1, step="fixed")
    right = {"L1": best("minibatch", 5, step="sqrt", batch=0.01), "EG": best("eg", 5, step="sqrt", batch=0.01)}
    least = min(min(trace.objectives) for trace in (*left.values(), *right.values()))
    deep = follow("accelerated", problem, steps=10 if at.quick else 30, iterations=10)
    least = min(least, *deep.objectives)
    eg_zeros = 1 - left["EG"].nonzeros[-1] / (10 * many)

    def curves(side: str, traces: dict[str, Trace]) -> dict[str, Curve]:
        return {
            name: Curve(
                [float(k * each[side]) for k in range(len(t.objectives))], [value - least for value in t.objectives]
            )
            for name, t in traces.items()
        }

    both = {"left": curves("left", left), "right": curves("right", right)}
    last = {side: {name: curve.above[-1] for name, curve in some.items()} for side, some in both.items()}
    findings = [
        finding("with true gradients the projections outperform EG in convergence and loss",
               f"above the least loss, {least:.4f}, after {gradients} gradients: L1 {last['left']['L1']:.3g}, EG "
               f"{last['left']['EG']:.3g}", last["left"]["L1"] < last["left"]["EG"]),
        finding("with gradients of 1 % of the data too",
               f"L1 {last['right']['L1']:.3g}, EG {last['right']['EG']:.3g}",
               last["right"]["L1"] < last["right"]["EG"]),
        finding("the projections zero 10 to 50 % of each class's weights, EG none",
               f"all classes: {100 * zeros.mean():.1f} % of the weights zero; the ten, in order: "
               + ", ".join(f"{100 * share:.0f}" for share in zeros) + f" %; EG {100 * eg_zeros:.0f} %",
               all(0.1 <= share <= 0.5 for share in zeros), eg_zeros == 0),
    ]
    panels = [
        Panel(title, "gradients", "f - f*", series(both[side]), log_y=True)
        for side, title in (("left", "true gradients"), ("right", "gradients of 1 %"))
    ]
    return Figure(
        "Projections, figure 8: MNIST, ten classes",
        f"{examples:,} digits instead of 60,000 (dense, 10 x {many:,} weights), {many:,} other digits as centres, "
        f"drawn: the paper does not say which, nor the ball's radius, here {radius:g}. Pixels are scaled to [0, 1] for "
        "the kernel's 25. The signs sigma are left out: with them the classes' scores differ by a common term, which "
        "the loss does not see.",
        findings, panels,
    )


# --- figure 9: online, bigrams ----------------------------------------------------------------------


def online_run(at: Any, text: Path, labels: np.ndarray, options: list[Any]) -> dict[str, Any] | None:
    """One pass: the scores before learning, their cumulative losses, and how many weights there are in the end."""
    predictions, model = at.folder / "predictions.txt", at.folder / "model"
    typed = ["--loss", "logistic", "--link", "identity", *options]
    results = unless_diverged(at.folder, text, *typed, "-p", predictions, "-m", model)
    if results is None:
        return None
    scores = np.fromfile(predictions, sep=" ")
    losses = list(accumulate(np.logaddexp(0, -labels * scores).tolist()))
    return {"scores": scores, "losses": losses, "nonzeros": results["nonzero_weights"], "options": options}


def amount(step: int) -> float:
    """..., 0.1, 0.3, 1, 3, 10, ...: 1 is step 0."""
    return (1.0, 3.0)[step % 2] * 10.0 ** (step // 2)


def climb(loss: Callable[[int], float], starts: Sequence[int]) -> int:
    """From the best start to a step of the grid with no lower loss beside it. The grid has no end.

    loss: inf, if the algorithm diverges.
    """
    met = {step: loss(step) for step in starts}
    best = min(met, key=met.__getitem__)
    while True:
        around = [best, best - 1, best + 1]
        met |= {step: loss(step) for step in around if step not in met}
        least = min(around, key=met.__getitem__)  # of equal ones the first, which is `best`
        if least == best:
            return best
        best = least


def at_best_rate(at: Any, text: Path, labels: np.ndarray, learning: list[Any]) -> dict[str, Any]:
    """The run with the rate of the least cumulative loss."""
    runs: dict[int, dict[str, Any]] = {}

    def loss(step: int) -> float:
        found = online_run(at, text, labels, [*learning, "-l", amount(step)])
        if found is None:
            return math.inf
        runs[step] = found
        return float(found["losses"][-1])

    return runs[climb(loss, range(5))]  # of EG the loss has two valleys


def figure9(at: Any) -> Figure:
    """One bound for both, as in the paper, from 100 up to the first that bounds nothing: no weight is zero with it."""
    train = load(at.data, "rcv1.train.libsvm.gz")
    of_train = topics(at.data, "train")
    n = at.few or 8000
    train, of_train = train.take(np.arange(n)), of_train[:n]
    panels_loss = Panel("cumulative log loss", "examples", "sum of log losses")
    panels_share = Panel("weights that are not zero", "examples", "% of the features seen")
    findings: list[Finding] = []
    pairs = ["-q", "::", "-b", "22"]
    kinds: dict[str, list[Any]] = {
        "L1": ["--algorithm", "l1-ball", *pairs], "EG": ["--algorithm", "eg-pm", "--features", 1 << 22, *pairs]
    }
    plain = ["--loss", "logistic", "--algorithm", "sgd", "-l", "1e-9", "--no-constant", *pairs]
    cuts = [round(n * k / 40) for k in range(1, 41)]
    for name, column in (("CCAT", 0), ("ECAT", 1)):
        labels = of_train[:, column]
        text = train.with_labels(labels).write(at.folder / f"{name}.libsvm")
        few = [n // 8, n // 4, n // 2, n]
        lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
        heads, seen = [], []
        for count in few:
            heads.append(at.folder / f"head-{count}{text.suffix}")
            heads[-1].write_text("".join(lines[:count]), encoding="utf-8")
            known = unless_diverged(at.folder, heads[-1], *plain)
            assert known
            seen.append(known["features_in_the_table"])
        bounds: dict[float, dict[str, dict[str, Any]]] = {}
        for step in count_from(4):
            radius = amount(step)
            found = {
                kind: at_best_rate(at, text, labels, [*learning, "--radius", radius])
                for kind, learning in kinds.items()
            }
            if found["L1"]["nonzeros"] > 0.999 * seen[-1]:
                break
            bounds[radius] = found
        radius = min(bounds, key=lambda r: min(found["losses"][-1] for found in bounds[r].values()))
        best = bounds[radius]
        free = at_best_rate(at, text, labels, [*kinds["EG"], "--radius", 1e8])["losses"][-1] / n
        for kind, run in best.items():
            losses = run["losses"]
            panels_loss.series.append(Series(f"{kind} - {name}", cuts, [losses[c - 1] for c in cuts], kind == "EG"))
        share = []
        for head, features in zip(heads, seen, strict=True):
            part = unless_diverged(at.folder, head, "--loss", "logistic", *best["L1"]["options"])
            assert part
            share.append(100 * part["nonzero_weights"] / features)
        panels_share.series.append(Series(f"L1 - {name}", few, share))

        def both(value: Callable[[dict[str, Any]], float], bounds: Any = bounds) -> list[tuple[float, float]]:
            """The value for L1 and for EG, bound by bound."""
            return [(value(runs["L1"]), value(runs["EG"])) for runs in bounds.values()]

        least = both(lambda run: run["losses"][-1] / n)
        wrong = both(lambda run, labels=labels: 100 * error(run["scores"], labels))  # type: ignore[misc]
        parts = both(lambda run, features=seen[-1]: 100 * run["nonzeros"] / features)  # type: ignore[misc]
        each = " / ".join(f"{r:,g}" for r in bounds)
        findings += [
            finding(f"{name}: the projections outperform EG in cumulative log loss",
                   f"an example, with the bounds {each}: L1 " + " / ".join(f"{a:.3f}" for a, _ in least) + ", EG "
                   + " / ".join(f"{b:.3f}" for _, b in least) + f"; EG with 1e8, which bounds nothing: {free:.3f}",
                   *(a < b for a, b in least)),
            finding(f"{name}: and in errors on the way" + {"CCAT": " (11.9 % against more than 15 %)",
                   "ECAT": " (14.9 % against more than 20 %)"}.get(name, ""),
                   "likewise: L1 " + " / ".join(f"{a:.1f}" for a, _ in wrong) + " %, EG "
                   + " / ".join(f"{b:.1f}" for _, b in wrong) + " %", *(a < b for a, b in wrong)),
            finding(f"{name}: about 5 % of the features seen are not zero, EG's all",
                   f"{share[-1]:.1f} % of {seen[-1]:,} with the bound of the least loss, {radius:,g}; with all bounds "
                   + " / ".join(f"{a:.1f}" for a, _ in parts) + f" %; EG at least {min(b for _, b in parts):.1f} %",
                   2.5 <= share[-1] <= 10, min(b for _, b in parts) > 99.9),
        ]
    return Figure(
        "Projections, figure 9: online, pairs of words",
        f"The public vectors have no bigrams: rcv1 with all pairs of words of a document (-q ::, hashed to 22 bits, "
        f"{n:,} documents of 804,414). One bound for both, as in the paper: from 100, the paper's, until no weight is "
        "zero, with two in each power of ten; drawn is that of the least loss. Each rate is the best of 1, 3, ..., "
        "100, and from there on until both neighbours are worse; rates fall with the root of t.",
        findings, [panels_loss, panels_share],
    )
