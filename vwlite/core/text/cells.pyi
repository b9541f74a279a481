"""Made from cython_ext/text/cells.pyx by tests/stubs.py."""

from typing import Any

class Cells:
    @property
    def count(self) -> int: ...
    @property
    def names(self) -> list[Any]: ...
    def __init__(self, columns: Any, *, ngram: int = ..., hash_all: bool = ..., hash_seed: int = ..., as_text: bool = ...) -> None: ...
