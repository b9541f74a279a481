"""The number of classes of `--classes auto` without `--oaa K`, and of lines of fastText: those in DATA, counted in a
reading before the run."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from vwlite.algorithms.settings import MOST_CLASSES
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import UsageError
from vwlite.input.parsing import ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import display_name
from vwlite.names import names_text
from vwlite.options.types import Labels
from vwlite.output.stdio import say
from vwlite.runs.plan import DataPlan
from vwlite.runs.resolve import Typed

if TYPE_CHECKING:
    from vwlite.input.part import Part

FEWEST = 2


def with_counted_classes(typed: Typed, plan: DataPlan, stop: Callable[[], bool], part: "Part | None" = None) -> Typed:
    """The settings of a new model as typed, with --oaa K, where it is missing; not for two labels of lines of fastText,
    nor for those from a pipe. part: of the rows. UsageError for data that can be read only once."""
    fasttext = not {"classes", "oaa", "labels", "loss"} & typed.keys() and plan.is_fasttext
    if not fasttext and (typed.get("classes") != "auto" or "oaa" in typed):
        return typed
    once = next((path for path in plan.files or ["-"] if not os.path.isfile(path)), None)
    if once is not None and fasttext:
        return typed
    if once is not None:
        raise UsageError(f"--classes auto counts the classes in a first reading, and {display_name(once)} can be read "
                         "only once: add --oaa K, the largest number of classes that there may be")
    names, table = ClassNames(MOST_CLASSES, grows=True), plan.table(needs_label=True)
    if table is not None:
        table.say = lambda line: None
    # Bad lines are those of the run.
    parse = ParseOptions(format=plan.format, skip=True, class_names=names, table=table, part=part)
    with parsed_batches(plan.files, parse, stop=stop, threads=plan.threads) as batches:
        for _ in batches:
            pass
    if fasttext and len(names) <= FEWEST:
        labels = Labels().convert(names_text(names.first(FEWEST)), None, None) if len(names) == FEWEST else None
        return {**typed, "labels": tuple(sorted(labels))} if labels else typed
    if not plan.quiet:
        say(f"classes = {len(names)}, as counted in the data")
    return {**typed, "classes": "auto", "oaa": max(len(names), FEWEST)}
