"""The header of a model and all checks of it: a file is not trusted.

Types come first, then options that `vwlite train` would refuse, alone or together.
"""

import math
import types
from dataclasses import fields
from itertools import chain, pairwise
from math import isfinite
from typing import Any, get_args, get_origin

import click

from vwlite.algorithms.checks import check_together
from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.table import SOLVED, algorithm_of
from vwlite.errors import UsageError
from vwlite.names import names_in, names_text, namespace_of
from vwlite.options.spec import option_name
from vwlite.options.types import LettersType
from vwlite.output.text import printable
from vwlite.patterns import pattern

COUNTERS = ("examples", "unlabelled", "features")
LARGEST = 1 << 127  # above all integers of the program; some sums need this many bits
MOST_PASSES = 200  # whose losses a model has
LONGEST = 200  # letters of an explanation that are shown
# The formats of models: without names of features, with them, and with options that older programs do not know, which
# would apply the weights to other values, or show other probabilities; with a map of scores; and of texts whose words
# have their marks, of tables whose words and labels are kept or whose numbers have signs, separators or units, and of
# labels that are not words of VW text, and of several quantiles; and of tables whose absent cells have a feature.
WITHOUT_NAMES, WITH_NAMES, WITH_OPTIONS, CALIBRATED, WITH_MARKS, WITH_ABSENTS = 1, 2, 3, 4, 5, 6
# What columns may say from WITH_MARKS on.
NEW_COLUMNS = {"words", "names", "decimal", "thousands", "units", "characters", "time_format", "unspaced"}

FIELDS: dict[str, Any] = {
    "format": int, "program": str, "algorithm": str, "loss": str, "options": dict, "counters": dict, "rule": dict,
    "range": tuple[float, float] | None, "interrupted": bool, "weights_only": bool,
}
# Those that a header has only if there is something to say.
MORE_FIELDS = (
    "classes", "solved", "columns", "base", "resumed", "merged", "seen", "chosen", "calibration", "means", "absent",
    "passes", "continued", "typed",
)
# What a model of `vwlite solve` knows of its problem: how its weights were found, what they are worth (None: it is on
# the way), the least l1 at which all are zero (None: the loss has kinks, or it was not asked), how often the data were
# read, and their digest.
SOLVED_FIELDS: dict[str, Any] = {
    "solver": str, "objective": float | None, "lower_bound": float, "l1_max": float | None, "passes": float,
    "data": str,
}
# The facts of a merged model: the number of shards and the digest of theirs, the rule, its step (1 in new models), and
# the state.
ROWS = "rows"  # the rule of a merge that has learned kept rows
ROUNDS = "rounds"  # that of `vwlite dask train`
MERGED_FIELDS: dict[str, Any] = {"shards": int, "digest": str, "rule": str, "step": float, "state": str}
# The map of clipped scores that `vwlite calibrate` found, as of `Learner.calibrate`.
CALIBRATION: dict[str, Any] = {"method": str, "slope": float, "scores": tuple[float, ...], "values": tuple[float, ...]}
# ... or, if labels were logarithms, log s, where exp(p) s is the mean, and the weight of the rows that s is of.
SMEARING, SMEARING_FACTS, LARGEST_OFFSET = "smearing", {"method", "offset", "weight"}, 700
# What `--algorithm auto` says of its choice, of which a model has some.
CHOSEN: dict[str, Any] = {
    "normalize": str, "model": str, "loss is": str, "data": str, "baseline": float, "loss": float, "pass": int,
    "passes": int, "weights": dict, "loss without derived features": float, "offsets": tuple[float, ...],
    "columns": int, "sparse": float, "best loss": float, "largest gain": float, "kept": float, "nonzero weights": int,
    "l1": float, "learning rate": float, "losses": dict,
    "losses with features of model": dict, "mean of models with": dict,
}
# The keys in JSON of what models spell otherwise, in `chosen` and `passes`.
_KEYS = {name: name.replace(" ", "_") for name in CHOSEN} | {"out-of-fold": "out_of_fold"}
MOST_POINTS = 1000
MOST_INPUTS = 1000
# What classes can be called, and in formats before WITH_MARKS; bytes that are not UTF-8 are U+DC80 to U+DCFF.
_NAME = pattern(r"(?! )[^\t\n\ud800-\udc7f\udd00-\udfff]+(?<! )")
_WORD = pattern(r"[^ \t\n|]+")


class Newer(ValueError):
    """What this program does not know and a newer one may."""


def brief(text: Any) -> str:
    """Words that may be long, and may try to command a terminal, as part of a sentence."""
    shown = printable(str(text))
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def in_json(found: dict[str, Any]) -> dict[str, Any]:
    """A choice of `--algorithm auto`, or the losses of a pass, with the keys that reports have."""
    return {_KEYS.get(name, name): value for name, value in found.items()}


def check_header(header: dict[str, Any]) -> None:
    """ValueError says what is wrong with the header of a model, or Newer what it is too new for."""
    for name, kind in FIELDS.items():
        if name not in header:
            raise ValueError(f"its header has no {name}")
        if not _is_of(_as_tuple(header[name]), kind):
            raise ValueError(f"{name} is {brief(repr(header[name]))}")
    import json

    try:
        json.dumps(header, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")  # as it is printed
    except UnicodeEncodeError:
        raise ValueError("it has invalid characters") from None
    except ValueError:
        raise ValueError("its header has a number that is not finite") from None
    if header["format"] < 1:
        raise ValueError(f"unknown format {header['format']}")
    settings = _checked_options(header["options"])
    if settings.normalize == "center":
        raise ValueError("its option is --normalize center, which is of learning, not of models")
    if header["format"] < oldest_format(header["options"]):
        name = "normalize" if settings.normalize != "none" else "softmax_probabilities"
        raise ValueError(f"its format is {header['format']}, which has no option {name}")
    if not settings.loss:
        raise ValueError("its loss is missing")
    for name in ("algorithm", "loss"):
        if header[name] != getattr(settings, name):
            raise ValueError(f"{name} is {brief(header[name])}, but its options say {getattr(settings, name)}")
    for name, count in header["counters"].items():
        if type(count) is not int or not 0 <= count < LARGEST:
            raise ValueError(f"the counter {brief(name)} is {brief(repr(count))}")
    _check_rule(header, settings)
    if header["range"] is not None:
        check_range(*header["range"])
        if not rule_class(algorithm_of(settings.algorithm).rule).CLIPS or settings.oaa:
            raise ValueError(f"it has a range of predictions, which models of {settings.algorithm} do not have")
    _check_names(header.get("classes", []), settings)
    columns = header.get("columns", {})
    if header["format"] < WITH_ABSENTS and type(columns) is dict and columns.get("absents"):
        raise ValueError(f"its format is {header['format']}, in which absent cells have no features")
    if header["format"] < WITH_MARKS and needs_new_format(header["options"], header.get("classes", []), columns):
        raise ValueError(f"its format is {header['format']}, which does not have what its options, columns or classes "
                         "say")
    if header.get("columns", {}) != {}:
        from vwlite.input.schema import Schema

        Schema.restored(header["columns"])
    _check_derived(settings, columns)
    if settings.algorithm == SOLVED.name:
        _check_solved(header, settings)
    elif header.get("solved", {}) != {}:
        raise ValueError("it has facts about a solution, but is not a model of vwlite solve")
    for name in ("base", "resumed"):
        digest = header.get(name, "")
        if type(digest) is not str or (digest and not _is_digest(digest, 64)):
            raise ValueError(f"{name}, the model from which it started, is not a digest")
    _check_merged(header.get("merged", {}))
    _check_calibration(header, settings)
    seen = header.get("seen", 0)
    if type(seen) is not int or not 0 <= seen <= 1 << 32:
        raise ValueError(f"it has seen {brief(repr(seen))} features")
    _check_chosen(header.get("chosen", {}))
    _check_means(header.get("means", {}), settings)
    _check_absent(header.get("absent", {}), settings, columns)
    _check_passes(header.get("passes", []))
    _check_continued(header.get("continued", {}))
    typed = header.get("typed", [])
    if type(typed) is not list or not all(type(word) is str for word in typed):
        raise ValueError("the options of its run are not a list of words")


def _check_chosen(found: Any) -> None:
    """What `--algorithm auto` chose, and why; or {}."""
    if type(found) is not dict:
        raise ValueError("what --algorithm auto chose is not a list of facts")
    for name, kind in CHOSEN.items():
        if name in found and not _is_of(_as_tuple(found[name]), kind):
            raise ValueError(f"{name} of what --algorithm auto chose is {brief(repr(found[name]))}")


def _check_derived(settings: Settings, columns: dict[str, Any]) -> None:
    """The columns that features are derived from are columns of the table, with a role that has such cells."""
    if settings.derived is None or not settings.derived.columns:
        return
    from vwlite.derived import NumberColumn
    from vwlite.input.schema import Schema

    schema = Schema.restored(columns) if columns else Schema({}, open=True)
    roles = {namespace_of(name): role for name, role in schema.roles.items()}
    for c in settings.derived.columns:
        fitting = "numeric" if isinstance(c, NumberColumn) else "time" if c.part else "categorical"
        role = roles.get(c.name, "auto" if schema.open else "missing")
        if role not in (fitting, "auto"):
            raise ValueError(f"features are derived from {brief(c.full_name)}, no {fitting} column of its table")


def _check_continued(found: Any) -> None:
    """What `train --continue` keeps of a run: digests of its input, and numbers with their standard errors; or {}."""
    inputs, numbers = (found.get("inputs", []), found.get("numbers", {})) if type(found) is dict else (None, None)
    known = type(inputs) is list and all(type(x) is str and _is_digest(x, 32) for x in inputs)
    pairs = type(numbers) is dict and all(_is_of(_as_tuple(x), tuple[float, float]) for x in numbers.values())
    if known and not _is_of(found.get("fit_minus_steps", 0.0), float):
        raise ValueError("the loss of its fits less that of steps is not a number")
    if known and not _is_count(found.get("features_from", 0)):
        raise ValueError("the rows from which its features were found are not a number of rows")
    if not known or not pairs:
        raise ValueError("what it has of the last run is not a list of digests and pairs of numbers")
    if "nights" in found:
        from vwlite.model.nights import restored  # not at the top: few models have some

        restored(found["nights"])


MORE_OF_EFFECTS = {"bands", "columns", "moved", "ranges", "scaled", "sizes", "squares"}  # of newer models


def _check_means(found: Any, settings: Settings) -> None:
    """The means of the effects of columns, [classes] each, over how many rows, and the mean length of these; or {}."""
    if found == {}:
        return
    keys = {"rows", "length", "effects"}
    if type(found) is not dict or set(found) - MORE_OF_EFFECTS != keys or type(found["effects"]) is not dict:
        raise ValueError("its means of effects are invalid")
    rows, length = found["rows"], found["length"]
    if type(rows) is not int or not 0 < rows < LARGEST or not _is_number(length) or length <= 0:
        raise ValueError("its means of effects are of no rows")
    of_classes = [x for name in ("effects", "scaled", "sizes") for x in _values(found.get(name, {}))]
    for pair in _values(found.get("columns", {})):
        of_classes += pair if type(pair) is list and len(pair) == 2 else [None]
    for mean in of_classes:
        if type(mean) is not list or len(mean) != settings.outputs.records or not all(map(_is_number, mean)):
            raise ValueError(f"a mean of an effect is {brief(repr(mean))}")
    for ends in _values(found.get("ranges", {})):
        if type(ends) is not list or len(ends) != 2 or not all(map(_is_number, ends)) or ends[0] > ends[1]:
            raise ValueError(f"a range of a column is {brief(repr(ends))}")
    squares = _values(found.get("squares", {}))
    if ("squares" in found) != ("scaled" in found) or not all(_is_number(x) and x >= 0 for x in squares):
        raise ValueError("its mean squares of columns are invalid")
    for tables in _values(found.get("moved", {})):
        flat = type(tables) is list and all(type(table) is list for table in tables)
        if not flat or not all(map(_is_number, chain(*tables))):
            raise ValueError(f"what a product moves into other effects is {brief(repr(tables))}")
    for band in _values(found.get("bands", {})):
        edges = band if type(band) is list and len(band) == 2 and all(type(x) is list for x in band) else [[], [None]]
        if len(edges[0]) != len(edges[1]) or not all(map(_is_number, chain(*edges))):
            raise ValueError(f"a band of an effect is {brief(repr(band))}")


def _values(found: Any) -> list[Any]:
    """Those of a dictionary; else None, which is no value."""
    return [*found.values()] if type(found) is dict else [None]


def _check_absent(found: Any, settings: Settings, columns: Any) -> None:
    """The record of absent cells: of how many rows, whether the model has all words of these, and of each column how
    many cells were missing, the mean effect, and whether the feature of such cells was learned; or {}."""
    if found == {}:
        return
    if type(found) is not dict or {*found} != {"rows", "words", "columns"} or type(found["columns"]) is not dict:
        raise ValueError("its record of absent cells is invalid")
    if not columns.get("absents"):
        raise ValueError("it has a record of absent cells, and its columns say that these have no features")
    roles = dict(columns["roles"])
    for name, column in found["columns"].items():
        if type(column) is not dict or {*column} != {"missing", "mean", "learned"}:
            raise ValueError(f"its record of absent cells of {brief(name)} is invalid")
        if name not in roles and not columns["open"]:
            raise ValueError(f"it has a record of absent cells of {brief(name)}, which is not a column")
        mean = column["mean"]
        if type(mean) is not list or len(mean) != settings.outputs.records or not all(map(_is_number, mean)):
            raise ValueError(f"a mean of an effect is {brief(repr(mean))}")
        if type(column["learned"]) is not bool or not _is_count(column["missing"]):
            raise ValueError(f"its record of absent cells of {brief(name)} is invalid")
    if not _is_count(found["rows"]) or type(found["words"]) is not bool:
        raise ValueError("its record of absent cells is of no rows")


def _is_count(x: Any) -> bool:
    return type(x) is int and 0 <= x < LARGEST


def _check_passes(passes: Any) -> None:
    if type(passes) is not list or len(passes) > MOST_PASSES:
        raise ValueError(f"its record of passes is not a list of at most {MOST_PASSES} passes")
    for losses in passes:
        if type(losses) is not dict or not all(x is None or _is_number(x) for x in losses.values()):
            raise ValueError(f"the losses of a pass are {brief(repr(losses))}")


def oldest_format(options: dict[str, Any]) -> int:
    """The first one that has these options, without names of features."""
    if options.get("normalize", "none") != "none" or options.get("softmax_probabilities"):
        return WITH_OPTIONS
    return WITHOUT_NAMES


def label_names(options: dict[str, Any], classes: list[str]) -> list[str]:
    """The names of classes or labels, of the options or found in the data, but for those that are numbers."""
    labels = [label for label in options.get("labels") or () if isinstance(label, str)]
    typed = options.get("classes") or ""
    return [*labels, *classes, *(names_in(typed) if typed != "auto" and typed else [])]


def needs_new_format(options: dict[str, Any], classes: list[str], columns: Any) -> bool:
    """Whether only WITH_MARKS has this."""
    new = type(columns) is dict and bool(NEW_COLUMNS & columns.keys())
    new = new or isinstance(options.get("quantile_tau"), list | tuple)
    return new or not all(map(_WORD.fullmatch, label_names(options, classes)))


def check_range(low: float, high: float) -> None:
    """ValueError if predictions cannot be clipped to this."""
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise ValueError(f"the range of predictions is from {low} to {high}")


def check_settings(settings: Settings) -> None:
    """ValueError, or Newer, for settings that `vwlite train` would not take."""
    for field in fields(Settings):
        value = getattr(settings, field.name)
        if not (_is_derived(value) if field.name == "derived" else _is_of(value, field.type)):
            raise ValueError(f"{option_name(field.name)} is {brief(repr(value))}")
    if settings.algorithm != SOLVED.name:
        _check_typed("algorithm", settings.algorithm)
    usual = Settings.of(settings.algorithm)
    changed = {f.name: getattr(settings, f.name) for f in fields(Settings)}
    changed = {name: value for name, value in changed.items() if value != getattr(usual, name)}
    for name, value in changed.items():
        if value or name != "loss":
            _check_typed(name, value)
    try:
        check_together(settings, changed)
    except UsageError as e:
        raise ValueError(brief(e)) from None


def _checked_options(options: dict[str, Any]) -> Settings:
    unknown = sorted(set(options) - {f.name for f in fields(Settings)})
    if unknown:
        raise Newer(f"unknown option {brief(unknown[0])}")
    settings = Settings.restored(options)
    check_settings(settings)
    return settings


def _as_tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else value


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value is of a type as it is annotated. Whole numbers are good as floats, NaN and infinity are not."""
    if type(kind) is types.UnionType:
        return any(_is_of(value, one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        first, *more = get_args(kind)
        length = len(value) if type(value) is tuple and Ellipsis in more else 1 + len(more)
        return type(value) is tuple and len(value) == length and all(_is_of(x, first) for x in value)
    if kind is float:
        return _is_number(value)
    return value is None if kind is type(None) else type(value) is kind


def _is_derived(value: Any) -> bool:
    if value is None:
        return True
    from vwlite.derived import Derived  # not at the top, for the time of a start

    return type(value) is Derived


def _is_digest(text: str, digits: int) -> bool:
    return len(text) == digits and set(text) <= {*"0123456789abcdef"}


def _is_number(x: Any) -> bool:
    return (type(x) is float and isfinite(x)) or (type(x) is int and -LARGEST < x < LARGEST)


def _check_typed(name: str, value: Any) -> None:
    """ValueError if an option of the command line could not have this value."""
    if name == "derived":
        return  # it was checked as it was read
    if name == "crosses":
        for text in value:
            if not 1 <= text.count(",") <= 2 or not all(text.split(",")):
                raise ValueError(f"{brief(repr(text))} does not cross namespaces by name")
        return
    kind = SPECS[name].type if name in SPECS else None  # constant is typed as --no-constant
    if isinstance(kind, LettersType):  # a text of letters, each by itself, or a tuple of patterns
        texts = value
    elif type(value) is bool:
        return
    else:
        values = value if type(value) is tuple else (value,)
        texts = [names_text([x if type(x) is str else repr(x) for x in values])] if name == "labels" else [
            ",".join(x if type(x) is str else repr(x) for x in values)]
    assert kind is not None
    for text in texts:
        try:
            if isinstance(kind, LettersType):
                text = text.encode("latin-1").decode("utf-8", "surrogateescape")
            found = kind.convert(text, None, None)
        except click.BadParameter as e:
            known = isinstance(kind, click.Choice)
            why = f"unknown {name} {text}" if known else f"{option_name(name)}: {e.message}"
            raise (Newer if known else ValueError)(brief(why)) from None
        except UnicodeError:
            raise ValueError(f"{option_name(name)}: {brief(repr(text))} is not of bytes") from None
        if name == "quantile_tau" and found != value:
            raise ValueError(f"{option_name(name)} is {brief(repr(value))}")
        if name == "labels" and found != value:
            raise ValueError(f"{option_name(name)}: {brief(repr(value))} are neither two numbers nor two words")


def _check_rule(header: dict[str, Any], settings: Settings) -> None:
    """What the rule keeps beside the arrays: a number each, or one for each class or quantile."""
    examples = header["counters"].get("examples", 0)
    for name, value in header["rule"].items():
        values = value if settings.outputs.records > 1 else [value]
        if type(values) is not list or len(values) != settings.outputs.records or not all(map(_is_number, values)):
            raise ValueError(f"{brief(name)} of the rule's state is {brief(repr(value))}")
        # Models of gd may continue the time t of Vowpal Wabbit, which does not count examples.
        if name == "t" and settings.algorithm != "gd" and not all(0 <= t <= examples for t in values):
            raise ValueError(f"it has learned {brief(value)} times from {examples} examples")
    if header["weights_only"] and set(header["rule"]) - {"unseen"}:
        raise ValueError("its header says that it has no state, but it has state")


def _check_names(names: Any, settings: Settings) -> None:
    """The names of classes that were found in the data."""
    if type(names) is not list or (names and settings.classes != "auto"):
        raise ValueError("it has names of classes, but needs none")
    if len(names) > (settings.oaa or 0):
        raise ValueError("there are more names than classes")
    for name in names:
        if type(name) is not str or not _NAME.fullmatch(name):
            raise ValueError(f"{brief(repr(name))} is not a name of a class")
    if len(set(names)) != len(names):
        raise ValueError("duplicate names of classes")


def _check_merged(found: Any) -> None:
    """The facts about the shards of a merged model; {}: the model is not merged."""
    if type(found) is not dict:
        raise ValueError("the facts about its merge are missing")
    if not found:
        return
    for name in sorted(set(found) - set(MERGED_FIELDS)):
        raise Newer(f"unknown fact {brief(name)} about its merge")
    for name, kind in MERGED_FIELDS.items():
        if name not in found or not _is_of(found[name], kind):
            raise ValueError(f"{name} of its merge is {brief(repr(found.get(name)))}")
    if found["shards"] < 1 or not _is_digest(found["digest"], 64):
        raise ValueError("the facts about its merge are impossible")


def _check_calibration(header: dict[str, Any], settings: Settings) -> None:
    """The map of scores; {}: there is none."""
    found = header.get("calibration", {})
    if found == {}:
        return
    if type(found) is dict and found.get("method") == SMEARING:
        offset, weight = found.get("offset", math.nan), found.get("weight", math.nan)
        known = settings.outputs.smears and set(found) == SMEARING_FACTS and _is_number(offset) and _is_number(weight)
        if not (known and abs(offset) <= LARGEST_OFFSET and weight > 0):
            raise ValueError("what makes means of its predictions is invalid")
        return
    if type(found) is dict and settings.oaa is not None:
        numbers = [found.get(name) for name in ("scales", "offsets")]
        whole = all(type(x) is list and len(x) == settings.oaa and all(map(_is_number, x)) for x in numbers)
        if not (whole and header["weights_only"] and type(found.get("method")) is str and len(found) == 3):
            raise ValueError("its calibration of classes is invalid")
        return
    if type(found) is not dict or set(found) != set(CALIBRATION) or header["format"] < CALIBRATED:
        raise ValueError("the facts about its calibration are missing")
    for name, kind in CALIBRATION.items():
        if not _is_of(_as_tuple(found[name]), kind):
            raise ValueError(f"{name} of its calibration is {brief(repr(found[name]))}")
    scores, values = found["scores"], found["values"]
    ascends = all(a < b for a, b in pairwise(scores)) and all(a <= b for a, b in pairwise(values))
    small = all(abs(x) < LARGEST for x in (*scores, *values))  # so that the map is finite
    of_two = settings.loss == "logistic" and settings.oaa is None
    if not (ascends and small and of_two and 0 < len(scores) == len(values) <= MOST_POINTS):
        raise ValueError("its calibration is impossible")


def _check_solved(header: dict[str, Any], settings: Settings) -> None:
    """The facts about the problem of a model of `vwlite solve`."""
    found = header.get("solved")
    if type(found) is not dict:
        raise ValueError("the facts about its solution are missing")
    for name in sorted(set(found) - set(SOLVED_FIELDS)):
        raise Newer(f"unknown fact {brief(name)} about its solution")
    for name, kind in SOLVED_FIELDS.items():
        if name not in found or not _is_of(found[name], kind):
            raise ValueError(f"{name} of its solution is {brief(repr(found.get(name)))}")
    from vwlite.algorithms.solvers import EVERY, ROUNDS

    if found["solver"] not in EVERY:
        raise Newer(f"unknown solver {brief(found['solver'])}")
    if found["objective"] is None and found["solver"] not in ROUNDS:
        raise ValueError("objective of its solution is None")
    objective = found["lower_bound"] if found["objective"] is None else found["objective"]
    numbers = (found["lower_bound"], found["passes"], found["l1_max"] or 0.0, objective - found["lower_bound"])
    if min(numbers) < 0 or not _is_digest(found["data"], 16):
        raise ValueError("the facts about its solution are impossible")
    if not header["weights_only"] or header["rule"]:
        raise ValueError("it has a state, which models of vwlite solve do not have")
    if settings.radius is not None and settings.l1:
        raise ValueError("it has both l1 and radius")
