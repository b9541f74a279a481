"""A folder of MLflow, of the flavor pyfunc: the model file, the columns that it takes, and the packages that it needs.

`mlflow.pyfunc.load_model` reads it with `vwlite.estimators.pyfunc`. Its inputs are the columns of the model, of any
type, as MLflow takes no whole numbers for double, and no numbers or missing cells for string; a model of text without
columns has one column, `lines`.
"""

import logging
import os
from datetime import datetime, timezone
from typing import Any

from vwlite import __version__
from vwlite.errors import UsageError
from vwlite.export import Request
from vwlite.input.schema import OPTIONAL, Schema
from vwlite.model import Model
from vwlite.names import absent_name, namespace_of

LINES = "lines"
LOADER = "vwlite.estimators.pyfunc"


def mlflow(request: Request, folder: str) -> None:
    """Write the folder. UsageError without the package."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # nothing here needs a network
    try:
        import pandas
        from mlflow import __version__ as version
        from mlflow import models, pyfunc, types
        from mlflow.types.schema import AnyType
    except ImportError:
        raise UsageError("--to mlflow needs packages that are not installed: pip install 'vwlite[mlflow]'") from None
    if not os.path.isfile(request.path):  # it is copied
        raise UsageError(f"{request.path}: --to mlflow needs a model that is a regular file")
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    model = request.model
    roles = _roles(model)
    kind: Any = AnyType() if model.columns else types.DataType.string  # type: ignore[no-untyped-call]
    taken: list[Any] = [types.ColSpec(kind, name) for name in roles]
    given = types.DataType.double if model.settings.oaa is None else types.DataType.string
    predicted: list[Any] = [types.ColSpec(given, name) for name in model.settings.outputs.columns]
    example = pandas.DataFrame({name: [_example(model, name, role)] for name, role in roles.items()})
    pyfunc.save_model(
        folder, loader_module=LOADER, data_path=request.path, input_example=example,
        signature=models.ModelSignature(types.Schema(taken) if taken else None, types.Schema(predicted)),
        pip_requirements=[f"vwlite[arrow]=={__version__}", f"mlflow-skinny=={version}", "pandas"],
        mlflow_model=models.Model(model_uuid=model.digest[:32]),
    )


def _roles(model: Model) -> dict[str, str]:
    """The columns that the model takes."""
    if not model.columns:
        return {LINES: "text"}
    roles = Schema.restored(model.columns).roles
    return {name: role for name, role in roles.items() if role not in OPTIONAL}


def _example(model: Model, name: str, role: str) -> float | str:
    """A value of a column: of words, one that the model knows by name."""
    if name == LINES and not model.columns:
        return "| a b"
    if role == "numeric":
        return 1.0
    if role == "time":
        format = Schema.restored(model.columns).time_format or "%Y-%m-%d"
        return datetime(2024, 5, 31, tzinfo=timezone.utc).strftime(format)
    begin = f"{namespace_of(name)}^" + (f"{namespace_of(name)}=" if role == "categorical" else "")
    names = (found.decode("utf-8", "replace") for many in dict(model.shown_names.by_key).values() for found in many)
    known = sorted(found.removeprefix(begin) for found in names if found.startswith(begin) and "*" not in found)
    known = [word for word in known if word != absent_name(namespace_of(name))]
    return known[0] if known else "a"
