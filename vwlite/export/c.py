"""A model as a C header, which needs only the standard library: of columns, or of lines of text."""

import re
from collections.abc import Iterable, Iterator, Sequence

from vwlite.errors import DataError
from vwlite.export import Request
from vwlite.export.columns import Columns
from vwlite.export.linear import Linear
from vwlite.export.text import by_columns, filled, template, what
from vwlite.model.effects import LevelAxis, Numbers
from vwlite.model.feature_names import escaped

_FUNCTIONS = {"identity": "{p}", "sigmoid": "{scale} / (1 + exp(-{p}))", "exp": "exp({p})", "expm1": "expm1({p})"}


def c(request: Request) -> Iterator[str]:
    """The text of the header. DataError if the model has a feature that C does not support."""
    return by_columns(request, _of_columns, _of_lines)


def _of_lines(request: Request) -> Iterator[str]:
    """The header that reads VW text or libsvm."""
    linear = request.linear
    s = linear.settings
    try:
        terms = linear.terms()
    except ValueError as e:
        raise DataError(f"{request.path}: cannot be exported to c: {e}: use --to python") from None
    crosses = linear.crosses()
    named = list(dict.fromkeys(space for cross in crosses for space in cross))
    numbered = [*map(list, terms), *([256 + named.index(space) for space in cross] for cross in crosses)]
    before, after = template("predict.h").split("@ROWS@")
    rows = list(linear.rows())
    defines = {
        "ROWS": len(rows), "SCORES": linear.records, "CLASSES": len(linear.classes), "MASK": f"0x{linear.mask:08X}u",
        "QUANTILES": len(linear.quantiles), "HASH_ALL": int(s.hash == "all"), "ESCAPED": int(linear.is_escaped),
        **_probable(linear), "NAMED": len(named), **_values(linear),
    }
    words = {
        "WHAT": what(linear),
        "DEFINES": _defined(defines),
        "NAMES": "; names of features beside them" if len(linear.model.names) else "",
        "CONSTANT": _numbers(linear.constant),
        "UNSEEN": _numbers(linear.unseen),
        "TERMS": "".join(f"{len(term)}, {', '.join(map(str, term))}, " for term in numbered),
        "SPACES": "".join(f"{space}u, " for space in named),
        "COUNTS": ", ".join(str(n) for n in counts(linear)),
        "CLASSES": _literals(linear.classes),
        "PREDICTION": _prediction(linear),
    }
    yield filled(before, words)
    for key, weights, names in rows:
        shown = _comment(", ".join(escaped(name) for name in names))
        yield f"    {{{key}u, {{{_numbers(weights)}}}}},{f' /* {shown} */' if shown else ''}\n"
    yield filled(after, words)


def _probable(linear: Linear) -> dict[str, object]:
    return {"SIGMOID": int(linear.probable == "sigmoid"), "SOFTMAX": int(linear.probable == "softmax")}


def _values(linear: Linear) -> dict[str, object]:
    """How values are normalized, and the words of labels."""
    return {
        "NORMALIZE": ("none", "l2", "log").index(linear.settings.normalize),
        **dict(zip(("NEGATIVE", "POSITIVE"), map(_literal, linear.words), strict=False)),
    }


def _defined(defines: dict[str, object]) -> str:
    return "\n".join(f"#define VWLITE_{name} {value}" for name, value in defines.items())


def _prediction(linear: Linear) -> str:
    """The functions from scores to predictions."""
    clip = ""
    if linear.low > -float("inf"):
        clip += f"    if (p < {linear.low!r})\n        p = {linear.low!r};\n"
    if linear.high < float("inf"):
        clip += f"    if (p > {linear.high!r})\n        p = {linear.high!r};\n"
    words = {"CLIP": clip, "LINK": linear.link(_FUNCTIONS), "TAUS": ", ".join(linear.quantiles)}
    return filled(template("prediction.h"), words)


def counts(linear: Linear) -> list[int]:
    """By the first letter of a namespace: 1 if its features are used alone, plus 2 if in interactions."""
    s = linear.settings
    keep, ignore, not_linear = (getattr(s, name).encode("latin-1") for name in ("keep", "ignore", "ignore_linear"))
    alive = [(not keep or letter in keep) and letter not in ignore for letter in range(256)]
    return [(letter not in not_linear) * here + 2 * here for letter, here in enumerate(alive)]


def _of_columns(request: Request, columns: Columns) -> Iterator[str]:
    """The header that takes the cells of a row."""
    linear = columns.linear
    numbers, words = columns.numbers, [f"{column}.{part}" if part else column for column, part in columns.words]
    missing = columns.missing_numbers
    defines = {
        "SCORES": linear.records, "CLASSES": len(linear.classes), "QUANTILES": len(linear.quantiles),
        "NUMBERS": len(numbers), "WORDS": len(words),
        "AXES": len(columns.axes), "SLOPES": len(columns.slopes), "EFFECTS": len(columns.grids),
        "MISSING": len(missing), "WHOLES": int(columns.schema.has_wholes), **_probable(linear), **_values(linear),
    }
    before, after = template("predict_columns.h").split("@ARRAYS@")
    known = {
        "WHAT": what(linear),
        "DEFINES": _defined(defines),
        "NUMBERS": _enum("NUMBER", numbers),
        "WORDS": _enum("WORD", words),
        "NUMBER_NAMES": _literals(numbers),
        "WORD_NAMES": _literals(words),
        "CLASSES": _literals(linear.classes),
        "MISSING": "".join(f"{x!r}, " for x in missing),
        "INTERCEPT": _numbers(columns.intercept),
        "PREDICTION": _prediction(linear),
    }
    yield filled(before, known)
    axes = []
    for i, axis in enumerate(columns.axes):
        yield f"/* {_comment(axis.full_name)} */\n"
        place = columns.input_of(axis)
        if isinstance(axis, LevelAxis):
            at = axis.places
            ordered, codes = sorted(at, key=lambda word: word.encode("utf-8", "surrogateescape")), "NULL"
            yield f"static const char *const vwlite_levels_{i}[] = {{{_literals(ordered)}0}};\n"
            if axis.others:
                codes = f"vwlite_codes_{i}"
                yield f"static const int {codes}[] = {{{_numbers([at[word] for word in ordered])}}};\n"
            axes.append(f"    {{{place}, {axis.size - 1}, NULL, vwlite_levels_{i}, {len(ordered)}, {codes}, "
                        f"{axis.place_of_unknown}}},\n")
        else:
            yield f"static const double vwlite_knots_{i}[] = {{{_numbers(axis.knots)}}};\n"
            axes.append(f"    {{{place}, {len(axis.knots)}, vwlite_knots_{i}, NULL, 0, NULL, 0}},\n")
    for i, grid in enumerate(columns.grids):
        yield f"/* {_comment(grid.name)} */\nstatic const double vwlite_values_{i}[] = {{{_numbers(grid.values)}}};\n"
    if linear.settings.normalize != "none":
        yield "/* How many features a row has at a place of an axis, for another word, and for a missing value. */\n"
        yield "static const int vwlite_units[VWLITE_AXES + 1][3] = {\n"
        yield from (f"    {{{_numbers(columns.units(axis))}}},\n" for axis in columns.axes)
        yield "    {0, 0, 0} /* none */\n};\n"
    yield "static const vwlite_axis vwlite_axes[VWLITE_AXES + 1] = {\n"
    yield from axes
    yield "    {0, 0, NULL, NULL, 0, NULL, 0} /* none */\n};\n"
    yield "static const vwlite_slope vwlite_slopes[VWLITE_SLOPES + 1] = {\n"
    for slope in columns.slopes:
        yield f"    {{{slope.number}, {{{_numbers(slope.weight)}}}}}, /* {_comment(slope.name)} */\n"
    yield "    {0, {0}} /* none */\n};\nstatic const vwlite_effect vwlite_effects[VWLITE_EFFECTS + 1] = {\n"
    for i, grid in enumerate(columns.grids):
        places = ", ".join(map(str, grid.axes))
        yield f"    {{{len(grid.axes)}, {{{places}}}, vwlite_values_{i}}}, /* {_comment(grid.name)} */\n"
    yield "    {0, {0}, NULL} /* none */\n};\n" + filled(after, known)


def _enum(kind: str, names: Iterable[str]) -> str:
    """The constants of columns, by their names as C identifiers."""
    taken: set[str] = set()
    lines = []
    for i, name in enumerate(names):
        plain = word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "column"
        number = 1
        while word in taken:
            number += 1
            word = f"{plain}_{number}"
        taken.add(word)
        lines.append(f"    VWLITE_{kind}_{word} = {i}, /* {_comment(name)} */\n")
    return "".join(lines)


def _comment(text: str) -> str:
    shown = text if text.isprintable() else ascii(text)
    return shown.replace("*/", "*\\x2f").replace("/*", "/\\x2a")


def _numbers(numbers: "Numbers | Sequence[float]") -> str:
    """Numbers as C source; those of an array in memory order."""
    found = numbers if isinstance(numbers, tuple | list) else numbers.ravel().tolist()  # type: ignore[union-attr]
    return ", ".join(map(repr, found))


def _literals(texts: Iterable[str]) -> str:
    return "".join(f"{_literal(text)}, " for text in texts)


def _literal(text: str) -> str:
    """A C string literal. Octal escapes, because hexadecimal ones have no fixed length."""
    shown = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{shown}"'
