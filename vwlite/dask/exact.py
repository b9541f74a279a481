"""`vwlite dask train --exact`: rounds whose sums over shards are those of workers."""

import time
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.dask.commands import DaskTrainOptions
from vwlite.dask.rounds import DaskRounds
from vwlite.dask.state import damaged, remove_state
from vwlite.dask.work import same, sums
from vwlite.errors import UsageError
from vwlite.model.file import Model, to_bytes
from vwlite.options.spec import option_name
from vwlite.output.results import Result
from vwlite.solving.commands import SolveOptions
from vwlite.solving.options import resolve_solve
from vwlite.solving.rounds.driver import NO_STATE, Rounds
from vwlite.solving.rounds.driver import RoundState as Point
from vwlite.solving.rounds.shards import ShardSums, check_problem


def settings_of(o: DaskTrainOptions, start: Model | None) -> Settings:
    """The settings of the problem. UsageError if it is invalid, or not solved in rounds."""
    for name in ("algorithm", "holdout_period", "names", "validate", "group", "derive", "pairs"):
        if name in o.given or name in o.typed:
            raise UsageError(f"{option_name(name)} has no effect with --exact: leave it out")
    problem = SolveOptions(typed=o.typed, initial=o.initial, tolerance=o.tolerance)
    settings, _ = resolve_solve(problem, start.settings if start else None)
    check_problem(settings, "--exact")
    return settings


class ExactRounds(DaskRounds):
    """The rounds of a run with --exact."""

    def prepare(self, settings: Settings, start: Model | None) -> None:
        """From the weights of a model, or from zeros; with --resume, from the last round."""
        self.run = Rounds.create(settings, start, self.options.tolerance)
        self.identity["--initial"] = start.digest if start else ""
        if (state := self.last_state()) is None:
            return
        try:
            self.run = Rounds(Point.unpacked(state.model), self.options.tolerance)
            self.run.check_end()
        except NO_STATE:
            raise damaged(self.path) from None
        self.go_on(state)

    def all(self) -> None:
        """Do rounds until the tolerance is reached, or there were as many as are allowed."""
        o, run = self.options, self.run
        started_at = time.monotonic()
        if not self._over():
            for row in run.go(self._ask, lambda row: self._over(more=1), shards=len(self.parts), quiet=o.quiet):
                self.done.append(vars(row) | {"seconds": round(time.monotonic() - started_at, 3)})
                self.keep(run.state.packed())
                self.put(to_bytes(run.model(best=True), self.path))
                started_at = time.monotonic()
        if run.done:
            remove_state(self.path)

    def _over(self, more: int = 0) -> str:
        """Why there are no more rounds after the completed ones and `more`; "" if there are."""
        most = self.options.rounds
        reached = most is not None and len(self.done) + more >= most
        return "the limit of --rounds is reached, --resume continues" if reached else ""

    def _ask(self, run: Rounds) -> list[ShardSums]:
        """The sums over all shards at the weights of the round."""
        parts, put = self.parts, self.cluster.put
        sent = put(same, to_bytes(run.model(best=False), "the model of a round"))

        def make(i: int, avoid: str | None) -> Any:
            return put(sums, parts[i], sent, self.job, len(parts), avoid=avoid)

        return self.cluster.each(len(parts), make, lambda i: parts[i].name)

    def results(self) -> list[Result]:
        seconds = round(sum(row["seconds"] for row in self.done), 3)
        return [*self.run.results(), Result("seconds", seconds), Result("ended", self.run.why or self._over())]
