"""Runs of `vwlite train`, the same in this process, and the objective along the way of an online learner."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from compare import Refused, vwlite

from papers.data import Sparse
from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.learn.learner import Reason
from vwlite.core.solve.problem import Problem
from vwlite.model.learners import make_learner
from vwlite.model.snapshot import snapshot


@dataclass
class Run:
    """A model that was learned: its scores of other data, and how many weights it has."""

    scores: np.ndarray
    nonzeros: int
    seconds: float


class Bench:
    """Data as text, in a folder, with the caches of what is learned from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, Path] = {}

    def add(self, name: str, data: Sparse) -> None:
        self.texts[name] = data.write(self.folder / f"{name}.libsvm")

    def run(self, on: str, to: Sparse, *options: object, passes: int = 1) -> Run | None:
        """Learn a text, and score other data. None if that diverges."""
        model = self.folder / "model"
        typed: list[object] = [self.texts[on], "--cache-file", self.folder / f"{on}.cache", *options]
        if passes > 1:
            typed += ["--passes", passes, "--holdout-off"]
        results = unless_diverged(self.folder, *typed, "-m", model, "--save-weights-only")
        if results is None:
            return None
        w, constant = weights_of(model, to.features)
        scores = to.scores(w, constant)
        return Run(scores, results["nonzero_weights"], results["seconds"]) if np.isfinite(scores).all() else None

    def close(self) -> None:
        for path in self.folder.glob("*"):
            path.unlink()


def unless_diverged(folder: Path, *typed: object) -> dict[str, Any] | None:
    """The results of `vwlite train`; None if it says that it diverged."""
    try:
        return vwlite(folder, "train", *typed)
    except Refused as e:
        if "diverged" not in str(e):
            raise
        return None


def weights_of(model: Path, features: int) -> tuple[np.ndarray, float]:
    """Weights by index, and the constant, of a model of libsvm text."""
    with np.load(model) as arrays:
        return by_index(arrays["keys"], arrays["weights"], features)


def by_index(keys: np.ndarray, values: np.ndarray, features: int) -> tuple[np.ndarray, float]:
    at_constant = keys == CONSTANT_HASH
    w = np.zeros(max(features, int(keys[~at_constant].max(initial=0))) + 1)
    w[keys[~at_constant]] = values[~at_constant]
    return w, float(values[at_constant].sum())


def learn(batches: Sequence[Batch], features: int, passes: int, **settings: Any) -> tuple[np.ndarray, float] | None:
    """Weights by index, and the constant, that `vwlite train` finds with these settings in so many passes without a
    holdout: many short runs take less time in this process. None if learning diverges."""
    chosen = replace(Settings.of(settings["algorithm"]), **settings)
    learner = make_learner(chosen)
    for number in range(passes):
        learner.rule.pass_decay = chosen.decay_learning_rate**number
        learner.begin_pass()
        for batch in batches:
            learner.run(batch)
            if learner.reason == Reason.DIVERGED:
                return None
    learner.rule.final = True
    model = snapshot(learner, chosen, {}, weights_only=True)
    return by_index(np.asarray(model.keys), np.asarray(model.weights), features)


def trace(
    bench: Bench, on: str, problem: Problem, options: Iterable[object], passes: Iterable[int], entries: int
) -> tuple[list[float], list[float], list[float]]:
    """Entries read, objective and nonzero weights after each pass, which continues the previous one.

    The objective is that of the problem, without a constant. Ends where the learner diverges.
    """
    accesses, objectives, counts = [0.0], [objective_of(problem, None)], [0.0]
    model, done = bench.folder / "chain", 0
    keys = np.asarray(problem.rows.keys)
    for n in passes:
        typed: list[Any] = [bench.texts[on], "--cache-file", bench.folder / f"{on}.cache", "-m", model]
        typed += ["-i", model] if done else [*options, "--no-constant"]
        typed += ["--passes", n - done, "--holdout-off"] if n - done > 1 else []
        results = unless_diverged(bench.folder, *typed)
        if results is None:
            break
        w, _ = weights_of(model, int(keys[-1]))
        accesses.append(float(n * entries))
        objectives.append(objective_of(problem, w[keys.astype(int)]))
        counts.append(float(results["nonzero_weights"]))
        done = n
    model.unlink(missing_ok=True)
    return accesses, objectives, counts


def objective_of(problem: Problem, w: np.ndarray | None) -> float:
    problem.set(np.zeros(len(problem.w)) if w is None else w, 0.0)
    problem.evaluate()
    return problem.objective
