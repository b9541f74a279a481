"""Made from cython_ext/vw/pistol.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Pistol(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    CLIPS: bool
    def __init__(self, loss: Any, *, alpha: float = ..., beta: float = ..., **schedule: Any) -> None: ...
