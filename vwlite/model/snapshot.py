"""Create a learner from settings or a model, and a model from a learner."""

import struct
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite import __version__
from vwlite.algorithms.build import make_learner, make_loss, make_rule, rule_class
from vwlite.algorithms.table import ALGORITHMS, SOLVED, Algorithm, algorithm_of
from vwlite.core.base.arrays import narrowed, shifted
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.frozen import Frozen
from vwlite.errors import DataError, UsageError
from vwlite.model.feature_names import NONE, FeatureNames
from vwlite.model.header import COUNTERS, MOST_PASSES
from vwlite.model.slots import CODES, Array, array_of, copied, field_of
from vwlite.options.resolve import Resolved
from vwlite.options.settings import Settings
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore
    from vwlite.model.file import Model


@record(frozen=True)
class Provenance:
    """What a run of training began from: digests of models, and features seen, as a header has them."""

    base: str = ""
    resumed: str = ""
    seen: int = 0  # as of a Model

    @staticmethod
    def of(model: "Model", *, in_place: bool) -> "Provenance":
        """Of a run that continues a model. in_place: the new model replaces the old one, so both are one
        run, and the model has the bytes of one; else several may begin from it. One that was interrupted has the
        beginning that it had."""
        if in_place:
            return Provenance(model.base, model.resumed, model.seen)
        if model.interrupted:
            return Provenance(model.base, model.resumed or model.digest, model.seen)
        return Provenance(model.digest, seen=model.seen)


FROM_NOTHING = Provenance()


def snapshot(
    learner: Learner,
    settings: Settings,
    before: dict[str, int],
    *,
    interrupted: bool = False,
    weights_only: bool = False,
    columns: dict[str, Any] | None = None,
    names: "NameStore | None" = None,
    provenance: Provenance = FROM_NOTHING,
    passes: Sequence[dict[str, float | None]] = (),
    continued: dict[str, Any] | None = None,
    typed: Sequence[str] = (),
) -> "Model":
    """The model as of now. before: the counters of the model that was continued, or zeros. columns: of tables, as
    `vwlite.input.schema.Schema.stored` gives them. names: the names of features found. provenance: which model
    was continued. passes: the losses of each; one alone says no more than the counters of the run. continued, typed:
    as a Model has them."""
    from vwlite.model.file import Model

    rule = learner.rule
    slots = rule.slots()
    marks = field_of(rule, slots, "mark")
    weights = array_of(bytearray(8 * len(marks)), "d")
    marks = marks[:: rule.records]
    rule.weights(slots, weights)
    state = {} if weights_only else {name: copied(field_of(rule, slots, name)) for name in state_codes(rule)}
    scalars = rule.scalars()
    if weights_only:  # a rule may give a weight to features that were never seen
        scalars = {name: x for name, x in scalars.items() if name == "unseen" and (any(x) if rule.records > 1 else x)}
    keys = shifted(copied(marks), 2**32 - 1)
    return Model(
        algorithm=settings.algorithm,
        loss=settings.loss,
        options=settings.stored(),
        counters={name: before.get(name, 0) + getattr(learner, name) for name in COUNTERS},
        rule={name: x for name, x in scalars.items() if not isinstance(x, memoryview)},
        more={name: x for name, x in scalars.items() if isinstance(x, memoryview)},
        range=(learner.min_label, learner.max_label) if rule.CLIPS else None,
        keys=keys,
        weights=weights,
        state=state,
        interrupted=interrupted,
        weights_only=weights_only,
        classes=learner.class_names.first(learner.named) if settings.classes == "auto" else [],
        base=provenance.base,
        resumed=provenance.resumed,
        seen=provenance.seen if provenance.seen > len(keys) else 0,  # a model of vwlite solve dropped some
        program=f"vwlite {__version__}",
        columns=columns or {},
        passes=[{"pass": n, **x} for n, x in enumerate(passes, 1)][-MOST_PASSES:] if len(passes) > 1 else [],
        continued=continued or {},
        typed=list(typed),
        names=NONE if names is None else FeatureNames.kept(names, keys, weights, settings.bits),
    )


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
    if model.weights_only:
        if options.get("learn", True):
            why = "saved with --save-weights-only"
            if "columns" in model.chosen:
                why += f", or learned by {model.algorithm} with --normalize center, which then has no state"
            raise DataError(f"{path}: {why}: it predicts, but cannot be continued")
        return _predictor(model, settings, path, options)
    # The state has more weights than the model, or its intercept with fewer digits.
    if (settings.nonzeros or model.chosen) and not options.get("learn", True):
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


def fresh_rule(settings: Settings) -> Rule:
    """The rule of one class, as it begins."""
    return make_rule(replace(settings, oaa=None, classes="", softmax=False), make_loss(settings), None)


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
    if model.calibration:
        points = (array("d", map(float, model.calibration[name])) for name in ("scores", "values"))
        learner.calibrate(model.calibration["slope"], *points)


def state_codes(rule: Rule) -> dict[str, str]:
    """The fields of a slot that are kept in the model, with the format of their memoryviews."""
    return {name: CODES[kind] for name, kind in rule.SLOT if name != "mark" and not name.startswith("_")}


def slots_of(rule: Rule, keys: Array, fields: dict[str, Array]) -> bytearray:
    """The slots of these keys, with these fields; the others are zero."""
    slots = bytearray(len(keys) * rule.records * rule.slot_size())
    marks = shifted(keys, 1)
    for k in range(rule.records):
        field_of(rule, slots, "mark")[k :: rule.records] = marks
    for name, numbers in fields.items():
        field_of(rule, slots, name)[:] = numbers
    return slots
