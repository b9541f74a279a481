"""Layers that are only names in the header; other modules implement them."""

from vwlite.vw.arguments import Arguments, letters
from vwlite.vw.layers.base import Layer, NamedLayer
from vwlite.vw.setup import Setup


class GenerateInteractions(NamedLayer):
    """There are interactions with `:`, which the engine creates."""

    name = "generate_interactions"

    @classmethod
    def enabled(cls, a: Arguments) -> bool:
        return b":" in letters([p for name in ("quadratic", "cubic", "interactions") for p in a.get(name, [])])


class SharedFeatureMerger(NamedLayer):
    """Lines share features, which their learner handles."""

    name = "shared_feature_merger"

    @classmethod
    def enabled(cls, a: Arguments) -> bool:
        return a.on("csoaa_ldf") or a.on("wap_ldf")


class CountLabel(NamedLayer):
    """Labels are counted for the best constant, if they are numbers."""

    name = "count_label"

    @classmethod
    def enabled(cls, a: Arguments) -> bool:
        return not a.flag("dont_output_best_constant")

    @classmethod
    def over(cls, base: Layer, s: Setup) -> Layer:
        return cls(base, s) if base.kind == "SIMPLE" else base
