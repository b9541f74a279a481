"""Made from cython_ext/rules/arow.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Arow(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    def __init__(self, loss: Any, *, arow_r: float = ..., **schedule: Any) -> None: ...
    def blank(self) -> Any: ...
