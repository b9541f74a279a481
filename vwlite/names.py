"""Names of columns, classes and labels: as options have them, with commas between them, quoted as in CSV; and the
namespaces of columns."""

from collections.abc import Sequence
from functools import lru_cache

_BLANKS = " \t\r\n"  # as in the header of a table: other blanks of Unicode belong to a name


def names_in(text: str) -> list[str]:
    """The names in a text, without blanks at their ends. ValueError for a quote that is not closed."""
    if '"' not in text:
        return [name.strip(_BLANKS) for name in text.split(",")]
    import csv  # here for the time of a start: few names are quoted

    try:
        return [name.strip(_BLANKS) for name in next(csv.reader([text], strict=True, skipinitialspace=True))]
    except csv.Error as e:
        raise ValueError(f"{text!r} is not a list of names with commas between them: {e}") from None


def names_text(names: Sequence[str]) -> str:
    """The text in which `names_in` finds these names."""
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def can_name(word: str) -> bool:
    """Whether a class or a label can have this name: blanks are not at its ends, and it has no control characters."""
    return bool(word) and word == word.strip(" ") and min(word) >= " "


@lru_cache(1 << 10)  # the server asks for those of the same table with each request
def namespace_of(name: str) -> str:
    """The namespace of a column: its name without what VW text cannot hold."""
    return "".join("_" if c <= " " or c in ":|" else c for c in name)


def absent_name(space: str) -> str:
    """The name of the feature of an absent cell of the column of this namespace."""
    return f"{space}?"
