"""The first sentences of the summary of a training run: how good the model is, and how it came about."""

import math

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import algorithm_of
from vwlite.output.results import Result
from vwlite.output.text import shown
from vwlite.runs.baseline import is_worse

NORMALIZATIONS = {"none": "no normalization", "center": "columns centered", "ridge": "ridge regression"}


def result(settings: Settings, measures: dict[str, Result], rows: str) -> str:
    """`log loss 0.4113 on rows not learned; best constant 0.5756, 28.5 % better`; "" if nothing was measured.

    measures: as `Trainer.measures` has them. rows: which they are of.
    """
    key = "log_loss" if "log_loss" in measures else "average_loss"
    found = measures.get(key, Result(key, None))
    loss, baseline = found.value, found.baseline
    if loss is None or not math.isfinite(loss):
        return ""
    said = f"{settings.outputs.called if key == 'average_loss' else found.label} {shown(loss)} {rows}"
    if baseline is None or not math.isfinite(baseline):
        return said
    gain = 100 * (1 - loss / baseline) if baseline else 0.0
    if gain >= 0.05:
        return f"{said}; best constant {shown(baseline)}, {gain:.1f} % better"
    compared = f"{-gain:.1f} % worse" if is_worse(loss, baseline) else "no better"
    return f"{said}; {compared} than the best constant, {shown(baseline)}"


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
