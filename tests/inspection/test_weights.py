"""`vwlite weights`: names, classes, JSON; what is not known."""

import json

import numpy as np
import pytest
from running import GD
from test_feature_names import slow_names

from vwlite.hashing import feature_hash
from vwlite.model import read_model

TEXT = "1 |user anna:2 berta |page home\n-1 |user carl |page shop:0.5\n1 |user anna |page shop home\n" * 3
CLASSES = "red |user anna:2\ngreen |user carl |page shop:0.5\nblue |user anna |page shop home\n" * 3


@pytest.fixture(autouse=True)
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text(TEXT)
    (tmp_path / "classes").write_text(CLASSES)
    return tmp_path


def cells(text):
    return [line.split("\t") for line in text.splitlines()]


def test_names_come_last(vwlite):
    vwlite("train", *GD, "data", "-q", "up", "-m", "plain", "--quiet")
    vwlite("train", *GD, "data", "-q", "up", "--names", "-m", "m", "--quiet")
    plain, named = (cells(vwlite("weights", model, "--all").out) for model in ("plain", "m"))
    assert [row[:2] for row in named] == plain
    names = dict(slow_names(TEXT.encode(), read_model("m").settings))
    names[11650396] = b"Constant"
    assert {int(row[0]): row[2].encode() for row in named} == names


def test_as_json(vwlite):
    vwlite("train", *GD, "data", "-b", "2", "--names", "-m", "m", "--quiet")
    rows = cells(vwlite("weights", "m").out)
    found = json.loads(vwlite("weights", "m", "--json").out)
    assert [[str(x["index"]), repr(x["weight"]), *x["names"]] for x in found] == rows
    assert any(len(x["names"]) > 1 for x in found)
    vwlite("train", *GD, "classes", "--oaa", "3", "--classes", "auto", "-m", "c", "--quiet")
    found = json.loads(vwlite("weights", "c", "--json").out)
    assert [[str(x["index"]), x["class"], repr(x["weight"])] for x in found] == cells(vwlite("weights", "c").out)
    vwlite("train", *GD, "data", "--no-constant", "-m", "m", "--quiet")
    (found,) = json.loads(vwlite("weights", "m", "--json", "--feature", "no^body").out)
    assert found == {"index": feature_hash(b"body", b"no"), "weight": None, "names": ["no^body"]}
    (found,) = json.loads(vwlite("weights", "m", "--json", "--feature", "user^anna").out)
    assert found["weight"] == float(vwlite("weights", "m", "--feature", "user^anna").out.split("\t")[1])


def test_nothing_is_an_empty_array(vwlite, at):
    (at / "nothing").write_text("1 |a b\n")
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    assert json.loads(vwlite("weights", "m", "--contains", "nobody", "--json").out) == []
    assert vwlite("weights", "m", "--contains", "nobody").out == ""


def test_each_class_by_itself(vwlite):
    vwlite("train", *GD, "classes", "--oaa", "3", "--classes", "auto", "-m", "c", "--names", "--quiet")
    rows = cells(vwlite("weights", "c", "--by-class", "--top", "2").out)
    assert [row[1] for row in rows] == ["red", "red", "green", "green", "blue", "blue"]
    with np.load("c", allow_pickle=False) as arrays:
        weights = np.abs(arrays["weights"])
    for k in range(3):
        sizes = [abs(float(row[2])) for row in rows[2 * k : 2 * k + 2]]
        assert sizes == sorted(weights[:, k], reverse=True)[:2]
    every = vwlite("weights", "c", "--by-class", "--all").out.splitlines()
    assert sorted(every) == sorted(vwlite("weights", "c", "--all").out.splitlines())
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    assert "m has no classes" in vwlite("weights", "m", "--by-class", code=2).err


def test_features_that_contain_a_text(vwlite):
    vwlite("train", *GD, "data", "-q", "up", "--names", "-m", "m", "--quiet")
    every = cells(vwlite("weights", "m", "--all").out)
    for text in ("anna", "^", "*", "shop", "Constant"):
        found = cells(vwlite("weights", "m", "--contains", text, "--all").out)
        assert found == [row for row in every if text in row[2] and row[2] != "Constant"]
    assert len(cells(vwlite("weights", "m", "--contains", "user", "--top", "2").out)) == 2
    vwlite("train", *GD, "data", "-m", "n", "--quiet")
    assert "n has no names of features" in vwlite("weights", "n", "--contains", "a", code=2).err


def test_crosses_are_found_by_name_with_and_without_names(vwlite):
    for more in ([], ["--names"]):
        for hashing in ([], ["--hash", "all"]):
            vwlite(
                "train", *GD, "data", "-q", "up", "--cubic", "uup", "-b", "20", "-m", "m", "--quiet", *more, *hashing
            )
            stored = {row[0]: row[1] for row in cells(vwlite("weights", "m", "--all").out)}
            for name in ("user^anna*page^home", "page^home*user^anna*user^berta", "page^shop"):
                done = vwlite("weights", "m", "--feature", name)
                ((index, weight, shown),) = cells(done.out)
                assert shown == name and done.err == "" and stored[index] == weight


@pytest.mark.parametrize("more", [[], ["--names"]], ids=["without", "with"])
def test_crosses_of_namespaces_by_name_are_found(vwlite, more):
    vwlite("train", *GD, "data", "-q", "user,page", "-q", "page,page", "-b", "20", "-m", "m", "--quiet", *more)
    stored = {row[0]: row[1] for row in cells(vwlite("weights", "m", "--all").out)}
    for name in ("user^anna*page^home", "page^shop*page^home", "page^shop*page^shop"):
        done = vwlite("weights", "m", "--feature", name)
        ((index, weight, _),) = cells(done.out)
        assert stored[index] == weight and done.err == ""


def test_what_is_unknown_has_no_weight(vwlite):
    vwlite("train", *GD, "data", "-m", "m", "--quiet")
    done = vwlite("weights", "m", "--feature", "user^nobody", "--feature", "user^anna")
    assert [row[1] == "unknown" for row in cells(done.out)] == [True, False]
    assert done.err == "user^nobody: m has no such feature: unseen in training, or its weight is zero\n"
    vwlite("train", "data", "--algorithm", "eg", "--features", "40", "--radius", "2", "-m", "e", "--quiet")
    done = vwlite("weights", "e", "--feature", "user^nobody")
    assert float(cells(done.out)[0][1]) > 0 and "its weight is that of all unseen features" in done.err
    vwlite("train", *GD, "classes", "--oaa", "3", "--classes", "auto", "-m", "c", "--quiet")
    rows = cells(vwlite("weights", "c", "--feature", "user^nobody").out)
    assert [row[1:3] for row in rows] == [["red", "unknown"], ["green", "unknown"], ["blue", "unknown"]]


def test_a_name_that_two_indices_have_shows_both(vwlite):
    """As a table that somebody wrote may say."""
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    vwlite("export", "m", "--to", "tsv", "-o", "t")
    with open("t", "a") as table:
        table.write("7\t1.5\tuser^anna\tother\n")
    vwlite("import", "t", "-m", "n")
    rows = cells(vwlite("weights", "n", "--feature", "user^anna").out)
    assert ["7", "1.5", "user^anna"] in rows and len(rows) == 2
    assert cells(vwlite("weights", "n", "--feature", "other").out) == [["7", "1.5", "other"]]


@pytest.mark.parametrize(
    "options",
    [["--top", "1", "--all"], ["--all", "--feature", "a"], ["--feature", "a", "--contains", "b"],
     ["--feature", "a", "--by-class"], ["--top", "0"]],
    ids=str,
)
def test_options_that_mean_nothing_together(vwlite, options):
    vwlite("train", *GD, "data", "--names", "-m", "m", "--quiet")
    vwlite("weights", "m", *options, code=2)


def rows(text):
    return [(int(index), float(weight)) for index, weight in (line.split("\t") for line in text.splitlines())]


def test_weights_fall_and_read_back_exactly(vwlite, sample_model):
    with np.load("m", allow_pickle=False) as arrays:
        stored = dict(zip(arrays["keys"].tolist(), arrays["weights"].tolist(), strict=True))
    found = rows(vwlite("weights", "m", "--all").out)
    assert dict(found) == stored and len(found) == len(stored)
    assert found == sorted(found, key=lambda row: (-abs(row[1]), row[0]))
    assert rows(vwlite("weights", "m", "--top", "2").out) == found[:2]
    assert vwlite("weights", "m").out == vwlite("weights", "m", "--top", "20").out


def test_weights_leave_zeros_out_unless_all_are_requested(vwlite, sample_model):
    command = "train d.vw --algorithm truncated-gradient --l1 0.05 --period 4 -m t --quiet"
    vwlite(*command.split())
    every, some = (rows(vwlite("weights", "t", *more).out) for more in (["--all"], []))
    assert 0 < len(some) <= len(every)
    assert some == [row for row in every if row[1]]


def test_weights_of_features_by_name(vwlite, sample_model):
    stored = dict(rows(vwlite("weights", "m", "--all").out))
    done = vwlite("weights", "m", "--feature", "a^x", "--feature", "b^never seen\x1b")
    first, second = (line.split("\t") for line in done.out.splitlines())
    assert int(first[0]) == feature_hash(b"x", b"a")
    assert float(first[1]) == stored[int(first[0])] != 0
    assert first[2] == "a^x"
    assert second[1:] == ["unknown", "b^never seen\x1b"]
    assert done.err == "b^never seen\\x1b: m has no such feature: unseen in training, or its weight is zero\n"
    assert "cannot be used together" in vwlite("weights", "m", "--top", "1", "--all", code=2).err
