"""The two ways through `vwlite vw`, by the engine's loop and one example at a time, give the same bytes.

So do the two ways in which the weights of classes may lie in memory.
"""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import drawn
from vw_draws import Case, cases

from vwlite.vw import build as vw_build
from vwlite.vw import run as vw_run

TEXT = b"""1 |a x y:2 |b z
-1 0.5 'tag |a x |b w:0.25
1 2 0.5 second| u
|a x y

1 0 |b z
-1 -1 |b z
1 |a x:nan y
0.5 |a big:1e25 x
-1 |a x |b z:1
1 1 x|a
-1 |c:2 x y z
"""

PLAIN = [
    "",
    "--quiet",
    "-P 1",
    "-P 1.5",
    "--loss_function logistic --link logistic",
    "--loss_function hinge -q ab --l1 1e-3 --l2 1e-2",
    "--loss_function poisson",
    "--loss_function quantile --quantile_tau 0.2 --cubic aab",
    "--sgd -l 0.1",
    "--adaptive --initial_t 2 -l 0.1",
    "--normalized -b 4 --power_t 0.3",
    "--invariant -l 0.1 --noconstant",
    "-c -k --passes 5 --holdout_period 3",
    "-c -k --passes 5 --holdout_off --decay_learning_rate 0.8 --save_per_pass",
    "--holdout_after 5",
    "--holdout_after 5 -c -k --passes 6 --early_terminate 1 --predict_only_model",
    "--min_prediction -0.1",
    "-t",
    "--ignore a --interactions aa --permutations",
    "--keep b --constant 0.5 --initial_weight 0.1",
    "--sparse_l2 0.1",
    "--ngram 2 --examples 7",
    "--driver_output_off",
    "--ftrl --ftrl_alpha 50 -P 1",
    "--ftrl --l1 1e-2 --l2 0.1 --loss_function logistic --link logistic -q ab",
    "--ftrl -c -k --passes 5 --holdout_period 3 --ftrl_alpha 0.05",
    "--coin -P 1",
    "--coin --loss_function logistic -c -k --passes 4 --holdout_after 5 --save_per_pass",
    "--coin --min_prediction -0.1 --loss_function quantile --noconstant",
    "--pistol -P 1",
    "--pistol --loss_function hinge -b 4 --cubic aab",
    "--pistol -c -k --passes 5 --holdout_off --predict_only_model",
    "--freegrad -P 1",
    "--freegrad --restart --loss_function poisson",
    "--freegrad -c -k --passes 5 --holdout_period 3 --early_terminate 1",
    "--coin -t",
]


CLASSES = b"""1 |a x y:2 |b z
3 'tag |a x |b w:0.25
2 2 |a y second| u
|a x y
 'only_a_tag |a x

1 0 |b z
-1 |b z
2 0.125 'both |a x:nan y
3 |a big:1e25 x
03 |a x |b z:1
1 -1 x|a
2 1e0 |a y:0.5
3 1 |c:2 x y z
1 12345678901234567890 |a x
2  3 |a z
4 |a x y
"""

OAA = [
    "--oaa 4",
    "--oaa 3 --quiet",
    "--oaa 5 -P 1",
    "--oaa 9 -P 1",
    "--oaa 1 -P 1",
    "--oaa 4 --indexing 0 -P 1",
    "--oaa 4 --indexing 1 -P 1.5",
    "--oaa 4 --loss_function logistic -q ab",
    "--oaa 4 --loss_function hinge -b 3",
    "--oaa 4 -b 2",
    "--oaa 4 -b 1",
    "--oaa 4 --loss_function logistic --link logistic",
    "--oaa 4 -c -k --passes 5 --holdout_period 3",
    "--oaa 4 -c -k --passes 4 --holdout_off --save_per_pass --decay_learning_rate 0.7",
    "--oaa 4 --holdout_after 9 -P 1",
    "--oaa 4 --sgd -l 0.1 --noconstant",
    "--oaa 4 --adaptive --initial_t 3 -l 0.1",
    "--oaa 4 --normalized --power_t 0.3",
    "--oaa 4 --invariant -l 0.1 --predict_only_model",
    "--oaa 4 --sparse_l2 0.1",
    "--oaa 4 --min_prediction -0.2",
    "--oaa 4 --probabilities --loss_function logistic",
    "--oaa 4 --probabilities -P 1",
    "--oaa 4 --probabilities --loss_function logistic -l 30 -P 1 --indexing 0",
    "--oaa 4 --probabilities --loss_function logistic -c -k --passes 4 --holdout_period 4",
    "--oaa 4 --probabilities --loss_function logistic -t",
    "--oaa 4 --scores -P 1",
    "--oaa 4 --scores --loss_function logistic --holdout_after 7",
    "--oaa 4 --scores --probabilities --loss_function logistic",
    "--oaa 4 --scores --ftrl",
    "--oaa 4 --ftrl -P 1",
    "--oaa 4 --ftrl --ftrl_alpha 5 -c -k --passes 3 --loss_function logistic",
    "--oaa 4 -t",
    "--oaa 4 --ngram 2 --examples 12",
]


def outcome(
    folder: Path, text: bytes, arguments: list[str], quick: bool, monkeypatch: pytest.MonkeyPatch,
    *, side_by_side: bool = True, keeps: bool = False,
) -> list[bytes]:
    """Everything that a run leaves behind, and whether it was quick. keeps: what is there already stays."""
    folder.mkdir(exist_ok=True)
    for file in () if keeps else folder.iterdir():
        file.unlink()
    raw = [] if "--oaa" in arguments else ["-r", "r"]
    (folder / "train").write_bytes(text)
    took = []
    before = os.getcwd()
    os.chdir(folder)
    try:
        with (
            monkeypatch.context() as patch,
            open("out", "w", errors="surrogateescape") as out,
            open("err", "w") as err,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            plain = vw_run.is_plain
            patch.setattr(vw_run, "is_plain", lambda run: took.append(plain(run)) or (quick and took[-1]))
            if not side_by_side:
                patch.setattr(vw_build, "fits_classes", lambda *_: False)
            code = vw_run.main(["-d", "train", "-p", "p", *raw, "-f", "model", *arguments])
    finally:
        os.chdir(before)
    files = [file for file in sorted(folder.iterdir()) if "cache" not in file.name]
    return [b"%d %d" % (code, any(took)), *(file.name.encode() + b": " + file.read_bytes() for file in files)]


def compare(folder: Path, text: bytes, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the run could be quick."""
    quick = outcome(folder, text, arguments, True, monkeypatch)
    slow = outcome(folder, text, arguments, False, monkeypatch)
    assert quick == slow
    return quick[0].endswith(b"1")


@pytest.mark.parametrize("arguments", PLAIN)
def test_plain_runs_are_the_same_both_ways(arguments, tmp_path, monkeypatch):
    assert compare(tmp_path / "w", TEXT * 3, arguments.split(), monkeypatch)


@pytest.mark.drawn
def test_drawn_runs_are_the_same_both_ways(tmp_path, monkeypatch):
    taken = 0

    @settings(max_examples=drawn(60), derandomize=True, database=None, deadline=None, suppress_health_check=HealthCheck)
    @given(cases())
    def check(case: Case) -> None:
        nonlocal taken
        taken += compare(tmp_path / "w", case.train, case.arguments, monkeypatch)

    check()
    assert taken > drawn(60) // 4


def compare_classes(folder: Path, text: bytes, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the run could be quick."""
    quick = outcome(folder, text, arguments, True, monkeypatch)
    slow = outcome(folder, text, arguments, False, monkeypatch)
    separate = outcome(folder, text, arguments, False, monkeypatch, side_by_side=False)
    assert quick == slow
    assert slow[1:] == separate[1:] and slow[0].split()[0] == separate[0].split()[0]
    return quick[0].endswith(b"1")


@pytest.mark.parametrize("arguments", OAA)
def test_classes_are_the_same_both_ways(arguments, tmp_path, monkeypatch):
    taken = compare_classes(tmp_path / "w", CLASSES * 3, arguments.split(), monkeypatch)
    assert taken == (not any(words in arguments for words in ("--link", "-b 1", "--scores --ftrl", "--sparse_l2")))


@pytest.mark.parametrize("label", ["0", "4", "a", "-2", "2147483648", "1 2 3", "1 nan", "\xff"])
def test_unusual_labels_of_classes_are_the_same_both_ways(label, tmp_path, monkeypatch):
    text = CLASSES + label.encode("latin-1") + b" |a x y\n" + CLASSES
    for more in ("", " -t", " --named_labels 1,2,3,b", " --probabilities --loss_function logistic"):
        assert compare_classes(tmp_path / "w", text, f"--oaa 4 -P 1{more}".split(), monkeypatch)


@pytest.mark.parametrize("names", ["a,b,c", "b,a,c", "a,b", "a,b,c,d", "a,b,b"])
def test_named_labels_are_the_same_both_ways(names, tmp_path, monkeypatch):
    text = b"a |f x y\nb 2 |f y\nc 'tag |f x z\n|f x\nq |f z\nb |f x y z\na |f z\nc |f y\n" * 3
    for more in [], ["--probabilities"]:
        arguments = ["--oaa", "3", "--named_labels", names, "-P", "1", *more]
        assert compare_classes(tmp_path / "w", text, arguments, monkeypatch) == (names in ("a,b,c", "b,a,c"))


def test_labels_that_count_from_0_are_the_same_both_ways(tmp_path, monkeypatch):
    text = b"1 |f x y\n2 |f y\n1 |f x\n0 |f z\n2 |f x z\n3 |f y\n" * 3
    for more in ("", " --named_labels p,q,r", " -c -k --passes 3 --holdout_off", " --probabilities", " --scores"):
        assert compare_classes(tmp_path / "w", text, f"--oaa 3 -P 1{more}".split(), monkeypatch)


@pytest.mark.parametrize("arguments", ["", "-t", "--preserve_performance_counters", "--predict_only_model"])
def test_models_of_classes_continue_the_same_both_ways(arguments, tmp_path, monkeypatch):
    folder = tmp_path / "w"
    text = CLASSES.replace(b"4 |a x y\n", b"")
    for first in ("--oaa 3 -b 8", "--oaa 3 -b 8 --ftrl", "--oaa 3 -b 8 --adaptive"):
        found = []
        for quick, side_by_side in ((True, True), (False, True), (False, False)):
            outcome(folder, text, first.split(), False, monkeypatch)
            (folder / "model").rename(folder / "first")
            again = ["--oaa", "3", "-i", "first", "--readable_model", "text", *arguments.split()]
            found.append(outcome(folder, text, again, quick, monkeypatch, side_by_side=side_by_side, keeps=True))
        assert found[0] == found[1] and found[1][1:] == found[2][1:]


@pytest.mark.drawn
def test_drawn_streams_of_classes_are_the_same_both_ways(tmp_path, monkeypatch):
    words = st.sampled_from(["1", "2", "3", "4", "0", "-1", "", "1 0.5", "2 0", "3 7"])
    feature = st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(["", ":2", ":0.5", ":-1e3", ":1e22"])).map("".join)
    lines = st.tuples(words, st.sampled_from([" ", " 't "]), st.lists(feature, max_size=4).map(" ".join))
    taken = 0

    @settings(max_examples=drawn(60), derandomize=True, database=None, deadline=None, suppress_health_check=HealthCheck)
    @given(st.lists(lines.map(lambda parts: "{}{}|n {}\n".format(*parts)), max_size=20), st.sampled_from(OAA))
    def check(text: list[str], arguments: str) -> None:
        nonlocal taken
        taken += compare_classes(tmp_path / "w", "".join(text).encode(), arguments.split(), monkeypatch)

    check()
    assert taken > drawn(60) // 2
