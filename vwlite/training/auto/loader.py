"""Learners of `gd` with the model of a candidate of `--algorithm auto`, or with an intercept alone."""

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions, by_line
from vwlite.core.data.batch import Batch
from vwlite.model.centered import Dense
from vwlite.model.learners import make_expander, make_loss, make_rule
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.model import WeightScale, best_kind, gd_settings, load, load_intercept
from vwlite.training.auto.selection import RATES, GridCandidate


class Loaded(NamedTuple):
    """A learner with a model, and its intercepts in double precision, one for each class."""

    learner: GivenPredictions
    settings: Settings
    intercepts: Sequence[float]


class ModelLoader:
    """Makes learners of `gd`. writes: which predictions they keep: keyword arguments of `GivenPredictions`."""

    def __init__(self, data: AutoData, **writes: bool) -> None:
        self.data, self._writes = data, writes

    def learner(self, settings: Settings, fold: WeightScale = WeightScale()) -> GivenPredictions:  # noqa: B008
        """A learner whose predictions are given, as scores for scaled labels; `fold` scales them back."""
        learner = self._new(settings, scale=fold.scale, shift=fold.shift, link=settings.link)
        learner.min_label, learner.max_label = self.data.range_of_scores()
        return learner

    def _new(self, settings: Settings, **how: Any) -> GivenPredictions:
        loss, expander = make_loss(settings), make_expander(settings)
        rule = make_rule(settings, loss, expander.constant_key)
        learner = GivenPredictions(rule, loss, expander, **how, **self._writes)
        learner.answers_blank_lines = True
        return learner

    def settings(self, best: GridCandidate | None) -> Settings:
        """The settings of the model, of `gd`."""
        settings = settings_of_model(self.data.settings)
        rate = RATES[best_kind(best.best)] if best is not None and best.best is not None else settings.learning_rate
        return gd_settings(settings, rate, best.name if best is not None else "none")

    def loaded(self, best: GridCandidate | None, dense: Dense, learner: GivenPredictions | None = None) -> Loaded:
        """This learner, or a new one, with the weights of a candidate. best: None: the intercept alone."""
        settings = self.settings(best)
        learner = learner or self.learner(settings)
        dense = dense if best is not None and best.centers else ()
        best = best and weights_of_model(best, self.data.settings)
        return Loaded(learner, without_empty(settings), self._load(learner, best, dense))

    def _load(self, learner: GivenPredictions, best: GridCandidate | None, dense: Dense) -> Sequence[float]:
        """Load the weights into a learner; returns the intercepts."""
        data = self.data
        if best is None:
            return (load_intercept(learner, data.constant(), data.examples),)
        intercept = load(learner, best, data.weights_as, dense, data.examples)
        return () if intercept is None else (intercept,)


def settings_of_model(settings: Settings) -> Settings:
    """Settings of learning, as a model has them."""
    if settings.derived is None or not settings.derived.is_of_learning:
        return settings
    from vwlite.training.auto.rescaled import without_rescaled  # here, and below: NumPy comes with it

    return without_rescaled(settings)


def weights_of_model(c: GridCandidate, settings: Settings) -> GridCandidate:
    """A candidate with the weights that a model has. settings: of learning."""
    if settings.derived is None or not settings.derived.is_of_learning:
        return c
    from vwlite.training.auto.rescaled import with_rescaled_in_hats

    return with_rescaled_in_hats(c, settings)


def without_empty(settings: Settings) -> Settings:
    """The settings of a model; `derived` is None if the model uses no derived feature."""
    empty = settings.derived is not None and not settings.derived.columns
    return replace(settings, derived=None) if empty else settings


def give_nothing(learner: GivenPredictions, batch: Batch, width: int) -> None:
    """Give no predictions for a batch: the rule predicts it."""
    unknown = array("d", bytes(8 * len(batch) * width))
    by_line(batch, array("d", []), 0, unknown, width)
    learner.give(batch, unknown)
