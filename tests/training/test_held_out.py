"""`vwlite train --holdout-to`: lines that are not learned but written, to evaluate a merge."""

import json
import os
import random
from functools import partial
from pathlib import Path

import pytest

from vwlite.input.reader import read_blocks
from vwlite.model import read_model

BASIC = ("--loss", "logistic", "--algorithm", "adagrad", "--quiet")


pytestmark = pytest.mark.usefixtures("folder")


def vw_lines(count, seed=1):
    chance = random.Random(seed)
    return [f"{chance.choice([-1, 1])} '{i} | {chance.choice('abc')} {chance.choice('xyz')}:0.5" for i in range(count)]


def libsvm_lines(count):
    chance = random.Random(2)
    return [f"{chance.choice([-1, 1])} {chance.randrange(1, 9)}:1 {chance.randrange(10, 19)}:0.5" for _ in range(count)]


def json_lines(count):
    chance = random.Random(3)
    return [json.dumps({"y": chance.choice([-1, 1]), "a": chance.choice("pq"), "b": i}) for i in range(count)]


def csv_records(count):
    """Of one line or several."""
    chance = random.Random(4)
    texts = ("plain", '"in\ntwo"', '"in\r\nthree,\n""lines"""', "")
    return [f"{chance.choice([-1, 1])},{chance.choice(texts)},{i}" for i in range(count)]


def same_model(one, other):
    a, b = read_model(one), read_model(other)
    assert (a.keys.tolist(), a.weights.tolist(), a.rule) == (b.keys.tolist(), b.weights.tolist(), b.rule)
    assert {n: x.tolist() for n, x in a.state.items()} == {n: x.tolist() for n, x in b.state.items()}
    assert a.counters["examples"] == b.counters["examples"]


KINDS = {
    "vw": (vw_lines, "", ()),
    "libsvm": (libsvm_lines, "", ()),
    "jsonl": (json_lines, "", ("--label", "y")),
    "csv": (csv_records, "y,text,n\n", ("--label", "y")),
}


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_nth_line_is_written_and_not_learned(vwlite, monkeypatch, kind, threads, end):
    """The same as learning from the rest of the lines, however the text is cut into blocks."""
    make, head, options = KINDS[kind]
    lines = make(103)
    Path(f"all.{kind}").write_bytes((head + "\n".join(lines) + end).encode())
    rest = [line for i, line in enumerate(lines, 1) if i % 7]
    Path(f"rest.{kind}").write_bytes((head + "".join(f"{line}\n" for line in rest)).encode())
    monkeypatch.setattr("vwlite.input.pipeline.read_blocks", partial(read_blocks, block_size=200))
    command = ["train", f"all.{kind}", *BASIC, *options, "--threads", threads]
    vwlite(*command, "-m", "m", "--holdout-to", f"held.{kind}", "--holdout-period", 7)
    expected = head + "".join(f"{line}\n" for i, line in enumerate(lines, 1) if i % 7 == 0)
    assert Path(f"held.{kind}").read_bytes().decode() == expected
    vwlite("train", f"rest.{kind}", *BASIC, *options, "-m", "rest")
    same_model("m", "rest")
    assert not [name for name in os.listdir() if name.startswith(".")]
    vwlite("train", f"all.{kind}", *BASIC, *options, "-m", "other")
    vwlite("merge", "m", "other", "-o", "merged", "--holdout", f"held.{kind}", "--report", "r", "--quiet")
    assert json.loads(Path("r").read_text())["results"]["holdout_examples"] == 103 // 7


def test_every_fiftieth_if_nothing_else_is_said(vwlite):
    lines = vw_lines(120)
    Path("d").write_text("".join(f"{line}\n" for line in lines))
    vwlite("train", "d", *BASIC, "--holdout-to", "held", "--report", "r")
    assert Path("held").read_text() == f"{lines[49]}\n{lines[99]}\n"
    report = json.loads(Path("r").read_text())
    assert (report["options"]["holdout_period"], report["options"]["holdout_to"]) == (50, "held")
    assert report["results"]["number_of_examples"] == 118
    vwlite("train", "d", *BASIC, "--holdout-to", "held", "--passes", 3, "--holdout-period", 40, "--report", "r")
    assert Path("held").read_text() == f"{lines[39]}\n{lines[79]}\n{lines[119]}\n"
    assert json.loads(Path("r").read_text())["passes"][0]["holdout"] is not None
    Path("d").write_text("".join(f"{line}\n" for line in lines[:20]))
    vwlite("train", "d", *BASIC, "--holdout-to", "held")
    assert Path("held").read_text() == ""


def test_the_lines_of_several_files_continue(vwlite):
    """Blank lines count and are not written; bad ones that are skipped do not count."""
    lines = vw_lines(11)
    lines[5] = ""
    Path("a").write_text("".join(f"{line}\n" for line in lines[:4]) + "x y | bad\n")
    Path("b").write_text("".join(f"{line}\n" for line in lines[4:]))
    vwlite("train", "a", "b", *BASIC, "--on-error", "skip", "--holdout-to", "held", "--holdout-period", 3)
    assert Path("held").read_text() == f"{lines[2]}\n{lines[8]}\n"
    Path("c").write_text("".join(f"{line}\n" for line in libsvm_lines(9)))
    said = vwlite("train", "a", "c", *BASIC, "--on-error", "skip", "--holdout-to", "held", "-m", "m", code=65).err
    assert said.endswith(
        "c: its format differs from that of a, so held cannot have both: train on each by itself\n"
    )
    assert Path("held").read_text() == f"{lines[2]}\n{lines[8]}\n"  # as it was
    for name, head in (("d.csv", "y,a,b\n"), ("e.csv", "y,b,a\n")):
        Path(name).write_text(head + "1,2,3\n-1,3,4\n")
    said = vwlite("train", "d.csv", "e.csv", "--label", "y", *BASIC, "--holdout-to", "new", code=65).err
    assert "e.csv: its format differs from that of d.csv" in said
    assert not Path("new").exists()
    Path("e.csv").write_text("y,a,b\n" + "1,2,5\n-1,3,6\n")
    vwlite("train", "d.csv", "e.csv", "--label", "y", *BASIC, "--holdout-to", "new", "--holdout-period", 2)
    assert Path("new").read_text() == "y,a,b\n-1,3,4\n-1,3,6\n"


def test_a_cache_is_read_only_where_lines_are_not_requested(vwlite):
    Path("d").write_text("".join(f"{line}\n" for line in vw_lines(120)))
    vwlite("train", "d", *BASIC, "-c")
    said = vwlite("train", "d", *BASIC, "-c", "--holdout-to", "held", "-m", "m").err
    why = "the lines for --holdout-to are only in the text"
    assert said == f"cache d.vwlite-cache is not used: {why}; it is rebuilt\n"
    assert vwlite("train", "d", *BASIC, "-c", "-m", "all").err == ""  # which has all lines
    vwlite("train", "d", *BASIC, "-m", "direct")
    assert Path("all").read_bytes() == Path("direct").read_bytes()


def test_what_cannot_be_held_out(vwlite):
    Path("d").write_text("".join(f"{line}\n" for line in vw_lines(120)))
    said = vwlite("train", "d", *BASIC, "--holdout-to", "held", "--holdout-off", code=2).err
    assert said == "--holdout-off and --holdout-to cannot be used together\n"
    said = vwlite("train", "d", *BASIC, "--holdout-to", "-", code=2).err
    assert said == "--holdout-to -: standard output has the results; name a file\n"
    assert "--holdout-to" in vwlite("train", "d", *BASIC, "--holdout-to", "d", code=2).err
    assert "--holdout-to" in vwlite("train", "d", *BASIC, "-m", "m", "--holdout-to", "m", code=2).err
    Path("rows.parquet").write_bytes(b"PAR1" + bytes(100))
    said = vwlite("train", "rows.parquet", "--label", "y", *BASIC, "--holdout-to", "held", code=2).err
    assert said == "rows.parquet: --holdout-to writes lines, and Parquet has none: convert it with vwlite convert\n"
    Path("d").write_text("1 | a\n" * 60 + "x y z | a\n")
    assert vwlite("train", "d", *BASIC, "--holdout-to", "held", "-m", "m", code=65).err.startswith("d:61:")
    assert sorted(os.listdir()) == ["d", "rows.parquet"]
