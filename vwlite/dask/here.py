"""`vwlite train` of files that are too large for learning in passes: the default on shards, on this machine.

What `vwlite dask train` does, with the same bytes, but tasks run in processes of this one. What stays on workers there
is in temporary files here: numbers of all rows, of which memory may not have enough.
"""

import pickle
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

from vwlite.algorithms.table import AUTO
from vwlite.dask import default
from vwlite.dask.cluster import POLL, Interrupted
from vwlite.dask.commands import BLOCK_SIZE, DaskTrainOptions
from vwlite.dask.parts import listed
from vwlite.dask.tables import with_roles
from vwlite.dask.work import Failed, ShardJob, own_folder
from vwlite.errors import VwliteError, WriteError
from vwlite.input.formats import BINARY, by_name
from vwlite.options.declaring import declared
from vwlite.output.results import summary, values
from vwlite.runs.counted import FEWEST
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.runs.run import say
from vwlite.training.shards.drawing import MOST_ROWS
from vwlite.training.shards.rows import Projected


class Here:
    """Tasks run in threads, most of which wait for a process. Implements what rounds need of a `Cluster`."""

    def __init__(self, threads: int, folder: Path) -> None:
        self._pool, self._folder, self._numbers = ThreadPoolExecutor(threads), folder, count()
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def put(self, f: Callable[..., Any], *arguments: Any, avoid: str | None = None) -> "Future[Any]":
        """The future of a task; arguments that are futures began before it."""
        try:
            return self._pool.submit(self._done, f, arguments)
        except RuntimeError:  # it was shut down
            raise Interrupted from None

    def _done(self, f: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        found = f(*(_value(x.result() if isinstance(x, Future) else x) for x in arguments))
        if not isinstance(found, Projected):
            return found
        path = self._folder / str(next(self._numbers))
        path.write_bytes(pickle.dumps(found, protocol=5))
        return _Stored(path)

    def each(
        self, count: int, make: Callable[[int, str | None], Any], named: Callable[[int], str],
        done: Callable[[int, Any], None] = lambda i, result: None,
    ) -> list[Any]:
        """The results of tasks. VwliteError if one has failed; Interrupted."""
        futures, results = [make(i, None) for i in range(count)], list[Any]()
        for i, future in enumerate(futures):
            while not self._stopped and not wait([future], POLL).done:
                pass
            if self._stopped:
                raise Interrupted
            try:
                result = future.result()
            except CancelledError:
                raise Interrupted from None
            except OSError as e:
                raise WriteError(f"{self._folder}: cannot be written: {e.strerror}; numbers of all rows are kept "
                                 "there: set TMPDIR to a folder with more space") from e
            if isinstance(result, Failed):
                message = result.message if named(i) in result.where else f"{named(i)}: {result.message}"
                raise VwliteError(message, exit_code=result.code)
            done(i, result)
            results.append(result)
        return results


class _Stored:
    """A value in a file, which is removed with it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __del__(self) -> None:
        self.path.unlink(missing_ok=True)


def _value(x: Any) -> Any:
    return pickle.loads(x.path.read_bytes()) if isinstance(x, _Stored) else x


class RoundsHere(default.DefaultRounds):
    """Only the model of the last round is written."""

    def keep(self, state: bytes) -> None:
        pass

    def put(self, model: bytes) -> None:
        self.file.new_version()
        self.file.write(model)


def train_here(o: TrainOptions) -> int | None:
    """Train from files that are large; the exit code. None: they are not learned so, as they are not text or have no
    more rows than a sample, or as an option is not one of `vwlite dask train`."""
    known = {parameter.name for parameter in declared("dask train").params} - {"initial", "holdout_period"}
    is_text = o.format not in BINARY and not any(by_name(path) in BINARY for path in o.data)
    if not (o.model and is_text and (o.given | o.typed.keys()) <= known):
        return None
    counted = {"oaa": FEWEST} if o.typed.get("classes") == "auto" else {}  # classes of the sample
    settings = resolve(counted | o.typed, None, None, given=o.given).settings
    if settings.algorithm != AUTO.name or settings.normalize == "center":
        return None
    of = DaskTrainOptions(**{f.name: getattr(o, f.name) for f in fields(DaskTrainOptions) if hasattr(o, f.name)})
    with RunFrame("train", o) as frame:
        if not o.quiet:
            say(f"more than 4 GB of files: the default learns a sample of {MOST_ROWS:,} rows, and the weights are "
                "fitted to all rows; --passes 1 is a tenth of the work, and as good on most tables")
        file, listing = frame.file(o.model), listed(o.data, BLOCK_SIZE)
        options = of.of_shards(TrainOptions, model=None, holdout_period=None, given=o.given & {"group"})
        job = with_roles(ShardJob(options), of, listing.parts, {})
        here: Any = Here(o.threads, frame.enter_context(own_folder()))
        run = RoundsHere(of, listing, job, here, file)
        frame.callback(run.stop)
        frame.stop_with(run.stop)
        run.prepare(settings, None)
        try:
            run.all()
        except Interrupted:
            return frame.code(f"; {o.model} is unchanged")
        if run.files:
            return None
        results, notes = run.results(), run.notes()
        if frame.commit(file.commit):
            frame.show(summary(results), notes)
            frame.report(options=frame.reported_options(settings, "data", "model"), results=values(results),
                         rounds=run.done, notes=notes)
        return frame.code(f"; {o.model} is unchanged")
