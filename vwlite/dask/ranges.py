"""Merges by ranges of features, on the workers: for more shards, or larger models, than one machine should have.

Each shard's model is cut into ranges where it was learned; a range's pieces meet on one worker, which adds them up, and
later has the weights of the range. Only sums of losses and the merged model come to the driver. No shard's own model is
a candidate.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vwlite.dask.partial import MergeOfSums, sums_of
from vwlite.dask.parts import Part
from vwlite.dask.work import Answer, Failed, Learned, Question, ShardJob, held_out, judge, own_folder
from vwlite.merging.merge import Merge
from vwlite.merging.search import Candidate, Vector
from vwlite.merging.shards import Shard, checked_shards, shards_of_sums
from vwlite.model import Model
from vwlite.model.feature_names import NONE
from vwlite.model.read import map_model
from vwlite.model.slots import Array, array_of
from vwlite.options.merge import MergeOptions


@dataclass(frozen=True)
class Range:
    """One of so many ranges of features, and what a merge of it needs."""

    number: int
    count: int
    options: MergeOptions

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


def facts_of(learned: Learned | Failed) -> Facts | Failed:
    return learned if isinstance(learned, Failed) else Facts(learned.lines, learned.keys)


def pieces(learned: Learned, ranges: list[Range]) -> list[Model]:
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


def add_up(found: list[Model], names: list[str], start: bytes, r: Range) -> Model:
    """The sums of a range over all shards."""
    with own_folder() as folder:
        shards = [Shard(name, model) for name, model in zip(names, found, strict=True)]
        o = replace(r.options, holdout=())
        checked = checked_shards(shards, [], written(folder, start), o.typed.get("loss"))
        if checked.start is not None:
            r.cut(checked.start.model)
        run = Merge(o, checked, every_sum=True)
        run.add_up()
        return sums_of(run)


def written(folder: Path, model: bytes) -> str | None:
    """The file of a model; None: there is no model."""
    path = folder / "model"
    path.write_bytes(model)
    return str(path) if model else None


def head_of(sums: Model) -> Model:
    """Sums without any feature: what they are of."""
    return replace(sums, keys=sums.keys[:0], weights=sums.weights[:0], state={n: x[:0] for n, x in sums.state.items()})


def merge_of(sums: Model, start: str | None, r: Range) -> MergeOfSums:
    """The merge of a range. start: the file of the model that the shards began from."""
    shards = shards_of_sums(replace(sums), start, r.options.typed.get("loss"))
    if shards.start is not None:
        r.cut(shards.start.model)
    return MergeOfSums(r.options, shards)


def vectors(sums: Model, start: bytes, r: Range, question: Question) -> dict[Candidate, Vector]:
    """What predictions are made of, in a range."""
    with own_folder() as folder:
        run = merge_of(sums, written(folder, start), r)
        run.add_up()
        of = run.vector_as_learned if question.whole else run.vector
        return {key: of(key) for key in question.wanted()}


def keys_of(learned: Learned | Failed, part: Part, job: ShardJob, question: Question) -> bytes:
    """The keys of the features of the lines of a shard that are held out."""
    if isinstance(learned, Failed) or not learned.held:
        return b""
    with own_folder() as folder, held_out(folder, learned, part, job, question) as holdout:
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
    learned: Learned | Failed, part: Part, job: ShardJob, question: Question, each: list[dict[Candidate, Vector]]
) -> Answer | Failed:
    """As `judge`, with vectors of all ranges."""
    return judge(learned, part, job, replace(question, vectors=joined_vectors(each)))


def finished(sums: Model, start: bytes, r: Range, chosen: Candidate) -> tuple[Model, int]:
    """The merged model of a range, and how many of its weights are not zero."""
    with own_folder() as folder:
        run = merge_of(sums, written(folder, start), r)
        run.add_up()
        run.chosen = chosen
        run.finish()
        return replace(run.model, names=NONE, more={}), run.nonzeros()


def joined(models: list[Model]) -> Model:
    """The model of all ranges, in their order."""
    first = models[0]
    return replace(
        first,
        keys=together([m.keys for m in models]),
        weights=together([m.weights for m in models]),
        state={name: together([m.state[name] for m in models]) for name in first.state},
    )
