"""Create objects from settings: the class of each name."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.table import algorithm_of
from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn import losses
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Loss
from vwlite.core.learn.multiclass import OneAgainstAll, Softmax
from vwlite.core.learn.rule import Rule
from vwlite.names import names_in
from vwlite.options.settings import Settings

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameFinder, NameStore

# Where the radius begins that --nonzeros finds, if --radius does not say it.
FIRST_RADIUS = 1.0


def rule_class(name: str) -> type[Rule]:
    """The class of a rule that the table of algorithms names as MODULE:CLASS. Imported here: starting takes less."""
    module, _, kind = name.partition(":")
    return cast(type[Rule], getattr(import_module(f"vwlite.core.rules.{module}"), kind))


def make_loss(settings: Settings) -> Loss:
    row = loss_function(settings.loss)
    kind = cast(type[Loss], getattr(losses, row.kind))
    return kind(*([getattr(settings, row.option)] if row.option else []))


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
    )


def make_finder(settings: Settings, store: "NameStore", wanted: Iterable[int] | None = None) -> "NameFinder":
    """A finder of names of features for a model of these settings. wanted: only of these keys."""
    hash_all = settings.hash == "all"
    from vwlite.core.text.feature_names import NameFinder  # not at the top: few models have names

    return NameFinder(store, make_expander(settings), hash_all=hash_all, wanted=wanted, bits=settings.bits)


def crossed(settings: Settings, cross: str) -> list[tuple[str, int]]:
    """The namespaces that are crossed by name, each with its hash."""
    from vwlite.hashing import namespace_hash  # not at the top: few models cross by name
    from vwlite.input.schema import namespace_of

    names = [namespace_of(name) for name in cross.split(",")]
    return [(n, namespace_hash(n.encode("utf-8", "surrogateescape"), settings.hash == "all")) for n in names]


def make_names(settings: Settings, known: Sequence[str] = (), *, grows: bool = True) -> ClassNames:
    """The names of the classes. known: those that a model has found. grows: whether --classes auto may find more."""
    assert settings.oaa is not None
    if not settings.classes:
        return ClassNames(settings.oaa, numbers=True)
    names = known if settings.classes == "auto" else names_in(settings.classes)
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    return ClassNames(settings.oaa, encoded, grows=grows and settings.classes == "auto")


def make_rule(settings: Settings, loss: Loss, constant_key: int | None, kind: type[Rule] | None = None) -> Rule:
    """The rule of the algorithm; or, with classes, one for each of them together. kind: instead of that."""

    def one() -> Rule:
        return kind(loss, constant_key=constant_key) if kind else _make_one(settings, loss, constant_key)

    if settings.oaa is None:
        return one()
    rules = [one() for _ in range(settings.oaa)]
    if settings.softmax:
        return Softmax(rules)
    first_range = loss_function(settings.loss).first_range
    return OneAgainstAll(rules, first_range=first_range, softmax=settings.probable == "softmax")


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
    if settings.oaa is not None:
        options["class_names"] = make_names(settings, class_names, grows=options.get("learn", True))
    learner = Learner(rule, loss, expander, link=settings.link, **options)
    learner.min_label, learner.max_label = loss_function(settings.loss).first_range
    return learner
