"""Models read from files of any command or of an estimator, for prediction. They need NumPy only."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.predicted import linked, predicted_by
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.learn.scorer import Scorer
from vwlite.core.tables.tables import TableParser
from vwlite.core.text.parser import Parser, detect
from vwlite.errors import UsageError
from vwlite.estimators.errors import as_python
from vwlite.estimators.frames import frame_of, is_frame, prepared
from vwlite.estimators.learned import FittedState, Scores, score, scores_of, warn_of_absent
from vwlite.estimators.rows import DictionaryRows, are_dictionaries, matrix_of
from vwlite.input import ON_UNKNOWN
from vwlite.input.diagnostics import bad_lines
from vwlite.input.formats import FORMATS, imported
from vwlite.input.schema import Schema
from vwlite.input.tables import TableReader, json_layout
from vwlite.model.absent import applied_schema, known_columns
from vwlite.model.feature_names import CONSTANT
from vwlite.model.learners import restore
from vwlite.model.read import read_model
from vwlite.runs.notes import KnownFeatures

if TYPE_CHECKING:
    from vwlite.model.effects import Effects
    from vwlite.model.importances import Importances

OF_LINES = ("auto", *(kind for kind, row in FORMATS.items() if not row.is_table), "jsonl")  # formats of lines
LINES = 1000  # default: lines that are read before the first prediction
BLANK = 1  # the code that the core gives to a line without an example
Floats = NDArray[np.float64]
AnyParser = TypeVar("AnyParser", bound=Parser)


def load_model(
    path: "str | os.PathLike[str]", *, link: str | None = None, on_unknown: str = "error"
) -> "LoadedModel":
    """Read a model of `vwlite train`, `vwlite solve`, Vowpal Wabbit, or of an estimator's `save`.

    link: the link function of predictions in place of that of the model, such as "logistic". on_unknown: what to do
    about a dictionary that has none of the model's columns, whose prediction is the intercept: "error", or "note" for
    a warning. FileNotFoundError if the
    file cannot be opened; ValueError if it is not a model, is truncated or from a newer program, or if the link does
    not fit its loss.
    """
    if on_unknown not in ON_UNKNOWN:
        raise ValueError(f"unknown on_unknown={on_unknown!r}: choose from {', '.join(ON_UNKNOWN)}")
    with as_python():
        model = read_model(os.fspath(path))
        if link is not None:
            predicted_by(model.settings).refuse_link(link, os.fspath(path), "leave it out")
            model.options = model.options | {"link": _checked(model.settings, link)}
        restore(model, model.settings, os.fspath(path), learn=False)  # reject a model that cannot predict
        return LoadedModel(FittedState(model), on_unknown)


def _checked(settings: Settings, link: str) -> str:
    from dataclasses import replace

    from vwlite.algorithms.losses import LINKS

    if link not in LINKS:
        raise UsageError(f"unknown --link {link}: choose from {', '.join(LINKS)}")
    replace(settings, link=link).outputs.check_link()
    return link


class LoadedModel:
    """A model that predicts: lines of text, and rows of matrices, frames, or dictionaries. Threads may share it.

    classes: the names of its classes; None if its predictions are numbers.
    """

    def __init__(self, learned: FittedState, on_unknown: str = "error") -> None:
        self._learned, self._on_unknown = learned, on_unknown
        self._known = known_columns(learned.model(), KnownFeatures.of(learned.model()).features)

    @property
    def classes(self) -> list[str] | None:
        model = self._learned.model()
        return model.settings.outputs.classes(model.class_names())

    @property
    def prediction_columns(self) -> list[str]:
        """The names of the columns of a table of predictions: `prediction`, or `quantile_TAU` of several quantiles."""
        return [*self._learned.settings.outputs.columns]

    @property
    def is_of_table(self) -> bool:
        """Whether it predicts from the columns of a table."""
        return bool(self._learned.model().columns)

    @property
    def labels(self) -> tuple[float, float] | tuple[str, str] | None:
        """The labels in the data that are negative and positive, as numbers or words; None: -1 and 1, or any."""
        return self._learned.settings.labels

    @property
    def options(self) -> dict[str, Any]:
        """The options of the model, by name."""
        return dict(self._learned.model().options)

    def __repr__(self) -> str:
        settings = self._learned.settings
        return f"<vwlite model: {settings.algorithm}, loss {settings.loss or 'unknown'}>"

    def weights(self) -> "list[tuple[str | int, float | dict[str, float]]]":
        """Pairs of feature and weight, by decreasing |weight|, without zeros, as in `vwlite weights`.

        A feature is its name, NAMESPACE^NAME, if the model has names (`--names`, `vwlite names`) or derives it from
        columns, else its index (int). Features that share an index have a pair each, with the same weight. The
        intercept is "Constant". With classes, the weight is a dictionary of the classes with a nonzero weight; the
        largest |weight| determines the order.
        """
        model = self._learned.model()
        keys, table = np.asarray(model.keys), np.asarray(model.weights).reshape(-1, model.records)
        largest = np.abs(table).max(axis=1, initial=0)
        order = np.argsort(-largest, kind="stable")[: np.count_nonzero(largest)]
        names = dict(model.shown_names.by_key)
        if model.settings.constant:
            key = CONSTANT_HASH & ((1 << model.settings.bits) - 1)
            names[key] = [*names.get(key, []), CONSTANT]
        classes = model.class_names() or None  # or quantiles
        found: list[tuple[str | int, float | dict[str, float]]] = []
        for key, row in zip(keys[order].tolist(), table[order].tolist(), strict=True):
            weight = row[0] if classes is None else {c: w for c, w in zip(classes, row, strict=False) if w}
            shown = [name.decode("utf-8", "surrogateescape") for name in names.get(key, [])] or [key]
            found += [(name, weight) for name in shown]
        return found

    def effects(self) -> "Effects":
        """The model in a form to read: see `SparseClassifier.effects_`. ValueError if it is not one of a table."""
        from vwlite.estimators.readable import effects

        return effects(self)

    def importances(self) -> "Importances":
        """How important each column is: see `SparseClassifier.importances_`."""
        from vwlite.estimators.readable import importances

        return importances(self)

    # --- text --------------------------------------------------------------------------------

    @overload
    def predict_lines(
        self, lines: Iterable[str | bytes], *, probabilities: Literal[False] = ..., format: str = ..., ahead: int = ...
    ) -> Iterator[float | str | None]: ...

    @overload
    def predict_lines(
        self, lines: Iterable[str | bytes], *, probabilities: Literal[True], format: str = ..., ahead: int = ...
    ) -> Iterator[dict[str, float] | None]: ...

    def predict_lines(
        self, lines: Iterable[str | bytes], *, probabilities: bool = False, format: str = "auto", ahead: int = LINES
    ) -> Iterator[Any]:
        """The prediction of each line of VW or libsvm text, or of JSON lines for a model of a table, as in
        `vwlite predict`: a number, a dictionary of quantiles, or the name of a class; None for a blank line. Label and
        final newline are optional.

        probabilities: for models of classes, a dictionary of their probabilities. format: vw, libsvm or jsonl; auto
        detects it from the first lines. ahead: how many lines are read before the first prediction; 1: each line is
        predicted before the next is read.
        ValueError for a bad line, with its number and column, from 1.
        """
        loss = self._learned.settings.loss
        if probabilities and self.classes is None:
            raise ValueError("probabilities=True needs classes: for a model of two labels, use link='logistic'")
        if probabilities and loss != "logistic":
            raise ValueError(f"probabilities=True needs a model of loss logistic or softmax, not {loss}")
        if format not in OF_LINES:
            raise ValueError(f"unknown format={format!r}: choose from {', '.join(OF_LINES)}")
        if format == "jsonl":
            self._json_parser(None)  # ValueError unless the model has columns
        if isinstance(lines, str | bytes):
            lines = lines.splitlines()
        return self._predictions(iter(lines), probabilities, format, max(1, ahead))

    def _predictions(self, lines: Iterator[str | bytes], probabilities: bool, format: str, ahead: int) -> Iterator[Any]:
        with self._learned.lock:
            scorer = self._learned.scorer()
        parser: Parser | None = None
        batch, number = Batch(), 1
        while block := [_line(line, number + i) for i, line in enumerate(islice(lines, ahead))]:
            if parser is None:
                format = self._detected(b"\n".join(block), number) if format == "auto" else format
                if any(block):  # blank lines do not show the format
                    parser = self._parser(format, scorer.class_names)
                else:
                    format = "auto"
            at = next((i for i, line in enumerate(block) if b"\n" in line), None)
            if at is not None:
                raise ValueError(f"line {number + at}: contains a newline")
            batch.source, batch.first_line = "line", number
            reader = parser or self._parser("vw", scorer.class_names)
            if reader.parse(b"\n".join(block) + b"\n", batch):
                bad = bad_lines(reader, b"\n".join(block) + b"\n", batch)[0]
                raise ValueError(f"line {bad.line}, column {bad.column}: {bad.message}")
            with self._learned.lock:
                answers = self._of_batch(scorer, batch, probabilities)
            yield from answers
            number += len(block)

    def _detected(self, text: bytes, number: int) -> str:
        """The format of lines. ValueError if it cannot be detected."""
        is_object = text.lstrip().startswith(b"{")
        if is_object and self._learned.model().columns:
            return "jsonl"
        found = detect(text)
        if found is None:
            if is_object:
                self._json_parser(None)  # raises the reason
            raise ValueError(f"line {number}: neither VW text nor libsvm: set format=")
        return found

    def _parser(self, format: str, names: ClassNames | None) -> Parser:
        if format == "jsonl":
            return self._json_parser(names)
        kind: type[Parser] = imported(FORMATS[format].parser)
        parser, columns = self._new_parser(kind, format, names), self._learned.model().columns
        if format == "vw" and columns:
            parser.unescapes = Schema.restored(columns).is_escaped
        return parser

    def _json_parser(self, names: ClassNames | None) -> TableParser:
        """A parser of JSON lines. ValueError if the model has no columns."""
        columns = self._learned.model().columns
        if not columns:
            raise ValueError("the model was not trained on a table: it has no column names")
        parser = self._new_parser(TableParser, "jsonl", names)
        layout = json_layout("", TableReader(schema=applied_schema(self._learned.model())))
        settings = self._learned.settings
        layout.prepare(parser, settings.hash == "all", zeros=settings.derived is not None)
        return parser

    def _new_parser(self, kind: type[AnyParser], format: str, names: ClassNames | None) -> AnyParser:
        s = self._learned.settings
        parser = kind(
            format=format, hash_all=s.hash == "all", labels=s.labels, label_domain=s.outputs.domain, names=names,
            loss_name=s.outputs.learned_by, lenient_labels=True, spaces=s.needs_spaces,
            places=format == "vw" and bool(self._learned.model().columns),
        )
        parser.zeros = s.derived is not None
        return parser

    def _of_batch(self, scorer: Scorer, batch: Batch, probabilities: bool) -> list[Any]:
        predicted = predicted_by(self._learned.settings)
        found = scores_of(scorer, [batch], len(batch), probabilities or bool(predicted.outputs.taus))
        names = scorer.class_names.first(scorer.named) if scorer.class_names else predicted.outputs.tau_names
        answers = predicted.answers(found.predicted, found.probabilities, names)
        if batch.kind.tobytes().count(BLANK) == 0:
            return answers
        rest = iter(answers)
        return [None if kind == BLANK else next(rest) for kind in batch.kind]

    # --- matrices, frames, dictionaries ------------------------------------------------------

    def _score(self, X: Any, probabilities: bool = False) -> Scores:
        settings = self._learned.settings
        with as_python():
            if are_dictionaries(X):
                with self._learned.lock:
                    scorer = self._learned.scorer()
                parser, notes = self._json_parser(scorer.class_names), self._on_unknown == "note"
                found = score(self._learned, DictionaryRows(X, parser, self._known, notes=notes), probabilities)
                warn_of_absent(self._learned, parser.take_absents(), len(X))
                return found
            if isinstance(X, Mapping):
                raise TypeError("X is one row: pass a list of rows")
            if not is_frame(X):
                return score(self._learned, matrix_of(X, settings), probabilities)
            columns = self._learned.model().columns
            if not columns:
                raise ValueError("X is a frame, but the model was not trained on a table: it has no column names")
            rows = prepared(frame_of(X), applied_schema(self._learned.model()), settings)
            found = score(self._learned, rows, probabilities)
            warn_of_absent(self._learned, rows.take_absents(), rows.rows)
            return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The predictions of `vwlite predict`, one for each row: an array of numbers or of names of classes; of several
        quantiles, [rows, quantiles].

        X: a sparse matrix of scipy or an array, where column j is the feature of index j; or, for a model of a table, a
        frame, or a list of dictionaries, as in JSON lines: {"device": "phone", "price": 3.5}. ValueError
        or TypeError with the row, from 0, for what is not valid.
        """
        predicted = predicted_by(self._learned.settings)
        found = self._score(X, bool(predicted.outputs.taus))
        return predicted.predictions(found.predicted, found.probabilities, self.classes or ())

    def decision_function(self, X: Any) -> Floats:
        """The scores of each row, neither clipped nor linked: [rows], or with classes [rows, classes], or [rows,
        quantiles]."""
        raw: Floats = self._score(X).raw
        return raw if self._learned.model().records > 1 else raw[:, 0]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of -1 and 1, or of the classes, [rows, classes]. ValueError unless the loss is logistic."""
        loss = self._learned.settings.loss
        if loss != "logistic":
            raise ValueError(f"loss {loss or 'unknown'} does not give probabilities, only logistic and softmax do")
        found = self._score(X, self.classes is not None)
        if found.probabilities is not None:
            return np.asarray(found.probabilities)
        p = linked(found.predicted, "logistic")
        return np.column_stack([1 - p, p])


def _line(line: str | bytes, number: int) -> bytes:
    """A line without the newline at its end."""
    if not isinstance(line, str | bytes):
        raise TypeError(f"line {number} is of type {type(line).__name__}: a line is a str or bytes, as '1 |f a b'")
    data = line if isinstance(line, bytes) else line.encode("utf-8", "surrogateescape")
    return data.removesuffix(b"\n").removesuffix(b"\r")
