"""Names and their hashes: the compiled ones are mmh3's, and vwlite/hashing.py agrees."""

import random

import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser, murmur3, name_hash
from vwlite.hashing import feature_hash
from vwlite.hashing import name_hash as slow_name_hash


@pytest.mark.parametrize("length", range(70))
def test_murmur_of_every_length(length):
    rng = random.Random(length)
    for _ in range(50):
        data, seed = rng.randbytes(length), rng.choice([0, 1, 2**31, 2**32 - 1, rng.getrandbits(32)])
        assert murmur3(data, seed) == mmh3.hash(data, seed, signed=False)


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
@pytest.mark.parametrize(
    ("name", "number"),
    [
        (b"", 0),
        (b"5", 5),
        (b"05", 5),
        (b" \x01 5\t\x00", 5),
        (b"\x20\x1f", 0),
        (b"4294967296", 0),
        (b"18446744073709551615", 2**32 - 1),
        (b"18446744073709551616", 0),
        (b"9" * 5000, int("9" * 1000) * sum(10**k for k in range(0, 5000, 1000)) % 2**32),
    ],
)
def test_digits_are_numbers(name, number, seed):
    assert name_hash(name, seed) == slow_name_hash(name, seed) == (number + seed) % 2**32
    assert name_hash(name, seed, True) == slow_name_hash(name, seed, True) == mmh3.hash(name, seed, signed=False)


@pytest.mark.parametrize("name", [b"-3", b"12abc", b"1.5", b"1 2", b"\xb2", "٣".encode(), b"a", b"+1"])
def test_the_rest_is_hashed(name):
    assert name_hash(name, 9) == slow_name_hash(name, 9) == mmh3.hash(name, 9, signed=False)
    assert name_hash(b" " + name + b"\r", 9) == mmh3.hash(name, 9, signed=False)


@given(st.one_of(st.binary(), st.text(" 0123456789a\x1f").map(str.encode)), st.integers(0, 2**32 - 1), st.booleans())
def test_both_agree_on_anything(name, seed, hash_all):
    assert name_hash(name, seed, hash_all) == slow_name_hash(name, seed, hash_all)


@given(
    st.text("ab019\x01\xe9", min_size=1, max_size=20).map(str.encode),
    st.text("ab019\x01\xe9", max_size=20).map(str.encode),
    st.booleans(),
    st.sampled_from([0, 1, 2**32 - 1]),
)
def test_a_feature_is_found_by_its_name(name, namespace, hash_all, seed):
    batch = Batch()
    assert Parser(hash_all=hash_all, hash_seed=seed).parse(b"|" + namespace + b" " + name, batch) == 0
    assert list(batch.hash) == [feature_hash(name, namespace, hash_all, seed)]


def test_hashes_of_vowpal_wabbit():
    """As Vowpal Wabbit 9.11 prints them with `--audit -b 24`."""
    batch = Batch()
    assert Parser().parse(b"1 |f :0 :6 a:2 5 |f:3 b :7\n1 |abc x |5 6 y:2 :1\n", batch) == 0
    assert [(h & (2**24 - 1), x) for h, x in zip(batch.hash, batch.value, strict=True)] == [
        (6588476, 6), (14432275, 2), (6588480, 1), (3554660, 3), (6588475, 21),
        (8840433, 1), (11, 1), (6781160, 2), (5, 1),
    ]
