"""`vwlite tune`"""

import json
import os
import shlex
import signal
import time

import numpy as np
import pytest
from running import finish, start
from test_auto import lines_of, loss_on, write
from test_groups import NAMES, drawn

FEW = ("--try", "algorithm=auto,ftrl", "--try", "normalize=none,l2", "--try", "ftrl-beta=1")


def words_of(row: dict) -> list[str]:
    return shlex.split(row["command"])[1:]


def tuned(vwlite, *arguments: object, code: int = 0) -> dict:
    return json.loads(vwlite("tune", *arguments, "--json", "--quiet", code=code).out)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    lines = lines_of(1500)
    return write(folder / "train.vw", lines[:1000]), write(folder / "test.vw", lines[1000:])


def as_table(lines: list[str], *labels: str) -> list[str]:
    """labels: what is written for labels below and above 0."""
    rows = [",".join(["y", *(f"f{k}" for k in range(20))]) + "\n"]
    for line in lines:
        label, _, *words = line.replace("|a", "").split()
        values = dict(word.split(":") for word in words)
        rows.append(",".join([labels[float(label) > 0], *(values.get(f"f{k}", "") for k in range(20))]) + "\n")
    return rows


@pytest.mark.parametrize(
    ("loss", "table", "options"),
    [
        ("logistic", (), ()),
        ("logistic", ("no", "yes"), ("--label", "y")),
        ("logistic", ("0", "1"), ("--label", "y")),
        ("squared", (), ("--bits", "18")),
        ("poisson", (), ("--loss", "poisson")),
        ("quantile", (), ("--loss", "quantile", "--quantile-tau", "0.8")),
        ("huber", (), ("--loss", "huber", "--huber-delta", "0.1")),
        ("classes", (), ("--oaa", "3")),
    ],
)
def test_each_row_is_what_its_command_makes(vwlite, tmp_path, loss, table, options):
    """Nonzero weights of each, the loss of auto, the bytes of the best."""
    rng = np.random.default_rng(1)
    lines = lines_of(400, loss="squared" if loss == "classes" else loss)
    if loss == "classes":
        lines = [f"{rng.integers(1, 4) if k % 7 else 1 + k % 3} |a {'xyz'[k % 3]} w{k % 11}\n" for k in range(400)]
    path = write(tmp_path / ("d.csv" if table else "d.vw"), as_table(lines, *table) if table else lines)
    model, report = tmp_path / "m", tmp_path / "report"
    found = tuned(vwlite, path, *options, "-m", model, *FEW)
    best_bytes = model.read_bytes()
    front = found["front"]
    assert [r["loss"] for r in front] == sorted((r["loss"] for r in front), reverse=True)
    assert [r["nonzero_weights"] for r in front] == sorted({r["nonzero_weights"] for r in front})
    assert [r["best"] for r in front] == [False] * (len(front) - 1) + [True]
    gain = found["baseline"] - front[-1]["loss"]
    assert gain > 0
    good = [found["baseline"] - r["loss"] >= 0.95 * gain for r in front]
    assert [r["smallest"] for r in front].index(True) == good.index(True)
    for row in front:
        vwlite(*words_of(row), "--report", report, "--quiet")
        made = json.loads(report.read_text())["results"]
        assert made["nonzero_weights"] == row["nonzero_weights"]
        assert row["best"] == (model.read_bytes() == best_bytes)
    vwlite("train", path, *options, "--report", report, "--quiet")  # auto
    made = json.loads(report.read_text())
    auto = made["results"]["out_of_fold_" + ("log_loss" if loss == "classes" else "average_loss")]
    assert front[-1]["loss"] <= auto * (1 + 1e-12)
    assert found["baseline"] == pytest.approx(made["chosen"]["baseline"])
    assert [r["loss"] for r in front if "auto" in words_of(r)] in ([], [pytest.approx(auto)])
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["m", "report", os.path.basename(path)])


@pytest.mark.parametrize("name", ["d.csv", "d.txt"])
def test_texts_are_learned_without_the_ngrams_that_auto_tries(vwlite, tmp_path, name):
    """Nonzero weights of each are those of its command."""
    rng = np.random.default_rng(2)
    labels, begin, end = (("a", "b"), "", ",") if name == "d.csv" else (("a", "b", "c"), "__label__", " ")
    lines = ["y,t\n"] * (name == "d.csv")
    for k in range(150):
        label = labels[k % len(labels)]
        lines.append(f"{begin}{label}{end}{label * 2 if rng.random() < 0.8 else 'zz'} w{rng.integers(9)} so\n")
    how = ("--label", "y", "--text", "t") if name == "d.csv" else ("--format", "fasttext")
    found = tuned(vwlite, write(tmp_path / name, lines), *how, *FEW, "--try", "l1=0", "-m", tmp_path / "m")
    assert any("ftrl" in row["command"] for row in found["front"])
    for row in found["front"]:
        vwlite(*words_of(row), "--report", tmp_path / "report", "--quiet")
        made = json.loads((tmp_path / "report").read_text())["results"]
        assert made["nonzero_weights"] == row["nonzero_weights"]


def test_what_auto_derives_is_not_learned_by_others(tmp_path):
    """Also a run that continues has the rates and folds of one that was not killed."""
    rng = np.random.default_rng(4)
    rows = [(x, float(abs(x) < 1), rng.integers(9)) for x in rng.normal(size=600)]
    path = write(tmp_path / "d.csv", ["y,x,z\n", *(f"{y:g},{x:.3f},{z}\n" for x, y, z in rows)])
    command = ("tune", path, "--label", "y", "-m", tmp_path / "m", "--try", "algorithm=auto,adagrad", "-j", 1)
    whole, killed = finish(start(*command)), start(*command)
    assert whole.code == 0 and "adagrad" in whole.out, whole
    while b"rung 1" not in killed.stderr.readline():
        assert killed.poll() is None
    killed.kill()
    killed.communicate()
    done = finish(start(*command))
    assert "continuing with" in done.err and done.out == whole.out


def test_losses_are_those_of_the_models_on_the_file_of_validate(vwlite, data, tmp_path):
    train, test = data
    found = tuned(vwlite, train, "--validate", test, "-m", tmp_path / "m", "--try", "l1=0.001,0.003,0.01")
    assert {word for row in found["front"] for word in words_of(row)} >= {"--l1", "--validate"}
    for row in found["front"]:
        vwlite(*words_of(row), "--quiet")
        is_auto = "auto" in words_of(row)  # whose stack is judged by the other half of the file
        assert loss_on(vwlite, tmp_path / "m", test) == pytest.approx(row["loss"], rel=0.01 if is_auto else 1e-9)


def test_out_of_fold_means_that_no_fold_is_learned(vwlite, tmp_path):
    """Labels by chance, and a feature of its own for each example: what is learned by heart is worth nothing."""
    rng = np.random.default_rng(3)
    path = write(tmp_path / "d.vw", [f"{y} |a id{k}\n" for k, y in enumerate(rng.choice([-1, 1], 600))])
    found = tuned(vwlite, path, "--try", "algorithm=adagrad", "--try", "l1=0", "--try", "passes=4")
    assert found["front"][-1]["loss"] > 0.69


def test_groups_are_in_one_fold(vwlite, tmp_path):
    """Losses are those of new groups; the command of an algorithm without folds drops the column."""
    rows = [NAMES, *drawn(200, 0, 10)]
    path, model = write(tmp_path / "d.csv", [",".join(map(str, row)) + "\n" for row in rows]), tmp_path / "m"
    tries = ("--try", "l1=0", "--try", "normalize=none", "--try", "learning-rate=0.5", "--try", "passes=1")
    found = {}
    for option in ("--drop", "--group"):
        (row,) = tuned(vwlite, path, "--label", "y", option, "cust", "--try", "algorithm=adagrad", *tries)["front"]
        found[option] = row["loss"]
        assert words_of(row)[4:6] == ["--drop", "cust"]
    assert found["--group"] > 1.2 * found["--drop"]
    how = ("--label", "y", "--group", "cust")
    for name, more in (("adagrad", tries), ("auto", ())):
        (row,) = tuned(vwlite, path, *how, "--try", f"algorithm={name}", *more, "-m", model)["front"]
        best = model.read_bytes()
        assert row["command"].count("--group cust") == (name == "auto")
        vwlite(*words_of(row), "--report", tmp_path / "r", "--quiet")
        assert model.read_bytes() == best
    assert json.loads((tmp_path / "r").read_text())["results"]["out_of_fold_average_loss"] == row["loss"]


def test_the_front_does_not_depend_on_jobs_and_reaches_a_narrow_grid(vwlite, data, tmp_path):
    train, _ = data
    tries = ("--try", "algorithm=adagrad-rda", "--try", "l1=0.001,0.01", "--try", "learning-rate=0.1,1",
             "--try", "normalize=none", "--try", "passes=1,3")
    found = [vwlite("tune", train, *tries, "-j", jobs, "--quiet").out for jobs in (1, 3)]
    assert found[0] == found[1]
    assert all(len(line) <= 80 for line in found[0].splitlines() if train not in line)
    assert tuned(vwlite, train, *tries)["settings"] == 4
    joined = vwlite("tune", train, *FEW, "--quiet").out
    assert joined == vwlite("tune", train, *FEW, "-j", 5, "--quiet").out


def test_a_killed_run_continues(vwlite, data, tmp_path):
    train, _ = data
    model, journal = tmp_path / "m", tmp_path / "m.tune"
    whole = vwlite("tune", train, "-m", model, "--quiet").out
    expected = model.read_bytes()
    model.unlink()
    process = start("tune", train, "-m", model, "-j", 1)
    while b"rung 2" not in process.stderr.readline():
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert journal.exists() and not model.exists()
    kept = journal.read_bytes()
    done = vwlite("tune", train, "-m", model)
    assert "continuing with" in done.err and done.out == whole
    assert model.read_bytes() == expected and not journal.exists()
    journal.write_bytes(kept)
    assert "begins again" in vwlite("tune", train, "-m", model, "--bits", 20, *FEW).err
    journal.write_text("notes of somebody")
    assert "not a record" in vwlite("tune", train, "-m", model, code=73).err
    assert journal.read_text() == "notes of somebody"


def test_time_that_is_over_leaves_auto(vwlite, data, tmp_path):
    train, _ = data
    begin = time.monotonic()
    (row,) = tuned(vwlite, train, "--seconds", 0.001, "-m", tmp_path / "m")["front"]
    assert "auto" in words_of(row) and time.monotonic() - begin < 20
    vwlite("train", train, "-m", tmp_path / "auto", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "auto").read_bytes()


def test_an_interrupted_run_writes_the_best_so_far(data, tmp_path):
    train, _ = data
    process = start("tune", train, "-m", tmp_path / "m", "-j", 1)
    while b"rung 1" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.code == 130 and "--algorithm auto" in done.out and "best" in done.out
    assert (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "name files"),
        (("-",), 2, "name files"),
        (("/dev/null",), 2, "name files"),
        (("missing.vw",), 66, "missing.vw"),
        (("d.vw", "--loss", "hinge"), 2, "--loss hinge is given"),
        (("d.vw", "--try", "l1"), 2, "neither NAME=VALUE,VALUE nor NAME=LOW..HIGH:log"),
        (("d.vw", "--try", "l3=1"), 2, "no option that can be tried"),
        (("d.vw", "--try", "loss=hinge"), 2, "no option that can be tried"),
        (("d.vw", "--try", "l1=1,x"), 2, "'x' is not a number"),
        (("d.vw", "--try", "l1=-1"), 2, "out of range"),
        (("d.vw", "--try", "l1=1e-3..1e-6:log"), 2, "must be the smaller"),
        (("d.vw", "--try", "l1=0..1:log"), 2, "above 0 with :log"),
        (("d.vw", "--try", "l1=0..1"), 2, "needs :log or :lin"),
        (("d.vw", "--try", "normalize=a..b:lin"), 2, "not a range of numbers"),
        (("d.vw", "--try", "algorithm=adagard"), 2, "Did you mean"),
        (("d.vw", "--try", "algorithm=l1-ball"), 2, "needs --radius"),
        (("d.vw", "--try", "algorithm=pa"), 2, "cannot learn from --loss logistic"),
        (("d.vw", "--try", "algorithm=ftrl", "--try", "radius=3"), 2, "has no effect with --algorithm ftrl"),
        (("d.vw", "--try", "ftrl-beta=1", "--try", "delta=1"), 2, "no algorithm with --loss logistic takes that"),
        (("d.vw", "--try", "l1=0", "--try", "l1=1"), 2, "twice"),
        (("d.vw", "-m", "d.vw"), 2, "d.vw"),
        (("d.vw", "--group", "x"), 65, "VW text, which has no columns"),
        (("d.vw", "--group", "x", "--validate", "d.vw"), 2, "there are no folds"),
        (("d.vw", "--group", "x", "--tag", "y"), 2, "the group is the tag"),
        (("d.vw",), 65, "nothing to tune"),
        (("empty.vw",), 65, "nothing to tune"),
        (("one.vw",), 65, "nothing to tune"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(vwlite, folder, arguments, code, said):
    write(folder / "d.vw", ["1 |a x\n", "-1 |a y\n"] * 3)
    write(folder / "one.vw", [f"1 |a x{k}\n" for k in range(50)])
    write(folder / "empty.vw", [])
    done = vwlite("tune", *arguments, "--quiet", code=code)
    assert said in done.err and "Traceback" not in done.err and not done.out, done


def test_folds_without_examples_are_left_out(vwlite, tmp_path):
    """The same four lines again and again: some folds have none of them."""
    path = write(tmp_path / "d.vw", ["1 |a b:2 c\n", "-1 |a c:3 d\n", "1 |e f b\n", "-1 |e d\n"] * 30)
    found = tuned(vwlite, path, "--try", "algorithm=adagrad")
    assert "adagrad" in found["front"][-1]["command"]  # though no line is like those of another fold
