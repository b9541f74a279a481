"""Made from cython_ext/base/targets.pyx by tests/stubs.py."""


def instruction_set() -> str: ...
