"""The merge of each algorithm: a row for each.

A row says what is known of how surely a weight is learned, which ways of merging make sense, and what becomes of each
number of the state. The ways are in `cython_ext/merge/directions.pyx`, the formulas of the state in
`vwlite/merging/states.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vwlite.merging import states
from vwlite.merging.states import Merged, State, Weights

# The ways of merging, and the steps along each that are tried on a holdout. What overshoots is tried in parts only.
LONG = (1.0, 1.5, 2.0, 3.0, 4.0)
SHORT = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)
STEPS = {"mean": LONG, "touched": LONG, "information": LONG, "path": SHORT, "dual": SHORT, "root": SHORT}

# c of `path`: 2 is that of the logistic loss, whose squared gradients add up to the Fisher information. Where no
# holdout judges, a larger one is safer.
JUDGED, UNJUDGED = 2.0, 4.0

# What becomes of a number of the rule that is not of a feature: a constant, or one of these. TIME is added, too, but by
# its mean where shards will go on.
ADDED, TIME, LARGEST, LEAST = "added", "time", "largest", "least"

_LIMITED = {"strength": LARGEST, "look_at": LARGEST, "occurrences": ADDED}  # of --nonzeros
_AVERAGED = {"area": 0.0}  # the accounts of --average begin anew


@dataclass(frozen=True)
class Evidence:
    """What says how surely a weight is known: S, and the steps that the learner takes along it, eta / H(S)."""

    field: str  # of the state
    kind: str = "itself"  # what it is of S: see EVIDENCES in sums.pyx
    beta: str = ""  # the setting that is added to sqrt S
    rate: str = "learning_rate"  # the setting that is eta
    by_extra: bool = False  # eta is over the extra number of a feature, and normalized

    def of(self, numbers: Weights) -> Weights:
        """S, of the numbers that a model keeps: as formulas.pxd has it."""
        if self.kind == "root":
            return numbers * numbers
        return 1 / np.maximum(numbers, 1e-100) if self.kind == "variance" else numbers


@dataclass(frozen=True)
class Row:
    """How models of an algorithm are merged."""

    name: str
    state: Callable[[Merged], State] | None = states.plain
    evidence: Evidence | None = None
    ways: tuple[str, ...] = ("mean", "touched", "root")
    unjudged: str = "touched"  # the way without a holdout
    exact: bool = False  # only the whole step of a way gives weights that the algorithm can have
    extra: tuple[str, str] = ("", "")  # a field of the state and how it is merged: see EXTRAS in sums.pyx
    scalars: dict[str, Any] = field(default_factory=lambda: {"t": TIME})
    sparse: Callable[[Merged, Weights], Weights] | None = None  # what makes merged weights those of the algorithm
    penalty: Callable[[Callable[[str], Any], Callable[[str], Any]], float] | None = None  # what `absent` adds up
    adds: bool = False  # its duals add up exactly: `dual` is made of the extra number
    whole: bool = False  # the state of a feature follows from all weights, so not from those of a part
    refusal: str = ""  # why there is no merge


_BY_EVIDENCE = ("mean", "touched", "information", "path", "dual")
_MEAN = ("mean",)

MERGES = {
    row.name: row
    for row in (
        Row(
            "gd",
            states.normalized,
            Evidence("G", by_extra=True),
            _BY_EVIDENCE,
            "information",
            extra=("N", "largest"),
            scalars={"t": ADDED, "norm_sum": ADDED, "weight_sum": ADDED, "gravity": 0.0, "contraction": 1.0,
                     "min_label": LEAST, "max_label": LARGEST},
        ),
        Row("sgd", scalars={"t": TIME, "gravity": TIME, "growth": LARGEST}),
        Row(
            "truncated-gradient",
            scalars={"t": TIME, "gravity": TIME, "growth": LARGEST, **_LIMITED, **_AVERAGED},
        ),
        Row("rounding", scalars={"t": TIME, "rounds": LARGEST}),
        Row(
            "l1-subgradient",
            scalars={"t": TIME, "gravity": TIME, "strength": LARGEST},
            sparse=states.rounded_at_end,
        ),
        Row(
            "l1-ball",
            states.ball,
            extra=("a", "same"),
            scalars={"t": TIME, "shift": 0.0, **_LIMITED, **_AVERAGED},
            sparse=states.in_ball,
            whole=True,
        ),
        Row("simplex", states.simplex, None, _MEAN, "mean", True, scalars={"t": TIME, "shift": 0.0}, whole=True),
        Row("eg", states.exponentiated, None, _MEAN, "mean", True, whole=True),
        Row("eg-pm", states.exponentiated_two_sided, None, _MEAN, "mean", True, whole=True),
        Row(
            "adagrad",
            states.adagrad,
            Evidence("S", beta="delta"),
            _BY_EVIDENCE,
            "information",
            scalars={"t": ADDED, "shift": ADDED, "shrinkage": LARGEST, "damping": LARGEST, **_LIMITED, **_AVERAGED},
            sparse=states.shrunk,
            penalty=states.shift_since,
        ),
        Row(
            "adagrad-rda",
            states.adagrad_rda,
            Evidence("S", beta="delta"),
            _BY_EVIDENCE,
            "information",
            extra=("z", "added"),
            scalars={"t": ADDED, **_LIMITED},
            sparse=states.supported,
            adds=True,
        ),
        Row(
            "adagrad-ball",
            states.adagrad_ball,
            Evidence("S", beta="delta"),
            _BY_EVIDENCE,
            "information",
            scalars={"t": ADDED, "shift": 0.0, "sum_rest": 0.0, "inverses_rest": 0.0},
            sparse=states.in_adaptive_ball,
            whole=True,
        ),
        Row("adagrad-full", refusal="a matrix is no sum of those of others: train on one machine, or use adagrad-rda"),
        Row("pa"),
        Row("pa-i"),
        Row("pa-ii"),
        Row(
            "arow",
            states.arow,
            Evidence("sigma", "variance", rate=""),
            ("mean", "touched", "information", "dual"),
            "dual",
            scalars={"t": ADDED},
        ),
        Row(
            "ftrl",
            states.ftrl,
            Evidence("root", "root", "ftrl_beta", "ftrl_alpha"),
            _BY_EVIDENCE,
            "information",
            extra=("z", "added"),
            scalars={"t": ADDED, **_LIMITED},
            sparse=states.supported,
        ),
        Row("smidas", refusal="its weights follow from all others: train on one machine, or use adagrad-rda"),
        Row("solve", refusal="the best of parts is not the best of all: vwlite solve takes the joined data"),
    )
}
