"""Made from cython_ext/data/expand.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.data.batch import Batch

CONSTANT_HASH: Any
most_whole: Any
piece_size: Any
class Expander:
    @property
    def hidden(self) -> int: ...
    @property
    def piece(self) -> int: ...
    def __init__(self, *, bits: int = ..., constant: bool = ..., keep: bytes = ..., ignore: bytes = ..., ignore_linear: bytes = ..., interactions: Any = ..., named: Any = ..., leave_duplicates: bool = ..., permutations: bool = ..., constant_early: bool = ...) -> None: ...
    @property
    def constant_key(self) -> Any: ...
    @property
    def terms(self) -> Any: ...
    def features(self, batch: Batch, line: int) -> Any: ...
