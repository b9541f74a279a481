"""Make a learner: of settings, of a model that is continued or applied, or of weights."""

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.settings import Resolved, Settings
from vwlite.algorithms.table import ALGORITHMS, SOLVED, Algorithm, algorithm_of
from vwlite.core.base.arrays import narrowed, shifted, spread
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn import losses
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Loss
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.frozen import Frozen
from vwlite.errors import DataError, UsageError
from vwlite.model.slots import CODES, Array, array_of

if TYPE_CHECKING:
    from vwlite.core.learn.rule import Rule
    from vwlite.core.text.feature_names import NameFinder, NameStore
    from vwlite.model.file import Model


def field_of(rule: "Rule", slots: bytes | bytearray, name: str) -> Array:
    """One field of all slots, as a strided view: from its offset in the first slot, in steps of one slot."""
    kind = dict(rule.SLOT)[name]
    size = int(kind[2:])
    return array_of(slots, CODES[kind])[place_of(rule, name) // size :: rule.slot_size() // size]


def place_of(rule: "Rule", name: str) -> int:
    """The offset of a field in a slot, in bytes."""
    at = 0
    for field, kind in rule.SLOT:
        at += -at % int(kind[2:])
        if field == name:
            return at
        at += int(kind[2:])
    raise KeyError(name)


def new_learner(settings: Settings, feature_weights: str | None, **options: Any) -> Learner:
    """A learner that has seen nothing. feature_weights: the file of them. options: as Learner takes them."""
    learner = make_learner(settings, **options)
    if feature_weights is not None:
        from vwlite.input.feature_weights import read_feature_weights

        learner.rule.set_weights(
            *read_feature_weights(feature_weights, bits=settings.bits, hash_all=settings.hash == "all")
        )
    return learner


def resume(model: "Model", resolved: Resolved, path: str, **options: Any) -> Learner:
    """A learner that continues a model, with the settings that the command line changed."""
    settings = resolved.settings
    if model.algorithm == SOLVED.name:
        return _from_weights(model, settings, path, options)
    learner = restore(model, settings, path, **options)
    if settings.nonzeros and {"l1", "radius"} & set(resolved.changed):
        learner.rule.change_strength(getattr(settings, algorithm_of(settings.algorithm).strength))
    elif "radius" in resolved.changed:
        learner.rule.radius_changed()
    return learner


def restore(model: "Model", settings: Settings, path: str, **options: Any) -> Learner:
    """A learner that continues a model. options: those of Learner."""
    learner = _restore(model, settings, path, options)
    if not options.get("learn", True):
        learner.fold()
    return learner


def _restore(model: "Model", settings: Settings, path: str, options: dict[str, Any]) -> Learner:
    if model.absent and options.get("learn", True):
        from vwlite.model.absent import learned  # not at the top: only tables need it

        model = learned(model)
    if model.weights_only:
        if options.get("learn", True):
            why = "saved with --save-weights-only"
            if "columns" in model.chosen:
                why += f", or learned by {model.algorithm} with --normalize center, which then has no state"
            raise DataError(f"{path}: {why}: it predicts, but cannot be continued")
        return _predictor(model, settings, path, options)
    # The state has more weights than the model, its intercept with fewer digits, or not those of absent cells.
    if (settings.nonzeros or model.chosen or model.absent) and not options.get("learn", True):
        return _predictor(model, settings, path, options)
    learner = make_learner(settings, class_names=model.classes, **options)
    rule = learner.rule
    if {name: array.format for name, array in model.state.items()} != state_codes(rule):
        raise DataError(f"{path}: not a valid model: the state is not that of {settings.algorithm}")
    try:
        rule.load(model.rule | model.more, slots_of(rule, model.keys, model.state))
    except (KeyError, TypeError, ValueError, OverflowError) as e:
        raise DataError(f"{path}: not a valid model: the rule's state is not that of {settings.algorithm}: {e}") from e
    _set_range(learner, model)
    return learner


def _predictor(model: "Model", settings: Settings, path: str, options: dict[str, Any]) -> Learner:
    """A learner for weights without their state."""
    learner = make_learner(settings, kind=Frozen, class_names=model.classes, **options)
    rule = learner.rule
    fields = slots_of(rule, model.keys, {"w": model.weights})
    scalars = {"t": 0, "unseen": 0.0} | model.rule
    if rule.records > 1:
        scalars = {name: x if type(x) is list else [x] * rule.records for name, x in scalars.items()}
    try:
        rule.load(scalars, fields)
    except (TypeError, ValueError) as e:
        raise DataError(f"{path}: not a valid model: {e}") from e
    _set_range(learner, model)
    return learner


def _from_weights(model: "Model", settings: Settings, path: str, options: dict[str, Any]) -> Learner:
    """A learner that starts from these weights without other state. UsageError if its rule needs more."""
    if not _begins_from_weights(algorithm_of(settings.algorithm)) or settings.average or settings.nonzeros:
        more = " with --average" if settings.average else " with --nonzeros" if settings.nonzeros else ""
        able = ", ".join(a.name for a in ALGORITHMS.values() if _begins_from_weights(a) and settings.loss in a.losses)
        raise UsageError(
            f"{path}: --algorithm {settings.algorithm}{more} cannot start from weights alone, as its weights "
            f"depend on more: use {able}"
        )
    if model.absent:
        from vwlite.model.absent import learned

        model = learned(model)
    learner = make_learner(settings, class_names=model.classes, **options)
    rule = learner.rule
    alone, fields = fresh_rule(settings), {}
    for name, code in state_codes(rule).items():
        # What a slot has of a number of the rule is what that was when it was touched last.
        value = alone.scalars().get(name, blank_of(alone, name))
        fields[name] = array_of(struct.pack(code, value) * len(model.weights), code)
    fields["w"] = narrowed(model.weights) if fields["w"].format == "f" else model.weights
    rule.load(rule.scalars(), slots_of(rule, model.keys, fields))
    return learner


def fresh_rule(settings: Settings, constant_key: int | None = None) -> Rule:
    """The rule of one class or quantile, as it begins."""
    return _make_one(settings, make_loss(settings), constant_key)


def blank_of(rule: Rule, name: str) -> Any:
    """A field of a new slot; 0 if the field does not exist."""
    blank = rule.blank() or bytes(rule.slot_size())
    return field_of(rule, blank, name)[0] if name in state_codes(rule) else 0.0


def _begins_from_weights(algorithm: Algorithm) -> bool:
    """Whether the slot of a feature has its weight as it is."""
    return any(name == "w" for name, _ in rule_class(algorithm.rule).SLOT)


def _set_range(learner: Learner, model: "Model") -> None:
    if model.range is not None:
        learner.min_label, learner.max_label = model.range
    learner.clips = model.range is not None
    learner.offset = model.calibration.get("offset", 0.0)
    if "slope" in model.calibration:
        points = (array("d", map(float, model.calibration[name])) for name in ("scores", "values"))
        learner.calibrate(model.calibration["slope"], *points)


def state_codes(rule: Rule) -> dict[str, str]:
    """The fields of a slot that are kept in the model, with the format of their memoryviews."""
    return {name: CODES[kind] for name, kind in rule.SLOT if name != "mark" and not name.startswith("_")}


def slots_of(rule: Rule, keys: Array, fields: dict[str, Array]) -> bytearray:
    """The slots of these keys, with these fields; the others are zero."""
    size = rule.slot_size()
    slots = bytearray(len(keys) * rule.records * size)
    marks = shifted(keys, 1)
    for k in range(rule.records):
        spread(slots, place_of(rule, "mark") + k * size, rule.records * size, marks)
    for name, numbers in fields.items():
        spread(slots, place_of(rule, name), rule.slot_size(), numbers)
    return slots


# Where the radius begins that --nonzeros finds, if --radius does not say it.
FIRST_RADIUS = 1.0


def make_losses(settings: Settings) -> list[Loss]:
    """That of each quantile."""
    return [make_loss(replace(settings, quantile_tau=tau)) for tau in settings.outputs.taus]


def make_loss(settings: Settings) -> Loss:
    """Of several quantiles, the mean loss of one prediction for all: it is that of their mean."""
    row = loss_function(settings.loss)
    kind = cast(type[Loss], getattr(losses, row.kind))
    given = settings.outputs.one_tau if row.option == "quantile_tau" else getattr(settings, row.option or "loss")
    loss = kind(given) if row.option else kind()
    loss.of_log = bool(settings.outputs.transform.name)
    return loss


def make_expander(settings: Settings, normalizer: Normalizer | None = None) -> Expander:
    """normalizer: in place of that of the settings."""
    if normalizer is None and settings.normalize != "none":
        normalizer = Normalizer(settings.normalize)
    return Expander(
        named=[[hash for _, hash in crossed(settings, cross)] for cross in settings.crosses],
        bits=settings.bits,
        constant=settings.constant,
        keep=settings.keep.encode("latin-1"),
        ignore=settings.ignore.encode("latin-1"),
        ignore_linear=settings.ignore_linear.encode("latin-1"),
        interactions=[pattern.encode("latin-1") for pattern in settings.interactions],
        normalizer=normalizer,
        derivation=settings.derived.derivation(settings.hash == "all") if settings.derived is not None else None,
    )


def make_finder(settings: Settings, store: "NameStore", wanted: Iterable[int] | None = None) -> "NameFinder":
    """A finder of names of features for a model of these settings. wanted: only of these keys."""
    hash_all = settings.hash == "all"
    from vwlite.core.text.feature_names import NameFinder  # not at the top: few models have names

    return NameFinder(store, make_expander(settings), hash_all=hash_all, wanted=wanted, bits=settings.bits)


def crossed(settings: Settings, cross: str) -> list[tuple[str, int]]:
    """The namespaces that are crossed by name, each with its hash."""
    from vwlite.hashing import namespace_hash
    from vwlite.names import namespace_of

    names = [namespace_of(name) for name in cross.split(",")]
    return [(n, namespace_hash(n.encode("utf-8", "surrogateescape"), settings.hash == "all")) for n in names]


def make_rule(settings: Settings, loss: Loss, constant_key: int | None, kind: type[Rule] | None = None) -> Rule:
    """The rule of the algorithm; or, with classes or quantiles, one for each together. kind: instead of that."""

    def one(loss: Loss = loss) -> Rule:
        return kind(loss, constant_key=constant_key) if kind else _make_one(settings, loss, constant_key)

    return settings.outputs.rule(one, make_losses(settings))


def _make_one(settings: Settings, loss: Loss, constant_key: int | None) -> Rule:
    algorithm = algorithm_of(settings.algorithm)
    given = {name: getattr(settings, name) for name in algorithm.options}
    options = {name: value for name, value in given.items() if value is not None and name not in algorithm.forms}
    kind = algorithm.rule
    for name, form in algorithm.forms.items():
        if given[name]:
            kind = form
            if given[name] is not True:
                options[name] = given[name]
    if "nonzeros" in options and "radius" in algorithm.required:
        options.setdefault("radius", FIRST_RADIUS)
    if algorithm.all_keys:
        options.setdefault("features", (1 << settings.bits) - settings.constant)
    return rule_class(kind)(
        loss,
        rate=settings.learning_rate,
        power_t=settings.power_t,
        initial_t=settings.initial_t,
        constant_key=constant_key,
        **options,
    )


def make_learner(
    settings: Settings, kind: type[Rule] | None = None, class_names: Sequence[str] = (), **options: Any
) -> Learner:
    """A learner that has seen nothing.

    options: as Learner takes them. kind: instead of the algorithm's. class_names: those that
    a model has found.
    """
    loss, expander = make_loss(settings), make_expander(settings)
    rule = make_rule(settings, loss, expander.constant_key, kind)
    names = settings.outputs.class_names(class_names, grows=options.get("learn", True))
    learner = Learner(rule, loss, expander, link=settings.link, class_names=names, **options)
    learner.min_label, learner.max_label = loss_function(settings.loss).first_range
    return learner
