"""A run of `vwlite merge`: merge several models that were trained from one start."""

from dataclasses import replace
from math import inf
from typing import Any

from vwlite.merging.commands import MergeOptions
from vwlite.merging.holdout import OWN
from vwlite.merging.merged import Merge, MergeRequest
from vwlite.merging.rows import RowsMerge, WholeMerge, are_all, rows_beside
from vwlite.merging.shards import checked_shards, read_models
from vwlite.model import write_model
from vwlite.output.results import Result, summary, values
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines

IN_SENTENCE = ("shards", "holdout_loss", "standard_error", "of_the_best_shard", "of_the_mean")
FAR = 3  # standard errors
FEW = 2000  # examples of the holdout; with fewer, the choice is partly random


def merge(o: MergeOptions) -> int:
    """Run `vwlite merge`; the exit code."""
    o.check()
    assert o.model is not None
    with RunFrame("merge", o) as frame:
        file = frame.file(o.model)
        found, missing = read_models(o.data, o.allow_missing, o.threads)
        request = MergeRequest(o.rule, o.state, o.typed.get("loss"), has_holdout=bool(o.holdout))
        beside = rows_beside(found) if o.rule is None else {}
        is_whole = len(beside) == len(found) and are_all(beside.values())
        if is_whole:
            for shard in found:
                shard.model.columns = beside[shard.path].facts.columns  # without what rows have told, such as n-grams
        shards = checked_shards(found, missing, o.initial, request.loss, by_rows=is_whole)
        run = Merge(request, shards)
        if is_whole or (len(beside) == len(found) and not o.holdout):
            kind = WholeMerge if is_whole else RowsMerge
            run = kind(request, shards, [beside[shard.path] for shard in shards.each], o.model, o.threads, frame)
        elif beside:
            run.without_rows = [shard.path for shard in found if shard.path not in beside]
        frame.stop_with(run.stop)
        holdout, digest, commits = planned(replace(o, data=o.holdout)), "", [file.commit]
        if o.holdout and not isinstance(run, RowsMerge):
            run.read(holdout, BadLines(frame, **o.of_bad_lines))
        for step in (run.add_up, run.choose, run.finish):
            if run.stopped:
                break
            step()
        if not run.stopped:
            if isinstance(run, WholeMerge) and o.holdout:
                run.measure(holdout)
            digest = write_model(file, run.with_absent_cells())
        if isinstance(run, RowsMerge) and digest:
            commits.append(run.with_rows(digest))
        if frame.commit(*commits):
            results, notes = [*results_of(run), Result("seconds", frame.seconds())], notes_of(run)
            frame.show(shown(run, results), notes)
            options = frame.reported_options(run.settings, "rule", "state", "holdout", "model", start=o.initial)
            frame.report(options=options, **report_of(run, results), notes=notes)
        return frame.code(f"; {o.model} is unchanged")


def shown(run: Merge, results: list[Result]) -> str:
    """The summary; the losses on a holdout are one sentence."""
    if not run.choice.candidates:
        return summary(results)
    c, best, mean = run.choice.chosen, min(_own_losses(run).values()), run.choice.mean_loss
    losses = f"holdout loss {c.loss:.4g} (+- {c.error:.1g}); best shard {best:.4g}; mean {mean:.4g}"
    rest = summary(r for r in results if r.key not in IN_SENTENCE)
    return f"merge of {len(run.shards.each)} shard{'s' if len(run.shards.each) != 1 else ''}: {losses}\n{rest}"


def _own_losses(run: Merge) -> dict[str, float]:
    """The holdout losses of the shards, by file."""
    return {run.shards.each[c.shard].path: c.loss for c in run.choice.candidates if c.way == "shard"}


def results_of(run: Merge) -> list[Result]:
    """The results of the summary and the report."""
    c, model = run.choice.chosen, run.model
    if c.way == "shard":
        rule = f"that of {run.shards.each[c.shard].path} alone"
    else:
        rule = "the start as it is" if c.way == "start" else c.way
    found = [Result("shards", len(run.shards.each)), Result("rule", rule)]
    if run.choice.held:
        own = _own_losses(run)
        start = next((x.loss for x in run.choice.candidates if x.way == "start"), None)
        found += [Result("ridge", run.choice.strength)] if c.parts else []
        found += [Result("holdout_examples", run.choice.held), Result("holdout_loss", c.loss),
                  Result("standard_error", c.error)]
        if own:
            found += [Result("of_the_best_shard", min(own.values())), Result("of_the_mean", run.choice.mean_loss),
                      Result("of_the_start", start)]
    return [*found, Result("number_of_examples", model.counters["examples"]), Result("nonzero_weights", run.nonzeros),
            Result("features", len(model.keys))]


def notes_of(run: Merge) -> list[str]:
    found = []
    if run.shards.missing:
        found.append(f"merged without {', '.join(run.shards.missing)}, which does not exist")
    if run.without_rows:
        found.append(f"no rows are kept beside {', '.join(run.without_rows)}, so those of other shards are not used")
    if len(run.shards.each) == 1:
        found.append("there is only one shard: nothing to merge")
    if isinstance(run, RowsMerge):
        found.append(run.about())
    elif not run.choice.held:
        found.append("this merge has not been evaluated: --holdout FILE weights merges and shards by their loss")
    elif run.choice.held < FEW:
        found.append(f"the holdout has {run.choice.held} examples, so the choice is partly random: {FEW} or "
                     "more are better")
    ranked = sorted((c for c in run.choice.candidates if c.way == "shard"), key=lambda c: c.loss)
    if len(ranked) > 2:
        best, second = ranked[:2]
        if best.loss < min(second.loss / 2, second.loss - FAR * (best.error + second.error)):
            found.append(f"{run.shards.each[best.shard].path} is far better on the holdout than all other shards: has "
                         "it learned these lines? Hold out lines that no shard has seen")
    if run.name_limit is not None:
        found.append(f"only {run.name_limit:,} names of features are kept, those of the start and of the first shards: "
                     "vwlite names finds others in data")
    if run.choice.chosen.way in OWN:
        found.append("no merge was better on the holdout than a model that existed: if the shards' data "
                     "differ, shuffle the lines over the shards, or continue in rounds")
    return found


def report_of(run: Merge, results: list[Result]) -> dict[str, Any]:
    own, of = _own_losses(run), {(c.way, c.shard): u for c, u in run.choice.chosen.parts}
    return {
        "results": {k: None if v == inf else v for k, v in values(results).items()},
        "candidates": [{"rule": c.way, "loss": c.loss if c.loss < inf else None, "coefficient": of.get((c.way, -1))}
                       for c in run.choice.candidates if c.way != "shard"],
        "shards": [{"file": s.path, "digest": s.model.digest, "examples": s.model.counters.get("examples", 0),
                    "holdout_loss": own.get(s.path) if own.get(s.path, inf) < inf else None,
                    "coefficient": of.get(("shard", i))} for i, s in enumerate(run.shards.each)],
        "missing": run.shards.missing,
    }
