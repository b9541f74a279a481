"""The command that learns a model again, as far as the model knows it."""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from vwlite.algorithms.checks import refused
from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.table import AUTO, SOLVED
from vwlite.input.schema import MISSING, Schema
from vwlite.model import Model
from vwlite.names import names_text
from vwlite.options.spec import option_name
from vwlite.output.shell_words import joined

# What --algorithm auto chooses, and what no option sets.
_CHOSEN = ("algorithm", "learning_rate", "normalize", "softmax_probabilities")
_OF_COLUMN = re.compile(rb"(.+)\^\1(=.*|\?)?", re.DOTALL)  # age^age, city^city=Rome, age^age?
_CROSSING = {2: "--quadratic", 3: "--cubic"}  # by how many namespaces are crossed


def command_of(model: Model) -> str:
    """The command that learns such a model, from its options. DATA, MODEL and names of other files in capitals stand
    for files that the model does not name."""
    settings = model.settings
    solved, auto = settings.algorithm == SOLVED.name, bool(model.chosen)
    words = ["vwlite", "solve" if solved else "train", "DATA", *_of_columns(model.columns)]
    if not solved:
        words += ["--algorithm", AUTO.name if auto else settings.algorithm]
    words += _of_settings(settings, auto)
    if auto:
        words += _of_auto(model.chosen)
    elif model.passes and "--passes" not in model.typed:
        words += ["--passes", str(len(model.passes))]
    if _has_other_names(model) and not any(word.startswith("--names=") for word in model.typed):
        words.append("--names")
    words += model.typed
    if model.weights_only and not solved:
        words.append("--save-weights-only")
    if model.continued:
        return joined([*words, "--continue", "MODEL"])
    if model.base or model.resumed:
        words += ["--initial", "START"]
    return joined([*words, "--model", "MODEL"])


def _has_other_names(model: Model) -> bool:
    """Whether features have names that training does not keep by itself: `--algorithm auto` does those of
    numbers and of words of columns."""
    if not (model.chosen and model.columns):
        return bool(len(model.names))
    return not all(_OF_COLUMN.fullmatch(name) for _, name in model.names)


def _of_auto(chosen: dict[str, Any]) -> list[str]:
    kind = str(chosen.get("loss is", ""))
    if "sparse" in chosen:
        return [f"--sparse={chosen['sparse']!r}"]
    if kind.startswith("validation"):
        return ["--validate", "VALIDATION"]
    return ["--passes", "1"] if kind.startswith("progressive") else []


def _of_settings(settings: Settings, auto: bool) -> Iterator[str]:
    """Those that are not the default."""
    usual = Settings.of(settings.algorithm)
    left_out = (*_CHOSEN, *refused(AUTO)) if auto else ("algorithm", "softmax_probabilities")
    for f in fields(Settings):
        value = getattr(settings, f.name)
        default = settings.outputs.usual_link if f.name == "link" else getattr(usual, f.name)
        if f.name in left_out or f.name == "derived" or value is None or (value == default and f.name != "loss"):
            continue
        if f.name in ("interactions", "crosses"):
            for one in value:
                count = one.count(",") + 1 if f.name == "crosses" else len(one)
                yield from (_CROSSING.get(count, "--interactions"), one)
        elif f.name == "feature_weights":
            yield from (option_name(f.name), "WEIGHTS")
        elif isinstance(value, bool):
            yield option_name(f.name) if value else "--no-constant"
        elif isinstance(value, tuple):
            yield from (option_name(f.name), names_text([*map(_number, value)]))
        else:
            yield from (SPECS[f.name].long, _number(value))


def _number(x: Any) -> str:
    return f"{x:.12g}" if isinstance(x, float) and float(f"{x:.12g}") == x else str(x)


def _of_columns(stored: dict[str, Any]) -> Iterator[str]:
    """The roles of a table's columns, and what else is said of tables."""
    if not stored:
        return
    schema = Schema.restored(stored)
    if schema.format:  # which has columns of its own
        yield from ("--format", schema.format)
    else:
        yield from _of_roles(schema)
    if schema.ngram > 1 and not schema.characters:  # those are found, not typed
        yield from ("--ngram", str(schema.ngram))
    for name in ("delimiter", "quote", "escape", "decimal", "thousands", "time_format"):
        if getattr(schema, name):
            yield from (f"--{name.replace('_', '-')}", getattr(schema, name))
    if schema.units:
        yield from ("--units", names_text(schema.units))
    if schema.missing != MISSING and not schema.format:
        yield from ("--missing", names_text(schema.missing))


def _of_roles(schema: Schema) -> Iterator[str]:
    if not schema.header:
        yield from ("--columns", names_text([*schema.roles]))
    for role in ("label", "importance", "tag"):
        name = schema.name_of(role)
        if name is not None:
            yield from (f"--{role}", name)
    for role in ("numeric", "categorical", "text", "time", "drop"):
        names = [name for name, r in schema.roles.items() if r == role]
        if names:
            yield from (f"--{role}", names_text(names))
