"""`vwlite dask train` without options: the default on many machines.

A sample of rows is drawn over all shards, and the default of `vwlite train` on it finds the features, the normalization
and the loss. Then workers send exact sums over their shards, of which rounds of `vwlite.training.shards.fit` make the
weights. If all rows fit into the sample, its default is the model.
"""

import io
import json
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vwlite.algorithms.losses import called
from vwlite.algorithms.settings import Settings
from vwlite.dask.child import MODEL
from vwlite.dask.cluster import Interrupted
from vwlite.dask.commands import PERIOD
from vwlite.dask.rounds import DaskRounds
from vwlite.dask.state import damaged, digest, path_of, remove_state
from vwlite.dask.sums import ShardsOnWorkers
from vwlite.dask.work import draw, drawn_facts, drawn_rows, held_lines, own_folder, same
from vwlite.errors import DataError, UsageError
from vwlite.input.arrow_lines import write_lines
from vwlite.input.formats import FORMATS
from vwlite.model import Model
from vwlite.model.absent import with_absent
from vwlite.model.file import to_bytes
from vwlite.model.header import COUNTERS, ROUNDS, SMEARING
from vwlite.model.read import read_model
from vwlite.output.progress import LiveLine, format_number
from vwlite.output.results import Result
from vwlite.runs.counted import with_counted_classes
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines, say
from vwlite.training.auto.model import INTERCEPT
from vwlite.training.dates import with_times
from vwlite.training.fit import FitProgress
from vwlite.training.newton import OF_INTERCEPT
from vwlite.training.nights.keeping import with_groups_as_tags
from vwlite.training.nights.summary import grown
from vwlite.training.shards.drawing import MOST_BYTES, MOST_ROWS, OF_CLASS, Row, is_held, mixed, within
from vwlite.training.shards.fit import ShardFit
from vwlite.training.shards.past import Past
from vwlite.training.shards.reading import ModelRows
from vwlite.training.shards.rows import ShardRows, Unit
from vwlite.training.shards.strengths import FOLDS, Penalties, Strength, StrengthSearch
from vwlite.training.shards.weights import products_of, weights_of, with_weights
from vwlite.training.train import in_place
from vwlite.training.trainer import Job, prepared
from vwlite.training.trainers import checked, source_of, trainer_of

USUAL_ROUNDS = 3
FEWEST_HELD, MOST_HELD = 0.4, 2.5  # times 1 / PERIOD: else copies are too many to be on one side
SQUARES = ("squared", "expectile")  # losses that have the unit of the labels squared
WITH_UNIT = (*SQUARES, "huber")  # of which the strength is in the unit of the labels


class DefaultRounds(DaskRounds):
    """The rounds of a run without options of a single learner."""

    without: Sequence[str] = ()  # shards without a row
    more_notes: Sequence[str] = ()  # on the sample
    start = b""  # the model that is continued, if one is
    past: Past | None = None  # what it knows
    _trainer: Any = None
    _is_stopped = _is_constant = False

    def prepare(self, settings: Settings, start: Model | None) -> None:
        o = self.options
        self.rounds = o.rounds or USUAL_ROUNDS
        self.period = 0 if o.validate else o.holdout_period or PERIOD
        given = o.given & {"group", "validate", "derive", "pairs"}
        self.learning = o.of_shards(TrainOptions, model=None, holdout_period=None, given=given)
        self.identity |= {"--holdout-period": self.period}
        self.mixture, self.smearing = 1.0, dict[str, Any]()
        self.before: Any = None
        self.identity["--initial"] = os.path.abspath(o.initial) if o.initial else ""
        if (state := self.last_state()) is None:
            if start is not None and o.initial:
                rounds = path_of(self.path)
                if start.interrupted and os.path.exists(rounds) and in_place(o.initial, self.path):
                    raise UsageError(f"{rounds} is there, so {self.path} has learned a part of these data: add "
                                     "--resume, or remove it to learn them again")
                self._set_past(start, Path(o.initial).read_bytes())
            return
        if len(state.rounds) >= self.rounds:
            raise UsageError(f"--rounds {self.rounds}: {len(state.rounds)} are complete already: use a larger number")
        try:
            with np.load(io.BytesIO(state.model), allow_pickle=False) as found:
                self.before = {name: found[name] for name in found.files}
            kept = json.loads(bytes(self.before["facts"]))["kept"]
        except (ValueError, KeyError, OSError):
            raise damaged(self.path) from None
        if start is not None:  # its file may have the model of a round
            with own_folder() as folder:
                path = Path(folder, MODEL)
                path.write_bytes(bytes(self.before["start"]))
                past = self._set_past(read_model(str(path)), path.read_bytes())
            if kept != past.keeping.lines:
                raise UsageError(f"--resume: the rows that were kept for {o.initial} are no longer beside it: start "
                                 "without --resume")
        self.go_on(state)

    def _set_past(self, start: Model, content: bytes) -> Past:
        o, path = self.options, self.options.initial or ""
        self.start = content
        past = self.past = Past(path, start, is_replaced=in_place(path, o.model), group=o.group, names=o.names)
        before = past.options(o.given)
        self.learning = replace(self.learning, **before, given=self.learning.given | before.keys())
        return past

    def stop(self) -> None:
        """End as soon as possible."""
        self._is_stopped = True
        self.cluster.stop()
        if self._trainer is not None:
            self._trainer.stop()

    # --- the sample ----------------------------------------------------------------------------

    def all(self) -> None:
        self._begin = time.monotonic()
        self._draw()
        if self.files:
            return
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(own_folder()))
            self._set_sample()
            if self.past is not None:
                self._begin_with(self.past)
            self._set_model()
            self._set_fit()
            while len(self.done) < self.rounds and not (self.done and not self.done[-1]["fell"]):
                self._round()
        remove_state(self.path)
        if self.past is not None:
            self.past.finish()

    def _draw(self) -> None:
        """Count the rows, and put the shards in order."""
        parts, put, live = self.parts, self.cluster.put, LiveLine(quiet=self.options.quiet)
        drawn: list[Any] = [None] * len(parts)
        start = put(same, self.start)

        def make(i: int, avoid: str | None) -> Any:
            drawn[i] = put(draw, parts[i], self.job, start, avoid=avoid)
            return put(drawn_facts, drawn[i], self.period)

        done = [0, 0]

        def one(i: int, facts: Any) -> None:
            done[0], done[1] = done[0] + 1, done[1] + facts[1]
            live.show(lambda seconds: f"counting: {done[0]} of {len(parts)} shards, {done[1]:,} rows")

        found = self.cluster.each(len(parts), make, lambda i: parts[i].name, one)
        live.clear()
        order = sorted(range(len(parts)), key=lambda i: (found[i][0], i))
        self.ordered, self.drawn = [parts[i] for i in order], [drawn[i] for i in order]
        self.facts = [found[i] for i in order]
        self.rows = sum(rows for _, rows, *_ in self.facts)
        if not self.rows:
            raise DataError("no shard has a row with a label: nothing to learn from")
        self.without = [part.name for part, (_, rows, *_) in zip(self.ordered, self.facts, strict=True) if not rows]
        if self.rows <= MOST_ROWS and sum(size for _, _, size, *_ in self.facts) <= MOST_BYTES:
            self.files = tuple(dict.fromkeys(part.url for part in self.ordered))
            return
        held = [sum(x[3][by] for x in self.facts) for by in (0, 1)]
        self.by = 0
        if self.period and not FEWEST_HELD <= held[0] * self.period / self.rows <= MOST_HELD:
            self.by = 1
        self.held = [put(held_lines, one, self.period, self.by) for one in self.drawn]

    def _set_sample(self) -> None:
        """Write the sample: files that have the same header as those of the shards."""
        put, drawn = self.cluster.put, self.drawn

        def make(i: int, avoid: str | None) -> Any:
            share = 1.06 * MOST_ROWS * self.facts[i][1] / self.rows
            return put(drawn_rows, drawn[i], int(share + 4 * share**0.5) + 16, avoid=avoid)

        found = self.cluster.each(len(drawn), make, lambda i: self.ordered[i].name)
        self.up = sum(len(row.text) for own, of_classes, *_ in found for row in (*own, *of_classes))
        rows = [(row, k) for k, (own, *_) in enumerate(found) for row in own if not self._is_held(row)]
        rows.sort(key=lambda pair: (pair[0].place, pair[1]))
        del rows[within([row for row, _ in rows], MOST_ROWS, MOST_BYTES) :]
        known = {row.name for row, _ in rows}
        others = [(row, k) for k, (_, own, *_) in enumerate(found) for row in own if row.name not in known]
        for name in sorted({row.name for row, _ in others}):
            own = [pair for pair in others if pair[0].name == name and not self._is_held(pair[0])]
            rows += sorted(own, key=lambda pair: (pair[0].place, pair[1]))[:OF_CLASS]
        of_files: dict[tuple[str, bytes], list[Row]] = {}
        for row, k in rows:
            of_files.setdefault(found[k][2:], []).append(row)
        self.contents = np.array([row.content for of_file in of_files.values() for row in of_file], np.uint64)
        self.sampled, files = len(rows), []
        for n, ((kind, header), of_file) in enumerate(of_files.items()):
            suffix = (*FORMATS[kind].suffixes, "txt")[0]
            path = self._folder / f"sample{n}.{suffix}"
            if kind == "arrow":
                write_lines(str(path), header, [row.text for row in of_file], chain(*self.learning.drop))
            else:
                head = header if header.endswith(b"\n") or not header else header + b"\n"
                path.write_bytes(head + b"".join(row.text + b"\n" for row in of_file))
            files.append(str(path))
        formats = {kind for kind, _ in of_files}
        self.learning = replace(self.learning, data=tuple(files), format=formats.pop() if len(formats) == 1 else "auto")

    def _is_held(self, row: Row) -> bool:
        numbers = np.array([[row.content], [row.place]], np.uint64)
        return bool(self.period and is_held(numbers, self.period, self.by)[0])

    def _begin_with(self, past: Past) -> None:
        """What is known before the features of the fit are."""
        past.begin(self.rows, self.sampled)
        past.judge(planned(replace(self.learning, group=None)), self._stopped)
        if self.before is None and not self.options.quiet:
            for line in past.about():
                say(line)

    def _set_model(self) -> None:
        """The default of the sample, or the model that is continued."""
        path = self._folder / MODEL
        if self.before is not None:
            path.write_bytes(bytes(self.before["model"]))
        elif self._keeps_features:
            path.write_bytes(self.start)
        else:
            path.write_bytes(to_bytes(self._learned(), str(path)))
        self.content, self.model = path.read_bytes(), read_model(str(path))

    def _learned(self) -> Model:
        """Train on the sample, as `vwlite train` does."""
        o, live = self.learning, LiveLine(quiet=self.options.quiet)
        with ExitStack() as stack:
            if self.past is not None:
                job = self._continued(self.past)
            else:
                o = replace(o, typed=with_counted_classes(o.typed, planned(o), self._stopped))
                job = prepared(o, None, planned(o), in_place=False)
            job, self.more_notes = with_times(job, self._stopped)
            job, bad = checked(job), BadLines(stack, skip=False)
            trainer = self._trainer = trainer_of(job, source_of(job, bad), FitProgress(o, bad), stack)
            live.show(lambda seconds: f"learning a sample of {self.sampled:,} rows")
            trainer.run()
            live.clear()
            if self._stopped():
                raise Interrupted
            return FitProgress(o, bad).model_of(trainer)

    @property
    def _keeps_features(self) -> bool:
        """Whether they are those of a model that is continued."""
        return self.past is not None and self.past.has_features

    def _continued(self, past: Past) -> Job:
        """What learns the sample of new rows with what the past gives."""
        o = self.learning
        return past.keeping.job(o, past.model, with_groups_as_tags(planned(o)), in_place=False)

    def _stopped(self) -> bool:
        return self._is_stopped

    def _set_fit(self) -> None:
        """What is known before the first round: the features, the strengths, the fit to the sample."""
        model, o = self.model, self.learning
        self.sample = self._rows_of(o.data, o.format)
        self.unit, self.scale = unit_of(model.settings, np.array(self.sample.rows.labels))
        of_model = replace(self.job, options=self.options.of_shards(InputOptions, group=None))
        shards = self.shards = ShardsOnWorkers(
            self.cluster, self.ordered, self.held, of_model, self.content, self.unit)
        if self.past is not None and self.past.keeping.kept is not None:
            shards.kept = self.past.rows(model, self._continued(self.past), self.unit)
        facts = shards.facts()
        total, held = (sum(getattr(x, name) for x in facts) for name in ("weight", "held"))
        if o.validate:
            found = self._rows_of((o.validate,), "auto")
            of_file = ShardRows(found.rows, model.settings, self.unit, np.ones(len(found.rows), bool))
            of_file.widen(shards.keys, may_lack=True)
            shards.validation, held = of_file, float(of_file.held.sum())
        self.held_rows = len(found.rows) if o.validate else sum(x[3][self.by] for x in self.facts)
        weighted, squares, entries = (
            shards.sum([getattr(x, name) for x in facts])
            for name in ("weighted", "squares", "entries")
        )
        self.units = np.sqrt(np.where(squares > 0, squares, 1.0) / np.maximum(entries, 1))
        self.largest = shards.largest([x.largest for x in facts])
        self.counters = {name: sum(x.counters[name] for x in facts[: len(self.ordered)]) for name in COUNTERS}
        ends = [x.range for x in facts] if self.unit.deviation != 1 else []
        self.range = range_of([*ends, model.range]) if model.range else None
        rows = ShardRows(self.sample.rows, model.settings, self.unit, np.zeros(len(self.sample.rows), bool))
        rows.widen(shards.keys)
        penalties = Penalties(100 / total * weighted, self.units, products_of(model, shards.keys))
        zero = np.zeros((len(shards.keys) + 1, self.unit.scores))
        if self.before is not None:
            strength, start = Strength(*json.loads(bytes(self.before["facts"]))["strength"]), self.before["w"]
        else:
            folds = (mixed(mixed(self.contents)) % np.uint64(FOLDS)).astype(int)  # not as rows are held out
            if not self.options.quiet:
                say("choosing the strength by folds of the sample")
            search = StrengthSearch(rows, folds, penalties, zero, has_unit=model.settings.loss in WITH_UNIT)
            strength, start = search.best(), zero
        self.own, center, is_start = weights_of(model, shards.keys, self.unit), zero, self.before is not None
        if self.past is not None and self._keeps_features:
            shards.summary, center = self.past.summary(shards.keys, self.unit, rows), self.past.share * self.own
            start, is_start = (start if is_start else self.own), True
        self.fit = ShardFit(shards, rows, penalties, strength, total, held, start, is_start=is_start, center=center)
        if self.before is not None:
            facts_before = json.loads(bytes(self.before["facts"]))
            self.fit.last, self.fit.factor = self.before.get("last"), facts_before["factor"]
            self.first_losses = facts_before["losses"]
        self.constant = np.vstack([zero[:-1], rows.targets.level(rows.scores(zero), rows.v, 0, OF_INTERCEPT)[None]])

    def _rows_of(self, files: tuple[str, ...], format: str) -> ModelRows:
        """The rows of files that are here, with the features of the model."""
        o = replace(self.learning, data=files, format=format, group=None)
        names = self.past.names if self.past is not None and self._keeps_features else None
        return ModelRows(planned(o), o.of_bad_lines, self.model, self._stopped, names)

    # --- rounds ----------------------------------------------------------------------------------

    def _round(self) -> None:
        begin, last = time.monotonic(), len(self.done) + 1 == self.rounds
        found = self.fit.round(others=[self.constant, self.own] if not self.done or last else ())
        if not self.done:
            self.first_losses = [x * self.scale for x in found.others]
            self._say_sample()
        last |= not found.fell
        row = {
            "round": len(self.done) + 1, "holdout_loss": found.loss * self.scale, "strength": found.strength,
            "objective": found.objective, "step": found.step, "fell": found.fell,
        }
        if last and found.others:
            self.mixture, loss = self.fit.mix(self.own)
            row["holdout_loss"] = loss * self.scale
        if last and not self._keeps_features and not row["holdout_loss"] < self.first_losses[0]:
            self.fit.w, row["holdout_loss"], self._is_constant = self.constant, self.first_losses[0], True
        self.done.append(row | {"seconds": round(time.monotonic() - begin, 3)})
        if last:
            self._set_smearing()
        content = to_bytes(self._model(last), self.path)
        if not last:
            self.keep(self._state())
        self.put(content)
        if not self.options.quiet:
            say(f"round {row['round']}: {format_number(row['holdout_loss'])} (strength {found.strength:.3g})")

    def _say_sample(self) -> None:
        settings, (_, loss) = self.model.settings, self.first_losses
        how = "held out, before they are learned" if self._keeps_features else "held out"
        derived = f", {settings.derived.summary()}" if settings.derived else ""
        if not self.options.quiet:
            of = f"{called(settings.loss)} {format_number(loss)} ({how})"
            say(f"sample of {self.sampled:,} of {self.rows:,} rows: {of}{derived}")

    def _set_smearing(self) -> None:
        """What makes means of predictions of logarithms, by the rows that are held out."""
        settings = self.model.settings
        if not settings.outputs.smears:
            return
        ratio, weight = self.fit.smearing(self.unit.deviation).tolist()
        if ratio > 0 and weight > 0:
            self.smearing = {"method": SMEARING, "offset": float(np.log(ratio / weight)), "weight": weight}

    def _model(self, is_last: bool) -> Model:
        model, loss, name = self.model, self.done[-1]["holdout_loss"], called(self.model.loss)
        digests = "".join(x[0] for x in self.facts).encode()
        curvature, largest, past = self.fit.curvature, self.largest, self.past
        if past is not None:
            curvature, largest = past.curvature(curvature), past.largest(self.shards.keys, largest)
        learned = past.keeping.rows_learned if past is not None and self._keeps_features else 0.0
        passes, more = passes_of(model, learned or self.sampled), (learned + self.rows) / (learned or self.sampled)
        in_labels = self.unit.deviation**2 if model.settings.loss in SQUARES else 1.0  # as squares of gradients are
        gradients = passes * in_labels * self.fit.gradients_over_curvature()
        found = with_weights(
            model, self.shards.keys, self.fit.w, self.unit, gradients * curvature, largest, means={}, passes=[],
            rule=grown(model.rule, more), counters=self.counters, range=self.range, interrupted=not is_last,
            chosen=chosen_of(model) | {"loss": loss, "baseline": self.first_losses[0], "loss is": f"held-out {name}"},
            merged={"shards": len(self.ordered), "digest": digest(digests), "rule": ROUNDS,
                    "step": float(len(self.done)), "state": "sum"},
            calibration=self.smearing or model.calibration,
            continued={"nights": [], "features_from": self.sampled},
        )
        if past is not None:
            found = past.continued(found, self.sampled, gradients)
        before = past.model.absent if past is not None and self._keeps_features else None
        return with_absent(found, self.sample.source.sample.batches, self.sample.source.keys, before)

    def _state(self) -> bytes:
        """What another run needs to continue after this round."""
        fit, s = self.fit, self.fit.strength
        facts = {"strength": [s.strength, s.ratio, s.power, s.share], "factor": fit.factor, "losses": self.first_losses,
                 "kept": self.past.keeping.lines if self.past is not None else 0}
        arrays = {"w": fit.w, "model": np.frombuffer(self.content, np.uint8),
                  "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
                  "start": np.frombuffer(self.start, np.uint8)}
        if fit.last is not None:
            arrays["last"] = fit.last
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    # --- the end ---------------------------------------------------------------------------------

    def results(self) -> list[Result]:
        last, shards = self.done[-1], self.shards
        nonzeros = int((self.fit.w != 0).any(axis=1).sum())
        return [
            Result("rounds", len(self.done)), Result("shards", len(self.ordered)), Result("sample", self.sampled),
            Result("holdout_examples", self.held_rows),
            Result("holdout_loss", last["holdout_loss"], self.first_losses[0]),
            Result("number_of_examples", self.counters["examples"]), Result("strength", last["strength"]),
            Result("power", self.fit.strength.power), Result("pair_ratio", self.fit.strength.ratio),
            Result("share_of_rounds", self.mixture), Result("nonzero_weights", nonzeros),
            Result("features", len(shards.keys)), Result("readings", shards.readings + 1),
            Result("bytes_up", self.up + shards.up), Result("bytes_down", shards.down),
            Result("seconds", round(time.monotonic() - self._begin, 3)),
        ]

    def about_empty(self) -> list[str]:
        """A note on shards without a row."""
        without = [*self.listing.empty, *self.without]
        more = f" and {len(without) - 3} more" if len(without) > 3 else ""
        return [f"empty shards are left out: {', '.join(without[:3])}{more}"] if without else []

    def notes(self) -> list[str]:
        found = [*self.more_notes, *self.about_empty()]
        if self.past is not None:
            found += self.past.notes()
        if self.mixture < 1:
            which = "that is continued" if self._keeps_features else "of the sample"
            found.append(f"the model {which} has a share of {1 - self.mixture:g}: rows that are held out are predicted "
                         "better with it")
        if self._is_constant:
            found.append(INTERCEPT)
        elif not self.done[-1]["fell"]:
            found.append(f"round {len(self.done)} did not lower the objective: there are no more")
        return found


def unit_of(settings: Settings, labels: Any) -> tuple[Unit, float]:
    """The unit of labels, and the factor of losses in it."""
    scores, kind = settings.outputs.records, settings.loss
    if kind not in (*WITH_UNIT, "quantile") or settings.outputs.task == "classes":
        return Unit(scores=scores), 1.0
    mean, deviation = float(labels.mean()), float(labels.std()) or 1.0
    factor = deviation**2 if kind in SQUARES else deviation / scores  # of quantiles, the mean counts
    return Unit(mean, deviation, scores), factor


def chosen_of(model: Model) -> dict[str, Any]:
    """What a model keeps of the choices of that of the sample. Rounds do not center columns."""
    found = {name: x for name, x in model.chosen.items() if name in ("normalize", "loss without derived features")}
    return found | ({"normalize": "none"} if found.get("normalize") == "center" else {})


def passes_of(model: Model, rows: float) -> float:
    """How often the steps of gd have learned each of these rows."""
    return max(float(np.max(model.rule.get("t", rows))) / rows, 1.0)


def range_of(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The range of labels of all."""
    return min(a for a, _ in ends), max(b for _, b in ends)
