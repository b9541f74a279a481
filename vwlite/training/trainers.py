"""Which trainer is for which options."""

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from vwlite.algorithms.settings import Resolved
from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.input.formats import imported
from vwlite.runs.run import BadLines
from vwlite.runs.source import Source
from vwlite.training.trainer import Examples, Job, Listener, PassTrainer, Trainer

if TYPE_CHECKING:
    from vwlite.input.part import Part

_Source = TypeVar("_Source", bound=Source)
_FOLDER = "vwlite.training.auto."
_OF_NUMBERS = (f"{_FOLDER}trainer:AutoTrainer", f"{_FOLDER}auto_data:AutoData")
_OF_AUTO = {
    "number": (f"{_FOLDER}amounts:AmountTrainer", f"{_FOLDER}auto_data:AutoData"), "two labels": _OF_NUMBERS,
    "quantiles": (f"{_FOLDER}quantiles:QuantileTrainer", f"{_FOLDER}quantiles:QuantileData"),
    "classes": (f"{_FOLDER}class_trainer:ClassTrainer", f"{_FOLDER}auto_data:ClassData"),
}


def checked(job: Job) -> Job:
    """What training of files begins with. UsageError for options that the algorithm has no use for."""
    o, is_auto = job.options, job.resolved.settings.algorithm == AUTO.name
    if o.sparse is None:
        check_options(job)
    elif is_auto:
        from vwlite.training.auto import sparse_trainer

        sparse_trainer.check_options(o)
    else:
        raise UsageError(_not_sparse(o.initial, job.resolved))
    if is_auto:
        from vwlite.training.auto.reading import with_label_words

        return with_label_words(job)
    return job


def _not_sparse(initial: str | None, resolved: Resolved) -> str:
    """Why --sparse has no effect. initial: the model that is continued."""
    if initial:
        return "--sparse begins with new learners: leave -i out (or --continue)"
    if not (option := resolved.option):
        return f"--sparse needs --algorithm auto, the default: leave --algorithm {resolved.settings.algorithm} out"
    return f"--sparse and {option} cannot be used together: it chooses among learners of its own (vwlite help training)"


def source_of(job: Job, bad: BadLines, part: "Part | None" = None) -> Source:
    """The examples of DATA, or of a part of its rows, as training learns them."""
    return source_of_kind(Source, job, bad, part)


def source_of_kind(kind: type[_Source], job: Job, bad: BadLines, part: "Part | None" = None) -> _Source:
    """The same, as a kind of source."""
    o, settings = job.options, job.resolved.settings
    source = kind(job.data, settings, job.known, bad, replace(o.of_source, part=part))
    source.share_numbers = job.learner.expander.unchanged
    if o.class_weight is not None:
        from vwlite.training.class_weight import ClassWeights

        source.weights = ClassWeights(o.class_weight, settings, job.known.classes)
    return source


def check_options(job: Job) -> None:
    """UsageError for options of a run that the trainer of its settings has no use for."""
    o, settings = job.options, job.resolved.settings
    if settings.algorithm == AUTO.name:
        from vwlite.training.auto import trainer

        trainer.check_options(job)
        return
    for name in ("derive", "pairs"):
        if name in o.given:
            raise UsageError(f"--{name} needs --algorithm auto, the default" + (f", and not {settings.algorithm}"
                             if not o.initial else ": a model that is continued keeps what it derives"))
    if o.group is not None:
        raise UsageError("--group is for folds of --algorithm auto: leave it out" + (", the model has its columns"
                         if o.initial else "; vwlite split --group makes a test set of new groups"))
    if o.validate is not None:
        raise UsageError("--validate needs --algorithm auto: other algorithms hold out lines (--holdout-period)")
    if settings.normalize == "center":
        from vwlite.training import centered

        centered.check_options(o.holdout_to)


def trainer_of(job: Job, source: Examples, listener: Listener, stack: ExitStack | None = None) -> Trainer:
    """What trains with the options of the job. stack: ends the threads of --sparse. UsageError."""
    settings = job.resolved.settings
    if job.options.sparse is not None and stack is not None:
        from vwlite.training.auto.auto_data import AutoData
        from vwlite.training.auto.sparse_trainer import SparseTrainer

        return SparseTrainer(job, AutoData(job, source, listener), stack)
    if settings.algorithm != AUTO.name and settings.normalize == "center":
        from vwlite.training.centered import CenteredTrainer

        return CenteredTrainer(job, source, listener)
    if settings.algorithm != AUTO.name:
        return PassTrainer(job, source, listener)
    trainer, data = map(imported, _OF_AUTO[settings.outputs.task])
    found: Trainer = trainer(job, data(job, source, listener))
    return found
