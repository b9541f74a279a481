"""Results as JSON."""

import json
import math
from typing import Any

SCHEMA = 2  # of the keys


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


def with_schema(content: dict[str, Any]) -> dict[str, Any]:
    """The content of `--report` or `--json`, with the version of its keys."""
    return {"schema": SCHEMA, **content}
