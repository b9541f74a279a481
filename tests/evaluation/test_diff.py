"""`vwlite diff`: its counts against what `vwlite weights` and `predict` print, its sentences, its errors."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import GD

LEARN = [*GD, "--quiet"]
TWO = ["--loss", "logistic"]


def write_data(label: str, n: int = 600) -> None:
    """t.vw; every seventh line has no label."""
    chance = np.random.default_rng(5)
    lines = []
    for i in range(n):
        a, b = chance.integers(0, 6, 2)
        z = a - b + chance.normal()
        y = {"two": 1 if z > 0 else -1, "number": f"{z:.3f}", "class": f"c{min(max(int(z + 2), 0), 3)}"}[label]
        lines.append(f"{'' if i % 7 == 3 else y} |user a{a} |page b{b} x:{a - 2.5}\n")
    Path("t.vw").write_text("".join(lines))


def differing(vwlite, *options: str) -> dict:
    return json.loads(vwlite("diff", "a", "b", "--json", *options).out)


def weights_of(vwlite, model: str) -> dict[tuple, float]:
    found = json.loads(vwlite("weights", model, "--all", "--json").out)
    return {(w["index"], w.get("class", "")): w["weight"] for w in found}


@pytest.mark.parametrize("kind", ["two", "number", "class"])
def test_counts_are_those_of_weights_and_predict(vwlite, kind):
    write_data(kind)
    options = {"two": TWO, "number": [], "class": ["--oaa", "4", "--classes", "c0,c1,c2,c3"]}[kind]
    vwlite("train", *LEARN, *options, "t.vw", "-m", "a", "--names")
    other = ["--algorithm", "adagrad", "--quiet", "--l1", "0.01"]
    swapped = ["--oaa", "4", "--classes", "c3,c1,c2,c0"] if kind == "class" else options
    vwlite("train", *other, *swapped, "t.vw", "-m", "b", "--ignore", "p")
    facts = differing(vwlite, "t.vw", "--top", "1000")
    a, b = (weights_of(vwlite, model) for model in "ab")
    keys = sorted(a.keys() | b.keys())
    x, y = (np.array([model.get(key, 0) for key in keys]) for model in (a, b))
    found = facts["weights"]
    expected = {"came": (x == 0) & (y != 0), "went": (x != 0) & (y == 0), "changed": (x != 0) & (y != 0) & (x != y)}
    assert {name: found[name] for name in expected} == {name: both.sum() for name, both in expected.items()}
    assert {(w["index"], w["class"]): w["change"] for w in found["largest"]} == {
        key: v - u for key, u, v in zip(keys, x, y, strict=True) if u != v
    }
    sizes = [abs(w["change"]) for w in found["largest"]]
    assert sizes == sorted(sizes, reverse=True)
    assert any(w["names"] == ["page^b3"] for w in found["largest"])
    if kind == "class":
        assert sum(one["went"] for one in found["classes"].values()) == found["went"]
    link = ["--link", "identity"] if kind == "two" else []
    p, q = ([line.split()[0] for line in vwlite("predict", "-m", m, "t.vw", *link).out.splitlines()] for m in "ab")
    labels = [line.split("|")[0].strip() for line in Path("t.vw").read_text().splitlines()]
    sign = (lambda x: float(x) > 0) if kind == "two" else (lambda x: x)
    flips = [i for i in range(len(p)) if sign(p[i]) != sign(q[i])]
    known = [i for i in flips if labels[i]]
    predictions = facts["predictions"]
    assert (predictions["examples"], predictions["differ"], predictions["labelled"]) == (600, len(flips), len(known))
    assert {line["line"] for line in predictions["lines"]} == {f"t.vw:{i + 1}" for i in flips}
    if kind == "number":
        x, y, z = (np.array([float(m[i]) for i in known]) for m in (p, q, labels))
        assert predictions["a_better"] == pytest.approx(np.sum(abs(x - z) < abs(y - z)), abs=1)  # digits of predict
    else:
        right = [sum(sign(m[i]) == sign(labels[i]) for i in known) for m in (p, q)]
        assert [predictions["a_better"], predictions["b_better"]] == right
    assert facts["options"]["algorithm"] == ["gd", "adagrad"]
    out = vwlite("diff", "a", "b", "t.vw", "--top", "1000").out
    assert max(map(len, out.splitlines())) <= 80


def test_equal_models_do_not_differ(vwlite):
    write_data("two")
    for model in "ab":
        vwlite("train", *LEARN, *TWO, "t.vw", "-m", model)
    facts = differing(vwlite, "t.vw")
    assert (facts["options"], facts["weights"]["largest"], facts["predictions"]["differ"]) == ({}, [], 0)
    assert differing(vwlite)["predictions"] == {}
    empty = Path("empty.vw")
    empty.touch()
    vwlite("train", *LEARN, "empty.vw", "-m", "b", "--allow-empty", "--no-constant")
    assert differing(vwlite)["weights"]["came"] == 0


@pytest.mark.parametrize(
    ("options", "data", "code", "sentence"),
    [
        (["--bits", "20"], [], 65, "a and b cannot be compared: --bits 18 and 20 number features differently"),
        (["--bits", "20"], ["t.vw"], 0, "weights are not compared: --bits 18 and 20"),
        (["--oaa", "2"], ["o.vw"], 65, "one of the models has classes, the other has none"),
        (["--normalize", "l2"], [], 0, "different normalization"),
        ([], ["-"], 2, "standard input only once"),
        ([], ["none.vw"], 66, "none.vw: No such file"),
        ([], ["bad.vw"], 65, "bad.vw:1:1: label 'word'"),
    ],
)
def test_what_cannot_be_compared_is_said(vwlite, options, data, code, sentence):
    write_data("two")
    Path("o.vw").write_text("1 |a b\n2 |a c\n")
    Path("bad.vw").write_text("word |user a1\n")
    vwlite("train", *LEARN, *TWO, "t.vw", "-m", "a", "--bits", "18")
    source = "o.vw" if "--oaa" in options else "t.vw"
    vwlite("train", *LEARN, *TWO, source, "-m", "b", *(options if "--bits" in options else ["--bits", "18", *options]))
    found = vwlite("diff", "a", "b", *data, code=code)
    assert sentence in found.err and "Traceback" not in found.err


def test_a_class_that_only_one_model_knows(vwlite):
    Path("t.vw").write_text("x |a b\ny |a c\nz |a d\n")
    vwlite("train", *LEARN, "t.vw", "-m", "a", "--oaa", "3", "--classes", "x,y,z")
    Path("u.vw").write_text("x |a b\ny |a c\nw |a d\n")
    vwlite("train", *LEARN, "u.vw", "-m", "b", "--oaa", "3", "--classes", "y,x,w")
    found = vwlite("diff", "a", "b", "t.vw", "--json")
    assert "only the weights of the classes of both" in found.err
    facts = json.loads(found.out)
    assert [*facts["weights"]["classes"]] == ["x", "y"]
    assert [(line["label"], line["a"], line["b"]) for line in facts["predictions"]["lines"]] == [("z", "z", "w")]
