"""The pages of algorithms and solvers, `pages/NAME.txt`: the text that `vwlite algorithms NAME` prints.
Plain text: a summary, then sections with headings. Not needed for learning. The formulas are those of the
papers with the names of our options; the intercept is never shrunk, truncated, rounded or projected, except by
gd. A name in braces is replaced by a line of `pages/shared-texts`.
"""

import re
from dataclasses import dataclass
from importlib.resources import files

_HEADING = re.compile(r"\n\n(Step|Where d is|Refuses|Cost|Source|Try):\n")


@dataclass(frozen=True)
class Page:
    """What is to be said about one algorithm, in plain text."""

    about: str
    step: str  # the formulas of one step, line by line
    cost: str  # of an example with k features; of a step of a solver
    source: str
    command: str  # options with which a run on data/breast_cancer.train.vw learns something
    refuses: str  # beside what the table and the options already say
    d: str  # what d is in the formulas


def read_page(name: str, folder: str = "pages") -> Page:
    """The page of an algorithm, or with the folder `solver_pages` that of a solver. OSError if it does not exist."""
    here = files("vwlite.algorithms")
    lines = (here / "pages/shared-texts").read_text(encoding="utf-8").splitlines()
    shared = dict(line.split(": ", 1) for line in lines)
    about, *parts = _HEADING.split((here / folder / f"{name}.txt").read_text(encoding="utf-8"))
    text = dict(zip(parts[::2], parts[1::2], strict=True))

    def paragraph(words: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda m: shared[m[1]], " ".join(words.split()))

    return Page(
        paragraph(about),
        text["Step"].rstrip("\n"),
        *(paragraph(text.get(heading, "")) for heading in ("Cost", "Source", "Try", "Refuses", "Where d is")),
    )
