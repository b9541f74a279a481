"""The names of classes, and the parser that numbers them as they appear."""

from math import isnan

import pytest

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.text.parser import Parser
from vwlite.input.diagnostics import bad_lines


def test_names_get_their_numbers_as_they_appear():
    names = ClassNames(3, [b"red"], grows=True)
    parser = Parser(names=names)
    batch = Batch()
    assert parser.parse(b"green |f a\nred |f b\n |f c\n'tag |f d\ngreen 2 |f e\n", batch) == 0
    labels = list(batch.label)
    assert [labels[0], labels[1], labels[4]] == [2, 1, 2] and isnan(labels[2]) and isnan(labels[3])
    assert names.first(len(names)) == ["red", "green"]
    assert parser.parse(b"blue |f a\nblack |f b\nred |f c\n", batch) == 1
    (fault,) = bad_lines(parser, b"blue |f a\nblack |f b\nred |f c\n", batch)
    assert (fault.line, fault.column) == (2, 1)
    assert fault.message == "label 'black' is a new class, but --oaa 3 allows only red, green, blue"
    assert (names.number(b"blue"), names.number(b"black")) == (3, 0)


@pytest.mark.parametrize("columns", [False, True])
def test_names_on_bad_lines_take_no_space(columns):
    names = ClassNames(2, grows=True)
    text = b"a |f x\nwrong |f x:y\nworse |f x:1 y:2:3\n|f x\nb |f x\nwrong\nc |f\na |f\n"
    batch = Batch()
    parser = Parser(names=names, stop_at_fault=False, columns=columns)
    assert parser.parse(text, batch) == 4
    assert names.first(len(names)) == ["a", "b"]
    assert list(batch.label)[:1] + list(batch.label)[4:5] + list(batch.label)[7:] == [1, 2, 1]
    assert list(batch.kind) == [0, 2, 2, 0, 0, 2, 2, 0]


def test_many_names_and_forgetting():
    names = ClassNames(5000, grows=True)
    text = b"".join(b"name%d |f a\n" % (i * 7919 % 5000) for i in range(5000))
    Parser(names=names).parse(text, Batch())
    assert len(names) == 5000
    assert all(names.number(b"name%d" % (i * 7919 % 5000)) == i + 1 for i in range(5000))
    for wrong in ([b"a", b"a"], [b"a", b"b", b"c"]):
        with pytest.raises(ValueError):
            ClassNames(2, wrong)


@pytest.mark.parametrize("format", ["vw", "libsvm"])
def test_words_are_labels_with_classes_only(format):
    text = b"red |f a\n" if format == "vw" else b"red 1:2\n"
    batch, parser = Batch(), Parser(format)
    assert parser.parse(text, batch) == 1
    assert bad_lines(parser, text, batch)[0].message == "label 'red' is not a number"
    assert Parser(format, names=ClassNames(2, [b"red", b"blue"])).parse(text, batch) == 0
