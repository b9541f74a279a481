"""Solving in rounds: from the sums over each shard to the next weights, until the tolerance is reached.

The owners of the shards, processes or Dask workers, only compute the sums at given weights. These are added in the
order of the shards' digests, so the result does not depend on where they come from, or in which order.
"""

import json
import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.base.arrays import is_ascending
from vwlite.core.base.checksum import checksum
from vwlite.core.solve.rounds import OWLQN, SPG
from vwlite.core.solve.shard import DualPoint, is_one_sided, mean_gradient
from vwlite.core.solve.weights import aligned
from vwlite.errors import DataError
from vwlite.model import Model
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_expander
from vwlite.model.slots import array_of
from vwlite.output.results import Result
from vwlite.runs.run import say
from vwlite.solving.problem import CERTAIN, Bounds, solved_model
from vwlite.solving.rounds.sample import KINDS, Sample, united
from vwlite.solving.rounds.shards import ShardSums, solver_of
from vwlite.solving.rounds.sums import FeaturesOfShards, sum_of_arrays

ALL_SHOWN = 100  # each of the first rounds has a row; of later rounds fewer and fewer have one
NO_STATE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # errors of `RoundState.unpacked`
KINDS_OF_ARRAYS = {"keys": "I", "places": "I", **{f"sample {name}": kind for name, kind in KINDS.items()}}
HEADER = " round             loss        objective           gap     gap %      step  nonzeros"


@dataclass
class RoundRow:
    """The progress of a run after a round. The names are those of the report."""

    round: int
    loss: float  # the mean, at the weights of the round
    objective: float  # the least so far
    gap: float  # of that
    step: float  # of the weights of the round, along its direction
    taken: bool
    nonzeros: int

    def text(self, share: float) -> str:
        refused = "" if self.taken else "  refused"
        losses = f"{self.loss:>16.10g} {self.objective:>16.10g}"
        return (f"{self.round:>6} {losses} {self.gap:>13.6g} {100 * share:>9.3g} {self.step:>9.3g} "
                f"{self.nonzeros:>9}{refused}")


@dataclass
class RoundState:
    """The state of a run between two rounds."""

    options: dict[str, Any]
    solver: str  # of ROUNDS
    shards: list[list[Any]] = field(default_factory=list)  # digest, examples and features of each, ascending
    counters: dict[str, int] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)  # of tables
    lower_bound: float = 0.0
    word: str = "continue"  # or converged, or stopped
    numbers: dict[str, Any] = field(default_factory=dict)  # of the method; {}: it has not started
    keys: Any = None
    places: Any = None  # of the keys of each shard among all keys
    sample: dict[str, Any] = field(default_factory=dict)  # arrays of a `Sample`, if the method needs it
    arrays: dict[str, Any] = field(default_factory=dict)

    def packed(self) -> bytes:
        """A line of JSON, and the arrays."""
        facts = dict(vars(self))
        of_sample = {f"sample {name}": numbers for name, numbers in facts.pop("sample").items()}
        arrays = {"keys": self.keys, "places": self.places, **of_sample, **self.arrays}
        facts["arrays"] = {name: len(numbers) for name, numbers in arrays.items()}
        del facts["keys"], facts["places"]
        return json.dumps(facts).encode() + b"\n" + b"".join(memoryview(a).cast("B") for a in arrays.values())

    @classmethod
    def unpacked(cls, data: bytes) -> "RoundState":
        """The state of packed data. NO_STATE if it is invalid, which may be detected only by `Rounds`."""
        at = data.index(b"\n") + 1
        facts, arrays = json.loads(data[:at]), {}
        for name, count in facts.pop("arrays").items():
            kind = KINDS_OF_ARRAYS.get(name, "d")
            size = array(kind).itemsize
            arrays[name] = array_of(data[at : at + size * count], kind)
            at += size * count
        sample = {name: arrays.pop(f"sample {name}") for name in KINDS if f"sample {name}" in arrays}
        found = cls(keys=arrays.pop("keys"), places=arrays.pop("places"), sample=sample, arrays=arrays, **facts)
        sizes = sum(features for _, _, features in found.shards)
        if (found.solver == "l-bfgs") != bool(sample) or len(sample.get("lacking", found.keys)) != len(found.keys):
            raise ValueError("its sample does not match")
        if at != len(data) or not found.numbers or not is_ascending(found.keys) or sizes != len(found.places):
            raise ValueError("its arrays do not match")
        return found


class Rounds:
    """A run over rounds. Its state is a `RoundState`."""

    def __init__(self, state: RoundState, tolerance: float) -> None:
        self.state, self.tolerance = state, tolerance
        self.ended = ""  # why there are no more rounds
        self.settings = Settings.restored(state.options)
        self.constant_key: int | None = make_expander(self.settings).constant_key
        self.descent: OWLQN | SPG | None = None
        self._sample = Sample(state.sample, self.settings) if state.sample else None
        if state.numbers:
            self.descent = self._descent(memoryview(state.arrays["x"]))
            self.descent.load(state.numbers, state.arrays)

    @classmethod
    def create(cls, settings: Settings, start: Model | None, tolerance: float) -> "Rounds":
        """start: whose weights are the first; without, they are zero."""
        state = RoundState(settings.stored(), solver_of(settings))
        state.keys, state.places = array("I"), array("I")
        x = array("d", [0.0])
        if start is not None:
            constant_key = make_expander(settings).constant_key
            keys = array("I", [key for key in start.keys if key != constant_key])
            x = aligned(keys, start.keys, start.weights)
            x.append(0.0 if constant_key is None else aligned(array("I", [constant_key]), start.keys, start.weights)[0])
            state.keys, state.columns = keys, start.columns
        state.arrays = {"x": x}
        run = cls(state, tolerance)
        if settings.radius is not None:  # into the ball
            state.arrays["x"] = array("d", run._descent(memoryview(x)).arrays["trial"])
        return run

    def _descent(self, x: Any) -> "OWLQN | SPG":
        s = self.settings
        if s.radius is not None:
            return SPG(x, radius=s.radius, l2=s.l2)
        return OWLQN(x, l1=s.l1, l2=s.l2, solve=self._sample.solve if self._sample is not None else None)

    # --- rounds ------------------------------------------------------------------------------

    def go(
        self, ask: Callable[["Rounds"], list[ShardSums]], over: Callable[[RoundRow], str], *, shards: int, quiet: bool
    ) -> Iterator[RoundRow]:
        """Run rounds until the end, whose reason is in `ended`; yields a row after each.

        ask: returns the sums over each shard at the requested weights; nothing after a stop. over: returns why a round
        is the last although the tolerance is not reached, or nothing.
        """
        if not quiet:
            say(f"solver = {self.state.solver}, loss = {self.settings.loss}, shards = {shards}")
            say(HEADER)
        due, self.ended = 0, self.why
        while not self.ended:
            parts = ask(self)
            if not parts:
                self.ended = "interrupted"
                return
            row = self.take(parts)
            if not math.isfinite(row.objective):
                raise DataError("the objective is not finite; scale the features")
            self.ended = self.why or over(row)
            if not quiet and (self.ended or row.round >= due):
                say(row.text(self.bounds.share))
                due = row.round + 1 + max(0, row.round - ALL_SHOWN) // 10
            yield row

    def take(self, parts: list[ShardSums]) -> RoundRow:
        """Add up the sums of all shards at the requested weights. DataError if the shards differ from those before."""
        state, parts = self.state, self.checked(parts)
        if self.descent is None:
            self._first(parts)
        assert self.descent is not None
        for part, (_, _, features) in zip(parts, state.shards, strict=True):
            if len(part.slopes) != features:
                raise DataError(f"{part.name} has {len(part.slopes)} features, and had {features} in the first round")
        begins = [*accumulate((features for *_, features in state.shards), initial=0)]
        places = [np.asarray(state.places)[a:b] for a, b in pairwise(begins)]
        of_features = FeaturesOfShards(state.keys, places)
        sums = array("d", sum_of_arrays([part.sums for part in parts]).tobytes())
        slopes = of_features.sum([part.slopes for part in parts])
        second = of_features.sum([part.second for part in parts]) if parts[0].second is not None else None
        loss, descent, s = sums[1] / sums[0], self.descent, self.settings
        if s.constant and is_one_sided(s.loss, sums):
            raise DataError("all labels of all shards are on one side: the optimal intercept is infinite; use "
                            "--no-constant, or other data")
        dual = DualPoint(s.loss, s.constant, sums, slopes, second)
        state.lower_bound = max(state.lower_bound, dual.bound(s.l1, s.l2, s.radius))
        step = descent.step
        try:
            taken = descent.tell(loss, mean_gradient(sums, slopes, s.constant), sums[3] / sums[0])
        except ValueError as e:
            raise DataError(f"no step is possible: {e}; scale the features") from None
        state.numbers, state.arrays = descent.state(), descent.arrays
        self.check_end()
        return RoundRow(descent.rounds, loss, self.objective, self.bounds.gap, step, taken, self.nonzeros)

    def checked(self, parts: list[ShardSums]) -> list[ShardSums]:
        """The sums in the order of the shards. DataError unless each shard of the rounds before is there once."""
        parts = sorted(parts, key=lambda part: part.shard)
        for one, other in pairwise(parts):
            if one.shard == other.shard:
                raise DataError(f"{one.name} and {other.name} have the same examples, which would count twice: leave "
                                "one out")
            if one.columns != other.columns:
                raise DataError(f"{one.name} and {other.name} are tables whose columns have different roles: set "
                                "them with --label, --numeric, --categorical and the like")
        known = {shard for shard, _, _ in self.state.shards}
        for part in parts:
            if known and part.shard not in known:
                raise DataError(f"{part.name} has other examples than in the rounds before: all rounds need the same "
                                "shards; restart for others")
        return parts

    def _first(self, parts: list[ShardSums]) -> None:
        """The features of all shards, and the weights there."""
        state, initial = self.state, memoryview(self.state.arrays["x"])
        found = FeaturesOfShards.of([part.keys for part in parts])
        x = aligned(found.keys, state.keys, initial[:-1])
        x.append(initial[-1])
        if state.solver == "l-bfgs":
            state.sample = united([part.sample for part in parts if part.sample is not None], found)
            try:
                self._sample = Sample(state.sample, self.settings)
            except ValueError:
                raise DataError("sums of squares of the features are not finite; scale the features") from None
        self.descent = self._descent(x)
        state.keys, state.places = found.keys, np.concatenate(found.places)
        state.shards = [[part.shard, part.counters["examples"], len(part.keys)] for part in parts]
        state.counters = {name: sum(part.counters[name] for part in parts) for name in COUNTERS}
        state.columns = parts[0].columns

    def check_end(self) -> None:
        """Whether the run is at its end, by the tolerance."""
        state, descent = self.state, self.descent
        assert descent is not None
        state.word = "stopped" if descent.done else "continue"
        if self.bounds.gap <= max(self.tolerance, CERTAIN) * self.objective:
            state.word = "converged"

    # --- progress ----------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self.state.word != "continue"

    @property
    def objective(self) -> float:
        """The least so far."""
        d = self.descent
        assert d is not None
        return d.least if isinstance(d, SPG) else d.objective

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.objective, min(self.state.lower_bound, self.objective))

    @property
    def nonzeros(self) -> int:
        assert self.descent is not None
        return int(self.descent.nonzeros("best" if isinstance(self.descent, SPG) else "x"))

    @property
    def why(self) -> str:
        """Why the run is at its end; nothing if it is not."""
        if self.state.word == "converged":
            return f"the gap is at most --tolerance {self.tolerance:g}"
        return "no step lowers the objective any more" if self.done else ""

    def results(self) -> list[Result]:
        """What summaries and reports say."""
        state = self.state
        found = [Result("shards", len(state.shards)), Result("number_of_examples", state.counters.get("examples", 0))]
        if self.descent is None:
            return found
        return [*self.bounds.results(), Result("nonzero_weights", self.nonzeros), *found,
                Result("rounds", self.descent.rounds)]

    def weights(self, *, best: bool) -> tuple[Any, float]:
        """The weight of each key, and the intercept: the best so far, or those at which gradients are requested."""
        d = self.descent
        if d is None:
            x = memoryview(self.state.arrays["x"])
            return x[:-1], x[-1]
        found: tuple[Any, float] = d.weights(("best" if isinstance(d, SPG) else "x") if best else "trial")
        return found

    def model(self, *, best: bool) -> Model:
        """The model of the best weights, or of those at which gradients are requested next."""
        state = self.state
        known = self.descent is not None and best
        return solved_model(
            self.settings, state.keys, [self.weights(best=best)], self.constant_key,
            counters=state.counters or dict.fromkeys(COUNTERS, 0), interrupted=not self.done, columns=state.columns,
            solved={
                "solver": state.solver,
                "objective": self.objective if known else None,
                "lower_bound": self.bounds.lower_bound if known else state.lower_bound,
                "l1_max": None,
                "passes": float(self.descent.rounds if self.descent is not None else 0),
                "data": f"{checksum(b''.join(bytes.fromhex(shard) for shard, _, _ in state.shards)):016x}",
            },
        )
