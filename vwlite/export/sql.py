"""A model as a table, and queries that predict with it: standard SQL, and exp(), which all databases have."""

from collections.abc import Iterable, Iterator

from vwlite.errors import DataError
from vwlite.export import Request
from vwlite.export.linear import Linear
from vwlite.export.sql_text import clipped, identifier, linked, literal, part_of

AT_ONCE = 500  # rows of an INSERT

_HEAD = """\
-- A model of vwlite: {what}.
--
-- Fill vwlite_features with the features of the examples, a row for each: the example's number or name, the feature,
-- and its value (1 in VW text without a number), as a 32-bit float. The feature is its index in the model, or the whole
-- 32-bit hash of its name: vwlite.hashing.feature_hash(name, namespace{hash_all}).{named}
-- A feature that stands in an example twice is two rows. An example without features is a row of value 0.
-- Then
--
--     SELECT example, {predictions} FROM vwlite_predictions;
--
-- is what `vwlite predict` prints{more}.

CREATE TABLE vwlite_features (example {any} NOT NULL, feature BIGINT NOT NULL, value DOUBLE PRECISION NOT NULL);
"""

_TABLES = """\
CREATE TABLE vwlite_classes (class INTEGER NOT NULL PRIMARY KEY, name VARCHAR(1000), constant DOUBLE PRECISION NOT NULL,
                             unseen DOUBLE PRECISION NOT NULL);
CREATE TABLE vwlite_weights (feature BIGINT NOT NULL, class INTEGER NOT NULL, weight DOUBLE PRECISION NOT NULL,
                             PRIMARY KEY (feature, class));
"""

_SCORES = """
-- The score of each example and class: before clipping and link.
CREATE VIEW vwlite_scores AS
SELECT f.example AS example, c.class AS class, c.constant + SUM(f.value * COALESCE(w.weight, c.unseen)) AS score
FROM vwlite_features f CROSS JOIN vwlite_classes c
LEFT JOIN vwlite_weights w ON w.feature = {key} AND w.class = c.class
GROUP BY f.example, c.class, c.constant;
"""

_NUMBER = """
CREATE VIEW vwlite_predictions AS
SELECT example, {link} AS prediction
FROM (SELECT example, {clipped} AS p FROM vwlite_scores) AS clipped;
"""

_QUANTILES = """
-- The clipped scores of each example, from the smallest one.
CREATE VIEW vwlite_ordered AS
SELECT example, p, ROW_NUMBER() OVER (PARTITION BY example ORDER BY p) AS place
FROM (SELECT example, {clipped} AS p FROM vwlite_scores) AS clipped;

CREATE VIEW vwlite_predictions AS
SELECT example{columns}
FROM vwlite_ordered GROUP BY example;
"""

_CLASS = """
CREATE VIEW vwlite_predictions AS
SELECT best.example AS example, c.name AS prediction
FROM (SELECT s.example AS example, MIN(s.class) AS class
      FROM vwlite_scores s
      JOIN (SELECT example, MAX(score) AS score FROM vwlite_scores GROUP BY example) AS top
      ON top.example = s.example AND top.score = s.score
      GROUP BY s.example) AS best
JOIN vwlite_classes c ON c.class = best.class;
"""

_PROBABILITIES = """
-- What `vwlite predict --probabilities` prints.
CREATE VIEW vwlite_probabilities AS
SELECT parts.example AS example, c.name AS name, parts.part / sums.part AS probability
FROM (SELECT s.example AS example, s.class AS class, {part} AS part
      FROM vwlite_scores s
      JOIN (SELECT example, MAX(score) AS score FROM vwlite_scores GROUP BY example) AS top
      ON top.example = s.example) AS parts
JOIN (SELECT s.example AS example, SUM({part}) AS part
      FROM vwlite_scores s
      JOIN (SELECT example, MAX(score) AS score FROM vwlite_scores GROUP BY example) AS top
      ON top.example = s.example GROUP BY s.example) AS sums ON sums.example = parts.example
JOIN vwlite_classes c ON c.class = parts.class;
"""


def sql(request: Request) -> Iterator[str]:
    """The statements, or the one over a table of the database. DataError if the model needs more than keys and values;
    UsageError for an invalid name."""
    if request.table is not None:
        from vwlite.export.sql_select import select  # not at the top: the other form needs no effects

        yield from select(request)
        return
    linear = request.linear
    _check(linear, request.path)
    s, k = linear.settings, linear.records
    names = linear.model.names
    named, count = "", k if not linear.classes else len(linear.classes)
    if len(names):
        named = (
            "\n-- Names stand in vwlite_names: JOIN them to a table of names. A name that is not there has no weight."
        )
    what = f"{s.algorithm}, {s.loss or 'an unknown'} loss" + (f", {count} classes" if linear.classes else "")
    predicted = [identifier(name) for name in s.outputs.columns] if linear.quantiles else ["prediction"]
    more = "; its --raw-predictions are in vwlite_scores"
    hash_all = ", hash_all=True" if s.hash == "all" else ""
    yield _HEAD.format(what=what, hash_all=hash_all, named=named, any="VARCHAR(1000)", more=more,
                       predictions=", ".join(predicted))
    yield _TABLES
    if len(names):
        yield "CREATE TABLE vwlite_names (name VARCHAR(10000) NOT NULL, feature BIGINT NOT NULL);\n"
    yield "\n"
    classes = linear.classes or linear.quantiles or linear.words[1:] or (None,)  # of two words, the positive one
    yield from _inserts(
        "vwlite_classes",
        (f"({i + 1}, {literal(name)}, {linear.constant[i]!r}, {linear.unseen[i]!r})" for i, name in enumerate(classes)),
    )
    yield from _inserts(
        "vwlite_weights",
        (
            f"({key}, {i + 1}, {weights[i]!r})"
            for key, weights, _ in linear.rows()
            for i in range(count)
            if weights[i] != linear.unseen[i]
        ),
    )
    yield from _inserts("vwlite_names", (f"({literal(n.decode('utf-8', 'replace'))}, {key})" for key, n in names))
    yield _SCORES.format(key="f.feature" if s.bits == 32 else f"(f.feature & {linear.mask})")
    if linear.classes:
        yield _CLASS
        if linear.probable:
            yield _PROBABILITIES.format(part=part_of(linear.probable, "s.score", "top.score"))
    elif linear.quantiles:
        columns = "".join(f",\n  MAX(CASE WHEN place = {k + 1} THEN {linked(linear)} END) AS {name}"
                          for k, name in enumerate(predicted))
        yield _QUANTILES.format(columns=columns, clipped=clipped(linear.low, linear.high))
    else:
        yield _NUMBER.format(link=linked(linear), clipped=clipped(linear.low, linear.high))


def _check(linear: Linear, path: str) -> None:
    s = linear.settings
    if s.interactions or s.crosses:
        raise DataError(
            f"{path}: a model of interactions cannot be exported to sql, because a query cannot create crosses: "
            "use --to c or --to python"
        )
    if s.normalize != "none":
        instead = "with --table and --id the query has these" if linear.model.columns else "use --to c or --to python"
        raise DataError(
            f"{path}: a model of --normalize {s.normalize} cannot be exported to sql, because a query over features "
            f"would need square roots, which not every database has: {instead}"
        )
    for name in ("keep", "ignore", "ignore_linear"):
        if getattr(s, name):
            raise DataError(
                f"{path}: a model of --{name.replace('_', '-')} cannot be exported to sql, because a table of keys "
                "does not have their namespaces: use --to c or --to python"
            )


def _inserts(table: str, rows: Iterable[str]) -> Iterator[str]:
    waiting: list[str] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == AT_ONCE:
            yield f"INSERT INTO {table} VALUES\n" + ",\n".join(waiting) + ";\n"
            waiting = []
    if waiting:
        yield f"INSERT INTO {table} VALUES\n" + ",\n".join(waiting) + ";\n"
