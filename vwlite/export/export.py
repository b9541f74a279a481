"""`vwlite export`"""

from collections.abc import Iterable, Iterator
from functools import partial

from vwlite.errors import DataError, UsageError
from vwlite.export import DIALECTS, EXPORTS, Request
from vwlite.export.tables import write_all
from vwlite.model import read_model
from vwlite.model.learners import restore
from vwlite.model.scaled import with_map
from vwlite.output.atomic import check_apart
from vwlite.output.folder import new_folder
from vwlite.output.progress import LiveLine
from vwlite.runs.frame import RunFrame


def export(
    model: str, kind: str, output: str | None, table: str | None, id_column: str | None, dialect: str | None
) -> int:
    """Run `vwlite export`; the exit code."""
    typed = {"--table": table, "--id": id_column, "--dialect": dialect}
    for name, value in typed.items():
        if kind != "sql" and value is not None:
            raise UsageError(f"{name} is for --to sql: leave it out")
    if (table is None) != (id_column is None):
        raise UsageError("--table and --id go together: a table, and the column that names its rows")
    if dialect is not None and table is None:
        raise UsageError("--dialect is for --table: without it, the statements run in all databases")
    is_folder = EXPORTS[kind].is_folder
    if is_folder and output in (None, "-"):
        raise UsageError(f"--to {kind} writes a folder, which standard output is not: give its name to --output")
    if output is None and not EXPORTS[kind].is_text:
        raise UsageError(f"--to {kind} writes a binary file: give its name to --output (- is standard output)")
    output = "/dev/stdout" if output in (None, "-") else output
    check_apart({"--output": output}, [(model, "the input model")])
    found = read_model(model)
    if kind == "vw":
        found.settings.outputs.check_one("vwlite export --to vw", model)
        found.settings.outputs.transform.refuse("Vowpal Wabbit", model)
    if "slope" in found.calibration and kind not in ("tsv", "json", "mlflow"):
        mapped = with_map(found) if kind != "vw" else None
        if mapped is None:
            also = "" if kind == "vw" else "; of a model of a table with an intercept, all but vw have --method platt"
            raise DataError(f"{model}: was made by vwlite calibrate; only --to tsv, json and mlflow have its map of "
                            f"scores{also}")
        found = mapped
    if found.settings.derived is not None and (kind == "vw" or (kind == "sql" and table is None)):
        missing = "needs --table for these" if kind == "sql" else "has no form for these"
        raise DataError(f"{model}: features are derived from its columns (--derive); --to {kind} {missing}")
    restore(found, found.settings, model, learn=False)  # so that nothing is written that does not predict here
    with RunFrame("export") as frame:
        columns = (table, id_column) if table is not None and id_column is not None else None
        request = Request(found, model, output, columns, dialect or DIALECTS[0])
        if is_folder:
            with new_folder(output) as (folder, commit):
                EXPORTS[kind].fill(request, folder)
                frame.commit(commit)
            return frame.code("; no file was written")
        file = frame.file(output)
        content = EXPORTS[kind].content(request)
        if isinstance(content, bytes):
            file.write(content)
        else:
            live = frame.live_line("-" if output == "/dev/stdout" else None)
            write_all(_watched(content, live), file)
            live.clear()
        frame.commit(file.commit)
        return frame.code("; no file was written")


def _watched(chunks: Iterable[str], live: LiveLine) -> Iterator[str]:
    """The chunks, with their size in the live line."""
    size = 0
    for chunk in chunks:
        yield chunk
        size += len(chunk)
        live.show(partial(_written, size))


def _written(size: int, seconds: float) -> str:
    return f"{size / 1e6:.1f} MB, {size / 1e6 / max(seconds, 1e-9):.1f} MB/s"
