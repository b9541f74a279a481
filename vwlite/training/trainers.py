"""Which trainer is for which options."""

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.runs.options import TrainOptions
from vwlite.training.trainer import Examples, Job, Listener, PassTrainer, Trainer


def check_options(o: TrainOptions, settings: Settings) -> None:
    """UsageError for options of a run that the trainer of these settings has no use for."""
    if settings.algorithm == AUTO.name:
        from vwlite.training.auto import trainer

        trainer.check_options(o)
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

        centered.check_options(o)


def trainer_of(o: TrainOptions, job: Job, source: Examples, listener: Listener) -> Trainer:
    """What trains with these options. UsageError."""
    settings = job.resolved.settings
    if settings.algorithm != AUTO.name and settings.normalize == "center":
        from vwlite.training.centered import CenteredTrainer

        return CenteredTrainer(o, job, source, listener)
    if settings.algorithm != AUTO.name:
        return PassTrainer(o, job, source, listener)
    if settings.taus:
        from vwlite.training.auto.quantiles import QuantileData, QuantileTrainer

        return QuantileTrainer(o, job, QuantileData(o, job, source, listener))
    if settings.oaa is None:
        from vwlite.training.auto.reading import AutoData
        from vwlite.training.auto.trainer import AutoTrainer

        return AutoTrainer(o, job, AutoData(o, job, source, listener))
    from vwlite.training.auto.class_trainer import ClassTrainer
    from vwlite.training.auto.reading import ClassData

    return ClassTrainer(o, job, ClassData(o, job, source, listener))
