"""What `vwlite evaluate` and `vwlite report` say of a model, in Python."""

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.estimators.errors import as_python
from vwlite.estimators.frames import frame_of, is_frame
from vwlite.estimators.learned import save
from vwlite.estimators.loaded import LoadedModel
from vwlite.estimators.rows import is_sparse
from vwlite.evaluation.commands import ReportOptions
from vwlite.model.read import read_model
from vwlite.runs.options import ModelOptions

NO_LABELS = object()


def evaluate(model: Any, X: Any, y: Any = None, **options: Any) -> dict[str, Any]:
    """How good a model's predictions are: what `vwlite evaluate --json` prints, with its names.

    model: a fitted estimator, what `load_model` gives, or the path of a model. X: a matrix or a frame, and y its
    labels; or the path of a data file, or a list of them, and y is None. options: those of the command, such as
    threshold=0.3 or by="country", against= another model too. ValueError for what is not valid, OSError for files.
    """
    from vwlite.evaluation.evaluate import evaluate as run

    found: dict[str, Any] = json.loads(_run(run, ReportOptions, model, X, y, {**options, "json": True}))
    return found


def report(model: Any, X: Any, y: Any = None, **options: Any) -> str:
    """The page that `vwlite report` makes, as HTML. Parameters as those of `evaluate`; output: the path of a file to
    write it to, too."""
    from vwlite.evaluation.report import report as run

    output = options.pop("output", None)
    page = _run(run, ReportOptions, model, X, y, options)
    if output is not None:
        from vwlite.output.atomic import AtomicFile

        with as_python(), AtomicFile(os.fspath(output)) as file:
            file.write(page.encode())
            file.commit()
    return page


def explain(model: Any, X: Any, top: int) -> list[dict[str, Any]]:
    """What `vwlite explain --json` prints for each row of X, without its place and label."""
    from vwlite.evaluation.commands import ExplainOptions
    from vwlite.evaluation.explain import explain as run

    found = []
    for line in _run(run, ExplainOptions, model, X, NO_LABELS, {"top": top, "json": True}).splitlines():
        row = json.loads(line)
        found.append({name: row[name] for name in row if name not in ("file", "line", "tag", "label")})
    return found


def _run(run: Any, kind: type[ModelOptions], model: Any, X: Any, y: Any, options: dict[str, Any]) -> str:
    """The standard output of a command."""
    with tempfile.TemporaryDirectory(prefix="vwlite-") as folder, as_python():
        models, label = {"model": model, "against": options.pop("against", None)}, None
        for name, one in models.items():
            if one is not None:
                models[name] = _model_file(one, os.path.join(folder, name))
                if y is not None and y is not NO_LABELS and is_frame(X):
                    models[name], label = _with_label(models[name], X, os.path.join(folder, name))
        data = _data_files(X, y, label, folder)
        try:
            given = {name: path for name, path in models.items() if path is not None}
            o = kind(data=data, quiet=True, **given, **options)
        except TypeError as e:
            raise UsageError(str(e).replace(f"{kind.__name__}.__init__()", "options:")) from None
        with redirect_stdout(StringIO()) as out:
            run(o)
        return out.getvalue()


def _model_file(model: Any, path: str) -> str:
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    if isinstance(model, LoadedModel):
        save(model._learned.model(), path)
    else:
        model.save(path)
    return path


def _data_files(X: Any, y: Any, label: str | None, folder: str) -> tuple[str, ...]:
    """Files of DATA: those that X names, or one with the rows of X."""
    if isinstance(X, str | os.PathLike):
        X = [X]
    if y is None:
        if not isinstance(X, Sequence) or not all(isinstance(path, str | os.PathLike) for path in X):
            raise UsageError("y is missing: give the labels, or X as paths of data files")
        return tuple(map(os.fspath, X))
    labels = np.asarray(y) if y is not NO_LABELS else None
    if labels is not None and len(labels) != (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise UsageError("X and y have different numbers of rows")
    if is_frame(X):
        return (_csv_of(X, label, labels, os.path.join(folder, "X.csv")),)
    return (_libsvm_of(X, labels, os.path.join(folder, "X.libsvm")),)


def _with_label(path: str, X: Any, new: str) -> tuple[str, str]:
    """A model that has a column of labels, and the name of that: one that learned from a frame, and labels beside it,
    has none."""
    model = read_model(path)
    roles = model.columns.get("roles", [])
    if not roles:
        raise UsageError("X is a frame, but the model was not trained on a table: it has no column names")
    name = next((name for name, role in roles if role == "label"), None)
    if name is not None:
        return path, name
    name = "label"
    while name in frame_of(X).names:
        name += "_"
    save(replace(model, columns=model.columns | {"roles": [*roles, [name, "label"]]}), new)
    return new, name


def _csv_of(X: Any, label: str | None, labels: Any, path: str) -> str:
    column = {} if label is None else {label: labels}
    if hasattr(X, "assign"):  # of pandas
        X.assign(**column).to_csv(path, index=False)
    elif hasattr(X, "with_columns"):  # of polars
        X.with_columns(**column).write_csv(path)
    else:
        table = import_module("pyarrow").table(X)
        for name in column:
            table = table.drop_columns([name]) if name in table.column_names else table
            table = table.append_column(name, [labels])
        import_module("pyarrow.csv").write_csv(table, path)
    return path


def _libsvm_of(X: Any, labels: Any, path: str) -> str:
    """Column j is the feature of index j, as the estimators have it."""
    from scipy.sparse import csr_array

    rows = csr_array(X) if not is_sparse(X) else X.tocsr()
    words = [""] * rows.shape[0] if labels is None else [f"{_word(label)} " for label in labels.tolist()]
    with open(path, "w", encoding="utf-8") as file:
        for word, begin, end in zip(words, rows.indptr[:-1], rows.indptr[1:], strict=True):
            pairs = zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True)
            file.write(word + (" ".join(f"{j}:{float(x)!r}" for j, x in pairs) or "0:0") + "\n")
    return path


def _word(label: Any) -> str:
    return repr(float(label)) if isinstance(label, int | float) else str(label)
