"""Made from cython_ext/vw/freegrad.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class FreeGrad(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    CLIPS: bool
    @property
    def weight_sum(self) -> float: ...
    def __init__(self, loss: Any, *, epsilon: float = ..., restart: bool = ..., **schedule: Any) -> None: ...
