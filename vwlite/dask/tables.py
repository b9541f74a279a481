"""Tables: the roles of columns are decided once for all shards, from the first rows of the first."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vwlite.dask.parts import FilePart, content, naming_errors, opened
from vwlite.dask.work import ShardJob, format_of
from vwlite.errors import DataError, UsageError
from vwlite.input.formats import DELIMITED
from vwlite.input.pipeline import decide_roles
from vwlite.input.schema import OPTIONAL, listed
from vwlite.runs.options import InputOptions
from vwlite.runs.plan import planned
from vwlite.runs.run import say

ENOUGH = 8 << 20  # bytes, in which there are the rows that decide roles
ROWS = 4096  # of a batch


def with_roles(job: ShardJob, o: InputOptions, parts: list[FilePart], columns: dict[str, Any]) -> ShardJob:
    """The job with what the first rows decide: a role for each column of delimited text without a role yet, and which
    texts have no blanks, also of JSON lines. columns: those of a model. UsageError if nothing says what the text is."""
    job = replace(job, header=columns.get("header", True) and not (o.columns or o.no_header))
    if o.names_columns and o.format == "auto" and any(format_of(part, job) == "auto" for part in parts):
        part = next(part for part in parts if format_of(part, job) == "auto")
        raise UsageError(f"{part.name}: column options are given, but its name does not show its format: add "
                         "--format csv, tsv or jsonl")
    decisive = (*DELIMITED, "parquet", "jsonl") if o.text else (*DELIMITED, "parquet")
    first = next((part for part in parts if format_of(part, job) in decisive), None)
    if first is None or columns:
        return job
    table = planned(o).table(needs_label=True)
    if table is None:
        from vwlite.input.tables import TableReader

        table = TableReader(needs_label=True)
    with tempfile.TemporaryDirectory(prefix="vwlite-") as folder:
        sample = Path(folder, "sample")
        if first.is_parquet:
            _write_rows(first, str(sample))
        else:
            sample.write_bytes(_beginning(first))
        try:
            decide_roles([str(sample)], "arrow" if first.is_parquet else format_of(first, job), table)
        except DataError as e:
            raise DataError(e.message, first.name, *e.where[1:]) from None
    typed = o.roles.roles()
    roles = table.schema.roles if table.schema is not None and not table.schema.open else {}
    more: dict[str, Any] = {}
    if table.schema is not None:
        more = {"time_format": table.schema.time_format, "unspaced": table.schema.unspaced}
    for role in ("numeric", "categorical", "time"):
        names = tuple(name for name, r in roles.items() if r == role and name not in typed)
        if names:
            more[role] = (*getattr(o, role), names)
    if first.is_parquet:
        _check_columns(parts, first, roles)
        job = replace(job, columns=first.columns)
    return replace(job, options=replace(job.options, **more))


def _check_columns(parts: list[FilePart], first: FilePart, roles: Mapping[str, str]) -> None:
    """DataError if a file of Parquet lacks a column that the first one has. Other columns are not read, and noted."""
    for part in parts:
        if part.columns is None or part.number:
            continue
        known = first.columns or ()
        if missing := [name for name, role in roles.items() if role not in OPTIONAL and name not in part.columns]:
            raise DataError(f"no column {listed(missing)}, but {first.url} has it", part.url, 1, 1)
        if others := [name for name in part.columns if name not in known]:
            say(f"{part.url}: columns that are not in {first.url} are ignored: {listed(others)}")


def _write_rows(part: FilePart, path: str) -> None:
    """Write the first rows of a shard of Parquet as Arrow, as many as decide roles."""
    from vwlite.input import arrow

    pa = arrow.library(part.url, "parquet")
    with naming_errors(part.url), opened(part.url) as file:
        try:
            found, size = arrow.parquet_file(file, whole=True), 0
            with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, found.schema_arrow) as writer:
                for batch in found.iter_batches(ROWS, range(part.begin, found.num_row_groups)):
                    writer.write_batch(batch)
                    size += batch.nbytes
                    if size >= ENOUGH:
                        break
        except arrow.broken(pa) as e:
            raise arrow.incomplete(part.name, "parquet", e) from e


def _beginning(part: FilePart) -> bytes:
    """The first bytes of a part, as many as decide roles."""
    found = b""
    for data in content(part):
        found += data
        if len(found) >= ENOUGH:
            break
    return found
