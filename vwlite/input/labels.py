"""Parses labels from cells of columns, as in VW text. For one thread."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells
from vwlite.core.tables.tables import TableParser
from vwlite.input.diagnostics import about_words, explain_cell
from vwlite.input.parsing import ParseOptions
from vwlite.input.schema import ROLES


class LabelParser:
    """unfit: the labels of the last call that the model cannot use."""

    unfit: Sequence[str] = ()

    def __init__(self, options: ParseOptions) -> None:
        o, self._lenient = options, options.lenient_labels
        self._parser = TableParser(
            "csv", labels=o.labels, label_domain=o.label_domain, names=o.class_names, or_numbers=o.or_numbers,
            loss_name=o.loss_name, lenient_labels=o.lenient_labels, stop_at_fault=False,
        )
        self._parser.set_table(Cells([("", ROLES.index("label"))]), [0], 1, ",")

    def parse(self, texts: Sequence[bytes], column: str) -> tuple[Any, dict[int, str]]:
        """The label of each text as a number of a batch, with NaN at the end; and errors, by the place of the text.
        column: the name of the column, for messages."""
        parser, lines, said = self._parser, Batch(), dict[int, str]()
        if parser.parse(b"".join(b'"' + text.replace(b'"', b'""') + b'"\n' for text in texts), lines):
            for code, i, *_ in parser.faults(lines):
                said[i] = explain_cell(code, texts[i], 0, len(texts[i]), parser, column)
                if code == "label" and parser.labels is None and not self._lenient:
                    words = [text.decode("utf-8", "surrogateescape") for text in texts if text]
                    said[i] += about_words(words[:3])
        self.unfit = parser.unfit_labels
        return np.append(np.array(lines.label, dtype=np.float64), np.nan), said
