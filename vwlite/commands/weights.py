"""`vwlite weights`"""

from typing import TYPE_CHECKING, Any

import click

from vwlite.options.groups import Command, Option
from vwlite.options.types import PATH, Whole

if TYPE_CHECKING:
    from vwlite.model import Model

CHUNK = 1 << 16  # lines written at a time


@click.command("weights", cls=Command)
@click.argument("model", type=PATH)
@click.option("--top", cls=Option, type=Whole(1), metavar="N", help="Only the N largest.  [default: 20]")
@click.option("--all", "everything", cls=Option, is_flag=True, help="All weights, those that are zero too.")
@click.option(
    "--feature", "names", cls=Option, multiple=True, metavar="NAMESPACE^NAME",
    help="Only these features, by name (a name alone: no namespace); the name comes last. May be repeated.",
)  # fmt: skip
def command(model: str, top: int | None, everything: bool, names: tuple[str, ...]) -> int:
    """Show the weights of MODEL: lines of index, TAB, weight, by falling |weight|.

    With classes: index, class, weight.
    """
    from vwlite.errors import UsageError
    from vwlite.input.diagnostics import printable
    from vwlite.model import read_model

    if (top is not None) + everything + bool(names) > 1:
        raise UsageError("--top, --all and --feature exclude each other")
    loaded = read_model(model)
    if names:
        for name in names:
            index, weights, known = look_up(loaded, name)
            if not known:
                why = "its weight is that of all never seen" if any(weights) else "never seen, or of weight zero"
                click.echo(f"{printable(name)}: {model} has no such feature: {why}", err=True)
            for of_class, weight in zip(_columns(loaded), weights, strict=True):
                click.echo(f"{index}{of_class}\t{weight!r}\t{name}")
        return 0
    write(loaded, None if everything else top or 20, everything)
    return 0


def _columns(model: "Model") -> list[str]:
    """What stands before a weight, for each class: TAB and its name. Without classes nothing does."""
    from vwlite.input.diagnostics import printable

    return [f"\t{printable(name)}" for name in model.class_names()] or [""]


def look_up(model: "Model", name: str) -> tuple[int, list[float], bool]:
    """The index of a feature, its weight or those of all classes, and whether the model has it; one that it has not
    seen has a weight in some algorithms."""
    from bisect import bisect_left

    from vwlite.hashing import feature_hash

    namespace, _, feature = name.encode("utf-8", "surrogateescape").rpartition(b"^")
    index = feature_hash(feature, namespace, hash_all=model.settings.hash == "all")
    index &= (1 << model.settings.bits) - 1
    at = bisect_left(model.keys, index)
    k = model.records
    if at < len(model.keys) and model.keys[at] == index:
        return index, [float(w) for w in model.weights[at * k : (at + 1) * k]], True
    unseen = model.rule.get("unseen", 0.0)
    return index, unseen if isinstance(unseen, list) else [unseen] * k, False


def write(model: "Model", top: int | None, zeros: bool) -> None:
    """Write `index TAB weight` lines to standard output, the class between them if there are some; ties by index."""
    import sys

    import numpy as np

    keys, weights = np.asarray(model.keys), np.asarray(model.weights)
    order: np.ndarray[Any, Any] = np.argsort(-np.abs(weights), kind="stable")
    if not zeros:
        order = order[: np.count_nonzero(weights)]
    order = order[:top]
    columns = _columns(model)
    for begin in range(0, order.size, CHUNK):
        chosen = order[begin : begin + CHUNK]
        features, classes = np.divmod(chosen, len(columns))
        rows = zip(keys[features].tolist(), classes.tolist(), weights[chosen].tolist(), strict=True)
        sys.stdout.write("".join(f"{index}{columns[k]}\t{weight!r}\n" for index, k, weight in rows))
