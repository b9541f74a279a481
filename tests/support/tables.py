"""Tables as batches, as derived features need them."""

import csv
import io
from collections.abc import Iterable, Sequence

from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.tables import TableParser
from vwlite.input.schema import ROLES


def table(
    names: Sequence[str], kinds: Sequence[str], rows: Iterable[Sequence[str]], *, zeros: bool = True, **more: int
) -> Batch:
    """The batch of a table with these columns and roles, with the hashes of namespaces, and zeros. more: of Cells."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    parser = TableParser(format="csv", spaces=True)
    cells = Cells([(name, ROLES.index(kind)) for name, kind in zip(names, kinds, strict=True)], zeros=zeros, **more)
    parser.set_table(cells, list(range(len(names))), len(names), ",")
    batch = Batch()
    assert parser.parse(text.getvalue().encode(), batch) == 0
    return batch
