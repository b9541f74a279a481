"""`vwlite dask train --exact`: rounds whose sums over shards are those of workers."""

import hashlib
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from vwlite import __version__
from vwlite.dask.cluster import Cluster
from vwlite.dask.parts import Listing
from vwlite.dask.state import State, damaged, read_state, remove_state, write_state
from vwlite.dask.work import Job, same, sums
from vwlite.errors import UsageError
from vwlite.model import Model, write_model
from vwlite.options.dask import DaskTrainOptions
from vwlite.options.resolve import option_name
from vwlite.options.settings import Settings
from vwlite.options.solve import SolveOptions, resolve_solve
from vwlite.output.atomic import AtomicFile
from vwlite.rounds.driver import NO_STATE, Rounds
from vwlite.rounds.driver import State as Point
from vwlite.rounds.shards import Part, check_problem
from vwlite.runs.common import say


def settings_of(o: DaskTrainOptions, start: Model | None) -> Settings:
    """Those of the problem. UsageError for what is none, or none that is solved in rounds."""
    for name in ("algorithm", "holdout_period", "rule", "state", "names"):
        if name in o.raw:
            raise UsageError(f"{option_name(name)} means nothing to --exact, which has one way: leave it out")
    problem = SolveOptions(typed=o.typed, initial=o.initial, tolerance=o.tolerance)
    settings, _ = resolve_solve(problem, start.settings if start else None)
    check_problem(settings, "--exact")
    return settings


class ExactRounds:
    """The rounds of a run. Call `all` once."""

    def __init__(
        self, o: DaskTrainOptions, listing: Listing, job: Job, cluster: Cluster, file: AtomicFile, settings: Settings,
        start: Model | None,
    ) -> None:  # fmt: skip
        assert o.model is not None
        self.options, self.listing, self.job, self.cluster, self.file = o, listing, job, cluster, file
        self.run = Rounds.begin(settings, start, o.tolerance)
        self.identity = {
            "version of vwlite": __version__,
            "data": hashlib.blake2b(json.dumps(listing.stamps).encode(), digest_size=32).hexdigest(),
            "options": [settings.stored(), list(job.arguments[1:]), job.format],
            "--block-size": o.block_size,
            "--initial": start.digest if start else "",
        }
        self.done: list[dict[str, Any]] = []  # what the report says of each round
        if o.resume:
            self._resume(o.model)

    @property
    def model(self) -> Model:
        return self.run.model(best=True)

    def _resume(self, path: str) -> None:
        state = read_state(path, self.identity)
        if state is None:
            say("there is no round to go on from: this is the first")
            return
        try:
            self.run = Rounds(Point.unpacked(state.model), self.options.tolerance)
            self.run.judge()
        except NO_STATE:
            raise damaged(path) from None
        self.done = state.rounds
        if not self.options.quiet:
            say(f"going on after round {len(self.done)}")

    def all(self) -> None:
        """Do rounds until the tolerance is reached, or there were as many as are allowed."""
        o, run = self.options, self.run
        assert o.model is not None
        begin = time.monotonic()
        if not self._over():
            for row in run.go(self._ask, lambda row: self._over(more=1), shards=len(self.listing.parts), quiet=o.quiet):
                self.done.append(vars(row) | {"seconds": round(time.monotonic() - begin, 3)})
                write_state(o.model, State(self.identity, self.done, run.state.packed()))
                self.file.begin()
                write_model(self.file, self.model)
                self.file.commit()
                begin = time.monotonic()
        if run.done:
            remove_state(o.model)

    def _over(self, more: int = 0) -> str:
        """Why there are no more rounds than those that are done and so many more; nothing if there are."""
        most = self.options.rounds
        return "--rounds are over, --resume goes on" if most is not None and len(self.done) + more >= most else ""

    def _ask(self, run: Rounds) -> list[Part]:
        """The sums over all shards at the weights of the round."""
        parts, put = self.listing.parts, self.cluster.put
        with tempfile.TemporaryDirectory(prefix="vwlite-", ignore_cleanup_errors=True) as folder:
            asked = Path(folder, "model")
            with AtomicFile(asked) as file:
                write_model(file, run.model(best=False))
                file.commit()
            sent = put(same, asked.read_bytes())

        def make(i: int, avoid: str | None) -> Any:
            return put(sums, parts[i], sent, self.job, avoid=avoid)

        return self.cluster.each(len(parts), make, lambda i: parts[i].name)

    def kept(self) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        if not self.done:
            return f"; no round was done, {self.file.name} is as it was"
        return f"; {self.file.name} is the model of round {len(self.done)}, --resume goes on"

    def results(self) -> dict[str, Any]:
        seconds = round(sum(row["seconds"] for row in self.done), 3)
        return self.run.results() | {"seconds": seconds, "ended": self.run.why or self._over()}

    def notes(self) -> list[str]:
        return []
