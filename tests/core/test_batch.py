"""Batches: to bytes and back, and damaged bytes."""

import gc
import mmap
import random
import struct

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.core.data.batch import Batch
from vwlite.core.data.dictionary import Dictionary
from vwlite.core.text.parser import Parser

TEXT = b"1 2 0.5 'tag |f a:2 b |g c |h\n\nx | bad\n-1 |\n0 longer_tag| :5 " + b"word:0.25 " * 30 + b"\n"


def batch_from(text: bytes) -> Batch:
    batch = Batch()
    Parser(stop_at_fault=False).parse(text, batch)
    return batch


def dumped(batch: Batch) -> bytes:
    data = b"".join(bytes(piece) for piece in batch.dump())
    assert len(data) % 8 == 0
    return data


def content(batch: Batch) -> list:
    arrays = ["label", "importance", "initial", "kind", "tag_begin", "span_begin", "feature_begin"]
    arrays += ["letter", "hash", "value"]
    return [bytes(getattr(batch, name)) for name in arrays] + [batch.tag(i) for i in range(len(batch))]


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("text", [TEXT, b"", b"\n", b"|\n", b"|\n\n", b"| a", b"'t |", b"| a a\n"])
def test_a_dump_can_be_viewed(text, numbered):
    batch = batch_from(text)
    if numbered:
        batch.number_hashes()
    data = dumped(batch)
    view = Batch.view(data, 0, len(data))
    assert dumped(view) == data
    assert content(view) == content(batch)
    assert list(view.distinct) == list(batch.distinct)
    assert dumped(view) == data


# Lines that are alike in some way, and the bytes that a line then takes: 8 of its label, 4 of a hash; or the word.
ALIKE = {
    "all": (b"1 |a x |b y |c z\n-1 |a u |b v |c w\n", 8 + 3 * 4),
    "importance": (b"1 2 |a x |b y |c z\n-1 |a u |b v |c w\n", 8 + 3 * 4 + 8),
    "initial": (b"1 1 0.5 |a x |b y |c z\n-1 |a u |b v |c w\n", 8 + 3 * 4 + 8),
    "minus zero": (b"1 1 -0.0 |a x |b y |c z\n-1 |a u |b v |c w\n", 8 + 3 * 4 + 8),
    "value": (b"1 |a x:2 |b y |c z\n-1 |a u |b v |c w\n", 8 + 3 * 8),
    "feature_begin": (b"1 |a x p |b y |c z\n-1 |a u p |b v |c w\n", 8 + 4 * 4 + 3 * 4),
    "letter": (b"1 |a x |b y |c z\n-1 |a u |c v |b w\n", 8 + 3 * 4 + 4 + 3),
    "span_begin": (b"1 |a x |b y |c z |d z\n-1 |a u |b v\n", 8 + 3 * 4 + 4 + 3),
    "kind": (b"1 |a x |b y |c z\n\n", None),
    "tags": (b"1 't|a x |b y |c z\n-1 't|a u |b v |c w\n", 8 + 3 * 4 + 4 + 1),
    "the last": (b"1 |a x |b y |c z\n-1 |a u |b v |c w:2\n", None),
}


@pytest.mark.parametrize("what", ALIKE)
@pytest.mark.parametrize("count", [1, 2, 500])
@pytest.mark.parametrize("spaces", [False, True])
def test_what_says_nothing_is_left_out(what, count, spaces):
    """The view has all arrays, whatever else was viewed meanwhile, and the dump has no byte that it need not have."""
    text, size = ALIKE[what]
    batch, other = Batch(), Batch()
    Parser(stop_at_fault=False, spaces=spaces).parse(text * count, batch)
    Parser(stop_at_fault=False, spaces=spaces).parse(b"1 |x a |y b\n" * 3 * count, other)
    data, second = dumped(batch), dumped(other)
    view = Batch.view(data, 0, len(data))
    content(Batch.view(second, 0, len(second)))
    longer = bytes(bytearray(dumped(batch_from(text * 3 * count))))
    assert Batch.view(longer, 0, len(longer))
    assert content(view) == content(batch)
    assert bytes(view.space) == bytes(batch.space)
    assert dumped(view) == data
    if size is not None and count == 500 and not spaces:
        assert 0 <= len(data) - 2 * count * size < 150
    if size is not None and count == 500 and spaces and what not in ("letter", "span_begin"):
        assert 0 <= len(data) - 2 * count * size < 200  # of the names, too, there are those of one line


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (b"1 't|a x\n", 4), (b"1 |a x y\n", 16), (b"1 |a x |b y\n1 |a x\n", 8), (b"", 8), (b"1 |a x\n", 256),
        (b"1 |a x\n", 1 << 63),
    ],
)
def test_what_does_not_follow_cannot_be_left_out(text, form):
    batch = batch_from(text)
    data = bytearray(dumped(batch))
    struct.pack_into("=Q", data, 40, form)
    for size in range(48, len(data) + 8, 8):
        piece = bytes(data[:size].ljust(size, b"\0"))
        with pytest.raises(ValueError, match="not a batch: what is left out does not follow"):
            Batch.view(piece, 0, size)


def test_hashes_are_numbered_in_the_order_of_their_first_occurrence():
    batch = batch_from(b"1 | 9 4 9\n-1 | 4 4294967295 0 9 4 0 4294967295\n")
    batch.number_hashes()
    assert list(batch.distinct) == [9, 4, 2**32 - 1, 0]
    assert list(batch.hash) == [9, 4, 9, 4, 2**32 - 1, 0, 9, 4, 0, 2**32 - 1]
    by_hand = batch_of(
        [
            Line(1, [(9, 1), (4, 1), (9, 1)]),
            Line(-1, [(h, 1) for h in (4, 2**32 - 1, 0, 9, 4, 0, 2**32 - 1)]),
        ],
        numbered=True,
    )
    assert dumped(by_hand) == dumped(batch)


@pytest.mark.parametrize(("distinct", "features"), [(3, 6), (3, 5), (65536, 131072), (65537, 131075)])
def test_hashes_are_numbered_if_they_are_few(distinct, features):
    names = [str(i % distinct) for i in range(features)]
    batch = batch_from(f"1 | {' '.join(names)}\n".encode())
    for _ in range(2):  # again, when the memory is there
        batch.number_hashes()
        assert list(batch.distinct) == (list(range(distinct)) if 2 * distinct <= features and distinct <= 65536 else [])
    data = dumped(batch)
    assert content(Batch.view(data, 0, len(data))) == content(batch)


def test_a_batch_that_is_filled_again_is_not_numbered():
    batch = batch_from(b"1 | 7 7\n")
    batch.number_hashes()
    assert len(batch.distinct) == 1
    Parser().parse(b"1 | 5 5\n", batch)
    assert len(batch.distinct) == 0
    assert list(batch.hash) == [5, 5]


def test_a_number_that_is_none_is_refused():
    data = bytearray(dumped(batch_of([Line(1, [(9, 1), (4, 1), (9, 1)])], numbered=True)))
    at = data.index(struct.pack("=II", 9, 4)) + 8
    assert struct.unpack_from("=HHH", data, at) == (0, 1, 0)
    for i in range(3):
        for wrong in (2, 65535):
            broken = bytearray(data)
            struct.pack_into("=H", broken, at + 2 * i, wrong)
            with pytest.raises(ValueError, match="number"):
                Batch.view(bytes(broken), 0, len(broken))


def test_a_view_cannot_be_numbered():
    with pytest.raises(ValueError, match="view"):
        batch_of([Line(1, [(9, 1), (9, 1)])]).number_hashes()


def test_a_view_at_an_offset():
    one, two = dumped(batch_from(TEXT)), dumped(batch_from(b"1 | a\n"))
    data = bytes(16) + one + two + b"more"
    assert content(Batch.view(data, 16, len(one))) == content(batch_from(TEXT))
    assert content(Batch.view(data, 16 + len(one), len(two))) == content(batch_from(b"1 | a\n"))


def test_a_new_batch_is_empty_and_can_be_dumped():
    data = dumped(Batch())
    assert len(Batch.view(data, 0, len(data))) == 0


def test_batches_by_hand_are_as_parsed_ones():
    by_hand = batch_of(
        [
            Line(1, [(5, 2.0), (6, 1.0), (7, 0.5)], 2, 0.5, b"tag", [(32, 2), (ord("7"), 1)]),
            Line(float("nan"), [], kind=1),
            Line(-1, []),
        ]
    )
    assert content(by_hand) == content(batch_from(b"1 2 0.5 'tag | 5:2 6 |7 0:0.5\n\n-1 |\n"))


@pytest.mark.parametrize("numbered", [False, True])
def test_every_truncation_is_refused(numbered):
    batch = batch_from(TEXT)
    if numbered:
        batch.number_hashes()
    data = dumped(batch)
    for size in range(len(data)):
        with pytest.raises(ValueError, match="not a batch"):
            Batch.view(data[:size], 0, size)
        with pytest.raises(ValueError, match="not a batch"):
            Batch.view(data[:size], 0, len(data))


@pytest.mark.parametrize("more", [1, 8, 4096])
def test_trailing_bytes_are_refused(more):
    data = dumped(batch_from(TEXT)) + bytes(more)
    with pytest.raises(ValueError, match="do not add up"):
        Batch.view(data, 0, len(data))


@pytest.mark.parametrize("position", range(6))
def test_wrong_counts_are_refused(position):
    data = bytearray(dumped(batch_from(TEXT)))
    (count,) = struct.unpack_from("=Q", data, 8 * position)
    # (Up to seven bytes of tags more or less may be hidden by the padding: then the ranges say it.)
    for wrong in {0, 1, count - 1, count + 1, 2 * count, 2**31, 2**32, 2**61, 2**63, 2**64 - 1} - {count, -1}:
        struct.pack_into("=Q", data, 8 * position, wrong)
        with pytest.raises(ValueError, match="not a batch"):
            Batch.view(bytes(data), 0, len(data))


def places_of(batch: Batch) -> dict[str, int]:
    """Where the ranges and kinds lie in a dump."""
    lines, spans, features = len(batch), len(batch.letter), len(batch.hash)
    at, places = 48, {}
    for name, size in [
        ("numbers", 24 * lines), ("tag_begin", 4 * lines + 4), ("span_begin", 4 * lines + 4),
        ("feature_begin", 4 * spans + 4), ("hash", 4 * features), ("value", 4 * features), ("kind", lines),
    ]:
        places[name] = at
        at += -(-size // 8) * 8
    return places


@pytest.mark.parametrize("name", ["tag_begin", "span_begin", "feature_begin"])
def test_wrong_ranges_are_refused(name):
    batch = batch_from(TEXT)
    data, at = dumped(batch), places_of(batch)[name]
    begins = getattr(batch, name)
    for i in range(len(begins)):
        below = begins[i - 1] - 1 if i else -1
        above = begins[i + 1] + 1 if i + 1 < len(begins) else begins[i] + 1
        for wrong in (below, above, 2**31, 2**32 - 1):
            if wrong < 0:
                continue
            broken = bytearray(data)
            struct.pack_into("=I", broken, at + 4 * i, wrong)
            with pytest.raises(ValueError, match="ranges"):
                Batch.view(bytes(broken), 0, len(broken))


def test_wrong_kinds_are_refused():
    batch = batch_from(TEXT)
    data, at = dumped(batch), places_of(batch)["kind"]
    for line, kind in ((0, 1), (0, 2), (0, 3), (1, 255), (4, 1)):
        broken = bytearray(data)
        broken[at + line] = kind
        with pytest.raises(ValueError, match="neither an example nor empty"):
            Batch.view(bytes(broken), 0, len(broken))


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_value_of_zero_is_refused(zero):
    for at in range(3):
        values = [1.0, 1e-45, 3e38]
        values[at] = zero
        with pytest.raises(ValueError, match="a value is zero"):
            batch_of([Line(1, list(enumerate(values)))])


@pytest.mark.parametrize(
    ("line", "domain", "classes", "why"),
    [
        (Line(1, [(1, float("inf"))]), "any", 0, "a value is not finite"),
        (Line(1, [(1, float("-inf"))]), "any", 0, "a value is not finite"),
        (Line(1, [(1, float("nan"))]), "any", 0, "a value is not finite"),
        (Line(float("inf"), []), "any", 0, "a label is invalid"),
        (Line(0, []), "binary", 0, "a label is invalid"),
        (Line(-0.5, []), "binary", 0, "a label is invalid"),
        (Line(-0.5, []), "nonnegative", 0, "a label is invalid"),
        (Line(0, []), "binary", 2, "a label is invalid"),
        (Line(3, []), "any", 2, "a label is invalid"),
        (Line(1.5, []), "any", 2, "a label is invalid"),
        (Line(float("-inf"), []), "any", 2, "a label is invalid"),
        (Line(1, [], importance=-1), "any", 0, "an importance or an initial prediction is invalid"),
        (Line(1, [], importance=float("inf")), "any", 0, "an importance or an initial prediction is invalid"),
        (Line(1, [], importance=float("nan")), "any", 0, "an importance or an initial prediction is invalid"),
        (Line(1, [], initial=float("nan")), "any", 0, "an importance or an initial prediction is invalid"),
    ],
)
def test_numbers_that_the_parser_does_not_make(line, domain, classes, why):
    sound = Line(1, [(1, 1.0)])
    for lines in ([line, sound], [sound, line]):
        batch = batch_of(lines)
        with pytest.raises(ValueError, match=f"^{why}$"):
            batch.check_numbers(domain, classes)
    batch_of([sound]).check_numbers(domain, classes)


def test_numbers_that_the_parser_makes():
    rare = [(i + 1, x) for i, x in enumerate((1e-45, -1e-45, 3.4028234e38, -3.4028234e38))]
    labels = (-1, 1, float("nan"))
    lines = [Line(y, rare, importance=h, initial=p) for y in labels for h in (0, 1e300) for p in (-1e9, 0)]
    batch_of(lines).check_numbers("any", 0)
    batch_of(lines).check_numbers("binary", 0)
    batch_of([Line(y, []) for y in (0, 0.5, 1e300, float("nan"))]).check_numbers("nonnegative", 0)
    batch_of([Line(y, []) for y in (1, 2, 7, float("nan"))]).check_numbers("binary", 7)
    Batch().check_numbers("any", 0)
    with pytest.raises(ValueError, match="unknown domain"):
        Batch().check_numbers("all", 0)


def test_lines_of_a_numbered_batch_can_be_copied():
    line = Line(1, [(9, 1), (4, 2), (9, 3)], tag=b"t")
    data = dumped(batch_of([line, line], numbered=True))
    batch = Batch()
    batch.extend(Batch.view(data, 0, len(data)), 1, 2)
    assert content(batch) == content(batch_of([line]))


@pytest.mark.parametrize("numbered", [False, True])
def test_random_damage_is_refused_or_harmless(numbered):
    """Whatever `view` lets through can be read to the end."""
    rng = random.Random(5)
    batch = batch_from(TEXT)
    if numbered:
        batch.number_hashes()
    data = dumped(batch)
    refused = 0
    for _ in range(5000):
        broken = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 5])):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        try:
            view = Batch.view(bytes(broken), 0, len(broken))
        except ValueError:
            refused += 1
            continue
        content(view)
        for line in range(len(view)):
            for span in range(view.span_begin[line], view.span_begin[line + 1]):
                for feature in range(view.feature_begin[span], view.feature_begin[span + 1]):
                    assert view.hash[feature] >= 0
    assert 500 < refused < 5000


@pytest.mark.parametrize("offset", [1, 4, 7])
def test_a_crooked_offset_is_refused(offset):
    data = dumped(batch_from(TEXT))
    with pytest.raises(ValueError, match="not a batch"):
        Batch.view(bytes(offset) + data, offset, len(data))
    with pytest.raises(ValueError, match="multiples of 8"):
        Batch.view(memoryview(bytes(offset) + data)[offset:], 0, len(data))


@pytest.mark.parametrize(("offset", "size"), [(0, 2**63), (2**62, 64), (2**64 - 8, 64), (8, 2**64 - 8)])
def test_places_outside_of_the_buffer_are_refused(offset, size):
    with pytest.raises(ValueError, match="not a batch"):
        Batch.view(dumped(batch_from(TEXT)), offset, size)


def test_the_buffer_stays_as_long_as_the_view():
    data = dumped(batch_from(TEXT))
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    view = Batch.view(memory, 0, len(data))
    with pytest.raises(BufferError):
        memory.close()
    growing = bytearray(data)
    other = Batch.view(growing, 0, len(data))
    with pytest.raises(BufferError):
        growing.extend(b"more")
    assert content(view) == content(other)
    del view, other
    memory.close()
    growing.extend(b"more")


def test_an_array_outlives_its_batch():
    hashes = batch_from(b"1 | 5 6 7\n").hash
    gc.collect()
    junk = [batch_from(b"1 | 1 2 3\n") for _ in range(9)]
    assert list(hashes) == [5, 6, 7]
    assert junk


def test_arrays_can_be_used_with_numpy_and_not_written():
    batch = batch_from(b"1 | 5 6:2 7\n")
    assert np.asarray(batch.value).tolist() == [1, 2, 1]
    assert np.asarray(batch.hash).dtype == np.uint32
    with pytest.raises(TypeError):
        batch.value[0] = 1


def test_a_tag_that_is_not_there():
    batch = batch_from(b"1 |\n")
    with pytest.raises(IndexError):
        batch.tag(1)


def test_spans_with_the_same_letter_are_gathered_where_the_first_one_is():
    r = random.Random(3)
    batch = Batch()
    lines = []
    for number in range(300):
        spans = [
            (r.choice(b"abcd"), [r.getrandbits(32) for _ in range(r.randint(0, 3))])
            for _ in range(r.choice([0, 1, 2, 3, 6, 40]))
        ]
        spans = [(letter, hashes, [float(i + 1) for i in range(len(hashes))]) for letter, hashes in spans if hashes]
        batch.append(0, 1.0, 1.0, 0.0, b"%d" % number, spans)
        order = [letter for letter, _, _ in spans]
        lines.append(sorted(spans, key=lambda span: order.index(span[0])))
    batch.gather()
    for number, spans in enumerate(lines):
        first, last = batch.span_begin[number], batch.span_begin[number + 1]
        found = []
        for span in range(first, last):
            begin, end = batch.feature_begin[span], batch.feature_begin[span + 1]
            found.append((batch.letter[span], batch.hash[begin:end].tolist(), batch.value[begin:end].tolist()))
        assert found == spans
        assert batch.tag(number) == b"%d" % number


def test_a_view_cannot_be_gathered():
    data = dumped(batch_from(TEXT))
    with pytest.raises(ValueError, match="a view is as it was written"):
        Batch.view(data, 0, len(data)).gather()


def random_batch(rng: random.Random, words: int) -> Batch:
    """A numbered view of at most N words."""
    drawn = [f"w{rng.randrange(words)}:{rng.randint(1, 9)}" for _ in range(3 * words)]
    batch = batch_from("".join(f"1 | {' '.join(drawn[i : i + 5])}\n" for i in range(0, len(drawn), 5)).encode())
    batch.number_hashes()
    assert len(batch.distinct)
    data = bytearray(dumped(batch))
    return Batch.view(data, 0, len(data))


def test_a_dictionary_numbers_several_batches_at_once():
    rng, dictionary = random.Random(1), Dictionary()
    known: list[int] = []
    for words in (20, 30, 10, 400, 5):
        batch = random_batch(rng, words)
        before, own = content(batch), list(batch.distinct)
        assert dictionary.renumber(batch)
        known += [h for h in own if h not in known]
        assert list(batch.distinct) == known
        assert len(dictionary) == len(known)
        assert content(batch) == before
    not_numbered = bytearray(dumped(batch_from(TEXT)))
    view = Batch.view(not_numbered, 0, len(not_numbered))
    assert dictionary.renumber(view)
    assert list(view.distinct) == []


def of_hashes(hashes: range) -> Batch:
    """A view that is numbered."""
    return batch_of([Line(1, [(h, 1.0) for h in hashes])], numbered=True)


def test_a_full_dictionary_leaves_a_batch_alone():
    """And those that have its numbers keep theirs."""
    dictionary, renumbered = Dictionary(), []
    for begin in (0, 20_000, 40_000):
        batch = of_hashes(range(begin, begin + 20_000))
        before = content(batch)
        assert dictionary.renumber(batch)
        renumbered.append((batch, before))
    batch = of_hashes(range(55_000, 70_000))
    before, own = content(batch), list(batch.distinct)
    assert not dictionary.renumber(batch)
    assert list(batch.distinct) == own
    assert content(batch) == before
    del dictionary
    gc.collect()
    assert all(content(batch) == before for batch, before in renumbered)
    exact = Dictionary()
    assert exact.renumber(of_hashes(range(0, 1 << 15)))
    assert exact.renumber(of_hashes(range(1 << 15, 1 << 16)))
    assert len(exact) == 1 << 16
    assert exact.renumber(of_hashes(range(100)))
    assert not exact.renumber(of_hashes(range(1 << 16, (1 << 16) + 1)))


def test_only_views_of_memory_that_may_be_written_are_renumbered():
    batch = batch_from(b"1 | a a\n")
    batch.number_hashes()
    for rare in (batch, Batch.view(dumped(batch), 0, len(dumped(batch)))):
        with pytest.raises(ValueError, match="view of memory that may be written"):
            Dictionary().renumber(rare)


def test_an_example_can_be_rejected():
    batch = batch_from(b"1 |a\n1 |a x\n1 |\n-1 |\n")
    data = dumped(batch)
    for row in (2, 1):
        batch.reject(row)
    assert batch.kind.tolist() == [0, 2, 2, 0]
    view = Batch.view(data, 0, len(data))
    for whole, row in ((batch, 4), (view, 0)):
        with pytest.raises(IndexError):
            whole.reject(row)
    assert view.kind.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("count", [0, 1, 3, 3000])
def test_distinct_spaces(count):
    chance = random.Random(count)
    lines = (f"1 |n{chance.randrange(count)} a |n{chance.randrange(count)} b\n" for _ in range(min(2 * count, 2000)))
    text, batch = "".join(lines).encode(), Batch()
    Parser(spaces=True).parse(text, batch)
    assert batch.distinct_spaces() == set(batch.space)


@pytest.mark.parametrize("numbered", [False, True])
def test_chosen_lines_are_those_of_parts(numbered):
    batch = batch_from(TEXT * 3)
    if numbered:
        batch.number_hashes()
    n = len(batch)
    for which in (bytes(n), bytes([1]) * n, bytes(i % 3 != 1 for i in range(n))):
        expected = Batch()
        for i in range(n):
            if which[i]:
                expected.extend(batch.part(i, i + 1), 0, 1)
        assert content(batch.chosen(which)) == content(expected)
    with pytest.raises(ValueError, match="as many"):
        batch.chosen(bytes(n - 1))


def test_tags_are_those_of_the_lines():
    """Also of lines whose space for tags must grow; a dump keeps them."""
    batch = Batch()
    for i in range(300):
        batch.append(0, 1.0, 1.0, 0.0, b"", [(97, [i], [1.0])])
    tags = [b"", *(b"t%d" % i * (i % 7) for i in range(299))]
    batch.set_tags(tags)
    whole = bytearray(dumped(batch))
    for found in (batch, Batch.view(whole, 0, len(whole))):
        assert [found.tag(i) for i in range(300)] == tags
        assert np.asarray(found.hash).tolist() == [*range(300)]
    for wrong in (batch, Batch()):
        with pytest.raises(ValueError, match="has none"):
            wrong.set_tags([b"x"])
    Batch().set_tags([])


def test_values_that_a_derivation_opens_or_leaves_out():
    """They are infinite, where features are derived; others may not be."""
    value = float("inf")
    found = batch_of([Line(1, [(1, value), (2, 3.0)])])
    found.check_numbers(opens=True)
    with pytest.raises(ValueError, match="a value is not finite"):
        found.check_numbers()
    for wrong in (-value, float("nan")):
        with pytest.raises(ValueError, match="a value is not finite"):
            batch_of([Line(1, [(1, value), (2, wrong)])]).check_numbers(opens=True)
