"""A model as a Python program, which needs only the standard library: of columns, or of lines of text."""

from collections.abc import Iterator
from typing import Any

from vwlite.algorithms.links import FORMS
from vwlite.export import Request
from vwlite.export.columns import Columns
from vwlite.export.text import by_columns, file_name, filled, template, what
from vwlite.input.schema import OPTIONAL
from vwlite.model.effects import LevelAxis, Numbers
from vwlite.model.feature_names import escaped
from vwlite.time_formats import pattern_of

# Of links; and those that every program knows, whatever its model has.
_FUNCTIONS = {"identity": "{p}", "sigmoid": "{times}sigmoid({p})", "exp": "math.exp({p})", "expm1": "math.expm1({p})"}
_KNOWN = ("identity", "logistic", "glf1", "poisson")
_OF_LABELS = "  # below a probability of 0.5, or a score of 0; and from there on"


def python(request: Request) -> Iterator[str]:
    """The text of the program."""
    return by_columns(request, _of_columns, _of_lines)


def _of_lines(request: Request) -> Iterator[str]:
    """The program that reads VW text or libsvm."""
    linear = request.linear
    s = linear.settings
    before, after = template("predict.py.txt").split("@ROWS@")
    words = {
        "BITS": str(s.bits),
        "HASH_ALL": str(s.hash == "all"),
        "ESCAPED": str(linear.is_escaped),
        "INTERACTIONS": ascii([pattern.encode("latin-1") for pattern in s.interactions]),
        "CROSSES": repr(linear.crosses()),
        "KEEP": ascii(s.keep.encode("latin-1")),
        "IGNORE": ascii(s.ignore.encode("latin-1")),
        "IGNORE_LINEAR": ascii(s.ignore_linear.encode("latin-1")),
        "CONSTANT": repr(list(linear.constant)),
        "UNSEEN": repr(list(linear.unseen)),
        **_prediction(request),
    }
    yield filled(before, words)
    for key, weights, names in linear.rows():
        # The rows are in a raw string, which ends at quotes and cannot have a \ before them.
        shown = "".join(f"\t{escaped(name)}" for name in names).replace('"', "\\x22")
        yield f"{key} {' '.join(map(repr, weights))}{shown}\n"
    yield filled(after, _shared(request))


def _shared(request: Request) -> dict[str, str]:
    """The parts of both programs."""
    rows = ""
    for name in dict.fromkeys([*_KNOWN, request.linear.settings.link]):
        expression = FORMS[name].expression(_FUNCTIONS, request.linear.offset)
        function = expression.removesuffix("(p)")  # a function of p alone needs no lambda
        rows += f'    "{name}": {function if function != expression else f"lambda p: {expression}"},\n'
    prediction = filled(template("prediction.py.txt").rstrip("\n"), {"LINKS": rows})
    return {"PREDICTION": prediction, "RUN": template("run.py.txt")}


def _prediction(request: Request) -> dict[str, str]:
    """What makes predictions of scores, and the name of the program."""
    linear = request.linear
    return {
        "FILE": file_name(request),
        "WHAT": what(linear),
        "NORMALIZE": ascii(linear.settings.normalize),
        "LOW": f"float({str(linear.low)!r})",
        "HIGH": f"float({str(linear.high)!r})",
        "LINK": ascii(linear.settings.link),
        "CLASSES": ascii(list(linear.classes)),
        "PROBABLE": ascii(linear.probable),
        "QUANTILES": ascii(list(linear.quantiles)),
        "LABELS": f"\nLABELS = {linear.words!a}{_OF_LABELS}" if linear.words else "",
    }


def _of_columns(request: Request, columns: Columns) -> Iterator[str]:
    """The program that reads rows of a table."""
    schema = columns.schema
    before, after = template("predict_columns.py.txt").split("@ARRAYS@")
    words = {
        **_prediction(request),
        "COLUMNS": ascii({name: role for name, role in schema.roles.items() if role not in OPTIONAL}),
        "TAG": ascii(next((name for name, role in schema.roles.items() if role == "tag"), None)),
        "HEADER": ascii(None if schema.header else list(schema.roles)),
        "DELIMITER": ascii(schema.delimiter),
        "QUOTED": repr(schema.quote != "none"),
        "ESCAPE": ascii(None if schema.escape in ("", "none") else schema.escape),
        "MISSING": ascii(columns.missing_words),
        "MISSING_NUMBERS": repr(columns.missing_numbers),
        "DECIMAL": ascii(schema.decimal),
        "THOUSANDS": ascii(schema.thousands),
        "BESIDE": ascii(schema.notation.units if schema.notation else []),
        "WRITTEN": ascii(pattern_of(schema.time_format)),
        "WIDE": str(schema.has_wide_times),
        "WHOLES": str(schema.has_wholes),
        "INTERCEPT": repr(columns.intercept.tolist()),
        "BASE": repr(columns.base.tolist()),
    }
    yield filled(before, words)
    yield "# What is added for each unit of a number, for each score; and the mean of that.\nSLOPES = {\n"
    for slope in columns.slopes:
        yield f"    {slope.name!a}: ({slope.weight.tolist()!r}, {slope.mean.tolist()!r}),\n"
    yield "}\n\n"
    yield "# Where effects have values: at the knots of a number, or at the places of the words of a column; then at\n"
    yield "# the place of any other word, and last at that of a missing value.\nAXES = [\n"
    for axis in columns.axes:
        if isinstance(axis, LevelAxis):
            name = (axis.column, axis.part) if axis.part else axis.column
            yield f"    ({name!a}, {axis.places!a}, {axis.place_of_unknown}, {axis.size - 1}),\n"
        else:
            yield f"    ({axis.column!a}, {axis.knots.tolist()!r}, None, {axis.size - 1}),\n"
    yield "]\n"
    if columns.linear.settings.normalize != "none":
        yield "\n# How many features a row has at a place of each axis, for another word, and for a missing value.\n"
        yield "UNITS = ["
        yield ", ".join(repr(columns.units(axis)) for axis in columns.axes) + "]\n"
    yield "\n# The effects: axes, values, and their mean.\nEFFECTS = {\n"
    for grid in columns.grids:
        yield f"    {grid.name!a}: ({list(grid.axes)!r}, {_flat(grid.values)}, {grid.mean.tolist()!r}),\n"
    yield "}\n" + filled(after, _shared(request))


def _flat(values: Numbers) -> Any:
    return repr(values.ravel().tolist())
