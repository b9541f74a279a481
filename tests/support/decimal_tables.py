"""The table of cython_ext/base/decimal_tables.pxd, from its definition, in whole numbers.

As a script it writes the file: `python tests/support/decimal_tables.py > cython_ext/base/decimal_tables.pxd`.
"""

import math
from fractions import Fraction

FIRST, LAST = -31, 45  # the powers of ten that 32-bit floats need

TEXT = '''"""The table for decimal.pxd. Made by tests/support/decimal_tables.py, which says what it is."""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    /* 10^k times a power of two, from 2^63 to 2^64, rounded up, for k from {first} to {last}. */
    static const uint64_t vwlite_powers_of_ten[{count}] = {{
{powers}
    }};
    """
    const uint64_t* POWERS_OF_TEN "vwlite_powers_of_ten"
    enum:
        FIRST_POWER "({first})"
'''


def power(k: int) -> int:
    """10^k times a power of two, from 2^63 to 2^64, rounded up."""
    x = Fraction(10) ** k
    while x >= 2**64:
        x /= 2
    while x < 2**63:
        x *= 2
    return math.ceil(x)


def text() -> str:
    powers = "\n".join(f"        0x{power(k):016x}u," for k in range(FIRST, LAST + 1))
    return TEXT.format(first=FIRST, last=LAST, count=LAST - FIRST + 1, powers=powers)


if __name__ == "__main__":
    print(text(), end="")
