"""The bodies that MLflow's clients send to /invocations, as JSON lines.

    {"dataframe_split": {"columns": ["age", "city"], "data": [[30, "Rome"], [40, "Oslo"]]}}
    {"dataframe_records": [{"age": 30, "city": "Rome"}, {"age": 40, "city": "Oslo"}]}
    {"instances": [{"age": 30, "city": "Rome"}, {"age": 40, "city": "Oslo"}]}
    {"inputs": {"age": [30, 40], "city": ["Rome", "Oslo"]}}

The text of numbers stays as it is, as it may be hashed.
"""

import re
from collections.abc import Collection
from typing import Any

from vwlite.serve.json_rows import json_of, loaded_exactly
from vwlite.serve.request import Refused

KINDS = ("dataframe_split", "dataframe_records", "instances", "inputs")
_BEGIN = re.compile(rb'\s*\{\s*"(?:%s|params|signature_name)"\s*:' % "|".join(KINDS).encode())


def lines_of(body: bytes, columns: Collection[str]) -> bytes | None:
    """The rows of a body; None if it is not a body of MLflow. columns: of the model, which are never taken for MLflow's
    keys. Refused if the body is an invalid one of MLflow."""
    begin = _BEGIN.match(body)
    if not begin:
        return None
    try:
        found = loaded_exactly(body)
        kinds = [kind for kind in KINDS if kind in found and kind not in columns]
        if len(kinds) != 1:
            return None
        rows = _rows(kinds[0], found[kinds[0]])
        if not all(isinstance(row, dict) for row in rows):
            raise Refused(422, f"{kinds[0]}: rows without names of columns: send dataframe_split, or objects")
        return b"".join(json_of(row).encode() + b"\n" for row in rows)
    except (ValueError, RecursionError):
        return None  # the parser of rows says what is wrong


def _rows(kind: str, found: Any) -> list[Any]:
    if kind == "dataframe_split":
        split = found if isinstance(found, dict) else {}
        columns, rows = split.get("columns", ""), split.get("data", "")
        if not (_is_list(columns, str) and _is_list(rows, list) and all(len(row) == len(columns) for row in rows)):
            raise Refused(422, "dataframe_split: it has columns, a list of names, and data, a list of rows as long")
        return [dict(zip(columns, row, strict=True)) for row in rows]
    if kind == "inputs" and isinstance(found, dict):
        values = [*found.values()]
        if not _is_list(values, list) or len({*map(len, values)}) > 1:
            raise Refused(422, "inputs: an object has a list of values for each column, all of the same length")
        return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
    if not isinstance(found, list):
        raise Refused(422, f"{kind}: a list of objects is expected")
    return found


def _is_list(found: Any, kind: type) -> bool:
    return isinstance(found, list) and all(isinstance(x, kind) for x in found)
