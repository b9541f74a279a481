"""Features that `--algorithm auto` derives from the columns of tables: curves of numbers, and products of two or three
columns. A model keeps what is here; `cython_ext/data/derivation.pyx` makes the features of it.

Names are those of the namespace of a (first) column:

    age                        the standardized value
    age~64@38                  its hat at the knot 38, of at most 64
    age?                       it is missing
    age~5@38^job=clerk         a product; words are levels, `*` any other one, `?` none
    at.hour=8^at.weekday=1     a product of two parts of a time
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from vwlite.names import absent_name
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.data.derivation import Derivation

CURVE = 64  # knots of a curve, or one more
MOST_CODES = 1000  # knots of a curve of whole numbers that may be codes: each is one
MOST_LEVELS = 31  # of a column of words in products
MOST_CELLS = 1 << 22  # of all products of a model
PARTS_OF_TIME = {
    "hour": tuple(map(str, range(24))), "weekday": tuple(map(str, range(1, 8))), "month": tuple(map(str, range(1, 13))),
}
MOST_Z = 4.0  # standard deviations: standardized values are clipped to this
WORDS = 0  # the resolution of a column of words


@record(frozen=True)
class NumberColumn:
    """A column of numbers. missing: whether a missing one has a feature; in models of 0.2.0 some have none. knots: by
    resolution, which is how many there are at most, or one more; a curve of codes has one for each.

    While it is learned: rescaled: the knots of the curve in another scale, between which numbers are linear; empty: it
    has none. hats: whether the hats of the curve are features."""

    name: str
    mean: float
    deviation: float
    missing: bool
    knots: Mapping[int, tuple[float, ...]]
    rescaled: tuple[float, ...] = ()
    hats: bool = True

    @property
    def full_name(self) -> str:
        return self.name

    @property
    def rescaled_name(self) -> str:
        return f"{self.name}~rescaled"

    def names(self, resolution: int) -> list[str]:
        """Those of its codes: hats, and that it is missing."""
        return [*(f"{self.name}~{resolution}@{x:.9g}" for x in self.knots[resolution]), absent_name(self.name)]

    def factors(self, resolution: int) -> list[str]:
        """The same as parts of a product's name."""
        return replace(self, name=escaped(self.name, "^")).names(resolution)


@record(frozen=True)
class WordColumn:
    """A column of words, or a part of a column of times. levels: the words that have a code of their own; of a time,
    all that there are."""

    name: str
    levels: tuple[str, ...]
    part: str = ""  # hour, weekday or month

    @property
    def full_name(self) -> str:
        """`at.hour`"""
        return f"{self.name}.{self.part}" if self.part else self.name

    def factors(self, resolution: int = WORDS) -> list[str]:
        """The names of its codes as parts of a product's name: levels, any other word, none."""
        name = escaped(self.full_name, "^")
        return [*(f"{name}={escaped(level)}" for level in self.levels), f"{name}=*", absent_name(name)]

    def hashes(self, hash_all: bool) -> list[int]:
        """Those of the levels as features."""
        from vwlite.hashing import name_hash, namespace_hash  # not at the top: few models have derived features

        seed = namespace_hash(_bytes(self.name), hash_all)
        return [name_hash(_bytes(f"{self.part or self.name}={level}"), seed, hash_all) for level in self.levels]


Column = NumberColumn | WordColumn
Products = tuple[tuple[tuple[int, int], ...], ...]


@record(frozen=True)
class Derived:
    """columns: with the names of their namespaces. products: of each its columns, as places among them, with their
    resolutions. texts: columns of texts whose n-grams count; 0: n-grams that are there to be tried are left out."""

    columns: tuple[Column, ...] = ()
    products: Products = ()
    texts: int = 0

    def __getstate__(self) -> dict[str, Any]:
        state = {"columns": self.columns, "products": self.products, "texts": self.texts}
        return state  # what was made of it cannot be pickled

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it."""
        columns = [
            {"name": c.name, "mean": c.mean, "deviation": c.deviation, "missing": c.missing,
             "knots": {str(k): list(knots) for k, knots in c.knots.items()}}
            if isinstance(c, NumberColumn) else
            {"name": c.name, "levels": list(c.levels)} | ({"part": c.part} if c.part else {})
            for c in self.columns
        ]
        products = [[list(factor) for factor in product] for product in self.products]
        return {"columns": columns, "products": products} | ({"texts": self.texts} if self.texts else {})

    @staticmethod
    def restored(stored: Any) -> "Derived":
        """What `stored` gave. ValueError if it did not."""
        try:
            columns = tuple(map(_column_of, stored["columns"]))
            products = tuple(tuple((int(c), int(k)) for c, k in product) for product in stored["products"])
            texts = int(stored.get("texts", 0))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ValueError("its derived features are invalid") from e
        for product in products:
            if not 2 <= len(product) <= 3 or not all(_has(columns, *factor) for factor in product):
                raise ValueError("its products of columns are invalid")
            if len({c for c, _ in product}) < len(product):
                raise ValueError("it has the product of a column with itself")
        if len({c.full_name for c in columns}) < len(columns) or len({*map(frozenset, products)}) < len(products):
            raise ValueError("a column or a product is derived twice")
        found = Derived(columns, products, texts)
        if found.cells > MOST_CELLS:
            raise ValueError("it has larger products than there can be")
        return found

    @property
    def is_of_learning(self) -> bool:
        """Whether columns are learned otherwise than models have them: in another scale, too, or without hats."""
        return any(isinstance(c, NumberColumn) and (c.rescaled or not c.hats) for c in self.columns)

    @property
    def sizes(self) -> list[int]:
        """How many cells each product has."""
        return [prod(_codes(self.columns[c], k) for c, k in product) for product in self.products]

    @property
    def cells(self) -> int:
        return sum(self.sizes)

    def summary(self) -> str:
        """How many features there are of what, as part of a sentence."""
        numbers = sum(isinstance(c, NumberColumn) for c in self.columns)
        sets: dict[int, set[tuple[int, ...]]] = {2: set(), 3: set()}
        for product in self.products:
            sets[len(product)].add(tuple(c for c, _ in product))
        counts = [
            (numbers, "curves of 1 number", f"curves of {numbers} numbers"),
            (len(sets[2]), "1 pair", f"{len(sets[2])} pairs"),
            (len(sets[3]), "1 triple", f"{len(sets[3])} triples"),
            (self.texts, "n-grams of 1 text", f"n-grams of {self.texts} texts"),
        ]
        return ", ".join(one if n == 1 else many for n, one, many in counts if n)

    def derivation(self, hash_all: bool) -> "Derivation":
        """What derives the features of lines: made once, as nothing changes it."""
        from vwlite.core.data.derivation import Derivation

        made: dict[bool, Derivation] = vars(self).setdefault("_made", {})
        if hash_all in made:
            return made[hash_all]
        columns = [_as_core_has_it(c, hash_all) for c in self.columns]
        products = [
            (list(product), [[_bytes(name) for name in self.columns[c].factors(k)] for c, k in product])
            for product in self.products
        ]
        return made.setdefault(hash_all, Derivation(columns, products, not self.texts))

    def names(self) -> Iterator[tuple[str, str, str]]:
        """The namespace and the name of each feature that may be derived from numbers and products; and what it is of,
        a column, or several with `*` between them."""
        for c in self.columns:
            if isinstance(c, NumberColumn):
                hats = c.names(CURVE) if c.missing else c.names(CURVE)[:-1]
                yield from ((c.name, name, c.name) for name in [c.name, *hats])
        for product in self.products:
            joined, first = [""], self.columns[product[0][0]].name
            for i, (at, k) in enumerate(product):
                joined = [before + "^" * (i > 0) + name for before in joined for name in self.columns[at].factors(k)]
            of = "*".join(self.columns[at].full_name for at, _ in product)
            yield from ((first, name, of) for name in joined)

    def named(
        self, hash_all: bool, keys: "memoryview[Any] | None" = None, mask: int = 0xFFFFFFFF
    ) -> dict[int, tuple[bytes, str]]:
        """By the hash of each of these features its name behind that of its namespace, and what it is of. keys: of
        products only features of which these ascending keys are, as there may be many more."""
        hashed = self.hashed(hash_all) if keys is None else self._hashed_of(hash_all, keys, mask)
        return {hash: (_bytes(f"{space}^{name}"), of) for hash, space, name, of in hashed}

    def _hashed_of(self, hash_all: bool, keys: "memoryview[Any]", mask: int) -> Iterator[tuple[int, str, str, str]]:
        """As `hashed`, of products those of keys."""
        from vwlite.hashing import feature_hash

        yield from replace(self, products=()).hashed(hash_all)
        if not self.products:
            return
        ends = [*accumulate(self.sizes)]
        factors = [[self.columns[c].factors(k) for c, k in product] for product in self.products]
        for cell in self.derivation(hash_all).cells_of(keys, mask):
            at = bisect_right(ends, cell)
            cell, parts = cell - (ends[at - 1] if at else 0), []
            for names in reversed(factors[at]):
                cell, code = divmod(cell, len(names))
                parts.append(names[code])
            columns = [self.columns[c] for c, _ in self.products[at]]
            space, name = columns[0].name, "^".join(reversed(parts))
            hash = feature_hash(_bytes(name), _bytes(space), hash_all)
            yield hash, space, name, "*".join(c.full_name for c in columns)

    def number_hashes(self, hash_all: bool) -> list[int]:
        """Those of its columns of numbers."""
        from vwlite.hashing import feature_hash

        names = (_bytes(c.name) for c in self.columns if isinstance(c, NumberColumn))
        return [feature_hash(name, name, hash_all) for name in names]

    def hashed(self, hash_all: bool) -> Iterator[tuple[int, str, str, str]]:
        """The hash of each of these features, and what `names` says of it."""
        from vwlite.hashing import name_hash, namespace_hash

        seeds = {c.name: namespace_hash(_bytes(c.name), hash_all) for c in self.columns}
        for space, name, of in self.names():
            yield name_hash(_bytes(name), seeds[space], hash_all), space, name, of


def _as_core_has_it(c: Column, hash_all: bool) -> tuple[Any, ...]:
    from vwlite.hashing import absent_hash, name_hash, namespace_hash

    space, absent = namespace_hash(_bytes(c.name), hash_all), absent_hash(c.name, hash_all)
    if isinstance(c, WordColumn):
        return _bytes(c.name), space, False, c.hashes(hash_all), bool(c.part), absent
    knots = {
        k: (at, [name_hash(_bytes(name), space, hash_all) for name in c.names(k)[:-1]] if k == CURVE and c.hats else [])
        for k, at in sorted(c.knots.items(), key=lambda item: item[0] != CURVE)  # that of the curve is the first
    }
    number, rescaled = (name_hash(_bytes(name), space, hash_all) for name in (c.name, c.rescaled_name))
    missing = absent if c.missing else 0
    return _bytes(c.name), space, True, number, c.mean, c.deviation, missing, knots, rescaled, c.rescaled


def _column_of(stored: dict[str, Any]) -> Column:
    name = stored["name"]
    if type(name) is not str:
        raise ValueError("a column without a name")
    if "levels" in stored:
        levels = tuple(stored["levels"])
        words = all(type(x) is str for x in levels)
        if len(levels) > MOST_LEVELS or not words or len({*levels}) < len(levels):
            raise ValueError("levels")
        part = stored.get("part", "")
        if part and levels != PARTS_OF_TIME.get(part):
            raise ValueError("a part of a time")
        return WordColumn(name, levels, part)
    knots = {int(k): tuple(map(float, at)) for k, at in stored["knots"].items()}
    mean, deviation = float(stored["mean"]), float(stored["deviation"])
    if CURVE not in knots:
        raise ValueError("a number without a curve")
    for k, at in knots.items():
        rises = all(map(isfinite, at)) and all(a < b for a, b in pairwise(at))
        most = MOST_CODES if k == CURVE else k + 1
        if not 1 <= len(at) <= most or k > CURVE or not rises:
            raise ValueError("knots")
    if not (isfinite(mean) and isfinite(deviation) and deviation >= 0 and type(stored["missing"]) is bool):
        raise ValueError("moments")
    return NumberColumn(name, mean, deviation, stored["missing"], knots)


def _has(columns: Sequence[Column], c: int, resolution: int) -> bool:
    """Whether there is a column with this resolution."""
    if not 0 <= c < len(columns):
        return False
    column = columns[c]
    return resolution in column.knots if isinstance(column, NumberColumn) else resolution == WORDS


def _codes(column: Column, resolution: int) -> int:
    """How many there are at a resolution."""
    return len(column.levels) + 2 if isinstance(column, WordColumn) else len(column.knots[resolution]) + 1


def escaped(text: str, signs: str = "*?^") -> str:
    """A part of a product's name, in which these signs have a meaning, without them: %2A for *."""
    if not any(sign in text for sign in f"%{signs}"):
        return text
    text = re.sub("%(?=2A|3F|5E|25)", "%25", text)
    return "".join(f"%{ord(c):02X}" if c in signs else c for c in text)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
