"""Expressions of SQL that both forms of a model have: over a table of features, and over a table of columns."""

from vwlite.errors import UsageError
from vwlite.export.linear import Linear
from vwlite.output.text import printable

REFERENCE = "\0"  # around one of dbt: nothing else in a query has this character
# 1 / (1 + exp(-p)), without overflow in exp(), which is an error in some databases.
_SIGMOID = "(CASE WHEN {p} < -700 THEN 0.0 WHEN {p} > 700 THEN 1.0 ELSE 1.0 / (1.0 + EXP(-({p}))) END)"
_FUNCTIONS = {"identity": "{p}", "sigmoid": "{times}" + _SIGMOID, "exp": "EXP({p})"}


def sigmoid(p: str) -> str:
    return _SIGMOID.format(p=p)


def linked(linear: Linear, p: str = "p") -> str:
    """The prediction of a clipped score."""
    return linear.link(_FUNCTIONS, "{}.0".format, p)


def part_of(probable: str, score: str, largest: str) -> str:
    """The term of a class in the sum of probabilities, softmax or sigmoid. If all sigmoids are 0, only their ratios
    matter."""
    ratio = f"{score} - {largest} < -700 THEN 0.0 ELSE EXP({score} - {largest}) END)"
    if probable == "softmax":
        return f"(CASE WHEN {ratio}"
    return f"(CASE WHEN {largest} >= -700 THEN {sigmoid(score)} WHEN {ratio}"


def clipped(low: float, high: float, score: str = "score") -> str:
    cases = ""
    if low > -float("inf"):
        cases += f" WHEN {score} < {low!r} THEN {low!r}"
    if high < float("inf"):
        cases += f" WHEN {score} > {high!r} THEN {high!r}"
    return f"CASE{cases} ELSE {score} END" if cases else score


def rank(k: int, count: int, name: str) -> str:
    """How many of the columns NAME1 ... are before that of number k, from 1, in ascending order."""
    before = (f"CASE WHEN {name}{j} {'<=' if j < k else '<'} {name}{k} THEN 1 ELSE 0 END" for j in range(1, count + 1)
              if j != k)
    return " + ".join(before)


def literal(name: str | None) -> str:
    """A string literal. NUL, which would end the statement, becomes U+FFFD."""
    if name is None:
        return "NULL"
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")
    return "'" + shown.replace("'", "''") + "'"


def is_utf8(text: str) -> bool:
    """Whether a text has no surrogates, which stand for other bytes. Databases have no such words."""
    return text.encode("utf-8", "ignore").decode() == text


def identifier(name: str) -> str:
    """A quoted name. UsageError for a name that no database accepts."""
    if not name or "\0" in name or not is_utf8(name):
        raise UsageError(f"{printable(name)!r} cannot be the name of a table or a column in SQL")
    return '"' + name.replace('"', '""') + '"'
