"""Made from cython_ext/vw/losses.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.losses import Logistic, Poisson, Squared

class Classic(Squared):
    ...
class Expectile(Squared):
    def __init__(self, q: float = ...) -> None: ...
class SoftLogistic(Logistic):
    def __init__(self, low: float = ..., high: float = ...) -> None: ...
class PoissonDeviance(Poisson):
    def __init__(self, *args: Any, **options: Any) -> None: ...
