"""Which columns of a table are times, though no option names them: asked before `--algorithm auto` learns."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from vwlite.algorithms.table import AUTO
from vwlite.input.sources import is_read_once
from vwlite.names import names_text
from vwlite.output.shell_words import quoted
from vwlite.runs.plan import planned
from vwlite.training.trainer import Job, prepared

if TYPE_CHECKING:
    from vwlite.input.part import Part


def with_times(job: Job, stop: Callable[[], bool], part: "Part | None" = None) -> tuple[Job, list[str]]:
    """The job of a new model, with --time for columns that are read as times, with --categorical for columns of times
    whose words predict better, and notes that say so. part: of the rows of DATA."""
    o = job.options
    if not o.names_columns or is_read_once(o.data) or not learns_in_passes(job):
        return job, []
    from vwlite.input.dates import begins_with_dates  # here, and below: few tables have dates

    if not any(map(begins_with_dates, o.data)):
        return job, []
    from vwlite.training.auto.times import Dates

    times, words = Dates(job, stop, part).times()
    if not (times or words):
        return job, []
    notes = [f"column {name}: read as a time; --categorical {typed(name)} keeps its words" for name in times]
    notes += [f"column {name}: its words predict better than its hour, weekday and month; --time {typed(name)} learns "
              "these" for name in words]
    if times:
        o = replace(o, time=(*o.time, tuple(times)))
    if words:
        o = replace(o, categorical=(*o.categorical, tuple(words)))
    return prepared(o, None, replace(planned(o), quiet=job.data.quiet), in_place=False), notes


def typed(name: str) -> str:
    """A column as the value of an option."""
    return quoted(names_text([name]))


def learns_in_passes(job: Job) -> bool:
    """Whether a new model is learned by auto, in as many passes as help."""
    o = job.options
    is_new = o.initial is None and job.resolved.settings.algorithm == AUTO.name
    return is_new and not ("passes" in o.given and o.passes == 1)
