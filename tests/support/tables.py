"""Tables as batches, as derived features need them."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.tables import TableParser
from vwlite.input.schema import ROLES

OF_TEXT = ["--label", "y", "--text", "review"]  # of `review_rows`


def text_of(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


def table(
    names: Sequence[str], kinds: Sequence[str], rows: Iterable[Sequence[str]], *, zeros: bool = True, **more: int
) -> Batch:
    """The batch of a table with these columns and roles, with the hashes of namespaces, and zeros. more: of Cells."""
    first, *rest = rows
    text = text_of(first, rest)
    parser = TableParser(format="csv", spaces=True)
    cells = Cells([(name, ROLES.index(kind)) for name, kind in zip(names, kinds, strict=True)], zeros=zeros, **more)
    parser.set_table(cells, list(range(len(names))), len(names), ",")
    batch = Batch()
    assert parser.parse(text.encode(), batch) == 0
    return batch


def written(path: Path, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """A CSV file."""
    path.write_text(text_of(names, rows), newline="")
    return path


def bent_rows(n: int = 1500, seed: int = 3) -> list[list[str]]:
    """Rows of x, z, w and y: a label that needs a curve of z, and the pair of x and w."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(-40, 41, n) / 4, rng.normal(size=n).round(3)
    w = rng.choice(["a", "b c", "d^"], n)
    score = 3 * np.cos(x / 2) * np.where(w == "a", 1, -1) + 3 * (np.abs(z) > 1) - 1
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), "yes", "no")
    return [["" if i % 50 == 7 else f"{a:g}", f"{b:g}", c, label] for i, (a, b, c, label) in
            enumerate(zip(x, z, w, y, strict=True))]


def review_rows(n: int = 1000) -> list[list[str]]:
    """Texts whose label is in pairs of words, and in the ends of names that are all different."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(n):
        good, ends = rng.integers(0, 2, 2)
        judged = ["not bad", "not good"] if rng.integers(0, 2) else ["so good", "so bad"]
        name = f"Film{i:x}{'ella' if ends else 'osso'}"
        text = f"{name}, {judged[1 - good]}: {'a cast | crew' if rng.integers(0, 2) else 'the plot'}!"
        rows.append([text, "yes" if rng.random() < (0.95 if good == ends else 0.6 * good + 0.2) else "no"])
    return rows


def loss(result) -> float:
    """The log loss that the summary of a run begins with."""
    return float(next(line for line in result.err.splitlines() if line.startswith("log loss")).split()[2])
