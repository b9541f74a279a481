"""The compiled parser beside its slow reference."""

import struct
from typing import Any

from slow_parser import Example, SlowParser

from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.text.parser import Parser
from vwlite.input.diagnostics import bad_lines, explain


def names_of(classes: dict[str, Any] | None) -> ClassNames | None:
    """The names of classes, as the parser wants them."""
    if classes is None:
        return None
    return ClassNames(**classes | {"names": [name.encode() for name in classes.get("names", ())]})


def parsed(
    text: bytes, format: str = "vw", *, first_line: int = 1, names: ClassNames | None = None, **options
) -> tuple[Batch, list]:
    parser, batch = Parser(format, names=names, **options), Batch()
    batch.first_line = first_line
    count = parser.parse(text, batch)
    faults = bad_lines(parser, text, batch)
    assert len(faults) == count
    return batch, faults


def examples_of(batch: Batch) -> list[Example]:
    """The content of a batch, as the slow parser would give it."""
    found = []
    spans, begins = batch.span_begin, batch.feature_begin
    for i in range(len(batch)):
        one = Example(batch.kind[i], batch.label[i], batch.importance[i], batch.initial[i], batch.tag(i))
        for k in range(spans[i], spans[i + 1]):
            lo, hi = begins[k], begins[k + 1]
            one.spans.append((batch.letter[k], list(zip(batch.hash[lo:hi], batch.value[lo:hi], strict=True))))
        found.append(one)
    return found


def exact(examples: list[Example]) -> list[tuple]:
    """For comparison bit by bit: NaN equals NaN, and -0.0 is not 0.0."""
    return [
        (
            e.kind,
            struct.pack("3d", e.label, e.importance, e.initial),
            e.tag,
            [(letter, [(int(h), struct.pack("f", x)) for h, x in features]) for letter, features in e.spans],
        )
        for e in examples
    ]


def agree(text: bytes, format: str, first_line: int = 1, **options) -> None:
    plain = {name: value for name, value in options.items() if name != "classes"}
    names, other_names = (names_of(options.get("classes")) for _ in range(2))
    batch, faults = parsed(text, format, first_line=first_line, names=names, **plain)
    other, other_faults = parsed(text, format, first_line=first_line, columns=False, names=other_names, **plain)
    assert exact(examples_of(other)) == exact(examples_of(batch))
    assert other_faults == faults
    reference = SlowParser(format, **options)
    slow, bad = reference.parse(text, first_line)
    assert exact(examples_of(batch)) == exact(slow)
    if names is not None and not names.numbers:
        found = [name.decode("utf-8", "surrogateescape") for name in reference.names]
        assert list(names) == list(other_names) == found
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    expected = []
    for i, fault in bad:
        end = min(starts[i + 1] - 1, len(text))
        line = text[starts[i] : end]
        words = explain(fault.code, line, fault.begin, fault.end, labels=options.get("labels"), names=names)
        expected.append(("", first_line + i, fault.begin + 1, words, line, ""))
    assert [tuple(f) for f in faults] == expected
