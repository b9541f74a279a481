"""The process of a task: draws, predicts or computes sums over the lines of a shard, which are its standard input, or
row groups of Parquet that it reads itself.

It is a process of its own so that a worker survives its end by a signal or for lack of memory. It starts in a folder
with the pickled `Task`. Its result, or a VwliteError, goes to standard output, pickled; the model, what is asked and
predictions are files in the folder. What one task needs and others do not is imported in its function.
"""

import json
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vwlite import __version__
from vwlite.errors import DataError, VwliteError, outcome
from vwlite.input import sources

if TYPE_CHECKING:
    from vwlite.dask.parts import FilePart
    from vwlite.solving.rounds.shards import ShardSums

ASKED = "asked"
PROGRAM = (sys.executable, "-c", "from vwlite.dask import child; child.main()")
TASK, START, MODEL, PREDICTIONS, REPORT = "task", "start", "model", "predictions", "report"


@dataclass(frozen=True)
class Task:
    """run: a function of this module, which gets the task. source: the name of the shard in messages. added: the number
    of lines before those of the shard, that is of the header of a table. parquet: the shard, if it is row groups, not
    standard input."""

    run: Callable[["Task"], Any]
    options: Any  # a record of options, as the function needs it
    source: str
    added: int
    parquet: "FilePart | None" = None


def main() -> None:
    """Do the task of this folder."""
    with open(TASK, "rb") as file:
        task: Task = pickle.load(file)
    sources.standard_input = task.source
    try:
        with ExitStack() as stack:
            if task.parquet is not None:
                _open(task.parquet, stack)
            answer = task.run(task)
    except Exception as e:
        code, message = outcome(e)
        answer = VwliteError(message, task.source, exit_code=code)
        if isinstance(e, VwliteError) and e.where:
            source, *place = e.where
            lines = [max(1, int(line) - task.added) for line in place[:1]]
            answer = VwliteError(e.message, source, *lines, *place[1:], exit_code=code)
    pickle.dump(answer, sys.stdout.buffer)


def _open(part: "FilePart", stack: ExitStack) -> None:
    """Read row groups in place of standard input."""
    from vwlite.dask.parts import naming_errors, opened
    from vwlite.input import arrow

    with naming_errors(part.url):
        file = stack.enter_context(opened(part.url))
    assert part.end is not None
    arrow.row_groups = part.url if part.is_local else file, range(part.begin, part.end), part.columns


def predict(task: Task) -> int:
    """Write the predictions; their number."""
    from vwlite.prediction import predict

    if code := predict.predict(task.options):
        sys.exit(code)
    with open(REPORT, "rb") as file:
        return int(json.load(file)["results"]["number_of_examples"])


def sums(task: Task) -> "ShardSums":
    """The sums at the weights of the model START, for a round of `vwlite dask train --exact`."""
    from vwlite.model import read_model
    from vwlite.runs.plan import planned
    from vwlite.runs.source import DataNames
    from vwlite.solving.problem import Examples
    from vwlite.solving.rounds.shards import ShardSums, facts_of, first_of, shard_of

    model = read_model(START)
    if model.program != (here := f"vwlite {__version__}"):
        raise DataError(f"the worker has {here}, and the driver {model.program}: all need the same version")
    with ExitStack() as stack:
        names = DataNames.of(model, model.settings)
        examples = Examples(task.options, planned(task.options), model.settings, names, stack)
        examples.read()
        weights, intercept = examples.start(model, 0)
        sums, slopes, second = shard_of(examples, model.settings).sums(weights, intercept)
        first: dict[str, Any] = {"keys": None}  # from the second round on, it is known
        if not model.solved["passes"]:
            with open(ASKED, "rb") as file:
                first = first_of(examples, model.settings, pickle.load(file))
        return ShardSums(sums=sums, slopes=slopes, second=second, **first, **facts_of(examples))


def draw(task: Task) -> Any:
    """The rows of the shard that may be in the sample, and what else is known of it (a `Draw`). The model START, if it
    is there, is continued."""
    from vwlite.model import read_model
    from vwlite.runs.plan import planned
    from vwlite.runs.run import BadLines
    from vwlite.training.shards.drawing import Drawing

    o = task.options
    with ExitStack() as stack:
        bad = BadLines(stack, **o.of_bad_lines)
        start = read_model(START) if os.path.exists(START) else None
        data = planned(o)
        if start is not None:
            from vwlite.training.nights.keeping import with_groups_as_tags

            data = with_groups_as_tags(data)
        drawing = Drawing(data, o.typed, o.given, bad, grouped=o.group is not None, start=start)
        return drawing.read(lambda: False)


def answer(task: Task) -> Any:
    """What ASKED asks of the rows of the shard, with the features of the model START."""
    from vwlite.model import read_model
    from vwlite.runs.plan import planned
    from vwlite.training.shards.reading import ModelRows

    o = task.options
    with open(ASKED, "rb") as file:
        asked, held = pickle.load(file)
    model = read_model(START)
    return asked.answer(ModelRows(planned(o), o.of_bad_lines, model, lambda: False), model, held)
