"""Features that are derived from the columns of a table, slowly: curves of numbers, products of two and three columns
that are found by residuals, and the words and pieces of texts.

A number is also written as its distances to the two knots around it ("hats"), so that a linear model of it is a
piecewise-linear curve (Friedman 1991). A product of two such columns is a bilinear grid (Lou, Caruana, Gehrke, Hooker
2013).

Values are float32, and what is computed from them is float64. Rows are numbered from 0. The reference says what is
derived, not in which order sums are added: gains agree but for rounding. "Point N" is that of the definition: 1 knots,
2 curves and texts, 3 screening, 4 pairs, 5 triples, 6 choice, 7 names, 9 what is left out.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product

import numpy as np
from slow_auto import CURVATURES, MASK, SMOOTH, mixed
from slow_tables import features_of_text

SAMPLE = 50_000  # rows that knots are found of, and pairs
CURVE = 64  # knots of a curve
COARSE = 5  # knots of each column of a product; and q + 1
RESOLUTIONS = (4, 8, 16, 32)  # q of pairs
RESOLUTIONS_OF_TRIPLES = (4, 8)
FOLDS = 4
SHRINKAGE = 4.0
PAIRS, TRIPLES = 40, 20  # at most
NATS = 5.0  # the least gain
LEVELS, ROWS_OF_LEVEL = 31, 10  # words of a column in products: at most so many, each in at least so many rows
WIDEST, KEPT_COLUMNS = 400, 100  # of more columns so many are in pairs

# --- rows ---------------------------------------------------------------------------------------


def hash_of_row(row: int) -> int:
    """SplitMix64 of the number of a row: the first output of the generator with this seed."""
    return mixed((row + 0x9E3779B97F4A7C15) & MASK)


def sample_of(n: int, size: int = SAMPLE) -> list[int]:
    """Point 1: the rows with the smallest hashes, in the order of the file; the same of all columns."""
    return sorted(sorted(range(n), key=hash_of_row)[:size])


def fold_of(row: int) -> int:
    """Point 3: by the last bits of the hash, as the sample is drawn by the first."""
    return hash_of_row(row) % FOLDS


# --- numbers ------------------------------------------------------------------------------------


def number(x: float) -> float:
    """Point 1: the float32 of a number; nan, which is missing, of an infinite one; 0 of -0."""
    with np.errstate(over="ignore"):
        found = float(np.float32(x))
    return found + 0.0 if math.isfinite(found) else math.nan


def numbers(values: Iterable[float]) -> list[float]:
    """Those that are not missing."""
    return [x for x in map(number, values) if not math.isnan(x)]


def knots(values: Iterable[float], k: int) -> list[float]:
    """Point 1: about k knots of a sample, ascending.

    At most k distinct values: all of them. Else those that more than 1 / k of the values have, and of the n' others,
    sorted, those at floor(i (n' - 1) / (m - 1)), i = 0 .. m - 1, m = max(2, k - number of frequent ones). With k - 1
    frequent values these are k + 1.
    """
    given = sorted(numbers(values))
    count = Counter(given)
    if len(count) <= k:
        return sorted(count)
    frequent = {x for x, times in count.items() if times * k > len(given)}
    others = [x for x in given if x not in frequent]
    m = max(2, k - len(frequent))
    return sorted(frequent | {others[i * (len(others) - 1) // (m - 1)] for i in range(m)})


def has_heavy_tails(values: Iterable[float]) -> bool:
    """More than 8 interquartile ranges between the median and an end. A quantile p is the first value for which at
    least the share p of all is not above it."""
    given = sorted(numbers(values))
    first, middle, third = (given[math.ceil(p * len(given)) - 1] for p in (0.25, 0.5, 0.75))
    return third > first and max(given[-1] - middle, middle - given[0]) > 8 * (third - first)


def sentinel_of(values: Iterable[float]) -> float | None:
    """Of more than 20 different numbers the most frequent one, the least of several, if it is at least 3 % of all, and
    beyond the others by more than their range."""
    count = Counter(numbers(values))
    most = min(count, key=lambda x: (-count[x], x))
    others = [x for x in count if x != most]
    if len(count) <= 20 or 100 * count[most] < 3 * count.total():
        return None
    beyond = max(min(others) - most, most - max(others))
    return most if beyond > max(others) - min(others) else None


def share_below(values: Iterable[float], x: float) -> float:
    """The share of the values below x, with half of those that equal it; at least half a value, at most all but half of
    one."""
    given = numbers(values)
    n = len(given)
    rank = sum(v < x for v in given) + sum(v == x for v in given) / 2
    return min(max(rank, 0.5), n - 0.5) / n


def hats(x: float, at: Sequence[float]) -> list[tuple[int, float]]:
    """Point 2: the knots around x and their weights, those of weight 0 left out; none of a missing x.

    Of two knots a <= x < b: 1 - w and w, w = (x - a) / (b - a); below the first and above the last that one alone.
    """
    x = number(x)
    if math.isnan(x) or not at:
        return []
    if x <= at[0]:
        return [(0, 1.0)]
    if x >= at[-1]:
        return [(len(at) - 1, 1.0)]
    i = max(i for i, knot in enumerate(at) if knot <= x)
    w = (x - at[i]) / (at[i + 1] - at[i])
    return [(knot, weight) for knot, weight in ((i, 1 - w), (i + 1, w)) if weight]


def mean_and_deviation(values: Iterable[float]) -> tuple[float, float]:
    """Point 1: of a sample; the deviation is the root of the mean square, divided by n."""
    given = numbers(values)
    mean = math.fsum(given) / len(given)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in given) / len(given))


def standardized(x: float, mean: float, deviation: float) -> float:
    """Point 2: z = clip((x - mean) / sd, -4, 4)."""
    return min(4.0, max(-4.0, (number(x) - mean) / deviation))


def code_of_number(x: float, at: Sequence[float]) -> int:
    """Point 3: the number of edges strictly below x, edges half way between knots; if x is missing, that of knots."""
    x = number(x)
    edges = [(a + b) / 2 for a, b in pairwise(at)]
    return len(at) if math.isnan(x) else sum(edge < x for edge in edges)


# --- words --------------------------------------------------------------------------------------


def levels(words: Iterable[str]) -> list[str]:
    """Point 3: the most frequent words, by count, then by name. "" is missing."""
    count = Counter(word for word in words if word)
    often = [word for word, times in count.items() if times >= ROWS_OF_LEVEL]
    return sorted(often, key=lambda word: (-count[word], word))[:LEVELS]


def code_of_word(word: str, kept: Sequence[str]) -> int:
    """Point 3: the rank of a word; then the rest, with all unseen words; then missing."""
    if not word:
        return len(kept) + 1
    return kept.index(word) if word in kept else len(kept)


# --- names --------------------------------------------------------------------------------------


def escaped(text: str, signs: str = "*?^") -> str:
    """Point 7: these signs as in VW text, %2A; a % before such digits is %25."""
    text = re.sub("%(?=2A|3F|5E|25)", "%25", text)
    return "".join(f"%{ord(c):02X}" if c in signs else c for c in text)


def name_of_hat(column: str, k: int, knot: float) -> str:
    """Point 7."""
    return f"{column}~{k}@{knot:.9g}"


def name_of_word(column: str, word: str) -> str:
    """Point 7: of a word in a product; *: the rest."""
    return f"{column}={escaped(word)}"


def name_of_product(parts: Iterable[str]) -> str:
    """Point 7: the columns in the order of the file."""
    return "^".join(parts)


# --- columns ------------------------------------------------------------------------------------

Feature = tuple[str, float]  # its namespace is the column, of a product the first one


@dataclass
class Numbers:
    """A numeric column, by the values of its sample."""

    name: str
    sample: Sequence[float]

    def __post_init__(self) -> None:
        self.sample = [number(x) for x in self.sample]
        self.at: dict[int, list[float]] = {}

    @cached_property
    def bends(self) -> bool:
        """Point 1: a column of one value has neither z nor hats."""
        return len(set(numbers(self.sample))) > 1

    @cached_property
    def scale(self) -> tuple[float, float]:
        return mean_and_deviation(self.sample)

    def knots(self, k: int) -> list[float]:
        if k not in self.at:
            self.at[k] = knots(self.sample, k)
        return self.at[k]

    def curve(self, x: float) -> list[Feature]:
        """Point 2: z under the name of the column, 64 hats, and whether x is missing."""
        if math.isnan(number(x)):
            return [(f"{self.name}?", 1.0)] if any(map(math.isnan, self.sample)) else []
        if not self.bends:
            return []
        at = self.knots(CURVE)
        of_hats = [(name_of_hat(self.name, CURVE, at[i]), w) for i, w in hats(x, at)]
        return [(self.name, z) for z in (standardized(x, *self.scale),) if z] + of_hats

    def code(self, x: float, q: int) -> int:
        return code_of_number(x, self.knots(q))

    def factors(self, x: float, k: int) -> list[Feature]:
        """Point 4: what a product takes of this column: its hats at k knots, or that it is missing."""
        column, at = escaped(self.name, "^"), self.knots(k)
        return [(name_of_hat(column, k, at[i]), w) for i, w in hats(x, at)] or [(f"{column}?", 1.0)]


@dataclass
class Words:
    """A categorical column, by the words of the first reading."""

    name: str
    given: Sequence[str]

    @cached_property
    def kept(self) -> list[str]:
        return levels(self.given)

    def curve(self, word: str) -> list[Feature]:
        """Point 2: words stay as they are."""
        return [(f"{self.name}={word}", 1.0)] if word else []

    def code(self, word: str, q: int) -> int:
        return code_of_word(word, self.kept)

    def factors(self, word: str, k: int) -> list[Feature]:
        """Point 4: the code."""
        column, code = escaped(self.name, "^"), code_of_word(word, self.kept)
        last = [f"{column}=*", f"{column}?"]
        return [(([name_of_word(column, level) for level in self.kept] + last)[code], 1.0)]


Column = Numbers | Words
Cell = float | str


# --- products -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """Columns by position, ascending, at the resolution q with the largest gain."""

    columns: tuple[int, ...]
    gain: float
    q: int = RESOLUTIONS[0]

    def knots_of(self, columns: Sequence[Column]) -> list[int]:
        """Points 4 and 5: 5 knots, and of a pair q + 1, equal ones once; words have one resolution."""
        is_bent = any(isinstance(columns[i], Numbers) for i in self.columns)
        return sorted({COARSE, self.q + 1} if len(self.columns) == 2 and is_bent else {COARSE})

    def features(self, columns: Sequence[Column], row: Sequence[Cell]) -> list[Feature]:
        """Points 4 and 5: the outer product of the factors of the columns, at each resolution.

        One without hats, such as of a missing number and a word, has one name at all resolutions, and is written once.
        """
        return [*{
            name_of_product(name for name, _ in factors): math.prod(value for _, value in factors)
            for k in self.knots_of(columns)
            for factors in product(*(columns[i].factors(row[i], k) for i in self.columns))
        }.items()]


# --- residuals ----------------------------------------------------------------------------------

Matrix = np.ndarray  # [rows, classes]; but for several classes there is one


def derivatives(loss: str, p: np.ndarray, y: np.ndarray, h: np.ndarray) -> tuple[Matrix, Matrix]:
    """Point 3: R = -h loss'(p) and H = h loss''(p) of out-of-fold scores, h the importance of a row.

    Of the squared loss in units of the deviation s of the residuals: R = h (y - p) / s, H = h. Of the Poisson, gamma
    and Tweedie loss, whose dispersion is not known either, H is that expected of the mean, exp((2 - power) p), and s
    the deviation of loss'(p) / sqrt(H / h), Pearson's residual.
    """
    if loss == "squared":
        residuals = y - p
        mean = np.average(residuals, weights=h)
        s = math.sqrt(np.average((residuals - mean) ** 2, weights=h))
        return (h * residuals / s if s else 0 * residuals)[:, None], h[:, None]
    first = np.array([SMOOTH[loss].dloss(*pair) for pair in zip(p, y, strict=True)])
    if loss in ("poisson", "gamma", "tweedie"):
        mean_power = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}[loss]
        second = np.exp((2 - mean_power) * p)
        pearson = first / np.sqrt(second)
        s = math.sqrt(np.average((pearson - np.average(pearson, weights=h)) ** 2, weights=h)) or 1.0
        return (-h * first / s)[:, None], (h * second)[:, None]
    second = np.array([CURVATURES[loss](*pair) for pair in zip(p, y, strict=True)])
    return (-h * first)[:, None], (h * second)[:, None]


def derivatives_of_classes(scores: np.ndarray, y: np.ndarray, h: np.ndarray) -> tuple[Matrix, Matrix]:
    """Point 3: p by the softmax of the scores [rows, classes]; R = h (1 - p) of the label's class, -h p of the others,
    and H = h p (1 - p). y: classes from 0."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    one = np.eye(scores.shape[1])[y]
    return h[:, None] * (one - p), h[:, None] * p * (1 - p)


# --- screening ----------------------------------------------------------------------------------


def gain(cells: Sequence[int], folds: Sequence[int], R: Matrix, H: Matrix) -> float:
    """Point 3: what a constant for each cell, found in the other folds, would gain in each fold, in nats.

    Summed over classes, cells c and folds f:  d = R_c(not f) / (H_c(not f) + 4);  gain = d R_c(f) - d^2 H_c(f) / 2
    """
    found, cells, folds = 0.0, np.asarray(cells), np.asarray(folds)
    place = np.unique(cells, return_inverse=True)[1] * FOLDS + folds
    for k in range(R.shape[1]):
        r, h = (np.bincount(place, X[:, k], (place.max() // FOLDS + 1) * FOLDS).reshape(-1, FOLDS) for X in (R, H))
        d = (r.sum(axis=1, keepdims=True) - r) / (h.sum(axis=1, keepdims=True) - h + SHRINKAGE)
        found += float((d * r - d**2 * h / 2).sum())
    return found


class Screening:
    """Codes of the columns of a table, and residuals: what products would gain.

    At most 50,000 rows, those of the sample, are used, and gains are those of all rows.
    """

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], R: Matrix, H: Matrix) -> None:
        self.columns, used = columns, sample_of(len(rows))
        self.rows, self.R, self.H = [rows[i] for i in used], R[used], H[used]
        self.folds, self.scale = [fold_of(i) for i in used], len(rows) / len(used)
        self.known: dict[tuple[int, int], np.ndarray] = {}

    def codes(self, column: int, q: int) -> np.ndarray:
        key = column, q if isinstance(self.columns[column], Numbers) else 0
        if key not in self.known:
            self.known[key] = np.array([self.columns[column].code(row[column], q) for row in self.rows])
        return self.known[key]

    def gain(self, columns: tuple[int, ...], q: int) -> float:
        cells = np.zeros(len(self.rows), np.int64)
        for column in columns:
            codes = self.codes(column, q)
            cells = cells * (codes.max() + 1) + codes
        return self.scale * gain(cells, self.folds, self.R, self.H)

    def best(self, columns: tuple[int, ...], resolutions: Iterable[int]) -> Product:
        """At the best q, the least of equal ones. Words have one."""
        if not any(isinstance(self.columns[i], Numbers) for i in columns):
            resolutions = RESOLUTIONS[:1]
        return max((Product(columns, self.gain(columns, q), q) for q in resolutions), key=lambda x: x.gain)

    def largest(self, sets: Iterable[tuple[int, ...]], resolutions: Iterable[int], most: int) -> list[Product]:
        """Point 3: by gain, equal ones by the order of their columns."""
        found = [self.best(columns, resolutions) for columns in sets]
        return sorted((x for x in found if x.gain >= NATS), key=lambda x: (-x.gain, x.columns))[:most]

    def pairs(self, most: int = PAIRS) -> list[Product]:
        """Point 3; of more than 400 columns, pairs of the 100 with the largest gain alone (point 9)."""
        places = range(len(self.columns))
        if len(places) > WIDEST:
            alone = [self.best((i,), RESOLUTIONS) for i in places]
            places = sorted(x.columns[0] for x in sorted(alone, key=lambda x: (-x.gain, x.columns))[:KEPT_COLUMNS])
        return self.largest(combinations(places, 2), RESOLUTIONS, most)

    def triples(self, pairs: Iterable[Product], most: int = TRIPLES) -> list[Product]:
        """Point 5: a kept pair and a further column, each set of three once."""
        sets = {tuple(sorted({*x.columns, i})) for x in pairs for i in range(len(self.columns)) if i not in x.columns}
        return self.largest(sorted(sets), RESOLUTIONS_OF_TRIPLES, most)


# --- texts --------------------------------------------------------------------------------------


def features_of_derived_text(text: str) -> list[str]:
    """Point 2: words and w1_w2, as of --ngram 2, and the 4-grams of characters of each piece."""
    return features_of_text(text, 2) + four_grams(text)


def four_grams(text: str) -> list[str]:
    """Point 2: of each piece between blanks, in lower case, between < and >: ~<yor, ~york, ~ork> of York. Control
    characters are blanks."""
    lower = "".join(c.lower()[0] for c in unicodedata.normalize("NFC", text))
    pieces = (f"<{piece}>" for piece in re.split(r"[\s\x00-\x20]+", lower) if piece)
    return [f"~{piece[i : i + 4]}" for piece in pieces for i in range(len(piece) - 3)]


# --- choice -------------------------------------------------------------------------------------


def copies(contents: Sequence[int], folds: Sequence[int]) -> list[int]:
    """Of each row the first one of equal content, if all of these share a fold; else the row itself."""
    places: dict[int, list[int]] = {}
    for i, content in enumerate(contents):
        places.setdefault(content, []).append(i)
    return [
        places[content][0] if len({folds[k] for k in places[content]}) == 1 else i for i, content in enumerate(contents)
    ]


def is_taken(losses: np.ndarray, best: np.ndarray, h: np.ndarray, same: Sequence[int] | None = None) -> bool:
    """Point 6: whether the out-of-fold losses of a stage have a mean below .999 of that of the best so far, and below
    it by more than two standard errors of the difference, paired by row. h: importances. same: of `copies`, which tell
    no more than one row of their importance does."""
    apart = losses - best
    mean = np.average(apart, weights=h)
    parts = np.bincount(range(len(h)) if same is None else same, h * (apart - mean))
    error = math.sqrt(float((parts**2).sum())) / h.sum()
    return bool(np.average(losses, weights=h) < 0.999 * np.average(best, weights=h) and mean < -2 * error)
