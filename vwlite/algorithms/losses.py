"""The losses: a row for each. The classes are in `cython_ext/learn/losses.pyx`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LossFunction:
    """One row of the table of losses."""

    name: str
    kind: str  # its class in vwlite.core.learn.losses
    labels: str  # which it can use: any, binary (-1 and 1), or nonnegative numbers
    links: tuple[str, ...] = ()  # beside identity: what its predictions may go through when they are written
    option: str = ""  # the setting that it takes
    first_range: tuple[float, float] = (0.0, 0.0)  # of predictions that are clipped, before it follows the labels


_TABLE = (
    LossFunction("squared", "Squared", "any"),
    LossFunction("logistic", "Logistic", "binary", links=("logistic", "glf1"), first_range=(-50.0, 50.0)),
    LossFunction("hinge", "Hinge", "binary"),
    LossFunction("quantile", "Quantile", "any", option="quantile_tau"),
    LossFunction("poisson", "Poisson", "nonnegative", links=("poisson",), first_range=(-50.0, 50.0)),
)
LOSSES = {loss.name: loss for loss in _TABLE}

# That of a model of Vowpal Wabbit, which does not know it: it only predicts.
_UNKNOWN = LossFunction("", "Squared", "any")

# The links, and the losses whose predictions they make sense of.
LINKS = {
    "identity": tuple(LOSSES),
    **{link: tuple(loss.name for loss in _TABLE if link in loss.links) for each in _TABLE for link in each.links},
}

# The settings of losses, and the loss that takes each.
LOSS_OPTIONS = {loss.option: loss.name for loss in _TABLE if loss.option}


def loss_function(name: str) -> LossFunction:
    """The row of a loss; "" is one that is not known."""
    return LOSSES[name] if name else _UNKNOWN
