"""Merges by ranges of features, on the workers: for more shards, or larger models, than one machine should have.

Each shard's model is cut into ranges where it was learned; a range's pieces meet on one worker, which adds them up, and
later has the weights of the range. Only sums of losses and the merged model come to the driver. No shard's own model is
a candidate.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vwlite.dask.partial import MergeOfSums, sums_of
from vwlite.dask.parts import Part
from vwlite.dask.work import Answer, Failed, Learned, Question, Sent, ShardJob, held_out, judge, own_folder
from vwlite.merging.merge import Merge
from vwlite.merging.search import Candidate
from vwlite.merging.shards import Shard, checked_shards, shards_of_sums
from vwlite.model import Model
from vwlite.model.read import map_model
from vwlite.model.slots import Array, array_of
from vwlite.options.merge import MergeOptions


@dataclass(frozen=True)
class Packed:
    """A model, or a range of one, that can be sent."""

    rest: dict[str, Any]  # what is no array
    arrays: dict[str, tuple[bytes, str]]

    @staticmethod
    def of(model: Model) -> "Packed":
        arrays = {"keys": model.keys, "weights": model.weights, **{f"state {n}": x for n, x in model.state.items()}}
        rest = {n: x for n, x in vars(model).items() if n not in ("keys", "weights", "state", "names", "more")}
        return Packed(rest, {n: (x.tobytes(), x.format) for n, x in arrays.items()})

    def model(self) -> Model:
        arrays: dict[str, Array] = {n: array_of(data, code) for n, (data, code) in self.arrays.items()}
        state = {n.removeprefix("state "): x for n, x in arrays.items() if n.startswith("state ")}
        return Model(**self.rest, keys=arrays["keys"], weights=arrays["weights"], state=state)


@dataclass(frozen=True)
class Range:
    """One of so many ranges of features, and what a merge of it needs."""

    number: int
    count: int
    options: MergeOptions

    def cut(self, model: Model) -> None:
        """Leave a model only the keys of this range, in place."""
        low, high = (((self.number - back) << model.settings.bits) // self.count for back in (1, 0))
        begin, end = bisect_left(model.keys, low), bisect_left(model.keys, high)
        width = model.records
        model.keys = model.keys[begin:end]
        model.weights = model.weights[begin * width : end * width]
        model.state = {name: numbers[begin * width : end * width] for name, numbers in model.state.items()}


@dataclass(frozen=True)
class Facts:
    """What the driver has to know of what a shard has taught."""

    lines: int
    keys: int


def facts_of(learned: Learned | Failed) -> Facts | Failed:
    return learned if isinstance(learned, Failed) else Facts(learned.lines, learned.keys)


def pieces(learned: Learned, ranges: list[Range]) -> list[Packed]:
    """A model, cut into ranges."""
    with own_folder() as folder:
        path = written(folder, learned.model)
        assert path is not None
        found = []
        for r in ranges:
            model = map_model(path)
            r.cut(model)
            found.append(Packed.of(model))
        return found


def piece(found: list[Packed], number: int) -> Packed:
    return found[number - 1]


def add_up(found: list[Packed], names: list[str], start: bytes, r: Range) -> Packed:
    """The sums of a range over all shards."""
    with own_folder() as folder:
        shards = [Shard(name, packed.model()) for name, packed in zip(names, found, strict=True)]
        o = replace(r.options, holdout=())
        checked = checked_shards(shards, [], written(folder, start), o.typed.get("loss"))
        if checked.start is not None:
            r.cut(checked.start.model)
        run = Merge(o, checked, every_sum=True)
        run.add_up()
        return Packed.of(sums_of(run))


def written(folder: Path, model: bytes) -> str | None:
    """The file of a model; None: there is no model."""
    path = folder / "model"
    path.write_bytes(model)
    return str(path) if model else None


def head_of(sums: Packed) -> Packed:
    """Sums without any feature: what they are of."""
    return replace(sums, arrays={n: (b"", code) for n, (_, code) in sums.arrays.items()})


def merge_of(sums: Packed, start: str | None, r: Range) -> MergeOfSums:
    """The merge of a range. start: the file of the model that the shards began from."""
    shards = shards_of_sums(sums.model(), start, r.options.typed.get("loss"))
    if shards.start is not None:
        r.cut(shards.start.model)
    return MergeOfSums(r.options, shards)


def vectors(sums: Packed, start: bytes, r: Range, question: Question) -> dict[Candidate, Sent]:
    """What predictions are made of, in a range."""
    with own_folder() as folder:
        run = merge_of(sums, written(folder, start), r)
        run.add_up()
        of = run.vector_as_learned if question.whole else run.vector
        return {key: Sent.of(of(key)) for key in question.wanted()}


def keys_of(learned: Learned | Failed, part: Part, job: ShardJob, question: Question) -> bytes:
    """The keys of the features of the lines of a shard that are held out."""
    if isinstance(learned, Failed) or not learned.held:
        return b""
    with own_folder() as folder, held_out(folder, learned, part, job, question) as holdout:
        return bytes(holdout.keys.tobytes())


def selected(sent: Sent, keys: bytes) -> Sent:
    """Of a vector only these keys, which ascend."""
    mine = np.frombuffer(sent.keys, dtype=np.uint32)
    at = np.flatnonzero(np.isin(mine, np.frombuffer(keys, dtype=np.uint32), assume_unique=True))
    rows = np.frombuffer(sent.rows).reshape(len(mine), len(sent.columns))[at]
    return replace(sent, keys=mine[at].tobytes(), rows=rows.tobytes())


def all_selected(found: dict[Candidate, Sent], keys: bytes) -> dict[Candidate, Sent]:
    """The same of several vectors."""
    return {key: selected(sent, keys) for key, sent in found.items()}


def joined_vectors(each: list[dict[Candidate, Sent]]) -> dict[Candidate, Sent]:
    """Those of all ranges, which ascend."""
    return {key: replace(sent, keys=b"".join(x[key].keys for x in each), rows=b"".join(x[key].rows for x in each))
            for key, sent in each[0].items()}  # fmt: skip


def judge_ranges(
    learned: Learned | Failed, part: Part, job: ShardJob, question: Question, each: list[dict[Candidate, Sent]]
) -> Answer | Failed:
    """As `judge`, with vectors of all ranges."""
    return judge(learned, part, job, replace(question, vectors=joined_vectors(each)))


def finished(sums: Packed, start: bytes, r: Range, chosen: Candidate) -> tuple[Packed, int]:
    """The merged model of a range, and how many of its weights are not zero."""
    with own_folder() as folder:
        run = merge_of(sums, written(folder, start), r)
        run.add_up()
        run.chosen = chosen
        run.finish()
        return Packed.of(run.model), run.nonzeros()


def joined(models: list[Model]) -> Model:
    """The model of all ranges, in their order."""

    def together(arrays: list[Array]) -> Array:
        return array_of(b"".join(numbers.tobytes() for numbers in arrays), arrays[0].format)

    first = models[0]
    return replace(
        first,
        keys=together([m.keys for m in models]),
        weights=together([m.weights for m in models]),
        state={name: together([m.state[name] for m in models]) for name in first.state},
    )
