"""The columns of a table: their roles, how these are decided, and what a model stores of them.

Each column is a namespace of its name. What a cell becomes, as VW text has it (the core does so in
`cython_ext/tables/cells.pxd`, for every format of tables):

    numeric       |age age:39              the value, as a float; 0 is left out as everywhere
    categorical   |country country=PT      the word
    text          |ad_text great shoes     its words in lower case; --ngram 2 also makes great_shoes, and `characters`
                                           of 4 makes ~<gre ~grea ~reat ~eat> of each piece between blanks
    time          |at hour=13 weekday=1 month=11    of ISO 8601, a number since 1970, or as `time_format` says:
                                                    cython_ext/tables/times.pxd;
                                                    of a type with a zone, the hour is that of the zone
    label, importance, tag                 the text before the first | of VW text; an empty cell: none, 1, none
    drop                                   nothing

An absent cell of any of these is `age?`, unless the model is of 0.2.0 or before: then it has no feature. Of a model
that is applied, so is a cell of words of which the model knows none, behind these words. `vwlite/model/absent.py` says
what weight the feature has.

Blanks at either end of a cell do not count, and an empty cell is absent. So is a word such as `NA` (MISSING, or what
--missing says) in a column of numbers or times, the label and the importance; elsewhere it is a word as others are.
Labels, tags, words and the keys of objects are kept as they are, but for words that are whole numbers, as these come in
many ways: 2.0 is the word 2, whether it is text, JSON, or a number of any type of a frame. So an optional minus, digits
without a leading zero, a point and only zeros behind it lose the point and the zeros (-0.0 becomes -0); `1.10`, `007`
and `1e5` stay. Numbers with a type are words without an exponent below 1e16. In models of 0.2.0 2.0 is a word of its
own. VW text cannot hold bytes up to the space, `|`, and
in features `:`: there they are %20, %7C, %3A, so that such a feature has another hash. In names of columns, which are
namespaces, they are `_` everywhere; in models of 0.2.0 and before also in labels and features (NAMES). Words of a text
are runs of letters and digits, as Unicode has them, each with the marks behind it (vowel signs, points, accents), of
the text in normal form C. Models of 0.2.0 and before know no marks: they separated words (WORDS). Chinese and other
scripts have no blanks between words: in a text column that is `unspaced`, each letter of these scripts
(cython_ext/tables/scripts.pxd) is a word, with the marks behind it. The first rows decide whether a column is
(vwlite/input/unspaced.py).

In JSON lines and frames a value has a type of its own. A column of role `auto` takes each value by it: a number is
numeric, anything else categorical (true and false are words; dates may become times), null absent, as is NaN in a
frame. A key that has numbers in some lines and words in others is categorical, if files or the first lines of a stream
show it. In other tables `auto` is a column that had no value so far: it gets a role from the first rows that have one.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from vwlite.delimiters import is_delimiter, is_escape
from vwlite.input import MISSING as MISSING
from vwlite.input import MOST_CHARACTERS
from vwlite.input import MOST_WORDS as MOST_WORDS
from vwlite.names import namespace_of
from vwlite.records import record
from vwlite.time_formats import fault_of

if TYPE_CHECKING:
    from vwlite.core.tables.arrow import Frame
    from vwlite.core.tables.notation import Notation

ROLES = ("numeric", "categorical", "text", "time", "label", "importance", "tag", "drop", "auto")
GROUP = "group"  # in training a role of one column, which is read as a tag; the model drops it
ONCE = ("label", "importance", "tag", GROUP)  # roles of one column at most
OPTIONAL = (*ONCE, "drop")  # roles that prediction does not need
CELLS_MISSING = ("numeric", "time", "label", "importance")  # where words such as NA mean a missing value
WORDS = (1, 2)  # how texts become words: 1 as in 0.2.0, where marks separate them; 2 with their marks, in NFC
# Of labels and features: 1 as in 0.2.0, with `_` for what VW text cannot hold; 2 as they are; 3 without the point of a
# whole number and the zeros behind it
NAMES = (1, 2, 3)
LONGEST_NUMBER = 64  # characters of a cell, with what is beside the digits
QUOTES = ('"', "none")  # none: a quote is an ordinary character
_RARE: dict[str, str | int | list[str]] = {
    "decimal": "", "thousands": "", "units": [], "quote": "", "escape": "", "characters": 0, "format": "",
    "absents": False, "time_format": "", "unspaced": [],
}
_RARE_KINDS = {name: type(value) for name, value in _RARE.items()}  # of what a schema stores only if it is set
OF_TEXTS = (2, 4)  # words and characters of the n-grams that are tried for texts
SAMPLE = 1000  # rows from which roles are decided


class SchemaError(ValueError):
    """Why columns do not fit, as a sentence."""


def label_of(cell: str) -> str:
    """A cell without blanks at its ends as a label of models of 0.2.0."""
    word = "".join("_" if c <= " " or c == "|" else c for c in cell)
    return "_" + word[1:] if word.startswith("'") else word


@record(frozen=True)
class Schema:
    """The columns of a table in order, each with its role.

    ngram: features of a text have up to this many consecutive words. open: other columns are `auto`, as in JSON lines,
    where any line may have new ones; else it is ignored. delimiter: of text, "": detected in the first line. quote,
    escape: as in RoleOptions. header: whether files have one; else their columns are these, in this order. missing:
    words that mean a missing value where a number is expected; those that are numbers count in numeric columns only, by
    value. words: how texts become words, of WORDS. names: how labels and features are called, of NAMES. decimal,
    thousands, units: the point of numbers in text, what is between groups of their digits, and words beside them, as
    people write them: then signs of money and % are left out, too. If none of them is set, numbers are those of VW
    text. characters: of n-grams of texts; 0: there are none. format: of files whose names tell none; "": by their first
    lines. absents: a cell that is absent has a feature of its own, and times are read as of 0.3.0
    (cython_ext/tables/times.pxd), unlike in models of 0.2.0 and before. time_format: of times that have no type; "":
    ISO 8601. unspaced: columns of texts of which each letter of a script without blanks is a word. known: of a model
    that is applied, as of `Cells`.
    """

    roles: Mapping[str, str]  # by name
    ngram: int = 1
    open: bool = False
    delimiter: str = ""
    header: bool = True
    missing: tuple[str, ...] = MISSING
    words: int = WORDS[-1]
    names: int = NAMES[-1]
    decimal: str = ""
    thousands: str = ""
    units: tuple[str, ...] = ()
    quote: str = ""
    escape: str = ""
    characters: int = 0
    format: str = ""
    absents: bool = True
    time_format: str = ""
    unspaced: tuple[str, ...] = ()
    known: Any = field(default=None, compare=False, repr=False)

    @property
    def names_of_cells(self) -> dict[str, Any]:
        """How texts become words and n-grams, how features are called, what absent cells become, and how times are
        written: arguments of `Cells`."""
        return {"ngram": self.ngram, "characters": self.characters, "words": self.words, "names": self.names,
                "absents": self.absents, "time_format": self.time_format, "known": self.known,
                "unspaced": {namespace_of(name) for name in self.unspaced}}

    def with_ngrams(self) -> "Schema":
        """The same columns, with the n-grams of texts that are tried, if there are texts."""
        has_texts = "text" in self.roles.values()
        return replace(self, ngram=OF_TEXTS[0], characters=OF_TEXTS[1]) if has_texts else self

    def without_ngrams(self) -> "Schema":
        """The same columns, with the words of texts alone."""
        return replace(self, ngram=1, characters=0)

    def stored(self) -> dict[str, Any]:
        """As the header of a model has it."""
        roles = [[name, "drop" if role == GROUP else role] for name, role in self.roles.items()]
        found = vars(self) | {"roles": roles, "missing": list(self.missing), "units": list(self.units),
                              "unspaced": list(self.unspaced)}
        del found["known"]
        if self.words == WORDS[0] or "text" not in self.roles.values():
            del found["words"]  # as models of 0.2.0 have it
        if self.names == NAMES[0]:
            del found["names"]
        for name in _RARE:
            if not found[name]:
                del found[name]
        return found

    def __setstate__(self, state: dict[str, Any]) -> None:
        # An estimator of 0.2.0 does not have these.
        before = {"words": WORDS[0], "names": NAMES[0], "absents": False, "units": (), "time_format": "",
                  "unspaced": ()}
        vars(self).update(before | state)

    def read_as(self, stored: dict[str, Any]) -> "Schema":
        """The same columns, with the words, the names and the absent cells of a model that has `stored` these."""
        texts = [name for name in stored.get("unspaced", ()) if self.roles.get(name) == "text"]
        return self if not stored else replace(
            self, words=stored.get("words", WORDS[0]), names=stored.get("names", NAMES[0]),
            absents=stored.get("absents", False), unspaced=(*texts,))

    @staticmethod
    def restored(stored: Any) -> "Schema":
        """What `stored` gave. ValueError if it did not."""
        kinds = {"roles": list, "ngram": int, "open": bool, "delimiter": str, "header": bool, "missing": list,
                 "words": int, "names": int, **_RARE_KINDS}
        if type(stored) is not dict:
            raise ValueError("its columns are invalid")
        # Models of earlier versions, or without such columns, do not have these.
        stored = {"missing": [], "words": WORDS[0], "names": NAMES[0], **_RARE} | stored
        if {name: type(value) for name, value in stored.items()} != kinds:
            raise ValueError("its columns are invalid")
        point, between = stored["decimal"], stored["thousands"]
        if point not in ("", ".", ",") or len(between) > 1 or not between.isascii() or between == (point or "."):
            raise ValueError(f"its numbers have the point {point!r} and {between!r} between digits")
        if not all(type(word) is str and fits_unit(word) for word in stored["units"]):
            raise ValueError("its units are invalid")
        if stored["time_format"] and fault_of(stored["time_format"]):
            raise ValueError(f"its times have the format {stored['time_format']!r}, which is invalid")
        if stored["words"] not in WORDS:
            raise ValueError(f"its texts become words in the way {stored['words']}, which is unknown")
        if stored["names"] not in NAMES:
            raise ValueError(f"its labels and features have names of the kind {stored['names']}, which is unknown")
        if not all(type(word) is str and word.strip() for word in stored["missing"]):
            raise ValueError("its words for missing values are invalid")
        roles: dict[str, str] = {}
        for pair in stored["roles"]:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str or pair[1] not in ROLES:
                raise ValueError(f"{pair!r} is not a column")
            if pair[0] in roles:
                raise ValueError(f"it has two columns {pair[0]!r}")
            roles[pair[0]] = pair[1]
        if not 1 <= stored["ngram"] <= MOST_WORDS or not is_delimiter(stored["delimiter"] or ","):
            raise ValueError("its columns are invalid")
        if stored["format"] not in ("", "fasttext"):
            raise ValueError(f"its files have the format {stored['format']}, which is unknown")
        if not 0 <= stored["characters"] <= MOST_CHARACTERS or (stored["characters"] and stored["names"] == NAMES[0]):
            raise ValueError("its n-grams of characters are invalid")
        if stored["quote"] not in ("", *QUOTES) or not is_escape(stored["escape"] or "none"):
            raise ValueError("its columns are invalid")
        check_names([name for name, role in roles.items() if role not in OPTIONAL])
        if any(sum(role == once for role in roles.values()) > 1 for once in ONCE):
            raise ValueError("two columns have a role that only one can have")
        if not all(type(name) is str and roles.get(name) == "text" for name in stored["unspaced"]) or (
                stored["unspaced"] and stored["words"] == WORDS[0]):
            raise ValueError("its columns of texts without blanks are invalid")
        tuples = {name: tuple(stored[name]) for name in ("missing", "units", "unspaced")}
        return Schema(**(stored | {"roles": roles, **tuples}))

    def name_of(self, role: str) -> str | None:
        """The column of a role that one has at most."""
        return next((name for name, r in self.roles.items() if r == role), None)

    def positions(self, names: Sequence[str]) -> list[int]:
        """The position of each column in a file, -1 for a missing one.

        SchemaError for one that prediction cannot do without, and for two of the same name.
        """
        check_distinct(names)
        at = {name: i for i, name in enumerate(names)}
        found = [at.get(name, -1) for name in self.roles]
        missing = [name for (name, role), i in zip(self.roles.items(), found, strict=True)
                   if i < 0 and role not in OPTIONAL]
        if missing:
            new = self.unknown(names)
            renamed = f"; the file has the new columns {listed(new)}" if new else ""
            if any(map(_INDEX.fullmatch, missing)):
                renamed = ": it was the index of a pandas frame, which is not a feature; train the model again"
            subject, verb = ("column", "is") if len(missing) == 1 else ("columns", "are")
            raise SchemaError(f"{subject} {listed(missing)} of the model {verb} missing{renamed}")
        return found

    @property
    def undecided(self) -> list[str]:
        """The columns that had no value so far."""
        return [] if self.open else [name for name, role in self.roles.items() if role == "auto"]

    def with_roles(self, found: Mapping[str, str]) -> "Schema":
        """The same columns, some of them with other roles."""
        return replace(self, roles={name: found.get(name, role) for name, role in self.roles.items()})

    @property
    def notation(self) -> "Notation | None":
        """How people write numbers in text; None: as in VW text."""
        return notation_of(self.decimal, self.thousands, self.units)

    @property
    def is_escaped(self) -> bool:
        """Whether VW text of such a table has escapes in names and labels."""
        return self.names > 1

    @property
    def has_wide_times(self) -> bool:
        """Whether times may be months and milliseconds, and those of a type with a zone are those of the zone; in
        models of 0.2.0 they are in UTC."""
        return self.absents

    @property
    def has_wholes(self) -> bool:
        """Whether a word that is a whole number has no point."""
        return self.names > 2

    @property
    def cells(self) -> list[tuple[str, int]]:
        """The columns as the core takes them: namespace, and place of the role in ROLES."""
        return [(namespace_of(name), ROLES.index(role.replace(GROUP, "tag"))) for name, role in self.roles.items()]

    @property
    def missing_typed(self) -> tuple[str, ...]:
        """`missing` for values that have a type: their NaN has the text `nan`, whichever case `missing` has."""
        return (*self.missing, "nan") if "nan" in map(str.lower, self.missing) else self.missing

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Those of the columns of a file that are none of these."""
        return [name for name in names if name not in self.roles]

    def summary(self) -> str:
        """What was decided, as a line."""
        groups: dict[str, list[str]] = {role: [] for role in (*ONCE, *ROLES)}
        for name, role in self.roles.items():
            groups[role].append(name)
        if not self.open:
            groups["no value so far:"] = groups.pop("auto")
        words = [f"{role} {listed(names)}" for role, names in groups.items() if names]
        if self.open:
            words.append("every other key by its value: numbers numeric, words categorical")
        return "columns: " + "; ".join(words)


@record(frozen=True)
class RoleOptions:
    """The roles that were typed or passed: each names columns."""

    label: str | None = None
    importance: str | None = None
    tag: str | None = None
    group: str | None = None
    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()
    text: Sequence[str] = ()
    time: Sequence[str] = ()
    drop: Sequence[str] = ()
    ngram: int = 1
    delimiter: str = ""
    names: Sequence[str] = ()  # of the columns of files without a header
    no_header: bool = False  # files without a header, whose columns are c1, c2, ...
    missing: tuple[str, ...] | None = None  # None: nothing was said
    decimal: str = ""
    thousands: str = ""
    units: tuple[str, ...] = ()  # words beside numbers
    quote: str = ""  # one of QUOTES
    escape: str = ""  # what makes the character after it ordinary, or none
    time_format: str = ""
    unspaced: Sequence[str] | None = None  # columns of texts that are; None: the first rows decide
    tries_ngrams: bool = False  # texts have those of OF_TEXTS, to find out whether they help

    @property
    def missing_words(self) -> tuple[str, ...]:
        """The words that mean a missing value."""
        return MISSING if self.missing is None else self.missing

    @property
    def numbers(self) -> dict[str, Any]:
        """How people write numbers: fields of a schema."""
        return {"decimal": self.decimal, "thousands": self.thousands, "units": self.units}

    @property
    def notation(self) -> "Notation | None":
        """As of Schema."""
        return notation_of(**self.numbers)

    def roles(self) -> dict[str, str]:
        """The role of each column that has one. SchemaError for a column that has two."""
        found: dict[str, str] = {}
        for role in (*ROLES[:-1], GROUP):
            value = getattr(self, role)
            for name in [value] if isinstance(value, str) else value or ():
                if found.setdefault(name, role) != role:
                    raise SchemaError(f"column {name!r} is both --{found[name]} and --{role}: it has one role")
        return found

    def decide(
        self, names: Sequence[str], numbers: Sequence[bool | None], index: Collection[str] = (),
        categories: Collection[str] = (), times: Collection[str] = (), *, is_table: bool = False,
    ) -> Schema:
        """The schema of a table with these columns. numbers: for each, whether its first values are all numbers: then
        it is numeric if nothing else was said, else categorical; None: there is no value. index: columns that are
        dropped unless an option names them. categories: columns that are categorical although they have numbers. times:
        columns whose type is that of a date or a time.
        is_table: something else than these options says that it is a table. SchemaError for a role of a missing column,
        and for duplicate names."""
        check_distinct(names)
        typed = self.roles()
        for name, role in typed.items():
            if name not in names:
                raise SchemaError(f"--{role} {name}: {no_column(name, names, is_table)}")
        roles = {
            name: typed.get(name, "drop" if name in index else "time" if name in times
                            else role_of(is_number and name not in categories))
            for name, is_number in zip(names, numbers, strict=True)
        }
        check_names([name for name, role in roles.items() if role not in OPTIONAL])
        header = not (self.names or self.no_header)
        found = Schema(roles, self.ngram, delimiter=self.delimiter, header=header, missing=self.missing_words,
                       quote=self.quote, escape=self.escape, time_format=self.time_format, **self.numbers)
        return found.with_ngrams() if self.tries_ngrams else found

    def open_schema(self) -> Schema:
        """The schema of JSON lines: the roles that were typed; every other value by its own type."""
        roles = self.roles()
        check_names([name for name, role in roles.items() if role not in OPTIONAL])
        found = Schema(roles, self.ngram, open=True, missing=self.missing_words, time_format=self.time_format,
                       **self.numbers)
        return found.with_ngrams() if self.tries_ngrams else found

    def check_same(self, schema: Schema) -> None:
        """SchemaError for a role that was typed and is another one in the model. A tag may be new."""
        for name, role in self.roles().items():
            known = schema.roles.get(name)
            if known != role and not (role == "tag" and (known is None or known in ("tag", "drop"))):
                there = f"{known} in the model" if known else "not in the model"
                raise SchemaError(f"--{role} {name} contradicts the model: that column is {there}; leave the option "
                                  "out")
        if self.ngram not in (1, schema.ngram):
            raise SchemaError(f"--ngram {self.ngram} contradicts the model, which has {schema.ngram}: leave it out")
        if self.no_header and schema.header and not schema.open:
            raise SchemaError("--no-header contradicts the model, whose columns have names from a header: --columns "
                              "NAMES gives them to a file without one")
        for name in ("decimal", "thousands", "time_format"):
            typed, known = getattr(self, name), getattr(schema, name)
            if typed not in ("", known):
                option, there = name.replace("_", "-"), f"has {known!r}" if known else "has none"
                raise SchemaError(f"--{option} {typed!r} contradicts the model, which {there}: leave it out")
        for name, nothing in (("missing", None), ("units", ())):
            if {*(getattr(self, name) or ())} != {*getattr(schema, name)} and getattr(self, name) != nothing:
                typed, known = (",".join(getattr(said, name)) for said in (self, schema))
                raise SchemaError(f"--{name} '{typed}' contradicts the model, which has '{known}': leave it out")


def notation_of(decimal: str, thousands: str, units: Sequence[str]) -> "Notation | None":
    """How people write numbers in text; None: as in VW text."""
    from vwlite.core.tables.notation import Notation  # not at the top: few tables have such numbers

    return Notation(decimal, thousands, units) if decimal or thousands or units else None


def fits_unit(word: str) -> bool:
    """Whether it is clear where a number ends and a word beside it begins."""
    word = word.strip()
    is_short = 0 < len(word) < LONGEST_NUMBER
    return is_short and word[0] not in "0123456789.," and not {word[0], word[-1]} & {*"+-\u2212()"}


def role_of(is_number: bool | None) -> str:
    """The role of a column of numbers, or of words; None: of one without a value so far."""
    return "auto" if is_number is None else "numeric" if is_number else "categorical"


def no_column(name: str, names: Sequence[str], is_table: bool) -> str:
    """What to do about a column that a table does not have."""
    if len(names) == 1 and "|" in names[0]:
        if is_table:
            return f"no such column; the only one is {listed(names)}: if | is the delimiter, add --delimiter '|'"
        return "the file is VW text, which has no columns: leave the option out"
    from difflib import get_close_matches  # not at the top: most names are right

    near = "".join(f" (did you mean {other}?)" for other in get_close_matches(name, names, 1, 0.7))
    return f"no such column{near}; the columns are {listed(names)}"


_INDEX = re.compile(r"__index_level_\d+__")  # the column that pyarrow makes of an index without a name


def index_columns(names: Iterable[str], metadata: Mapping[bytes, bytes]) -> set[str]:
    """The columns that are the index of a frame of pandas: row labels, not features.

    pandas stores which in the metadata of the Arrow schema; where another library has dropped that, the name does.
    """
    found = {name for name in names if _INDEX.fullmatch(name)}
    try:
        said = json.loads(metadata.get(b"pandas", b"{}"))["index_columns"]
        found.update(name for name in said if isinstance(name, str))  # a range is an object, and has no column
    except (ValueError, KeyError, TypeError):
        pass
    return found.intersection(names)


def category_columns(metadata: Mapping[bytes, bytes]) -> set[str]:
    """The columns that are of pandas' dtype category, by its metadata: Parquet stores the numbers of such alone."""
    try:
        columns = json.loads(metadata.get(b"pandas", b"{}"))["columns"]
        return {column["field_name"] for column in columns if column["pandas_type"] == "categorical"}
    except (ValueError, KeyError, TypeError):
        return set()


def times_of(frame: "Frame") -> set[str]:
    """The columns whose type is that of a date or a timestamp."""
    return {name for name, is_time in zip(frame.names, frame.temporal, strict=True) if is_time}


def check_distinct(names: Sequence[str]) -> None:
    """SchemaError for two columns of the same name, if they have one."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise SchemaError(f"two columns are called {name!r}: rename one of them")
        seen.add(name)


def check_names(names: Sequence[str]) -> None:
    """SchemaError for columns that make features and have no name, or the same namespace."""
    spaces: dict[str, str] = {}
    for i, name in enumerate(names):
        if not name:
            raise SchemaError(f"column {i + 1} has no name, as the index that pandas writes: name it, or --drop ''")
        other = spaces.setdefault(namespace_of(name), name)
        if other != name:
            raise SchemaError(f"columns {other!r} and {name!r} both are the namespace {namespace_of(name)}: rename one")


def listed(names: Sequence[str], counts: Sequence[int] = (), most: int = 20) -> str:
    """Names as part of a sentence, each with a number behind it if there are some."""
    shown = [name if name.isprintable() and name and " " not in name else repr(name) for name in names[:most]]
    shown = [f"{name} {n}" for name, n in zip(shown, counts, strict=False)] or shown
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
