"""A run of `vwlite solve`: the weights with the least objective on DATA, and their duality gap."""

import math
import os
import threading
import time
from array import array
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, cast

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.solvers import SOLVERS
from vwlite.core.base.elementary import power
from vwlite.core.solve.columns import Columns
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.softmax import SoftmaxProblem
from vwlite.core.solve.solver import Solver
from vwlite.errors import DataError
from vwlite.input.sources import check_sources
from vwlite.model import Model, read_model, write_model
from vwlite.model.absent import learned
from vwlite.model.feature_names import NONE, FeatureNames
from vwlite.output.atomic import AtomicFile
from vwlite.output.progress import LiveLine, fit
from vwlite.output.results import Result, values
from vwlite.runs.counted import with_counted_classes
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import DataPlan, planned
from vwlite.runs.run import say
from vwlite.runs.source import DataNames, name_store
from vwlite.solving.commands import SolveOptions, models_of_path
from vwlite.solving.options import resolve_solve
from vwlite.solving.problem import (
    CERTAIN,
    INSIDE,
    SMALL,
    Bounds,
    Examples,
    Limits,
    Numbers,
    set_numbers,
    solved_model,
    summary,
)

HEADER = "  step   seconds        objective           gap     gap %  nonzeros   violation   columns"
PATH_HEADER = "strength  seconds           l1        objective     gap %  nonzeros    passes"


def solve(o: SolveOptions) -> int:
    """Run `vwlite solve`; the exit code."""
    if o.shards is not None:
        from vwlite.solving.rounds.run import solve_shards

        return solve_shards(o)
    o.check()
    check_sources(o.data, quiet=o.quiet)
    start, data = learned(read_model(o.initial, uncalibrated=True)) if o.initial else None, planned(o)
    with RunFrame("solve", o) as frame:
        if start is None:
            o = replace(o, typed=with_counted_classes(o.typed, data, frame.stopped))
        settings, solver = resolve_solve(o, start.settings if start else None)
        run = Solving(o, data, settings, solver, start, frame)
        frame.stop_with(run.stop)
        run.examples.read()
        if not run.stopped:
            run.solve()
            run.finish()
        return frame.code(run.kept())


@dataclass
class SolveStatus(Bounds):
    """The progress of a problem, or of those of all classes together. The names are those of the report."""

    nonzeros: int = 0
    steps: int = 0
    passes: float = 0.0
    ended: str = ""
    warning: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: "SolveStatus") -> None:
        """With another class: sums."""
        self.objective += other.objective
        self.lower_bound += other.lower_bound
        self.nonzeros += other.nonzeros
        self.steps += other.steps
        self.passes += other.passes
        self.warning = self.warning or other.warning
        self.ended = self.warning or other.ended
        self.rows += other.rows


class Solving:
    """The state of one run."""

    def __init__(
        self, o: SolveOptions, data: DataPlan, settings: Settings, solver: str, start: Model | None, frame: RunFrame
    ) -> None:
        self.options, self.settings, self.solver = o, settings, solver
        self.row = SOLVERS[solver]
        self.feature_names = name_store(o.names, start.names if start else NONE)
        known = DataNames.of(start, settings, self.feature_names)
        self.examples = Examples(
            o, data, settings, known, frame, source=o.of_source
        )
        self.started_at = time.monotonic()
        self.limits = Limits(o.max_seconds, o.max_passes)
        self.stopped = False
        self.l1_max = 0.0
        self.weights: list[Numbers] = []  # of each class
        self.path: list[dict[str, Any]] = []  # what came out for each strength
        self.outcome = SolveStatus()
        self.file: AtomicFile | None = None
        self._one_sided: dict[str, None] = {}  # classes without a finite constant; "" without classes
        self._start = start
        self._frame = frame
        self._running: Solver | None = None
        self._live = LiveLine(quiet=o.quiet)
        frame.callback(self._live.clear)
        self._columns: Columns | None = None
        self._problem: Problem | None = None
        if o.model and o.l1_path is None:
            self.file = frame.file(o.model)

    def stop(self) -> None:
        """Let the run end soon, with valid weights. Called from the thread of the signals."""
        self.stopped = True
        self.examples.stop()
        running = self._running
        if running is not None:
            running.stop()

    # --- solving -----------------------------------------------------------------------------

    def solve(self) -> None:
        """Find the weights, for one strength or for several."""
        o, examples = self.options, self.examples
        if examples.separate:
            self._columns = Columns(examples.rows)
        self.weights = [self._first() for _ in range(examples.records)]
        self.l1_max = self._l1_max()
        if o.l1_of_max is not None:
            self.settings = replace(self.settings, l1=o.l1_of_max * self.l1_max)
        if self._start is not None:
            self._begin_from(self._start)
        self._print_head()
        self.started_at = time.monotonic()
        self.limits = Limits(o.max_seconds, o.max_passes)
        if o.l1_path is not None:
            self._solve_path(*o.l1_path)
        else:
            self.outcome = self._solve_classes(self.settings, rows=True)

    def _first(self) -> Numbers:
        """The initial weights without a model: zeros; on the simplex, which does not contain them, equal weights."""
        weights, intercept = self.examples.start(None, 0)
        if self.row.simplex and len(weights):
            shares, radius = self.examples.shares, self.settings.radius or 0.0
            for j in range(len(weights)):
                weights[j] = radius / len(weights) / (shares[j] if shares is not None else 1)
        return weights, intercept

    def _begin_from(self, model: Model) -> None:
        """Start from the weights of a model, except for classes where they are outside of the ball, or where weights of
        zero are better at the first strength."""
        settings = self.settings
        if self.options.l1_path or settings.nonzeros:
            settings = replace(settings, l1=self.l1_max)
        for classes in self.examples.together():
            k = classes[0]
            problem = self._problem_of(settings, k)
            set_numbers(problem, [self.weights[i] for i in classes])
            problem.evaluate()
            first, weights = problem.objective, [self.examples.start(model, i) for i in classes]
            set_numbers(problem, weights)
            problem.evaluate()
            why = "" if problem.objective <= first else "worse than weights of zero"
            if settings.radius is not None:
                inside, norm = settings.radius * (1 + INSIDE), max(self.examples.norm(w) for w, _ in weights)
                least = min(min(w, default=0) for w, _ in weights)
                if self.row.simplex and (least < 0 or norm * (1 + INSIDE) < settings.radius):
                    why = "outside of the simplex"
                elif norm > inside:
                    why = "outside of the ball"
            if not why:
                self.weights[k : k + len(weights)] = weights
                continue
            name = self.examples.class_name(k)
            of_class = f" for class {name}" if name else ""
            say(f"warning: {self.options.initial} is {why}{of_class}: it is not used as the start")

    @property
    def _has_l1_max(self) -> bool:
        return not self.settings.softmax and bool({"l1", "radius"} & {*self.row.takes})

    def _l1_max(self) -> float:
        """The least l1 at which the weights of all classes are zero; 0 if it does not exist."""
        if not self._has_l1_max:
            return 0.0
        found = max(self._problem_of(self.settings, k).l1_max() for k in range(self.examples.classes))
        if not math.isfinite(found):
            raise DataError("the derivatives of the loss at weights of zero are not finite; scale features and labels")
        return found

    def _problem_of(self, settings: Settings, k: int) -> Problem:
        """The problem of a class. The problem of the only class is created once."""
        if self.examples.separate:
            return self._new_problem(settings, k)
        if self._problem is None:
            self._problem = self._new_problem(settings, k)
        elif self._problem.l1 != settings.l1:
            self._problem.set_l1(settings.l1)
        return self._problem

    def _new_problem(self, settings: Settings, k: int) -> Problem:
        return self.examples.problem(
            settings, k, simplex=self.row.simplex, penalize_constant=self.row.penalizes_constant, columns=self._columns
        )

    def _solve_path(self, count: int, last: float) -> None:
        """Strengths from the least at which all weights are zero, each from the solution before."""
        names = models_of_path(self.options.model, count) if self.options.model else []
        if self._problem is not None:
            self._problem.make_columns(self.l1_max * last)
        if not self.options.quiet:
            say(PATH_HEADER)
        for i in range(count):
            l1 = self.l1_max * power(last, i / (count - 1))
            self.settings = replace(self.settings, l1=l1)
            if names:
                self.file = self._frame.file(names[i])
            self.outcome = self._solve_classes(self.settings, rows=False)
            self.path.append({"l1": l1, "model": names[i] if names else None, **values(self.results())})
            if not self.options.quiet:
                found = self.outcome
                self._live.clear()
                say(
                    f"{i + 1:>8} {time.monotonic() - self.started_at:>8.3f} {l1:>12.6g} {found.objective:>16.10g} "
                    f"{100 * found.share:>9.3g} {found.nonzeros:>9} {found.passes:>9.1f}"
                )
            if self.stopped or time.monotonic() >= self.limits.deadline:
                return  # `finish` writes the model
            if i + 1 < count:
                self._write_model(interrupted=False)

    def _solve_classes(self, settings: Settings, *, rows: bool) -> SolveStatus:
        """Solve all classes in turn, each from its current weights. rows: whether to print the steps."""
        rows &= not self.options.quiet
        if rows:
            say(HEADER + ("  class" if self.examples.class_name(0) else "  l1" if self.settings.nonzeros else ""))
        total = SolveStatus()
        for classes in self.examples.together():
            total.add(self._solve_one(settings, classes, rows))
        return total

    def _solve_one(self, settings: Settings, classes: range, rows: bool) -> SolveStatus:
        k = classes[0]
        problem = self._problem_of(settings, k)
        set_numbers(problem, [self.weights[i] for i in classes])
        problem.evaluate()
        solver = self._solver_of(problem)
        name = self.examples.class_name(k)
        found = SolveStatus(rows=[self._row(problem, solver, 0, name, rows)])
        best: Best | None = None
        if self.settings.nonzeros:
            best = BestOfCount(problem, self.settings.nonzeros)
        elif not self.row.descends:
            best = Best(problem)
        self._running = solver
        timer = None
        if self.limits.deadline < math.inf:
            timer = threading.Timer(max(self.limits.deadline - time.monotonic(), 0), solver.stop)
            timer.daemon = True
            timer.start()
        try:
            while not self._ended(problem, solver, found, best):
                with self._live.ticking(partial(self._progress, solver, found.steps, name)):
                    solver.step()
                found.steps += 1
                if math.isnan(problem.objective):
                    raise DataError(f"step {found.steps}: the objective is not a number any more; scale the features")
                if problem.objective == math.inf:
                    continue  # the next l1 of the path has just started
                if best is not None:
                    best.look()
                found.rows.append(self._row(problem, solver, found.steps, name, rows))
        finally:
            self._running = None
            if timer is not None:
                timer.cancel()
        if best is not None:
            best.restore()
        problem.evaluate()
        if not math.isfinite(problem.objective):
            raise DataError("the objective is not finite; scale the features")
        found.passes = solver.passes
        found.objective, found.nonzeros = problem.objective, problem.nonzeros
        found.lower_bound = min(problem.lower_bound, problem.objective)
        if solver.done and not problem.one_sided and found.share > max(self.options.tolerance, SMALL):
            found.warning = found.ended
        if problem.one_sided:
            self._one_sided[name] = None
        if self.settings.nonzeros:
            self.settings = replace(self.settings, l1=problem.l1)
        self.weights[k : k + len(classes)] = numbers_of(problem)
        return found

    def _solver_of(self, problem: Problem) -> Solver:
        """A solver for the problem, as the options say."""
        row = self.row
        given = {name: getattr(self.options, name) for name in row.options}
        kind, more = row.kind, {name: value for name, value in given.items() if value is not None}
        if self.settings.nonzeros:
            kind, more = row.to_count, {"nonzeros": self.settings.nonzeros}
        elif self.settings.radius is not None:
            kind = row.on_ball or row.kind
        return solver_class(kind)(problem, seed=self.options.seed, **more)

    def _ended(self, problem: Problem, solver: Solver, found: SolveStatus, best: "Best | None") -> bool:
        """Whether to stop before the next step; `found.ended` is why."""
        o, objective = self.options, problem.objective
        if best is not None and not self.settings.nonzeros:
            objective = best.objective
        gap = (objective - problem.lower_bound) / objective if objective > 0 else 0.0
        if self.stopped:
            found.ended = "interrupted"
        elif gap <= max(o.tolerance, CERTAIN) and solver.settled:
            found.ended = f"the gap is at most --tolerance {o.tolerance:g}"
        elif solver.done:
            found.ended = solver.why
        else:
            found.ended = found.warning = self.limits.reached(solver.passes)
        return bool(found.ended)

    def _progress(self, solver: Solver, steps: int, name: str, seconds: float) -> str:
        """The live line during a step: the table has a row only after it."""
        strengths = self.options.l1_path
        where = f"strength {len(self.path) + 1} of {strengths[0]}, " if strengths else ""
        where += f"class {fit(name)}, " if name else ""
        return f"{where}step {steps + 1}, {solver.passes:.1f} passes, {int(seconds) // 60}:{int(seconds) % 60:02d}"

    def _row(self, p: Problem, solver: Solver, step: int, name: str, shown: bool) -> dict[str, Any]:
        """The progress of a problem after a step, printed and for the report."""
        seconds = time.monotonic() - self.started_at
        found = Bounds(p.objective, p.lower_bound)
        violation = p.violation / p.l1 if p.l1 > 0 else p.violation
        if shown:
            self._live.clear()
            say(
                f"{step:>6} {seconds:>9.3f} {p.objective:>16.10g} {found.gap:>13.6g} {100 * found.share:>9.3g} "
                f"{p.nonzeros:>9} {violation:>11.3g} {solver.columns:>9}"
                + (f"  {fit(name)}" if name else f"  {p.l1:.6g}" if self.settings.nonzeros else "")
            )
        return {
            "step": step, "seconds": round(seconds, 6), "objective": p.objective, "lower_bound": p.lower_bound,
            "nonzeros": p.nonzeros, "violation": violation if math.isfinite(violation) else None,
            "columns": solver.columns, "accesses": solver.accesses,
            **({"class": name} if name else {"l1": p.l1} if self.settings.nonzeros else {}),
        }

    # --- the end -----------------------------------------------------------------------------

    def finish(self) -> None:
        """Save the model, print the summary, write the report."""
        frame, found, rows = self._frame, self.outcome, self.examples.rows
        self._live.clear()
        self._write_model(interrupted=frame.signal is not None)
        results, notes = self.results(), self.notes()
        frame.show(summary(results), notes, ended=True)
        if found.warning and frame.signal is None:
            say(f"warning: {found.warning}: the gap is {100 * found.share:.3g} %")
        names = (
            "tolerance", "max_seconds", "max_passes", "seed", *self.row.options, "l1_of_max", "l1_path", "data",
            "model", "initial", "threads", "names",
        )
        frame.report(
            options=frame.reported_options(self.settings, *names, solver=self.solver, cache=self.examples.cache),
            signal=frame.signal,
            data={
                "examples": len(rows), "unlabelled": rows.unlabelled, "bad_lines_skipped": self.examples.bad.count,
                "columns": len(rows.keys), "nonzeros": rows.nonzeros,
            },
            steps=found.rows,
            path=self.path,
            results={**values(results), "l1_max": self.l1_max, "warning": found.warning or None},
            notes=notes,
        )

    def results(self) -> list[Result]:
        """What the summary and the report say."""
        found, settings = self.outcome, self.settings
        norm = math.fsum(abs(w) for weights, _ in self.weights for w in weights)
        results = [*found.results(), Result("nonzero_weights", found.nonzeros), Result("sum_of_weights", norm)]
        if settings.radius is not None:
            results.append(Result("radius", settings.radius))
        elif "l1" not in self.row.takes:
            results.append(Result("l2", settings.l2))
        else:
            part = settings.l1 / self.l1_max if self.l1_max else math.inf
            results.append(Result("l1", settings.l1))
            results.append(Result("l1_over_l1_max", part if math.isfinite(part) else None))
        seconds = round(time.monotonic() - self.started_at, 3)
        return [*results, Result("steps", found.steps), Result("passes", found.passes), Result("seconds", seconds),
                Result("ended", found.ended)]

    def notes(self) -> list[str]:
        """What the data say about the options."""
        examples, found = self.examples, list(self.examples.notes()[1])
        for name in self._one_sided:
            found.append(
                "some classes have no examples: their optimal intercepts are infinite" if self.settings.softmax
                else f"{examples.one_sided(name)}: the optimal intercept is infinite; it ends where the loss is near 0"
            )
        if not self.outcome.nonzeros and self.l1_max and self.settings.l1 >= self.l1_max:
            found.append(f"all weights are zero, as with every --l1 of at least {self.l1_max:.6g}")
        return found

    def _write_model(self, interrupted: bool) -> None:
        if self.file is not None:
            self.file.new_version()
            write_model(self.file, self._model(interrupted))
            self.file.commit()

    def _model(self, interrupted: bool) -> Model:
        examples, names = self.examples, self.examples.class_names
        model = solved_model(
            replace(self.settings, normalize="none") if examples.dense else self.settings, examples.rows.keys,
            examples.folded(self.weights), examples.constant_key,
            counters=examples.counters, interrupted=interrupted, columns=examples.columns,
            classes=names.first(len(names)) if names is not None and self.settings.classes == "auto" else [],
            solved={
                "solver": self.solver,
                "objective": self.outcome.objective,
                "lower_bound": self.outcome.lower_bound,
                "l1_max": self.l1_max if self._has_l1_max else None,
                "passes": self.outcome.passes,
                "data": examples.digest,
            },
        )
        if self.feature_names is not None:
            model.names = FeatureNames.kept(self.feature_names, model.keys, model.weights, self.settings.bits)
        return examples.of_table(model)

    def kept(self) -> str:
        """What became of the model of an interrupted run, as the end of a sentence."""
        o = self.options
        if not self.weights:
            if o.model is None or o.l1_path is not None:
                return "; nothing was solved"
            left = "is unchanged" if os.path.exists(o.model) else "is not written"
            return f"; nothing was solved, {o.model} {left}"
        if self.file is None:
            return "; no --model was given"
        return f"; the model so far was saved to {self.file.name}, -i continues from it"

    def _print_head(self) -> None:
        o, s, rows = self.options, self.settings, self.examples.rows
        if o.quiet:
            return
        strength = f"radius = {s.radius:g}" if s.radius is not None else f"l1 = {s.l1:.6g}"
        if o.l1_path is not None or s.nonzeros:
            strength = f"l1 from {self.l1_max:.6g} down"
        elif "l1" not in self.row.takes and s.radius is None:
            strength = ""
        strength = ", ".join([*filter(None, [strength]), *([f"l2 = {s.l2:g}"] if s.l2 else [])])
        say(f"solver = {self.solver}, loss = {s.loss}, {s.outputs.count}{strength}, bits = {s.bits}")
        say(f"{len(rows)} examples, {len(rows.keys)} columns, {rows.nonzeros} nonzeros")
        if o.initial:
            say(f"starts from {o.initial}")
        if o.model:
            say(f"model = {o.model}")


def solver_class(kind: str) -> type[Solver]:
    """The class that the table names as MODULE:CLASS."""
    module, _, name = kind.partition(":")
    return cast(type[Solver], getattr(import_module(f"vwlite.core.solve.{module}"), name))


def numbers_of(problem: Problem) -> list[Numbers]:
    """A copy of the weights as they are, of each class of the problem."""
    if not isinstance(problem, SoftmaxProblem):
        return [(array("d", problem.w), problem.b)]
    weights, columns = problem.w.tobytes(), 8 * len(problem.rows.keys)
    return [(array("d", weights[k * columns : (k + 1) * columns]), b) for k, b in enumerate(problem.b)]


class Best:
    """The best weights so far, for a solver whose objective may rise: those of the least objective."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.objective = math.inf
        self._numbers: list[Numbers] | None = None
        self.look()

    def look(self) -> None:
        """Keep the weights after a step if they are the best."""
        p = self._problem
        if p.objective < self.objective:
            self.objective, self._numbers = p.objective, numbers_of(p)

    def restore(self) -> None:
        """Set the problem to the best weights."""
        p = self._problem
        if self._numbers is not None and p.objective > self.objective:
            set_numbers(p, self._numbers)


class BestOfCount(Best):
    """The best weights with at most `most` nonzero ones, for a search for a strength that ends with more."""

    def __init__(self, problem: Problem, most: int) -> None:
        self._most = most
        self._l1 = problem.l1
        super().__init__(problem)

    def look(self) -> None:
        p = self._problem
        if p.nonzeros <= self._most:
            self._l1, self._numbers = p.l1, numbers_of(p)

    def restore(self) -> None:
        p = self._problem
        if self._numbers is not None and p.nonzeros > self._most:
            if p.l1 != self._l1:
                p.set_l1(self._l1)
            set_numbers(p, self._numbers)
