"""The readable form of a model of a frame, in Python: its effects, their contributions to rows, and plots."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.errors import UsageError
from vwlite.estimators.errors import as_python
from vwlite.estimators.evaluation import model_of
from vwlite.estimators.memory import InMemory
from vwlite.estimators.sources import NAME
from vwlite.model.contributions import Contributions
from vwlite.model.effects import Effect, Effects, NumberAxis
from vwlite.model.importances import Importances
from vwlite.model.readable import readable_effects
from vwlite.runs.opened import applied

ACROSS = 3  # pictures beside each other
POINTS = 50  # of a line, which --normalize log bends
Floats = NDArray[np.float64]


def effects(model: Any) -> Effects:
    """See `SparseClassifier.effects_`."""
    with as_python():
        return readable_effects(model_of(model), NAME)


def importances(model: Any) -> Importances:
    """See `SparseClassifier.importances_`."""
    with as_python():
        return readable_effects(model_of(model), NAME).importances


def contributions(model: Any, X: Any) -> tuple[list[str], Floats]:
    """The names of the effects, and what each contributes to the score of each row: see
    `SparseClassifier.contributions`."""
    with as_python():
        opened = applied(model_of(model), NAME)
        found = Contributions(opened.model, readable_effects(opened.model, NAME), NAME)
        parse = replace(opened.parse, spaces=True)
        parts = [found.of(parsed.batch).effects for parsed in InMemory(X, None, opened).batches(parse)]
        empty = np.zeros((0, len(found.names), opened.model.records))
        whole = np.concatenate([empty, *parts])
        return found.names, whole if opened.model.records > 1 else whole[:, :, 0]


def plot(found: Effects, axes: Any, names: Sequence[str] | None, of_class: Any) -> Any:
    """See `SparseClassifier.plot_effects`. Needs matplotlib."""
    shown = _chosen(found, names)
    k = _class_of(found, of_class)
    if axes is None:
        from matplotlib import pyplot

        across = min(ACROSS, max(len(shown), 1))
        down = ceil(max(len(shown), 1) / across)
        size = 4 * across, 3 * down
        figure, axes = pyplot.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
        for unused in axes.ravel()[len(shown) :]:
            figure.delaxes(unused)
    pairs = [*zip(np.ravel(np.asarray(axes, dtype=object)), shown, strict=False)]
    low, high = _scale([effect for _, effect in pairs], k)
    for ax, effect in pairs:
        _draw(ax, effect, k)
        if len(effect.axes) == 1:
            (ax.set_ylim if isinstance(effect.axes[0], NumberAxis) else ax.set_xlim)(low, high)
    return axes


def _scale(effects: Sequence[Effect], k: int) -> tuple[float, float]:
    """The ends of the one scale that all effects of one column have."""
    every = [0.0]
    for effect in effects:
        if len(effect.axes) == 1:
            axis = effect.axes[0]
            y = effect.number(_at(axis)) if isinstance(axis, NumberAxis) else effect.values
            every += (y[:, k] - effect.mean[k]).tolist()
    edge = 0.05 * (max(every) - min(every)) or 1.0
    return min(every) - edge, max(every) + edge


def _at(axis: NumberAxis) -> Floats:
    """Where a number is drawn: its knots, or a line between the ends of its range."""
    if axis.low is None or axis.high is None:
        return np.array([0.0, 1.0])  # the model has no record
    if not len(axis.knots):
        return np.linspace(axis.low, axis.high, POINTS)
    return axis.knots[(axis.knots >= axis.low) & (axis.knots <= axis.high)]


def _chosen(found: Effects, names: Sequence[str] | None) -> list[Effect]:
    """Those of these names; else all of one or two columns that have a picture, the largest first."""
    if names is None:
        return [e for e in found if 1 <= len(e.axes) <= 2 and (e.slope is None or np.any(e.slope))]
    known = {effect.name: effect for effect in found}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no effect {name!r}: choose from {', '.join(known)}")
        if not 1 <= len(known[name].axes) <= 2:
            raise UsageError(f"the effect {name!r} has no picture: it is one of a text or of three columns")
    return [known[name] for name in names]


def _class_of(found: Effects, of_class: Any) -> int:
    if not found.classes:
        return 0
    if of_class is None:
        raise UsageError(f"each class has effects of its own: name one with of_class, of {', '.join(found.classes)}")
    if str(of_class) not in found.classes:
        raise UsageError(f"of_class={of_class!r}: the model has no such class; it has {', '.join(found.classes)}")
    return found.classes.index(str(of_class))


def _draw(ax: Any, effect: Effect, k: int) -> None:
    values = effect.values[..., k] - effect.mean[k]
    if len(effect.axes) == 2:
        down, across = effect.axes
        mesh = ax.pcolormesh(values, cmap="RdBu_r", vmin=-np.abs(values).max(), vmax=np.abs(values).max() or 1.0)
        ax.figure.colorbar(mesh, ax=ax)
        for axis, set_ticks, name in ((across, ax.set_xticks, ax.set_xlabel), (down, ax.set_yticks, ax.set_ylabel)):
            labels = _places(axis)
            some = range(0, len(labels), max(1, ceil(len(labels) / 8)))
            set_ticks([i + 0.5 for i in some], [labels[i] for i in some])
            name(axis.full_name)
        ax.tick_params(axis="x", labelrotation=45)
    elif isinstance(effect.axes[0], NumberAxis):
        x = _at(effect.axes[0])
        ax.plot(x, effect.number(x)[:, k] - effect.mean[k])
        ax.set_xlabel(effect.name)
    else:
        ax.barh(_places(effect.axes[0]), values)
        ax.axvline(0, linewidth=0.8)
    ax.set_title(effect.name.replace("*", " and "))
    if len(effect.axes) == 1 and isinstance(effect.axes[0], NumberAxis):
        ax.axhline(0, linewidth=0.8)
        ax.set_ylabel("added to the score")


def _places(axis: Any) -> list[str]:
    """What the places on an axis are called."""
    if isinstance(axis, NumberAxis):
        return [*(f"{x:.4g}" for x in axis.knots), "missing"]
    return [*axis.levels, "other", "missing"]
