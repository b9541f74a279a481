"""Notes at the end of a successful run whose data do not match the options or the model."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.algorithms.outputs import DOMAINS
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO, SOLVED, algorithm_of
from vwlite.core.data.interactions import WILDCARD
from vwlite.core.data.namespaces import Namespaces
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.tally import Tally
from vwlite.input.diagnostics import MOST_NAMES
from vwlite.model.learners import crossed, make_expander
from vwlite.options.spec import option_name
from vwlite.output.progress import format_number
from vwlite.output.text import label_text, printable
from vwlite.runs.baseline import baseline_of, is_worse

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore
    from vwlite.model import Model

ENOUGH = 100  # with fewer examples, the average loss is not reliable
HARDLY = 1.001  # times that of predicting 0: up to it, weights have hardly moved

Notes = tuple[dict[str, Any], list[str]]  # numbers for the report, and sentences about those that are worth one


def namespaces_of(settings: Settings) -> Namespaces:
    """What to look for in the data: the namespaces that options name."""
    letters = settings.keep + settings.ignore + settings.ignore_linear
    groups = [pattern.encode("latin-1") for pattern in settings.interactions]
    return Namespaces(letters.encode("latin-1"), [bytes(c for c in group if c != WILDCARD) for group in groups])


def about_options(settings: Settings, namespaces: Namespaces, unseen: Sequence[int] = ()) -> Notes:
    """Options that match nothing in the data. unseen: the hashes of namespaces that are crossed by name, and are not in
    it."""
    texts = [*_letters(settings, namespaces), *_interactions(settings, namespaces), *_crosses(settings, unseen)]
    return {"options_that_match_nothing": len(texts)}, texts


def _letters(settings: Settings, namespaces: Namespaces) -> Iterator[str]:
    unseen = namespaces.unseen_letters().decode("latin-1")
    for name in ("keep", "ignore", "ignore_linear"):
        for letter in getattr(settings, name):
            if letter in unseen:
                yield f"{option_name(name)} {letter}: no namespace of the data begins with '{letter}'"


def _interactions(settings: Settings, namespaces: Namespaces) -> Iterator[str]:
    unmet = namespaces.unmet_groups()
    for pattern, group in zip(settings.interactions, namespaces.groups, strict=True):
        option = {2: "-q", 3: "--cubic"}.get(len(pattern), "--interactions")
        crosses = f"{option} {pattern} crosses namespaces that begin with {', '.join(pattern[:-1])} and {pattern[-1]}"
        letters = group.decode("latin-1")
        gone = [c for c in letters if c in settings.ignore or (settings.keep and c not in settings.keep)]
        if gone:
            yield f"{crosses}, but {gone[0]} is left out by {'--ignore' if gone[0] in settings.ignore else '--keep'}"
        elif group in unmet:
            yield f"{crosses}: no example has them all"


def _crosses(settings: Settings, unseen: Sequence[int]) -> Iterator[str]:
    for cross in settings.crosses if unseen else ():
        missing = [name for name, hash in crossed(settings, cross) if hash in unseen]
        if missing:
            option = "--cubic" if cross.count(",") == 2 else "-q"
            yield f"{option} {cross} crosses namespaces by their names, and no example has one called {missing[0]}"


def about_labels(settings: Settings, learner: Learner, *, loss_typed: bool) -> Notes:
    """Labels that suggest another loss, or none, or are nearly the same. loss_typed: the loss was chosen, it is not the
    default."""
    names, alike = learner.class_names, list[str]()
    if found := _nearly_the_same(map(str, settings.labels or (names.first(len(names)) if names is not None else ()))):
        alike = [f"the labels {printable(' and '.join(found))} differ only by case or a comma: are they one?"]
    return together(_about_values(settings, learner, loss_typed=loss_typed), ({}, alike))


def _about_values(settings: Settings, learner: Learner, *, loss_typed: bool) -> Notes:
    tally = learner.progressive
    if learner.class_names is not None:
        only = tally.weight > 0 and tally.min_label == tally.max_label
        name = learner.class_names[int(tally.min_label) - 1] if only else ""
        return {}, [_one(f"is of class {name}")] if only and learner.examples > 1 else []
    count = {"distinct_labels": min(learner.distinct_labels, 3)}
    if learner.distinct_labels == 1 and learner.examples > 1:
        label = settings.outputs.label_of(learner.first_label)
        return count, [_one(f"has the label {printable(label) if isinstance(label, str) else format_number(label)}")]
    is_chosen = loss_typed or bool(settings.outputs.transform.name)
    if learner.distinct_labels == 2 and settings.loss == "squared" and not is_chosen:
        low, high = sorted([learner.first_label, learner.second_label])
        mapped = "" if (low, high) == (-1, 1) else f" --labels {low:g},{high:g}"
        one, other = (label_text(settings.outputs.label_of(label)) for label in (low, high))
        return count, [
            f"every label is {one} or {other}, and --loss squared predicts such a number; for two classes "
            f"use --loss logistic{mapped}"
        ]
    return count, []


def _nearly_the_same(labels: Iterable[str]) -> tuple[str, str] | None:
    """The first two labels that differ only by case or by commas around them."""
    found: dict[str, str] = {}
    for label in labels:
        before = found.setdefault(label.strip(",").casefold(), label)
        if before != label:
            return before, label
    return None


def about_unfit(settings: Settings, learner: Learner, unfit: Mapping[str, str], model: str) -> tuple[Notes, str]:
    """Labels that a model which predicts cannot use; and why nothing can be measured by the others, "" if it can.

    unfit: the first distinct of these labels, with their places. The labels have another coding than the model's if two
    or more occur and none fits, or if only one fits and the model has two. A single label may be a placeholder.
    """
    if not learner.unfit:
        return ({}, []), ""
    found = {"labels_that_the_model_does_not_have": learner.unfit}
    expects, tally = _expected(settings, learner), learner.progressive
    fits = [_known(settings, learner, tally.min_label)] if tally.weight else []
    several = tally.min_label != tally.max_label or (fits and not settings.outputs.is_binary)
    seen = [*(printable(f"{label} ({place})") for label, place in unfit.items()), *fits]
    if several or len(seen) < 2:
        labelled = learner.unfit + learner.examples - learner.unlabelled
        note = f"{learner.unfit} of {labelled} labels, such as {seen[0]}, are unknown to {model}"
        return (found, [f"{note}: it expects {expects}; they are not evaluated"]), ""
    more = ", ..." if len(seen) > 2 else ""
    wrong = f"the labels of the data, {' and '.join(seen[:2])}{more}, do not match {model}, which expects {expects}"
    return (found, [f"{wrong}: nothing is evaluated"]), wrong


def _known(settings: Settings, learner: Learner, label: float) -> str:
    return label_text(settings.outputs.shown_label(label, learner))


def _expected(settings: Settings, learner: Learner) -> str:
    """The labels that a model knows, as part of a sentence."""
    if learner.class_names is not None:
        names = learner.class_names.first(min(len(learner.class_names), MOST_NAMES))
        return ", ".join(map(printable, names)) + (", ..." if len(learner.class_names) > MOST_NAMES else "")
    if settings.labels is not None or settings.outputs.domain == "binary":
        words = "{} or {}".format(*(_known(settings, learner, y) for y in (-1, 1)))
        return words if settings.labels is None else f"{words}, as it was trained with --labels"
    return DOMAINS[settings.outputs.domain][0] if settings.outputs.domain in DOMAINS else "numbers"


def smaller_steps(settings: Settings) -> str:
    """What to do about learning that diverges, as part of a sentence."""
    rate = algorithm_of(settings.algorithm).rate
    smaller = f"try a smaller {option_name(rate)} (it is {getattr(settings, rate):g}), or " if rate else ""
    return f"{smaller}scale the features"


def about_loss(settings: Settings, learner: Learner, tally: Tally, *, is_new: bool) -> Notes:
    """A loss above that of the best constant prediction. tally: the one that the summary shows. is_new: no model is
    continued."""
    if tally.average is None or not settings.loss or learner.examples < ENOUGH:
        return {}, []
    baseline = baseline_of(settings, learner, tally)
    if baseline is None or not is_worse(tally.average, baseline.loss):
        return {}, []
    rate = algorithm_of(settings.algorithm).rate
    larger = f"a larger {option_name(rate)} (it is {getattr(settings, rate):g}), " if rate else ""
    more = f"the model has hardly learned anything: try {larger}more --passes, or less regularization"
    if is_new and settings.outputs.domain == "any" and settings.loss in AUTO.losses and settings.oaa is None:
        others = f"{larger}more --passes, or less regularization"
        more = f"the model has hardly learned anything: use --algorithm auto, which scales labels, or try {others}"
    return {}, [
        f"the average loss is {tally.average:.6g}, but that of the best constant prediction {baseline.loss:.6g}: "
        f"{smaller_steps(settings) if tally.average > HARDLY * baseline.at_zero else more}"
    ]


def _one(what: str) -> str:
    return f"every example {what}: learning needs two labels"


MORE_NAMES = "--names=N keeps N, and vwlite names finds only those of the model's weights"


def about_names(store: "NameStore", more: str = MORE_NAMES) -> Notes:
    """A note if the limit on names was reached. more: how to keep more names."""
    found = {"names_of_features_found": len(store)}
    full = [what for what, is_full in (("features", store.full), ("crosses", store.crosses_full)) if is_full]
    if not full:
        return found, []
    return found, [f"only the first {store.most:,} names of {' and of '.join(full)} are kept: {more}"]


class KnownFeatures(NamedTuple):
    """How many features of the training data a model has, without the constant."""

    features: int
    seen: int  # 0: not known
    dropped: bool  # there are fewer than were seen, on purpose

    @staticmethod
    def of(model: "Model") -> "KnownFeatures":
        constant_key = make_expander(model.settings).constant_key
        at = bisect_left(model.keys, constant_key) if constant_key is not None else 0
        features = len(model.keys) - (constant_key is not None and model.keys[at : at + 1].tolist() == [constant_key])
        if model.absent:
            from vwlite.model.absent import unlearned  # not at the top: only tables need it

            features -= len(unlearned(model))
        unknown = model.algorithm == SOLVED.name and not model.seen
        return KnownFeatures(features, model.seen, model.seen > features or unknown)


def about_features(settings: Settings, learner: Learner, model: str, kept: KnownFeatures) -> Notes:
    """A note if most features of the data are unknown to the model. A sparse model should know a feature of most
    examples. A model that dropped features may have kept only rare ones: it should know a feature of the data."""
    if not learner.looked_up:
        return {}, []
    share = learner.unknown / learner.looked_up
    found = {"share_of_unknown_features": round(share, 6), "examples_of_unknown_features": learner.unknown_examples}
    if not kept.features:  # an intercept alone: it knows no feature, also not of what it was trained on
        return found, []
    if kept.dropped:
        if share < 1:
            return found, []
        of = f", of {kept.seen:,} seen in training" if kept.seen else ""
        return found, [
            f"no example has any of the {kept.features:,} features that {model} has{of}: are names and namespaces "
            "the same as in training?"
        ]
    sparse = settings.l1 > 0 or settings.radius or settings.nonzeros or settings.threshold is not None
    if share <= 0.5 or (sparse and 2 * learner.unknown_examples <= learner.examples):
        return found, []
    return found, [
        f"{100 * share:.0f} % of the features of the data are unknown to {model}: are names and namespaces the same as "
        "in training?"
    ]


def together(*notes: Notes) -> Notes:
    return {k: v for found, _ in notes for k, v in found.items()}, [text for _, texts in notes for text in texts]
