"""Reductions: learners made of several linear models. What stands in which order is decided here."""

from vwlite.vw.arguments import Arguments
from vwlite.vw.learners import Binary, ClassWeight, Layer, Named, Scorer
from vwlite.vw.setup import Setup, class_weights


def count_models(a: Arguments) -> int:
    """How many linear models the reductions need, before it is rounded up to a power of two."""
    return 1


def stack(a: Arguments, s: Setup, learner: Layer) -> Layer:
    """The layers over the linear model."""
    if any(b":" in pattern for pattern in s.interactions):
        learner = Named(learner, "generate_interactions")
    learner = Scorer(learner, a.get("link", "identity"))
    if a.flag("binary"):
        learner = Binary(learner, s.streams)
    if "classweight" in a:
        learner = ClassWeight(learner, class_weights(a["classweight"], s.streams))
    if not a.flag("dont_output_best_constant"):
        learner = Named(learner, "count_label")
    return learner
