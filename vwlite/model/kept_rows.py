"""The rows that are kept beside a model for the next run of `vwlite train --continue`: MODEL.rows.

The file is a cache (`vwlite.input.cache`) of the newest training rows as they were parsed, with labels as they are
learned. Its index has the digest of the model that it belongs to. It is written before the model, as MODEL.rows.DIGEST
with the first digits of that digest, and gets the name MODEL.rows after the model has its own. So at any time the model
that is there has its rows under one of the two names.
"""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import accumulate
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.errors import CannotCreateError, DataError
from vwlite.input.cache import (
    MAGIC,
    CacheReader,
    CacheUnusable,
    CacheWriter,
    NameOfLog,
    check_replaceable,
    made_by,
    made_from,
    open_cache,
)
from vwlite.model.rows_beside import DIGITS, path_of, unsettled
from vwlite.output.atomic import AtomicFile
from vwlite.records import record

BOUND = 1 << 26  # bytes that are kept, if nothing else is said
PER_LINE, PER_SPAN, PER_FEATURE = 33, 9, 8  # bytes of a row as it is kept, beside its tag
LEAST = 0.01  # rows that count less are not kept


@record(frozen=True)
class Part:
    """So many lines, one after the other. counts: the factor of their importances. if_undone: the factor, if the next
    run undoes the last change."""

    lines: int
    counts: float = 1.0
    if_undone: float = 1.0


@record(frozen=True)
class RowFacts:
    """What is known of kept rows. parts: in order. columns: of tables, as learning has them; group: the one of groups.
    bound: in bytes. before: examples that the model learned before rows were kept; dropped: lines that are no longer
    kept; beyond: those of them that did not fit and still count. evidence: of the choice of factors, for the next run;
    if_undone: the same, if the next run undoes the last change."""

    parts: tuple[Part, ...] = ()
    columns: dict[str, Any] = field(default_factory=dict)
    group: str | None = None
    bound: int = BOUND
    before: int = 0
    dropped: int = 0
    beyond: int = 0
    evidence: dict[str, Any] = field(default_factory=dict)
    if_undone: dict[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        return lines_of(self.parts)

    def stored(self) -> dict[str, Any]:
        """As the file has it."""
        return {**vars(self), "parts": [[part.lines, part.counts, part.if_undone] for part in self.parts]}

    @staticmethod
    def restored(stored: Any) -> "RowFacts":
        """ValueError for what is not valid."""
        parts = tuple(Part(lines, counts, if_undone) for lines, counts, if_undone in stored["parts"])
        found = RowFacts(parts, **{name: stored[name] for name in vars(RowFacts()) if name != "parts"})
        whole = [found.bound, found.before, found.dropped, found.beyond, *(part.lines for part in parts)]
        known = all(type(x) is int and x >= 0 for x in whole)
        known = known and all(type(x) is dict for x in (found.columns, found.evidence, found.if_undone))
        counts = [x for part in parts for x in (part.counts, part.if_undone)]
        if not known or type(found.group or "") is not str or not all(type(x) is float and 0 <= x <= 1 for x in counts):
            raise ValueError("its facts are not valid")
        if found.columns:
            from vwlite.input.schema import Schema  # not at the top: only tables need it

            Schema.restored(found.columns)
        return found


def lines_of(parts: Iterable[Part]) -> int:
    return sum(part.lines for part in parts)


class KeptRows:
    """The rows that are kept for a model. begins: the number of the first line of each batch, and that of all lines."""

    def __init__(self, path: str, reader: CacheReader, facts: RowFacts) -> None:
        self.path, self._reader, self.facts = path, reader, facts
        self.classes, self.log, self.keys = reader.classes, reader.log, reader.keys
        self.shape = reader.made_from["options"]
        self.begins = [0, *accumulate(reader.lengths)]
        if self.begins[-1] != facts.lines:
            raise ValueError("it has another number of lines than it says")

    def __len__(self) -> int:
        """The number of batches."""
        return len(self.begins) - 1

    def batches(self) -> Iterator[Batch]:
        """All of them; each is valid until the next."""
        for batch, _ in self._reader.batches():
            yield batch

    def batch(self, number: int) -> Batch:
        """One of these batches, in memory of its own."""
        return self._reader.batch(number)


def in_memory(
    batches: Iterable[Batch], log: Sequence[NameOfLog], classes: Sequence[str], keys: Sequence[str],
    shape: dict[str, Any], facts: RowFacts,
) -> KeptRows:
    """Rows in a temporary file without a name. Arguments as of `RowsFile`."""
    writer = CacheWriter(None, {"options": shape})
    for batch in batches:
        writer.add(batch)
    writer.take(log)
    reader = writer.finish(0, classes, keys)
    reader.check()
    return KeptRows("", reader, facts)


def found_for(model: str, digest: str, without: str = "add --keep-rows 0") -> tuple[KeptRows | None, bool]:
    """The rows of the model in this file, which has this digest; and whether there are some of another model. without:
    what to do to go on without them.

    DataError if they are damaged, or of a newer program.
    """
    is_other = False
    for path in (path_of(model), unsettled(model, digest)):
        if not os.path.lexists(path):
            continue
        try:
            facts = made_from(path)
            kept = facts.get("kept")
            if type(kept) is not dict:
                raise CacheUnusable("it is a cache")
            if kept.get("model") != digest:
                is_other = True
                continue
            if facts.get("byte order") != made_by("train")["byte order"]:
                raise CacheUnusable("it was made on another kind of machine")
            return KeptRows(path, open_cache(path, None), RowFacts.restored(kept)), is_other
        except (CacheUnusable, KeyError, TypeError, ValueError, OverflowError) as e:
            why = "a newer vwlite has written it" if _is_newer(path) else str(e)
            raise DataError(f"{path}: these rows, kept for {model}, cannot be read: {why}; without the file, the past "
                            f"counts as a summary: remove it, or {without}") from e
    return None, is_other


def _is_newer(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        begin = file.read(len(MAGIC))
        return begin[:-2] == MAGIC[:-2] and begin[-2:][::-1] > MAGIC[-2:][::-1]
    return False


class RowsFile:
    """Writes the rows of a model, under the name that they have until the model is in its place."""

    def __init__(self, model: str, digest: str, shape: dict[str, Any], facts: RowFacts) -> None:
        """shape: what the labels are, for `CacheReader.check`."""
        self._model, self._digest = model, digest
        described = {**made_by("train"), "options": shape, "kept": {**facts.stored(), "model": digest}}
        self._writer = CacheWriter(unsettled(model, digest), described, is_private=True)

    def write(
        self, batches: Iterable[Batch], log: Sequence[NameOfLog], classes: Sequence[str], keys: Sequence[str]
    ) -> None:
        """Write them, for good."""
        try:
            for batch in batches:
                self._writer.add(batch)
            self._writer.take(log)
            self._writer.finish(0, classes, keys)
        finally:
            self._writer.close()

    def settle(self) -> None:
        """The model is in its place: so are its rows, and others are removed."""
        settle(self._model, self._digest)


def settle(model: str, digest: str) -> None:
    """Give the rows of a model the name MODEL.rows, and remove others. digest: "": there are none."""
    path = path_of(model)
    try:
        if digest:
            os.replace(unsettled(model, digest), path)
        elif _is_cache(path):
            os.unlink(path)
    except OSError as e:
        raise CannotCreateError(f"{path}: cannot be written: {e.strerror}") from e
    for other in filter(_is_cache, glob.glob(f"{glob.escape(path)}.{'[0-9a-f]' * DIGITS}")):
        with suppress(OSError):
            os.unlink(other)


def check_free(model: str) -> None:
    """CannotCreateError if what is at MODEL.rows are no rows: it must not be lost."""
    path = path_of(model)
    if os.path.lexists(path) and not os.path.isfile(path):
        raise CannotCreateError(f"{path}: this is not a file, so it is not replaced by rows: remove it, or add "
                                "--keep-rows 0")
    check_replaceable(path)


def _is_cache(path: str) -> bool:
    """Whether it is a file that may be removed, as it begins like one that vwlite has written."""
    with suppress(OSError):
        if not os.path.islink(path) and os.path.isfile(path):
            with open(path, "rb") as file:
                return MAGIC[:-2] == file.read(len(MAGIC) - 2)
    return False


def commit_with_rows(file: AtomicFile, model: str, old: str, new: str) -> None:
    """Put a file in its place. If it is another form of the model in `model`, with nothing else learned, and has its
    name, it gets the rows of that. old, new: the digests."""
    is_same = os.path.realpath(file.name) == os.path.realpath(model)
    kept = found_for(model, old)[0] if is_same else None
    if kept is None:
        file.commit()
        return
    rows = RowsFile(model, new, kept.shape, kept.facts)
    rows.write(kept.batches(), kept.log, kept.classes, kept.keys)
    file.commit()
    rows.settle()


def sizes(batch: Batch) -> Any:
    """The bytes of each line of a batch, as it is kept."""
    begins = np.asarray(batch.span_begin).astype(np.int64)
    features = np.diff(np.asarray(batch.feature_begin).astype(np.int64)[begins])
    tags = np.diff(np.asarray(batch.tag_begin).astype(np.int64))
    return PER_LINE + tags + PER_SPAN * np.diff(begins) + PER_FEATURE * features


def beyond(each: Sequence[Any], bound: int) -> int:
    """How many lines are too many for the bound: the oldest of those with these sizes, by batch."""
    of_all = np.concatenate([np.zeros(0, np.int64), *each])
    return int(len(of_all) - np.searchsorted(np.cumsum(of_all[::-1]), bound, side="right"))


def without_oldest(batches: Iterable[Batch], lines: int) -> Iterator[Batch]:
    """These batches without so many lines at the beginning."""
    for batch in batches:
        skipped, lines = min(lines, len(batch)), max(lines - len(batch), 0)
        if skipped < len(batch):
            yield batch.part(skipped, len(batch)) if skipped else batch
