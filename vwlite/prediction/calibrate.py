"""A run that fits a map g from scores to calibrated scores, such that sigmoid(g(score)) is a calibrated probability.

    platt       g(s) = a s + b, of least log loss for the targets (P + 1) / (P + 2) and 1 / (N + 2), where P and N are
                the importances of both labels (Platt 1999; Lin, Lin, Weng 2007)
    isotonic    the monotone shares of least squares (pool adjacent violators), at least 1 / (n + 2) from 0 and 1, where
                n is the number of rows. g is the log odds of the share in a pool, and linear between pools.
"""

from collections.abc import Iterable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from vwlite import __version__
from vwlite.core.base.arrays import total
from vwlite.core.learn.scorer import Scorer
from vwlite.errors import DataError, UsageError
from vwlite.input.parsing import EXAMPLE, Parsed
from vwlite.model import write_model
from vwlite.model.header import MOST_POINTS
from vwlite.model.kept_rows import commit_with_rows
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.text import label_text, printable, probability, shown
from vwlite.prediction.calibrate_classes import BINS, ClassScores, bins_of, calibrated, function_of, softplus
from vwlite.prediction.commands import CalibrateOptions
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import Opened, opened
from vwlite.runs.run import say
from vwlite.runs.scoring import Reading, Scoring, TakeBad

MOST_ROWS = 1_000_000  # that are kept; more are in bins of scores
FEW = 100  # rows of the rarer label

Floats = NDArray[np.float64]


def calibrate(o: CalibrateOptions) -> int:
    """Run `vwlite calibrate`; the exit code."""
    applied = opened(o)
    settings, model = applied.settings, applied.model
    task, methods = settings.outputs.task, settings.outputs.calibrations
    if not methods:
        raise UsageError(f"{o.model} is a model of --loss {settings.loss or 'unknown'}: vwlite calibrate is for those "
                         "with probabilities, of --loss logistic or --softmax")
    if task == "classes" and model.calibration:
        raise UsageError(f"{o.model} was made by vwlite calibrate: use the model before that")
    if o.method is not None and o.method not in methods:
        raise UsageError(f"--method {o.method} is not for {task}: use {' or '.join(methods)}")
    with RunFrame("calibrate", o) as frame:
        file = frame.file(o.output)
        reading = Reading(frame)
        run = (ClassScores if task == "classes" else Calibrating)(applied, reading.take_bad)
        run.read(reading.batches(run.scoring.parse, run.learner))
        if frame.signal is not None:
            return frame.code()
        if isinstance(run, Calibrating):
            mark, (results, notes) = "~" * run.binned, _calibrate(applied, o.method or "platt", run)
        else:
            mark, (model, results, notes) = "", calibrated(model, o.method, run)
        notes = [*run.scoring.notes(({}, []))[1], *notes]
        model.program = f"vwlite {__version__}"
        old = applied.model.digest
        digest = write_model(file, model)
        reading.bad.finish()
        if not frame.commit(lambda: commit_with_rows(file, applied.path, old, digest)):
            return frame.code()
        if o.json:
            click.echo(json_text(with_schema(results), indent=2))
        else:
            click.echo(_table(results, mark))
        for note in () if o.quiet else notes:
            say(f"note: {note}")
        options = frame.reported_options(settings, "data", "model", method=o.method or results.get("method", "platt"))
        frame.report(options=options, results=results, notes=notes)
        return frame.code()


def _calibrate(applied: Opened, method: str, run: "Calibrating") -> tuple[dict[str, Any], list[str]]:
    """Give a model of two labels its map; the results and notes. DataError."""
    scores, weights, positive = run.sums()
    fit = platt if method == "platt" else isotonic
    with np.errstate(all="ignore"):  # numbers that are not finite are detected below
        slope, points, values = fit(scores, weights, positive, sum(run.counts))
    if not np.isfinite([slope, *points, *values, total(weights)]).all():
        raise DataError("the importances or scores are too large, or too small, to calibrate by")
    mapped = np.interp(scores, points, values)
    mapped += slope * (np.minimum(scores - points[0], 0) + np.maximum(scores - points[-1], 0))
    notes = []
    found = {"method": method, "slope": slope, "scores": points.tolist(), "values": values.tolist()}
    applied.model.calibration = found
    before, after = measured(scores, weights, positive), measured(mapped, weights, positive)
    results = {"rows": sum(run.counts), "positive": run.counts[1], "before": before, "after": after}
    if min(run.counts) < FEW:
        notes.append(f"only {min(run.counts)} rows have the rarer label: {FEW} or more make a reliable map")
    if slope < 0:
        notes.append(f"the map falls: a larger score of {applied.path} means a smaller probability here. Do the data, "
                     "or does the model, have the labels the other way round?")
    elif slope == 0 and values.min() == values.max():
        notes.append(f"every score gets the same probability: the order of the scores of {applied.path} is not that of "
                     "the labels here")
    if run.binned:
        notes.append(f"~: of more than {MOST_ROWS:,} rows, scores were rounded to 12 bits")
    return results, notes


class Calibrating:
    """Reads the scores before any map, and the importance times the label of each; of many rows, in bins."""

    def __init__(self, applied: Opened, take_bad: TakeBad) -> None:
        self.learner = Scorer(applied.learner)
        self.scoring = Scoring(applied, self.learner, take_bad)
        self.learner.calibrate(0, None, None)
        self.counts = [0, 0]  # rows with the negative and the positive label
        self.binned = False
        self._parts: list[tuple[Floats, Floats]] = []
        self._size = 0

    def read(self, batches: Iterable[Parsed]) -> None:
        for parsed in batches:
            scored = np.asarray(parsed.batch.kind) == EXAMPLE
            scores = np.empty(int(scored.sum()))
            self.learner.into(np.empty((len(scores), 1)), scores)
            self.learner.examples += len(scores)
            self.scoring.take(parsed)
            scored[self.scoring.infinite] = False
            signed = (np.asarray(parsed.batch.importance) * np.asarray(parsed.batch.label))[scored]
            kept = np.abs(signed) > 0  # not NaN: it has a label
            self._parts.append((scores[: len(signed)][kept], signed[kept]))
            self._size += int(kept.sum())
            self.counts[0] += int((signed < 0).sum())
            self.counts[1] += int((signed > 0).sum())
            if self._size > MOST_ROWS:
                self._round()

    def _round(self) -> None:
        """Replace the rows by the sums of those with the same label whose scores agree in 12 bits."""
        scores, signed = map(np.concatenate, zip(*self._parts, strict=True))
        bits = np.clip(scores, -1e38, 1e38).astype(np.float32).view(np.uint32)
        scores = ((bits + np.uint32(1 << 11)) & np.uint32(0xFFFFF000)).view(np.float32).astype(np.float64)
        self._parts = []
        for of_label in (signed < 0, signed > 0):
            found, at = np.unique(scores[of_label], return_inverse=True)
            self._parts.append((found, _sums(at, signed[of_label])))
        self._size, self.binned = sum(len(found) for found, _ in self._parts), True

    def sums(self) -> tuple[Floats, Floats, Floats]:
        """The different scores, ascending; the importance of each, and that of its positive labels. DataError if there
        is nothing to calibrate by."""
        if not max(self.counts):
            first = [*self.scoring.unfit.items()][:1]
            unfit = "".join(f"; it does not know {printable(f'{x} ({at})')}" for x, at in first)
            raise DataError(f"no example has a label for {self.scoring.path}{unfit}: nothing to calibrate by")
        if not min(self.counts):
            only = label_text(self.scoring.settings.outputs.label_of(1 if self.counts[1] else -1))
            raise DataError(f"every label is {only}: calibration needs examples of both labels")
        if self.binned:
            self._round()
        scores, signed = map(np.concatenate, zip(*self._parts, strict=True))
        found, at = np.unique(scores, return_inverse=True)
        if len(found) == 1:
            raise DataError(f"{self.scoring.path} gives every example the same score: nothing to calibrate by")
        return found, _sums(at, np.abs(signed)), _sums(at, np.maximum(signed, 0))


def platt(scores: Floats, weights: Floats, positive: Floats, _: int) -> tuple[float, Floats, Floats]:
    """The slope of the line, and a point of it. Newton's method with halved steps, from the best constant."""
    shift = total(weights * scores) / total(weights)
    scale = float(np.abs(scores - shift).max())
    x = (scores - shift) / scale
    p, n = total(positive), total(weights - positive)
    goal = positive * ((p + 1) / (p + 2)) + (weights - positive) / (n + 2)
    line = np.array([0.0, float(function_of("log", np.array([(p + 1) / (n + 1)]))[0])])

    def loss(line: Floats) -> float:
        z = line[0] * x + line[1]
        return float(total(weights * softplus(z) - goal * z))

    for _ in range(100):
        share = function_of("sigmoid", line[0] * x + line[1])
        rest, curve = goal - weights * share, weights * share * (1 - share)
        a, b, c = total(curve * x * x), total(curve * x), total(curve)
        u, v = total(rest * x), total(rest)
        step = np.array([c * u - b * v, a * v - b * u]) / (a * c - b * b)
        gain, now = float(step[0] * u + step[1] * v), loss(line)
        while loss(line + step) > now and gain > 1e-15 * now:
            step, gain = step / 2, gain / 2
        line += step
        if gain <= 1e-15 * now:
            break
    return float(line[0] / scale), np.array([shift]), line[1:]


def isotonic(scores: Floats, weights: Floats, positive: Floats, rows: int) -> tuple[float, Floats, Floats]:
    """The slope outside, 0, and the ends of pools with their log odds."""
    pools: list[tuple[float, float, int]] = []  # importance, that of positive labels, where it begins
    for i, (w, p) in enumerate(zip(weights.tolist(), positive.tolist(), strict=True)):
        begin = i
        while pools and pools[-1][1] / pools[-1][0] >= p / w:
            w, p, begin = w + pools[-1][0], p + pools[-1][1], pools.pop()[2]
        pools.append((w, p, begin))
    w, p, begins = (np.array(part) for part in zip(*pools, strict=True))
    if len(w) > MOST_POINTS // 2:  # join them to as many as there may be, of equal importance
        first = bins_of(w, MOST_POINTS // 2)
        w, p, begins = np.add.reduceat(w, first), np.add.reduceat(p, first), begins[first]
    share = np.clip(p / w, 1 / (rows + 2), 1 - 1 / (rows + 2))
    odds = function_of("log", share / (1 - share))
    ends = np.append(begins[1:], len(scores)) - 1
    at, which = np.unique(np.concatenate([begins, ends]), return_index=True)
    return 0.0, scores[at], np.concatenate([odds, odds])[which]


def measured(scores: Floats, weights: Floats, positive: Floats) -> dict[str, Any]:
    """Measures of probabilities, and in bins of equal importance the predicted and the observed ones."""
    p, all_of = function_of("sigmoid", scores), total(weights)
    brier = total(positive * (1 - p) ** 2 + (weights - positive) * p**2) / all_of
    loss = total(positive * softplus(-scores) + (weights - positive) * softplus(scores)) / all_of
    first = bins_of(weights, BINS)
    sums = np.add.reduceat(weights, first)
    return {
        "log_loss": loss, "brier": brier, "predicted": (np.add.reduceat(weights * p, first) / sums).tolist(),
        "observed": (np.add.reduceat(positive, first) / sums).tolist(),
    }


def _sums(at: NDArray[np.intp], numbers: Floats) -> Floats:
    return np.bincount(at, numbers).astype(np.float64)


def _table(results: dict[str, Any], mark: str) -> str:
    before, after = results["before"], results["after"]
    of = f"{results['positive']:,} positive" if "positive" in results else f"map: {results['method']}"
    lines = [f"{results['rows']:,} rows, {of}", f"{'':<18}before   after"]
    for name, key in (("log loss", "log_loss"), ("Brier", "brier")):
        lines.append(f"{mark + name:<18}{shown(before[key]):<8} {shown(after[key])}")
    for name, bins in (("predicted before", before), ("predicted after", after), ("observed", after)):
        lines.append(f"{name:<18}{' '.join(probability(p) for p in bins[name.split()[0]])}")
    return "\n".join(lines)
