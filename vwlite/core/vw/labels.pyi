"""Made from cython_ext/vw/labels.pyx by tests/stubs.py."""


from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import Names

class ExpectedLabels:
    def __init__(self, low: float, high: float, only_ends: bool, *, needed: bool = ..., names: Names | None = ...) -> None: ...
    def take(self, batch: Batch) -> None: ...
    def next_unexpected(self, begin: int) -> int: ...
