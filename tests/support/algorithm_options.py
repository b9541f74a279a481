"""Options of each algorithm, for tests of all. They follow from its row, so a new algorithm needs no line here."""

from collections.abc import Mapping
from typing import Any

from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.table import ALGORITHMS, Algorithm
from vwlite.options.spec import option_name

# A value at which an option does what it is for, on streams of some hundred examples.
USUAL = {"l1": 0.01, "radius": 2.0, "threshold": 0.01, "period": 3, "pa_c": 0.1}
FEATURES = 10_000  # of those whose unseen features have weights
# Where the usual values make all weights zero, or none.
OWN: dict[str, dict[str, Any]] = {
    "gd": {"l1": 1e-4, "l2": 1e-5},
    "truncated-gradient": {"threshold": 0.4},  # larger weights are not shrunk
    "eg": {"radius": 20.0},
    "eg-pm": {"radius": 20.0},
    "adagrad-full": {"delta": 3.0, "root_every": 20, "radius": 0.2},
    "ftrl": {"ftrl_alpha": 0.1, "l1": 0.3, "l2": 0.01},
}
# Rules with a matrix: a step costs the square or the cube of the number of features. Short streams of few features.
FULL = [name for name, row in ALGORITHMS.items() if rule_class(row.rule).MOST_FEATURES]
MANY = [name for name in ALGORITHMS if name not in FULL]


def taken(row: Algorithm, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are options of the algorithm."""
    return {name: value for name, value in values.items() if name in row.options + row.schedule}


def _usual(row: Algorithm) -> dict[str, Any]:
    return taken(row, USUAL) | ({"features": FEATURES} if row.all_keys else {}) | OWN.get(row.name, {})


OPTIONS = {name: _usual(row) for name, row in ALGORITHMS.items()}
# Without `features`, the keys that never come have nearly all of the weight.
NEEDED = {
    name: {option: OPTIONS[name][option] for option in row.required + ("features",) * row.all_keys}
    for name, row in ALGORITHMS.items()
}
# Rules that keep the weight of a feature in 32 bits.
IN_FLOATS = [name for name, row in ALGORITHMS.items() if ("w", "<f4") in rule_class(row.rule).SLOT]
# Rules in which all unseen features have one weight.
UNSEEN_WEIGHS = [name for name, row in ALGORITHMS.items() if rule_class(row.rule).UNSEEN_WEIGHS]


def words(options: Mapping[str, Any]) -> list[str]:
    """Options as they are typed; one with a list as often as that has values."""
    found = []
    for name, value in options.items():
        if value is True:
            found.append(option_name(name))
        else:
            for one in value if isinstance(value, list) else [value]:
                found += [option_name(name), str(one)]
    return found


def usual_loss(algorithm: str) -> str:
    """Logistic loss, for the algorithms that take it."""
    losses = ALGORITHMS[algorithm].losses
    return "logistic" if "logistic" in losses else losses[0]


# As typed, with a rate at which the squared loss does not diverge.
TYPED = {
    name: words(OPTIONS[name] | taken(row, {"learning_rate": 0.05}))
    + ([] if "squared" in row.losses else ["--loss", row.losses[0]])
    for name, row in ALGORITHMS.items()
}
