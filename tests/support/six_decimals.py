"""Text with numbers, which is compared up to their seventh decimal."""

import re

NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[+-]\d+)?)(?![\w.])")
DECIMALS, SINGLE = 0.51e-6, 2.0**-23  # half of the last one, and a unit of 32-bit floats


def near(found: str, expected: str) -> bool:
    """Whether two texts differ in numbers only, and in these by their rounding to six decimals or 32-bit floats."""
    a, b = NUMBER.split(found), NUMBER.split(expected)
    return len(a) == len(b) and all(
        abs(float(x) - float(y)) <= DECIMALS + SINGLE * abs(float(y)) if i % 2 else x == y
        for i, (x, y) in enumerate(zip(a, b, strict=True))
    )
