"""Made from cython_ext/merge/holdout.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.losses import Loss

def products(begin: Any, index: Any, value: Any, weights: Any, constants: Any) -> Any: ...
def sum_of_losses(loss: Loss, start: Any, change: Any, step: float, labels: Any, importance: Any, initial: Any, *, classes: int = ..., softmax: bool = ..., low: float = ..., high: float = ...) -> Any: ...
