"""Results as JSON."""

import json
import math
import re
from typing import Any

SCHEMA = 2  # of the keys
_RENAMED = {
    "best pass, kept": "best_pass", "distinct labels, up to 3": "distinct_labels", "l1 / l1 max": "l1_over_l1_max",
    "sum of |weights|": "sum_of_weights", "sum of |weight x spread|": "effect", "weight x spread": "effect",
    "unknown features, share": "share_of_unknown_features",
}
# Objects whose keys are names of classes, files, columns and such, which stay as they are.
_BY_NAME = frozenset(("by", "classes", "columns", "holdout_losses_of_shards", "losses", "weights"))


def json_text(value: Any, **options: Any) -> str:
    """As `json.dumps` with these options, but with null for numbers that are not finite: JSON does not have them."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(json_values(value), allow_nan=False, **options)


def json_values(value: Any) -> Any:
    """As `json.loads` gives what `json_text` has written."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: json_values(x) for name, x in value.items()}
    return [json_values(x) for x in value] if isinstance(value, list | tuple) else value


def with_schema(content: dict[str, Any], by_name: tuple[str, ...] = ()) -> dict[str, Any]:
    """The content of `--report` or `--json` with its `schema`, and all keys in snake case.

    by_name: further keys of objects whose own keys are names out of the data.
    """
    return {"schema": SCHEMA, **_in_snake_case(content, _BY_NAME | {*by_name})}


def _in_snake_case(value: Any, by_name: frozenset[str], named: bool = False) -> Any:
    """named: the keys of `value` are names out of the data."""
    if isinstance(value, dict):
        keys = {key: key if named else _snake_case(key) for key in value}
        return {new: _in_snake_case(value[key], by_name, not named and new in by_name) for key, new in keys.items()}
    if isinstance(value, list | tuple):
        return [_in_snake_case(x, by_name) for x in value]
    return value


def _snake_case(key: str) -> str:
    if key.startswith("objective of "):  # and a file's name
        return "objective_of_against"
    return _RENAMED.get(key) or re.sub(r"[^\w.]+", "_", key).strip("_").lower()
