"""Resolve the options: compute the settings from the typed options and the model that is continued."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from vwlite.algorithms.checks import check_together, refused
from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.algorithms.settings import SPECS, Resolved, Settings
from vwlite.algorithms.table import AUTO, MOST_STACKED, SOLVED, algorithm_of
from vwlite.errors import UsageError
from vwlite.names import names_in
from vwlite.options.spec import option_name
from vwlite.options.types import Crossing

# Options that may differ from those of the model that is continued.
CHANGEABLE = ("learning_rate", "decay_learning_rate", "l1", "l2", "radius", "round_at_end", "link")
# Settings that define the meaning of the weights; a run that starts from them cannot change these.
KEPT = (
    "labels", "bits", "hash", "constant", "interactions", "crosses", "keep", "ignore", "ignore_linear", "normalize",
    "loss", "oaa", "classes", "softmax", "derived", "label_transform",
)
# Options of a run that --algorithm auto has no use for, and why.
NOT_AUTO = {
    **dict.fromkeys(
        ("holdout_period", "holdout_off", "early_terminate"),
        "each example is predicted by learners that have not learned it",
    ),
    "holdout_to": "use --algorithm gd to write lines that are held out",
}
# What `Settings.interactions` is typed as.
CROSSINGS = ("quadratic", "cubic", "interactions")
_PARTS = ("no_constant", *CROSSINGS)  # that are typed under other names than their settings have, or in parts
# Options that a model of Vowpal Wabbit does not keep, so that they are typed once more.
OF_LOSS = ("loss", *LOSS_OPTIONS)
Typed = dict[str, Any]  # by name: options of Settings, or what they mean as fields of Settings


def typed_settings(options: Typed) -> Typed:
    """Those settings that were typed, under their names in Settings."""
    typed = {name: value for name, value in options.items() if name not in _PARTS}
    if typed.get("threshold") == float("inf"):
        typed["threshold"] = None
    if "feature_weights" in typed:
        typed["feature_weights"] = True
    if typed.get("classes", "auto") != "auto" and "oaa" not in typed:
        typed["oaa"] = len(names_in(typed["classes"]))
    if "no_constant" in options:
        typed["constant"] = False
    patterns = tuple(pattern for name in CROSSINGS for pattern in options.get(name, ()) if not _named(name, pattern))
    if patterns:
        typed["interactions"] = patterns
    crosses = tuple(pattern for name in CROSSINGS for pattern in options.get(name, ()) if _named(name, pattern))
    if crosses:
        typed["crosses"] = crosses
    for name in ("keep", "ignore", "ignore_linear"):
        if name in typed:
            typed[name] = "".join(sorted(set("".join(typed[name]))))
    return typed


def _named(name: str, pattern: str) -> bool:
    """Whether an interaction is by names of namespaces."""
    kind = SPECS[name].type
    return isinstance(kind, Crossing) and kind.is_named(pattern)


def resolve(
    options: Typed, model: Settings | None = None, path: str | None = None, *, given: Collection[str] = (),
    passes: int = 1,
) -> Resolved:
    """The settings of a training run. UsageError for what contradicts the model or itself.

    options: those of Settings, as typed. model, path: of the model that is continued. given: the options of the run
    that were typed.
    """
    typed = typed_settings(options)
    changed = {}
    if model is not None and model.algorithm == SOLVED.name:
        return _from_solved(options, typed, model, path)
    if model is not None:
        if "feature_weights" in typed:
            raise UsageError(f"--feature-weights: the model {path} keeps its own: leave the option out")
        changed = contradictions(options, typed, model, path)
    why = option = ""
    if typed.get("softmax") and model is None:
        by_radius = "radius" in typed
        option = ("--radius" if by_radius else "--softmax") if "algorithm" not in typed else ""
        typed = {"algorithm": "l1-ball" if by_radius else "adagrad", "loss": "logistic"} | typed
    if model is None:
        if "algorithm" not in typed:
            algorithm, option = default_algorithm(typed, given, passes)
            why = "" if option else "name one, or a rate, for a single learner"
            typed = {"algorithm": algorithm} | typed
        if typed.get("label_transform", "none") != "none":
            typed = {"loss": "squared"} | typed
        if typed["algorithm"] == AUTO.name and ("labels" in typed or "oaa" in typed):
            typed = {"loss": "logistic"} | typed
    settings = replace(model or Settings.of(typed["algorithm"]), **typed)
    if model is None and "link" not in typed:
        settings = replace(settings, link=settings.outputs.usual_link)
    check_together(settings, typed)
    return Resolved(settings, changed, f"as {option} is given" if option else why, option)


def default_algorithm(typed: Typed, given: Collection[str], passes: int) -> tuple[str, str]:
    """The algorithm of a new model for which none was typed, and the option that needs it: auto and none, or another
    one."""
    if "nonzeros" in typed:
        return "adagrad-rda", "--nonzeros"
    loss = typed.get("loss", AUTO.losses[0])
    others = [name for name in [*refused(AUTO), *NOT_AUTO] if name in typed or name in given]
    if loss not in AUTO.losses:
        return "gd", f"--loss {loss}"
    if "oaa" in typed and loss != "logistic" and "loss" in typed:
        return "gd", f"--loss {loss}"
    if typed.get("oaa", 0) > MOST_STACKED:
        return "gd", f"--oaa {typed['oaa']}"
    if ("oaa" in typed or isinstance(typed.get("quantile_tau"), tuple)) and "passes" in given and passes == 1:
        return "gd", "--passes 1"
    if others:
        return "gd", option_name(others[0])
    return AUTO.name, ""


def learning_settings(settings: Settings) -> Settings:
    """Those with which `--algorithm auto` learns, from those of a model that it made."""
    of_model = ("algorithm", "learning_rate", "normalize", "derived")
    kept = {name: getattr(settings, name) for name in vars(settings) if name not in of_model}
    return replace(Settings.of(AUTO.name), **kept)


def _from_solved(options: Typed, typed: Typed, model: Settings, path: str | None) -> Resolved:
    """The settings of a run that begins from a model of `vwlite solve`, which has weights and nothing else."""
    if "algorithm" not in typed:
        raise UsageError(
            f"{path} was made by vwlite solve, which does not learn from a stream: say how to continue, such as "
            "--algorithm truncated-gradient"
        )
    contradictions(options, {name: value for name, value in typed.items() if name in KEPT}, model, path)
    kept = {name: getattr(model, name) for name in (*KEPT, "link")}
    settings = replace(Settings.of(typed["algorithm"]), **(kept | typed))
    check_together(settings, typed)
    return Resolved(settings, {})


def check_problem(settings: Settings, given: Sequence[str]) -> None:
    """UsageError for a batch problem without a strength, or with one that does not fit its loss. given: the options
    that are its strength, beside --l2."""
    if settings.loss == "hinge":
        if given:
            raise UsageError(f"--loss hinge is minimised with --l2 only: leave {option_name(given[0])} out, or use "
                             "--loss squared-hinge")
        if settings.l2 == 0:
            raise UsageError("--loss hinge is minimised with --l2, as in a support vector machine: add --l2 1e-4")
    elif settings.softmax:
        if list(given) != ["radius"]:
            raise UsageError("--softmax needs --radius, the limit of the sum of |weights| of each class, and no other "
                             "penalty")
    elif not given and settings.l2 == 0:
        raise UsageError(
            "the regularization strength is missing: give --l1, --l1-of-max, --l1-path, --radius, --nonzeros or --l2, "
            "such as --l1-of-max 0.1; --l1 0 means no penalty"
        )


def without_loss(path: str | None) -> str:
    """What to say of a model that does not have its loss."""
    return (
        f"{path}: a model of Vowpal Wabbit does not store the loss that it was trained with: give it, such as --loss "
        "logistic"
    )


def contradictions(options: Typed, typed: Typed, model: Settings, path: str | None) -> dict[str, tuple[Any, Any]]:
    """What was typed and is not so in the model: name -> (in the model, now). UsageError for what may not differ.

    options: as typed; typed: what they mean.
    """
    if not model.loss and "loss" not in typed:
        raise UsageError(without_loss(path))
    changed = {}
    for name, value in typed.items():
        old = getattr(model, name)
        if value == old or (not model.loss and name in OF_LOSS):
            continue
        form = name in algorithm_of(model.algorithm).forms and bool(old) != bool(value)  # another state
        if name not in CHANGEABLE or form:
            raise UsageError(
                f"{_typed(options, name, value)} contradicts the model {path}, which was trained with "
                f"{shown_setting(old) or 'plain weights'}: leave the option out, or train a new model"
            )
        changed[name] = (old, value)
    return changed


def _typed(options: Typed, name: str, value: Any) -> str:
    """A setting as it stood on the command line."""
    if name == "constant":
        return "--no-constant"
    if name == "average":
        return "--average"
    if name in ("interactions", "crosses"):
        return " ".join(f"{option_name(n)} {pattern}" for n in CROSSINGS for pattern in options.get(n, ()))
    return f"{option_name(name)} {shown_setting(value)}"


def shown_setting(value: Any) -> str:
    """A setting as it is typed."""
    if isinstance(value, tuple):
        return ",".join(v if isinstance(v, str) else shown_setting(v) for v in value) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return {"": "none", "None": "none", "True": "a constant", "False": ""}.get(str(value), str(value)).strip()
