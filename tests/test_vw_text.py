"""Corners of the text that `vwlite vw` reads as Vowpal Wabbit does."""

import pytest

from vwlite.core.batch import Batch
from vwlite.core.parser import Parser
from vwlite.vw.examples import SimpleLabels
from vwlite.vw.text import Features, TextParser
from vwlite.vw.words import Streams


def features(line: bytes) -> list[tuple[bytes, float]]:
    example = TextParser(Features(), Streams()).line(line)
    return [pair for space in example.spaces.values() for pair in zip(space.names, space.values, strict=True)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"|n z:", [(b"n^z", 1.0)]),
        (b"|n:3 z:\r\n", [(b"n^z", 1.0)]),
        (b"|n:3 x z:2 :", [(b"n^x", 3.0), (b"n^z", 6.0), (b"n^", 1.0)]),
        (b"|n:3 z:word y", [(b"n^z^word", 1.0), (b"n^y", 3.0)]),
        (b"|n z: y", [(b"n^z^y", 1.0)]),
    ],
)
def test_a_value_that_is_missing_or_a_word_is_one(line, found):
    assert features(line) == found


@pytest.mark.parametrize(
    ("word", "number", "warned"),
    [(b"1x", 1, False), (b"0.5\t-1", 0.5, False), (b"1,5", 1, False), (b"x1", 0, True), (b"nan", 0, True)],
)
def test_the_number_that_a_label_begins_with_counts(word, number, warned, capsys):
    assert SimpleLabels(Streams()).read([word]) == (number, 1.0, 0.0)
    assert ("not a good float" in capsys.readouterr().out) == warned


def test_no_name_is_hashed_with_the_seed_by_both_parsers():
    """A line with a number that is none is read by this parser, the others by the engine's."""
    example = TextParser(Features(hash_seed=7), Streams()).line(b"1 | z")
    batch = Batch()
    Parser(hash_seed=7).parse(b"1 | z\n", batch)
    assert [list(space.hashes) for space in example.spaces.values()] == [list(batch.hash)]
