"""What `vwlite evaluate`, `vwlite report` and `vwlite explain` say of a model, in Python."""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.errors import UsageError
from vwlite.estimators.errors import SOURCE, as_python
from vwlite.estimators.frames import is_frame
from vwlite.estimators.learned import from_bytes
from vwlite.estimators.memory import InMemory
from vwlite.estimators.sources import NAME
from vwlite.evaluation.commands import ReportOptions
from vwlite.evaluation.evaluate import Evaluating, Evaluation, names_of
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import check_sources
from vwlite.model.file import Model, to_bytes
from vwlite.model.read import read_model
from vwlite.output.json_text import json_values
from vwlite.output.text import shown
from vwlite.runs.opened import applied
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines

OTHER = "the other model"
Read = Callable[[ParseOptions], Iterator[Parsed]]  # the data, as a model reads them


class MeasuresDict(dict[str, Any]):
    """What `evaluate` gives, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        from vwlite.evaluation.page.markup import table

        rows = []
        for name, found in self["measures"].items():
            low, high = found["low"], found["high"]
            interval = "-" if low is None else f"{shown(low)} to {shown(high)}"
            rows.append((name.replace("_", " "), shown(found["value"]), shown(found["baseline"]), interval))
        return table(f"{self['rows']:,} rows", ("measure", "model", "baseline", "95 % interval"), rows)


def evaluate(model: Any, X: Any, y: Any = None, **options: Any) -> MeasuresDict:
    """How good a model's predictions are: what `vwlite evaluate --json` prints, with its names.

    model: a fitted estimator, what `load_model` gives, or the path of a model. X: a matrix or a frame, and y its
    labels; or the path of a data file, or a list of them, and y is None. options: those of the command, such as
    threshold=0.3 or by="country", against= another model too. ValueError for what is not valid, OSError for files.
    """
    with as_python(), ExitStack() as stack:
        o, models = _opened(stack, model, X, y, options)
        evaluation = Evaluation(*(one for one, _ in models), threshold=o.threshold, by=o.by, top=o.top or 0)
        evaluation.read(*(read(one.scoring.parse) for one, read in models))
        evaluation.finish(names_of(o.data) if y is None else SOURCE, o.on_unknown)
        return MeasuresDict(json_values(evaluation.as_dict()))


def report(model: Any, X: Any, y: Any = None, **options: Any) -> str:
    """The page that `vwlite report` makes, as HTML. Parameters as those of `evaluate`; output: the path of a file to
    write it to, too."""
    from vwlite.evaluation.report import Digests, Report, front_of
    from vwlite.output.atomic import AtomicFile

    with as_python(), ExitStack() as stack:
        output, digests = options.pop("output", None), Digests()
        o, models = _opened(stack, model, X, y, options)
        made = Report([one for one, _ in models], o.roles, threshold=o.threshold, front=front_of(o.front))
        made.parts[0].parse = replace(made.parts[0].parse, tap=digests.take)
        made.read(*(read(part.parse) for part, (_, read) in zip(made.parts, models, strict=True)))
        made.finish([(SOURCE, "")] if y is not None else [*map(digests.of, o.data)], o.on_unknown)
        page = made.page()
        if output is not None:
            file = stack.enter_context(AtomicFile(os.fspath(output)))
            file.write(page.encode())
            file.commit()
        return page


def explain(model: Any, X: Any, top: int) -> list[dict[str, Any]]:
    """What `vwlite explain --json` prints for each row of X, without its place and label."""
    from vwlite.evaluation.explain import Explaining

    with as_python():
        opened = applied(model_of(model), NAME)
        explaining = Explaining(opened, top, range(len(opened.model.class_names())))
        rows = InMemory(X, None, opened).batches(explaining.parse)
        found = [json_values(example.as_dict()) for examples in explaining.over(rows) for example in examples]
        return [{name: row[name] for name in row if name not in ("file", "line", "tag", "label")} for row in found]


def model_of(model: Any) -> Model:
    """The model of an estimator, of what `load_model` gives, or of a file, for one who may change it."""
    if isinstance(model, str | os.PathLike):
        return read_model(os.fspath(model))
    found: Model = copy.copy(model._learned.model())
    return found if found.digest else from_bytes(to_bytes(found, NAME))


def _opened(
    stack: ExitStack, model: Any, X: Any, y: Any, options: dict[str, Any]
) -> tuple[ReportOptions, list[tuple[Evaluating, Read]]]:
    """The options; the model and that of against=, each with what reads the data for it."""
    models = {NAME: model, OTHER: options.pop("against", None)}
    try:
        o = ReportOptions(data=_paths(X) if y is None else (), quiet=True, **options)
    except TypeError as e:
        raise UsageError(str(e).replace(f"{ReportOptions.__name__}.__init__()", "options:")) from None
    check_sources(o.data, quiet=True)
    if o.by is not None and y is not None and not is_frame(X):
        raise UsageError(f"--by {o.by}: a matrix has no columns with names: give a frame")
    found: list[tuple[Evaluating, Read]] = []
    for name, one in models.items():
        if one is None:
            continue
        path = os.fspath(one) if isinstance(one, str | os.PathLike) else name
        opened = applied(model_of(one), path, planned(o), keeps_text=o.by is not None and not found)
        if y is None:
            bad = BadLines(stack, **o.of_bad_lines)
            found.append((Evaluating(opened, bad.take), _reader(stack, o.data, o.threads)))
        else:
            found.append((Evaluating(opened), InMemory(X, y, opened).batches))
    return o, found


def _reader(stack: ExitStack, data: tuple[str, ...], threads: int) -> Read:
    return lambda parse: stack.enter_context(parsed_batches(data, parse, threads=threads))


def _paths(X: Any) -> tuple[str, ...]:
    """Files of DATA."""
    paths = [X] if isinstance(X, str | os.PathLike) else X
    if not isinstance(paths, Sequence) or not paths or not all(isinstance(p, str | os.PathLike) for p in paths):
        raise UsageError("y is missing: give the labels, or X as paths of data files")
    return tuple(map(os.fspath, paths))
