"""The number of classes of `--classes auto` without `--oaa K`, and of lines of fastText: those in DATA, counted in a
reading before the run."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from vwlite.algorithms.settings import MOST_CLASSES
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import UsageError
from vwlite.input.parsing import ParseOptions
from vwlite.input.pipeline import is_fasttext, parsed_batches
from vwlite.input.sources import display_name
from vwlite.names import names_text
from vwlite.options.types import Labels
from vwlite.runs.options import InputOptions
from vwlite.runs.run import say
from vwlite.runs.source import table_of

if TYPE_CHECKING:
    from vwlite.input.part import Part

FEWEST = 2
Options = TypeVar("Options", bound=InputOptions)


def with_counted_classes(o: Options, stop: Callable[[], bool], part: "Part | None" = None) -> Options:
    """The options of a new model with --oaa K, where it is missing; not for two labels of lines of fastText, nor for
    those from a pipe. part: of the rows. UsageError for data that can be read only once."""
    fasttext = not {"classes", "oaa", "labels", "loss"} & o.typed.keys() and is_fasttext(o.data, o.format)
    if not fasttext and (o.typed.get("classes") != "auto" or "oaa" in o.typed):
        return o
    once = next((path for path in o.data or ["-"] if not os.path.isfile(path)), None)
    if once is not None and fasttext:
        return o
    if once is not None:
        raise UsageError(f"--classes auto counts the classes in a first reading, and {display_name(once)} can be read "
                         "only once: add --oaa K, the largest number of classes that there may be")
    names = ClassNames(MOST_CLASSES, grows=True)
    table = table_of(replace(o, quiet=True), needs_label=True)
    # Bad lines are those of the run.
    parse = ParseOptions(format=o.format, skip=True, class_names=names, table=table, part=part)
    with parsed_batches(o.data, parse, stop=stop, threads=o.threads) as batches:
        for _ in batches:
            pass
    if fasttext and len(names) <= FEWEST:
        labels = Labels().convert(names_text(names.first(FEWEST)), None, None) if len(names) == FEWEST else None
        return replace(o, typed={**o.typed, "labels": tuple(sorted(labels))}) if labels else o
    if not o.quiet:
        say(f"classes = {len(names)}, as counted in the data")
    return replace(o, typed={**o.typed, "classes": "auto", "oaa": max(len(names), FEWEST)})
