"""The layers of a run: compatibility, and how they are stacked."""

from importlib import import_module

from vwlite.vw.arguments import MODELS, OPTIONS, Arguments
from vwlite.vw.layers.base import Layer
from vwlite.vw.layers.table import REDUCTIONS
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.setup import Setup


def load(place: str) -> type[Layer]:
    """Import the class MODULE:CLASS. Only classes that a run uses are imported, for a faster start."""
    module, _, name = place.partition(":")
    found: type[Layer] = getattr(import_module(f"vwlite.vw.layers.{module}"), name)
    return found


def _requested(a: Arguments) -> list[type[Layer]]:
    """The layers that options enable, and those whose method `enabled` decides, from the bottom up."""
    return [load(row.place) for row in REDUCTIONS if not row.option or a.on(row.option)]


def _enabled(a: Arguments) -> list[type[Layer]]:
    """The layers of the learner, from the bottom up."""
    return [layer for layer in _requested(a) if layer.enabled(a)]


def check(a: Arguments) -> None:
    """Refused for combinations that vwlite does not support, Critical for those that Vowpal Wabbit rejects too."""
    a.check()
    found = [layer for layer in _requested(a) if layer.option]
    of_classes = [layer.option for layer in found if layer.kind not in ("", "SIMPLE")]
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
            if layer.requires and layer.requires not in other.compatible_with and layer is not other:
                raise Refused(f"--{layer.option} with --{other.option}")


def count_models(a: Arguments) -> int:
    """The number of linear models of the layers, before it is rounded up to a power of two.

    Critical if there are too many.
    """
    count, several = 1, []
    for layer in reversed(_enabled(a)):
        models = max(1, layer.models(a))
        count *= models
        several += [layer.option] if models > 1 else []
    if count > MODELS:
        names = " ".join(f"--{name}" for name in several)
        raise Critical(f"{names} would need {count} linear models: the maximum is {MODELS}", "options.cc", 30)
    return count


def side_by_side(a: Arguments) -> bool:
    """Whether the classes of --oaa can be stored side by side in the table."""
    if any(OPTIONS[name].unshared and a.on(name) for name in a.values):
        return False
    return a.on("oaa") and all("classes" in layer.compatible_with for layer in _enabled(a))


def stack(s: Setup, learner: Layer) -> Layer:
    """The layers over the linear model."""
    s.layers = _enabled(s.arguments)
    s.link = s.arguments.get("link", "identity")
    for layer in s.layers:
        layer.prepare(s)
    for layer in s.layers:
        learner = layer.over(learner, s)
    return learner
