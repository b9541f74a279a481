"""Made from cython_ext/rules/adagrad_full.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

ARRAYS: Any
def import_numpy() -> None: ...
def feature_sign(S: Any, b: Any, c: Any, w: Any) -> Any: ...
class AdagradFull(Rule):
    SLOT: list[Any]
    SLOT_BYTES: Any
    SCALARS: list[Any]
    MOST_FEATURES: Any
    shift: float
    age: int
    def __init__(self, loss: Any, *, update: Any = ..., l1: float = ..., delta: float = ..., root_every: int = ..., **schedule: Any) -> None: ...
    def step(self, g: Any, eta: float) -> None: ...
    def scalars(self) -> Any: ...
    def load(self, scalars: Any, slots: Any) -> None: ...
