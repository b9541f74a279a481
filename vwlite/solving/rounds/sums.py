"""Sums over shards, in the order of the shards: so they do not depend on who computed the parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.records import record


@record(frozen=True)
class FeaturesOfShards:
    """keys: of the features of all shards, ascending. places: of those of each shard among them."""

    keys: Any
    places: Sequence[Any]

    @staticmethod
    def of(keys: Sequence[Any]) -> "FeaturesOfShards":
        """keys: of the features of each shard, ascending."""
        each = [np.asarray(own, np.uint32) for own in keys]
        united = np.unique(np.concatenate([np.zeros(0, np.uint32), *each]))
        return FeaturesOfShards(united, [np.searchsorted(united, own).astype(np.uint32) for own in each])

    def sum(self, parts: Sequence[Any]) -> Any:
        """The sum of an array of each shard, which has a row for each of its features and, behind them, the same more
        rows as the others."""
        arrays = [np.asarray(part) for part in parts]
        more = len(arrays[0]) - len(self.places[0])
        found = np.zeros((len(self.keys) + more, *arrays[0].shape[1:]))
        for places, part in zip(self.places, arrays, strict=True):
            if len(part) != len(places) + more:
                raise ValueError(f"{len(part)} numbers of {len(places)} features")
            found[places] += part[: len(places)]
            found[len(self.keys) :] += part[len(places) :]
        return found

    def largest(self, parts: Sequence[Any]) -> Any:
        """The largest number of each feature in an array of each shard; 0 is the least that is found."""
        found = np.zeros(len(self.keys))
        for places, part in zip(self.places, parts, strict=True):
            found[places] = np.maximum(found[places], part)
        return found


def sum_of_arrays(parts: Sequence[Any]) -> Any:
    """The sum of arrays, in their order."""
    found = np.array(parts[0], float)
    for part in parts[1:]:
        found += np.asarray(part)
    return found
