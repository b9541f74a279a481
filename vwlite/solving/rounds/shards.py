"""One shard: its examples in memory, and the sums over them at any weights."""

from array import array
from dataclasses import dataclass, field
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.solvers import ROUNDS
from vwlite.core.solve.shard import Shard
from vwlite.errors import DataError, UsageError
from vwlite.options.spec import option_name
from vwlite.solving.problem import Examples
from vwlite.solving.rounds.sample import ShardSample, sample_of

NOT_IN_ROUNDS = ("softmax", "oaa", "nonnegative", "box", "feature_weights", "nonzeros")  # settings


@dataclass
class ShardSums:
    """The sums over one shard at the weights of a round. Arrays are memoryviews or arrays of format "I" or "d"."""

    shard: str  # a digest of its examples
    counters: dict[str, int]  # COUNTERS
    keys: Any  # ascending: the features that it has; None: the driver knows them since the first round
    sums: Any
    slopes: Any  # of each key
    second: Any = None  # of each key, where the loss and the constant need it for the lower bound
    name: str = ""  # its name in messages
    columns: dict[str, Any] = field(default_factory=dict)  # of tables
    sample: ShardSample | None = None  # with the keys, if the solver needs it


def check_problem(settings: Settings, what: str) -> None:
    """UsageError for a problem that cannot be solved in rounds. what: the option that asks for rounds."""
    refused = [option_name(name) for name in NOT_IN_ROUNDS if getattr(settings, name)]
    if settings.normalize == "center":
        refused.append("--normalize center")
    if settings.loss not in ROUNDS["spg"].losses:
        refused.append(f"--loss {settings.loss}")
    if refused:
        why = refused[0]
        raise UsageError(f"{what}: a problem with {why} cannot be solved in rounds: vwlite solve without --shards can")


def shard_of(examples: Examples, settings: Settings) -> Shard:
    """DataError for labels that the loss does not take."""
    try:
        return Shard(examples.rows, settings.loss, constant=settings.constant)
    except ValueError as e:
        raise DataError(str(e)) from None


def solver_of(settings: Settings) -> str:
    """The row of ROUNDS."""
    if settings.radius is not None:
        return "spg"
    return "l-bfgs" if settings.l2 and not settings.l1 else "owl-qn"


def first_of(examples: Examples, settings: Settings, shards: int) -> dict[str, Any]:
    """The fields of a `ShardSums` that the first round needs, of one of so many shards."""
    rows = examples.rows
    sample = sample_of(rows, shards) if solver_of(settings) == "l-bfgs" else None
    return {"keys": array("I", rows.keys), "sample": sample}


def facts_of(examples: Examples) -> dict[str, Any]:
    """The fields of a `ShardSums` that are the same in each round."""
    return {"shard": examples.digest, "counters": examples.counters, "columns": examples.columns}
