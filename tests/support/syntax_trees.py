"""The syntax trees of the sources, for tests of the structure: parsed once."""

import ast
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "vwlite"


@cache
def trees() -> dict[str, ast.Module]:
    """That of each file, by its name below `vwlite`."""
    return {
        path.relative_to(SOURCES).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCES.rglob("*.py"))
    }
