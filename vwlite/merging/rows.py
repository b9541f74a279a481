"""The merge of default models by the rows that are kept beside them (`vwlite/model/kept_rows.py`).

The rows of all shards are united: those of the start once, then those that each shard has learned since, the newest of
all last, so that what fits into MODEL.rows is an equal share of each. If these are all rows that the shards have
learned, the default of `vwlite train` learns them. Else the weights are the mean of two: those of the states, as in
other merges, and those of a fit to the united rows around them. What the state says of the certainty of a weight counts
in that fit by the share of rows that are not kept (`vwlite/training/nights/summary.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.digest import blake2b
from vwlite.errors import DataError
from vwlite.merging.choice import MergeChoice
from vwlite.merging.holdout import Candidate
from vwlite.merging.merged import Merge, MergeRequest
from vwlite.merging.shards import ShardModel, Shards
from vwlite.merging.states import flat
from vwlite.model import Model
from vwlite.model.header import ROWS
from vwlite.model.kept_rows import KeptRows, Part, RowFacts, found_for, in_memory
from vwlite.model.slots import array_of
from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import NO_FILES, DataPlan
from vwlite.runs.run import BadLines
from vwlite.training.fit import FitProgress
from vwlite.training.nights.design import rows_of, settings_for
from vwlite.training.nights.keeping import RowKeeping, options_of_run
from vwlite.training.nights.new_rows import FileRows
from vwlite.training.nights.new_rows_only import loss_with_error
from vwlite.training.nights.source import RowSource
from vwlite.training.nights.summary import Summary, is_curved
from vwlite.training.trainers import source_of_kind, trainer_of

PIECE = 1000  # rows of a shard that stay together


def rows_beside(found: Sequence[ShardModel]) -> dict[str, KeptRows]:
    """The rows that are kept for these models, by their files."""
    each = {shard.path: found_for(shard.path, shard.model.digest, "name a --rule")[0] for shard in found}
    return {path: rows for path, rows in each.items() if rows is not None}


def are_all(kept: Iterable[KeptRows]) -> bool:
    """Whether these are all rows that their models have learned and that still count."""
    return not any(rows.facts.before or rows.facts.beyond for rows in kept)


class UnitedRows:
    """The rows of shards. of_start: how many of those that each shard keeps are the start's; the others are its own.
    pieces: of the own rows, the newest of all last: the shard, and the first line and the end."""

    def __init__(self, shards: Shards, kept: Sequence[KeptRows]) -> None:
        self._shards, self._kept = shards, kept
        n = shards.start.model.counters["examples"] if shards.start is not None else 0
        lines = [rows.facts.lines for rows in kept]
        own = [min(m, shard.model.counters["examples"] - n) for m, shard in zip(lines, shards.each, strict=True)]
        self.of_start = [m - k for m, k in zip(lines, own, strict=True)]
        pieces = [(left, k) for k in range(len(kept)) for left in range(0, own[k], PIECE)]
        pieces.sort(key=lambda piece: (-piece[0], piece[1]))
        self.pieces = [(k, lines[k] - min(left + PIECE, own[k]), lines[k] - left) for left, k in pieces]
        self._check()

    def _check(self) -> None:
        """DataError unless they are of the same kind, and have the same rows of the start."""
        first, of_first = self._kept[0], self._shards.each[0].path
        shared, digests = min((n for n in self.of_start if n), default=0), set[str]()
        for k, (rows, shard, n) in enumerate(zip(self._kept, self._shards.each, self.of_start, strict=True)):
            if rows.shape != first.shape or rows.facts.group != first.facts.group:
                raise DataError(f"{shard.path}: its kept rows have other labels or groups than those of {of_first}: "
                                "train all shards with the same options")
            digests |= {digest_of(self._lines(k, n - shared, n))} if n else set()
        if len(digests) > 1:
            raise DataError(f"{of_first} and others begin with different kept rows: train all shards from the same "
                            "start")

    def _lines(self, k: int, begin: int, end: int) -> Iterator[Batch]:
        """Lines of a shard, with the numbers that classes have in the merge."""
        rows = self._kept[k]
        numbers = {i + 1.0: self._shards.classes.index(name) + 1.0 for i, name in enumerate(rows.classes)}
        for number, (first, last) in enumerate(pairwise(rows.begins)):
            low, high = max(begin - first, 0), min(end, last) - first
            if low < high:
                batch = rows.batch(number).part(low, high)
                if numbers:
                    batch.set_labels(np.array([numbers.get(y, y) for y in batch.label]))
                yield batch

    def _facts(self) -> RowFacts:
        """Each line counts as in its shard, one of the start as much as the mean of shards."""
        each = [np.repeat([part.counts for part in rows.facts.parts], [part.lines for part in rows.facts.parts])
                for rows in self._kept]
        most = max(self.of_start)
        sums = np.zeros((2, most))
        for counts, n in zip(each, self.of_start, strict=True):
            sums[:, most - n :] += counts[:n], np.ones(n)
        counts = np.concatenate([sums[0] / sums[1], *(each[k][begin:end] for k, begin, end in self.pieces)])
        facts, examples = [rows.facts for rows in self._kept], self._shards.counters["examples"]
        before = (max if self._shards.start is not None else sum)(of.before for of in facts)
        dropped = max(examples - before - len(counts), 0)
        return replace(
            facts[0], parts=tuple(Part(len([*same]), x, x) for x, same in groupby(counts.tolist())),
            bound=max(of.bound for of in facts), before=before, dropped=dropped,
            beyond=min(dropped, sum(of.beyond for of in facts)), evidence={}, if_undone={},
        )

    def kept(self) -> KeptRows:
        most, rows = max(self.of_start), self._kept
        all_lines = [(self.of_start.index(most), 0, most), *self.pieces]
        log, keys = [name for of in rows for name in of.log], sorted({key for of in rows for key in of.keys})
        classes = self._shards.classes if rows[0].classes else []
        batches = (batch for piece in all_lines for batch in self._lines(*piece))
        return in_memory(batches, log, classes, keys, rows[0].shape, self._facts())


def digest_of(batches: Iterator[Batch]) -> str:
    """That of labels and features."""
    found = [blake2b(digest_size=16) for _ in range(3)]
    for batch in batches:
        for digest, values in zip(found, (batch.label, batch.hash, batch.value), strict=True):
            digest.update(np.asarray(values).tobytes())
    return "".join(digest.hexdigest() for digest in found)


class RowsMerge(Merge):
    """A merge of states, and the fit of united rows around it."""

    def __init__(
        self, request: MergeRequest, shards: Shards, kept: Sequence[KeptRows], path: str, threads: int,
        stack: ExitStack,
    ) -> None:
        """kept: of each shard. path: of the model that is written."""
        super().__init__(request, shards)
        self.rows = UnitedRows(shards, kept).kept()
        facts = self.rows.facts
        self._path, self._keeping = path, RowKeeping(path, self.rows, facts.bound, facts.before)
        first = shards.each[0].model
        options = TrainOptions(quiet=True, threads=threads, group=facts.group, **options_of_run(first, ()))
        job = self._keeping.job(options, first, NO_FILES, in_place=False)
        self._source = source_of_kind(RowSource, job, BadLines(stack, skip=True)).with_data([], [])
        self._source.begin_with(self.rows, facts.parts)
        self._source.derives = bool(self.rows.shape["derives"])
        self._progress = FitProgress(options)
        self._trainer = trainer_of(job, self._source, self._progress)

    def stop(self) -> None:
        super().stop()
        self._trainer.stop()

    def finish(self) -> None:
        self._find()
        if self.stopped:
            return
        self.choice = MergeChoice(Candidate(ROWS))
        start, shards = self.shards.start, self.shards
        merged = {"shards": len(shards.each), "digest": shards.digest, "rule": ROWS, "step": 1.0,
                  "state": self.request.state}
        self.model = replace(self.model, counters=shards.counters, base=start.model.digest if start else "",
                             resumed="", merged=merged, continued={"nights": []})

    def _find(self) -> None:
        super().finish()
        self.model = super().with_absent_cells()
        model, keeping = self.model, self._keeping
        if not is_curved(self.settings):
            return
        w, G, N = (np.array(model.state[name], float).reshape(-1, model.records) for name in ("w", "G", "N"))
        rows = rows_of(settings_for(model, self._source.derives), self._source.kept_batches())
        others = keeping.before + keeping.beyond
        before = Summary(np.asarray(model.keys), w, G * (others / keeping.rows_learned), N, others)
        found = before.fitted(self.settings, rows, self.shards.named or 1)
        mean = found.w / 2
        mean[np.searchsorted(found.keys, before.keys)] += w / 2
        self.nonzeros = int(np.count_nonzero(mean))
        mean, G, N = (x.astype(np.float32) for x in (mean, found.G, found.N))
        self.model = replace(
            model, keys=array_of(found.keys.tobytes(), "I"), weights=flat(mean.astype(float)),
            state={"w": flat(mean, "f"), "G": flat(G, "f"), "N": flat(N, "f")},
        )

    def with_absent_cells(self) -> Model:
        return self.model

    def with_rows(self, digest: str) -> Callable[[], None]:
        """Write the rows for the model with this digest. Returns what gives them their name."""
        return self._keeping.write(self._source, digest, self._trainer)

    def about(self) -> str:
        """What was learned, for a note."""
        return (f"of {self.shards.counters['examples']:,} rows, {self._keeping.lines:,} are kept beside the shards: "
                "the weights are the mean of those of the states and of a fit to these rows")


class WholeMerge(RowsMerge):
    """All rows that the shards have learned are kept, and learned again."""

    def add_up(self) -> None:
        pass

    def choose(self) -> None:
        pass

    def _find(self) -> None:
        self._trainer.run()
        if self.stopped:
            return
        found = self._progress.model_of(self._trainer)
        used = np.any(np.asarray(found.weights).reshape(len(found.keys), -1) != 0, axis=1)
        names, self.name_limit = (found.names, None) if found.columns else self.shards.names(found.keys, used)
        self.model, self.nonzeros = replace(found, names=names), int(used.sum())

    def measure(self, data: DataPlan) -> None:
        """The loss of a holdout by the model."""
        found = FileRows(data, self._path, lambda: None).judged(self.model, lambda: self.stopped, 0)
        loss, error = loss_with_error(found)
        self.choice = MergeChoice(Candidate(ROWS, loss=loss, error=error), held=len(found))

    def about(self) -> str:
        return f"all {self._keeping.lines:,} rows that are kept beside the shards were learned, as by vwlite train"
