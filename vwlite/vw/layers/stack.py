"""The layers that there are, in their order: what goes with what, and how they are put one over the other."""

from vwlite.vw.arguments import MODELS, Arguments, letters
from vwlite.vw.layers.active import Active
from vwlite.vw.layers.autolink import Autolink
from vwlite.vw.layers.base import Layer, Named
from vwlite.vw.layers.baseline import Baseline
from vwlite.vw.layers.bfgs import Bfgs, ConjugateGradient
from vwlite.vw.layers.binary import Binary
from vwlite.vw.layers.boosting import Boosting
from vwlite.vw.layers.bootstrap import Bootstrap
from vwlite.vw.layers.bottoms import Noop, Print
from vwlite.vw.layers.classweight import ClassWeight, MulticlassWeight
from vwlite.vw.layers.confidence import Confidence
from vwlite.vw.layers.csoaa import Csoaa
from vwlite.vw.layers.ect import Ect
from vwlite.vw.layers.interact import Interact
from vwlite.vw.layers.ldf import Ldf, WapLdf
from vwlite.vw.layers.lrq import Lrq
from vwlite.vw.layers.lrqfa import Lrqfa
from vwlite.vw.layers.marginal import Marginal
from vwlite.vw.layers.multilabel_oaa import MultilabelOaa
from vwlite.vw.layers.nn import Nn
from vwlite.vw.layers.oaa import Oaa
from vwlite.vw.layers.replay import ReplayB, ReplayC, ReplayM
from vwlite.vw.layers.scorer import Scorer
from vwlite.vw.layers.stage_poly import StagePoly
from vwlite.vw.layers.svrg import Svrg
from vwlite.vw.layers.top import Top
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.setup import Setup


class GenerateInteractions(Named):
    """Tells that there are interactions with `:`, which the engine makes."""

    name = "generate_interactions"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return b":" in letters([p for name in ("quadratic", "cubic", "interactions") for p in a.get(name, [])])


class SharedFeatureMerger(Named):
    """Tells that lines share features, which their learner sees to."""

    name = "shared_feature_merger"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return a.on("csoaa_ldf") or a.on("wap_ldf")


class CountLabel(Named):
    """Tells that labels are counted for the best constant."""

    name = "count_label"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return not a.flag("dont_output_best_constant") and not any(a.on(layer.option) for layer in OF_CLASSES)


# From the bottom up.
LAYERS: tuple[type[Layer], ...] = (
    Bfgs, ConjugateGradient, Svrg, Noop, Print, GenerateInteractions, Baseline, ReplayB, Active, Confidence, Nn,
    Marginal, Autolink, Lrq, Lrqfa, StagePoly, Scorer, Interact, Bootstrap, Boosting, Binary, ClassWeight, ReplayM, Oaa,
    Csoaa, ReplayC, MultilabelOaa, Ect, MulticlassWeight, Ldf, WapLdf, SharedFeatureMerger, Top, CountLabel,
)  # fmt: skip
OF_CLASSES = tuple(layer for layer in LAYERS if layer.kind not in ("", "SIMPLE"))


def check(a: Arguments) -> None:
    """Refused for what is not here together, Critical for what is nowhere."""
    a.check()
    found = [layer for layer in LAYERS if layer.option and a.on(layer.option)]
    of_classes = [layer.option for layer in found if layer in OF_CLASSES]
    if len(of_classes) > 1:
        raise Refused(f"--{of_classes[0]} with --{of_classes[1]}")
    if of_classes and any(name in a for name in ("binary", "confidence", "active")):
        raise Refused(f"--{of_classes[0]} with --binary, --confidence or --active")
    for layer in reversed(found):
        layer.check(a)
        for name in layer.excludes:
            if a.on(name):
                raise Refused(f"--{layer.option} with --{name}")
        for other in found:
            if layer.company and layer.company not in other.fits and layer is not other:
                raise Refused(f"--{layer.option} with --{other.option}")


def count_models(a: Arguments) -> int:
    """How many linear models the layers need, before it is rounded up to a power of two.

    Critical if that is more than there can be.
    """
    count, several = 1, []
    for layer in reversed(LAYERS):
        if layer.wanted(a):
            models = max(1, layer.models(a))
            count *= models
            several += [layer.option] if models > 1 else []
    if count > MODELS:
        names = " ".join(f"--{name}" for name in several)
        raise Critical(f"{names} would need {count} linear models: {MODELS} are the most", "options.cc", 30)
    return count


def side_by_side(a: Arguments) -> bool:
    """Whether no layer or option keeps the classes of --oaa apart."""
    wanted = [layer for layer in LAYERS if layer.wanted(a)]
    return Oaa in wanted and all("classes" in layer.fits for layer in wanted) and not any(map(a.on, Oaa.apart))


def stack(s: Setup, learner: Layer) -> Layer:
    """The layers over the linear model."""
    wanted = [layer for layer in LAYERS if layer.wanted(s.arguments)]
    s.link = s.arguments.get("link", "identity")
    for layer in wanted:
        layer.prepare(s)
    for layer in wanted:
        learner = layer.over(learner, s)
    return learner
