"""Starts a run of `vwlite train`: in passes, or of large files by sums over shards.

It is imported in every run: what only large files need is imported for them.
"""

from vwlite.algorithms.table import AUTO
from vwlite.runs.options import TrainOptions
from vwlite.training import train as in_passes


def train(o: TrainOptions) -> int:
    """Run `vwlite train`; the exit code."""
    if o.typed.get("algorithm", AUTO.name) == AUTO.name and o.continued is None and not o.again:
        from vwlite.training.auto.reading import is_large

        if is_large(o.data):
            from vwlite.dask.here import train_here

            o.check()
            if (code := train_here(o)) is not None:
                return code
    return in_passes.train(o)
