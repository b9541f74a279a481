"""`vwlite check`"""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from vwlite.inspection.commands import CheckOptions
from vwlite.output.stdio import plain

if TYPE_CHECKING:
    from vwlite.input.parsing import ParseOptions


SHOWN = 20  # bad lines of a file that are printed


def check(o: CheckOptions) -> int:
    """Run `vwlite check`; the exit code."""
    from vwlite.algorithms.labels import WORDS, maps_labels
    from vwlite.algorithms.settings import MOST_CLASSES
    from vwlite.core.data.class_names import ClassNames
    from vwlite.runs.plan import planned
    from vwlite.runs.resolve import resolve

    plan, typed = planned(replace(o, on_error="skip")), o.typed
    if typed.get("classes") == "auto" or plan.is_fasttext:  # any number of them
        typed = {"oaa": MOST_CLASSES, "classes": "auto", **typed}
    settings = resolve(typed).settings
    names, or_numbers = settings.outputs.class_names(), maps_labels(settings, typed)
    if or_numbers:
        names = ClassNames(WORDS, grows=True)
    parse = plan.parsing(settings, names, plan.table(), or_numbers=or_numbers)
    sound = [check_file(path, parse) for path in plan.files]
    return 0 if all(sound) else 1


def _say(what: object) -> None:
    click.echo(plain(str(what)))


def check_file(path: str, parse: "ParseOptions") -> bool:
    """Print what the file is and whether it is sound."""
    from vwlite.errors import DataError, NoInputError
    from vwlite.input import looks_like_vw
    from vwlite.input.cache import MAGIC
    from vwlite.input.sources import is_spreadsheet
    from vwlite.model.file import ZIP

    try:
        head = _first_bytes(path, 512)
        if head == b"":
            _say(f"{path}: empty")
            return False
        if head is None:
            return _check_data(path, parse)
        if (head.startswith(ZIP) and not is_spreadsheet(head)) or looks_like_vw(head):
            return _check_model(path)
        if head.startswith(MAGIC[:-2]):
            return _check_cache(path)
        return _check_data(path, parse)
    except (DataError, NoInputError) as e:
        _say(e)
        return False


def _first_bytes(path: str, size: int) -> bytes | None:
    """The first bytes of a file; None for a pipe or the like, which has them only once."""
    from vwlite.errors import NoInputError

    try:
        if path == "-" or not os.path.isfile(path):
            return None
        with open(path, "rb") as f:
            return f.read(size)
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _check_model(path: str) -> bool:
    """Go the way of `vwlite predict`, up to where it would read data."""
    from vwlite.inspection.info import describe
    from vwlite.model import read_model
    from vwlite.model.learners import restore

    model = read_model(path)
    restore(model, model.settings, path, learn=False)
    facts = describe(path, model)
    state = ", without state" if model.weights_only else ""
    weights = _count(facts["nonzero_weights"], "nonzero weight")
    _say(f"{path}: a model, whole: {model.algorithm}, {weights}{state}")
    return True


def _check_cache(path: str) -> bool:
    from vwlite.input.cache import CacheUnusable, open_cache

    try:
        cache = open_cache(path, None)
        lines = sum(len(batch) for batch, _ in cache.batches())
    except (CacheUnusable, ValueError) as e:
        _say(f"{path}: a cache that cannot be used: {e}")
        return False
    _say(f"{path}: a cache, whole: {_count(lines, 'line')}")
    return True


def _check_data(path: str, parse: "ParseOptions") -> bool:
    from vwlite.input.pipeline import parsed_batches
    from vwlite.input.sources import display_name

    lines = bad = 0
    with parsed_batches([path], parse, threads=2) as batches:
        for parsed in batches:
            lines += len(parsed.batch)
            for b in parsed.bad:
                bad += 1
                if bad <= SHOWN:
                    _say(b)
    if bad > SHOWN:
        _say(f"{display_name(path)}: ... and {bad - SHOWN} more")
    quality = _count(bad, "bad line") if bad else "every line valid"
    _say(f"{display_name(path)}: data, {_count(lines, 'line')}, {quality}")
    return not bad
