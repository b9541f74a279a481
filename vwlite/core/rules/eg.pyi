"""Made from cython_ext/rules/eg.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Exponentiated(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    TWO_SIDED: bool
    @property
    def radius(self) -> float: ...
    @property
    def features(self) -> int: ...
    @property
    def unseen(self) -> float: ...
    def __init__(self, loss: Any, *, radius: float, features: int, **schedule: Any) -> None: ...
    def scalars(self) -> Any: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
class Eg(Exponentiated):
    UNSEEN_WEIGHS: bool
class EgPm(Exponentiated):
    TWO_SIDED: bool
