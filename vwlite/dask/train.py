"""A run of `vwlite dask train`: the default, or with --exact the optimum of a problem, in rounds of sums over shards.

The sums have a fixed order of the shards, and shards do not depend on the workers: so the bytes of the model do not,
either, whichever worker ran a task, and however often.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO
from vwlite.dask.cluster import Cluster, Interrupted
from vwlite.dask.commands import DaskTrainOptions
from vwlite.dask.default import DefaultRounds
from vwlite.dask.exact import ExactRounds, settings_of
from vwlite.dask.parts import FilePart, content, listed
from vwlite.dask.tables import with_roles
from vwlite.dask.work import ShardJob, own_folder
from vwlite.errors import UsageError
from vwlite.model import Model, read_model
from vwlite.output.atomic import AtomicFile
from vwlite.output.results import summary, values
from vwlite.runs.counted import FEWEST
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.resolve import learning_settings, resolve
from vwlite.training.train import trained


def train(o: DaskTrainOptions) -> int:
    """Run `vwlite dask train`; the exit code."""
    o.check()
    assert o.model is not None
    start = read_model(o.initial, uncalibrated=True) if o.initial else None
    settings = settings_of(o, start) if o.exact else _default(o, start)
    with RunFrame("dask train", o) as frame:
        of_model = frame.enter_context(ExitStack())
        file = of_model.enter_context(AtomicFile(o.model))
        listing = listed(o.data, o.block_size, o.format)
        options = o.of_shards(InputOptions)
        if not o.exact:
            options = o.of_shards(TrainOptions, model=None, holdout_period=None, given=o.given & {"group"})
        job = with_roles(ShardJob(options), o, listing.parts, start.columns if start else {})
        cluster = Cluster(o.scheduler, o.retries)
        run = (ExactRounds if o.exact else DefaultRounds)(o, listing, job, cluster, file)
        frame.stop_with(run.stop)
        run.prepare(settings, start)
        try:
            frame.enter_context(cluster)
            run.all()
        except Interrupted:
            return frame.code(run.kept())
        if run.files:
            of_model.close()
            data = local_copies(run.files, Path(frame.enter_context(own_folder())))
            given = o.given - {"holdout_period"}
            frame.options = o.of_shards(TrainOptions, data=data, quiet=o.quiet, holdout_period=None, given=given)
            learning, trainer = trained(frame.options, frame)
            learning.notes = [*learning.notes, *run.about_empty()]
            learning.finish(frame, trainer)
            return frame.code(learning.kept(trainer))
        results, notes = run.results(), run.notes()
        frame.show(summary(results), notes)
        names = (
            "data", "scheduler", "rounds", "holdout_period", "block_size", "exact", "tolerance", "retries", "initial",
            "model",
        )
        frame.report(
            options=frame.reported_options(settings, *names),
            results=values(results),
            rounds=run.done,
            shards=[part.name for part in listing.parts],
            notes=notes,
        )
    return 0


NOT_DEFAULT = (
    "it learns the default of vwlite train, and with --exact problems of --l1, --l2 or --radius. For other algorithms "
    "train on each file, and merge the models: vwlite help clusters"
)


def _default(o: DaskTrainOptions, start: Model | None) -> Settings:
    """The settings of the default. UsageError for options of something else."""
    typed = o.typed
    counted = {"oaa": FEWEST} if typed.get("classes") == "auto" else {}  # classes of the sample
    if o.validate is not None and "holdout_period" in o.given:
        raise UsageError("--validate FILE and --holdout-period cannot be used together: rows of FILE are held out")
    before = learning_settings(start.settings) if start is not None else None
    found = resolve(typed if start is not None else counted | typed, before, o.initial,
                    given=o.given - {"holdout_period"})
    settings = found.settings
    if settings.algorithm != AUTO.name:
        raise UsageError(f"vwlite dask train with {found.option or f'--algorithm {settings.algorithm}'}: {NOT_DEFAULT}")
    if settings.normalize == "center":
        raise UsageError("--normalize center needs the means of all data: use vwlite train, or --normalize l2 or log")
    return settings


def local_copies(urls: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Files of this machine as they are, and copies of others."""
    found = []
    for number, url in enumerate(urls):
        part = FilePart(url)
        if not part.is_local:
            path = folder / str(number) / url.rpartition("/")[2]
            path.parent.mkdir()
            path.write_bytes(b"".join(content(part)))
        found.append(url if part.is_local else str(path))
    return tuple(found)
