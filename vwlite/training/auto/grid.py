"""The candidates of `--algorithm auto`: normalizations, each with a grid of learning rates."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from vwlite.algorithms.memory import lanes_need
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.starts import Starts
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import MOST_CENTERED, NORMALIZATIONS, Normalizer
from vwlite.errors import DataError
from vwlite.model.learners import make_expander
from vwlite.runs.means import NOT_DENSE
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.selection import (
    FOLDS,
    HELD_OUT_FOLDS,
    LARGE_RATES,
    RATES,
    RIDGE,
    STRENGTHS,
    Drawn,
    Learned,
    Selection,
    most_passes,
)

FEW_FOR_STAGES = 5_000  # examples; below, all passes are made before features are derived
FEW_PASSES_FROM = 12_000  # examples; from here on there are at most 8 passes

MOST_CELLS, MOST_PRODUCTS = 4e6, 1e7  # of ridge regression: examples times features, and times their square

NewLanes = Callable[[], Learned]


class Grid:
    """Makes the candidates of a race, and the lanes in which they learn. Here an example has one score."""

    def __init__(self, data: AutoData, normalizations: Sequence[str] = NORMALIZATIONS) -> None:
        self.data, self.normalizations = data, normalizations
        self.dense: list[tuple[int, float, bool]] = []  # columns of `center`: key, mean, whether all values are equal
        self._sample: Callable[[], Iterable[Batch]] = tuple  # some examples
        self._starts: dict[str, Starts | None] = {}  # by normalization

    def begin(self, sample: Callable[[], Iterable[Batch]]) -> None:
        """Set a sample of the examples: its values give the first scales of rare features."""
        self._sample, self._starts = sample, {}

    def forget_sample(self) -> None:
        """Free the sample. Lanes that are made later have no first scales."""
        self._sample = tuple

    def candidates(self, folds: int, *, tries_ridge: bool = False) -> list[tuple[str, NewLanes]]:
        """Normalizations, each with a function that makes its lanes. tries_ridge: ridge regression is one of them, if
        it is quick."""
        settings, summary = self.data.settings, self.data.summary
        self.dense = summary.dense(make_expander(settings).constant_key)
        if len(self.dense) > MOST_CENTERED or not settings.constant:
            self.dense = []
        typed = "normalize" in self.data.options.typed
        names = [settings.normalize] if typed else list(self.normalizations)
        if names == ["center"] and not self.dense:
            if summary.examples:
                raise DataError(NOT_DENSE)
            names = ["none"]  # there will be nothing to learn
        names = [name for name in names if name != "center" or self.dense]
        found: list[tuple[str, NewLanes]] = [
            (name, partial(self.lanes, name, folds)) for name in names if name != RIDGE
        ]
        if RIDGE in names or (tries_ridge and len(names) > 1 and self._can_try_ridge):
            found.append((RIDGE, partial(self._ridge, folds)))
        return found

    @property
    def strengths(self) -> Sequence[float]:
        """Those of ridge regression. Of another loss, whose values are those of the squared one, the same."""
        return STRENGTHS.get(self.data.settings.loss, STRENGTHS["squared"])

    @property
    def _can_try_ridge(self) -> bool:
        n, d = self.data.summary.examples, self.data.summary.features
        quick = n * d <= MOST_CELLS and n * (min(n, d) + 1) ** 2 <= MOST_PRODUCTS
        is_derived = self.data.settings.derived is not None and bool(self.data.settings.derived.columns)
        has_one_score = self.data.width == 1 and self.data.settings.loss in STRENGTHS
        is_small = FOLDS <= n < FEW_FOR_STAGES and not self.data.is_large
        is_table = self.data.column_names is not None  # which needs NumPy anyway
        return is_table and is_small and quick and has_one_score and not is_derived

    def _ridge(self, folds: int) -> Learned:
        from vwlite.training.auto.ridge import Ridge  # here: few examples, in most runs none, are learned by it

        settings, constant = self.data.settings, make_expander(self.data.settings).constant_key
        normalizer = Normalizer("center" if self.dense else "none", self.dense)
        expander = make_expander(replace(settings, constant=False), normalizer)
        return Ridge(self.data.learned_loss(), expander, constant, self.strengths, folds)

    def lanes(self, name: str, folds: int) -> Lanes:
        """The lanes of a normalization."""
        return Lanes(self.data.learned_loss(), self._expander(name), self.rates, folds, starts=self.starts(name))

    def _expander(self, name: str) -> Expander:
        settings = self.data.settings
        crosses = settings.crosses or settings.interactions
        is_derived = settings.derived is not None and settings.derived.columns
        if name == "none" and is_derived and not crosses and not self.data.summary.needs_merging:
            return make_expander(settings)  # derived features of an example have different keys, and no value is 0
        return make_expander(settings, Normalizer(name, self.dense if name == "center" else ()))

    def starts(self, name: str) -> Starts | None:
        """The first scales of rare features, from the values of a sample; none for columns of tables."""
        if name not in self._starts and self.data.column_names is None:
            self._starts[name] = self.data.summary.starts(self._expander(name), self._sample())
        return self._starts.get(name)

    def selection(self, drawn: Drawn, *, holds_out: bool) -> Selection:
        """The selection among the candidates by these examples."""
        return self._selection(drawn, is_large=self.data.is_large, holds_out=holds_out, ends_early=self.ends_early)

    def _selection(self, drawn: Drawn, **how: bool) -> Selection:
        return Selection(self.data.learned_loss(), self.data.labels_as, drawn, self.data.validation, **how)

    @property
    def ends_early(self) -> bool:
        """Whether a pass that gains little is the last one: for many examples, fewer if features are derived, as their
        passes are slow."""
        derived, n = self.data.settings.derived, self.data.summary.examples
        return n >= (FEW_FOR_STAGES if derived is not None and derived.columns else FEW_PASSES_FROM)

    @property
    def most_passes(self) -> int:
        """The largest number of passes, unless more are asked for."""
        return most_passes(int(self.data.summary.examples))

    @property
    def rates(self) -> Sequence[float]:
        return LARGE_RATES if self.data.is_large else RATES

    def folds(self, holds_out: bool) -> int:
        """The number of folds of the lanes: examples of a fold are scored by lanes that do not learn it."""
        return 1 if self.data.validation is not None else HELD_OUT_FOLDS if holds_out else FOLDS

    def bytes_needed(self, folds: int) -> int:
        """Memory of the lanes of a candidate."""
        return lanes_need(self.data.summary.features, folds, self.data.width)
