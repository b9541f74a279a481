"""`vwlite split`: the rows of DATA in two files."""

import io
import math
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import date, datetime, timezone
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import compress, repeat
from typing import Any, NoReturn

import numpy as np

from vwlite.core.base.checksum import row_hashes
from vwlite.core.tables.cells import parts_of_time
from vwlite.core.text.numbers import whole
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import EMPTY, IS_NUMBER, a_time, formats_for, shown
from vwlite.input.formats import COMPRESSED, FORMATS, OF_TEXT, check_name
from vwlite.input.sources import check_sources, is_read_once
from vwlite.inspection.commands import SplitOptions
from vwlite.inspection.rows import Rows, rows_of
from vwlite.output.atomic import AtomicFile, commit_together
from vwlite.output.progress import LiveLine
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame
from vwlite.time_formats import LIKELY, SINCE_1970, typed_formats

MOST_LABELS = 1000
MOST_DIFFERENT = 100_000  # rows that are counted
MANY_COPIES = 10  # of each row, on average
_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_UTC, _WEEK = re.compile(" (UTC|GMT)$"), re.compile(r"(\d{4})-?W(\d\d)", re.ASCII)
_LABEL = re.compile(rb"^\s*(__label__\S*|[^\s|']*)")  # of fastText; of VW text and libsvm


class Rule:
    """The part of each row: how many ends are below its number. Ends are shares of the range of hashes, or found in a
    first reading: shares of the rows of each label, or of all by time. Numbers are hashes, or times with a minus.
    hashes: others than those of the rows."""

    since = ""  # the first time that is taken, as it is in the data
    live: LiveLine | None = None

    def __init__(
        self, o: SplitOptions, shares: Sequence[Fraction], hashes: Callable[[Rows], Iterable[int]] | None = None
    ) -> None:
        self._o, self.shares, self._hashes = o, shares, hashes or self._own_hashes
        self.different: set[float] = set()  # numbers of all rows, up to a little over MOST_DIFFERENT
        self._copies = Counter[bytes]()  # of each row, so far
        self._are_dates: bool | None = None
        self._kinds = set[str]()  # of numbers that are times
        self._reading = 0  # the number of this one
        self.time_format = o.time_format
        self.is_folds = len(shares) > 2
        self.kind = "times" if o.by_time else "groups" if o.group else "different rows"
        self.option = "--time" if o.by_time else "--group" if o.group else "--label"
        self.column = o.by_time or o.group or (o.label if o.stratify else None)
        if self.column and o.format in OF_TEXT:
            raise UsageError(f"{self.option} {self.column}: lines of --format {o.format} have no columns: leave it out")
        ends: tuple[float, ...] = tuple(math.ceil(share * 2**64) - 1 for share in self.shares)
        self._ends = {b"": ends}

    def rows(self, stop: Callable[[], bool]) -> Iterator[Rows]:
        """All rows. DataError."""
        self._reading, number = self._reading + 1, 0
        passes = 2 if self._o.by_time or self._o.stratify else 1
        for rows in rows_of(self._o.data, self._o.format, self._o.roles, self.option, self.column, stop):
            yield rows
            number += len(rows.texts) if rows.batch is None else rows.batch.num_rows
            if self.live is not None:
                self.live.update(number, rows.done, rows.total, min(self._reading, passes), passes)

    def prepare(self, stop: Callable[[], bool]) -> None:
        """Read the data, if that is needed. DataError."""
        found: dict[bytes, Any] = {}
        if self._o.by_time and not self.time_format:
            self._find_format(stop)
        for rows in self.rows(stop) if self._o.by_time or self._o.stratify else ():
            for label, number in self._numbers(rows):
                found.setdefault(label, array("d" if self._o.by_time else "Q")).append(number)
            if len(found) > MOST_LABELS:
                raise DataError(f"--stratify: more than {MOST_LABELS:,} labels are no classes: leave the option out")
        if self._o.group and self.is_folds:
            self._deal_groups(stop)
        for label, numbers in found.items():
            ordered = np.sort(np.asarray(numbers))
            self._ends[label] = tuple(self._end(ordered, share * len(ordered)) for share in self.shares)
        self._copies.clear()

    def _deal_groups(self, stop: Callable[[], bool]) -> None:
        """See that each fold has a group. Where the hashes leave one empty, folds have equal numbers of groups, in the
        order of their hashes. DataError for fewer groups than folds."""
        folds, numbers = len(self.shares) - 1, set[float]()
        for rows in self.rows(stop):
            numbers.update(number for _, number in self._numbers(rows))
            if len(self._per_part(numbers)) == folds:
                return
        if 0 < len(numbers) < folds:
            take = f"--folds {len(numbers)} takes fewer" if len(numbers) > 1 else "leave --group out"
            groups = f"{len(numbers)} group{'s' * (len(numbers) > 1)}"
            raise DataError(f"--group {self._o.group}: {groups}, and each of {folds} folds needs one: {take}")
        if numbers:
            ordered = np.array(sorted(numbers), np.uint64)
            self._ends[b""] = tuple(self._end(ordered, share * len(ordered)) for share in self.shares)

    def _per_part(self, numbers: Iterable[float]) -> Counter[int]:
        return Counter(bisect_left(self._ends[b""], x) for x in numbers)

    def groups(self) -> Counter[int]:
        """How many groups each part has, of those that were counted."""
        return self._per_part(self.different)

    def _end(self, ordered: Any, rows: Fraction) -> float:
        k = math.ceil(rows) if self._o.by_time else math.floor(rows + Fraction(1, 2))
        end: float = ordered[k - 1].item() if k else -math.inf
        return end

    def parts(self, rows: Rows) -> list[int]:
        """The part of each."""
        if not (self._o.by_time or self._o.stratify) and self._hashes == self._own_hashes:
            self._refuse_empty(rows)
            hashes = np.frombuffer(self._own_hashes(rows), np.uint64)
            if len(self.different) <= MOST_DIFFERENT:
                self.different.update(hashes.tolist())
            ends = [int(end) for end in self._ends[b""] if end >= 0]
            found: Any = len(self._ends[b""]) - len(ends) + np.searchsorted(np.array(ends, np.uint64), hashes)
            return [*found.tolist()]
        numbers = list(self._numbers(rows))
        if len(self.different) <= MOST_DIFFERENT:
            self.different.update(number for _, number in numbers)
        last = b"", self._ends[b""][-1]
        if self._o.by_time and last in numbers:
            self.since = rows.values[numbers.index(last)].decode("utf-8", "replace")
        return [bisect_left(self._ends[label], x) for label, x in numbers]

    def _numbers(self, rows: Rows) -> Iterator[tuple[bytes, float]]:
        """For each row its label, if these have shares, and its number. DataError."""
        o = self._o
        self._refuse_empty(rows)
        if o.by_time:
            return ((b"", -self._time(rows, row)) for row in range(len(rows.values)))
        if o.stratify and FORMATS[rows.format].is_table and rows.format not in OF_TEXT and not rows.column:
            raise UsageError("--stratify needs --label NAME, as the data are a table")
        words = rows.values or (_LABEL.findall(text)[0] for text in rows.texts)
        labels = map(whole, words) if o.stratify else repeat(b"")
        return zip(labels, self._hashes(rows), strict=False)

    def _refuse_empty(self, rows: Rows) -> None:
        if b"" in rows.values and not self._o.stratify:
            raise rows.bad(rows.values.index(b""), EMPTY.format(self.kind[:-1]))

    def about_share(self, train: int, test: int) -> list[str]:
        """A note where TEST has notably less or more than its share, by three standard errors of as many different
        rows, or there are so few of them that a part has all copies of most."""
        o, different, rows = self._o, len(self.different), train + test
        is_off = abs(test / rows - o.test) > 3 * math.sqrt(o.test * (1 - o.test) / rows)
        is_plain = not o.group and not o.by_time and different <= MOST_DIFFERENT
        is_noted = is_off or (is_plain and MANY_COPIES * different <= rows)
        if o.copies == "apart" or different >= rows or not is_noted:
            return []
        has = f"TEST has {100 * test / rows:.1f} % of them, and --test is {100 * o.test:g} %"
        number = f"{different:,}" if different <= MOST_DIFFERENT else f"more than {MOST_DIFFERENT:,}"
        if o.group or o.by_time:
            return [f"{rows:,} rows of {number} {self.kind}; {has}"]
        return [f"{rows:,} rows, of which {number} are different; {has}: equal rows are in one file; --copies apart "
                "takes them one by one"]

    def of_few(self) -> str:
        """How many different ones the rows are, and what to do if these leave a part empty."""
        n = len(self.different)
        if not self._o.group and not self._o.by_time:
            return f", and too few {self.kind}"
        if n == 1:
            return f" of one {self.kind[:-1]}: leave {self.option} out"
        return f" of {n:,} {self.kind}: try another {'' if self._o.by_time else '--seed or '}--test"

    def _own_hashes(self, rows: Rows) -> Any:
        keys = [*map(whole, rows.values)] if self._o.group else rows.keys
        if self._o.copies == "apart":
            keys = [self._numbered(key) for key in keys]
        return row_hashes(keys, self._o.seed)

    def _numbered(self, key: bytes) -> bytes:
        """A row with a line behind it that has the number of this copy, for all but the first."""
        self._copies[key] += 1
        return key if self._copies[key] == 1 else b"%b\n%d" % (key, self._copies[key])

    def _find_format(self, stop: Callable[[], bool]) -> None:
        """The format that reads all rows, if the first one is neither ISO 8601 nor a number. DataError if there are
        two."""
        likely: Sequence[str] = LIKELY
        for rows in self.rows(stop):
            for row, value in enumerate(rows.values):
                if likely is LIKELY and (IS_NUMBER.fullmatch(value) or math.isfinite(_seconds(value))):
                    return
                found = [other for other in likely if math.isfinite(_seconds(value, other))]
                if not found:
                    self._refuse(rows, row, "" if likely is LIKELY else typed_formats(likely))
                likely = found
        if 1 < len(likely) < len(LIKELY):
            raise DataError(f"--time {self._o.by_time}: add {typed_formats(likely)}, as both read all rows")
        self.time_format = likely[0] if len(likely) == 1 else ""

    def _time(self, rows: Rows, row: int) -> float:
        """A number, or the seconds since 1970 of ISO 8601; all rows have the same of these. Or as the format says."""
        value, time = rows.values[row], math.nan
        format = "" if rows.are_times else self.time_format
        is_date = not IS_NUMBER.fullmatch(value) if self._are_dates is None else self._are_dates
        if is_date or format:
            time = _seconds(value, format)
        elif IS_NUMBER.fullmatch(value):
            time = float(value)
            self._check_kind(rows, row, time)
        if not math.isfinite(time):
            one = "" if self._are_dates is None else f"a {'date' if is_date else 'number'}, as in the rows before"
            if self._are_dates is (IS_NUMBER.fullmatch(value) is not None):
                one += ": write all as one of them"
            self._refuse(rows, row, a_time(format) if format else one)
        self._are_dates = is_date
        return time

    def _check_kind(self, rows: Rows, row: int, number: float) -> None:
        """DataError where numbers are of several kinds, whose order is not that of their times."""
        kind = _kind_of(number)
        self._kinds |= {kind} - {""}
        if len(self._kinds) > 1:
            other = next(iter(self._kinds - {kind}))
            value = shown(rows.values[row])
            raise rows.bad(row, f"'{value}' may be {kind}, and rows before have {other}: write all as one of them")

    def _refuse(self, rows: Rows, row: int, one: str) -> NoReturn:
        """DataError. one: what is expected; "": any time."""
        value = rows.values[row]
        found = [] if one else formats_for(value)
        how = f"; {typed_formats(found)} reads it" if found else ""
        words = f"'{shown(value)}' is not a time: expected {one or a_time('')}{how}"
        raise rows.bad(row, words if value else EMPTY.format("time"))


def _kind_of(number: float) -> str:
    """What a number is, as a time; "": any number."""
    if 19000101 <= number < 21010101 and parts_of_time(b"%d" % number, b"%Y%m%d"):
        return "dates such as 20260131"
    of_size = (unit for k, unit in enumerate(SINCE_1970) if 1e9 <= abs(number) / 1000**k < 1e11)
    return next((f"{unit} since 1970" for unit in of_size), "")


def _seconds(value: bytes, format: str = "") -> float:
    """Since 1970, of a date of ISO 8601 or in a format; NaN for what is none."""
    if format:
        found = parts_of_time(value, format.encode())
        return float(found[-1]) if found else math.nan
    with suppress(ValueError, OverflowError):
        text = _UTC.sub("Z", value.decode()).replace("Z", "+00:00")
        if week := _WEEK.fullmatch(text):
            text = date.fromisocalendar(int(week[1]), int(week[2]), 1).isoformat()
        time = datetime.fromisoformat(text + "-01" * (_MONTH.fullmatch(text) is not None))
        return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
    return math.nan


class PartFile(io.RawIOBase):
    """A file of some rows, in the format of the data; compressed if its name says so. since: their first time, as the
    end of a sentence."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        self.path, self.name = path, "standard output" if path == "-" else path
        self.rows, self.since = 0, ""
        self._packer = zlib.compressobj(wbits=31) if path.lower().endswith(".gz") else None
        self.file = stack.enter_context(AtomicFile("/dev/stdout" if path == "-" else path))
        self._writer: Any = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.file.write(self._packer.compress(data) if self._packer is not None else data)
        return len(data)

    def take(self, rows: Rows, which: Sequence[bool]) -> None:
        """Add the rows whose entry is true."""
        self.rows += sum(which)
        if rows.batch is None:
            self.write(b"\n".join([*compress(rows.texts, which), b""]))
            return
        pa = import_module("pyarrow")
        try:
            if self._writer is None:
                new = import_module("pyarrow.parquet").ParquetWriter if rows.format == "parquet" else pa.ipc.new_file
                self._writer = new(self, rows.batch.schema)
            self._writer.write_batch(rows.batch.take(pa.array(np.flatnonzero(which))))
        except pa.ArrowException as e:
            raise DataError(f"{rows.source}:{rows.first_line}:1: cannot be copied: {printable(str(e))}") from e

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._packer is not None:
            self.file.write(self._packer.flush())


def divided(rule: Rule, stop: Callable[[], bool]) -> Iterator[tuple[Rows, list[int]]]:
    """The rows of DATA, and the part of each. DataError for sources of several formats."""
    rule.prepare(stop)
    first = None
    for rows in rule.rows(stop):
        kind = (rows.format, rows.dialect, rows.header.strip(), rows.batch and rows.batch.schema)
        first = first or (rows.source, kind)
        if kind != first[1]:
            why = f"its format or header is not that of {first[0]}: split each by itself"
            raise DataError(f"{rows.source}:1:1: {why}")
        yield rows, rule.parts(rows)


def check_sizes(
    rule: Rule, train: int, test: int, data: Sequence[str], names: Sequence[str] = ("TRAIN", "TEST")
) -> None:
    """DataError if there are no rows, or all are in one of two parts. names: of the parts."""
    if not train + test:
        raise DataError(f"{' '.join(data) or '<stdin>'}: there are no rows")
    if not (train and test):
        raise DataError(f"{names[not test]} would be empty: there are {train + test:,} rows{rule.of_few()}")


def divide(rule: Rule, paths: Sequence[str], frame: RunFrame) -> list[PartFile]:
    """Write the two files; none if a signal came."""
    with ExitStack() as stack:
        train, test = parts = [PartFile(path, stack) for path in paths]
        is_first = True
        for rows, numbers in divided(rule, frame.stopped):
            for part in parts if is_first else ():
                check_name(part.path, rows.format, rows.dialect.delimiter)
                if rows.header:
                    part.write(rows.header + b"\n" * (not rows.header.endswith(b"\n")))
            is_first = False
            test.take(rows, [number == 1 for number in numbers])
            train.take(rows, [number != 1 for number in numbers])
        if frame.signal is not None:
            return []
        check_sizes(rule, train.rows, test.rows, frame.options.data)
        for part in parts:
            part.finish()
        if not frame.commit(partial(commit_together, train.file, test.file)):
            return []
        test.since = f", from {printable(rule.since)} on" * bool(rule.since)
    return parts


def split(o: SplitOptions) -> int:
    """Run `vwlite split`; the exit code."""
    if len(o.outputs) != 2:
        raise UsageError(f"-o names two files, -o TRAIN -o TEST, and not {len(o.outputs)}")
    for path in o.outputs:
        if path.lower().endswith(COMPRESSED) and not path.lower().endswith(".gz"):
            raise UsageError(f"-o {path}: only .gz is compressed here: name it so, or leave the last suffix out")
    if (o.by_time or o.stratify) and is_read_once(o.data):
        raise UsageError("--time and --stratify read the data twice, and standard input is read only once: name files")
    with RunFrame("split", o) as frame:
        check_sources(o.data, quiet=o.quiet)
        share = Fraction(repr(o.test) if o.by_time else o.test)  # of hashes, 0.2 stays the binary fraction that it was
        rule = Rule(o, (Fraction(0), share))
        rule.live = frame.live_line(*o.outputs)
        parts = divide(rule, o.outputs, frame)
        rule.live.clear()
        if parts:
            summary = "\n".join(f"{part.name}: {part.rows:,} rows{part.since}" for part in parts)
            notes = rule.about_share(*(part.rows for part in parts))
            if rule.time_format != o.time_format:
                notes.append(f"times are read as {typed_formats([rule.time_format])}")
            frame.show(summary, notes)
        return frame.code()
