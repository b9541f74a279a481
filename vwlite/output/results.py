"""The results of a run. Each has one key, of which the summary, the line log, `--report` and `--json` are made."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from vwlite.output.progress import fit, format_number

MOST_ROWS = 20  # of a confusion matrix that is printed
# Labels for people, of keys whose label is not the key with blanks. `vwlite help json` lists all keys.
LABELS = {"best_pass": "best pass, kept", "l1_over_l1_max": "l1 / l1 max", "sum_of_weights": "sum of |weights|",
          "objective_of_against": "objective of"}
# The prefix of the key of a measure and of its label: which predictions were measured. None: those before learning.
WHERE = {"holdout": "holdout", "out_of_fold": "out-of-fold", "validation": "validation", "progressive": "progressive"}


class Result(NamedTuple):
    """A number, a text, or a confusion matrix. baseline: of a measure, that of the best constant prediction. where: of
    a measure, which predictions it is of (`WHERE`)."""

    key: str
    value: Any
    baseline: float | None = None
    where: str = ""

    @property
    def name(self) -> str:
        """The key in JSON."""
        return f"{self.where}_{self.key}" if self.where else self.key

    @property
    def label(self) -> str:
        """The label for people."""
        usual = self.key.replace("_", " ") if self.key.isidentifier() else self.key  # as pinball_0.1
        text = LABELS.get(self.key, usual)
        return f"{WHERE[self.where]} {text}" if self.where else text


def values(results: Iterable[Result], *, labelled: bool = False) -> dict[str, Any]:
    """The values and baselines by key, for programs. labelled: by label, as estimators have them."""
    found: dict[str, Any] = {}
    for r in results:
        found[r.label if labelled else r.name] = r.value
        if r.baseline is not None:
            found[f"{r.label} of the baseline" if labelled else f"{r.name}_of_the_baseline"] = r.baseline
    return found


def lines(results: Iterable[Result]) -> list[str]:
    """A line `label = value` for each result but the confusion matrix. Of predictions before learning, measures that
    only some tasks have are left out if they are None."""
    out = []
    for r in results:
        if isinstance(r.value, dict) or (r.value is None and r.name in ("accuracy", "auc", "log_loss")):
            continue
        if r.key in ("l1_found", "radius_found"):
            shown = f"{r.value:.6g}"
        else:
            shown = format_number(r.value) if isinstance(r.value, float | int | None) else r.value
        baseline = "" if r.baseline is None else f" (baseline {format_number(r.baseline)})"
        out.append(f"{r.label} = {shown}{baseline}")
    return out


def summary(results: Iterable[Result]) -> str:
    """The lines of the results, and then the confusion matrix."""
    results = [*results]
    tables = [f"{r.label}: {_table(**r.value)}" for r in results if isinstance(r.value, dict)]
    return "\n".join([*lines(results), *tables])


def _table(classes: list[str], rows: list[list[float]]) -> str:
    """A confusion matrix as text, with a line for each label."""
    if len(classes) > MOST_ROWS:
        return f"that of {len(classes)} classes is in the --report"
    names = [fit(name) for name in classes]
    cells = [[format_number(x) if float(x).is_integer() else f"{x:.1f}" for x in row] for row in rows]
    first = max(map(len, names), default=0)
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = ["a row for each label, a column for each prediction"]
    for name, row in zip(["", *names], [names, *cells], strict=True):
        columns = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(" ".join([name.ljust(first), *columns]))
    return "\n".join(lines)
