"""Batch solvers: L-BFGS and conjugate gradient, as `--bfgs` and `--conjugate_gradient` of Vowpal Wabbit have them.

What is minimised is sum_i c_i l(<w, x_i> + b_i, y_i) + sum_j r_j (w_j - u_j)^2 / 2, c_i being the importance of an
example and b_i its initial prediction. The r_j are all `--l2`, and the u_j are 0, unless a file has others
(`--input_feature_regularizer`).

The examples are gone through in passes. A pass finds the loss and the gradient at w, or the second derivative along
the direction d of the search; what is done then is decided at its end (`Solver.end_pass`). The first step is the
Newton step along d; later steps have length 1, or the Newton step's with `--hessian_on`; a step that does not lower the
loss enough (the first Wolfe condition, with 0.01) is halved.

Nocedal, Wright. Numerical Optimization, 2nd edition 2006: algorithm 7.4 (two loops), section 5.2 (conjugate gradient
after Polak and Ribiere, restarted where beta is negative).

Weights and all that is kept for each of them are single precision, and sums over examples and weights are made in
the same order and precision as there, so that its runs are followed as far as numbers go.
"""

from array import array
from dataclasses import dataclass
from math import copysign, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from vwlite.core.learn.losses import Loss
from vwlite.core.vw.stepper import Stepper
from vwlite.vw.layers.base import Current, Linear
from vwlite.vw.messages import Streams
from vwlite.vw.models.binary import Layout

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

WOLFE = 0.01  # how much of the decrease that the gradient promises a step has to bring
LARGEST_RATIO = 10000.0  # of the diagonal of the preconditioner

NO_CURVATURE = (
    "Zero or negative curvature detected.\n"
    "To increase curvature you can increase regularization or rescale features.\n"
    "It is also possible that you have reached numerical accuracy\n"
    "and further decrease in the objective cannot be reliably detected."
)
BLANK = f"{'':<10}\t"


def column(x: float, form: str = "<10.5f") -> str:
    """A number of a row."""
    text = format(x, form)
    if isnan(x) and copysign(1.0, x) < 0:  # as C prints it
        text = f"{'-nan':<{len(text)}}"
    return text + "\t"


def dot(*factors: npt.NDArray[Any]) -> float:
    """The sum of the products, in double precision."""
    product = factors[0].astype(np.float64)
    for factor in factors[1:]:
        product *= factor
    return float(product.sum())


def ratio(a: float, b: float) -> float:
    """a / b, also where b is 0; 0 / 0 is -NaN, as processors have it."""
    if b or isnan(a):
        return a / b if b else a
    return copysign(float("inf"), a) * copysign(1.0, b) if a else -float("nan")


# --- examples ------------------------------------------------------------------------------------


class Rows:
    """Examples as a sparse matrix, one row for each time that the model was asked."""

    def __init__(self) -> None:
        self._keys, self._values = array("I"), array("f")
        self._sizes, self._initial = array("I"), array("f")
        self.columns = np.zeros(0, np.intp)

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, keys: list[int], values: list[float], initial: float) -> None:
        """Another row."""
        self._keys.extend(keys)
        self._values.extend(values)
        self._sizes.append(len(keys))
        self._initial.append(initial)

    def freeze(self, more: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """There are no more rows. The keys of the columns, rising: those of the rows and some more."""
        keys = np.asarray(self._keys, np.uint32)
        found: npt.NDArray[np.uint32] = np.union1d(keys, more)
        self.columns = np.searchsorted(found, keys)
        self.values = np.asarray(self._values, np.float32)
        self.initial = np.asarray(self._initial, np.float32)
        self.rows = np.repeat(np.arange(len(self)), np.asarray(self._sizes, np.intp))
        self._keys = array("I")
        return found

    def times(self, v: Floats) -> Floats:
        """For each row x with the initial prediction b, <v, x> + b."""
        p: Floats = self.initial.copy()
        np.add.at(p, self.rows, v[self.columns] * self.values)
        return p

    def add_to(self, v: Floats, factors: Floats, power: int = 1) -> None:
        """Add to v each row, or its squares, times its factor."""
        terms = factors[self.rows] * self.values
        if power == 2:
            terms *= self.values
        np.add.at(v, self.columns, terms)


@dataclass
class Told:
    """What the layers above said of the rows in a pass."""

    labels: "array[float]"
    weights: "array[float]"
    learned: "array[int]"  # 1: to be learned
    held: "array[int]"  # 1: held out

    @classmethod
    def nothing(cls) -> "Told":
        return cls(array("f"), array("f"), array("b"), array("b"))

    def add(self, e: Current, learned: bool) -> None:
        self.labels.append(e.label)
        self.weights.append(e.weight)
        self.learned.append(learned)
        self.held.append(e.held)

    def judged(self, loss: Loss, p: Floats) -> Doubles:
        """The loss of each prediction and its first two derivatives, not weighted: three rows."""
        found = np.empty((3, len(p)))
        loss.judge_each(p.astype(np.float64), np.asarray(self.labels, np.float32).astype(np.float64), *found)
        return found


# --- the solver ----------------------------------------------------------------------------------


class Stalled(Exception):
    """There is no curvature along the last step."""


class Weights:
    """The weights and what is kept for each of them; the L-BFGS memory.

    w: weights; g: gradient; d: direction of the search; h: the preconditioner, a diagonal. r, u: the regulariser
    sum r (w - u)^2 / 2. free: the place of a weight that is not regularised.
    """

    def __init__(self, w: Floats, r: Floats, u: Floats, memory: int, free: int | None = None) -> None:
        self.w, self.r, self.u, self.memory, self.free = w, r, u, memory, free
        self.g, self.d, self.h = (np.zeros_like(w) for _ in range(3))
        self.old_w, self.old_g = w.copy(), np.zeros_like(w)
        self.steps: list[tuple[Floats, Floats, float]] = []  # y, s, 1 / <y, s>; the newest first

    def regularize(self) -> float:
        """Add the gradient of the regulariser; its value."""
        away = self.w - self.u
        force = self.r * away
        value = 0.5 * dot(self.r, away, away)
        if self.free is not None:
            value -= 0.5 * float(force[self.free]) * float(away[self.free])
            force[self.free] = 0
        self.g += force
        return value

    def bend(self) -> float:
        """The second derivative of the regulariser along d."""
        return dot(self.d, self.d, self.r)

    def invert(self) -> None:
        """From second derivatives to the preconditioner."""
        self.h += self.r
        largest = float(self.h.max(initial=0))
        np.divide(1, self.h, out=self.h, where=self.h > 0)
        if largest:
            np.minimum(self.h, np.float32(LARGEST_RATIO / largest), out=self.h)

    def magnitudes(self) -> tuple[float, float]:
        """<g, g> and <g, H g>."""
        return dot(self.g, self.g), dot(self.g, self.g, self.h)

    def remember(self) -> None:
        self.old_g[:], self.old_w[:] = self.g, self.w
        self.g[:] = 0

    def start(self) -> None:
        """The first direction. What is known of the second derivatives of the loss serves for it alone."""
        self.d[:] = -self.h * self.g
        self.remember()
        self.h[:] = 0
        self.invert()

    def conjugate(self) -> float:
        """The next direction of conjugate gradient; the share that the last one has in it."""
        change = self.g - self.old_g
        top, bottom = dot(self.g, self.h, change), dot(self.old_g, self.h, self.old_g)
        beta = ratio(top, bottom)
        if beta < 0 or isnan(beta):
            beta = 0.0
        self.d *= np.float32(beta)
        self.d -= self.h * self.g
        self.remember()
        return float(np.float32(beta))

    def two_loops(self) -> None:
        """The next direction of L-BFGS. Stalled if the last step found no curvature."""
        y, s = self.g - self.old_g, self.w - self.old_w
        d = self.d
        d[:] = self.g
        y_s, y_hy = dot(y, s), dot(y, y, self.h)
        if y_s <= 0 or y_hy <= 0:
            raise Stalled
        self.steps.insert(0, (y, s, 1 / y_s))
        del self.steps[self.memory :]
        alphas = []
        for y, s, rho in self.steps:
            alphas.append(rho * dot(s, d))
            d -= np.float32(alphas[-1]) * y
        d *= np.float32(y_s / y_hy) * self.h
        for (y, s, rho), alpha in zip(reversed(self.steps), reversed(alphas), strict=True):
            d += np.float32(alpha - rho * dot(y, d)) * s
        np.negative(d, out=d)
        self.remember()

    def go(self, step: float) -> None:
        self.w += np.float32(step) * self.d


class Solver:
    """Decides at the end of each pass what the next one is for.

    Passes of the first kind (`gradient_pass`) find the loss and the gradient, those of the second kind the curvature
    along the direction. m: steps remembered; 0 for conjugate gradient. termination: stop when the loss decreases by
    less than this share. curved: use the curvature for every step, not for the first one only.
    """

    HEAD = (
        f"{'##':>2} {'avg. loss':<10}\t{'der. mag.':<10}\t{'d. m. cond.':<10}\t {'wolfe1':<10}\t{'wolfe2':<10}\t"
        f"{'mix fraction':<10}\t{'curvature':<10}\t{'dir. magnitude':<10}\tstep size"
    )

    def __init__(self, m: int, termination: float, curved: bool, streams: Streams, loss: Loss) -> None:
        self.m, self.termination, self.curved, self.loss = m, termination, curved, loss
        self.streams, self.say = streams, streams.put
        self.gradient_pass = True
        self.passes = 0  # so far
        self.step = 0.0
        self.loss_sum = self.last_loss_sum = self.importance = 0.0
        self.converged = False

    def end_pass(self, weights: Weights, rows: Rows, p: Floats, told: Told, holdout: float | None) -> None:
        """What follows a pass in which the rows had the predictions p.

        holdout: what stands for the loss in the row of the table: the loss on examples that were held out, NaN if it
        is not known, or None for the loss on the others.
        """
        importance = np.asarray(told.weights, np.float32)
        learned = np.asarray(told.learned, np.bool_)
        loss, slope, curvature = told.judged(self.loss, p)

        def weighed(x: Doubles) -> Floats:
            return np.where(learned, x.astype(np.float32) * importance, np.float32(0))

        if self.gradient_pass:
            self.loss_sum = dot(weighed(loss))
            rows.add_to(weights.g, weighed(slope))
            if self.passes == 0:
                self.importance = dot(importance[learned])
                rows.add_to(weights.h, weighed(curvature), 2)
                weights.invert()
            self.loss_sum += weights.regularize()
            if self.passes == 0:
                self._begin(weights)
            else:
                self._judge(weights, holdout)
        else:
            along = rows.times(weights.d)  # with the initial predictions: a slip that Vowpal Wabbit's runs show
            self._measure(weights, dot(along, along, weighed(curvature)) + weights.bend())
        self.passes += 1

    def _average(self, total: float) -> float:
        return ratio(total, self.importance)

    def _magnitudes(self, weights: Weights) -> str:
        g_g, g_hg = weights.magnitudes()
        return column(ratio(g_g, self.importance**2)) + column(self._average(g_hg))

    def _begin(self, weights: Weights) -> None:
        """The first direction."""
        self.say(f"{1:>2} {column(self._average(self.loss_sum))}{self._magnitudes(weights)}{BLANK * 3}")
        self.last_loss_sum = self.loss_sum
        weights.start()
        self.gradient_pass = False

    def _judge(self, weights: Weights, holdout: float | None) -> None:
        """The gradient is known: step back, or find a new direction."""
        if holdout is None:
            average = column(self._average(self.loss_sum))
        else:
            average = "h unknown    " if isnan(holdout) else "h" + column(holdout)
        before = dot(weights.old_g, weights.d)
        wolfe1 = ratio(self.loss_sum - self.last_loss_sum, self.step * before)
        wolfe2 = ratio(dot(weights.g, weights.d), before)
        self.say(f"{self.passes + 1:>2} {average}{self._magnitudes(weights)} ")
        self.say(column(wolfe1, "<10f") + column(wolfe2, "<10f"))
        if isnan(wolfe1):
            self.say("\n")
            self._stop("Derivative 0 detected.")
        elif wolfe1 < WOLFE or self.loss_sum > self.last_loss_sum:
            half = 0.5 * self.step
            self.say(f"{BLANK}{BLANK}(revise x 0.5)\t{half:<.5f}\n")
            weights.go(half - self.step)
            self.step = half
            weights.g[:] = 0
        else:
            self._turn(weights)

    def _turn(self, weights: Weights) -> None:
        """A new direction."""
        if abs(ratio(self.last_loss_sum - self.loss_sum, self.last_loss_sum)) < self.termination:
            self._stop("")
            self.streams.info(
                f"Termination condition reached in pass {self.passes + 1}: decrease in loss less than "
                f"{self.termination * 100:.3f}%.\nIf you want to optimize further, decrease termination threshold."
            )
        self.last_loss_sum = self.loss_sum
        self.step = 1.0
        if self.m == 0:
            self.say(f"{weights.conjugate():f}\t")
        else:
            self.say(BLANK)
            try:
                weights.two_loops()
            except Stalled:
                self._stop(f"In bfgs_iter_middle: {NO_CURVATURE}")
        if self.curved:
            self.gradient_pass = False
        else:
            self._go(weights, BLANK)

    def _measure(self, weights: Weights, curvature: float) -> None:
        """The curvature along the direction is known: make the step."""
        slope = dot(weights.old_g, weights.d)
        if curvature == 0 and slope != 0:
            self._stop(NO_CURVATURE)
        elif slope == 0:
            self._stop("Derivative 0 detected.")
        else:
            self.step = float(np.float32(-slope) / np.float32(curvature))
        self._go(weights, column(self._average(curvature)))
        self.gradient_pass = True

    def _go(self, weights: Weights, curvature: str) -> None:
        weights.go(self.step)
        self.say(f"{curvature}{column(float(np.float32(dot(weights.d, weights.d))))}{self.step:<.5f}\n")

    def _stop(self, words: str) -> None:
        self.streams.info(words)
        self.step = 0.0
        self.converged = True


# --- the regulariser --------------------------------------------------------------------------------


class Regularizer:
    """sum_j r_j (w_j - u_j)^2 / 2. By slot if a file says so; else all r_j are l2, and the u_j are 0."""

    def __init__(self, l2: float) -> None:
        self.l2 = l2
        self.given = False  # by a file
        self.keys = np.zeros(0, np.uint32)  # that it has
        self.r = self.u = np.zeros(0, np.float32)
        self.written = 0  # files

    def take(self, slots: "array[int]", floats: "array[float]") -> None:
        """Slots and floats as a file has them: r at 2 j, u at 2 j + 1."""
        self.given = True
        found = np.asarray(slots, np.int64)
        self.keys = np.unique(found >> 1).astype(np.uint32)
        both = np.zeros((len(self.keys), 2), np.float32)
        both[np.searchsorted(self.keys, found >> 1), found & 1] = np.asarray(floats, np.float32)
        self.r, self.u = both[:, 0].copy(), both[:, 1].copy()

    def over(self, keys: npt.NDArray[np.uint32]) -> tuple[Floats, Floats]:
        """r and u for these slots, which are all that the file has or more."""
        r = np.full(len(keys), 0 if self.given else self.l2, np.float32)
        u = np.zeros(len(keys), np.float32)
        at = np.searchsorted(keys, self.keys)
        r[at], u[at] = self.r, self.u
        return r, u

    def following(
        self, weights: Weights, keys: npt.NDArray[np.uint32], bits: int
    ) -> tuple["array[int]", "array[float]"]:
        """Slots and floats for a file: u is w; r grows by the inverse preconditioner, again with every file written."""
        self.written += 1
        more = np.zeros_like(weights.h)
        np.divide(1, weights.h, out=more, where=weights.h > 0)
        if not self.given:  # slots that no example has are regularised as well
            slots = np.arange(1 << bits)
            both = np.zeros((len(slots), 2), np.float32)
            both[:, 0] = self.l2 * (1 + self.written)
            both[keys] = np.stack([weights.r + self.written * more, weights.w], axis=1)
        else:
            slots = keys.astype(np.int64)
            both = np.stack([weights.r + self.written * more, weights.w], axis=1).astype(np.float32)
        places = np.stack([2 * slots, 2 * slots + 1], axis=1)
        kept = both != 0
        return array("Q", places[kept].astype(np.uint64).tobytes()), array("f", both[kept].tobytes())


# --- as the bottom of a learner --------------------------------------------------------------------


class Batch(Linear):
    """A linear model whose weights change only between passes.

    The first pass takes down the features that come by; the later ones are made from those notes. They rely on the
    layers above to ask in the same order in every pass.

    bits: of slots. constant: the key of the constant if it is not to be regularised, or -1. tests: nothing will be
    learned, and no notes are taken.
    """

    def __init__(
        self, name: str, stepper: Stepper, streams: Streams, solver: Solver, regularizer: Regularizer, bits: int,
        constant: int, tests: bool,
    ) -> None:  # fmt: skip
        super().__init__(name, stepper, streams)
        self.solver, self.regularizer, self.bits, self.constant = solver, regularizer, bits, constant
        self.tests = tests
        self.layout = Layout(stepper.rule, ("w",))
        self.rows, self.told = Rows(), Told.nothing()
        self.last = self.told  # of the pass before
        self.weights: Weights | None = None  # not known before the first pass is over
        self.keys = np.zeros(0, np.uint32)
        self.raw = np.zeros(0, np.float32)  # predictions of the rows in this pass
        self.predictions = array("f")  # and as they are when they are clipped
        self.blank = True  # all weights are 0 in the first pass

    def predict(self, e: Current) -> None:
        self._ask(e, False)

    def learn(self, e: Current) -> None:
        self._ask(e, True)

    def _ask(self, e: Current, learned: bool) -> None:
        if self.weights is None or self.tests:
            e.prediction = self.stepper.predict(e.model, e.initial)
            self._warn(e)
            if not self.tests:
                self._note(e)
        else:
            at = len(self.told.learned)
            e.prediction, e.partial = self.predictions[at], float(self.raw[at])
            if isnan(e.partial):
                self._forgive(e)
        if not self.tests:
            self.told.add(e, learned)
        if self.audit is not None:
            self.audit(e)
        if self.collect is not None:
            self.collect(e)

    def begin(self) -> None:
        """The weights to begin with are there."""
        self.blank = not self.stepper.rule.slots()

    def _note(self, e: Current) -> None:
        """Take the example down. Its prediction is made anew, to be to the bit what it would be in a later pass."""
        stepper = self.stepper
        keys, values = stepper.keys_of(e.model), stepper.features()[1]
        self.rows.add(keys, values, e.initial)
        if self.blank:
            e.partial = e.initial
        else:
            w = np.array([stepper.weight(key) for key in keys], np.float32)
            terms = np.concatenate(([e.initial], w * np.array(values, np.float32)), dtype=np.float32)
            e.partial = float(terms.cumsum(dtype=np.float32)[-1])
        e.prediction = min(max(e.partial, stepper.min_label), stepper.max_label)
        self.predictions.append(e.prediction)

    # --- passes ------------------------------------------------------------------------------

    def finish_pass(self, holdout: float | None) -> None:
        """Have the solver decide, and be ready for the next pass. holdout: see `Solver.end_pass`."""
        if self.weights is None:
            self.weights = self._freeze()
        p = np.asarray(self.predictions, np.float32)
        with np.errstate(all="ignore"):
            self.solver.end_pass(self.weights, self.rows, p, self.told, holdout)
            if not self.tests:
                self._foresee(p)
        self.last, self.told = self.told, Told.nothing()
        if self.tests or self.audit is not None:
            self.store()

    def repeat(self) -> tuple[float, float]:
        """Make a pass in which nothing is other than in the last one but the weights.

        Returns the sums of the losses, of examples that were not held out and of those that were.
        """
        self.told = told = self.last
        labels = np.asarray(told.labels, np.float32)
        weights = np.where(np.isnan(labels), 0, np.asarray(told.weights, np.float32))
        counts = weights > 0
        loss = told.judged(self.solver.loss, np.asarray(self.predictions, np.float32))[0][counts] * weights[counts]
        held = np.asarray(told.held, np.bool_)[counts]
        return float(loss[~held].sum()), float(loss[held].sum())

    def _freeze(self) -> Weights:
        """Number the weights: all those that may ever differ from 0."""
        own = [(key, floats[0]) for key, floats in self.layout.read() if floats[0] != 0]
        have = np.array([key for key, _ in own], np.uint32)
        self.keys = self.rows.freeze(np.union1d(have, self.regularizer.keys))
        w = np.zeros(len(self.keys), np.float32)
        w[np.searchsorted(self.keys, have)] = np.array([x for _, x in own], np.float32)
        r, u = self.regularizer.over(self.keys)
        at = np.flatnonzero(self.keys == self.constant)
        weights = Weights(w, r, u, self.solver.m, int(at[0]) if len(at) else None)
        if self.regularizer.given:  # it counts twice in the first preconditioner
            weights.h += r
        return weights

    def _foresee(self, p: Floats) -> None:
        """The predictions of the next pass. Where the curvature is measured, examples keep those that they had."""
        assert self.weights is not None
        raw = self.rows.times(self.weights.w)
        shown = np.clip(np.where(np.isnan(raw), 0, raw), self.stepper.min_label, self.stepper.max_label)
        if not self.solver.gradient_pass:
            learned = np.asarray(self.told.learned, np.bool_)
            raw, shown = np.where(learned, p, raw), np.where(learned, p, shown)
        self.raw, self.predictions = raw, array("f", shown.astype(np.float32).tobytes())

    @property
    def megabytes(self) -> int:
        """What Vowpal Wabbit takes for weights and memory; here only the slots that occur take any."""
        return (4 * (2 * self.solver.m or 1) + 16 << self.bits) >> 20

    # --- models ------------------------------------------------------------------------------

    def store(self) -> None:
        """Put the weights into the table that models are written from."""
        if self.weights is not None:
            there = self.weights.w != 0
            keys = array("I", self.keys[there].astype(np.uint32).tobytes())
            floats = array("f", self.weights.w[there].tobytes())
            self.layout.rule.table_load(self.layout.write(keys, floats, 1, {}))

    def next_regularizer(self) -> tuple["array[int]", "array[float]"]:
        """The slots and floats of `--output_feature_regularizer_binary` and `_text`."""
        if self.weights is None:
            self.weights = self._freeze()
        return self.regularizer.following(self.weights, self.keys, self.bits)
