"""Columns that alone tell the label in the first rows of a table. Often they are filled in after the label is known."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt

FEWEST, FIRST = 50, 100  # rows: too few to tell; that are tried before all
SEEMS = 0.9  # a correlation, or a share of errors that are gone, in the first rows from which all are looked at
FEW_VALUES = 5  # rows for each value, at least: a value of two rows tells little of others
MOST_CLASSES = 20  # different labels, beyond which labels are amounts
MOST_WRONG = 0.02  # of the errors of the most frequent label, those that are left
EQUAL = 0.999  # the share of the variance of amounts from which a column is nearly the label

Number = Callable[[bytes], float | None]  # of a cell; None: it has none


def decisive(
    labels: Sequence[bytes], columns: Mapping[str, Sequence[bytes]], number: Number
) -> Iterator[tuple[str, str]]:
    """The columns that alone tell the label, each with the evidence as words. labels, columns: cells, of the same rows;
    an empty cell is a value too. Rows without a label do not count."""
    kept = [i for i, y in enumerate(labels) if y]
    y = [labels[i] for i in kept]
    usual, most = Counter(y).most_common(1)[0] if y else (b"", 0)
    wrong = len(y) - most
    if len(y) < FEWEST or wrong < FEWEST // 10:
        return
    amounts = [number(cell) for cell in y] if len({*y}) > MOST_CLASSES else []
    if None in amounts:
        return
    rare, other = ([i for i, label in enumerate(y) if (label == usual) is is_usual] for is_usual in (False, True))
    first = rare[: FIRST // 2] + other[: FIRST // 2]
    y_first = [y[i] for i in first]
    for name, column in columns.items():
        x = [column[i] for i in kept]
        if amounts:
            r = _correlation(x[:FIRST], amounts, number)
            r = _correlation(x, amounts, number) if abs(r) >= SEEMS else 0.0
            if r * r >= EQUAL:
                yield name, f"its correlation with the label is {r:.4f} in the first {len(y)} rows"
            continue
        wrong_first = len(first) - _right([x[i] for i in first], y_first, number, few=1)
        right = _right(x, y, number) if wrong_first <= (1 - SEEMS) * min(wrong, FIRST // 2) else 0
        if len(y) - right <= MOST_WRONG * wrong:
            yield name, f"alone it tells the label in {right} of the first {len(y)} rows"


def _right(x: Sequence[bytes], y: Sequence[bytes], number: Number, few: int = FEW_VALUES) -> int:
    """In how many rows a value, or a limit of numbers between two labels, tells the label. few: rows for each value, if
    values tell it; a value of one row tells nothing."""
    counts: dict[bytes, Counter[bytes]] = {}
    for value, label in zip(x, y, strict=True):
        counts.setdefault(value, Counter())[label] += 1
    are_few = few * len(counts) <= len(x)
    found = sum(max(of.values()) for of in counts.values() if sum(of.values()) > 1) if are_few else 0
    numbers = [number(value) for value in counts]
    if len({*y}) > 2 or None in numbers:
        return found
    first, below = y[0], 0
    ordered = sorted(zip(numbers, counts.values(), strict=True), key=lambda pair: pair[0] or 0.0)
    of_first, others = Counter(y)[first], len(y) - Counter(y)[first]
    for _, of in ordered:  # below: rows below the limit of the first label, less those of the other
        below += 2 * of[first] - sum(of.values())
        found = max(found, others + below, of_first - below)
    return found


def _correlation(x: Sequence[bytes], y: Sequence[float | None], number: Number) -> float:
    """That of the rows of x that have a number, if they are nearly all; else 0. y may have more rows."""
    pairs = [(a, b) for a, b in zip(map(number, x), y, strict=False) if a is not None and b is not None]
    n = len(pairs)
    if n < 0.9 * len(x) or n < FEWEST:
        return 0.0
    a, b = (sum(p[k] for p in pairs) / n for k in (0, 1))
    xx, yy = (sum((p[k] - m) * (p[k] - m) for p in pairs) for k, m in ((0, a), (1, b)))  # ** may raise OverflowError
    return sum((p - a) * (q - b) for p, q in pairs) / sqrt(xx * yy) if xx and yy else 0.0
