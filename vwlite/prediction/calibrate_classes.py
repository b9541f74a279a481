"""`vwlite calibrate` for classes: maps of their scores, such that the softmax of the mapped scores is calibrated
(Guo, Pleiss, Sun, Weinberger 2017, On Calibration of Modern Neural Networks).

    temperature    a score_k             one a > 0 for all classes
    vector         a_k score_k + b_k     of each class

Both have the least log loss on the data. Which of the two is chosen by the log loss of five folds, each of the map of
the other four.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwlite.core.base.arrays import total
from vwlite.core.base.elementary import each
from vwlite.core.learn.scorer import Scorer
from vwlite.errors import DataError
from vwlite.input.parsing import EXAMPLE, Parsed
from vwlite.model.scaled import scaled
from vwlite.model.weights import intercept_key
from vwlite.runs.scoring import Scoring, TakeBad

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.runs.opened import Opened

Floats = NDArray[np.float64]
MOST_SCORES = 20_000_000  # that are kept; of more rows every second one, fourth one, and so on
FOLDS, FEW = 5, 20
BINS = 7  # that are printed
METHODS = ("temperature", "vector")


class ClassScores:
    """The scores of each class, as they are before any map, the label (0 is the first class) and importance of rows
    with a label."""

    def __init__(self, opened: "Opened", take_bad: TakeBad) -> None:
        self.learner = Scorer(opened.learner)
        self.scoring = Scoring(opened, self.learner, take_bad)
        self.every, self._rows = 1, 0
        self._parts: list[tuple[Floats, Floats, Floats]] = []

    def read(self, batches: Iterable[Parsed]) -> None:
        for parsed in batches:
            scored = np.asarray(parsed.batch.kind) == EXAMPLE
            n = int(scored.sum())
            scores = np.empty((n, self.learner.width))
            self.learner.into(scores, np.empty(n))
            self.learner.examples += n
            self.scoring.take(parsed)
            scored[self.scoring.infinite] = False
            label, weight = (np.asarray(x)[scored] for x in (parsed.batch.label, parsed.batch.importance))
            kept = (label >= 1) & (weight > 0)
            kept[kept] = (self._rows + np.arange(int(kept.sum()))) % self.every == 0
            self._rows += int(((label >= 1) & (weight > 0)).sum())
            self._parts.append((scores[: len(label)][kept], label[kept] - 1, weight[kept]))
            while sum(part[0].size for part in self._parts) > MOST_SCORES:
                self._parts = [tuple(np.concatenate(x)[::2] for x in zip(*self._parts, strict=True))]  # type: ignore
                self.every *= 2

    def rows(self) -> tuple[Floats, NDArray[np.int64], Floats]:
        """Scores [rows, classes that have a name], labels, importances. DataError if there is nothing to learn."""
        scores, label, weight = (np.concatenate(x) for x in zip(*self._parts, strict=True)) if self._parts else (
            np.empty((0, 1)), np.empty(0), np.empty(0))
        if not len(label):
            raise DataError(f"no example has a label for {self.scoring.path} and an importance above 0: nothing to "
                            "calibrate by")
        if label.min() == label.max():
            raise DataError("every label is the same class: calibration needs examples of several")
        return scores[:, : self.learner.named], label.astype(np.int64), weight


class ClassMap:
    """The scales and offsets of a method of least log loss, by rows. has_offsets: the model has an intercept."""

    def __init__(
        self, method: str, scores: Floats, label: NDArray[np.int64], weight: Floats, has_offsets: bool
    ) -> None:
        k = scores.shape[1]
        unit = 1 / max(float(np.abs(scores).max()), 1e-30)
        scores = scores * unit  # so that all parameters are of one size
        hits = np.zeros_like(scores)
        hits[np.arange(len(label)), label] = 1
        all_of = total(weight)

        def lines(at: Floats) -> tuple[Floats, Floats]:
            if method == "temperature":
                return np.full(k, at[0]), np.zeros(k)
            return at[:k], at[k:] if has_offsets else np.zeros(k)

        def loss(at: Floats) -> tuple[float, Floats]:
            scales, offsets = lines(at)
            mapped = scores * scales + offsets
            share = softmax(mapped)
            rest = (share - hits) * weight[:, None]
            by_scale = (rest * scores).sum(axis=0) / all_of
            found = total(weight * log_losses(mapped, label)) / all_of
            if method == "temperature":
                return found, np.array([by_scale.sum()])
            return found, np.concatenate([by_scale, rest.sum(axis=0) / all_of] if has_offsets else [by_scale])

        start = np.full(1 if method == "temperature" else k, 1 / unit)
        at = least(loss, np.append(start, np.zeros(k)) if method == "vector" and has_offsets else start)
        scales, self.offsets = lines(at)
        self.scales = scales * unit

    def __call__(self, scores: Floats) -> Floats:
        mapped: Floats = scores * self.scales + self.offsets
        return mapped


def chosen_map(
    method: str | None, scores: Floats, label: NDArray[np.int64], weight: Floats, has_offsets: bool
) -> tuple[str, ClassMap, dict[str, float]]:
    """The method, its map of all rows, and the log losses of the folds, by method."""
    fold, losses = np.arange(len(label)) % FOLDS, {}
    for each_method in METHODS if method is None else ():
        found = np.zeros(len(label))
        for f in range(FOLDS):
            rest, of = fold != f, fold == f
            made = ClassMap(each_method, scores[rest], label[rest], weight[rest], has_offsets)
            found[of] = log_losses(made(scores[of]), label[of])
        losses[each_method] = total(found * weight) / total(weight)
    name = method or min(METHODS, key=lambda m: losses[m])
    return name, ClassMap(name, scores, label, weight, has_offsets), losses


def calibrated(model: "Model", method: str | None, found: ClassScores) -> tuple["Model", dict[str, Any], list[str]]:
    """The calibrated model, the results and notes. method: None: the one with the least loss in folds."""
    scores, label, weight = found.rows()
    has_offsets = intercept_key(model.settings) is not None
    counts = np.bincount(label, minlength=scores.shape[1])
    if method is None and not counts.all():
        method = "temperature"  # vector: the probability of a class without rows would be 0
    name, line, losses = chosen_map(method, scores, label, weight, has_offsets)
    if not np.isfinite([*line.scales, *line.offsets]).all():
        raise DataError("the scores or importances are too large, or too small, to calibrate by")
    all_scales, all_offsets = np.ones(model.records), np.zeros(model.records)
    all_scales[: len(line.scales)], all_offsets[: len(line.offsets)] = line.scales, line.offsets
    facts = {"method": name, "scales": all_scales.tolist(), "offsets": all_offsets.tolist()}
    new = scaled(model, all_scales, all_offsets, facts)
    before = scores if model.settings.outputs.shares == "softmax" else -softplus(-scores)  # shares of sigmoids
    results = {"rows": len(label), "method": name, **({"log_loss_of_folds": losses} if losses else {}),
               "before": measured(before, label, weight), "after": measured(line(scores), label, weight)}
    notes = []
    if counts.min() < FEW:
        rare = int(counts.argmin())
        notes.append(f"class {model.class_names()[rare]} has {counts[rare]} rows: {FEW} or more of each class make a "
                     "reliable map")
    if line.scales.min() < -0.1 * line.scales.max():
        notes.append("scores of a class were turned round: are the labels of the data those of the model?")
    if found.every > 1:
        notes.append(f"of many rows, one in {found.every} was used")
    return new, results, notes


def measured(scores: Floats, label: NDArray[np.int64], weight: Floats) -> dict[str, Any]:
    """Measures of the softmax of scores, and in bins of the largest probability its mean and the accuracy."""
    share, all_of = softmax(scores), total(weight)
    hit = (scores.argmax(axis=1) == label).astype(float)
    own = share[np.arange(len(label)), label]
    brier = total(weight * ((share * share).sum(axis=1) - 2 * own + 1)) / all_of
    top = share.max(axis=1)
    order = np.argsort(top, kind="stable")
    w = weight[order]
    first = bins_of(w, BINS)
    sums = np.add.reduceat(w, first)
    return {
        "log_loss": total(weight * log_losses(scores, label)) / all_of, "brier": brier,
        "predicted": (np.add.reduceat(w * top[order], first) / sums).tolist(),
        "observed": (np.add.reduceat(w * hit[order], first) / sums).tolist(),
    }


def softmax(scores: Floats) -> Floats:
    found = function_of("exp", scores - scores.max(axis=1, keepdims=True))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def log_losses(scores: Floats, label: NDArray[np.int64]) -> Floats:
    """-log of the softmax at the label, of each row."""
    largest = scores.max(axis=1)
    sums = function_of("exp", scores - largest[:, None]).sum(axis=1)
    found: Floats = function_of("log", sums) + largest - scores[np.arange(len(label)), label]
    return found


def least(loss: Callable[[Floats], tuple[float, Floats]], at: Floats) -> Floats:
    """Where a smooth convex function, given with its gradient, is least: L-BFGS with halved steps (Nocedal, Wright
    2006, section 7.2)."""
    pairs: list[tuple[Floats, Floats, float]] = []
    value, slope = loss(at)
    for _ in range(500):
        way, parts = -slope, []
        for s, y, inner in reversed(pairs):
            parts.append(total(s * way) / inner)
            way = way - parts[-1] * y
        if pairs:
            s, y, inner = pairs[-1]
            way = way * (inner / total(y * y))
        else:
            way = way * (float(np.abs(at).max()) / max(float(np.abs(slope).max()), 1e-300))
        for (s, y, inner), part in zip(pairs, reversed(parts), strict=True):
            way = way + s * (part - total(y * way) / inner)
        fall, step = total(slope * way), 1.0
        new, new_slope = loss(at + way)
        while not new <= value + 1e-4 * step * fall and step > 1e-12:
            step /= 2
            new, new_slope = loss(at + step * way)
        if not new <= value or step <= 1e-12:
            break
        s, y = step * way, new_slope - slope
        inner = total(s * y)
        pairs = [*pairs[-9:], (s, y, inner)] if inner > 0 else pairs
        gain, at, value, slope = value - new, at + s, new, new_slope
        if gain <= 1e-13 * abs(value) and float(np.abs(slope).max()) * float(np.abs(at).max()) < 1e-9:
            break
    return at


def bins_of(weights: Floats, count: int) -> NDArray[np.int64]:
    """The beginnings of bins of equal importance."""
    return np.unique((np.cumsum(weights) - weights / 2) * count // total(weights), return_index=True)[1]


def softplus(z: Floats) -> Floats:
    """log(1 + exp(z))"""
    return np.maximum(z, 0) + function_of("log1p", function_of("exp", -np.abs(z)))


def function_of(name: str, x: Floats) -> Floats:
    """A function of each number, with the same bits everywhere."""
    out = np.empty(x.size)
    each(name, np.ascontiguousarray(x).reshape(-1), out)
    return out.reshape(x.shape)
