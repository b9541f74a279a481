"""A batch solver as the bottom of a learner."""

from array import array
from math import isnan

import numpy as np

from vwlite.core.vw.interleaved import load_slots
from vwlite.core.vw.stepper import Stepper
from vwlite.vw.layers.base import Current, LinearLayer
from vwlite.vw.messages import Streams
from vwlite.vw.models.binary import SlotLayout
from vwlite.vw.solvers.regularizer import Regularizer
from vwlite.vw.solvers.rows import ExampleMatrix, Floats, Responses
from vwlite.vw.solvers.solver import PassSolver
from vwlite.vw.solvers.weights import Weights


class BatchLinear(LinearLayer):
    """A linear model whose weights change only between passes.

    The first pass records the features of the examples; later passes use the record. They rely on the layers above to
    request examples in the same order in every pass.

    bits: of slots. constant_key: that of the constant if it is not to be regularized, or -1. tests: nothing is
    learned, and nothing is recorded.
    """

    in_batches = True

    def __init__(
        self, name: str, stepper: Stepper, streams: Streams, solver: PassSolver, regularizer: Regularizer, bits: int,
        constant_key: int, tests: bool,
    ) -> None:
        super().__init__(name, stepper, streams)
        self.solver, self.regularizer, self.bits, self.constant_key = solver, regularizer, bits, constant_key
        self.tests = tests
        self.layout = SlotLayout(stepper.rule, ("w",))
        self.rows, self.responses = ExampleMatrix(), Responses.none()
        self.last = self.responses  # of the pass before
        self.weights: Weights | None = None  # not known before the first pass is over
        self.keys = np.zeros(0, np.uint32)
        self.raw = np.zeros(0, np.float32)  # predictions of the rows in this pass
        self.predictions = array("f")  # and the clipped ones
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
            at = len(self.responses.learned)
            e.prediction, e.partial = self.predictions[at], float(self.raw[at])
            if isnan(e.partial):
                self._forgive(e)
        if not self.tests:
            self.responses.add(e, learned)
        if self.audit is not None:
            self.audit(e)
        if self.collect is not None:
            self.collect(e)

    def weights_are_set(self) -> None:
        """Called when the initial weights are set."""
        self.blank = not self.stepper.rule.slots()

    def _note(self, e: Current) -> None:
        """Record the example. Its prediction is recomputed, to have the same bits as in a later pass."""
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
        """Let the solver decide, and prepare the next pass. holdout: see `PassSolver.end_pass`."""
        if self.weights is None:
            self.weights = self._freeze()
        p = np.asarray(self.predictions, np.float32)
        with np.errstate(all="ignore"):
            self.solver.end_pass(self.weights, self.rows, p, self.responses, holdout)
            if not self.tests:
                self._predict_next(p)
        self.last, self.responses = self.responses, Responses.none()
        if self.tests or self.audit is not None:
            self.store()

    def repeat(self) -> tuple[float, float]:
        """Make a pass in which only the weights differ from the last one.

        Returns the sums of the losses, of examples that were not held out and of those that were.
        """
        self.responses = responses = self.last
        labels = np.asarray(responses.labels, np.float32)
        weights = np.where(np.isnan(labels), 0, np.asarray(responses.weights, np.float32))
        counts = weights > 0
        losses = responses.evaluate(self.solver.loss, np.asarray(self.predictions, np.float32))[0]
        loss = losses[counts] * weights[counts]
        held = np.asarray(responses.held, np.bool_)[counts]
        return float(loss[~held].sum()), float(loss[held].sum())

    def _freeze(self) -> Weights:
        """Number the weights that may become nonzero."""
        own = [(key, floats[0]) for key, floats in self.layout.read() if floats[0] != 0]
        have = np.array([key for key, _ in own], np.uint32)
        self.keys = self.rows.freeze(np.union1d(have, self.regularizer.keys))
        w = np.zeros(len(self.keys), np.float32)
        w[np.searchsorted(self.keys, have)] = np.array([x for _, x in own], np.float32)
        r, u = self.regularizer.over(self.keys)
        at = np.flatnonzero(self.keys == self.constant_key)
        weights = Weights(w, r, u, self.solver.m, int(at[0]) if len(at) else None)
        if self.regularizer.given:  # it counts twice in the first preconditioner
            weights.h += r
        return weights

    def _predict_next(self, p: Floats) -> None:
        """The predictions of the next pass. A pass that measures the curvature does not change them."""
        assert self.weights is not None
        raw = self.rows.times(self.weights.w)
        shown = np.clip(np.where(np.isnan(raw), 0, raw), self.stepper.min_label, self.stepper.max_label)
        if not self.solver.gradient_pass:
            learned = np.asarray(self.responses.learned, np.bool_)
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
            load_slots(self.layout.rule, self.layout.write(keys, floats, 1, {}))

    def next_regularizer(self) -> tuple["array[int]", "array[float]"]:
        """The slots and floats of `--output_feature_regularizer_binary` and `_text`."""
        if self.weights is None:
            self.weights = self._freeze()
        return self.regularizer.following(self.weights, self.keys, self.bits)
