"""Reads rows in the features of a model: those of a shard, and the sample."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.solve.rows import Rows
from vwlite.errors import DataError
from vwlite.input.part import numbers_of_lines
from vwlite.model import Model
from vwlite.model.learners import make_expander
from vwlite.runs.options import SourceOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.source import DataNames, Source
from vwlite.training.auto.reading import learnable

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore


class ModelRows:
    """The labelled rows of DATA, in order, with the features of a model. lines: the numbers of their lines. DataError
    for rows that the model cannot have."""

    def __init__(
        self, data: DataPlan, how_bad: Mapping[str, Any], model: Model, stop: Callable[[], bool],
        features: "NameStore | None" = None,
    ) -> None:
        """how_bad: what `BadLines` is told. features: where their names go."""
        settings, lines = replace(model.settings, constant=False), [np.zeros(0, np.uint32)]
        classes = model.settings.outputs.class_names(model.classes, grows=False)
        names = DataNames(classes, columns=model.columns, features=features)
        self.rows = Rows(make_expander(settings))
        with ExitStack() as stack:
            bad = BadLines(stack, **how_bad)
            self.source = Source(data, model.settings, names, bad, SourceOptions())
            self.source.open()
            with self.source.batches(stop) as batches:
                for parsed in batches:
                    bad.take(parsed.bad)
                    if features is not None:
                        features.take(parsed.names)
                    self._add(parsed.batch, lines)
        try:
            self.rows.finish()
        except OverflowError as e:
            raise DataError(str(e)) from None
        self.lines = np.concatenate(lines)

    def _add(self, batch: Batch, lines: list[Any]) -> None:
        try:
            self.rows.add(batch)
        except OverflowError as e:
            raise DataError(str(e)) from None
        lines.append(numbers_of_lines(batch)[learnable(batch)].astype(np.uint32))
