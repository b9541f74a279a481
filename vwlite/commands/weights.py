"""`vwlite weights`"""

from typing import TYPE_CHECKING, Any

import click

from vwlite.options import PATH, Command, Option, Whole

if TYPE_CHECKING:
    from vwlite.model import Model

CHUNK = 1 << 16  # lines written at a time


@click.command("weights", cls=Command)
@click.argument("model", type=PATH)
@click.option("--top", cls=Option, type=Whole(1), metavar="N", help="Only the N largest.  [default: 20]")
@click.option("--all", "everything", cls=Option, is_flag=True, help="All weights, those that are zero too.")
@click.option(
    "--feature", "names", cls=Option, multiple=True, metavar="NAMESPACE^NAME",
    help="Only these features, by name (a name alone: no namespace); index, weight and name. May be repeated.",
)  # fmt: skip
def command(model: str, top: int | None, everything: bool, names: tuple[str, ...]) -> int:
    """Show the weights of MODEL: lines of index, TAB, weight, by falling |weight|."""
    from vwlite.errors import UsageError
    from vwlite.model import read_model

    if (top is not None) + everything + bool(names) > 1:
        raise UsageError("--top, --all and --feature exclude each other")
    loaded = read_model(model)
    if names:
        for name in names:
            index, weight = look_up(loaded, name)
            click.echo(f"{index}\t{weight!r}\t{name}")
        return 0
    write(loaded, None if everything else top or 20, everything)
    return 0


def look_up(model: "Model", name: str) -> tuple[int, float]:
    """The index and the weight of a feature; one that the model has not seen has a weight in some algorithms."""
    from bisect import bisect_left

    from vwlite.hashing import feature_hash

    namespace, _, feature = name.encode("utf-8", "surrogateescape").rpartition(b"^")
    index = feature_hash(feature, namespace, hash_all=model.options["hash"] == "all")
    index &= (1 << model.options["bits"]) - 1
    at = bisect_left(model.keys, index)
    found = at < len(model.keys) and model.keys[at] == index
    return index, float(model.weights[at]) if found else float(model.rule.get("unseen", 0.0))


def write(model: "Model", top: int | None, zeros: bool) -> None:
    """Write `index TAB weight` lines to standard output; ties by index."""
    import sys

    import numpy as np

    keys, weights = np.asarray(model.keys), np.asarray(model.weights)
    order: np.ndarray[Any, Any] = np.argsort(-np.abs(weights), kind="stable")
    if not zeros:
        order = order[: np.count_nonzero(weights)]
    order = order[:top]
    for begin in range(0, order.size, CHUNK):
        chosen = order[begin : begin + CHUNK]
        rows = zip(keys[chosen].tolist(), weights[chosen].tolist(), strict=True)
        sys.stdout.write("".join(f"{index}\t{weight!r}\n" for index, weight in rows))
