"""A run of `vwlite solve --shards`: rounds over shards in the memory of processes on this machine."""

from contextlib import ExitStack
from dataclasses import replace

from vwlite.input.sources import check_sources
from vwlite.model import read_model, write_model
from vwlite.output.results import Result, values
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import planned
from vwlite.runs.run import say
from vwlite.runs.source import DataNames
from vwlite.solving.commands import SolveOptions
from vwlite.solving.options import resolve_solve
from vwlite.solving.problem import SMALL, Examples, Limits, summary
from vwlite.solving.rounds.driver import RoundRow, Rounds
from vwlite.solving.rounds.processes import Processes
from vwlite.solving.rounds.shards import check_problem


def solve_shards(o: SolveOptions) -> int:
    """Run `vwlite solve --shards`; the exit code."""
    assert o.shards is not None
    o.check()
    check_sources(o.data, quiet=o.quiet)
    start = read_model(o.initial, uncalibrated=True) if o.initial else None
    settings, _ = resolve_solve(o, start.settings if start else None)
    check_problem(settings, "--shards")
    run = Rounds.create(settings, start, o.tolerance)
    known = replace(DataNames.of(None, settings), columns=start.columns if start else {})

    def read(stack: ExitStack, path: str) -> Examples:
        one = replace(o, data=(path,))
        return Examples(one, planned(one), settings, known, stack, source=one.of_source)

    # Forked before the frame opens files, which the processes would have too; ended before it ends.
    with Processes(o.data, o.shards, read, settings) as processes, RunFrame("solve", o) as frame:
        frame.push(processes)
        frame.stop_with(processes.stop)
        file = frame.file(o.model) if o.model else None
        processes.read()
        limits, rows = Limits(o.max_seconds, o.max_passes), list[RoundRow]()
        if not processes.stopped:
            rows += run.go(processes.ask, lambda row: limits.reached(row.round), shards=len(o.data), quiet=o.quiet)
        ended = run.ended or "interrupted"
        if file is not None and rows:
            write_model(file, replace(run.model(best=True), interrupted=frame.signal is not None))
            file.commit()
        results = [*run.results(), Result("seconds", frame.seconds())] if rows else []
        results.append(Result("ended", ended))
        if rows:
            frame.show(summary(results), ended=True)
        warns = frame.signal is None and run.state.word != "converged" and run.bounds.share > max(o.tolerance, SMALL)
        if warns:
            say(f"warning: {ended}: the gap is {100 * run.bounds.share:.3g} %")
        names = "tolerance", "max_seconds", "max_passes", "shards", "data", "model", "initial", "threads"
        frame.report(
            options=frame.reported_options(settings, *names, solver=run.state.solver),
            signal=frame.signal,
            rounds=[vars(row) for row in rows],
            results={**values(results), "warning": ended if warns else None},
        )
        saved = f"the model so far was saved to {o.model}, -i continues from it"
        kept = saved if o.model and rows else "nothing is written"
        return frame.code(f"; {kept}")
