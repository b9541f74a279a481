"""The shards of a merge, and their checks: the same options and columns, one start, and no data counted twice."""

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import SOLVED, Algorithm, Evidence, algorithm_of
from vwlite.core.learn.rule import Rule
from vwlite.digest import blake2b
from vwlite.errors import DataError, NoInputError, UsageError
from vwlite.model import Model
from vwlite.model.absent import learned
from vwlite.model.feature_names import NONE, FeatureNames
from vwlite.model.header import COUNTERS, brief
from vwlite.model.learners import fresh_rule, make_expander, state_codes
from vwlite.model.read import map_model
from vwlite.model.slots import Array, array_of, copied
from vwlite.options.spec import option_name
from vwlite.runs.options import MOST_NAMES
from vwlite.runs.resolve import CHANGEABLE, KEPT, without_loss

SINCE_THEN = {"occurrences", "largest"}  # numbers of rules that are missing in older models
FOUND = ("learning_rate", "normalize", "derived")  # settings that the default finds in its rows
ROUNDING = 1e-9  # relative; evidence that is stored as a root may shrink by rounding errors


@dataclass
class ShardModel:
    """A model and its file. columns: for each class of the merged model, the column in the arrays of this model."""

    path: str
    model: Model
    columns: list[int] = field(default_factory=list)

    def number(self, name: str, c: int) -> Any:
        """A number of the rule, for a class; 0 if missing."""
        found = self.model.rule.get(name, 0)
        return found[self.columns[c]] if isinstance(found, list) else found

    def rows(self, numbers: Array) -> NDArray[np.float64]:
        """An array of the model as doubles, [keys, classes], with classes in the order of the merged model."""
        rows: NDArray[np.float64] = np.asarray(copied(numbers), dtype=float).reshape(-1, len(self.columns))
        return rows[:, self.columns]


@dataclass
class Shards:
    """The models to merge. The shards are in the order of their digests, not of the command line."""

    settings: Settings
    algorithm: Algorithm
    start: ShardModel | None
    each: list[ShardModel]
    missing: list[str]
    classes: list[str]  # names of classes that were found with --classes auto

    @property
    def all(self) -> list[ShardModel]:
        """The start, if there is one, and the shards."""
        return [*([self.start] if self.start else []), *self.each]

    @property
    def records(self) -> int:
        """How many numbers a key has in an array: one for each class."""
        return self.settings.outputs.records

    @property
    def named(self) -> int:
        """The number of classes with a name."""
        return self.settings.outputs.named(self.classes)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of tables, as stored in a model."""
        return next((shard.model.columns for shard in self.all if shard.model.columns), {})

    def names(self, keys: Array, active: NDArray[np.bool_]) -> tuple[FeatureNames, int | None]:
        """The names of the active keys, those of the start first; and the limit of names if it was reached: MOST_NAMES,
        or the number in one model if that is larger. keys: ascending."""
        each = [shard.model.names for shard in self.all if len(shard.model.names)]
        if not each:
            return NONE, None
        keys = array_of(np.asarray(keys)[active].tobytes(), "I")
        most = max(MOST_NAMES, *map(len, each))
        found, whole = FeatureNames.united(each, keys, most)
        return found, None if whole else most

    @property
    def weights_only(self) -> bool:
        return self.each[0].model.weights_only

    @cached_property
    def rule(self) -> Rule:
        """A new rule of one class."""
        return fresh_rule(self.settings)

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the merged state, with the formats of their memoryviews."""
        return {} if self.weights_only else state_codes(self.rule)

    @cached_property
    def constant_key(self) -> int | None:
        found: int | None = make_expander(self.settings).constant_key
        return found

    @property
    def restricted(self) -> Any:
        """The method of the rule that makes merged weights sparse, or puts them within its constraints; None if the
        options need neither."""
        s = self.settings
        harsh = any((s.l1, s.radius, s.box, s.nonzeros, s.round_at_end)) and not self.weights_only
        return self.rule.restricted if harsh else None

    @property
    def limited(self) -> bool:
        """Whether only the largest weights are kept."""
        return bool(self.settings.nonzeros) and not self.weights_only

    @property
    def range(self) -> tuple[float, float] | None:
        """The range to which predictions of numbers are clipped."""
        found = [shard.model.range for shard in self.all if shard.model.range is not None]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the start, plus what the shards have added."""
        each = [shard.model.counters for shard in self.each]
        before = {name: self.start.model.counters.get(name, 0) if self.start else 0 for name in COUNTERS}
        return {n: before[n] + sum(of.get(n, 0) - before[n] for of in each) for n in COUNTERS}

    def at_start(self, name: str, c: int) -> Any:
        """A number of the rule of the start, for a class."""
        start = self.start
        if start is not None and name in start.model.rule:
            return start.number(name, c)
        return self.rule.scalars().get(name, 0)

    def gained(self, name: str, c: int) -> Any:
        """The sum of what the shards have added to a number of the rule."""
        start = self.at_start(name, c)
        return in_order(shard.number(name, c) - start for shard in self.each)

    @property
    def digest(self) -> str:
        """The digest of the digests of the shards."""
        digests = sorted(shard.model.digest for shard in self.each)
        return blake2b("".join(digests).encode(), digest_size=32).hexdigest()


def in_order(numbers: Iterable[Any]) -> Any:
    """The sum, one number after the other: the result of `sum` for floats depends on the version of Python."""
    return reduce(add, numbers, 0)


def read_models(paths: tuple[str, ...], missing: int, threads: int) -> tuple[list[ShardModel], list[str]]:
    """The models, in the order given, and the names of those that do not exist.

    missing: how many may be missing. NoInputError, DataError.
    """
    found, lost = [], []
    with ThreadPoolExecutor(threads) as pool:  # most of the time is for digests
        coming = [pool.submit(map_model, path, uncalibrated=True) for path in paths]
    for path, model in zip(paths, coming, strict=True):
        try:
            found.append(ShardModel(path, model.result()))
        except NoInputError as e:
            if not isinstance(e.__cause__, FileNotFoundError):
                raise
            lost.append(path)
            if len(lost) > missing:
                raise NoInputError(f"{e}; --allow-missing {len(lost)} continues without it") from e
    if not found:
        raise NoInputError("no shard exists: nothing to merge")
    return found, lost


def checked_shards(
    found: list[ShardModel], lost: list[str], start: str | None, loss: str | None, *, by_rows: bool = False
) -> Shards:
    """The shards, from models that `read_models` has read. loss: of models of Vowpal Wabbit. by_rows: the rows that are
    kept beside them are merged, so what they have found in their rows may differ.

    NoInputError, DataError, UsageError: the message names the file, and what to do.
    """
    base = ShardModel(start, map_model(start, uncalibrated=True)) if start is not None else None
    _check_each(found, by_rows)
    _check_alike(found, base, FOUND if by_rows else ())
    settings = _settings(found, loss)
    # Sums must not depend on the order of the command line; messages keep that order.
    given, found = found, sorted(found, key=lambda shard: shard.model.digest)
    classes = _classes(settings, found, base)
    for shard in [*found, *([base] if base else [])]:
        shard.model = learned(shard.model)
        shard.columns = _columns(shard.model, classes)
    algorithm = algorithm_of(settings.algorithm)
    _check_counted_once(given, base, None if by_rows else algorithm.merging.evidence)
    shards = Shards(settings, algorithm, base, found, lost, classes)
    _check_states(shards)
    return shards


def _settings(found: list[ShardModel], loss: str | None) -> Settings:
    first = found[0]
    settings = first.model.settings
    if settings.loss and loss not in (None, settings.loss):
        raise UsageError(f"--loss {loss} contradicts {first.path}, which was trained with {settings.loss}: leave it "
                         "out")
    if not settings.loss and loss is None:
        raise UsageError(without_loss(first.path))
    return settings if settings.loss else replace(settings, loss=loss or "")


def _check_each(found: list[ShardModel], by_rows: bool) -> None:
    """DataError for a shard that cannot be merged with any other."""
    for shard in found:
        model, path = shard.model, shard.path
        if not by_rows:
            model.settings.outputs.check_one("vwlite merge", path)
            model.settings.outputs.transform.refuse("vwlite merge", path)
        if refusal := algorithm_of(model.algorithm).merging.refusal:
            raise DataError(f"{path}: models of {model.algorithm} cannot be merged: {refusal}")
        if model.merged:
            raise DataError(f"{path}: is already a merge of {model.merged['shards']} shards, and merges cannot be "
                            "merged again: name the shards, or give it as --start of the next round")
        if model.interrupted:
            raise DataError(f"{path}: its training was interrupted: `vwlite train -i {path}` continues with the rest "
                            "of the data, or train it again")
        if model.counters.get("examples", 0) == 0 and model.program.startswith("vwlite"):
            raise DataError(f"{path}: has learned nothing: leave it out")


def _check_alike(found: list[ShardModel], start: ShardModel | None, differing: Collection[str]) -> None:
    """DataError for shards that cannot have learned parts of the same data with the same options. differing: settings
    that may differ."""
    first = found[0]
    for shard in found[1:]:
        if shard.model.program != first.model.program:
            raise DataError(f"{shard.path}: trained by {brief(shard.model.program)}, but {first.path} by "
                            f"{brief(first.model.program)}: train all shards with one version")
        _compare(shard, first, tuple(f.name for f in fields(Settings) if f.name not in differing))
        if shard.model.weights_only != first.model.weights_only:
            bare, whole = (shard, first) if shard.model.weights_only else (first, shard)
            raise DataError(f"{bare.path}: saved with --save-weights-only, but {whole.path} was not: save all shards "
                            "alike")
        if set(shard.model.state) != set(first.model.state):
            raise DataError(f"{shard.path}: not a valid model: the state is not that of {first.path}")
        _compare_columns(shard, first)
    if start is not None:
        if start.model.columns and not differing:
            _compare_columns(first, start)
        solved = start.model.algorithm == SOLVED.name  # any algorithm of weights can begin from it
        names = KEPT if solved else tuple(
            f.name for f in fields(Settings) if f.name not in CHANGEABLE and f.name not in differing)
        _compare(first, start, names)
        if start.model.weights_only and not solved and not first.model.weights_only:
            raise DataError(f"{start.path}: saved with --save-weights-only: no shard can start from it")


def _compare(one: ShardModel, other: ShardModel, names: tuple[str, ...]) -> None:
    a, b = one.model.settings, other.model.settings
    for name in names:
        x, y = getattr(a, name), getattr(b, name)
        if x != y and name == "derived":
            which = "other features" if x and y else "features" if x else "no features"
            raise DataError(f"{one.path}: derives {which} from its columns, unlike {other.path}: models to merge have "
                            "the same ones if `vwlite train -i` trains all from one, which is named with --start, and "
                            "need not if all rows are kept beside them (--keep-rows)")
        if x != y:
            raise DataError(f"{one.path}: trained with {option_name(name)} {_shown(x)}, but {other.path} with "
                            f"{_shown(y)}: only models of the same options can be merged")


def _compare_columns(one: ShardModel, other: ShardModel) -> None:
    """DataError for tables with different columns. The order of columns with names does not matter."""
    a, b = one.model.columns, other.model.columns
    if not a or not b:
        if a or b:
            table, text = (one, other) if a else (other, one)
            raise DataError(f"{table.path}: trained on a table, but {text.path} on text without columns: train all "
                            "shards on files of one kind")
        return
    mine, its = dict(a["roles"]), dict(b["roles"])
    for name in [*mine, *(name for name in its if name not in mine)]:
        if mine.get(name) != its.get(name):
            x, y = (f"is {roles[name]}" if name in roles else "is missing" for roles in (mine, its))
            raise DataError(f"{one.path}: its column {brief(repr(name))} {x}, and {y} in {other.path}: give all "
                            "shards the same column roles, as in `vwlite help tables`")
    kinds = {"roles": "order of columns", "open": "kind of table", "words": "way of cutting texts into words",
             "names": "way of reading words and labels", "absents": "way of reading absent cells",
             "unspaced": "way of cutting texts into words"}
    for name in {**kinds, **a, **b}:
        if (name != "roles" or not a["header"]) and a.get(name) != b.get(name):
            what = kinds.get(name, f"--{name}")
            raise DataError(f"{one.path}: trained with another {what} than {other.path}: only models of the same "
                            "columns can be merged")


def _shown(value: Any) -> str:
    text = ",".join(f"{x:g}" if isinstance(x, float) else str(x) for x in value) if isinstance(value, tuple) else value
    return brief("none" if text in (None, "") else text)


def _check_states(shards: Shards) -> None:
    """DataError for a state of another algorithm."""
    name, fields_of_slot = shards.algorithm.name, state_codes(shards.rule)
    names = set(shards.rule.scalars()) - SINCE_THEN
    for shard in shards.all:
        model = shard.model
        if model.weights_only or model.algorithm != name:
            continue
        if {name: array.format for name, array in model.state.items()} != fields_of_slot or names - set(model.rule):
            raise DataError(f"{shard.path}: not a valid model: the state is not that of {name}")


def _check_counted_once(found: list[ShardModel], start: ShardModel | None, kind: Evidence | None) -> None:
    """DataError if data of the start, or of a shard, would count twice."""
    seen: dict[str, ShardModel] = {}
    for shard in found:
        other = seen.setdefault(shard.model.digest, shard)
        if other is not shard:
            raise DataError(f"{shard.path} and {other.path} are the same model: what it has learned would count twice; "
                            "name it once")
    resumed_by: dict[str, ShardModel] = {}
    for shard in found:
        resumed = shard.model.resumed
        if resumed in resumed_by and (start is None or resumed != start.model.digest):
            raise DataError(f"{resumed_by[resumed].path} and {shard.path} continue the same interrupted model, and "
                            "its data would count twice: name it with --start")
        if resumed:
            resumed_by[resumed] = shard
    for shard in found:
        base, ours = shard.model.base, shard.model.program.startswith("vwlite")
        if start is None and base:
            parent = next((o for o in found if o.model.digest == base), None)
            why = f"continues {parent.path}, and its data would count twice: name only one of them" if parent else (
                "continues another model, which would count once for every shard: name that with --start")
            raise DataError(f"{shard.path}: {why}")
        if start is not None:
            _check_beginning(shard, start, kind, ours)


def _check_beginning(shard: ShardModel, start: ShardModel, kind: Evidence | None, ours: bool) -> None:
    """DataError for a shard that did not begin from the start, as far as the models show it. ours: it is no model of
    Vowpal Wabbit: these count no examples and do not store their start."""
    model, before = shard.model, start.model
    says = _says_it_began_from(shard, start)
    if ours and not says and model.base != before.base:
        what = "another model" if model.base else "nothing"
        raise DataError(f"{shard.path}: trained from {what}, not from {start.path}: {_make_a_shard(start)}")
    fewer = [name for name, count in before.counters.items() if model.counters.get(name, 0) < count]
    less = _known_less(shard, start, kind) if not says else 0
    if (ours and fewer) or less:
        some = f"examples of {less} of its {len(before.keys)} features" if less else fewer[0]
        why = f"it has seen fewer {some}: {_make_a_shard(start)}"
        raise DataError(f"{shard.path}: did not start from {start.path}, as {why}")
    if ours and model.counters.get("examples") == before.counters.get("examples"):
        elsewhere = "" if says else ", or started elsewhere"
        raise DataError(f"{shard.path}: has learned nothing since {start.path}{elsewhere}: leave it out")


def _says_it_began_from(shard: ShardModel, start: ShardModel) -> bool:
    """Whether a shard stores the digest of the start. It does not if it has overwritten a copy of the start."""
    return start.model.digest in (shard.model.base, shard.model.resumed)


def _make_a_shard(start: ShardModel) -> str:
    command = "train" if start.model.program.startswith("vwlite") else "vw"
    return f"vwlite {command} -i {start.path} trains a shard from that start"


def _known_less(shard: ShardModel, start: ShardModel, kind: Evidence | None) -> int:
    """The number of features with less evidence in a shard than in the start. Evidence only grows, so it is 0 if the
    shard began there."""
    if kind is None or not len(start.model.keys) or any(kind.field not in of.model.state for of in (start, shard)):
        return 0
    at_start, now = (_evidence(of.rows(of.model.state[kind.field]), kind.kind) for of in (start, shard))
    keys, mine = (np.asarray(copied(of.model.keys)) for of in (start, shard))
    there = np.isin(keys, mine, assume_unique=True)
    now = now[np.searchsorted(mine, keys[there])]
    return int(np.count_nonzero(~there) + np.count_nonzero(np.any(now < at_start[there] * (1 - ROUNDING), axis=1)))


def _evidence(numbers: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """S from the numbers in a model, as in formulas.pxd."""
    if kind == "root":
        return numbers * numbers
    return 1 / np.maximum(numbers, 1e-100) if kind == "variance" else numbers


def _classes(settings: Settings, found: list[ShardModel], start: ShardModel | None) -> list[str]:
    """The names that --classes auto has found: those of the start, then all others sorted by name."""
    known = list(start.model.classes) if start is not None else []
    known += sorted({name for shard in found for name in shard.model.classes} - set(known))
    if len(known) > settings.outputs.records:
        raise DataError(f"together the shards have {len(known)} classes, and --oaa allows {settings.oaa}: train them "
                        "with a larger --oaa")
    return known


def _columns(model: Model, classes: list[str]) -> list[int]:
    """For each class, its column in the arrays of a model. A class that the model does not know has one of the columns
    without a name, which are all equal."""
    places = {name: at for at, name in enumerate(model.classes)}
    unnamed = iter(range(len(model.classes), model.records))
    return [places[name] if name in places else next(unnamed) for name in classes] + list(unnamed)
