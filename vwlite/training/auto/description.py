"""Descriptions of the outcome of `--algorithm auto`, for the header of the model, the summary and the report."""

import math
from collections.abc import Iterator
from typing import Any

from vwlite.algorithms.losses import called
from vwlite.digest import blake2b
from vwlite.model.header import in_json
from vwlite.output.results import WHERE, Result
from vwlite.output.text import shown
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.data_trainer import FEW
from vwlite.training.auto.model import INTERCEPT, update_of
from vwlite.training.auto.race import Outcome
from vwlite.training.auto.selection import by_column
from vwlite.training.trainer import finite
from vwlite.training.verdict import count_of_passes, normalization

ERRORS_APART = 4  # a note says that the last tenth of the rows differs if its loss does so by more standard errors,
SPREADS_APART = 3  # ... and by more standard deviations of the losses of the first eight


class Description:
    """Describes an outcome, with its data."""

    def __init__(self, outcome: Outcome, data: AutoData) -> None:
        self._outcome, self._features, self._data, self.best = outcome, outcome.features, data, outcome.best
        self._holds_out = outcome.selection is not None and outcome.selection.holds_out

    def passes(self) -> list[dict[str, float | None]]:
        """The losses of the passes of the chosen candidate, for the model."""
        if self.best is None or self._data.stream is not None or len(self.best.passes) < 2:
            return []
        kind = WHERE[self.where]
        return [{"pass": x.number, kind: self._reported(min(x.stacked, min(x.losses)))} for x in self.best.passes]

    def chosen(self) -> dict[str, Any]:
        data, scale = self._data, self._data.labels_as.loss_scale
        found: dict[str, Any] = {"baseline": data.baseline * scale} | self._digest()
        if self.best is None or self.best.best is None:
            return found | {"model": "intercept"}
        result = self.best.best
        has_both = self._features.without is not None and self._features.with_first is None  # of the same examples
        return found | {
            "normalize": self.best.name, "pass": result.number, "passes": self._outcome.passes_used,
            "weights": by_column(self.best.rates, result.u), "loss": result.loss * scale, "loss is": self._loss_is,
        } | ({"loss without derived features": self._features.without} if has_both else {}) | (
            {"offsets": list(result.offsets)} if result.offsets else {}) | (
            {"mean of models with": dict(self._features.mean)} if self._features.mean else {})

    def in_words(self, judging: Result | None) -> str:
        """The choice as a sentence, with its loss and that of the best constant: those of the summary, if it has them,
        else those of the race."""
        if self.best is None or self.best.best is None:
            return INTERCEPT
        loss, baseline = (x * self._data.labels_as.loss_scale for x in (self.best.best.loss, self._data.baseline))
        if judging is not None and judging.baseline is not None:
            loss, baseline = judging.value, judging.baseline
        return f"{', '.join(self.how())}; {self._loss_is} {shown(loss)}, baseline {shown(baseline)}"

    @property
    def _loss_is(self) -> str:
        return f"{WHERE[self.where]} {called(self._data.settings.loss)}"

    @property
    def where(self) -> str:
        """The predictions whose loss chooses the model: a key of `WHERE`."""
        if self._data.stream is not None:
            return "progressive"
        if self._data.validation is not None:
            return "validation"
        return "holdout" if self._holds_out else "out_of_fold"

    def _digest(self) -> dict[str, str]:
        """The digest of the examples; it does not depend on their files and format. Empty for a stream that is longer
        than the part of it that is kept."""
        if self._data.stream is not None:
            return {}
        s, found = self._data.summary, blake2b(digest_size=16)
        for part in (s.labels, s.importances, s.initials, s.contents):
            found.update(part)
        return {"data": found.hexdigest()}

    def report(self) -> dict[str, Any]:
        passes = []
        for c in self._outcome.candidates:
            for result in c.passes:
                losses = by_column(c.rates, [*map(self._reported, result.losses)])
                stack = {"stacked": self._reported(result.stacked), "weights": result.u}
                passes.append({"normalize": c.name, "pass": result.number, "losses": losses, **stack})
        sample = {"sample": self._outcome.on_sample} if self._outcome.on_sample else {}
        return {"chosen": in_json(self.chosen()), **sample, "candidates": passes}

    def _reported(self, loss: float) -> float | None:
        """A loss in the unit of the labels; None if it is not finite."""
        return finite(loss * self._data.labels_as.loss_scale)

    def about_features(self, *, is_whole: bool) -> Iterator[str]:
        """The derived features, or a sentence that none help; nothing if none were tried. is_whole: no signal came
        before all were tried."""
        derived = self._data.settings.derived
        if self._features.without is not None and derived:
            loss = called(self._data.settings.loss)
            if self._features.with_first is not None:
                which = "the first" if self._data.stream is not None else "a sample of"
                loss += f" on {which} {self._features.derived_by:,} rows {shown(self._features.with_first)},"
            yield f"features: {derived.summary()}; {loss} without them {shown(self._features.without)}{self._of_mean}"
        elif self._features.tried and is_whole:
            yield f"features: as given; {' and '.join(self._features.tried)} do not help"

    @property
    def _of_mean(self) -> str:
        """The weights of the models whose mean it is."""
        each = (f"{name} ({weight:.2f})" for name, weight in self._features.mean.items())
        return f"; the mean of models with {', '.join(each)}" if self._features.mean else ""

    def judged_on(self) -> str:
        if self._data.validation is not None:
            return "on rows of --validate"
        if self.best is not None and self._outcome.selection is not None and self._holds_out:
            return f"on {len(self._outcome.selection.judge.examples.order):,} rows held out"
        if self._data.stream is not None and (self.best is not None or not self._outcome.is_fed_again):
            return "on rows before they were learned"
        return "on rows not learned" if self.best is not None else "on rows learned"

    def how(self) -> list[str]:
        if self.best is None or self.best.best is None:
            return [INTERCEPT]
        passes, gain = count_of_passes(self._outcome.passes_used, self.best.best.number), self.best.passes[-1].gain
        if self._data.is_large and gain is not None:
            passes += f", of which the last gained {max(gain, 0):.1%}"
        return [normalization(self.best.name), passes, update_of(self.best)]

    def doubts(self) -> Iterator[str]:
        """Reasons why the model, or its loss, may not be good."""
        best = self.best
        if best is not None and best.best is not None and best.best.loss >= self._data.baseline:
            yield "on examples that took no part in its choice, the model is no better than the best constant"
        yield from self._features.notes
        yield from self._about_last_rows()

    def _about_last_rows(self) -> Iterator[str]:
        """A message if the loss of the last tenth of the rows differs from those of the first eight. The ninth counts
        for neither: curves and products make it like the last one."""
        data, found = self._data, self._outcome.selection
        is_of_all = data.validation is None and data.stream is None and self._outcome.places is None
        if self.best is None or found is None or not is_of_all or data.summary.examples < FEW:
            return
        (*before, _, last), errors = zip(*found.losses_of_tenths(self.best.predictions), strict=True)
        others, error = sum(before) / 8, math.hypot(errors[-1], math.hypot(*errors[:8]) / 8)
        spread = math.sqrt(sum((mean - others) ** 2 for mean in before) / 7)
        if abs(last - others) <= max(ERRORS_APART * error, SPREADS_APART * spread) or data.summary.is_sorted():
            return
        name, scale = called(data.settings.loss), data.labels_as.loss_scale
        yield (
            f"the last tenth of the rows has a {name} of {last * scale:.4g}, the first eight {others * scale:.4g}: if "
            "they are in the order of time, later rows may be like the last ones; --validate with these chooses the "
            "model by them"
        )
