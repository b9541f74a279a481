"""The sum of bytes: that of the specification."""

import random

import pytest
from slow_rules import xxh64

from vwlite.core.base.checksum import checksum


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_published_sums(data, found):
    assert checksum(data) == xxh64(data) == found


def test_every_length():
    rng = random.Random(1)
    for length in range(300):
        data = rng.randbytes(length)
        assert checksum(data) == xxh64(data)
        assert checksum(memoryview(b"12345" + data)[5:]) == xxh64(data)  # at any address
