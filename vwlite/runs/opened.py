"""A model that was opened to be applied to data."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.algorithms.predicted import predicted_by
from vwlite.algorithms.settings import Settings
from vwlite.errors import UsageError
from vwlite.input.parsing import ParseOptions
from vwlite.input.sources import check_sources
from vwlite.model import Model, read_model
from vwlite.model.learners import restore
from vwlite.options.spec import option_name
from vwlite.runs.notes import KnownFeatures
from vwlite.runs.options import ModelOptions
from vwlite.runs.plan import NO_FILES, DataPlan, planned
from vwlite.runs.resolve import OF_LOSS, shown_setting


class Opened:
    """A model that is applied to data. settings: its own, with what was typed. parse: how it reads text. written: how
    predictions are written, as PredictionWriter takes it."""

    def __init__(self, model: Model, path: str, settings: Settings, **written: Any) -> None:
        self.model, self.path, self.settings = model, path, settings
        self.learner = restore(model, settings, path, learn=False, **written)
        self.parse = ParseOptions()
        self.kept = KnownFeatures.of(model)


def opened(
    o: ModelOptions, written: Callable[[Settings], dict[str, Any]] = lambda settings: {}, *, whole: bool = False,
    **text: Any,
) -> Opened:
    """The model of a command, for its data. written: see Opened, by the settings. whole: as `read_model` has it. text:
    for ParseOptions."""
    assert o.model is not None
    o.check()
    check_sources(o.data, quiet=o.quiet)
    model = read_model(o.model, whole=whole)
    settings = _settings(model, o.model, o.typed, probabilities=getattr(o, "probabilities", False))
    text = {"keeps_text": o.rejects is not None, **text}
    return applied(model, o.model, planned(o), settings, written(settings), **text)


def applied(
    model: Model, path: str, data: DataPlan = NO_FILES, settings: Settings | None = None,
    written: Mapping[str, Any] | None = None, **text: Any,
) -> Opened:
    """The same for a model that was read. path: its name in messages. settings: None: its own. written: see Opened."""
    settings = settings or model.settings
    found = Opened(model, path, settings, **(written or {}))
    found.parse = replace(data.parsing_for(model, settings, path, found.learner.class_names), **text)
    return found


def _settings(model: Model, path: str, options: Mapping[str, Any], *, probabilities: bool) -> Settings:
    """Those of the model, with what was typed. UsageError for options that mean nothing to the model."""
    settings, link = model.settings, options.get("link")
    typed = {name: options[name] for name in OF_LOSS if name in options}
    for name, value in typed.items():
        old = getattr(settings, name)
        if settings.loss and value != old:
            raise UsageError(
                f"{option_name(name)} {shown_setting(value)} contradicts the model {path}, which was trained with "
                f"{shown_setting(old)}: leave the option out"
            )
    for name, loss in LOSS_OPTIONS.items():
        if name in typed and (typed.get("loss") or settings.loss) != loss:
            raise UsageError(f"{option_name(name)} needs --loss {loss}")
    settings = replace(settings, **typed)
    if "quantile_tau" in typed and not model.settings.outputs.taus:
        settings.outputs.check_one(path)
    predicted = predicted_by(settings)
    if link not in (None, settings.link):
        predicted.refuse_link(link, path, "use --probabilities")
    if probabilities:
        predicted.check_probabilities(path)
    settings = replace(settings, link=link or settings.link)
    settings.outputs.check_link()
    return settings
