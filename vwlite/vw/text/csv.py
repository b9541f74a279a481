"""CSV, as Vowpal Wabbit reads it: a column is a feature, its head says the namespace and the name."""

import csv

from vwlite.vw.text.parser import FeatureHashing, ParsedExample, read_number, to_float

csv.field_size_limit(1 << 30)

# Carriage returns within a line, and NUL, are ordinary characters here, but not for the csv module. They are replaced
# by these, which never occur in text decoded from bytes.
_PLAIN = str.maketrans("\r\0", "\udc00\udc01")
_BACK = str.maketrans("\udc00\udc01", "\r\0")


def _bytes(text: str) -> bytes:
    """The bytes of the file, UTF-8 or not."""
    return text.encode("utf-8", "surrogateescape")


class CsvError(Exception):
    """Invalid columns, or a line that does not match them; `place`: the line of Vowpal Wabbit's reader."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class CsvParser:
    """Converts lines to examples; by default the first is the header."""

    def __init__(
        self, features: FeatureHashing, *, separator: str, has_head: bool, head: str | None, scales: str
    ) -> None:
        """head: the names of the columns, instead of the first line if there is one. scales: NAMESPACE:FACTOR,...

        CsvError if these are malformed.
        """
        self.features, self.separator = features, separator.replace("\\t", "\t")
        if len(self.separator) != 1 or self.separator in '"|:':
            raise CsvError(f"Multiple characters or a reserved one: {self.separator}", 40)
        self.columns: list[tuple[str, str]] | None = None
        self.skip = has_head
        if head is not None:
            self._read_head(head.split(","))
        elif not self.skip:
            raise CsvError("No header specified while --csv_no_file_header is specified.", 60)
        self.scales = {}
        for i, pair in enumerate(scales.split(",") if scales else [], 1):
            name, colon, value = pair.partition(":")
            if not colon or ":" in value:
                raise CsvError(f"Malformed namespace value pair at cell {i}: {pair}", 169)
            scale, end = read_number(_bytes(value))
            if not end or end != len(_bytes(value)) or scale != scale:
                raise CsvError(f"NaN namespace value at cell {i}: {pair}", 174)
            self.scales[name] = scale
        self.line_number = 0

    def _read_head(self, names: list[str]) -> None:
        self.columns = []
        for name in names:
            space, bar, feature = name.strip().partition("|")
            self.columns.append((space, feature) if bar else ("", space))

    def line(self, line: bytes) -> ParsedExample | None:
        """The example of a line; None for the header. CsvError if it is invalid."""
        text = line.decode("utf-8", "surrogateescape").removeprefix("\ufeff").rstrip("\r")
        example = ParsedExample()
        if not text.strip():
            example.blank = True
            return example
        cells = [cell.translate(_BACK) for cell in next(csv.reader([text.translate(_PLAIN)], delimiter=self.separator))]
        if self.skip:
            self.skip = False
            if self.columns is None:
                self._read_head(cells)
            return None
        self.line_number += 1
        assert self.columns is not None
        if len(cells) != len(self.columns):
            have = f"{len(cells)} elements, but the header has {len(self.columns)}"
            raise CsvError(f"CSV line {self.line_number} has {have} elements!", 250)
        for (space, name), cell in zip(self.columns, cells, strict=True):
            if name == "_label":
                example.words = _bytes(cell).split()
            elif name == "_tag":
                example.tag = _bytes(cell).removeprefix(b"'")
            else:
                self._feature(example, _bytes(space), _bytes(name), _bytes(cell))
        example.drop_empty()
        return example

    def _feature(self, example: ParsedExample, space: bytes, name: bytes, cell: bytes) -> None:
        f = self.features
        if not cell:
            return
        seed = f.hash(space, f.hash_seed) if space else 0
        value, end = read_number(cell)
        if end == len(cell):
            x = to_float(value * self.scales.get(space.decode("utf-8", "surrogateescape"), 1.0))
            hash, called = f.hash(name, seed), name
        else:
            x = 1.0
            hash, called = f.hash(cell, f.hash(name, seed)), name + b"^" + cell
        if x == 0:
            return
        found = example.space(space[0] if space else 32)
        found.hashes.append(hash)
        found.values.append(x)
        found.names.append(space + b"^" + called if space else called)
