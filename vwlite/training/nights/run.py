"""A run of `vwlite train` that learns a model again, from the rows that were kept and the new ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vwlite.errors import UsageError
from vwlite.runs.frame import RunFrame
from vwlite.training.auto.trainer import check_options
from vwlite.training.nights.keeping import RowKeeping
from vwlite.training.nights.new_rows import FileRows
from vwlite.training.nights.source import RowSource
from vwlite.training.nights.trainer import NightTrainer
from vwlite.training.run import TrainRun
from vwlite.training.trainer import Job

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.training.continued import Continuing


def night(
    job: Job, learning: Job, make_continued: Callable[[], Job], model: "Model", frame: RunFrame,
    continuing: "Continuing | None", keeping: RowKeeping,
) -> tuple[TrainRun, NightTrainer]:
    """The run, which has learned all examples, and its trainer. job: with the options of the run. learning: of all
    rows. make_continued: makes that of the new rows only. UsageError for options that this has no use for."""
    check_options(learning)
    if job.options.checkpoint_every:
        raise UsageError("--checkpoint-every: a model with kept rows is written when all rows are learned: leave it "
                         "out, or add --keep-rows 0")
    run = TrainRun(job, frame, continuing, None, keeping)
    assert isinstance(run.source, RowSource)
    assert job.options.initial is not None
    new = FileRows(job.data, job.options.initial, keeping.again)
    trainer = NightTrainer(job, learning, make_continued, run.source, new, run, keeping, model)
    run.begin(trainer)
    frame.stop_with(trainer.stop)
    trainer.run()
    return run, trainer
