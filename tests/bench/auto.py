"""`vwlite train --algorithm auto`, which has nothing to tune, beside learners that are tuned.

    make auto SETS=FOLDER      writes the tables and the pictures of AUTO.md; ONLY=PARTS are some of binary,
                               numbers, classes, stress, tables, texts

Binary: a set without a test file is shuffled with a seed; a quarter, or a third of up to 3,000 rows, is its test part.
Sets of fewer than 3,000 rows to train are learned in five orders of their rows, and figures are means. Tuned are gd and
adagrad (five rates, at most ten passes; each fifth example is held out, then the best setting learns all), and
LogisticRegression (C of 0.01 to 100, by three folds; values are divided by the largest of their column, or, of more
than 3,000 features, their logarithms are scaled to length 1). SGDClassifier has the same values and no options.

Numbers: columns of RidgeCV and PoissonRegressor are standardized; alpha of the latter is found by three folds. All sets
but housing are drawn. Figures are means over five orders of the rows to train.

Classes: rows of mnist to train, and its test file. LogisticRegression is multinomial, with C as above.

Stress, tables, texts: stress.py and auto_tables.py say how.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import scipy.sparse as sp
from auto_tables import PEER_PACKAGES, tables_and_texts
from compare import Refused, auc, error, log_loss, read, values_of, vwlite
from harness import (
    HERE,
    ROOT,
    best_in_bold,
    made,
    options_of,
    pyplot,
    save_picture,
    say,
    show,
    table,
    verdict,
    work_folder,
)
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV, SGDClassifier
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stress import stress

SMALL, ORDERS = 3000, 5  # sets of fewer rows to train are learned in so many orders of them
WIDE = 3000  # features
BEHIND = 1.1  # sets whose loss is above that of the best tuned learner times this are named
ZERO = 0.01  # log losses below it have no ratio that says anything


# Test log losses of the prototype, with passes and in one pass; their deviation over orders and folds, if known.
SETS: dict[str, tuple[float, float, float | None]] = {
    "crx": (0.3208, 0.3293, 0.006),
    "wbc": (0.0471, 0.0451, 0.0035),
    "wpbc": (0.4662, 0.4574, 0.009),
    "ad_998": (0.1776, 0.1901, 0.005),
    "vw_rcv1_small": (0.2890, 0.3002, None),
    "krvskp": (0.0833, 0.1009, 0.001),
    "sms_spam": (0.0465, 0.0464, 0.0006),
    "spambase": (0.2040, 0.2131, 0.002),
    "mushroom": (0.0000, 0.0020, None),
    "magic04": (0.4553, 0.4555, None),
    "rcv1": (0.1603, 0.1630, None),
    "adult": (0.3191, 0.3199, None),
    "a9a": (0.3240, 0.3241, None),
}
ROUGHLY = 0.005  # of a loss: the deviation where none is known
AUTO = ("--algorithm", "auto")
FILES, ONE_PASS, GD, GD_TUNED, ADAGRAD = "auto", "auto, one pass", "gd", "gd, tuned", "adagrad, tuned"
LOGISTIC, SGD = "LogisticRegression, tuned", "SGDClassifier"
TUNED = (LOGISTIC, GD_TUNED, ADAGRAD)
STRENGTHS = (0.01, 0.1, 1, 10, 100)  # C of LogisticRegression
GRIDS = {"gd": (0.1, 0.3, 1, 3, 10), "adagrad": (0.03, 0.1, 0.3, 1, 3)}


# --- data -----------------------------------------------------------------------------------------


class Parts:
    """A training and a test part: their texts as files, and as matrices."""

    def __init__(self, folder: Path, train: list[str], test: list[str]) -> None:
        self.folder, names = folder, dict[tuple[str, str], int]()
        self.x, self.y = matrix(train, names)
        self.z, self.labels = matrix(test, names)
        self.x.resize(len(train), len(names))
        for name, lines in {"train": train, "test": test}.items():
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        return self.x.toarray(), self.z.toarray()


def matrix(lines: list[str], names: dict[tuple[str, str], int]) -> tuple[sp.csr_matrix, np.ndarray]:
    found = [
        (row, names.setdefault((space, name), len(names)), value)
        for row, line in enumerate(lines)
        for _, space, name, value in values_of(line)
        if name
    ]
    rows, columns, values = zip(*found, strict=True)
    x = sp.csr_matrix((values, (rows, columns)), shape=(len(lines), len(names)))
    return x, np.array([float(line.split(None, 1)[0]) for line in lines])


def text_of(source: Path, name: str) -> Path | None:
    paths = (source / f"{name}.{kind}" for kind in ("libsvm.gz", "vw.gz", "vw"))
    return next((path for path in paths if path.exists()), None)


def split(source: Path, name: str, order: int, folder: Path) -> Parts:
    """order: of the rows to train; they are the same rows in each."""
    whole, test = text_of(source, name), text_of(source, f"{name}.test")
    lines = read(whole or text_of(source, f"{name}.train") or source / f"{name}.libsvm.gz")
    lines = [lines[i] for i in np.random.default_rng(7).permutation(len(lines))]
    if whole is None and test is not None:
        return Parts(folder, reordered(lines, order), read(test))
    cut = len(lines) * 3 // 4 if len(lines) > SMALL else len(lines) * 2 // 3
    return Parts(folder, reordered(lines[:cut], order), lines[cut:])


def reordered(lines: list[str], order: int) -> list[str]:
    return [lines[i] for i in np.random.default_rng(order).permutation(len(lines))] if order else lines


def drawn(kind: str, n: int, order: int, folder: Path) -> Parts:
    """libsvm text of a planted model over 20 columns, a quarter of it to test."""
    rng = np.random.default_rng(11)
    x, w = rng.normal(size=(n, 20)), rng.normal(size=20) / 4
    if kind == "heavy tails":
        x = rng.standard_t(3, size=x.shape)
        y = x @ w + 0.5 * rng.standard_t(3, size=n)
    elif kind == "about a million":
        y = 1e6 + 1000 * (x @ w + 0.5 * rng.normal(size=n))
    elif kind == "columns of any size":
        y = x @ w + 0.5 * rng.normal(size=n)
        x = (x + 3 * rng.normal(size=20)) * 10.0 ** rng.integers(-3, 4, size=20)
    else:
        x *= rng.random(x.shape) < (np.linspace(0.02, 1, 20) if kind == "rare columns" else 1)
        mean = {"rare events": 0.1, "large counts": 50}.get(kind, 1)
        y = rng.poisson(mean * np.exp(np.minimum(x @ w, 4)))
    lines = [
        f"{label:.9g} " + " ".join(f"{i}:{value:.6g}" for i, value in enumerate(row, 1) if value)
        for label, row in zip(y, x, strict=True)
    ]
    return Parts(folder, reordered(lines[: n * 3 // 4], order), lines[n * 3 // 4 :])


# --- learners: each gives the scores of the test part ---------------------------------------------

Learn = Callable[[Parts], np.ndarray]


def ours(loss: str, *options: object) -> Learn:
    def learned(parts: Parts) -> np.ndarray:
        """Scores, or of the squared loss what is predicted."""
        model, raw, predictions = (parts.folder / name for name in ("model", "raw", "predictions"))
        vwlite(parts.folder, "train", parts.folder / "train", "--loss", loss, *options, "-m", model)
        vwlite(parts.folder, "predict", parts.folder / "test", "-m", model, "-r", raw, "-p", predictions)
        return np.loadtxt(predictions if loss == "squared" else raw, ndmin=1)

    return learned


def tuned(loss: str, algorithm: str) -> Learn:
    """The rate and the number of passes are those with the least loss on each fifth example."""

    def learned(parts: Parts) -> np.ndarray:
        tried = []
        for rate in GRIDS[algorithm]:
            typed = ["--loss", loss, "--algorithm", algorithm, "-l", rate, "--passes", 10, "--holdout-period", 5]
            try:
                found = vwlite(parts.folder, "train", parts.folder / "train", *typed, "-m", parts.folder / "model")
            except Refused:  # diverged
                continue
            passes = found.get("best_pass", found["passes_used"])
            tried.append((found["holdout_average_loss"], rate, passes))
        _, rate, passes = min(tried)
        return ours(loss, "--algorithm", algorithm, "-l", rate, "--passes", passes, "--holdout-off")(parts)

    return learned


def prepared(parts: Parts) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Values for the peers, of the training and of the test part."""
    if parts.x.shape[1] > WIDE:
        return logarithms(parts.x), logarithms(parts.z)
    largest = sp.diags(1 / np.maximum(abs(parts.x).max(0).toarray().ravel(), 1e-30))
    return with_small_indices(parts.x @ largest), with_small_indices(parts.z @ largest)


def logarithms(x: sp.csr_matrix) -> sp.csr_matrix:
    x = x.copy()
    x.data = np.sign(x.data) * np.log1p(abs(x.data))
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    return with_small_indices(sp.diags(1 / np.where(lengths > 0, lengths, 1)) @ x)


def with_small_indices(x: sp.csr_matrix) -> sp.csr_matrix:
    """What LIBLINEAR asks for."""
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x


def logistic_regression(parts: Parts) -> np.ndarray:
    (x, z), y = prepared(parts), parts.y
    fold, losses = np.arange(len(y)) % 3, {}
    for c in STRENGTHS:
        scores = np.empty(len(y))
        for j in range(3):
            model = LogisticRegression(C=c, solver="liblinear", tol=1e-3).fit(x[fold != j], y[fold != j])
            scores[fold == j] = model.decision_function(x[fold == j])
        losses[c] = log_loss(scores, y)
    best = min(losses, key=losses.__getitem__)
    return LogisticRegression(C=best, solver="liblinear").fit(x, y).decision_function(z)


def sgd_classifier(parts: Parts) -> np.ndarray:
    x, z = prepared(parts)
    return SGDClassifier(loss="log_loss", random_state=1).fit(x, parts.y).decision_function(z)


def ridge(parts: Parts) -> np.ndarray:
    x, z = parts.dense()
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))).fit(x, parts.y).predict(z)


def poisson_regressor(parts: Parts) -> np.ndarray:
    x, z = parts.dense()
    search = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": [1e-4, 1e-3, 1e-2, 0.1, 1]}, cv=3)
    return np.log(make_pipeline(StandardScaler(), search).fit(x, parts.y).predict(z))


def family(loss: str) -> dict[str, Learn]:
    one_pass = ours(loss, *AUTO, "--passes", 1)
    return {FILES: ours(loss, *AUTO), ONE_PASS: one_pass, GD: ours(loss, "--algorithm", "gd")}


CLASSIFIERS: dict[str, Learn] = {
    **family("logistic"), GD_TUNED: tuned("logistic", "gd"), ADAGRAD: tuned("logistic", "adagrad"),
    LOGISTIC: logistic_regression, SGD: sgd_classifier,
}

# --- figures --------------------------------------------------------------------------------------

Measure = Callable[[np.ndarray, np.ndarray], float]  # of scores and labels
StreamMeasures = dict[str, dict[str, list[float]]]  # learner -> measure -> a figure for each order


def measure(
    name: str, learners: Mapping[str, Learn], measures: Mapping[str, Measure], orders: int,
    load: Callable[[int, Path], Parts],
) -> StreamMeasures:
    found: StreamMeasures = {learner: {kind: [] for kind in measures} for learner in learners}
    for order in range(orders):
        with work_folder() as folder:
            parts = load(order, Path(folder))
            for learner, learn in learners.items():
                scores = learn(parts)
                for kind, of in measures.items():
                    found[learner][kind].append(of(scores, parts.labels))
        say(f"{name}: { ({learner: round(next(iter(of.values()))[-1], 4) for learner, of in found.items()}) }")
        if len(parts.y) >= SMALL:
            break
    return found


# --- labels of two values -------------------------------------------------------------------------

MEASURES: dict[str, Measure] = {"log loss": log_loss, "error, %": lambda p, y: 100 * error(p, y), "AUC": auc}
Sets = dict[str, StreamMeasures]


def loss_of(found: StreamMeasures, learner: str) -> float:
    return fmean(found[learner]["log loss"])


def best_loss(found: StreamMeasures) -> float:
    """Of the tuned learners."""
    return min(loss_of(found, learner) for learner in TUNED)


def usual(sets: Sets) -> Sets:
    """Those whose losses are not about 0."""
    return {name: found for name, found in sets.items() if best_loss(found) >= ZERO}


def measures_of(sets: Sets) -> str:
    """A table for each measure."""
    tables = []
    for kind in MEASURES:
        rows = []
        for name, found in sets.items():
            texts = [f"{fmean(found[learner][kind]):.{2 if '%' in kind else 4}f}" for learner in CLASSIFIERS]
            cells = best_in_bold(texts, (max if kind == "AUC" else min)(texts, key=float))
            if kind == "log loss":
                spreads = (found[learner][kind] for learner in CLASSIFIERS)
                cells = [f"{c} ± {stdev(x):.4f}" if len(x) > 1 else c for c, x in zip(cells, spreads, strict=True)]
            rows.append([name, *cells])
        tables.append(f"Test {kind}:\n\n{table(['set', *CLASSIFIERS], rows, 'lr')}")
    return "\n\n".join(tables)


def goals_of(sets: Sets) -> str:
    rows = []
    for learner in CLASSIFIERS:
        each = {name: math.log(loss_of(found, learner) / best_loss(found)) for name, found in usual(sets).items()}
        far = ", ".join(f"{name} {math.exp(x):.2f}" for name, x in each.items() if x > math.log(BEHIND))
        goal, mean = {FILES: 0.0, ONE_PASS: 0.05}.get(learner), fmean(each.values())
        cells = ["", ""] if goal is None else [f"{goal:g}", verdict(mean <= goal)]
        rows.append([learner, f"{mean:+.3f}", *cells, far])
    apart = ", ".join(set(sets) - set(usual(sets)))
    note = f"\n\nWithout {apart}, whose losses are about 0." if apart else ""
    titles = ["learner", "mean of log(loss / best tuned)", "at most", "reached", "more than 10 % behind"]
    return table(titles, rows, "lrrll") + note


def beside_prototype(sets: Sets) -> str:
    rows = []
    for name, (*of_prototype, spread) in SETS.items():
        for learner, figure in zip((FILES, ONE_PASS), of_prototype, strict=True) if name in sets else ():
            each = sets[name][learner]["log loss"]
            known = spread or max(ROUGHLY * figure, 1e-4)
            deviation = max(known, stdev(each)) if len(each) > 1 else known
            z = (fmean(each) - figure) / deviation
            cells = [f"{x:.4f}" for x in (figure, fmean(each), deviation)]
            rows.append([name, learner, *cells, f"{z:+.1f}", verdict(z <= 2)])
    return table(["set", "", "prototype", "here", "deviation", "deviations above", "at most 2"], rows, "llrrrrl")


STYLES = (
    ("#d62728", "o"), ("#ff9896", "o"), ("0.6", "v"), ("#1f77b4", "v"), ("#9467bd", "^"), ("#2ca02c", "s"),
    ("0.6", "s"),
)


def draw(sets: Sets, path: Path) -> None:
    plt, sets = pyplot(), usual(sets)
    if plt is None:
        return
    figure, axes = plt.subplots(figsize=(8, 1 + 0.33 * len(sets)), layout="constrained")
    for learner, (colour, marker) in zip(CLASSIFIERS, STYLES, strict=True):
        ratios = [loss_of(found, learner) / best_loss(found) for found in sets.values()]
        axes.plot(ratios, range(len(sets)), marker, color=colour, label=learner, zorder=4 if "auto" in learner else 3)
    axes.axvline(1, color="0.3", linewidth=1, zorder=1)
    axes.set_xscale("log")
    ticks = [0.8, 1, 1.25, 1.5, 2, 3, 5, 10]
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(sets)), sets)
    axes.invert_yaxis()
    axes.grid(True, alpha=0.3)
    axes.set_xlabel("test log loss over that of the best tuned learner")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save_picture(figure, path, 100)


def binary(source: Path, names: Iterable[str], orders: int, picture: Path) -> str:
    sets = {name: measure(name, CLASSIFIERS, MEASURES, orders, partial(split, source, name)) for name in names}
    draw(sets, picture)
    return "\n\n".join([goals_of(sets), measures_of(sets), "Log losses of the prototype:", beside_prototype(sets)])


# --- labels that are numbers ----------------------------------------------------------------------


def numbers(source: Path, quick: bool) -> str:
    measures: dict[str, dict[str, Measure]] = {
        "squared": {"squared loss over variance": lambda p, y: float(((p - y) ** 2).mean() / y.var())},
        "poisson": {"Poisson deviance": lambda p, y: float(mean_poisson_deviance(y, np.exp(p)))},
    }
    peers = {"squared": ("RidgeCV", ridge), "poisson": ("PoissonRegressor", poisson_regressor)}
    sets = {
        "squared": (*(() if quick else ("housing",)), "columns of any size", "about a million", "heavy tails"),
        "poisson": ("rare columns", "rare events", "large counts"),
    }
    tables = []
    for loss, (peer, fit) in peers.items():
        learners, rows, logs = {**family(loss), peer: fit}, [], []
        (kind,) = measures[loss]
        for name in sets[loss]:
            load = partial(split, source, name) if name == "housing" else partial(drawn, name, 300 if quick else 3000)
            found = measure(name, learners, measures[loss], 1 if quick else ORDERS, load)
            means = {learner: fmean(of[kind]) for learner, of in found.items()}
            logs.append(math.log(means[FILES] / means[peer]))
            rows.append([name, *(f"{mean:.4g}" for mean in means.values()), f"{logs[-1]:+.3f}"])
        mean = f"Mean of log(auto / {peer}): {fmean(logs):+.3f}; at most +0.05: {verdict(fmean(logs) <= 0.05)}."
        tables.append(f"Test {kind}:\n\n{table(['set', *learners, 'log(auto / peer)'], rows, 'lr')}\n\n{mean}")
    return "\n\n".join(tables)


# --- classes ----------------------------------------------------------------------------------------

CLASSES: dict[str, tuple[int, tuple[int, ...]]] = {  # rows to train, and which labels, if not all: 1 is 0
    "mnist, 10,000 rows": (10_000, ()),
    "mnist, 1,000 rows": (1000, ()),
    "3, 5 and 8 of mnist, 2,500 rows": (2500, (4, 6, 9)),
}


def of_classes(train: list[str], test: list[str], n: int, only: tuple[int, ...], order: int, folder: Path) -> Parts:
    """The first rows of a drawn order."""
    kept = [[line for line in lines if not only or int(line.split()[0]) in only] for lines in (train, test)]
    rows = np.random.default_rng(7).permutation(len(kept[0]))[:n]
    return Parts(folder, reordered([kept[0][i] for i in rows], order), kept[1])


def ours_of_classes(*options: object) -> Learn:
    """The log loss and the error."""

    def learned(parts: Parts) -> np.ndarray:
        names, model = ",".join(f"{y:g}" for y in np.unique(parts.y)), parts.folder / "model"
        vwlite(parts.folder, "train", parts.folder / "train", "--classes", names, *options, "-m", model)
        found = vwlite(parts.folder, "predict", parts.folder / "test", "-m", model, "-p", parts.folder / "p")
        return np.array([found["log_loss"], found["average_loss"]])

    return learned


def multinomial(parts: Parts) -> np.ndarray:
    """The same of LogisticRegression."""
    (x, z), y = prepared(parts), parts.y

    def losses(c: float, rows: slice | np.ndarray, x_to: sp.csr_matrix, y_to: np.ndarray) -> np.ndarray:
        model = LogisticRegression(C=c, tol=1e-3, max_iter=300).fit(x[rows], y[rows])
        p = model.predict_proba(x_to)[np.arange(len(y_to)), np.searchsorted(model.classes_, y_to)]
        return np.array([-np.log(np.maximum(p, 1e-300)).mean(), (model.predict(x_to) != y_to).mean()])

    fold = np.arange(len(y)) % 3
    of_strength = {c: sum(losses(c, fold != j, x[fold == j], y[fold == j])[0] for j in range(3)) for c in STRENGTHS}
    return losses(min(of_strength, key=of_strength.__getitem__), slice(None), z, parts.labels)


def classes(source: Path, quick: bool) -> str:
    learners = {
        FILES: ours_of_classes(*AUTO), GD: ours_of_classes("--algorithm", "gd", "--loss", "logistic"),
        LOGISTIC: multinomial,
    }
    measures: dict[str, Measure] = {"log loss": lambda found, _: found[0], "error, %": lambda found, _: 100 * found[1]}
    if quick:
        train, test = (read(source / f"digits.{part}.libsvm") for part in ("train", "test"))
    else:
        train, test = (read(source / f"mnist.{part}.libsvm.gz") for part in ("train", "test"))
    sets: dict[str, StreamMeasures] = {}
    for name, (n, only) in {"digits": (300, ())}.items() if quick else CLASSES.items():
        load = partial(of_classes, train, test, n, only)
        sets[name] = measure(name, learners, measures, 1 if quick else ORDERS, load)
    tables = []
    for kind in measures:
        rows = []
        for name, found in sets.items():
            texts = [f"{fmean(of[kind]):.{2 if '%' in kind else 4}f}" for of in found.values()]
            rows.append([name, *best_in_bold(texts, min(texts, key=float))])
        tables.append(f"Test {kind}:\n\n{table(['set', *learners], rows, 'lr')}")
    return "\n\n".join(tables)


def main() -> None:
    parser = options_of(__doc__, quick="small data: does it work?", data=True, results="put the tables into this file")
    names = ("binary", "numbers", "classes", "stress", "tables", "texts")
    parser.add_argument("--only", choices=names, action="append", help="this part; may be repeated")
    parser.add_argument("--picture", type=Path, default=HERE / "auto.png", help="(default: beside this file)")
    of_tables = "that of tables and texts (default: beside this file)"
    parser.add_argument("--tables-picture", type=Path, default=HERE / "auto-tables.png", help=of_tables)
    typed = parser.parse_args()
    source, sets = (ROOT / "data", ["breast_cancer"]) if typed.quick else (typed.data, list(SETS))
    beside_peers = partial(tables_and_texts, typed.data, typed.quick, typed.tables_picture)
    parts: dict[str, Callable[[], str]] = {
        "binary": lambda: binary(source, sets, 2 if typed.quick else ORDERS, typed.picture),
        "numbers": lambda: numbers(source, typed.quick),
        "classes": lambda: classes(source, typed.quick),
        "stress": lambda: stress(typed.quick),
        "tables": lambda: beside_peers("tables"),
        "texts": lambda: beside_peers("texts"),
    }
    for name, part in parts.items():
        if not typed.only or name in typed.only:
            peers = PEER_PACKAGES if name in ("tables", "texts") else ()
            note = made("vwlite", "numpy", "scipy", "scikit-learn", *peers)
            show(f"{part()}\n\n{note}", typed.results, f"auto {name}")


if __name__ == "__main__":
    main()
