"""Results as JSON."""

import json
import math
from typing import Any


def json_text(value: Any, **options: Any) -> str:
    """As `json.dumps` with these options, but with null for numbers that are not finite: JSON does not have them."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, **options)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(x) for name, x in value.items()}
    return [_finite(x) for x in value] if isinstance(value, list | tuple) else value
