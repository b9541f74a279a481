"""`--normalize center` with one algorithm: the means are found by a reading of their own."""

from typing import TYPE_CHECKING

from vwlite.errors import DataError, UsageError
from vwlite.model.centered import Dense, folded, with_constant_columns
from vwlite.runs.means import center, summary_of_columns
from vwlite.training.trainer import PassTrainer

if TYPE_CHECKING:
    from vwlite.model import Model


def check_options(holdout_to: str | None) -> None:
    """UsageError for options of a run that it has no use for."""
    if holdout_to is not None:
        raise UsageError("--holdout-to and --normalize center cannot be used together: lines are held out in the "
                         "first pass, when means are not known")


class CenteredTrainer(PassTrainer):
    """Its learner subtracts the means of columns, and its model is for values as they are."""

    _dense: Dense = ()

    def run(self) -> None:
        self.source.keeps_batches = True
        self.source.open()
        self._find_means()
        if not self.stopped:
            self._learn()

    def _find_means(self) -> None:
        """DataError if there is no column to center."""
        summary, lines = summary_of_columns(self.settings), 0
        try:
            with self.source.batches(lambda: self.stopped) as batches:
                for parsed in batches:
                    if self.names is not None:
                        self.names.take(parsed.names)
                    summary.take(parsed.batch)
                    lines += len(parsed.batch)
                    self.listener.on_read(parsed, lines)
                    if self.stopped:
                        break
                self.listener.on_end_of_data()
        except OverflowError as e:
            raise DataError(str(e)) from None
        if not self.stopped:
            expander = self.learner.expander
            self._dense = center(summary, expander, expander.constant_key)

    def _snapshot(self, interrupted: bool) -> "Model":
        model = super()._snapshot(interrupted)
        del model.options["normalize"]
        if not self._dense:
            return model  # of nothing
        model = folded(model, self._dense, self.learner.expander.constant_key)
        self.continues = not model.weights_only
        return with_constant_columns(model, self._dense)
