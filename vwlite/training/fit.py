"""Training that writes no file: the model stays in memory."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vwlite.errors import DataError
from vwlite.training.progress import Progress
from vwlite.training.trainer import Trainer

if TYPE_CHECKING:
    from vwlite.model import Model


def settled(trainer: Trainer) -> "Model":
    """The current model. DataError if it is not valid: learning has diverged."""
    from vwlite.model.file import inconsistency

    trainer.count()
    model = trainer.model()
    error = inconsistency(model)
    if error:
        raise DataError(f"learning has diverged, {error}: try smaller steps, or scale the features")
    return model


class FitProgress(Progress):
    """Prints what `vwlite train` prints, if the options are not quiet, and keeps the model of the best pass.

    settled: the current model of a trainer, checked.
    """

    best: "Model | None" = None
    settled: "Callable[[Trainer], Model]" = staticmethod(settled)

    def on_best_pass(self, trainer: Trainer) -> None:
        self.best = self.settled(trainer)

    def model_of(self, trainer: Trainer) -> "Model":
        """The model, after training. DataError if nothing was learned."""
        if not trainer.has_learned:
            raise DataError(trainer.nothing_learned())
        return self.best if trainer.best_is_kept and self.best is not None else self.settled(trainer)
