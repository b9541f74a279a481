"""Merges by ranges of features, on the workers: for more shards, or larger models, than one machine should have.

Each shard's model is cut into ranges on the worker that learned it; one worker sums the parts of a range and later
stores its weights. Only sums of losses and the merged model come to the driver. No shard's own model is
a candidate.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vwlite.core.merge.sums import Sums
from vwlite.dask.parts import FilePart
from vwlite.dask.work import Failed, Question, ShardJob, ShardResult, evaluate, holdout_in_memory, own_folder
from vwlite.merging.choice import MergeChoice
from vwlite.merging.holdout import START, Candidate, HoldoutScores, Vector
from vwlite.merging.merged import Merge, MergeRequest
from vwlite.merging.shards import ShardModel, checked_shards
from vwlite.model import Model
from vwlite.model.feature_names import NONE
from vwlite.model.read import map_model
from vwlite.model.slots import Array, array_of


@dataclass(frozen=True)
class Summed:
    """The sums of a range over all shards. shards: their models without features, by their names."""

    shards: dict[str, Model]
    keys: bytes
    columns: dict[str, bytes]


class RangeMerge(Merge):
    """The merge of a range: no shard's own model is a candidate, as each range has only a part of it."""

    def _own(self) -> list[Candidate]:
        return [START]


@dataclass(frozen=True)
class Range:
    """A range of features, and what its merge needs."""

    number: int
    count: int
    request: MergeRequest

    def cut(self, model: Model) -> None:
        """Leave a model only the keys of this range, in place, without names."""
        low, high = (((self.number - back) << model.settings.bits) // self.count for back in (1, 0))
        begin, end = bisect_left(model.keys, low), bisect_left(model.keys, high)
        width = model.records
        model.keys = model.keys[begin:end]
        model.weights = model.weights[begin * width : end * width]
        model.state = {name: numbers[begin * width : end * width] for name, numbers in model.state.items()}
        model.names, model.more = NONE, {}


@dataclass(frozen=True)
class Facts:
    """What the driver has to know of what a shard has taught."""

    lines: int
    keys: int


def facts_of(learned: ShardResult | Failed) -> Facts | Failed:
    return learned if isinstance(learned, Failed) else Facts(learned.lines, learned.keys)


def pieces(learned: ShardResult, ranges: list[Range]) -> list[Model]:
    """A model, cut into ranges."""
    with own_folder() as folder:
        path = written(folder, learned.model)
        assert path is not None
        found = []
        for r in ranges:
            model = map_model(path)
            r.cut(model)
            found.append(model)
        return found


def piece(found: list[Model], number: int) -> Model:
    return found[number - 1]


def add_up(found: list[Model], names: list[str], start: bytes, r: Range) -> Summed:
    """The sums of a range over all shards."""
    with own_folder() as folder:
        run = merge_of(dict(zip(names, found, strict=True)), written(folder, start), r)
        run.add_up()
        heads = {name: without_features(model) for name, model in zip(names, found, strict=True)}
        sums = run.weights.sums
        return Summed(heads, sums.keys.tobytes(), {name: sums[name].tobytes() for name in sums.names})


def written(folder: Path, model: bytes) -> str | None:
    """The file of a model; None without a model."""
    path = folder / "model"
    path.write_bytes(model)
    return str(path) if model else None


def without_features(m: Model) -> Model:
    return replace(m, keys=m.keys[:0], weights=m.weights[:0], state={n: x[:0] for n, x in m.state.items()})


def heads_of(sums: Summed) -> dict[str, Model]:
    return sums.shards


def merge_of(shards: dict[str, Model], start: str | None, r: Range) -> RangeMerge:
    """The merge of a range. start: the file of the model that the shards began from."""
    each = [ShardModel(name, replace(model)) for name, model in shards.items()]
    checked = checked_shards(each, [], start, r.request.loss)
    if checked.start is not None:
        r.cut(checked.start.model)
    return RangeMerge(r.request, checked)


def added_up(sums: Summed, start: str | None, r: Range) -> RangeMerge:
    """The same after `add_up`."""
    run = merge_of(sums.shards, start, r)
    columns = {name: np.frombuffer(data) for name, data in sums.columns.items()}
    run.take(Sums.restored(np.frombuffer(sums.keys, dtype=np.uint32), columns, run.shards.records))
    return run


def vectors(sums: Summed, start: bytes, r: Range, question: Question) -> dict[Candidate, Vector]:
    """What predictions are made of, in a range."""
    with own_folder() as folder:
        run = added_up(sums, written(folder, start), r)
        return {c: run.vector(c) for c in question.candidates}


def keys_of(learned: ShardResult | Failed, part: FilePart, job: ShardJob, question: Question) -> bytes:
    """The keys of the features of the lines of a shard that are held out."""
    if isinstance(learned, Failed) or not learned.held:
        return b""
    with own_folder() as folder, holdout_in_memory(folder, learned, part, job, question) as holdout:
        return bytes(holdout.keys.tobytes())


def selected(vector: Vector, keys: bytes) -> Vector:
    """Of a vector only these keys, which ascend."""
    mine = np.asarray(vector.keys)
    at = np.flatnonzero(np.isin(mine, np.frombuffer(keys, dtype=np.uint32), assume_unique=True))
    rows = np.asarray(vector.rows).reshape(len(mine), len(vector.columns))[at]
    return replace(vector, keys=array_of(mine[at].tobytes(), "I"), rows=array_of(rows.tobytes(), "d"))


def all_selected(found: dict[Candidate, Vector], keys: bytes) -> dict[Candidate, Vector]:
    """The same of several vectors."""
    return {key: selected(vector, keys) for key, vector in found.items()}


def joined_vectors(each: list[dict[Candidate, Vector]]) -> dict[Candidate, Vector]:
    """Those of all ranges, which ascend."""
    return {
        key: replace(v, keys=together([x[key].keys for x in each]), rows=together([x[key].rows for x in each]))
        for key, v in each[0].items()
    }


def together(arrays: list[Array]) -> Array:
    """Arrays, one after the other."""
    return array_of(b"".join(numbers.tobytes() for numbers in arrays), arrays[0].format)


def judge_ranges(
    learned: ShardResult | Failed, part: FilePart, job: ShardJob, question: Question,
    each: list[dict[Candidate, Vector]],
) -> HoldoutScores | Failed | None:
    """As `evaluate`, with vectors of all ranges."""
    return evaluate(learned, part, job, replace(question, vectors=joined_vectors(each)))


def finished(sums: Summed, start: bytes, r: Range, chosen: Candidate) -> tuple[Model, int]:
    """The merged model of a range, and how many of its weights are not zero."""
    with own_folder() as folder:
        run = added_up(sums, written(folder, start), r)
        run.choice = MergeChoice(chosen)
        run.finish()
        return replace(run.model, names=NONE, more={}), run.nonzeros


def joined(models: list[Model]) -> Model:
    """The model of all ranges, in their order."""
    first, keys = models[0], together([m.keys for m in models])
    return replace(
        first,
        keys=keys,
        seen=first.seen if first.seen > len(keys) else 0,
        weights=together([m.weights for m in models]),
        state={name: together([m.state[name] for m in models]) for name in first.state},
    )
