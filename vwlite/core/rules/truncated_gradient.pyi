"""Made from cython_ext/rules/truncated_gradient.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.nonzeros import Limited

class TruncatedGradient(Limited):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    gravity: float
    def __init__(self, loss: Any, *, l1: float = ..., period: int = ..., threshold: float = ..., **schedule: Any) -> None: ...
class ElasticTruncatedGradient(TruncatedGradient):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    growth: float
    def __init__(self, loss: Any, *, l2: float, **options: Any) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
class AveragedTruncatedGradient(TruncatedGradient):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    area: float
    def __init__(self, *arguments: Any, **options: Any) -> None: ...
    def flush(self) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
