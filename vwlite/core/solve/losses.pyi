"""Made from cython_ext/solve/losses.pyx by tests/stubs.py."""

from typing import Any

NAMES: tuple[Any, ...]
def loss_at(name: str, p: float, y: float, tau: float = ...) -> Any: ...
def conjugate_at(name: str, alpha: float, y: float, tau: float = ...) -> Any: ...
