"""A run of `vwlite describe`: what is in data, before anybody learns from it."""

import math
import os
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import mmh3
import numpy as np

from vwlite.algorithms.labels import MOST as MOST_LABELS
from vwlite.algorithms.labels import choose
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.tables.tables import split
from vwlite.errors import DataError
from vwlite.hashing import namespace_hash
from vwlite.input.diagnostics import IS_NUMBER
from vwlite.input.formats import FORMATS, OF_TEXT
from vwlite.input.json_text import loads
from vwlite.input.labelled_text import columns_of
from vwlite.input.parsing import EXAMPLE, FrameRows, Parsed, ParseOptions, SourceText
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sample import FEW, NEARLY, Finding, Sample, about_equal, typed_names, units_since_1970
from vwlite.input.schema import CELLS_MISSING, RoleOptions, Schema, listed
from vwlite.input.sources import check_sources, display_name
from vwlite.input.tables import TableReader
from vwlite.input.two_words import in_order, positive_of
from vwlite.input.values import Values
from vwlite.input.written import together
from vwlite.inspection.commands import DescribeOptions
from vwlite.names import names_text
from vwlite.options.spec import IN, TABLES, specs_of
from vwlite.output.json_text import json_text, with_schema
from vwlite.output.shell_words import joined, quoted, split_words
from vwlite.output.stdio import plain
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.options import InputOptions
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines

EXACT, ENTRIES, ROWS = 4096, 1 << 19, 1 << 18  # distinct values that are counted: of a column, of all; distinct rows
MOST_NAMES = 1 << 17  # of columns of JSON lines and namespaces of VW text, which come with the lines
FEWEST_CODES, ROWS_OF_CODE = 8, 10  # of a column that may have codes: different ones, rows for each
FAR_APART = 10  # codes, in the middle
CODES = {"branch", "category", "class", "code", "device", "district", "id", "item", "kind", "plz", "postcode",
         "product", "region", "route", "shop", "sku", "station", "store", "type", "zip", "zone"}  # in names of codes
ALL_DIFFER = 0.98  # of whole numbers: the share of different ones from which they are ids
BLANK = 1  # a kind of lines, as in cython_ext/data/batch.pxd
SHOWN, CLASSES = 20, 8  # columns and notes that are printed without --all; classes of the label
SCALES = 1e3  # a ratio from which scales differ

Facts = dict[str, Any]


def describe(o: DescribeOptions) -> int:
    """Run `vwlite describe`; the exit code."""
    o.check()
    check_sources(o.data, quiet=o.quiet)
    typed = list[str]()
    for spec in specs_of(InputOptions, IN, TABLES):
        if spec.name in o.given:
            value = getattr(o, spec.name)
            word = _names(chain(*value)) if spec.multiple else str(value)
            typed += [spec.long, *([] if spec.type is None else [word])]
    found = Description(o.roles, planned(replace(o, quiet=True)).table() or TableReader(), typed=typed)
    with RunFrame("describe", o) as frame:
        frame.stop_with(lambda: os._exit(frame.code()))  # there is nothing to be finished
        bad = BadLines(frame, skip=True)
        live = frame.live_line()

        def on_batch(parsed: Parsed) -> None:
            if parsed.bad and not o.quiet:
                live.clear()
                bad.take(parsed.bad)
            live.update(found.rows, parsed.done, parsed.total)

        found.read(o.data, o.format, frame.stopped, on_batch, threads=o.threads)
        live.clear()
        if frame.signal is None:
            facts = found.facts()
            if o.json:
                print(json_text(with_schema(facts), indent=2, ensure_ascii=False))
            else:
                print(plain(as_text(facts, o.all)))
        return frame.code()


class Description:
    """What was seen of data. roles: of columns, as typed. table: how they are read. label_of: a label as it is in the
    data, where somebody else reads them for a model, whose batches `take` gets then. typed: the options of data, as
    words of the next command."""

    def __init__(
        self, roles: RoleOptions, table: TableReader, label_of: Callable[[float], Any] | None = None,
        typed: Sequence[str] = (),
    ) -> None:
        self._roles, self._table, self._words_typed = roles, table, typed
        self._data: Sequence[str] = ()
        self._classes = ClassNames(1000, grows=True)
        self._foreign, self._label_of = label_of is not None, label_of or self._own_label
        self._typed = roles.roles()
        words = {word.encode("utf-8", "surrogateescape") for word in roles.missing_words}
        self._missing = words | {float(word) for word in words if IS_NUMBER.fullmatch(word)}
        self._columns: dict[str, Values] = {}
        self._space_names = {0: ""}
        self._spaces: dict[int, Values] = {}
        self._labels, self._importance, self._distinct = Values(EXACT), Values(EXACT), Values(ROWS)
        self._delimited, self._first_bad = False, ""
        self.rows = self._lines = self._blank = self._bad = 0

    def read(
        self, data: Sequence[str], format: str = "auto", stop: Callable[[], bool] = lambda: False,
        on_batch: Callable[[Parsed], None] = lambda parsed: None, *, threads: int = 2,
    ) -> None:
        """Look at all data. stop: whether to end it early. on_batch: what is done after each batch."""
        self._data = data
        parse = ParseOptions(format=format, skip=True, class_names=self._classes, or_numbers=True,
                             lenient_labels=True, table=self._table, keeps_text=True, spaces=True)
        with parsed_batches(data, parse, stop=stop, threads=threads) as batches:
            for parsed in batches:
                self.take(parsed)
                on_batch(parsed)

    def take(self, parsed: Parsed) -> None:
        """Look at a batch, which has the hashes of namespaces, and its text or the rows that it is made of."""
        batch, source = parsed.batch, parsed.source
        kinds = np.asarray(batch.kind, np.uint8)
        rows = np.flatnonzero(kinds == EXAMPLE)
        self._bad += len(parsed.bad)
        self._first_bad = self._first_bad or next(map(str, parsed.bad), "")
        self._blank += int(np.count_nonzero(kinds == BLANK))
        self.rows += len(rows)
        if not len(batch):  # input that is not lines, of which the bad line tells
            return
        lines: list[bytes] = []
        if source is None and parsed.rows is None:  # of a matrix
            self._take_examples(batch, kinds == EXAMPLE, b"")
        elif source is None:
            columns = {name: [_cell(cells[row]) for row in rows] for name, cells in _columns_of(parsed.rows).items()}
            lines = [repr(cells).encode() for cells in zip(*columns.values(), strict=True)]
            self._take_columns(columns)
        else:
            lines = source.lines_of(batch, rows.tolist())
            if source.dialect.delimiter:
                self._delimited = True
                self._take_columns(self._of_delimited(source, lines))
            elif source.format in OF_TEXT:
                self._take_columns(columns_of(lines))
            elif FORMATS[source.format].is_table:
                self._take_columns(_of_json(lines))
            else:
                self._take_examples(batch, kinds == EXAMPLE, source.text)
                unfit = [_cell(label) for label in parsed.unfit] if self._foreign else []
                self._labels.add(unfit, (), as_words=False)
        self._distinct.count(Counter(mmh3.hash_bytes(line.strip()) for line in lines))

    def _of_delimited(self, source: SourceText, lines: list[bytes]) -> dict[str, Any]:
        assert self._table.schema is not None
        names = list(self._table.schema.roles)
        if source.header:
            names = [cell.strip().decode() for cell in split(source.header, *source.dialect)[0][0]]
        records = split(b"\n".join(lines), *source.dialect, most=len(lines))
        return dict(zip(names, zip(*(cells for cells, _, _ in records), strict=True), strict=False))

    def _take_columns(self, columns: Mapping[str, Iterable[Any]]) -> None:
        schema = self._table.schema or Schema({})
        notation = schema.notation
        for name, cells in columns.items():
            role = schema.roles.get(name)
            if notation is not None and role in ("numeric", "label", "importance"):
                cells = [(isinstance(x, bytes) and notation.number_of(x)) or x for x in cells]
            values = _values_of(name, self._columns, 0 if role == "label" else len(columns))
            as_words = (name in self._typed or not self._delimited) and role not in CELLS_MISSING
            values.add(cells, self._missing if role in CELLS_MISSING else (), as_words=as_words)

    def _take_examples(self, batch: Batch, kept: Any, text: bytes) -> None:
        self._lines += int(np.count_nonzero(kept))
        sizes, spans = np.diff(np.asarray(batch.feature_begin)), np.diff(np.asarray(batch.span_begin))
        lines = np.repeat(np.repeat(np.arange(len(batch)), spans), sizes)
        spaces = np.repeat(np.asarray(batch.space), sizes)
        order = np.argsort(spaces, kind="stable")
        order = order[kept[lines[order]]]
        found, begins = np.unique(spaces[order], return_index=True)
        if {*found.tolist()} - self._space_names.keys():
            for name in {*re.findall(rb"\|([^ \t\r\n:|]+)", text)}:
                self._space_names.setdefault(namespace_hash(name), name.decode("utf-8", "surrogateescape"))
        for space, part in zip(found.tolist(), np.split(order, begins[1:]), strict=False):
            v, x = _values_of(space, self._spaces, len(self._space_names)), np.asarray(batch.value)[part].astype(float)
            v.count(Counter(np.asarray(batch.hash)[part].tolist()))
            v.widen(x.min(), x.max(), x.sum())
            v.lines += len(np.unique(lines[part]))
        labels = np.asarray(batch.label)[kept].tolist()
        known = {label: _cell(self._label_of(label)) for label in {*labels} if label == label}
        self._labels.add(map(known.get, labels), (), as_words=False)
        self._importance.add(np.asarray(batch.importance)[kept].tolist(), (), as_words=False)

    def _own_label(self, label: float) -> Any:
        return self._classes[int(label) - 1] if len(self._classes) else label

    def notes(self) -> list[str]:
        """The notes of `facts`, as sentences."""
        return [*map(_sentence, self.facts()["notes"])]

    def facts(self) -> Facts:
        """What there is to say, as `--json` prints it. DataError if there is no row at all."""
        files = [display_name(path) for path in self._data or ["-"]]
        if not self.rows:
            why = f"; the first bad line is {self._first_bad}" if self._first_bad else ""
            raise DataError(f"{listed(files)}: no rows: there is nothing to describe{why}")
        self._table.check_awaited()
        facts: Facts = {"files": files, "rows": self.rows, "blank_lines": self._blank, "bad_lines": self._bad}
        facts |= {"repeated_rows": self._distinct.repeated, "repeated_rows_are_exact": not self._distinct.level}
        about = f"bad lines: {self._bad:,}, which are not in these numbers; the first is {self._first_bad}"
        findings, label = [Finding("", about)] if self._bad else [], None
        if self.rows > self._lines:
            facts["columns"], label = self._of_columns(findings)
        if self._lines:
            facts |= {"namespaces": self._of_namespaces(findings), "importance": _numbers(self._importance)}
            label = label or _of_label("", self._labels, self._lines)
        if label:
            facts["label"] = label
            note = "learning needs two different labels" if label["distinct"] <= 1 else ""
            if label["numbers"] and label["classes"] and not self._foreign:
                note = note or choose(sorted(map(float, label["classes"])), ()).note
            findings += [Finding("", note)] if note else []
        facts["notes"] = [{"column": f.column, "note": f.sentence} for f in findings]
        facts["next"] = self._next(label, findings)
        return facts

    def _of_columns(self, findings: list[Finding]) -> tuple[list[Facts], Facts | None]:
        schema, found, label, words = self._table.schema or self._roles.open_schema(), {}, None, []
        roles = dict(schema.roles)
        for name, v in self._columns.items():
            roles.setdefault(name, "categorical" if v.words else "numeric")
        findings += self._table.findings
        rows = self.rows - self._lines
        for name, role in roles.items():
            v = self._columns.get(name) or Values(0)
            counted = v.items()
            fact = {"role": role, "missing": 1 - v.total / rows, **_numbers(v)}
            if counted and (v.words or role not in ("numeric", "importance")):
                fact |= {"most_frequent": printable(_word(counted[0][0])), "count": counted[0][1]}
            found[name] = fact
            words.append(Counter({_word(value).encode("utf-8", "surrogateescape"): n for value, n in counted}))
            if role == "label":
                label = _of_label(name, v, rows)
            many = role == "numeric" and name not in self._typed and v.total >= FEW
            numbers = _counts_of(counted) if many else {}
            equal = about_equal(name, _counts_of(counted)) if role == "numeric" and not self._delimited else ""
            findings += [Finding(name, equal)] if equal else []
            if many and v.distinct >= ALL_DIFFER * v.total and all(x.is_integer() for x in numbers):
                findings.append(_all_differ(name, [*numbers]))
            elif many and not v.level and _are_codes(name, v, numbers):
                how = f"--categorical {typed_names([name])} makes them categories"
                findings.append(Finding(name, f"{v.distinct} whole numbers that look like codes: {how}"))
        if self._delimited:
            whole = replace(schema, roles=roles)  # a model of JSON lines has only what was typed
            findings += Sample(list(roles), words, 0, schema).findings(whole, self._typed)
        features = {name: f for name, f in found.items() if f["role"] in ("numeric", "categorical")}
        same = {name: f for name, f in features.items() if f["distinct"] == 1 and not f["missing"] and rows > 1}
        about = f"the same value in every row, which tells nothing: {listed([*same])}"
        findings += [Finding("", about)] if same else []
        findings += _scales({name: f for name, f in features.items() if f["role"] == "numeric" and name not in same})
        return [{"name": name, **fact} for name, fact in found.items()], label

    def _of_namespaces(self, findings: list[Finding]) -> list[Facts]:
        found = {}
        for space, v in self._spaces.items():
            name = self._space_names.get(space, f"#{space}")
            found[name] = {"lines": v.lines, "features": v.total, **_numbers(v)}
            if v.total >= FEW and v.distinct >= NEARLY * v.total:
                how = f": --ignore {quoted(name[0])} leaves them out" if name else ""
                findings.append(Finding(name, f"nearly every feature occurs once, as ids do{how}"))
        findings += _scales(found)
        return [{"name": name, **fact} for name, fact in found.items()]

    def _next(self, label: Facts | None, findings: list[Finding]) -> str:
        """The command to type next."""
        parts = [*self._data, *self._words_typed]
        if self.rows > self._lines and not label:
            likely = [name for name, v in self._columns.items() if v.distinct == 2] or [*self._columns]
            return joined(["vwlite", "describe", *parts, "--label", likely[-1]])
        if label is None or label["distinct"] < 2:
            return ""
        parts += together(f.reading for f in findings if f.reading).options
        time_format = next((f.time_format for f in findings if f.time_format), "")
        if time_format and not self._roles.time_format:  # one is for all columns
            parts += ["--time-format", time_format]
            findings = [f for f in findings if f.option != "--time" or f.time_format == time_format]
        for option in dict.fromkeys(f.option for f in findings if f.option):
            words = list(chain.from_iterable(f.words or [f.column] for f in findings if f.option == option))
            parts += [option, _names([*self._roles.missing_words, *words] if option == "--missing" else words)]
        are_booleans = not self._delimited and {*label["classes"]} == {"true", "false"}  # which are 1 and 0
        are_words = not label["numbers"] and not any(f.reading for f in findings if f.column == label["name"])
        if are_words and label["distinct"] == 2 and not are_booleans:
            rarer = sorted(label["classes"], key=lambda word: (-label["classes"][word], word))
            parts += ["--labels", names_text(in_order(rarer) if positive_of(rarer) else rarer)]
        if are_words and label["distinct"] > 2:
            parts += ["--oaa", str(label["distinct"]), "--classes", "auto"]
        parts += ["--on-error", "skip"] if self._bad else []
        stem = os.path.basename(first).split(".")[0] if (first := next(iter(self._data), "-")) != "-" else ""
        return joined(["vwlite", "train", *parts, "-m", f"{stem or 'my'}.model"])


def _values_of(name: Any, found: dict[Any, Values], columns: int) -> Values:
    """What counts the values of a column, which is one of so many; beyond MOST_NAMES, of no column."""
    if name in found:
        return found[name]
    values = Values(min(EXACT, ENTRIES // max(columns, len(found), 1)))
    return found.setdefault(name, values) if len(found) < MOST_NAMES else values


def _columns_of(rows: Any) -> dict[str, list[Any]]:
    if isinstance(rows, FrameRows):
        return rows.cells()
    return {name: column.to_pylist() for name, column in zip(rows.schema.names, rows.columns, strict=True)}


def _of_json(lines: list[bytes]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for line in lines:
        for name, value in loads(line).items():
            found.setdefault(name, []).append(_cell(value))
    return found


def _cell(value: Any) -> Any:
    """A value that has a type, as Values takes it."""
    if value is None or isinstance(value, bytes) or (type(value) in (int, float) and not abs(value) > 1e300):
        return value
    if type(value).__module__ == "decimal":  # which is not imported here
        return float(value)
    return (str(value).lower() if type(value) is bool else str(value)).encode("utf-8", "surrogatepass")


def _counts_of(counted: Iterable[tuple[float | bytes, int]]) -> dict[float, int]:
    """How often each number is in a column of numbers. Cells may mean a missing one."""
    found: dict[float, int] = {}
    for x, n in counted:
        if not isinstance(x, bytes) or IS_NUMBER.fullmatch(x):
            found[float(x)] = found.get(float(x), 0) + n
    return found


def _all_differ(name: str, numbers: Sequence[float]) -> Finding:
    """What whole numbers that all differ may be."""
    option = typed_names([name])
    if units := units_since_1970(numbers):
        return Finding(name, f"whole numbers that may be {units} since 1970: --time {option} reads them", "--time")
    return Finding(name, f"whole numbers that all differ, as ids do: --drop {option} leaves them out", "--drop")


def _are_codes(name: str, v: Values, counts: Mapping[float, int]) -> bool:
    """Whether the whole numbers of a column may be names, as those of stores are: few for so many rows, and they are
    called so, or some begin with 0, or they are far apart, not in steps, and none in most rows. Ages and years are not:
    they fill their range."""
    total, n = sum(counts.values()), len(counts)
    if n < FEWEST_CODES or total < ROWS_OF_CODE * n or not all(x >= 0 and x.is_integer() for x in counts):
        return False
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", name)[-1:]  # an item count has no codes
    if v.padded or not CODES.isdisjoint(map(str.lower, words)):
        return True
    ordered = sorted(counts)
    gaps = sorted(b - a for a, b in pairwise(ordered))
    in_steps = math.gcd(*(int(x - ordered[0]) for x in ordered)) > 1
    return gaps[n // 2 - 1] >= FAR_APART and not in_steps and max(counts.values()) * 2 <= total


def _names(names: Any) -> str:
    return names_text(list(names))


def _word(key: bytes | float) -> str:
    return key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else f"{key:.15g}"


def _numbers(v: Values) -> Facts:
    """How many different values there are, and the extremes and the mean of those that are numbers."""
    count = v.total - v.words
    found = {"minimum": v.low, "mean": v.sum / count, "maximum": v.high} if count else {}
    return {"distinct": v.distinct, "distinct_is_exact": not v.level, **found}


def _of_label(name: str, v: Values, rows: int) -> Facts | None:
    """The labels and their balance."""
    items, numbers = v.items(), not v.words
    if not items and not name:
        return None
    fact = {"name": name, "labelled": v.total, "unlabelled": rows - v.total, "numbers": numbers, **_numbers(v)}
    few = not numbers or (not v.level and len(items) < MOST_LABELS)
    return fact | {"classes": {_word(value): n for value, n in items} if few else {}}


def _scales(facts: dict[str, Facts]) -> list[Finding]:
    sizes = [(max(abs(f["minimum"]), abs(f["maximum"])), name) for name, f in facts.items() if "minimum" in f]
    (low, small), (high, large) = min((s for s in sizes if s[0]), default=(1, "")), max(sizes, default=(0, ""))
    said = f"scales differ: {printable(small)} goes to {low:.3g}, {printable(large)} to {high:.3g}; --algorithm auto"
    return [Finding("", f"{said} and gd adapt to that, for others scale them")] if high >= SCALES * low else []


def _sentence(note: Facts) -> str:
    return f"{printable(note['column'])}: {note['note']}" if note["column"] else str(note["note"])


def as_text(facts: Facts, everything: bool) -> str:
    """The facts as lines of at most 80 columns."""
    rows, notes = facts["rows"], facts["notes"]
    lines = [f"{rows:,} rows in {listed(facts['files'], most=3)}"]
    tilde = "" if facts["repeated_rows_are_exact"] else "~"
    counts = ((facts["bad_lines"], "bad"), (facts["blank_lines"], "blank"), (facts["repeated_rows"], "repeated"))
    lines[0] += "".join(f"; {tilde * (what == 'repeated')}{n:,} {what}" for n, what in counts if n)
    for kind in ("columns", "namespaces"):
        if kind in facts:
            lines += ["", *_table(kind, facts[kind], rows, everything)]
    if "importance" in facts and _range(facts["importance"]) != "1 .. 1 .. 1":
        lines.append(f"importance: {_range(facts['importance'])} (minimum, mean, maximum)")
    if label := facts.get("label"):
        lines += ["", *textwrap.wrap(_about_label(label), 80, subsequent_indent="  ")]
    lines += [""] * bool(notes)
    for note in notes if everything else notes[:SHOWN]:
        lines += textwrap.wrap(f"note: {_sentence(note)}", 80, subsequent_indent="  ", break_on_hyphens=False)
    if len(notes) > SHOWN and not everything:
        lines.append(f"... and {len(notes) - SHOWN:,} more notes: --all")
    if facts["next"]:
        words = (word.replace(" ", "\0") for word in split_words(facts["next"]))
        command = textwrap.wrap(" ".join(words), 74, break_long_words=False, break_on_hyphens=False)
        lines += ["", "next:", "  " + " \\\n    ".join(command).replace("\0", " ")]
    return "\n".join(lines)


def _table(kind: str, facts: list[Facts], rows: int, everything: bool) -> Iterator[str]:
    first = {"columns": f"{'role':<12}{'missing':>8}", "namespaces": f"{'in lines':>9}{'features':>11}"}[kind]
    yield f"{kind[:-1]:<20} {first}{'distinct':>11}  values"
    for f in facts if everything else facts[:SHOWN]:
        name = printable(f["name"]) or "(no name)"
        name = name if len(name) <= 20 else name[:17] + "..."
        own = f"{f['role']:<12}{_share(f['missing']):>8}" if kind == "columns" else \
            f"{_share(f['lines'] / rows):>9}{f['features']:>11,}"
        distinct = ("" if f["distinct_is_exact"] else "~") + f"{f['distinct']:,}"
        values = _range(f)
        if "most_frequent" in f:
            word, share = f["most_frequent"], _share(f["count"] / rows)
            values = f"{word if len(word) <= 16 else word[:13] + '...'} {share}"
        yield f"{name:<20} {own}{distinct:>11}  {values}".rstrip()
    if len(facts) > SHOWN and not everything:
        yield f"... and {len(facts) - SHOWN:,} more {kind}: --all"


def _range(f: Facts) -> str:
    return f"{f['minimum']:.4g} .. {f['mean'] or 0:.4g} .. {f['maximum']:.4g}" if "minimum" in f else ""


def _share(x: float) -> str:
    return f"{100 * x:.3g} %" if x < 0.9995 or x == 1 else "99.9 %"


def _about_label(f: Facts) -> str:
    classes = list(f["classes"].items())
    said = f"label{' ' if f['name'] else ''}{printable(f['name'])}: "
    if classes and (len(classes) <= CLASSES or not f["numbers"]):
        said += ", ".join(f"{printable(key)} {_share(n / f['labelled'])}" for key, n in classes[:CLASSES])
        said += f", and {f['distinct'] - CLASSES:,} more" * (len(classes) > CLASSES)
    else:
        said += f"{_range(f)} (minimum, mean, maximum)" if f["labelled"] else "none"
    return said + (f"; {f['unlabelled']:,} rows without" if f["unlabelled"] else "")
