"""A run of `vwlite convert`: every line of the input as equivalent VW text."""

from vwlite.core.data.class_names import ClassNames
from vwlite.input.parsing import ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.sources import check_sources
from vwlite.input.tables import TableReader
from vwlite.inspection.commands import ConvertOptions
from vwlite.inspection.derived_text import DerivedText
from vwlite.model import read_model
from vwlite.model.absent import applied_schema
from vwlite.runs.frame import RunFrame
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines, Sink, say


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
        bad, out, escaped = BadLines(frame, **o.of_bad_lines), Sink("-", frame), 0
        more = DerivedText(model, derived) if model is not None and derived is not None else None
        batches = parsed_batches(o.data, parse, stop=frame.stopped, threads=o.threads)
        for parsed in frame.enter_context(batches):
            out.write(more.of(parsed.text) if more is not None else parsed.text)
            bad.take(parsed.bad)
            escaped += parsed.escaped
            if frame.signal is not None:
                break
        bad.finish()
        if escaped and not o.quiet:
            found = "1 value has" if escaped == 1 else f"{escaped:,} values have"
            say(f"note: {found} blanks, ':' or '|', which VW text cannot hold: they are written with "
                "%20, %3A, %7C; a model of this text has other hashes for these features, and other names of such "
                "classes, than a model of the table")
        return frame.code()
