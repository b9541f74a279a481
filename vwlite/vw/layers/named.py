"""Layers that are only names in the header: what they stand for is done elsewhere."""

from vwlite.vw.arguments import Arguments, letters
from vwlite.vw.layers.base import Layer, NamedLayer
from vwlite.vw.setup import Setup


class GenerateInteractions(NamedLayer):
    """Tells that there are interactions with `:`, which the engine makes."""

    name = "generate_interactions"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return b":" in letters([p for name in ("quadratic", "cubic", "interactions") for p in a.get(name, [])])


class SharedFeatureMerger(NamedLayer):
    """Tells that lines share features, which their learner sees to."""

    name = "shared_feature_merger"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return a.on("csoaa_ldf") or a.on("wap_ldf")


class CountLabel(NamedLayer):
    """Tells that labels are counted for the best constant, if they are numbers."""

    name = "count_label"

    @classmethod
    def wanted(cls, a: Arguments) -> bool:
        return not a.flag("dont_output_best_constant")

    @classmethod
    def over(cls, base: Layer, s: Setup) -> Layer:
        return cls(base, s) if base.kind == "SIMPLE" else base
