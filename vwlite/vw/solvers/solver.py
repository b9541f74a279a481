"""The purpose of each pass of a batch solver: a new direction, the curvature along it, or a step back."""

from math import copysign, isnan

import numpy as np

from vwlite.core.learn.losses import Loss
from vwlite.vw.messages import Streams
from vwlite.vw.solvers.rows import Doubles, ExampleMatrix, Floats, Responses, dot, ratio
from vwlite.vw.solvers.weights import NoCurvature, Weights

WOLFE = 0.01  # how much of the decrease that the gradient promises a step has to bring

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


class PassSolver:
    """Decides at the end of each pass the purpose of the next one.

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

    def end_pass(
        self, weights: Weights, rows: ExampleMatrix, p: Floats, responses: Responses, holdout: float | None
    ) -> None:
        """What follows a pass in which the rows had the predictions p.

        holdout: shown as the loss in the row of the table: the loss on examples that were held out, NaN if it
        is not known, or None for the loss on the others.
        """
        importance = np.asarray(responses.weights, np.float32)
        learned = np.asarray(responses.learned, np.bool_)
        loss, dloss, curvature = responses.evaluate(self.loss, p)

        def weighed(x: Doubles) -> Floats:
            return np.where(learned, x.astype(np.float32) * importance, np.float32(0))

        if self.gradient_pass:
            self.loss_sum = dot(weighed(loss))
            rows.add_to(weights.g, weighed(dloss))
            if self.passes == 0:
                self.importance = dot(importance[learned])
                rows.add_to(weights.h, weighed(curvature), 2)
                weights.invert()
            self.loss_sum += weights.regularize()
            if self.passes == 0:
                self._first_direction(weights)
            else:
                self._judge(weights, holdout)
        else:
            along = rows.times(weights.d)  # with the initial predictions: a slip that Vowpal Wabbit's runs show
            self._measure(weights, dot(along, along, weighed(curvature)) + weights.curvature_along())
        self.passes += 1

    def _average(self, total: float) -> float:
        return ratio(total, self.importance)

    def _magnitudes(self, weights: Weights) -> str:
        g_g, g_hg = weights.magnitudes()
        return column(ratio(g_g, self.importance**2)) + column(self._average(g_hg))

    def _first_direction(self, weights: Weights) -> None:
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
            weights.step(half - self.step)
            self.step = half
            weights.g[:] = 0
        else:
            self._new_direction(weights)

    def _new_direction(self, weights: Weights) -> None:
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
                weights.two_loop_recursion()
            except NoCurvature:
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
        weights.step(self.step)
        self.say(f"{curvature}{column(float(np.float32(dot(weights.d, weights.d))))}{self.step:<.5f}\n")

    def _stop(self, words: str) -> None:
        self.streams.info(words)
        self.step = 0.0
        self.converged = True
