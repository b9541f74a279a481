"""Made from cython_ext/vw/coin.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Coin(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    CLIPS: bool
    norm_sum: float
    weight_sum: float
    def __init__(self, loss: Any, *, alpha: float = ..., beta: float = ..., **schedule: Any) -> None: ...
