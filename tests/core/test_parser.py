"""The parser: against its slow reference, and by hand."""

import math
import random
import struct

import mmh3
import numpy as np
import pytest
from bad_lines import BAD_LINES, BadText
from hypothesis import example, given, settings
from hypothesis import strategies as st
from parsing import agree, exact, examples_of, parsed
from slow_parser import BLANK, EXAMPLE, REJECTED, Example, SlowParser
from tiers import drawn

from vwlite.core.data.batch import Batch
from vwlite.core.text.lines_fast import delimiters_of, hashes_of, values_of
from vwlite.core.text.numbers import number
from vwlite.core.text.parser import Parser, detect, window
from vwlite.hashing import feature_hash

# --- against the slow reference -------------------------------------------------------------------------

PIECES = [b" ", b"  ", b"\t", b"|", b":", b"\r", b"\n", b"\r\n", b"'", b"#"]
PIECES += [b"\x00", b"\x0b", b"\x1f", b"\x7f", b"\xff"]
NUMBERS = [b"0", b"1", b"-1", b"+2", b".5", b"5.", b"-0", b"1e-50", b"1e39", b"nan", b"inf", b"0.0123456", b"123456789"]
NUMBERS += [b"0.12345678", b"1e5", b"-1.5E-3", b"4294967295", b"4294967296", b"1e", b"1.2.3", b"-", b"3", b"12", b"05"]
NUMBERS += [b"340282356779733661637539395458142568447", b"340282356779733661637539395458142568448", b"12345678"]
WORDS = [b"a", b"f", b"abc", b"word", b"words", b"seventy", b"eight888", b"ninechars", b"a_long_name_indeed", b"qid"]
WORDS += ["été".encode(), b"12abc", b"x1", b"-3", b"1234567", b"123456789", b"a\x01", b"\x01a", b"\x02"]

digits = st.text("0123456789", max_size=12).map(str.encode)
decimals = st.builds(lambda a, b, c: a + b + b"." + c, st.sampled_from([b"", b"-"]), digits, digits)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: repr(x).encode())
numbers = st.one_of(st.sampled_from(NUMBERS), decimals, floats)
names = st.one_of(st.sampled_from(WORDS), st.text("abcxyz019", min_size=1, max_size=20).map(str.encode))
blanks = st.sampled_from([b" ", b" ", b" ", b"  ", b"\t", b" \t "])


@st.composite
def vw_lines(draw) -> bytes:
    line = b""
    for _ in range(draw(st.integers(0, 3))):
        line += draw(st.sampled_from([b"1", b"-1", b"0", b"0.5", b"2", b"-0", b"1e3"])) + draw(blanks)
    line += draw(st.sampled_from([b"", b"", b"tag", b"'tag", b"'tag ", b"1"]))
    for _ in range(draw(st.integers(1, 3))):
        line += b"|" + draw(st.one_of(st.just(b""), names))
        if line[-1:] != b"|" and draw(st.booleans()):
            line += b":" + draw(numbers)
        for _ in range(draw(st.integers(0, 6))):
            line += draw(blanks) + draw(st.one_of(names, st.just(b"")))
            if draw(st.booleans()):
                line += b":" + draw(numbers)
        line += draw(st.sampled_from([b"", b" "]))
    return line


@st.composite
def libsvm_lines(draw) -> bytes:
    line = draw(st.sampled_from([b"1", b"-1", b"0", b"+2.5", b"", b" 1", b"x"]))
    index = 0
    for _ in range(draw(st.integers(0, 8))):
        index += draw(st.sampled_from([1, 1, 2, 7, 100, 54321, 10**8, 2**31, 0, -1]))
        line += draw(blanks) + b"%d:" % index + draw(numbers)
    return line + draw(st.sampled_from([b"", b"", b" ", b"#c", b" # 1:2", b"\t"]))


garbage = st.one_of(
    st.binary(max_size=60),
    st.lists(st.one_of(st.sampled_from(PIECES + NUMBERS + WORDS)), max_size=25).map(b"".join),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\n\n"])


def texts(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Mostly whole lines, some garbage, now and then one without its LF."""
    whole = st.lists(st.builds(bytes.__add__, st.one_of(lines, lines, lines, garbage), ends), max_size=8)
    return st.builds(
        lambda bom, parts, cut: (bom + b"".join(parts))[: -1 if cut else None],
        st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]),
        whole,
        st.booleans(),
    )


options = st.fixed_dictionaries(
    {
        "hash_all": st.booleans(),
        "hash_seed": st.sampled_from([0, 0, 1, 2**32 - 1]),
        "label_domain": st.sampled_from(["any", "any", "binary", "nonnegative"]),
        "labels": st.sampled_from([None, None, (0.0, 1.0)]),
        "lenient_labels": st.booleans(),
        "stop_at_fault": st.booleans(),
    }
)


@settings(max_examples=drawn(240), deadline=None)
@given(texts(vw_lines()), options, st.sampled_from([1, 2]))
@example(b"\xef\xbb\xbf", {}, 1)
def test_vw_text_agrees_with_the_slow_parser(text, options, first_line):
    agree(text, "vw", first_line, **options)


@settings(max_examples=drawn(240), deadline=None)
@given(texts(libsvm_lines()), options, st.sampled_from([1, 2]))
def test_libsvm_text_agrees_with_the_slow_parser(text, options, first_line):
    agree(text, "libsvm", first_line, **options)


CLASSES = [{"limit": 3, "numbers": True}, {"limit": 3, "names": ["-1", "0.5", "x"]}, {"limit": 2, "grows": True}]


@settings(max_examples=drawn(150), deadline=None)
@given(texts(vw_lines()), st.sampled_from(["vw", "libsvm"]), st.booleans(), st.booleans(), st.sampled_from(CLASSES))
def test_labels_that_are_classes_agree_with_the_slow_parser(text, format, lenient, stop, classes):
    agree(text, format, lenient_labels=lenient, stop_at_fault=stop, classes=classes)


@settings(max_examples=drawn(240), deadline=None)
@given(st.lists(garbage, max_size=6).map(b"\n".join), st.sampled_from(["vw", "libsvm"]), st.booleans())
def test_any_bytes_at_all(text, format, stop):
    agree(text, format, stop_at_fault=stop)


@pytest.mark.parametrize("format", ["vw", "libsvm"])
def test_every_pair_of_bytes_in_every_place(format):
    """Two arbitrary bytes behind the places where the grammar changes its mind."""
    places = [b"", b"1 ", b"1 |", b"1 |f", b"1 |f:", b"1 |f a", b"1 |f abcdefg", b"1 |f a:", b"1 |f a:1", b"1 |f a:1.5"]
    if format == "libsvm":
        places = [b"", b"1", b"1 ", b"1 3", b"1 3:", b"1 3:4", b"1 3:4.5", b"1 3:1e", b"1 3:4 ", b"1 3:4 1234567"]
    interesting = b" \t\r:|'#019.+-eEaq_\x00\x01\x1f\x20\x21\x7f\x80\xa0\xff"
    for place in places:
        text = b"\n".join(place + bytes([x, y]) for x in interesting for y in interesting)
        agree(text, format, stop_at_fault=False)


@pytest.mark.parametrize("format", ["vw", "libsvm"])
def test_where_a_block_is_cut_does_not_show(format):
    """At every line end of a text with bad lines: the two halves add up to the whole."""
    lines = [b"1 |f a:1 b\n", b"\n", b"x |f a\n", b"2 'tag|g c:-.5 :3\r\n", b"| a:b c\n"]
    lines += [b"1 3:4 5:6\n", b"1 3:x # c\n", b"-1 7:0.125 8:1e-3#c\r\n"]
    lines += [b"1 |" + b"f long_feature_name:0.333333333333333333 " * 9 + b"\n", b"1 | x"]
    text = b"".join(lines)
    whole, faults = parsed(text, format, first_line=2, stop_at_fault=False)
    cut = 0
    for i, line in enumerate(lines):
        cut += len(line)
        head, head_faults = parsed(text[:cut], format, first_line=2, stop_at_fault=False)
        tail, tail_faults = parsed(text[cut:], format, first_line=2, stop_at_fault=False)
        assert exact(examples_of(head)) + exact(examples_of(tail)) == exact(examples_of(whole))
        moved = [f._replace(line=f.line + i + 1) for f in tail_faults]
        assert head_faults + moved == faults


def test_large_random_blocks_agree():
    """Long enough that most lines are parsed in place, and that arrays grow in the middle of a line."""
    rng = random.Random(1)
    lines = []
    for _ in range(300):
        line = f"{rng.choice(['1', '-1', '0.25'])} {rng.choice(['', '2 ', '2 .5 '])}'t{rng.random()}|f"
        for _ in range(int(rng.lognormvariate(3, 1))):
            name = rng.choice(["w", "word", "a_much_longer_", ""]) + str(rng.randrange(10 ** rng.randrange(1, 9)))
            line += f" {name}:{rng.gauss(0, 1):.{rng.randrange(18)}g}"
        lines.append(line + "\n")
    agree("".join(lines).encode(), "vw")
    lines = []
    for _ in range(300):
        index, features = 0, []
        for _ in range(int(rng.lognormvariate(3, 1))):
            index += rng.randrange(1, 10 ** rng.randrange(1, 8))
            features.append(f"{index}:{rng.gauss(0, 1):.{rng.randrange(18)}g}")
        lines.append(f"{rng.choice(['1', '-1', '0.25'])} {' '.join(features)}\n")
    agree("".join(lines).encode(), "libsvm")


# --- numbers ---------------------------------------------------------------------------------------


def check_number(token: str) -> None:
    with np.errstate(over="ignore"):
        single = np.float32(float(token))
    assert struct.pack("d", number(token.encode(), False)) == struct.pack("d", float(token)), token
    assert struct.pack("f", number(token.encode(), True)) == single.tobytes(), token


@settings(max_examples=drawn(1000), deadline=None)
@given(
    st.text("0123456789", max_size=25),
    st.text("0123456789", max_size=25),
    st.sampled_from(["", "-", "+"]),
    st.one_of(st.just(""), st.integers(-60, 60).map("e{}".format), st.integers(-400, 400).map("E{:+}".format)),
)
def test_numbers_are_those_of_python(whole, fraction, sign, exponent):
    for token in (f"{sign}{whole}{exponent}", f"{sign}{whole}.{fraction}{exponent}"):
        if whole or (fraction and "." in token):
            check_number(token)


@settings(max_examples=drawn(1000), deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 25))
def test_printed_doubles_are_read_back(x, precision):
    for token in (repr(x), f"{x:.{precision}g}", f"{x:.{precision}e}", f"{x:.{precision}f}"):
        check_number(token)


@settings(max_examples=drawn(1000), deadline=None)
@given(st.integers(0, 0x7F7FFFFE), st.sampled_from(["", "1", "0" * 20 + "1", "0" * 900 + "1", "0" * 900]))
@example(0, "")  # half of the smallest subnormal
@example(0x7F7FFFFE, "1")
def test_the_middle_between_two_floats(bits, more):
    """Where a float32 is decided by the last digit of the double, or by none."""
    low, high = (struct.unpack("f", struct.pack("I", b))[0] for b in (bits, bits + 1))
    middle = (low + high) / 2
    for x in (middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf)):
        check_number(f"{x:.1100f}".rstrip("0") + more)
        check_number(repr(x))
        check_number(f"{x:.17e}")


@pytest.mark.parametrize(
    "token",
    [
        "9007199254740992", "9007199254740993", "9007199254740993e-22", "9007199254740991e22", "1e22", "1e23", "1e-22",
        "8.5e-46", "7.006492321624085e-46", "7.006492321624086e-46", "1.1754943508222875e-38", "1.1754942e-38",
        "3.4028235677973366e38", "3.4028234663852886e38", "340282356779733661637539395458142568447",
        "340282356779733661637539395458142568448", "1.7976931348623157e308", "1.7976931348623159e308",
        "2.2250738585072011e-308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "0." + "0" * 400 + "1e400", "1" + "0" * 400 + "e-400", "0" * 1000 + "1", "0e999999999999",
        "1e-99999999999999999999", "0." + "3" * 5000, "179769313486231580793" + "0" * 288, "0." + "0" * 75 + "123e75",
        "1.00000017881393432617187499", "1.00000017881393421514957253748434595763683319091796875001",
    ],
)
def test_hard_numbers(token):
    check_number(token)
    check_number("-" + token)


NO_NUMBERS = ["", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "--1", "0x1", "inf", "nan", "1_0", " 1", "1 ", "1\0"]


@pytest.mark.parametrize("token", NO_NUMBERS)
def test_what_is_not_a_number(token):
    assert number(token.encode(), True) is None
    assert number(token.encode(), False) is None


# --- the grammar, by hand --------------------------------------------------------------------------


def murmur(text: bytes, seed: int = 0) -> int:
    return mmh3.hash(text, seed, signed=False)


def features(text: bytes, format: str = "vw", **options) -> list[list[tuple[int, float]]]:
    batch, faults = parsed(text, format, **options)
    assert faults == []
    return [[f for _, span in e.spans for f in span] for e in examples_of(batch)]


F = murmur(b"f")

LEGAL = {
    "plain": (b"1 |f word:0.5 other", [(murmur(b"word", F), 0.5), (murmur(b"other", F), 1.0)]),
    "no namespace": (b"1 | a:2", [(murmur(b"a"), 2.0)]),
    "tab after the bar": (b"1 |\ta:2", [(murmur(b"a"), 2.0)]),
    "number as a name": (b"1 | 5:2 05:3 0", [(5, 2.0), (5, 3.0), (0, 1.0)]),
    "number in a namespace": (b"1 |f 5", [((F + 5) % 2**32, 1.0)]),
    "number as a namespace": (b"1 |7 5", [(12, 1.0)]),
    "number over 32 bits": (b"1 | 4294967301 18446744073709551621", [(5, 1.0), (5, 1.0)]),
    "not quite numbers": (b"1 | -3 12abc 1.5", [(murmur(b"-3"), 1.0), (murmur(b"12abc"), 1.0), (murmur(b"1.5"), 1.0)]),
    "stripped for the hash": (b"1 | \x01a\x02 \x01\x02 5\x0b", [(murmur(b"a"), 1.0), (0, 1.0), (5, 1.0)]),
    "control byte inside": (b"1 | a\x01b", [(murmur(b"a\x01b"), 1.0)]),
    "nameless": (b"1 |f :5 a :6 |f :7", [(F, 5.0), (murmur(b"a", F), 1.0), (F + 1, 6.0), (F, 7.0)]),
    "nameless zero counts": (b"1 |f :0 :6", [(F + 1, 6.0)]),
    "scale": (b"1 |f:3 b c:2 |f b", [(murmur(b"b", F), 3.0), (murmur(b"c", F), 6.0), (murmur(b"b", F), 1.0)]),
    "scale zero": (b"1 |f:0 b c:2", []),
    "scale of nothing": (b"1 |f:1.5", []),
    "zeros": (b"1 |f a:0 b:-0.0 c:1e-50 d:0e9", []),
    "subnormal": (b"1 | a:1e-45", [(murmur(b"a"), float(np.float32(1e-45)))]),
    "duplicates": (b"1 | a a:2", [(murmur(b"a"), 1.0), (murmur(b"a"), 2.0)]),
    "bar after a name": (b"1 |f a|f b:2|f c", [(murmur(b"a", F), 1.0), (murmur(b"b", F), 2.0), (murmur(b"c", F), 1.0)]),
    "two bars": (b"1 ||f a", [(murmur(b"a", F), 1.0)]),
    "runs of blanks": (b"1 |f  \t a:1 \t\tb \t", [(murmur(b"a", F), 1.0), (murmur(b"b", F), 1.0)]),
    "crlf": (b"1 |f a\r\n", [(murmur(b"a", F), 1.0)]),
    "crlf after a value": (b"1 |f a:2\r\n", [(murmur(b"a", F), 2.0)]),
    "cr at the end of the file": (b"1 |f a:2\r", [(murmur(b"a", F), 2.0)]),
    "ordinary bytes": (b"1 | 'a^b*c#d", [(murmur(b"'a^b*c#d"), 1.0)]),
    "utf-8": ("1 |f été".encode(), [(murmur("été".encode(), F), 1.0)]),
    "no utf-8": (b"1 | \xff\xfe\x80", [(murmur(b"\xff\xfe\x80"), 1.0)]),
    "nul": (b"1 | a\x00b", [(murmur(b"a\x00b"), 1.0)]),
    "namespace of a control byte": (b"1 |\x01 a", [(murmur(b"a"), 1.0)]),
    "forms of numbers": (b"1 | a:+2 b:.5 c:5. d:-1E+1 e:2e-1", [
        (murmur(b"a"), 2.0), (murmur(b"b"), 0.5), (murmur(b"c"), 5.0), (murmur(b"d"), -10.0),
        (murmur(b"e"), float(np.float32(0.2)))]),
    "largest float": (b"1 | a:3.4028235e38", [(murmur(b"a"), float(np.float32(3.4028235e38)))]),
    "nothing": (b"1 |", []),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal_features(name):
    text, expected = LEGAL[name]
    assert features(text) == [expected]
    assert features(text + b"\n" + b"1 | padding to have the line parsed in place\n")[0] == expected


@pytest.mark.parametrize("length", range(40))
def test_names_of_every_length_in_place_and_at_the_end(length):
    name = bytes(97 + i % 26 for i in range(length)) or b"\x01"
    expected = [(feature_hash(name, b"f"), 2.0)]
    for after in (b"", b"\n", b"\n" + b"1 | some other line\n" * 3):
        assert features(b"1 |f " + name + b":2" + after)[0] == expected
    number = b"9" * length or b"0"
    assert features(b"1 |f " + number + b":2")[0] == [((F + int(number)) % 2**32, 2.0)]
    assert features(b"1 |f " + number + b":2", hash_all=True)[0] == [(murmur(number, F), 2.0)]


def test_hash_seed_and_hash_all():
    space = murmur(b"", 3)
    assert features(b"1 | a 5", hash_seed=3) == [[(murmur(b"a", space), 1.0), ((space + 5) % 2**32, 1.0)]]
    assert features(b"1 |f a", hash_seed=3) == [[(murmur(b"a", murmur(b"f", 3)), 1.0)]]
    assert features(b"1 |5 6", hash_all=True) == [[(murmur(b"6", murmur(b"5")), 1.0)]]


HEADERS = {
    b"1 | a": (1.0, 1.0, 0.0, b""),
    b"1| a": (math.nan, 1.0, 0.0, b"1"),
    b"| a": (math.nan, 1.0, 0.0, b""),
    b" | a": (math.nan, 1.0, 0.0, b""),
    b"-1.5 2 0.25 | a": (-1.5, 2.0, 0.25, b""),
    b"1 2 tag| a": (1.0, 2.0, 0.0, b"tag"),
    b"1 2 'tag | a": (1.0, 2.0, 0.0, b"tag"),
    b"1 'a'b | a": (1.0, 1.0, 0.0, b"a'b"),
    b"1 '| a": (1.0, 1.0, 0.0, b""),
    b"1 ''| a": (1.0, 1.0, 0.0, b"'"),
    b"'5 | a": (math.nan, 1.0, 0.0, b"5"),
    b"1 2 3 4| a": (1.0, 2.0, 3.0, b"4"),
    b"1 2 3 '4 | a": (1.0, 2.0, 3.0, b"4"),
    b"  1\t \t2 | a": (1.0, 2.0, 0.0, b""),
    b"1 0 | a": (1.0, 0.0, 0.0, b""),
    b"1 -0 | a": (1.0, 0.0, 0.0, b""),
    b"1 1 -3e-2 \xff\x00| a": (1.0, 1.0, -0.03, b"\xff\x00"),
    b"0.1234567890123456789 | a": (0.1234567890123456789, 1.0, 0.0, b""),
}


@pytest.mark.parametrize("text", HEADERS)
def test_headers(text):
    batch, faults = parsed(text)
    assert faults == []
    *expected, tag = HEADERS[text]
    np.testing.assert_array_equal([batch.label[0], batch.importance[0], batch.initial[0]], expected)
    assert batch.tag(0) == tag


LIBSVM = {
    b"1 3:4 5:.5": (1.0, [(3, 4.0), (5, 0.5)]),
    b"+1 1:1 4294967295:2": (1.0, [(1, 1.0), (4294967295, 2.0)]),
    b"3:4": (math.nan, [(3, 4.0)]),
    b" -1\t3:4 ": (-1.0, [(3, 4.0)]),
    b"1 3:4#5:6": (1.0, [(3, 4.0)]),
    b"1 3:4 # a | comment \r here": (1.0, [(3, 4.0)]),
    b"1#c": (1.0, []),
    b"1": (1.0, []),
    b"1 007:2 8:0 9:-1\r": (1.0, [(7, 2.0), (9, -1.0)]),
    b"1 12345678:1 123456789:2": (1.0, [(12345678, 1.0), (123456789, 2.0)]),
    b"2.5 1:1e-50": (2.5, []),
}


@pytest.mark.parametrize("text", LIBSVM)
def test_legal_libsvm(text):
    label, expected = LIBSVM[text]
    batch, faults = parsed(text, "libsvm")
    assert faults == []
    assert batch.label[0] == pytest.approx(label, nan_ok=True)
    assert examples_of(batch)[0].spans == ([(32, expected)] if expected else [])
    # The same features as VW has them by these names.
    if expected:
        vw = b"1 | " + b" ".join(b"%d:%r" % f for f in expected)
        for hash_all, seed in ((False, 0), (True, 0), (False, 5), (True, 5)):
            hashing = {"hash_all": hash_all, "hash_seed": seed}
            assert features(text, "libsvm", **hashing) == features(vw, **hashing)


def test_blank_lines_count():
    batch, faults = parsed(b"\n \t\n1 | a\n\r\n \r\n| \n")
    assert list(batch.kind) == [BLANK, BLANK, EXAMPLE, BLANK, BLANK, EXAMPLE]
    assert faults == []
    batch, _ = parsed(b"\n# comment\n  #\n1\n", "libsvm")
    assert list(batch.kind) == [BLANK, BLANK, BLANK, EXAMPLE]


def test_namespaces_are_spans():
    batch, _ = parsed(b"1 |abc x |axy y z |b |c q:0 | k |abc m\n")
    (one,) = examples_of(batch)
    assert [(chr(letter), len(f)) for letter, f in one.spans] == [("a", 1), ("a", 2), (" ", 1), ("a", 1)]


def test_a_byte_order_mark_is_dropped_at_the_beginning_of_a_file_only():
    text = b"\xef\xbb\xbf1 | a\n"
    assert parsed(text)[0].label[0] == 1
    assert parsed(text, first_line=2)[1][0].message == "label '\\ufeff1' is not a number"
    assert list(parsed(b"\xef\xbb\xbf")[0].kind) == [BLANK]
    assert parsed(b"\xef\xbb\xbf1 3:4", "libsvm")[0].label[0] == 1


def test_labels_become_minus_one_and_one():
    batch, _ = parsed(b"0 |\n1 |\n|\n0.0 |\n", labels=(0, 1), label_domain="binary")
    assert list(batch.label)[:2] == [-1, 1] and math.isnan(batch.label[2]) and batch.label[3] == -1
    batch, faults = parsed(b"2 |\n-1 |\n1 |\n", labels=(0, 1), lenient_labels=True)
    assert faults == [] and [math.isnan(y) for y in batch.label] == [True, True, False]
    batch, faults = parsed(b"0 |\n-1 |\n", label_domain="binary", lenient_labels=True)
    assert faults == [] and [math.isnan(y) for y in batch.label] == [True, False]


@pytest.mark.parametrize("other", ["|", "#"])
def test_windows_on_every_processor(other):
    """The fast search for delimiters and the portable one, for every byte in every place beside all others."""
    ends = set(range(0x21)) | {ord(":"), ord(other)}
    rng = random.Random(3)
    for byte in range(256):
        for place in range(32):
            text = bytearray(rng.randbytes(32) if place % 2 else bytes([rng.randrange(256)]) * 32)
            text[place] = byte
            expected = sum(1 << i for i, b in enumerate(text) if b in ends)
            assert window(bytes(text), other) == window(bytes(text), other, True) == expected


# --- faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", BAD_LINES, ids=lambda bad: bad.id)
def test_bad_lines(bad: BadText):
    for stop in (True, False):
        batch, faults = parsed(bad.text, bad.format, stop_at_fault=stop, **bad.settings)
        assert (faults[0].line, faults[0].column, faults[0].message) == (bad.line, bad.column, bad.message)
        if stop:
            assert (len(faults), len(batch)) == (1, bad.line - 1)
        else:
            assert batch.kind[bad.line - 1] == REJECTED
        line = bad.text.split(b"\n")[bad.line - 1]
        assert faults[0].text == line
    # The place of a line in its block is of no importance.
    more = b"1 | a\n" if bad.format == "vw" else b"1 1:1\n"
    if not bad.text.startswith(b"\xef\xbb\xbf"):
        if bad.settings.get("labels"):
            more = more[2:]
        _, faults = parsed(more * 9 + bad.text.rstrip(b"\n") + b"\n" + more * 9, bad.format, **bad.settings)
        assert (faults[0].line - 9, faults[0].column, faults[0].message) == (bad.line, bad.column, bad.message)


def test_there_are_many_kinds_of_bad_lines():
    assert len({bad.id for bad in BAD_LINES}) == len(BAD_LINES) >= 80


def test_a_rejected_line_leaves_nothing_behind():
    good = b"1 'x| a b:2 |c d\n"
    batch, _ = parsed(good + b"1 3 0.5 'tag | a b |c d e:x\n" + good, stop_at_fault=False)
    first, rejected, second = examples_of(batch)
    assert exact([rejected]) == exact([Example(kind=REJECTED)])
    assert exact([first]) == exact([second])


def test_a_batch_is_used_again():
    parser, batch = Parser(stop_at_fault=False), Batch()
    for text in (b"1 | " + b"a " * 5000, b"x\n1 | b\n", b"", b"1 't|" * 3, b"\n" * 3000, b"2 |g b:2\n"):
        parser.parse(text, batch)
        assert exact(examples_of(batch)) == exact(SlowParser(stop_at_fault=False).parse(text)[0])


def test_any_buffer_will_do():
    for block in (bytearray(b"1 | a\n"), memoryview(b"xx1 | a\nyy")[2:8], np.frombuffer(b"1 | a\n", "u1")):
        parser, batch = Parser(), Batch()
        assert parser.parse(block, batch) == 0
        assert (len(batch), list(batch.hash)) == (1, [murmur(b"a")])


def test_a_view_cannot_be_filled():
    batch, _ = parsed(b"1 | a\n")
    data = b"".join(bytes(piece) for piece in batch.dump())
    with pytest.raises(ValueError, match="foreign memory"):
        Parser().parse(b"1 | a\n", Batch.view(data, 0, len(data)))


def test_settings_that_do_not_exist():
    with pytest.raises(ValueError, match="no such format"):
        Parser("xml")
    with pytest.raises(ValueError, match="unknown domain"):
        Parser(label_domain="even")


# --- detection -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"1 |f a\n", "vw"),
        (b"| a", "vw"),
        (b"\xef\xbb\xbf| a", "vw"),
        (b"\n \n\r\n1 |f a\n", "vw"),
        (b"1 |f a # b\n", "vw"),
        (b"1 3:4 5:6\n", "libsvm"),
        (b"3:4\n", "libsvm"),
        (b"# comment | here\n1 3:4\n", "libsvm"),
        (b"# comment\n\n", "libsvm"),
        (b"1\n2\n-1 3:4\n", "libsvm"),
        (b"1 qid:3 4:5\n", "libsvm"),
        (b"1\n", "libsvm"),
        (b"0 0:1\n", "libsvm"),
        (b"", "vw"),
        (b"\n\n", "vw"),
        (b"a,b,c\n1,2,3\n", None),
        (b"{\"a\": 1}\n", None),
        (b"1 2 3 4\n", None),
        (b"plain words\n1 | a\n", None),
        (b"\x7fELF\x02", None),
    ],
)
def test_detect(text, format):
    assert detect(text) == format


# --- by columns ------------------------------------------------------------------------------------


def plain_value(rng: random.Random) -> str:
    x = rng.lognormvariate(-3, 2)
    return rng.choice([f"{x:.6g}", f"{x:.3f}", f"{-x:.8f}", f"{x:.12f}", str(rng.randrange(10**8)), str(int(x)), "5."])


def plain_feature(rng: random.Random) -> str:
    name = rng.choice("abcdefgh0123456789") + "".join(rng.choices("xyz0123456789", k=rng.randrange(20)))
    name = rng.choice([name, str(rng.randrange(1 << 40))])
    return name if rng.random() < 0.3 else f"{name}:{plain_value(rng)}"


def plain_line(rng: random.Random, features: int) -> str:
    spaces = []
    for k in rng.choices([0, 1, 2, features], k=rng.randrange(1, 5)):
        name = rng.choice(["", "w", "user", "a_long_namespace", "12"])
        spaces.append(" ".join([name, *(plain_feature(rng) for _ in range(k))]))
    return rng.choice(["1 ", "-1 ", "", "0.5 2 'tag", "1 2 0.5 tag"]) + "|" + " |".join(spaces)


RARE_LINES = ["", "1 |a:2 b c", "1 |a \tb", "1 | :3 :4", "x |a b", "1 | a:0 b", "1 | a:-0.0000000000", "1 | a:1e-60"]
RARE_LINES += ["1 |a b:1:2", "1 | a:nan", "1 | a:1e39", "1 | a:", "1 | a:- b", "|", "1 | a  b ", "1 |a b|c d"]
RARE_LINES += ["1 | a:1e-3\r", "1 | a:x"]


@pytest.mark.third
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rare", [0.0, 0.01, 0.5])
def test_plain_lines_and_others_in_long_blocks(seed, rare):
    """Many lines, so that the columns are filled and emptied, and some that are longer than these."""
    rng = random.Random(seed)
    lines = []
    for _ in range(80):
        features = 3000 if rng.random() < 0.02 else rng.randrange(40)
        lines.append(rng.choice(RARE_LINES) if rng.random() < rare else plain_line(rng, features))
    text = rng.choice(["\n", "\r\n"]).join(lines).encode()
    agree(text, "vw", stop_at_fault=False)
    agree(text, "vw", stop_at_fault=False, hash_all=True, hash_seed=7)
    agree(text, "vw")


def test_the_same_spaces_in_another_order():
    agree(b"1 |abcdefghi x |abcdefghj x\n1 |abcdefghj x |abcdefghi x\n1 |abcdefg x |a x\n1 |a x |abcdefg y\n", "vw")


def as_words(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bytes 0 to 7, bytes 8 to 15 and length of each text, with rubbish behind its end."""
    padded = b"".join((text + b" 7:.5|x 9:0.1234")[:16] for text in texts)
    words = np.frombuffer(padded, dtype="<u8").reshape(-1, 2)
    return words[:, 0].copy(), words[:, 1].copy(), np.array([len(t) for t in texts], dtype=np.uint32)


def test_the_delimiters_and_their_portable_reference():
    rng = random.Random(5)
    for length in [*range(200), 5000, 20_000]:
        text = bytes(rng.choice([rng.randrange(256), *b"abc :|\n"]) for _ in range(length))
        expected = [i for i, byte in enumerate(text) if byte <= 32 or byte in b":|"]
        for portable in False, True:
            positions, reached = delimiters_of(text, portable)
            assert reached == length or 1900 < len(positions) <= 2048
            assert positions == [i for i in expected if i < reached]


def test_the_columns_and_their_portable_reference():
    rng = random.Random(3)
    names = [plain_feature(rng).partition(":")[0].encode()[:15] for _ in range(3001)]
    names += [b"1", b"12345678", b"1234567a", b"00000000", b"9"]
    head, more, length = as_words(names)
    seed = np.array([rng.randrange(1 << 32) for _ in names], dtype=np.uint32)
    found, portable = np.zeros(len(names), np.uint32), np.zeros(len(names), np.uint32)
    hashes_of(head, more, length, seed, found, False)
    hashes_of(head, more, length, seed, portable, True)
    assert (found == portable).all()
    for name, s, h in zip(names, seed.tolist(), found.tolist(), strict=True):
        if name.isdigit():
            assert len(name) > 8 or h == (int(name) + s) % 2**32
        else:
            assert h == mmh3.hash(name, s, signed=False)

    texts = [plain_value(rng).encode()[:16] for _ in range(3001)]
    texts += b"0 -0 - . -. 1. -1. 0.00000001 -9.99999999 1.123456789 99999999 100000000 1:5 0.12:345".split()
    texts += b"1e5 +1 1..2 1.2.3 0.1234567- / : 1234567/ a.5".split()
    texts.append(b"")
    head, more, length = as_words(texts)
    value, other = np.zeros(len(texts), np.float32), np.zeros(len(texts), np.float32)
    left, left_portable = head.copy(), head.copy()
    some = values_of(left, more, length, value, False)
    assert values_of(left_portable, more, length, other, True) == some == bool(left.any())
    assert (left == left_portable).all()
    assert value[left == 0].tobytes() == other[left == 0].tobytes()
    read = 0
    for text, rest, x in zip(texts, left.tolist(), value, strict=True):
        if not rest:
            assert x == (np.float32(float(text)) if text else 1)
            read += 1
    assert read > 1000
