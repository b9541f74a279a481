"""The conditions of --fail-if."""

import math
from collections.abc import Iterable, Mapping, Sequence

from vwlite.errors import UsageError
from vwlite.options.types import Condition
from vwlite.output.text import shown


def check_names(
    conditions: Iterable[Condition], names: Sequence[str], more: str = "", losses: Sequence[str] = ()
) -> None:
    """UsageError for a measure of --fail-if that does not exist. more: the end of the sentence. losses: the names of
    those that may be compared with the run before."""
    for condition in conditions:
        if condition.errors is not None and condition.measure not in losses:
            known = f"of {' or '.join(losses)}" if losses else "of vwlite train"
            raise UsageError(f"--fail-if {condition}: yesterday is {known}")
        if condition.measure not in names:
            raise UsageError(f"--fail-if {condition}: there is no measure {condition.measure}; there are "
                             f"{', '.join(names)}{more}")


def failures(conditions: Iterable[Condition], values: Mapping[str, float | None]) -> list[str]:
    """A sentence for each condition that holds, or whose measure is not defined: None or NaN, which compares with no
    number."""
    found = ((condition, values.get(condition.measure)) for condition in conditions)
    numbers = ((condition, math.nan if value is None else value) for condition, value in found)
    return [f"--fail-if {condition}: it is {'not defined' if math.isnan(value) else shown(value)}"
            for condition, value in numbers if math.isnan(value) or condition.holds(value)]
