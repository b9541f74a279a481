"""Starts a run of `vwlite train`: of one algorithm, or of `--algorithm auto`."""

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vwlite.errors import UsageError
from vwlite.input.sources import check_sources
from vwlite.model.rows_beside import are_there
from vwlite.output.stdio import say
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import KnownFeatures
from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import planned
from vwlite.training.dates import with_times
from vwlite.training.run import TrainRun
from vwlite.training.trainer import Trainer, prepared
from vwlite.training.trainers import checked, trainer_of

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.training.continued import Continuing
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

        continuing = Continuing(o.continued, o.data, o.given, again=o.again)
        o = replace(o, continued=None, again=False, model=o.continued)
    elif o.again:
        raise UsageError("--again needs --continue")
    o.check()
    with RunFrame("train", o) as frame:
        run, trainer = trained(o, frame, continuing)
        return run.finish(frame, trainer) or frame.code(run.kept(trainer))


def trained(o: TrainOptions, frame: RunFrame, continuing: "Continuing | None" = None) -> tuple[TrainRun, Trainer]:
    """A run that has learned all examples, and its trainer: `finish` writes the model."""
    check_sources(o.data, quiet=o.quiet)
    if continuing is not None:
        o = replace(o, initial=continuing.lock(frame, quiet=o.quiet))
    if o.log_format == "line":
        o = replace(o, quiet=True)
    model, data = None, planned(o)
    if o.initial:
        from vwlite.model import read_model

        model = read_model(o.initial, uncalibrated=True)
    if continuing is not None:
        continuing.begin(model, frame.stopped)
    if not o.initial:
        from vwlite.runs.counted import with_counted_classes

        o = replace(o, typed=with_counted_classes(o.typed, data, frame.stopped))
    unseen, keeping = None, None
    if _concerns_rows(o.keep_rows, o.initial, model, is_continued=continuing is not None):
        from vwlite.training.nights.keeping import keeping_of, learns_as_it_comes

        keeping = keeping_of(model, initial=o.initial, output=o.model, keep_rows=o.keep_rows,
                             is_continued=continuing is not None,
                             as_it_comes=learns_as_it_comes(o.typed, o.given, o.data))
    replaces = in_place(o.initial, o.model)
    if keeping is not None:
        if keeping.missing and not o.quiet:
            say(f"{keeping.missing}; --keep-rows 64M keeps rows from now on")
        data = keeping.begin(model, data, frame)
        if model is not None and keeping.is_night:
            from vwlite.training.nights.keeping import NO_FILES, options_of_run
            from vwlite.training.nights.run import night

            of_new_rows = replace(o, group=None, validate=None, passes=1, **NO_FILES)
            make_continued = partial(prepared, of_new_rows, model, replace(data, quiet=True), in_place=replaces)
            before = options_of_run(model, o.given)
            o = replace(o, **before, given=o.given | before.keys())
            learning = keeping.job(o, model, data, in_place=replaces)
            job = learning._replace(options=o, before=model.counters)
            return night(job, learning, make_continued, model, frame, continuing, keeping)
    job = prepared(o, model, data, in_place=replaces)
    job, notes = with_times(job, frame.stopped)
    if model is not None:
        from vwlite.runs.unseen import Unseen

        unseen = Unseen(model, job.resolved.settings, KnownFeatures.of(model))
    job = checked(job)
    if keeping is not None:
        keeping = keeping.for_job(job, model)
    if keeping is None and o.past is not None:
        raise UsageError("--past is for rows that were kept, by --continue or --keep-rows: leave it out")
    del model
    run = TrainRun(job, frame, continuing, unseen, keeping)
    run.notes = notes
    trainer = trainer_of(job, run.source, run, frame)
    run.begin(trainer)
    frame.stop_with(trainer.stop)
    trainer.run()
    return run, trainer


def _concerns_rows(
    keep_rows: int | None, initial: str | None, model: "Model | None", *, is_continued: bool
) -> bool:
    """Whether rows may be kept, or have been. (To look after them takes NumPy, and time.)"""
    if keep_rows is not None:
        return True
    if model is None or initial is None:
        return is_continued
    return bool(model.chosen or "nights" in model.continued) or are_there(initial, model.digest)


def in_place(initial: str | None, model: str | None) -> bool:
    """Whether the model that is continued is replaced."""
    if not initial or not model or not os.path.isfile(model):
        return False
    return os.path.realpath(initial) == os.path.realpath(model)
