"""The options of `vwlite train` as parameters of estimators, made from their rows in `vwlite/options`.

An option that is None, or False for a flag, is not set: then its default applies, which may depend on the algorithm.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from vwlite.algorithms.settings import Settings
from vwlite.names import names_text
from vwlite.options.spec import CLASSES, FEATURES, LEARN, OUT, PASSES, Spec, specs_of
from vwlite.options.types import PATH, Bytes, Classes, Labels, Number, Numbers, Whole
from vwlite.runs.options import TrainOptions

SHAPING: dict[str, Spec] = {spec.name: spec for spec in specs_of(Settings, FEATURES, LEARN, CLASSES, OUT)}
# Without files: here the data are in memory, and `save` writes the model.
RUNNING: dict[str, Spec] = {spec.name: spec for spec in specs_of(TrainOptions, PASSES) if spec.type is not PATH}
RUNNING |= {spec.name: spec for spec in specs_of(TrainOptions, "initial", "names", "derive", "pairs", "keep_rows")}
_OF_CLASSES = [spec.name for spec in specs_of(Settings, CLASSES)]
OF_CLASSIFIER: dict[str, Spec] = SHAPING | RUNNING
OF_REGRESSOR: dict[str, Spec] = {name: spec for name, spec in OF_CLASSIFIER.items() if name not in _OF_CLASSES}


def as_typed(parameters: Mapping[str, Any], specs: Mapping[str, Spec]) -> dict[str, Any]:
    """The parameters that are set, converted as on the command line. ValueError for an invalid value."""
    found = {}
    for name, spec in specs.items():
        value = parameters.get(name)
        if value is None or (spec.type is None and value is False) or (spec.multiple and len(value) == 0):
            continue
        found[name] = _converted(spec, value)
    return found


def _converted(spec: Spec, value: Any) -> Any:
    import numpy as np  # here: the build makes the stub of the package from these options, without numpy

    try:
        if spec.type is None:
            if not isinstance(value, bool | np.bool_):
                raise click.BadParameter(f"{value!r} is neither True nor False")
            return bool(value)
        if isinstance(value, bool | np.bool_) and spec.bare:  # the option without a value
            return int(spec.bare) if value else None
        if isinstance(value, bool | np.bool_):
            raise click.BadParameter(f"{value!r} is not a valid value")
        if spec.multiple:
            texts = [value] if isinstance(value, str) else list(value)
            return tuple(spec.type.convert(text, None, None) for text in texts)
        if isinstance(spec.type, Classes) and not isinstance(value, str):
            value = names_text([*map(str, value)])
        if isinstance(spec.type, Labels):
            value = ",".join(map(repr, value)) if not isinstance(value, str) else value
        if isinstance(spec.type, Whole) and isinstance(value, float | np.floating) and value == int(value):
            value = int(value)
        return spec.type.convert(value, None, None)
    except (click.BadParameter, TypeError) as e:
        raise ValueError(f"{spec.name}: {getattr(e, 'message', e)}") from None


def type_of(spec: Spec) -> str:
    """The type of a parameter, as in a docstring and in the stub."""
    if spec.type is None:
        return "bool"
    if isinstance(spec.type, click.Choice):
        return f"Literal[{', '.join(map(repr, spec.type.choices))}] | None"
    if spec.bare:
        return "bool | int | None"
    if isinstance(spec.type, Numbers):
        return "float | Sequence[float] | None"
    if isinstance(spec.type, Bytes):
        return "int | str | None"
    kind = "int" if isinstance(spec.type, Whole) else "float" if isinstance(spec.type, Number) else "str"
    if spec.multiple or isinstance(spec.type, Classes):
        kind = "str | Sequence[str]"
    return f"{kind} | None"


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator; `kind` is its type, `text` its meaning, as in a docstring and in the stub."""

    name: str
    kind: str
    default: Any
    text: str


_WEIGHT = Parameter(
    "class_weight", "Mapping[Any, float] | Literal['balanced'] | None", None,
    "A factor of sample_weight for each class; 'balanced': all classes have the same total weight.",
)
_RANDOM = Parameter(
    "random_state", "Any", None, "Accepted and ignored: nothing is drawn at random, the same rows give the same model.",
)
_KEEP = (
    "Keep the newest rows that fit into so many bytes, such as '64M': with algorithm='auto', partial_fit then trains "
    "the model again from these and the new rows (`vwlite help nights`)."
)
_PICKLE = Parameter("pickle_rows", "bool", False, "Keep the rows of keep_rows in pickles and copies, too.")
_VERBOSE = Parameter("verbose", "bool", False, "Print the progress table of `vwlite train` on standard error.")


_NAMES = (
    "Store the names of features in the model file: for frames the first N (default 1,000,000), and as many of "
    "crosses; for matrices the names of the columns."
)

# Roles of columns that their types do not determine: `vwlite.input.schema`.
COLUMNS = (
    Parameter("numeric", "Sequence[str]", (), "Columns of a frame that are numbers: NAME:VALUE."),
    Parameter("categorical", "Sequence[str]", (), "Columns of a frame that are categories, strings or integers: "
              "NAME=WORD."),
    Parameter("text", "Sequence[str]", (), "Columns of a frame that are text: each word, in lower case, is a feature."),
    Parameter("time", "Sequence[str]", (), "Columns of a frame that are dates or times: hour, weekday and month are "
              "features."),
    Parameter("time_format", "str", "", "How times that are strings are written, such as '%d.%m.%Y %H:%M'; '': ISO "
              "8601."),
    Parameter("drop", "Sequence[str]", (), "Columns of a frame to ignore."),
    Parameter("ngram", "int", 1, "For text columns: features of up to N consecutive words."),
)


def parameters(specs: Mapping[str, Spec]) -> list[Parameter]:
    """The parameters of an estimator with these options, in order."""
    made = [
        Parameter(
            name, type_of(spec), False if spec.type is None else None,
            {"names": _NAMES, "keep_rows": _KEEP}.get(name) or spec.text(),
        )
        for name, spec in specs.items()
    ]
    return [*([_WEIGHT] if specs is OF_CLASSIFIER else []), *made, *COLUMNS, _PICKLE, _RANDOM, _VERBOSE]


def documented(parameters: Iterable[Parameter]) -> str:
    """The parameters in the format of NumPy docstrings."""
    return "\n".join(f"{p.name} : {p.kind}\n    {p.text}" for p in parameters)
