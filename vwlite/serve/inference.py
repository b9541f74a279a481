"""The Open Inference Protocol (KServe's version 2): the input and output tensors of a model, and requests.

    {"id": "42", "inputs": [{"name": "age", "shape": [2], "datatype": "FP64", "data": [30, NaN]},
                            {"name": "city", "shape": [2, 1], "datatype": "BYTES", "data": ["Rome", null]}]}

An input is a column, and a row has an element of each; null and NaN are missing values. The inputs of a request are
those of the metadata; with `--on-unknown note` some may be left out. A model of text without columns has one input,
`lines`. The text of numbers stays as it is, as it may be hashed.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from vwlite.input.schema import OPTIONAL, listed
from vwlite.serve.json_rows import Number, json_of, loaded_exactly
from vwlite.serve.request import Refused
from vwlite.serve.served import Served

DATATYPES = ("BOOL", *(f"{kind}{bits}" for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)), "FP16", "FP32", "FP64",
             "BYTES")
LINES = "lines"  # the input of a model without columns
NO_BINARY = "binary data are not supported: send them as JSON, in tritonclient with binary_data=False"
_WHOLE = re.compile(r"-?\d{1,20}")


class Wanted(NamedTuple):
    """A parsed request. lines: its rows, as JSON or text."""

    id: str | None
    rows: int
    lines: bytes
    outputs: list[str]


def inputs_of(model: Served) -> list[dict[str, Any]]:
    """The input tensors of a model. -1: any number of rows."""
    kinds = {name: "FP64" if role == "numeric" else "BYTES" for name, role in model.roles.items()
             if role not in OPTIONAL} if model.is_of_table else {LINES: "BYTES"}
    return [{"name": name, "datatype": kind, "shape": [-1]} for name, kind in kinds.items()]


def outputs_of(model: Served) -> list[dict[str, Any]]:
    """The output tensors of a model."""
    found = model.predicted.tensors(model.names())
    return [{"name": name, "datatype": kind, "shape": shape} for name, kind, shape in found]


def wanted(body: bytes, model: Served) -> Wanted:
    """Parse a body. Refused if it does not follow the protocol."""
    try:
        found = loaded_exactly(body)
    except (ValueError, RecursionError):
        raise Refused(400, f"the body is an object of JSON with inputs; {NO_BINARY}") from None
    inputs = found.get("inputs") if isinstance(found, dict) else None
    if not isinstance(inputs, list) or not inputs:
        raise Refused(400, "the body is an object of JSON with inputs, a list of tensors")
    if not isinstance(found.get("id"), str | None) or isinstance(found.get("id"), Number):
        raise Refused(400, "id is a string")
    if not isinstance(found.get("parameters"), dict | None):
        raise Refused(400, "parameters are an object")
    columns: dict[str, list[Any]] = {}
    for given in inputs:
        name, values = _tensor(given)
        if name in columns:
            raise Refused(400, f"two inputs {name!r}")
        columns[name] = values
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise Refused(400, "the inputs have the same number of rows, the first number of their shapes")
    if model.is_of_table:
        _check_names(columns, model)
    lines = _rows(columns) if model.is_of_table else _lines(columns)
    try:
        text = "".join(f"{line}\n" for line in lines).encode()
    except UnicodeEncodeError:
        raise Refused(400, f"input {LINES!r}: an element is not of Unicode characters") from None
    return Wanted(found.get("id"), lengths.pop(), text, _outputs(found.get("outputs"), model))


def answered(model: Served, asked: Wanted, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tensors of answers to rows."""
    data = model.predicted.data_of(answers, model.names())
    return [{**tensor, "shape": [asked.rows if n < 0 else n for n in tensor["shape"]], "data": data[tensor["name"]]}
            for tensor in outputs_of(model) if tensor["name"] in asked.outputs]


def _tensor(given: Any) -> tuple[str, list[Any]]:
    """The name of an input, and its values."""
    if not isinstance(given, dict) or type(given.get("name")) is not str:
        raise Refused(400, "an input is an object with name, shape, datatype and data")
    name, datatype, shape, data = (given.get(key) for key in ("name", "datatype", "shape", "data"))
    parameters = {} if given.get("parameters") is None else given["parameters"]
    if not isinstance(parameters, dict):
        raise Refused(400, f"input {name!r}: parameters are an object")
    if "binary_data_size" in parameters or parameters.get("content_type") == "base64":
        raise Refused(400, f"input {name!r}: {NO_BINARY}")
    if datatype not in DATATYPES:
        raise Refused(400, f"input {name!r}: the datatype is one of {', '.join(DATATYPES)}")
    if not isinstance(shape, list) or not all(isinstance(n, Number) and n.isdigit() and len(n) < 19 for n in shape):
        raise Refused(400, f"input {name!r}: the shape is a list of whole numbers")
    if not (len(shape) == 1 or (len(shape) == 2 and shape[1] == "1")):
        raise Refused(400, f"input {name!r}: a column has the shape [rows] or [rows, 1]")
    if not isinstance(data, list) or len(data) != int(shape[0]):
        raise Refused(400, f"input {name!r}: data is a list of {shape[0]} elements, as its shape says")
    if len(shape) == 2 and all(isinstance(x, list) and len(x) == 1 for x in data):  # not flat
        data = [x for (x,) in data]
    values = [None if isinstance(x, Number) and x == "NaN" else x for x in data]
    for row, x in enumerate(values):
        if x is not None and not _is_of(datatype, x):
            raise Refused(400, f"input {name!r}: element {row} is not of the datatype {datatype}", row=row)
    return str(name), values


def _check_names(names: Collection[str], model: Served) -> None:
    """Refused unless they are those of the metadata. A model of JSON rows may take any others."""
    known = [tensor["name"] for tensor in inputs_of(model)]
    for name in names:
        if name not in known and not model.is_open:
            from vwlite.options.nearest import did_you_mean

            raise Refused(400, f"the model has no input {name!r}.{did_you_mean(name, known)} Its inputs are "
                               f"{listed(known)}")
    absent = [name for name in known if name not in names]
    if absent and model.refuses_unknown:
        raise Refused(400, f"inputs of the model are missing: {listed(absent)}; with `vwlite serve --on-unknown note` "
                           "their cells are missing values")


def _is_of(datatype: str, x: Any) -> bool:
    if datatype in ("BOOL", "BYTES"):
        return type(x) is (bool if datatype == "BOOL" else str)
    if not isinstance(x, Number) or datatype.startswith("FP"):
        return isinstance(x, Number)
    bits, is_signed = int(datatype.lstrip("UINT")), datatype.startswith("I")
    return bool(_WHOLE.fullmatch(x)) and -is_signed << bits - 1 <= int(x) < 1 << bits - is_signed


def _rows(columns: dict[str, list[Any]]) -> Iterator[str]:
    """A line of JSON for each row."""
    for values in zip(*columns.values(), strict=True):
        yield json_of(dict(zip(columns, values, strict=True)))


def _lines(columns: dict[str, list[Any]]) -> Iterator[str]:
    """The lines of text."""
    if [*columns] != [LINES]:
        raise Refused(400, f"the model was trained on text without columns: its one input is {LINES!r}, of BYTES")
    for row, line in enumerate(columns[LINES]):
        if type(line) is not str or "\n" in line or not line.strip():
            raise Refused(400, f"input {LINES!r}: element {row} is not one line of text", row=row)
        yield line


def _outputs(found: Any, model: Served) -> list[str]:
    """The names of the outputs that are asked for: all, if none is named."""
    known = [tensor["name"] for tensor in outputs_of(model)]
    if not found:
        return known
    if not isinstance(found, list) or not all(isinstance(x, dict) and x.get("name") in known for x in found):
        raise Refused(400, f"outputs: a list of objects with the names of outputs, which are {', '.join(known)}")
    return [x["name"] for x in found]
