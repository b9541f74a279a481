"""The input of a run: the data and its cache, their format, and features derived from names."""

import os
from collections.abc import Callable
from typing import Any

from vwlite.input.reader import read_blocks
from vwlite.vw.arguments import Arguments, letters, unescaped
from vwlite.vw.messages import Critical, Streams
from vwlite.vw.plan import Plan
from vwlite.vw.text.examples import ExampleSource
from vwlite.vw.text.parser import FeatureHashing, ParsedExample, TextParser, parse_affixes, read_dictionary


def data_path(a: Arguments) -> str | None:
    """The file to read; None: standard input, or nothing."""
    return a.get("data") or (a.positional[0] if a.positional else None)


def make_source(
    plan: Plan, streams: Streams, lines: list[str], *, labels: str, stop: Callable[[], bool]
) -> ExampleSource:
    """The examples of the run. lines: messages about dictionaries. labels: their kind."""
    a = plan.arguments
    path = data_path(a)
    cache = a["cache_file"][0] if "cache_file" in a else None
    if cache is None and a.flag("cache"):
        if path is None:
            raise Critical("need a data file to make a cache of", "parser.cc", 300)
        cache = f"{path}.cache"
    features = make_features(a, plan.bits, streams, lines)
    make = _line_reader(plan, features, labels, streams)
    if "invert_hash" in a and cache is not None:
        raise Critical("invert_hash is incompatible with a cache file.  Use it in single pass mode only.")
    return ExampleSource(
        paths=[path or "-"], features=features, streams=streams, simple=labels == "SIMPLE",
        wants_names=a.flag("audit") or "invert_hash" in a or "audit_regressor" in a, strict=a.flag("strict_parse"),
        sort=a.flag("sort_features"), make=make, cache=cache, kill_cache=a.flag("kill_cache"), bits=plan.bits,
        shape=plan.shape, examples=a["examples"] if a.get("examples", -1) >= 0 else None,
        by_turns=a.flag("onethread"), stop=stop,
    )


def _line_reader(
    plan: Plan, features: FeatureHashing, labels: str, streams: Streams
) -> Callable[[bytes], ParsedExample | None] | None:
    """The reader of lines of CSV or JSON, with Vowpal Wabbit's messages for invalid ones."""
    a = plan.arguments
    # Imported when used, for a faster start.
    if a.flag("json"):
        from vwlite.vw.text.json import JsonError, JsonParser

        json = JsonParser(features, a.flag("chain_hash"), labels, plan.names)

        def read_json(line: bytes) -> ParsedExample | None:
            try:
                return json.line(line)
            except JsonError as e:
                at = "" if e.at is None else f" at {e.at}"
                raise Critical(f"JSON parser error{at}: {e}", "parse_example_json.cc", 1910) from None

        return read_json
    if a.flag("csv"):
        from vwlite.vw.text.csv import CsvError, CsvParser

        try:
            csv = CsvParser(
                features, streams.warn, separator=a.get("csv_separator", ","),
                has_head=not a.flag("csv_no_file_header"), head=a.get("csv_header"), scales=a.get("csv_ns_value", ""),
            )
        except CsvError as e:
            raise Critical(str(e), "parse_example_csv.cc", e.place) from None

        def read_csv(line: bytes) -> ParsedExample | None:
            try:
                return csv.line(line)
            except CsvError as e:
                raise Critical(str(e), "parse_example_csv.cc", e.place) from None

        return read_csv
    return None


def open_source(source: ExampleSource, data: str, passes: int, streams: Streams) -> None:
    """Find the cache or the data, and print the lines of the header. Critical if there is none, also for later passes.

    data: as the header calls them.
    """
    if source.find_cache():
        streams.say(f"using cache_file = {source.cache}")
        streams.say("ignoring text input in favor of cache input")
    elif source.cache is not None:
        streams.say(f"creating cache_file = {source.cache}")
        streams.say(f"Reading datafile = {data}")
    else:
        streams.say("using no cache")
        if data not in ("none", "stdin") and not os.path.exists(data):
            raise Critical(
                f"Failed to open input data file '{data}'. Inner error: can't open: {data}, "
                "errno = No such file or directory", "parser.cc", 560,
            )
        streams.say(f"Reading datafile = {data}")
    if passes > 1 and source.cache is None:
        raise Critical(
            "need a cache file for multiple passes : try using  --cache or --cache_file <name>", "parser.cc", 590
        )


# --- features ------------------------------------------------------------------------------------


def make_features(a: Arguments, bits: int, streams: Streams, lines: list[str]) -> FeatureHashing:
    """How the parser treats names. lines: the messages about dictionaries."""
    known: dict[bytes, Any] = {}  # dictionaries by content
    found = FeatureHashing(a.get("hash") == "all", a.get("hash_seed", 0), (1 << bits) - 1)
    if "affix" in a:
        found.affixes = parse_affixes(unescaped(a["affix"]))
    for value in a.get("spelling", []):
        text = unescaped(value)
        found.spelling.add(32 if text[:1] in ("", "_") else letters([value])[0])
    for value in a.get("redefine", []):
        _redefine(found.redefined, unescaped(value))
    for value in a.get("dictionary", []):
        letter, path = (ord(value[0]), value[2:]) if value[1:2] == ":" else (32, value)
        found.dictionaries.setdefault(letter, []).append(_dictionary(path, a, streams, found, lines, known))
    return found


def _redefine(redefined: dict[int, int], text: str) -> None:
    """`N:=S`: the namespaces S become N; `:` means all, empty the default namespace."""
    target, sign, sources = text.partition(":=")
    if not sign:
        target, sign, sources = text.partition("=")
        if not sign:
            raise Critical(f"argument of --redefine is malformed. Valid format is N:=S, :=S or N:=: {text}")
    name = ord(target[0]) if target else 32
    if sources == "":
        redefined[32] = name
    for c in sources:
        if c == ":":
            for i in range(256):
                redefined[i] = name
        else:
            redefined[ord(c)] = name


def _dictionary(
    path: str, a: Arguments, streams: Streams, features: FeatureHashing, lines: list[str], known: dict[bytes, Any]
) -> Any:
    here = path if os.path.isabs(path) else f"./{path}"
    places = [here, *(os.path.join(folder, path) for folder in a.get("dictionary_path", []))]
    place = next((place for place in places if os.path.exists(place)), None)
    if place is None:
        raise Critical(f"error: cannot find dictionary '{path}' in path; try adding --dictionary_path", "parse_args.cc")
    data = b"".join(bytes(block.data) for block in read_blocks([place]) if hasattr(block, "data"))
    lines.append(f"scanned dictionary '{path}' from '{place}', hash={_content_hash(data):x}")
    if data in known:
        return known[data]
    plain = FeatureHashing(hash_all=features.hash_all, hash_seed=0)
    entries = read_dictionary(data.split(b"\n"), TextParser(plain, streams))
    known[data] = entries
    lines.append(f"dictionary {path} contains {len(entries)} item{'' if len(entries) == 1 else 's'}")
    return entries


def _content_hash(data: bytes) -> int:
    found = 5289374183516789128
    for c in data:
        found = (found * 341789041 + (c - 256 if c > 127 else c)) & 0xFFFFFFFFFFFFFFFF
    return found
