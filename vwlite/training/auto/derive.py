"""Features that `--algorithm auto` derives from the columns of a table, in stages: n-grams of texts; curves of
numbers; products of pairs of columns that screening finds; then products of triples. With at most FEW_ROWS rows,
curves have CURVE knots or FEW_KNOTS: pairs are looked for behind both, and triples behind the better pairs. Each stage
is learned with the folds and the order of the race without derived features, and accepted if its out-of-fold loss is
significantly less.

Screening uses the residuals r and the second derivatives h of rows out of fold. A pair of columns divides the rows into
cells, by the codes of both columns. Each cell has a step d = sum r / (sum h + 4) over the rows of other folds, and a
gain sum d r - d^2 h / 2 over those of the fold. (Two terms of the loss, as in boosting: Friedman. Greedy Function
Approximation. Annals of Statistics 2001; pairs by screening: Lou, Caruana, Gehrke, Hooker. Accurate Intelligible Models
with Pairwise Interactions. KDD 2013.)

With `--validate`, the rows of that file are out of fold, in two folds: its halves. Weights are learned from other rows,
maybe of an earlier time. So d is over these rows and one half together, and the gain over the other half: a pattern
that has changed its sign since then is not accepted, though both halves have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from math import comb, inf, isnan, log
from typing import Any, NamedTuple

from vwlite.core.auto.screening import (
    ColumnScan,
    Residuals,
    codes_of_numbers,
    difference_of,
    folds_of_rows,
    knots,
    moments,
    rows_of_sample,
)
from vwlite.derived import (
    CURVE,
    MOST_CODES,
    MOST_LEVELS,
    PARTS_OF_TIME,
    WORDS,
    Column,
    Derived,
    NumberColumn,
    Products,
    WordColumn,
)
from vwlite.hashing import absent_hash, namespace_hash
from vwlite.records import record
from vwlite.training.auto.data import Batches
from vwlite.training.auto.mean_model import MeanModel, can_be_mean, members_of
from vwlite.training.auto.race import FEW_PASSES, Race
from vwlite.training.auto.rescaled import Scale, with_rescaled, without_shared_keys
from vwlite.training.auto.screened_rows import SAMPLE, ScreenedRows

MOST_COLUMNS = 1000  # with curves
FEWEST_GROUPS = 20  # fewer groups of equal rows are ignored
LEAST_ROWS = 10  # a word in fewer rows is no level of its own
FEW_KNOTS, FEW_ROWS = 8, 20_000  # of curves that are tried, too, up to so many rows
ROWS_OF_CODE = 3  # at least, on average
DIGIT = 32  # the place of a number is two codes below this
RESOLUTIONS = (4, 8, 16, 32)  # numbers of codes of a numeric column in pairs
OF_TRIPLES = (4, 8)  # the same in triples
COARSE = 5  # knots of a numeric column in each product
LEAST_GAIN = 5.0  # nats
TRIPLES = 20  # are accepted at most
MOST_SCREENED = 400  # columns; if there are more, only the FEWER_SCREENED with the largest gain alone are screened
FEWER_SCREENED = 100
LEAST_BETTER = 0.999  # a stage is accepted if its loss is less than this times the loss of the best one before,
ERRORS = 2.0  # ... by more than so many standard errors of the difference, or, ...
ERRORS_WITHOUT_HATS = 0.0  # ... if it has not more features, by more than so many


@record
class Screened:
    """A column in the rows of the sample. codes: by resolution, the code of each row, and the number of codes.
    number_codes: the place of each row's number among these, as two codes; of learned rows, too, with --validate.
    rescaled: by knot that its curve may have; empty: it has none."""

    column: Column
    numbers: tuple[float, ...] = ()  # all different ones, if they may be names: whole, and few for so many rows
    number_codes: Sequence[Any] = ()
    has_missing: bool = False
    rescaled: Mapping[float, float] = field(default_factory=dict)
    codes: dict[int, tuple[Any, int]] = field(default_factory=dict)
    learned: dict[int, tuple[Any, int]] = field(default_factory=dict)  # codes of learned rows, with --validate

    @staticmethod
    def of(column: Column, codes: Sequence[dict[int, tuple[Any, int]]]) -> "Screened":
        """codes: of judged rows, and of learned ones if these are others."""
        return Screened(column, codes=codes[0], learned=codes[-1] if len(codes) > 1 else {})

    def at(self, resolution: int) -> tuple[Any, int]:
        return self.codes[self._key(resolution)]

    def learned_at(self, resolution: int) -> tuple[Any, int]:
        return self.learned[self._key(resolution)]

    def _key(self, resolution: int) -> int:
        return resolution if isinstance(self.column, NumberColumn) else WORDS


@record(frozen=True)
class ShownGroups:
    """Groups of rows with equal values in several columns: the columns, the number of groups, the group of each row."""

    names: list[str]
    count: int
    of_rows: Any


class Codes(NamedTuple):
    """Columns of whole numbers that predict better with a knot for each. loss: with these knots, and before."""

    columns: list[str]
    loss: float
    before: float


class Sentinel(NamedTuple):
    """A number that may stand for a missing one. share: of the numbers of its column."""

    column: str
    value: float
    share: float


@record(frozen=True)
class Pairs:
    """A race with products of pairs. screened: the columns that were tried. found: the pairs, as from `_gains`."""

    race: Race
    columns: list[Screened]
    products: Products
    screened: Sequence[int]
    found: Sequence[tuple[float, tuple[int, ...], int]]


class Stages:
    """The stages after a race without derived features."""

    def __init__(
        self, race: Race, roles: dict[str, str], texts: int, batches: Batches, followed_by: float | None = None,
    ) -> None:
        """roles: the roles of columns, by name, in order; other columns come behind, in the order of the data. texts:
        the number of columns with n-grams to try. followed_by: as in `StageLearning.learn`."""
        assert race.data.column_names is not None
        self._race, self._batches, self._followed_by = race, batches, followed_by
        self._names, self._hash_all = race.data.column_names, race.data.settings.hash == "all"
        self._order, self._times, self._texts = [*roles], [x for x, role in roles.items() if role == "time"], texts
        self.tried: list[str] = []  # n-grams, curves, pairs
        self.groups: ShownGroups | None = None
        self.sentinels: list[Sentinel] = []
        self.codes: Codes | None = None
        self._keys = next((c.kept.keys for c in race.candidates if c.kept is not None), ())
        self._best, self._validates = race, race.data.validation is not None
        self._of_table: list[Screened] = []
        self._all: list[Race] = []  # the stages that were learned
        self._averages = followed_by is None and not texts and can_be_mean(race)
        folds = race.selection.folds_in_file if race.selection is not None and not self._validates else None
        self._learned = ScreenedRows.of(race.data, race.data.summary, folds)
        self._judged = ScreenedRows.of(race.data, race.data.judged) if self._validates else self._learned

    def run(self, kinds: str, most_pairs: int) -> tuple[Race, MeanModel | None]:
        """Try the stages; returns the race of the best one, and the mean of it and others, if it is the model. kinds:
        the value of --derive."""
        self._try(kinds, most_pairs)
        if not self._averages or self._stopped or not self._all:
            return self._best, None
        members = members_of(self._race, self._all, self._judged)
        order = {c.column.full_name: i for i, c in enumerate(self._of_table)}
        mean = MeanModel(members, self._judged, order) if len(members) > 1 else None
        best = members[0].race if mean is None else mean.main
        for race in (self._race, *self._all):
            if race is not best:
                _free(race, keeps_models=mean is not None)
        return best, mean

    def curves(self) -> Derived | None:
        """Curves of all numbers; None if no column has numbers."""
        found = _curves_of(self._columns())
        return Derived(found) if found else None

    def _try(self, kinds: str, most_pairs: int) -> None:
        self._of_table = columns = self._columns()
        numbers = _curves_of(columns)
        if not numbers and len(columns) < 2 and not self._texts:
            return
        self.tried += ["n-grams"] * bool(self._texts) + ["curves"] * bool(numbers)
        curves = self._stage() if self._texts else self._race
        self._judge(curves)
        found = [(curves, columns)]
        if numbers:
            found = self._curves(columns)
        if kinds == "curves" or not most_pairs or len(columns) < 2:
            return
        self.tried.append("pairs")
        of_pairs = [pairs for race, columns in found if (pairs := self._pairs(race, columns, most_pairs)) is not None]
        if of_pairs and kinds != "pairs":
            self._triples(min(of_pairs, key=lambda pairs: _loss(pairs.race)))

    def _curves(self, columns: list[Screened]) -> list[tuple[Race, list[Screened]]]:
        """Learn the curves of these columns, with many knots and with few; then, with the columns of the better ones, a
        knot for each number that may be a name. Returns those than which none is significantly better."""
        found = [self._curves_stage(columns)]
        if self._is_small:
            found.append(self._curves_stage([_with_few_knots(c) for c in columns]))
            if any(c.rescaled or c.has_missing for c in columns):
                found.append(self._curves_stage([_without_hats(c) for c in columns]))
                self._judge(found[-1][0], errors=ERRORS_WITHOUT_HATS)
        if any(c.numbers for c in columns) and not self._stopped:
            race, better = min(found, key=lambda one: _loss(one[0]))
            of_codes = self._curves_stage([_with_codes(c) for c in better])
            if self._is_better(of_codes[0], race):
                losses = (some.shown_loss(some.best) for some in (of_codes[0], race))
                self.codes = Codes(self._codes_that_gain(race, columns), *losses)
            found.append(of_codes)
        kept = [some for some in found if not any(self._is_better(other, some[0]) for other, _ in found)]
        for race, _ in sorted(found, key=lambda one: _loss(one[0])):
            self._judge(race)
        return kept

    def _codes_that_gain(self, race: Race, columns: list[Screened]) -> list[str]:
        """The columns of numbers that may be names with a significant gain of each number by itself, or all of them."""
        judged, learned = self._residuals(race)
        some = [c for c in columns if c.numbers]
        codes = ((c.number_codes[0], c.number_codes[1] if learned else None) for c in some)
        gains = [judged.gain(own, learned, others) for own, others in codes]
        names = [c.column.name for c, gain in zip(some, gains, strict=True) if gain >= LEAST_GAIN]
        return names or [c.column.name for c in some]

    def _curves_stage(self, columns: list[Screened]) -> tuple[Race, list[Screened]]:
        return self._stage(_curves_of(columns)), columns

    def _pairs(self, race: Race, columns: list[Screened], most: int) -> "Pairs | None":
        """Learn pairs that are found by the residuals of a race; None if there are none."""
        if self._stopped:
            return None
        screened: Sequence[int] = range(len(columns))
        if len(columns) > MOST_SCREENED:
            alone = self._gains(race, columns, [(i,) for i in screened], RESOLUTIONS)
            screened = sorted(which[0] for _, which, _ in alone[:FEWER_SCREENED])
        pairs = self._screened(race, columns, list(combinations(screened, 2)), RESOLUTIONS)[:most]
        if not pairs or self._stopped:
            return None
        products = self._products(columns, pairs, fine=True)
        found = Pairs(self._learn_products(columns, products), columns, products, screened, pairs)
        finer = self._finer(found)
        return found if finer is None else min(found, finer, key=lambda pairs: _loss(pairs.race))

    def _finer(self, pairs: "Pairs") -> "Pairs | None":
        """The pairs with more knots, where the residuals of these pairs need them; None if they need none."""
        known = {pair: resolution for _, pair, resolution in pairs.found}
        gains = self._gains(pairs.race, pairs.columns, list(known), RESOLUTIONS) if not self._stopped else []
        sharp = [x for x in gains if x[0] >= LEAST_GAIN and x[2] > known[x[1]]]
        if not sharp or self._stopped:
            return None
        more = [product for product in self._products(pairs.columns, sharp, fine=True) if product not in pairs.products]
        products = tuple(sorted((*pairs.products, *more), key=lambda product: [c for c, _ in product]))
        return replace(pairs, race=self._learn_products(pairs.columns, products), products=products)

    def _triples(self, pairs: "Pairs") -> None:
        """Learn triples, of a pair and another column."""
        found = [{*pair} for _, pair, _ in pairs.found]
        sets = sorted({tuple(sorted({*pair, i})) for pair in found for i in pairs.screened if i not in pair})
        triples = self._screened(pairs.race, pairs.columns, sets, OF_TRIPLES)[:TRIPLES]
        if triples and not self._stopped:
            self._learn_products(pairs.columns, pairs.products + self._products(pairs.columns, triples, fine=False))

    def _learn_products(self, columns: Sequence[Screened], products: Products) -> Race:
        """Learn a stage with these products, and judge it."""
        race = self._stage(*_derived_of(columns, products))
        self._judge(race)
        return race

    @property
    def _is_small(self) -> bool:
        return len(self._learned.labels) <= FEW_ROWS

    @property
    def _stopped(self) -> bool:
        return self._race.stopped

    # --- the columns ----------------------------------------------------------------------------

    def _columns(self) -> list[Screened]:
        """The columns whose values are all numbers or all words, and parts of times, in order."""
        data, known = self._race.data, self._names.columns
        spaces = {name: (space, number) for space, (name, number) in known.items()}
        order = [*self._order, *(name for name in spaces if name not in self._order)]
        parts = PARTS_OF_TIME.items()
        times = {name: [WordColumn(name, levels, part) for part, levels in parts] for name in self._times}
        columns = [c for name in order for c in times.get(name, [name] if name in spaces else [])]
        asked = [(*(self._scanned(c) if isinstance(c, WordColumn) else spaces[c]), self._absent(c)) for c in columns]
        scan = judged = ColumnScan(asked, self._learned.sampled)
        for batch in self._batches:
            scan.take(batch)
        if self._validates:
            judged = ColumnScan(asked, self._judged.sampled)
            for batch in data.validation_batches:
                judged.take(batch)
        self.groups = self._shown_groups(scan, columns)
        found = []
        for i, c in enumerate(columns):
            if isinstance(c, WordColumn):
                column = self._part(scan, judged, i, c)
            else:
                column = self._column(scan, judged, i, c)
            if column is not None:
                found.append(column)
        return found[:MOST_COLUMNS]

    def _shown_groups(self, scan: ColumnScan, columns: Sequence[str | WordColumn]) -> ShownGroups | None:
        """Groups of rows if two columns or more divide the rows in the same way, as the attributes of customers do; not
        if the groups are rows that are equal in all columns: copies."""
        import numpy as np

        n = len(self._learned.labels)
        if n > SAMPLE or n < 2 * FEWEST_GROUPS:
            return None
        counted: dict[int, list[int]] = {}
        for i, c in enumerate(columns):
            if isinstance(c, WordColumn) or scan.facts(i)[2]:
                continue  # a part of a time, or several words
            cells = np.sort(np.asarray(scan.cells(i)))
            count = 1 + int(np.count_nonzero(cells[1:] != cells[:-1]))
            if FEWEST_GROUPS <= count <= n // 2:
                counted.setdefault(count, []).append(i)
        found: dict[bytes, list[int]] = {}
        for several in counted.values():
            for i in several if len(several) > 1 else ():
                _, first, number = np.unique(np.asarray(scan.cells(i)), return_index=True, return_inverse=True)
                found.setdefault(first[number].astype(np.uint64).tobytes(), []).append(i)
        of_rows, which = max(found.items(), key=lambda x: len(x[1]), default=(b"", []))
        groups = memoryview(of_rows).cast("Q")
        count = len({*groups})
        if len(which) < 2 or count == len({*self._race.data.summary.contents}):
            return None
        return ShownGroups([str(columns[i]) for i in which], count, groups)

    def _scanned(self, c: WordColumn) -> tuple[int, list[int]]:
        return namespace_hash(c.name.encode("utf-8", "surrogateescape"), self._hash_all), c.hashes(self._hash_all)

    def _absent(self, c: str | WordColumn) -> int:
        name = c if isinstance(c, str) else c.name
        return absent_hash(name, self._hash_all)

    def _part(self, scan: ColumnScan, judged: ColumnScan, i: int, c: WordColumn) -> Screened | None:
        """Hour, weekday or month of a column of times."""
        _, words, _, _ = scan.facts(i)
        hashes = c.hashes(self._hash_all)
        codes = [{WORDS: (rows.codes(i, hashes), len(c.levels) + 2)} for rows in self._scans(scan, judged)]
        return Screened.of(c, codes) if words else None

    def _column(self, scan: ColumnScan, judged: ColumnScan, i: int, name: str) -> Screened | None:
        numbers, words, several, distinct = scan.facts(i)
        if several or (numbers and words) or distinct is None:
            return None
        if words:
            space = namespace_hash(name.encode("utf-8", "surrogateescape"), self._hash_all)
            counted = [(-n, self._names.words[space, hash], hash) for hash, n in scan.words(i, LEAST_ROWS)
                       if (space, hash) in self._names.words]
            levels = sorted(counted)[:MOST_LEVELS]
            hashes = [hash for _, _, hash in levels]
            of_words = [{WORDS: (rows.codes(i, hashes), len(levels) + 2)} for rows in self._scans(scan, judged)]
            return Screened.of(WordColumn(name, tuple(word for _, word, _ in levels)), of_words)
        if not numbers:
            return None
        values = scan.values(i)
        mean, deviation, count = moments(values)
        if self._followed_by is not None and not deviation and count == len(values):
            return None  # a curve would never tell a later value from this one
        most = max(min(MOST_CODES, count // ROWS_OF_CODE), CURVE)
        sizes = sorted({CURVE, FEW_KNOTS, COARSE, *RESOLUTIONS, *(q + 1 for q in RESOLUTIONS), most})
        at = dict(zip(sizes, map(tuple, knots(values, sizes)), strict=True))
        of_numbers = [
            {q: (codes_of_numbers(rows.values(i), at[q]), len(at[q]) + 1) for q in RESOLUTIONS}
            for rows in self._scans(scan, judged)
        ]
        are_whole = len(at[most]) > CURVE + 1 and all(map(float.is_integer, at[most]))
        are_all = are_whole and len({x for x in values if not isnan(x)}) == len(at[most])
        curves = {*at[CURVE], *at[FEW_KNOTS], *(at[most] if are_all else ())}
        scale = Scale(values)
        if scale.sentinel is not None:
            self.sentinels.append(Sentinel(name, scale.sentinel, scale.share))
        rescaled = scale.of_knots(curves)
        column = with_rescaled(NumberColumn(name, mean, deviation, True, at), rescaled)
        numbers = at[most] if are_all else ()
        codes = [_places_among(numbers, rows.values(i)) for rows in self._scans(scan, judged)] if are_all else []
        return replace(Screened.of(column, of_numbers), numbers=numbers, number_codes=codes,
                       has_missing=count < len(values), rescaled=rescaled)

    def _scans(self, scan: ColumnScan, judged: ColumnScan) -> list[ColumnScan]:
        """The scans that give the codes of a column: of judged rows, and of learned ones if these are others."""
        return [judged, scan] if self._validates else [scan]

    # --- screening ------------------------------------------------------------------------------

    def _screened(
        self, race: Race, columns: Sequence[Screened], sets: Sequence[tuple[int, ...]], resolutions: Sequence[int],
    ) -> list[tuple[float, tuple[int, ...], int]]:
        """The sets with significant gains: of N gains of unrelated columns, about N e^-g are above g nats. Columns that
        were left out by their gains alone count, too, as the same rows give all gains."""
        left_out = comb(len(columns), 2) if len(columns) > MOST_SCREENED else 0
        tried = max(len(sets), left_out) * len(resolutions)
        least = max(LEAST_GAIN, log(max(tried, 1)))
        return [x for x in self._gains(race, columns, sets, resolutions) if x[0] >= least]

    def _residuals(self, race: Race) -> tuple[Residuals, Residuals | None]:
        """The residuals of judged rows; and of learned rows if these are others, else None."""
        rows, width = self._judged, race.data.width
        first, second, unit = race.data.derivatives(race.scores(), rows.labels, rows.importances)
        first, second = (rows.of_sample(x, width) for x in (first, second))
        folds = folds_of_rows(rows.sampled, rows.copies, 2 if self._validates else 4)
        judged = Residuals(first, second, folds, rows.scale * (self._followed_by or 1))
        if not self._validates:
            return judged, None
        rows = self._learned
        labels, weights = rows_of_sample(rows.labels, rows.sampled), rows.of_sample(rows.importances)
        first, second, _ = race.data.derivatives(race.scores_learned(rows.sampled), labels, weights, unit)
        return judged, Residuals(first, second, bytes(len(labels)))

    def _gains(
        self, race: Race, columns: Sequence[Screened], sets: Sequence[tuple[int, ...]], resolutions: Sequence[int],
    ) -> list[tuple[float, tuple[int, ...], int]]:
        """Sets of columns, those with the largest gain first: gain, columns, and the resolution with this gain."""
        from concurrent.futures import ThreadPoolExecutor

        judged, learned = self._residuals(race)

        def best(which: tuple[int, ...]) -> tuple[float, tuple[int, ...], int]:
            if self._stopped:
                return 0.0, which, resolutions[0]
            some = [columns[i] for i in which]
            tried = resolutions if any(isinstance(c.column, NumberColumn) for c in some) else resolutions[:1]
            codes = {q: ([c.at(q) for c in some], [c.learned_at(q) for c in some] if learned else None) for q in tried}
            gain, resolution = max((judged.gain(own, learned, theirs), -q) for q, (own, theirs) in codes.items())
            return gain, which, -resolution

        with ThreadPoolExecutor(race.options.threads) as pool:
            gains = list(pool.map(best, sets))
        return sorted(gains, key=lambda x: (-x[0], x[1]))

    def _products(
        self, columns: Sequence[Screened], found: Sequence[tuple[float, tuple[int, ...], int]], *, fine: bool
    ) -> Products:
        """The products of screened sets: with COARSE knots and, if `fine`, with those of the resolution of the gain."""
        products = []
        for _, which, q in found:
            of_numbers = any(isinstance(columns[i].column, NumberColumn) for i in which)
            for k in sorted({COARSE, q + 1}) if fine and of_numbers else [COARSE]:
                products.append(
                    tuple((i, k if isinstance(columns[i].column, NumberColumn) else WORDS) for i in sorted(which))
                )
        return tuple(products)

    # --- learning and choice --------------------------------------------------------------------

    def _stage(self, columns: tuple[Column, ...] = (), products: Products = ()) -> Race:
        """Learn a race with these features, and with n-grams of texts."""
        stage = self._race.with_derived(self._derived(columns, products))
        summary = stage.data.summary
        for batch in self._batches:
            if self._stopped:
                return stage
            summary.take(batch)
        drawn = self._race.selection
        assert drawn is not None
        self._race.stages.append(stage)
        stage.learn(drawn.examples, FEW_PASSES)
        self._all.append(stage)
        return stage

    def _derived(self, columns: tuple[Column, ...], products: Products) -> Derived:
        return without_shared_keys(Derived(columns, products, self._texts), self._race.data.settings, self._keys)

    def _judge(self, stage: Race, errors: float = ERRORS) -> None:
        """Accept a stage if it is significantly better than the best one so far."""
        if self._stopped or stage is self._best:
            return
        other, self._best = (self._best, stage) if self._is_better(stage, self._best, errors) else (stage, self._best)
        if not self._validates and not self._averages:
            _free(other)

    def _is_better(self, one: Race, other: Race, errors: float = ERRORS) -> bool:
        """Whether a race is significantly better than another."""
        if self._stopped or one is other:
            return False
        losses, others = self._losses(one), self._losses(other)
        before, difference, error = difference_of(losses, others, self._judged.importances, self._judged.copies)
        return bool(difference + before < LEAST_BETTER * before and difference < -errors * error)

    def _losses(self, stage: Race) -> Any:
        """The out-of-fold loss of each row."""
        return stage.data.row_losses(stage.scores(), self._judged.labels)


def _free(race: Race, *, keeps_models: bool = False) -> None:
    """Free the memory of a race of which only predictions, or these and its models, are used later."""
    for c in race.candidates:
        c.lanes, c.kept = None, c.kept if keeps_models else None


def _derived_of(columns: Sequence[Screened], products: Products) -> tuple[tuple[Column, ...], Products]:
    """Columns and products as in `Derived`: columns with the knots that are used, without columns of words that are in
    no product."""
    used: dict[int, set[int]] = {}
    for i, c in enumerate(columns):
        if isinstance(c.column, NumberColumn):
            used[i] = {CURVE}
    for product in products:
        for i, k in product:
            used.setdefault(i, set()).add(k)
    order = sorted(used)
    place = {i: n for n, i in enumerate(order)}
    return (
        tuple(_with(columns[i].column, used[i]) for i in order),
        tuple(tuple((place[i], k) for i, k in product) for product in products),
    )


def _curves_of(columns: Sequence[Screened]) -> tuple[Column, ...]:
    return tuple(_with(c.column, (CURVE,)) for c in columns if isinstance(c.column, NumberColumn))


def _places_among(numbers: Sequence[float], values: Any) -> list[tuple[Any, int]]:
    """The place of each value among these numbers, as codes of two columns of a product; of a missing one the last."""
    import numpy as np

    places = np.searchsorted(np.array(numbers, np.float32), np.asarray(values))
    return [(part.astype(np.uint8).tobytes(), size) for part, size in
            ((places // DIGIT, len(numbers) // DIGIT + 1), (places % DIGIT, DIGIT))]


def _with_few_knots(c: Screened) -> Screened:
    """A column whose curve has FEW_KNOTS."""
    if isinstance(c.column, WordColumn):
        return c
    return _with_curve(c, c.column, c.column.knots[FEW_KNOTS])


def _without_hats(c: Screened) -> Screened:
    """A column without the hats of its curve, but with its rescaled value."""
    return c if isinstance(c.column, WordColumn) else replace(c, column=replace(c.column, hats=False))


def _with_codes(c: Screened) -> Screened:
    """A column whose curve has a knot for each number, if these may be codes."""
    if isinstance(c.column, WordColumn) or not c.numbers:
        return c
    return _with_curve(c, replace(c.column, hats=True), c.numbers)


def _with_curve(c: Screened, column: NumberColumn, knots: tuple[float, ...]) -> Screened:
    column = replace(column, knots={**column.knots, CURVE: knots})
    return replace(c, column=with_rescaled(column, c.rescaled))


def _loss(race: Race) -> float:
    """That out of fold; inf if nothing was learned."""
    return inf if race.best is None or race.best.best is None else race.best.best.loss


def _with(column: Column, resolutions: Iterable[int]) -> Column:
    """A column with only these knots."""
    if isinstance(column, WordColumn):
        return column
    return replace(column, knots={k: column.knots[k] for k in sorted(resolutions)})
