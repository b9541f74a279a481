"""Which files are data: whether they can be read, and what to do about those that are something else."""

import errno
import os
import re
import stat
from collections.abc import Sequence

from vwlite.errors import DataError, NoInputError
from vwlite.input import looks_like_vw
from vwlite.output.stdio import say
from vwlite.patterns import pattern
from vwlite.records import record


@record
class UnreadableInput:
    """Input that is not lines: a line without end, a compressed stream or a file that ends early."""

    message: str
    source: str
    line: int


standard_input = "<stdin>"  # its name in messages; a process that reads a part of a file there has another


def display_name(source: str) -> str:
    """The name of a source in messages."""
    return standard_input if source == "-" else source


def check_sources(sources: Sequence[str], *, quiet: bool = False) -> None:
    """NoInputError for the first source that cannot be read, DataError for one that is a model or the like, before
    anything is read. Standard input that is a terminal is announced."""
    for source in sources or ["-"]:
        mode = status_of(source).st_mode
        try:
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if stat.S_ISREG(mode) and source != "-":  # opening a pipe and closing it again would end its writer
                with open(source, "rb") as file:
                    if why := why_no_data(file.read(512), source):
                        raise DataError(f"{source}: {why}")
        except OSError as e:
            raise unreadable_error(source, e) from e
        if source == "-" and not quiet and os.isatty(0):
            say("note: reading lines from the terminal; Ctrl-D ends them")


def is_read_once(data: Sequence[str]) -> bool:
    """Whether some of DATA is no file, so that it cannot be read again. What is missing is for the reader to say."""
    return any(path == "-" or (os.path.exists(path) and not os.path.isfile(path)) for path in data or ["-"])


def unreadable_error(source: str, e: OSError) -> NoInputError:
    return NoInputError(unreadable(display_name(source), e))


def why_no_data(head: bytes, source: str) -> str:
    """Why a file that begins so is not data, if it is a model or similar."""
    firsts = (b"PK\3\4", b"vwlite cache", b"\xff\xfe", b"\xfe\xff", b"\xd0\xcf")
    if not head.startswith(firsts) and head[1:4] != b"\0\0\0":
        return ""
    return not_data(head, source)


def status_of(source: str) -> os.stat_result:
    try:
        return os.fstat(0) if source == "-" else os.stat(source)
    except OSError as e:
        raise unreadable_error(source, e) from e


_FETCH = {
    "s3": "aws s3 cp {} -", "gs": "gcloud storage cat {}", "hdfs": "hdfs dfs -cat {}", "http": "curl -sSfL {}",
    "https": "curl -sSfL {}", "ftp": "curl -sSf {}",
}
_FIRST_OF_HEADERS = (b'{"absent"', b'{"algorithm"')  # of models: of tables, and of others
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls
_DIGITS = pattern(r"\d+")
# How spreadsheets begin: which file is the first in the zip of an .xlsx depends on the program that wrote it.
_FIRST_OF_SPREADSHEETS = (
    b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
)


def unreadable(path: str, e: OSError, *, data: bool = True) -> str:
    """The sentence about a file that cannot be read. data: it is one of the DATA, else a model or the like."""
    import glob
    from difflib import get_close_matches

    from vwlite.output.shell_words import quoted

    said = f"{path}: {e.strerror}"
    if e.errno == errno.EISDIR and data:
        return f"{said}: {quoted(path.rstrip('/') or path)}/* names the files in it"
    if e.errno != errno.ENOENT:
        return said
    if url := re.match(r"([a-z][a-z0-9+.-]*)://", path):
        return f"{path}: URLs are not supported{_instead(url[1], path, data)}"
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"{said}: there is no folder {folder}"
    if any(c in name for c in "*?["):
        there = glob.glob(path)
        return f"{said}: the shell expands a pattern without quotes" if there else f"{said}: no file matches"
    if "," in path and all(map(os.path.exists, path.split(","))):
        return f"{said}: write spaces between files, {path.replace(',', ' ')}"
    names = os.listdir(folder or ".") if os.access(folder or ".", os.R_OK) else []
    others = [n for n in names if n[0] != "." and _DIGITS.sub("0", n) != _DIGITS.sub("0", name)]  # day3 is not day2
    alike = get_close_matches(name, others, 1, 0.8)
    return f"{said} (did you mean {os.path.join(folder, alike[0])}?)" if alike else said


def _instead(scheme: str, url: str, data: bool) -> str:
    """How to read a URL, as the end of a sentence."""
    from vwlite.output.shell_words import quoted

    if scheme == "file":
        return f": name the file, {url.removeprefix('file://')}"
    fetch = _FETCH.get(scheme, "").format(quoted(url))
    if not data:
        return f": copy it to a file first, {fetch} > FILE" if fetch else ": copy it to a file first"
    pipe = f"`{fetch} | vwlite ...`" if fetch else "have a program write it to standard output, `... | vwlite ...`"
    return f": {pipe}, or `vwlite dask`, which reads URLs"


def not_data(head: bytes, path: str) -> str:
    """What a file is by its first bytes, and what to do with it, if it is one of ours; else nothing."""
    from vwlite.output.shell_words import quoted

    name = "FILE" if path == display_name("-") else quoted(path)
    if is_model(head):
        return (f"it is a model, not data: `vwlite predict -m {name} DATA` predicts with it, "
                f"`vwlite train -i {name} DATA` continues it")
    if head.startswith(b"vwlite cache\0"):
        return f"it is a cache: name the data that it was made from, and --cache-file {name}"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"it is UTF-16: convert it, as with `iconv -f UTF-16 -t UTF-8 {name}`"
    if is_spreadsheet(head):
        return "it is a spreadsheet: save it as CSV"
    return ""


def is_model(head: bytes) -> bool:
    """Whether a file is a model of this program or of Vowpal Wabbit."""
    text = head[:2048].replace(b"\0", b"")
    return looks_like_vw(head) or (head[30:40] == b"header.npy" and any(key in text for key in _FIRST_OF_HEADERS))


def is_spreadsheet(head: bytes) -> bool:
    in_zip = head[30:] if head.startswith(b"PK\3\4") else b""
    return head.startswith(_OLD_OFFICE) or in_zip.startswith(_FIRST_OF_SPREADSHEETS)
