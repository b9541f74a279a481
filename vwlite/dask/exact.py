"""`vwlite dask train --exact`: rounds of `vwlite gradient` on workers, and of `vwlite step` here."""

import hashlib
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from vwlite import __version__
from vwlite.dask.cluster import Cluster
from vwlite.dask.parts import Listing
from vwlite.dask.state import State, read_state, remove_state, write_state
from vwlite.dask.work import Job, gradient, same
from vwlite.errors import DataError, UsageError
from vwlite.model import Model, write_model
from vwlite.options.dask import DaskTrainOptions
from vwlite.options.resolve import option_name
from vwlite.options.settings import Settings
from vwlite.options.solve import SolveOptions, resolve_solve
from vwlite.output.atomic import AtomicFile
from vwlite.rounds.driver import HEADER, Rounds
from vwlite.rounds.files import Gradient, read_gradient
from vwlite.rounds.files import read_state as read_rounds
from vwlite.rounds.files import write_state as write_rounds
from vwlite.rounds.shards import check_problem
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
        with tempfile.TemporaryDirectory(prefix="vwlite-") as folder:
            name = Path(folder, "state")
            name.write_bytes(state.model)
            self.run = Rounds(read_rounds(str(name)), self.options.tolerance)
        self.done = state.rounds
        self.run.judge()
        if not self.options.quiet:
            say(f"going on after round {len(self.done)}")

    def all(self) -> None:
        """Do rounds until the tolerance is reached, or there were as many as are allowed."""
        o, run = self.options, self.run
        assert o.model is not None
        if not o.quiet:
            say(f"solver = {run.state.solver}, loss = {run.settings.loss}, shards = {len(self.listing.parts)}")
            say(HEADER)
        while not run.done and (o.rounds is None or len(self.done) < o.rounds):
            begin = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="vwlite-", ignore_cleanup_errors=True) as folder:
                row = run.take([found.part for found in self._gradients(Path(folder))])
                self.done.append(vars(row) | {"seconds": round(time.monotonic() - begin, 3)})
                if not o.quiet:
                    say(row.text(run.share))
                state = Path(folder, "state")
                run.state.took, run.state.asks = run.state.asks, self._written(Path(folder, "next"))
                with AtomicFile(state) as file:
                    write_rounds(file, run.state)
                    file.commit()
                write_state(o.model, State(self.identity, self.done, state.read_bytes()))
            self.file.begin()
            write_model(self.file, self.model)
            self.file.commit()
        if run.done:
            remove_state(o.model)

    def _gradients(self, folder: Path) -> list[Gradient]:
        """What all shards say of the weights of the round."""
        parts, put = self.listing.parts, self.cluster.put
        asked = folder / "model"
        self.run.state.asks = self._written(asked)
        sent = put(same, asked.read_bytes())

        def make(i: int, avoid: str | None) -> Any:
            return put(gradient, parts[i], sent, self.job, avoid=avoid)

        found = []
        for i, data in enumerate(self.cluster.each(len(parts), make, lambda i: parts[i].name)):
            path = folder / f"gradient{i}"
            path.write_bytes(data)
            one = read_gradient(str(path))
            one.part.name = parts[i].name
            if one.program != f"vwlite {__version__}":
                raise DataError(f"{parts[i].name}: of {one.program}, and here is vwlite {__version__}: all workers "
                                "need one version")  # fmt: skip
            found.append(one)
        return found

    def _written(self, path: Path) -> str:
        """Write the model at which gradients are wanted; its digest."""
        with AtomicFile(path) as file:
            digest = write_model(file, self.run.model(best=False))
            file.commit()
        return digest

    def kept(self) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        if not self.done:
            return f"; no round was done, {self.file.name} is as it was"
        return f"; {self.file.name} is the model of round {len(self.done)}, --resume goes on"

    def results(self) -> dict[str, Any]:
        seconds = round(sum(row["seconds"] for row in self.done), 3)
        return self.run.results() | {"seconds": seconds, "ended": self.run.why or "--rounds are over, --resume goes on"}

    def notes(self) -> list[str]:
        return []
