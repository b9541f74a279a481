"""Which settings go together, and what is refused."""

from itertools import combinations
from typing import Any

from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS, AUTO, SCHEDULE, Algorithm, algorithm_of
from vwlite.errors import UsageError
from vwlite.options.spec import check_rows, option_name


def refused(algorithm: Algorithm) -> dict[str, str]:
    """Options of other algorithms that this one has no use for, and why or what to use instead."""
    found = {}
    for name in sorted({name for a in ALGORITHMS.values() for name in a.options} - set(algorithm.options)):
        users = ", ".join(a.name for a in ALGORITHMS.values() if name in a.options)
        found[name] = algorithm.instead.get(name, f"it is an option of {users}")
    for name in SCHEDULE:
        if name in algorithm.instead:
            found[name] = algorithm.instead[name]
        elif name not in algorithm.schedule:
            found[name] = f"use {option_name(algorithm.rate)}" if algorithm.rate else "its steps need only the loss"
    return found


def check_together(settings: Settings, typed: dict[str, Any]) -> None:
    """UsageError if these were not taken together. typed: those settings that somebody chose."""
    outputs = settings.outputs
    outputs.transform.check(settings)
    outputs.check()
    for name in ("oaa", "labels", "nonzeros"):
        if getattr(settings, name) is not None:
            outputs.check_one(option_name(name))
    _check_algorithm(settings, typed)
    outputs.check_link()


def _check_algorithm(settings: Settings, typed: dict[str, Any]) -> None:
    """Options that the algorithm or the loss has no use for."""
    algorithm = algorithm_of(settings.algorithm)
    for name, why in refused(algorithm).items():
        if name in typed:
            raise UsageError(f"{option_name(name)} has no effect with --algorithm {settings.algorithm}: {why}")
    pairs = {pair: "leave one of them out" for pair in combinations(algorithm.forms, 2)
             if algorithm.forms[pair[0]] != algorithm.forms[pair[1]]}
    for (one, other), why in (pairs | algorithm.incompatible).items():
        if getattr(settings, one) and getattr(settings, other):
            raise UsageError(f"{option_name(one)} and {option_name(other)} cannot be used together: {why}")
    if settings.algorithm == AUTO.name:
        settings.outputs.check_auto()
    if settings.loss and settings.loss not in algorithm.losses:
        losses = " or ".join(f"--loss {loss}" for loss in algorithm.losses)
        raise UsageError(f"--algorithm {settings.algorithm} cannot learn from --loss {settings.loss}: use {losses}")
    for name in algorithm.required:
        if getattr(settings, name) is None and not (name == "radius" and settings.nonzeros):
            raise UsageError(f"--algorithm {settings.algorithm} needs {option_name(name)}")
    for name, loss in LOSS_OPTIONS.items():
        if name in typed and settings.loss != loss:
            raise UsageError(f"{option_name(name)} has no effect with --loss {settings.loss}: add --loss {loss}")
    if "labels" in typed and settings.outputs.domain in ("nonnegative", "positive"):
        raise UsageError(f"--labels maps labels to -1 and 1, which --loss {settings.loss} cannot use")
    if settings.normalize == "center" and not settings.constant:
        raise UsageError("--normalize center and --no-constant cannot be used together: the means go into the "
                         "intercept")
    check_rows(settings)
