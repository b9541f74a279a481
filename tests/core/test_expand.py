"""Interactions, filters and the constant, against a slow expansion from the text of the rules."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from batches import Line, batch_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import drawn

from vwlite.core.data.expand import CONSTANT_HASH, Expander
from vwlite.core.data.interactions import concrete

PRIME = 16777619
COLON = ord(":")


def slow_terms(patterns, seen):
    """The interactions that the patterns expand to, in order, each settled and each multiset once."""
    present = sorted(c for c in seen if 32 <= c <= 126)
    found = []
    for pattern in patterns:
        wild = [i for i, c in enumerate(pattern) if c == COLON]
        fillings = combinations_with_replacement(present, len(wild))
        for filling in fillings:
            # Pairs come out ascending; from three wildcards on, the first place varies fastest: descending.
            chosen = filling if len(wild) < 3 else filling[::-1]
            term = list(pattern)
            for place, letter in zip(wild, chosen, strict=True):
                term[place] = letter
            distinct = len(set(term))
            if 1 < distinct < len(term):
                term.sort()
            found.append(bytes(term))
    found.sort(key=lambda term: (len(term), term))
    once, met = [], set()
    for term in found:
        multiset = tuple(sorted(term))
        if multiset not in met:
            met.add(multiset)
            once.append(term)
    return once


def slow_hash(hashes):
    h = hashes[0]
    for f in hashes[1:]:
        h = (h * PRIME) % 2**64 ^ f
    return h % 2**32


def slow_expand(spans, terms, *, bits=32, constant=True, keep=b"", ignore=b"", ignore_linear=b""):
    """spans: (letter, [(hash, value)]) as in the line."""
    alive = [(c, f) for c, f in spans if (not keep or c in keep) and c not in ignore]
    out = [feature for c, features in alive if c not in ignore_linear for feature in features]
    for term in terms:
        groups: list[tuple[int, int]] = []  # (letter, how many times in a row)
        for c in term:
            if groups and groups[-1][0] == c:
                groups[-1] = (c, groups[-1][1] + 1)
            else:
                groups.append((c, 1))
        choices = []
        for c, times in groups:
            features = [feature for letter, of_span in alive if letter == c for feature in of_span]
            choices.append(list(combinations_with_replacement(features, times)))
        for picked in product(*choices):
            flat = [feature for group in picked for feature in group]
            value = np.float32(1)
            for _, x in flat:
                value = np.float32(value * np.float32(x))
            out.append((slow_hash([h for h, _ in flat]), value))
    if constant:
        out.append((11650396, 1.0))
    return [h % 2**bits for h, _ in out], [float(x) for _, x in out]


def expanded(expander, spans):
    line = Line(1.0, [f for _, features in spans for f in features], spans=[(c, len(f)) for c, f in spans if f])
    return expander.features(batch_of([line]), 0)


HASHES = st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 3))
VALUES = st.sampled_from([1.0, -1.0, 0.5, 3.25, 0.1, -7e-5, 1e10])
SPANS = st.lists(
    st.tuples(
        st.sampled_from(list(b"abcd \xe9")),
        st.lists(st.tuples(HASHES, VALUES.map(lambda v: float(np.float32(v)))), max_size=3),
    ),
    max_size=6,
)
LETTERS = st.sampled_from(list(b"abc\xe9"))
PATTERNS = st.lists(
    st.one_of(
        st.lists(LETTERS, min_size=2, max_size=5).map(bytes),
        st.sampled_from([b"::", b"a:", b":a", b":::", b"b:", b":\xe9", b"::::"]),
    ),
    max_size=4,
)
FILTERS = st.sampled_from([b"", b"", b"a", b"bc", b"abd", b"\xe9 "])


@settings(max_examples=drawn(400), deadline=None)
@given(SPANS, PATTERNS, FILTERS, FILTERS, FILTERS, st.sampled_from([32, 18, 1]), st.booleans())
def test_expands_as_the_rules_say(spans, patterns, keep, ignore, ignore_linear, bits, constant):
    filters = {"keep": keep, "ignore": ignore, "ignore_linear": ignore_linear}
    expander = Expander(bits=bits, constant=constant, interactions=patterns, **filters)
    seen = {c for c, features in spans if features and (not keep or c in keep) and c not in ignore}
    expected = slow_expand(spans, slow_terms(patterns, seen), bits=bits, constant=constant, **filters)
    keys, values = expanded(expander, spans)
    assert keys == expected[0]
    # Which of the factors are multiplied first is the program's business.
    np.testing.assert_allclose(values, expected[1], rtol=1e-6)
    assert expanded(expander, spans) == (keys, values)  # nothing is left over from the last line


@settings(max_examples=100, deadline=None)
@given(st.lists(SPANS, min_size=2, max_size=4), st.sampled_from([[b"::"], [b":::", b"ab"], [b"a:", b":b"]]))
def test_wildcards_follow_the_namespaces_seen_so_far(lines, patterns):
    expander, seen = Expander(interactions=patterns), set()
    for spans in lines:
        seen |= {c for c, features in spans if features}
        assert expanded(expander, spans)[0] == slow_expand(spans, slow_terms(patterns, seen))[0]


def test_the_order_is_text_then_interactions_then_constant():
    spans = [(ord("b"), [(5, 2.0)]), (ord("a"), [(7, 3.0), (9, 4.0)]), (ord("b"), [(6, -1.0)])]
    keys, values = expanded(Expander(interactions=[b"ab"]), spans)
    crossed = [(7 * PRIME) % 2**32 ^ 5, (7 * PRIME) % 2**32 ^ 6, (9 * PRIME) % 2**32 ^ 5, (9 * PRIME) % 2**32 ^ 6]
    assert keys == [5, 7, 9, 6, *crossed, CONSTANT_HASH]
    assert values == [2, 3, 4, -1, 6, -3, 8, -4, 1]


def test_the_order_of_letters_matters_to_the_hash():
    spans = [(ord("a"), [(1, 1.0)]), (ord("b"), [(2, 1.0)])]
    ab, ba = (expanded(Expander(interactions=[p], constant=False), spans)[0][2] for p in (b"ab", b"ba"))
    assert ab == PRIME ^ 2
    assert ba == (2 * PRIME) ^ 1


def test_triples_are_hashed_as_vowpal_wabbit_does():
    """h = P f1; h = P (h xor f2); final h xor f3, in 64 bits."""
    f = [0xFFFFFFFF, 0x89ABCDEF, 0x12345678]
    spans = [(c, [(h, 1.0)]) for c, h in zip(b"xyz", f, strict=True)]
    h = (PRIME * f[0]) % 2**64
    h = (PRIME * (h ^ f[1])) % 2**64
    assert expanded(Expander(interactions=[b"xyz"], constant=False), spans)[0][3] == (h ^ f[2]) % 2**32


def test_one_namespace_with_itself():
    """Combinations with repetition, squares too: n (n + 1) / 2, and so on."""
    features = [(k + 1, float(k + 1)) for k in range(4)]
    for order, count in [(2, 10), (3, 20), (4, 35), (5, 56)]:
        keys, values = expanded(Expander(interactions=[b"a" * order], constant=False), [(ord("a"), features)])
        assert len(keys) == 4 + count
        assert sorted(values[4:]) == sorted(np.prod(c) for c in combinations_with_replacement([1.0, 2, 3, 4], order))


def test_an_empty_namespace_makes_no_interaction():
    spans = [(ord("a"), [(1, 1.0)])]
    assert expanded(Expander(interactions=[b"ab", b"abc", b"bb"], constant=False), spans) == ([1], [1.0])
    assert expanded(Expander(interactions=[b"ab"]), []) == ([CONSTANT_HASH], [1.0])


def test_ignored_linear_terms_still_interact():
    spans = [(ord("a"), [(1, 1.0)]), (ord("b"), [(2, 1.0)])]
    keys, _ = expanded(Expander(interactions=[b"ab"], ignore_linear=b"ab", constant=False), spans)
    assert keys == [PRIME ^ 2]
    keys, _ = expanded(Expander(interactions=[b"ab"], ignore=b"b", constant=False), spans)
    assert keys == [1]
    keys, _ = expanded(Expander(interactions=[b"ab", b"ac"], keep=b"a", constant=False), spans)
    assert keys == [1]


@pytest.mark.parametrize(
    ("patterns", "seen", "terms"),
    [
        ([b"::"], b"abc", [b"aa", b"ab", b"ac", b"bb", b"bc", b"cc"]),
        ([b"a:"], b"abc", [b"aa", b"ab", b"ac"]),
        ([b":a"], b"abc", [b"aa", b"ba", b"ca"]),
        ([b"a:", b":a"], b"abc", [b"aa", b"ab", b"ac"]),
        ([b":::"], b"abc", [b"aaa", b"aab", b"aac", b"abb", b"acc", b"bbb", b"bbc", b"bcc", b"cba", b"ccc"]),
        ([b"bab"], b"", [b"abb"]),
        ([b"ba"], b"", [b"ba"]),
        ([b"ba", b"ab"], b"", [b"ab"]),
        ([b"abc", b"ab", b"cab", b"ba"], b"", [b"ab", b"abc"]),
        ([b"::"], b"", []),
        ([b"::"], b"a\x80\xe9\x1f", [b"aa"]),
        ([b"ab", b"ab"], b"ab", [b"ab"]),
        ([b"::", b"ab"], b"ab", [b"aa", b"ab", b"bb"]),
    ],
)
def test_terms_by_example(patterns, seen, terms):
    assert concrete(patterns, seen) == terms
    assert slow_terms(patterns, seen) == terms


def test_nonsense_is_refused():
    for pattern in (b"", b"a", b"a" * 65):
        with pytest.raises(ValueError, match="an interaction has"):
            Expander(interactions=[pattern])


def test_constant_key():
    assert Expander(bits=18).constant_key == 116060
    assert Expander(bits=32).constant_key == 11650396
    assert Expander(constant=False).constant_key is None


def test_many_features_make_many_products():
    """More than any buffer at hand: a namespace of 300 with itself, and with another that occurs in two places."""
    rng = np.random.default_rng(1)
    a = [(int(h), 1.0) for h in rng.integers(0, 2**32, 300)]
    b = [(int(h), 1.0) for h in rng.integers(0, 2**32, 60)]
    spans = [(ord("b"), b[:30]), (ord("a"), a), (ord("b"), b[30:])]
    keys, _ = expanded(Expander(interactions=[b"aa", b"ab"]), spans)
    assert keys == slow_expand(spans, [b"aa", b"ab"])[0]
    assert len(keys) == 360 + 300 * 301 // 2 + 300 * 60 + 1
