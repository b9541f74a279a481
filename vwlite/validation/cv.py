"""Cross-validation: the measures of models on the fold that each has not learned."""

import os
import sys
from contextlib import ExitStack
from dataclasses import fields, replace
from fractions import Fraction
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

from vwlite.algorithms.table import AUTO
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import EvaluateOptions
from vwlite.evaluation.evaluate import Evaluation, models_of
from vwlite.evaluation.measures import Value
from vwlite.input.formats import by_name
from vwlite.inspection.commands import SplitOptions
from vwlite.inspection.rows import rows_of
from vwlite.inspection.split import Part, Rule, divide
from vwlite.output.json_text import json_text
from vwlite.output.text import shown
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.training.train import train
from vwlite.validation.commands import CvOptions


def cv(o: CvOptions) -> int:
    """Run `vwlite cv`; the exit code."""
    if not o.data or not all(map(os.path.isfile, o.data)):
        raise UsageError("vwlite cv reads the data once for each fold: name files")
    found: list[tuple[int, list[Value]]] = []
    with RunFrame("cv", o) as frame:
        folder = frame.enter_context(TemporaryDirectory(prefix="vwlite-"))
        for k in range(o.folds):
            train_part, test_part, model = (
                os.path.join(folder, f"{name}.{by_name(o.data[0]) or 'data'}") for name in ("train", "test", "model"))
            rows = _divided(o, frame, k, train_part, test_part)
            code, values = frame.code(), list[Value]()
            code = code or train(_training(o, train_part, model))
            if not code:
                code, values = _evaluated(o, model, test_part)
            if code:
                return code
            found.append((rows, values))
        _print(o, found)
        return 0


def _divided(o: CvOptions, frame: RunFrame, k: int, *paths: str) -> int:
    """Write the rows of a fold, and the others; how many it has."""
    given = {f.name: getattr(o, f.name) for f in fields(InputOptions)}
    rule = Rule(SplitOptions(**given, by_group=o.group, stratify=o.stratify, seed=o.seed),
                Fraction(k, o.folds), Fraction(k + 1, o.folds))
    with ExitStack() as stack:
        others, fold = (Part(path, stack) for path in paths)
        divide(rule, lambda: rows_of(o, rule.option, rule.column, lambda: frame.signal is not None), others, fold)
        if not (others.rows and fold.rows) and frame.signal is None:
            raise DataError(f"{o.data[0]}: fold {k + 1} has {fold.rows:,} of {others.rows + fold.rows:,} rows: --folds "
                            f"{o.folds} needs more " + ("groups" if o.group else "rows"))
        for part in (others, fold):
            part.file.commit()
        return fold.rows


def _training(o: CvOptions, path: str, model: str) -> TrainOptions:
    """The options of a training. Only folds of auto have groups; else the column is dropped."""
    own = {f.name: getattr(o, f.name) for f in fields(TrainOptions)}
    found = TrainOptions(**own | {"data": (path,), "model": model, "quiet": True, "given": o.given & own.keys()})
    if o.group is None or resolve(o.typed, given=o.given, passes=o.passes).settings.algorithm == AUTO.name:
        return found
    return replace(found, group=None, drop=(*o.drop, (o.group,)))


def _evaluated(o: CvOptions, model: str, path: str) -> tuple[int, list[Value]]:
    """An exit code if a signal came, and the measures."""
    data = EvaluateOptions(model=model, data=(path,), format=o.format, on_error=o.on_error, threads=o.threads)
    with RunFrame("cv", replace(data, quiet=True)) as frame:
        ((one, reading),) = models_of(replace(data, quiet=True), frame)
        evaluation = Evaluation(one)
        evaluation.read(reading.batches(one.scoring.parse, one.learner))
        if frame.signal is None:
            evaluation.finish(path)
        return frame.code(), evaluation.values if frame.signal is None else []


def _print(o: CvOptions, found: list[tuple[int, list[Value]]]) -> None:
    rows = [count for count, _ in found]
    names = [(value.key, value.name) for value in found[0][1]]
    table = [[value.value for value in same] for same in zip(*(values for _, values in found), strict=True)]
    known = [[x for x in values if x is not None] for values in table]
    sums = [(fmean(x) if x else None, stdev(x) if len(x) > 1 else None) for x in known]
    if o.json:
        measures = {key: {"mean": mean, "deviation": deviation, "values": values}
                    for (key, _), (mean, deviation), values in zip(names, sums, table, strict=True)}
        sys.stdout.write(json_text({"folds": o.folds, "rows": rows, "measures": measures}, indent=2) + "\n")
        return
    folds = [f"fold {k}" for k in range(1, o.folds + 1)]
    lines = [("", "mean", "deviation", *folds), ("rows", "", "", *map(str, rows))]
    lines += [(name, *map(shown, (*two, *values))) for (_, name), two, values in zip(names, sums, table, strict=True)]
    for first, *cells in lines:
        sys.stdout.write(f"{first:<17}" + "".join(f"{cell:>10}" for cell in cells).rstrip() + "\n")
