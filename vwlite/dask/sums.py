"""`vwlite dask sums`: the command for one shard on a worker, in a round of `vwlite dask train --exact`."""

import pickle
from array import array
from contextlib import ExitStack

from vwlite import __version__
from vwlite.dask.commands import DaskSumsOptions
from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.runs.plan import planned
from vwlite.runs.source import DataNames
from vwlite.solving.problem import Examples
from vwlite.solving.rounds.shards import ShardSums, facts_of, shard_of


def sums(o: DaskSumsOptions) -> int:
    """Write the sums at the weights of a model, as a pickled `ShardSums`; the exit code."""
    assert o.initial is not None and o.output is not None
    model = read_model(o.initial)
    if model.program != (here := f"vwlite {__version__}"):
        raise DataError(f"the worker has {here}, and the driver {model.program}: all need the same version")
    with ExitStack() as stack:
        examples = Examples(o, planned(o), model.settings, DataNames.of(model, model.settings), stack)
        examples.read()
        weights, intercept = examples.start(model, 0)
        sums, slopes, second = shard_of(examples, model.settings).sums(weights, intercept)
        keys = None if model.solved["passes"] else array("I", examples.rows.keys)  # from the second round on, known
        part = ShardSums(keys=keys, sums=sums, slopes=slopes, second=second, **facts_of(examples))
        with open(o.output, "wb") as file:  # in the folder of the task, which is removed whatever happens
            pickle.dump(part, file)
    return 0
