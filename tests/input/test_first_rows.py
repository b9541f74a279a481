"""Columns that the first rows do not decide: without a value there, or with numbers and words."""

import importlib.util
import json
import os
from pathlib import Path
from random import Random

import pytest
from running import GD

from vwlite.model import read_model

ROLES = ["--label", "y", *GD, "--loss", "squared"]


def piped(text: str) -> str:
    """The name of a pipe with this text."""
    end, begin = os.pipe()
    os.write(begin, text.encode())
    os.close(begin)
    return f"/dev/fd/{end}"


def roles_of(path: str) -> dict[str, str]:
    return dict(read_model(path).columns["roles"])


def table(cells, empty: int, first: str = "") -> str:
    """Of so many rows whose cell is empty, and then rows with these."""
    column = [first] * empty + [*cells]
    return "y,line,late\n" + "".join(f"{i % 2},w{i % 3},{cell}\n" for i, cell in enumerate(column))


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("cells, role, first", [
    (["1", "2.5", "", "-3"], "numeric", ""), (["a", "1", "", "b"], "categorical", ""),
    (["1", "NA", "4"], "numeric", "NA"), (["NA", "", "a"], "categorical", ""),
])
def test_a_column_gets_its_role_from_the_first_rows_with_a_value(vwlite, folder, blocks_of, kind, cells, role, first):
    """However the text is cut; the model is that of the role, typed."""
    text, found = table(cells * 5, 1100, first), set()
    Path("typed.csv").write_text(text)
    vwlite("train", "typed.csv", *ROLES, f"--{role}", "late", "-m", "typed.model")
    for size in (1 << 20, 700):
        blocks_of(size)
        source = "typed.csv" if kind == "file" else piped(text)
        said = vwlite("train", source, "--format", "csv", *ROLES, "-m", "m").err
        assert any(role in line and "late" in line for line in said.splitlines()), said
        assert roles_of("m")["late"] == role
        found.add(Path("m").read_bytes())
    assert len(found) == 1
    if role == "numeric" or kind == "file":  # in a stream, NA before the first word is a missing value
        assert found == {Path("typed.model").read_bytes()}


def test_two_files_in_any_order_give_the_same_roles(vwlite, folder):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    Path("none.csv").write_text(table([], 50))
    Path("some.csv").write_text(table(["1", "2"], 1))
    for name, column in (("none", pa.nulls(4)), ("some", pa.array([1.5, None, 2, 3]))):
        pq.write_table(pa.table({"y": [0, 1, 0, 1], "line": [*"abab"], "late": column}), f"{name}.parquet")
    for kind in ("csv", "parquet"):
        for files in (["none", "some"], ["some", "none"]):
            vwlite("train", *(f"{name}.{kind}" for name in files), *ROLES, "-m", "m")
            assert roles_of("m")["late"] == "numeric", (kind, files)


def test_a_continued_model_takes_up_a_column_that_had_no_value(vwlite, folder):
    Path("none.csv").write_text(table([], 50))
    Path("some.csv").write_text(table(["1", "2", "7"] * 9, 1))
    Path("words.csv").write_text(table(["x", "y"] * 9, 1))
    said = vwlite("train", "none.csv", *ROLES, "-m", "none.model").err
    assert "no value so far: late" in said
    assert roles_of("none.model")["late"] == "auto"
    rows = vwlite("predict", "some.csv", "-m", "none.model").out  # a model that is applied decides nothing
    assert len(set(rows.splitlines()[3:])) <= 6
    vwlite("export", "none.model", "--to", "python", "-o", "none.py")
    vwlite("train", "some.csv", "--continue", "none.model")
    assert roles_of("none.model")["late"] == "numeric"
    assert "words.csv:3:" in vwlite("train", "words.csv", "--continue", "none.model", code=65).err


def test_a_cache_and_a_second_pass_have_the_role(vwlite, folder):
    Path("t.csv").write_text(table(["1", "2", "7"] * 9, 1100))
    run = ["train", "t.csv", *ROLES, "--passes", "2", "--holdout-off"]
    for number in (1, 2):  # the second run takes the cache of the first
        vwlite(*run, "--cache-file", "c", "-m", f"{number}.model")
    vwlite(*run, "--numeric", "late", "--cache-file", "other", "-m", "typed.model")
    assert Path("1.model").read_bytes() == Path("2.model").read_bytes() == Path("typed.model").read_bytes()


def test_describe_sees_a_late_column(vwlite, folder):
    chance = Random(1)
    Path("t.csv").write_text(table([f"{chance.random():.3f}" for _ in range(100)], 1000))
    said = vwlite("describe", "t.csv", "--label", "y").out
    assert next(line for line in said.splitlines() if line.startswith("late")).split()[1] == "numeric"
    assert "--drop" not in said


# --- one key, two kinds ------------------------------------------------------------------------------

def lines(shops, more="") -> str:
    return "".join(json.dumps({"shop": shop, "x": i % 7, "y": i % 2}) + "\n" for i, shop in enumerate(shops)) + more


MIXED = [5, "5", 7, "7", 2.0, "2", True] * 20


def test_words_win_in_a_key_that_is_a_number_in_some_lines(vwlite, folder):
    """As if all of them had been words; of a file wherever they are, of a stream in the first lines."""
    texts = ["true" if x is True else f"{x:g}" if type(x) is float else str(x) for x in MIXED]
    late = [5] * 1200
    Path("mixed.jsonl").write_text(lines([*late, *MIXED]))
    Path("words.jsonl").write_text(lines([*map(str, late), *texts]))
    vwlite("train", "words.jsonl", *ROLES, "--categorical", "shop", "-m", "words.model")
    said = vwlite("train", "mixed.jsonl", *ROLES, "-m", "m").err
    assert "note: key shop: a number in 1,260 lines and a word in 80 lines, so its values are words" in said
    assert "--categorical shop" in said
    assert Path("m").read_bytes() == Path("words.model").read_bytes()
    described = vwlite("describe", "mixed.jsonl", "--label", "y").out
    assert "note: shop: a number in 1,260 lines" in described
    assert "--categorical shop" in described
    rows = {vwlite("predict", "-m", "m", piped(json.dumps({"shop": shop, "x": 1}))).out for shop in (5, "5", 5.0)}
    assert len(rows) == 1
    vwlite("train", piped(lines(MIXED)), "--format", "jsonl", *ROLES, "-m", "m")
    assert roles_of("m") == {"y": "label", "shop": "categorical"}


def test_contrary_lines_of_a_stream_are_counted(vwlite, folder):
    text = lines([1] * 1100 + ["a", "b"])
    said = vwlite("train", piped(text), "--format", "jsonl", *ROLES, "-m", "m").err
    assert "note: key shop: a number in 1,100 lines and a word in 2 lines, each of which is read by its type" in said
    assert roles_of("m") == {"y": "label"}
    said = vwlite("predict", piped(text), "-m", "m", "-o", "p").err
    assert "a word in 2 lines, each of which is read by its type: make it one of them" in said


def test_what_is_missing_is_no_other_kind(vwlite, folder):
    """Nor are the keys of objects columns: a note names them."""
    Path("t.jsonl").write_text(lines([1, "NA", None, 2, "", 3]))
    assert "note: key" not in vwlite("train", "t.jsonl", *ROLES, "-m", "m").err
    rows = [{"y": i % 2, "user": {"age": age}} for i, age in enumerate([3, "3", 4])]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = vwlite("train", "t.jsonl", *ROLES, "-m", "m").err
    assert "note: key user.age: a number in 2 lines and a word in 1 line, each of which is read by its type" in said


# --- numbers that 32 bits make equal -----------------------------------------------------------------

def test_numbers_that_are_equal_as_floats_are_noted(vwlite, folder):
    seconds = [1700000000 + i for i in range(60)]
    Path("t.csv").write_text("y,ts\n" + "".join(f"{i % 2},{x}\n" for i, x in enumerate(seconds)))
    Path("t.jsonl").write_text("".join(json.dumps({"y": i % 2, "ts": x}) + "\n" for i, x in enumerate(seconds)))
    Path("ids.csv").write_text("y,ts\n" + "".join(f"{i % 2},{10**7 * x + 5}\n" for i, x in enumerate(range(40, 90))))
    files = ["t.csv", "t.jsonl"]
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"y": [i % 2 for i in range(60)], "ts": seconds}), "t.parquet")
        files.append("t.parquet")
    for file in files:
        for done in (vwlite("train", file, *ROLES, "-m", "m").err, vwlite("describe", file, "--label", "y").out):
            assert "ts: 60 different numbers become 1 as 32-bit floats" in done, file
            assert "--time ts" in done
            assert "--categorical ts" in done
    for command in (["train", "ids.csv", *ROLES, "-m", "m"], ["describe", "ids.csv", "--label", "y"]):
        done = vwlite(*command)
        assert "32-bit" not in done.out + done.err
