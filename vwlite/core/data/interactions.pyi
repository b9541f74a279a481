"""Made from cython_ext/data/interactions.pyx by tests/stubs.py."""

from typing import Any

WILDCARD: int
def concrete(patterns: Any, letters: Any, leave_duplicates: bool = ...) -> list[bytes]: ...
