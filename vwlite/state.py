"""From a learner to a model and back."""

from typing import TYPE_CHECKING, Any

from vwlite import __version__
from vwlite.build import Settings, make_learner
from vwlite.core.learner import Learner
from vwlite.core.rule import Rule
from vwlite.errors import DataError
from vwlite.model import Model

if TYPE_CHECKING:
    import numpy as np

COUNTERS = ("examples", "unlabelled", "features")


def snapshot(
    learner: Learner,
    settings: Settings,
    before: dict[str, int],
    *,
    interrupted: bool = False,
    weights_only: bool = False,
) -> Model:
    """The model as of now. before: the counters of the model that was continued, or zeros."""
    import numpy as np

    rule = learner.rule
    data = rule.slots()
    table = np.frombuffer(data, dtype=_layout(rule))
    order = np.argsort(table["mark"], kind="stable")
    # The key 2^32 - 1 has the mark 0, and is the last of all keys.
    last = int(table.size > 0 and table["mark"][order[0]] == 0)
    order = np.roll(order, -last) if last else order
    weights = np.empty(table.size)
    rule.weights(data, weights)
    state = {}
    if not weights_only:
        state = {name: table[name][order] for name, _ in rule.SLOT if name != "mark" and not name.startswith("_")}
    return Model(
        algorithm=settings.algorithm,
        loss=settings.loss,
        options=settings.stored(),
        counters={name: before.get(name, 0) + getattr(learner, name) for name in COUNTERS},
        rule={} if weights_only else rule.scalars(),
        range=(learner.min_label, learner.max_label) if rule.CLIPS else None,
        keys=table["mark"][order] - np.uint32(1),
        weights=weights[order],
        state=state,
        interrupted=interrupted,
        weights_only=weights_only,
        program=f"vwlite {__version__}",
    )


def settings_of(model: Model, path: str) -> Settings:
    """The settings that a model was trained with. DataError if this program does not know them."""
    try:
        return Settings.restored(model.options)
    except ValueError as e:
        raise DataError(f"{path}: needs {model.program} or later: {e}") from e


def restore(model: Model, settings: Settings, path: str, **options: Any) -> Learner:
    """A learner that goes on from a model. options: as Learner takes them."""
    import numpy as np

    if model.weights_only:
        if options.get("learn", True):
            raise DataError(f"{path}: saved with --save-weights-only: it predicts, but cannot be continued")
        return _predictor(model, settings, path, options)
    learner = make_learner(settings, **options)
    rule = learner.rule
    table = np.zeros(model.keys.size, dtype=_layout(rule))
    table["mark"] = model.keys + np.uint32(1)
    wanted = {name: np.dtype(code) for name, code in rule.SLOT if name != "mark" and not name.startswith("_")}
    if {name: array.dtype for name, array in model.state.items()} != wanted:
        raise DataError(f"{path}: not a valid model: the state is not that of {settings.algorithm}")
    for name, array in model.state.items():
        table[name] = array
    try:
        rule.load(model.rule, table.view(np.uint8).reshape(-1))
    except (KeyError, TypeError, ValueError, OverflowError) as e:
        raise DataError(f"{path}: not a valid model: the rule's state is not that of {settings.algorithm}: {e}") from e
    _set_range(learner, model)
    return learner


def _predictor(model: Model, settings: Settings, path: str, options: dict[str, Any]) -> Learner:
    """A learner for weights without their state: they are those of plain gradient descent, which keeps no more."""
    import numpy as np

    from vwlite.core.rules.fixed import Fixed

    learner = make_learner(settings, rule_class=Fixed, **options)
    table = np.zeros(model.keys.size, dtype=_layout(learner.rule))
    table["mark"], table["w"] = model.keys + np.uint32(1), model.weights
    learner.rule.load({"t": 0}, table.view(np.uint8).reshape(-1))
    _set_range(learner, model)
    return learner


def _set_range(learner: Learner, model: Model) -> None:
    if model.range is not None:
        learner.min_label, learner.max_label = model.range
    learner.clips = model.range is not None


def _layout(rule: Rule) -> "np.dtype[Any]":
    import numpy as np

    layout: np.dtype[Any] = np.dtype(rule.SLOT, align=True)
    return layout
