"""A run of `vwlite certify`: the objective of a model, and a lower bound for all models of the same problem."""

import math
from dataclasses import replace

import click

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.solvers import EVERY
from vwlite.algorithms.table import SOLVED
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.weights import norms_beside
from vwlite.errors import DataError, UsageError
from vwlite.input.sources import check_sources
from vwlite.model import Model, read_model
from vwlite.model.absent import learned
from vwlite.model.learners import restore
from vwlite.options.spec import option_name
from vwlite.output.results import Result, values
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import planned
from vwlite.runs.resolve import KEPT
from vwlite.runs.run import say
from vwlite.runs.source import DataNames
from vwlite.solving.commands import CertifyOptions
from vwlite.solving.options import SIMPLEX, problem_of_model
from vwlite.solving.problem import CERTAIN, INSIDE, Bounds, Examples, set_numbers, summary

KINKED = ("hinge", "quantile")  # losses whose bound does not meet the objective even at the optimum
CERTIFIED = (*SOLVED.losses, "quantile")


def certify(o: CertifyOptions) -> int:
    """Run `vwlite certify`; the exit code."""
    assert o.initial is not None
    o.check()
    if "l1" in o.typed and "radius" in o.typed:
        raise UsageError("--l1 and --radius cannot be used together: each is a regularization strength")
    check_sources(o.data, quiet=o.quiet)
    model = learned(read_model(o.initial, uncalibrated=True))
    restore(model, model.settings, o.initial, learn=False)  # an error if the model cannot predict
    settings = problem_of_model(o, model.settings)
    _check_model(o.initial, settings)
    against = learned(read_model(o.against, uncalibrated=True)) if o.against else None
    own = replace(model.settings, loss=settings.loss)
    if against is not None and (what := _difference(own, against.settings)):
        raise UsageError(f"{o.against} solves another problem than {o.initial}: {what}")
    with RunFrame("certify", o) as frame:
        run = Certifying(o, model, settings, against, frame)
        frame.stop_with(run.examples.stop)
        run.examples.read()
        if frame.signal is None:
            run.evaluate()
            run.finish(frame)
        return frame.code()


def _check_model(path: str, settings: Settings) -> None:
    """UsageError for a model whose problem has no bound here."""
    if settings.loss not in CERTIFIED:
        raise UsageError(f"{path}: no lower bound is known for --loss {settings.loss}, only for {', '.join(CERTIFIED)}")
    if settings.softmax and settings.radius is None:
        raise UsageError(f"{path}: the lower bound of a model of --softmax needs a ball for each class: give --radius")


def _difference(model: Settings, other: Settings) -> str:
    """What differs of the features or labels of two models; "" if nothing does."""
    for name in KEPT:
        a, b = getattr(model, name), getattr(other, name)
        if a != b and name == "derived":
            return "other features are derived from its columns"
        if a != b:
            return f"{option_name(name)} differs ({b} and {a})"
    return ""


def on_simplex(model: Model) -> bool:
    """Whether the weights of a model add up to its radius, and none is negative."""
    return model.algorithm in SIMPLEX or (bool(model.solved) and EVERY[model.solved["solver"]].simplex)


def penalizes_constant(model: Model) -> bool:
    """Whether --l2 of a model is on its constant too."""
    return bool(model.solved) and model.settings.constant and EVERY[model.solved["solver"]].penalizes_constant


class Certifying(Bounds):
    """The state of one run."""

    def __init__(
        self, o: CertifyOptions, model: Model, settings: Settings, against: Model | None, frame: RunFrame
    ) -> None:
        self.options, self.model, self.settings, self.against = o, model, settings, against
        self.examples = Examples(
            o, planned(o), settings, DataNames.of(model, settings), frame, source=o.of_source
        )
        self.objective = self.lower_bound = self.norm = 0.0
        self.nonzeros = 0
        self.outside = False  # of the ball of its bound
        self.solved_objective: float | None = None  # of the model of --against
        self.one_sided: list[str] = []  # classes without a finite constant; "" without classes
        self._penalizes_constant = (
            penalizes_constant(model) and settings.radius is None and settings.l1 == 0 and settings.l2 > 0
        )
        # The bound for all classes together is that of the ball, which contains the simplex.
        self._simplex = on_simplex(model) and settings.radius is not None and not settings.softmax

    def evaluate(self) -> None:
        """Objective and lower bound, summed over the classes."""
        for classes in self.examples.together():
            problem = self._problem(classes)
            objective, norms, nonzeros = self._place(problem, self.model, classes)
            bound = problem.lower_bound
            self.objective += objective
            self.norm = math.fsum([self.norm, *norms])
            self.nonzeros += nonzeros
            radius = self.settings.radius
            self.outside |= radius is not None and max(norms) > radius * (1 + INSIDE)
            if self.against is not None:
                other, _, _ = self._place(problem, self.against, classes)
                self.solved_objective = (self.solved_objective or 0.0) + other
                bound = max(bound, problem.lower_bound)
            self.lower_bound += max(bound, 0.0)
            if problem.one_sided:
                self.one_sided.append(self.examples.class_name(classes[0]))
        if self.lower_bound <= CERTAIN * self.objective:
            self.lower_bound = 0.0
        if self.against is not None and self._same_problem(self.against):
            self.lower_bound = max(self.lower_bound, self.against.solved["lower_bound"])

    def _problem(self, classes: range) -> Problem:
        return self.examples.problem(
            self.settings, classes[0], simplex=self._simplex, penalize_constant=self._penalizes_constant
        )

    def _place(self, problem: Problem, model: Model, classes: range) -> tuple[float, list[float], int]:
        """The objective of a model, the sum of |weights| of each class, and the number of nonzero weights, which count
        features that the data do not have."""
        settings, examples = self.settings, self.examples
        numbers = [examples.start(model, k) for k in classes]
        name = self.options.initial if model is self.model else self.options.against
        if settings.nonnegative and any(min(weights, default=0.0) < 0 for weights, _ in numbers):
            raise DataError(
                f"{name} has weights below 0, which the problem of {self.options.initial} excludes: they are not "
                "compared"
            )
        edge = (settings.box or math.inf) * (1 + INSIDE)
        if any(max(map(abs, weights), default=0.0) > edge for weights, _ in numbers):
            raise DataError(f"{name} has weights beyond --box {settings.box:g}, which the problem of "
                            f"{self.options.initial} excludes: they are not compared")
        set_numbers(problem, numbers)
        problem.evaluate()
        shares = None if examples.shares is None else examples.shares_of(model.keys)
        objective, nonzeros, norms = problem.objective, problem.nonzeros, []
        for k, (weights, _) in zip(classes, numbers, strict=True):
            norm, squares, beside = norms_beside(
                examples.rows.keys, model.keys, model.weights, model.records, k, examples.constant_key, shares
            )
            nonzeros += beside
            objective += settings.l1 * norm
            if settings.l2:  # squares may be infinite
                objective += settings.l2 / 2 * squares
            norms.append(norm + examples.norm(weights))
        if not math.isfinite(objective):
            raise DataError(f"{name}: its objective on these data is not finite")
        return objective, norms, nonzeros

    def _same_problem(self, other: Model) -> bool:
        """Whether a model was solved for this problem, on these data."""
        mine, its = self.settings, other.settings
        same = all(getattr(mine, name) == getattr(its, name) for name in ("l1", "l2", "radius", "nonnegative", "box"))
        same = same and (on_simplex(other), penalizes_constant(other)) == (self._simplex, self._penalizes_constant)
        return bool(other.solved) and same and other.solved["data"] == self.examples.digest

    @property
    def gap(self) -> float:
        return max(self.objective - self.lower_bound, 0.0)

    def results(self) -> list[Result]:
        """What is printed and reported."""
        s = self.settings
        found = [
            Result("number_of_examples", len(self.examples.rows)), Result("loss", s.loss),
            Result("l1", s.l1) if s.radius is None else Result("radius", s.radius),
            *([Result("l2", s.l2)] if s.l2 else []), *super().results(),
        ]
        if self.solved_objective is not None:
            found.append(Result("objective_of_against", self.solved_objective))
        return [*found, Result("nonzero_weights", self.nonzeros), Result("sum_of_weights", self.norm)]

    def finish(self, frame: RunFrame) -> None:
        """Print what was found, and write the report."""
        results = self.results()
        notes = list(self._notes())
        click.echo(summary(results, self.options.against))
        if not self.options.quiet:
            for note in notes:
                say(f"note: {note}")
        settings = replace(self.settings, algorithm=self.model.algorithm)
        frame.report(
            options=frame.reported_options(settings, "data", "against", model=self.options.initial),
            results={**values(results), "seconds": frame.seconds()},
            notes=notes,
        )

    def _notes(self) -> list[str]:
        """What a reader must know beside the numbers."""
        s, found = self.settings, list(self.examples.notes()[1])
        if self.outside:
            found.append(
                f"{self.options.initial} is outside of this ball: the sum of its |weights| is {self.norm:g}; its "
                "objective may be below the bound"
            )
        if s.loss in KINKED and not (self.against is not None and self._same_problem(self.against)):
            found.append(f"with --loss {s.loss} the bound is below the objective even at the optimum")
        if self.against is not None and self.against.solved and not self._same_problem(self.against):
            found.append(f"{self.options.against} was solved for other data or another regularization strength: only "
                         "its weights are used")
        if self.one_sided and not s.softmax:
            whys = map(self.examples.one_sided, self.one_sided)
            found += [f"{why}: the minimum is 0, at an infinite intercept" for why in whys]
        elif self.lower_bound == 0:
            found.append("the bound is trivial: no objective is below 0; try --against a model of vwlite solve")
        return found
