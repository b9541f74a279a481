"""Tables: the roles of columns are decided once for all shards, from the first rows of the first."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from vwlite.dask.parts import FilePart, content
from vwlite.dask.work import ShardJob, format_of
from vwlite.errors import DataError, UsageError
from vwlite.input.formats import DELIMITED
from vwlite.input.pipeline import decide_roles
from vwlite.runs.options import InputOptions
from vwlite.runs.plan import planned

ENOUGH = 8 << 20  # bytes, in which there are the rows that decide roles


def with_roles(job: ShardJob, o: InputOptions, parts: list[FilePart], columns: dict[str, Any]) -> ShardJob:
    """The job with what the first rows decide: a role for each column of delimited text without a role yet, and which
    texts have no blanks, also of JSON lines. columns: those of a model. UsageError if nothing says what the text is."""
    job = replace(job, header=columns.get("header", True) and not (o.columns or o.no_header))
    if o.names_columns and o.format == "auto" and any(format_of(part, job) == "auto" for part in parts):
        part = next(part for part in parts if format_of(part, job) == "auto")
        raise UsageError(f"{part.name}: column options are given, but its name does not show its format: add "
                         "--format csv, tsv or jsonl")
    decisive = (*DELIMITED, "jsonl") if o.text else DELIMITED
    first = next((part for part in parts if format_of(part, job) in decisive), None)
    if first is None or columns:
        return job
    table = planned(o).table(needs_label=True)
    if table is None:
        from vwlite.input.tables import TableReader

        table = TableReader(needs_label=True)
    with tempfile.TemporaryDirectory(prefix="vwlite-") as folder:
        sample = Path(folder, "sample")
        sample.write_bytes(_beginning(first))
        try:
            decide_roles([str(sample)], format_of(first, job), table)
        except DataError as e:
            raise DataError(e.message, first.name, *e.where[1:]) from None
    typed = o.roles.roles()
    roles = table.schema.roles if table.schema is not None and not table.schema.open else {}
    more: dict[str, Any] = {}
    if table.schema is not None:
        more = {"time_format": table.schema.time_format, "unspaced": table.schema.unspaced}
    for role in ("numeric", "categorical"):
        names = tuple(name for name, r in roles.items() if r == role and name not in typed)
        if names:
            more[role] = (*getattr(o, role), names)
    return replace(job, options=replace(job.options, **more))


def _beginning(part: FilePart) -> bytes:
    """The first bytes of a part, as many as decide roles."""
    found = b""
    for data in content(part):
        found += data
        if len(found) >= ENOUGH:
            break
    return found
