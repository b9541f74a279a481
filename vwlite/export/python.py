"""A model as a Python program, which needs only the standard library."""

import os
from collections.abc import Iterator
from pathlib import Path

from vwlite.export import Request
from vwlite.model.feature_names import escaped

TEMPLATE = Path(__file__).with_name("templates") / "predict.py.txt"


def python(request: Request) -> Iterator[str]:
    """The text of the program."""
    linear = request.linear
    s = linear.settings
    before, after = TEMPLATE.read_text(encoding="utf-8").split("@ROWS@")
    named = f"{len(linear.classes)} classes" if linear.classes else f"link {s.link}"
    words = {
        "WHAT": f"{s.algorithm}, {s.loss or 'unknown'} loss, {named}",
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
        "NORMALIZE": ascii(s.normalize),
        "LOW": f"float({str(linear.low)!r})",
        "HIGH": f"float({str(linear.high)!r})",
        "LINK": ascii(s.link),
        "CLASSES": ascii(list(linear.classes)),
        "PROBABLE": ascii(linear.probable),
        "LABELS": f"\nLABELS = {linear.words!a}  # of scores up to 0, and above" if linear.words else "",
    }
    for name, word in words.items():
        before = before.replace(f"@{name}@", word)
    # Last, because a file name may contain anything. It is inside a docstring.
    yield before.replace("@FILE@", escaped(os.path.basename(request.output).encode("utf-8", "surrogateescape")).replace(
        "\\", "_").replace('"', "_"))
    for key, weights, names in linear.rows():
        # The rows are in a raw string, which ends at quotes and cannot have a \ before them.
        shown = "".join(f"\t{escaped(name)}" for name in names).replace('"', "\\x22")
        yield f"{key} {' '.join(map(repr, weights))}{shown}\n"
    yield after
