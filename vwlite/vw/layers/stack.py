"""The layers of a run: what goes with what, and how they are put one over the other."""

from importlib import import_module

from vwlite.vw.arguments import MODELS, OPTIONS, Arguments
from vwlite.vw.layers.base import Layer
from vwlite.vw.layers.table import REDUCTIONS
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.setup import Setup


def load(place: str) -> type[Layer]:
    """The class in a place, MODULE:CLASS. Only those that are asked for are loaded: each start is faster for it."""
    module, _, name = place.partition(":")
    found: type[Layer] = getattr(import_module(f"vwlite.vw.layers.{module}"), name)
    return found


def _asked(a: Arguments) -> list[type[Layer]]:
    """The layers that options ask for, and those that decide themselves, from the bottom up."""
    return [load(row.place) for row in REDUCTIONS if not row.option or a.on(row.option)]


def _wanted(a: Arguments) -> list[type[Layer]]:
    """The layers of the learner, from the bottom up."""
    return [layer for layer in _asked(a) if layer.wanted(a)]


def check(a: Arguments) -> None:
    """Refused for what is not here together, Critical for what is nowhere."""
    a.check()
    found = [layer for layer in _asked(a) if layer.option]
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
            if layer.company and layer.company not in other.fits and layer is not other:
                raise Refused(f"--{layer.option} with --{other.option}")


def count_models(a: Arguments) -> int:
    """How many linear models the layers need, before it is rounded up to a power of two.

    Critical if that is more than there can be.
    """
    count, several = 1, []
    for layer in reversed(_wanted(a)):
        models = max(1, layer.models(a))
        count *= models
        several += [layer.option] if models > 1 else []
    if count > MODELS:
        names = " ".join(f"--{name}" for name in several)
        raise Critical(f"{names} would need {count} linear models: {MODELS} are the most", "options.cc", 30)
    return count


def side_by_side(a: Arguments) -> bool:
    """Whether no layer or option keeps the classes of --oaa apart."""
    if any(OPTIONS[name].apart and a.on(name) for name in a.values):
        return False
    return a.on("oaa") and all("classes" in layer.fits for layer in _wanted(a))


def stack(s: Setup, learner: Layer) -> Layer:
    """The layers over the linear model."""
    s.layers = _wanted(s.arguments)
    s.link = s.arguments.get("link", "identity")
    for layer in s.layers:
        layer.prepare(s)
    for layer in s.layers:
        learner = layer.over(learner, s)
    return learner
