"""A model as a C header, which needs only the standard library."""

from collections.abc import Iterator
from pathlib import Path

from vwlite.errors import DataError
from vwlite.export import Request
from vwlite.export.linear import Linear
from vwlite.model.feature_names import escaped

TEMPLATE = Path(__file__).with_name("templates") / "predict.h"
_LINKS = {
    "identity": "p",
    "logistic": "1 / (1 + exp(-p))",
    "glf1": "2 / (1 + exp(-p)) - 1",
    "poisson": "exp(p)",
}


def c(request: Request) -> Iterator[str]:
    """The text of the header. DataError if the model has a feature that C does not support."""
    linear = request.linear
    s, k = linear.settings, linear.records
    try:
        terms = linear.terms()
    except ValueError as e:
        raise DataError(f"{request.path}: cannot be exported to c: {e}: use --to python") from None
    crosses = linear.crosses()
    named = list(dict.fromkeys(space for cross in crosses for space in cross))
    numbered = [*map(list, terms), *([256 + named.index(space) for space in cross] for cross in crosses)]
    before, after = TEMPLATE.read_text(encoding="utf-8").split("@ROWS@")
    rows = list(linear.rows())
    defines = {
        "ROWS": len(rows), "SCORES": k, "CLASSES": len(linear.classes), "MASK": f"0x{linear.mask:08X}u",
        "HASH_ALL": int(s.hash == "all"), "ESCAPED": int(linear.is_escaped),
        "SIGMOID": int(linear.probable == "sigmoid"),
        "SOFTMAX": int(linear.probable == "softmax"), "NAMED": len(named),
        "NORMALIZE": ("none", "l2", "log").index(s.normalize),
        **dict(zip(("NEGATIVE", "POSITIVE"), map(_literal, linear.words), strict=False)),
    }
    clip = ""
    if linear.low > -float("inf"):
        clip += f"    if (p < {linear.low!r})\n        p = {linear.low!r};\n"
    if linear.high < float("inf"):
        clip += f"    if (p > {linear.high!r})\n        p = {linear.high!r};\n"
    predicts = f"{len(linear.classes)} classes" if linear.classes else f"link {s.link}"
    words = {
        "WHAT": f"{s.algorithm}, {s.loss or 'unknown'} loss, {predicts}",
        "DEFINES": "\n".join(f"#define VWLITE_{name} {value}" for name, value in defines.items()),
        "NAMES": "; names of features beside them" if len(linear.model.names) else "",
        "CONSTANT": _numbers(linear.constant),
        "UNSEEN": _numbers(linear.unseen),
        "TERMS": "".join(f"{len(term)}, {', '.join(map(str, term))}, " for term in numbered),
        "SPACES": "".join(f"{space}u, " for space in named),
        "COUNTS": ", ".join(str(n) for n in counts(linear)),
        "CLASSES": "".join(f"{_literal(name)}, " for name in linear.classes),
        "CLIP": clip,
        "LINK": _LINKS[s.link],
    }
    yield _filled(before, words)
    for key, weights, names in rows:
        shown = ", ".join(escaped(name) for name in names).replace("*/", "*\\x2f").replace("/*", "/\\x2a")
        yield f"    {{{key}u, {{{_numbers(weights)}}}}},{f' /* {shown} */' if shown else ''}\n"
    yield _filled(after, words)


def counts(linear: Linear) -> list[int]:
    """By the first letter of a namespace: 1 if its features are used alone, plus 2 if in interactions."""
    s = linear.settings
    keep, ignore, not_linear = (getattr(s, name).encode("latin-1") for name in ("keep", "ignore", "ignore_linear"))
    alive = [(not keep or letter in keep) and letter not in ignore for letter in range(256)]
    return [(letter not in not_linear) * here + 2 * here for letter, here in enumerate(alive)]


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text


def _numbers(numbers: "tuple[float, ...] | list[float]") -> str:
    return ", ".join(map(repr, numbers))


def _literal(text: str) -> str:
    """A C string literal. Octal escapes, because hexadecimal ones have no fixed length."""
    shown = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{shown}"'
