"""Made from cython_ext/rules/passive_aggressive.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Pa(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
class PaI(Pa):
    def __init__(self, loss: Any, *, pa_c: float = ..., **schedule: Any) -> None: ...
class PaII(PaI):
    ...
