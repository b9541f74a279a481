"""Made from cython_ext/rules/gd.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.learn.rule import Rule

class Gd(Rule):
    SLOT: list[Any]
    SCALARS: list[Any]
    CLIPS: bool
    SUMS_BY_MODEL: bool
    norm_sum: float
    weight_sum: float
    gravity: float
    contraction: float
    elapsed: float
    wound: bool
    @property
    def too_large(self) -> bool: ...
    @property
    def lost(self) -> bool: ...
    more_h: float
    more_norms: float
    more_squares: float
    @property
    def moved(self) -> float: ...
    def __init__(self, loss: Any, *, l1: float = ..., l2: float = ..., initial_t: float = ..., adaptive: bool = ..., normalized: bool = ..., invariant: bool = ..., adax: bool = ..., masked: bool = ..., forgiving: bool = ..., sparse_l2: float = ..., **schedule: Any) -> None: ...
    def blank(self) -> Any: ...
    def sensitivity(self, slots: Any, values: Any, p: float, label: float, importance: float) -> Any: ...
    def set_slot(self, key: int, w: float, G: float, N: float) -> None: ...
    def fold_weights(self) -> None: ...
