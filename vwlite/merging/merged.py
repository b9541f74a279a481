"""Merging several models that were trained from one start: sums over shards, the choice of weights, the model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vwlite import __version__
from vwlite.errors import DataError, UsageError
from vwlite.merging.choice import MEAN, Judge, MergeChoice
from vwlite.merging.commands import RULES
from vwlite.merging.holdout import START, Candidate, Holdout
from vwlite.merging.shards import Shards
from vwlite.merging.states import flat, merged_numbers
from vwlite.merging.streams import ShardStreams
from vwlite.merging.weights import CandidateWeights
from vwlite.model import Model
from vwlite.model.absent import united, with_record
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines


@dataclass(frozen=True)
class MergeRequest:
    """The options of a merge. rule: None: search with a holdout, else by the algorithm. loss: of models of Vowpal
    Wabbit."""

    rule: str | None
    state: str
    loss: str | None = None
    has_holdout: bool = False


class Merge:
    """A merge: sums over the shards, the chosen weights, and the model with these.

    Call `read`, `add_up`, `choose` and `finish`, one after the other.
    """

    model: Model
    choice: MergeChoice
    weights: CandidateWeights
    _holdout: Holdout | None = None
    name_limit: int | None  # the limit of names of features, if it was reached
    stopped = False
    without_rows: Sequence[str] = ()  # files of shards beside which no rows are kept, if they are beside others

    def __init__(self, request: MergeRequest, shards: Shards) -> None:
        self.request, self.shards, self.settings = request, shards, shards.settings
        self.ways, self.searches = self._ways()
        self.numbers = merged_numbers(shards, request.state)

    def stop(self) -> None:
        """Stop reading. Called from the thread of the signals."""
        self.stopped = True

    def read(self, data: DataPlan, bad: BadLines) -> None:
        """Read the files of the holdout."""
        shards = self.shards
        found = Holdout(data, bad, self.settings, shards.classes, shards.columns, lambda: self.stopped)
        self._holdout, where, labels = found, ", ".join(data.files), found.labels
        if self.stopped:
            return
        if len(labels) < 2:
            what = "only one example has a label: a holdout needs many" if len(labels) else (
                "no example has a label: a holdout needs labels")
            raise DataError(f"{where}: {what}")
        if self.settings.outputs.task in ("two labels", "classes") and np.all(labels == labels[0]):
            raise DataError(f"{where}: all examples are of one class: a holdout needs examples of all classes")

    def _ways(self) -> tuple[tuple[str, ...], bool]:
        """The ways of merging to try, and whether to search for the best candidate, with a stack."""
        rule, weights_only, row = self.request.rule, self.shards.weights_only, self.shards.algorithm.merging
        ways = ("mean", "touched") if weights_only and len(row.ways) > 1 else row.ways
        if rule in (None, "search") and self.request.has_holdout:
            return ways, True
        if rule is None:
            return (row.unjudged if row.unjudged in ways else "touched",), False
        if rule not in ways:
            what = "weights without their state" if weights_only else f"--algorithm {self.settings.algorithm}"
            takes = ", ".join(way for way in ways if way in RULES)
            raise UsageError(f"--rule {rule} cannot be used with {what}: use {takes}, or search with a --holdout")
        return (rule,), False

    def add_up(self) -> None:
        """Compute the sums over the shards."""
        streams = ShardStreams(self.shards, self.numbers)
        ways = [*self.ways, *([MEAN.way] if self.request.has_holdout else [])]
        averages = self.settings.average and not self.shards.weights_only
        learned = streams.sums(ways, learned=True) if averages else None
        self.weights = CandidateWeights(self.shards, self.numbers, self.request.state, streams.sums(ways), learned)

    def choose(self) -> None:
        """Choose the candidate that becomes the model."""
        merges, holdout = [Candidate(way) for way in self.ways], self._holdout
        if holdout is None:
            self.choice = MergeChoice(merges[0])
            return
        clip, numbers = self.shards.range, self.numbers
        if "min_label" in numbers:  # the rule has a range for each class, from about -1 to 1
            clip = min(numbers["min_label"]), max(numbers["max_label"])
        own = [START, *(Candidate("shard", shard=i) for i in range(len(self.shards.each)))]  # existing models
        judge = Judge(self.shards, merges, own, lambda asked: holdout.scores(map(self.weights.vector, asked)), clip)
        self.choice = judge.choice(self.searches)

    def finish(self) -> None:
        """Create the model of the chosen candidate."""
        shards, chosen, keys = self.shards, self.choice.chosen, self.weights.sums.keys
        s, start, fields, unseen = self.settings, shards.start, shards.fields, self.weights.unseen(chosen)
        weights, w = self.weights.both(chosen)
        merged = self.weights.merged(w, unseen)
        state, numbers = ({}, {"unseen": unseen} if any(unseen) else {}) if shards.weights_only else (
            self.weights.state(merged, weights))
        if fields.get("w") == "f" and not s.average:
            with np.errstate(over="ignore"):
                weights = weights.astype(np.float32).astype(np.float64)
        names, self.name_limit = shards.names(keys, np.any(weights != 0, axis=1))
        seen = max(shard.model.seen for shard in shards.all)
        self.model = Model(
            algorithm=s.algorithm, loss=s.loss, options=s.stored(), counters=shards.counters, range=shards.range,
            rule={name: s.outputs.stored(each) for name, each in numbers.items()},
            keys=keys, weights=flat(weights), weights_only=shards.weights_only,
            state={name: flat(state[name], code) for name, code in fields.items()},
            classes=shards.classes, columns=shards.columns, names=names,
            base=start.model.digest if start else "", seen=seen if seen > len(keys) else 0,
            merged={"shards": len(shards.each), "digest": shards.digest, "rule": chosen.way,
                    "step": 1.0, "state": self.request.state},
            program=f"vwlite {__version__}",
        )
        self.nonzeros = int(np.count_nonzero((weights != 0) & merged.free))

    def with_absent_cells(self) -> Model:
        """The model with the weights of absent cells of tables; it must have all keys."""
        record = united(shard.model.absent for shard in self.shards.each)
        return with_record(self.model, record) if record else self.model
