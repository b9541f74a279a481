"""Frames as rows that the core reads: objects with `__arrow_c_stream__`, of pandas, polars, pyarrow or duckdb.

None of these is imported. `vwlite/input/schema.py` decides the roles of columns, as for tables in files.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.tables.arrow import Frame, number_hashes
from vwlite.core.tables.cells import Cells
from vwlite.input.diagnostics import a_time, about_time
from vwlite.input.schema import (
    SAMPLE,
    RoleOptions,
    Schema,
    SchemaError,
    category_columns,
    index_columns,
    role_of,
    times_of,
)
from vwlite.input.unspaced import unspaced_of
from vwlite.names import namespace_of


def is_frame(x: Any) -> bool:
    """Whether x implements the Arrow C stream protocol."""
    return hasattr(x, "__arrow_c_stream__")


def frame_of(x: Any) -> Frame:
    """A frame as the core reads it. ValueError if x has no columns; ImportError if pandas has no pyarrow."""
    if type(x).__module__ == "pyarrow.lib" and hasattr(x, "validate"):  # checks the lengths of its buffers
        x.validate()
    try:
        stream = x.__arrow_c_stream__()
    except ImportError as e:
        kind = type(x).__module__.partition(".")[0]
        raise ImportError(f"X is a frame of {kind}, which needs pyarrow: pip install 'vwlite[sklearn]' ({e})") from None
    except Exception as e:
        why = _not_of_one_kind(x, e)
        if why is None:
            raise
        raise ValueError(why) from None
    return Frame(stream)


def _not_of_one_kind(x: Any, e: Exception) -> str | None:
    """What to do about the column of a pandas frame that pyarrow cannot convert; None: another error."""
    found = re.search(r"Conversion failed for column (.*) with type (.*?)'?\)?$", str(e), re.DOTALL)
    if type(e).__module__ != "pyarrow.lib" or found is None or type(x).__module__.partition(".")[0] != "pandas":
        return None
    name, kind = found[1], found[2]
    place = next((i for i, column in enumerate(x.columns) if str(column) == name), None)
    kinds = set() if place is None else {type(value).__name__ for value in x.iloc[:, place].dropna()}
    if len(kinds) > 1:
        kind = " and ".join(sorted(kinds))
        return (f"column {name!r} has values of several types, {kind}: make them all one, such as words with "
                f"X[{name!r}].astype(str), or remove the column from X")
    return (f"column {name!r} has values of the type {next(iter(kinds), kind)}, of which no feature comes: make them "
            "numbers or words, or remove the column from X")


def is_column(frame: Frame, name: str, y: Any) -> bool:
    """Whether y has the values of a column, so that this is the label, and no feature. Columns of types whose values
    are not read count as y, if they have its name."""
    place = frame.names.index(name)
    indices = np.empty(frame.rows, dtype=np.int64)
    values = frame.distinct(place, indices)
    if values is None or len(y) != frame.rows:
        return True
    words = [value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value for value in values]
    column = np.empty(len(words) + 1, dtype=object)  # the last one is that of null, whose index is -1
    column[:-1] = words
    return bool(np.all(column[indices] == np.asarray(y, dtype=object)))


def schema_of(frame: Frame, options: RoleOptions, y: Any = None) -> Schema:
    """The roles of the columns of a frame: from the options, else from their types. The index is omitted unless an
    option names it. ValueError if an option names a missing column.

    y: the labels, whose name is kept; a column of this name with its values is no feature, unless an option says so.
    """
    index = index_columns(frame.names, frame.metadata)
    label = getattr(y, "name", None)
    if isinstance(label, str) and label in frame.names and not is_column(frame, label, y):
        label = None
    if isinstance(label, str) and label in frame.names and options.roles().get(label, "drop") == "drop":
        options = replace(options, label=label, drop=[name for name in options.drop if name != label])
    try:
        numbers = numbers_of(frame, options, {*options.roles(), *index})
        schema = options.decide(frame.names, numbers, index, category_columns(frame.metadata), times_of(frame))
        texts = {n: frame.first_words(i, SAMPLE) for i, n in enumerate(frame.names) if schema.roles[n] == "text"}
        schema = replace(schema, unspaced=unspaced_of(texts))
    except SchemaError as e:
        raise ValueError(str(e).replace("--", "")) from None
    roles = {n: role for n, role in schema.roles.items() if role != "drop" or n not in index}
    if isinstance(label, str) and label not in frame.names:
        roles[label] = "label"
    return replace(schema, roles=roles)


def numbers_of(frame: Frame, written: RoleOptions | Schema, known: Collection[str] = ()) -> list[bool | None]:
    """For each column, whether it has numbers, also as words; None: it has no value. written: how numbers are written,
    and which words mean a missing value. known: columns that have a role, whose words are not looked at."""
    words = written.missing if isinstance(written, Schema) else written.missing_words
    cells = Cells([], missing=words, notation=written.notation)
    looks = [words and name not in known for name, words in zip(frame.names, frame.words, strict=True)]
    return [frame.has_numbers(i, cells) if looks[i] else is_number for i, is_number in enumerate(frame.numeric)]


def decided(schema: Schema, frame: Frame) -> Schema:
    """The schema with roles for columns that had no value before, if they have one in this frame."""
    if not (undecided := {*schema.undecided}):
        return schema
    categories, times = category_columns(frame.metadata), times_of(frame)
    return schema.with_roles({name: "time" if name in times else role_of(is_number and name not in categories)
                              for name, is_number in zip(frame.names, numbers_of(frame, schema), strict=True)
                              if name in undecided and is_number is not None})


def columns_of(frame: Frame, schema: Schema) -> list[str]:
    """The names of the columns of a frame, without the label, and without those of an index that the schema does not
    have."""
    index = index_columns(frame.names, frame.metadata)
    return [name for name in frame.names
            if schema.roles.get(name) != "label" and (name in schema.roles or name not in index)]


def cells_of(schema: Schema, settings: Settings, derives: bool = False, logs: bool = False) -> Cells:
    """The columns for the core. derives, logs: as of `prepared`."""
    return Cells(schema.cells, missing=schema.missing, hash_all=settings.hash == "all",
                 notation=schema.notation, zeros=derives or settings.derived is not None, logs=logs,
                 **schema.names_of_cells)


def prepared(
    frame: Frame, schema: Schema, settings: Settings, *, label: Any = None, importance: Any = None,
    spaces: bool = False, derives: bool = False, logs: bool = False,
) -> Frame:
    """The frame, checked, with the roles of its columns. settings: of the model. spaces: batches have the hashes of
    namespaces. derives: features will be derived from columns, so that batches have zeros too. logs:
    names of columns and words are logged.

    ValueError for a column that is missing or has another type, and for a number that is not finite: a null is a
    missing value, NaN is an error.
    """
    known = {namespace_of(name) for name, role in schema.roles.items() if role != "drop"}
    for cross in settings.crosses if not schema.open else ():
        unknown = [name for name in cross.split(",") if namespace_of(name) not in known]
        if unknown:
            raise ValueError(f"{cross} cannot be crossed: there are no features of a column {unknown[0]!r}")
    if schema.open:  # the role of a new column is detected from its values
        new = dict.fromkeys(schema.unknown(columns_of(frame, schema)), "auto")
        schema = replace(schema, roles={**schema.roles, **new}, open=False)
    try:
        places = schema.positions(frame.names)
    except SchemaError as e:
        raise ValueError(str(e)) from None
    label, importance = (
        None if x is None else np.ascontiguousarray(x, dtype=np.float64) for x in (label, importance)
    )
    spaces = spaces or derives or logs or settings.needs_spaces
    frame.prepare(cells_of(schema, settings, derives, logs), places, label=label, importance=importance, spaces=spaces)
    fault = frame.check()
    if fault is not None:
        what, row, column = fault
        name = frame.names[column]
        if what == "time":
            indices = np.empty(frame.rows, dtype=np.int64)
            values = frame.distinct(column, indices)
            cell = values[indices[row]] if values else None
            advice = about_time(cell, schema.time_format, "time_format=") if isinstance(cell, bytes) else ""
            words = f"a time is {a_time(schema.time_format, 'time_format=')}{advice}"
            raise ValueError(f"X contains an invalid time, at row {row}, column {name!r}: {words}")
        if what == "word":
            raise ValueError(f"X contains a word that is not a number, at row {row}, in the numeric column {name!r}")
        if what == "NaN":
            raise ValueError(f"X contains NaN, at row {row}, column {name!r}: a missing number is a null, or impute it")
        raise ValueError(
            f"X contains infinity, or a number too large for a 32-bit float, at row {row}, column {name!r}: scale it"
        )
    return frame


def hashes_of(schema: Schema, settings: Settings) -> Any:
    """The hashes of the features of the columns, an array of uint32; None if a column is not numeric."""
    roles = {name: role for name, role in schema.roles.items() if role != "label"}
    if any(role != "numeric" for role in roles.values()):
        return None
    found = np.zeros(len(roles), dtype=np.uint32)
    number_hashes(found, cells_of(replace(schema, roles=roles), settings))
    return found
