"""The default on drawn tables of many kinds, as a share of what could be learned, beside other learners.

    make auto-kinds      writes tables of AUTO.md; ONLY=WORDS prints those of the kinds or groups that contain them

Kinds are those of kinds.py. `vwlite` learns a CSV file with `--label y`, `--loss` of counts and amounts, `--classes
auto` of classes and `--importance` of weights, and nothing else. Losses are expected ones of 8,000 fresh rows, from the
true means of their labels. The share is (loss - Bayes loss) / (loss of the constant - Bayes loss): 0 is the best
possible, and at 1 nothing was learned. The constant is the mean of the labels that were learned; the Bayes loss is that
of complete rows: where cells are missing, no learner reaches it. Means are over cells, each of which is a kind with a
number of rows, and a share above 2 counts as 2 in them. z is the loss that training reports minus the true one, divided
by the standard error of a mean over as many rows as the reported one has.

Linear: LogisticRegressionCV, RidgeCV, or PoissonRegressor, GammaRegressor and TweedieRegressor in a search by five
folds. Words are one-hot columns; numbers are standardized, and a missing one is the mean, with an indicator. LightGBM:
rate .05 and 15 leaves, early stopping on a fifth of the rows, then that number of trees for all rows. Losses of peers
are kept in auto_kinds.json, and peers do not learn the same data again, unless --peers says so.
"""

import csv
import json
import math
import warnings
import zlib
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from auto_tables import scores_of_classes
from compare import vwlite
from harness import HERE, installed, made, options_of, read_results, say, show, table, work_folder, write_records
from kinds import KINDS, Kind, Labels, Table, drawn
from scipy.special import expit, softmax
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import GammaRegressor, LogisticRegressionCV, PoissonRegressor, RidgeCV, TweedieRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from vwlite.training.auto.selection import LARGE

RESULTS = HERE / "auto_kinds.json"
FIRST_SEED = 900
DRAWS = {100: 4, 1000: 2, 20_000: 1}  # of each cell, from so many rows on
LARGEST_SHARE = 2.0  # in means, which a model that diverged would dominate
QUICK = ("missing later", "u shape", "price", "poisson counts", "three classes", "weights", "noise of five columns")
OURS, LINEAR, TREES = "vwlite", "linear", "LightGBM"
CONSTANT, BAYES = "constant", "Bayes"
WORSE = 0.02  # of a share: a difference that is named
HARM = 1.02  # of the loss of the constant: kinds with a loss above it are named
OPTIMISTIC = -3  # z: kinds below it are named
SMALLEST_ERROR = 1e-6  # of a reported loss


# --- vwlite -----------------------------------------------------------------------------------------


def texts(values: np.ndarray) -> list[str]:
    """The cells of a column."""
    if values.dtype.kind == "f":
        return ["" if math.isnan(value) else f"{value:.9g}" for value in values]
    return [str(value) for value in values]


def class_names(labels: Labels) -> list[str]:
    return [f"class{k}" for k in range(labels.mean.shape[1])]


def write(path: Path, rows: Table) -> None:
    y = np.array(class_names(rows.labels))[rows.labels.y] if rows.labels.kind == "classes" else rows.labels.y
    columns = {**rows.columns, "y": y} | ({} if rows.weight is None else {"w": rows.weight})
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(texts, columns.values()), strict=True))


def options(rows: Table) -> list[str]:
    kind = rows.labels.kind
    typed = ["--loss", kind] if kind in ("poisson", "gamma", "tweedie") else []
    typed += ["--classes", "auto"] if kind == "classes" else []
    return [*typed, *(["--importance", "w"] if rows.weight is not None else [])]


def ours(learn: Table, fresh: Table, folder: Path) -> tuple[np.ndarray, dict[str, Any]]:
    """What is predicted for fresh rows; the report of training."""
    train, test, model, raw, predictions = (folder / name for name in ("train.csv", "test.csv", "model", "raw", "p"))
    report = vwlite(folder, "train", train, "--label", "y", *options(learn), "-m", model)
    report |= squared_error(json.loads((folder / "report.json").read_text()))
    vwlite(folder, "predict", test, "-m", model, "-r", raw, "-p", predictions)
    if learn.labels.kind == "binary":
        return expit(np.loadtxt(raw, ndmin=1)), report
    if learn.labels.kind == "classes":
        return softmax(scores_of_classes(raw, class_names(learn.labels)), axis=1), report
    return np.loadtxt(predictions, ndmin=1), report


def squared_error(report: dict[str, Any]) -> dict[str, float]:
    """That of a loss which was chosen for amounts, in place of the squared loss: the average loss is of that loss."""
    found = report.get("chosen", {}).get("losses_with_features_of_model", {})
    for of in found.values():
        if "difference" in of and of["difference"] < -of["standard_error"]:
            return {"squared_error": of["mse"]}
    return {}


def reported_loss(report: dict[str, Any], kind: str) -> float:
    """Of rows that were not learned; without folds the progressive one."""
    if "squared_error" in report:
        return report["squared_error"]
    name = "log_loss" if kind == "classes" else "average_loss"
    return next(report[way + name] for way in ("out_of_fold_", "holdout_", "") if way + name in report)


def standard_error(labels: Labels, predicted: np.ndarray, weight: np.ndarray | None, rows: int) -> float:
    """Of a mean loss over `rows` rows."""
    weight = np.ones(len(predicted)) if weight is None else weight
    losses = labels.losses(predicted)
    deviations = weight / weight.mean() * (losses - np.average(losses, weights=weight))
    return max(float(deviations.std()) / math.sqrt(rows), SMALLEST_ERROR)


# --- the constant and the peers: each gives predictions of fresh rows -------------------------------


def constant(learn: Table, fresh: Table) -> np.ndarray:
    of = learn.labels
    y = of.indicators if of.kind == "classes" else of.y
    mean = np.average(y, axis=0, weights=learn.weight)
    return np.broadcast_to(mean, fresh.labels.mean.shape)


def frames(learn: Table, fresh: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Words as categories, those of the rows to learn."""
    found = [pd.DataFrame(rows.columns) for rows in (learn, fresh)]
    for name, values in learn.columns.items():
        if values.dtype == object:
            known = pd.CategoricalDtype(sorted(set(values)))
            for frame in found:
                frame[name] = frame[name].astype(known)
    return found[0], found[1]


def linear_model(kind: str) -> Any:
    if kind in ("binary", "classes"):
        return LogisticRegressionCV(Cs=np.logspace(-3, 4, 8), cv=5, scoring="neg_log_loss", max_iter=200)
    if kind == "numbers":
        return RidgeCV(np.logspace(-4, 4, 17))
    models = {
        "poisson": PoissonRegressor(max_iter=300), "gamma": GammaRegressor(max_iter=300),
        "tweedie": TweedieRegressor(power=1.5, link="log", max_iter=300),
    }
    return GridSearchCV(models[kind], {"alpha": [1e-4, 1e-3, 0.01, 0.1, 1, 10]}, cv=5)


def linear(learn: Table, fresh: Table) -> np.ndarray:
    x, z = frames(learn, fresh)
    categories = [name for name in x if x[name].dtype == "category"]
    numbers = [name for name in x if name not in categories]
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
    )
    model, kind = linear_model(learn.labels.kind), learn.labels.kind
    weighted = {} if learn.weight is None else {"sample_weight": learn.weight}
    model.fit(prepare.fit_transform(x), learn.labels.y, **weighted)
    if kind in ("binary", "classes"):
        p = model.predict_proba(prepare.transform(z))
        return p[:, 1] if kind == "binary" else p
    return model.predict(prepare.transform(z))


def boosted_trees(learn: Table, fresh: Table) -> np.ndarray:
    import lightgbm

    (x, z), of, weight = frames(learn, fresh), learn.labels, learn.weight
    objective = {"classes": "multiclass", "numbers": "regression"}.get(of.kind, of.kind)
    settings = {"objective": objective, "learning_rate": 0.05, "num_leaves": 15, "num_threads": 1, "verbose": -1}
    settings |= {"num_class": of.mean.shape[1]} if of.kind == "classes" else {}
    order = np.random.default_rng(1).permutation(len(of.y))

    def some(rows: np.ndarray) -> Any:
        of_rows = None if weight is None else weight[rows]
        return lightgbm.Dataset(x.iloc[rows], of.y[rows], weight=of_rows, params={"verbose": -1})

    stop = lightgbm.early_stopping(30, verbose=False)
    held, others = some(order[: len(order) // 5]), some(order[len(order) // 5 :])
    first = lightgbm.train(settings, others, 400, valid_sets=[held], callbacks=[stop])
    return lightgbm.train(settings, some(np.sort(order)), max(first.best_iteration, 1)).predict(z)


Learn = Callable[[Table, Table], np.ndarray]
PEERS: dict[str, tuple[Learn, str]] = {LINEAR: (linear, "sklearn"), TREES: (boosted_trees, "lightgbm")}  # and packages

# --- cells ------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    kind: str
    rows: int
    seed: int


Record = dict[str, Any]  # of a cell: the losses of learners, and more
Records = dict[Cell, Record]


def cells_of(kinds: Iterable[Kind], quick: bool) -> list[Cell]:
    if quick:
        return [Cell(kind.name, min(kind.rows), FIRST_SEED) for kind in kinds if kind.name in QUICK]
    return [Cell(kind.name, rows, FIRST_SEED + i) for kind in kinds for rows in kind.rows for i in range(draws(rows))]


def draws(rows: int) -> int:
    return next(DRAWS[n] for n in sorted(DRAWS, reverse=True) if n <= rows)


def measured(cell: Cell, kept: Record) -> Record:
    """kept: what is known of the cell; the losses of peers are those if the data are the same."""
    learn, fresh = drawn(*cell)
    labels = fresh.labels

    def expected(predicted: np.ndarray) -> float:
        return float(labels.expected(predicted).mean())

    with work_folder() as place:
        folder = Path(place)
        files = {folder / "train.csv": learn, folder / "test.csv": fresh}
        for path, rows in files.items():
            write(path, rows)
        data = zlib.crc32(b"".join(path.read_bytes() for path in files))
        predicted, report = ours(learn, fresh, folder)
    held_out = cell.rows // 10 if cell.rows >= LARGE else cell.rows
    error = standard_error(labels, predicted, fresh.weight, held_out)
    loss, reported = expected(predicted), reported_loss(report, labels.kind)
    found = {
        "data": data, "labels": labels.kind, "seconds": report["seconds"], "z": (reported - loss) / error,
        BAYES: expected(labels.mean), CONSTANT: expected(constant(learn, fresh)), OURS: loss,
    }
    for name, (peer, package) in PEERS.items():
        if name in kept and kept["data"] == data:
            found[name] = kept[name]
        elif installed(package):
            with warnings.catch_warnings(), np.errstate(all="ignore"), threadpool_limits(1):
                warnings.simplefilter("ignore")
                found[name] = expected(peer(learn, fresh))
    return found


def records_of(results: dict[str, Any]) -> Records:
    """Of a file of results."""
    return {
        Cell(kind, int(rows), int(seed)): record
        for kind, of_rows in results.items()
        for rows, of_seeds in of_rows.items()
        for seed, record in of_seeds.items()
    }


def results_of(records: Records) -> dict[str, Any]:
    """The opposite."""
    found: dict[str, Any] = {}
    for cell, record in records.items():
        found.setdefault(cell.kind, {}).setdefault(str(cell.rows), {})[str(cell.seed)] = record
    return found


def measure(cells: list[Cell], kept: Records, typed: Namespace, to: Path | None) -> Records:
    """The largest cells first, as they take the longest."""
    records = {cell: kept[cell] for cell in cells if cell in kept}
    largest = sorted(cells, key=lambda cell: -cell.rows)
    with ProcessPoolExecutor(typed.jobs) as pool:
        known = [{} if typed.peers else kept.get(cell, {}) for cell in largest]
        for cell, record in zip(largest, pool.map(measured, largest, known), strict=True):
            records[cell] = record
            say(f"{cell.kind}, {cell.rows:,} rows, {cell.seed}: {shares({cell: record})}")
            if to:
                write_records(to, results_of({cell: records[cell] for cell in cells if cell in records}), 1)
    return {cell: records[cell] for cell in cells}


# --- tables -----------------------------------------------------------------------------------------


def share(records: Records, learner: str) -> float | None:
    """The mean over cells of (loss - Bayes loss) / (loss of the constant - Bayes loss)."""
    cells: dict[tuple[str, int], list[Record]] = {}
    for cell, record in records.items():
        if learner in record and KINDS[cell.kind].signal:
            cells.setdefault((cell.kind, cell.rows), []).append(record)

    def of(some: list[Record]) -> float:
        """The sum over draws divided by that of the constant."""
        excess, most = (sum(record[name] - record[BAYES] for record in some) for name in (learner, CONSTANT))
        return min(excess / most, LARGEST_SHARE)

    return fmean(map(of, cells.values())) if cells else None


def shares(records: Records) -> list[str]:
    found = (share(records, learner) for learner in (OURS, *PEERS))
    return ["" if x is None else f"{x:.3f}" for x in found]


def which(records: Records, condition: Callable[[Cell], object]) -> Records:
    return {cell: record for cell, record in records.items() if condition(cell)}


def with_signal(records: Records) -> Records:
    return which(records, lambda cell: KINDS[cell.kind].signal)


def kinds_table(records: Records) -> str:
    """A row for each group, and one for each kind in it."""
    rows, some = [], with_signal(records)
    for group in dict.fromkeys(KINDS[cell.kind].group for cell in some):
        of_group = which(some, lambda cell, group=group: KINDS[cell.kind].group == group)
        rows.append([f"**{group}**", "", *shares(of_group)])
        for name in dict.fromkeys(cell.kind for cell in of_group):
            of_kind = which(of_group, lambda cell, name=name: cell.kind == name)
            sizes = ", ".join(f"{n:,}" for n in dict.fromkeys(cell.rows for cell in of_kind))
            rows.append([name, sizes, *shares(of_kind)])
    return table(["kind", "rows", OURS, *PEERS], rows, "llr")


def means_table(records: Records) -> str:
    """All, by rows and by labels."""
    some = with_signal(records)
    parts = {"all": some}
    parts |= {f"{n:,} rows": which(some, lambda cell, n=n: cell.rows == n) for n in sorted({c.rows for c in some})}
    for label in dict.fromkeys(of["labels"] for of in some.values()):
        parts[f"labels: {label}"] = which(some, lambda cell, label=label: some[cell]["labels"] == label)
    rows = [[title, str(len({cell[:2] for cell in of})), *shares(of)] for title, of in parts.items()]
    return table(["", "cells", OURS, *PEERS], rows, "lr")


def named(cell: Cell) -> str:
    return f"{cell.kind}, {cell.rows:,} rows"


def counted(records: Records, condition: Callable[[Record], bool]) -> str:
    """The number of models, and that of each kind."""
    found = Counter(cell.kind for cell, record in records.items() if condition(record))
    kinds = ", ".join(f"{name} {count}" for name, count in found.items())
    return f"{found.total()} of {len(records)} models{f' ({kinds})' if found else ''}"


def notes(records: Records) -> str:
    """Harm, reported losses and time."""
    over = {cell: of[OURS] / of[CONSTANT] for cell, of in records.items()}
    noise = {cell: ratio for cell, ratio in over.items() if not KINDS[cell.kind].signal}
    seconds = {cell: of["seconds"] for cell, of in records.items()}
    found = []
    if noise:
        worst = max(noise, key=noise.__getitem__)
        found.append(f"Noise: the largest loss over that of the constant is {noise[worst]:.4f} ({named(worst)}).")
    harmful = counted(records, lambda of: of[OURS] > HARM * of[CONSTANT])
    low = counted(records, lambda of: of["z"] < OPTIMISTIC)
    slowest = max(seconds, key=seconds.__getitem__)
    longest = f"{seconds[slowest]:.1f} of one ({named(slowest)})"
    found += [
        f"Loss above {HARM} of that of the constant: {harmful}.", f"z below {OPTIMISTIC}: {low}.",
        f"Training took {sum(seconds.values()):.0f} s of processors, at most {longest}.",
    ]
    return " ".join(found)


def compared(before: Records, now: Records) -> str:
    """The cells of both: the ratio of mean shares, and kinds whose share differs."""
    old, new = (with_signal(which(records, lambda cell: cell in before and cell in now)) for records in (before, now))
    first, second = share(old, OURS), share(new, OURS)
    if first is None or second is None:
        return "No cells with a signal are in both."
    lines = [f"Mean share {second:.4f}, before {first:.4f}: ratio {second / first:.3f}."]
    each = {}
    for name in dict.fromkeys(cell.kind for cell in new):
        earlier, later = (share(which(of, lambda cell, name=name: cell.kind == name), OURS) for of in (old, new))
        each[name] = (later or 0) - (earlier or 0)
    for word, sign in (("worse", 1), ("better", -1)):
        some = sorted((name for name in each if sign * each[name] > WORSE), key=lambda name: -sign * each[name])
        lines.append(f"{word} by {WORSE}: {', '.join(f'{name} {each[name]:+.3f}' for name in some) or 'none'}")
    return "\n".join(lines)


def main() -> None:
    parser = options_of(__doc__, quick="few kinds, few rows: does it work?", results="put the tables into this file")
    parser.add_argument("--only", metavar="WORDS", help="kinds whose name or group has one of them; nothing is kept")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="cells at a time (default: 2)")
    parser.add_argument("--peers", action="store_true", help="peers learn again")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with earlier results (auto_kinds.json)")
    typed = parser.parse_args()
    before = json.loads(typed.against.read_text(encoding="utf-8")) if typed.against else None
    kinds = [
        kind for kind in KINDS.values()
        if not typed.only or any(word in f"{kind.group} {kind.name}" for word in typed.only.split())
    ]
    if not kinds:
        parser.error(f"no kind or group has any of these words: {typed.only}")
    kept = records_of(read_results(RESULTS, {}, not typed.quick))
    cells = cells_of(kinds, typed.quick)
    records = measure(cells, kept, typed, None if typed.quick or typed.only else RESULTS)
    about = made("vwlite", "numpy", "scikit-learn", "lightgbm")
    parts = kinds_table(records), means_table(records), notes(records), about
    show("\n\n".join(parts), typed.results, "auto kinds")
    if before is not None:
        print(f"\n{compared(records_of(before), records)}")


if __name__ == "__main__":
    main()
