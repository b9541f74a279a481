"""Duchi, Hazan, Singer. Adaptive Subgradient Methods. 2010: the table of test errors and sparsity on RCV1.

Hinge loss, one pass over the documents, one topic against all others. RDA and FB are the methods without adaptation:
dual averaging, w = -sign(G) eta sqrt(t) max(|G| / t - lambda, 0), which is below and not in the product, and
forward-backward splitting, which is `truncated-gradient` with K = 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from compare import error

from papers.data import SEED, Sparse, load, topics
from papers.figures import NOT_DONE, Figure, Finding, Panel, Series, finding
from papers.online import Bench

TOPICS = ("ECAT", "CCAT", "GCAT", "MCAT")
COLUMNS = {"CCAT": 0, "ECAT": 1, "GCAT": 2, "MCAT": 3}  # in the file of topics
L1 = (1e-6, 1e-5, 3e-5, 1e-4, 3e-4)
RATES = {"RDA": (1.0, 3.0, 10.0, 30.0), "FB": (3.0, 10.0, 30.0), "AdaGrad-RDA": (0.1, 0.3, 1.0),
         "AdaGrad-FB": (0.1, 0.3, 1.0)}
PA = (0.01, 0.1, 1.0)
AROW = (0.1, 1.0, 10.0)


@dataclass
class Cell:
    """A learner on a topic: the error and the share of weights that are not zero, as chosen on a validation part."""

    error: float
    share: float
    setting: str


def dual_averaging(data: Sparse, rate: float, l1: float) -> np.ndarray:
    """The weights by index after one pass of RDA with hinge loss, and the constant at index 0, which is not shrunk."""
    sums = np.zeros(data.features + 1)
    shrunk = np.full(len(sums), l1)
    shrunk[0] = 0.0
    for t, label in enumerate(data.labels):
        low, high = data.begins[t], data.begins[t + 1]
        at = np.append(data.indices[low:high], 0)
        x = np.append(data.values[low:high], 1.0)
        if t:
            mean = sums[at] / t
            w = -np.sign(mean) * rate * np.sqrt(t) * np.maximum(np.abs(mean) - shrunk[at], 0)
            if label * (w @ x) >= 1:
                continue
        sums[at] -= label * x
    n = max(len(data), 1)
    return -np.sign(sums) * rate * np.sqrt(n) * np.maximum(np.abs(sums) / n - shrunk, 0)


def settings(method: str, rates: Iterable[float], strengths: Iterable[float]) -> list[list[object]]:
    if method == "PA":
        return [["--algorithm", "pa-i", "--loss", "hinge", "--pa-c", c] for c in PA]
    if method == "AROW":
        return [["--algorithm", "arow", "--loss", "hinge", "--arow-r", r] for r in AROW]
    name = {"FB": "truncated-gradient", "AdaGrad-RDA": "adagrad-rda", "AdaGrad-FB": "adagrad"}[method]
    learning: list[object] = ["--algorithm", name, "--loss", "hinge"]
    return [[*learning, "-l", rate, "--l1", strength] for rate in rates for strength in strengths]


def best_cell(method: str, at: Any, bench: Bench, parts: dict[str, Sparse], used: int) -> Cell:
    """Chosen by the error on the validation part; of settings with as few errors the one with fewer weights."""
    tried: list[tuple[float, int, Any]] = []
    rates = at.some(RATES.get(method, ()))
    strengths = at.some(L1)
    if method == "RDA":
        for rate in rates:
            for l1 in strengths:
                w = dual_averaging(parts["fit"], rate, l1)
                wrong = error(parts["valid"].scores(w, w[0]), parts["valid"].labels)
                tried.append((wrong, int(np.count_nonzero(w[1:])), (rate, l1)))
        rate, l1 = min(tried)[2]
        w = dual_averaging(parts["train"], rate, l1)
        wrong = error(parts["test"].scores(w, w[0]), parts["test"].labels)
        return Cell(wrong, np.count_nonzero(w[1:]) / used, f"eta {rate:g}, lambda {l1:g}")
    every = settings(method, rates, strengths)
    for i, options in enumerate(every):
        run = bench.run("fit", parts["valid"], *options)
        if run:
            tried.append((error(run.scores, parts["valid"].labels), run.nonzeros, i))
    options = every[min(tried)[2]]
    run = bench.run("train", parts["test"], *options)
    assert run is not None
    return Cell(error(run.scores, parts["test"].labels), run.nonzeros / used, " ".join(map(str, options[2:])))


def table(at: Any) -> Figure:
    train, test = load(at.data, "rcv1.train.libsvm.gz"), load(at.data, "rcv1.test.libsvm.gz")
    of_train, of_test = topics(at.data, "train"), topics(at.data, "test")
    if at.few:
        train, test = train.take(np.arange(10 * at.few)), test.take(np.arange(2 * at.few))
        of_train, of_test = of_train[: len(train)], of_test[: len(test)]
    used = len(np.unique(train.indices))
    order = np.random.default_rng(SEED).permutation(len(train))
    held = len(order) // 5
    cells: dict[str, dict[str, Cell]] = {}
    methods = ("RDA", "FB", "AdaGrad-RDA", "AdaGrad-FB", "PA", "AROW")
    for topic in TOPICS:
        whole = train.with_labels(of_train[:, COLUMNS[topic]])
        parts = {"train": whole, "test": test.with_labels(of_test[:, COLUMNS[topic]])}
        parts |= {"fit": whole.take(order[held:]), "valid": whole.take(order[:held])}
        bench = Bench(at.folder)
        for name in ("fit", "train"):
            bench.add(name, parts[name])
        for method in methods:
            cells.setdefault(method, {})[topic] = best_cell(method, at, bench, parts, used)
        bench.close()
    return Figure(
        "AdaGrad, the table of RCV1",
        f"rcv1: {len(train):,} documents to learn, {len(test):,} to test (the paper: 804,414); one pass, hinge loss; "
        "rates and strengths chosen by the errors on a fifth of the training part. The table's numbers are not in "
        "the text at hand, which ends before the experiments; the claims are those that the paper is cited for.",
        findings_of(cells),
        [
            Panel("test errors", "topic", "share that is wrong",
                  [Series(m, list(row), [c.error for c in row.values()]) for m, row in cells.items()], "bars"),
            Panel("weights that are not zero", "topic", "share of the features seen",
                  [Series(m, list(row), [c.share for c in row.values()]) for m, row in cells.items()], "bars"),
        ],
    )


def findings_of(cells: dict[str, dict[str, Cell]]) -> list[Finding]:
    def errors(method: str) -> list[float]:
        return [cell.error for cell in cells[method].values()]

    def shares(method: str) -> list[float]:
        return [cell.share for cell in cells[method].values()]

    def describe(*methods: str) -> str:
        return "; ".join(
            f"{m} " + ", ".join(f"{100 * c.error:.1f} ({c.share:.2f})" for c in cells[m].values()) for m in methods
        )

    def fewer(one: str, other: str) -> list[bool]:
        return [a < b for a, b in zip(errors(one), errors(other), strict=True)]

    def counted(facts: list[bool]) -> str:
        return f"on {sum(facts)} of {len(facts)} topics"

    names = ", ".join(next(iter(cells.values())))
    return [
        finding("the adaptive methods err less than RDA and FB without adaptation, on every topic",
               f"% wrong (share of weights) for {names}: " + describe("RDA", "AdaGrad-RDA", "FB", "AdaGrad-FB")
               + f": RDA {counted(fewer('AdaGrad-RDA', 'RDA'))}, FB {counted(fewer('AdaGrad-FB', 'FB'))}",
               *fewer("AdaGrad-RDA", "RDA"), *fewer("AdaGrad-FB", "FB")),
        finding("they err less than AROW, and AROW less than PA", describe("AROW", "PA")
               + f": AdaGrad-RDA {counted(fewer('AdaGrad-RDA', 'AROW'))}, AROW {counted(fewer('AROW', 'PA'))}",
               *fewer("AdaGrad-RDA", "AROW"), *fewer("AROW", "PA")),
        finding("AdaGrad-RDA keeps fewer weights than AdaGrad-FB, RDA fewer than FB",
               "shares are in brackets above",
               *(a < b for a, b in zip(shares("AdaGrad-RDA"), shares("AdaGrad-FB"), strict=True)),
               *(a < b for a, b in zip(shares("RDA"), shares("FB"), strict=True))),
        finding("AdaGrad-RDA is as sparse as RDA or sparser", "shares are in brackets above",
               *(a <= b for a, b in zip(shares("AdaGrad-RDA"), shares("RDA"), strict=True))),
        Finding("ImageNet ranking; census income", "images' features and this census are not among the data here",
                NOT_DONE),
    ]
