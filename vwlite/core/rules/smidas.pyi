"""Made from cython_ext/rules/smidas.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Smidas(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    shift: float
    base: float
    unit: float
    @property
    def features(self) -> int: ...
    @property
    def p(self) -> float: ...
    @property
    def norm(self) -> float: ...
    def __init__(self, loss: Any, *, l1: float = ..., features: int = ..., **schedule: Any) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
