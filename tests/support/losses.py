"""Every loss of the table with its reference, for tests over all of them."""

import slow_rules

from vwlite.algorithms.losses import LOSSES as TABLE
from vwlite.core.learn import losses

ARGUMENTS = {"quantile": (0.7,), "huber": (0.4,), "expectile": (0.7,)}
LOSSES = {
    name: tuple(getattr(of, row.kind)(*ARGUMENTS.get(name, ())) for of in (losses, slow_rules))
    for name, row in TABLE.items()
}
LOG_LINKED = [name for name, (loss, _) in LOSSES.items() if loss.power]  # their predictions are logarithms of means
