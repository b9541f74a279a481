"""Weights that change between passes only: bfgs, conjugate_gradient."""

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.vw.layers.base import LinearLayer
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.setup import Setup

RESUMING = (
    "BFGS does not support models with save_resume data. Only models produced and consumed with --predict_only_model "
    "can be used with BFGS."
)
WRITTEN = (
    "final_regressor", "readable_model", "invert_hash", "output_feature_regularizer_binary",
    "output_feature_regularizer_text",
)


class Bfgs(LinearLayer):
    """The row of `--bfgs`; the layer on top is a `solvers.linear.BatchLinear`."""

    option = "bfgs"
    excludes = ("feature_mask", "oaa_subsample", "audit_regressor")
    requires = "batches"
    compatible_with = ("batches", "lines")

    @classmethod
    def over(cls, base: LinearLayer, s: Setup) -> LinearLayer:  # type: ignore[override]
        from vwlite.vw.solvers.linear import BatchLinear  # here, because numpy takes 100 ms of each start
        from vwlite.vw.solvers.regularizer import Regularizer
        from vwlite.vw.solvers.solver import PassSolver

        a, stepper = s.arguments, base.stepper
        if a.flag("bfgs") and a.flag("conjugate_gradient"):
            raise Critical("'conjugate_gradient' and 'bfgs' cannot be used together.", "bfgs.cc", 1110)
        memory = a.get("mem", 15) if a.flag("bfgs") else 0
        if memory < 0:
            raise Refused(f"--mem {memory}")
        curved = a.flag("hessian_on") or memory == 0
        what = "BFGS based optimization" if memory else "conjugate gradient optimization via BFGS"
        s.header_lines.append(f"enabling {what} {'with' if curved else '**without**'} curvature calculation")
        tests = a.flag("testonly")
        if a.get("passes", 1) < 2 and not tests:
            raise Critical("At least 2 passes must be used for BFGS", "bfgs.cc", 1160)
        if not a.flag("predict_only_model"):
            if s.head is not None or s.model is not None:
                path = a["initial_regressor"][0] if s.regularizer is None else a["input_feature_regularizer"]
                raise Critical(f"model load failed. Error Details: {RESUMING}, model files = {path}", "bfgs.cc", 1000)
            if any(name in a for name in WRITTEN):
                raise Critical(f"model save failed. Error Details: {RESUMING}", "bfgs.cc", 1000)
        regularizer = Regularizer(a.get("l2", 0.0))
        if s.regularizer is not None:
            regularizer.take(*s.regularizer)
        termination = a.get("termination", 0.001) if a.flag("bfgs") else 0.0
        solver = PassSolver(memory, termination, curved, s.streams, stepper.loss)
        constant_key = stepper.key(CONSTANT_HASH) if a.flag("no_bias_regularization") else -1
        name = "bfgs-audit" if a.flag("audit") or "invert_hash" in a else "bfgs"
        return BatchLinear(name, stepper, s.streams, solver, regularizer, s.plan.bits, constant_key, tests)


class ConjugateGradient(Bfgs):
    """The row of `--conjugate_gradient`."""

    option = "conjugate_gradient"
