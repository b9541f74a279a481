"""Made from cython_ext/solve/paged.pyx by tests/stubs.py."""

from typing import Any

def write_at(file: Any, data: Any, at: int) -> None: ...
class Paged:
    def __init__(self, *sizes: Any) -> None: ...
