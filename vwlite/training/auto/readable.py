"""What a model of a table stores for people: the names of the levels of its columns, and the record of its effects."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.hashing import name_hash, namespace_hash
from vwlite.model import Model
from vwlite.model.absent import absent_weights
from vwlite.model.effects import as_bytes
from vwlite.model.feature_names import FeatureNames
from vwlite.model.snapshot import keeps_words
from vwlite.model.weights import has_weight
from vwlite.names import namespace_of

MOST_ROWS = 20_000  # of the record


class ColumnNames:
    """The names of columns and words, from the log of the parser."""

    def __init__(self) -> None:
        # By the hash of a namespace: its name, and the hash of the feature that is its number
        self.columns: dict[int, tuple[str, int]] = {}
        self.words: dict[tuple[int, int], str] = {}

    def take(self, log: Iterable[tuple[int, int, int, bytes]], hash_all: bool) -> None:
        for space, hash, size, name in log:
            column = name[:size]
            if space not in self.columns:
                if namespace_hash(column, hash_all) != space:
                    continue  # a key of an object in a JSON line
                number = name_hash(column, space, hash_all)
                self.columns[space] = column.decode("utf-8", "surrogateescape"), number
            if len(name) > size:
                self.words[space, hash] = name[size + 1 :].decode("utf-8", "surrogateescape")


def with_levels(model: Model, names: ColumnNames) -> Model:
    """The model with the names of its numeric columns, and of the words of the others, if these have a weight."""
    roles = {namespace_of(name): role for name, role in model.columns["roles"]}
    of = {space: roles.get(name, "auto") for space, (name, _) in names.columns.items()}
    spaces = {space for space, role in of.items() if role in ("categorical", "auto")}
    keys = np.asarray(model.keys)
    keys = keys if keeps_words(model.columns) else keys[has_weight(model)]
    mask = (1 << model.settings.bits) - 1
    words = [(space, hash) for space, hash in names.words if space in spaces]
    known = np.isin(np.array([hash & mask for _, hash in words], np.uint32), keys)
    pairs = []
    for (space, hash), is_known in zip(words, known.tolist(), strict=True):
        if is_known:
            column = names.columns[space][0]
            name = f"{column}^{column}={names.words[space, hash]}"
            pairs.append((hash & mask, as_bytes(name)))
    weighted = {*keys.tolist()}
    numbers = [(number & mask, name) for space, (name, number) in names.columns.items()
               if of[space] in ("numeric", "auto")]
    pairs += [(key, as_bytes(f"{name}^{name}")) for key, name in numbers if key in weighted]
    return replace(model, names=FeatureNames.of(pairs))


def with_record(model: Model, drawn: Callable[[], Iterable[Batch]], of_folds: Any = None) -> Model:
    """The model with the record of its effects over at most MOST_ROWS examples, and over models that have not learned
    a fold. The model itself if its effects are not those of columns.

    of_folds: keys of features, and the weights of each of these models.
    """
    from vwlite.model.readable import record_of

    others = []
    is_plain = model.settings.normalize == "none"  # else effects depend on the row
    of_absent = absent_weights(model)  # these are set, not learned
    for weights in of_folds[1] if of_folds is not None and is_plain else ():
        by_key = dict(zip(of_folds[0], weights, strict=True)) | of_absent
        own = array("d", [by_key.get(key, 0.0) for key in model.keys])
        others.append(replace(model, weights=memoryview(own)))
    try:
        found = record_of(model, lambda: _first(drawn(), MOST_ROWS), others)
    except DataError:
        return model
    return replace(model, means=found)


def _first(batches: Iterable[Batch], n: int) -> Iterator[Batch]:
    for batch in batches:
        if not len(batch.space):
            return  # a cache without namespaces
        yield batch if len(batch) <= n else batch.part(0, n)
        n -= len(batch)
        if n <= 0:
            return
