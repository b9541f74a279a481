"""Made from cython_ext/base/checksum.pyx by tests/stubs.py."""

from typing import Any

def checksum(data: Any) -> Any: ...
