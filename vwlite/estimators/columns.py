"""What the columns of a frame add to the scores of an estimator: attributes of fitted estimators."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from vwlite.estimators.errors import as_python

if TYPE_CHECKING:
    from vwlite.model.effects import Effects
    from vwlite.model.importances import Importances

Array = Any  # of NumPy


class OfColumns:
    """A part of estimators. ValueError where the model was not fitted on a frame."""

    @property
    def effects_(self) -> "Effects":
        """The model in a form to read: `base` and, for each column and each product of columns, an effect: the curve of
        a number as knots and values, a value for each level, a grid for a product. The score is base + the sum of the
        effects less their means over training data. Effects are purified, and the first one has the largest mean
        absolute contribution (`size`). ValueError if the model was not fitted on a frame.
        """
        from vwlite.estimators.readable import effects

        check_is_fitted(self)
        return effects(self)

    @property
    def importances_(self) -> "Importances":
        """By column, the mean absolute contribution to the scores of the training data of all that it takes part in,
        alone and in products, the largest first. ValueError if the model has no record of it: `fit` of a frame with
        algorithm="auto" keeps one.
        """
        from vwlite.estimators.readable import importances

        check_is_fitted(self)
        return importances(self)

    def contributions(self, X: Any) -> Array:
        """What each effect adds to the score of each row, in the order of `effects_`: [rows, effects], or with more
        than two classes [rows, effects, classes]. base_value_ + their sum is the score of `decision_function`. They
        are additive as SHAP values are: `shap.Explanation(m.contributions(X), m.base_value_, X)`."""
        from vwlite.estimators.readable import contributions

        check_is_fitted(self)
        return contributions(self, X)[1]

    @property
    def base_value_(self) -> Any:
        """The mean score of the training data, to which contributions are added; of each of several classes."""
        found = self.effects_
        return found.base if found.classes else float(found.base[0])

    def plot_effects(self, ax: Any = None, *, names: Sequence[str] | None = None, of_class: Any = None) -> Any:
        """Draw effects with matplotlib: curves, bars of levels, heat maps of pairs. ax: one axes, or an array of them;
        None: a new figure. names: of effects; None: those of one or two columns, the largest first, as many as there
        are axes. of_class: whose scores, of more than two classes. Returns the axes."""
        from vwlite.estimators.readable import plot

        with as_python():
            return plot(self.effects_, ax, names, of_class)
