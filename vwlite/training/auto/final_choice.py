"""The final choice of a race: its best candidate, or a simpler model if the out-of-fold losses mislead."""

from dataclasses import replace

from vwlite.core.learn.tally import Tally
from vwlite.model.centered import Dense
from vwlite.runs.run import feed
from vwlite.training.auto.loader import ModelLoader, give_nothing
from vwlite.training.auto.selection import COLUMNS, GridCandidate, Selection

MOST_CHECKED = 100_000  # learned examples on which a model is checked
DISAGREE = "the folds and the model disagree: the best constant is better on the examples that the model has learned"
MISLED = 0.01  # of the constant's loss: a model may be so much worse on learned examples than out of fold
MISLEADING = "lines that stand together are alike, so losses out of fold are not those of new rows: shuffle the lines"


class FinalChoice:
    """Makes the final choice of a race. It adds notes to the data, and sets the baseline of held-out examples there."""

    def __init__(self, loader: ModelLoader, selection: Selection, dense: Dense) -> None:
        self._loader, self._data, self._selection, self._dense = loader, loader.data, selection, dense

    def chosen(self, candidates: list[GridCandidate], best: GridCandidate | None) -> GridCandidate | None:
        """The best candidate with the loss to report. None, the intercept alone, if that is better out of fold. The
        best column, or None, if on learned examples a constant is better than the model, or if the model is worse there
        than out of fold: a stack may have learned how the folds differ."""
        data, selection = self._data, self._selection
        if best is None or best.best is None:
            return None
        if selection.holds_out:
            # Not the baseline of all examples: it may depend on a few examples that are held out, or are not.
            data.baseline = selection.constant_loss(data.constants)
        if best.best.loss >= data.baseline:
            return None
        constant = self._loss_as_learned(None)
        reported = selection.reported(candidates, best)
        learned = self._loss_as_learned(reported)
        if learned < constant and not self._is_misled(reported, learned / constant):
            return reported
        column = best_column_of(best)
        if best.best.losses[best.best.best] < data.baseline:
            of_column = self._loss_as_learned(column)
            if of_column < constant:
                if self._is_misled(column, of_column / constant):
                    data.hints.append(MISLEADING)
                return column
        data.hints.append(DISAGREE if learned >= constant else MISLEADING)
        return None

    def _is_misled(self, c: GridCandidate, learned: float) -> bool:
        """Whether the out-of-fold loss of a model is less than its loss on the same examples after learning them, both
        relative to the loss of the constant. learned: the latter."""
        assert c.best is not None
        by_others = self._data.validation is not None or self._selection.holds_out
        if by_others or len(self._selection.examples.order) > MOST_CHECKED:
            return False
        return learned > c.best.loss / self._data.baseline + MISLED

    def _loss_as_learned(self, c: GridCandidate | None) -> float:
        """The loss of a model on learned examples. None: of the intercept alone."""
        left, (learner, settings, _) = MOST_CHECKED, self._loader.loaded(c, self._dense)
        for batch in self._selection.examples.batches():
            part = batch if len(batch) <= left else batch.part(0, left)
            left -= len(part)
            give_nothing(learner, part, self._data.width)
            feed(learner, part, settings)
            if not left:
                break
        return loss_of(learner.progressive)


def best_column_of(c: GridCandidate) -> GridCandidate:
    """A candidate without its stack."""
    assert c.best is not None
    result = c.best
    alone = [float(k == result.best) for k in range(COLUMNS)]
    result = replace(result, loss=result.losses[result.best], u=alone, halves=None, offsets=())
    of_pass = replace(c.kept, by_fold=None) if c.kept is not None else None
    return replace(c, best=result, predictions=c.of_best_column, kept=of_pass)


def loss_of(tally: Tally) -> float:
    """The loss by which models are compared."""
    return float(tally.log_loss if tally.probable else tally.average)
