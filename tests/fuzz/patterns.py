"""Repeated patterns: texts of which twice as much must take about twice the time, whatever they are."""

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

PIECES = [
    "\n", "\r", "\r\n", " ", "  \n", "\t", ",", ",\n", "|", ":", '"', '""', '"\n', '","', '"a"', "\\", '\\"', "\\u00e9",
    "'", "#", "{", "}", "[", "]", "[{", '{"', '{"a":', '{"a":1}', '{"a":1}\n', '"a":1,', "null,", "NaN,", "true,", "1",
    "9", "0.", ".", "-", "+", "1e", "1 ", "1 |", "1 |a ", "|a", "|a b", "|a b:", "a b ", ":1", "1:", "1:1 ", "-1 1:1\n",
    "1 |a b\n", "a", "a,", "1,a\n", "x" * 40, "\0", "\x01", "\x7f", "\u00e9", "\udcff", "2026-01-31T", "nan",
]
UNITS = [*PIECES, *(one + other for one, other in product(PIECES, PIECES) if one != other)]
EXTENSIONS = {"VW text": "vw", "libsvm": "libsvm", "CSV": "csv", "TSV": "tsv", "JSON lines": "jsonl"}
KINDS = (*EXTENSIONS, "JSON body", "body")
HEADS = {
    "VW text": ["", "1 |a ", "1 ", "1 1 'a|a b:"], "libsvm": ["", "1 1:1 ", "1 "],
    "CSV": ["", "y,a\n", "y,a\n1,b\n", "y,", 'y,"', "y,a\n1,"],
    "TSV": ["", "y\ta\n", "y\ta\n1\tb\n", "y\t", "y\ta\n1\t"],
    "JSON lines": ["", '{"y":1,"a":"', '{"y":1,"', '{"y":', '{"y":1,"a":[', '{"y":1,"a":'],
    "JSON body": ["", '{"a":"', '{"', "[", '[{"a":', '{"new":'], "body": ["", "y,a\n", "|a ", "{"],
}
TAILS = ["", "x", "\n", "x\n1,b\n", '"}\n', "}", "\t\n", "\x01"]
MODELS = {
    "text.vw": (b"1 |a b:2 c\n-1 |a c |b d\n" * 9, []),
    "table.csv": (b"y,a,b\n" + b"1,x,0.5\n0,z,2\n" * 9, ["--label", "y"]),
}  # of what bodies are for: data and options
TYPES = {
    "JSON body": ["application/json", "application/x-ndjson"],
    "body": ["text/plain", "text/csv", "text/tab-separated-values", "text/libsvm", "application/octet-stream"],
}
LEARN = ["--algorithm", "gd"]
SIZE = 30 << 10  # bytes; then twice as many
LEAST = 0.2  # seconds of work: times below are not compared
RATIO, TIMES = 6, 3  # twice the text takes at most so many times as long, in one of so many tries
Pattern = tuple[str, bytes, bytes, bytes]  # kind of text, what it begins with, what is repeated, what it ends with


def drawn(rng: Random) -> Pattern:
    kind = rng.choice(KINDS)
    head, unit, tail = (bytes_of(rng.choice(texts)) for texts in (HEADS[kind], UNITS, TAILS))
    return kind, head, unit, tail


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def text_of(pattern: Pattern, size: int) -> bytes:
    """The pattern as so many bytes, about."""
    _, head, unit, tail = pattern
    return head + unit * (size // len(unit)) + tail


def models(folder: Path, run: Callable[[list[str]], object]) -> None:
    """Make the models of a text and of a table that bodies are for."""
    for name, (data, options) in MODELS.items():
        (folder / name).write_bytes(data)
        run(["train", str(folder / name), *LEARN, "--quiet", *options, "-m", f"{folder / name}.model"])


def take(kind: str, text: bytes, folder: Path, run: Callable[[list[str]], object]) -> None:
    """Have the program read a text of this kind, in each of its ways; the folder has the models."""
    if kind in EXTENSIONS:
        path = folder / f"data.{EXTENSIONS[kind]}"
        path.write_bytes(text)
        options = ["--label", "y"] if kind in ("CSV", "TSV", "JSON lines") else []
        for command in (["check"], ["describe"], ["train", *LEARN, "--on-error", "skip", "-m", str(folder / "m")]):
            run([*command, str(path), *options])
        return
    _answer(kind, text, folder)


def _answer(kind: str, text: bytes, folder: Path) -> None:
    from fuzz.clients import Clients

    types = TYPES[kind]
    for name in MODELS:
        clients = Clients(str(folder / f"{name}.model"), max_body=1 << 20)
        for type, query in product(types, ("", "?on_error=skip")):
            head = f"POST /predict{query} HTTP/1.1\r\nHost: x\r\nContent-Type: {type}\r\nContent-Length: {len(text)}"
            clients.answered([f"{head}\r\n\r\n".encode() + text])


def wrong_pattern(pattern: Pattern, folder: Path, run: Callable[[list[str]], object]) -> str:
    """What is wrong with the time that a pattern takes; "" for nothing."""
    models(folder, run)

    def seconds(size: int) -> float:
        begin = time.process_time()
        take(pattern[0], text_of(pattern, size), folder, run)
        return time.process_time() - begin

    for _ in range(TIMES):
        one, two = seconds(SIZE), seconds(2 * SIZE)
        if two < LEAST or two <= RATIO * one:
            return ""
    return f"time: {one:.2f} s for {SIZE} bytes and {two:.2f} s for twice as many: {pattern}"
