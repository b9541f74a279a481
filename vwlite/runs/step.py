"""A run of `vwlite step`: a round as the driver sees it."""

import json
from contextlib import ExitStack
from typing import Any

import click

from vwlite import __version__
from vwlite.errors import DataError
from vwlite.model import read_model, write_model
from vwlite.model.header import brief
from vwlite.options.resolve import as_options, option_name
from vwlite.options.rounds import StepOptions, check_step
from vwlite.options.settings import Settings
from vwlite.options.solve import resolve_solve
from vwlite.output.atomic import AtomicFile
from vwlite.rounds.driver import HEADER, Rounds, Row
from vwlite.rounds.files import Gradient, State, read_gradient, read_state, write_state
from vwlite.rounds.shards import check_problem
from vwlite.runs.common import say
from vwlite.runs.problem import summary
from vwlite.runs.signals import StopSignal


def step(o: StepOptions) -> int:
    """Run `vwlite step`; the exit code."""
    check_step(o)
    assert o.state is not None and o.model is not None
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignal())  # first: what it finds begun is cleaned up
        files = [stack.enter_context(AtomicFile(path)) for path in (o.state, o.model)]
        report = stack.enter_context(AtomicFile(o.report)) if o.report else None
        run, row, asked = _begun(o) if o.init else _stepped(o)
        state = run.state
        digest = write_model(files[1], run.model())
        if row is not None:
            state.took = asked
        state.asks = digest
        write_state(files[0], state)
        if signals.number is not None:
            say(f"interrupted by signal {signals.number}; {o.state} and {o.model} are as they were")
            return 128 + signals.number
        for file in files:  # the model last: what is not there can be made of the state
            file.commit()
        if row is not None and not o.quiet:
            if row.round == 1:
                say(HEADER)
            say(row.text(run.share))
        if run.done and not o.quiet:
            say(summary(run.results() | {"ended": run.why}))
        if report is not None:
            report.write((json.dumps(_report(o, run, row), indent=2, ensure_ascii=False) + "\n").encode())
            report.commit()
        click.echo(state.word)
    return 0


def _begun(o: StepOptions) -> tuple[Rounds, None, str]:
    """A new run."""
    start = read_model(o.initial) if o.initial else None
    settings, _ = resolve_solve(o, start.settings if start else None)
    check_problem(settings, o.initial or "--init")
    return Rounds.begin(settings, start, o.tolerance), None, ""


def _stepped(o: StepOptions) -> tuple[Rounds, Row | None, str]:
    """A run after its next round, and the digest of the model that its gradients were wanted at. No row: there was no
    round, as there are no gradients or they were taken before."""
    assert o.state is not None
    state = read_state(o.state)
    if state.program != f"vwlite {__version__}":
        raise DataError(f"{o.state}: of {state.program}, and this is vwlite {__version__}: all rounds need one version")
    gradients = [read_gradient(path) for path in o.data]
    for gradient in gradients:
        _check_gradient(gradient, state, o.state)
    asked = state.asks
    try:
        run = Rounds(state, o.tolerance)
    except ValueError as e:
        raise DataError(f"{o.state}: not a valid state: {brief(e)}") from None
    if gradients:
        first = gradients[0]
        for gradient in gradients:
            if gradient.model != first.model:
                raise DataError(f"{gradient.part.name} and {first.part.name} are of the weights of two rounds: make "
                                f"all with -i {o.model}")  # fmt: skip
        if first.model not in (state.asks, state.took):
            raise DataError(
                f"{first.part.name} is of other weights than {o.state} asks for: make it with -i {o.model}; "
                f"vwlite step -i {o.state} -o {o.model} writes that once more"
            )
        parts = [gradient.part for gradient in gradients]
        if first.model == state.asks and not run.done:
            return run, run.take(parts), asked
        run.checked(parts)
        if first.model == state.took:
            say(f"note: {o.state} has taken these gradients before; {o.model} is written once more")
    elif state.numbers:
        run.judge()
    return run, None, asked


def _check_gradient(gradient: Gradient, state: State, path: str) -> None:
    """DataError for a gradient of another program or problem."""
    name = gradient.part.name
    if gradient.program != state.program:
        raise DataError(f"{name}: of {gradient.program}, and {path} is of {state.program}: all rounds need one version")
    its, own = Settings.restored(gradient.options), Settings.restored(state.options)
    for option in vars(own):
        if getattr(its, option) != getattr(own, option):
            raise DataError(f"{name} is of another problem than {path}: {option_name(option)} is not the same "
                            f"({getattr(its, option)} and {getattr(own, option)})")  # fmt: skip


def _report(o: StepOptions, run: Rounds, row: Row | None) -> dict[str, Any]:
    return {
        "program": f"vwlite {__version__}",
        "command": "step",
        "options": {**as_options(run.settings), "solver": run.state.solver, "tolerance": o.tolerance,
                    "gradients": list(o.data), "state": o.state, "model": o.model, "start": o.initial},
        "round": vars(row) if row is not None else None,
        "results": {**run.results(), "word": run.state.word, "ended": run.why or None},
    }  # fmt: skip
