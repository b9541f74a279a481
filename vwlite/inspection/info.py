"""`vwlite info`"""

import os
from typing import TYPE_CHECKING, Any

import click

from vwlite.model.nights import Night
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.stdio import plain
from vwlite.output.text import printable

if TYPE_CHECKING:
    from vwlite.model import Model


def info(model: str, json: bool, report_version: str) -> int:
    """Run `vwlite info`; the exit code. report_version: there is one."""
    from vwlite.model import read_model

    facts = describe(model, read_model(model))
    if json:
        click.echo(json_text(with_schema(_in_json(facts)), indent=2, ensure_ascii=False))
    else:
        click.echo(plain(as_table(_in_words(facts))))
    return 0


def _in_words(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts for people: a line for each of the last nights."""
    nights = facts.get("continued", {}).get("nights")
    if not nights:
        return facts
    others = {name: value for name, value in facts["continued"].items() if name in ("inputs", "numbers")}
    lines = {f"run -{n}" if n else "last run": str(Night(**night)) for n, night in enumerate(reversed(nights))}
    return facts | {"continued": others, "runs": lines}


def _in_json(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with the keys of JSON, where the model has others."""
    from vwlite.model.header import in_json
    from vwlite.runs.watched import Watched

    found = facts | {"chosen": in_json(facts["chosen"])} if "chosen" in facts else {**facts}
    if "passes" in facts:
        found["passes"] = [in_json(losses) for losses in facts["passes"]]
    if numbers := facts.get("continued", {}).get("numbers"):
        of_last = {Watched.restored(text).name: x for text, x in numbers.items()}
        found["continued"] = facts["continued"] | {"numbers": of_last}
    return found


def describe(path: str, model: "Model") -> dict[str, Any]:
    """The header of the model in a file, and what can be counted in it."""
    import numpy as np

    from vwlite.core.base.arrays import total
    from vwlite.model.weights import intercept_key

    keys, weights = np.asarray(model.keys), np.asarray(model.weights)
    features = keys.size
    keys = np.repeat(keys, model.records)  # a weight for each class
    settings = model.settings
    counted = (weights != 0) & (keys != intercept_key(settings))
    norm = total(np.abs(weights[counted]).astype(np.float64))
    header = model.header() | {"options": model.shown_options}
    if "slope" in model.calibration:
        shown = {name: model.calibration[name] for name in ("method", "slope")}  # there may be many points
        header["calibration"] = shown | {"points": len(model.calibration["scores"])}
    if model.means:  # there are many
        header["means"] = {"effects": len(model.means["effects"]), "rows": model.means["rows"]}
    return {
        **header,
        "features": int(features),
        "nonzero_weights": int(np.count_nonzero(counted)),
        "l1_norm": norm if norm < np.inf else None,
        **_of_names(model),
        "file_size": os.path.getsize(path),
    }


def _of_names(model: "Model") -> dict[str, Any]:
    """How many names there are, and how much of the sum of |weights| they explain."""
    if not len(model.names):
        return {}
    from vwlite.inspection.names import named_share

    features, _, share = named_share(model)
    return {"names": len(model.names), "named_features": features, "named_share_of_l1_norm": round(share, 6)}


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
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(x)}" for name, x in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_shown(v) for v in value) or "-"
    if isinstance(value, float):
        return f"{value:.10g}"
    return "-" if value in (None, "") else printable(str(value))
