"""Made from cython_ext/rules/gd.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Gd(Rule):
    norm_sum: float
    weight_sum: float
    gravity: float
    contraction: float
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    CLIPS: bool
    def __init__(self, loss: Any, *, l1: float = ..., l2: float = ..., initial_t: float = ..., **schedule: Any) -> None: ...
    def blank(self) -> Any: ...
