"""The problems that the options of `vwlite solve` and `vwlite certify` mean."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vwlite.algorithms.checks import check_together
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.solvers import SOLVERS, SolverRow, best_solver
from vwlite.algorithms.table import SOLVED, algorithm_of
from vwlite.errors import UsageError
from vwlite.options.spec import option_name
from vwlite.runs.resolve import KEPT, check_problem, contradictions, typed_settings, without_loss
from vwlite.solving.commands import OF_SOLVERS, CertifyOptions, SolveOptions, solvers_with

# Algorithms whose weights are positive and add up to the radius.
SIMPLEX = ("simplex", "eg")

# Each says how strong the penalty is; one of them, or --l2.
STRENGTHS = ("l1", "l1_of_max", "l1_path", "radius", "nonzeros")


def own_strength(settings: Settings) -> tuple[str, float] | None:
    """The regularization strength of a model: l1 or radius, and its value.

    None for algorithms without one, or with another problem: with a threshold that spares large weights, in a ball of
    l2, or with a strength that was found during learning.
    """
    name = algorithm_of(settings.algorithm).solves
    if settings.algorithm == SOLVED.name:
        name = name if settings.radius is None else "radius"
    elif not name or settings.nonzeros or settings.threshold is not None or (name == "l1" and settings.radius):
        return None
    return name, getattr(settings, name)


def resolve_solve(o: SolveOptions, model: Settings | None) -> tuple[Settings, str]:
    """The settings of the model that is to be found, and the name of the solver.

    model: the start. Its regularization strength is used if none is given and it has the same meaning. UsageError for
    what contradicts the model, or itself.
    """
    typed = typed_settings(o.typed)
    base = Settings(algorithm=SOLVED.name, loss="logistic")
    if model is not None:
        contradictions(o.typed, {n: v for n, v in typed.items() if n in KEPT}, model, o.initial)
        base = replace(base, link=model.link, **{name: getattr(model, name) for name in KEPT})
        if base.loss == "":
            base = replace(base, loss=typed["loss"])
        if base.loss not in SOLVED.losses:
            raise UsageError(
                f"{o.initial} was trained with --loss {base.loss}, which vwlite solve does not minimise: it takes "
                f"{', '.join(SOLVED.losses)}"
            )
        if algorithm_of(model.algorithm).solves:
            base = replace(base, l2=model.l2)
        if model.algorithm == SOLVED.name:
            base = replace(base, nonnegative=model.nonnegative, box=model.box)
            if model.feature_weights and "feature_weights" not in typed:
                raise UsageError(f"{o.initial} was solved with --feature-weights: give their file again")
    given = [name for name in STRENGTHS if name in typed or getattr(o, name, None) is not None]
    if len(given) > 1:
        first, second = map(option_name, given[:2])
        raise UsageError(f"{first} and {second} cannot be used together: each is a regularization strength")
    settings = replace(base, **typed)
    if model is None and "link" not in typed:
        settings = replace(settings, link=settings.outputs.usual_link)
    own = None
    if model is not None and model.algorithm not in SIMPLEX and settings.loss != "hinge":
        own = own_strength(model)
    if not given and model is not None and own is not None and "l2" not in typed:
        settings, given = replace(settings, l1=model.l1, radius=model.radius), [own[0]]
    check_together(settings, typed)
    check_problem(settings, given)
    strength = given[0] if given in (["radius"], ["nonzeros"]) else "l1" if given else ""
    name = o.solver
    if name == "auto":
        name = best_solver(settings.loss, softmax=settings.softmax)
    row = SOLVERS[name]
    if settings.normalize == "center" and row.penalizes_constant:
        raise UsageError(f"--normalize center and --solver {name} cannot be used together: it has a penalty of the "
                         "intercept, which would be that of centered values")
    _check_solver(row, settings, strength)
    _check_solving(o, row)
    if row.simplex:
        settings = replace(settings, nonnegative=True)
    return settings, name


def _check_solver(row: SolverRow, settings: Settings, strength: str) -> None:
    """UsageError for a problem that a solver does not take. strength: l1, radius, nonzeros, or none."""
    if settings.box is not None and strength in ("radius", "nonzeros"):
        raise UsageError(f"--box and {option_name(strength)} cannot be used together: --box is for --l1 and --l2")
    why = _takes(row, settings, strength)
    if why is not None:
        best = SOLVERS[best_solver(settings.loss, softmax=settings.softmax)]
        instead = f": use --solver {best.name}" if _takes(best, settings, strength) is None else ""
        raise UsageError(f"--solver {row.name} {why}{instead}")


def _check_solving(o: SolveOptions, row: SolverRow) -> None:
    """UsageError for options that a solver has no use for, or lacks."""
    for name in OF_SOLVERS:
        if getattr(o, name) is not None and name not in row.options:
            takers = solvers_with(name)
            raise UsageError(f"{option_name(name)} has no effect with --solver {row.name}, only with {takers}")
    if o.batch is not None and o.batch >= 1 and o.batch != int(o.batch):
        raise UsageError(f"--batch {o.batch:g}: a number of examples must be whole")
    if not row.ends and o.max_seconds is None and o.max_passes is None:
        raise UsageError(f"--solver {row.name} has no stopping rule: add --max-seconds or --max-passes")


def _takes(row: SolverRow, settings: Settings, strength: str) -> str | None:
    """Why a solver does not take a problem; None if it does."""
    if settings.softmax and not row.softmax:
        return "does not take --softmax"
    if settings.loss not in row.losses:
        return f"does not take --loss {settings.loss}"
    for name in row.needs:
        if not getattr(settings, name):
            return f"needs {option_name(name)}"
    if strength and strength not in row.takes:
        return f"does not take {option_name(strength)}"
    for name in ("l2", "nonnegative", "box", "feature_weights"):
        if getattr(settings, name) and name not in row.takes:
            return f"does not take {option_name(name)}"
    return None


def problem_of_model(o: CertifyOptions, model: Settings) -> Settings:
    """The problem for which a model is evaluated, as settings of a model of `vwlite solve`; those of the data are the
    model's. UsageError for options that contradict it, or are missing."""
    path = o.initial
    loss = model.loss or o.typed.get("loss")
    if not loss:
        raise UsageError(without_loss(path))
    if model.loss and o.typed.get("loss", loss) != loss:
        raise UsageError(f"--loss {o.typed['loss']} contradicts the model {path}, which was trained with {loss}: leave "
                         "the option out")
    if "quantile_tau" in o.typed and (loss != "quantile" or model.loss):
        raise UsageError("--quantile-tau is for a model of Vowpal Wabbit and --loss quantile: leave it out")
    if model.feature_weights and "feature_weights" not in o.typed:
        raise UsageError(f"{path} was made with --feature-weights: give their file again")
    name, value = strength_of(o.typed, model, path)
    found = replace(
        model, algorithm=SOLVED.name, loss=loss, nonzeros=None,
        l1=value if name == "l1" else 0.0, radius=value if name == "radius" else None,
        l2=o.typed.get("l2", model.l2 if algorithm_of(model.algorithm).solves else 0.0),
        quantile_tau=o.typed.get("quantile_tau", model.quantile_tau),
        nonnegative=model.nonnegative or model.algorithm in SIMPLEX,
        box=model.box if name == "l1" and model.radius is None else None,
        feature_weights="feature_weights" in o.typed,
    )
    found.outputs.transform.refuse("vwlite certify", path)
    found.outputs.check_one("vwlite certify", None if "quantile_tau" in o.typed else path)
    return found


def strength_of(typed: Mapping[str, Any], model: Settings, path: str | None) -> tuple[str, float]:
    """The option of the regularization strength, and its value: as given, or the model's own."""
    for name in ("l1", "radius"):
        if name in typed:
            return name, typed[name]
    own = own_strength(model)
    if own is None and "l2" in typed:
        return "l1", 0.0
    if own is None:
        raise UsageError(
            f"{path}: the regularization strength of a model of {model.algorithm} does not apply here: give --l1 "
            "or --radius (`vwlite help solve` has the conversions)"
        )
    return own
