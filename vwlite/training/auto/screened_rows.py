"""The rows by which `--algorithm auto` screens columns, and judges stages."""

from array import array
from typing import Any

from vwlite.core.auto.folds import copies_of
from vwlite.core.auto.screening import rows_of_sample, sampled_rows
from vwlite.core.auto.summary import DataSummary
from vwlite.records import record
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.rare import Mask, with_rare

SAMPLE = 50_000  # rows that give knots, and by which columns are screened


@record(frozen=True)
class ScreenedRows:
    """The rows by which columns are screened. labels: scaled. sample: of them. copies: for each row, the row that it
    is a copy of, or itself."""

    labels: Any
    importances: Any
    sample: Mask
    copies: Any

    @staticmethod
    def of(data: AutoData, summary: DataSummary, folds: Any = None) -> "ScreenedRows":
        """folds: of the rows; copies share a fold. None: ignore copies."""
        scale, n = data.labels_as, summary.examples
        labels = array("d", ((y - scale.mean) / scale.scale for y in summary.labels))
        copies = array("I", range(n)) if folds is None else copies_of(summary.contents, folds)
        sample = with_rare(labels if data.has_two_labels and n > SAMPLE else (), sampled_rows(n, SAMPLE))
        return ScreenedRows(labels, summary.importances, sample, copies)

    @property
    def sampled(self) -> Any:
        """A mask of the rows of the sample."""
        return self.sample.chosen.view("uint8")

    @property
    def scale(self) -> float:
        """The number of all rows over that for which the sample counts."""
        return len(self.labels) / max(self.sample.counts_for, 1)

    def of_sample(self, values: Any, width: int = 1) -> Any:
        """The rows of the sample, of something that is linear in importances, with those that they have there."""
        found, weights = rows_of_sample(values, self.sampled, width), self.sample.weights
        if weights is None:
            return found
        return array("d", (x * w for x, w in zip(found, weights[self.sample.chosen].tolist(), strict=True)))
