"""Derived features of lines, beside the reference implementation."""

import json
from itertools import combinations

import pytest
from derived_features import CURVE, Numbers, Product, Words, features_of_derived_text, four_grams
from derived_tables import derived_of, hashed
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_tables import features_of_text
from tables import table
from tiers import drawn

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.tables import TableParser
from vwlite.derived import PARTS_OF_TIME, WORDS, Derived, NumberColumn, WordColumn
from vwlite.hashing import feature_hash
from vwlite.input.schema import ROLES

cell = st.sampled_from(["", "0", "1", "-2.5", "3", "1e3", "0.125", "7"])
word = st.sampled_from(["", "a", "b", "a^b", "*", "?", "%2A", "never"])
lines = st.lists(st.tuples(cell, cell, word, word), min_size=1, max_size=40)


@settings(deadline=None, max_examples=drawn(90))
@given(lines, lines, st.sampled_from([4, 8]))
def test_features_of_lines(seen, rows, q):
    """Curves and products of all pairs and triples of two numbers and two columns of words, on lines that were seen and
    others."""
    names = ["x", "y^", "job", "at"]
    sample = [row for row in seen for _ in range(10)]  # so that words are levels
    columns = [
        *(Numbers(name, [float(row[i] or "nan") for row in sample]) for i, name in enumerate(names[:2])),
        *(Words(name, [row[i + 2] for row in sample]) for i, name in enumerate(names[2:])),
    ]
    if not all(any(row[i] for row in seen) for i in (0, 1)):
        return  # a column without a number is no column of numbers
    sets = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 1, 2), (0, 2, 3)]
    products = [Product(places, 9.0, q) for places in sets]
    derived = derived_of(columns, products)
    assert Derived.restored(json.loads(json.dumps(derived.stored()))) == derived
    batch = table(names, ["numeric"] * 2 + ["categorical"] * 2, rows)
    known = derived.named(False)
    for row, (hashes, values, _) in zip(rows, derived.derivation(False).derived(batch), strict=True):
        cells = [float(x or "nan") for x in row[:2]] + list(row[2:])
        words = [x for i in (2, 3) for x in hashed(columns[i].curve(cells[i]), columns[i])]
        expected = words + [x for i in (0, 1) for x in hashed(columns[i].curve(cells[i]), columns[i])]
        for product in products:
            expected += hashed(product.features(columns, cells), columns[product.columns[0]])
        got = dict(zip(hashes, values, strict=True))
        assert len(got) == len(hashes)
        assert got.keys() == {hash for hash, _ in expected}
        for hash, x in expected:
            assert got[hash] == pytest.approx(x, rel=1e-5, abs=1e-6)
        assert got.keys() - {hash for hash, _ in words} <= known.keys()


letters = st.text(st.one_of(st.sampled_from("aB z_-:|%<>~\t\u00e9\u0301\u0130\u00a0\u3000\U0001f600"), st.characters(
    exclude_categories=["Cs"], exclude_characters='",\n\r')), max_size=30)


@settings(deadline=None)
@given(letters)
def test_ngrams_of_texts(text):
    """Words, pairs of them, and four characters in a row: of a model; and while it is open whether they help."""
    def of(names, value=1.0):
        return [(feature_hash(name.encode(), b"t"), value) for name in names]

    def found(derived, **how):
        batch = table(["t"], ["text"], [[text]], ngram=2, characters=4, **how)
        line = derived.derivation(False).derived(batch)[0]
        return [] if line is None else list(zip(*line[:2], strict=True))    # a line of blanks is no example

    all_names, words = of(features_of_derived_text(text)), of(features_of_text(text, 1))
    assert found(Derived(), zeros=False) == found(Derived(texts=1)) == all_names
    assert found(Derived()) == words


def test_ngrams_of_characters_in_vw_text():
    """What VW text cannot hold is escaped."""
    cells = Cells([("t", ROLES.index("text"))], characters=4, as_text=True)
    parser = TableParser(format="csv")
    parser.set_table(cells, [0], 1, ",")
    parser.parse(b"Ab:c|d\n", Batch())
    names = [name.replace(":", "%3A").replace("|", "%7C") for name in four_grams("ab:c|d")]
    assert parser.take_text().decode().split() == ["|t", "ab", "c", "d", *names]


def test_hours_weekdays_and_months_are_columns_of_words():
    """In products with each other and with words, beside the words that they are by themselves."""
    parts = [WordColumn("at", levels, part) for part, levels in PARTS_OF_TIME.items()]
    columns = (WordColumn("w", ("a", "b")), *parts)
    sets = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 2, 3)]
    derived = Derived(columns, tuple(tuple((i, WORDS) for i in places) for places in sets))
    assert Derived.restored(json.loads(json.dumps(derived.stored()))) == derived
    rows = [("a", "2026-01-31T13:05"), ("c", "2026-02-01"), ("", "2026-12-31T00:00:00Z"), ("b", "")]
    values = [{"hour": "13", "weekday": "6", "month": "1"}, {"weekday": "7", "month": "2"},
              {"hour": "0", "weekday": "4", "month": "12"}, {}]
    codes = ["w=a", "w=*", "w?", "w=b"]
    found = derived.derivation(False).derived(table(["w", "at"], ["categorical", "time"], rows))
    for (word, _), code, own, (hashes, ones, _) in zip(rows, codes, values, found, strict=True):
        factors = [code, *(f"at.{part}={own[part]}" if part in own else f"at.{part}?" for part in PARTS_OF_TIME)]
        names = [("w", f"w={word}")] * bool(word) + [("at", f"{part}={x}") for part, x in own.items()]
        names += [("w" if 0 in places else "at", "^".join(factors[i] for i in places)) for places in sets]
        assert {*ones} == {1}
        assert sorted(hashes) == sorted(feature_hash(name.encode(), space.encode()) for space, name in names)
        assert {hash for hash in hashes if hash in derived.named(False)} == {*hashes[-len(sets):]}
    with pytest.raises(ValueError, match="invalid"):
        Derived.restored({"columns": [{"name": "at", "levels": ["0"], "part": "hour"}], "products": []})


def test_settings_without_derived_features_are_stored_as_before():
    assert "derived" not in Settings().stored()
    assert Settings.restored(Settings(derived=Derived()).stored()) == Settings(derived=Derived())


def test_a_model_has_as_many_pairs_as_can_be_asked_for_and_no_sizes_beyond():
    """1,000 pairs at two resolutions, the largest ones, and 20 triples."""
    at = {k: tuple(map(float, range(k))) for k in (5, 33, CURVE)}
    columns = tuple(NumberColumn(f"n{i}", 1.0, 1.0, False, at) for i in range(46))
    pairs = [(i, j) for i in range(46) for j in range(i)][:1000]
    products = [tuple((c, k) for c in pair) for pair in pairs for k in (5, 33)]
    triples = [*combinations(range(46), 3)][:20]
    found = Derived(columns, (*products, *(tuple((c, 5) for c in triple) for triple in triples)))
    assert Derived.restored(json.loads(json.dumps(found.stored()))) == found
    with pytest.raises(ValueError, match="larger products"):
        Derived.restored(Derived(columns, tuple(tuple((c, CURVE) for c in triple) for triple in triples)).stored())
    number = {"name": "x", "mean": 0.0, "deviation": 1.0, "missing": False, "knots": {"5": [1.0]}}
    bare = {"columns": [number], "products": []}
    with pytest.raises(ValueError, match="invalid"):
        Derived.restored(bare)
