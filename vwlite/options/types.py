"""The types of option values: conversion of typed text to a number, a tuple or a text."""

import math
import operator
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vwlite.delimiters import is_delimiter, is_escape
from vwlite.names import can_name, names_in, names_text
from vwlite.time_formats import fault_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_UNITS = {"s": 1, "m": 60, "h": 3600}
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Choice(click.Choice):  # type: ignore[type-arg]  # click 8.1 has no Choice[str]
    """One of some words; the error names the one that was probably meant. number: the option for a number. ended: words
    of earlier versions, and what to tell who gives them. other: other words for some of them."""

    def __init__(
        self, choices: Sequence[str], number: str = "", ended: dict[str, str] | None = None,
        other: dict[str, str] | None = None,
    ) -> None:
        super().__init__(choices)
        self.number, self.ended, self.other = number, ended or {}, other or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.ended:
            self.fail(self.ended[value], param, ctx)
        value = self.other.get(value, value)
        if value not in self.choices:
            from vwlite.options.nearest import did_you_mean

            listed = ", ".join(map(repr, self.choices))
            meant = did_you_mean(str(value), self.choices)
            if self.number and str(value)[:1].isdigit():
                meant = f" Did you mean {self.number} {value}?"
            self.fail(f"{value!r} is not one of {listed}.{meant}", param, ctx)
        return str(value)


class Number(click.ParamType):
    """A finite number in a range; the ends belong to it unless they are open."""

    name = "number"

    def __init__(
        self, low: float = -math.inf, high: float = math.inf, *, open_low: bool = False, open_high: bool = False,
        infinite: bool = False,
    ) -> None:
        self.low, self.high, self.open_low, self.open_high, self.infinite = low, high, open_low, open_high, infinite

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NUMBER"

    def read(self, value: Any) -> float:
        """ValueError if it is not a number; 1_000 is refused, though Python accepts it."""
        if "_" in str(value):
            raise ValueError
        return float(value)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            x = self.read(value)
        except ValueError:
            point = str(value).replace(",", ".", 1)
            hint = f": did you mean {point}?" if re.fullmatch(r"-?\d+\.\d+", point) and "," in str(value) else ""
            self.fail(f"{value!r} is not a {self.name}{hint}", param, ctx)
        below = x <= self.low if self.open_low else x < self.low
        above = x >= self.high if self.open_high else x > self.high
        if math.isnan(x) or below or above or (math.isinf(x) and not self.infinite):
            self.fail(f"{value} is out of range: it must be {self._range()}", param, ctx)
        return x

    def _range(self) -> str:
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high < math.inf:
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        if not self.infinite and (self.low == -math.inf or self.high == math.inf):
            parts.append("finite")
        return " and ".join(parts)


class Whole(Number):
    """A whole number in a range; both ends belong to it."""

    name = "whole number"

    def __init__(self, low: int, high: float = math.inf) -> None:
        super().__init__(low, high, infinite=True)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"

    def read(self, value: Any) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", str(value)):
            raise ValueError
        return int(value)


class Numbers(Number):
    """A number in an open range, or several in ascending order with commas between them, at most `most`: a tuple."""

    def __init__(self, low: float, high: float, most: int) -> None:
        super().__init__(low, high, open_low=True, open_high=True)
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words = list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else str(value).split(",")
        found = tuple(Number.convert(self, word, param, ctx) for word in words)
        if len(found) > self.most or list(found) != sorted({*found}):
            self.fail(f"{value!r}: several are different numbers in ascending order, at most {self.most}", param, ctx)
        return found if len(found) > 1 else found[0]


class Bytes(Whole):
    """A number of bytes; K, M or G behind it: times 1024, and so on."""

    name = "number of bytes, such as 500M"

    def __init__(self, low: int = 1) -> None:
        super().__init__(low)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "BYTES"

    def read(self, value: Any) -> int:
        found = re.fullmatch(r"([0-9]{1,15})([kKmMgG]?)", str(value))
        if not found:
            raise ValueError
        power = " kmg".index(found[2].lower() or " ")
        return int(found[1]) << 10 * power


def _named(kind: click.ParamType, value: Any, param: Any, ctx: Any) -> list[str]:
    try:
        return names_in(str(value))
    except ValueError as e:
        kind.fail(str(e), param, ctx)


def _check_words(kind: click.ParamType, value: Any, words: list[str], param: Any, ctx: Any) -> None:
    """Fail unless these can be labels, and differ."""
    for word in words:
        if not can_name(word):
            why = "has a control character" if word else "is empty"
            kind.fail(f"{value!r}: {word!r} cannot be a label: it {why}", param, ctx)
    if len(set(words)) < len(words):
        kind.fail(f"{value!r}: duplicate name", param, ctx)


class Labels(click.ParamType):
    """NEG,POS: the two labels that mean -1 and 1, as numbers or else as words; with a comma, quoted as in CSV."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        words = _named(self, value, param, ctx)
        if len(words) != 2:
            self.fail(f"{value!r} is not two labels with a comma between them, such as 0,1 or ham,spam", param, ctx)
        try:
            negative, positive = map(float, words)
        except ValueError:
            _check_words(self, value, words, param, ctx)
            return tuple(words)
        if not (math.isfinite(negative) and math.isfinite(positive)) or negative == positive:
            self.fail(f"{value!r}: the two labels must be finite and differ", param, ctx)
        return negative, positive


class Classes(click.ParamType):
    """auto, or NAME,NAME,...: the names of classes. One with a comma is quoted, as in CSV."""

    name = "classes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = _named(self, value, param, ctx)
        if value != "auto" and len(names) < 2:
            self.fail(f"{value!r} is neither auto nor two or more names with commas between them", param, ctx)
        _check_words(self, value, names, param, ctx)
        return names_text(names)


class ClassWeight(click.ParamType):
    """balanced, or LABEL:WEIGHT,...: pairs of a label as it is in the data, and a number from 0 on."""

    name = "weights"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "balanced" or isinstance(value, tuple):
            return value
        parts = [pair.rpartition(":") for pair in _named(self, value, param, ctx)]
        if not all(colon for _, colon, _ in parts):
            self.fail(f"{value!r} is neither balanced nor labels with weights, such as -1:1,1:10", param, ctx)
        _check_words(self, value, [label for label, _, _ in parts], param, ctx)
        return tuple((label, Number(0).convert(weight, param, ctx)) for label, _, weight in parts)


class IntervalType(click.ParamType):
    """A number of examples, or a time such as 60s, 5m, 1h: (examples, None) or (None, seconds)."""

    name = "interval"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,18})([smh]?)", value)
        if not match or int(match[1]) == 0:
            self.fail(f"{value!r} is neither a number of examples (1000000) nor a time (60s, 5m, 1h)", param, ctx)
        count = int(match[1])
        return (None, count * _UNITS[match[2]]) if match[2] else (count, None)


class ProgressType(click.ParamType):
    """How often to print: an integer (every N examples) or a factor such as 2.0. (factor, step)."""

    name = "progress"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        if re.fullmatch(r"\d+", value) and 0 < float(value) < math.inf:
            return 0.0, float(value)
        try:
            factor = float(value)
        except ValueError:
            factor = math.nan
        if not 1 < factor < math.inf:
            self.fail(f"{value!r} is neither an integer above 0 nor a factor above 1 such as 2.0", param, ctx)
        return factor, None


class LettersType(click.ParamType):
    """First letters of namespaces; `size` of them if it is given."""

    name = "letters"

    def __init__(self, size: int | None = None, least: int = 1, wildcards: bool = False) -> None:
        self.size, self.least, self.wildcards = size, least, wildcards

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        encoded = str(value).encode("utf-8", "surrogateescape")
        expected = f"{self.size} letters" if self.size else f"at least {self.least} letter{'s' * (self.least > 1)}"
        if (self.size and len(encoded) != self.size) or not self.least <= len(encoded) <= 64:
            self.fail(f"{value!r}: expected {expected}, the first of each namespace's name", param, ctx)
        if any((c <= 32 and c != 32) or c in b"|" for c in encoded) or (not self.wildcards and b":" in encoded):
            self.fail(f"{value!r}: a letter that no namespace can begin with", param, ctx)
        return encoded.decode("latin-1")


class Crossing(LettersType):
    """First letters of namespaces, or their names with commas between them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = str(value).split(",")
        if len(names) == 1 or len(str(value).encode("utf-8", "surrogateescape")) == self.size:
            return super().convert(value, param, ctx)
        if len(names) != self.size or not all(names):
            self.fail(f"{value!r}: expected {self.size} names of namespaces, or their first letters", param, ctx)
        return str(value)

    def is_named(self, value: str) -> bool:
        """Whether the result of `convert` is names."""
        return len(value) != self.size


class FileName(click.ParamType):
    """The name of a file, not yet looked at. Not a click.Path, which looks for translations at every start."""

    name = "path"
    envvar_list_splitter = os.path.pathsep

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of the file is empty", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class NamesType(click.ParamType):
    """Names of columns with commas between them; one with a comma is quoted, as in CSV."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        return tuple(_named(self, value, param, ctx))


class Delimiter(click.ParamType):
    """The cell delimiter: one ASCII character; tab may be typed as `tab` or `\\t`."""

    name = "delimiter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = {"tab": "\t", "\\t": "\t"}.get(str(value), str(value))
        if not is_delimiter(text):
            self.fail(f"{value!r} is not one character of ASCII such as ';', or tab", param, ctx)
        return text


class Escape(click.ParamType):
    """A character that makes the one after it ordinary, or none."""

    name = "escape"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not is_escape(str(value)):
            self.fail(f"{value!r} is not one character such as '\\', or none", param, ctx)
        return str(value)


class TimeFormat(click.ParamType):
    """A format of times, in letters of strptime."""

    name = "time format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        fault = fault_of(str(value))
        if fault:
            self.fail(f"{value!r} is not a format of times, such as '%d.%m.%Y %H:%M': {fault}", param, ctx)
        return str(value)


PATH = FileName()


class Condition(NamedTuple):
    """A condition on a measure, such as auc<0.9. errors: the limit is to be added to the loss of the run before, this
    many standard errors of the difference; None: it is a number."""

    measure: str
    sign: str
    limit: float
    errors: float | None = None

    def holds(self, value: float) -> bool:
        return bool(_COMPARED[self.sign](value, self.limit))

    def __str__(self) -> str:
        if self.errors is None:
            return f"{self.measure}{self.sign}{self.limit:g}"
        return f"{self.measure}{self.sign}yesterday" + (f"{self.errors:+g}se" if self.errors else "")


class ConditionType(click.ParamType):
    name = "condition"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "CONDITION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Condition:
        of_yesterday = re.fullmatch(
            r"\s*([A-Za-z][\w. ]*?)\s*(<=|>=|<|>)\s*yesterday\s*(?:([-+]\s*(?:\d+\.?\d*|\.\d+))\s*se)?\s*", str(value))
        if of_yesterday:
            errors = float((of_yesterday[3] or "0").replace(" ", ""))
            return Condition(of_yesterday[1].lower().replace(" ", "_"), of_yesterday[2], 0.0, errors)
        found = re.fullmatch(r"\s*([A-Za-z][\w. ]*?)\s*(<=|>=|<|>)\s*([-+.\deE]+)\s*", str(value))
        try:
            return Condition(found[1].lower().replace(" ", "_"), found[2], float(found[3]))  # type: ignore[index]
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a measure, <, <=, > or >=, and a number or yesterday+3se, such as 'auc<0.9'",
                      param, ctx)
