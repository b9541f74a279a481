"""Made from cython_ext/rules/ftrl.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.nonzeros import Limited

class Ftrl(Limited):
    SLOT: list[Any]
    SLOT_BYTES: Any
    def __init__(self, loss: Any, *, ftrl_alpha: float = ..., ftrl_beta: float = ..., l1: float = ..., l2: float = ..., merging: bool = ..., **schedule: Any) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
