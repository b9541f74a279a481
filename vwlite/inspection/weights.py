"""`vwlite weights`: the weights of a model."""

import sys
from typing import TYPE_CHECKING, Any

from vwlite.errors import UsageError
from vwlite.inspection.commands import OF_DATA, TOP, WeightsOptions
from vwlite.model import read_model
from vwlite.model.feature_names import escaped
from vwlite.model.weights import CHUNK, largest, look_up, name_bytes
from vwlite.output.json_text import json_text
from vwlite.output.stdio import say
from vwlite.output.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from vwlite.model import Model
    from vwlite.model.weights import Row


def weights(o: WeightsOptions) -> int:
    """Run `vwlite weights`; the exit code."""
    if (o.top is not None) + o.everything + bool(o.features) > 1:
        raise UsageError("--top, --all and --feature cannot be used together")
    if o.features and (o.contains is not None or o.by_class):
        raise UsageError(f"--feature and {'--by-class' if o.by_class else '--contains'} cannot be used together")

    def rows(loaded: "Model", sizes: "np.ndarray[Any, Any] | None" = None) -> "Iterator[Row]":
        if o.by_class and not loaded.class_names():
            raise UsageError(f"--by-class: {o.model} has no classes")
        if o.contains is not None and not len(loaded.names):
            known, adds = loaded.shown_names, "vwlite names adds those of data"
            if not len(known):
                raise UsageError(f"--contains: {o.model} has no names of features: {adds}")
            say(f"note: {o.model} has names of derived features only: {adds}")
        if o.features:
            return _of_features(o.model, loaded, o.features)
        return largest(loaded, None if o.everything else o.top or TOP, o.everything, o.contains, o.by_class, sizes)

    if o.data:
        from vwlite.inspection.weights_of_data import beside_data

        return beside_data(o, rows)
    for spec in OF_DATA:
        if spec.name in o.given:
            raise UsageError(f"{spec.long} is for DATA: name its files, or - for standard input")
    loaded = read_model(o.model)
    if "slope" in loaded.calibration:
        say("note: weights are those of scores before their map by vwlite calibrate")
    write_rows(loaded, rows(loaded), o.json, bool(o.features))
    return 0


def _of_features(path: str, model: "Model", features: tuple[str, ...]) -> "Iterator[Row]":
    """The rows of features by name; words about those that the model does not know."""
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


def write_rows(model: "Model", rows: "Iterator[Row]", as_json: bool, typed: bool) -> None:
    """Write rows to standard output, as lines or as a JSON array. typed: names are what somebody typed."""
    classes = model.class_names()
    columns = [f"\t{printable(name)}" for name in classes] or [""]
    waiting, separator = [], "[\n"
    for index, k, weight, names in rows:
        if as_json:
            one = {"index": index, **({"class": classes[k]} if classes else {}), "weight": weight, "names": names}
            waiting.append(separator + json_text(one))
            separator = ",\n"
        else:
            shown = "".join(f"\t{name if typed else escaped(name_bytes(name))}" for name in names)
            number = "unknown" if weight is None else repr(weight)
            waiting.append(f"{index}{columns[k]}\t{number}{shown}\n")
        if len(waiting) == CHUNK:
            sys.stdout.write("".join(waiting))
            waiting = []
    if as_json:
        waiting.append("[]\n" if separator == "[\n" else "\n]\n")
    sys.stdout.write("".join(waiting))
