"""A run of `vwlite convert`: every line of the input as equivalent VW text."""

import sys
from typing import TYPE_CHECKING

from vwlite.core.data.class_names import ClassNames
from vwlite.input.parsing import ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import check_sources
from vwlite.input.tables import TableReader
from vwlite.inspection.commands import ConvertOptions
from vwlite.inspection.derived_text import DerivedText
from vwlite.model import read_model
from vwlite.model.absent import applied_schema
from vwlite.output.stdio import is_terminal
from vwlite.output.text import printable
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines, Sink, say

if TYPE_CHECKING:
    from vwlite.output.atomic import Buffer

_SIGNS = {b"-1", b"1", b"+1"}
_LOOKED_AT = 1 << 14  # bytes of a batch


def labels_in(text: "Buffer") -> set[bytes]:
    """The labels of the first lines of a batch of VW text."""
    lines = bytes(memoryview(text)[:_LOOKED_AT]).split(b"\n")[:-1]
    return {line[: line.index(b" ")] for line in lines if b" " in line and line[:1] not in (b"|", b"'", b" ")}


def convert(o: ConvertOptions) -> int:
    """Run `vwlite convert`; the exit code."""
    o.check()
    check_sources(o.data, quiet=o.quiet)
    model = read_model(o.model) if o.model else None
    table = planned(o).table(model.columns if model else None) or TableReader()
    table.as_text, derived = True, model.settings.derived if model else None
    if model is not None and not model.columns:
        table.model = o.model or ""
    elif model is not None:
        table.schema = applied_schema(model)
    # Labels of any form are copied, and none is kept in the batch: training checks them.
    parse = ParseOptions(
        format=o.format, skip=o.on_error == "skip", class_names=ClassNames(1), lenient_labels=True, table=table
    )
    with RunFrame("convert", o) as frame:
        bad, out, escaped, labels = BadLines(frame, **o.of_bad_lines), Sink("-", frame), 0, set[bytes]()
        live, lines = frame.live_line("-" if is_terminal(sys.stdout) else None), 0
        is_table = o.label is not None or bool(model and model.columns)
        more = DerivedText(model, derived) if model is not None and derived is not None else None
        batches = parsed_batches(o.data, parse, stop=frame.stopped, threads=o.threads)
        for parsed in frame.enter_context(batches):
            out.write(more.of(parsed.text) if more is not None else parsed.text)
            if parsed.bad:
                live.clear()
                bad.take(parsed.bad)
            lines += len(parsed.batch)
            live.update(lines, parsed.done, parsed.total)
            escaped += parsed.escaped
            if is_table and len(labels) <= 2:
                labels |= labels_in(parsed.text)
            if frame.signal is not None:
                break
        live.clear()
        bad.finish()
        if escaped and not o.quiet:
            found = "1 value has" if escaped == 1 else f"{escaped:,} values have"
            say(f"note: {found} blanks, ':' or '|', which VW text cannot hold: they are written with "
                "%20, %3A, %7C; a model of this text has other hashes for these features, and other names of such "
                "classes, than a model of the table")
        if len(labels) == 2 and not labels <= _SIGNS and not o.quiet:
            found = " and ".join(printable(label.decode("utf-8", "replace")) for label in sorted(labels))
            say(f"note: labels are written as in DATA, {found}: vwlite reads them, but Vowpal Wabbit's logistic loss "
                "needs -1 and 1 in their place")
        return frame.code()
