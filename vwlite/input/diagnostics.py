"""Messages about bad lines: position and reason. The parser returns only an error code and the position."""

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from vwlite.errors import DataError
from vwlite.input.formats import FORMATS
from vwlite.output.text import label_text, printable
from vwlite.patterns import pattern
from vwlite.time_formats import ADVISED, typed_formats

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.core.data.class_names import ClassNames
    from vwlite.core.tables.tables import TableParser
    from vwlite.core.text.parser import Parser


LONGEST = 40  # bytes of a token that are shown
MOST_NAMES = 8  # of classes that are shown
# No two parts of it can match the same digits: what is no number after many of them is refused in linear time.
IS_NUMBER = pattern(rb"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = pattern(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_INFINITE = pattern(rb"-?Infinity")  # as Python writes it in JSON
_NOUNS = {
    "label": "label",
    "importance": "importance",
    "initial": "initial prediction",
    "scale": "namespace scale",
    "value": "feature value",
}
EMPTY = "an empty cell, and each row needs a {}: write one there, or leave these rows out"


def a_time(format: str, option: str = "--time-format ") -> str:
    """What a time is. format: of the Schema."""
    iso = "ISO 8601, such as 2026-01-31T13:05:00Z, or seconds since 1970"
    return typed_formats([format], option) if format else iso


class BadLine(NamedTuple):
    """A bad line: where it is, what is wrong, and the line itself."""

    source: str
    line: int  # from 1
    column: int  # of the offending token, in bytes, from 1
    message: str
    text: bytes = b""  # without its LF; empty: input that is not lines
    advice: str = ""  # about options of the command line, for the end of the message

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.message}{self.advice}"

    def error(self, more: str = "") -> DataError:
        return DataError(f"{self.message}{self.advice}{more}", self.source, self.line, self.column)


def bad_lines(
    parser: "Parser", block: bytes | memoryview, batch: "Batch", labels: Callable[[], list[str]] | None = None
) -> list[BadLine]:
    """The faults of the block that the parser has just filled the batch with, in order. labels: the first different
    ones of the block, for advice about words."""
    if FORMATS[parser.format].is_table:
        from vwlite.core.tables.tables import TableParser  # not at the top: bad records of tables are rare

        assert isinstance(parser, TableParser)
        return _bad_records(parser, block, batch, labels)
    found, advice = [], _Advice(parser, labels)
    for code, line, first, last, begin, end in parser.faults(batch):
        text = bytes(block[first:last])
        words = explain(
            code, text, begin - first, end - first, loss=parser.loss_name, labels=parser.labels, names=parser.names
        )
        found.append(
            BadLine(batch.source, batch.first_line + line, begin - first + 1, words, text, advice.about(code))
        )
    return found


class _Advice:
    """Hints about labels that are words; searched once, on demand."""

    def __init__(self, parser: "Parser", labels: Callable[[], list[str]] | None) -> None:
        self._labels = labels if parser.labels is None else None
        self._text: str | None = None

    def about(self, code: str) -> str:
        if code != "label" or self._labels is None:
            return ""
        if self._text is None:
            self._text = about_words(self._labels())
        return self._text


def _bad_records(
    parser: "TableParser", block: bytes | memoryview, batch: "Batch", labels: Callable[[], list[str]] | None
) -> list[BadLine]:
    """Those of a table: a record may have several lines, and the place is that of the token in the file."""
    found, advice = [], _Advice(parser, labels)
    line, counted = batch.first_line, 0
    columns = [name[:-1].decode("utf-8", "replace") for name in parser.table_names]
    for (code, _, first, last, begin, end), k in zip(
        parser.faults(batch), parser.fault_columns_of(batch), strict=True
    ):
        before = bytes(block[counted:begin])
        line, counted = line + before.count(b"\n"), begin
        text = bytes(block[first:last])
        at = bytes(block[first:begin]).rfind(b"\n") + 1  # of the token's line, in the record
        column = columns[k] if k is not None else ""
        words = explain_cell(code, text, begin - first, end - first, parser, column)
        token = bytes(block[begin:end])
        options = about_cell(token, column) if code == "cell" else advice.about(code)
        options = about_time(token, parser.time_format) if code == "time" else options
        options = ", as --on-error skip does" if code == "header again" else options
        found.append(BadLine(batch.source, line, begin - first - at + 1, words, text, options))
    return found


CONVERT = "convert the file, as with iconv -f LATIN1 -t UTF-8 FILE > NEW"

# What can be wrong with a row of a table, whatever its columns are.
EXPLAINED = {
    "JSON object": "a line of JSON lines is an object: {\"key\": value, ...}",
    "JSON value": "a value is missing: a string, a number, true, false, null, an array or an object",
    "JSON string": "a string that does not end on its line; line ends and control characters in it are escaped",
    "JSON escape": "a string with an invalid escape",
    "JSON number": "a number that JSON does not allow",
    "JSON key": "a key is missing: a string that is not empty, in quotes",
    "JSON colon": "no ':' after a key",
    "JSON comma": "no ',' or closing bracket after a value",
    "JSON after": "text after the object: one object is one line",
    "JSON twice": "a duplicate key",
    "JSON deep": "a value nested too deep: objects hold words, numbers and arrays of words; arrays words or numbers",
    "JSON mixed": "an array of both numbers and words: make two of it",
    "JSON kind": "an array or object where one value is expected",
    "quote inside": "a quote inside of a cell that does not begin with one: quote the whole cell, and double the quote",
    "quote text": "text after the quote that closes a cell: a quote inside of a cell is doubled",
    "quote open": "a quote that is never closed",
    "escape open": "an escaped line end at the end of the data",
    "second label": "a second label: a line has one. Keep one of them, or write a line for each",
    "late label": "a label behind the text: it comes first on its line, with a blank behind it",
    "header again": "the header again, as where files were joined: leave it out",
    "not UTF-8": f"a byte that is not UTF-8: {CONVERT}",
}


def explain_cell(code: str, record: bytes, begin: int, end: int, parser: "TableParser", column: str) -> str:
    """The sentence for a complaint about record[begin:end], which is in that column."""
    token, where = shown(record[begin:end].strip()), f"column {column}: " if column else ""
    if code in EXPLAINED:
        escaped = code in ("quote text", "quote inside") and b'\\"' in record[: end + 1]
        if code == "JSON number" and _INFINITE.match(record, begin):
            return f"{EXPLAINED[code]}: write null for a missing number, or a finite one"
        return EXPLAINED[code] + ("; --escape '\\' reads \\\" as a quote" if escaped else "")
    if code == "ragged":
        return f"a row of {parser.cells_of(record)} cells, but there are {parser.width} columns"
    if code == "cell":
        is_missing = _NOT_FINITE.fullmatch(record[begin:end].strip())
        return f"{where}'{token}' is not a number{'; leave the cells of missing numbers empty' * bool(is_missing)}"
    if code == "time":
        return f"{where}'{token}' is not a time: expected {a_time(parser.time_format)}"
    if code == "label control":
        return f"{where}label '{token}' has a control character, which the name of a class cannot have: remove it"
    if code == "cell too large":
        return f"{where}'{token}' is too large for a 32-bit float"
    if code == "importance" and not _NOT_FINITE.fullmatch(record[begin:end]):
        return f"{where}importance '{token}' is not a number"
    labels, names = parser.labels, parser.names
    return where + explain(code, record, begin, end, loss=parser.loss_name, labels=labels, names=names)


def about_cell(cell: bytes, column: str) -> str:
    """What to do about a cell of that column that is not a number, for the end of a sentence."""
    if _NOT_FINITE.fullmatch(cell.strip()):
        return ""
    words = "" if re.search(rb"\d|^(true|false)$", cell) else ", --missing WORDS names those that mean a missing number"
    return f"; --categorical {column} takes words too{words}"


def about_time(cell: bytes, format: str, option: str = "--time-format ") -> str:
    """What to do about a cell that is not a time, for the end of a sentence. format: of the Schema; if there is one,
    nothing."""
    found = formats_for(cell)
    return f"; a model that is trained with {typed_formats(found, option)} reads it" if found and not format else ""


def formats_for(cell: bytes) -> list[str]:
    """The formats that read a cell."""
    from vwlite.core.tables.cells import parts_of_time  # not at the top: few times are bad

    return [format for format in ADVISED if parts_of_time(cell.strip(b'" '), format.encode())]


def about_words(labels: list[str]) -> str:
    """What to do about labels that are words, for the end of a sentence. labels: the first different ones."""
    raw = [label.encode("utf-8", "surrogateescape") for label in labels]
    if not raw or any(IS_NUMBER.match(label) or _NOT_FINITE.fullmatch(label) for label in raw):
        return ""
    from vwlite.input.two_words import in_order, typed  # not at the top: few labels are bad

    words = sorted(map(printable, labels))
    if len(words) == 1:
        return f"; for two words add --labels NEG,POS, one of them {words[0]}"
    if len(words) == 2:
        return f"; add {typed(in_order(words))}, the negative one first"
    return f"; for more than two words, such as {', '.join(words)}, add --oaa K --classes auto"


def shown(token: bytes) -> str:
    """The token as one short line of printable text."""
    text = token[:LONGEST].decode("utf-8", "backslashreplace")
    if len(token) > LONGEST:
        # A character that the cut went through is left out, not shown in pieces.
        text = re.sub(r"(\\x[89a-f][0-9a-f]){1,3}$", "", text) + "..."
    return printable(text)


def not_finite(prediction: float) -> str:
    """The sentence for an example without a finite prediction, or, where that is finite, without a finite loss."""
    if math.isfinite(prediction):
        return "the loss of the prediction is not finite: the label is too far from the prediction"
    return "the prediction is not finite: feature values are too large for the model; scale them as in training"


def explain(
    code: str,
    line: bytes,
    begin: int,
    end: int,
    *,
    loss: str = "this loss",
    labels: tuple[float, float] | tuple[str, str] | None = None,
    names: "ClassNames | None" = None,
) -> str:
    """The sentence for a complaint about line[begin:end]. `loss`, `labels` and `names` are the parser's."""
    token = shown(line[begin:end])
    if code in _NOUNS:
        return _not_a_number(code, line, begin, end)
    what, _, why = code.partition(" too large")
    if what in _NOUNS and code != what:
        limit = "" if what in ("label", "importance", "initial") else " for a 32-bit float"
        return f"{_NOUNS[what]} '{token}' is too large{limit}" + (why and " after scaling by its namespace")
    if code == "label outside domain":
        return f"label {token}: {_domain(loss, line[begin:end])}"
    if code == "label not mapped":
        assert labels is not None
        return f"label {token}: expected {label_text(labels[0])} or {label_text(labels[1])}, as in --labels"
    if code.startswith("class "):
        assert names is not None
        return _class(code, token, names)
    previous = ""
    if code == "index order":
        previous = shown(line[:begin].split()[-1].partition(b":")[0])
    return _SENTENCES[code].format(token=token, previous=previous)


_SENTENCES = {
    "no bar": "no '|' before the features: a line of VW text is 'label |namespace feature:value ...'",
    "carriage return": "carriage return inside of the line",
    "extra word": "'{token}' is one word too many before the '|', after label, importance and initial prediction",
    "importance negative": "importance '{token}' is negative",
    "namespace name": "no namespace name before '{token}'",
    "pair": "'{token}' is not of the form index:value",
    "query": "'{token}' groups queries for ranking, which is not supported: remove it",
    "index": "feature index '{token}' is not a whole number",
    "index too small": "feature index {token} is below 0",
    "index too large": "feature index {token} is above 4294967295",
    "index repeated": "feature index {token} is repeated",
    "index order": "feature index {token} comes after {previous}, but indices must rise",
}


def _not_a_number(code: str, line: bytes, begin: int, end: int) -> str:
    raw, noun, token = line[begin:end], _NOUNS[code], shown(line[begin:end])
    if not raw:  # there is a colon before it
        name = re.split(rb"[ \t|:]", line[: begin - 1])[-1]
        return f"no {noun} after '{shown(name)}:'"
    if _NOT_FINITE.fullmatch(raw):
        return f"{noun} '{token}' is not a finite number"
    if IS_NUMBER.match(raw):
        return f"{noun} '{token}' has text after the number"
    if code in ("importance", "initial"):
        return f"{noun} '{token}' is not a number; a tag touches the '|' or begins with '"
    return f"{noun} '{token}' is not a number"


def _class(code: str, token: str, names: "ClassNames") -> str:
    count = len(names)
    if code == "class number":
        expected = f"label '{token}': --oaa {count} takes whole numbers from 1 to {count}"
        if re.fullmatch(r"[1-9]\d*", token):
            return f"{expected}; with more classes give --oaa a larger number"
        return f"{expected}; for other numbers and for words add --classes auto"
    if code == "class or number":
        kinds = "is a {}, but labels before it are {}".format(*(("number", "words") if count else ("word", "numbers")))
        return f"label '{token}' {kinds}: name both labels with --labels NEG,POS"
    if code == "class third":
        words = " and ".join(printable(name) for name in names.first(count))
        return f"label '{token}' is a third word, after {words}: for classes add --oaa K --classes auto"
    shown_names = ", ".join(printable(name) for name in names.first(min(count, MOST_NAMES)))
    shown_names += ", ..." if count > MOST_NAMES else ""
    if code == "class unknown":
        return f"label '{token}' is not one of the classes {shown_names}; --classes must name all"
    return f"label '{token}' is a new class, but --oaa {count} allows only {shown_names}"


def _domain(loss: str, label: bytes) -> str:
    if loss == "log1p":
        return "--label-transform log1p needs a label above -1"
    if loss in ("poisson", "tweedie"):
        return f"{loss} needs a label of 0 or more"
    if loss == "gamma":
        return "gamma needs a label above 0; with labels of 0 use --loss tweedie"
    mapped = "for two others add --labels NEG,POS"
    if float(label) in (0, 2):
        pair = (0, 1) if float(label) == 0 else (1, 2)
        mapped = "if all are {0} or {1} add --labels {0},{1}".format(*pair)
    return f"{loss} needs -1 or 1; {mapped}; for more classes --oaa K"
