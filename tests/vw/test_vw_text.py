"""Corners of the text that `vwlite vw` reads as Vowpal Wabbit does."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.vw.messages import Streams
from vwlite.vw.text.examples import SimpleLabels, example_of
from vwlite.vw.text.parser import FeatureHashing, TextParser


def features(line: bytes) -> list[tuple[bytes, float]]:
    example = TextParser(FeatureHashing(), Streams()).line(line)
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
    """A line with an invalid number is read by this parser, the others by the engine's."""
    example = TextParser(FeatureHashing(hash_seed=7), Streams()).line(b"1 | z")
    batch = Batch()
    Parser(hash_seed=7).parse(b"1 | z\n", batch)
    assert [list(space.hashes) for space in example.spaces.values()] == [list(batch.hash)]


HEADS = st.lists(
    st.sampled_from([b"3", b"0.5", b"'", b"'tag", b"shared", b"1:2.5", b"a\x0bb", b" ", b"  "]), max_size=12
).map(b"".join)


@given(st.lists(HEADS, max_size=6), st.sampled_from([b"|a x:2 y", b"|", b"|a:2 x |b y:1e1"]))
def test_both_parsers_find_the_same_words_and_tags(heads, features):
    batch = Batch()
    parser = Parser(stop_at_fault=False, labels_in_tags=True, vw_compatible_only=True)
    assert parser.parse(b"".join(head + features + b"\n" for head in heads), batch) == 0
    assert len(batch) == len(heads)
    for line, head in enumerate(heads):
        example = TextParser(FeatureHashing(), Streams()).line(head + features)
        words, zero, tag = batch.tag(line).partition(b"\0")
        assert ([word for word in words.split(b" ") if word], zero, tag) == (example.words, b"\0", example.tag)
        assert math.isnan(batch.label[line]) and (batch.importance[line], batch.initial[line]) == (1, 0)
        found = example_of(batch, line, None).spaces
        assert {letter: (space.hashes, space.values) for letter, space in found.items()} == {
            letter: (space.hashes, space.values) for letter, space in example.spaces.items()
        }
