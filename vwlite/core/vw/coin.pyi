"""Made from cython_ext/vw/coin.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Coin(Rule):
    norm_sum: float
    weight_sum: float
    importance: float
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    CLIPS: bool
    def __init__(self, loss: Any, *, alpha: float = ..., beta: float = ..., **schedule: Any) -> None: ...
