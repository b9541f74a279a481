"""Tables and texts: the default and its stages, beside what else a user of such data would take.

    make auto ONLY="tables texts" SETS=FOLDER      writes tables and the picture of AUTO.md; sets are in FOLDER/tables

Losses are of the test part of a set: log loss, or the root of the mean squared error. `vwlite` learns the CSV file with
`--label target`, `--text text` of texts and `--oaa K --classes auto` of several classes, and nothing else.

Peers have one thread each. LightGBM, tuned: rate .05; early stopping after 100 trees, on each fifth row of a class, of
trees with 7, 15 and 31 leaves of .8 of rows and columns, and with 31 and 63 of half of the columns; the best of these
is refitted to all rows. Of fewer than 3,000 rows each fifth is held out in turn. Words are categories. EBM has four
bags, and learns no table of several classes. TF-IDF (words) with LogisticRegression: C of .3 to 100 by the log loss of
three folds. fastText: words and pairs of words, rate .5. What they reached is kept in auto_tables.json, and they do not
learn again; remove the file for that.

The settings of LightGBM, tuned, and of fastText were fixed after looking at test losses (of magic and california; of
the two texts), those of vwlite were not: this favours the peers.
"""

import csv
import gzip
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from compare import vwlite
from harness import (
    HERE,
    best_in_bold,
    in_order,
    installed,
    pyplot,
    read_lines,
    read_results,
    save_picture,
    say,
    table,
    verdict,
    work_folder,
    write_records,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from vwlite.program import command_of

RESULTS = HERE / "auto_tables.json"
NONE = "none"  # the stage without derived features, to which the others are compared
STAGES = (NONE, "curves", "pairs", "auto")  # of --derive
CONSTANT, TREES, TUNED_TREES, EBM = "constant", "LightGBM", "LightGBM, tuned", "EBM"
TFIDF, FASTTEXT = "TF-IDF, LogisticRegression, tuned", "fastText"
APART = ("nursery",)  # losses of about 0: left out of means and of the picture
SMALLEST = 1e-15  # probability
SMALL = 3000  # rows to train: of fewer each fifth is held out in turn, as the best of one is drawn by chance

# Stage "auto": a mean of log(loss / that of the peer) that is at most this.
GOALS = {TREES: -0.055, TUNED_TREES: 0.015, TFIDF: -0.20}


# --- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A set: the files of its two parts, and what its columns are."""

    name: str
    task: str  # bin, reg, or mc: several classes
    kinds: dict[str, str]  # of the columns: num, cat, text
    train: Path
    test: Path

    @cached_property
    def parts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Words as categories, those of the training part; columns are named by position, as LightGBM refuses signs."""
        found = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in (self.train, self.test)]
        for column, kind in self.kinds.items():
            if kind == "num":
                for part in found:
                    part[column] = pd.to_numeric(part[column])
            elif kind == "cat":
                known = pd.CategoricalDtype(sorted({*found[0][column]} - {""}))
                for part in found:
                    part[column] = part[column].astype(known)
        return found[0], found[1]

    @cached_property
    def x(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        train, test = (
            part[[*self.kinds]].set_axis([f"c{i}" for i in range(len(self.kinds))], axis=1) for part in self.parts
        )
        return train, test

    @cached_property
    def names(self) -> list[str]:
        """Of the classes."""
        return sorted(set(self.parts[0]["target"]))

    @cached_property
    def y(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers, or the positions of classes."""
        if self.task == "reg":
            train, test = (part["target"].astype(float).to_numpy() for part in self.parts)
        else:
            place = {name: i for i, name in enumerate(self.names)}
            train, test = (part["target"].map(place).to_numpy() for part in self.parts)
        return train, test

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        return list(self.parts[0]["text"]), list(self.parts[1]["text"])


def sets_of(source: Path, texts: bool, folder: Path) -> Iterator[Data]:
    """The tables, or the texts, of a folder with its tables.json; their files are unpacked into `folder`."""
    try:
        described = json.loads((source / "tables.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"auto_tables.py: no tables.json in {source}: --data names the folder above it") from None
    for name, found in described.items():
        if ("text" in found["kinds"].values()) == texts:
            paths = [folder / f"{name}.{part}.csv" for part in ("train", "test")]
            for path in paths:
                path.write_text("".join(read_lines(source / f"{path.name}.gz")), encoding="utf-8")
            yield Data(name, found["task"], found["kinds"], *paths)


# --- losses ---------------------------------------------------------------------------------------


@dataclass
class Predicted:
    """The predictions of the test part: a number for each row, or log probabilities [rows, classes]."""

    task: str
    y: np.ndarray
    of: np.ndarray

    @cached_property
    def losses(self) -> np.ndarray:
        """Of each row."""
        return (self.of - self.y) ** 2 if self.task == "reg" else -self.of[np.arange(len(self.y)), self.y]

    @property
    def loss(self) -> float:
        mean = float(self.losses.mean())
        return math.sqrt(mean) if self.task == "reg" else mean

    def figures(self) -> dict[str, float]:
        wrong = {} if self.task == "reg" else {"error": float((self.of.argmax(axis=1) != self.y).mean())}
        return {"loss": self.loss, **wrong}

    def log_ratio(self, to: "Predicted") -> tuple[float, float]:
        """log(loss / loss of `to`), and its standard error, by the rows of the test part."""
        means, power = (self.losses.mean(), to.losses.mean()), 0.5 if self.task == "reg" else 1.0
        apart = self.losses / max(means[0], SMALLEST) - to.losses / max(means[1], SMALLEST)
        error = power * float(apart.std(ddof=1)) / math.sqrt(len(apart))
        return math.log(max(self.loss, SMALLEST) / max(to.loss, SMALLEST)), error


def log_probabilities(p: np.ndarray) -> np.ndarray:
    """Of probabilities of the classes, or of the second of two."""
    p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    return np.log(np.clip(p, SMALLEST, 1))


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


# --- vwlite ---------------------------------------------------------------------------------------


def stages() -> tuple[str, ...]:
    """Those that the installed program has."""
    return STAGES if any(option.name == "derive" for option in command_of("train").params) else (NONE,)


def ours(data: Data, stage: str, folder: Path) -> tuple[Predicted, dict[str, float]]:
    """Its predictions; the CPU seconds of training and the number of weights."""
    typed: list[object] = ["--label", "target"]
    if "text" in data.kinds.values():
        typed += ["--text", "text"]
    if data.task == "mc":
        typed += ["--oaa", len(data.names), "--classes", "auto"]
    if len(stages()) > 1:
        typed += ["--derive", stage]
    model, raw, predictions = (folder / name for name in ("model", "raw", "predictions"))
    learned = vwlite(folder, "train", data.train, *typed, "-m", model)
    vwlite(folder, "predict", data.test, "-m", model, "-r", raw, "-p", predictions)
    if data.task == "reg":
        of = np.loadtxt(predictions, ndmin=1)
    elif data.task == "bin":
        score = np.loadtxt(raw, ndmin=1)
        of = -np.logaddexp(0, np.column_stack([score, -score]))
    else:
        of = log_softmax(scores_of_classes(raw, data.names))
    used = {"seconds": learned["seconds"], "weights": learned["nonzero_weights"]}
    return Predicted(data.task, data.y[1], of), used


def scores_of_classes(raw: Path, names: list[str]) -> np.ndarray:
    """Of lines such as `c1:-3.5 c0:1.2`."""
    rows = (dict(word.rsplit(":", 1) for word in line.split()) for line in raw.read_text().splitlines())
    return np.array([[float(row[name]) for name in names] for row in rows])


# --- peers: each gives predictions of the test part -----------------------------------------------


def constant(data: Data) -> np.ndarray:
    y, n = data.y[0], len(data.y[1])
    if data.task == "reg":
        return np.full(n, y.mean())
    return log_probabilities(np.tile(np.bincount(y) / len(y), (n, 1)))


def trees(data: Data, **settings: object) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMRegressor if data.task == "reg" else LGBMClassifier
    return model(n_jobs=1, random_state=1, verbose=-1, **settings)


def predicted(model: Any, data: Data) -> np.ndarray:
    z = data.x[1]
    return model.predict(z) if data.task == "reg" else log_probabilities(model.predict_proba(z))


def trees_by_default(data: Data) -> np.ndarray:
    return predicted(trees(data).fit(data.x[0], data.y[0]), data)


def fifths(y: np.ndarray, classes: bool) -> np.ndarray:
    """The fifth of each row, in a drawn order; those of a class are dealt to them in turn."""
    order, found = np.random.default_rng(1).permutation(len(y)), np.empty(len(y), int)
    for kind in np.unique(y) if classes else (None,):
        rows = order if kind is None else order[y[order] == kind]
        found[rows] = np.arange(len(rows)) % 5
    return found


SAMPLED: dict[str, Any] = {"subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8}
HALF: dict[str, Any] = {"colsample_bytree": 0.5}
TRIED = ((7, SAMPLED), (15, SAMPLED), (31, SAMPLED), (31, HALF), (63, HALF))  # leaves, and how trees are drawn


def trees_tuned(data: Data) -> np.ndarray:
    from lightgbm import early_stopping

    (x, _), (y, _) = data.x, data.y
    fifth, tried = fifths(y, data.task != "reg"), []
    for leaves, sampled in TRIED:
        settings, losses, counts = {"learning_rate": 0.05, "num_leaves": leaves, **sampled}, [], []
        for held in (fifth == i for i in (range(5) if len(y) < SMALL else (4,))):
            model, stop = trees(data, n_estimators=5000, **settings), early_stopping(100, verbose=False)
            model.fit(x[~held], y[~held], eval_set=[(x[held], y[held])], callbacks=[stop])
            ((loss, *_),) = (found.values() for found in model.best_score_.values())
            losses.append(loss)
            counts.append(model.best_iteration_)
        tried.append((fmean(losses), {**settings, "n_estimators": round(fmean(counts))}))
    best = min(tried, key=lambda found: found[0])[1]
    return predicted(trees(data, **best).fit(x, y), data)


def boosted_curves(data: Data) -> np.ndarray:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    model = ExplainableBoostingRegressor if data.task == "reg" else ExplainableBoostingClassifier
    types = ["continuous" if kind == "num" else "nominal" for kind in data.kinds.values()]
    model = model(feature_types=types, outer_bags=4, n_jobs=1, random_state=1)
    return predicted(model.fit(data.x[0], data.y[0]), data)


def tfidf(data: Data) -> np.ndarray:
    (train, test), y, losses = data.texts, data.y[0], {}
    fold = np.random.default_rng(1).permutation(len(y)) % 3
    solver = "liblinear" if data.task == "bin" else "lbfgs"

    def fitted(c: float, rows: np.ndarray, to: list[str]) -> np.ndarray:
        words = TfidfVectorizer()
        x = words.fit_transform([train[i] for i in np.flatnonzero(rows)])
        model = LogisticRegression(C=c, solver=solver, max_iter=1000).fit(x, y[rows])
        return log_probabilities(model.predict_proba(words.transform(to)))

    for c in (0.3, 1, 3, 10, 30, 100):
        of = np.empty((len(y), len(data.names)))
        for j in range(3):
            of[fold == j] = fitted(c, fold != j, [train[i] for i in np.flatnonzero(fold == j)])
        losses[c] = Predicted(data.task, y, of).loss
    return fitted(min(losses, key=losses.__getitem__), np.full(len(y), True), test)


def fast_text(data: Data) -> np.ndarray:
    import fasttext

    (train, test), y = data.texts, data.y[0]
    with work_folder() as folder:
        path = Path(folder) / "train"
        lines = (f"__label__{kind} {' '.join(text.lower().split())}\n" for kind, text in zip(y, train, strict=True))
        path.write_text("".join(lines), encoding="utf-8")
        model = fasttext.train_supervised(str(path), lr=0.5, wordNgrams=2, thread=1, verbose=0)
    rows = []
    for text in test:
        found = model.f.predict(f"{' '.join(text.lower().split())}\n", len(data.names), 0.0, "strict")
        by_label = {label: p for p, label in found}  # predict() itself needs NumPy 1
        rows.append([by_label.get(f"__label__{i}", 0) for i in range(len(data.names))])
    return log_probabilities(np.array(rows))


@dataclass(frozen=True)
class Peer:
    learn: Callable[[Data], np.ndarray]
    package: str = "sklearn"
    classes: bool = True  # whether it learns several


PEERS: dict[bool, dict[str, Peer]] = {  # of tables; of texts
    False: {
        CONSTANT: Peer(constant), TREES: Peer(trees_by_default, "lightgbm"),
        TUNED_TREES: Peer(trees_tuned, "lightgbm"), EBM: Peer(boosted_curves, "interpret", classes=False),
    },
    True: {CONSTANT: Peer(constant), TFIDF: Peer(tfidf), FASTTEXT: Peer(fast_text, "fasttext")},
}
PEER_PACKAGES = ("lightgbm", "interpret-core", "fasttext-wheel")

# --- figures --------------------------------------------------------------------------------------

Figures = dict[str, dict[str, float]]  # of a set: learner -> what it reached


def measured(data: Data, texts: bool, kept: Figures, folder: Path) -> Figures:
    """Of the stages, and of peers where they are not kept."""
    found, first = dict[str, dict[str, float]](), None
    for stage in stages():
        of, used = ours(data, stage, folder)
        first = first or of
        ratio, error = of.log_ratio(first)
        found[stage] = {**of.figures(), **used, "ratio": ratio, "standard error": error}
    for name, peer in PEERS[texts].items():
        if name in kept:
            found[name] = kept[name]
        elif installed(peer.package) and (peer.classes or data.task != "mc"):
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                found[name] = Predicted(data.task, data.y[1], peer.learn(data)).figures()
            say(f"{data.name}, {name}: {found[name]['loss']:.4f}")
    say(f"{data.name}: { ({name: round(of['loss'], 4) for name, of in found.items()}) }")
    return found


def learners(sets: dict[str, Figures], texts: bool) -> list[str]:
    """Those with figures of any set, in the order of columns."""
    return [name for name in (*STAGES, *PEERS[texts]) if any(name in found for found in sets.values())]


def log_ratios(sets: dict[str, Figures], learner: str, peer: str) -> dict[str, float]:
    return {
        name: math.log(found[learner]["loss"] / found[peer]["loss"])
        for name, found in sets.items()
        if name not in APART and learner in found and peer in found
    }


def means_of(sets: dict[str, Figures], texts: bool) -> str:
    """The mean over the sets of log(loss / that of a peer)."""
    rows = []
    for peer in learners(sets, texts):
        if peer in PEERS[texts] and peer != CONSTANT:
            cells = []
            for stage in STAGES:
                each = [*log_ratios(sets, stage, peer).values()]
                cells.append(f"{fmean(each):+.3f}" if each else "")
            last, goal = log_ratios(sets, STAGES[-1], peer), GOALS.get(peer)
            goals = ["", ""] if goal is None else [f"{goal:+.3f}", ""]
            if last and goal is not None:
                goals[1] = verdict(fmean(last.values()) <= goal)
            rows.append([peer, str(len(log_ratios(sets, NONE, peer))), *cells, *goals])
    titles = ["mean of log(loss / loss of)", "sets", *(f"`{stage}`" for stage in STAGES), "at most", "reached"]
    return table(titles, rows, "lr" + "r" * len(STAGES) + "rl")


def losses_of(sets: dict[str, Figures], texts: bool, kind: str) -> str:
    names, rows = learners(sets, texts), []
    for name, found in sets.items():
        if all(kind not in of for of in found.values()):
            continue
        times, digits = (100, 2) if kind == "error" else (1, 4)
        texts_of = [f"{times * found[x][kind]:.{digits}f}" if x in found else "" for x in names]
        least = min(filter(None, texts_of), key=float)
        unit = "" if "error" in found[NONE] else ", RMSE"
        rows.append([name + unit, *best_in_bold(texts_of, least)])
    titles = [f"`{name}`" if name in STAGES else name for name in names]
    return table(["set", *titles], rows, "lr")


def stages_of(sets: dict[str, Figures]) -> str:
    """Each stage beside the one without derived features: losses, time, weights."""
    rows, worse = [], []
    for name, found in sets.items():
        first = found[NONE]
        for stage in STAGES[1:]:
            if stage in found:
                of = found[stage]
                ratio, error = of["ratio"], of["standard error"]
                times = of["seconds"] / first["seconds"]
                cells = [f"{ratio:+.4f}", f"{error:.4f}", f"{of['seconds']:.1f}", f"{times:.1f}", f"{of['weights']:,}"]
                rows.append([name, f"`{stage}`", *cells])
                worse += [name] if stage == STAGES[-1] and ratio > error else []
        if len(found.keys() & set(STAGES)) == 1:
            rows.append([name, f"`{NONE}`", "", "", f"{first['seconds']:.1f}", "", f"{first['weights']:,}"])
    titles = ["set", "stage", f"log(loss / `{NONE}`)", "standard error", "CPU s", f"over `{NONE}`", "weights"]
    text = table(titles, rows, "llr")
    each = [f[STAGES[-1]]["seconds"] / f[NONE]["seconds"] for f in sets.values() if STAGES[-1] in f]
    if each:
        mean = math.exp(fmean(map(math.log, each)))
        text += f"\n\nTime of `{STAGES[-1]}` over `{NONE}`, geometric mean: {mean:.1f}; largest: {max(each):.1f}. "
        text += f"Worse than `{NONE}` by more than a standard error: {', '.join(worse) or 'none'}."
    return text


# --- the picture ----------------------------------------------------------------------------------

PEER_STYLES = {TREES: ("#2ca02c", "s"), EBM: ("#9467bd", "^"), FASTTEXT: ("#1f77b4", "v")}
REFERENCES = {False: TUNED_TREES, True: TFIDF}


def draw(results: dict[str, dict[str, Figures]], path: Path) -> None:
    """A dumbbell for each set, from `none` to the last stage, over the loss of the tuned peer."""
    rows = [
        (name, REFERENCES[part == "texts"], found)
        for part, sets in results.items()
        for name, found in sets.items()
        if REFERENCES[part == "texts"] in found and name not in APART
    ]
    plt = pyplot() if rows else None
    if plt is None:
        return
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.33 * len(rows)), layout="constrained")
    drawn = set[str]()

    def dot(place: int, ratio: float, label: str, **style: object) -> None:
        axes.plot(ratio, place, label=None if label in drawn else label, linestyle="", **style)
        drawn.add(label)

    for place, (_, reference, found) in enumerate(rows):
        ratio = {name: of["loss"] / found[reference]["loss"] for name, of in found.items()}
        last = next(stage for stage in reversed(STAGES) if stage in ratio)
        axes.plot([ratio[NONE], ratio[last]], [place, place], color="#ff9896", linewidth=3, zorder=2)
        dot(place, ratio[NONE], f"vwlite, {NONE}", marker="o", color="#ff9896", zorder=4)
        for stage, marker in zip(STAGES[1:-1], "|x", strict=True):
            if stage in ratio:
                dot(place, ratio[stage], f"vwlite, {stage}", marker=marker, color="#d62728", zorder=4)
        if last != NONE:
            dot(place, ratio[last], f"vwlite, {last}", marker="o", color="#d62728", zorder=5)
        for peer, (colour, marker) in PEER_STYLES.items():
            if peer in ratio:
                dot(place, ratio[peer], peer, marker=marker, color=colour, zorder=3)
    axes.axvline(1, color="0.3", linewidth=1, zorder=1)
    axes.set_xscale("log")
    ticks = [0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50]
    low, high = axes.get_xlim()
    ticks = [x for x in ticks if low <= x <= high]
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.invert_yaxis()
    axes.grid(True, alpha=0.3)
    axes.set_xlabel("test loss over that of LightGBM, tuned (texts: of TF-IDF with LogisticRegression, tuned)")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save_picture(figure, path, 100)


# --- parts ----------------------------------------------------------------------------------------


def small_sets(folder: Path) -> Path:
    """Drawn sets for a quick run, in the form of the others."""
    rng, described = np.random.default_rng(3), dict[str, Any]()
    x = rng.normal(size=(400, 2))
    colours = np.where(rng.random(400) < 0.5, "red", "blue")
    bent = np.abs(x[:, 0]) + np.where(colours == "red", 1, -1) * x[:, 1] + 0.3 * rng.normal(size=400)
    words = [" ".join(rng.choice(["good", "bad", "film", "plot", "so"], 6)) for _ in range(400)]
    kinds = {"a": "num", "b": "num", "colour": "cat"}
    rows = [[f"{a:.4f}", f"{b:.4f}", c] for (a, b), c in zip(x, colours, strict=True)]
    labels: dict[str, tuple[str, list[str]]] = {
        "two": ("bin", [str(int(score > 0.8)) for score in bent]), "sizes": ("reg", [f"{score:.4f}" for score in bent]),
        "three": ("mc", [f"c{int(score > 0) + int(score > 1.5)}" for score in bent]),
    }
    for name, (task, of) in labels.items():
        described[name] = {"task": task, "kinds": kinds, "rows": [[y, *row] for y, row in zip(of, rows, strict=True)]}
    liked = [[str(int(text.count("good") + rng.integers(-1, 2) > text.count("bad"))), text] for text in words]
    described["opinions"] = {"task": "bin", "kinds": {"text": "text"}, "rows": liked}
    for name, found in described.items():
        for part, some in {"train": slice(300), "test": slice(300, None)}.items():
            with gzip.open(folder / f"{name}.{part}.csv.gz", "wt", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([["target", *found["kinds"]], *found["rows"][some]])
    (folder / "tables.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


def tables_and_texts(source: Path, quick: bool, picture: Path, name: str) -> str:
    """The part "tables" or "texts" of AUTO.md."""
    texts, results = name == "texts", read_results(RESULTS, {}, not quick)
    with work_folder() as folder:
        place = Path(folder)
        sets = [*sets_of(small_sets(place) if quick else source / "tables", texts, place)]
        kept = results.setdefault(name, {})
        for data in sets:
            kept[data.name] = measured(data, texts, kept.get(data.name, {}), place)
            if not quick:
                write_records(RESULTS, in_order(results, ("tables", "texts")), 1)
    draw(in_order(results, ("tables", "texts")), picture)
    found = results[name]
    parts = [means_of(found, texts), "Test losses:", losses_of(found, texts, "loss")]
    if texts:
        parts += ["Test error, %:", losses_of(found, texts, "error")]
    return "\n\n".join([*parts, stages_of(found)])
