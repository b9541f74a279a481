"""CSV, as Vowpal Wabbit reads it: a column is a feature, whose namespace and name are in the header."""

import re
from collections.abc import Callable

from vwlite.core.text.parser import name_hash
from vwlite.vw.text.parser import MASK, FeatureHashing, ParsedExample, read_number, to_float

_TRIMMED = b"\r\n\xef\xbb\xbf\f\v"  # bytes that Vowpal Wabbit takes away at both ends of a line

_LABEL, _TAG = (b"", b"_label"), (b"", b"_tag")


class CsvError(Exception):
    """Invalid columns, or a line that does not match them; `place`: the line of Vowpal Wabbit's reader."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class CsvParser:
    """Converts lines to examples; by default the first is the header. warn: shows a warning."""

    def __init__(
        self, features: FeatureHashing, warn: Callable[[str], None], *, separator: str, has_head: bool,
        head: str | None, scales: str,
    ) -> None:
        """head: the names of the columns, instead of the first line if there is one. scales: NAMESPACE:FACTOR,...

        CsvError if these are malformed.
        """
        self.features, self.warn = features, warn
        separator = separator.replace("\\t", "\t")
        self.separator = separator.encode("utf-8", "surrogateescape")
        if len(self.separator) != 1 or separator in '"|:':
            raise CsvError(f"Multiple characters or a reserved one: {separator}", 40)
        end = re.escape(self.separator)
        self._cell = re.compile(rb'"[^"]*(?:""[^"]*)*"(?=%b|\Z)|(?!")[^%b]*' % (end, end))
        self.columns: list[tuple[bytes, bytes]] | None = None
        self.skip = has_head
        self.line_number = 0
        self._unnamed = int(name_hash(b"", features.hash_seed, True)) if features.hash_seed else 0
        if head is not None:
            self._read_head(head.encode("utf-8", "surrogateescape").strip(_TRIMMED).split(b","))
        elif not self.skip:
            raise CsvError("No header specified while --csv_no_file_header is specified.", 60)
        self.scales = {}
        for i, pair in enumerate(scales.split(",") if scales else [], 1):
            name, colon, value = pair.partition(":")
            if not colon or ":" in value:
                raise CsvError(f"Malformed namespace value pair at cell {i}: {pair}", 169)
            factor = value.encode("utf-8", "surrogateescape")
            scale, size = read_number(factor)
            if not size or size != len(factor) or scale != scale:
                raise CsvError(f"NaN namespace value at cell {i}: {pair}", 174)
            self.scales[name.encode("utf-8", "surrogateescape")] = scale

    def _read_head(self, names: list[bytes]) -> None:
        self.columns = []
        for i, quoted in enumerate(names, 1):
            name = _unquoted(quoted)
            space, bar, feature = name.partition(b"|")
            if b"|" in feature:
                shown = name.decode("utf-8", "surrogateescape")
                raise CsvError(f"Malformed header for feature name and namespace separator at cell {i}: {shown}", 211)
            self.columns.append((space, feature) if bar else (b"", space))
        self.label_at, self.tag_at = (
            self.columns.index(head) if head in self.columns else None for head in (_LABEL, _TAG)
        )
        if self.label_at is None:
            self.warn("No '_label' column found in the header/CSV first line!")

    def line(self, line: bytes) -> ParsedExample | None:
        """The example of a line; None for the header. CsvError if it is invalid."""
        line = line.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\r")
        self.line_number += 1
        if not line:
            raise CsvError(f"Malformed CSV, empty line at {self.line_number}!", 113)
        cells = self._cells(line.strip(_TRIMMED))
        if self.columns is None:
            self._read_head(cells)
        assert self.columns is not None
        if len(cells) != len(self.columns):
            have = f"{len(cells)} elements, but the header has {len(self.columns)}"
            raise CsvError(f"CSV line {self.line_number} has {have} elements!", 153)
        if self.skip:
            self.skip = False
            return None
        example = ParsedExample(blank=True)
        unnamed: dict[bytes, int] = {}
        for i, ((space, name), cell) in enumerate(zip(self.columns, cells, strict=True)):
            if (space, name) in (_LABEL, _TAG):
                if i == self.label_at:
                    example.words = [word for word in _unquoted(cell).split(b" ") if word]
                elif i == self.tag_at:
                    example.tag = _unquoted(cell).removeprefix(b"'")
            elif cell:
                example.blank = False
                self._feature(example, space, name, cell, unnamed)
        example.drop_empty()
        return example

    def _cells(self, line: bytes) -> list[bytes]:
        """The cells of a line. Those in quotes keep them, as only they are words also if they are numbers."""
        cells, at = [], 0
        while True:
            match = self._cell.match(line, at)
            if match is None:
                raise CsvError(
                    f"Unclosed or unescaped quote in the cell at position {at + 1} of line {self.line_number}: "
                    "double-quote appearing inside a cell must be escaped by preceding it with another double-quote!",
                    403,
                )
            cell = match[0]
            cells.append(b'"' + cell[1:-1].replace(b'""', b'"') + b'"' if cell.startswith(b'"') else cell)
            if match.end() == len(line):
                return cells
            at = match.end() + 1

    def _feature(
        self, example: ParsedExample, space: bytes, name: bytes, cell: bytes, unnamed: dict[bytes, int]
    ) -> None:
        """Add that of a cell. unnamed: how many numbers of columns without a name there were, by namespace."""
        f = self.features
        seed = f.hash(space, f.hash_seed) if space else self._unnamed
        value, end = read_number(cell)
        if end == len(cell) and value == value:
            x, called = to_float(value * self.scales.get(space, 1.0)), name
            if name:
                hash = f.hash(name, seed)
            else:
                place = unnamed[space] = unnamed.get(space, -1) + 1
                hash = (seed + place) & MASK
        else:
            x, cell = 1.0, _unquoted(cell)
            hash, called = f.hash(cell, f.hash(name, seed)), name + b"^" + cell if cell else name
        if x == 0:
            return
        found = example.space(space[0] if space else 32)
        found.hashes.append(hash)
        found.values.append(x)
        found.names.append(space + b"^" + called if space else called)


def _unquoted(cell: bytes) -> bytes:
    return cell[1:-1] if len(cell) > 1 and cell.startswith(b'"') and cell.endswith(b'"') else cell
