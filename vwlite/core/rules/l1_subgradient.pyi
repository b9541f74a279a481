"""Made from cython_ext/rules/l1_subgradient.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class L1Subgradient(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    gravity: float
    def __init__(self, loss: Any, *, l1: float = ..., round_at_end: float = ..., **schedule: Any) -> None: ...
    @property
    def strength(self) -> Any: ...
    @strength.setter
    def strength(self, strength: float) -> None: ...
    @property
    def pass_decay(self) -> Any: ...
    @pass_decay.setter
    def pass_decay(self, decay: float) -> None: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
