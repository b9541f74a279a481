"""A run that adds names of features to a model."""

from dataclasses import replace
from functools import partial

import numpy as np

from vwlite.core.text.feature_names import NameStore
from vwlite.errors import DataError
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import check_sources
from vwlite.inspection.commands import NamesOptions
from vwlite.model import Model, read_model, write_model
from vwlite.model.absent import with_names
from vwlite.model.feature_names import FeatureNames
from vwlite.model.kept_rows import commit_with_rows
from vwlite.model.learners import make_finder, restore
from vwlite.model.weights import has_weight, intercept_key
from vwlite.output.atomic import check_apart
from vwlite.runs.frame import RunFrame
from vwlite.runs.notes import about_names
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines


def names(o: NamesOptions) -> int:
    """Run `vwlite names`; the exit code."""
    o.check()
    path, output = o.model, o.output or o.model
    outputs = {"MODEL" if output == path else "--output": output, "--rejects": o.rejects}
    check_apart(outputs, [(source, "one of the DATA files") for source in o.data])
    check_apart(outputs, [(path, "the input model")], ("MODEL", path))
    check_sources(o.data, quiet=o.quiet)
    model = read_model(path)
    settings = model.settings
    if not settings.loss:
        raise DataError(
            f"{path}: a model of Vowpal Wabbit cannot store names: convert it to a model of vwlite with "
            "vwlite export --to tsv and vwlite import --loss"
        )
    learner = restore(model, settings, path, learn=False)  # an error if it cannot predict
    known = model.names
    store = NameStore(max(o.most, len(known)), known.arrays if len(known) else None)
    nonzero = np.asarray(model.keys)[has_weight(model)].tolist()
    parse = planned(o).parsing_for(model, settings, path, learner.class_names)
    parse = replace(parse, finder=partial(make_finder, settings, store, nonzero))
    with RunFrame("names", o) as frame:
        bad, file = BadLines(frame, **o.of_bad_lines), frame.file(output)
        batches = parsed_batches(o.data, parse, stop=frame.stopped, threads=o.threads)
        for parsed in frame.enter_context(batches):
            bad.take(parsed.bad)
            store.take(parsed.names)
            if frame.signal is not None:
                break
        bad.finish()
        model.names = FeatureNames.kept(store, model.keys, model.weights, settings.bits)
        old, model = model.digest, with_names(model)
        digest = write_model(file, model)
        if not frame.commit(lambda: commit_with_rows(file, path, old, digest)):
            return frame.code("; no file was written")
        named, features, share = named_share(model)
        frame.show(
            f"{named} of {features} features with a weight have a name, {share:.1%} of the sum of |weights|",
            about_names(store, "--most N keeps more")[1],
        )
        return frame.code()


def named_share(model: Model) -> tuple[int, int, float]:
    """How many features with a weight have a name, how many there are, and which part of the sum of |weights| the named
    ones are; 1 if all weights are zero. Derived features have names. The constant counts in none of these."""
    keys = np.asarray(model.keys)
    weights = np.abs(np.asarray(model.weights).reshape(-1, model.records)).sum(axis=1)
    weights[keys == intercept_key(model.settings)] = 0
    with np.errstate(over="ignore", invalid="ignore"):
        named = np.isin(keys, np.asarray(model.shown_names.keys)) & (weights > 0)
        largest = weights.max(initial=0)
        total = float((weights / largest).sum()) if largest else 0
        share = float((weights / largest)[named].sum()) / total if total else 1.0
    return int(named.sum()), int((weights > 0).sum()), share
