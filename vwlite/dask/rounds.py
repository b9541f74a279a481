"""What the runs of `vwlite dask train` share: the shards, the state beside the model, and how to continue from it."""

import json
from typing import Any

from vwlite import __version__
from vwlite.dask.cluster import Cluster
from vwlite.dask.commands import DaskTrainOptions
from vwlite.dask.parts import Listing
from vwlite.dask.state import FinishedRounds, digest, read_state, write_state
from vwlite.dask.work import ShardJob
from vwlite.output.atomic import AtomicFile
from vwlite.runs.run import say

OTHERS = ("threads", "given", "holdout_period", "initial")  # may differ, or are compared by their own names


class DaskRounds:
    """A run in rounds over shards that workers read. Call `prepare`, then `all`. files: what is to be learned here, in
    place of rounds."""

    files: tuple[str, ...] = ()

    def __init__(
        self, o: DaskTrainOptions, listing: Listing, job: ShardJob, cluster: Cluster, file: AtomicFile
    ) -> None:
        assert o.model is not None
        self.options, self.listing, self.parts, self.job, self.cluster = o, listing, listing.parts, job, cluster
        self.file, self.path = file, o.model
        self.done: list[dict[str, Any]] = []  # what the report says of each round
        # What a run must have in common with the run that it continues, by its name in messages.
        self.identity: dict[str, Any] = {
            "version of vwlite": __version__,
            "data": digest(json.dumps(listing.stamps).encode()),
            "options": {name: x for name, x in vars(job.options).items() if name not in OTHERS},
            "--block-size": o.block_size,
        }

    def stop(self) -> None:
        """End as soon as possible. Called from the thread of the signals."""
        self.cluster.stop()

    def last_state(self) -> FinishedRounds | None:
        """With --resume, what the last round has left."""
        if not self.options.resume:
            return None
        state = read_state(self.path, self.identity)
        if state is None:
            say("there is no round to continue from: this is the first")
        return state

    def go_on(self, state: FinishedRounds) -> None:
        self.done = state.rounds
        if not self.options.quiet:
            say(f"continuing after round {len(self.done)}")

    def keep(self, state: bytes) -> None:
        """Write what another run needs to continue after this round."""
        write_state(self.path, FinishedRounds(self.identity, self.done, state))

    def put(self, model: bytes) -> None:
        """Write the model of a round."""
        self.file.new_version()
        self.file.write(model)
        self.file.commit()

    def kept(self) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        if not self.done:
            return f"; no round was completed, {self.file.name} is unchanged"
        return f"; {self.file.name} is the model of round {len(self.done)}, --resume continues"

    def about_empty(self) -> list[str]:
        return []

    def notes(self) -> list[str]:
        return self.about_empty()


