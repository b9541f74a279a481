"""The loss that is chosen by the labels."""

import pytest

from vwlite.algorithms.labels import MOST, choose
from vwlite.errors import DataError


@pytest.mark.parametrize(
    ("found", "loss", "labels"),
    [
        ([0, 1], "logistic", (0.0, 1.0)),
        ([0], "logistic", (0.0, 1.0)),
        ([-1, 1], "logistic", None),
        ([1], "logistic", None),
        ([-1, 0], "squared", None),
        ([-1, 0, 1], "squared", None),
        ([1, 2], "squared", None),
        ([0.5, 1], "squared", None),
        ([0, 1, 2], "squared", None),
    ],
)
def test_numbers(found, loss, labels):
    choice = choose([float(label) for label in found], [])
    assert (choice.loss, choice.labels) == (loss, labels)


def test_two_words_are_in_the_order_of_their_bytes():
    choice = choose([1.0, 2.0], ["spam", "ham"])
    assert choice.labels == ("ham", "spam")
    assert choice.in_batches == (2.0, 1.0), "words have their numbers from their first lines"
    assert choice.why == "ham = -1, spam = 1"
    assert choose([1.0, 2.0], ["ä", "z"]).labels == ("z", "ä")


def test_one_word_is_refused():
    with pytest.raises(DataError, match="every label is ham"):
        choose([1.0], ["ham"])


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        ([1, 2, 3], "--oaa 3"),
        ([0, 1, 2], "--oaa 3 --classes auto"),
        ([-1, 0, 1], "--oaa 3 --classes auto"),
        ([7, 8, 9], "--oaa 3 --classes auto"),
        (list(range(5, 25)), "--oaa 20 --classes auto"),
        (list(range(5, 26)), ""),
        ([1, 2.5, 3], ""),
        (list(range(MOST)), ""),
    ],
)
def test_what_may_be_classes_is_said(found, advice):
    note = choose([float(label) for label in found], []).note
    assert (advice in note and note) if advice else not note
