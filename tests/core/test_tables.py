"""Tables: what the core makes of delimited text and JSON lines, against Python's own readers and VW text."""

import csv
import importlib.util
import io
import json
import math
import time
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_tables import csv_as_vw, features_of, features_of_text, json_as_vw, kept, words_of
from slow_tables import time_of as slow_time_of
from tiers import drawn

from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells, time_of
from vwlite.core.tables.tables import TableParser, delimiters_of_cells, json_stop_of, split, whole
from vwlite.core.text.parser import Parser
from vwlite.input.schema import MISSING, ROLES, Schema
from vwlite.names import namespace_of

WORDS = ["NA", "-", "PT", "DE", "a b", " x ", "", "", "a:b", "p|q", "50%", "5% x", "a%20b", "%3Ax%3", "line\nend",
         "cr\r\nlf", 'say ""hi""', 'q"', "été", "ΑΣ", "12", "seventeen_letters", "naïve—café", "x" * 40, "\t",
         "\x01\x1f", "'t", "true", "İx", "Ⱥ", "2.0", "-30.00", "0.0", "-0.0", "1.10", "007.0", "1e5", ".0", "2.", "100",
         "1.0.0", "-.0", "2.0\x01", "1" * 40 + ".0", "+2.0"]
TEXTS = ["Great shoes, now 50% off!", "one", "", "a  b\nc", "Ünïcode—Wörter 3x", "İstanbul", "x-y_z", "…", "ß Σ"]
NUMBERS = ["NA", " null", "-", "N/A ", "7", "7.0", "-999",
           "0", "1", "-3.25", "+2", ".5", "5.", "1e-3", "123456789012", "", " 7 ", "0.0", "1E5", "-0"]


TIMES = ["2026-01-31", "2026-01-31T13:05:00Z", "1999-12-31 23:59:60.25+05:30", "20240229T000000", "1769864700.5", "-1",
         "20260131", "", " NA ", "0001-01-01 00", "9999-12-31t23:59-0800"]


def of(text: str) -> bytes:
    return text.encode()


def table_parser(schema: Schema, names: list[str], delimiter: str = ",", **options) -> TableParser:
    as_text, hash_all = options.pop("as_text", False), options.get("hash_all", False)
    parser = TableParser("csv", **options)
    cells = Cells(schema.cells, ngram=schema.ngram, missing=schema.missing, hash_all=hash_all, as_text=as_text,
                  names=schema.names)
    parser.set_table(cells, schema.positions(names), len(names), delimiter)
    return parser


def json_parser(schema: Schema, **options) -> TableParser:
    as_text, hash_all = options.pop("as_text", False), options.get("hash_all", False)
    parser = TableParser("jsonl", **options)
    cells = Cells(schema.cells, ngram=schema.ngram, missing=schema.missing, hash_all=hash_all, as_text=as_text,
                  names=schema.names)
    parser.set_keys(cells, list(schema.roles), schema.open)
    return parser


# Words that mean a missing value. Not a label: those of the tables are numbers.
MISSINGS = [(*MISSING, "7"), (*MISSING, "-9.99e2", "Namibia"), MISSING]


def content(parser: Parser, text: bytes) -> list:
    batch = Batch()
    parser.parse(text, batch)
    arrays = ["label", "importance", "initial", "kind", "tag_begin", "span_begin", "feature_begin"]
    arrays += ["letter", "hash", "value"]
    return [bytes(getattr(batch, name)) for name in arrays] + [batch.tag(i) for i in range(len(batch))]


def are_those_of(found: list, vw: bytes, hash_all: bool, kind: int) -> None:
    """Whether a table has the content of VW text, but for importances: names and tags are escaped in the text."""
    target = content(Parser("vw", hash_all=hash_all), vw)
    at = [0, 2, 3, 5, 6, 7, 9]
    assert [found[i] for i in at] == [target[i] for i in at]
    assert memoryview(found[8]).cast("I").tolist() == features_of(vw.decode(), hash_all=hash_all, kind=kind)
    assert [kept(tag.decode(), "|", 2).encode() for tag in found[10:]] == target[10:]


def drawn_csv(rng: Random) -> tuple[str, dict[str, str], str]:
    """A table with its header, the roles of its columns, and its delimiter."""
    delimiter = rng.choice([",", ",", ";", "\t", "|"])
    roles = {"y": "label", "n": "numeric", "the word": "categorical", "t": "text", "w": "importance", "id": "tag",
             "at": "time", "5": "numeric", "gone": "drop", "c:d": "categorical"}
    names = rng.sample(list(roles), rng.randint(2, len(roles)))
    out = io.StringIO(newline="")
    end = rng.choice(["\n", "\r\n"])
    writer = csv.writer(
        out, delimiter=delimiter, lineterminator=end, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    )
    writer.writerow(names)
    draw = {"label": ["1", "-1", "2.5", "", "None", "-"], "importance": ["1", "0.5", "", " nan"], "tag": WORDS,
            "categorical": WORDS, "text": TEXTS, "time": TIMES, "numeric": NUMBERS, "drop": WORDS}
    for _ in range(rng.randrange(8)):
        if rng.random() < 0.1:
            out.write(end)
        else:
            writer.writerow([rng.choice(draw[roles[name]]) for name in names])
    text = out.getvalue()
    return (text if rng.random() < 0.7 else text.removesuffix(end)), {n: roles[n] for n in names}, delimiter


@pytest.mark.parametrize("seed", range(400))
def test_delimited_text_is_what_python_reads(seed):
    rng = Random(seed)
    text, roles, delimiter = drawn_csv(rng)
    ngram, missing, kind = rng.choice([1, 1, 2, 3]), rng.choice(MISSINGS), rng.choice([1, 2, 3])
    schema, names = Schema(roles, ngram, missing=missing, names=kind), list(roles)
    _, begin, end = split(of(text), delimiter)[0]
    assert begin == 0
    body = of(text)[end:]
    vw = of(csv_as_vw(text, roles, ngram=ngram, delimiter=delimiter, missing=missing, kind=kind))
    writer = table_parser(schema, names, delimiter, as_text=True)
    batch = Batch()
    assert writer.parse(body, batch) == 0
    assert writer.take_text().decode() == vw.decode()
    for hash_all in (False, True):
        parser = table_parser(schema, names, delimiter, hash_all=hash_all)
        are_those_of(content(parser, body), vw, hash_all, kind)
        # Without a label, VW text has no place for the importance.
        labels = Batch()
        Parser("vw").parse(vw, labels)
        if all(y == y for y in labels.label):
            assert content(parser, body)[1] == content(Parser("vw"), vw)[1]


@pytest.mark.parametrize("seed", range(100))
def test_cells_in_another_order_are_the_same_examples(seed):
    rng = Random(seed)
    text, roles, delimiter = drawn_csv(rng)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    order = rng.sample(range(len(roles)), len(roles))
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([row[i] for i in order] if row else [] for row in rows[1:])
    names = list(roles)
    parser = table_parser(Schema(roles), [names[i] for i in order], delimiter)
    body = of(text)[split(of(text), delimiter)[0][2] :]
    assert content(parser, of(out.getvalue())) == content(table_parser(Schema(roles), names, delimiter), body)


@pytest.mark.parametrize("seed", range(100))
def test_blocks_can_end_behind_any_whole_record(seed):
    text, roles, delimiter = drawn_csv(Random(seed))
    names = list(roles)
    data = of(text if text.endswith("\n") else text + "\n")
    parser = table_parser(Schema(roles), names, delimiter)
    begin = split(data, delimiter)[0][2]
    ends = {end for _, _, end in split(data, delimiter, most=1000)}
    for size in range(len(data) + 1):
        end = whole(data[:size], delimiter)
        assert end in ends | {0}
        assert not [e for e in ends if end < e <= size and data[:size].count(b'"', end) % 2 == 0 and e == size]
    assert whole(data, delimiter) == len(data)
    middle = whole(data[begin : Random(seed).randrange(begin, len(data) + 1)], delimiter)
    rows = [content(parser, data[begin:][:middle]), content(parser, data[begin:][middle:])]
    assert rows[0][9] + rows[1][9] == content(parser, data[begin:])[9]


ALPHABET = ["a", "b c", '"', '""', ",", "\n", "\\", "\\\\", " ", "x"]


def are_read_back(rng: Random, alphabet: list[str], write: Callable[[str], str], quoted: bool, escape: str) -> None:
    """Drawn rows, written by cells: by `split`; and `whole` ends where a record does, however much is there."""
    width = rng.randrange(1, 4)
    count = rng.randrange(1, 6)
    rows = [["".join(rng.choices(alphabet, k=rng.randrange(4))) for _ in range(width)] for _ in range(count)]
    data = "".join(",".join(map(write, row)) + "\n" for row in rows).encode()
    found = split(data, ",", quoted, escape, most=100)
    assert [[cell.decode() for cell in row] for row, _, _ in found] == rows
    ends = [0, *(end for _, _, end in found)]
    for size in range(len(data) + 1):
        assert whole(data[:size], ",", quoted, escape) == max(end for end in ends if end <= size)


def escaped(cell: str, marks: str = '\\",\n') -> str:
    return "".join("\\" * (c in marks) + c for c in cell)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_escaped_is_read_back(seed):
    rng = Random(seed)
    are_read_back(rng, ALPHABET, lambda cell: f'"{escaped(cell, chr(92) + chr(34))}"', True, "\\")
    are_read_back(rng, ALPHABET, lambda cell: rng.choice([escaped(cell), f'"{escaped(cell)}"']), True, "\\")
    are_read_back(rng, ALPHABET, escaped, False, "\\")
    are_read_back(rng, ALPHABET, lambda cell: escaped(cell, "\\,\n"), False, "\\")


@pytest.mark.parametrize("seed", range(60))
def test_ordinary_quotes_are_read_back(seed):
    are_read_back(Random(seed), ["a", '"', " ", '""', "\\"], str, False, "")


@pytest.mark.parametrize("seed", range(60))
def test_blanks_around_quotes_do_not_count(seed):
    rng = Random(seed)
    blanks = ["", "", " ", "\t "]

    def spaced(cell: str) -> str:
        return rng.choice(blanks) + '"' + cell.replace('"', '""') + '"' + rng.choice(blanks)

    are_read_back(rng, ALPHABET, spaced, True, "")


def test_a_parser_takes_each_dialect():
    schema = Schema({"y": "label", "t": "text"})
    for body, options in ((b'1,"a\n0,b"\n', {"quoted": False}), (b'1,"a \\"b\\", c"\n0,d\\,e\n', {"escape": "\\"})):
        parser = TableParser(format="csv")
        parser.set_table(Cells(schema.cells, ngram=1, missing=(), hash_all=False), [0, 1], 2, ",", **options)
        batch = Batch()
        assert parser.parse(body, batch) == 0 and [*batch.label] == [1, 0], (body, options)
    with pytest.raises(ValueError, match="cannot be an escape"):
        parser.set_table(Cells(schema.cells, ngram=1, missing=(), hash_all=False), [0, 1], 2, ",", escape=",")


def drawn_json(rng: Random) -> tuple[str, dict[str, str]]:
    roles = {"y": "label", "t": "text", "n": "numeric", "c": "categorical", "id": "tag", "w": "importance", "g": "drop",
             "at": "time"}
    lines = []
    for _ in range(rng.randrange(8)):
        row: dict = {}
        keys = ["y", "t", "n", "c", "id", "w", "g", "x", "a b", "o", "arr", "été", "at"]
        for key in rng.sample(keys, rng.randrange(10)):
            row[key] = _json_value(rng, key)
        line = json.dumps(row, ensure_ascii=rng.random() < 0.5, separators=rng.choice([(",", ":"), (" , ", " : ")]))
        lines.append(rng.choice(["", " "]) + line if rng.random() < 0.9 else "")
    end = rng.choice(["\n", "\r\n"])
    return "".join(line + end for line in lines), roles


def _json_value(rng: Random, key: str):
    number = rng.choice([0, 1, -2, 7, 3.25, 1e30, 5e-7])
    if key in ("y", "w"):
        return rng.choice([1, 0.5, "1", " 2 ", None, "NA", " null ", *([True, False] if key == "y" else [])])
    if key == "at":
        return rng.choice([None, 0, 1769864700.5, -86401, 20260131, *TIMES])
    if key == "n":
        several = {"a": 1, "b": "2", "c": "NA"}
        return rng.choice([number, 7, "7.0", "3.5", "NA", None, [1, 2.5, None, " - ", 0], several])
    if key == "o":
        names = ("k", "l|m", "l_m", " k2", "\t", "k 3\v")
        return {name: rng.choice([number, rng.choice(WORDS), True, ["a", "b c"]]) for name in names}
    if key == "arr":
        return rng.choice([[number, number, None], [rng.choice(WORDS), "z"], [], [True, "x"]])
    if key == "g":
        return rng.choice([number, "x", None, [[1, {"a": []}], {}], {"a": {"b": [1, "}"]}}])
    if key == "id":
        return rng.choice([number, *WORDS])
    return rng.choice([number, True, None, *TEXTS, *WORDS])


@pytest.mark.parametrize("seed", range(400))
def test_json_lines_are_what_python_reads(seed):
    rng = Random(seed)
    text, roles = drawn_json(rng)
    ngram, missing, kind = rng.choice([1, 2]), rng.choice(MISSINGS), rng.choice([1, 2, 3])
    schema = Schema(roles, ngram, open=True, missing=missing, names=kind)
    vw = of(json_as_vw(text, roles, ngram=ngram, missing=missing, kind=kind))
    writer = json_parser(schema, as_text=True)
    batch = Batch()
    assert writer.parse(of(text), batch) == 0, writer.faults(batch)
    assert writer.take_text().decode() == vw.decode()
    for hash_all in (False, True):
        are_those_of(content(json_parser(schema, hash_all=hash_all), of(text)), vw, hash_all, kind)


def test_words_of_a_text_are_letters_and_digits_of_unicode():
    text = "Straße 42nd ΟΔΟΣ—naïve\u00a0x İ ①½ \U00010400 日本語 a_b"
    schema = Schema({"t": "text"})
    writer = table_parser(schema, ["t"], as_text=True)
    writer.parse(of(text + "\n"), Batch())
    assert writer.take_text().decode() == "|t " + " ".join(words_of(text)) + "\n"


SCRIPTS = st.text(st.one_of(
    st.characters(codec="utf-8", categories=["L", "M", "N", "Zs", "P"]), st.characters(codec="utf-8", categories=["M"]),
    st.sampled_from("aAe\u0301\u0300\u0323\u0345\u1112\u1161\u11ab\u0928\u093c\u0958\ufb1d\uf900\u00c5\u212b 9_"),
), max_size=12)


@settings(max_examples=drawn(100), deadline=None)
@given(SCRIPTS, st.integers(1, 3))
def test_marks_belong_to_the_letter_before_in_all_scripts(text, ngram):
    schema = Schema({"t": "text"}, ngram)
    cell = "".join(c for c in text if c >= " " and c not in '"\u2028\u2029\u0085')
    writer = table_parser(schema, ["t"], as_text=True)
    writer.parse(of(f'"{cell}"\n'), Batch())
    features = " ".join(features_of_text(cell, ngram))
    assert writer.take_text().decode().strip() == ("|t " + features if features else "|").strip()


@pytest.mark.parametrize("text", [
    "फिल्म बहुत खराब है", "தமிழ் மொழி", "ภาษาไทย ดีมาก", "السَّلامُ عليكم", "שָׁלוֹם עולם",
    "한국어 말", "Việt Nam ộ", "naïve café",
])
def test_a_text_has_the_same_words_in_all_normal_forms(text):
    """Each is a word between blanks, whole: those of a dictionary, however the file encodes them."""
    found = set()
    for form in ("NFC", "NFD"):
        writer = table_parser(Schema({"t": "text"}), ["t"], as_text=True)
        writer.parse(of(unicodedata.normalize(form, text) + "\n"), Batch())
        found.add(writer.take_text().decode())
    assert found == {"|t " + unicodedata.normalize("NFC", text).lower() + "\n"}


def test_texts_of_models_of_0_2_0_are_cut_at_marks():
    writer = TableParser("csv")
    writer.set_table(Cells([("t", ROLES.index("text"))], as_text=True, words=1), [0], 1, ",")
    writer.parse(of("तमिल cafe\u0301s\n"), Batch())
    assert writer.take_text().decode() == "|t तम ल cafe s\n"


def test_the_table_of_marks_is_that_of_unicode():
    """Of Python's version of it: what is assigned later cannot be known."""
    path = Path(__file__).parents[2] / "cython_ext" / "generate" / "marks.py"
    spec = importlib.util.spec_from_file_location("marks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = (path.parents[1] / "tables" / "marks.pxd").read_text()
    if unicodedata.unidata_version in made:
        assert module.source() == made


def test_times_are_those_of_python():
    """Hours of some years, as text and as seconds; and days of all years."""
    epoch, hour = datetime(1970, 1, 1), timedelta(hours=1)
    for year in (1, 1899, 1969, 1970, 2000, 2024, 5000, 9999):
        for i in range(0, 365 * 24, 31):
            at = datetime(year, 1, 1) + i * hour
            target = at.hour, at.isoweekday(), at.month
            assert time_of(of(at.isoformat())) == target
            seconds = (at - epoch) // timedelta(seconds=1)
            if seconds < 0 or len(str(seconds)) not in (4, 6, 8, 12):
                assert time_of(b"%d" % seconds) == time_of(of(repr(seconds + 0.99))) == target, at
                if seconds > 0:
                    assert time_of(b"%d" % (seconds + 3599)) == target
    for day in range(1, date.max.toordinal() + 1, 37):
        found = date.fromordinal(day)
        target = None, found.isoweekday(), found.month
        assert time_of(of(found.isoformat())) == time_of(of(found.isoformat().replace("-", ""))) == target


PARTS = ["2026-01-31", "20260131", "2023-02-29", "20240229", "0000-01-01", "2026-1-31", "2026-13-01", "2026-00-10"]
CLOCKS = ["", "T", " ", "T13", "T24", "t23:59", " 13:60", "T13:05:60", "T13:05:61", "T1305", "T130500", "T13:0500",
          "T13:05:00.", "T13:05:00,5", " 13:05.5", "T13:05:"]
OFFSETS = ["", "Z", "z", "+01", "-0130", "+05:30", "+24", "+1", "+01:60", "+01:", " Z", "x", "ZZ", " UTC", " GMT",
           "UTC", " utc", "Z UTC", "  UTC", " UT"]
NO_TIMES = ["2024", "202401", "2024-13", "2024-1", "0000-01", "20260131130500", "9.3e18", "-1e19", "nan", "x",
            "-", "12:30", "31.01.2026", "1/2/2026",
            "9" * 50, "-62135596801", "1_0", "0x10", "20240230", "1.2.3", "+"]
NEW = ["2024-01", "0001-12", "1700000000000", "-1700000000000.5", "99999999999999", "1e14", "1717113599999999", "1e17",
       "1717113599999999744", "-1717113600000000001", "9.19e18", "100000000000", "2024-01-31T13 UTC"]
SECONDS = ["0", "-0.5", "1e9", "99999999999.9", "-62135596800", ".5", "12345", "1234567", "123456789", "2024.5"]


def test_what_is_a_time():
    rng, good = Random(3), 0
    for text in [*(a + b + c for a in PARTS for b in CLOCKS for c in OFFSETS), *NO_TIMES, *SECONDS, *NEW]:
        target = slow_time_of(text)
        assert time_of(of(text)) == target, text
        assert time_of(of(text), wide=False) == slow_time_of(text, False), text
        good += target is not None
        for _ in range(3):  # no byte behind it is looked at, and none in it is passed over
            cut = of(text)[: rng.randrange(len(text) + 1)] + rng.choice([b"", b"7", b":", b"\xff"])
            if b"\xff" in cut or not cut:
                assert time_of(cut) is None
            else:
                assert time_of(cut) == slow_time_of(cut.decode()), cut
    assert good > 70
    assert not [text for text in NO_TIMES if slow_time_of(text)] and all(map(slow_time_of, [*SECONDS, *NEW]))
    old = {"100000000000": (9, 3, 11)}  # seconds of the year 5138
    assert [slow_time_of(text, False) for text in NEW] == [old.get(text) for text in NEW]


def numbers_of_times(chance):
    """Times around whole hours and days, as numbers of each unit."""
    for unit in (10**3, 10**6, 10**9):
        for _ in range(200):
            x = float(unit * 3600 * chance.randrange(3 * 10**5, 24 * 10**5))
            if 1e11 <= x < 9.2e18:
                yield from (x, math.nextafter(x, 0), -x, math.nextafter(-x, 0))


def test_large_numbers_are_milliseconds_and_so_on():
    for x in numbers_of_times(Random(5)):
        assert time_of(of(repr(x))) == slow_time_of(repr(x)), x


def test_a_table_of_nothing_and_of_blank_lines():
    schema = Schema({"a": "numeric", "b": "numeric"})
    parser = table_parser(schema, ["a", "b"])
    assert content(parser, b"")[3] == b""
    assert content(parser, b"\n \r\n,\n")[3] == bytes([1, 1, 0])


def test_names_are_replaced_where_vw_text_cannot_hold_them():
    assert namespace_of("a b:c|d\te") == "a_b_c_d_e"
    assert [ROLES.index(role) for role in ROLES] == list(range(9))


@pytest.mark.parametrize("portable", [False, True])
def test_delimiters_of_cells_on_every_processor(portable):
    rng = Random(7)
    for delimiter in ",;\t|":
        ends = {ord('"'), ord("\n"), ord(delimiter)}
        for byte in range(256):
            for place in rng.sample(range(64), 8):
                text = bytearray(rng.randbytes(64) if place % 2 else bytes([rng.randrange(128)]) * 64)
                text[place] = byte
                expected = sum(1 << i for i, b in enumerate(text) if b in ends)
                assert delimiters_of_cells(bytes(text), delimiter, portable) == (expected, text.isascii())


@pytest.mark.parametrize("portable", [False, True])
def test_stops_of_json_strings_on_every_processor(portable):
    rng = Random(8)
    plain = [byte for byte in range(256) if byte > 0x1F and byte not in b'"\\']
    for byte in range(256):
        for length in (*range(20), 40):
            text = bytes(rng.choices(plain, k=length))
            behind = rng.randbytes(9) if byte not in plain else bytes(rng.choices(plain, k=9))
            found = json_stop_of(text + bytes([byte]) + behind, portable)
            assert found == length + (10 if byte in plain else 0)


def test_the_number_of_a_line_counts_the_line_ends_before_it():
    rng, batch = Random(1), Batch()
    for first in (1, 7):
        ends = [rng.choice([0, 0, 1, 5]) for _ in range(100)]
        batch.first_line, batch.breaks = first, [(at, count) for at, count in enumerate(ends) if count]
        assert [batch.line_number(i) for i in range(101)] == [first + i + sum(ends[:i]) for i in range(101)]


def test_the_numbers_of_all_lines_take_no_more_than_their_number():
    """For a table whose cells have line ends, it took four times as long for twice as many."""
    batch, count = Batch(), 40_000
    batch.breaks = [(at, 1) for at in range(count)]
    begin = time.process_time()
    assert sum(batch.line_number(i) for i in range(count)) == sum(2 * i + 1 for i in range(count))
    assert time.process_time() - begin < 10  # of 0.03
