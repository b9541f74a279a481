"""What features of texts contribute is given to the words whose letters they cover."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.evaluation.words import words_of


@pytest.mark.parametrize(("text", "features", "words", "rest"), [
    ("Great shoes!", {"great": 1.0, "shoes": -2.0}, {"great": 1.0, "shoes": -2.0}, 0.0),
    ("not good", {"not_good": 7.0}, {"not": 3.0, "good": 4.0}, 0.0),  # 3 and 4 letters
    ("new New york", {"new": 2.0, "new_york": 7.0}, {"new": 5.0, "york": 4.0}, 0.0),
    ("New York", {"~<new": 3.0, "~york": 4.0, "~ork>": 6.0}, {"new": 3.0, "york": 10.0}, 0.0),
    ("ab-cd!", {"~b-cd": 6.0, "~cd!>": 2.0}, {"ab": 2.0, "cd": 6.0}, 0.0),
    ("yes!!!! no", {"~!!!!": 1.0, "absent": 2.0, "yes": 1.0}, {"yes": 1.0, "no": 0.0}, 3.0),
    ("你好", {"你": 1.0, "好": 2.0, "你_好": 4.0}, {"你好": 7.0}, 0.0),  # without blanks, letters are words
    ("CAFÉ cafe\u0301", {"café": 4.0}, {"café": 4.0}, 0.0),
    ("a<b> ~x", {"~<a<b": 2.0, "~~x>": 1.0}, {"a": 1.0, "b": 1.0, "x": 1.0}, 0.0),
    ("", {"x": 1.0}, {}, 1.0),
])
def test_words_have_what_covers_their_letters(text, features, words, rest):
    found = words_of(text, features.items())
    assert found.by_word() == pytest.approx(words) and found.rest == pytest.approx(rest)
    assert "".join(piece for piece, _ in found.pieces()) == found.text


@given(st.text(max_size=30), st.lists(st.tuples(st.text(max_size=6), st.floats(-5, 5)), max_size=8))
def test_the_sum_and_the_text_stay(text, features):
    """With any names, and those that occur in the text."""
    features += [("~" + text[k : k + 4].lower(), 1.0) for k in range(3)] + [(word, -2.0) for word in text.split()]
    found = words_of(text, features)
    whole = math.fsum(x for _, x in features)
    assert math.fsum([found.rest, *(x for _, _, x in found.words)]) == pytest.approx(whole, abs=1e-9)
    assert "".join(piece for piece, _ in found.pieces()) == found.text
