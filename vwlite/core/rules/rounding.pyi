"""Made from cython_ext/rules/rounding.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Rounding(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    rounds: int
    def __init__(self, loss: Any, *, threshold: float, period: int = ..., **schedule: Any) -> None: ...
