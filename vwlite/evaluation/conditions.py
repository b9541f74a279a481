"""The conditions of --fail-if on measures."""

from collections.abc import Iterable, Mapping, Sequence

from vwlite.errors import UsageError
from vwlite.options.types import Condition


def check_names(conditions: Iterable[Condition], names: Sequence[str], more: str = "") -> None:
    """UsageError for a measure that does not exist. more: the end of the sentence."""
    for condition in conditions:
        if condition.measure not in names:
            raise UsageError(f"--fail-if {condition}: there is no measure {condition.measure}; there are "
                             f"{', '.join(names)}{more}")  # fmt: skip


def failures(conditions: Iterable[Condition], values: Mapping[str, float | None]) -> list[str]:
    """A sentence for each condition that holds, or whose measure is not defined."""
    from vwlite.evaluation.screen import shown

    found = ((condition, values.get(condition.measure)) for condition in conditions)
    return [f"--fail-if {condition}: it is {'not defined' if value is None else shown(value)}"
            for condition, value in found if value is None or condition.holds(value)]  # fmt: skip
