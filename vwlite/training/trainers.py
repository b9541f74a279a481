"""Which trainer is for which options."""

from vwlite.algorithms.table import AUTO
from vwlite.runs.options import TrainOptions
from vwlite.training.trainer import Examples, Job, Listener, PassTrainer, Trainer


def trainer_of(o: TrainOptions, job: Job, source: Examples, listener: Listener) -> Trainer:
    """What trains with these options. UsageError."""
    settings = job.resolved.settings
    if settings.algorithm != AUTO.name and settings.normalize == "center":
        from vwlite.training.centered import CenteredTrainer

        return CenteredTrainer(o, job, source, listener)
    if settings.algorithm != AUTO.name:
        return PassTrainer(o, job, source, listener)
    if settings.oaa is None:
        from vwlite.training.auto.reading import AutoData
        from vwlite.training.auto.trainer import AutoTrainer

        return AutoTrainer(o, job, AutoData(o, job, source, listener))
    from vwlite.training.auto.class_trainer import ClassTrainer
    from vwlite.training.auto.reading import ClassData

    return ClassTrainer(o, job, ClassData(o, job, source, listener))
