"""Columns that alone tell the label in the first rows of a table. Often they are filled in after the label is known."""

from bisect import bisect_left, bisect_right
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
            seem = max(map(abs, _correlations(x[:FIRST], amounts, number))) >= SEEMS
            r, of_ranks = _correlations(x, amounts, number) if seem else (0.0, 0.0)
            if max(r * r, of_ranks * of_ranks) >= EQUAL:
                what = f"correlation with the label is {r:.4f}" if r * r >= EQUAL else \
                    f"rank correlation with the label is {of_ranks:.4f}"
                yield name, f"its {what} in the first {len(y)} rows"
            continue
        wrong_first = len(first) - _right([x[i] for i in first], y_first, number, few=1)
        right = _right(x, y, number) if wrong_first <= (1 - SEEMS) * min(wrong, FIRST // 2) else 0
        if len(y) - right <= MOST_WRONG * wrong:
            yield name, f"alone it tells the label in {right} of the first {len(y)} rows"


def _right(x: Sequence[bytes], y: Sequence[bytes], number: Number, few: int = FEW_VALUES) -> int:
    """In how many rows a value, or limits of numbers between labels, tell the label. few: rows for each value, if
    values tell it; a value of one row tells nothing."""
    counts: dict[bytes, Counter[bytes]] = {}
    for value, label in zip(x, y, strict=True):
        counts.setdefault(value, Counter())[label] += 1
    are_few = few * len(counts) <= len(x)
    found = sum(max(of.values()) for of in counts.values() if sum(of.values()) > 1) if are_few else 0
    numbers = [number(value) for value in counts]
    if None in numbers:
        return found
    ordered = sorted(zip(numbers, counts.values(), strict=True), key=lambda pair: pair[0] or 0.0)
    total, places = Counter(y), dict.fromkeys(y, 0.0)  # the mean place of the rows of each label
    for place, (_, of) in enumerate(ordered):
        for label, n in of.items():
            places[label] += place * n / total[label]
    return max(found, _between_limits([of for _, of in ordered], sorted(places, key=places.__getitem__)))


def _between_limits(counts: Sequence[Counter[bytes]], labels: Sequence[bytes]) -> int:
    """In how many rows the label is right, if each label has the numbers between two limits. counts: of the labels at
    each number, in ascending order; labels: in the order of their limits."""
    right = [0] * len(labels)  # up to here, if the numbers of this label, or of one before it, are those up to here
    for of in counts:
        for k, label in enumerate(labels):
            right[k] = max(right[k] + of[label], right[k - 1] if k else 0)
    return right[-1]


def _correlations(x: Sequence[bytes], y: Sequence[float | None], number: Number) -> tuple[float, float]:
    """That of the rows of x that have a number, if they are nearly all, and that of their ranks; else 0. A label that
    only rises with a column, as its logarithm does, has a rank correlation of 1. y may have more rows."""
    pairs = [(a, b) for a, b in zip(map(number, x), y, strict=False) if a is not None and b is not None]
    if len(pairs) < 0.9 * len(x) or len(pairs) < FEWEST:
        return 0.0, 0.0
    a, b = ([p[k] for p in pairs] for k in (0, 1))
    return _correlation(a, b), _correlation(_ranks(a), _ranks(b))


def _correlation(a: Sequence[float], b: Sequence[float]) -> float:
    n = len(a)
    m, k = sum(a) / n, sum(b) / n
    xx, yy = (sum((x - mean) * (x - mean) for x in of) for of, mean in ((a, m), (b, k)))  # ** may raise OverflowError
    return sum((p - m) * (q - k) for p, q in zip(a, b, strict=True)) / sqrt(xx * yy) if xx and yy else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    """The mean rank of equal ones."""
    ordered = sorted(values)
    return [(bisect_left(ordered, x) + bisect_right(ordered, x)) / 2 for x in values]
