"""The model of a learner as it is now, and what its training began from."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vwlite import __version__
from vwlite.algorithms.settings import Settings
from vwlite.core.base.arrays import shifted
from vwlite.core.learn.learner import Learner
from vwlite.model.feature_names import NONE, FeatureNames
from vwlite.model.header import COUNTERS, MOST_PASSES
from vwlite.model.learners import field_of, state_codes
from vwlite.model.slots import array_of, copied
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


def keeps_words(columns: dict[str, Any] | None) -> bool:
    """Whether a model of these columns has the names of all words that it knows: another one is absent."""
    columns = columns or {}
    roles = {role for _, role in columns.get("roles", ())}
    return bool(columns.get("absents")) and (bool({"categorical", "auto"} & roles) or bool(columns["open"]))


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
    calibration: dict[str, Any] | None = None,
) -> "Model":
    """The model as of now. before: the counters of the model that was continued, or zeros. columns: of tables, as
    `vwlite.input.schema.Schema.stored` gives them. names: the names of features found. provenance: which model
    was continued. passes: the losses of each; one alone says no more than the counters of the run. continued, typed,
    calibration: as a Model has them."""
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
        calibration=calibration or {},
        names=NONE if names is None else FeatureNames.kept(
            names, keys, memoryview(array("d", [1.0]) * len(weights)) if keeps_words(columns) else weights,
            settings.bits),
    )
