"""A run of `vwlite diff`: the differences of two models."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.evaluation.commands import DiffOptions
from vwlite.evaluation.evaluate import Evaluating
from vwlite.evaluation.kinds import Binary, Regression
from vwlite.model import Model, read_model
from vwlite.model.weights import names_by_index
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.stdio import plain
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.opened import opened
from vwlite.runs.run import say
from vwlite.runs.scoring import Reading


def diff(o: DiffOptions) -> int:
    """Run `vwlite diff`; the exit code."""
    o.check()
    if "-" in o.data:
        raise UsageError("the data are read once for each model, and standard input only once: name DATA files")
    with RunFrame("diff", o) as frame:
        a, b = models = read_model(str(o.model)), read_model(o.other)
        for path, model in zip((o.model, o.other), models, strict=True):
            model.settings.outputs.check_one("vwlite diff", path)
        headers = [
            m.shown_options | {f"counted_{name}": n for name, n in m.counters.items()}
            | {"calibration": m.calibration.get("method")} for m in models
        ]
        options = {name: [header.get(name) for header in headers] for name in headers[0] | headers[1]}
        options = {name: values for name, values in options.items() if values[0] != values[1]}
        facts: dict[str, Any] = {"models": [o.model, o.other], "options": options}
        both = [name for name in a.class_names() if name in b.class_names()]
        why = _why_not(a, b, both)
        notes = [f"weights are not compared: {why}"] if why else []
        if "normalize" in options:
            notes.append("weights are for values of different normalization: their sizes differ for that alone")
        if both and len(both) < max(a.records, b.records):
            notes.append("only the weights of the classes of both models are compared")
        facts["weights"] = {} if why else _of_weights(a, b, both or [""], o.top)
        read: list[tuple[Evaluating, Reading]] = []
        for one in (o, replace(o, model=o.other)) if o.data else ():
            applied, reading = opened(one), Reading(frame, beside=read[0][1] if read else None)
            read.append((Evaluating(applied, reading.take_bad, everything=True), reading))
        facts |= {"predictions": _of_predictions(read, o.top, notes) if read else {}, "notes": notes}
        if frame.signal is not None:
            return frame.code()
        if o.json:
            print(json_text(with_schema(facts), indent=2, ensure_ascii=False))
        else:
            labels = {f"counted_{name}": f"counted {name}" for model in models for name in model.counters}
            print(plain("\n".join(_as_text(facts, labels))))
        for note in () if o.quiet else notes:
            say(f"note: {note}")
        if not facts["weights"] and not facts["predictions"]:
            raise DataError(f"{o.model} and {o.other} cannot be compared: {why}")
        return frame.code()


def _why_not(a: Model, b: Model, both: list[str]) -> str:
    """Why a weight of one is not the same feature's as a weight of the other; "" if it is."""
    for name in ("bits", "hash"):
        if (first := getattr(a.settings, name)) != (second := getattr(b.settings, name)):
            return f"--{name} {first} and {second} number features differently"
    if bool(a.class_names()) != bool(b.class_names()):
        return "one of the models has classes, the other has none"
    return "the models have no class in common" if a.class_names() and not both else ""


def _of_weights(a: Model, b: Model, classes: list[str], top: int) -> dict[str, Any]:
    """Weights that came, went and changed, of classes that both have; [""]: of no class."""
    keys = np.union1d(np.asarray(a.keys), np.asarray(b.keys))
    both = np.zeros((2, keys.size, len(classes)))
    for weights, model in zip(both, (a, b), strict=True):
        own = np.asarray(model.weights, float).reshape(-1, model.records)
        at = [model.class_names().index(name) for name in classes if name] or [0]
        weights[np.searchsorted(keys, np.asarray(model.keys))] = own[:, at]
    change = both[1] - both[0]
    names, largest = names_by_index(b) | names_by_index(a), []
    for place in np.argsort(-np.abs(change), axis=None, kind="stable")[: min(top, np.count_nonzero(change))].tolist():
        feature, k = divmod(place, len(classes))
        index, values = int(keys[feature]), both[:, feature, k].tolist()
        largest.append({"index": index, "names": names.get(index, []), "class": classes[k], "a": values[0],
                        "b": values[1], "change": values[1] - values[0]})
    of_each = {name: _counts(both[:, :, [k]]) for k, name in enumerate(classes) if name}
    return _counts(both) | {"classes": of_each, "largest": largest}


def _counts(both: Any) -> dict[str, Any]:
    a, b = both[0] != 0, both[1] != 0
    differ = both[0] != both[1]
    found = {"came": b & ~a, "went": a & ~b, "changed": a & b & differ, "same": a & ~differ}
    return {name: int(np.count_nonzero(places)) for name, places in found.items()}


def _of_predictions(both: list[tuple[Evaluating, Reading]], top: int, notes: list[str]) -> dict[str, Any]:
    """Lines of another class, or of another of two labels. Of a regression: of another prediction."""
    names, tasks = zip(*((run.opened.model.class_names(), run.kind()) for run, _ in both), strict=True)
    if type(tasks[0]) is not type(tasks[1]):
        notes.append("predictions are not compared: the models are of different tasks")
        return {}
    classes = [*dict.fromkeys(names[0] + names[1])]
    numbers = np.array([0, *(classes.index(name) + 1 for name in names[1])])
    counts, kept = np.zeros(5, int), []
    batches = [run.over(reading.batches(run.scoring.parse, run.learner)) for run, reading in both]
    for one, other in zip_longest(*batches):
        if both[0][1].interrupted:
            break
        if one is None or other is None or not np.array_equal(one[2], other[2]):
            raise DataError("the models do not predict the same lines of the data")
        batch, label, p, q = one[0].batch, one[1].label, one[1].prediction, other[1].prediction
        q = numbers[q.astype(int)] if classes else q
        if isinstance(tasks[0], Regression):
            p, q = (task.shown(x) for task, x in zip(tasks, (p, q), strict=True))
        differ, size = p != q, np.abs(p - q) * (not classes)
        errors = [x != label if classes else np.abs(x - label) for x in (p, q)]
        if isinstance(tasks[0], Binary):
            positive = [task.decided(x) for task, x in zip(tasks, (p, q), strict=True)]
            differ, errors = positive[0] != positive[1], [x != (label > 0) for x in positive]
        known = differ & ~np.isnan(label)
        better = [known & (errors[0] < errors[1]), known & (errors[1] < errors[0])]
        counts += [len(p), *(np.count_nonzero(x) for x in (differ, known, *better))]
        places = np.flatnonzero(differ)
        for i in places[np.argsort(-size[places], kind="stable")][:top].tolist():
            values: list[Any] = [float(x[i]) if x[i] == x[i] else None for x in (label, p, q)]
            values = [x and classes[int(x) - 1] for x in values] if classes else values
            line = f"{batch.source}:{batch.line_number(int(one[2][i]))}"
            kept.append((-size[i], {"line": line, "label": values[0], "a": values[1], "b": values[2]}))
        kept = sorted(kept, key=lambda pair: pair[0])[:top]
    found = dict(zip(("examples", "differ", "labelled", "a_better", "b_better"), counts.tolist(), strict=True))
    return found | {"lines": [example for _, example in kept]}


def _as_text(facts: dict[str, Any], labels: dict[str, str]) -> Iterator[str]:
    """The facts as lines of at most 80 columns. labels: of options and counts whose label is not the key."""
    yield _row("options and counts that differ", *facts["models"])
    for name, values in facts["options"].items():
        yield _row(labels.get(name, name).replace("_", "-"), *values)
    if weights := facts["weights"]:
        keys = ("came", "went", "changed", "same")
        yield from ("", _row("weights", *keys))
        for name, n in {"all": weights, **weights["classes"]}.items():
            yield _row(name, *(f"{n[key]:,}" for key in keys))
        yield from ("", _row("largest changes", "A", "B", "change"))
        for w in weights["largest"]:
            yield _row(" ".join([*(w["names"] or [str(w["index"])]), w["class"]]), w["a"], w["b"], w["change"])
    if found := facts["predictions"]:
        yield from ("", _row("predictions that differ", "all", "labelled", "A better", "B better"))
        examples, *counts = (f"{n:,}" for n in found.values() if isinstance(n, int))
        yield _row(f"of {examples}", *counts)
        yield from ("", _row("lines", "label", "A", "B"))
        yield from (_row(*line.values()) for line in found["lines"])


def _row(first: str, *others: Any) -> str:
    """A name of up to 31 characters and four columns of 12, or two of 24."""
    wide = 24 if len(others) == 2 else 12
    shown = ["-" if x in (None, "") else f"{x:.5g}" if isinstance(x, float) else printable(str(x)) for x in others]
    name = printable(first) if len(printable(first)) <= 31 else "..." + printable(first)[-28:]
    return f"{name:<31}" + "".join(f"{x if len(x) < wide else '...' + x[4 - wide:]:>{wide}}" for x in shown)
