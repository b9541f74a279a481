"""The source of examples: the data or its cache, as batches of the engine, with names if needed.

A label that is not a simple one is kept as text: in the tag of the batch's line, before a NUL.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.input.cache import MAGIC, CacheReader, CacheUnusable, CacheWriter, made_by, open_cache
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import Parsed, ParseOptions, Task
from vwlite.input.pipeline import Ahead, Parsing
from vwlite.input.reader import Block, read_blocks, total_size
from vwlite.input.sources import UnreadableInput
from vwlite.vw.messages import Critical, Streams
from vwlite.vw.text.parser import FeatureHashing, Namespace, ParsedExample, TextParser, read_number

EXAMPLE, BLANK, REJECTED = 0, 1, 2
NAN = float("nan")
PRIME = 27942141
MASK = 0xFFFFFFFF

Names = list[dict[int, list[bytes]]]  # for each line of a batch, the names of its features by namespace
Excess = dict[int, dict[int, float]]  # of lines of a batch, the excess of their namespaces


@dataclass
class Shape:
    """What is done to an example after parsing: the options that a cache does not hold."""

    ngrams: dict[int, int] = field(default_factory=dict)  # by letter; 0: all namespaces
    skips: dict[int, int] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)
    bits: int = 18  # of the index
    dropped: Callable[[int], bool] = lambda letter: False  # --ignore and --keep

    @property
    def plain(self) -> bool:
        return not (self.ngrams or self.limits)

    def apply(self, example: ParsedExample) -> None:
        """Add n-grams, and cut namespaces that are too long."""
        for letter, space in example.spaces.items():
            if self.dropped(letter):
                continue
            n = self.ngrams.get(letter, self.ngrams.get(0, 0))
            limit = self.limits.get(letter, self.limits.get(0))
            if limit is not None:
                mask_space(space, self.bits)
            if n >= 2:
                _add_ngrams(space, n, self.skips.get(letter, self.skips.get(0, 0)))
            if limit is not None and len(space.hashes) > limit:
                sort_space(space, self.bits, limit)


def _add_ngrams(space: Namespace, longest: int, skips: int) -> None:
    """Every run of 2 to `longest` features, with at most `skips` left out in between."""
    count = len(space.hashes)
    hashes, names = list(space.hashes), list(space.names)
    for n in range(2, min(longest, count) + 1):
        for offsets in _offsets(n, min(skips, count - n)):
            for start in range(count - offsets[-1]):
                h = hashes[start]
                name = names[start]
                for offset in offsets[1:]:
                    h = (h * PRIME + hashes[start + offset]) & 0xFFFFFFFFFFFFFFFF
                    name = name + b"^" + names[start + offset].rpartition(b"^")[2]
                space.hashes.append(h & MASK)
                space.values.append(1.0)
                space.names.append(name)


def _offsets(n: int, skips: int) -> list[list[int]]:
    """The places of n features, from 0, in Vowpal Wabbit's order: without a gap, then with more and more of them."""
    found = [([0], skips)]
    for _ in range(n - 1):
        found = [([*at, at[-1] + 1 + gap], left - gap) for at, left in found for gap in range(left + 1)]
    return [at for at, _ in found]


def mask_space(space: Namespace, bits: int) -> None:
    """Give features that share an index the same hash."""
    space.hashes = [h & ((1 << bits) - 1) for h in space.hashes]


def sort_space(space: Namespace, bits: int, limit: int | None = None) -> None:
    """Sort the features by index and value, keep the first of equal ones, and at most `limit` of them.

    Vowpal Wabbit moves the kept features to the front. From its sum of squares it subtracts products of the features
    after them (not always those that are left out), each times the first of these instead of itself.
    """
    mask = (1 << bits) - 1
    order = sorted(range(len(space.hashes)), key=lambda i: (space.hashes[i] & mask, space.values[i]))
    kept: list[int] = []
    for i in order:
        if not kept or space.hashes[kept[-1]] != space.hashes[i]:
            kept.append(i)
    kept = kept[:limit]
    behind = [space.values[i] for i in order[len(kept) :]]
    if kept and behind:
        squares = sum(x * x for x in space.values) - sum(space.values[i] ** 2 for i in kept)
        space.excess += squares - sum(x * behind[0] for x in behind)
    space.hashes = [space.hashes[i] for i in kept]
    space.values = [space.values[i] for i in kept]
    space.names = [space.names[i] for i in kept]


@dataclass
class ExampleSource:
    """The data of a run, and how its lines become examples.

    simple: labels are numbers. wants_names: names are collected. make: how a line becomes an example if it is not
    Vowpal Wabbit's text. stop: when it returns true, the data end, and no cache is written.
    """

    paths: Sequence[str]
    features: FeatureHashing
    streams: Streams
    simple: bool = True
    wants_names: bool = False
    strict: bool = False
    sort: bool = False
    make: Callable[[bytes], ParsedExample | None] | None = None
    cache: str | None = None
    kill_cache: bool = False
    bits: int = 18
    examples: int | None = None
    shape: Shape = field(default_factory=Shape)
    stop: Callable[[], bool] = lambda: False

    excess: Excess = field(default_factory=dict)  # in the batch at hand
    reader: CacheReader | None = None
    by_turns: bool = False  # lines that the engine cannot parse are parsed after the lines before them are learned
    cached: bool = False  # an older cache is used
    cached_now: bool = False  # in this pass a cache is read

    def __post_init__(self) -> None:
        self._failure: Critical | None = None  # the error that ended reading, raised after the lines before it
        self.text = TextParser(self.features, self.streams, self.strict)
        self.simple_reader = SimpleLabels(self.streams)

    def find_cache(self) -> bool:
        """Use the cache of an earlier run; returns whether there is one.

        A cache that cannot be used is rebuilt from the data. Without data that is impossible, and a file that is not a
        cache is left alone.
        """
        if self.cache is None or self.kill_cache or not os.path.exists(self.cache):
            return False
        try:
            reader = open_cache(self.cache, made_by("vw"))
            if reader.made_from.get("labels") != self._labels:
                raise CacheUnusable("it was made with another kind of labels")
        except CacheUnusable as e:
            data = self.paths[0]
            if data == "-" or not _is_cache(self.cache) or os.path.realpath(data) == os.path.realpath(self.cache):
                words = f"cache file {self.cache} is possibly corrupted or of another program: {e}"
                raise Critical(words, "cache.cc") from None
            self.streams.warn(f"cache file is ignored, and rebuilt from the data: {e}.")
            return False
        bits = reader.made_from.get("bits")
        if not isinstance(bits, int) or bits < self.bits:
            self.streams.warn("cache file is ignored as it's made with less bit precision than required.")
            return False
        self.reader, self.cached = reader, True
        return True

    @property
    def _labels(self) -> str:
        """The kind of labels of a cache: numbers, or words in front of tags."""
        return "simple" if self.simple else "words"

    def passes(self) -> Iterator[tuple[Batch, Names | None]]:
        """The batches of one pass; each is valid until the next. The first one over text writes the cache."""
        self.cached_now = self.reader is not None
        if self.reader is not None:
            for batch, _ in self.reader.batches(threads=2, share_numbers=True):
                self.excess = {}
                yield self._shaped(batch, None)
            return
        writer = None
        if self.cache is not None:
            writer = CacheWriter(self.cache, {**made_by("vw"), "bits": self.bits, "labels": self._labels})
        try:
            for batch, names in self._parsed():
                if writer is not None:
                    writer.add(batch)
                yield self._shaped(batch, names)
            if writer is not None and not self.stop():
                self.reader = writer.finish()
        finally:
            if writer is not None and self.reader is None:
                writer.close()

    # --- parsing -----------------------------------------------------------------------------

    @property
    def _quick(self) -> bool:
        return self.features.plain and not (self.wants_names or self.make or self.sort)

    def _parsed(self) -> Iterator[tuple[Batch, Names | None]]:
        if not self._quick:
            for block in self._blocks(self.stop):
                data = bytes(block.data)
                block.release()
                for part in re.findall(b"[^\n]*\n|[^\n]+", data) if self.by_turns else [data]:
                    yield self._by_line(part)
                    if self._failure is not None:
                        raise self._failure
            return
        # A pipe may be silent for long: the consumer must not wait for it.
        ahead = Ahead(
            lambda stop: map(Task, self._blocks(stop)),
            lambda: _Parsing(self.features, numbers=self.cache is not None, labels_in_tags=not self.simple), threads=1,
            stop=self.stop, helps=total_size(self.paths) is not None,
        )
        try:
            for parsed in ahead:
                self.excess = {}
                for batch in self._completed(parsed):
                    yield batch, None
        finally:
            ahead.close()

    def _blocks(self, stop: Callable[[], bool]) -> Iterator[Block]:
        """The data in whole lines, as many as are asked for."""
        left = self.examples
        for block in read_blocks(self.paths, stop=stop):
            if isinstance(block, UnreadableInput):
                raise Critical(block.message, "io_adapter.cc")
            if left is not None:
                block.data = _first_lines(bytes(block.data), left)
                left -= block.data.count(b"\n")
            yield block
            if left is not None and left <= 0:
                return

    def _completed(self, parsed: Parsed) -> Iterator[Batch]:
        """The batches of a block, with the lines that the engine's parser does not know read one by one."""
        batch = parsed.batch
        if not parsed.bad:
            self.text.examples += len(batch)
            yield batch
            return
        whole, begin = Batch(), 0
        for bad in parsed.bad:
            line = bad.line - batch.first_line
            whole.extend(batch, begin, line)
            self.text.examples += line - begin
            if self.by_turns:
                yield whole
                whole = Batch()
            try:
                self._add(whole, self.text.line(bad.text))
            except Critical:
                yield whole  # the lines before it
                raise
            begin = line + 1
        whole.extend(batch, begin, len(batch))
        self.text.examples += len(batch) - begin
        yield whole

    def _by_line(self, data: bytes) -> tuple[Batch, Names | None]:
        """The examples of some lines, up to the first one that cannot be read."""
        batch = Batch()
        self.excess = {}
        names: Names | None = [] if self.wants_names else None
        lines = data.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        for line in lines:
            if self.stop():
                break
            try:
                example = self.make(line) if self.make else self.text.line(line)
            except Critical as e:
                self._failure = e
                break
            if example is None:
                continue
            if self.sort:
                for space in example.spaces.values():
                    mask_space(space, self.bits)
                    sort_space(space, self.bits)
                self._note_excess(len(batch), example)
            self._add(batch, example)
            if names is not None:
                names.append({letter: space.names for letter, space in example.spaces.items()})
        return batch, names

    def _add(self, batch: Batch, example: ParsedExample) -> None:
        label, weight, initial, tag = NAN, 1.0, 0.0, example.tag
        if not example.blank:
            if self.simple:
                label, weight, initial = example.simple or self.simple_reader.read(example.words)
            else:
                tag = b" ".join(example.words) + b"\0" + tag
        spans = [(letter, space.hashes, space.values) for letter, space in example.spaces.items()]
        batch.append(BLANK if example.blank else EXAMPLE, label, weight, initial, b"" if example.blank else tag, spans)

    def _note_excess(self, line: int, example: ParsedExample) -> None:
        for letter, space in example.spaces.items():
            if space.excess:
                found = self.excess.setdefault(line, {})
                found[letter] = found.get(letter, 0.0) + space.excess

    def _shaped(self, batch: Batch, names: Names | None) -> tuple[Batch, Names | None]:
        """The batch after n-grams and limits."""
        if self.shape.plain:
            return batch, names
        shaped = Batch()
        for line in range(len(batch)):
            example = example_of(batch, line, names[line] if names else None)
            self.shape.apply(example)
            self._note_excess(line, example)
            spans = [(letter, space.hashes, space.values) for letter, space in example.spaces.items()]
            shaped.append(
                batch.kind[line], batch.label[line], batch.importance[line], batch.initial[line], batch.tag(line), spans
            )
            if names:
                names[line] = {letter: space.names for letter, space in example.spaces.items()}
        return shaped, names


class _Parsing(Parsing):
    """Parses blocks. Lines that the engine's parser cannot read are returned as bad lines.

    numbers: for a cache, whose batches number their distinct hashes. labels_in_tags: labels are not simple.
    """

    def __init__(self, features: FeatureHashing, numbers: bool, labels_in_tags: bool) -> None:
        super().__init__(ParseOptions(format="vw", skip=True), numbers)
        self.parser = Parser(
            hash_all=features.hash_all, hash_seed=features.hash_seed, stop_at_fault=False,
            labels_in_tags=labels_in_tags, vw_compatible_only=True,
        )
        self.numbers = numbers

    def parse(self, task: Task | UnreadableInput, batch: Batch) -> Parsed:
        assert isinstance(task, Task)
        block, bad = task.block, []
        batch.first_line = block.first_line
        if self.parser.parse(block.data, batch):
            for _, line, first, last, _, _ in self.parser.faults(batch):
                text = bytes(block.data[first:last])
                bad.append(BadLine(block.source, block.first_line + line, 1, "unknown to the engine", text))
        batch.gather()
        if self.numbers and not bad:
            batch.number_hashes()
        block.release()
        return Parsed(batch, bad)


def spans_of(batch: Batch, line: int) -> Iterator[tuple[int, int, int]]:
    """The namespaces of a line as they come: the letter, and the begin and the end of the features in the batch."""
    for span in range(batch.span_begin[line], batch.span_begin[line + 1]):
        yield batch.letter[span], batch.feature_begin[span], batch.feature_begin[span + 1]


def example_of(batch: Batch, line: int, names: dict[int, list[bytes]] | None) -> ParsedExample:
    """A line of a batch, to be changed. Namespaces with the same letter become one."""
    example = ParsedExample()
    for letter, begin, end in spans_of(batch, line):
        space = example.space(letter)
        space.hashes += batch.hash[begin:end].tolist()
        space.values += batch.value[begin:end].tolist()
    for letter, space in example.spaces.items():
        space.names = list(names[letter]) if names and letter in names else [b""] * len(space.hashes)
    return example


# The first bytes of a cache of Vowpal Wabbit: the length of its version, that version and a NUL, a `c` for cache.
_FOREIGN = re.compile(rb"([\x01-\x20])\0{7}\d+\.\d[^\0]*\0c", re.DOTALL)


def _is_cache(path: str) -> bool:
    """Whether a file is empty, or a cache of this program or of Vowpal Wabbit of any version."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as f:
            head = f.read(64)
    except OSError:
        return False
    return head == b"" or head.startswith(MAGIC[:-2]) or _FOREIGN.match(head) is not None


def _first_lines(data: bytes, count: int) -> bytes:
    at = 0
    for _ in range(count):
        end = data.find(b"\n", at)
        if end < 0:
            return data
        at = end + 1
    return data[:at]


class SimpleLabels:
    """Label, weight and initial prediction, with Vowpal Wabbit's words for bad ones."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams

    def number_or_zero(self, word: bytes) -> float:
        value, end = read_number(word)
        if not end or value != value:
            self.streams.warn(f"'{word.decode('utf-8', 'surrogateescape')}' is not a good float, replacing with 0")
            return 0.0
        return value

    def read(self, words: list[bytes]) -> tuple[float, float, float]:
        """Label (NaN: none), weight, initial."""
        if len(words) > 3:
            shown = b" ".join(words).decode("utf-8", "surrogateescape")
            self.streams.error(f"Error: {len(words)} is too many tokens for a simple label: {shown}")
            return NAN, 1.0, 0.0
        numbers = [self.number_or_zero(word) for word in words]
        return (
            numbers[0] if numbers else NAN,
            numbers[1] if len(numbers) > 1 else 1.0,
            numbers[2] if len(numbers) > 2 else 0.0,
        )
