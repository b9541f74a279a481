"""Cross-validation: the measures of models on the fold that each has not learned."""

import io
import sys
from array import array
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import fields, replace
from fractions import Fraction
from itertools import repeat
from statistics import fmean, stdev
from typing import Any

import numpy as np

from vwlite.algorithms.table import AUTO
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.evaluate import Evaluating, Evaluation
from vwlite.evaluation.measures import Value
from vwlite.input.part import Part
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import is_read_once
from vwlite.inspection.commands import SplitOptions
from vwlite.inspection.rows import Rows
from vwlite.inspection.split import Rule, check_sizes, divided
from vwlite.model.file import Model, read_own, to_bytes
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.stdio import say
from vwlite.output.text import shown
from vwlite.runs.counted import with_counted_classes
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import applied
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.plan import DataPlan, planned
from vwlite.runs.resolve import resolve
from vwlite.runs.run import BadLines
from vwlite.training.dates import with_times
from vwlite.training.fit import FitProgress
from vwlite.training.trainer import Trainer, prepared
from vwlite.training.trainers import checked, source_of, trainer_of
from vwlite.validation.commands import CvOptions
from vwlite.validation.folds import FoldHashes


def cv(o: CvOptions) -> int:
    """Run `vwlite cv`; the exit code."""
    if is_read_once(o.data):
        raise UsageError("vwlite cv reads the data once for each fold: name files")
    planned(o).table()  # refuses what trainings would
    given = {f.name: getattr(o, f.name) for f in fields(InputOptions)}
    of_rows = SplitOptions(**given, stratify=o.stratify, seed=o.seed)
    with RunFrame("cv", o) as frame:
        training = _training(o)
        data = planned(training)
        hashes = None if o.group else FoldHashes(training, data, o.folds, o.seed, frame.stopped, apart=o.stratify).of
        rule = Rule(of_rows, [Fraction(k, o.folds) for k in range(o.folds + 1)], hashes)
        folds = Folds(divided(rule, frame.stopped), o.folds)
        found: list[list[Value]] = []
        groups = rule.groups()
        for k, rows in enumerate(folds.rows if frame.signal is None else (), 1):
            names = (f"the training rows of fold {k}", f"fold {k}")
            check_sizes(rule, sum(folds.rows) - rows, rows, o.data, names)
            name = f"the model of fold {k}"
            how = _training(o, by_group=sum(groups.values()) - groups[k] > 1)
            model = _trained(how, data, folds.part(k, held_out=False), name, frame)
            if model is not None:
                found.append(_evaluated(model, name, data, folds.part(k, held_out=True), k, frame))
            if frame.signal is not None:
                break
            keys = [[x.key for x in values] for values in found]
            if keys[-1] != keys[0] and not all("mse" in of for of in keys):
                raise DataError(f"the measures of fold {k} are not those of fold 1, as each fold chooses its loss "
                                "by its labels: give --loss, or --classes")
        if frame.signal is None:
            found = _in_all(found)
            facts = _facts(folds.rows, found)
            sys.stdout.write(json_text(with_schema(facts), indent=2) + "\n" if o.json else
                             _shown(facts, [value.name for value in found[0]]))
        return frame.code("")


class Folds:
    """The fold of each row, from 1. rows: how many each has. found: rows with their folds."""

    _NONE, _ALL = 254, 255  # of lines without a row, and of those of a header

    def __init__(self, found: Iterable[tuple[Rows, list[int]]], folds: int) -> None:
        counts = Counter[int]()
        self._of_lines: dict[str, array[int]] = {}  # of each source, from the first one on
        for rows, numbers in found:
            counts.update(numbers)
            lines = self._of_lines.setdefault(rows.source, array("B"))
            for row, (line, number) in enumerate(zip(rows.lines, numbers, strict=True)):
                is_behind = not lines and rows.header
                lines.extend(repeat(self._ALL if is_behind else self._NONE, line - 1 - len(lines)))
                lines.extend(repeat(number, 1 if rows.batch is not None else rows.texts[row].count(b"\n") + 1))
        self.rows = [counts[k] for k in range(1, folds + 1)]

    def part(self, fold: int, *, held_out: bool) -> Part:
        """The rows of a fold, or all others."""
        found = {}
        for source, lines in self._of_lines.items():
            of = np.frombuffer(lines, np.uint8)
            some = of == fold if held_out else (of != fold) & (of != self._NONE)
            found[source] = (some | (of == self._ALL)).tobytes()
        return Part(found)


def _training(o: CvOptions, *, by_group: bool = True) -> TrainOptions:
    """The options of a training. Only folds of auto have groups, if there are several; else the column is dropped."""
    own = {f.name: getattr(o, f.name) for f in fields(TrainOptions)}
    found = TrainOptions(**own | {"quiet": True, "given": o.given & own.keys()})
    algorithm = resolve(o.typed, given=o.given, passes=o.passes).settings.algorithm
    if o.group is None or (by_group and algorithm == AUTO.name):
        return found
    return replace(found, group=None, drop=(*o.drop, (o.group,)))


def _trained(o: TrainOptions, data: DataPlan, part: Part, name: str, frame: RunFrame) -> Model | None:
    """A model of a part of the rows, as it is in a file; None if a signal came. name: of the model, in messages."""

    def stored(trainer: Trainer) -> Model:
        data = to_bytes(trainer.model(), name)
        return read_own(name, io.BytesIO(data), data)

    o = replace(o, typed=with_counted_classes(o.typed, data, frame.stopped, part))
    job, _ = with_times(prepared(o, None, data, in_place=False), frame.stopped, part)
    job = checked(job)
    with ExitStack() as stack:
        bad = BadLines(stack, **o.of_bad_lines)
        progress = FitProgress(o, bad)
        progress.settled = stored
        trainer = trainer_of(job, source_of(job, bad, part), progress, stack)
        frame.stop_with(trainer.stop)
        trainer.run()
        return progress.model_of(trainer) if frame.signal is None else None


def _evaluated(model: Model, name: str, data: DataPlan, part: Part, fold: int, frame: RunFrame) -> list[Value]:
    """The measures of a part of the rows; none if a signal came."""
    opened = applied(model, name, DataPlan(data.files, data.format, skip=data.skip), part=part)
    one = Evaluating(opened, BadLines(frame, skip=data.skip).take)
    evaluation = Evaluation(one)
    frame.stop_with(one.learner.stop)
    parse = one.scoring.parse
    with parsed_batches(data.files, parse, stop=frame.stopped, threads=data.threads) as batches:
        evaluation.read(batches)
    if frame.signal is not None:
        return []
    evaluation.finish(f"{' '.join(data.files)} (rows of fold {fold})")
    for note in one.scoring.about_labels()[0][1]:  # labels that are not evaluated
        say(f"note: {note}")
    return evaluation.values


def _in_all(found: list[list[Value]]) -> list[list[Value]]:
    """The measures that all folds have: of amounts, each fold chooses its loss, which has measures of its own."""
    each = [{x.key: x for x in values} for values in found]
    return [[of[x.key] for x in found[0] if all(x.key in other for other in each)] for of in each]


def _facts(rows: list[int], found: list[list[Value]]) -> dict[str, Any]:
    """The measures of all folds, which have so many rows, for JSON."""
    measures = {}
    for same in zip(*found, strict=True):
        known = [x.value for x in same if x.value is not None]
        measures[same[0].key] = {
            "mean": fmean(known) if known else None, "deviation": stdev(known) if len(known) > 1 else None,
            "values": [x.value for x in same],
        }
    return {"folds": len(rows), "rows": rows, "measures": measures}


def _shown(facts: dict[str, Any], names: list[str]) -> str:
    """The same as a table. names: of the measures."""
    lines = [["", "mean", "deviation", *(f"fold {k}" for k in range(1, facts["folds"] + 1))]]
    lines += [["rows", "", "", *map(str, facts["rows"])]]
    for name, x in zip(names, facts["measures"].values(), strict=True):
        lines.append([name, *map(shown, (x["mean"], x["deviation"], *x["values"]))])
    return "".join(f"{first:<17}" + "".join(f"{cell:>10}" for cell in cells) + "\n" for first, *cells in lines)
