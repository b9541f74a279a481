"""Models in other formats: tables of weights, and programs that predict. A format is a row of EXPORTS.

    tables.py    tsv and json, which `vwlite import` reads back
    sql.py       a table and the queries over it; sql_select.py: one query over a table of columns, whose
                 cells sql_cells.py reads, and effects sql_effects.py adds up, or sql_arrays.py
    c.py         a header, from templates/predict_columns.h or predict.h
    python.py    a program, from templates/predict_columns.py.txt or predict.py.txt
    onnx.py      a graph of ONNX
    mlflow.py    a folder of MLflow, with the model file
    vw.py        a model file of Vowpal Wabbit

All but the last use `Linear`: a weight for each feature and class, and the clipping and link of the score; programs of
models of tables use `Columns` (columns.py), the same as effects of columns. An exported model cannot be continued: it
does not have the state of the rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vwlite.export.linear import Linear
    from vwlite.model import Model


DIALECTS = ("any", "sqlite", "duckdb", "postgres")  # of a SELECT; any: all of them


@dataclass(frozen=True)
class Request:
    """A model to export, and the output file."""

    model: "Model"
    path: str  # of the model
    output: str
    table: tuple[str, str] | None = None  # sql: the table of the database, and its column of ids
    dialect: str = "any"  # sql: one of DIALECTS

    @cached_property
    def linear(self) -> "Linear":
        from vwlite.export.linear import linear  # not at the top: `vwlite export --help` reads the rows

        return linear(self.path, self.model)


@dataclass(frozen=True)
class Export:
    """A format to export to."""

    help: str
    module: str
    function: str  # in the module, from a Request to the content of the file
    is_folder: bool = False  # what the function writes, from a Request and a path
    is_text: bool = True

    def content(self, request: Request) -> "bytes | Iterator[str]":
        found: bytes | Iterator[str] = getattr(import_module(self.module), self.function)(request)
        return found

    def fill(self, request: Request, folder: str) -> None:
        getattr(import_module(self.module), self.function)(request, folder)


EXPORTS = {
    "vw": Export("a model of Vowpal Wabbit", "vwlite.export.vw", "vw", is_text=False),
    "tsv": Export("a table of index, weight and names; `vwlite import` reads it", "vwlite.export.tables", "tsv"),
    "json": Export("the same as one object", "vwlite.export.tables", "json_text"),
    "sql": Export("one SELECT over --table; without it, tables and queries over features", "vwlite.export.sql", "sql"),
    "c": Export("a header without dependencies, for rows of a table, or VW text and libsvm", "vwlite.export.c", "c"),
    "python": Export(
        "a program that reads CSV, or lines, and prints predictions, of the standard library alone",
        "vwlite.export.python", "python",
    ),
    "onnx": Export("a model of a table, for runtimes of ONNX; needs the package onnx", "vwlite.export.onnx", "onnx",
                   is_text=False),
    "mlflow": Export(
        "a folder that MLflow loads and serves; needs the package mlflow-skinny", "vwlite.export.mlflow", "mlflow",
        is_folder=True,
    ),
}
