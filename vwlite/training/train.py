"""Starts a run of `vwlite train`: of one algorithm, or of `--algorithm auto`."""

import os
from dataclasses import replace

from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.input.sources import check_sources
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import Kept
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import check_run
from vwlite.training.passes import Job, Training, prepared


def train(o: TrainOptions) -> int:
    """Run `vwlite train`; the exit code."""
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
        if o.typed.get("classes") == "auto" and not o.initial:
            from vwlite.runs.counted import with_counted_classes

            o = with_counted_classes(o, lambda: frame.signal is not None)
        job = prepared(o, model, in_place=_in_place(o))._replace(continuing=continuing)
        if model is not None:
            from vwlite.runs.unseen import Unseen

            job = job._replace(unseen=Unseen(model, job.resolved.settings, Kept.of(model)))
        del model
        run = _kind_of(o, job)(o, job, frame)
        frame.stop_with(run.stop)
        run.passes(frame)
        run.finish(frame)
        return frame.code(run.kept())


def _kind_of(o: TrainOptions, job: Job) -> type[Training]:
    if job.resolved.settings.algorithm != AUTO.name:
        if o.sparse is not None:
            raise UsageError(_not_sparse(o, job))
        if o.validate is not None:
            raise UsageError("--validate needs --algorithm auto: other algorithms hold out lines (--holdout-period)")
        if job.resolved.settings.normalize == "center":
            from vwlite.training.centered import CenteredTraining

            CenteredTraining.check(o)
            return CenteredTraining
        return Training
    if o.sparse is not None:
        from vwlite.training.auto.sparse_run import SparseTraining

        SparseTraining.check(o)
        return SparseTraining
    from vwlite.training.auto.run import AutoTraining

    AutoTraining.check(o)
    if job.resolved.settings.oaa is None:
        return AutoTraining
    from vwlite.training.auto.classes_run import AutoClassTraining

    return AutoClassTraining


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
