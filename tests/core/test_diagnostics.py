"""What is a number in messages and decisions about text."""

import re
import time
from itertools import product

import pytest

from vwlite.input.diagnostics import IS_NUMBER
from vwlite.serve.request import Refused, parse_head
from vwlite.vw.arguments import _DECIMAL


def test_numbers_are_those_of_the_grammar():
    """Sign, digits with a point anywhere among them, and an exponent, over all short texts."""
    grammar = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*([eE][+-]?\d+)?")
    for size in range(7):
        for text in map("".join, product("-.07e", repeat=size)):
            assert bool(IS_NUMBER.fullmatch(text.encode())) == bool(grammar.fullmatch(text)), text


@pytest.mark.parametrize("form", ["{}x", "{}.x", ".{}x", "1e{}x"])
def test_many_digits_and_a_letter_take_no_more_than_their_length(form):
    text = form.format("9" * 40_000)
    begin = time.process_time()
    assert not IS_NUMBER.fullmatch(text.encode()) and not _DECIMAL.fullmatch(text)
    assert time.process_time() - begin < 5  # of 0.001; it took half a minute


def test_a_header_of_blanks_takes_no_more_than_its_length():
    begin = time.process_time()
    for i in range(20):
        with pytest.raises(Refused):
            parse_head(b"GET / HTTP/1.1\r\nHost: x\r\nX:" + b" " * (16_000 + i) + b"\x01")
    assert time.process_time() - begin < 2  # of 0.01
