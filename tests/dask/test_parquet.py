"""`vwlite dask` with Parquet by row groups, beside the same rows in other files."""

import json
import os
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the front on Dask is an extra")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from drawn_tables import COUNT, HEADER, SAMPLE, digest, draw, loss, table

from vwlite.dask import default, work
from vwlite.dask.parts import listed
from vwlite.dask.work import ShardJob
from vwlite.input.arrow_lines import lines_of, write_lines
from vwlite.input.schema import category_columns
from vwlite.model import read_model
from vwlite.runs.options import TrainOptions

GROUP = 150  # rows of a row group


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """The same rows in t0.csv, ... and in t0.parquet, ..., of several row groups; x.csv has others."""
    monkeypatch.chdir(tmp_path)
    for i in range(4):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i)))
        pq.write_table(pa.csv.read_csv(f"t{i}.csv"), f"t{i}.parquet", row_group_size=GROUP)
    Path("x.csv").write_text(HEADER + "".join(table(9, 2000)))
    return "t*.parquet"


@pytest.fixture
def at(cluster):
    return "--scheduler", cluster.scheduler_address


# --- shards are row groups --------------------------------------------------------------------------


def test_consecutive_row_groups_are_joined_up_to_a_block(shards):
    sizes = [pq.ParquetFile("t0.parquet").metadata.row_group(i).total_byte_size for i in range(COUNT // GROUP)]
    two, single = [(0, 2), (2, 4)], [(i, i + 1) for i in range(4)]
    for block, want in ((1 << 30, [(0, 4)]), (2 * max(sizes), two), (1, single)):
        found = listed(("t0.parquet",), block).parts
        assert [(part.begin, part.end) for part in found] == want
    assert found[2].name == f"{Path.cwd()}/t0.parquet (part 3 of 4)"


def test_row_groups_without_rows_are_no_shards(shards):
    rows = pa.csv.read_csv("t0.csv")
    with pq.ParquetWriter("gaps.parquet", rows.schema) as writer:
        for count in (0, 10, 0, 20, 0):
            writer.write_table(rows.slice(0, count), row_group_size=max(count, 1))
    pq.write_table(rows.slice(0, 0), "empty.parquet")
    found = listed(("gaps.parquet", "empty.parquet"), 1)
    assert sum(part.end - part.begin for part in found.parts) == pq.ParquetFile("gaps.parquet").num_row_groups - 1
    assert len(found.parts) == 2 and found.empty == [f"{Path.cwd()}/empty.parquet"]


def run_here(monkeypatch, do, part, **options):
    """What a task gives, whose process is this one."""
    monkeypatch.setattr(work, "_place", lambda: (None, "tcp://w:1"))
    return do(part, ShardJob(TrainOptions(data=(), quiet=True, **options)))


@pytest.mark.long
def test_shards_read_their_row_groups_alone(monkeypatch, shards):
    """Lines are counted within the shard; a row has the same numbers in the whole file."""
    whole = draw("t0.parquet", label="y")
    found = [run_here(monkeypatch, work.draw, part, label="y") for part in listed(("t0.parquet",), 1).parts]
    assert [len(one) for one in found] == [GROUP] * 4
    assert {(one.lines[0], one.lines[-1]) for one in found} == {(1, GROUP)}
    assert [x for one in found for x in one.numbers[0].tolist()] == whole.numbers[0].tolist()
    assert sorted(row.text for one in found for row in one.rows) == sorted(row.text for row in whole.rows)


# --- rows as lines ----------------------------------------------------------------------------------

VALUES = {
    "whole": ([1, None, -(2**53)], pa.int64()),
    "small": ([255, None, 0], pa.uint8()),
    "float": ([0.1, None, float("nan")], pa.float64()),
    "narrow": ([0.1, -0.0, None], pa.float32()),
    "half": ([0.5, None, 1e-7], pa.float16()),
    "word": (['a "b", c', "", None], pa.string()),
    "lines": (["a\nb", "\n", 'c"\r\n"'], pa.large_string()),
    "true": ([True, None, False], pa.bool_()),
    "decimal": ([Decimal("1.20"), None, Decimal("-99999999999999999.01")], pa.decimal128(20, 2)),
    "day": ([date(2024, 2, 29), None, date(1969, 1, 1)], pa.date32()),
    "day64": ([date(2024, 2, 29), None, date(1969, 1, 1)], pa.date64()),
    "time": ([datetime(2024, 2, 29, 23, 59, 59, 123456), None, datetime(1960, 1, 1)], pa.timestamp("ns")),
    "zone": ([datetime(2024, 2, 29, 23, tzinfo=timezone.utc), None, None], pa.timestamp("us", "Europe/Lisbon")),
    "nothing": ([None] * 3, pa.null()),
}


def test_rows_come_back_from_their_lines(tmp_path):
    arrays = {name: pa.array(values, kind) for name, (values, kind) in VALUES.items()}
    rows = pa.RecordBatch.from_pydict(arrays)
    header, lines = lines_of(rows)
    assert len(lines) == 3
    write_lines(str(tmp_path / "rows"), header, lines[::-1], ["more", "word"])
    found = pa.ipc.open_file(str(tmp_path / "rows")).read_all()
    assert found.column("more").null_count == 3
    for name, array in arrays.items():
        back = found.column(name)
        assert back.type == array.type and str(back.to_pylist()) == str(array.to_pylist()[::-1]), name


def test_lines_depend_neither_on_batches_nor_on_codes():
    words = pa.array(["p", "q", None, "p"])
    plain = pa.RecordBatch.from_pydict({"w": words, "n": [1, 2, 3, None]})
    coded = pa.RecordBatch.from_pydict({"w": words.dictionary_encode(), "n": [1, 2, 3, None]})
    header, lines = lines_of(plain)
    assert lines_of(coded) == (header, lines) and lines[3] == b'"p",'
    assert lines_of(plain.slice(1, 2)) == (header, lines[1:3])
    numbers = pa.RecordBatch.from_pydict({"c": pa.array([7, 9]).dictionary_encode()})
    assert pa.ipc.read_schema(pa.BufferReader(lines_of(numbers)[0])).types == [pa.dictionary(pa.int32(), pa.int64())]


def test_categories_of_pandas_are_kept_and_its_number_of_rows_is_not():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"c": pandas.Categorical([3, 1, 3]), "n": [1.0, 2.0, 3.0]})
    found = [lines_of(pa.RecordBatch.from_pandas(part))[0] for part in (frame, frame[:2])]
    schema = pa.ipc.read_schema(pa.BufferReader(found[0]))
    assert found[0] == found[1] and category_columns(schema.metadata) == {"c"}


def test_a_row_that_is_drawn_does_not_depend_on_row_groups(shards):
    pq.write_table(pq.read_table("t0.parquet"), "one.parquet", row_group_size=COUNT, use_dictionary=False)
    found, other = draw("t0.parquet", label="y"), draw("one.parquet", label="y")
    assert found.digest == other.digest and found.rows == other.rows and found.format == "arrow"
    assert found.numbers.tolist() == draw("t0.csv", label="y").numbers.tolist()


# --- models and predictions -------------------------------------------------------------------------


@pytest.mark.long
def test_few_rows_of_parquet_give_the_bytes_of_one_machine(vwlite, at, shards):
    vwlite("dask", "train", shards, *at, "--block-size", 1, "--label", "y", "-m", "m", "--quiet")
    groups = sorted(listed((shards,), 1).parts, key=lambda part: digest_of_group(part, "groups.parquet"))
    files = dict.fromkeys(part.url for part in groups)
    vwlite("train", *files, "--label", "y", "-m", "one", "--quiet")
    assert digest("m") == digest("one") and len(groups) == 16


def digest_of_group(part, path):
    """Of the rows of a row group, which is written as a file of its own."""
    pq.write_table(pq.ParquetFile(part.url).read_row_group(part.begin), path)
    return draw(path, label="y").digest


@pytest.mark.long
def test_more_rows_of_parquet_give_the_model_of_the_same_rows_as_csv(vwlite, at, shards, monkeypatch):
    """But for the sample, which is drawn by the place of a row in its shard, too."""
    monkeypatch.setattr(default, "MOST_ROWS", SAMPLE)
    size = pq.ParquetFile("t0.parquet").metadata.row_group(0).total_byte_size * 5 // 2
    for data, parts in ((f"file://{Path.cwd()}/t*.parquet", 8), ("t*.csv", 4)):
        vwlite("dask", "train", data, *at, "--label", "y", "-m", data[-3:], "--quiet", "--report", "r",
               "--block-size", size if parts == 8 else 1 << 20)
        results = json.loads(Path("r").read_text())["results"]
        assert results["shards"] == parts and results["sample"] == SAMPLE
        assert results["number_of_examples"] == 4 * COUNT
    assert loss(vwlite, "uet") == pytest.approx(loss(vwlite, "csv"), rel=0.05)


@pytest.mark.long
def test_times_and_columns_that_are_dropped(vwlite, at, shards, monkeypatch):
    """Columns that no line can have are dropped; a column that is missing in all of the first rows has its type."""
    monkeypatch.setattr(default, "MOST_ROWS", SAMPLE)
    for i in range(4):
        rows = pq.read_table(f"t{i}.parquet")
        more = {
            "list": pa.array([[1, 2]] * COUNT),
            "when": pa.array([datetime(2024, 1, 1 + k % 28, k % 24) for k in range(COUNT)], pa.timestamp("ms")),
            "late": pa.array([None if i == 0 else k % 7 / 7 for k in range(COUNT)], pa.float64()),
        }
        for name, column in more.items():
            rows = rows.append_column(name, column)
        pq.write_table(rows, f"k{i}.parquet", row_group_size=2 * GROUP)
    vwlite("dask", "train", "k*.parquet", *at, "--label", "y", "--drop", "list", "-m", "m", "--quiet")
    roles = dict(read_model("m").columns["roles"])
    assert (roles["when"], roles["late"], roles["list"]) == ("time", "numeric", "drop")
    assert read_model("m").counters["examples"] == 4 * COUNT
    vwlite("predict", "-m", "m", "k1.parquet", "-p", "p", "--quiet")
    assert len(Path("p").read_text().splitlines()) == COUNT


@pytest.mark.long
def test_an_exact_optimum_of_parquet(vwlite, at, shards):
    how = ("--label", "y", "--loss", "logistic", "--l1", "1e-3", "--quiet", "--labels", "0,1", "--rounds", 3, "-m")
    vwlite("dask", "train", shards, *at, "--exact", *how, "m")
    vwlite("dask", "train", "t*.csv", *at, "--exact", *how, "other")
    found, other = read_model("m"), read_model("other")
    assert bytes(found.keys) == bytes(other.keys) and bytes(found.weights) == bytes(other.weights)


@pytest.fixture
def model(vwlite, shards):
    how = ("--loss", "logistic", "--labels", "0,1", "--algorithm", "gd", "--quiet")
    vwlite("train", "x.csv", "--label", "y", *how, "-m", "m")
    return "m"


def test_predictions_of_row_groups(vwlite, at, shards, model):
    size = pq.ParquetFile("t0.parquet").metadata.row_group(0).total_byte_size * 5 // 2
    vwlite("dask", "predict", "t0.parquet", "t1.parquet", *at, "-m", model, "-o", "p", "--quiet", "--block-size", size)
    paths = sorted(Path("p").iterdir())
    assert [path.name for path in paths] == [f"t{k}.parquet.{i}-of-2.predictions" for k in (0, 1) for i in (1, 2)]
    vwlite("predict", "-m", model, "t0.csv", "t1.csv", "-p", "one", "--quiet")
    assert "".join(path.read_text() for path in paths) == Path("one").read_text()


@pytest.mark.long
def test_rows_with_predictions_are_parquet(vwlite, at, shards, model):
    said = vwlite("dask", "predict", "t0.parquet", *at, "-m", model, "-o", "p", "--append", "--block-size", 1).err
    assert f"number of predictions = {COUNT}" in said
    found = [pq.read_table(path) for path in sorted(Path("p").iterdir())]
    assert [len(one) for one in found] == [GROUP] * 4
    assert found[0].column_names == ["y", "a", "b", "word", "prediction", "probability"]


# --- what goes wrong --------------------------------------------------------------------------------


def refused(vwlite, at, *arguments, code=65):
    return vwlite("dask", "train", *arguments, *at, "--label", "y", "-m", "m", "--quiet", "--retries", 1, code=code).err


def test_what_no_feature_comes_of_has_its_place_once(monkeypatch, shards):
    pq.write_table(pa.table({"y": [0, 1], "pair": [{"a": 1}] * 2}), "pairs.parquet")
    failed = run_here(monkeypatch, work.draw, listed(("pairs.parquet",), 1).parts[0], label="y")
    place = f"{Path.cwd()}/pairs.parquet"
    assert failed.message.startswith(f"{place}:1:1: column 'pair' is a struct") and failed.where == (place, 1, 1)


def test_a_format_that_is_typed_is_that_of_the_file(vwlite, at, shards):
    said = refused(vwlite, at, shards, "--format", "csv")
    assert said == f"{Path.cwd()}/t0.parquet: a file of Parquet: leave --format csv out\n"


def test_damaged_files(vwlite, at, shards):
    whole = Path("t1.parquet").read_bytes()
    Path("t1.parquet").write_bytes(whole[:-20])
    assert "/t1.parquet:1:1: not a complete file of Parquet: " in refused(vwlite, at, shards)
    Path("t1.parquet").write_text("1 | a\n")
    assert "/t1.parquet:1:1: not a complete file of Parquet: " in refused(vwlite, at, shards, "--format", "parquet")
    Path("t1.parquet").write_bytes(b"ARROW1" + whole)
    said = refused(vwlite, at, shards)
    assert "/t1.parquet: a file of Arrow, which workers do not read: write it as Parquet or CSV" in said
    assert "--format arrow: workers read Parquet and text" in refused(vwlite, at, shards, "--format", "arrow", code=2)


@pytest.mark.long
def test_a_damaged_page(vwlite, at, shards):
    """Of the second row group: the rows are counted within the shard."""
    rows = pq.read_table("t0.parquet")
    pq.write_table(rows, "t1.parquet", row_group_size=300, write_page_checksum=True, use_dictionary=False)
    place = pq.ParquetFile("t1.parquet").metadata.row_group(1).column(1).data_page_offset
    content = bytearray(Path("t1.parquet").read_bytes())
    content[place + 500] ^= 255
    Path("t1.parquet").write_bytes(content)
    said = refused(vwlite, at, shards, "--block-size", 1)
    assert f"{Path.cwd()}/t1.parquet (part 2 of 2):1:1: not a complete file of Parquet: " in said


@pytest.mark.long
def test_columns_that_differ_between_files(vwlite, at, shards):
    rows = pq.read_table("t1.parquet")
    pq.write_table(rows.drop(["b"]), "t1.parquet")
    said = refused(vwlite, at, shards)
    assert f"{Path.cwd()}/t1.parquet:1:1: no column b, but {Path.cwd()}/t0.parquet has it\n" in said
    pq.write_table(rows.append_column("new", pa.array([1] * COUNT)), "t1.parquet")
    said = refused(vwlite, at, shards, code=0)
    assert f"{Path.cwd()}/t1.parquet: columns that are not in {Path.cwd()}/t0.parquet are ignored: new\n" in said
    assert "new" not in dict(read_model("m").columns["roles"])
    words = pa.array(["x" if i == 7 else "0.5" for i in range(COUNT)])
    pq.write_table(rows.set_column(1, "a", words), "t1.parquet")
    assert f"{Path.cwd()}/t1.parquet:8:2: column a: 'x' is not a number" in refused(vwlite, at, shards)
    pq.write_table(rows.set_column(3, "word", pa.array(range(COUNT))), "t1.parquet")
    vwlite("dask", "train", shards, *at, "--label", "y", "-m", "m", "--quiet")  # numbers are words there
    assert dict(read_model("m").columns["roles"])["word"] == "categorical"


def test_a_worker_without_pyarrow(monkeypatch, shards):
    monkeypatch.setattr(work, "find_spec", lambda name: None)
    failed = run_here(monkeypatch, work.draw, listed(("t0.parquet",), 1 << 20).parts[0], label="y")
    assert failed.code == 69 and failed.message == (
        f"{Path.cwd()}/t0.parquet: a file of Parquet, and the worker tcp://w:1 has no pyarrow: pip install "
        "'vwlite[arrow]' there")


@pytest.mark.long
def test_a_file_that_is_lost_meanwhile(monkeypatch, shards):
    part = listed(("t0.parquet",), 1 << 20).parts[0]
    os.remove("t0.parquet")
    failed = run_here(monkeypatch, work.draw, part, label="y")
    assert failed.code == 66 and failed.message == f"{Path.cwd()}/t0.parquet: No such file or directory"
