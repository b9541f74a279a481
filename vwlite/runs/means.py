"""The means of columns, for `--normalize center`."""

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import MOST_CENTERED, Normalizer
from vwlite.errors import DataError
from vwlite.model.centered import Dense
from vwlite.model.learners import make_expander

NOT_DENSE = (
    f"--normalize center is for features that half of the examples have, and for at most {MOST_CENTERED} of them: use "
    "another one, or leave the option out"
)


def summary_of_columns(settings: Settings) -> DataSummary:
    return DataSummary(make_expander(settings, Normalizer()), keeps=False)


def center(summary: DataSummary, expander: Expander, constant_key: int | None) -> Dense:
    """The columns that are centered, which the expander does from now on. DataError if there are none, or too many."""
    dense: Dense = summary.dense(constant_key)
    if summary.examples and not 0 < len(dense) <= MOST_CENTERED:
        raise DataError(NOT_DENSE)
    expander.normalizer.center(dense)
    return dense
