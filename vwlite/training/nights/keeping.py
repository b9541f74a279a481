"""Which rows a run of training keeps for the next one, and of which it continues a model."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from vwlite.algorithms.table import AUTO
from vwlite.core.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.input.cache import NameOfLog
from vwlite.input.sources import is_read_once
from vwlite.model.feature_names import NONE
from vwlite.model.header import ROUNDS, ROWS
from vwlite.model.kept_rows import (
    BOUND,
    LEAST,
    KeptRows,
    Part,
    RowFacts,
    RowsFile,
    beyond,
    check_free,
    found_for,
    in_memory,
    lines_of,
    settle,
    sizes,
    without_oldest,
)
from vwlite.model.learners import make_learner
from vwlite.model.nights import MOST, Night, nights_of
from vwlite.model.rows_beside import SUFFIX, path_of
from vwlite.model.snapshot import Provenance
from vwlite.options.spec import specs_of
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.resolve import Typed, default_algorithm, learning_settings, resolve, typed_settings
from vwlite.runs.run import BadLines
from vwlite.runs.source import DataNames, Source, name_store
from vwlite.runs.watched import Watched, watched
from vwlite.training.nights.pipes import readable_twice
from vwlite.training.nights.source import RowSource
from vwlite.training.trainer import Job, Trainer
from vwlite.training.trainers import source_of_kind

if TYPE_CHECKING:
    from vwlite.model import Model

# Options of a run that the header of its model has as words, and that nothing else there tells
OF_RUN = ("passes", "derive", "pairs", "class_weight")
# With which a model of which no rows are kept learns by steps, or refuses them
OF_STEPS = ("passes", "checkpoint_every", "save_weights_only", "cache", "cache_file", "group", "validate", "derive",
            "pairs")
MORE = 1.25  # times the rows from which features were found: then others may be found
# Of a run inside another one, which writes the files
NO_FILES: dict[str, Any] = dict.fromkeys(("predictions", "raw_predictions", "cache_file")) | {"cache": False}


class _KeptAfter(NamedTuple):
    """What is kept after a run, as `RowsFile` takes it."""

    facts: RowFacts
    shape: dict[str, Any]
    batches: Iterable[Batch]
    log: Sequence[NameOfLog]
    classes: Sequence[str]


class RowKeeping:
    """What a run does about rows. path: of the model that is written; None: none is. kept: the rows for the model that
    is continued. bound: the bytes that rows may have; 0: none are kept. before: examples that the model learned before
    rows were kept."""

    def __init__(self, path: str | None, kept: KeptRows | None, bound: int, before: int = 0) -> None:
        self.path, self.kept, self.bound, self.before = path, kept, bound, before
        self.parts = kept.facts.parts if kept is not None else ()
        self.written: tuple[Part, ...] = ()
        self.dropped, self.beyond = (kept.facts.dropped, kept.facts.beyond) if kept is not None else (0, 0)
        self.evidence, self.if_undone = (kept.facts.evidence, kept.facts.if_undone) if kept is not None else ({}, {})
        self.past = 1.0  # the factor of this run
        self.nats = self.error = 0.0  # by which new rows are predicted better with less of the past
        self.pairs = self.words = 0  # that are new
        self.is_night = False  # the model that is continued predicts the new rows, and then learns from all of them
        self.missing = ""  # why the past is a summary, if it was to be said
        self.nights: list[Night] = []  # this one last
        self.fit_minus_steps = 0.0  # evidence, of `new_rows_only.py`
        self.features_from = 0  # rows from which the features of the model were found; 0: those that it has learned
        self.again: Callable[[], None] = lambda: None  # before DATA are read again
        self._collected: Callable[[ExitStack], RowSource] | None = None
        if path is not None and bound:
            check_free(path)

    @property
    def only_continues(self) -> bool:
        """Whether the model is not trained again: no rows were kept, or fewer than it has learned before."""
        return self.kept is None or (self.before > self.kept.facts.lines and not self.dropped)

    @property
    def errors(self) -> float:
        """By so many standard errors must a model that is trained again be better than one that knows more."""
        return 3.0 * (1 - self.weight / max(self.rows_learned, 1.0))

    @property
    def rows_learned(self) -> float:
        """How many rows the model has learned, as they count now."""
        return self.before + self.beyond + self.weight

    def has_more_for_features(self, new: int, sample: int | None = None) -> bool:
        """Whether kept and new rows are half of all, and so many more than those from which features were found that
        others are worth a part of what the model knows. sample: the rows that others would be of; None: all of these.
        """
        here = self.weight + new
        found_from = self.features_from or self.rows_learned
        return (here if sample is None else sample) >= MORE * found_from and 2 * here >= self.rows_learned + new

    def found_features(self, new: int | None) -> None:
        """Remember from how many rows the features of the new model are. new: rows of this run; None: it has those of
        the model that is continued."""
        if self.knows_more and not self.only_continues:
            self.features_from = self.lines + new if new is not None else self.features_from or round(self.rows_learned)

    @property
    def knows_more(self) -> bool:
        """Whether the model has learned rows that still count and are not kept."""
        return self.before > 0 or self.beyond > 0

    @property
    def lines(self) -> int:
        """Those that were kept."""
        return lines_of(self.parts)

    @property
    def weight(self) -> float:
        """How many new lines they count as."""
        return sum(part.lines * part.counts for part in self.parts)

    def forget(self, past: float, *, is_given: bool = False) -> None:
        """Multiply the factors of kept rows. The next run may undo it, unless it is given."""
        self.past = past
        self.parts = tuple(
            replace(part, counts=part.counts * past, if_undone=part.if_undone * (past if is_given else 1.0))
            for part in self.parts
        )

    @property
    def is_to_confirm(self) -> bool:
        """Whether the last run has changed the factors, and no later one has confirmed it."""
        return any(part.counts != part.if_undone for part in self.parts)

    def confirm(self, *, is_undone: bool) -> None:
        """Keep the last change of the factors, or undo it."""
        counts = [part.if_undone if is_undone else part.counts for part in self.parts]
        self.parts = tuple(Part(part.lines, x, x) for part, x in zip(self.parts, counts, strict=True))

    # --- the beginning -----------------------------------------------------------------------

    def begin(self, model: "Model | None", data: DataPlan, frame: RunFrame) -> DataPlan:
        """The data of the run, which can be read twice if it continues a model and keeps their rows."""
        if model is None or not (self.is_night or self.bound):
            return data
        files, self.again = readable_twice(data.files, frame, frame.stopped)
        data = with_groups_as_tags(data) if self.is_night else data
        return replace(data, files=files)

    def for_job(self, job: Job, model: "Model | None") -> "RowKeeping | None":
        """What a run that does not learn the model again does about rows. UsageError if it was to keep some, and
        cannot."""
        o, settings = job.options, job.resolved.settings
        if model is not None:
            if self.bound:
                of_rows = self.job(o, model, job.data, in_place=False)
                self._collected = lambda stack: collected(of_rows, stack)
            return self
        if settings.algorithm == AUTO.name and o.sparse is None:
            return self
        if o.keep_rows:
            why = "--sparse" if o.sparse is not None else f"--algorithm {settings.algorithm}"
            raise UsageError(f"--keep-rows is for models of --algorithm auto, the default, and not with {why}")
        return None

    def check_group(self, path: str, group: str | None) -> None:
        """UsageError if the rows that were kept for the model in `path` have other groups."""
        assert self.kept is not None
        if group != (own := self.kept.facts.group):
            how = f"add --group {own}" if own else "leave --group out"
            has = f"the groups of {own}" if own else "no groups"
            raise UsageError(f"the rows that were kept for {path} have {has}: {how}")

    def job(self, o: TrainOptions, model: "Model", data: DataPlan, *, in_place: bool) -> Job:
        """What learning again begins with: the settings of the model that is continued, and the columns and classes of
        the rows that were kept, if there are some."""
        facts = self.kept.facts if self.kept is not None else RowFacts(columns=model.columns, group=o.group)
        classes = self.kept.classes if self.kept is not None else model.classes
        resolved = resolve(o.typed, learning_settings(model.settings), o.initial, given=o.given, passes=o.passes)
        if self.kept is not None and o.initial is not None:
            self.check_group(o.initial, o.group)
        learner = make_learner(resolved.settings, class_names=classes)
        names = name_store(o.names, NONE if model.columns else model.names)  # those of tables come with the rows
        known = DataNames(learner.class_names, columns=facts.columns, features=names)
        o = replace(o, data=(), initial=None, **NO_FILES)
        return Job(o, learner, resolved, {}, Provenance.of(model, in_place=in_place), known, data)

    def stored(self) -> dict[str, Any]:
        """What the header of the model has of its nights."""
        found: dict[str, Any] = {"nights": [night.stored() for night in self.nights]}
        others = {"fit_minus_steps": self.fit_minus_steps, "features_from": self.features_from}
        return found | {name: value for name, value in others.items() if value}

    def restore(self, continued: Mapping[str, Any]) -> None:
        """Take over what the header of a model has of its nights."""
        self.nights = [*nights_of(continued)]
        self.fit_minus_steps = float(continued.get("fit_minus_steps", 0.0))
        self.features_from = continued.get("features_from", 0)

    def record(self, trainer: Trainer) -> None:
        """Add the run to the nights. It has learned all examples."""
        loss = watched(trainer.learner).get(Watched("loss"))
        value, error = (None, None) if loss is None else (float(loss.value), float(loss.error))
        if isinstance(trainer.source, RowSource):
            n = trainer.source.examples
        else:
            n = (trainer.learner.examples - trainer.learner.unlabelled) // (len(trainer.losses) or 1)
        error = error if error is not None and isfinite(error) else None
        night = Night(n, value, error, self.past, self.pairs, self.words)
        self.nights = [*self.nights, night][-MOST:]

    # --- the end -----------------------------------------------------------------------------

    def rows_of(self, source: Source, stack: ExitStack) -> RowSource:
        """The rows of DATA, which a run has learned."""
        if isinstance(source, RowSource):
            return source
        assert self._collected is not None
        self.again()
        return self._collected(stack)

    def write(self, source: RowSource, digest: str, trainer: Trainer) -> Callable[[], None]:
        """Write the rows for the model with this digest. Returns what gives them their name, once the model has its
        own."""
        assert self.path is not None
        found = self._kept_after(source, trainer)
        file = RowsFile(self.path, digest, found.shape, found.facts)
        file.write(found.batches, found.log, found.classes, source.keys)
        return file.settle

    def in_memory(self, source: RowSource, trainer: Trainer) -> KeptRows:
        """The rows for the next run, in a temporary file without a name."""
        found = self._kept_after(source, trainer)
        return in_memory(found.batches, found.log, found.classes, source.keys, found.shape, found.facts)

    def _kept_after(self, source: RowSource, trainer: Trainer) -> _KeptAfter:
        new, settings, labels = source.new, trainer.settings, trainer.labels_in_batches

        def batches() -> Iterator[Batch]:
            yield from self.kept.batches() if self.kept is not None else ()
            for batch, _ in new.batches():
                if labels is not None:
                    batch.map_labels(*labels)
                yield batch

        each = [*map(sizes, batches())]
        parts = [*self.parts, Part(sum(map(len, each)) - self.lines)]
        light = lines_of(part for part in parts if max(part.counts, part.if_undone) < LEAST)
        oldest = max(light, beyond(each, self.bound))
        self.beyond = oldest - light + (self.beyond if self.past else 0)
        self.written, self.dropped = tuple(_without(parts, oldest)), self.dropped + oldest
        group = trainer.options.group
        facts = RowFacts(self.written, source.columns, group, self.bound, self.before, self.dropped,
                         self.beyond, self.evidence, self.if_undone)
        shape = {"label_domain": settings.outputs.domain, "derives": source.derives, **settings.outputs.shaping([])}
        log = source.log if not oldest else _in_use(source.log, without_oldest(batches(), oldest))
        names = trainer.job.learner.class_names
        classes = names.first(len(names)) if settings.classes == "auto" and names is not None else []
        return _KeptAfter(facts, shape, without_oldest(batches(), oldest), log, classes)

    def notes(self) -> Iterator[str]:
        """What became of the rows, if it was not so in the last run."""
        if not self.bound or self.path is None:
            return
        path = f"{self.path}{SUFFIX}"
        size = os.path.getsize(path_of(self.path)) / (1 << 20)
        lines = lines_of(self.written)
        if self.kept is None:
            yield f"{path} keeps {lines:,} rows ({size:.1f} MB) for the next run; --keep-rows 0 keeps none"
        if self.beyond and not (self.kept is not None and self.kept.facts.beyond):
            yield (f"{path} has the newest {lines:,} rows, as many as fit into {self.bound / (1 << 20):,.3g} MB: "
                   "older ones are not learned again; --keep-rows SIZE sets the limit")

    def remove(self) -> None:
        """The model that is written has no rows."""
        assert self.path is not None
        settle(self.path, "")


def keeping_of(
    model: "Model | None", *, initial: str | None, output: str | None, keep_rows: int | None, is_continued: bool,
    as_it_comes: bool, without: str = "add --keep-rows 0",
) -> RowKeeping | None:
    """What a run does about rows; None: nothing. model: that is continued, of the file `initial`. output: the file of
    the new model. keep_rows: the bytes, as typed. is_continued: by --continue. as_it_comes: `learns_as_it_comes`.
    without: as of `found_for`. DataError for rows that cannot be read."""
    if model is None or initial is None:
        bound = keep_rows if keep_rows is not None else BOUND if is_continued else 0
        return RowKeeping(output, None, bound) if bound else None
    is_other_merge = bool(model.merged) and model.merged["rule"] not in (ROWS, ROUNDS)
    if model.settings.algorithm != "gd" or is_other_merge or model.weights_only:
        if keep_rows:
            raise UsageError(f"--keep-rows is for models of --algorithm auto, and {initial} is another one")
        return None
    kept, is_other = (None, False) if keep_rows == 0 else found_for(initial, model.digest, without)
    n = model.counters.get("examples", 0)
    bound = kept.facts.bound if kept is not None and keep_rows is None else keep_rows or 0
    found = RowKeeping(output, kept, bound, n if kept is None else kept.facts.before)
    found.restore(model.continued)
    is_of_auto = kept is not None or bool(model.chosen) or "nights" in model.continued
    found.is_night = is_of_auto and not (found.only_continues and as_it_comes)
    if kept is None and keep_rows is None and (model.chosen or is_other):
        why = "is of another model" if is_other else "is not there"
        found.missing = f"{initial}{SUFFIX} {why}: the past counts as a summary, {n:,} examples"
    return found


def learns_as_it_comes(typed: Typed, given: Collection[str], data: Sequence[str]) -> bool:
    """Whether a model of which no rows are kept learns one row after the other: with options of `gd`, and from DATA
    that can be read once and are not learned whole or not at all, as lines may be answered as they come. typed: options
    of settings; given: all options."""
    _, option = default_algorithm(typed_settings(typed), given, 1)
    asked = bool(option) or not {*given}.isdisjoint(OF_STEPS)
    return asked or ("continued" not in given and is_read_once(data))


def with_groups_as_tags(data: DataPlan) -> DataPlan:
    """DATA of which a model is continued: columns of a model have no groups, so they are read as tags."""
    if data.group is None or data.roles is None:
        return data
    return replace(data, roles=replace(data.roles, group=None, tag=data.group))


def options_of_run(model: "Model", given: Collection[str]) -> dict[str, Any]:
    """The options of the run that made a model which nothing else in it tells, unless they are given. DataError for
    words that are no options."""
    specs = {spec.long: spec for spec in specs_of(TrainOptions)}
    words, found = [*model.typed], dict[str, Any]()
    try:
        while words:
            name, _, value = words.pop(0).partition("=")
            spec = specs[name]
            if spec.name in OF_RUN and spec.name not in given:
                found[spec.name] = click.types.convert_type(spec.type)(value or words[0])
            if not value and words and not words[0].startswith("--"):
                words.pop(0)
    except (KeyError, IndexError, click.BadParameter) as e:
        raise DataError(f"not a valid model: the options of its run are {' '.join(model.typed)}") from e
    return found


def collected(job: Job, stack: ExitStack) -> RowSource:
    """The rows of DATA as `--algorithm auto` learns them, of a run that learned them otherwise."""
    source = source_of_kind(RowSource, job, BadLines(stack, skip=True))
    source.derives = source.logs = source.may_be_table
    source.open()
    with source.batches(lambda: False) as batches:
        for _ in batches:
            pass
    return source


def _in_use(log: Sequence[NameOfLog], batches: Iterable[Batch]) -> list[NameOfLog]:
    """The names of columns, and of the words that batches have."""
    hashes = np.unique(np.concatenate([np.zeros(0, np.uint32), *(np.unique(np.asarray(b.hash)) for b in batches)]))
    found = np.isin(np.array([hash for _, hash, _, _ in log], np.uint32), hashes).tolist()
    return [name for name, is_used in zip(log, found, strict=True) if is_used or name[2] == len(name[3])]


def _without(parts: "list[Part]", lines: int) -> Iterator[Part]:
    """These parts without so many lines at the beginning. Neighbours that count the same become one."""
    last: Part | None = None
    for part in parts:
        skipped, lines = min(lines, part.lines), max(lines - part.lines, 0)
        left = part.lines - skipped
        if last is not None and replace(last, lines=0) == replace(part, lines=0):
            last = replace(last, lines=last.lines + left)
        elif left:
            if last is not None:
                yield last
            last = replace(part, lines=left)
    if last is not None:
        yield last
