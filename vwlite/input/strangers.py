"""Rows of JSON that have none of the columns that a model predicts from, as when their keys are misspelt.

Without a word such a row would get the intercept for an answer.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.input.parsing import EXAMPLE
from vwlite.input.schema import OPTIONAL, Schema, listed


def keys_of(line: bytes) -> list[str]:
    """The keys of an object. Numbers are not converted: they may have any number of digits."""
    return [*json.loads(line, parse_int=str, parse_float=str)]


def bare_rows(batch: Batch, absent: Collection[int]) -> list[int]:
    """The examples without features, but for those of absent cells, which have these hashes. Others have a column that
    the model knows."""
    spans, features = np.asarray(batch.span_begin), np.asarray(batch.feature_begin)
    others = ~np.isin(np.asarray(batch.hash), np.array([*absent], np.uint32))
    sums = np.concatenate([[0], np.cumsum(others)])
    counts = np.diff(sums[features[spans]]) if len(features) else np.zeros(len(batch))
    return np.flatnonzero((counts == 0) & (np.asarray(batch.kind) == EXAMPLE)).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class KnownColumns:
    """The columns that a model predicts from. others: columns with another role. open: keys that are no column are
    features by their values, as the model was trained on JSON lines: each is known. absent: the hashes of features of
    absent cells."""

    names: tuple[str, ...]
    others: Collection[str]
    open: bool
    absent: Collection[int]

    @staticmethod
    def of(columns: Any, features: int, absent: Collection[int]) -> "KnownColumns | None":
        """Those of a model. None where rows cannot lack them: it has no columns, or is an intercept alone, with 0
        features."""
        if not columns or not features:
            return None
        schema = Schema.restored(columns)
        names = tuple(name for name, role in schema.roles.items() if role not in OPTIONAL)
        return KnownColumns(names, {*schema.roles} - {*names}, schema.open, absent)

    def wrong(self, keys: Iterable[str]) -> str:
        """Why a row of these keys is refused; "" for one that has a column of the model."""
        found = [key for key in keys if key not in self.others]
        if any(key in self.names for key in found) or (self.open and found):
            return ""
        if not found:
            return "the row has no column that the model predicts from" + self._expected()
        return f"the model has none of the columns of the row: {', '.join(self._guesses(found))}{self._expected()}"

    def _expected(self) -> str:
        return f"; it knows {listed(self.names)}" if self.names else ""

    def _guesses(self, keys: list[str]) -> Iterator[str]:
        from difflib import get_close_matches  # here for the time of a start

        for key in keys[:5]:
            near = get_close_matches(key, self.names, 1)
            yield listed([key]) + (f" (did you mean {listed(near)}?)" if near else "")
        if len(keys) > 5:
            yield "..."
