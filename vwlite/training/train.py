"""Starts a run of `vwlite train`: of one algorithm, or of `--algorithm auto`."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.input.sources import check_sources
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import KnownFeatures
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import check_run
from vwlite.training.run import TrainRun
from vwlite.training.trainer import Job, Trainer, prepared
from vwlite.training.trainers import check_options, trainer_of

if TYPE_CHECKING:
    from vwlite.training.max_size import TooLarge


def train(o: TrainOptions) -> int:
    """Run `vwlite train`; the exit code."""
    if o.max_size is not None:
        from vwlite.training.max_size import in_size

        return in_size(o, _train)
    found = _train(o)
    assert isinstance(found, int)
    return found


def _train(o: TrainOptions) -> "int | TooLarge":
    """The exit code, or what --max-size does not allow."""
    continuing = None
    if o.continued is not None:
        from vwlite.training.continued import Continuing

        continuing = Continuing(o)
        o = replace(o, continued=None, again=False, model=o.continued)
    elif o.again:
        raise UsageError("--again needs --continue")
    check_run(o)
    with RunFrame("train", o) as frame:
        check_sources(o.data, quiet=o.quiet)
        if continuing is not None:
            o = continuing.lock(o, frame)
        if o.log_format == "line":
            o = replace(o, quiet=True)
        model = None
        if o.initial:
            from vwlite.model import read_model

            model = read_model(o.initial, uncalibrated=True)
        if continuing is not None:
            continuing.begin(model, lambda: frame.signal is not None)
        if not o.initial:
            from vwlite.runs.counted import with_counted_classes

            o = with_counted_classes(o, lambda: frame.signal is not None)
        job, unseen = prepared(o, model, in_place=_in_place(o)), None
        if model is not None:
            from vwlite.runs.unseen import Unseen

            unseen = Unseen(model, job.resolved.settings, KnownFeatures.of(model))
        del model
        job = _checked(o, job)
        run = TrainRun(o, job, frame, continuing, unseen)
        trainer = _trainer(o, job, run, frame)
        run.begin(trainer)
        frame.stop_with(trainer.stop)
        trainer.run()
        too_large = run.finish(frame, trainer)
        return too_large or frame.code(run.kept(trainer))


def _checked(o: TrainOptions, job: Job) -> Job:
    """What training begins with. UsageError for options that the algorithm has no use for."""
    is_auto = job.resolved.settings.algorithm == AUTO.name
    if o.sparse is None:
        check_options(o, job.resolved.settings)
    elif is_auto:
        from vwlite.training.auto import sparse_trainer

        sparse_trainer.check_options(o)
    else:
        raise UsageError(_not_sparse(o, job))
    if is_auto:
        from vwlite.training.auto.reading import with_label_words

        return with_label_words(job, o)
    return job


def _trainer(o: TrainOptions, job: Job, run: TrainRun, frame: RunFrame) -> Trainer:
    if o.sparse is not None:
        from vwlite.training.auto.reading import AutoData
        from vwlite.training.auto.sparse_trainer import SparseTrainer

        return SparseTrainer(o, job, AutoData(o, job, run.source, run), frame)
    return trainer_of(o, job, run.source, run)


def _not_sparse(o: TrainOptions, job: Job) -> str:
    """Why --sparse has no effect."""
    if o.initial:
        return "--sparse begins with new learners: leave -i out (or --continue)"
    why = job.resolved.why.removeprefix("as ").removesuffix(" is given")
    if not why:
        return f"--sparse needs --algorithm auto, the default: leave --algorithm {job.resolved.settings.algorithm} out"
    return f"--sparse and {why} cannot be used together: it chooses among learners of its own (vwlite help training)"


def _in_place(o: TrainOptions) -> bool:
    """Whether the model that is continued is replaced."""
    if not o.initial or not o.model or not os.path.isfile(o.model):
        return False
    return os.path.realpath(o.initial) == os.path.realpath(o.model)
