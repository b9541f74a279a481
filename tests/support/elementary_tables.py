"""The tables of cython_ext/base/elementary_tables.pxd, from their definition, in decimal arithmetic of 60 digits.

As a script it writes the file: `python tests/support/elementary_tables.py > cython_ext/base/elementary_tables.pxd`.
"""

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction

EXPS, LOGS = 128, 64  # entries
FIRST = Fraction(45, 64)  # the least c; 1 is one of them
GRID = 2**42  # the high part of a logarithm is a multiple of 1 / GRID
DIGITS = Context(prec=60, rounding=ROUND_HALF_EVEN)

TEXT = '''"""Tables for elementary.pxd. Made by tests/support/elementary_tables.py, which says what they are."""

cdef extern from *:
    """
    /* 2^(i / 128): rounded, and what is missing, as a part of it. */
    static const double vwlite_exp_table[128][2] = {{
{exps}
    }};

    /* 1 / c, and ln c as a multiple of 2^-42 and what is missing. c: the numbers of 7 bits from 45/64 to 89/64. */
    static const double vwlite_log_table[64][3] = {{
{logs}
    }};
    """
'''


def centers() -> list[Fraction]:
    """Numbers of seven bits have distance 1/128 below 1, and 1/64 above."""
    below = [FIRST + Fraction(i, 128) for i in range(int((1 - FIRST) * 128))]
    return below + [1 + Fraction(i, 64) for i in range(LOGS - len(below))]


def exps() -> list[tuple[float, float]]:
    with localcontext(DIGITS):
        numbers = [Decimal(2) ** (Decimal(i) / EXPS) for i in range(EXPS)]
        return [(float(x), float(x / Decimal(float(x)) - 1)) for x in numbers]


def logs() -> list[tuple[float, float, float]]:
    out = []
    with localcontext(DIGITS):
        for c in centers():
            log = (Decimal(c.numerator) / Decimal(c.denominator)).ln()
            high = float((log * GRID).to_integral_value()) / GRID
            out.append((float(1 / c), high, float(log - Decimal(high))))
    return out


def text() -> str:
    def row(numbers: tuple[float, ...]) -> str:
        return "        {" + ", ".join(x.hex() for x in numbers) + "},"

    return TEXT.format(exps="\n".join(map(row, exps())), logs="\n".join(map(row, logs())))


if __name__ == "__main__":
    print(text(), end="")
