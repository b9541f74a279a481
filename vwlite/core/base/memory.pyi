"""Made from cython_ext/base/memory.pyx by tests/stubs.py."""


def available() -> int | None: ...
