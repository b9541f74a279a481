"""Made from cython_ext/rules/adagrad.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.nonzeros import Limited

class Adaptive(Limited):
    shift: float
    scale: float
    @property
    def delta(self) -> float: ...
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    def __init__(self, loss: Any, *, delta: float = ..., **schedule: Any) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
class Adagrad(Adaptive):
    def __init__(self, loss: Any, *, l1: float = ..., **options: Any) -> None: ...
class ElasticAdagrad(Adagrad):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    shrinkage: float
    damping: float
    def __init__(self, loss: Any, *, l2: float, **options: Any) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
class AveragedAdagrad(Adagrad):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    area: float
    def __init__(self, *arguments: Any, **options: Any) -> None: ...
    def flush(self) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
class AdagradRda(Adaptive):
    SCALARS: list[Any]
    def __init__(self, loss: Any, *, l1: float = ..., **options: Any) -> None: ...
class ElasticAdagradRda(AdagradRda):
    def __init__(self, loss: Any, *, l2: float, **options: Any) -> None: ...
