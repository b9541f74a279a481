"""The part of a model that predicts, the same for all algorithms."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vwlite.algorithms.links import FORMS
from vwlite.algorithms.settings import Settings
from vwlite.core.data.interactions import WILDCARD, concrete
from vwlite.errors import DataError
from vwlite.hashing import namespace_hash
from vwlite.input.schema import Schema
from vwlite.model import Model
from vwlite.model.learners import make_loss
from vwlite.model.weights import intercept_key
from vwlite.names import namespace_of

MAX_TERMS = 10_000  # interactions that wildcards expand to


@dataclass(frozen=True)
class Linear:
    """score = initial + constant + the sum of weight times value; for each class of a model with classes.

    The prediction is the score clipped to [low, high], then linked; of several quantiles all of these, in ascending
    order; or the first class with the largest score.
    """

    model: Model
    settings: Settings
    unseen: tuple[float, ...]  # the weight of a feature that is not in the table, for each class
    constant: tuple[float, ...]  # the intercepts; zeros if there are none
    low: float
    high: float
    classes: tuple[str, ...]  # names of classes; empty: the prediction is a number
    probable: str  # how classes get probabilities: sigmoid, softmax; "" for none

    @property
    def records(self) -> int:
        """The number of weights of a feature."""
        return len(self.unseen)

    @property
    def offset(self) -> float:
        """What is added to a clipped score before the link expm1."""
        return float(self.model.calibration.get("offset", 0.0))

    def link(self, functions: Mapping[str, str], number: Callable[[int], str] = str, p: str = "p") -> str:
        """The prediction of a clipped score p, in a language: see `Link.expression`."""
        return FORMS[self.settings.link].expression(functions, self.offset, number, p)

    @property
    def quantiles(self) -> tuple[str, ...]:
        """The quantiles as text, if there are several."""
        return tuple(self.settings.outputs.tau_names)

    @property
    def words(self) -> tuple[str, ...]:
        """The two labels, negative and positive, if they are words."""
        return tuple(x for x in self.settings.labels or () if isinstance(x, str))

    @property
    def is_escaped(self) -> bool:
        """Whether VW text has escapes in names."""
        return bool(self.model.columns) and Schema.restored(self.model.columns).is_escaped

    @property
    def mask(self) -> int:
        return (1 << self.settings.bits) - 1

    def rows(self) -> Iterator[tuple[int, list[float], list[bytes]]]:
        """Index, weights and names of the features whose weights differ from `unseen`, by index."""
        k, unseen = self.records, list(self.unseen)
        names = self.model.names.by_key
        weights = self.model.weights
        for i, key in enumerate(self.model.keys):
            row = [float(w) for w in weights[i * k : (i + 1) * k]]
            if row != unseen:
                yield key, row, names.get(key, [])

    def header(self) -> dict[str, Any]:
        """The header of the model with its weights only, as --save-weights-only writes it."""
        unseen = self.model.rule.get("unseen", 0.0)
        kept = {"unseen": unseen} if (any(unseen) if isinstance(unseen, list) else unseen) else {}
        oldest = self.model.oldest_format(names=False)
        return {**self.model.header(), "weights_only": True, "rule": kept, "format": oldest}

    def crosses(self) -> list[list[int]]:
        """The interactions of namespaces by name, as hashes of the names."""
        hash_all = self.settings.hash == "all"
        names = [[namespace_of(name) for name in cross.split(",")] for cross in self.settings.crosses]
        hashes = [[namespace_hash(n.encode("utf-8", "surrogateescape"), hash_all) for n in cross] for cross in names]
        return [list(cross) for cross in dict.fromkeys(map(tuple, hashes))]

    def terms(self) -> list[bytes]:
        """The interactions, with wildcards expanded to all printable letters. ValueError if there are too many."""
        patterns = [pattern.encode("latin-1") for pattern in self.settings.interactions]
        wild = [pattern.count(WILDCARD) for pattern in patterns]
        if sum(95**n for n in wild if n) > 2 * MAX_TERMS:
            raise ValueError("its interactions have too many wildcards to expand")
        return list(concrete(patterns, range(32, 127)))


def linear(path: str, model: Model) -> Linear:
    """The part of a model that predicts. DataError if it has no class yet."""
    settings, k = model.settings, model.records
    found = model.rule.get("unseen", 0.0)
    unseen = tuple(found) if isinstance(found, list) else (float(found),) * k
    constant = (0.0,) * k
    if (key := intercept_key(settings)) is not None:
        from bisect import bisect_left

        at = bisect_left(model.keys, key)
        if at < len(model.keys) and model.keys[at] == key:
            constant = tuple(float(w) for w in model.weights[at * k : (at + 1) * k])
    low, high = -float("inf"), float("inf")
    if model.range is not None:
        largest = make_loss(settings).largest_p
        low, high = max(model.range[0], -largest), min(model.range[1], largest)
    classes = settings.outputs.classes(model.classes if settings.classes == "auto" else model.class_names())
    if classes == []:
        raise DataError(f"{path}: cannot be exported: it has not seen a class yet")
    return Linear(model, settings, unseen, constant, low, high, tuple(classes or ()), settings.outputs.shares)
