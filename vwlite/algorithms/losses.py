"""The table of losses. The classes are in `cython_ext/learn/losses.pyx`."""

from vwlite.records import record


@record(frozen=True)
class LossFunction:
    """One row of the table of losses."""

    name: str
    kind: str  # its class in vwlite.core.learn.losses
    labels: str  # which it can use: any, binary (-1 and 1), nonnegative or positive numbers
    formula: str
    links: tuple[str, ...] = ()  # beside identity: what its predictions may go through when they are written; the first
    # is that of new models
    option: str = ""  # the setting that it takes
    first_range: tuple[float, float] = (0.0, 0.0)  # of predictions that are clipped, before it follows the labels
    note: str = ""  # what else is to be known of labels and predictions


_LOGARITHM = "p is the logarithm of the mean"

_TABLE = (
    LossFunction("squared", "Squared", "any", "(p - y)^2"),
    LossFunction(
        "logistic",
        "Logistic",
        "binary",
        "log(1 + exp(-y p))",
        links=("logistic", "glf1"),
        first_range=(-50.0, 50.0),
    ),
    LossFunction("hinge", "Hinge", "binary", "max(0, 1 - y p)"),
    LossFunction("squared-hinge", "SquaredHinge", "binary", "max(0, 1 - y p)^2"),
    LossFunction("quantile", "Quantile", "any", "tau (y - p) if y > p, else (1 - tau)(p - y)", option="quantile_tau"),
    LossFunction(
        "expectile", "Expectile", "any", "2 tau (p - y)^2 if y > p, else 2 (1 - tau)(p - y)^2", option="expectile_tau"
    ),
    LossFunction(
        "huber", "Huber", "any", "(p - y)^2 if |p - y| <= delta, else delta (2 |p - y| - delta)", option="huber_delta"
    ),
    LossFunction(
        "poisson",
        "Poisson",
        "nonnegative",
        "exp(p) - y p, up to a constant: half the deviance",
        links=("poisson",),
        first_range=(-50.0, 50.0),
        note=_LOGARITHM,
    ),
    LossFunction(
        "gamma",
        "Gamma",
        "positive",
        "y exp(-p) + p, up to a constant: half the deviance",
        links=("log",),
        first_range=(-50.0, 50.0),
        note=_LOGARITHM,
    ),
    LossFunction(
        "tweedie",
        "Tweedie",
        "nonnegative",
        "exp((2 - P) p) / (2 - P) + y exp((1 - P) p) / (P - 1)",
        links=("log",),
        option="tweedie_power",
        first_range=(-50.0, 50.0),
        note=f"{_LOGARITHM}; P is --tweedie-power",
    ),
)
LOSSES = {loss.name: loss for loss in _TABLE}

# That of a model of Vowpal Wabbit, which does not know it: it only predicts.
_UNKNOWN = LossFunction("", "Squared", "any", "")

_CALLED = {"logistic": "log loss", "poisson": "Poisson loss", "tweedie": "Tweedie loss"}

# The losses that can learn log(1 + label).
TRANSFORMED = ("squared", "huber", "quantile", "expectile")

# The links, and the losses whose predictions they make sense of.
LINKS = {
    "identity": tuple(LOSSES),
    **{link: tuple(loss.name for loss in _TABLE if link in loss.links) for each in _TABLE for link in each.links},
    "expm1": TRANSFORMED,
}

# The settings of losses, and the loss that takes each.
LOSS_OPTIONS = {loss.option: loss.name for loss in _TABLE if loss.option}


def loss_function(name: str) -> LossFunction:
    """The row of a loss; "" is one that is not known."""
    return LOSSES[name] if name else _UNKNOWN


def called(loss: str) -> str:
    """What a loss is called in sentences."""
    return _CALLED.get(loss, f"{loss} loss")


def usual_threshold(*, probable: bool) -> float:
    """Of two labels, the positive one is predicted from here on. probable: a probability, else a score."""
    return 0.5 if probable else 0.0
