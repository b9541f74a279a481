"""The measures as text for a terminal of 80 columns."""

from collections.abc import Sequence

from vwlite.evaluation.kinds import Binary, Classes, Kind, Quantiles, Regression
from vwlite.evaluation.measures import StreamMeasures, Value
from vwlite.output.progress import fit
from vwlite.output.text import percent, probability, shown, signed

MOST_SLICES = 20
MOST_CLASSES = 20  # of the table of classes, and of the confusion matrix
MOST_OF_10 = 0.9  # expected in a range; more is said of 100
SMALL, LARGE = 0.05, 1e15  # sums of importances from which all digits are shown, and as far as they are known


def head(measured: StreamMeasures, positive: str) -> str:
    """The first line: the number of rows and a description of their labels. positive: the name of the label."""
    n, kind = measured.rows, measured.kind
    rows = f"{n:,} row{'s' * (n != 1)}"
    if isinstance(kind, Binary):
        weight, share = kind.weight, kind.share
        of_rows = kind.positives / n if kind.weighted else share
        said = f"{rows}, {kind.positives:,} {positive} ({percent(of_rows)})"
        if not kind.weighted:
            return said
        return f"{said}; weight {count(weight)}, {count(share * weight)} of it {positive} ({percent(share)})"
    if isinstance(kind, Classes):
        return f"{rows}, {int((kind.sums[0] > 0).sum())} classes"
    return rows


def table(values: Sequence[Value]) -> list[str]:
    """A line for each measure."""
    rows = [
        (m.measure.short or m.name, shown(m.value, m.about), shown(m.baseline),
         f"{shown(m.interval[0])} - {shown(m.interval[1])}" if m.interval else "-")
        for m in values
    ]
    a, b, c, d = column_widths(rows, (14, 10, 11, 20))
    lines = [f"{'':{a}}{'model':>{b}}{'baseline':>{c}}   95 % interval"]
    for m, (name, value, baseline, interval) in zip(values, rows, strict=True):
        if m.value is None:
            lines.append(f"{name:{a}}{value:>{b}}   not defined: {m.why}")
            continue
        lines.append(f"{name:{a}}{value:>{b}}{baseline:>{c}}   {interval:<{d}}{m.gain}".rstrip())
    return lines


def of_range(kind: Quantiles, values: Sequence[Value]) -> str:
    """How many labels lie between the outermost quantiles, and how far these are apart; "" if it is not measured."""
    names, by = kind.settings.outputs.tau_names, {m.key: m.value for m in values}
    between = f"{names[0]}_{names[-1]}"
    covered, width = by.get(f"coverage_{between}"), by.get(f"width_{between}")
    if covered is None or width is None:
        return ""
    expected = float(names[-1]) - float(names[0])
    of = 10 if expected < MOST_OF_10 else 100
    wide = shown(width) if width < 1000 else f"{width:,.0f}"
    return (f"{round(of * covered, 1):g} of {of} labels lie in the range from the quantile {names[0]} to {names[-1]} "
            f"(expected: {round(of * expected, 1):g}), {wide} wide on average")


def column_widths(rows: Sequence[Sequence[str]], least: Sequence[int]) -> list[int]:
    """Those of columns, such that there is a blank between two of them."""
    return [max([width, *(len(row[k]) + 1 for row in rows)]) for k, width in enumerate(least)]


def differences(values: Sequence[Value], other: str) -> list[str]:
    """Those of two models."""
    rows = [
        (m.measure.short or m.name, shown(m.value) if m.value is None or m.interval is None else signed(m.value),
         f"{signed(m.interval[0])} - {signed(m.interval[1])}" if m.interval else "-")
        for m in values
    ]
    a, b, c = column_widths(rows, (14, 11, 22))
    lines = ["", f"minus {other}", f"{'':{a}}{'difference':>{b}}   95 % interval"]
    for m, (name, value, interval) in zip(values, rows, strict=True):
        if m.value is None or m.interval is None:
            lines.append(f"{name:{a}}{value:>{b}}   not defined: {m.why or 'there are too few rows'}")
            continue
        low, high = m.interval
        better = (m.value > 0) == m.measure.larger
        verdict = "differs" if m.measure.neutral else "better" if better else "worse"
        verdict = "no clear difference" if low <= 0 <= high else verdict
        lines.append(f"{name:{a}}{value:>{b}}   {interval:<{c}}{verdict}")
    return lines


def of_threshold(kind: Binary) -> list[str]:
    """What the threshold finds, and the best one."""
    found, best = kind.at_threshold(), kind.best()
    by = " by weight" if kind.weighted else ""
    lines = [
        f"at {shown(found.threshold)}{by}: {count(found.found)} of {count(found.positive)} found "
        f"(recall {percent(found.recall, 0)}), {count(found.false)} false alarms"
    ]
    if best is not None:
        lines.append(
            f"best F1 {best.f1:.2f} at {shown(best.threshold)}: recall {percent(best.recall, 0)}, "
            f"precision {percent(best.precision or 0, 0)}"
        )
    return lines


def counted(kind: Kind) -> str:
    """What sums of importances count, as the head of a column."""
    return "weight" if kind.weighted else "rows"


def count(x: float) -> str:
    """A sum of importances: a number of rows, if all are 1."""
    if not (x == 0 or SMALL <= x < LARGE):
        return f"{x:.4g}"
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.1f}"


def body(kind: Kind, values: Sequence[Value], names: Sequence[str]) -> list[str]:
    """What follows the measures, which are `values`. names: of classes."""
    if isinstance(kind, Binary):
        lines = of_threshold(kind)
        groups = kind.calibration()
        if groups:
            lines.append("predicted " + "".join(f"{probability(g.predicted):>6}" for g in groups))
            lines.append("observed  " + "".join(f"{probability(g.observed):>6}" for g in groups))
        return lines
    if isinstance(kind, Classes):
        return _of_classes(kind, names)
    if isinstance(kind, Quantiles):
        said = of_range(kind, values)
        return [*([said] if said else []), "the baseline is made of the quantiles of the labels"]
    assert isinstance(kind, Regression)
    own = f"; of the {kind.loss} loss, the best constant" if kind.robust is not None else ""
    lines = [f"the baseline is the mean of the labels{own}"]
    if kind.zeros:
        lines.append(f"MAPE is without {kind.zeros:,} rows whose label is 0")
    return lines


def _of_classes(kind: Classes, names: Sequence[str]) -> list[str]:
    columns = [column.tolist() for column in kind.of_each()]
    order = sorted((k for k in range(len(names)) if columns[0][k]), key=lambda k: -columns[0][k])
    a, b = column_widths([(fit(names[k]), count(columns[0][k])) for k in order[:MOST_CLASSES]], (20, 10))
    lines = ["", f"{'class':{a}}{counted(kind):>{b}}{'precision':>11}{'recall':>9}{'F1':>9}"]
    for k in order[:MOST_CLASSES]:
        weight, precision, recall, f1 = (column[k] for column in columns)
        lines.append(f"{fit(names[k]):{a}}{count(weight):>{b}}{precision:11.3f}{recall:9.3f}{f1:9.3f}")
    if len(order) > MOST_CLASSES:
        lines.append(f"... and {len(order) - MOST_CLASSES} more: --json has all")
    matrix, k = kind.confusion, len(names)
    if matrix is None or k > MOST_CLASSES:
        return lines
    cells = [[count(x) for x in row] for row in matrix[1 : k + 1, 1 : k + 1].tolist()]
    widths = [max(map(len, column)) + 1 for column in zip(*cells, strict=True)]
    if sum(widths) > 65:
        return lines
    lines += ["", "confusion matrix, a row for each label, a column for each prediction"]
    lines += [f"{fit(n):14} " + "".join(c.rjust(w) for c, w in zip(row, widths, strict=True))
              for n, row in zip(names, cells, strict=True)]
    return lines


def slices(by: str, parts: Sequence[tuple[str, StreamMeasures]]) -> list[str]:
    """A line for each slice, the largest first."""
    order = sorted((part for part in parts if part[1].kind.weight), key=lambda part: -part[1].rows)
    if not order:
        return []
    first = [m.measure.short or m.name for m in order[0][1].values()[:4]]
    head = [fit(by), "rows", *first]
    rows = [
        [fit(name), f"{part.rows:,}", *(shown(m.value, m.about) for m in part.values()[:4])]
        for name, part in order[:MOST_SLICES]
    ]
    wide = column_widths([head, *rows], (15, 9, *[14] * len(first)))
    lines = [""]
    for name, *numbers in (head, *rows):
        cells = (f"{cell:>{width}}" for cell, width in zip(numbers, wide[1:], strict=True))
        lines.append(f"{name:{wide[0]}}{''.join(cells)}")
    if len(order) > MOST_SLICES:
        lines.append(f"... and {len(order) - MOST_SLICES} more: --json has all")
    return lines
