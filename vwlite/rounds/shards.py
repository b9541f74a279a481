"""One shard: its examples in memory, and what they say of any weights."""

from typing import Any

from vwlite.core.solve.shard import Shard
from vwlite.errors import DataError, UsageError
from vwlite.model import Model
from vwlite.options.settings import Settings
from vwlite.rounds.files import Part, refusal_of
from vwlite.runs.problem import Examples


def check_problem(settings: Settings, what: str) -> None:
    """UsageError for a problem that is not solved in rounds. what: whose it is."""
    why = refusal_of(settings)
    if why:
        raise UsageError(f"{what}: a problem with {why} is not solved in rounds over shards; vwlite solve takes it")


def shard_of(examples: Examples, settings: Settings) -> Shard:
    """DataError for labels that the loss does not take."""
    try:
        return Shard(examples.rows, settings.loss, constant=settings.constant)
    except ValueError as e:
        raise DataError(str(e)) from None


def facts_of(examples: Examples) -> dict[str, Any]:
    """Those of a `Part` that are the same in each round, but for the keys."""
    rows = examples.rows
    counters = {"examples": len(rows) + rows.unlabelled, "unlabelled": rows.unlabelled, "features": rows.nonzeros}
    return {"shard": examples.digest, "counters": counters, "columns": examples.columns}


def part_at(examples: Examples, model: Model, *, certificate: bool, name: str) -> Part:
    """What a shard says of the weights of a model. From the second round on, its keys are known."""
    weights, constant = examples.start(model, 0)
    sums, slopes, second = shard_of(examples, model.settings).sums(weights, constant, certificate)
    facts = facts_of(examples)
    keys = None if model.solved["passes"] else examples.rows.keys
    return Part(keys=keys, sums=sums, slopes=slopes, second=second, name=name, **facts)
