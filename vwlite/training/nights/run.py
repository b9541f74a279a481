"""A run of `vwlite train` that learns a model anew, from the rows that were kept and the new ones."""

from dataclasses import replace
from typing import TYPE_CHECKING

from vwlite.runs.frame import RunFrame
from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import DataPlan
from vwlite.training.auto.trainer import check_options
from vwlite.training.nights.keeping import RowKeeping
from vwlite.training.nights.pipes import readable_twice
from vwlite.training.nights.source import RowSource
from vwlite.training.nights.trainer import NightTrainer
from vwlite.training.run import TrainRun

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.training.continued import Continuing


def night(
    o: TrainOptions, model: "Model", data: DataPlan, frame: RunFrame, continuing: "Continuing | None",
    keeping: RowKeeping, *, in_place: bool,
) -> tuple[TrainRun, NightTrainer]:
    """The run, which has learned all examples, and its trainer. UsageError for options that learning anew has no use
    for."""
    check_options(o)
    files, again = readable_twice(data.files, frame, frame.stopped)
    data = replace(data, files=files)
    if o.group is not None and data.roles is not None:  # which the columns of a model do not have: it is read as a tag
        data = replace(data, roles=replace(data.roles, group=None, tag=o.group))
    job = keeping.job(o, model, data, in_place=in_place)
    run = TrainRun(job._replace(options=o, before=model.counters), frame, continuing, None, keeping)
    assert isinstance(run.source, RowSource)
    trainer = NightTrainer(job, run.source, run, keeping, model, o, again)
    run.begin(trainer)
    frame.stop_with(trainer.stop)
    trainer.run()
    return run, trainer
