"""Columns, or namespaces, of the data without a feature that the model has."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.errors import DataError
from vwlite.input.parsing import EXAMPLE, Parsed
from vwlite.model import Model
from vwlite.names import namespace_of
from vwlite.output.text import printable
from vwlite.runs.notes import KnownFeatures, Notes

MOST_SPACES = 1000  # that are checked; if there are more, none is
MOST_WORDS = 1_000_000  # of a column that are counted
FIRST_SPANS = 4096  # of a batch that are checked without numpy
SHOWN = 20  # columns with a note


class Unseen:
    """Finds them in batches that have the hashes of namespaces. Models that dropped features on purpose, or have none,
    are not checked."""

    def __init__(self, model: Model, settings: Settings, kept: KnownFeatures) -> None:
        self._roles = dict(model.columns.get("roles", ()))
        self._names, self._columns = _hashed(self._roles)
        self._keys, self._mask = model.keys, (1 << settings.bits) - 1
        self._of_weights = bool(model.merged) or model.weights_only or not model.loss
        self.is_asked = bool(kept.features) and not kept.dropped
        self._settings = settings
        self._absents = model.absent_hashes  # which are no words
        self._known: set[int] = set()  # namespaces of which the model has a feature
        self._words: dict[int, set[int]] = {}  # the features of the others

    @property
    def has_columns(self) -> bool:
        """Whether the model is of tables, whose names it has."""
        return bool(self._roles)

    def look(self, parsed: Parsed) -> None:
        """Add the columns of a batch."""
        if not self.is_asked:
            return
        batch = parsed.batch
        self._names |= parsed.spaces
        new = batch.distinct_spaces() - self._known
        if new:
            self._find_known(batch)
        if new - self._known:
            self._take(batch, [x for x in dict.fromkeys(batch.space) if x not in self._known])
        self.is_asked = len(self._words) <= MOST_SPACES and len(self._known) != self._columns

    def _find_known(self, batch: Batch) -> None:
        """Find namespaces with a known feature in the first spans of a batch: mostly that is all of them, and without
        numpy, whose import takes longer than many a run."""
        space, begin, keys, known = batch.space, batch.feature_begin, self._keys, self._known
        hash = None
        for i in range(min(len(space), FIRST_SPANS)):
            if space[i] in known:
                continue
            hash = batch.hash if hash is None else hash
            for k in range(begin[i], begin[i + 1]):
                key = hash[k] & self._mask
                at = bisect_left(keys, key)
                if at < len(keys) and keys[at] == key and hash[k] not in self._absents:
                    known.add(space[i])
                    self._words.pop(space[i], None)
                    break

    def _take(self, batch: Batch, here: list[int]) -> None:
        """Count the features of these namespaces, unless one of them is known."""
        import numpy as np

        space, keys = np.asarray(batch.space), np.asarray(self._keys)
        sizes, spans = np.diff(np.asarray(batch.feature_begin)), np.diff(np.asarray(batch.span_begin))
        example = np.repeat(np.asarray(batch.kind, np.uint8) == EXAMPLE, spans)
        chosen = np.repeat(np.isin(space, np.array(here, space.dtype)) & example, sizes)
        if self._absents:
            chosen &= ~np.isin(np.asarray(batch.hash), np.array([*self._absents], np.uint32))
        hash, of = np.asarray(batch.hash)[chosen], np.repeat(space, sizes)[chosen]
        key = hash & np.uint32(self._mask)
        has = keys[np.minimum(np.searchsorted(keys, key), len(keys) - 1)] == key
        self._known.update(np.unique(of[has]).tolist())
        for x in here:
            if x in self._known:
                self._words.pop(x, None)
            elif len(words := self._words.setdefault(x, set())) < MOST_WORDS:
                words.update(np.unique(hash[of == x]).tolist())

    def columns(self) -> set[str]:
        """The names of the columns in `notes`."""
        return {name for name, _ in self._found()} if len(self._words) <= MOST_SPACES else set()

    def notes(self, on_unknown: str = "note") -> Notes:
        """A note for each, the first SHOWN. DataError instead, if on_unknown is `error`."""
        # If nothing at all is known of data without columns, another note says so.
        is_said = len(self._words) <= MOST_SPACES and (self._roles or self._known)
        found = [note for _, note in self._found()] if is_said else []
        if found and on_unknown == "error":
            others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise DataError(f"{found[0]}{others}; --on-unknown note accepts this")
        rest = [f"and {len(found) - SHOWN:,} more such columns"] if len(found) > SHOWN else []
        return {"columns_without_a_known_word": len(found)}, [*found[:SHOWN], *rest]

    def _found(self) -> Iterator[tuple[str, str]]:
        seen, there = "was seen in training", "was not seen in training"
        if self._of_weights:
            seen, there = "has a weight", "has no weight"
        s = self._settings
        for space, words in self._words.items():
            name = self._names.get(space, "")
            first = namespace_of(name)[:1] if self._roles else name[:1]
            if not words or (first and (first in s.ignore + s.ignore_linear or (s.keep and first not in s.keep))):
                continue
            what = f"column {printable(name)}" if self._roles else f"namespace {printable(name) or '(no name)'}"
            if self._roles.get(name) == "numeric":
                yield name, f"{what}: it {there}"
            else:
                kind = "words" if self._roles else "features"
                count = f"{len(words):,}{'+' * (len(words) >= MOST_WORDS)}"
                yield name, f"{what}: none of its {count} {kind} {seen}"


def _hashed(roles: dict[str, str]) -> tuple[dict[int, str], int]:
    """The columns of a table by the hashes of their namespaces, and how many of them prediction needs; -1 for none."""
    if not roles:
        return {}, -1
    from vwlite.hashing import namespace_hash  # not at the top, for the time of a start
    from vwlite.input.schema import OPTIONAL

    names = {namespace_hash(_bytes(namespace_of(name))): name for name in roles}
    return names, sum(role not in OPTIONAL for role in roles.values()) or -1


def _bytes(text: Any) -> bytes:
    return str(text).encode("utf-8", "surrogateescape")
