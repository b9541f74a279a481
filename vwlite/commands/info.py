"""`vwlite info`"""

import json
import os
from typing import Any

import click

from vwlite.complaints import printable
from vwlite.options import PATH, Command, Option


@click.command("info", cls=Command)
@click.argument("model", type=PATH)
@click.option("--json", "as_json", cls=Option, is_flag=True, help="As JSON, for programs.")
def command(model: str, as_json: bool) -> int:
    """Show everything that MODEL knows about itself: options, counters, state, size."""
    facts = describe(model)
    if as_json:
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        click.echo(as_table(facts))
    return 0


def describe(path: str) -> dict[str, Any]:
    """The header of a model, and what can be counted in it."""
    import numpy as np

    from vwlite.core.expand import CONSTANT_HASH
    from vwlite.model import read_model

    model = read_model(path)
    keys, weights = np.asarray(model.keys), np.asarray(model.weights)
    features = keys.size
    keys = np.repeat(keys, model.records)  # a weight for each class
    counted = weights != 0
    if model.options.get("constant"):
        counted &= keys != CONSTANT_HASH & ((1 << model.options["bits"]) - 1)
    return {
        **model.header(),
        "features": int(features),
        "nonzero weights": int(np.count_nonzero(counted)),
        "l1 norm": float(np.abs(weights[counted]).sum()),
        "file size": os.path.getsize(path),
    }


def as_table(facts: dict[str, Any]) -> str:
    """The facts as lines of `name  value`, nested ones under their heading."""
    lines = []
    for name, value in facts.items():
        if isinstance(value, dict):
            lines.append(name.replace("_", " "))
            lines += [f"  {k.replace('_', '-'):<24} {_shown(v)}" for k, v in value.items()]
        else:
            lines.append(f"{name.replace('_', ' '):<26} {_shown(value)}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(v) for v in value) or "-"
    if isinstance(value, float):
        return f"{value:.10g}"
    return "-" if value in (None, "") else printable(str(value))
