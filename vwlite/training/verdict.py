"""The first sentences of the summary of a training run: how good the model is, and how it came about."""

import math

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import algorithm_of
from vwlite.output.results import Result
from vwlite.output.text import shown
from vwlite.runs.baseline import is_worse

LITTLE = 0.02  # of the loss of the best constant
NEAR_0 = {"squared": 0.001, "expectile": 0.001}  # the same of squares: .999 of the variance is explained
NORMALIZATIONS = {"none": "no normalization", "center": "columns centered", "ridge": "ridge regression"}


def result(settings: Settings, measures: dict[str, Result], rows: str) -> str:
    """`log loss 0.4113 on rows not learned; best constant 0.5756, 28.5 % better`; "" if nothing was measured.

    measures: as `Trainer.measures` has them. rows: which they are of.
    """
    found = judging(measures)
    if found is None:
        return ""
    loss, baseline = found.value, found.baseline
    said = f"{name_of(settings, found)} {shown(loss)} {rows}"
    if baseline is None or not math.isfinite(baseline):
        return said
    gain = 100 * (1 - loss / baseline) if baseline else 0.0
    if gain >= 0.05:
        return f"{said}; best constant {shown(baseline)}, {gain:.1f} % better"
    compared = f"{-gain:.1f} % worse" if is_worse(loss, baseline) else "no better"
    return f"{said}; {compared} than the best constant, {shown(baseline)}"


def about_near_0(settings: Settings, measures: dict[str, Result]) -> str:
    """A note on a loss that is nearly 0, as real labels are seldom so easy; "" for others."""
    found = judging(measures)
    if found is None or not found.baseline or found.value > found.baseline * NEAR_0.get(settings.loss, LITTLE):
        return ""
    return (f"the {name_of(settings, found)} is nearly 0: if a column is known only after the label, leave it out; "
            "vwlite report shows which columns matter most")


def judging(measures: dict[str, Result]) -> Result | None:
    """The measure that judges the model: the log loss of classes, else the average loss. None if it is not finite."""
    found = measures.get("log_loss") or measures.get("average_loss")
    return found if found is not None and found.value is not None and math.isfinite(found.value) else None


def name_of(settings: Settings, judging: Result) -> str:
    return settings.outputs.called if judging.key == "average_loss" else judging._replace(where="").label


def normalization(name: str) -> str:
    return NORMALIZATIONS.get(name, f"normalization {name}")


def count_of_passes(used: int, best: int | None = None) -> str:
    """`6 of 9 passes`, if the model is that of the sixth."""
    if best is not None and best != used:
        return f"{best} of {used} passes"
    return f"{used} passes" if used > 1 else "one pass"


def update(settings: Settings) -> str:
    """`update gd with learning rate 1`"""
    name, rate = settings.algorithm, algorithm_of(settings.algorithm).rate
    how = f" with {rate.removeprefix(f'{name}_').replace('_', ' ')} {getattr(settings, rate):g}" if rate else ""
    return f"update {name}{how}"
