"""The sections of the page, from what was measured."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vwlite.evaluation import ranking, screen
from vwlite.evaluation.evaluate import Evaluating
from vwlite.evaluation.kinds import Binary, Classes, Found, Kind, Quantiles, Regression
from vwlite.evaluation.measures import Against, StreamMeasures, Value, smaller
from vwlite.evaluation.page.charts import Axis, Bar, Series, bars, chart, cloud, compact, shade, steps
from vwlite.evaluation.page.markup import Markup, Words, columns, items, joined, name, paragraph, table, text
from vwlite.evaluation.page.origin import command_of
from vwlite.evaluation.words import WordText
from vwlite.evaluation.worst import WorstRow
from vwlite.model import Model
from vwlite.model.effects import Effects
from vwlite.output.text import label_text, percent, printable, shown, signed

MOST_CLASSES, MOST_CONFUSED = 10, 10  # of the tables
MOST_GROUPS, MOST_NOTES = 12, 30
FIRST = (0.01, 0.05, 0.1, 0.2, 0.5)  # shares of the rows that come first
POSITIVE = "positive"
COSTS = (1, 2, 5, 10, 20)  # of a miss, in false alarms
BINS = 30
MOST_DOTS = 800
MOST_LETTERS = 1000  # of a text
WITHOUT = "loss without derived features"  # in what training chose
MAIN = {Binary: ("auc", "accuracy"), Classes: ("accuracy", "macro_f1"), Quantiles: ("pinball",),
        Regression: ("rmse", "mae", "r2")}


def interval(m: Value) -> str:
    return f"{of(m.interval[0])} to {of(m.interval[1])}" if m.interval else "-"


def of(x: float | None, about: bool = False) -> str:
    """A measure, with whole digits if it is large."""
    return shown(x, about) if x is None or abs(x) < 1000 else f"{x:,.0f}"


class Label(NamedTuple):
    """What is predicted: its column, and what the positive and the negative label are."""

    column: str
    positive: str
    negative: str

    @property
    def row(self) -> str:
        return "positive row" if self.positive == POSITIVE else f"row with {self.positive}"

    @property
    def rows(self) -> str:
        return self.row.replace("row", "rows", 1)


def label_of(model: Evaluating) -> Label:
    labels, roles = model.opened.settings.labels, model.opened.model.columns.get("roles", ())
    column = next((printable(of_role) for of_role, role in roles if role == "label"), None)
    if column is None or not labels:
        return Label(column or "the label", POSITIVE, "negative")
    negative, positive = (f"{column} = {label_text(value)}" for value in labels)
    return Label(column, positive, negative)


def answer(measured: StreamMeasures, values: Sequence[Value], label: Label) -> Markup:
    """How good the model is, in one sentence."""
    kind, by = measured.kind, {m.key: m for m in values if m.value is not None}
    head = screen.head(measured, POSITIVE if label.positive == POSITIVE else f"with {label.positive}")
    if isinstance(kind, Binary) and (auc := by.get("auc")):
        said = (f"the model gives a {label.row} a higher score than another row in {percent(auc.value or 0.0)} of all "
                "pairs (by chance: 50 %)")
    elif isinstance(kind, Classes) and (right := by.get("accuracy")):
        said = (f"the predicted class is right for {percent(right.value or 0.0)}; always predicting the most frequent "
                f"class is right for {percent(right.baseline or 0.0)}")
    elif isinstance(kind, Regression) and (mae := by.get("mae")):
        said = (f"predictions of {label.column} are off by {of(mae.value)} on average; always predicting the mean is "
                f"off by {of(mae.baseline)}")
    elif isinstance(kind, Quantiles) and (found := screen.of_range(kind, values)):
        said = found
    else:
        m = next(iter(by.values()), None)
        said = f"the {m.name} is {of(m.value)}; the best constant prediction has {of(m.baseline)}" if m else \
            "no measure is defined"
    return Markup(f'<p class="verdict">On {text(head, None)}: {text(said, None)}.</p>')


def tiles(kind: Kind, values: Sequence[Value], model: Model) -> Markup:
    """A few big numbers."""
    main, found = MAIN[type(kind)], []
    by = {m.key: m for m in values if m.value is not None}
    first = [by[key] for key in main if key in by]
    loss = next((m for m in values if m.value is not None and "loss" in m.key), None)
    for m in [*first, *([loss] if loss else [])]:
        beside = "" if m.baseline is None else f"best constant prediction: {of(m.baseline)}"
        found.append((of(m.value, m.about), m.name, beside, m.gain))
    without, loss_kept = model.chosen.get(WITHOUT), model.chosen.get("loss")
    if without and loss_kept is not None:
        found.append((of(loss_kept), f"{model.chosen.get('loss is', 'loss')} of the training",
                      f"without curves, products, n-grams: {of(without)}", smaller(loss_kept, without)))
    each = (
        f'<div class="tile"><p class="big">{text(value)}</p><p>{text(what)}</p><p class="soft">{text(beside)}</p>'
        f'<p class="soft">{text(gain)}</p></div>' for value, what, beside, gain in found
    )
    return Markup(f'<div class="tiles">{"".join(each)}</div>')


def of_measures(values: Sequence[Value], against: Against | None, names: Sequence[str]) -> Markup:
    """names: of the model, and of the other."""
    if against is None:
        rows = [(f"{m.name}: {m.why}" if m.why else m.name, of(m.value, m.about),
                 of(m.baseline) if m.measure.expected is None else m.gain, interval(m)) for m in values]
        return table("All measures", ("measure", "model", "best constant", "95 % interval"), rows)
    others = {m.name: m for m in against.other.values()}
    apart = {m.name: m for m in against.values()}
    both = []
    for m in values:
        other, difference = others.get(m.name), apart.get(m.name)
        cells = ["-", "-"]
        if difference is not None and difference.value is not None:
            cells = [signed(difference.value), interval(difference)]
        both.append((m.name, of(m.value), of(other.value) if other else "-", of(m.baseline), *cells))
    head = ("measure", *names, "best constant", "difference", "95 % interval of the difference")
    return table("Measures of both models", head, both)


def gains(kinds: Sequence[tuple[str, Binary]], label: Label) -> Markup:
    """What the rows with the highest scores hold, scores by label, what a threshold gives, calibration."""
    if not all(e.ranked.of_both for _, e in kinds):
        return paragraph("All labels are the same: gains and thresholds are not defined.")
    first = kinds[0][1]
    curve = ranking.curve(first.ranked)
    tenth = held(curve, 0.1)
    parts = [_gains(kinds, label, tenth), _scores(first, label)]
    if first.probable:
        parts.append(_calibration(kinds))
    said = Markup(f"<p>The first 10 % of the rows by score hold <strong>{percent(tenth, 0)}</strong> of all "
                  f"{text(label.rows)}; in random order they would hold 10 %.</p>")
    weighted = paragraph("Rows count by their importance weights.") if first.weighted else Markup()
    return joined([said, weighted, columns(parts), columns([_thresholds(first, curve), _costs(first, curve)])])


def held(c: ranking.Curve, share: float) -> float:
    """Which share of the positives the first rows by score hold; of rows of equal scores, each as many."""
    rows = np.concatenate([[0.0], (c.found + c.false) / (c.positive + c.negative)])
    return float(np.interp(share, rows, np.concatenate([[0.0], c.recall])))


def _gains(kinds: Sequence[tuple[str, Binary]], label: Label, tenth: float) -> Markup:
    series = []
    for of_model, e in kinds:
        c = ranking.curve(e.ranked)
        rows = (c.found + c.false) / (c.positive + c.negative)
        series.append(Series(of_model, [0.0, *rows.tolist()], [0.0, *c.recall.tolist()]))
    share = [0.0, 1.0]
    marks = [(0.1, tenth, f"10 % of rows: {percent(tenth, 0)}")] if len(kinds) == 1 else []
    return chart(
        "What the rows with the highest scores hold",
        f"The first 10 % of the rows by score hold {percent(tenth)} of all {label.rows}", series,
        Axis("share of rows, highest scores first", share, percent=True),
        Axis(f"share of all {label.rows} that they hold", share, percent=True), diagonal="in random order", marks=marks)


def _scores(e: Binary, label: Label) -> Markup:
    r = e.ranked
    predicted = e.predicted(r.score)
    low, high = (0.0, 1.0) if e.probable else np.quantile(predicted, [0.005, 0.995]).tolist()
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    parts = []
    for of_rows, weights in ((label.positive, r.positive), (label.negative, r.negative)):
        counts, _ = np.histogram(np.clip(predicted, edges[0], edges[-1]), edges, weights=weights)
        parts.append((of_rows, counts / weights.sum()))
    below = "predicted probability" if e.probable else "score"
    return steps("Scores of the rows by their label", "Histograms of the scores of both labels", parts,
                 Axis(below, [low, float(edges[-1])], exact=True, percent=e.probable), edges,
                 "share of the rows of each label")


def _calibration(kinds: Sequence[tuple[str, Binary]]) -> Markup:
    series = []
    for of_model, e in kinds:
        groups = e.calibration()
        series.append(Series(of_model, [g.predicted for g in groups], [g.observed for g in groups],
                             [g.interval for g in groups], True))
    share = [0.0, 1.0]
    return chart("Do predicted probabilities come true?", "Observed over predicted shares, tenths of the rows", series,
                 Axis("predicted probability, tenths of the rows", share, percent=True),
                 Axis("observed share, with 95 % intervals", share, percent=True),
                 diagonal="exactly as predicted")


def _row(label: str, f: Found) -> tuple[object, ...]:
    flagged = f.found + f.false
    precision = "-" if f.precision is None else percent(f.precision, 0)
    return (label, screen.count(flagged), precision, percent(f.recall, 0), screen.count(f.false),
            screen.count(f.positive - f.found))


def _thresholds(e: Binary, c: ranking.Curve) -> Markup:
    """What is flagged from the highest scores on."""
    share, whole = (c.found + c.false) / (c.positive + c.negative), e.scores.unit.whole
    rows, seen = [], set()

    def at(k: int) -> Found:
        return Found(float(e.predicted(c.score[k : k + 1])[0]), whole(float(c.found[k])), whole(float(c.false[k])),
                     whole(c.positive))

    for part in FIRST:
        k = min(int(np.searchsorted(share, part - 1e-12)), len(share) - 1)
        if k not in seen:
            rows.append((at(k), ""))
        seen.add(k)
    rows.append((e.at_threshold(), ", as used"))
    if (best := e.best()) is not None:
        rows.append((best, ", best F1"))
    rows.sort(key=lambda row: -row[0].threshold)
    head = ("flag from", "flagged", "precision", "recall", "false alarms", "missed")
    return table(f"What a threshold gives, in {screen.counted(e)}", head,
                 [_row(shown(f.threshold) + why, f) for f, why in rows])


def _costs(e: Binary, c: ranking.Curve) -> Markup:
    """The cheapest threshold by what a miss costs, beside flagging none or all."""
    whole, rows = e.scores.unit.whole, []
    false, missed = np.append(0.0, c.false), c.positive - np.append(0.0, c.found)
    score = np.append(np.inf, e.predicted(c.score))
    for ratio in COSTS:
        cost = false + ratio * missed
        k = int(np.argmin(cost))
        alternative, why = min((ratio * c.positive, "none"), (c.negative, "all"))
        flags = "none" if k == 0 else shown(float(score[k]))
        gain = 1 - float(cost[k]) / alternative if alternative else 0.0
        rows.append((f"{ratio} false alarm{'s' * (ratio > 1)}", flags, screen.count(whole(float(false[k]))),
                     screen.count(whole(float(missed[k]))), f"{percent(gain, 0)} less than {why}"))
    head = ("a miss costs", "flag from", "false alarms", "missed", "cost against flagging none or all")
    return table("The cheapest threshold on these rows, by what a miss costs", head, rows)


def of_classes(evaluation: Classes, names: Sequence[str]) -> Markup:
    """The worst classes, and the most confused pairs."""
    weight, precision, recall, f1 = (column.tolist() for column in evaluation.of_each())
    order = sorted((k for k in range(len(names)) if weight[k]), key=lambda k: (f1[k], -weight[k]))
    counted = screen.counted(evaluation)
    worst = [Bar(names[k], f1[k], f"{f1[k]:.3f}", f"recall {percent(recall[k], 0)} of {screen.count(weight[k])}, "
                 f"precision {percent(precision[k], 0)}") for k in order[:MOST_CLASSES]]
    some = len(order) > MOST_CLASSES
    title = f"The worst {MOST_CLASSES} of {len(order)} classes" if some else "The classes, worst first"
    parts = [bars(title, worst, ("class", "F1", f"recall of {counted}, precision"), kind="")]
    if evaluation.confusion is not None:
        matrix = evaluation.confusion[1 : len(names) + 1, 1 : len(names) + 1].copy()
        np.fill_diagonal(matrix, 0.0)
        found = np.argsort(-matrix, axis=None, kind="stable")[:MOST_CONFUSED].tolist()
        pairs = [(k // len(matrix), k % len(matrix)) for k in found]
        rows = [(names[a], Words(names[b]), screen.count(float(matrix[a, b])), percent(float(matrix[a, b]) / weight[a]))
                for a, b in pairs if matrix[a, b] > 0]
        if rows:
            head = ("label", "was predicted as", counted, "of the label")
            parts.append(table("The pairs that are confused most", head, rows))
    return columns(parts)


def of_numbers(e: Regression, label: Label) -> Markup:
    """Errors, and the mean labels of tenths of the rows by their prediction."""
    groups, points = e.groups(), e.sample()
    if len(groups) < 2:
        return Markup()
    series = Series("", [g.predicted for g in groups], [g.observed for g in groups], [g.interval for g in groups], True)
    every = [v for g in groups for v in (g.predicted, *g.interval)]
    predicted, labels, _ = points
    errors = labels - predicted
    half, most = np.quantile(np.abs(errors), [0.5, 0.9]).tolist()
    step = -(-len(errors) // MOST_DOTS)
    low, high = np.quantile(errors, [0.002, 0.998]).tolist()
    ends = np.quantile(predicted, [0.002, 0.998]).tolist()
    inside = (errors >= low) & (errors <= high) & (predicted >= ends[0]) & (predicted <= ends[1])
    dots = [*zip(predicted[inside][::step].tolist(), errors[inside][::step].tolist(), strict=True)]
    said = Markup(f"<p>Half of the predictions are within <strong>{of(half)}</strong> of the label, nine of ten within "
                  f"<strong>{of(most)}</strong>.</p>")
    return joined([said, columns([
        chart("Are predictions right on average?", "Mean label over mean prediction, tenths of the rows", [series],
              Axis(f"mean prediction of {label.column}, tenths of the rows", every),
              Axis(f"mean of {label.column}, with 95 % intervals", every), diagonal="exactly as predicted"),
        cloud("Errors: each dot is a row", f"Label less prediction, over the prediction of {len(dots)} rows", dots,
              Axis(f"prediction of {label.column}", [a for a, _ in dots] or [0.0]),
              Axis(f"{label.column} less its prediction", [b for _, b in dots] or [0.0])),
    ])])


def of_front(front: Sequence[dict[str, Any]]) -> Markup:
    """The losses of models over their nonzero weights, as `vwlite tune --json` writes them."""
    found = sorted((int(row["nonzero_weights"]), float(row["loss"])) for row in front if row["nonzero_weights"])
    if len(found) < 2:
        return Markup()
    series = Series("", [n for n, _ in found], [loss for _, loss in found], (), True)
    return chart("Loss over nonzero weights, of the models of vwlite tune", "Loss over nonzero weights", [series],
                 Axis("nonzero weights", series.x, log=True), Axis("loss", series.y))


def of_worst(rows: Sequence[WorstRow]) -> Markup:
    lines = []
    for row in rows:
        terms = row.terms.listed if row.terms is not None else [(c.contribution, c.name)
                                                                for c in row.explanation.contributions]
        prediction = row.prediction if isinstance(row.prediction, str) else of(row.prediction)
        label = label_text(row.label)
        if not isinstance(row.label, str) and abs(row.label) >= 1000:
            label = of(row.label)
        lines.append((f"{os.path.basename(row.file)}:{row.line}{f' {row.tag}' if row.tag else ''}", label, prediction,
                      of(row.loss), _moved(terms, row.terms.texts if row.terms is not None else ())))
    return table("The rows with the largest loss, and what moved their scores away from the label",
                 ("line", "label", "prediction", "loss", "moved away by"), lines, stacked=True)


class _Cell(Markup, Words):
    """A cell of words that is HTML already."""


def _moved(terms: Sequence[tuple[float, str]], texts: Sequence[WordText]) -> Words:
    """Terms of a score, and the texts of the row with their words marked: blue raises the score, orange lowers it."""
    listed = name("; ".join(f"{said} ({x:+.2g})" for x, said in terms), None)
    return _Cell(joined([listed, *(Markup(f"<br>{marked(of)}") for of in texts)]))


def marked(of: WordText) -> Markup:
    """A text whose words have the colors of what they contribute."""
    most, parts, length = max((abs(word.contribution) for word in of.words), default=0.0), [], 0
    for piece, x in of.pieces():
        kind = shade(x or 0.0, most)
        parts.append(Markup(f'<mark class="{kind}">{text(piece, None)}</mark>') if kind != "z" else text(piece, None))
        length += len(piece)
        if length > MOST_LETTERS:
            parts.append(Markup("..."))
            break
    return Markup(f'<span class="text">{joined(parts)}</span>')


def word_bars(rows: Iterable[Any], most: int, without: str = "", value: float = 1.0) -> list[Bar]:
    """Features with a name, as bars. rows: as `vwlite.inspection.weights_of_data` finds them. without: the beginning of
    names that is not shown. value: of each feature."""
    found = []
    for row in rows:
        if row.names and row.effect:
            shown_as = row.names[0].removeprefix(without)
            of_class = f" (for {row.of_class})" if row.of_class is not None else ""
            adds = value * (row.weight or 0.0)
            found.append(Bar(shown_as + of_class, adds, compact(adds), f"{row.examples:,}"))
        if len(found) == most:
            break
    return found


def of_weights(groups: Sequence[Any], rows: Sequence[Any], unit: str) -> Markup:
    """Features of a model that is not of a table. groups, rows: as `vwlite.inspection.weights_of_data` finds them."""
    parts = []
    found = word_bars(rows, len(rows))
    if found:
        parts.append(bars(f"The {len(found)} features that move scores most", found,
                          ("feature", f"adds to {unit}", "rows"), kind=""))
    if len(groups) > 1 or not found:
        named = [Bar(g.name, g.share, percent(g.share), f"{g.size:,}") for g in groups[:MOST_GROUPS]]
        if rest := groups[MOST_GROUPS:]:
            share = sum(g.share for g in rest)
            named.append(Bar(f"{len(rest):,} others", share, percent(share), f"{sum(g.size for g in rest):,}"))
        if named:
            parts.append(bars("What moves scores, by namespace", named, ("namespace", "share", "features"), kind=""))
    return columns(parts)


def of_origin(models: Sequence[tuple[str, Model]], data: Sequence[tuple[str, str]], program: str, day: str) -> Markup:
    """The command of each model, and digests. data: names of files and SHA-256, if they are files. day: of the page."""
    parts = []
    for path, model in models:
        made = "It was merged from several models" if model.merged else f"{path} was learned by"
        parts.append(paragraph(f"{made}, with {model.program or 'an unknown program'}:"))
        parts.append(Markup(f'<pre tabindex="0">{name(command_of(model), None)}</pre>'))
    rows = [(path, Words(f"model, BLAKE2b {model.digest}")) for path, model in models]
    for path, model in models:
        examples = (model.solved or model.chosen).get("data")
        if examples:
            rows.append((f"training data of {path}", Words(f"digest of the examples in the model {examples}")))
        rows += [(f"training data of {path}", Words(f"digest in the model, BLAKE2b {digest}"))
                 for digest in model.continued.get("inputs", [])]
    rows += [(of_file, Words(f"data of this page, SHA-256 {digest}")) for of_file, digest in data if digest]
    if not all(model.solved or model.chosen.get("data") or model.continued for _, model in models):
        parts.append(paragraph("Models have a digest of their training data from --algorithm auto with files, vwlite "
                               "solve and train --continue."))
    return joined([*parts, table("Files", ("file", "digest"), rows), paragraph(f"This page: {program}, {day}.")])


def of_notes(notes: Sequence[str]) -> Markup:
    more = [f"{len(notes) - MOST_NOTES:,} more: vwlite describe"] if len(notes) > MOST_NOTES else []
    return items([*notes[:MOST_NOTES], *more]) or paragraph("Nothing stands out.")


def base_of(effects: Effects) -> str:
    """The score of an average row, in words."""
    if not effects.rows:
        return "a constant"
    base = effects.base.tolist()
    if len(base) == 1:
        return f"{base[0]:.4g}, that of an average row"
    return "that of an average row"
