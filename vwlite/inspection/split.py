"""`vwlite split`: the rows of DATA in two files."""

import io
import math
import os
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime, timezone
from fractions import Fraction
from importlib import import_module
from itertools import compress
from typing import Any

import mmh3
import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import A_TIME, IS_NUMBER, shown
from vwlite.input.formats import COMPRESSED, FORMATS
from vwlite.input.sources import check_sources, display_name
from vwlite.inspection.commands import SplitOptions
from vwlite.inspection.rows import Rows, rows_of
from vwlite.output.atomic import AtomicFile
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame

HASHES = 1 << 64
MOST_LABELS = 1000
Read = Callable[[], Iterator[Rows]]


class Rule:
    """Which rows are taken: those whose number is in (low, high], which is a share of the range of hashes, or found in
    a first reading: a share of the rows of each label, or of all by time. Numbers are hashes, or times with a minus."""

    since = ""  # the first time that is taken, as it is in the data

    def __init__(self, o: SplitOptions, low: Fraction, high: Fraction) -> None:
        self._o, self._shares = o, (low, high)
        self._are_dates: bool | None = None
        self.option = "--time" if o.by_time else "--group" if o.by_group else "--label"
        self.column = o.by_time or o.by_group or (o.label if o.stratify else None)
        ends: tuple[float, ...] = tuple(math.ceil(share * HASHES) - 1 for share in self._shares)
        self._ends = {b"": ends}

    def prepare(self, read: Read) -> None:
        """Read the data, if that is needed. DataError."""
        found: dict[bytes, Any] = {}
        for rows in read() if self._o.by_time or self._o.stratify else ():
            for label, number in self._numbers(rows):
                found.setdefault(label, array("d" if self._o.by_time else "Q")).append(number)
            if len(found) > MOST_LABELS:
                raise DataError(f"--stratify: more than {MOST_LABELS:,} labels are no classes: leave the option out")
        for label, numbers in found.items():
            ordered = np.sort(np.asarray(numbers))
            self._ends[label] = tuple(self._end(ordered, share * len(ordered)) for share in self._shares)

    def _end(self, ordered: Any, rows: Fraction) -> float:
        k = math.ceil(rows) if self._o.by_time else math.floor(rows + Fraction(1, 2))
        end: float = ordered[k - 1].item() if k else -math.inf
        return end

    def takes(self, rows: Rows) -> list[bool]:
        numbers = list(self._numbers(rows))
        last = b"", self._ends[b""][1]
        if self._o.by_time and last in numbers:
            self.since = rows.values[numbers.index(last)].decode("utf-8", "replace")
        return [low < x <= high for label, x in numbers for low, high in [self._ends[label]]]

    def _numbers(self, rows: Rows) -> Iterator[tuple[bytes, float]]:
        """For each row its label, if these have shares, and its number. DataError."""
        o = self._o
        if b"" in rows.values and not o.stratify:
            raise rows.bad(rows.values.index(b""), "an empty cell, and each row needs one")
        if o.by_time:
            return ((b"", -self._time(rows, row)) for row in range(len(rows.values)))
        if o.stratify and FORMATS[rows.format].is_table and not rows.column:
            raise UsageError("--stratify needs --label NAME, as the data are a table")
        hashes = (mmh3.hash64(key, o.seed, signed=False)[0] for key in (rows.values if o.by_group else rows.keys))
        return zip(rows.values or rows.labels, hashes, strict=True) if o.stratify else ((b"", x) for x in hashes)

    def _time(self, rows: Rows, row: int) -> float:
        """A number, or the seconds since 1970 of ISO 8601; all rows have the same of these."""
        value, time = rows.values[row], math.nan
        is_date = not IS_NUMBER.fullmatch(value) if self._are_dates is None else self._are_dates
        with suppress(ValueError, OverflowError):
            if is_date:
                found = datetime.fromisoformat(value.decode().replace("Z", "+00:00"))
                time = (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
            elif IS_NUMBER.fullmatch(value):
                time = float(value)
        if not math.isfinite(time):
            one = A_TIME if self._are_dates is None else f"a {'date' if is_date else 'number'}, as in the rows before"
            raise rows.bad(row, f"'{shown(value)}' is not a time: expected {one}")
        self._are_dates = is_date
        return time


class Part(io.RawIOBase):
    """A file of some rows, in the format of the data; compressed if its name says so."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        suffix = next((suffix for suffix in COMPRESSED if path.lower().endswith(suffix)), "")
        if suffix not in ("", ".gz"):
            raise UsageError(f"{path}: {suffix} cannot be written: name a .gz file, or one that is not compressed")
        self.name, self.rows = "standard output" if path == "-" else path, 0
        self._packer = zlib.compressobj(wbits=31) if suffix else None
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


def divide(rule: Rule, read: Read, train: Part, test: Part) -> None:
    """Write the rows that a rule takes into `test`, the others into `train`. DataError for sources of several formats,
    and if there is nothing in one of the parts."""
    rule.prepare(read)
    first: tuple[str, Any] | None = None
    for rows in read():
        kind = (rows.format, rows.dialect, rows.header.strip(), rows.batch and rows.batch.schema)
        if first is None:
            first = rows.source, kind
            for part in (train, test) if rows.header else ():
                part.write(rows.header + b"\n" * (not rows.header.endswith(b"\n")))
        if kind != first[1]:
            raise DataError(f"{rows.source}:1:1: its format or header is not that of {first[0]}: split each by itself")
        taken = rule.takes(rows)
        test.take(rows, taken)
        train.take(rows, [not x for x in taken])
    for part in (train, test):
        part.finish()


def split(o: SplitOptions) -> int:
    """Run `vwlite split`; the exit code."""
    if len(o.outputs) != 2:
        raise UsageError(f"-o names two files, -o TRAIN -o TEST, and not {len(o.outputs)}")
    rule, name = Rule(o, Fraction(0), Fraction(o.test)), display_name((o.data or ["-"])[0])
    if (o.by_time or o.stratify) and not all(map(os.path.isfile, o.data or ["-"])):
        how = "--time" if o.by_time else "--stratify"
        raise UsageError(f"{how} reads the data twice, and standard input is read only once: name files")
    with RunFrame("split", o) as frame:
        check_sources(o.data, quiet=o.quiet)
        train, test = (Part(path, frame) for path in o.outputs)
        divide(rule, lambda: rows_of(o, rule.option, rule.column, lambda: frame.signal is not None), train, test)
        if frame.signal is not None:
            return frame.code("; no file was written")
        if not train.rows or not test.rows:
            which, rows = "TEST" if train.rows else "TRAIN", train.rows + test.rows
            why = f"have the same time in {o.by_time}" if o.by_time else f"are on one side of --test {o.test:g}"
            raise DataError(f"{name}: " + (f"{which} would be empty: all {rows:,} rows {why}" if rows else "no rows"))
        for part in (train, test):
            part.file.commit()
        since = f", from {printable(rule.since)} on" if o.by_time else ""
        frame.show(f"{train.name}: {train.rows:,} rows\n{test.name}: {test.rows:,} rows{since}")
        return frame.code()
