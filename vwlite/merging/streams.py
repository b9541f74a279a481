"""The sums over the shards of a merge: their models as streams of keys, weights, evidence and extra numbers."""

from array import array
from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from vwlite.core.base.arrays import shifted
from vwlite.core.merge.sums import ModelStream, Sums
from vwlite.errors import DataError
from vwlite.merging.shards import ShardModel, Shards
from vwlite.merging.states import flat
from vwlite.model.learners import blank_of, field_of, make_loss, make_rule, slots_of, state_codes
from vwlite.model.slots import Array, copied


class ShardStreams:
    """The models of the shards and of their start, to be summed. numbers: of the merged rule, for each class."""

    def __init__(self, shards: Shards, numbers: dict[str, list[Any]]) -> None:
        self._shards, self._numbers = shards, numbers
        self._evidence, self._extra = shards.algorithm.merging.evidence, shards.algorithm.merging.extra

    def sums(self, ways: Iterable[str], *, learned: bool = False) -> Sums:
        """The sums that these ways need. learned: with --average, of the weights from which learning continues, not of
        their mean."""
        shards, (extra, how), evidence = self._shards, self._extra, self._evidence
        needed, known = {"start", *ways}, dict[str, Any]()
        if extra in shards.fields:
            needed |= {"extra"}
            known["extra"] = how
        if shards.rule.shrunk_since and shards.restricted:
            needed |= {"absent"}
        if evidence and not shards.weights_only:
            needed |= {"evidence", "start_evidence"}
            beta = getattr(shards.settings, evidence.beta) if evidence.beta else 0.0
            known |= {"evidence": evidence.kind, "beta": beta, "rates": self._rates(), "by_extra": evidence.by_extra}
        start = self._stream(shards.start, learned) if shards.start else self._no_start()
        each = [self._stream(shard, learned, self._share(shard, learned)) for shard in shards.each]
        try:
            return Sums(start, each, wanted=needed, **known)
        except ValueError as e:
            what = "--feature-weights" if how == "same" else "state"
            raise DataError(f"the shards were trained with different {what}: {e}") from e

    def _rates(self) -> list[float]:
        s, evidence = self._shards.settings, self._evidence
        assert evidence is not None
        if not evidence.by_extra:
            return [getattr(s, evidence.rate) if evidence.rate else 0.0] * self._shards.records
        sums = zip(self._numbers["weight_sum"], self._numbers["norm_sum"], strict=True)
        return [s.learning_rate * (sqrt(W / N) if W > 0 and N > 0 else 1.0) for W, N in sums]

    def _share(self, shard: ShardModel, learned: bool) -> float:
        """The share of a shard in the mean; of averaged weights, by the examples in their average."""
        if learned or not self._shards.settings.average or self._shards.weights_only:
            return 1 / len(self._shards.each)
        examples = float(self._shards.at_start("t", 0) + self._shards.gained("t", 0)) or 1.0
        return float(shard.number("t", 0) / examples)

    def _stream(self, shard: ShardModel, learned: bool, share: float = 1) -> ModelStream:
        shards, model = self._shards, shard.model
        weights = before_averaging(shards, shard) if learned else model.weights
        unseen, penalty = zip(*((shard.number("unseen", c), self._penalty(shard, c)) for c in range(shards.records)),
                              strict=True)
        evidence = model.state.get(self._evidence.field) if self._evidence else None
        state = evidence, model.state.get(self._extra[0])
        return ModelStream(model.keys, weights, *state, shard.columns, unseen, penalty, share=share, **self._blanks())

    def _penalty(self, shard: ShardModel, c: int) -> float:
        """By how much a shard would have shrunk the weights of its missing keys, for a class."""
        shrunk_since, shards = self._shards.rule.shrunk_since, self._shards
        if not shrunk_since or shard.model.weights_only:
            return 0.0
        return float(shrunk_since(lambda name: shard.number(name, c), lambda name: shards.at_start(name, c)))

    def _no_start(self) -> ModelStream:
        shards = self._shards
        unseen = [shards.at_start("unseen", c) for c in range(shards.records)]
        # The constant has a weight of 0.
        keys = array("I", [shards.constant_key] if unseen[0] and shards.constant_key is not None else [])
        zeros = memoryview(array("d", [0.0] * shards.records * len(keys)))
        return ModelStream(memoryview(keys), zeros, None, None, range(shards.records), unseen, [0.0] * shards.records,
                           **self._blanks())

    def _blanks(self) -> dict[str, float]:
        rule, evidence = self._shards.rule, self._evidence
        return {
            "blank_evidence": blank_of(rule, evidence.field) if evidence else 0.0,
            "blank_extra": blank_of(rule, self._extra[0]),
        }


def before_averaging(shards: Shards, shard: ShardModel) -> Array:
    """The weights from which learning continues, of a model that stores their mean: those of the same state without
    --average. If the model has no state, its weights."""
    model, settings = shard.model, replace(shards.settings, average=False)
    if model.weights_only:
        return model.weights
    rule = make_rule(settings, make_loss(settings), shards.constant_key)
    try:
        slots = slots_of(rule, copied(model.keys), {name: model.state[name] for name in state_codes(rule)})
        rule.load({name: model.rule[name] for name in rule.scalars()}, slots)
    except (KeyError, TypeError, ValueError) as e:
        why = f"the rule's state is not that of {shards.algorithm.name}: {e}"
        raise DataError(f"{shard.path}: not a valid model: {why}") from e
    slots = rule.slots()  # without slots in which only the mean is not blank
    found = np.asarray(shifted(copied(field_of(rule, slots, "mark")[:: rule.records]), 2**32 - 1))
    weights = np.zeros((len(found), rule.records))
    rule.weights(slots, weights.reshape(-1))
    out = np.zeros((len(model.keys), rule.records))
    out[np.searchsorted(np.asarray(copied(model.keys)), found)] = weights
    return flat(out)
