"""`vwlite import`"""

from vwlite.export.tables import read_table
from vwlite.model import write_model
from vwlite.model.learners import restore
from vwlite.output.atomic import check_apart
from vwlite.runs.frame import RunFrame


def import_table(table: str, model: str, loss: str | None) -> int:
    """Run `vwlite import`; the exit code."""
    check_apart({"--model": model}, [(table, "the input table")])
    found = read_table(table, loss)
    restore(found, found.settings, table, learn=False)  # so that nothing is written that does not predict
    with RunFrame("import") as frame:
        file = frame.file(model)
        write_model(file, found)
        frame.commit(file.commit)
        return frame.code("; no file was written")
