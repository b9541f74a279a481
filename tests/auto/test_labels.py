"""The loss that is chosen by the labels."""

import pytest

from vwlite.algorithms.labels import MOST, choose
from vwlite.errors import DataError
from vwlite.input.two_words import NO, YES


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
    assert choice.why == "predicts the probability of spam; --labels spam,ham for the other"
    assert choose([1.0, 2.0], ["ä", "z"]).labels == ("z", "ä")


@pytest.mark.parametrize(("negative", "positive"), [
    ("Nein", "Ja"), ("NEIN", "ja"), ("no", "yes"),
    ("n", "j"), ("non", "oui"), ("no", "Sí"), ("não", "sim"), ("нет", "да"),
    ("否", "是"), ("いいえ", "はい"), ("False", "True"), ("ok", "fraud"), ("other", "Fraud"), ("ham", "spam"),
    ("retained", "churned"), ("negative", "positive"), ("no diabetes", "diabetes"), ("Not_Default", "Default"),
    ("non-smoker", "smoker"), ("No", "Always"), ("normal", "dos"), ("not active", "active"), ("non_attivo", "attivo"),
    ("Keine Angabe", "Angabe"), ("no-allergy", "allergy"), ("normal", "not normal"), ("ok", "not_ok"),
    # No words of yes and no, or two of a kind: by their bytes.
    ("A", "B"), ("fraud", "spam"), ("0 to 9", "more"), ("", "x"), ("no", "none"), ("maybe", "perhaps"),
])
def test_a_word_of_yes_is_the_positive_one(negative, positive):
    for words in ([negative, positive], [positive, negative]):
        choice = choose([1.0, 2.0], words)
        assert choice.labels == (negative, positive)
        assert [words[int(place) - 1] for place in choice.in_batches] == [negative, positive]
        assert choice.why.startswith(f"predicts the probability of {positive}; --labels ")


def test_words_are_in_one_list():
    assert not YES & NO and all(word == word.casefold() for word in YES | NO)


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
    assert (advice in note and note) if advice else "classes" not in note
    assert ("--loss poisson" in note) == (found[0] in (0, 1) and 2.5 not in found)
