"""A run of `vwlite solve --shards`: rounds over shards in the memory of processes on this machine."""

import json
import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite import __version__
from vwlite.input.reader import check_sources
from vwlite.model import read_model, write_model
from vwlite.options.resolve import as_options
from vwlite.options.solve import SolveOptions, check_shards, resolve_solve
from vwlite.output.atomic import AtomicFile
from vwlite.rounds.driver import Rounds, Row
from vwlite.rounds.processes import Processes
from vwlite.rounds.shards import check_problem
from vwlite.runs.common import say
from vwlite.runs.problem import SMALL, summary
from vwlite.runs.signals import StopSignal


def solve_shards(o: SolveOptions) -> int:
    """Run `vwlite solve --shards`; the exit code."""
    assert o.shards is not None
    check_shards(o)
    check_sources(o.data, quiet=o.quiet)
    start = read_model(o.initial) if o.initial else None
    settings, _ = resolve_solve(o, start.settings if start else None)
    check_problem(settings, "--shards")
    run = Rounds.begin(settings, start, o.tolerance)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignal())  # first: what it finds begun is cleaned up
        processes = stack.enter_context(Processes(o, settings, o.data, o.shards))
        signals.then(processes.stop)
        file = stack.enter_context(AtomicFile(o.model)) if o.model else None
        report = stack.enter_context(AtomicFile(o.report)) if o.report else None
        begin = time.monotonic()
        processes.read()
        rows: list[Row] = []
        if not processes.stopped:
            rows += run.go(processes.ask, _limit(o), shards=len(o.data), quiet=o.quiet)
        ended = run.ended or "interrupted"
        if file is not None and rows:
            write_model(file, replace(run.model(best=True), interrupted=signals.number is not None))
            file.commit()
        results = _results(run, rows, begin, ended)
        if not o.quiet and rows:
            say()
            say("interrupted" if signals.number else "finished run")
            say(summary(results))
        warns = signals.number is None and run.state.word != "converged" and run.share > max(o.tolerance, SMALL)
        if warns:
            say(f"warning: {ended}: the gap is {100 * run.share:.3g} %")
        if report is not None:
            content = {
                "program": f"vwlite {__version__}", "command": "solve",
                "options": {**as_options(settings), "solver": run.state.solver, "tolerance": o.tolerance,
                            "max-seconds": o.max_seconds, "max-passes": o.max_passes, "shards": o.shards,
                            "data": list(o.data), "model": o.model, "initial": o.initial, "threads": o.threads,
                            "memory": o.memory},
                "signal": signals.number,
                "rounds": [vars(row) for row in rows],
                "results": {**results, "warning": ended if warns else None},
            }  # fmt: skip
            report.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
            report.commit()
        if signals.number is not None:
            kept = f"the model as of then is {o.model}, -i begins from it" if o.model and rows else "nothing is written"
            say(f"interrupted by signal {signals.number}; {kept}")
            return 128 + signals.number
    return 0


def _limit(o: SolveOptions) -> Callable[[Row], str]:
    """Why a round is the last one by the options; nothing if it is not."""
    deadline = math.inf if o.max_seconds is None else time.monotonic() + o.max_seconds

    def over(row: Row) -> str:
        if time.monotonic() >= deadline:
            return f"--max-seconds {o.max_seconds:g} is over"
        if o.max_passes is not None and row.round >= o.max_passes:
            return f"--max-passes {o.max_passes} is reached"
        return ""

    return over


def _results(run: Rounds, rows: list[Row], begin: float, ended: str) -> dict[str, Any]:
    """What the summary and the report say, by name."""
    if not rows:
        return {"ended": ended}
    return run.results() | {"seconds": round(time.monotonic() - begin, 3), "ended": ended}
