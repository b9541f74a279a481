"""The driver's half of solving in rounds: from the sums over each shard to the next weights.

The sums are added in the order of the shards' digests, so nothing depends on where they come from, or in which order.
"""

from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from vwlite import __version__
from vwlite.algorithms.build import make_expander
from vwlite.algorithms.table import SOLVED
from vwlite.core.base.checksum import checksum
from vwlite.core.solve.rounds import OWLQN, SPG
from vwlite.core.solve.shard import Dual, add_at, add_to, is_one_sided, mean_gradient, places_of, united
from vwlite.core.solve.weights import aligned, nonzero_records
from vwlite.errors import DataError
from vwlite.model import Model
from vwlite.model.header import COUNTERS
from vwlite.options.settings import Settings
from vwlite.rounds.files import Part, State
from vwlite.runs.problem import CERTAIN

STEPS = 5  # that together have to lower the objective, where there are no certificates
HEADER = " round             loss        objective           gap     gap %      step  nonzeros"


@dataclass
class Row:
    """Where a run stands after a round. The names are those of the report."""

    round: int
    loss: float  # the mean, at the weights of the round
    objective: float  # the least so far
    gap: float | None  # of that; None without certificates
    step: float  # of the weights of the round, along its direction
    taken: bool
    nonzeros: int

    def text(self, share: float) -> str:
        gap = f"{'-':>13} {'-':>9}" if self.gap is None else f"{self.gap:>13.6g} {100 * share:>9.3g}"
        refused = "" if self.taken else "  refused"
        losses = f"{self.loss:>16.10g} {self.objective:>16.10g}"
        return f"{self.round:>6} {losses} {gap} {self.step:>9.3g} {self.nonzeros:>9}{refused}"


class Rounds:
    """A run over rounds. Its state is a `State`, which `took` and `asks` are left to whoever writes it."""

    def __init__(self, state: State, tolerance: float) -> None:
        self.state, self.tolerance = state, tolerance
        self.settings = Settings.restored(state.options)
        self.constant_key: int | None = make_expander(self.settings).constant_key
        self.descent: OWLQN | SPG | None = None
        if state.numbers:
            self.descent = self._descent(memoryview(state.arrays["x"]))
            self.descent.load(state.numbers, state.arrays)

    @classmethod
    def begin(cls, settings: Settings, start: Model | None, tolerance: float) -> "Rounds":
        """start: whose weights are the first; without, they are zero."""
        solver = "owl-qn" if settings.radius is None else "spg"
        state = State(settings.stored(), solver, program=f"vwlite {__version__}")
        state.keys, state.places = array("I"), array("I")
        x = array("d", [0.0])
        if start is not None:
            constant = make_expander(settings).constant_key
            keys = array("I", [key for key in start.keys if key != constant])
            x = aligned(keys, start.keys, start.weights)
            x.append(aligned(array("I", [constant]), start.keys, start.weights)[0] if constant is not None else 0.0)
            state.keys = keys
        state.arrays = {"x": x}
        run = cls(state, tolerance)
        if settings.radius is not None:  # into the ball
            state.arrays["x"] = array("d", run._descent(memoryview(x)).arrays["trial"])
        return run

    def _descent(self, x: Any) -> "OWLQN | SPG":
        s = self.settings
        return OWLQN(x, l1=s.l1, l2=s.l2) if s.radius is None else SPG(x, radius=s.radius, l2=s.l2)

    # --- a round -----------------------------------------------------------------------------

    def take(self, parts: list[Part]) -> Row:
        """What all shards say of the weights that were asked for. DataError for shards that are not those of before."""
        state, parts = self.state, self.checked(parts)
        if self.descent is None:
            self._first(parts)
        assert self.descent is not None
        certified = all(part.has_certificate for part in parts)
        d, at, places = len(state.keys), 0, memoryview(state.places)
        sums, slopes = array("d", bytes(8 * len(parts[0].sums))), array("d", bytes(8 * d))
        second = array("d", bytes(8 * d)) if certified and self.settings.constant else None
        for part, (_, _, features) in zip(parts, state.shards, strict=True):
            if len(part.slopes) != features:
                raise DataError(f"{part.name} has {len(part.slopes)} features, and had {features} in the first round")
            add_to(sums, part.sums)
            its, at = places[at : at + features], at + features
            add_at(slopes, its, part.slopes)
            if second is not None:
                add_at(second, its, part.second)
        loss, descent, s = sums[1] / sums[0], self.descent, self.settings
        if s.constant and is_one_sided(s.loss, sums):
            raise DataError("all labels, of all shards, are on one side: the best constant is infinite; use "
                            "--no-constant, or other data")  # fmt: skip
        if certified:
            dual = Dual(s.loss, s.constant, sums, slopes, second)
            state.lower_bound, state.certified = max(state.lower_bound, dual.bound(s.l1, s.l2, s.radius)), True
        step = descent.step
        try:
            taken = descent.tell(loss, mean_gradient(sums, slopes, s.constant), sums[3] / sums[0])
        except ValueError as e:
            raise DataError(f"no step can be made: {e}; scale the features") from None
        if taken:
            state.history = [*state.history, self.objective][-STEPS - 1 :]
        state.numbers, state.arrays = descent.state(), descent.arrays
        self.judge()
        gap = self.gap if state.certified else None
        return Row(descent.rounds, loss, self.objective, gap, step, taken, self.nonzeros)

    def checked(self, parts: list[Part]) -> list[Part]:
        """In the order of their shards. DataError unless these are the shards of the rounds before, each once, and of
        one kind."""
        parts = sorted(parts, key=lambda part: part.shard)
        for one, other in pairwise(parts):
            if one.shard == other.shard:
                raise DataError(f"{one.name} and {other.name} are of the same examples, which would count twice: leave "
                                "one out")  # fmt: skip
            if one.has_certificate != other.has_certificate:
                has, lacks = (one, other) if one.has_certificate else (other, one)
                raise DataError(f"{has.name} has a certificate and {lacks.name} has none: make all with --certificate, "
                                "or none")  # fmt: skip
            if one.columns != other.columns:
                raise DataError(f"{one.name} and {other.name} are of tables whose columns mean different things: say "
                                "what they are, with --label, --numeric, --categorical and the like")  # fmt: skip
        known = {shard: examples for shard, examples, _ in self.state.shards}
        here = {part.shard: part for part in parts}
        for shard, part in here.items():
            if known and shard not in known:
                raise DataError(f"{part.name} is of examples that the rounds before did not have: each round is over "
                                "the same shards; begin anew for others")  # fmt: skip
        missing = [examples for shard, examples in known.items() if shard not in here]
        if missing:
            which = f"that of {missing[0]} examples" if len(missing) == 1 else f"{len(missing)} of {len(known)}"
            raise DataError(f"there is no gradient of a shard of the rounds before: {which}; name all")
        return parts

    def _first(self, parts: list[Part]) -> None:
        """The features of all shards, and the weights there."""
        state, begin = self.state, memoryview(self.state.arrays["x"])
        keys: array[int] = array("I")
        for part in parts:
            if part.keys is None:
                raise DataError(f"{part.name} does not say which features it is of, as it is of a later round: make it "
                                "with the model of vwlite step --init")  # fmt: skip
            keys = united(keys, part.keys)
        x = aligned(keys, state.keys, begin[:-1])
        x.append(begin[-1])
        self.descent = self._descent(x)
        state.keys = keys
        state.shards = [[part.shard, part.counters["examples"], len(part.keys)] for part in parts]
        state.places = array("I")
        for part in parts:
            state.places += places_of(keys, part.keys)
        state.counters = {name: sum(part.counters[name] for part in parts) for name in COUNTERS}
        state.columns = parts[0].columns

    def judge(self) -> None:
        """Whether the run is at its end, by the tolerance."""
        state, history, descent = self.state, self.state.history, self.descent
        assert descent is not None
        state.word = "stopped" if descent.done else "continue"
        if state.certified:
            if self.gap <= max(self.tolerance, CERTAIN) * self.objective:
                state.word = "converged"
        elif len(history) > STEPS and history[0] - history[-1] <= self.tolerance * history[-1]:
            state.word = "converged"

    # --- where it stands ---------------------------------------------------------------------

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
    def lower_bound(self) -> float:
        return min(self.state.lower_bound, self.objective)

    @property
    def gap(self) -> float:
        """objective - lower bound; what is only rounding is 0."""
        gap = self.objective - self.lower_bound
        return gap if gap > CERTAIN * self.objective else 0.0

    @property
    def share(self) -> float:
        """The gap as a part of the objective."""
        return self.gap / self.objective if self.objective > 0 else 0.0

    @property
    def nonzeros(self) -> int:
        assert self.descent is not None
        return int(self.descent.nonzeros("best" if isinstance(self.descent, SPG) else "x"))

    @property
    def why(self) -> str:
        """Why the run is at its end; nothing if it is not."""
        if self.state.word == "converged" and self.state.certified:
            return f"the gap is at most --tolerance {self.tolerance:g}"
        if self.state.word == "converged":
            return f"{STEPS} steps lowered the objective by no more than --tolerance {self.tolerance:g} of it"
        return "no step lowers the objective any more" if self.done else ""

    def results(self) -> dict[str, Any]:
        """What summaries and reports say, by name."""
        state = self.state
        lines: dict[str, Any] = {"shards": len(state.shards), "number of examples": state.counters.get("examples", 0)}
        if self.descent is None:
            return lines
        bound = {"lower bound": self.lower_bound, "gap": self.gap, "relative gap": self.share}
        return {
            "objective": self.objective, **(bound if state.certified else {}), "nonzero weights": self.nonzeros,
            **lines, "rounds": self.descent.rounds,
        }  # fmt: skip

    def weights(self, *, best: bool) -> tuple[Any, float]:
        """Those of each key, and the constant: the best so far, or those at which gradients are wanted."""
        d = self.descent
        if d is None:
            x = memoryview(self.state.arrays["x"])
            return x[:-1], x[-1]
        found: tuple[Any, float] = d.weights(("best" if isinstance(d, SPG) else "x") if best else "trial")
        return found

    def model(self, *, best: bool | None = None) -> Model:
        """The model of the best weights, or of those at which gradients are wanted next; by default the best if the
        run is done."""
        state, best = self.state, self.done if best is None else best
        weights, constant = self.weights(best=best)
        keys, found = nonzero_records(state.keys, [weights], self.constant_key, [constant])
        known = self.descent is not None and best
        return Model(
            algorithm=SOLVED.name,
            loss=self.settings.loss,
            options=state.options,
            counters=state.counters or dict.fromkeys(COUNTERS, 0),
            rule={},
            range=None,
            keys=memoryview(keys),
            weights=memoryview(found),
            weights_only=True,
            interrupted=not self.done,
            columns=state.columns,
            solved={
                "solver": state.solver,
                "objective": self.objective if known else None,
                "lower_bound": self.lower_bound if known else state.lower_bound,
                "l1_max": None,
                "passes": float(self.descent.rounds if self.descent is not None else 0),
                "data": f"{checksum(b''.join(bytes.fromhex(shard) for shard, _, _ in state.shards)):016x}",
            },
            seen=len(state.keys),
            program=state.program,
        )
