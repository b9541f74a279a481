"""Text of programs from templates, in which @NAME@ stands for a word."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vwlite.export import Request
from vwlite.export.columns import Columns, NotByColumns, columns_of
from vwlite.export.linear import Linear
from vwlite.model.feature_names import escaped
from vwlite.output.stdio import say

_FOLDER = Path(__file__).with_name("templates")


def template(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def filled(text: str, words: Mapping[str, str]) -> str:
    """With its words, in which such names do not count."""
    return re.sub("@([A-Z_]+)@", lambda found: words.get(found[1], found[0]), text)


def what(linear: Linear) -> str:
    """The model as a phrase."""
    s = linear.settings
    predicts = f"{len(linear.classes)} classes" if linear.classes else f"link {s.link}"
    predicts = f"quantiles {', '.join(linear.quantiles)}" if linear.quantiles else predicts
    return f"{s.algorithm}, {s.loss or 'unknown'} loss, {predicts}"


def file_name(request: Request) -> str:
    """That of the output, for a docstring: a file name may contain anything."""
    name = escaped(os.path.basename(request.output).encode("utf-8", "surrogateescape"))
    return name.replace("\\", "_").replace('"', "_")


def by_columns(
    request: Request, columns: Callable[[Request, Columns], Iterator[str]], lines: Callable[[Request], Iterator[str]]
) -> Iterator[str]:
    """The program by columns; of a model that cannot be one, the program that reads lines. A note says why."""
    if not request.model.columns:
        return lines(request)
    try:
        found = columns_of(request.linear, request.path)
    except NotByColumns as e:
        say(f"note: the program reads what `vwlite convert -m {request.path}` writes, and not columns: {e}")
        return lines(request)
    return columns(request, found)
