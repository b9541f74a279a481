"""Made from cython_ext/rules/frozen.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Frozen(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    @property
    def unseen(self) -> Any: ...
    @unseen.setter
    def unseen(self, w: float) -> None: ...
