"""Cross-validation: the measures of models on the fold that each has not learned."""

import re
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import islice
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from vwlite.algorithms.table import AUTO
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import EvaluateOptions
from vwlite.evaluation.evaluate import Evaluation, models_of
from vwlite.evaluation.measures import Value
from vwlite.input.formats import BOM, by_magic, by_name
from vwlite.input.reader import Block, read_blocks
from vwlite.inspection.commands import SplitOptions
from vwlite.inspection.split import Part, Rule, divide, is_read_once
from vwlite.output.json_text import json_text, versioned
from vwlite.output.stdio import renaming, say
from vwlite.output.text import shown
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.runs.source import table_of
from vwlite.training.train import train
from vwlite.validation.commands import CvOptions
from vwlite.validation.folds import FoldHashes


def cv(o: CvOptions) -> int:
    """Run `vwlite cv`; the exit code."""
    if is_read_once(o.data):
        raise UsageError("vwlite cv reads the data once for each fold: name files")
    table_of(o)  # refuses what trainings would
    given = {f.name: getattr(o, f.name) for f in fields(InputOptions)}
    divided = SplitOptions(**given, stratify=o.stratify, seed=o.seed)
    found: list[tuple[int, list[Value]]] = []
    with RunFrame("cv", o) as frame:
        folder = frame.enter_context(TemporaryDirectory(prefix="vwlite-"))
        frame.enter_context(renaming(lambda text: _named(text, folder, o.data, len(found) + 1)))
        *paths, model = (f"{folder}/{name}.{by_name(o.data[0]) or 'data'}" for name in ("train", "test", "model"))
        hashes = None if o.group else FoldHashes(o, _training(o, o.data, model), lambda: frame.signal is not None).of
        for k in range(o.folds):
            if frame.signal is not None:
                break
            names, parts = (f"the training rows of fold {k + 1}", f"fold {k + 1}"), list[Part]()
            rule = Rule(divided, Fraction(k, o.folds), Fraction(k + 1, o.folds), hashes)
            with RunFrame("cv", replace(divided, quiet=True)) as dividing:
                parts = divide(divided, rule, paths, dividing, names)
                code, values = dividing.code(""), list[Value]()
            code = code or train(_training(o, paths[:1], model))
            if not code:
                code, values = _evaluated(o, model, paths[1])
            if code:
                return code
            found.append((parts[1].rows, values))
            if [x.key for x in values] != [x.key for x in found[0][1]]:
                raise DataError(f"the measures of fold {k + 1} are not those of fold 1, as each fold chooses its loss "
                                "by its labels: give --loss, or --classes")
        if frame.signal is None:
            _print(o, found)
        return frame.code("")


def _named(text: str, folder: str, data: Sequence[str], fold: int) -> str:
    """A message with the places of DATA in place of those of parts, which nobody else sees."""
    if text.startswith("interrupted"):
        return text.partition(";")[0]

    def place(found: re.Match[str]) -> str:
        path, part, number = found.groups()
        if part == "model":
            return f"the model of fold {fold}"
        rows = f"{' '.join(data)} ({'training ' * (part == 'train')}rows of fold {fold})"
        return rows if number is None else _line_of(path, int(number), data) or f"{rows}:{number}"

    return re.sub(f"({re.escape(folder)}/" + r"(\w+)\.\w+)(?::(\d+))?", place, text)


def _line_of(path: str, number: int, data: Sequence[str]) -> str | None:
    """Where DATA have a line of a part first. None for binary formats, and if that is not found."""
    with open(path, "rb") as file:
        if by_magic(file.read(8)):
            return None
        file.seek(0)
        line = next(islice(file, number - 1, None), b"").removeprefix(BOM).rstrip(b"\r\n")
    for block in read_blocks(data, skip_faults=True) if line else ():
        if isinstance(block, Block):
            for at, other in enumerate(bytes(block.data).split(b"\n"), block.first_line):
                if other.removeprefix(BOM).rstrip(b"\r") == line:
                    return f"{block.source}:{at}"
    return None


def _training(o: CvOptions, data: Sequence[str], model: str) -> TrainOptions:
    """The options of a training. Only folds of auto have groups; else the column is dropped."""
    own = {f.name: getattr(o, f.name) for f in fields(TrainOptions)}
    found = TrainOptions(**own | {"data": (*data,), "model": model, "quiet": True, "given": o.given & own.keys()})
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
            for note in one.scoring.about_labels()[0][1]:  # labels that are not evaluated
                say(f"note: {note}")
        return frame.code(), evaluation.values if frame.signal is None else []


def _print(o: CvOptions, found: list[tuple[int, list[Value]]]) -> None:
    rows, table = [count for count, _ in found], dict[tuple[str, str], dict[str, Any]]()
    for same in zip(*(values for _, values in found), strict=True):
        known = [x.value for x in same if x.value is not None]
        table[same[0].key, same[0].name] = {
            "mean": fmean(known) if known else None, "deviation": stdev(known) if len(known) > 1 else None,
            "values": [x.value for x in same],
        }
    if o.json:
        measures = {key: values for (key, _), values in table.items()}
        facts = {"folds": o.folds, "rows": rows, "measures": measures}
        sys.stdout.write(json_text(versioned(facts, o.report_version), indent=2) + "\n")
        return
    lines = [["", "mean", "deviation", *(f"fold {k}" for k in range(1, o.folds + 1))]]
    lines += [["rows", "", "", *map(str, rows)]]
    lines += [[name, *map(shown, (x["mean"], x["deviation"], *x["values"]))] for (_, name), x in table.items()]
    for first, *cells in lines:
        sys.stdout.write(f"{first:<17}" + "".join(f"{cell:>10}" for cell in cells) + "\n")
