"""Made from cython_ext/text/lines.pyx by tests/stubs.py."""

from typing import Any

def count_lines(data: Any) -> Any: ...
