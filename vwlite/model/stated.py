"""Whether the weights that a model shows are those of its state, with which most models predict and are continued.

The rule of the algorithm computes them from the state: with pending lazy updates, means, truncation to `--nonzeros` and
all else that `Rule.weight` does. They must agree to single precision, of which most states are; only the intercept of
`--algorithm auto` has more digits than its state.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from vwlite.core.base.arrays import first_apart
from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.errors import DataError
from vwlite.model.slots import array_of, copied

if TYPE_CHECKING:
    from vwlite.model.file import Model

TOLERANCE = 1e-6  # of the larger weight
AT_ONCE = 1 << 16  # slots that are in memory


def check_weights(path: str, model: "Model", besides: Collection[int] = ()) -> None:
    """DataError if a weight of a model is not that of its state. besides: keys whose weights are set otherwise."""
    if model.weights_only or not len(model.keys):
        return
    from vwlite.model.learners import fresh_rule, slots_of, state_codes

    settings, n = model.settings, model.records
    rule = fresh_rule(settings, CONSTANT_HASH & ((1 << settings.bits) - 1) if settings.constant else None)
    if {name: array.format for name, array in model.state.items()} != state_codes(rule):
        raise DataError(f"{path}: not a valid model: the state is not that of {settings.algorithm}")
    alone = rule.WEIGHS_ALONE and not settings.nonzeros
    step = AT_ONCE if alone else len(model.keys)
    arrays = [name for name, own in rule.scalars().items() if isinstance(own, memoryview)]
    for k in range(n):
        try:
            scalars = {name: x[k] if n > 1 else x for name, x in model.rule.items()}
            scalars |= {name: model.more[f"{name}_{k + 1}" if n > 1 else name] for name in arrays}
            if alone:
                rule.set_scalars(scalars)
            for i in range(0, len(model.keys), step):
                part = slice(k + i * n, (i + step) * n, n)
                keys, weights = copied(model.keys[i : i + step]), copied(model.weights[part])  # aligned
                slots = slots_of(rule, keys, {name: array[part] for name, array in model.state.items()})
                if not alone:
                    rule.load(scalars, slots)
                found = array_of(bytearray(8 * len(keys)), "d")
                rule.weights_of_state(slots, found)
                at = first_apart(found, weights, 0, TOLERANCE)
                while at >= 0 and keys[at] in besides:
                    at = first_apart(found, weights, at + 1, TOLERANCE)
                if at >= 0:
                    raise DataError(f"{path}: not a valid model: the weight of #{keys[at]} is "
                                    f"{weights[at]:.6g}, but {found[at]:.6g} in its state")
        except (KeyError, TypeError, ValueError, OverflowError) as e:
            why = f"the rule's state is not that of {settings.algorithm}: {e}"
            raise DataError(f"{path}: not a valid model: {why}") from e
