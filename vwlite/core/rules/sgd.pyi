"""Made from cython_ext/rules/sgd.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Sgd(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
class AveragedSgd(Sgd):
    SLOT: list[Any]
    SLOT_BYTES: Any
