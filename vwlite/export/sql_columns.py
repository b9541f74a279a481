"""The features of a table in a database, as a view: the same as those of `vwlite predict`, in SQL.

A numeric column is one feature with a known index. The index of a word is found in a table of the words whose names
the model has, because SQL cannot compute the hash.
"""

import csv
from collections.abc import Iterator

from vwlite.errors import DataError, UsageError
from vwlite.export.linear import Linear
from vwlite.hashing import feature_hash
from vwlite.input.schema import NAMES, OPTIONAL, Schema
from vwlite.model.weights import intercept_key
from vwlite.names import namespace_of
from vwlite.output.text import printable

HEAD = """\
-- A model of vwlite: {what}.
--
-- The columns are those of the table {table}, whose rows {id} tells apart: its values are unique. Then
--
--     SELECT example, prediction FROM vwlite_predictions;
--
-- is what `vwlite predict` prints{more}.
-- The column `example` is {id}.

"""

WORDS = """\
CREATE TABLE vwlite_words (number INTEGER NOT NULL, word VARCHAR(10000) NOT NULL, feature BIGINT NOT NULL,
                           PRIMARY KEY (number, word));
"""

_CELLS = """
-- The cells of the columns of words, by the number of the column.
CREATE VIEW vwlite_cells_0 AS
"""
_CELL = """\
SELECT t.{id} AS example, {number} AS number, TRIM(CAST(t.{column} AS VARCHAR(10000)), ' \t\r\n') AS cell FROM {table} t
"""
_FITTING = """\
-- This model knows them with _ for what VW text cannot hold.
CREATE VIEW vwlite_cells_{after} AS
SELECT example, number, {cell} AS cell FROM vwlite_cells_{before};
"""
_FEATURES = """
-- The features of each row; the first is there for rows that have no other.
CREATE VIEW vwlite_features AS
SELECT t.{id} AS example, CAST(0 AS BIGINT) AS feature, CAST(0 AS DOUBLE PRECISION) AS value FROM {table} t
"""
_NUMBER = """\
UNION ALL
SELECT t.{id}, {key}, CAST(CAST(t.{column} AS REAL) AS DOUBLE PRECISION) FROM {table} t WHERE t.{column} IS NOT NULL
"""
_WORDS = """\
UNION ALL
SELECT c.example, w.feature, CAST(1 AS DOUBLE PRECISION)
FROM vwlite_cells_{last} c JOIN vwlite_words w ON w.number = c.number AND w.word = c.cell
"""
_UNFIT = [*map(chr, range(1, 0x21)), ":", "|"]  # for VW text, which models of 0.2.0 have in no name
_AT_ONCE = 12  # replaced by one view: SQLite limits the depth of nested calls


class SqlColumns:
    """The columns of a model as they are in a database. DataError or UsageError if SQL cannot make their features.

    path: the model, for messages. table: its name, which may have a schema before it. id: the column that names a row.
    """

    def __init__(self, linear: Linear, path: str, table: str, id: str) -> None:
        if not linear.model.columns:
            raise DataError(f"{path}: --table needs a model of a table, but this model has no column names: omit it")
        schema = Schema.restored(linear.model.columns)
        self._fits = schema.names == NAMES[0]
        if schema.open:
            raise DataError(f"{path}: a model of JSON lines has no fixed columns: train on CSV, or omit --table")
        if any(linear.unseen):
            raise DataError(
                f"{path}: a model of --algorithm {linear.settings.algorithm} has a weight for words it has not seen, "
                "which a query cannot find: omit --table"
            )
        self.table = ".".join(map(identifier, _parts(table)))
        self.id = identifier(id)
        self._linear = linear
        self.numbers: list[tuple[str, int]] = []  # columns, and the index of the feature
        self.words: list[tuple[str, list[tuple[str, int]]]] = []  # columns, and the words with their indices
        known = {key} if (key := intercept_key(linear.settings)) is not None else set()
        for name, role in schema.roles.items():
            if role in OPTIONAL:
                continue
            space = namespace_of(name).encode("utf-8", "surrogateescape")
            if role == "numeric":
                self.numbers.append((identifier(name), self._key(space, space)))
                known.add(self.numbers[-1][1])
            elif role == "categorical":
                found = self._words_of(space)
                self.words.append((identifier(name), found))
                known.update(key for _, key in found)
            else:
                kind = "of text, whose words SQL cannot split" if role == "text" else f"of the role {role}"
                raise DataError(
                    f"{path}: column {printable(name)} is {kind}: omit --table, or use --to c or --to python"
                )
        without = [key for key, _, _ in linear.rows() if key not in known]
        if without:
            raise DataError(
                f"{path}: {len(without)} features have a weight but no name, and a query finds words by names: "
                f"train with --names, or add them with vwlite names {path} DATA"
            )

    def _key(self, name: bytes, space: bytes) -> int:
        return feature_hash(name, space, hash_all=self._linear.settings.hash == "all") & self._linear.mask

    def _words_of(self, space: bytes) -> list[tuple[str, int]]:
        """The words of a column that have names in the model."""
        prefix, found = space + b"^" + space + b"=", {}
        for key, name in self._linear.model.names:
            if name.startswith(prefix) and key == self._key(name[len(space) + 1 :], space):
                found[name[len(prefix) :].decode("utf-8", "surrogateescape")] = key
        return sorted(found.items())

    def rows(self) -> Iterator[tuple[int, str, int]]:
        """The rows of the table of words. Words that are not UTF-8 are omitted: databases cannot store them."""
        for number, (_, words) in enumerate(self.words):
            for word, key in words:
                if not any("\ud800" <= c <= "\udfff" for c in word):
                    yield number, word, key

    def views(self) -> Iterator[str]:
        """The statements that create the view of features."""
        names = {"table": self.table, "id": self.id}
        last = 0
        if self.words:
            cells = (_CELL.format(column=column, number=i, **names) for i, (column, _) in enumerate(self.words))
            yield _CELLS + "UNION ALL\n".join(cells) + ";\n"
            for begin in range(0, len(_UNFIT) if self._fits else 0, _AT_ONCE):
                cell = "cell"
                for c in _UNFIT[begin : begin + _AT_ONCE]:
                    cell = f"REPLACE({cell}, '{c}', '_')"
                yield _FITTING.format(before=last, after=last + 1, cell=cell)
                last += 1
        yield _FEATURES.format(**names)
        for column, key in self.numbers:
            yield _NUMBER.format(column=column, key=key, **names)
        if self.words:
            yield _WORDS.format(last=last)
        yield ";\n"


def _parts(table: str) -> list[str]:
    """`schema.table` as its parts; a part in double quotes may have a dot."""
    try:
        return next(csv.reader([table], delimiter=".", strict=True))
    except (csv.Error, StopIteration):
        raise UsageError(f"--table {printable(table)}: expected a name, or names with dots between them") from None


def identifier(name: str) -> str:
    """A quoted name. UsageError for a name that no database accepts."""
    if not name or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise UsageError(f"{printable(name)!r} cannot be the name of a table or a column in SQL")
    return '"' + name.replace('"', '""') + '"'
