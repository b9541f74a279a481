"""A format of input is a row of FORMATS and the class that the row names."""

import re
from pathlib import Path

import pytest

from vwlite.input.formats import FORMATS, Format, by_name
from vwlite.input.parsing import LineParsing, ParseOptions
from vwlite.input.pipeline import parsed_batches
from vwlite.input.schema import RoleOptions
from vwlite.input.tables import TableReader


class RankParsing(LineParsing):
    """libsvm with the number of a query behind the label, which is left out."""

    def __init__(self, format, options):
        super().__init__("libsvm", options)

    def parse(self, task, batch):
        task.block.data = re.sub(rb" qid:\d+", b"", bytes(task.block.data))
        return super().parse(task, batch)


def parsed(path, text, role=None, *, as_text=False, **options):
    """The batches of a file as bytes, its VW text, and its bad lines."""
    Path(path).write_text(text)
    table = TableReader(RoleOptions(label=role), needs_label=True, as_text=as_text) if role or as_text else None
    with parsed_batches([path], ParseOptions(table=table, **options), threads=2) as batches:
        found = [(b"".join(map(bytes, p.batch.dump())), p.text, [bad.message for bad in p.bad]) for p in batches]
    assert found
    return found


@pytest.mark.parametrize("as_text", [False, True])
def test_a_delimited_format_is_a_row(at, monkeypatch, as_text):
    monkeypatch.setitem(FORMATS, "psv", FORMATS["tsv"]._replace(suffixes=("psv",), delimiter="|"))
    text = 'y,a,b\n1,"x y",2\n-1,z,3\nno,z,3\n'
    assert by_name("t.psv.gz") == "psv"
    for more in ({}, {"skip": True}):
        rows = parsed("t.psv", text.replace(",", "|"), "y", as_text=as_text, **more)
        assert rows == parsed("t.csv", text, "y", as_text=as_text, **more)


@pytest.mark.parametrize("as_text", [False, True])
def test_a_format_of_lines_is_a_row_and_a_class(at, monkeypatch, as_text):
    monkeypatch.setitem(FORMATS, "rank", Format(f"{__name__}:RankParsing", suffixes=("rank",)))
    text = "1 qid:1 2:1 4:2\n-1 qid:2 3:x\n\n-1 qid:3 7:1\n"
    rank = parsed("t", text, as_text=as_text, format="rank", skip=True)
    assert rank == parsed("t", re.sub(r"qid:\d ", "", text), as_text=as_text, format="libsvm", skip=True)
    assert len(rank[0][2]) == 1
