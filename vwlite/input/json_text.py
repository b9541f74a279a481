"""JSON that others wrote, for callers that need few of its values."""

import json
from typing import Any

LONGEST = 300  # digits of a whole number: it fits a float; Python refuses those of more than 4,300


def loads(text: str | bytes) -> Any:
    """As json.loads has it; but a whole number with very many digits is its text."""
    return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST else digits
