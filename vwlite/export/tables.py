"""Models as tables to read and edit, and back: `tsv` and `json`.

A tsv file begins with two comment lines: the name of the format, and the header of the model as JSON. Then column
titles, then a line for each nonzero weight: index, class if there are classes, weight, and the names of the feature,
each in a column, `escaped`. A json file is one object.
"""

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any

from vwlite.errors import DataError, NoInputError
from vwlite.export import Request
from vwlite.model import Model
from vwlite.model.feature_names import FeatureNames, escaped, unescaped
from vwlite.model.file import FORMAT, inconsistency
from vwlite.model.header import FIELDS, LONGEST, Newer, brief, check_header
from vwlite.model.slots import array_of
from vwlite.output.text import printable

FORMAT_LINE = "vwlite weights 1"
MAX_FILE = 4 << 30  # bytes of a file to import: all of it is in memory
CHUNK = 1 << 20  # bytes that are read at once
_TAKEN = ("classes", "solved", "columns", "calibration")  # of the header of an imported table, beside FIELDS


def tsv(request: Request) -> Iterator[str]:
    """The lines of a table of weights."""
    linear = request.linear
    yield f"# {FORMAT_LINE}\n# {json.dumps(linear.header(), sort_keys=True, allow_nan=False)}\n"
    columns = [f"\t{escaped(_bytes(name))}" for name in linear.model.class_names()] or [""]
    yield f"index\t{'class' + chr(9) if linear.model.class_names() else ''}weight\tname\n"
    for key, weights, names in linear.rows():
        shown = "".join(f"\t{escaped(name)}" for name in names)
        for column, weight, unseen in zip(columns, weights, linear.unseen, strict=True):
            if weight != unseen:
                yield f"{key}{column}\t{weight!r}{shown}\n"


def json_text(request: Request) -> Iterator[str]:
    """One object: `format`, `header`, `features`. Bytes that are not UTF-8 are U+DC80 to U+DCFF, as in Python."""
    linear = request.linear
    yield f'{{"format": "{FORMAT_LINE}",\n"header": {json.dumps(linear.header(), sort_keys=True, allow_nan=False)},\n'
    names_of_classes = linear.model.class_names()
    yield '"features": ['
    separator = "\n"
    for key, weights, names in linear.rows():
        feature: dict[str, Any] = {"index": key}
        if names_of_classes:
            feature["weights"] = dict(zip(names_of_classes, weights, strict=True))
        else:
            feature["weight"] = weights[0]
        if names:
            feature["names"] = [name.decode("utf-8", "surrogateescape") for name in names]
        yield separator + json.dumps(feature, allow_nan=False)
        separator = ",\n"
    yield "\n]}\n"


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


# --- back -------------------------------------------------------------------------------------------

Row = tuple[int, list[tuple[int, float]], list[bytes]]  # index; class from 0 and weight; names


def read_table(path: str, loss: str | None = None) -> Model:
    """Read a model from a `tsv` or `json` file: its weights, without a state.

    loss: required if the header has none. NoInputError; DataError with the line if it is not such a file, or not a
    valid model.
    """
    try:
        with open(path, "rb") as file:
            data = _whole(path, file)
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        if data.lstrip()[:1] == b"{":
            header, rows = _from_json(data)
        else:
            header, rows = _from_tsv(data)
        return _model(path, header, loss, rows)
    except MemoryError:
        raise
    except _ParseError as e:
        raise DataError(f"{path}:{e.line}: {e}") from None
    except Newer as e:
        raise DataError(f"{path}: needs {brief(header.get('program', 'a newer program'))} or later: {e}") from None
    except (ValueError, RecursionError) as e:
        raise DataError(f"{path}: not a table of weights: {brief(e)}") from None


def _whole(path: str, file: IO[bytes]) -> bytes:
    """Read a file in chunks: `read` with a large size allocates that much memory even if the file is small.
    DataError if it is too large."""
    chunks, size = [], 0
    while chunk := file.read(CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_FILE:
            raise DataError(f"{path}: larger than {MAX_FILE >> 30} GiB, which is too much for a table of weights")
    return b"".join(chunks)


class _ParseError(ValueError):
    """An error in a line of the table."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why if len(why) <= 2 * LONGEST else f"{why[: 2 * LONGEST]}...")
        self.line = line


Rows = Callable[[Callable[[str], int]], Iterable[tuple[int, Row]]]  # the argument maps a class name to its number


def _from_tsv(data: bytes) -> tuple[dict[str, Any], Rows]:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[0].rstrip("\r") != f"# {FORMAT_LINE}":
        raise _ParseError(1, f"neither JSON nor a table of weights, which begins with '# {FORMAT_LINE}'")
    header, at = "", 1
    while at < len(lines) and lines[at].startswith("#"):
        header, at = header or lines[at][1:], at + 1
    titles = lines[at].rstrip("\r").split("\t") if at < len(lines) else []
    classes = titles[1:2] == ["class"]
    if titles != ["index", *(["class"] if classes else []), "weight", "name"]:
        class_title = "class, " if classes else ""
        raise _ParseError(at + 1, f"expected the titles index, {class_title}weight, name, separated by TABs")

    def rows(number_of: Callable[[str], int]) -> Iterator[tuple[int, Row]]:
        for number, line in enumerate(lines[at + 1 :], at + 2):
            line = line.rstrip("\r")
            if not line or line.startswith("#"):
                continue
            cells = line.split("\t")
            if len(cells) < 2 + classes:
                raise _ParseError(number, f"expected {'index, class, weight' if classes else 'index, weight'}")
            try:
                names = [unescaped(cell) for cell in cells[2 + classes :] if cell]
                k = number_of(unescaped(cells[1]).decode("utf-8", "surrogateescape")) if classes else number_of("")
                yield number, (_index(cells[0]), [(k, _weight(cells[1 + classes]))], names)
            except ValueError as e:
                raise _ParseError(number, str(e)) from None

    return _object(header), rows


def _from_json(data: bytes) -> tuple[dict[str, Any], Rows]:
    found = _object(data.decode("utf-8"))
    if found.get("format") != FORMAT_LINE:
        raise ValueError(f"its format is {brief(repr(found.get('format')))}, not {FORMAT_LINE!r}")
    features = found.get("features")
    if type(features) is not list or type(found.get("header")) is not dict:
        raise ValueError("it has no header, or no list of features")

    def rows(number_of: Callable[[str], int]) -> Iterator[tuple[int, Row]]:
        for number, feature in enumerate(features, 1):
            try:
                if type(feature) is not dict:
                    raise ValueError("expected an object")
                unknown = sorted(set(feature) - {"index", "weight", "weights", "names"})
                if unknown:
                    raise ValueError(f"unknown key {brief(unknown[0])}")
                weights = feature.get("weights", {"": feature.get("weight")})
                names = feature.get("names", [])
                if type(weights) is not dict or type(names) is not list or not all(type(n) is str for n in names):
                    raise ValueError("weights must be an object of classes, names a list of strings")
                pairs = [(number_of(name), _weight(weight)) for name, weight in weights.items()]
                yield 0, (_index(feature.get("index")), pairs, [_bytes(name) for name in names])
            except ValueError as e:
                raise ValueError(f"feature {number}: {brief(e)}") from None

    return found["header"], rows


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ValueError(f"its header cannot be read: {brief(e)}") from None
    if type(found) is not dict:
        raise ValueError("its header is not an object")
    return found


def _index(cell: Any) -> int:
    if type(cell) is str and cell.isascii() and cell.isdigit() and len(cell) < 12:
        cell = int(cell)
    if type(cell) is not int or not 0 <= cell < 1 << 32:
        raise ValueError(f"the index {printable(str(cell))} is not an integer from 0 to 2^32 - 1")
    return cell


def _weight(cell: Any) -> float:
    if type(cell) is str and "_" not in cell:
        with suppress(ValueError):
            cell = float(cell)
    if type(cell) not in (int, float) or not abs(cell) <= 1.7976931348623157e308 or math.isnan(cell):
        raise ValueError(f"the weight {printable(str(cell))} is not a finite number")
    return float(cell)


def _model(path: str, header: dict[str, Any], loss: str | None, rows: Rows) -> Model:
    if type(header.get("format")) is int and header["format"] > FORMAT:
        raise Newer(f"it is of format {brief(header['format'])}")
    options = header.get("options")
    if type(options) is dict and options.get("loss") == header.get("loss") == "":
        if loss is None:
            raise DataError(
                f"{path}: a model of Vowpal Wabbit does not have the loss of its training: add --loss, such as "
                "--loss logistic"
            )
        header = {**header, "loss": loss, "options": {**options, "loss": loss}}
    elif loss is not None and header.get("loss") != loss:
        raise DataError(f"{path}: --loss {loss} contradicts its header, which says {brief(header.get('loss'))}")
    check_header(header)
    if not header["weights_only"] or set(header["rule"]) - {"unseen"}:
        raise ValueError("its header is of a model with a state")
    model = Model(
        **{name: header[name] for name in (*FIELDS, *_TAKEN) if name in header and name != "range"},
        range=tuple(header["range"]) if header["range"] is not None else None,
        keys=array_of(b"", "I"),
        weights=array_of(b"", "d"),
    )
    _fill(model, rows)
    error = inconsistency(model)
    if error:
        raise ValueError(error)
    return model


def _fill(model: Model, rows: Rows) -> None:
    """Set the weights and names of a table. ValueError for an invalid or duplicate index, or an unknown class."""
    k, classes = model.records, {name: i for i, name in enumerate(model.class_names())}
    unseen = model.rule.get("unseen", 0.0)
    blank = list(unseen) if isinstance(unseen, list) else [unseen] * k
    found: dict[int, list[float]] = {}
    taken: set[tuple[int, int]] = set()
    names: set[tuple[int, bytes]] = set()

    def number_of(name: str) -> int:
        if (name == "") != (not classes) or (classes and name not in classes):
            raise ValueError(f"the class {printable(name)!r} is not in the header" if name else "a class is missing")
        return classes.get(name, 0)

    for line, (key, weights, called) in rows(number_of):
        try:
            if key >> model.settings.bits:
                raise ValueError(f"the index {key} has more than {model.settings.bits} bits")
            row = found.setdefault(key, blank.copy())
            for i, weight in weights:
                if (key, i) in taken:
                    raise ValueError(f"duplicate index {key}")
                taken.add((key, i))
                row[i] = weight
        except ValueError as e:
            raise (_ParseError(line, str(e)) if line else e) from None
        names.update((key, name) for name in called)
    keys = sorted(found)
    model.keys = array_of(array("I", keys).tobytes(), "I")
    model.weights = array_of(array("d", (weight for key in keys for weight in found[key])).tobytes(), "d")
    model.names = FeatureNames.of(names)


def write_all(chunks: Iterable[str], file: IO[bytes] | Any) -> None:
    """Write text as UTF-8, in large chunks; bytes that are not UTF-8 are unchanged."""
    waiting: list[str] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size > 1 << 20:
            file.write("".join(waiting).encode("utf-8", "surrogateescape"))
            waiting, size = [], 0
    file.write("".join(waiting).encode("utf-8", "surrogateescape"))
