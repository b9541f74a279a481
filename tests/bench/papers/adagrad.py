"""Duchi, Hazan, Singer. Adaptive Subgradient Methods. 2010: the table of test errors and sparsity on RCV1.

Hinge loss, one pass over the documents, one topic against all others. RDA and FB are the methods without adaptation:
dual averaging is `rda`, forward-backward splitting is `truncated-gradient` with K = 1. Errors are compared with the
best settings of each method, numbers of weights at the same lambda.
"""

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
RATES = {"RDA": (1.0, 3.0, 10.0, 30.0), "FB": (3.0, 10.0, 30.0), "AdaGrad-RDA": (0.1, 0.3, 0.5, 0.8, 1.0),
         "AdaGrad-FB": (0.1, 0.3, 0.5, 0.8, 1.0)}
ALGORITHMS = {"RDA": "rda", "FB": "truncated-gradient", "AdaGrad-RDA": "adagrad-rda", "AdaGrad-FB": "adagrad",
              "PA": "pa-i", "AROW": "arow"}
PA = (0.01, 0.1, 1.0)
AROW = (0.1, 1.0, 10.0)
FOLDS = 5


@dataclass
class Cell:
    """A learner on a topic: the error and the share of weights that are not zero, with the options that were chosen."""

    error: float
    share: float
    options: list[object]


# By method and topic; and by method, topic and lambda.
Best = dict[str, dict[str, Cell]]
AtStrengths = dict[str, dict[str, dict[float, Cell]]]


def settings(method: str, at: Any) -> dict[float | None, list[list[object]]]:
    """The options to choose from, by their lambda."""
    learning: list[object] = ["--algorithm", ALGORITHMS[method], "--loss", "hinge"]
    if method == "PA":
        return {None: [[*learning, "--pa-c", c] for c in PA]}
    if method == "AROW":
        return {None: [[*learning, "--arow-r", r] for r in AROW]}
    return {l1: [[*learning, "-l", rate, "--l1", l1] for rate in at.some(RATES[method])] for l1 in at.some(L1)}


def chosen_cells(method: str, at: Any, bench: Bench, parts: dict[str, Sparse], used: int) -> dict[float | None, Cell]:
    """The best setting of each lambda, those with fewer errors on the validation part first.

    Of settings with as few errors the one with fewer weights is better.
    """
    chosen: list[tuple[float, int, float | None, list[object]]] = []
    for l1, every in settings(method, at).items():
        tried = []
        for i, options in enumerate(every):
            run = bench.run("fit", parts["valid"], *options)
            if run:
                tried.append((error(run.scores, parts["valid"].labels), run.nonzeros, i))
        wrong, nonzeros, i = min(tried)
        chosen.append((wrong, nonzeros, l1, every[i]))
    cells = {}
    for _, _, l1, options in sorted(chosen, key=lambda c: c[:2]):
        run = bench.run("train", parts["test"], *options)
        assert run is not None
        cells[l1] = Cell(error(run.scores, parts["test"].labels), run.nonzeros / used, options)
    return cells


def out_of_fold(at: Any, whole: Sparse, methods: dict[str, list[object]], order: np.ndarray) -> dict[str, np.ndarray]:
    """Whether each document is wrong, by method with its options, when it is in the part that was not learned from."""
    wrong = {method: np.zeros(len(whole), bool) for method in methods}
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        rest, held = whole.take(np.delete(order, slice(fold, None, FOLDS))), whole.take(out)
        bench = Bench(at.folder)
        bench.add("rest", rest)
        for method, options in methods.items():
            run = bench.run("rest", held, *options)
            assert run is not None
            wrong[method][out] = (run.scores > 0) != (held.labels > 0)
        bench.close()
    return wrong


def table(at: Any) -> Figure:
    train, test = load(at.data, "rcv1.train.libsvm.gz"), load(at.data, "rcv1.test.libsvm.gz")
    of_train, of_test = topics(at.data, "train"), topics(at.data, "test")
    if at.few:
        train, test = train.take(np.arange(10 * at.few)), test.take(np.arange(2 * at.few))
        of_train, of_test = of_train[: len(train)], of_test[: len(test)]
    used = len(np.unique(train.indices))
    order = np.random.default_rng(SEED).permutation(len(train))
    held = len(order) // 5
    best: Best = {}
    alike: AtStrengths = {}
    ahead: dict[str, tuple[float, float]] = {}
    for topic in TOPICS:
        whole = train.with_labels(of_train[:, COLUMNS[topic]])
        parts = {"train": whole, "test": test.with_labels(of_test[:, COLUMNS[topic]])}
        parts |= {"fit": whole.take(order[held:]), "valid": whole.take(order[:held])}
        bench = Bench(at.folder)
        for name in ("fit", "train"):
            bench.add(name, parts[name])
        for method in ALGORITHMS:
            found = chosen_cells(method, at, bench, parts, used)
            best.setdefault(method, {})[topic] = next(iter(found.values()))
            alike.setdefault(method, {})[topic] = {l1: cell for l1, cell in found.items() if l1 is not None}
        bench.close()
        both = {method: best[method][topic].options for method in ("AdaGrad-RDA", "AROW")}
        wrong = out_of_fold(at, whole, both, order)
        difference = wrong["AdaGrad-RDA"].astype(float) - wrong["AROW"]
        ahead[topic] = float(difference.mean()), float(difference.std() / np.sqrt(len(whole)))
    return Figure(
        "AdaGrad, the table of RCV1",
        f"rcv1: {len(train):,} documents to learn, {len(test):,} to test (the paper: 804,414); one pass, hinge loss; "
        "rates and strengths chosen by the errors on a fifth of the training part; numbers of weights are compared at "
        f"each of {len(at.some(L1))} equal strengths, with the best rate for it. The table's numbers are not in "
        "the text at hand, which ends before the experiments; the claims are those that the paper is cited for.",
        findings_of(best, alike, ahead),
        [
            Panel("test errors", "topic", "share that is wrong",
                  [Series(m, list(row), [c.error for c in row.values()]) for m, row in best.items()], "bars"),
            Panel("weights that are not zero", "topic", "share of the features seen",
                  [Series(m, list(row), [c.share for c in row.values()]) for m, row in best.items()], "bars"),
        ],
    )


def findings_of(best: Best, alike: AtStrengths, ahead: dict[str, tuple[float, float]]) -> list[Finding]:
    """ahead: by how much more AdaGrad-RDA errs than AROW out of fold, with the standard error."""

    def describe(*methods: str) -> str:
        return "; ".join(
            f"{m} " + ", ".join(f"{100 * c.error:.1f} ({c.share:.2f})" for c in best[m].values()) for m in methods
        )

    def fewer_errors(one: str, other: str) -> list[bool]:
        return [a.error < b.error for a, b in zip(best[one].values(), best[other].values(), strict=True)]

    def counted(facts: list[bool]) -> str:
        return f"on {sum(facts)} of {len(facts)} topics"

    def compared(one: str, other: str, or_equal: bool = False) -> tuple[str, list[bool]]:
        """On how many topics one is sparser than the other, by lambda, with the mean shares; and the facts."""
        topics = list(alike[one])
        words, facts = [], []
        for l1 in sorted(alike[one][topics[0]]):
            a, b = ([alike[method][topic][l1].share for topic in topics] for method in (one, other))
            of_l1 = [x < y or (or_equal and x == y) for x, y in zip(a, b, strict=True)]
            words.append(f"{l1:g} {counted(of_l1)} ({np.mean(a):.3f}, {np.mean(b):.3f})")
            facts += of_l1
        return f"{one}, {other}: " + ", ".join(words), facts

    names = ", ".join(next(iter(best.values())))
    adaptive, sparser = compared("AdaGrad-RDA", "AdaGrad-FB")
    plain, sparser_plain = compared("RDA", "FB")
    beside_plain, as_sparse = compared("AdaGrad-RDA", "RDA", or_equal=True)
    shares = "by lambda, with the mean shares of weights: "
    folds = ", ".join(f"{topic} {100 * mean:+.2f} +- {100 * sigma:.2f}" for topic, (mean, sigma) in ahead.items())
    return [
        finding("the adaptive methods err less than RDA and FB without adaptation, on every topic",
               f"% wrong (share of weights) for {names}: " + describe("RDA", "AdaGrad-RDA", "FB", "AdaGrad-FB")
               + f": RDA {counted(fewer_errors('AdaGrad-RDA', 'RDA'))}, FB "
               + counted(fewer_errors("AdaGrad-FB", "FB")),
               *fewer_errors("AdaGrad-RDA", "RDA"), *fewer_errors("AdaGrad-FB", "FB")),
        finding("they err less than AROW, and AROW less than PA", describe("AROW", "PA")
               + f": AdaGrad-RDA {counted(fewer_errors('AdaGrad-RDA', 'AROW'))}, AROW "
               f"{counted(fewer_errors('AROW', 'PA'))}; AdaGrad-RDA minus AROW, in points, on all documents out of "
               f"{FOLDS} folds: {folds}",
               *fewer_errors("AdaGrad-RDA", "AROW"), *fewer_errors("AROW", "PA")),
        finding("AdaGrad-RDA keeps fewer weights than AdaGrad-FB, RDA fewer than FB",
               f"{shares}{adaptive}; {plain}", *sparser, *sparser_plain),
        finding("AdaGrad-RDA is as sparse as RDA or sparser", shares + beside_plain, *as_sparse),
        Finding("ImageNet ranking; census income", "images' features and this census are not among the data here",
                NOT_DONE),
    ]
