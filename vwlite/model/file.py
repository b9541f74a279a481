"""Model files.

A model file is what `numpy.load(file, allow_pickle=False)` reads: an uncompressed zip of arrays.

    header      the JSON text, as a string array without dimensions
    keys        uint32 [n], ascending: the masked hashes of the features
    weights     float64 [n]: the current weight, with all lazy updates applied; with K classes [n, K]
    state_*     [n] or [n, K]: the state of the rule for each feature; absent with --save-weights-only
    more_*      other state of some rules, such as a matrix, row after row
    names       uint8: names of features with a nonzero weight, of tables with words also of others, one behind the
                other, by key and then by name; absent if none is known. With it names_ends, uint32 [m]: where each
                name ends; names_keys, uint32 [m]: of which key it is. The format is 2 then, so that programs which
                know no names say which one does.

The format of models of `--normalize` is 3, with names or without: programs that do not know it would predict wrongly;
that of calibrated models is 4; that of models of texts whose words have their marks (`words` of the columns), of tables
whose words and labels are kept (`names`), of numbers as people write them (`decimal`, `thousands`, `units`), and of
classes or labels with blanks or | is 5; that of tables whose absent cells have a feature (`absents`) is 6.

The comment at the end of the zip holds a BLAKE2b digest of everything before it, so no flipped bit and
no missing byte goes unnoticed. Nothing in the file depends on when, where or from which file names it
was made: the same input gives the same bytes.
"""

import io
import json
import math
import mmap
import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import algorithm_of
from vwlite.core.base.arrays import all_finite, is_aligned, is_ascending
from vwlite.digest import blake2b
from vwlite.errors import DataError
from vwlite.model.feature_names import NONE, FeatureNames
from vwlite.model.header import (
    CALIBRATED,
    FIELDS,
    MORE_FIELDS,
    WITH_ABSENTS,
    WITH_MARKS,
    WITH_NAMES,
    WITH_OPTIONS,
    WITHOUT_NAMES,
    Newer,
    brief,
    check_header,
    label_names,
    needs_new_format,
    oldest_format,
)
from vwlite.model.slots import CODES, Array, array_of, copied
from vwlite.names import namespace_of
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.core.tables.known import KnownKeys
    from vwlite.derived import Derived
    from vwlite.output.atomic import AtomicFile, Draft

FORMAT = 6  # raised when older programs cannot read what is written
_COMMENT = b"vwlite blake2b=%s"
_DIGEST = re.compile(rb"vwlite blake2b=([0-9a-f]{64})\Z")
_COMMENT_SIZE = len(_COMMENT % (b"0" * 64))
_EPOCH = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 22  # bytes that are written at a time
_TEXT = {"<u1": "B"}  # the type of the array of names, and of no other
_TYPES = {code: name for name, code in (CODES | _TEXT).items()}
_NPY = b"\x93NUMPY\x01\0"
_ARRAY = re.compile(
    r"\{'descr': '(<[a-zA-Z]\d{1,18})', 'fortran_order': False, 'shape': \((?:(\d{1,18}),(?: (\d{1,18}))?)?\), \} *\n"
)
_NAME = re.compile(r"(header|keys|weights|names(?:_ends|_keys)?|(?:state|more)_\w+)\.npy", re.ASCII)
CELLS = 16  # of products at most for each byte of a file, which has some 20 bytes for each cell that was seen
_DESCRIPTOR = 24  # bytes at most that a zip has behind the content of a member
ZIP = b"PK\x03\x04"
NAMES = ("names_keys", "names_ends", "names")  # the arrays of FeatureNames, in its order


@record
class Model:
    """A model as it is in its file. Arrays are memoryviews of format "I", "f" or "d"."""

    algorithm: str
    loss: str
    options: dict[str, Any]  # what shaped it, by the options' long names
    counters: dict[str, int]
    rule: dict[str, Any]  # state that is not per feature (K of each with classes); if weights_only, at most `unseen`
    range: tuple[float, float] | None  # to which predictions are clipped
    keys: Array
    weights: Array
    state: dict[str, Array] = field(default_factory=dict)
    more: dict[str, Array] = field(default_factory=dict)  # what the rule keeps beside, a row of numbers each
    classes: list[str] = field(default_factory=list)  # the names that were found with --classes auto
    interrupted: bool = False
    weights_only: bool = False
    solved: dict[str, Any] = field(default_factory=dict)  # of `vwlite solve`: `vwlite.model.header.SOLVED_FIELDS`
    columns: dict[str, Any] = field(default_factory=dict)  # of tables: `vwlite.input.schema.Schema.stored`
    base: str = ""  # the digest of the model that its training began from, if that is another file
    resumed: str = ""  # that of the interrupted model that its training went on from; of several, the first
    merged: dict[str, Any] = field(default_factory=dict)  # of `vwlite merge`: `vwlite.model.header.MERGED_FIELDS`
    chosen: dict[str, Any] = field(default_factory=dict)  # by `--algorithm auto`: what it chose, and why
    calibration: dict[str, Any] = field(default_factory=dict)  # `vwlite.model.header.CALIBRATION`
    means: dict[str, Any] = field(default_factory=dict)  # of effects of columns: vwlite.model.effects
    passes: list[dict[str, float | None]] = field(default_factory=list)  # losses of each
    absent: dict[str, Any] = field(default_factory=dict)  # means of columns of tables: vwlite.model.absent
    continued: dict[str, Any] = field(default_factory=dict)  # what `train --continue` keeps of the last run
    typed: list[str] = field(default_factory=list)  # options of its run that nothing else in the header tells
    seen: int = 0  # how many features its training has seen, without the constant, if it may keep fewer; 0: not known
    program: str = ""
    format: int = WITHOUT_NAMES  # of the file that it is from
    names: FeatureNames = NONE  # of the features with a nonzero weight, as far as they are known
    digest: str = field(default="", compare=False)  # of the file that it was read from, as hexadecimal digits

    @property
    def settings(self) -> Settings:
        """What it was trained with."""
        derived = {"derived": self._derived} if "derived" in self.options else {}
        return Settings.restored(self.options | derived)

    @cached_property
    def _derived(self) -> "Derived":
        """Read once, as it may be large."""
        from vwlite.derived import Derived  # not at the top, for the time of a start

        return Derived.restored(self.options["derived"])

    @property
    def shown_options(self) -> dict[str, Any]:
        """The options, with derived features in a few words."""
        derived = self.settings.derived
        return self.options if derived is None else self.options | {"derived": derived.summary()}

    @cached_property
    def derived_hashes(self) -> dict[int, tuple[bytes, str]]:
        """By hash, the name of each derived feature that it has, and of which column or columns it is."""
        settings = self.settings
        if settings.derived is None:
            return {}
        return settings.derived.named(settings.hash == "all", _aligned(self.keys), (1 << settings.bits) - 1)

    @cached_property
    def derived_names(self) -> dict[int, tuple[bytes, str]]:
        """The same by index."""
        mask = (1 << self.settings.bits) - 1
        return {hash & mask: found for hash, found in self.derived_hashes.items()}

    @cached_property
    def shown_names(self) -> FeatureNames:
        """The names that are known, with those of derived features, which no text has."""
        derived = self.derived_names
        if not derived:
            return self.names
        pairs = ((key, derived[key][0]) for key in self.keys if key in derived)
        return FeatureNames.of([*self.names, *pairs])

    @cached_property
    def known_keys(self) -> "KnownKeys":
        """Its keys for parsers of tables."""
        from vwlite.core.tables.known import KnownKeys  # not at the top, for the time of a start

        return KnownKeys(_aligned(self.keys), self.settings.bits, self.keeps_words)

    @property
    def absent_hashes(self) -> set[int]:
        """Those of the features of absent cells of its tables."""
        if not self.absent:
            return set()
        from vwlite.hashing import absent_hash  # not at the top, for the time of a start

        hash_all = self.settings.hash == "all"
        return {absent_hash(namespace_of(name), hash_all) for name in self.absent["columns"]}

    @property
    def keeps_words(self) -> bool:
        """Whether its keys are those of all words that its training has seen, also where the weight is 0: then another
        word is one that it does not know."""
        return bool(self.absent.get("words"))

    @property
    def records(self) -> int:
        """How many weights a feature has: one, or one for each class or quantile."""
        return _records(self.options)

    def class_names(self) -> list[str]:
        """The names of the classes; `?4` for the fourth if it has no name yet. Empty without classes. Those of several
        quantiles are their numbers."""
        return self.settings.outputs.names(self.classes)

    def shape(self, name: str, numbers: Array) -> str:
        """That of an array, as NumPy writes it."""
        k = self.records
        if k > 1 and (name == "weights" or name.startswith("state_")):
            return f"({len(numbers) // k}, {k})"
        return f"({len(numbers)},)"

    def arrays(self) -> dict[str, Array]:
        """All arrays, by their names in the file."""
        state = {f"state_{name}": self.state[name] for name in sorted(self.state)}
        more = {f"more_{name}": self.more[name] for name in sorted(self.more)}
        names = {"names": self.names.text, "names_ends": self.names.ends, "names_keys": self.names.keys}
        return {"keys": self.keys, "weights": self.weights, **(names if len(self.names) else {}), **state, **more}

    @property
    def stored_columns(self) -> dict[str, Any]:
        """As in the header: which names labels and features have is not in it where these are numbers or words of
        texts."""
        roles = {role for _, role in self.columns.get("roles", ())}
        words = self.options.get("classes") or label_names(self.options, self.classes)
        if {"categorical", "auto"} & roles or self.columns.get("open") or self.columns.get("characters") or words:
            return self.columns
        return {name: value for name, value in self.columns.items() if name != "names"}

    def oldest_format(self, *, names: bool = True) -> int:
        """The first one that has what is in this model. names: with the names of its features."""
        named = WITH_NAMES if names and len(self.names) else WITHOUT_NAMES
        new = needs_new_format(self.options, self.classes, self.stored_columns)
        oldest = CALIBRATED if self.calibration else max(oldest_format(self.options), named)
        return WITH_ABSENTS if self.columns.get("absents") else WITH_MARKS if new else oldest

    def header(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in FIELDS} | {
            "format": max(self.format, self.oldest_format()), "range": list(self.range) if self.range else None
        }
        more = {name: value for name in MORE_FIELDS if (value := getattr(self, name))}
        return found | more | ({"columns": self.stored_columns} if self.columns else {})


def _records(options: dict[str, Any]) -> int:
    """`Outputs.records`, without the settings."""
    taus = options.get("quantile_tau")
    return options.get("oaa") or (len(taus) if isinstance(taus, list | tuple) else 1)


class _Digesting(io.RawIOBase):
    """Passes what is written on to a file and digests it, but for the last piece: the comment."""

    def __init__(self, file: "AtomicFile | Draft | _Memory") -> None:
        self._file = file
        self.digest = blake2b(digest_size=32)
        self._held = b""
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.digest.update(self._held)
        self._file.write(self._held)
        self._held = bytes(data)
        self._at += len(self._held)
        return len(self._held)

    def tell(self) -> int:
        return self._at

    def finish(self) -> str:
        """Write the comment with the digest of all that came before it; the digest."""
        found = self.digest.hexdigest()
        self._file.write(_COMMENT % found.encode())
        return found


def write_model(file: "AtomicFile | Draft | _Memory", model: Model) -> str:
    """Write a model into a file that was started; the caller commits it. The digest that it has in it.

    DataError if a number in it is not finite: such a model is never written.
    """
    if _not_finite(model):
        rate = algorithm_of(model.algorithm).rate.replace("_", "-")
        smaller = f"try a smaller --{rate}, or " if rate else ""
        raise DataError(
            f"{file.name}: not written: learning has diverged, {_not_finite(model)} is not finite; {smaller}"
            "scale the features"
        )
    out = _Digesting(file)
    text = json.dumps(model.header(), sort_keys=True, allow_nan=False)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        archive.comment = _COMMENT % (b"0" * 64)  # replaced when the digest is known
        _add(archive, "header", f"<U{len(text)}", "()", memoryview(text.encode("utf-32-le")))
        for name, numbers in model.arrays().items():
            _add(archive, name, _TYPES[numbers.format], model.shape(name, numbers), numbers)
    return out.finish()


class _Memory:
    """Bytes that are written as into a file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[bytes] = []

    def write(self, data: Any) -> None:
        self.pieces.append(bytes(data))


def to_bytes(model: Model, name: str) -> bytes:
    """The bytes of a model's file. name: of the file, for messages."""
    memory = _Memory(name)
    write_model(memory, model)
    return b"".join(memory.pieces)


class _Member(zipfile.ZipInfo):
    """A member of the archive, with the same header whatever the version of Python: before 3.11.4, zipfile did not mark
    sizes of 64 bits, and so wrote other bytes."""

    def __init__(self, name: str, date: tuple[int, int, int, int, int, int]) -> None:
        super().__init__(name, date)
        self.create_version = self.extract_version = zipfile.ZIP64_VERSION  # type: ignore[attr-defined]

    def FileHeader(self, zip64: bool | None = None) -> bytes:
        header = bytearray(super().FileHeader(zip64))
        header[18:26] = b"\xff" * 8  # both sizes: they are elsewhere
        return bytes(header)


def _add(archive: zipfile.ZipFile, name: str, kind: str, shape: str, data: Array) -> None:
    """Add an array in NumPy's format, version 1.0."""
    described = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    size = len(_NPY) + 2 + len(described) + 1
    described += b" " * (-size % 64) + b"\n"
    info = _Member(f"{name}.npy", _EPOCH)
    info.file_size = data.nbytes + 1024  # whether the entry needs 64-bit sizes is decided from this
    with archive.open(info, "w", force_zip64=True) as member:
        member.write(_NPY + struct.pack("<H", len(described)) + described)
        step = _CHUNK // data.itemsize
        for i in range(0, len(data), step):
            member.write(data[i : i + step].tobytes())


def read_own(path: str, file: IO[bytes], data: bytes | mmap.mmap, *, in_place: bool = False) -> Model:
    """A model of vwlite from an open file and all of its bytes. DataError if it is not a model, or not complete.

    in_place: its arrays are views of the bytes, at any address.
    """
    digest = _checked_digest(path, data)
    model = _parsed(path, file, data, in_place)
    model.digest = digest
    return model


def _parsed(path: str, file: IO[bytes], data: bytes | mmap.mmap, in_place: bool) -> Model:
    try:
        with zipfile.ZipFile(file) as archive:
            header = _header(path, archive)
            names = _members(archive, data, ("keys", "weights"))
            columns = _records(header["options"])
            named = [name in names for name in NAMES]
            has_names = any(named) if header["format"] >= WITH_OPTIONS else header["format"] == WITH_NAMES
            if named != [has_names] * len(NAMES):
                raise ValueError(f"its format is {header['format']}, and it has {sum(named)} arrays of names")

            def array(name: str, columns: int = 1) -> Array:
                content = _in_file(archive, data, name) if in_place else memoryview(archive.read(f"{name}.npy"))
                return _array(content, name, columns)

            model = Model(
                **{name: header[name] for name in (*FIELDS, *MORE_FIELDS) if name in header and name != "range"},
                range=tuple(header["range"]) if header["range"] is not None else None,
                keys=array("keys"),
                weights=array("weights", columns),
                state={n.removeprefix("state_"): array(n, columns) for n in names if n.startswith("state_")},
                more={n.removeprefix("more_"): array(n) for n in names if n.startswith("more_")},
                names=FeatureNames(*(array(name) for name in NAMES)) if all(named) else NONE,
            )
            if "derived" in model.options and model._derived.cells > CELLS * len(data):
                raise ValueError("it has larger products than a file of its size can have")
            return model
    except (DataError, MemoryError):
        raise
    except ValueError as e:
        raise DataError(f"{path}: not a valid model: {brief(e)}") from e
    except Exception as e:  # whatever zipfile makes of a file that is not from here
        raise DataError(f"{path}: not a model of vwlite: {brief(e)}") from e


def _members(archive: zipfile.ZipFile, data: bytes | mmap.mmap, needed: tuple[str, ...]) -> list[str]:
    """The names of the arrays. ValueError unless they lie in the file as they are, one behind the other: so none takes
    more memory than it has bytes there."""
    at = 0
    names = []
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        match = _NAME.fullmatch(info.filename)
        if not match or match[1] in names:
            raise ValueError(f"it has an array {info.filename} that is unknown or duplicate")
        _check_stored(info)
        sizes = data[info.header_offset + 26 : info.header_offset + 30]  # of the name, and of what else is before it
        if not at <= info.header_offset <= at + _DESCRIPTOR or len(sizes) < 4:
            raise ValueError(f"{match[1]} does not begin where the array before it ends")
        at = info.header_offset + 30 + sum(struct.unpack("<HH", sizes)) + info.file_size
        names.append(match[1])
    if not at <= archive.start_dir <= at + _DESCRIPTOR:
        raise ValueError("the sizes of its arrays do not add up to that of the file")
    for name in needed:
        if name not in names:
            raise ValueError(f"it has no {name}")
    return names


def _check_stored(info: zipfile.ZipInfo) -> None:
    """ValueError for an array that would not have the size it has in the file."""
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
        raise ValueError(f"{info.filename} is compressed or encrypted, which no array of a model is")


def _header_of(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The header as it is."""
    if "header.npy" not in archive.NameToInfo:
        raise ValueError("it has no header")
    _check_stored(archive.getinfo("header.npy"))
    try:
        content = memoryview(archive.read("header.npy"))
        header = json.loads(_array(content, "header").tobytes().decode("utf-32-le"))
    except (ValueError, RecursionError) as e:
        raise ValueError(f"its header cannot be read: {e}") from e
    if type(header) is not dict:
        raise ValueError("its header is not an object")
    return header


def _header(path: str, archive: zipfile.ZipFile) -> dict[str, Any]:
    """The header, checked. DataError if it is of a newer program, which may have changed everything else."""
    header = _header_of(archive)
    program = brief(header.get("program", "a newer program"))
    if type(header.get("format")) is int and header["format"] > FORMAT:
        raise DataError(
            f"{path}: written by {program} in format {brief(header['format'])}, this program reads formats up to "
            f"{FORMAT}: it needs {program} or later"
        )
    try:
        check_header(header)
    except Newer as e:
        raise DataError(f"{path}: needs {program} or later: {e}") from e
    return header


def _in_file(archive: zipfile.ZipFile, data: bytes | mmap.mmap, name: str) -> Array:
    """The bytes of a member in the file; `_members` has checked its bounds."""
    info = archive.getinfo(f"{name}.npy")
    at = info.header_offset
    at += 30 + sum(struct.unpack("<HH", data[at + 26 : at + 30]))
    return memoryview(data)[at : at + info.file_size]


def _array(data: Array, name: str, columns: int = 1) -> Array:
    """An array in NumPy's format, of a type of CODES: a vector, or a matrix of given columns; or a text, the header.
    ValueError otherwise."""
    begin = len(_NPY) + 2
    end = begin + int.from_bytes(data[len(_NPY) : begin], "little")
    described = _ARRAY.fullmatch(str(data[begin:end], "latin-1"))
    if data[: len(_NPY)] != _NPY or not described:
        raise ValueError(f"{name} is not an array")
    kind, items = described[1], int(described[2] or 1) * int(described[3] or 1)
    content = data[end:]
    if len(content) != items * int(kind[2:]) * (4 if kind[1] == "U" else 1):
        raise ValueError(f"{name} is not as long as it says")
    if name == "header":
        if kind[1] != "U" or described[2]:
            raise ValueError("the header is not a text")
        return content
    codes = _TEXT if name == "names" else CODES
    if kind not in codes or not described[2]:
        raise ValueError(f"{name} is of type {kind}, not one of {', '.join(codes)}")
    if described[3] != (None if columns == 1 else str(columns)):
        raise ValueError(f"{name} has another shape")
    return array_of(content, codes[kind])


def _checked_digest(path: str, data: bytes | mmap.mmap) -> str:
    """The digest at the end of a file, as hexadecimal digits. DataError if it is not that of the rest."""
    size = len(data)
    found = _DIGEST.search(data[max(0, size - _COMMENT_SIZE) :])
    if not found:
        first = data[30 : 30 + int.from_bytes(data[26:28], "little")]  # the name of what comes first in a zip
        if data[:4] == ZIP and b"header.npy".startswith(first):
            raise DataError(f"{path}: not a complete model: its end is missing or damaged; use another copy")
        raise DataError(f"{path}: not a model of vwlite{_what_it_is(data[:4096])}")
    digest = blake2b(digest_size=32)
    with memoryview(data) as view:
        digest.update(view[: size - _COMMENT_SIZE])
    if digest.hexdigest().encode() != found[1]:
        raise DataError(f"{path}: damaged: its content does not match its checksum; use another copy")
    return digest.hexdigest()


def _what_it_is(head: bytes) -> str:
    """What a file is that is not a model, by its first bytes, and which command writes a model."""
    from vwlite.input.sources import is_spreadsheet  # not at the top: most models are some

    writes = "; `vwlite train -m FILE` writes one"
    if not head:
        return f": it is empty{writes}"
    if head.startswith(b"vwlite cache"):
        return f": it is a cache of parsed data{writes}"
    if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")):
        return ": it is compressed; decompress it first"
    if is_spreadsheet(head):
        return f": it is a spreadsheet{writes}"
    if head.startswith(ZIP):
        return f": it is a zip file{writes}"
    control = set(range(32)) - set(b"\t\n\r\f")
    return writes if control & set(head) else f": it is text{writes}"


def inconsistency(model: Model) -> str | None:
    """What is wrong with the arrays of a model; None if nothing is."""
    n, k = len(model.keys), model.records
    if model.keys.format != "I":
        return "keys are not a vector of uint32"
    if model.weights.format != "d" or len(model.weights) != n * k:
        return "weights are not as many float64 as there are keys" + (" and classes" if k != 1 else "")
    if not all(is_ascending(part) for part in _parts(model.keys, 1)):
        return "keys are not ascending"
    if n and model.keys[n - 1] >= 1 << model.settings.bits:
        return f"a key has more than {model.settings.bits} bits"
    for name, numbers in model.state.items():
        if len(numbers) != n * k:
            return f"state_{name} is not one number for each key" + (" and class" if k != 1 else "")
    if model.weights_only and (model.state or model.more):
        return "its header says that it has no state, but it has state"
    if len(model.names) or model.format == WITH_NAMES:
        wrong = FeatureNames(*map(_aligned, model.names.arrays)).inconsistency(_aligned(model.keys))
        if wrong:
            return wrong
    found = _not_finite(model)
    return found and f"{found} is not finite"


def _parts(numbers: Array, overlap: int = 0) -> Iterator[Array]:
    """The numbers, copied if they are not aligned for the compiled functions; each part but the first begins
    with `overlap` numbers of the one before."""
    step = _CHUNK // numbers.itemsize
    if _lies_aligned(numbers):
        yield numbers
        return
    for i in range(0, len(numbers), step):
        yield copied(numbers[max(i - overlap, 0) : i + step])


def _lies_aligned(numbers: Array) -> bool:
    return not len(numbers) or is_aligned(numbers.cast("B"), numbers.itemsize)


def _aligned(numbers: Array) -> Array:
    """The numbers, copied if their address is not aligned."""
    return numbers if _lies_aligned(numbers) else copied(numbers)


def _not_finite(model: Model) -> str | None:
    """What in the model is not a finite number; None if nothing is."""
    for name, numbers in {"a weight": model.weights, **model.arrays()}.items():
        if numbers.format in "fd" and not all(map(all_finite, _parts(numbers))):
            return name
    for name, value in {**model.rule, "the range": list(model.range or ())}.items():
        if not all(map(math.isfinite, value if type(value) is list else [value])):
            return name
    return None
