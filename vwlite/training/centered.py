"""A run of `vwlite train --normalize center` with one algorithm: the means are found by a reading of their own."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from vwlite.errors import DataError, UsageError
from vwlite.model.centered import Dense, folded
from vwlite.runs.means import center, summary_of_columns
from vwlite.runs.options import TrainOptions
from vwlite.training.passes import Training

if TYPE_CHECKING:
    from vwlite.model import Model


class CenteredTraining(Training):
    """The state of one run."""

    dense: Dense = ()

    @staticmethod
    def check(o: TrainOptions) -> None:
        """UsageError for options of a run that cannot be used together with it."""
        if o.holdout_to is not None:
            raise UsageError("--holdout-to and --normalize center cannot be used together: lines are held out in the "
                             "first pass, when means are not known")

    def passes(self, stack: ExitStack) -> None:
        self.source.keeps_batches = True
        self.source.open()
        self._find_means()
        if not self.stopped:
            self.learn(stack)

    def _find_means(self) -> None:
        summary, lines = summary_of_columns(self.settings), 0
        try:
            with self.source.batches(lambda: self.stopped) as batches:
                for parsed in batches:
                    if self.feature_names is not None:
                        self.feature_names.take(parsed.names)
                    summary.take(parsed.batch)
                    lines += len(parsed.batch)
                    if parsed.bad:
                        self.live.clear()
                    self.bad.take(parsed.bad)
                    self.live.update(lines, parsed.done, parsed.total)
                    if self.stopped:
                        break
                self.live.clear()
        except OverflowError as e:
            raise DataError(str(e)) from None
        if not self.stopped:
            expander = self.learner.expander
            self.dense = center(summary, expander, expander.constant_key)

    def _snapshot(self, interrupted: bool) -> "Model":
        model = super()._snapshot(interrupted)
        del model.options["normalize"]
        if not self.dense:
            return model  # of nothing
        model = folded(model, self.dense, self.learner.expander.constant_key)
        self.continues = not model.weights_only
        return model
