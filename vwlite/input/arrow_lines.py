"""Rows of Arrow as lines of text, which are the same however the rows are divided, and the rows of such lines.

A line is a row of CSV. Times are their numbers, and a category is its word, so the values come back as they were.
"""

import json
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from vwlite.input.arrow import as_plain
from vwlite.input.schema import category_columns

QUOTE, NEWLINE = ord('"'), ord("\n")


def lines_of(rows: Any) -> tuple[bytes, list[bytes]]:
    """The schema, serialized, and the lines of a pyarrow.RecordBatch. Of its metadata, which may have the number of
    rows of a file, the schema has the categories of pandas alone."""
    pa, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    plain, fields = [], []
    for field, column in zip(rows.schema, rows.columns, strict=True):
        is_words = pa.types.is_dictionary(field.type) and pa.types.is_string(field.type.value_type)
        plain.append(_numbered(pa, as_plain(column)))
        fields.append((field.name, pa.string() if is_words else field.type))  # the reader decides what is coded
    out = pa.BufferOutputStream()
    names = [*map(str, range(len(plain)))]
    csv.write_csv(pa.table(plain, names), out, csv.WriteOptions(include_header=False))
    text = out.getvalue().to_pybytes()
    bytes_ = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((bytes_ == NEWLINE) & (np.cumsum(bytes_ == QUOTE) % 2 == 0)).tolist()
    lines = [text[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    categories = sorted(category_columns(rows.schema.metadata or {}))
    columns = [{"field_name": name, "pandas_type": "categorical"} for name in categories]
    metadata = {"pandas": json.dumps({"columns": columns})} if columns else None
    return pa.schema(fields, metadata).serialize().to_pybytes(), lines


def write_lines(path: str, header: bytes, lines: Iterable[bytes], dropped: Iterable[str]) -> None:
    """Write a file of Arrow with the rows of these lines. header: their schema. dropped: columns that options name,
    which are missing in the lines and are null in the file."""
    pa, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    schema = pa.ipc.read_schema(pa.BufferReader(header))
    plain = [as_plain(pa.array([], kind)).type for kind in schema.types]
    numbered = {str(i): _numbered(pa, pa.array([], kind)).type for i, kind in enumerate(plain)}
    text = b"".join(line + b"\n" for line in lines)
    found = csv.read_csv(
        pa.BufferReader(text), csv.ReadOptions(column_names=[*numbered], block_size=len(text) + 1),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(column_types=numbered, null_values=[""], strings_can_be_null=True,
                           quoted_strings_can_be_null=False),
    )
    columns = [column.cast(kind).cast(field.type) for column, kind, field in
               zip(found.columns, plain, schema, strict=True)]
    table = pa.Table.from_arrays(columns, schema=schema)
    for name in dropped:
        if name not in schema.names:
            table = table.append_column(name, pa.nulls(len(table)))
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _numbered(pa: Any, column: Any) -> Any:
    """A column, with numbers in place of times."""
    wide = pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type) or pa.types.is_duration(column.type)
    if wide or pa.types.is_temporal(column.type):
        return column.cast(pa.int64() if wide else pa.int32())
    return column
