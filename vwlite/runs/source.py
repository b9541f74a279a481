"""The examples of a run: the batches of its DATA, parsed, or read from the cache of an earlier run or pass."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Protocol

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.input.parsing import Parsed, ParseOptions
from vwlite.input.pipeline import decide_roles, parsed_batches
from vwlite.input.reader import Tap
from vwlite.input.sources import is_read_once
from vwlite.model.feature_names import FeatureNames
from vwlite.model.learners import make_finder
from vwlite.model.row_sample import RowSample
from vwlite.records import record
from vwlite.runs.options import MOST_NAMES, SourceOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines, say

if TYPE_CHECKING:
    from vwlite.core.text.feature_names import NameStore
    from vwlite.input.cache import CacheReader, CacheWriter
    from vwlite.model import Model


@record(frozen=True)
class DataNames:
    """The names in the data: those of classes and columns that are known before, and a store for those of features."""

    classes: ClassNames | None = None
    or_numbers: bool = False  # labels are not classes, but two words or numbers; which, the data say
    columns: dict[str, Any] = field(default_factory=dict)
    features: "NameStore | None" = None

    @staticmethod
    def of(model: "Model | None", settings: Settings, features: "NameStore | None" = None) -> "DataNames":
        """What a model knows, if there is one."""
        classes = settings.outputs.class_names(model.classes if model else [])
        return DataNames(classes, columns=model.columns if model else {}, features=features)


def name_store(most: int | None, known: FeatureNames) -> "NameStore | None":
    """The store of feature names, if they are requested or the continued model has some."""
    if not (most or len(known)):
        return None
    from vwlite.core.text.feature_names import NameStore

    return NameStore(most or max(MOST_NAMES, len(known)), known.arrays if len(known) else None)


class ClassWeights(Protocol):
    """What multiplies importances by weights of labels."""

    needs_counts: bool

    def count(self, batches: Iterable[Batch]) -> None: ...

    def apply(self, batch: Batch) -> Batch: ...

    def check(self) -> None: ...


class Source:
    """The batches of DATA, once or several times, and the cache that is asked for.

    known: a cache may add to its classes; names that are new to its features come with the batches, as no cache has
    them. bad: counts the bad lines; who reads hands them on.
    """

    weights: "ClassWeights | None" = None  # of labels, by which importances are multiplied; caches do not have them
    share_numbers = False  # of features, as `CacheReader.batches` has it
    reads_more = False  # bad lines of other files follow those of DATA, before `end`

    def __init__(
        self, plan: DataPlan, settings: Settings, known: DataNames, bad: BadLines, how: SourceOptions
    ) -> None:
        self.path = how.cache
        self._plan, self._settings, self._classes, self._bad = plan, settings, known.classes, bad
        self._how = how
        self._or_numbers = known.or_numbers
        self._named = self._classes.first(len(self._classes)) if settings.classes and self._classes is not None else []
        self._cache: CacheReader | None = None
        self.tap: Tap | None = None  # gets what is read
        self.keeps_batches = how.keeps_batches
        self.keeps_text = how.holds_out  # in what is parsed
        self.spaces = False  # batches have the hashes of namespaces
        self.names_spaces = False  # ... and what is parsed has their names
        self.derives = settings.derived is not None  # ... and zeros
        self.logs = False  # names of columns and words come with what is parsed
        self.sample = RowSample()
        self._sampled = False  # all rows were looked at for the sample
        self.tries_ngrams = False  # of texts
        self._finder = None if known.features is None else partial(make_finder, settings, known.features)
        self._table = plan.table(known.columns or None, needs_label=True)
        if self._table is not None:
            self._table.crosses = settings.crosses
            self._table.may_lack = how.may_lack

    @property
    def can_be_read_again(self) -> bool:
        """Whether the data are files."""
        return not is_read_once(self._plan.files)

    @property
    def may_be_table(self) -> bool:
        """Whether there may be something to say of columns, once they are read."""
        return self._table is not None

    @property
    def keys(self) -> list[str]:
        """The keys of JSON lines that were read."""
        if self._cache is not None:
            return self._cache.keys
        return sorted(self._table.keys) if self._table is not None else []

    @property
    def columns(self) -> dict[str, Any]:
        """Those of the tables that were read, as a model keeps them; none if there was none."""
        return self._table.schema.stored() if self._table is not None and self._table.schema else {}

    @property
    def dates(self) -> dict[str, str]:
        """The columns of words whose first cells are times, each with its format; "": ISO 8601."""
        return self._table.dates if self._table is not None else {}

    def open(self) -> None:
        """Take the cache of an earlier run, if it may be used; say why if not. CannotCreateError if the file is no
        cache at all."""
        if self.path is not None:
            from vwlite.input.cache import check_replaceable

            check_replaceable(self.path)
        if self.tries_ngrams and self._table is not None and self._table.options.text:
            self._table.options = replace(self._table.options, tries_ngrams=True)
        self._cache = self._old()

    @property
    def _parse_options(self) -> ParseOptions:
        found = self._plan.parsing(self._settings, self._classes, self._table, or_numbers=self._or_numbers)
        return replace(found, derives=self.derives, part=self._how.part)

    @contextmanager
    def batches(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        """One pass over the data; each batch is valid until the next. stop: whether to end it early.

        What was parsed to its end is the cache of the passes that follow.
        """
        if self.weights is not None and self.weights.needs_counts:
            # A cache is taken, not made: bad lines are reported by the pass that follows.
            counted = self._unweighted if self._cache is not None else partial(self.batches_of, self._plan.files)
            with counted(stop) as batches:
                self.weights.count(parsed.batch for parsed in chain(self._earlier(), batches))
        with self._unweighted(stop) as batches:
            yield self._looked_at(map(self._weighted, chain(self._earlier(), batches)))
        if self.weights is not None and not stop():
            self.weights.check()

    def _earlier(self) -> Iterator[Parsed]:
        """The examples that come before those of DATA."""
        return iter(())

    def _weighted(self, parsed: Parsed) -> Parsed:
        if self.weights is not None:
            self.weights.apply(parsed.batch)
        return parsed

    @contextmanager
    def _unweighted(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        if self._cache is not None:
            size = self._cache.size
            found = self._cache.batches(self._plan.threads, self.share_numbers)
            logs = chain([self._cache.log if self.logs else ()], repeat(()))
            yield (Parsed(batch, [], place, size, log=log) for (batch, place), log in zip(found, logs, strict=False))
            return
        with ExitStack() as stack:
            writer = self._writer()
            if writer is not None:
                stack.callback(writer.close)
            parse = self._parse_options
            parse = replace(
                parse, finder=self._finder, keeps_text=self.keeps_text, only_text=self._how.holds_out, tap=self.tap,
                spaces=parse.spaces or self.spaces or self.logs, names_spaces=self.names_spaces, logs=self.logs,
                samples=True,
            )
            parsed = parsed_batches(
                self._plan.files, parse, stop=stop, threads=self._plan.threads, number=writer is not None
            )
            yield _written(stack.enter_context(parsed), writer)
            if not self.reads_more:
                self._bad.finish()
            if writer is not None and not stop():
                classes = self._classes if self._settings.classes == "auto" or self._or_numbers else None
                self._cache = writer.finish(self._bad.count, classes.first(len(classes)) if classes else (), self.keys)

    def _looked_at(self, batches: Iterator[Parsed]) -> Iterator[Parsed]:
        """The batches, of which the first pass takes a sample of rows."""
        if self._sampled:
            return batches
        self.sample = RowSample()
        return self._sampling(batches)

    def _sampling(self, batches: Iterator[Parsed]) -> Iterator[Parsed]:
        for parsed in batches:
            if self._table is not None and self._table.schema is not None:
                self.sample.take(parsed.batch)
            yield parsed
        self._sampled = True

    def end(self) -> None:
        """All has been read, with `reads_more`."""
        self._bad.finish()

    def batch(self, number: int) -> Batch:
        """A batch of the last pass, if it kept them; counted from 0."""
        assert self._cache is not None
        batch = self._cache.batch(number)
        return batch if self.weights is None else self.weights.apply(batch)

    @contextmanager
    def batches_of(self, paths: Sequence[str], stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        """The batches of other files, with the columns and classes of these data."""
        with parsed_batches(paths, self._parse_options, stop=stop, threads=self._plan.threads) as parsed:
            yield map(self._weighted, parsed)

    def _fingerprint(self) -> dict[str, Any]:
        from vwlite.input.cache import fingerprint

        decide_roles(self._plan.files, self._plan.format, self._table)
        shaping = self._plan.shaping(self._settings, self._named, self.columns)
        if self.derives:
            shaping |= {"derives": True}
        if self.logs:
            shaping |= {"logs": True}
        if self._plan.group is not None:
            shaping |= {"group": self._plan.group}
        if self._or_numbers:
            shaping |= {"or_numbers": True, "label_domain": self._parse_options.label_domain}
        return fingerprint(self._plan.files, shaping)

    def _old(self) -> "CacheReader | None":
        path = self.path
        if path is None or self._how.rebuild or not os.path.exists(path):
            return None
        from vwlite.input.cache import CacheUnusable, open_cache

        try:
            if self._finder is not None:
                raise CacheUnusable("names of features are only in the text")
            if self._how.holds_out:
                raise CacheUnusable("the lines for --holdout-to are only in the text")
            cache = open_cache(path, self._fingerprint())
            if cache.skipped and self._how.needs_bad:
                raise CacheUnusable(f"it leaves out bad lines ({cache.skipped}), which {self._how.needs_bad} needs")
            if self._settings.classes == "auto" or self._or_numbers:
                self._take_names(cache.classes)
            if cache.skipped or not self.reads_more:
                self._bad.finish_from(path, cache.skipped)
            return cache
        except CacheUnusable as e:
            say(f"cache {path} is not used: {e}; it is rebuilt")
            return None

    def _take_names(self, classes: list[str]) -> None:
        """Continue with the names of classes of a cache. CacheUnusable if they cannot be those of this run."""
        from vwlite.input.cache import CacheUnusable

        assert self._classes is not None
        known, new = classes[: len(self._named)], [os.fsencode(name) for name in classes[len(self._named) :]]
        free = self._classes.limit - len(self._named)
        if known != self._named or len(new) > free or len({*map(os.fsencode, known), *new}) != len(classes):
            raise CacheUnusable("its classes are not those of this run")
        if not all(name and name == name.strip(b" ") and not set(name) & set(b"\t\r\n") for name in new):
            raise CacheUnusable("its classes have names that none can have")
        self._classes.extend(new)

    def _writer(self) -> "CacheWriter | None":
        if self.path is None and not self.keeps_batches:
            return None
        from vwlite.input.cache import CacheWriter

        return CacheWriter(self.path, self._fingerprint() if self.path is not None else {})


def _written(batches: Iterator[Parsed], writer: "CacheWriter | None") -> Iterator[Parsed]:
    """The batches, each written into a cache first."""
    for parsed in batches:
        if writer is not None:
            writer.add(parsed.batch)
            writer.take(parsed.log)
        yield parsed
