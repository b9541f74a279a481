"""The options of `vwlite gradient` and `vwlite step`."""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from vwlite.errors import UsageError
from vwlite.input import cache_name
from vwlite.options.groups import InputOptions, TrainOptions, collected, decorated, with_options
from vwlite.options.resolve import check_files, check_runs, option_name
from vwlite.options.settings import Settings
from vwlite.options.solve import CACHED, OF_PROBLEM, SHARED, SolveOptions, memory_option
from vwlite.options.spec import FEATURES, IN, OUT, TABLES, option, specs_of
from vwlite.options.types import PATH, Number
from vwlite.output.atomic import check_apart

ROUND, BEGIN = "Round", "Beginning"


@dataclass(frozen=True)
class GradientOptions(TrainOptions):
    """The options of `vwlite gradient`, as typed."""

    initial: str | None = option(
        None, "-i", "--initial", group=ROUND, type=PATH, required=True, metavar="FILE",
        help="The model that vwlite step wrote: its weights, and its options of features and loss.",
    )  # fmt: skip
    output: str | None = option(
        None, "-o", "--output", group=ROUND, type=PATH, required=True, metavar="FILE",
        help="Write the sums to this file, for vwlite step.",
    )  # fmt: skip
    certificate: bool = option(
        False, "--certificate", group=ROUND,
        help="Add what a lower bound needs, so that vwlite step knows how far the optimum is: twice the bytes.",
    )  # fmt: skip
    memory: int | None = memory_option()


@dataclass(frozen=True)
class StepOptions(SolveOptions):
    """The options of `vwlite step`, as typed; DATA are the gradients."""

    state: str | None = option(
        None, "-i", "--state", group=ROUND, type=PATH, required=True, metavar="FILE",
        help="The state of the run, which is read and written.",
    )  # fmt: skip
    model: str | None = option(
        None, "-o", "-m", "--model", group=ROUND, type=PATH, required=True, metavar="FILE",
        help="Write the model to this file: the weights at which the next gradients are wanted; at the end, the "
             "solution.",
    )  # fmt: skip
    tolerance: float = option(
        1e-3, "--tolerance", group=ROUND, type=Number(0),
        help="The end: a gap between objective and lower bound of at most this part of the objective; without "
             "certificates, five steps that together lower the objective by no more.",
    )  # fmt: skip
    init: bool = option(
        False, "--init", group=BEGIN, help="Begin: write a new state, and the model of the first round. No GRADIENT."
    )
    initial: str | None = option(
        None, "--start", "initial", group=BEGIN, type=PATH, metavar="FILE",
        help="With --init: begin from this model's weights, such as one of vwlite merge, with its options of features "
             "and loss.",
    )  # fmt: skip


_GRADIENT = (
    *specs_of(GradientOptions, ROUND), *specs_of(InputOptions, IN, TABLES), *CACHED, *SHARED,
    *(spec for spec in specs_of(GradientOptions) if spec.name == "memory"),
)  # fmt: skip
_FEATURES = (*specs_of(Settings, IN), *specs_of(Settings, FEATURES))
_STEP = (
    *specs_of(StepOptions, ROUND), *specs_of(StepOptions, BEGIN),
    *(replace(spec, group=BEGIN) for spec in (*OF_PROBLEM, *_FEATURES)),
    *(replace(spec, group=BEGIN) for spec in specs_of(Settings, OUT) if spec.name == "link"),
    *(spec for spec in specs_of(InputOptions, OUT) if spec.name in ("quiet", "report")),
)  # fmt: skip


def gradient_options(f: Callable[[GradientOptions], int]) -> Callable[..., int]:
    return decorated(_GRADIENT, GradientOptions, f)


def step_options(f: Callable[[StepOptions], int]) -> Callable[..., int]:
    @functools.wraps(f)
    def command(**typed: Any) -> int:
        return f(collected(StepOptions, typed))

    gradients = click.argument("data", nargs=-1, type=PATH, metavar="[GRADIENT]...")
    found: Callable[..., int] = gradients(with_options(_STEP, command))
    return found


def check_gradient(o: GradientOptions) -> None:
    """Options of the run that mean nothing together: UsageError."""
    check_runs(o)
    if o.output == "-":
        raise UsageError("--output -: a gradient is a file; name one")
    inputs = [(path, "one of the DATA files") for path in o.data] + [(o.initial or "", "the model that is read")]
    cache = o.cache_file or (cache_name(o.data[0]) if o.cache else None)
    check_apart({"--output": o.output, "--report": o.report, "--rejects": o.rejects, "--cache-file": cache}, inputs)


def check_step(o: StepOptions) -> None:
    """Options of the run that mean nothing together: UsageError."""
    assert o.state is not None
    if o.init and o.data:
        raise UsageError(f"--init begins, and {o.data[0]} is of a round that has: leave one of them out")
    if not o.init:
        for name in ("initial", *o.typed):
            if name in o.typed or getattr(o, name, None) is not None:
                what = "--start" if name == "initial" else option_name(name)
                raise UsageError(f"{what} is for --init: the state {o.state} keeps what the run began with")
    if "-" in (*o.data, o.state):
        raise UsageError("-: gradients and states are files; standard input is none")
    check_files(replace(o, data=("-",)))
    inputs = [(path, "a gradient that is read") for path in o.data]
    inputs += [(o.initial, "the model that is read")] if o.initial else []
    check_apart({"--model": o.model, "--state": o.state, "--report": o.report}, inputs, ("--model", o.initial))
    seen: dict[str, str] = {}
    for path in o.data:
        if other := seen.get(os.path.realpath(path)):
            raise UsageError(f"{other} and {path} are one file, which would count twice; name it once")
        seen[os.path.realpath(path)] = path
