"""SparseClassifier and SparseRegressor: `vwlite train` and `vwlite predict` with the API of scikit-learn.

Their parameters are the options of `vwlite train`, made from the rows in `vwlite/options`; the build puts
them into `vwlite/__init__.pyi` for type checkers.
"""

import datetime
import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    _check_y,
    check_is_fitted,
    validate_data,
)

from vwlite.algorithms.losses import LINKS, usual_threshold
from vwlite.algorithms.outputs import DOMAINS
from vwlite.algorithms.predicted import linked, predicted_by
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS, AUTO
from vwlite.core.base.elementary import each
from vwlite.core.tables.arrow import Frame
from vwlite.estimators.coefficients import coefficients, intercepts, shown
from vwlite.estimators.columns import OfColumns
from vwlite.estimators.errors import as_python
from vwlite.estimators.frames import columns_of, decided, frame_of, is_frame, prepared, schema_of
from vwlite.estimators.learned import (
    GROUPS,
    ONE_PASS,
    Fitted,
    Scores,
    learn,
    save,
    score,
    warn_of_absent,
    with_columns_named,
)
from vwlite.estimators.options import (
    COLUMNS,
    OF_CLASSIFIER,
    OF_REGRESSOR,
    RUNNING,
    SHAPING,
    Parameter,
    as_typed,
    documented,
    parameters,
)
from vwlite.estimators.rows import matrix_of
from vwlite.estimators.sources import BatchSource, RowsOf
from vwlite.input import MOST_WORDS
from vwlite.input.schema import RoleOptions, Schema
from vwlite.model.absent import applied_schema
from vwlite.model.read import read_model
from vwlite.names import can_name, names_in, names_text, namespace_of
from vwlite.options.spec import Spec
from vwlite.options.types import Labels
from vwlite.output.results import values
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.time_formats import fault_of

Array = Any  # of NumPy, or of scipy where documented
Self = TypeVar("Self", bound="_Sparse")
FEW_CLASSES = 20  # above this, scikit-learn warns if there are more than half as many as rows

_DOC = """
{head}

Equivalent to `vwlite train` with the same --loss, bit for bit: column j of a matrix is the feature of index j in libsvm
text, as scikit-learn's dump_svmlight_file writes it. CSR of float32 or float64 is not copied; values are converted to
float32, and zeros are ignored.

Parameters
----------
{parameters}

Attributes
----------
{attributes}
normalize_ : str
    What was done to the values of each row. With "l2" or "log" there is no coef_: weights_ are of the normalized row.
n_features_in_ : int
feature_names_in_ : array of str
    Column names of X, if it has them.
n_iter_ : int
    Number of passes.
report_ : dict
    The results of the last `fit`, as in the summary of `vwlite train`.

Notes
-----
Errors are ValueErrors with row and column. Learning releases the GIL; Ctrl-C interrupts it and leaves the estimator
unchanged. See `vwlite help python`.
"""


class _Sparse(OfColumns, BaseEstimator):  # type: ignore[misc]
    """The common part of both estimators."""

    _PARAMETERS: Mapping[str, Spec] = {}  # the parameters that are options
    _ALL: Sequence[Parameter] = ()
    initial: str | None
    _learned: Fitted
    _schema: Schema | None = None  # of the frame in `fit`; None: X was a matrix
    _sparse_coef = False  # whether `coef_` is sparse

    def __init__(self, **given: Any) -> None:
        for p in self._ALL:
            setattr(self, p.name, given.pop(p.name, p.default))
        if given:
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(given))}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True  # of frames
        return tags

    # --- options -----------------------------------------------------------------------------

    def _options(self, more: Mapping[str, Any]) -> TrainOptions:
        """The equivalent command-line options. more: settings derived from the data."""
        running = as_typed(vars(self), RUNNING)
        given = [*running, *(["ngram"] if self._roles().ngram != 1 else [])]
        return TrainOptions(
            quiet=not self.verbose, typed=self._shaping() | dict(more), given=frozenset(given), **running
        )

    def _shaping(self) -> dict[str, Any]:
        """The settings that are set, and the loss."""
        found = as_typed(vars(self), {name: SHAPING[name] for name in self._PARAMETERS if name in SHAPING})
        if not found.get("softmax") and self.initial is None:
            found.setdefault("loss", self._default_loss(found.get("algorithm", "gd")))
        return found

    def _default_loss(self, algorithm: str) -> str:
        raise NotImplementedError

    def _initial_has(self, name: str) -> bool:
        """Whether the initial model, if there is one, has this setting: earlier versions did not store names."""
        settings = self._initial_settings()
        return settings is None or bool(getattr(settings, name))

    def _initial_settings(self) -> Settings | None:
        with as_python():
            return None if self.initial is None else read_model(os.fspath(self.initial)).settings

    # --- data --------------------------------------------------------------------------------

    def _validated(self, X: Any, y: Any, reset: bool, **more: Any) -> tuple[Any, Any]:
        """X and y as arrays or as a sparse matrix, of the right shape. The values of X are not checked."""
        if is_frame(X) and (reset or self._schema is not None):
            return self._frame(X, y, reset, **more)
        if not reset and self._schema is not None:
            raise ValueError(f"X has no column names, but {type(self).__name__} was fitted with a frame that has")
        _refuse_texts(X)
        how: dict[str, Any] = {
            "accept_sparse": "csr", "dtype": (np.float64, np.float32), "ensure_all_finite": False, "reset": reset,
        }
        if reset:
            self._schema = None
        if y is None:
            return validate_data(self, X, **how), None
        X, y = validate_data(self, X, y, **how, **more)
        return X, y

    def _frame(self, X: Any, y: Any, reset: bool, **more: Any) -> tuple[Frame, Any]:
        """`_validated` for a frame."""
        frame = frame_of(X)
        if reset:
            self._schema = schema_of(frame, self._roles(), y)
            if self.initial is not None:
                stored = read_model(os.fspath(self.initial)).columns
                self._schema = self._schema.read_as(stored)
                undecided = self._schema.undecided
                self._schema = self._schema.with_roles({n: r for n, r in stored.get("roles", ()) if n in undecided})
        elif y is not None and self._schema is not None and self._schema.undecided:
            self._schema = decided(self._schema, frame)
            self._learned.take_columns(self._schema.stored())
        assert self._schema is not None
        names = columns_of(frame, self._schema)
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
        elif names != self.feature_names_in_.tolist():
            raise ValueError(_about_names(self.feature_names_in_.tolist(), names))
        if frame.rows == 0 or not names:
            what = f"{frame.rows} sample(s)" if names else "0 feature(s)"
            shape = (frame.rows, len(names))
            raise ValueError(f"Found array with {what} (shape={shape}) while a minimum of 1 is required.")
        if y is None:
            return frame, None
        y = _check_y(y, estimator=self, **more)
        if len(y) != frame.rows:
            raise ValueError(f"X has {frame.rows} rows, but y has {len(y)} labels")
        return frame, y

    def _roles(self) -> RoleOptions:
        roles: dict[str, Any] = {p.name: getattr(self, p.name) for p in COLUMNS}
        if not (isinstance(roles["ngram"], int) and 1 <= roles["ngram"] <= MOST_WORDS):
            raise ValueError(f"ngram is {roles['ngram']!r}, but must be an integer from 1 to {MOST_WORDS}")
        format = roles["time_format"]
        fault = "" if not format else fault_of(format) if isinstance(format, str) else "it is not a string"
        if fault:
            raise ValueError(f"time_format is {format!r}, which is no format: {fault}")
        roles = {name: [x] if isinstance(x, str) and name != "time_format" else x for name, x in roles.items()}
        return RoleOptions(**roles)

    def _rows(
        self, X: Any, settings: Settings, label: Any = None, importance: Any = None, *, derives: bool = False,
        logs: bool = False, learns: bool = True, schema: Schema | None = None,
    ) -> BatchSource:
        """derives: features will be derived from the columns of a frame. logs: its names are logged. learns: the rows
        are learned, not predicted. schema: of the rows, if it is not that of the estimator, or of the model."""
        if isinstance(X, Frame):
            assert self._schema is not None
            schema = schema or (self._schema if learns else applied_schema(self._learned.model()))
            return prepared(X, schema, settings, label=label, importance=importance, derives=derives, logs=logs,
                            spaces=learns)
        names = getattr(self, "feature_names_in_", None)
        return matrix_of(X, settings, label=label, importance=importance, names=names)

    # --- learning ----------------------------------------------------------------------------

    def _transaction(self: Self, step: Callable[[], None]) -> Self:
        """Run a step; if it raises, restore the estimator."""
        before = dict(vars(self))
        key = object()
        _STEPS[key] = threading.get_ident(), self, before
        try:
            step()
        except BaseException:
            _restore(self, before)
            raise
        finally:
            del _STEPS[key]
        return self

    def _learn(
        self, X: Any, label: Any, importance: Any, o: TrainOptions, names: list[bytes], groups: Any = None, *,
        is_all: bool = False,
    ) -> None:
        """is_all: no other rows follow, so that these decide which columns are times."""

        def rows_of(settings: Settings) -> RowsOf:
            def rows(columns: dict[str, Any], derives: bool, logs: bool) -> BatchSource:
                if columns:
                    self._schema = Schema.restored(columns)
                return self._rows(X, settings, label, importance, derives=derives, logs=logs)

            return rows

        with as_python():
            of_rows = _groups(X, groups)
            if self._schema is not None and is_all and o.initial is None:
                from vwlite.estimators.dates import with_times  # not at the top: matrices have no columns
                from vwlite.training.trainer import prepared as prepared_job

                job = prepared_job(o if of_rows is None else replace(o, group=GROUPS), None, in_place=False)
                self._schema = with_times(self._schema, self._roles().roles(), rows_of, job, names, of_rows)
            columns = self._schema.stored() if self._schema is not None else {}
            learned, report = learn(rows_of, o, names, columns, of_rows)
            if self._schema is not None:
                self._schema = Schema.restored(learned.model().columns)  # with n-grams of texts, or without
        learned.pickles_rows = bool(getattr(self, "pickle_rows", False))  # not in an estimator of 0.2.0
        self._learned, self._sparse_coef = learned, False
        self.n_iter_ = report.passes
        self.report_ = values((r for r in report.results if r.key != "seconds"), labelled=True)

    def _begin(self, X: Any, label: Any, importance: Any, o: TrainOptions, names: list[bytes]) -> None:
        """The first call of `partial_fit`."""
        if o.typed.get("algorithm") != AUTO.name:
            if o.typed.get("normalize") == "center":
                raise ValueError("normalize='center' needs the means of all rows first: use fit, or algorithm='auto'")
            with as_python():
                new = resolve(o.typed, given=o.given, passes=o.passes).settings if o.initial is None else None
            if new is not None and new.algorithm == AUTO.name and "derive" not in o.given:
                o = replace(o, derive="none")  # of the first rows only it would be
            self._learn(X, label, importance, o, names)
            return
        from vwlite.estimators.stream import FittedStream

        with as_python():
            self._learned = FittedStream(o, self._schema.stored() if self._schema is not None else {})
        self._sparse_coef = False
        self._update(X, label, importance, o, names)

    def _update(self, X: Any, label: Any, importance: Any, o: TrainOptions, names: list[bytes]) -> None:
        o.typed.pop("feature_weights", None)  # they were applied by the first call
        with as_python():
            settings = self._learned.settings
            rows, reader = self._rows(X, settings, label, importance), None
            of_auto, has_rows = self._learned.of_auto, self._learned.rows is not None
            if has_rows or (of_auto is not None and _is_night(of_auto, o.typed, o.given, rows.rows)):
                model = self._learned.model()
                known = np.where(label > self._order.size - len(names), np.nan, label) if names else label
                schema = applied_schema(model) if isinstance(X, Frame) else None

                def reader(
                    learns: bool, derives: bool = False, logs: bool = False, columns: dict[str, Any] | None = None
                ) -> BatchSource:
                    of_rows = Schema.restored(columns) if columns else None if learns else schema
                    return self._rows(X, settings, label if learns else known, importance, derives=derives, logs=logs,
                                      learns=learns, schema=of_rows)

            self._learned.update(rows, o, names, reader)
            if reader is not None and self._schema is not None:
                self._schema = Schema.restored(self._learned.model().columns)  # with n-grams of texts, or without
        self.n_iter_ = 1

    # --- predicting --------------------------------------------------------------------------

    def _score(self, X: Any, probabilities: bool = False) -> Scores:
        check_is_fitted(self)
        X, _ = self._validated(X, None, reset=False)
        with as_python():
            rows = self._rows(X, self._learned.settings, learns=False)
            found = score(self._learned, rows, probabilities)
            if isinstance(rows, Frame):
                warn_of_absent(self._learned, rows.take_absents(), rows.rows)
            return found

    # --- the weights -------------------------------------------------------------------------

    def weights(self) -> list[tuple[str | int, Any]]:
        """Pairs of feature and weight, by decreasing |weight|, without zeros: `load_model(...).weights()`."""
        from vwlite.estimators.learned import FittedState
        from vwlite.estimators.loaded import LoadedModel

        check_is_fitted(self)
        return LoadedModel(FittedState(self._learned.model())).weights()

    weights_ = property(weights)

    def explain(self, X: Any, top: int = 5) -> list[dict[str, Any]]:
        """What features contribute to the score of each row, as `vwlite explain --json` says it: the score, which is
        the sum of base, intercept, the `top` largest contributions and the others; with classes, of each class."""
        from vwlite.estimators.evaluation import explain

        check_is_fitted(self)
        return explain(self, X, top)

    @property
    def normalize_(self) -> str:
        """What was done to the values of each row: `weights_` are those of the normalized row."""
        check_is_fitted(self)
        return self._learned.model().settings.normalize

    @property
    def chosen_(self) -> dict[str, Any]:
        """What `algorithm="auto"` has chosen, as in the report of `vwlite train`: normalization, pass, weights of the
        stack, and the loss of rows when they were not learned beside that of the best constant (baseline)."""
        check_is_fitted(self)
        return dict(self._learned.model().chosen)

    def sparsify(self: Self) -> Self:
        """Make `coef_` a sparse matrix (CSR). Returns the estimator."""
        check_is_fitted(self)
        self._sparse_coef = True
        return self

    def densify(self: Self) -> Self:
        """Make `coef_` an array, which is the default. Returns the estimator."""
        check_is_fitted(self)
        self._sparse_coef = False
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns, in the order of `coef_`: those of X, else x0, x1, ... With derived features, for
        which there is no `coef_`: those of the curve of a column in place of it, and at the end those of products; in
        `weights_` the namespace stands before them."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        derived = self._learned.settings.derived
        if derived is None:
            return names
        curves: dict[str, list[str]] = {}
        products: dict[str, None] = {}  # a set, in order: resolutions of a pair share the names of missing values
        for space, name, of in derived.names():
            if of == space:
                curves.setdefault(space, []).append(name)
            else:
                products[name] = None
        found = [name for column in names for name in curves.get(namespace_of(column), [column])]
        return np.array([*found, *products], dtype=object)

    def save(self, path: Any, *, weights_only: bool = False, names: Any = None) -> None:
        """Write the model into a file, as `vwlite train -m` does; `vwlite.load_model` and every command read it.

        weights_only: write a smaller file that predicts, but cannot be continued. names: of the columns of a matrix,
        such as a vectorizer's `get_feature_names_out()`, for `vwlite weights`; by default, if the estimator has
        `names=True`, the column names of X, or the column numbers. OSError if the file cannot be written.
        """
        check_is_fitted(self)
        model = self._learned.model()
        if self._schema is not None and names is not None:
            raise ValueError("names= is for models of a matrix: for a frame, set names=True of the estimator")
        if names is None and self._schema is None and as_typed(vars(self), {"names": RUNNING["names"]}).get("names"):
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if names is not None:
            names = [str(name) for name in names]
            if len(names) != self.n_features_in_:
                raise ValueError(f"names has {len(names)} names, but X had {self.n_features_in_} columns")
            model = with_columns_named(model, names)
        self._warn_of_lost_names()
        save(model, os.fspath(path), weights_only)

    def _warn_of_lost_names(self) -> None:
        """Warn of what a model file cannot keep."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")


def _is_night(*of_call: Any) -> bool:
    from vwlite.estimators.nights import is_night  # not at the top: few models are continued

    return is_night(*of_call)


def _importance(X: Any, sample_weight: Any) -> Any:
    """The weight of each row; None means 1."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, np.empty((_rows_in(X), 1)), dtype=np.float64)
    if weight.size and weight.min() < 0:
        raise ValueError(f"sample_weight: the weight {weight.min():g} of row {weight.argmin()} is negative")
    return weight


def _groups(X: Any, groups: Any) -> list[bytes] | None:
    """The group of each row; None without groups."""
    if groups is None:
        return None
    from vwlite.estimators.memory import groups_of

    return groups_of(groups, _rows_in(X))


def _rows_in(X: Any) -> int:
    return int(X.rows if isinstance(X, Frame) else X.shape[0])


_STEPS: dict[object, tuple[int, _Sparse, dict[str, Any]]] = {}  # running: the thread, and the attributes before


def _restore(estimator: _Sparse, before: dict[str, Any]) -> None:
    estimator.__dict__.clear()
    estimator.__dict__.update(before)


def _forked() -> None:
    """In the child of a fork: steps of other threads never end there, so undo them."""
    for thread, estimator, before in _STEPS.values():
        if thread != threading.get_ident():
            _restore(estimator, before)


os.register_at_fork(after_in_child=_forked)


def _gives_probabilities(estimator: Any) -> bool:
    """Whether a classifier gives probabilities: its loss is logistic or softmax."""
    fitted, loss = getattr(estimator, "_learned", None), "logistic"
    if fitted is not None:
        loss = fitted.settings.loss
    elif not estimator.softmax:
        loss = estimator.loss or estimator._default_loss(estimator.algorithm or "gd")
    if loss not in LINKS["logistic"]:
        raise AttributeError(
            f"loss {loss} does not give probabilities, only logistic and softmax do: use CalibratedClassifierCV"
        )
    return True


class SparseClassifier(ClassifierMixin, _Sparse):  # type: ignore[misc]
    """See _DOC."""

    _PARAMETERS = OF_CLASSIFIER
    _ALL = parameters(OF_CLASSIFIER)

    def _default_loss(self, algorithm: str) -> str:
        losses = ALGORITHMS[algorithm].losses if algorithm in ALGORITHMS else ("logistic",)
        return "logistic" if "logistic" in losses else losses[0]

    # --- classes and labels ------------------------------------------------------------------

    def _declare(self, found: Array, o: dict[str, Any]) -> dict[str, Any]:
        """Decide the classes from those found in y and the parameters. Returns the settings for them.

        `_order` has the classes by their numbers, `classes_` sorted. With two classes and no parameters there is one
        score, and labels are -1 and 1.
        """
        if o.get("loss") in ("poisson", "gamma", "tweedie"):
            what = "counts" if o["loss"] == "poisson" else "amounts"
            raise ValueError(f"loss {o['loss']} is for {what}: use SparseRegressor")
        if found.size < 2 and not ("oaa" in o or "classes" in o):
            raise ValueError(f"y has one class, {_name(found[0])!r}, but a classifier needs two classes or more")
        self._half_is_positive = True
        if "classes" in o and o["classes"] == "auto":
            if self.initial is not None:
                raise ValueError("classes='auto' cannot be used with initial, which has classes: omit classes and oaa")
            if "oaa" not in o:
                raise ValueError("classes='auto' needs oaa=K, the maximum number of classes")
            self._order, self._multiclass = found[:0], True
            return {}
        if "classes" in o:
            names = names_in(o["classes"])
            known = {_name(c): c for c in found}
            unknown = sorted(set(known) - set(names))
            if unknown:
                raise ValueError(f"y has the class {unknown[0]!r}, which is not in classes={o['classes']!r}")
            kind = found.dtype.type if found.dtype.kind in "iufb" else str
            self._order, self._multiclass = np.array([known[n] if n in known else kind(n) for n in names]), True
            return {}
        if "oaa" in o:
            if found.dtype.kind not in "iuf" or not np.isin(found, np.arange(1, o["oaa"] + 1)).all():
                raise ValueError(
                    f"oaa={o['oaa']} needs integer labels from 1 to {o['oaa']}: omit oaa to use the classes of y"
                )
            self._order, self._multiclass = np.arange(1, o["oaa"] + 1).astype(found.dtype), True
            return {}
        self._order, self._multiclass = found, found.size > 2 or bool(o.get("softmax"))
        if not self._multiclass:
            if found.dtype.kind in "iufb" and tuple(map(float, found)) != (-1.0, 1.0):
                return {"labels": (float(found[0]), float(found[1]))}
            return self._words(found)
        names = [_name(c) for c in found]
        if len(set(names)) == len(names) and all(map(can_name, names)) and self._initial_has("classes"):
            return {"classes": names_text(names)}
        return {"oaa": len(names)}

    def _words(self, found: Array) -> dict[str, Any]:
        """The setting that stores two classes that are words, if data can have them as labels."""
        if found.size != 2 or found.dtype.kind in "iufb":
            return {}
        try:
            labels = Labels().convert(names_text([*map(_name, found)]), None, None)
        except click.BadParameter:
            return {}
        return {"labels": labels} if self._initial_has("labels") else {}

    def _warn_of_lost_names(self) -> None:
        """Classes that are words, but that no label can be, are numbers in the file."""
        settings = self._learned.settings
        if self._order.dtype.kind in "iufb" or settings.classes or settings.labels is not None:
            return
        numbers = range(1, self._order.size + 1) if self._multiclass else (-1, 1)
        shown = ", ".join(f"{number} for {_name(c)!r}" for number, c in zip(numbers, self._order, strict=True))
        warnings.warn(
            f"the model file has numbers for the classes, {shown}: names with control characters, or with blanks at "
            "their ends, are not kept",
            UserWarning, stacklevel=3,
        )

    def _new_names(self, y: Array) -> list[bytes]:
        """The names that classes='auto' finds in y, in the order of its rows."""
        if self.classes != "auto":
            return []
        found, first = np.unique(y, return_index=True)
        new = [c for c in found[np.argsort(first)] if c not in set(self._order.tolist())]
        capacity = int(self.oaa) - self._order.size
        if len(new) > capacity:
            raise ValueError(f"y has the new class {_name(new[capacity])!r}, which exceeds oaa={self.oaa} classes")
        if new:
            bad = next((c for c in new if not can_name(_name(c))), None)
            if bad is not None:
                raise ValueError(f"y has the class {bad!r}, which cannot be a label: it has a control character, or "
                                 "a blank at its end")
            self._order = np.concatenate([self._order.astype(found.dtype), np.array(new, dtype=found.dtype)])
        return [_name(c).encode("utf-8", "surrogateescape") for c in new]

    def _labels(self, y: Array) -> Array:
        """The label of each row as the core represents it."""
        sort = np.argsort(self._order)
        ordered = self._order[sort]
        at: Array
        if ordered.size == 2:
            at = (ordered[1] == y).astype(np.intp)
        else:
            at = np.searchsorted(ordered, y)
            at[at == ordered.size] = 0
        unknown = np.flatnonzero(ordered[at] != y)
        if unknown.size:
            row, known = unknown[0], ", ".join(map(_name, ordered))
            raise ValueError(f"y has the label {_name(y[row])!r} at row {row}, which is not in the classes {known}")
        self.classes_ = ordered
        labels: Array = sort + 1.0 if self._multiclass else 2.0 * sort - 1.0
        return labels[at]

    def _class_importance(self, y: Array, importance: Any) -> Any:
        if self.class_weight is None:
            return importance
        found = np.unique(y)
        weight = compute_class_weight(self.class_weight, classes=found, y=y)
        bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if bad.size:
            raise ValueError(f"class_weight: invalid weight {weight[bad[0]]} of class {_name(found[bad[0]])!r}")
        weight = weight[np.searchsorted(found, y)]
        return weight if importance is None else weight * importance

    # --- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseClassifier":
        """Learn from the start, in `passes` passes. Returns the estimator.

        groups: the group of each row, such as its customer, as by `--group`: rows of a group are in one fold of
        algorithm="auto", so that it learns for new groups, and its losses are those of new groups.
        """
        return self._transaction(lambda: self._fit(X, y, sample_weight, groups))

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Any, Array, Any]:
        """X, y, the classes in y, and the importance of the rows."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        _refuse_mixed(y)
        X, y = self._validated(X, y, reset)
        found = np.unique(y) if y.dtype.kind in "biuf" else y
        # For few numbers, check the distinct ones only; for many, the check also counts rows.
        check_classification_targets(found if found.size <= FEW_CLASSES else y)
        return X, y, found if found is not y else _unique(y), _importance(X, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        X, y, found, importance = self._checked(X, y, sample_weight, True)
        more = self._declare(found, self._shaping())
        names = self._new_names(y)
        label = self._labels(y)
        self._learn(X, label, self._class_importance(y, importance), self._options(more), names, groups,
                    is_all=True)
        self._more = more

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "SparseClassifier":
        """Learn from more rows, as `vwlite train -i` does: in one pass, or with keep_rows again from kept and new rows.
        Returns the estimator.

        classes: all classes; required in the first call, unless parameters give them. With oaa=K and classes="auto",
        new classes may appear later.
        """
        return self._transaction(lambda: self._partial_fit(X, y, classes, sample_weight))

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        first = not hasattr(self, "_learned")
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all of y: for partial_fit, pass the weights as a dict")
        X, y, found, importance = self._checked(X, y, sample_weight, first)
        if first:
            shaping = self._shaping()
            if classes is None and not ("classes" in shaping or "oaa" in shaping):
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._more = self._declare(found if classes is None else _unique(np.asarray(classes)), shaping)
            if self._multiclass and self.algorithm == AUTO.name:
                raise ValueError("algorithm='auto' learns several classes from all rows at once: use fit, or "
                                 "partial_fit with algorithm='gd'")
        elif classes is not None and self.classes != "auto" and not np.array_equal(_unique(classes), self.classes_):
            raise ValueError("classes differ from those of the first call: " + ", ".join(map(_name, self.classes_)))
        names = self._new_names(y)
        label = self._labels(y)
        importance = self._class_importance(y, importance)
        o = self._options(self._more)
        if first:
            self._begin(X, label, importance, replace(o, **ONE_PASS), names)
        else:
            self._update(X, label, importance, o, names)

    # --- predicting --------------------------------------------------------------------------

    def _columns(self) -> Array:
        """The numbers of the classes, from 0, in the order of `classes_`."""
        return np.argsort(self._order)

    def decision_function(self, X: Any) -> Array:
        """The scores, neither clipped nor linked: [rows] for two classes, positive for `classes_[1]`; else [rows,
        classes]."""
        raw = self._score(X).raw
        if not self._multiclass:
            return raw[:, 0]
        raw = raw[:, self._columns()]
        return raw[:, 1] - raw[:, 0] if raw.shape[1] == 2 else raw

    def predict(self, X: Any) -> Array:
        """The class with the largest score for each row; for ties, the first. Of two classes, the second one from a
        probability of 0.5 on, or a score of 0, as `vwlite predict --append` writes it."""
        found = self._score(X)
        if self._multiclass:
            return self._order[found.predicted.astype(np.intp) - 1]
        positive = found.raw[:, 0] > 0
        if getattr(self, "_half_is_positive", False):  # not in a pickle of 0.2.0, which goes on as it was
            probable = self._learned.settings.loss == "logistic"
            shown = linked(found.predicted, "logistic" if probable else "identity")
            positive = shown >= usual_threshold(probable=probable)
        return self._order[positive.astype(np.intp)]

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probabilities of the classes, [rows, classes]: as `vwlite predict --link logistic` or `--probabilities`
        prints them. Only for the logistic loss and softmax."""
        found = self._score(X, bool(getattr(self, "_multiclass", False)))
        if self._multiclass:
            assert found.probabilities is not None
            return found.probabilities[:, self._columns()]
        p = linked(found.predicted, "logistic")
        return np.column_stack([1 - p, p])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of the probabilities."""
        found: Array = np.array(self.predict_proba(X), dtype=np.float64, order="C")
        each("log", found.reshape(-1), found.reshape(-1))
        return found

    @property
    def coef_(self) -> Array:
        """The weights of the columns, [1, columns] for two classes, else [classes, columns]."""
        return shown(self, self._of_classes(coefficients(self).T))

    @property
    def intercept_(self) -> Array:
        """The intercepts: [1] for two classes, else [classes]."""
        return self._of_classes(intercepts(self).reshape(-1, 1))[:, 0]

    def _of_classes(self, weights: Array) -> Array:
        if not self._multiclass:
            return weights
        weights = weights[self._columns()]
        return weights[1:] - weights[:1] if len(weights) == 2 else weights


class SparseRegressor(RegressorMixin, _Sparse):  # type: ignore[misc]
    """See _DOC."""

    _PARAMETERS = OF_REGRESSOR
    _ALL = parameters(OF_REGRESSOR)

    def _default_loss(self, algorithm: str) -> str:
        return "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseRegressor":
        """Learn from the start, in `passes` passes. groups: as of `SparseClassifier.fit`. Returns the estimator."""
        return self._transaction(lambda: self._fit(X, y, sample_weight, True, groups))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseRegressor":
        """Learn from more rows, as `vwlite train -i` does: in one pass, or with keep_rows again from kept and new rows.
        Returns the estimator."""
        return self._transaction(lambda: self._fit(X, y, sample_weight, False))

    def _fit(self, X: Any, y: Any, sample_weight: Any, restart: bool, groups: Any = None) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        first = restart or not hasattr(self, "_learned")
        _refuse_dates(y)
        X, y = self._validated(X, y, first, y_numeric=True)
        o = self._options({})
        label, importance = self._labels(y, o.typed), _importance(X, sample_weight)
        if restart:
            self._learn(X, label, importance, o, [], groups, is_all=True)
        elif first:
            self._begin(X, label, importance, replace(o, **ONE_PASS), [])
        else:
            self._update(X, label, importance, o, [])

    def _labels(self, y: Any, typed: Mapping[str, Any]) -> Array:
        label = np.asarray(y, dtype=np.float64)
        missing = np.flatnonzero(np.isnan(label))  # None among numbers becomes NaN
        if missing.size:
            raise ValueError(f"y has no label at row {missing[0]}: remove the row")
        loss = typed.get("loss", "squared")  # else that of the initial model
        transform = typed.get("label_transform", "none")
        initial = self._initial_settings() if transform == "none" else None
        transform = transform if initial is None else initial.label_transform
        outputs = Settings(loss=loss, label_transform=transform).outputs
        if outputs.domain not in DOMAINS:
            return label
        needs, fits = DOMAINS[outputs.domain]
        bad = np.flatnonzero(~fits(label))
        if bad.size:
            needs += ": use SparseClassifier" if outputs.is_binary else ""
            what = "label_transform log1p" if transform == "log1p" else f"loss {loss}"
            raise ValueError(f"y has the label {label[bad[0]]:g} at row {bad[0]}, but {what} needs {needs}")
        return outputs.transform.learned(label)

    def predict(self, X: Any) -> Array:
        """The predictions of `vwlite predict`: clipped to the range of labels if the algorithm does so, then linked.
        With several quantiles [rows, quantiles], in ascending order."""
        check_is_fitted(self)
        predicted = predicted_by(self._learned.settings)
        found = self._score(X, bool(predicted.outputs.taus))
        return predicted.predictions(found.predicted, found.probabilities, ())

    @property
    def coef_(self) -> Array:
        """The weights of the columns, [columns]; of several quantiles [quantiles, columns]."""
        found = coefficients(self)
        return shown(self, found[:, 0] if found.shape[1] == 1 else found.T)

    @property
    def intercept_(self) -> Array:
        """The intercept, [1], or that of each quantile."""
        return intercepts(self)


def _about_names(fitted: list[str], found: list[str]) -> str:
    """How the columns of a frame differ from those of `fit`, in scikit-learn's words."""
    text = "The feature names should match those that were passed during fit.\n"
    for what, names in (
        ("unseen at fit time", sorted(set(found) - set(fitted))),
        ("seen at fit time, yet now missing", sorted(set(fitted) - set(found))),
    ):
        if names:
            text += f"Feature names {what}:\n" + "".join(f"- {name}\n" for name in names[:5])
            text += "- ...\n" if len(names) > 5 else ""
    if set(fitted) == set(found):
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def _refuse_texts(X: Any) -> None:
    """ValueError for a list, an array or a Series of strings, which NumPy would try to convert to numbers."""
    if isinstance(X, list | tuple) or getattr(X, "ndim", 0) == 1:
        first = next(iter(X), None)
        if isinstance(first, str | bytes):
            raise ValueError("X is a sequence of strings: put them into a column of a frame, such as "
                             "pandas.DataFrame({'words': X}), and name it with text='words'")


def _refuse_dates(y: Any) -> None:
    """ValueError for dates and durations, which NumPy would convert to nanoseconds, or words."""
    y = y if hasattr(y, "__iter__") else np.asarray(y)
    kind = getattr(getattr(y, "dtype", None), "kind", "O")
    first = None if kind in "biufmM" else next((value for value in y if value is not None), None)
    if kind in "mM" or isinstance(first, datetime.date | datetime.timedelta):
        what = "durations" if kind == "m" or isinstance(first, datetime.timedelta) else "dates"
        how = "y.dt.days" if what == "durations" else "(y - y.min()).dt.days"
        raise ValueError(f"y has {what}, but a regression needs numbers: such as {how} of a Series of pandas")
    if isinstance(first, str):
        try:
            float(first)
        except ValueError:
            raise ValueError(f"y has the word {first!r}, but a regression needs numbers: for classes, use "
                             "SparseClassifier") from None


def _refuse_mixed(y: Any) -> None:
    """ValueError for strings mixed with numbers, which NumPy would convert to strings."""
    if not isinstance(y, list | tuple) and getattr(y, "dtype", None) != np.dtype(object):
        return
    kinds = {type(label) for label in y}
    words = {kind for kind in kinds if issubclass(kind, str | bytes)}
    if words and words != kinds:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"y has labels of mixed types, {names}: make them all one")


def _unique(y: Any) -> Array:
    """The classes in y, sorted."""
    _refuse_mixed(y)
    return np.unique(np.asarray(y))


def _name(label: Any) -> str:
    """A class as a word of text."""
    if isinstance(label, bytes):
        return label.decode("utf-8", "surrogateescape")
    if isinstance(label, float | np.floating) and math.isfinite(label) and label == int(label):
        return str(int(label))
    return str(label)


# --- parameters and docstrings, from the options -------------------------------------------------

_SUMMARIES: dict[type[_Sparse], tuple[str, str]] = {
    SparseClassifier: (
        "A linear classifier, learned online. Two classes have one score; three or more are learned one against all,\n"
        "or together with `softmax`. Probabilities need the loss logistic (the default) or softmax.",
        "classes_ : array\n    Sorted.\n"
        "coef_, intercept_ : array\n    [1, columns] and [1] for two classes, else [classes, columns] and [classes].",
    ),
    SparseRegressor: (
        "A linear regression, learned online: of the mean (loss squared, huber), a quantile or expectile, or\n"
        "counts and amounts (poisson, gamma, tweedie: predicts means unless `link` is set).",
        "coef_, intercept_ : array\n    [columns] and [1].",
    ),
}


def _describe(kind: type[_Sparse]) -> None:
    """Set the docstring of an estimator, the signature from which scikit-learn reads its parameters, and their
    defaults, which estimators of 0.2.0 have for parameters that are newer."""
    head, attributes = _SUMMARIES[kind]
    kind.__doc__ = _DOC.strip().format(head=head, parameters=documented(kind._ALL), attributes=attributes)
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for p in kind._ALL:
        shown.append(inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default))
        setattr(kind, p.name, p.default)

    def __init__(self: _Sparse, **given: Any) -> None:
        _Sparse.__init__(self, **given)

    __init__.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    kind.__init__ = __init__  # type: ignore[method-assign]


for _kind in _SUMMARIES:
    _describe(_kind)
