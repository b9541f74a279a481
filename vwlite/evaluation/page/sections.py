"""The sections of the page, from what was measured."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from vwlite.evaluation import ranking, screen
from vwlite.evaluation.kinds import Binary, Classes, Regression
from vwlite.evaluation.measures import Against, StreamMeasures, Value
from vwlite.evaluation.page.charts import Axis, Series, chart
from vwlite.evaluation.page.markup import Markup, Words, columns, items, joined, paragraph, table, text
from vwlite.evaluation.page.origin import command_of
from vwlite.model import Model
from vwlite.output.text import percent, shown

MOST_CLASSES = 20  # of the tables
MOST_GROUPS, MOST_NOTES = 30, 30


def interval(m: Value) -> str:
    return f"{shown(m.interval[0])} to {shown(m.interval[1])}" if m.interval else "-"


def verdict(measured: StreamMeasures, values: Sequence[Value], positive: str) -> str:
    """One sentence: the first measure beside the baseline."""
    m = next((m for m in values if m.value is not None), None)
    if m is None:
        return f"{screen.head(measured, positive)}: no measure is defined."
    said = f"{m.name} is {shown(m.value, m.about)}"
    said += f" (95 % interval: {interval(m)})" if m.interval else ""
    if m.baseline is not None:
        said += f"; the best constant prediction has {shown(m.baseline)}"
    return f"On {screen.head(measured, positive)}, the {said}{f': {m.gain}' if m.gain else ''}."


def of_measures(values: Sequence[Value], against: Against | None, names: Sequence[str]) -> Markup:
    """names: of the model, and of the other."""
    if against is None:
        rows = [
            (m.name, shown(m.value, m.about), shown(m.baseline), interval(m), Words(m.why or m.gain))
            for m in values
        ]
        return table("Measures", ("measure", "model", "baseline", "95 % interval", "against the baseline"), rows)
    others = {m.name: m for m in against.other.values()}
    apart = {m.name: m for m in against.values()}
    both = []
    for m in values:
        other, difference = others.get(m.name), apart.get(m.name)
        cells = ["-", "-"]
        if difference is not None and difference.value is not None:
            cells = [f"{difference.value:+.5f}", interval(difference)]
        both.append((m.name, shown(m.value), shown(other.value) if other else "-", shown(m.baseline), *cells))
    head = ("measure", *names, "baseline", "difference", "95 % interval of the difference")
    return table("Measures of both models", head, both)


def of_training(passes: Sequence[dict[str, Any]]) -> Markup:
    """The losses of each pass of the training."""
    names = {"average": "training", "holdout": "held out"}
    lines = []
    for key in sorted({key for each in passes for key in each} - {"pass"}):
        found = [(x["pass"], x[key]) for x in passes if x.get(key) is not None]
        if len(found) > 1:
            at, losses = zip(*found, strict=True)
            lines.append(Series(names.get(key, key), at, losses, points=len(found) <= 20))
    if not lines:
        return paragraph("The model has no record of several passes.")
    x = Axis("pass", [1, max(max(line.x) for line in lines)])
    y = Axis("loss", [v for line in lines for v in line.y])
    about = "; ".join(f"{s.name}: from {shown(s.y[0])} to {shown(s.y[-1])}" for s in lines)
    return chart("Loss of each pass of the training", f"Loss of each pass. {about}", lines, x, y)


def of_order(evaluations: Sequence[tuple[str, Binary]]) -> Markup:
    """ROC, precision and recall, calibration: the lines of each model."""
    roc, precision, calibration = [], [], []
    for name, e in evaluations:
        if not e.ranked.of_both:
            return paragraph("All labels are the same: ROC, precision and recall are not defined.")
        c = ranking.curve(e.ranked)
        roc.append(Series(name, [0.0, *(c.false / c.negative).tolist()], [0.0, *c.recall.tolist()]))
        precision.append(Series(name, c.recall.tolist(), c.precision.tolist()))
        groups = e.calibration()
        if groups:
            each = [g.interval for g in groups]
            calibration.append(Series(name, [g.predicted for g in groups], [g.observed for g in groups], each, True))
    share = [0.0, 1.0]
    parts = [
        chart("ROC", "ROC curve: recall over the share of false alarms", roc,
              Axis("negative rows that are predicted positive", share), Axis("recall", share), diagonal=True),
        chart("Precision and recall", "Precision over recall", precision, Axis("recall", share),
              Axis("precision", share)),
    ]
    if calibration:
        parts.append(chart("Calibration, with 95 % intervals", "Observed over predicted shares",
                           calibration, Axis("predicted", share), Axis("observed", share), diagonal=True))
    said = []
    for name, e in evaluations:
        lines = screen.of_threshold(e)
        said += [paragraph(f"{name}: {line}" if len(evaluations) > 1 else line) for line in lines]
    groups = evaluations[0][1].calibration()
    rows = [(f"{g.predicted:.3f}", f"{g.observed:.3f}", screen.count(g.weight)) for g in groups]
    counts = table("Calibration in numbers", ("predicted", "observed", screen.counted(evaluations[0][1])),
                   rows) if rows else Markup()
    return joined([columns([*parts, counts]), *said])


def of_classes(evaluation: Classes, names: Sequence[str]) -> Markup:
    each = [column.tolist() for column in evaluation.of_each()]
    order = sorted((k for k in range(len(names)) if each[0][k]), key=lambda k: -each[0][k])[:MOST_CLASSES]
    rows = [(names[k], screen.count(each[0][k]), *(f"{column[k]:.3f}" for column in each[1:])) for k in order]
    parts = [table(f"The {len(rows)} most frequent classes",
                   ("class", screen.counted(evaluation), "precision", "recall", "F1"), rows)]
    if evaluation.confusion is not None:
        cells = [[screen.count(evaluation.confusion[a + 1, b + 1]) for b in order] for a in order]
        matrix = [(names[a], *row) for a, row in zip(order, cells, strict=True)]
        parts.append(table("Confusion: a row for each label, a column for each prediction",
                           ("label", *(names[k] for k in order)), matrix))
    return joined(parts)


def of_numbers(evaluation: Regression) -> Markup:
    """The mean labels of tenths of the rows by their prediction."""
    groups = evaluation.groups()
    if len(groups) < 2:
        return Markup()
    series = Series("", [g.predicted for g in groups], [g.observed for g in groups], [g.interval for g in groups], True)
    every = [v for g in groups for v in (g.predicted, *g.interval)]
    return chart("Predicted and observed: tenths of the rows, with 95 % intervals",
                 "Mean label over mean prediction", [series], Axis("mean prediction", every),
                 Axis("mean label", every), diagonal=True)


def of_front(front: Sequence[dict[str, Any]]) -> Markup:
    """The losses of models over their nonzero weights, as `vwlite tune --json` writes them."""
    found = sorted((int(row["nonzero weights"]), float(row["loss"])) for row in front if row["nonzero weights"])
    if len(found) < 2:
        return Markup()
    series = Series("", [n for n, _ in found], [loss for _, loss in found], (), True)
    return chart("Loss over nonzero weights, of the models of vwlite tune", "Loss over nonzero weights", [series],
                 Axis("nonzero weights", series.x, log=True), Axis("loss", series.y))


def of_worst(rows: Iterable[Any]) -> Markup:
    """rows: as `vwlite.evaluation.worst.Worst` finds them."""
    lines = [
        (
            f"{os.path.basename(row.file)}:{row.line}{f' {row.tag}' if row.tag else ''}", row.label,
            row.prediction if isinstance(row.prediction, str) else shown(row.prediction),
            shown(row.loss),
            Words(", ".join(f"{c.name} ({c.contribution:+.3g})" for c in row.explanation.contributions)),
        )
        for row in rows
    ]
    head = ("line", "label", "prediction", "loss", "features that moved the score away from the label (contribution)")
    return table("The rows with the largest loss", head, lines)


def of_weights(groups: Sequence[Any], rows: Iterable[Any], examples: int) -> Markup:
    """groups, rows: as `vwlite.inspection.weights_of_data` finds them."""
    sums = [(g.name, f"{g.size:,}", percent(g.share), shown(g.effect)) for g in groups[:MOST_GROUPS]]
    if rest := groups[MOST_GROUPS:]:
        share, effect = sum(g.share for g in rest), sum(g.effect for g in rest)
        sums.append((f"{len(rest):,} others", f"{sum(g.size for g in rest):,}", percent(share), shown(effect)))
    each = [
        (
            " ".join(row.names) or f"#{row.key}", *([row.of_class] if row.of_class is not None else []),
            shown(row.weight), f"{row.examples:,}", percent(row.examples / examples), shown(row.effect),
        )
        for row in rows
    ]
    with_class = bool(each) and len(each[0]) == 6
    head = ("feature", *(["class"] if with_class else []), "weight", "rows", "of all", "weight x spread")
    return columns([
        table("By column or namespace", ("name", "features", "share", "sum of |weight x spread|"), sums),
        table(f"The {len(each)} largest |weight x spread|", head, each),
    ])


def of_origin(models: Sequence[tuple[str, Model]], data: Sequence[tuple[str, str]], program: str) -> Markup:
    """The command of each model, and digests. data: names of files and SHA-256, if they are files."""
    parts = []
    for name, model in models:
        made = "It was merged from several models" if model.merged else f"{name} was learned by"
        parts.append(paragraph(f"{made}, with {model.program or 'an unknown program'}:"))
        parts.append(Markup(f'<pre tabindex="0">{text(command_of(model), longest=None)}</pre>'))
    rows = [(name, Words(f"model, BLAKE2b {model.digest}")) for name, model in models]
    for name, model in models:
        examples = (model.solved or model.chosen).get("data")
        if examples:
            rows.append((f"training data of {name}", Words(f"digest of the examples in the model {examples}")))
        rows += [(f"training data of {name}", Words(f"digest in the model, BLAKE2b {digest}"))
                 for digest in model.continued.get("inputs", [])]
    rows += [(name, Words(f"data of this page, SHA-256 {digest}")) for name, digest in data if digest]
    if not all(model.solved or model.chosen.get("data") or model.continued for _, model in models):
        parts.append(paragraph("Models have a digest of their training data from --algorithm auto with files, vwlite "
                               "solve and train --continue."))
    return joined([*parts, table("Files", ("file", "digest"), rows), paragraph(f"This page: {program}.")])


def of_notes(notes: Sequence[str]) -> Markup:
    more = [f"{len(notes) - MOST_NOTES:,} more: vwlite describe"] if len(notes) > MOST_NOTES else []
    return items([*notes[:MOST_NOTES], *more]) or paragraph("Nothing stands out.")
