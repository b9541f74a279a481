"""The files that rounds are made of: the gradient of a shard, and the state of whoever drives them.

Both are what models are: an uncompressed zip of arrays that NumPy reads, with a digest of everything at its end.

    gradient    header; in the first round keys uint32 [n], which whoever drives them keeps; more_sums, more_slopes [n]
                and, where a certificate needs it, more_second [n], float64, as `vwlite.core.solve.shard` has them
    state       header; keys uint32 [n]; more_places uint32: where each key of each shard is among them, one shard after
                the other; more_NAME float64 [n + 1], the constant last, as `vwlite.core.solve.rounds` has them

What is in them does not depend on when, where or from which file names they were made.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vwlite.core.base.arrays import all_finite, is_ascending
from vwlite.core.solve.shard import sums_of
from vwlite.errors import DataError
from vwlite.model.file import read_arrays, write_arrays
from vwlite.model.header import COUNTERS, LARGEST, brief, check_settings
from vwlite.model.read import opened
from vwlite.model.slots import Array
from vwlite.options.settings import Settings
from vwlite.solvers.table import ROUNDS

if TYPE_CHECKING:
    from vwlite.output.atomic import AtomicFile

FORMAT = 1  # raised when older programs cannot read what is written
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SHARD = re.compile(r"[0-9a-f]{16}")


@dataclass
class Part:
    """What one shard says of the weights of a round. Arrays are memoryviews or arrays of format "I" or "d"."""

    shard: str  # a digest of its examples
    counters: dict[str, int]  # COUNTERS
    keys: Any  # ascending: the features that it has; None: whoever drives the rounds knows them
    sums: Any
    slopes: Any  # of each key
    second: Any = None  # of each key, where a certificate needs it
    name: str = ""  # what a sentence calls it
    columns: dict[str, Any] = field(default_factory=dict)  # of tables

    @property
    def has_certificate(self) -> bool:
        return len(self.sums) != sums_of("", False)


@dataclass
class Gradient:
    """A gradient as it is in its file."""

    part: Part
    options: dict[str, Any]  # of the model, by the options' long names
    model: str  # the digest of the model that has the weights
    program: str

    def header(self) -> dict[str, Any]:
        return {
            "kind": "gradient", "format": FORMAT, "program": self.program, "options": self.options, "model": self.model,
            "shard": self.part.shard, "counters": self.part.counters, "columns": self.part.columns,
        }  # fmt: skip


@dataclass
class State:
    """A state as it is in its file."""

    options: dict[str, Any]
    solver: str  # of ROUNDS
    asks: str = ""  # the digest of the model that gradients are wanted at
    took: str = ""  # that of the last one that they were taken at; "": none yet
    shards: list[list[Any]] = field(default_factory=list)  # digest, examples and features of each, ascending
    counters: dict[str, int] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    lower_bound: float = 0.0
    certified: bool = False
    history: list[float] = field(default_factory=list)  # objectives of the last steps
    word: str = "continue"
    numbers: dict[str, Any] = field(default_factory=dict)  # of the method; {}: it has not begun
    keys: Any = None
    places: Any = None  # of the keys of each shard among all keys
    arrays: dict[str, Any] = field(default_factory=dict)
    program: str = ""

    def header(self) -> dict[str, Any]:
        apart = ("keys", "places", "arrays")
        return {"kind": "state", "format": FORMAT, **{k: v for k, v in vars(self).items() if k not in apart}}


# --- writing -----------------------------------------------------------------------------------


def write_gradient(file: "AtomicFile", gradient: Gradient) -> None:
    """DataError if a number in it is not finite: such a gradient is never written."""
    part = gradient.part
    arrays = {"more_sums": part.sums, "more_slopes": part.slopes}
    arrays |= {"more_second": part.second} if part.second is not None else {}
    if not all(all_finite(memoryview(a)) for a in arrays.values()):
        raise DataError(f"{file.name}: not written: the loss at these weights is not finite; scale the features")
    _write(file, gradient.header(), arrays if part.keys is None else {"keys": part.keys, **arrays})


def write_state(file: "AtomicFile", state: State) -> None:
    """DataError if a number in it is not finite: such a state is never written."""
    arrays = {f"more_{name}": state.arrays[name] for name in sorted(state.arrays)}
    if not all(all_finite(memoryview(a)) for a in arrays.values()):
        raise DataError(f"{file.name}: not written: a number in it is not finite; scale the features")
    _write(file, state.header(), {"keys": state.keys, "more_places": state.places, **arrays})


def _write(file: "AtomicFile", header: dict[str, Any], arrays: dict[str, Any]) -> None:
    views = {name: memoryview(numbers) for name, numbers in arrays.items()}
    write_arrays(file, header, {name: (f"({len(view)},)", view) for name, view in views.items()})


# --- reading -----------------------------------------------------------------------------------


def read_gradient(path: str) -> Gradient:
    """NoInputError if it cannot be opened; DataError if it is no gradient, not whole, or of a newer program."""
    header, arrays = _read(path, "gradient", _check_gradient)
    keys = arrays.pop("keys", None)
    settings = Settings.restored(header["options"])
    sums, slopes, second = (arrays.pop(name, None) for name in ("sums", "slopes", "second"))
    certain = sums is not None and len(sums) == sums_of(settings.loss, True)
    fits = certain or (sums is not None and len(sums) == sums_of(settings.loss, False))
    given = [a for a in (sums, slopes, second) if a is not None]
    fits = fits and not arrays and slopes is not None and all(a.format == "d" for a in given)
    fits = fits and (second is not None) == (certain and settings.constant)
    if not fits or any(a is not None and len(a) != len(given[1]) for a in (keys, second)):
        raise DataError(f"{path}: not a valid gradient: its arrays do not fit each other")
    assert sums is not None
    if not sums[0] > 0 or sums[1] < 0 or sums[3] < 0:
        raise DataError(f"{path}: not a valid gradient: its sums cannot be")
    part = Part(header["shard"], header["counters"], keys, sums, slopes, second, path, header["columns"])
    return Gradient(part, header["options"], header["model"], header["program"])


def read_state(path: str) -> State:
    """NoInputError if it cannot be opened; DataError if it is no state, not whole, or of a newer program."""
    header, arrays = _read(path, "state", _check_state)
    keys, places = arrays.pop("keys", None), arrays.pop("places", None)
    sizes = [features for _, _, features in header["shards"]]
    fits = keys is not None and places is not None and places.format == "I" and "x" in arrays
    fits = fits and all(a.format == "d" and len(a) == len(keys or ()) + 1 for a in arrays.values())
    if not fits or not _are_places(places or memoryview(b""), sizes, len(keys or ())):
        raise DataError(f"{path}: not a valid state: its arrays do not fit each other")
    facts = {name: value for name, value in header.items() if name not in ("kind", "format")}
    return State(keys=keys, places=places, arrays=arrays, **facts)


def _are_places(places: Array, sizes: list[int], keys: int) -> bool:
    """Whether these are numbers of keys, so many of each shard."""
    at = 0
    for size in sizes:
        part = places[at : at + size]
        if len(part) != size or not is_ascending(part) or (size and part[-1] >= keys):
            return False
        at += size
    return at == len(places)


def _read(
    path: str, kind: str, check: Callable[[dict[str, Any]], None]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header, and the arrays by their names."""
    with opened(path) as (file, data):
        header, arrays = read_arrays(path, file, data, kind, lambda header: _check(path, kind, header, check))
    keys, settings = arrays.get("keys"), Settings.restored(header["options"])
    if keys is not None:
        if keys.format != "I" or not is_ascending(keys):
            raise DataError(f"{path}: not a valid {kind}: its keys are not ascending")
        if len(keys) and keys[-1] >= 1 << settings.bits:
            raise DataError(f"{path}: not a valid {kind}: a key has more than {settings.bits} bits")
    for name, numbers in arrays.items():
        if name != "keys" and not name.startswith("more_"):
            raise DataError(f"{path}: not a valid {kind}: it has an array {brief(name)} that none has")
        if numbers.format == "d" and not all_finite(numbers):
            raise DataError(f"{path}: not a valid {kind}: {brief(name)} has a number that is not finite")
    return header, {name.removeprefix("more_"): numbers for name, numbers in arrays.items()}


def _check(path: str, kind: str, header: dict[str, Any], check: Callable[[dict[str, Any]], None]) -> None:
    """What all headers have. DataError if it is of a newer program; ValueError."""
    version, program = header.get("format"), header.get("program")
    if type(version) is int and version > FORMAT:
        raise DataError(f"{path}: written by {brief(program)} in format {version}, this program reads formats up to "
                        f"{FORMAT}: it needs {brief(program)} or later")  # fmt: skip
    if version != FORMAT or type(program) is not str:
        raise ValueError("it does not say what wrote it")
    if type(header.get("options")) is not dict:
        raise ValueError("it has no options")
    settings = Settings.restored(header["options"])
    check_settings(settings)
    if refusal_of(settings):
        raise ValueError(f"it is of a problem with {refusal_of(settings)}")
    if type(header.get("columns")) is not dict:
        raise ValueError("it has no columns")
    if header["columns"]:
        from vwlite.input.schema import Schema  # not at the top: few runs read tables

        Schema.restored(header["columns"])
    counters = header.get("counters")
    if type(counters) is not dict or (counters and set(counters) != set(COUNTERS)):
        raise ValueError("its counters are not those of examples")
    if any(type(x) is not int or not 0 <= x < LARGEST for x in counters.values()):
        raise ValueError("a counter cannot be")
    check(header)


def _check_gradient(header: dict[str, Any]) -> None:
    if set(header) != {"kind", "format", "program", "options", "model", "shard", "counters", "columns"}:
        raise ValueError("its header is not that of a gradient")
    if not _fits(_DIGEST, header["model"]) or not _fits(_SHARD, header["shard"]) or not header["counters"]:
        raise ValueError("it does not say what it is of")


def _check_state(header: dict[str, Any]) -> None:
    if set(header) != {"kind", "format"} | (set(vars(State({}, ""))) - {"keys", "places", "arrays"}):
        raise ValueError("its header is not that of a state")
    if header["solver"] not in ROUNDS or header["word"] not in WORDS:
        raise ValueError("its method is not known")
    if not _fits(_DIGEST, header["asks"]) or (header["took"] and not _fits(_DIGEST, header["took"])):
        raise ValueError("it does not say which weights it asks for")
    shards = header["shards"]
    if type(shards) is not list or not all(
        type(s) is list and len(s) == 3 and _fits(_SHARD, s[0]) and all(type(x) is int and x >= 0 for x in s[1:])
        for s in shards
    ):
        raise ValueError("its shards cannot be")
    if type(header["certified"]) is not bool or type(header["numbers"]) is not dict:
        raise ValueError("it does not say where it stands")
    if type(header["history"]) is not list or not all(map(_is_finite, [header["lower_bound"], *header["history"]])):
        raise ValueError("its objectives are no numbers")
    if bool(header["numbers"]) != bool(shards):
        raise ValueError("it does not say where it stands")


def _fits(pattern: re.Pattern[str], text: Any) -> bool:
    return type(text) is str and pattern.fullmatch(text) is not None


def _is_finite(x: Any) -> bool:
    return type(x) in (int, float) and math.isfinite(x)


WORDS = ("continue", "converged", "stopped")


def refusal_of(settings: Settings) -> str:
    """Why a problem is not solved in rounds, as words after `with`; nothing if it is."""
    if settings.softmax:
        return "--softmax"
    if settings.oaa is not None:
        return "--oaa"
    if settings.nonnegative:
        return "--nonnegative"
    if settings.feature_weights:
        return "--feature-weights"
    if settings.nonzeros:
        return "--nonzeros"
    if settings.loss not in ROUNDS["spg"].losses:
        return f"--loss {settings.loss}"
    return ""
