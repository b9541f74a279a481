"""How `--algorithm auto` learns: files in passes, a stream in one pass. Features are derived from columns of tables in
stages, or, if there are many examples, by a sample of them."""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.losses import called
from vwlite.core.auto.given import scattered
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.core.data.normalize import Normalizer
from vwlite.input.schema import OPTIONAL, listed
from vwlite.model.learners import make_expander
from vwlite.names import namespace_of
from vwlite.output.shell_words import quoted
from vwlite.runs.options import PAIRS
from vwlite.training.auto.auto_data import AutoData, detached
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.loader import settings_of_model
from vwlite.training.auto.race import Features, Outcome, Race
from vwlite.training.auto.selection import Drawn
from vwlite.training.auto.stream import Stream
from vwlite.training.trainer import Listener

if TYPE_CHECKING:
    from vwlite.training.auto.derive import Codes, Sentinel, ShownGroups, Stages

DERIVED_FROM = 40_000  # size of the sample, if there are many examples
OF_NEW_GROUPS = 1.01  # the loss of new groups is reported if it is above this times the loss of new rows
ORDERED = "the data seem to be in order: name files, or shuffle"


def learned_in_passes(race: Race, examples: DrawnExamples, batches: Batches) -> Outcome:
    """Learn the examples of files in passes. From the columns of tables, features are derived: in stages, or, if there
    are many examples, by a sample. examples: those of the batches, in drawn order."""
    data = race.data
    if data.derives and data.is_large:
        return SampleLearning(race).learn(examples, batches)
    if not race.stopped:
        race.learn(examples, race.passes_before_stages if data.derives else None)
    if data.derives and race.passes_used and not race.stopped:
        found = StageLearning(race, batches).learn()
    else:
        found = race.outcome()
    race.setup.listener.on_last_pass()
    return found


class FilePredictions:
    """The predictions by which the model was chosen: of examples that their learner has not learned."""

    def __init__(self, outcome: Outcome, data: AutoData) -> None:
        self._outcome, self._data = outcome, data

    @property
    def judge(self) -> Drawn | None:
        """The examples that were scored, if they are held out, or if they are a part of `--validate`. None: they are
        all learned examples, or all of `--validate`."""
        outcome, validation = self._outcome, self._data.validation
        if outcome.best is None or outcome.selection is None:
            return None
        judge = outcome.selection.judge
        # They are the first rows of --validate if a signal came during the race on a sample.
        is_part = validation is not None and len(judge.examples.order) < len(validation.examples.order)
        return judge if outcome.selection.holds_out or is_part else None

    def in_file(self, summary: DataSummary) -> Any:
        """The predictions of all examples, in the order of the file. NaN: the example took no part; the rule predicts
        it. If the model is the intercept alone, the best constant is the prediction of each example."""
        outcome = self._outcome
        if outcome.best is None or outcome.selection is None:
            return self._data.constant_scores(() if outcome.places is not None else summary.initials)
        order, n, width = outcome.selection.order, summary.examples, self._data.width
        if outcome.places is not None and self._data.validation is None:
            order, n = array("I", (outcome.places[k] for k in order)), len(outcome.places)
        scores = array("d", [math.nan]) * (width * n)
        scattered(self._data.of_labels(outcome.best.predictions), order, scores, width)
        return scores


def stages_of(race: Race, batches: Batches, followed_by: float | None = None) -> "Stages":
    """The stages after a race. followed_by: as in `StageLearning.learn`."""
    from vwlite.training.auto.derive import Stages

    source = race.data.source
    roles = {namespace_of(name): role for name, role in source.columns.get("roles", []) if role not in OPTIONAL}
    texts = [*roles.values()].count("text") if source.tries_ngrams else 0
    return Stages(race, roles, texts, batches, followed_by)


class StageLearning:
    """Derives features in stages, after a race without derived features."""

    def __init__(self, race: Race, batches: Batches) -> None:
        self._race, self._source, self._batches = race, race.data.source, batches

    def learn(self, followed_by: float | None = None) -> Outcome:
        """Learn in stages; the outcome of the best stage. followed_by: if the examples are a sample, the number of all
        examples over that for which the sample counts; all of them are learned later, with the features that are found.
        """
        race, o = self._race, self._race.options
        stages = stages_of(race, self._batches, followed_by)
        best, mean = stages.run(o.derive, PAIRS if o.pairs is None else o.pairs)
        groups = stages.groups if not race.stopped else None
        notes = [*about_sentinels(stages.sentinels), *self._about_codes(stages.codes)]
        notes += self._about_groups(best, groups) if groups is not None else ()
        features = Features(stages.tried, notes)
        if best is race:
            if followed_by is None and race.passes_before_stages:
                race.learn_more()
            return replace(race.outcome(), features=features)
        features = replace(features, without=race.shown_loss(race.best))
        if followed_by is None:
            best.learn_more()
        else:
            features = replace(features, with_first=race.shown_loss(best.best))
        outcome = best.outcome()
        if mean is not None and not race.stopped and (of_mean := mean.outcome()) is not None:
            outcome, features = of_mean, replace(features, mean=mean.weights)
        return replace(outcome, features=features, on_sample=race.on_sample)

    def _about_codes(self, codes: "Codes | None") -> Iterator[str]:
        """A note on whole numbers that may be names."""
        if codes is None:
            return
        names, loss = listed(codes.columns), called(self._race.data.settings.loss)
        yield (
            f"each whole number of {names} by itself predicts better (out-of-fold {loss} {codes.loss:.4g}) than a "
            f"curve of them ({codes.before:.4g}): if they are codes, such as postal codes, --categorical "
            f"{quoted(','.join(codes.columns))} learns them as words, and a new word counts as an average one"
        )

    def _about_groups(self, best: Race, groups: "ShownGroups") -> Iterator[str]:
        """A note on groups of rows with equal values in several columns, if the loss of new groups is larger than
        that of new rows of these groups. To find it, the best candidate learns again, with the same features, passes
        and stack, and each group in one fold."""
        data, is_of_groups = best.data, best.options.group is not None
        if best.best is None or best.best.best is None or is_of_groups or data.validation is not None:
            return
        other, result = best.new_race(detached(data), [best.best.name], groups.of_rows), best.best.best
        self._race.stages.append(other)
        assert best.selection is not None
        other.learn(best.selection.examples, result.number)
        if self._race.stopped or not other.candidates or other.candidates[0].lanes is None:
            return
        assert other.selection is not None
        loss = other.selection.loss_with(other.candidates[0], result)
        if loss <= OF_NEW_GROUPS * result.loss:
            return
        by_space = {namespace_of(name): name for name, _ in self._source.columns.get("roles", [])}
        names = [by_space.get(name, name) for name in groups.names]
        yield (
            f"{', '.join(names)} are equal in the same rows, which are {groups.count:,} groups: the loss above is that "
            f"of new rows of these; of new groups the {called(self._race.data.settings.loss)} is about "
            f"{loss * self._race.data.labels_as.loss_scale:.4g}: --group {quoted(names[0])} learns for them"
        )


def about_sentinels(found: Sequence["Sentinel"]) -> Iterator[str]:
    """Notes on numbers that may stand for missing ones, one for each number."""
    for value in dict.fromkeys(sentinel.value for sentinel in found):
        shares = [sentinel.share for sentinel in found if sentinel.value == value]
        columns = listed([sentinel.column for sentinel in found if sentinel.value == value])
        yield (
            f"{value:g} is {shares[0]:.0%} of the numbers of {columns}, far from all others: if it stands for a "
            f"missing number, --missing {quoted(f'NA,{value:g}')} reads it so"
        )


class SampleLearning:
    """Finds features with a sample, then learns all examples with these features."""

    def __init__(self, race: Race) -> None:
        self._race = race

    def learn(self, examples: DrawnExamples, batches: Batches) -> Outcome:
        """Find features with a sample of the examples, then learn all examples with these features. If a signal comes
        before the first pass over all examples has ended, the model is that of the sample."""
        race, data = self._race, self._race.data
        from vwlite.training.auto.rare import sample_of  # not at the top: NumPy comes with it

        sample = sample_of(data, examples, DERIVED_FROM)
        first, followed_by = sample.batches, len(examples.order) / sample.counts_for
        found = self.find(first, data.summary_of(first), [len(batch) for batch in first], followed_by)
        found = replace(found, candidates=[], best=found.best and replace(found.best, lanes=None))  # lanes are large
        if not race.stopped:
            if found.features.without is not None:
                data.summary = data.summary_of(batches)
            race.learn(examples)
        if race.passes_used:
            return replace(race.outcome(), features=found.features)
        return replace(found, places=sample.places, on_sample=race.on_sample)

    def find(self, first: Sequence[Batch], summary: DataSummary, counts: list[int], followed_by: float) -> Outcome:
        """Find features in passes over a sample, and set them in the race. first: the batches of the sample, with their
        summary and counts. followed_by: as of `StageLearning.learn`."""
        race, data = self._race, detached(self._race.data)
        data.summary = summary
        setup = replace(race.setup, listener=Listener(), keeps_folds=False)
        finder, batches = race.new_race(data, race.grid.normalizations, setup=setup), Batches(counts, first.__getitem__)
        race.stages.append(finder)
        found = finder.outcome()
        if not race.stopped:
            finder.learn(DrawnExamples.of(summary, batches), finder.passes_before_stages)
            found = finder.outcome()
            if finder.passes_used and not finder.stopped:
                found = StageLearning(finder, batches).learn(followed_by)
        race.stages.clear()
        if found.features.without is None:
            return found
        assert found.settings is not None
        race.data.settings, race.grid.normalizations = found.settings, found.normalizations
        return replace(found, features=replace(found.features, derived_by=int(summary.examples)))


class StreamLearning:
    """Learns a stream in one pass, with the grid of a race. Features are derived from the first rows of a table."""

    def __init__(self, race: Race) -> None:
        self._race = race

    def derive(self, batches: Sequence[Batch]) -> Features:
        """Find features with the first examples; the stream is learned with these features."""
        data = self._race.data
        if not (data.derives and data.source.columns and not data.is_scarce and data.baseline):
            return Features()
        found = SampleLearning(self._race).find(batches, data.summary, data.counts, 1.0)
        if found.features.without is not None:
            assert found.summary is not None
            data.summary, data.settings = found.summary, settings_of_model(data.settings)
        return found.features

    def begin(self, sample: Callable[[], Iterable[Batch]], names: Iterable[str] = ()) -> Stream:
        """Create the stream. sample: the first examples. names: the normalizations of the candidates, if known."""
        data, grid = self._race.data, self._race.grid
        grid.begin(sample)
        found = [*names] or [name for name, _ in grid.candidates(1)]
        data.stream = Stream(data.learned_loss(), data.labels_as, [(name, grid.lanes(name, 1)) for name in found])
        grid.forget_sample()
        return data.stream

    def predictions(self, examples: DrawnExamples) -> Any:
        """Learn examples in drawn order. Returns, in the order of the file, the predictions of examples before they
        were learned; NaN for those after a signal."""
        data, at, n = self._race.data, 0, len(examples.order)
        assert data.stream is not None
        predictions, found = (array("d", [math.nan]) * n for _ in range(2))
        for batch in examples.batches():
            if self._race.stopped:
                break
            predictions[at : at + len(batch)] = data.stream.learn(batch)
            at += len(batch)
        scattered(data.of_labels(predictions), examples.order, found, 1)
        return found

    def sample(self) -> Batch:
        """A sample of all examples; it also becomes the sample of the data, which finds the best constant with it."""
        data = self._race.data
        assert data.stream is not None
        batch = data.stream.sample()
        data.sample = DataSummary(make_expander(data.settings, Normalizer()))
        data.sample.take(batch)
        data.baseline = data.constant_loss()
        return batch

    def outcome(self, batch: Batch, before: Outcome) -> Outcome:
        """The outcome of the stream. batch: the sample. before: an outcome that has the derived features."""
        data, stream = self._race.data, self._race.data.stream
        assert stream is not None and data.sample is not None
        found = stream.result()
        assert found.best is not None
        threshold = max(data.baseline, data.constant_loss_of(data.sample))
        best = stream.checked(found, batch, threshold) if data.baseline else None
        if best is not found and found.best.loss < data.baseline:
            data.hints.append(ORDERED)
        if data.is_scarce and found.best.loss >= data.baseline:
            best = None
        return replace(before, best=best, passes_used=1, dense=self._race.grid.dense)
