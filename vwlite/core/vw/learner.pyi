"""Made from cython_ext/vw/learner.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.learner import Learner
from vwlite.core.vw.counts import Counts
from vwlite.core.vw.labels import ExpectedLabels

class VwLearner(Learner):
    def __init__(self, rule: Any, loss: Any, expander: Any, labels: ExpectedLabels, counts: Counts, *, reports: bool = ..., holdout_after: int = ..., widens: bool = ..., predict_first: bool = ..., **options: Any) -> None: ...
    def probabilities_of_classes(self) -> Any: ...
