"""`vwlite weights`"""

from typing import TYPE_CHECKING, Any

import click

from vwlite.options.command import Command, Option
from vwlite.options.run_options import AS_WRITTEN, ModelOptions, reading_options
from vwlite.options.types import PATH, Whole
from vwlite.output.stdio import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from vwlite.model import Model

CHUNK = 1 << 16  # lines written at a time
TOP = 20


@click.command(
    "weights", cls=Command,
    examples=(
        "vwlite weights days.model --top 20",
        "vwlite weights days.model day1.vw day2.vw",
    ),
)  # fmt: skip
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, type=PATH, metavar="[DATA]...")
@reading_options(*AS_WRITTEN)
@click.option("--top", cls=Option, type=Whole(1), metavar="N", help=f"Only the N largest.  [default: {TOP}]")
@click.option("--all", "everything", cls=Option, is_flag=True, help="All weights, including zeros.")
@click.option(
    "--feature", "features", cls=Option, multiple=True, metavar="NAMESPACE^NAME",
    help="Only the features of this name. NAME alone: without a namespace. The name is the last column. May be "
         "repeated.",
)  # fmt: skip
@click.option("--contains", cls=Option, metavar="TEXT", help="Only features whose name contains TEXT.")
@click.option("--by-class", cls=Option, is_flag=True, help="The N largest of each class, by class.")
@click.option("--json", "as_json", cls=Option, is_flag=True, help="As JSON, for programs.")
def command(
    model: str, data: tuple[str, ...], top: int | None, everything: bool, features: tuple[str, ...],
    contains: str | None, by_class: bool, as_json: bool, **typed: Any,
) -> int:  # fmt: skip
    """Show the weights of MODEL, the largest |weight| first.

    A line is index, TAB, weight, and, if the model has names, TAB and the name; several names are features with the
    same index. With classes: index, class, weight. `vwlite train --names` stores names, `vwlite names` adds them.

    With DATA: also how many examples have the feature, and weight x spread, the largest first; the spread is the
    standard deviation of the feature's value in all examples. Then the sums of |weight x spread| by column or
    namespace. Names are those of DATA, too.
    """
    from vwlite.errors import UsageError
    from vwlite.model import read_model

    if (top is not None) + everything + bool(features) > 1:
        raise UsageError("--top, --all and --feature cannot be used together")
    if features and (contains is not None or by_class):
        raise UsageError(f"--feature and {'--by-class' if by_class else '--contains'} cannot be used together")
    def rows(loaded: "Model", sizes: "np.ndarray[Any, Any] | None" = None) -> "Iterator[Row]":
        if by_class and not loaded.class_names():
            raise UsageError(f"--by-class: {model} has no classes")
        if contains is not None and not len(loaded.names):
            raise UsageError(f"--contains: {model} has no names of features: vwlite names adds those of data")
        if features:
            return _of_features(model, loaded, features)
        return largest(loaded, None if everything else top or TOP, everything, contains, by_class, sizes)

    given = {name: value for name, value in typed.items() if value not in (None, ())}
    if data:
        from vwlite.runs.weights import beside_data

        return beside_data(ModelOptions(model=model, data=data, **given), rows, as_json, None if everything else TOP)
    if given:
        name = next(iter(given)).replace("_", "-")
        raise UsageError(f"--{name} is for DATA: name its files, or - for standard input")
    loaded = read_model(model)
    if loaded.calibration:
        say("note: weights are those of scores before their map by vwlite calibrate")
    write(loaded, rows(loaded), as_json, bool(features))
    return 0


Row = tuple[int, int, float | None, list[str]]  # index, class from 0, weight (None: unknown), names


def _of_features(path: str, model: "Model", features: tuple[str, ...]) -> "Iterator[Row]":
    """The rows of features by name; words about those that the model does not know."""
    from vwlite.input.diagnostics import printable

    for name in features:
        for index, weights, known in look_up(model, name):
            if not known:
                why = "unseen in training, or its weight is zero"
                if any(weights):
                    why = "its weight is that of all unseen features"
                alone = "" if "^" in name else "; with a namespace it is NAMESPACE^NAME"
                say(f"{printable(name)}: {path} has no such feature: {why}{alone}")
            for k, weight in enumerate(weights):
                yield index, k, weight if known or any(weights) else None, [name]


def look_up(model: "Model", name: str) -> list[tuple[int, list[float], bool]]:
    """The index of a feature, its weight or those of all classes, and whether the model has it; one that it has not
    seen has a weight in some algorithms. Usually there is one; a name may have been given to several indices."""
    from bisect import bisect_left

    from vwlite.model.feature_names import indices_of

    key = _bytes(name)
    found = []
    k = model.records
    for index in model.names.keys_of(key) or indices_of(model.settings, key):
        at = bisect_left(model.keys, index)
        if at < len(model.keys) and model.keys[at] == index:
            found.append((index, [float(w) for w in model.weights[at * k : (at + 1) * k]], True))
    if found:
        return found
    unseen = model.rule.get("unseen", 0.0)
    return [(indices_of(model.settings, key)[0], unseen if isinstance(unseen, list) else [unseen] * k, False)]


def largest(
    model: "Model", top: int | None, zeros: bool, contains: str | None, by_class: bool,
    sizes: "np.ndarray[Any, Any] | None" = None,
) -> "Iterator[Row]":  # fmt: skip
    """The rows by falling |weight| or size, ties by index; those of each class separately, if requested."""
    import numpy as np

    keys, weights, k = np.asarray(model.keys), np.asarray(model.weights), model.records
    shown = np.ones(weights.size, bool) if zeros else weights != 0
    names = names_by_index(model)
    by = np.abs(weights if sizes is None else sizes)
    if contains is not None:
        text = _bytes(contains)
        chosen = [key for key, name in model.names if text in name]
        shown &= np.repeat(np.isin(keys, chosen), k)
    if not by_class:
        yield from _rows(keys, weights, k, np.flatnonzero(shown), by, top, names)
        return
    for one in range(k):
        places = np.arange(one, weights.size, k)
        yield from _rows(keys, weights, k, places[shown[places]], by, top, names)


def _rows(
    keys: "np.ndarray[Any, Any]", weights: "np.ndarray[Any, Any]", k: int, places: "np.ndarray[Any, Any]",
    by: "np.ndarray[Any, Any]", top: int | None, names: dict[int, list[str]],
) -> "Iterator[Row]":  # fmt: skip
    import numpy as np

    order = places[np.argsort(-by[places], kind="stable")][:top]
    for begin in range(0, order.size, CHUNK):
        chosen = order[begin : begin + CHUNK]
        features, classes = np.divmod(chosen, k)
        for index, c, weight in zip(keys[features].tolist(), classes.tolist(), weights[chosen].tolist(), strict=True):
            yield index, c, weight, names.get(index, [])


def names_by_index(model: "Model") -> dict[int, list[str]]:
    """The names of each index; of the constant too, if others are known."""
    from vwlite.core.data.expand import CONSTANT_HASH
    from vwlite.model.feature_names import CONSTANT

    if not len(model.names):
        return {}
    found = {key: [_text(name) for name in names] for key, names in model.names.by_key.items()}
    if model.settings.constant:
        found.setdefault(CONSTANT_HASH & ((1 << model.settings.bits) - 1), []).append(_text(CONSTANT))
    return found


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def write(model: "Model", rows: "Iterator[Row]", as_json: bool, typed: bool) -> None:
    """Write rows to standard output, as lines or as a JSON array. typed: names are what somebody typed."""
    import sys

    from vwlite.input.diagnostics import printable
    from vwlite.model.feature_names import escaped
    from vwlite.output.json_text import json_text

    classes = model.class_names()
    columns = [f"\t{printable(name)}" for name in classes] or [""]
    waiting, separator = [], "[\n"
    for index, k, weight, names in rows:
        if as_json:
            one = {"index": index, **({"class": classes[k]} if classes else {}), "weight": weight, "names": names}
            waiting.append(separator + json_text(one))
            separator = ",\n"
        else:
            shown = "".join(f"\t{name if typed else escaped(_bytes(name))}" for name in names)
            number = "unknown" if weight is None else repr(weight)
            waiting.append(f"{index}{columns[k]}\t{number}{shown}\n")
        if len(waiting) == CHUNK:
            sys.stdout.write("".join(waiting))
            waiting = []
    if as_json:
        waiting.append("[]\n" if separator == "[\n" else "\n]\n")
    sys.stdout.write("".join(waiting))
