"""A predicting run: every example of a stream through a model, which stays as it is."""

from contextlib import ExitStack
from typing import Any

from vwlite import __version__
from vwlite.build import Settings
from vwlite.errors import UsageError
from vwlite.model import read_model
from vwlite.notes import about_features
from vwlite.options import PredictOptions
from vwlite.pipeline import ParseOptions, parsed_batches
from vwlite.reader import check_sources
from vwlite.run import Run, say, summary
from vwlite.settings import as_options, check_files
from vwlite.signals import StopSignal
from vwlite.state import restore


def predict(o: PredictOptions) -> int:
    """Run `vwlite predict`; the exit code."""
    assert o.model is not None
    check_files(o)
    check_sources(o.data)
    model = read_model(o.model)
    settings = model.settings
    _check(o, settings)
    learner = restore(
        model, settings, o.model, learn=False, predictions=True, raw_predictions=bool(o.raw_predictions), link=o.link,
        **({"probabilities": True} if o.probabilities else {}),
    )  # fmt: skip
    del model
    parse = ParseOptions(
        format=o.format,
        hash_all=settings.hash == "all",
        labels=settings.labels,
        label_domain=settings.label_domain,
        loss_name=settings.loss,
        lenient_labels=True,
        skip=o.on_error == "skip",
        names=learner.names,
    )
    with ExitStack() as stack:
        run = Run(o, learner, settings, stack)
        signals = stack.enter_context(StopSignal(run.stop))
        batches = parsed_batches(o.data, parse, stop=lambda: run.stopped, threads=o.threads)
        for parsed in stack.enter_context(batches):
            run.feed(parsed.batch)
            run.bad.take(parsed.bad)
            if run.stopped:
                break
        run.bad.finish()
        results: dict[str, Any] = {"number of examples": learner.examples}
        if learner.unlabelled:
            results["unlabelled examples"] = learner.unlabelled
        if learner.progressive.weight:
            results.update(run.measures(learner.progressive))
        results["seconds"] = round(run.seconds(), 3)
        numbers, notes = about_features(settings, learner, o.model)
        if not o.quiet:
            say(summary(results))
            for note in notes:
                say(f"note: {note}")
        run.commit(
            {
                "program": f"vwlite {__version__}",
                "command": "predict",
                "options": {**as_options(settings), "data": list(o.data) or ["-"], "model": o.model, "link": o.link},
                "signal": signals.number,
                "results": {**results, **numbers},
                "notes": notes,
            }
        )
        return 128 + signals.number if signals.number else 0


def _check(o: PredictOptions, settings: Settings) -> None:
    """Options that mean nothing to the model: UsageError."""
    if settings.oaa is None:
        if o.probabilities:
            raise UsageError(f"--probabilities is for classes, and {o.model} has none: use --link logistic")
        return
    if o.link != "identity":
        raise UsageError(f"--link {o.link} is for one score, but {o.model} has one for each class: use --probabilities")
    if o.probabilities and settings.loss != "logistic":
        raise UsageError(
            f"--probabilities needs a model of --loss logistic or --softmax: {o.model} was trained with "
            f"--loss {settings.loss}, whose scores are none"
        )
