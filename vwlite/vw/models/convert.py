"""Models between Vowpal Wabbit's files and those of vwlite."""

from array import array
from dataclasses import replace
from math import isfinite
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.core.base.arrays import all_finite, is_ascending
from vwlite.errors import DataError
from vwlite.model.file import Model
from vwlite.model.header import brief, check_range, check_settings
from vwlite.model.slots import array_of, copied
from vwlite.vw.arguments import Arguments, letters, parse
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.models import binary as vw
from vwlite.vw.plan import model_fields
from vwlite.vw.text.parser import to_float

# Options that a model of Vowpal Wabbit may keep and that have a counterpart.
_KNOWN = (
    "quadratic", "cubic", "interactions", "keep", "ignore", "ignore_linear", "noconstant", "hash", "learning_rate",
    "power_t", "sgd", "adaptive", "normalized", "invariant", "link", "hash_seed", "random_seed",
    "bfgs", "conjugate_gradient", "l1_state", "l2_state",
)


def from_vw(path: str, data: bytes) -> Model:
    """A model of Vowpal Wabbit as one of vwlite. DataError if it is damaged or has unsupported options.

    A model of the default update is continued as `gd`; any other model predicts and cannot be continued. The file does
    not have its loss, so the model has none.
    """
    try:
        header, source = vw.read_head(path, data)
    except Critical as e:
        raise DataError(str(e)) from e
    try:
        a = parse(header.options.split())
    except (Critical, Refused) as e:
        raise DataError(f"{path}: a model of Vowpal Wabbit with unknown options: {brief(e)}") from e
    for name in a.values:
        if name not in _KNOWN or (name == "hash_seed" and a[name]):
            raise DataError(f"{path}: a model of Vowpal Wabbit with --{name}: use `vwlite vw -i`")
    if header.ngrams or header.skips:
        raise DataError(f"{path}: a model of Vowpal Wabbit with --ngram: use `vwlite vw -i`")
    fields = model_fields(a)
    try:
        found = vw.read_rest(header, source, len(fields))
    except Critical as e:
        raise DataError(str(e)) from e
    whole = found.state is not None and fields == ("w", "G", "N") and not _flags(a)
    settings = _settings(a, header, found)
    try:
        check_settings(settings)
    except ValueError as e:
        raise DataError(f"{path}: a model of Vowpal Wabbit that only `vwlite vw -i` can read: {e}") from e
    state = found.state or {}
    low, high = (state.get(name, getattr(header, name)) for name in ("min_label", "max_label"))
    try:
        check_range(low, high)
    except ValueError as e:
        raise DataError(f"{path}: not a valid model: {e}") from e
    if not is_ascending(found.slots):
        found = _in_order(found)
    columns = [found.floats[i :: found.width] for i in range(found.width)]
    gravity = a.get("l1_state", state.get("l1_state", 0.0))  # before 9.0 they are among the options
    contraction = a.get("l2_state", state.get("l2_state", 1.0))
    weights = array("d", (max(abs(w) - gravity, 0.0) * (contraction if w > 0 else -contraction) for w in columns[0]))
    options = settings.stored()
    return Model(
        algorithm="gd",
        loss=settings.loss,
        options={name: list(value) if isinstance(value, tuple) else value for name, value in options.items()},
        counters={"examples": 0, "unlabelled": 0, "features": 0},
        rule={
            "t": state["t"], "norm_sum": state["norm normalizer"], "weight_sum": state["total_weight"],
            "gravity": gravity, "contraction": contraction,
        } if whole else {},
        range=(low, high),
        keys=copied(memoryview(found.slots)),
        weights=array_of(weights.tobytes(), "d"),
        state={name: array_of(columns[i].tobytes(), "f") for i, name in enumerate(fields)} if whole else {},
        weights_only=not whole,
        program=f"Vowpal Wabbit {'.'.join(map(str, header.version))}",
    )


def _in_order(model: vw.VwModel) -> vw.VwModel:
    """The same with its slots by rising number; Vowpal Wabbit's `--sparse_weights` leaves them as they come."""
    width = model.width
    order = sorted(range(len(model.slots)), key=model.slots.__getitem__)
    floats = array("f")
    for i in order:
        floats.extend(model.floats[i * width : (i + 1) * width])
    return replace(model, slots=array("I", (model.slots[i] for i in order)), floats=floats)


def _flags(a: Arguments) -> bool:
    return any(a.flag(name) for name in ("sgd", "adaptive", "normalized", "invariant"))


def _settings(a: Arguments, header: vw.Header, found: vw.VwModel) -> Settings:
    patterns = [p for name in ("quadratic", "cubic", "interactions") for p in a.get(name, [])] + header.crossings

    def text(name: str) -> str:
        return letters(a.get(name, [])).decode("latin-1")

    return Settings(
        loss="", bits=header.bits, hash=a.get("hash", "strings"), constant=not a.flag("noconstant"),
        interactions=tuple(letters([p]).decode("latin-1") for p in patterns), keep=text("keep"), ignore=text("ignore"),
        ignore_linear=text("ignore_linear"), learning_rate=a.get("learning_rate", 0.5), power_t=a.get("power_t", 0.5),
        initial_t=(found.state or {}).get("initial_t", 0.0),
        link=a.get("link", "identity"),
    )


def to_vw(path: str, model: Model) -> bytes:
    """A model of vwlite as the bytes of a file of Vowpal Wabbit. DataError if that has no such models.

    A model of `gd` with all its state can be continued there; any other one predicts.
    """
    s = model.settings
    if s.hash not in ("strings", "all"):
        raise DataError(f"{path}: --hash {s.hash} is not supported by Vowpal Wabbit")
    if s.crosses:
        raise DataError(f"{path}: namespaces crossed by name (-q {s.crosses[0]}) are not supported by Vowpal Wabbit")
    if s.normalize != "none":
        raise DataError(f"{path}: values of --normalize {s.normalize} are not supported by Vowpal Wabbit")
    if model.records > 1:
        raise DataError(f"{path}: a model of classes cannot be exported: train it with `vwlite vw --oaa`")
    if model.rule.get("unseen"):
        raise DataError(
            f"{path}: a model of --algorithm {s.algorithm} cannot be exported: features that were never seen have a "
            "weight in it, and none in Vowpal Wabbit"
        )
    low, high = map(to_float, model.range or (-3.4028234663852886e38, 3.4028234663852886e38))
    whole = s.algorithm == "gd" and not model.weights_only and bool(model.rule) and {*"wGN"} <= model.state.keys()
    options = _options(s, whole)
    header = vw.Header(min_label=low, max_label=high, bits=s.bits, options=options)
    floats = array("f")
    state: dict[str, float] | None = None
    if whole:
        for w, G, N in zip(model.state["w"], model.state["G"], model.state["N"], strict=True):
            floats.extend((w, G, N))
        rule: dict[str, Any] = model.rule
        state = {name: 0.0 for name, _ in vw.STATE}
        state.update({
            "initial_t": s.initial_t, "norm normalizer": rule["norm_sum"], "t": s.initial_t + rule["t"],
            "dump_interval": 1.0, "min_label": low, "max_label": high, "total_weight": rule["weight_sum"],
            "l1_state": rule["gravity"], "l2_state": rule["contraction"],
        })
    else:
        floats.extend(to_float(w) for w in model.weights)
    if not (all_finite(memoryview(floats)) and isfinite(low) and isfinite(high)):
        raise DataError(f"{path}: cannot be exported: a weight or a label is too large for a float of Vowpal Wabbit")
    return vw.write_binary(vw.VwModel(header, state, 3 if whole else 1, model.keys, floats))


def _options(s: Settings, whole: bool) -> str:
    words = []
    if s.hash != "strings":
        words.append(f" --hash {s.hash}")
    words += [f" --interactions {pattern}" for pattern in s.interactions]
    if whole and s.learning_rate != 0.5:
        words.append(f" --learning_rate {to_float(s.learning_rate):.15g}")
    if s.link != "identity":
        words.append(f" --link {s.link}")
    if not s.constant:
        words.append(" --noconstant")
    if whole and s.power_t != 0.5:
        words.append(f" --power_t {to_float(s.power_t):.15g}")
    for name in ("ignore", "ignore_linear", "keep"):
        if value := getattr(s, name):
            words.append(f" --{name} {''.join(sorted(set(value)))}")
    return "".join(words)
