"""`vwlite solve` and `vwlite certify`: options and help."""

import re
from dataclasses import replace
from typing import Any

import click

from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.solvers import SOLVERS
from vwlite.algorithms.table import SOLVED
from vwlite.errors import UsageError
from vwlite.options.declaring import command
from vwlite.options.spec import CLASSES, FEATURES, IN, OUT, RUN, TABLES, option, option_name, option_of, specs_of
from vwlite.options.types import PATH, Choice, Number, Whole
from vwlite.output.atomic import check_apart
from vwlite.records import record
from vwlite.runs.options import AS_WRITTEN, DATA, OF_RUN, CacheOptions, InputOptions, TrainOptions

PROBLEM, SOLVING, CACHE = "Problem", "Solving", "Cache"
LAST_OF_PATH = 0.01

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


def solvers_with(name: str) -> str:
    """The solvers that take an option, as its help begins."""
    return ", ".join(row.name for row in SOLVERS.values() if name in row.options)


def _solvers(*, of_papers: bool) -> str:
    return ", ".join(row.name for row in SOLVERS.values() if row.of_papers == of_papers)


def models_of_path(model: str, count: int) -> list[str]:
    """The files of the models of --l1-path."""
    return [model.replace("%d", str(k + 1)) for k in range(count)]


_CACHED = tuple(replace(spec, group=CACHE) for spec in specs_of(CacheOptions))
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


@command(
    "solve", "vwlite.solving.solve:solve",
    DATA, *specs_of(InputOptions, IN), *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *specs_of(Settings, FEATURES), _LOSS, _L1, "l1_of_max", "l1_path", _RADIUS,
    replace(SPECS["nonzeros"], group=PROBLEM, for_some=False, shown="",
            help="Find the weakest penalty with at most N nonzero weights."),
    _L2, replace(SPECS["nonnegative"], group=PROBLEM, for_some=False, help="Allow no weight below zero."),
    replace(SPECS["box"], group=PROBLEM, for_some=False), _WEIGHTS, SOLVING,
    *(replace(spec, help="One loss for all classes: multinomial logistic regression. --radius is for each class.")
      if spec.name == "softmax" else spec for spec in specs_of(Settings, CLASSES)),
    *_CACHED, OUT, SPECS["link"], *OF_RUN, RUN,
    usual=(
        "--model", "--initial", "--loss", "--l1", "--l1-of-max", "--l1-path", "--radius", "--nonzeros",
        "--l2", "--tolerance", "--label", "--quadratic", "--shards", "--quiet",
    ),
    examples=("vwlite solve day1.vw day2.vw --l1-of-max 0.1 -m sparse.model",
              "vwlite solve clicks.csv --label clicked --labels 0,1 --l1-path 5 -m path%d.model"),
)
@record(frozen=True)
class SolveOptions(CacheOptions):
    """Solve an l1/l2-regularized problem on DATA exactly, with a duality gap.

    The objective is the mean loss (weighted by importance) plus l1 times the sum of |weights|; or the mean loss alone,
    for models whose sum of |weights| is at most --radius. All examples are held in memory. The gap between the
    objective and a lower bound shows how far the model can be from the optimum.

    DATA are files of VW text or libsvm, plain or compressed (gzip, bzip2, xz, zstd); none, or -, is
    standard input. `vwlite help solve` explains the printed table, regularization strengths, and when it stops.
    """

    def _check_path(self) -> None:
        """The name of the model with the number of each strength."""
        if self.model is None or self.l1_path is None:
            return
        if len(re.findall("%d", self.model)) != 1:
            raise UsageError(f"--model {self.model}: with --l1-path, the name must have %d once, for the number of "
                             "each model")
        inputs = [(path, "one of the DATA files") for path in self.data]
        inputs += [(self.initial, "the input model")] if self.initial else []
        outputs = {"--report": self.report, "--rejects": self.rejects}
        for name in models_of_path(self.model, self.l1_path[0]):
            check_apart({"--model": name, **outputs}, inputs, ("--model", self.initial))

    def _check_shards(self) -> None:
        if self.solver != "auto":
            raise UsageError(f"--shards and --solver {self.solver} cannot be used together: rounds have their own "
                             "solvers")
        if not self.data or "-" in self.data:
            raise UsageError("--shards needs files: the DATA files are the shards, and standard input is not a file")
        if self.cache_file and len(self.data) > 1:
            raise UsageError("--cache-file is one file, but each shard has its own cache: use --cache")

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
             f"them, as in the paper. For {solvers_with('beta')}.",
    )
    batch: float | None = option(
        None, "--batch", group=SOLVING, type=Number(0, open_low=True), metavar="N", shown="100",
        help=f"Examples in a sample; below 1, a fraction of all. For {solvers_with('batch')}.",
    )
    order: str | None = option(
        None, "--order", group=SOLVING, type=Choice(["permuted", "random"]), metavar="O", shown="permuted",
        help="Order of examples. permuted: a new order in each pass, without those whose dual variable stays at its "
             f"bound; random: one is drawn for each step. For {solvers_with('order')}.",
    )
    eta0: float | None = option(
        None, "--eta0", group=SOLVING, type=Number(0, open_low=True), shown="by the data: no larger than is safe",
        help=f"Length of the first step along the gradient. For {solvers_with('eta0')}.",
    )
    shards: int | None = option(
        None, "--shards", group=SOLVING, type=Whole(1, 64), metavar="N", check=_check_shards,
        excludes=dict.fromkeys(_NOT_IN_ROUNDS, "leave one of them out"),
        help="Solve in rounds over DATA files, held by N processes. The result does not depend on N. `vwlite help "
             "rounds` says for which problems, and how on many machines.",
    )


@command(
    "certify", "vwlite.solving.certify:certify",
    DATA, IN, *specs_of(InputOptions, IN, *AS_WRITTEN),
    replace(_L1, help="l1 regularization strength of the objective.", shown="the model's, where it means the same"),
    replace(_RADIUS, help="Limit of the sum of |weights| in the problem.",
            shown="the model's, where it means the same"),
    replace(_L2, default=None, shown="the model's, where it means the same, else 0"), _WEIGHTS,
    replace(SPECS["loss"], group=PROBLEM, default=None,
            help="The loss of a model of Vowpal Wabbit. Such models do not store it."),
    replace(SPECS["quantile_tau"], group=PROBLEM, default=None, help="The same for --loss quantile."),
    PROBLEM, *_CACHED, *OF_RUN, RUN,
    usual=("--model", "--l1", "--radius", "--l2", "--against", "--quiet",),
    examples=("vwlite certify -m sparse.model day1.vw day2.vw",
              "vwlite certify -m days.model day1.vw day2.vw --l1 1e-3 --against sparse.model"),
)
@record(frozen=True)
class CertifyOptions(CacheOptions):
    """Bound a model's suboptimality on DATA (duality gap): its objective, and a lower bound.

    Any linear model can be tested, also one of Vowpal Wabbit. No model with the same penalty, or in the same ball, has
    an objective below the bound. The bound is tight at the optimum and loose far from it; --against a solution of
    `vwlite solve` makes it nearly exact everywhere. `vwlite help solve` shows how to convert regularization strengths.
    """

    initial: str | None = option(
        None, "-m", "-i", "--model", "initial", group=IN, type=PATH, required=True, metavar="FILE",
        reads="the input model", help="The model file.",
    )
    against: str | None = option(
        None, "--against", group=PROBLEM, type=PATH, metavar="SOLVED", reads="the model of --against",
        help="A solution of `vwlite solve`, for a nearly exact bound.",
    )
