"""Starts a run of `vwlite train`: of one algorithm, or of `--algorithm auto`."""

import os

from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.input.reader import check_sources
from vwlite.options.resolve import check_run
from vwlite.options.run_options import TrainOptions
from vwlite.runs.frame import RunFrame
from vwlite.runs.train import Job, Training, prepared


def train(o: TrainOptions) -> int:
    """Run `vwlite train`; the exit code."""
    check_run(o)
    check_sources(o.data, quiet=o.quiet)
    model = None
    if o.initial:
        from vwlite.model import read_model

        model = read_model(o.initial)
    job = prepared(o, model, in_place=_in_place(o))
    del model
    kind = _kind_of(o, job)
    with RunFrame("train", o) as frame:
        run = kind(o, job, frame)
        frame.stop_with(run.stop)
        run.passes(frame)
        run.finish(frame)
        return frame.code(run.kept())


def _kind_of(o: TrainOptions, job: Job) -> type[Training]:
    if job.resolved.settings.algorithm != AUTO.name:
        if o.validate is not None:
            raise UsageError("--validate needs --algorithm auto: other algorithms hold out lines (--holdout-period)")
        if job.resolved.settings.normalize == "center":
            from vwlite.runs.centered import CenteredTraining

            CenteredTraining.check(o)
            return CenteredTraining
        return Training
    from vwlite.runs.auto import AutoTraining

    AutoTraining.check(o)
    if job.resolved.settings.oaa is None:
        return AutoTraining
    from vwlite.runs.auto_classes import AutoClassTraining

    return AutoClassTraining


def _in_place(o: TrainOptions) -> bool:
    """Whether the model that is continued is replaced."""
    if not o.initial or not o.model or not os.path.isfile(o.model):
        return False
    return os.path.realpath(o.initial) == os.path.realpath(o.model)
