"""Merge several models that were trained from one start: sums over shards, the choice of weights, the state."""

from array import array
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, sqrt
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite import __version__
from vwlite.algorithms.table import ADDED, LARGEST, LEAST, NUMBERS, SAME, TIME
from vwlite.core.base.arrays import shifted
from vwlite.core.base.elementary import power
from vwlite.core.merge.sums import ModelStream, Sums
from vwlite.errors import DataError, UsageError
from vwlite.merging.commands import RULES
from vwlite.merging.holdout import OWN, START, Candidate, Holdout, Scorer, Vector
from vwlite.merging.shards import ShardModel, Shards
from vwlite.merging.stack import Examples, Numbers, averaged, differences
from vwlite.merging.states import Merged, Weights
from vwlite.model import Model
from vwlite.model.absent import united, with_record
from vwlite.model.header import COUNTERS
from vwlite.model.learners import (
    blank_of,
    field_of,
    fresh_rule,
    make_expander,
    make_loss,
    make_rule,
    slots_of,
    state_codes,
)
from vwlite.model.slots import Array, array_of, copied
from vwlite.runs.options import InputOptions

MEAN = Candidate("mean")
MOST_LABELS = 50_000  # of examples and classes that a stack is fitted to
SINCE_THEN = {"occurrences", "largest"}  # numbers of rules that older models do not have


@dataclass(frozen=True)
class MergeRequest:
    """What a merge is asked for. rule: None: search with a holdout, else by the algorithm. loss: of models of Vowpal
    Wabbit."""

    rule: str | None
    state: str
    loss: str | None = None
    has_holdout: bool = False


class Merge:
    """The sums over the shards, the weights that are chosen, and the model that they make.

    Call `read`, `add_up`, `choose` and `finish`, one after the other.
    """

    model: Model
    chosen: Candidate
    strength = inf  # of the ridge of a stack
    held = 0  # examples of the holdout
    mean_loss = inf  # that of the plain mean
    name_limit: int | None  # the limit of names of features, if it was reached

    def __init__(self, request: MergeRequest, shards: Shards) -> None:
        self.request, self.shards, self.settings = request, shards, shards.settings
        self.algorithm, self.row = shards.algorithm, shards.algorithm.merging
        self.records = self.settings.oaa or 1
        self.constant_key = make_expander(self.settings).constant_key
        self.first = fresh_rule(self.settings)  # what a learner of one class begins with
        s = self.settings
        harsh = any((s.l1, s.radius, s.box, s.nonzeros, s.round_at_end)) and not shards.weights_only
        self.sparse = self.first.restricted if harsh else None  # what makes merged weights those of the algorithm
        self.limited = bool(s.nonzeros) and not shards.weights_only
        self._check_states()
        self.ways, self.searches = self._ways()
        self.scalars = self._scalars()
        self.scores: Scorer | None = None  # on the holdout
        self.stopped = False
        self.candidates: list[Candidate] = []
        self.learned: Sums | None = None  # the same as `sums`, of the weights that --average takes the mean of

    def stop(self) -> None:
        """Read no further. Called from the thread of the signals."""
        self.stopped = True

    # --- what there is -----------------------------------------------------------------------

    def read(self, o: InputOptions, paths: tuple[str, ...], stack: ExitStack) -> None:
        """The files of the holdout."""
        shards = self.shards
        found = Holdout(o, paths, self.settings, shards.classes, shards.columns, stack, lambda: self.stopped)
        self.scores, where, labels = found.scores, ", ".join(paths), found.labels
        if self.stopped:
            return
        if len(labels) < 2:
            what = "only one example has a label: a holdout needs many" if len(labels) else (
                "no example has a label: a holdout needs labels")
            raise DataError(f"{where}: {what}")
        if (self.settings.binary or self.settings.oaa) and np.all(labels == labels[0]):
            raise DataError(f"{where}: all examples are of one class: a holdout needs examples of all classes")

    @property
    def clip(self) -> tuple[float, float] | None:
        """To which scores are clipped: of classes, they are from -1 to 1 or so."""
        if "min_label" in self.scalars:
            return min(self.scalars["min_label"]), max(self.scalars["max_label"])
        return self.range

    @property
    def range(self) -> tuple[float, float] | None:
        """To which predictions of numbers are clipped."""
        found = [shard.model.range for shard in self.shards.all if shard.model.range is not None]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    @property
    def named(self) -> int:
        """How many classes have a name."""
        s = self.settings
        return (len(self.shards.classes) if s.classes == "auto" else s.oaa) if s.oaa else 0

    @property
    def count(self) -> int:
        """How many shards there are."""
        return len(self.shards.each)

    def _check_states(self) -> None:
        """DataError for a state that is not the algorithm's."""
        names = set(self.first.scalars()) - SINCE_THEN
        for shard in self.shards.all:
            model = shard.model
            if model.weights_only or model.algorithm != self.algorithm.name:
                continue
            wrong = {name: array.format for name, array in model.state.items()} != self.first_fields
            if wrong or names - set(model.rule):
                raise DataError(f"{shard.path}: not a valid model: the state is not that of {self.algorithm.name}")

    def _ways(self) -> tuple[tuple[str, ...], bool]:
        """The ways that are tried, and whether they are stacked."""
        rule, row = self.request.rule, self.row
        ways = tuple(way for way in row.ways if way in ("mean", "touched")) if self.shards.weights_only else row.ways
        if rule in (None, "search") and self.request.has_holdout:
            return ways, True
        if rule is None:
            return (row.unjudged if row.unjudged in ways else "touched",), False
        if rule not in ways:
            what = "weights without their state" if self.shards.weights_only else f"--algorithm {self.algorithm.name}"
            takes = ", ".join(way for way in ways if way in RULES)
            raise UsageError(f"--rule {rule} cannot be used with {what}: use {takes}, or search with a --holdout")
        return (rule,), False

    def _scalars(self) -> dict[str, list[Any]]:
        """The numbers of the rule, for each class of the merged model, of those that do not follow from the weights."""
        found = {}
        if self.shards.weights_only:
            return {}
        for name, how in ({**NUMBERS, **self.row.numbers}).items():
            if name in self.shards.each[0].model.rule:
                found[name] = [self._scalar(name, how, c) for c in range(self.records)]
        if self.row.adds:
            found |= {"scale": [self._scale(t) for t in found["t"]]}
        return found

    def _scale(self, t: float) -> float:
        """eta_t"""
        s = self.settings
        return s.learning_rate * power(t + s.initial_t, -s.power_t) if s.power_t else s.learning_rate

    def _scalar(self, name: str, how: Any, c: int) -> Any:
        start = self._at_start(name, c)
        each = [number_of(shard, name, c) for shard in self.shards.each]
        if how in (LARGEST, LEAST):
            return max(each) if how == LARGEST else min(each)
        if how == SAME:
            for shard, number in zip(self.shards.each, each, strict=True):
                if number != each[0]:
                    raise DataError(f"{shard.path}: its weights shrink by the learning rate {number:g}, but those of "
                                    f"{self.shards.each[0].path} by {each[0]:g}: train all shards from the same start")
            return each[0]
        if how == ADDED or (how == TIME and self.request.state == "sum"):
            return start + self._gained(name, c)
        if how == TIME:
            found = start + self._gained(name, c) / self.count
            return float(int(found)) if name == "t" else found  # examples are whole
        return how

    def _gained(self, name: str, c: int) -> Any:
        """The sum of what the shards have added to a number of the rule."""
        start = self._at_start(name, c)
        return in_order(number_of(shard, name, c) - start for shard in self.shards.each)

    def _at_start(self, name: str, c: int) -> Any:
        start = self.shards.start
        if start is not None and name in start.model.rule:
            return number_of(start, name, c)
        return self.first.scalars().get(name, 0)

    # --- the sums ----------------------------------------------------------------------------

    def add_up(self) -> None:
        """The sums over the shards."""
        needed = {"start", *self.ways, *([MEAN.way] if self.request.has_holdout else [])}
        if not self.shards.weights_only:
            needed |= {"extra"} if self.row.extra[0] in self.first_fields else set()
            needed |= {"evidence", "start_evidence"} if self.row.evidence else set()
            needed |= {"absent"} if self.first.shrunk_since and self.sparse else set()
        self.sums = self._sums(needed, [shard.model.weights for shard in self.shards.each], self._start_weights())
        if self.settings.average and not self.shards.weights_only:
            start = self.shards.start
            weights = self._before_averaging(start) if start and not start.model.weights_only else self._start_weights()
            each = [self._before_averaging(shard) for shard in self.shards.each]
            self.learned = self._sums(needed, each, weights, averaged=False)

    @property
    def first_fields(self) -> dict[str, str]:
        return state_codes(self.first)

    def _start_weights(self) -> Array:
        return self.shards.start.model.weights if self.shards.start else array_of(b"", "d")

    def _sums(self, needed: set[str], weights: list[Array], at_start: Array, *, averaged: bool = True) -> Sums:
        (extra, how), evidence, whole = self.row.extra, self.row.evidence, not self.shards.weights_only
        start = self._start_stream(at_start)
        each = [self._stream(shard, w, averaged) for shard, w in zip(self.shards.each, weights, strict=True)]
        known: dict[str, Any] = {}
        if evidence and whole:
            beta = getattr(self.settings, evidence.beta) if evidence.beta else 0.0
            known = {"evidence": evidence.kind, "beta": beta, "rates": self._rates(), "by_extra": evidence.by_extra}
        try:
            return Sums(start, each, wanted=needed, extra=how if whole and extra in self.first_fields else "", **known)
        except ValueError as e:
            what = "--feature-weights" if how == "same" else "state"
            raise DataError(f"the shards were trained with different {what}: {e}") from e

    def _rates(self) -> list[float]:
        evidence = self.row.evidence
        assert evidence is not None
        if not evidence.by_extra:
            return [getattr(self.settings, evidence.rate) if evidence.rate else 0.0] * self.records
        sums = zip(self.scalars["weight_sum"], self.scalars["norm_sum"], strict=True)
        return [self.settings.learning_rate * (sqrt(W / N) if W > 0 and N > 0 else 1.0) for W, N in sums]

    def _stream(self, shard: ShardModel, weights: Array, averaged: bool = True) -> ModelStream:
        model = shard.model
        unseen = [number_of(shard, "unseen", c) for c in range(self.records)]
        penalty = [0.0] * self.records
        if self.first.shrunk_since and not model.weights_only:
            penalty = [self.first.shrunk_since(*self._by_name(shard, c)) for c in range(self.records)]
        share = 1 / self.count
        if self.settings.average and averaged and not model.weights_only:
            share = number_of(shard, "t", 0) / self._examples_in_mean()
        return ModelStream(model.keys, weights, *self._state(model), shard.columns, unseen, penalty, share=share,
                      **self._blanks())

    def _by_name(self, shard: ShardModel, c: int) -> tuple[Callable[[str], Any], Callable[[str], Any]]:
        """The numbers of a shard's rule, and those of the start's, for a class."""
        return lambda name: number_of(shard, name, c), lambda name: self._at_start(name, c)

    def _examples_in_mean(self) -> float:
        """t of a mean of all weights of all shards."""
        start = self._at_start("t", 0)
        return float(start + in_order(number_of(shard, "t", 0) - start for shard in self.shards.each)) or 1.0

    def _start_stream(self, weights: Array) -> ModelStream:
        if self.shards.start is not None:
            return self._stream(self.shards.start, weights)
        unseen = self._unseen(START)
        # The constant has a weight of 0.
        keys = array("I", [self.constant_key] if unseen[0] and self.constant_key is not None else [])
        zeros = memoryview(array("d", [0.0] * self.records * len(keys)))
        return ModelStream(memoryview(keys), zeros, None, None, range(self.records), unseen, [0.0] * self.records,
                      **self._blanks())

    def _state(self, model: Model) -> "tuple[Array | None, Array | None]":
        """The evidence and the extra numbers of a model."""
        evidence = self.row.evidence
        return model.state.get(evidence.field) if evidence else None, model.state.get(self.row.extra[0])

    def _blanks(self) -> dict[str, float]:
        evidence = self.row.evidence
        return {
            "blank_evidence": blank_of(self.first, evidence.field) if evidence else 0.0,
            "blank_extra": blank_of(self.first, self.row.extra[0]),
        }

    def _before_averaging(self, shard: ShardModel) -> Array:
        """The weights from which learning continues, of a model that stores their mean: those of the same state
        without --average."""
        settings = replace(self.settings, average=False)
        rule = make_rule(settings, make_loss(settings), self.constant_key)
        names = state_codes(rule)
        try:
            slots = slots_of(rule, copied(shard.model.keys), {name: shard.model.state[name] for name in names})
            rule.load({name: shard.model.rule[name] for name in rule.scalars()}, slots)
        except (KeyError, TypeError, ValueError) as e:
            why = f"the rule's state is not that of {self.algorithm.name}: {e}"
            raise DataError(f"{shard.path}: not a valid model: {why}") from e
        slots = rule.slots()  # without those that are blank but for the mean
        found = np.asarray(shifted(copied(field_of(rule, slots, "mark")[:: rule.records]), 2**32 - 1))
        weights = np.zeros((len(found), rule.records))
        rule.weights(slots, weights.reshape(-1))
        out = np.zeros((len(shard.model.keys), rule.records))
        out[np.searchsorted(np.asarray(copied(shard.model.keys)), found)] = weights
        return flat(out)

    # --- the choice --------------------------------------------------------------------------

    def choose(self) -> None:
        """The candidate that becomes the model."""
        own, merges = self._own(), [Candidate(way) for way in self.ways]
        if self.scores is None:
            self.chosen = merges[0]
            return
        asked = [*own, *dict.fromkeys([*merges, MEAN])]
        found = self.scores(asked, self.vector)
        x = dict(zip(asked, found.each, strict=True))
        examples = Examples.of(found, self.settings, self.named, self.clip)
        self.held, self.mean_loss = len(found.labels), examples.mean(examples.losses(x[MEAN]))[0]
        self.candidates = [examples.judged(c, x[c]) for c in [*merges, *own]]
        if not self.searches:
            self.chosen = self.candidates[0]
            return
        k = -(-examples.labels.size // MOST_LABELS)
        stack = self._stack(examples.every(k).smoothed(), {c: s[::k] for c, s in x.items()}, merges, own)
        restricted = self.sparse or self.limited
        parts = dict(stack.parts) or {stack: 1.0}
        scores = self.scores([stack], self.vector).each[0] if restricted else self._sum(parts, x)
        self.chosen = examples.judged(stack, scores)
        best = min(self.candidates[len(merges) :], key=lambda c: c.loss)
        if restricted and best.loss < self.chosen.loss - self.chosen.error:
            self.chosen = best  # what makes weights sparse is too much for a sum

    def _own(self) -> list[Candidate]:
        """The models that are there already."""
        return [START, *(Candidate("shard", shard=i) for i in range(self.count))]

    def _stack(
        self, examples: Examples, x: dict[Candidate, Numbers], merges: list[Candidate], own: list[Candidate]
    ) -> Candidate:
        """The stack of all candidates; the best of the merges is its first part."""
        best = merges[int(np.argmin([c.loss for c in self.candidates[: len(merges)]]))]
        shards = [c for c in own if c != START and np.isfinite(x[c]).all()]
        alike = [best, *merges, START, *([] if self.sparse or self.limited else shards)]  # whose zeros a stack may have
        only_averages = self.row.ways == ("mean",)  # keep the sum of the weights
        u, scale = averaged(examples, {c: x[c] for c in alike}, self.count, steps=not only_averages)
        if not only_averages:
            average, each = self._sum(u, x), np.array([x[c] for c in shards])
            coefficients, self.strength = differences(examples, average, each, scale)
            for c, b in zip(shards, coefficients, strict=True):
                u[c] = u.get(c, 0.0) + float(b)
        alone = [c for c, b in u.items() if b]
        parts = tuple((c, b) for c, b in u.items() if b or c == best)
        return Candidate("stack", parts=parts) if len(alone) > 1 else alone[0]

    @staticmethod
    def _sum(u: dict[Candidate, float], x: dict[Candidate, Numbers]) -> Numbers:
        """The scores of a sum; those with a coefficient of 0 may be infinite."""
        return np.asarray(in_order(b * x[c] for c, b in u.items() if b))

    def vector(self, c: Candidate) -> Vector:
        """The weights that a candidate predicts with."""
        if c.way == "shard":
            return self._of_shard(c, self.shards.each[c.shard].model.weights)
        return Vector(self.sums.keys, flat(self._weights(c)[0]), range(self.records), self._unseen(c))

    def _of_shard(self, c: Candidate, weights: Array) -> Vector:
        """These weights of a shard, as it has them or as they were before averaging."""
        shard = self.shards.each[c.shard]
        return Vector(shard.model.keys, weights, shard.columns, self._unseen(c))

    def _unseen(self, c: Candidate) -> list[float]:
        """The weight of each class for keys that no model has."""
        if c.parts:
            parts = [[u * x for x in self._unseen(part)] for part, u in c.parts]
            return [in_order(column) for column in zip(*parts, strict=True)]
        each = [[number_of(shard, "unseen", k) for k in range(self.records)] for shard in self.shards.each]
        if c.way == "shard":
            return each[c.shard]
        if c.way == "start":
            return [self._at_start("unseen", k) for k in range(self.records)]
        return [in_order(column) / len(each) for column in zip(*each, strict=True)]

    # --- the weights -------------------------------------------------------------------------

    def _rows(self, sums: Sums, name: str) -> Weights:
        """A column of the sums, with a row for each key; zeros if it is not there."""
        if name not in sums:
            return np.zeros((len(sums), self.records))
        return np.asarray(sums[name]).reshape(len(sums), self.records)

    def _candidate(self, sums: Sums, c: Candidate) -> Weights:
        """The weights of a candidate before anything makes them sparse."""
        if c.way == "shard":
            shard = self.shards.each[c.shard]
            weights = self._before_averaging(shard) if sums is self.learned else shard.model.weights
            return self._of_shard(c, weights).at(sums.keys)
        w, start = self._rows(sums, c.way), self._rows(sums, "start")
        if c.way != "start" and (self.shards.start is not None or any(self._unseen(START))):
            w = start + w
            w[np.abs(w) <= 1e-14 * np.abs(start)] = 0  # rounding is left of what all shards have made zero
        return w

    def _restricted(self, sums: Sums, c: Candidate) -> Weights:
        """The weights of a candidate, those of an algorithm that makes weights sparse."""
        if not c.parts:
            w = self._candidate(sums, c)
            return w if c.way in OWN or self.sparse is None else self.sparse(self._merged(w), w)
        w = np.zeros((len(sums), self.records))
        for part, u in c.parts:
            w += u * self._restricted(sums, part)
        if self.sparse is None:
            return w
        w[self._restricted(sums, c.parts[0][0]) == 0] = 0
        return w if self.first.shrunk_since else self.sparse(self._merged(w), w)

    def _merged(self, w: Weights) -> Merged:
        sums, mean = self.sums, self.request.state == "mean"
        gained = self._rows(sums, "evidence")
        keys = np.asarray(sums.keys)
        at = np.searchsorted(keys, np.uint32(self.constant_key)) if self.constant_key is not None else len(keys)
        s = self.settings
        return Merged(
            settings=s,
            scalars=dict(self.scalars),
            keys=keys,
            constant_row=int(at) if at < len(keys) and keys[at] == self.constant_key else None,
            w=w,
            S=self._rows(sums, "start_evidence") + (gained / self.count if mean else gained),
            extra=self._rows(sums, "extra"),
            absent=self._rows(sums, "absent"),
            unseen=self._unseen(self.chosen) if hasattr(self, "chosen") else [0.0] * self.records,
            features=s.features or (1 << s.bits) - s.constant,
        )

    def _weights(self, c: Candidate) -> tuple[Weights, Weights]:
        """The weights that a candidate predicts with, and those from which learning would continue."""
        w = self._restricted(self.sums, c)
        return (self._largest(w), w) if self.limited and c.way not in OWN else (w, w)

    def _largest(self, w: Weights) -> Weights:
        """The --nonzeros N largest weights; of equal ones those with the smaller keys."""
        merged = self._merged(w)
        order = np.argsort(np.where(merged.free, -np.abs(w), inf)[:, 0], kind="stable")[: self.settings.nonzeros]
        out = np.zeros_like(w)
        out[order] = w[order]
        if merged.constant_row is not None:
            out[merged.constant_row] = w[merged.constant_row]
        return out

    def finish(self) -> None:
        """The model of what was chosen."""
        weights, w = self._weights(self.chosen)
        if self.learned is not None:
            w = self._restricted(self.learned, self.chosen)
        state, scalars = ({}, {}) if self.shards.weights_only else self._state_of(w, weights)
        codes = {} if self.shards.weights_only else self.first_fields
        if codes.get("w") == "f" and self.learned is None:
            with np.errstate(over="ignore"):
                weights = weights.astype(np.float32).astype(np.float64)
        if self.shards.weights_only and any(self._unseen(self.chosen)):
            scalars = {"unseen": self._unseen(self.chosen)}
        s, start = self.settings, self.shards.start.model if self.shards.start else None
        names, self.name_limit = self.shards.names(self.sums.keys, np.any(weights != 0, axis=1))
        seen = max(start.seen if start else 0, *(shard.model.seen for shard in self.shards.each))
        self.model = Model(
            algorithm=s.algorithm,
            loss=s.loss,
            options=s.stored(),
            counters=self.counters(),
            rule={name: numbers if s.oaa else numbers[0] for name, numbers in scalars.items()},
            range=self.range,
            keys=self.sums.keys,
            weights=flat(weights),
            state={name: flat(state[name], code) for name, code in codes.items()},
            weights_only=self.shards.weights_only,
            classes=self.shards.classes,
            columns=self.shards.columns,
            names=names,
            base=start.digest if start else "",
            seen=seen if seen > len(self.sums.keys) else 0,
            merged={"shards": self.count, "digest": self.shards.digest, "rule": self.chosen.way,
                    "step": 1.0, "state": self.request.state},
            program=f"vwlite {__version__}",
        )
        self.nonzeros = int(np.count_nonzero((weights != 0) & self._merged(w).free))

    def with_absent_cells(self) -> Model:
        """The model, which has all keys, with the weights of absent cells of tables."""
        record = united(shard.model.absent for shard in self.shards.each)
        return with_record(self.model, record) if record else self.model

    def counters(self) -> dict[str, int]:
        """Those of the merge."""
        start, each = self.shards.start, [shard.model for shard in self.shards.each]
        before = {name: start.model.counters.get(name, 0) if start else 0 for name in COUNTERS}
        return {n: before[n] + sum(m.counters.get(n, 0) - before[n] for m in each) for n in COUNTERS}

    def _state_of(self, w: Weights, weights: Weights) -> tuple[dict[str, NDArray[Any]], dict[str, list[Any]]]:
        """The fields of the slots and the numbers of the rule. Fields that the rule leaves out are of the
        moment: the number of the rule of that name, or t."""
        merged = self._merged(w)
        t = merged.scalars["t"]
        found = {name: np.empty(w.shape, dtype=code) for name, code in self.first_fields.items()}
        for rows, part in [(slice(None), merged)] if self.algorithm.sums_up else merged.parts():
            state = self.first.state_of(part)
            if self.settings.average:
                state["sum"] = weights[rows] * np.asarray(t)
            with np.errstate(over="ignore"):  # what is too large for a slot is infinite, which no model may be
                for name, numbers in found.items():
                    of_rule = "t" if name in ("last", "since") else name
                    numbers[rows] = state[name] if name in state else merged.scalars[of_rule]
        kept = [name for name in self.shards.each[0].model.rule if name in merged.scalars]  # no rule reads the others
        return found, {name: merged.scalars[name] for name in kept}


def in_order(numbers: Iterable[Any]) -> Any:
    """The sum, one after the other: what `sum` makes of floats depends on the version of Python."""
    return reduce(add, numbers, 0)


def number_of(shard: ShardModel, name: str, c: int) -> Any:
    """A number of the rule of a model, for a class; 0 if missing."""
    found = shard.model.rule.get(name, 0)
    return found[shard.columns[c]] if isinstance(found, list) else found


def flat(numbers: NDArray[Any], code: str = "d") -> Array:
    return array_of(np.ascontiguousarray(numbers).data.cast("B") if numbers.size else b"", code)
