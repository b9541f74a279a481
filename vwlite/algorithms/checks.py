"""Which settings go together, and what is refused."""

from itertools import combinations
from typing import Any

from vwlite.algorithms.losses import LINKS, LOSS_OPTIONS, TRANSFORMED, loss_function
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS, AUTO, MOST_STACKED, SCHEDULE, SOLVED, Algorithm, algorithm_of
from vwlite.errors import UsageError
from vwlite.names import names_in
from vwlite.options.spec import check_rows, option_name


def usual_link(settings: Settings) -> str:
    """The link of a new model: probabilities of the logistic loss, means of losses of their logarithm."""
    if settings.of_log:
        return "expm1"
    links = loss_function(settings.loss).links
    return links[0] if links and settings.oaa is None else "identity"


def refused(algorithm: Algorithm) -> dict[str, str]:
    """Options of other algorithms that this one has no use for, and why or what to use instead."""
    found = {}
    for name in sorted({name for a in ALGORITHMS.values() for name in a.options} - set(algorithm.options)):
        users = ", ".join(a.name for a in ALGORITHMS.values() if name in a.options)
        found[name] = algorithm.instead.get(name, f"it is an option of {users}")
    for name in SCHEDULE:
        if name in algorithm.instead:
            found[name] = algorithm.instead[name]
        elif name not in algorithm.schedule:
            found[name] = f"use {option_name(algorithm.rate)}" if algorithm.rate else "its steps need only the loss"
    return found


def check_together(settings: Settings, typed: dict[str, Any]) -> None:
    """UsageError if these were not taken together. typed: those settings that somebody chose."""
    _check_transform(settings)
    _check_classes(settings)
    for name in ("oaa", "labels", "nonzeros"):
        if getattr(settings, name) is not None:
            check_one_output(settings, option_name(name))
    _check_algorithm(settings, typed)
    check_link(settings)


def _check_algorithm(settings: Settings, typed: dict[str, Any]) -> None:
    """Options that the algorithm or the loss has no use for."""
    algorithm = algorithm_of(settings.algorithm)
    for name, why in refused(algorithm).items():
        if name in typed:
            raise UsageError(f"{option_name(name)} has no effect with --algorithm {settings.algorithm}: {why}")
    pairs = {pair: "leave one of them out" for pair in combinations(algorithm.forms, 2)
             if algorithm.forms[pair[0]] != algorithm.forms[pair[1]]}
    for (one, other), why in (pairs | algorithm.incompatible).items():
        if getattr(settings, one) and getattr(settings, other):
            raise UsageError(f"{option_name(one)} and {option_name(other)} cannot be used together: {why}")
    if settings.algorithm == AUTO.name and settings.oaa is not None:
        if settings.softmax:
            raise UsageError("--algorithm auto has the softmax as its probabilities without --softmax: leave it out")
        if settings.loss != "logistic":
            raise UsageError(f"--algorithm auto cannot learn classes from --loss {settings.loss}: use --loss logistic")
        if settings.oaa > MOST_STACKED:
            raise UsageError(f"--algorithm auto is for at most {MOST_STACKED:,} classes: use --algorithm gd")
    if settings.loss and settings.loss not in algorithm.losses:
        losses = " or ".join(f"--loss {loss}" for loss in algorithm.losses)
        raise UsageError(f"--algorithm {settings.algorithm} cannot learn from --loss {settings.loss}: use {losses}")
    for name in algorithm.required:
        if getattr(settings, name) is None and not (name == "radius" and settings.nonzeros):
            raise UsageError(f"--algorithm {settings.algorithm} needs {option_name(name)}")
    for name, loss in LOSS_OPTIONS.items():
        if name in typed and settings.loss != loss:
            raise UsageError(f"{option_name(name)} has no effect with --loss {settings.loss}: add --loss {loss}")
    if "labels" in typed and settings.label_domain in ("nonnegative", "positive"):
        raise UsageError(f"--labels maps labels to -1 and 1, which --loss {settings.loss} cannot use")
    if settings.normalize == "center" and not settings.constant:
        raise UsageError("--normalize center and --no-constant cannot be used together: the means go into the "
                         "intercept")
    check_rows(settings)


def check_link(settings: Settings) -> None:
    """A link that makes no sense of the loss."""
    losses = LINKS[settings.link]
    if settings.link == "expm1" and not settings.of_log:
        raise UsageError("--link expm1 is for scores of --label-transform log1p: leave it out")
    if settings.loss and settings.loss not in losses:
        raise UsageError(
            f"--link {settings.link} cannot be applied to the scores of --loss {settings.loss}, only of --loss "
            f"{' or '.join(losses)}: use --link identity"
        )


def _check_transform(settings: Settings) -> None:
    """What cannot learn logarithms of labels."""
    if not settings.of_log:
        return
    option = f"--label-transform {settings.label_transform}"
    for name in ("oaa", "labels"):
        if getattr(settings, name) is not None:
            raise UsageError(f"{option} is for labels that are amounts, and {option_name(name)} says that they are "
                             "classes: leave one of them out")
    if settings.algorithm == SOLVED.name:
        check_untransformed(settings, "vwlite solve")
    if settings.loss not in TRANSFORMED:
        binary = loss_function(settings.loss).labels == "binary"
        why = f"predicts {'one of two labels' if binary else 'the logarithm of the mean already'}"
        instead = "--loss squared" if binary else f"--loss {settings.loss} alone"
        raise UsageError(f"{option} cannot be used with --loss {settings.loss}, which {why}: use {instead}")


def check_untransformed(settings: Settings, what: str, model: str | None = None) -> None:
    """UsageError for logarithms of labels. what: does not know them. model: the path of what has them."""
    if settings.of_log:
        has = f", which {model} has" if model else ""
        raise UsageError(f"{what} does not know --label-transform {settings.label_transform}{has}: use --loss gamma or "
                         "poisson, or labels whose logarithms the data have")


def check_one_output(settings: Settings, what: str, model: str | None = None) -> None:
    """UsageError for several quantiles. what: it is for one prediction. model: the path of what predicts them."""
    if settings.taus:
        who = f"{model} predicts" if model else f"--quantile-tau {','.join(settings.tau_names)} asks for"
        raise UsageError(f"{what} is for one prediction, and {who} {len(settings.taus)} quantiles: train a model of "
                         "one, such as --quantile-tau 0.5")


def _check_classes(settings: Settings) -> None:
    """Options of classes that contradict each other, or the algorithm."""
    count, names = settings.oaa, settings.classes
    if settings.softmax_probabilities and (count is None or settings.softmax or settings.loss != "logistic"):
        raise UsageError("the softmax of scores is for one against all with --loss logistic")  # only in a header
    if count is None:
        if names == "auto":
            raise UsageError("--classes auto needs --oaa K, the largest number of classes that there may be")
        if names:  # the command line counts them; a header may not
            raise UsageError(f"--classes names {len(names.split(','))} classes, but --oaa is missing")
        if settings.softmax:
            raise UsageError("--softmax needs the classes: add --oaa K for labels from 1 to K, or --classes")
        return
    if names not in ("", "auto") and len(names_in(names)) != count:
        raise UsageError(f"--oaa {count} contradicts --classes, which names {len(names.split(','))}: leave --oaa out")
    option = "--softmax" if settings.softmax else "--oaa"
    if settings.nonzeros:
        strength = option_name(algorithm_of(settings.algorithm).strength)
        raise UsageError(
            f"--nonzeros counts the weights of one score, but {option} has one for each class: use {strength}"
        )
    if settings.labels is not None:
        raise UsageError(f"--labels maps labels to -1 and 1, but with {option} they are classes: use --classes")
    if settings.link != "identity":
        raise UsageError(f"--link {settings.link} is for one score, but {option} has one for each class: leave it out; "
                         "vwlite predict --probabilities prints probabilities")
    if settings.softmax:
        if settings.loss != "logistic":
            raise UsageError(f"--softmax has its own loss: leave --loss {settings.loss} out")
        if algorithm_of(settings.algorithm).needs_loss:
            raise UsageError(
                f"--algorithm {settings.algorithm} cannot learn from --softmax, as its steps need the loss of one "
                "score: use l1-ball, sgd, adagrad or ftrl"
            )
    elif settings.label_domain in ("nonnegative", "positive"):
        raise UsageError(
            f"--oaa learns from labels of 1 and -1, which --loss {settings.loss} cannot use: use --loss logistic"
        )
