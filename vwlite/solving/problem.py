"""Code shared by solve and certify: the examples in memory, and the problems of given settings."""

import math
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from typing import Any

from vwlite import __version__
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import SOLVED
from vwlite.core.base.checksum import checksum
from vwlite.core.data.batch import Batch
from vwlite.core.solve.columns import Columns
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.rows import Rows
from vwlite.core.solve.softmax import SoftmaxProblem
from vwlite.core.solve.weights import aligned, nonzero_records, norms_beside
from vwlite.errors import DataError
from vwlite.input.feature_weights import read_feature_weights
from vwlite.model import Model
from vwlite.model.absent import with_absent
from vwlite.model.centered import Dense
from vwlite.model.learners import make_expander
from vwlite.output.progress import LiveLine
from vwlite.output.results import Result
from vwlite.runs.means import center, summary_of_columns
from vwlite.runs.notes import Notes, about_names, about_options, namespaces_of, together
from vwlite.runs.options import InputOptions, SourceOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.source import DataNames, Source

CERTAIN = 1e-12  # a gap or a bound smaller than this part of the objective is rounding
SMALL = 1e-6  # and a gap smaller than this part is not worth a warning
NO_ZEROS = (
    "a feature of weight 0 has no penalty, without which there is no lower bound: use a weight of at least 0.001, or "
    "vwlite train --algorithm l1-ball"
)
INSIDE = 1e-9  # by this part of it, a sum of |weights| may be above the radius

Numbers = tuple["array[float]", float]  # the weights of the columns, and the intercept


@dataclass
class Bounds:
    """An objective, and a lower bound of it."""

    objective: float = 0.0
    lower_bound: float = 0.0

    @property
    def gap(self) -> float:
        """objective - lower bound; 0 if the difference is only rounding."""
        gap = max(self.objective - self.lower_bound, 0.0)
        return gap if gap > CERTAIN * self.objective else 0.0

    @property
    def share(self) -> float:
        """The gap as a part of the objective."""
        return self.gap / self.objective if self.objective > 0 else 0.0

    def results(self) -> list[Result]:
        """What summaries and reports say."""
        return [Result("objective", self.objective), Result("lower_bound", self.lower_bound), Result("gap", self.gap),
                Result("relative_gap", self.share)]


class Limits:
    """When solving ends by --max-seconds or --max-passes. It begins now."""

    def __init__(self, seconds: float | None, passes: int | None) -> None:
        self._seconds, self._passes = seconds, passes
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds

    def reached(self, passes: float) -> str:
        """Which limit is reached, as a sentence; nothing if none is."""
        if time.monotonic() >= self.deadline:
            return f"--max-seconds {self._seconds:g} is over"
        if self._passes is not None and passes >= self._passes:
            return f"--max-passes {self._passes} is reached"
        return ""


def solved_model(
    settings: Settings, keys: Any, numbers: Sequence[Numbers], constant_key: int | None, **more: Any
) -> Model:
    """The model of the weights of some columns, those of each class. more: of the `Model`."""
    found = nonzero_records(keys, [w for w, _ in numbers], constant_key, [b for _, b in numbers])
    return Model(
        algorithm=SOLVED.name, loss=settings.loss, options=settings.stored(), rule={}, range=None,
        keys=memoryview(found[0]), weights=memoryview(found[1]), weights_only=True, seen=len(keys),
        program=f"vwlite {__version__}", **more,
    )


class Examples:
    """The labelled examples of DATA, read once.

    settings: of the features and labels.
    """

    def __init__(
        self, options: InputOptions, data: DataPlan, settings: Settings, known: DataNames, stack: ExitStack, *,
        source: SourceOptions | None = None,
    ) -> None:
        self.options, self.settings = options, settings
        self.class_names, self.feature_names = known.classes, known.features
        self._expander = make_expander(replace(settings, constant=False))
        self.rows = Rows(self._expander)
        self.constant_key: int | None = make_expander(settings).constant_key
        self.dense: Dense = ()  # the columns that are centered
        self.stopped = False
        self.bad = BadLines(stack, **options.of_bad_lines)
        self.lines = 0
        self.shares: array[float] | None = None  # the weight of each column in the penalty
        self._namespaces = namespaces_of(settings)
        self._source = Source(data, settings, known, self.bad, source or SourceOptions())

    def stop(self) -> None:
        """Stop reading. Called from the thread of the signals."""
        self.stopped = True

    def of_table(self, model: Model) -> Model:
        """A model of these examples, with the weights of absent cells if they are rows of a table."""
        return with_absent(model, self._source.sample.batches, self._source.keys) if model.columns else model

    @property
    def columns(self) -> dict[str, Any]:
        """Of tables, as a model keeps them."""
        return self._source.columns

    @property
    def cache(self) -> str | None:
        return self._source.path

    @property
    def records(self) -> int:
        """How many weights a feature has."""
        return self.settings.outputs.records

    @property
    def separate(self) -> bool:
        """Whether each of several classes has a problem of its own."""
        return self.records > 1 and not self.settings.softmax

    @property
    def classes(self) -> int:
        """The number of problems: one for each class that has occurred."""
        if self.class_names is not None and self.settings.classes == "auto":
            return len(self.class_names)
        return self.records

    @property
    def counters(self) -> dict[str, int]:
        """Those of a model."""
        rows = self.rows
        return {"examples": len(rows) + rows.unlabelled, "unlabelled": rows.unlabelled, "features": rows.nonzeros}

    def together(self) -> list[range]:
        """The classes of each problem: all of them with --softmax, else one."""
        classes = range(self.classes)
        return [classes] if self.settings.softmax else [classes[k : k + 1] for k in classes]

    def read(self) -> None:
        """Read all of DATA, unless it is stopped. DataError if no example can be used."""
        self._source.keeps_batches |= self.settings.normalize == "center"
        self._source.open()
        try:
            if self.settings.normalize == "center":
                summary = summary_of_columns(self.settings)
                self._read_each(summary.take)
                if not self.stopped:
                    self.dense = center(summary, self._expander, self.constant_key)
            if not self.stopped:
                self._read_each(self.rows.add)
            if self.stopped:
                return
            self.rows.finish()
        except OverflowError as e:
            raise DataError(f"the data cannot be held: {e}") from None
        if not len(self.rows):
            raise DataError(self._nothing())
        self._check_constant()
        if "feature_weights" in self.options.typed:
            self.shares = self._read_shares(self.options.typed["feature_weights"])

    def _read_each(self, take: Callable[[Batch], object]) -> None:
        """Read all of DATA once."""
        self.lines, live = 0, LiveLine(quiet=self.options.quiet)
        with self._source.batches(lambda: self.stopped) as batches:
            for parsed in batches:
                if self.feature_names is not None:
                    self.feature_names.take(parsed.names)
                self._namespaces.look(parsed.batch)
                take(parsed.batch)
                self.lines += len(parsed.batch)
                if parsed.bad:
                    live.clear()
                self.bad.take(parsed.bad)
                live.update(len(self.rows) or self.lines, parsed.done, parsed.total)
                if self.stopped:
                    break
            live.clear()

    def folded(self, numbers: list[Numbers]) -> list[Numbers]:
        """Weights for values as they are, of those for centered values."""
        keys, means = array("I", [key for key, _, _ in self.dense]), [mean for _, mean, _ in self.dense]
        found = []
        for weights, intercept in numbers:
            terms = map(mul, aligned(keys, self.rows.keys, weights), means)
            found.append((weights, intercept - math.fsum(terms)))
        return found

    def _nothing(self) -> str:
        bad, unlabelled = self.bad.count, self.rows.unlabelled
        counts = {"bad": bad, "without a label": unlabelled, "blank or of importance 0": self.lines - unlabelled - bad}
        found = [f"{n} {what}" for what, n in counts.items() if n]
        why = f"of {self.lines} lines, {', '.join(found)}" if found else "the input has no examples"
        return f"no example with a label: {why}"

    def _check_constant(self) -> None:
        """DataError if a feature has the index of the constant: its weight would be that, which has no penalty."""
        key, keys = self.constant_key, self.rows.keys
        if key is not None and keys[(at := bisect_left(keys, key)) : at + 1].tolist() == [key]:
            raise DataError(
                f"a feature of the data has the index of the intercept, {key}: use other --bits than "
                f"{self.settings.bits}, or --no-constant"
            )

    def _read_shares(self, path: str) -> "array[float]":
        keys, weights = read_feature_weights(
            path, bits=self.settings.bits, hash_all=self.settings.hash == "all", no_zeros=NO_ZEROS
        )
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.share_keys = array("I", [keys[i] for i in order])
        self.share_weights = array("d", [weights[i] for i in order])
        return self.shares_of(self.rows.keys)

    def shares_of(self, keys: Any) -> "array[float]":
        """The weights of features in the penalty, by their keys."""
        found: array[float] = aligned(keys, self.share_keys, self.share_weights, unseen=1.0)
        return found

    @cached_property
    def digest(self) -> str:
        """A digest of the whole problem. It does not depend on how the examples are split into files and lines."""
        rows = self.rows
        parts = [rows.keys, rows.labels, rows.importance, rows.initial, *rows.entries]
        parts += [memoryview(self.shares)] if self.shares is not None else []
        return f"{checksum(b''.join(checksum(part.cast('B')).to_bytes(8, 'little') for part in parts)):016x}"

    def class_name(self, k: int) -> str:
        """Of the problem of a class; nothing if there is only one problem."""
        names = None if self.settings.softmax else self.class_names
        return "" if names is None else str(names[k]) if k < len(names) else f"?{k + 1}"

    def one_sided(self, name: str) -> str:
        """Why the intercept of this class, or of the only problem, has no finite optimum."""
        return f"class {name}: all examples, or none, are of it" if name else f"every label is {self.rows.labels[0]:g}"

    def notes(self) -> Notes:
        named = about_names(self.feature_names) if self.feature_names is not None else ({}, [])
        return together(about_options(self.settings, self._namespaces, self._expander.unseen), named)

    def problem(
        self, of: Settings, k: int, *, simplex: bool = False, penalize_constant: bool = False,
        columns: Columns | None = None,
    ) -> Problem | SoftmaxProblem:
        """The problem of class k, or of all together, at w = 0. of: the settings with its loss and strength. DataError
        for labels that the loss does not take, or for fewer than two classes."""
        try:
            if of.softmax:
                return SoftmaxProblem(
                    self.rows, self.classes, of.radius, of.nonnegative, l2=of.l2, constant=of.constant,
                    penalty_weights=self.shares,
                )
            labels = None
            if self.settings.oaa is not None:
                labels = array("d", [1.0 if label == k + 1 else -1.0 for label in self.rows.labels])
            return Problem(
                self.rows, of.loss, l1=of.l1, l2=of.l2, radius=of.radius, simplex=simplex, constant=of.constant,
                nonnegative=of.nonnegative, box=of.box, penalty_weights=self.shares, labels=labels,
                tau=of.outputs.one_tau, columns=columns, penalize_constant=penalize_constant,
            )
        except ValueError as e:
            raise DataError(str(e)) from None

    def norm(self, weights: Any) -> float:
        """The sum of |weights| of the columns, each times its weight in the penalty."""
        norm, _, _ = norms_beside(array("I"), self.rows.keys, weights, shares=self.shares)
        return float(norm)

    def start(self, model: Model | None, k: int) -> Numbers:
        """The weights of class k to begin from: those of a model, or zeros."""
        keys = self.rows.keys
        if model is None:
            return array("d", bytes(8 * len(keys))), 0.0
        unseen = model.rule.get("unseen", 0.0)
        unseen = unseen[k] if isinstance(unseen, list) else unseen
        given = model.keys, model.weights, model.records, k
        intercept = 0.0
        if self.constant_key is not None:
            intercept = aligned(array("I", [self.constant_key]), *given)[0]
        return aligned(keys, *given, unseen), intercept


def set_numbers(problem: Problem, numbers: list[Numbers]) -> None:
    """Set the weights of the problem."""
    if not isinstance(problem, SoftmaxProblem):
        problem.set(*numbers[0])
        return
    weights, columns = memoryview(b"".join(w.tobytes() for w, _ in numbers)), len(problem.rows.keys)
    constants = array("d", [b for _, b in numbers])
    problem.set(weights.cast("d", (len(numbers), columns)) if columns else None, constants)


def summary(results: Iterable[Result], against: str | None = None) -> str:
    """The lines of the summary: `label = value`; the gap has its share of the objective beside it. against: the model
    whose objective is among them."""
    found = {r.key: r for r in results}
    share, lines = found.pop("relative_gap", None), []
    for key, r in found.items():
        if r.value is None:
            continue
        if key == "gap" and share is not None:
            lines.append(f"gap = {r.value:.6g} ({100 * share.value:.3g} %)")
        elif key == "ended":
            lines.append(f"ended: {r.value}")
        else:
            label = f"{r.label} {against}" if key == "objective_of_against" else r.label
            digits = 10 if key in ("objective", "lower_bound", "objective_of_against") else 6
            lines.append(f"{label} = {f'{r.value:.{digits}g}' if isinstance(r.value, float) else r.value}")
    return "\n".join(lines)
