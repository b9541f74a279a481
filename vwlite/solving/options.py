"""The options of `vwlite solve` and `vwlite certify`, and the problems that they mean."""

import re
from dataclasses import replace
from typing import Any

import click

from vwlite.algorithms.checks import check_one_output, check_together, check_untransformed, usual_link
from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.solvers import SOLVERS, SolverRow, best_solver
from vwlite.algorithms.table import SOLVED, algorithm_of
from vwlite.errors import UsageError
from vwlite.options.spec import CLASSES, FEATURES, IN, OUT, RUN, TABLES, option, option_name, option_of, specs_of
from vwlite.options.taking import takes
from vwlite.options.types import PATH, Bytes, Choice, Number, Whole
from vwlite.output.atomic import check_apart
from vwlite.records import record
from vwlite.runs.options import AS_WRITTEN, OF_RUN, CacheOptions, InputOptions, TrainOptions
from vwlite.runs.resolve import KEPT, check_problem, check_run, contradictions, typed_settings, without_loss

PROBLEM, SOLVING, CACHE = "Problem", "Solving", "Cache"

# Algorithms whose weights are positive and add up to the radius.
SIMPLEX = ("simplex", "eg")

# Each says how strong the penalty is; one of them, or --l2.
STRENGTHS = ("l1", "l1_of_max", "l1_path", "radius", "nonzeros")

# Options that only some solvers take.
OF_SOLVERS = tuple(dict.fromkeys(name for row in SOLVERS.values() for name in row.options))
_NOT_IN_ROUNDS = ("--l1-of-max", "--l1-path", "--rejects", "--max-errors", *map(option_name, OF_SOLVERS))


class Path(click.ParamType):
    """K, or K:F: the number of strengths, and the ratio of the last to the first. (K, F)"""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        count, _, last = str(value).partition(":")
        steps = Whole(2, 1000).convert(count, param, ctx)
        fraction = Number(0, 1, open_low=True, open_high=True).convert(last, param, ctx) if _ else LAST_OF_PATH
        return int(steps), fraction


LAST_OF_PATH = 0.01


def _solvers_with(name: str) -> str:
    """The solvers that take an option, as its help begins."""
    return ", ".join(row.name for row in SOLVERS.values() if name in row.options)


def _solvers(*, of_papers: bool) -> str:
    return ", ".join(row.name for row in SOLVERS.values() if row.of_papers == of_papers)


def _check_path(o: "SolveOptions") -> None:
    """The name of the model with the number of each strength."""
    if o.model is None or o.l1_path is None:
        return
    if len(re.findall("%d", o.model)) != 1:
        raise UsageError(f"--model {o.model}: with --l1-path, the name must have %d once, for the number of each model")
    inputs = [(path, "one of the DATA files") for path in o.data]
    inputs += [(o.initial, "the input model")] if o.initial else []
    for name in models_of_path(o.model, o.l1_path[0]):
        check_apart({"--model": name, "--report": o.report, "--rejects": o.rejects}, inputs, ("--model", o.initial))


def _check_shards(o: "SolveOptions") -> None:
    if o.solver != "auto":
        raise UsageError(f"--shards and --solver {o.solver} cannot be used together: rounds have their own solvers")
    if not o.data or "-" in o.data:
        raise UsageError("--shards needs files: the DATA files are the shards, and standard input is not a file")
    if o.cache_file and len(o.data) > 1:
        raise UsageError("--cache-file is one file, but each shard has its own cache: use --cache")


@record(frozen=True)
class SolveOptions(CacheOptions):
    """The options of `vwlite solve`, as typed."""

    model: str | None = option_of(TrainOptions, "model")
    initial: str | None = option_of(
        TrainOptions, "initial",
        help="Start from this model's weights. Its options of features, loss and classes are used.",
    )
    names: int | None = option_of(TrainOptions, "names")
    l1_of_max: float | None = option(
        None, "--l1-of-max", group=PROBLEM, type=Number(0, open_low=True), metavar="F",
        help="--l1 as a fraction of l1 max, such as 0.1. l1 max is the least --l1 at which all weights are zero.",
    )
    l1_path: tuple[int, float] | None = option(
        None, "--l1-path", group=PROBLEM, type=Path(), metavar="K[:F]", check=_check_path,
        help=f"Solve for K values of --l1, from l1 max downwards. The last is F ({LAST_OF_PATH:g}) times l1 max. Each "
             "starts from the previous solution; %d in -m is 1 to K.",
    )
    solver: str = option(
        "auto", "--solver", group=SOLVING, type=Choice(["auto", *SOLVERS]), metavar="NAME",
        help=f"The optimization method; see `vwlite algorithms`. One of {_solvers(of_papers=False)}; to "
             f"reproduce papers, {_solvers(of_papers=True)}.",
    )
    tolerance: float = option(
        1e-3, "--tolerance", group=SOLVING, type=Number(0),
        help="Relative duality gap at which to stop. It is (objective - lower bound) / objective.",
    )
    max_seconds: float | None = option(
        None, "--max-seconds", group=SOLVING, type=Number(0), shown="no limit",
        help="Stop after this many seconds, with the current solution.",
    )
    max_passes: int | None = option(
        None, "--max-passes", group=SOLVING, type=Whole(0), metavar="N", shown="no limit",
        help="Stop after N passes, with the current solution.",
    )
    seed: int = option(
        1, "--seed", group=SOLVING, type=Whole(0), metavar="N", help="Random seed, for orders and samples."
    )
    beta: str | None = option(
        None, "--beta", group=SOLVING, type=Choice(["mean", "paper"]), metavar="B", shown="mean",
        help="Bound of the curvature along a column. mean: from the mean of its squares; paper: from the largest of "
             f"them, as in the paper. For {_solvers_with('beta')}.",
    )
    batch: float | None = option(
        None, "--batch", group=SOLVING, type=Number(0, open_low=True), metavar="N", shown="100",
        help=f"Examples in a sample; below 1, a fraction of all. For {_solvers_with('batch')}.",
    )
    order: str | None = option(
        None, "--order", group=SOLVING, type=Choice(["permuted", "random"]), metavar="O", shown="permuted",
        help="Order of examples. permuted: a new order in each pass, without those whose dual variable stays at its "
             f"bound; random: one is drawn for each step. For {_solvers_with('order')}.",
    )
    eta0: float | None = option(
        None, "--eta0", group=SOLVING, type=Number(0, open_low=True), shown="by the data: no larger than is safe",
        help=f"Length of the first step along the gradient. For {_solvers_with('eta0')}.",
    )
    shards: int | None = option(
        None, "--shards", group=SOLVING, type=Whole(1, 64), metavar="N", check=_check_shards,
        excludes=dict.fromkeys(_NOT_IN_ROUNDS, "leave one of them out"),
        help="Solve in rounds over DATA files, held by N processes. The result does not depend on N. `vwlite help "
             "rounds` says for which problems, and how on many machines.",
    )
    memory: int | None = option(
        None, "--memory", group=RUN, type=Bytes(), metavar="BYTES", shown="no limit",
        help="Memory limit for the data, such as 500M or 2G. The rest is kept in temporary files in TMPDIR. The "
             "result does not change.",
    )


@record(frozen=True)
class CertifyOptions(CacheOptions):
    """The options of `vwlite certify`, as typed."""

    initial: str | None = option(
        None, "-m", "-i", "--model", "initial", group=IN, type=PATH, required=True, metavar="FILE",
        reads="the input model", help="The model file.",
    )
    against: str | None = option(
        None, "--against", group=PROBLEM, type=PATH, metavar="SOLVED", reads="the model of --against",
        help="A solution of `vwlite solve`, for a nearly exact bound.",
    )
    memory: int | None = option_of(SolveOptions, "memory")


CACHED = tuple(replace(spec, group=CACHE) for spec in specs_of(CacheOptions))
_LOSS = replace(
    SPECS["loss"], group=PROBLEM, type=Choice(list(SOLVED.losses)), default="logistic", vw=(),
    help="The loss function to minimize.",
)
_L1 = replace(
    SPECS["l1"], group=PROBLEM, default=None, vw=(),
    help="l1 regularization strength. The objective is mean loss + l1 (sum of |weights|), without the intercept.",
)
_RADIUS = replace(SPECS["radius"], group=PROBLEM, help="Limit of the sum of |weights|, instead of a penalty.")
_L2 = replace(SPECS["l2"], group=PROBLEM, vw=(), help="l2 regularization strength. Adds l2/2 (sum of squared weights).")
_WEIGHTS = replace(
    SPECS["feature_weights"], group=PROBLEM, for_some=False,
    help="File of penalty factors: lines of NAMESPACE^NAME WEIGHT. Each |weight| counts with its factor in the sum. "
         "None may be 0.",
)

_own = {spec.name: spec for spec in specs_of(SolveOptions)}
_SOLVE = (
    *specs_of(InputOptions, IN), *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *specs_of(Settings, FEATURES),
    _LOSS, _L1, _own["l1_of_max"], _own["l1_path"], _RADIUS,
    replace(SPECS["nonzeros"], group=PROBLEM, for_some=False, shown="",
            help="Find the weakest penalty with at most N nonzero weights."),
    _L2,
    replace(SPECS["nonnegative"], group=PROBLEM, for_some=False, help="Allow no weight below zero."),
    replace(SPECS["box"], group=PROBLEM, for_some=False),
    _WEIGHTS,
    *specs_of(SolveOptions, SOLVING),
    *(replace(spec, help="One loss for all classes: multinomial logistic regression. --radius is for each class.")
      if spec.name == "softmax" else spec for spec in specs_of(Settings, CLASSES)),
    *CACHED, *specs_of(SolveOptions, OUT), SPECS["link"], *OF_RUN, *specs_of(SolveOptions, RUN),
)
_CERTIFY = (
    *specs_of(CertifyOptions, IN), *specs_of(InputOptions, IN),
    *(spec for spec in specs_of(InputOptions, TABLES) if spec.name in AS_WRITTEN),
    replace(_L1, help="l1 regularization strength of the objective.", shown="the model's, where it means the same"),
    replace(_RADIUS, help="Limit of the sum of |weights| in the problem.",
            shown="the model's, where it means the same"),
    replace(_L2, default=None, shown="the model's, where it means the same, else 0"),
    _WEIGHTS,
    replace(SPECS["loss"], group=PROBLEM, default=None,
            help="The loss of a model of Vowpal Wabbit. Such models do not store it."),
    replace(SPECS["quantile_tau"], group=PROBLEM, default=None, help="The same for --loss quantile."),
    *specs_of(CertifyOptions, PROBLEM), *CACHED, *OF_RUN, *specs_of(CertifyOptions, RUN),
)


solve_options = takes(SolveOptions, _SOLVE)
certify_options = takes(CertifyOptions, _CERTIFY)


# --- what they mean ----------------------------------------------------------------------------


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
        settings = replace(settings, link=usual_link(settings))
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
            takers = _solvers_with(name)
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


def models_of_path(model: str, count: int) -> list[str]:
    """The files of the models of --l1-path."""
    return [model.replace("%d", str(k + 1)) for k in range(count)]


def check_certify(o: CertifyOptions) -> None:
    """Options of the run that mean nothing together: UsageError."""
    check_run(o)
    if "l1" in o.typed and "radius" in o.typed:
        raise UsageError("--l1 and --radius cannot be used together: each is a regularization strength")


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
    name, value = strength_of(o, model)
    found = replace(
        model, algorithm=SOLVED.name, loss=loss, nonzeros=None,
        l1=value if name == "l1" else 0.0, radius=value if name == "radius" else None,
        l2=o.typed.get("l2", model.l2 if algorithm_of(model.algorithm).solves else 0.0),
        quantile_tau=o.typed.get("quantile_tau", model.quantile_tau),
        nonnegative=model.nonnegative or model.algorithm in SIMPLEX,
        box=model.box if name == "l1" and model.radius is None else None,
        feature_weights="feature_weights" in o.typed,
    )
    check_untransformed(found, "vwlite certify", path)
    check_one_output(found, "vwlite certify", None if "quantile_tau" in o.typed else path)
    return found


def strength_of(o: CertifyOptions, model: Settings) -> tuple[str, float]:
    """The option of the regularization strength, and its value: as given, or the model's own."""
    for name in ("l1", "radius"):
        if name in o.typed:
            return name, o.typed[name]
    own = own_strength(model)
    if own is None and "l2" in o.typed:
        return "l1", 0.0
    if own is None:
        raise UsageError(
            f"{o.initial}: the regularization strength of a model of {model.algorithm} does not apply here: give --l1 "
            "or --radius (`vwlite help solve` has the conversions)"
        )
    return own
