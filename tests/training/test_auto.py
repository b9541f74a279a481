"""`vwlite train --algorithm auto`"""

import json
import re
from array import array
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from running import finish, standard_input, start

from vwlite.core.auto.stream import Reservoir
from vwlite.model.absent import absent_weights
from vwlite.model.header import in_json
from vwlite.model.read import read_model
from vwlite.training.auto.final_choice import FinalChoice
from vwlite.training.auto.selection import kept
from vwlite.training.auto.trainer import AutoTrainer

LOGISTIC = ("--algorithm", "auto", "--loss", "logistic")


def model_of(path):
    return read_model(str(path))


def lines_of(n: int, seed: int = 0, *, loss: str = "logistic", offset: float = 0.0, size: float = 1.0) -> list[str]:
    """VW text of a planted model over twenty columns, some of them rare."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, 20)
    found = []
    for i in range(n):
        has = rng.random(20) < np.linspace(1, 0.1, 20)
        x = np.round(rng.normal(0, 1, 20), 3)
        score = (truth * x)[has].sum() * 0.7
        if loss == "logistic":
            y = "1" if rng.random() < 1 / (1 + np.exp(-score)) else "-1"
        elif loss == "poisson":
            y = str(rng.poisson(np.exp(min(0.3 * score, 3))))
        else:
            y = repr(float((score + rng.normal(0, 0.3)) * size + offset))
        features = " ".join(f"f{k}:{x[k]}" for k in np.flatnonzero(has))
        found.append(f"{y} 'line{i}|a {features}\n")
    return found


def write(path, lines) -> str:
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("auto")
    lines = lines_of(2000)
    return write(folder / "train.vw", lines[:1500]), write(folder / "test.vw", lines[1500:])


def loss_on(vwlite, model, test) -> float:
    report = model.with_suffix(".json")
    vwlite("predict", "-m", model, test, "-p", "/dev/null", "--report", report, "--quiet")
    return json.loads(report.read_text())["results"]["average_loss"]


def test_it_is_as_good_as_gd_with_its_best_rate(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "auto")
    single = []
    for rate in ("0.1", "0.5", "2"):
        vwlite("train", train, "--loss", "logistic", "-l", rate, "--passes", "10", "-m", tmp_path / "gd", "--quiet")
        single.append(loss_on(vwlite, tmp_path / "gd", test))
    assert loss_on(vwlite, tmp_path / "auto", test) < 1.03 * min(single)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_the_same_bytes_for_any_number_of_threads_and_from_a_cache(vwlite, data, tmp_path, threads):
    train, _ = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "-p", tmp_path / "p")
    for _ in range(2):
        vwlite("train", train, *LOGISTIC, "-m", tmp_path / "n", "-p", tmp_path / "q", "--threads", threads,
               "--cache-file", tmp_path / "c")
        assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
        assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_a_table_gives_the_weights_of_the_text(vwlite, tmp_path):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(5, 2, (400, 3)), 2)
    y = np.where(x @ [1, -1, 0.5] + rng.normal(0, 1, 400) > 2.5, 1, -1)
    rows = [f"{label},{a},{b},{c}\n" for label, (a, b, c) in zip(y, x, strict=True)]
    table = write(tmp_path / "t.csv", ["y,a,b,c\n", *rows])
    (tmp_path / "converted.vw").write_text(vwlite("convert", table, "--label", "y").out)
    vwlite("train", table, "--label", "y", *LOGISTIC, "-m", tmp_path / "table")
    vwlite("train", tmp_path / "converted.vw", *LOGISTIC, "-m", tmp_path / "text")
    one, other = model_of(tmp_path / "table"), model_of(tmp_path / "text")
    found, expected = (dict(zip(m.keys, m.weights, strict=True)) for m in (one, other))
    absents = found.keys() - expected.keys()  # those of the columns' absent cells
    assert absents == absent_weights(one).keys() and len(absents) == 3
    assert {key: weight for key, weight in found.items() if key not in absents} == expected


def test_predictions_are_out_of_fold_in_the_order_of_the_data(vwlite, tmp_path):
    """Random labels cannot be predicted; but learned by heart, as there are more features than lines."""
    rng = np.random.default_rng(1)
    labels = rng.choice([-1, 1], 300)
    words = [" ".join(f"w{word}" for word in rng.integers(0, 4000, 20)) for _ in labels]
    lines = [f"{y} 'row{i}|a {text}\n" for i, (y, text) in enumerate(zip(labels, words, strict=True))]
    lines.insert(7, "\n")
    lines.insert(20, "'unlabelled |a w1\n")
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, *LOGISTIC, "-p", tmp_path / "p", "-m", tmp_path / "m")
    found = (tmp_path / "p").read_text().split("\n")[:-1]
    assert len(found) == 302 and found[7] == "" and found[0].endswith("row0") and found[20].endswith("unlabelled")
    scores = np.array([float(line.split()[0]) for line in found if "row" in line])
    assert abs(((scores > 0) == (labels > 0)).mean() - 0.5) < 0.1


def test_sorted_files_are_as_good_as_shuffled_ones(vwlite, data, tmp_path):
    train, test = data
    lines = sorted(Path(train).read_text().splitlines(keepends=True))
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m")
    vwlite("train", write(tmp_path / "sorted.vw", lines), *LOGISTIC, "-m", tmp_path / "sorted")
    assert loss_on(vwlite, tmp_path / "sorted", test) < 1.03 * loss_on(vwlite, tmp_path / "m", test)


def test_a_file_three_times_is_not_learned_by_heart(vwlite, data, tmp_path):
    train, test = data
    lines = Path(train).read_text().splitlines(keepends=True)
    said = vwlite("train", write(tmp_path / "three.vw", 3 * lines), *LOGISTIC, "-m", tmp_path / "m",
                  "--report", tmp_path / "r")
    assert said.err
    claimed = json.loads((tmp_path / "r").read_text())["results"]["out_of_fold_average_loss"]
    assert claimed > 0.9 * loss_on(vwlite, tmp_path / "m", test)


@pytest.mark.parametrize(("offset", "size"), [(0.0, 1.0), (1e6, 1.0), (0.0, 1e6), (0.0, 1e-6), (-1e3, 1e-3)])
def test_labels_of_any_size_and_offset(vwlite, tmp_path, offset, size):
    lines = lines_of(900, loss="squared", offset=offset, size=size)
    train, test = write(tmp_path / "a.vw", lines[:600]), write(tmp_path / "b.vw", lines[600:])
    vwlite("train", train, "--algorithm", "auto", "-m", tmp_path / "m")
    loss = loss_on(vwlite, tmp_path / "m", test)
    labels = np.array([float(line.split()[0]) for line in lines])
    assert loss < 0.2 * labels.var()  # the noise is a part of 0.1


def test_counts(vwlite, tmp_path):
    lines = lines_of(900, loss="poisson")
    train, test = write(tmp_path / "a.vw", lines[:600]), write(tmp_path / "b.vw", lines[600:])
    vwlite("train", train, "--algorithm", "auto", "--loss", "poisson", "-m", tmp_path / "m", "--report", tmp_path / "r")
    chosen = json.loads((tmp_path / "r").read_text())["chosen"]
    assert chosen["loss"] < 0.8 * chosen["baseline"]
    assert loss_on(vwlite, tmp_path / "m", test) < chosen["baseline"]


# --- quantiles and Huber's loss ------------------------------------------------------------------


def pinball(p, y, tau=0.5):
    return float(np.mean(np.where(y > p, tau * (y - p), (1 - tau) * (p - y))))


def huber(p, y, delta=1.0):
    size = np.abs(y - p)
    return float(np.mean(np.where(size <= delta, size**2, delta * (2 * size - delta))))


def labels_of(path) -> np.ndarray:
    return np.array([float(line.split()[0]) for line in Path(path).read_text().splitlines()])


def predicted(vwlite, model, path) -> np.ndarray:
    out = vwlite("predict", "-m", model, path, "--quiet").out
    return np.array([float(line.split()[0]) for line in out.splitlines()])


def written(path, labels, x) -> str:
    rows = zip(labels.tolist(), x, strict=True)
    return write(path, [f"{y!r} |a x:{a:.4f} y:{b:.4f} z:{c:.4f}\n" for y, (a, b, c) in rows])


def test_they_are_learned_without_an_algorithm(vwlite, folder):
    write(folder / "d.vw", lines_of(200, loss="squared"))
    for loss in ("quantile", "huber"):
        assert "algorithm = auto" in vwlite("train", "d.vw", "--loss", loss, "-m", "m").err
        assert model_of("m").chosen["loss is"] == f"out-of-fold {loss} loss"
        assert f"algorithm = gd (as --learning-rate is given), loss = {loss}" in vwlite(
            "train", "d.vw", "--loss", loss, "-l", "1", "-m", "m").err


@pytest.mark.pairwise
@pytest.mark.parametrize(("offset", "size"), [(0.0, 1.0), (160_000.0, 8e4), (1e6, 1.0), (0.0, 1e-6), (-1e3, 1e-3)])
@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_they_do_not_depend_on_the_unit_of_the_labels(vwlite, folder, loss, offset, size, passes):
    """The tau is no label, and the delta is in their unit."""
    lines = lines_of(1500, loss="squared", offset=offset, size=size)
    train, test = write(folder / "a.vw", lines[:1000]), write(folder / "b.vw", lines[1000:])
    options = ("--quantile-tau", "0.8") if loss == "quantile" else ("--huber-delta", repr(0.5 * size))
    vwlite("train", train, "--loss", loss, *options, *passes, "-m", "m", "--report", "r")
    of_train = labels_of(train)
    value = (lambda p, y: pinball(p, y, 0.8)) if loss == "quantile" else (lambda p, y: huber(p, y, 0.5 * size))
    chosen, loss = report_of(folder / "r")["chosen"], loss_on(vwlite, folder / "m", test)
    least = min(value(c, of_train) for c in np.quantile(of_train, np.linspace(0.05, 0.95, 400)))
    assert chosen["baseline"] == pytest.approx(least, rel=1e-2)
    assert loss < 0.35 * least  # the noise is a part of 0.15
    if not passes:
        assert chosen["loss"] == pytest.approx(loss, rel=0.2)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_a_share_of_tau_is_below_a_quantile(vwlite, folder, tau):
    rng = np.random.default_rng(6)
    x = rng.normal(0, 1, (3000, 3))
    y = 1e5 + 1e4 * (x @ [1, -1, 0.5] + rng.exponential(1, 3000) * np.exp(x[:, 0] / 2))
    train, test = written(folder / "a.vw", y[:2000], x[:2000]), written(folder / "b.vw", y[2000:], x[2000:])
    vwlite("train", train, "--loss", "quantile", "--quantile-tau", tau, "-m", "m", "-p", "p")
    assert np.mean(y[2000:] <= predicted(vwlite, "m", test)) == pytest.approx(tau, abs=0.04)
    out_of_fold = np.array([float(line) for line in Path("p").read_text().splitlines()])
    assert np.mean(y[:2000] <= out_of_fold) == pytest.approx(tau, abs=0.04)


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["quantile", "huber", "huber --huber-delta 30"])
def test_outliers_do_not_decide(vwlite, folder, loss, passes):
    """One label in a hundred is wrong by a million: the standard deviation is of these alone."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 1, (3000, 3))
    y = 100 + x @ [20, -10, 5] + rng.normal(0, 5, 3000)
    labels = y + 1e6 * (rng.random(3000) < 0.01)
    train, test = written(folder / "a.vw", labels[:2000], x[:2000]), written(folder / "b.vw", y[2000:], x[2000:])
    vwlite("train", train, "--loss", *loss.split(), *passes, "-m", "m")
    assert np.median(np.abs(predicted(vwlite, "m", test) - y[2000:])) < 5


@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_the_baseline_of_a_stream_is_that_of_its_summary(vwlite, folder, monkeypatch, loss):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 50)
    lines = [f"{i / 10} |a x:{i / 10} y{i % 5}\n" for i in range(600)]
    train = write(folder / "d.vw", lines)
    vwlite("train", train, "--loss", loss, "--passes", "1", "-m", "m", "--report", "r")
    report, y = report_of(folder / "r"), labels_of(train)
    least = min((pinball if loss == "quantile" else huber)(c, y) for c in np.linspace(0, 60, 1201))
    assert report["chosen"]["baseline"] == pytest.approx(least, rel=1e-6)
    assert report["results"]["average_loss_of_the_baseline"] == pytest.approx(least, rel=1e-6)


@pytest.mark.third
@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_the_baseline_of_a_file_is_of_all_labels(vwlite, folder, loss):
    """Of as many as there are: a tally has a sample of 65,536."""
    y = np.round(1e5 * np.random.default_rng(1).exponential(1, 80_000))
    train = write(folder / "d.vw", [f"{label:.0f} |a {'xy'[int(label > 1e5)]}\n" for label in y])
    vwlite("train", train, "--loss", loss, "--passes", "2", "-m", "m", "--report", "r", "--quiet", "-p", "p")
    report, value = report_of(folder / "r"), pinball if loss == "quantile" else huber
    found = report["results"]["out_of_fold_average_loss_of_the_baseline"]
    assert found == pytest.approx(value(np.median(y), y), rel=1e-6)
    assert found == pytest.approx(report["chosen"]["baseline"], rel=1e-9)


@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_the_intercept_alone_is_the_best_constant(vwlite, folder, loss):
    rng = np.random.default_rng(9)
    y = np.round(np.exp(rng.normal(0, 1, 400)) * 1e5)
    train = write(folder / "d.vw", [f"{label:.0f} |a w{rng.integers(300)}\n" for label in y])
    vwlite("train", train, "--loss", loss, "-m", "m")
    p = predicted(vwlite, "m", train)
    assert model_of("m").chosen["model"] == "intercept" and np.ptp(p) == 0
    assert p[0] == pytest.approx(np.median(y), rel=2e-2)


@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_such_a_model_is_continued_by_gd(vwlite, folder, loss):
    lines = lines_of(1500, loss="squared", offset=5, size=2)
    train, more = write(folder / "a.vw", lines[:300]), write(folder / "b.vw", lines[300:])
    vwlite("train", train, "--loss", loss, "-m", "m")
    before = loss_on(vwlite, folder / "m", more)
    vwlite("train", more, "-i", "m", "-m", "n")
    assert loss_on(vwlite, folder / "n", more) < 1.05 * before and model_of("n").algorithm == "gd"


@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_gd_says_that_labels_are_too_large_for_its_steps(vwlite, folder, loss):
    train = write(folder / "d.vw", lines_of(500, loss="squared", offset=160_000, size=8e4))
    said = vwlite("train", train, "--algorithm", "gd", "--loss", loss, "-m", "m").err
    assert "worse than the best constant" in said
    assert "note: the average loss is" in said and "use --algorithm auto, which scales labels, or" in said
    assert "note" not in vwlite("train", train, "--loss", loss, "-m", "m").err


# --- other data to judge by --------------------------------------------------------------------


def test_a_file_to_validate_with(vwlite, data, tmp_path):
    """The loss on it is that of the summary, but for what is learned of the stack from its other half."""
    train, test = data
    said = vwlite("train", train, *LOGISTIC, "--validate", test, "-m", tmp_path / "m", "--report", tmp_path / "r").err
    report = json.loads((tmp_path / "r").read_text())
    assert "validation log loss" in said and report["results"]["number_of_examples"] == 1500
    claimed = report["results"]["validation_average_loss"]
    assert claimed == pytest.approx(report["chosen"]["loss"], rel=1e-6)
    assert loss_on(vwlite, tmp_path / "m", test) == pytest.approx(claimed, rel=0.02)
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "n")
    assert loss_on(vwlite, tmp_path / "m", test) < 1.02 * loss_on(vwlite, tmp_path / "n", test)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--algorithm", "gd", "--validate", "v.vw"), 2, "--validate needs --algorithm auto"),
        ((*LOGISTIC, "--validate", "v.vw", "--passes", "1"), 2, "leave --passes 1 out"),
        ((*LOGISTIC, "--validate", "v.vw", "-p", "p"), 2, "--validate and --predictions cannot be used together"),
        ((*LOGISTIC, "--validate", "nothing.vw"), 65, "validates nothing"),
        ((*LOGISTIC, "--validate", "missing.vw"), 66, "missing.vw"),
    ],
)
def test_what_cannot_validate(vwlite, data, tmp_path, monkeypatch, options, code, said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "v.vw", lines_of(10))
    write(tmp_path / "nothing.vw", ["|a x\n"])
    assert said in vwlite("train", data[0], *options, "-m", "m", code=code).err
    assert not (tmp_path / "m").exists()


# --- streams -----------------------------------------------------------------------------------


def test_a_short_stream_is_a_file(vwlite, data, tmp_path):
    train, _ = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "-p", tmp_path / "p")
    finish(start("train", *LOGISTIC, "-m", tmp_path / "n", "-p", tmp_path / "q"), Path(train).read_bytes())
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_one_pass(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m")
    said = vwlite("train", train, *LOGISTIC, "--passes", "1", "-m", tmp_path / "one", "-p", tmp_path / "p").err
    assert ", one pass, " in said and len((tmp_path / "p").read_text().split("\n")) == 1501
    assert loss_on(vwlite, tmp_path / "one", test) < 1.1 * loss_on(vwlite, tmp_path / "m", test)


def test_predictions_of_a_stream_are_clipped_to_the_labels_so_far(vwlite, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 20)
    lines = [f"{i % 10 + i // 50 * 10} |a x:{i // 50 * 10 + i % 10 + 0.5}\n" for i in range(400)]
    vwlite("train", write(tmp_path / "d.vw", lines), "--algorithm", "auto", "--passes", "1", "-m", tmp_path / "m",
           "-p", tmp_path / "p")
    found = [float(line) for line in (tmp_path / "p").read_text().split()]
    assert max(found) > 30 and model_of(tmp_path / "m").range == (0.0, 79.0)


def test_a_long_stream_says_that_it_is_one_pass(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    text = Path(train).read_bytes() * 9
    said = finish(start("train", *LOGISTIC, "-m", tmp_path / "n"), text)
    assert said.code == 0 and "one pass, as standard input cannot be read again" in said.err
    monkeypatch.setattr("vwlite.training.auto.reading.LARGE", 1000)
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 100)
    assert "one pass, as the files have more than 4 GB" in vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m").err


def test_one_pass_over_sorted_data_is_noticed(vwlite, data, tmp_path):
    train, _ = data
    lines = sorted(Path(train).read_text().splitlines(keepends=True), key=lambda line: float(line.split()[0]))
    said = vwlite("train", write(tmp_path / "s.vw", lines), *LOGISTIC, "--passes", "1", "-m", tmp_path / "m").err
    assert "the data seem to be in order" in said
    assert loss_on(vwlite, tmp_path / "m", train) <= 0.7


@pytest.mark.parametrize("kept", [100, 12000])
def test_batches_of_any_size_are_one_stream(vwlite, data, tmp_path, kept, monkeypatch):
    """Learning begins after the same example, whatever the blocks of the input are."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", kept)
    monkeypatch.setattr("vwlite.training.auto.stream.SIDE_BY_SIDE", 700)
    train, _ = data
    found = []
    for size in (1 << 20, 3000):
        monkeypatch.setattr("vwlite.input.reader.BLOCK_SIZE", size)
        vwlite("train", train, *LOGISTIC, "--passes", "1", "-m", tmp_path / "m", "-p", tmp_path / "p")
        found.append(((tmp_path / "m").read_bytes(), (tmp_path / "p").read_bytes()))
    assert found[0] == found[1]


def test_one_candidate_after_the_other_gives_the_same_bytes(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "-p", tmp_path / "p")
    monkeypatch.setattr("vwlite.training.auto.race.available_memory", lambda: 10_000)
    for limit in ((), ("--passes", "2")):
        vwlite("train", train, *LOGISTIC, *limit, "-m", tmp_path / "n", "-p", tmp_path / "q")
        if not limit:
            assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
            assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_too_little_memory_is_known_before(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    monkeypatch.setattr("vwlite.training.auto.race.available_memory", lambda: 1000)
    said = vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", code=None)
    assert said.code == 70 and "use --algorithm gd" in said.err and "pass " not in said.err
    assert not (tmp_path / "m").exists()


# --- few examples, and bad ones ------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30])
@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_few_examples(vwlite, tmp_path, n, passes):
    train = write(tmp_path / "d.vw", lines_of(n))
    vwlite("train", train, *LOGISTIC, *passes, "-m", tmp_path / "m", "-p", tmp_path / "p")
    assert all(np.isfinite(float(line.split()[0])) for line in (tmp_path / "p").read_text().splitlines())
    assert np.isfinite(model_of(tmp_path / "m").weights).all()


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_one_class(vwlite, tmp_path, passes):
    train = write(tmp_path / "d.vw", [f"1 |a x:{i + 1}\n" for i in range(50)])
    said = vwlite("train", train, *LOGISTIC, *passes, "-m", tmp_path / "m").err
    assert "the intercept alone" in said and "every example has the label 1" in said
    assert model_of(tmp_path / "m").weights[0] == pytest.approx(np.log(50.5 / 0.5))


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "gamma", "tweedie", "quantile", "huber"])
def test_values_that_help_nothing(vwlite, tmp_path, loss, passes):
    """All equal, huge and tiny: never nan, and not worse than the baseline."""
    rng = np.random.default_rng(5)
    labels = rng.choice({"logistic": [-1, 1], "gamma": [0.5, 3]}.get(loss, [0, 3]), 400)
    rows = [f"{y} |a x:3 big:{rng.choice([-1, 1])}e30 small:{rng.choice([-1, 1])}e-30\n" for y in labels]
    how = ("--algorithm", "auto", "--loss", loss, *passes)
    vwlite("train", write(tmp_path / "d.vw", rows), *how, "-m", tmp_path / "m", "--report", tmp_path / "r")
    assert np.isfinite(model_of(tmp_path / "m").weights).all()
    chosen = json.loads((tmp_path / "r").read_text())["chosen"]
    assert chosen.get("loss", 0) <= chosen["baseline"] * 1.02


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (["1e39 |a x\n", "-1e39 |a y\n"] * 20, ("--loss", "squared"), "cannot be learned: scale them"),
        ([f"{10.0**i!r} |a x{i}\n" for i in range(40)], ("--loss", "poisson"), "cannot be predicted: scale"),
        (["1 |a x:1e30 y:1e30\n", "-1 |a x:2e30\n"] * 20, (*LOGISTIC[2:], "-q", "aa"), "d.vw:1:1: a crossed or"),
        (["1 |a x\n", "-1 |a y\n"] * 20 + ["1 |a z\n"] * 20, (*LOGISTIC[2:], "--normalize", "center"), "half of the"),
    ],
)
def test_what_cannot_be_learned(vwlite, tmp_path, lines, options, said):
    train = write(tmp_path / "d.vw", lines)
    assert said in vwlite("train", train, "--algorithm", "auto", *options, "-m", tmp_path / "m", code=65).err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_initial_predictions(vwlite, tmp_path, passes):
    """They say all, so that nothing is left to learn: the constant is about 0, and its loss is theirs."""
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 3, 600)
    labels = np.where(rng.random(600) < 1 / (1 + np.exp(-scores)), 1, -1)
    pairs = zip(labels, map(float, scores), strict=True)
    lines = [f"{y} 1 {score!r} |a x{rng.integers(0, 5)}\n" for y, score in pairs]
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, *LOGISTIC, *passes, "-m", tmp_path / "m", "--report", tmp_path / "r")
    chosen = json.loads((tmp_path / "r").read_text())["chosen"]
    assert chosen["baseline"] == pytest.approx(np.logaddexp(0, -labels * scores).mean(), rel=0.02)
    assert loss_on(vwlite, tmp_path / "m", tmp_path / "d.vw") < 1.05 * chosen["baseline"]


def test_the_intercept_of_a_stream_is_that_of_all_its_labels(vwlite, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 20)
    labels = [-1] * 300 + [1] * 100
    lines = [f"{y} |a w{i}\n" for i, y in enumerate(labels)]
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, *LOGISTIC, "--passes", "1", "-m", tmp_path / "m", "--report", tmp_path / "r")
    report = json.loads((tmp_path / "r").read_text())
    assert report["chosen"]["baseline"] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)), rel=1e-9)
    assert loss_on(vwlite, tmp_path / "m", tmp_path / "d.vw") < 1.05 * report["chosen"]["baseline"]


def test_importances_are_repeats(vwlite, tmp_path):
    lines = lines_of(400)
    doubled = [line.replace(" '", " 2 '", 1) for line in lines]
    vwlite("train", write(tmp_path / "d.vw", doubled), *LOGISTIC, "-m", tmp_path / "m", "--report", tmp_path / "r")
    vwlite("train", write(tmp_path / "o.vw", lines), *LOGISTIC, "-m", tmp_path / "n", "--report", tmp_path / "s")
    two, one = (json.loads((tmp_path / name).read_text()) for name in "rs")
    assert two["results"]["weighted_example_sum"] == 800
    assert two["chosen"]["baseline"] == pytest.approx(one["chosen"]["baseline"], rel=1e-12)


def test_nothing_to_learn(vwlite, tmp_path):
    said = vwlite("train", write(tmp_path / "d.vw", ["|a x\n"] * 3), *LOGISTIC, "-m", tmp_path / "m", code=65).err
    assert "no example was learned" in said and not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-l", "2"), "--learning-rate has no effect with --algorithm auto: it tries several learning rates"),
        (("--l1", "1e-5"), "use --algorithm adagrad-rda"),
        (("--holdout-off",), "--holdout-off has no effect with --algorithm auto"),
        (("--loss", "hinge"), "--algorithm auto cannot learn from --loss hinge"),
        (("-i", "m"), "--algorithm auto contradicts the model"),
    ],
)
def test_refused_options(vwlite, data, tmp_path, options, said):
    train, _ = data
    if "-i" in options:
        vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m")
        options = ("-i", tmp_path / "m")
    assert said in vwlite("train", train, "--algorithm", "auto", *options, code=2).err


def report_of(path):
    """The report, which has no number that JSON lacks."""

    def refuse(name):
        raise AssertionError(f"{name} in the report")

    return json.loads(path.read_text(), parse_constant=refuse)


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_columns_that_cannot_be_centered(vwlite, tmp_path, passes):
    sparse = [f"{(1, -1)[i % 2]} |a w{i % 37} v{i % 11}\n" for i in range(100)]
    how = (write(tmp_path / "d.vw", sparse), *LOGISTIC, "--normalize", "center", *passes, "-m", tmp_path / "m")
    assert "--normalize center is for features that half of the examples have" in vwlite("train", *how, code=65).err
    assert "cannot be used together" in vwlite("train", *how, "--no-constant", code=2).err
    assert not (tmp_path / "m").exists()
    unlabelled = write(tmp_path / "u.vw", ["|a x\n"] * 3)
    assert "no example was learned" in vwlite("train", unlabelled, *how[1:], code=65).err


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("line", ["1 |a x:3e38 x:3e38", "1 |a x:1e30 |b y:1e30"])
def test_sums_and_products_beyond_a_float_are_bad_data(vwlite, tmp_path, line, passes):
    train = write(tmp_path / "d.vw", [*lines_of(30), line + "\n"])
    said = vwlite("train", train, *LOGISTIC, "-q", "ab", *passes, "-m", tmp_path / "m", code=65).err
    assert "d.vw:31:1: a crossed or repeated feature has a value that is too large" in said
    assert not (tmp_path / "m").exists()


def test_sums_beyond_a_float_late_in_a_stream(vwlite, data, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 10)
    train = write(tmp_path / "d.vw", [*lines_of(30), "1 |a x:3e38 x:3e38\n"])
    assert "d.vw:31:1: " in vwlite("train", train, *LOGISTIC, "--passes", "1", code=65).err


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_centered_values_beyond_a_float(vwlite, tmp_path, passes):
    lines = [f"{line[:-1]} z:{('3e38', '-3e38')[i % 3 == 0]}\n" for i, line in enumerate(lines_of(400))]
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, *LOGISTIC, *passes, "-m", tmp_path / "m", "--report", tmp_path / "r")
    chosen = report_of(tmp_path / "r")["chosen"]
    assert chosen["loss"] < chosen["baseline"]
    assert loss_on(vwlite, tmp_path / "m", train) < chosen["baseline"]


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["squared", "poisson"])
@pytest.mark.parametrize("size", [1e30, 1e150, 1e300])
def test_labels_that_are_too_large(vwlite, tmp_path, loss, size, passes):
    train = write(tmp_path / "d.vw", [f"{y * size:g} |a x:{y}e-15\n" for y in range(1, 60)])
    how = ("--algorithm", "auto", "--loss", loss, "--normalize", "none", *passes)
    said = vwlite("train", train, *how, "-m", tmp_path / "m", code=65).err
    assert "scale the labels" in said or "scale them" in said
    assert not (tmp_path / "m").exists()


def test_initial_predictions_that_are_too_large(vwlite, tmp_path):
    for loss in ("logistic", "squared", "poisson", "quantile", "huber"):
        lines = [line.replace(" '", " 1 1e38 '", 1) for line in lines_of(100, loss=loss)]
        how = (write(tmp_path / "d.vw", lines), "--algorithm", "auto", "--loss", loss, "--report", tmp_path / "r")
        vwlite("train", *how, "-m", tmp_path / "m")
        report_of(tmp_path / "r")
        assert np.isfinite(model_of(tmp_path / "m").weights).all()


# --- labels and baselines ------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["0.1", "-7.3", "1e30", "5"])
@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_equal_labels_are_the_intercept(vwlite, tmp_path, label, passes):
    train = write(tmp_path / "d.vw", [f"{label} |a x:{i % 7}\n" for i in range(300)])
    vwlite("train", train, "--algorithm", "auto", *passes, "-m", tmp_path / "m")
    chosen = model_of(tmp_path / "m").chosen
    assert (chosen["model"], chosen["baseline"]) == ("intercept", 0.0)
    assert loss_on(vwlite, tmp_path / "m", train) == 0


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["logistic", "squared", "quantile", "huber"])
def test_equal_labels_without_an_intercept_are_learned(vwlite, tmp_path, loss, passes):
    train = write(tmp_path / "d.vw", [f"1 |a x:{1 + i % 7}\n" for i in range(300)])
    how = ("--algorithm", "auto", "--loss", loss, "--no-constant", *passes)
    vwlite("train", train, *how, "-m", tmp_path / "m")
    baseline = model_of(tmp_path / "m").chosen["baseline"]
    assert baseline == pytest.approx({"logistic": np.log(2), "quantile": 0.5}.get(loss, 1))
    assert loss_on(vwlite, tmp_path / "m", train) < 0.9 * baseline


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "gamma", "tweedie", "quantile", "huber"])
def test_the_baseline_adds_a_constant_to_initial_predictions(vwlite, tmp_path, loss, passes):
    """Features are noise, and initial predictions too small by 2: the best model is an intercept of about 2."""
    rng = np.random.default_rng(8)
    score = rng.normal(0, 1, 1000)
    labels = {
        "logistic": np.where(rng.random(1000) < 1 / (1 + np.exp(-score)), 1, -1),
        "poisson": rng.poisson(np.exp(score)),
        "gamma": rng.gamma(2, np.exp(score) / 2),
        "tweedie": rng.poisson(np.exp(score)) * rng.gamma(2, 0.5, 1000),
    }.get(loss, score + rng.normal(0, 0.1, 1000))
    lines = [f"{y} 1 {p - 2} |a w{rng.integers(900)}\n" for y, p in zip(labels, score, strict=True)]
    train, how = write(tmp_path / "d.vw", lines), ("--algorithm", "auto", "--loss", loss, *passes)
    outputs = ("-m", tmp_path / "m", "-p", tmp_path / "p", "--report", tmp_path / "r")
    vwlite("train", train, *how, "--link", "identity", *outputs)
    report, key = report_of(tmp_path / "r"), "average_loss" if passes else "out_of_fold_average_loss"
    true = loss_on(vwlite, tmp_path / "m", train)
    assert true < report["chosen"]["baseline"] * 1.05 + 1e-9
    if not passes:
        assert report["results"][key] < report["chosen"]["baseline"] * 1.02
    found = np.array([float(line) for line in (tmp_path / "p").read_text().splitlines()])
    assert np.corrcoef(found[500:], score[500:])[0, 1] > 0.9


def test_initial_predictions_of_examples_that_the_stack_has_not_seen(vwlite, tmp_path, monkeypatch):
    lines = [line.replace(" '", f" 1 {6 if line[0] == '1' else -6} '", 1) for line in lines_of(600)]
    train = write(tmp_path / "d.vw", lines)
    monkeypatch.setattr("vwlite.training.auto.selection.MOST_SCORED", 200)
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "--report", tmp_path / "r")
    assert report_of(tmp_path / "r")["results"]["out_of_fold_average_loss"] < 0.01


def test_counts_of_any_size_have_the_state_of_their_labels(vwlite, tmp_path):
    lines = lines_of(300, loss="poisson")
    hundredfold = [f"{100 * int(line.split()[0])} {line.split(' ', 1)[1]}" for line in lines]
    for name, text in (("one", lines), ("hundred", hundredfold)):
        train = write(tmp_path / f"{name}.vw", text)
        vwlite("train", train, "--algorithm", "auto", "--loss", "poisson", "-m", tmp_path / name)
    one, hundred = (np.array(model_of(tmp_path / name).state["G"]) for name in ("one", "hundred"))
    np.testing.assert_allclose(hundred, 1e4 * one, rtol=1e-5)


def test_what_is_known_of_a_stream_is_of_all_its_examples(vwlite, tmp_path, monkeypatch):
    """Its state, the range of its labels, and its baseline; not of those that were kept at its start."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 50)
    lines = [f"{i / 10} |a x:{i / 10} y{i % 5}\n" for i in range(600)]
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, "--algorithm", "auto", "--passes", "1", "-m", tmp_path / "m", "-p", tmp_path / "p")
    model, labels = model_of(tmp_path / "m"), np.arange(600) / 10
    assert model.rule["t"] == 600 and model.range == (0.0, 59.9)
    assert model.chosen["baseline"] == pytest.approx(labels.var(), rel=1e-9)
    found = np.array([float(line) for line in (tmp_path / "p").read_text().splitlines()])
    assert np.abs(found - labels)[100:].max() < 5


def test_a_rare_class_of_a_stream_is_not_lost_with_the_sample(vwlite, tmp_path, monkeypatch):
    """Where the sample has examples of one class only."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 500)
    lines = [("1 |a sign " if i % 2001 == 1 else "-1 |a ") + f"w{i % 5}\n" for i in range(40_000)]
    train = write(tmp_path / "d.vw", lines)

    class OneClass(Reservoir):
        def batch(self):
            kept = [one for one in self.batches if one.label[0] < 0]
            found = kept[0].part(0, 1)
            for one in kept[1:]:
                found.extend(one, 0, 1)
            return found

    monkeypatch.setattr("vwlite.training.auto.stream.Reservoir", OneClass)
    said = vwlite("train", train, *LOGISTIC, "--passes", "1", "-m", tmp_path / "m").err
    assert "in order" not in said
    assert loss_on(vwlite, tmp_path / "m", train) < 0.5 * model_of(tmp_path / "m").chosen["baseline"]


def test_a_stream_that_cannot_be_predicted_is_not_called_ordered(vwlite, tmp_path):
    rng = np.random.default_rng(2)
    lines = [f"{rng.choice([-1, 1])} 1e9 |a x:{rng.normal():g}\n" for _ in range(500)]
    said = vwlite("train", write(tmp_path / "d.vw", lines), *LOGISTIC, "--passes", "1", "-m", tmp_path / "m").err
    assert "the intercept alone" in said and "in order" not in said


# --- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("size", [0, 50_000])
def test_examples_that_do_not_fit_memory_are_in_a_temporary_file(vwlite, data, tmp_path, size, threads, monkeypatch):
    train, _ = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "-p", tmp_path / "p")
    monkeypatch.setattr("vwlite.training.auto.data.IN_MEMORY", size)
    monkeypatch.setattr("vwlite.training.auto.data.BATCH", 1000)
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "n", "-p", tmp_path / "q", "--threads", threads)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_lines_without_labels_are_not_kept_for_ever(vwlite, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_BYTES", 10_000)
    begun, begin = [], AutoTrainer.begin
    monkeypatch.setattr(AutoTrainer, "begin", lambda run, kept: (begun.append(sum(map(len, kept))), begin(run, kept)))
    lines = [*lines_of(20), *["|a x y z\n"] * 1000]
    vwlite("train", write(tmp_path / "d.vw", lines), *LOGISTIC, "--passes", "1", "-m", tmp_path / "m")
    assert 20 < begun[0] < 300


# --- what follows --------------------------------------------------------------------------------


def test_a_model_is_continued_by_gd(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m")
    vwlite("train", test, "-i", tmp_path / "m", "-m", tmp_path / "n")
    before, after = (loss_on(vwlite, tmp_path / name, test) for name in "mn")
    assert after < before
    assert model_of(tmp_path / "n").algorithm == "gd"


def test_the_summary_says_one_loss(vwlite, tmp_path):
    """Of predictions clipped to the range of the labels: a row beyond all others is predicted far outside of it."""
    rng = np.random.default_rng(3)
    x, z = rng.standard_t(1.5, 400), rng.uniform(0, 1, 400)
    y = np.minimum(rng.poisson(np.exp(np.clip(x, -2, 2) + z)), 6)
    rows = "".join(f"{a:.5g},{b:.4f},{c}\n" for a, b, c in zip(x, z, y, strict=True))
    (tmp_path / "d.csv").write_text("x,z,y\n" + rows)
    said = vwlite("train", tmp_path / "d.csv", "--label", "y", "--loss", "squared", "--derive", "none", "-m",
                  tmp_path / "m").err
    (first, baseline), (chosen, other) = (re.findall(f"(?m){line}", said)[0] for line in (
        r"^squared loss (\S+) on rows not learned; best constant (\S+),",
        r"^chosen = .*; out-of-fold squared loss (\S+), baseline (\S+)$"))
    average, third = re.findall(r"(?m)^out-of-fold average loss = (\S+) \(baseline (\S+)\)$", said)[0]
    assert first == chosen == f"{float(average):.4f}" and baseline == other == f"{float(third):.4f}"
    assert model_of(tmp_path / "m").chosen["loss"] > 2 * float(first)  # before clipping


def test_the_choice_is_in_the_model_and_the_report(vwlite, data, tmp_path):
    train, _ = data
    said = vwlite("train", train, *LOGISTIC, "-m", tmp_path / "m", "--report", tmp_path / "r").err
    chosen = json.loads((tmp_path / "r").read_text())["chosen"]
    assert in_json(model_of(tmp_path / "m").chosen) == chosen
    best, n = chosen["pass"], chosen["passes"]
    passes = f"{best} of {n} passes" if best < n else f"{n} passes" if n > 1 else "one pass"
    assert f", {passes}, " in said and f"baseline {chosen['baseline']:.4f}" in said
    assert chosen["loss_is"] in vwlite("info", tmp_path / "m").out


# --- what it says is true ------------------------------------------------------------------------


def ratings(seed: int, n: int = 1000) -> list[tuple[int, int]]:
    """Ratings from 1 to 5, and whether a customer left: most often with the worst and the best; no line helps."""
    rng = np.random.default_rng(seed)
    found = [(k, int(rng.random() < (0.9, 0.4, 0.2, 0.4, 0.9)[k - 1])) for k in rng.integers(1, 6, n)]
    return [(int(k), y) for k, y in found]


def entropy_of(labels) -> float:
    share = np.mean(labels)
    return float(-(share * np.log(share) + (1 - share) * np.log(1 - share)))


def test_a_gate_on_ratings_of_few_values_fails_under_all_names(vwlite, tmp_path):
    rows = ratings(3)
    entropy = entropy_of([y for _, y in rows])
    for name in ("score", "rating", "a", "d"):
        lines = [f"{name},left\n", *(f"{k},{y}\n" for k, y in rows)]
        path, report = write(tmp_path / "d.csv", lines), tmp_path / "r"
        gate = f"log_loss>{0.97 * entropy}"
        how = ("--label", "left", "-m", tmp_path / "m", "--report", report)
        vwlite("train", path, *how, "--derive", "none", "--fail-if", gate, code=1)
        assert json.loads(report.read_text())["results"]["out_of_fold_average_loss"] > 0.97 * entropy
        vwlite("train", path, *how)
        by_rating = ([y for k, y in rows if k == x] for x in range(1, 6))
        curved = sum(entropy_of(y) * len(y) for y in by_rating) / len(rows)
        assert json.loads(report.read_text())["results"]["out_of_fold_average_loss"] == pytest.approx(curved, rel=0.03)


def test_two_plans_are_not_turned_round(vwlite, tmp_path):
    rng = np.random.default_rng(4)
    rows = [(plan, int(rng.random() < (0.9 if plan == "pro" else 0.1))) for plan in rng.choice(["pro", "basic"], 60)]
    for names in ("plan,renewed", "tariff,stays", "x,y"):
        path = write(tmp_path / "d.csv", [f"{names}\n", *(f"{plan},{y}\n" for plan, y in rows)])
        err = vwlite("train", path, "--label", names.split(",")[1], "-m", tmp_path / "m").err
        assert "only 60 examples" in err
        vwlite("predict", "-m", tmp_path / "m", path, "-p", tmp_path / "p", "--quiet")
        found = list(zip(rows, map(float, (tmp_path / "p").read_text().split()), strict=True))
        assert all((p > 0.5) == (plan == "pro") for (plan, _), p in found)


def test_the_best_of_tune_beats_the_baseline_on_its_own_rows(vwlite, tmp_path):
    path = write(tmp_path / "d.csv", ["score,left\n", *(f"{k},{y}\n" for k, y in ratings(5, 400))])
    found = json.loads(vwlite("tune", path, "--label", "left", "-m", tmp_path / "m", "--json", "--quiet").out)
    assert loss_on(vwlite, tmp_path / "m", path) <= found["baseline"] * (1 + 1e-6)


def test_a_model_that_is_not_what_its_scores_say_is_not_written(vwlite, data, tmp_path, monkeypatch):
    """Weights that are turned round after the examples were scored."""

    def turned(lanes, u):
        found = kept(lanes, u)
        return replace(found, columns=array("f", (-x for x in found.columns)))

    monkeypatch.setattr("vwlite.training.auto.selection.kept", turned)
    said = vwlite("train", data[0], *LOGISTIC, "-m", tmp_path / "m").err
    assert "the folds and the model disagree" in said and "chosen = the intercept alone" in said
    labels = [float(line.split()[0]) for line in Path(data[0]).read_text().splitlines()]
    share = (1 + np.mean(labels)) / 2
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert loss_on(vwlite, tmp_path / "m", data[0]) == pytest.approx(entropy, rel=1e-5)


@pytest.mark.parametrize("alone", [True, False])
def test_where_folds_mislead_the_best_learner_or_the_intercept_is_taken(vwlite, data, tmp_path, monkeypatch, alone):
    """Each model is worse on what it has learned than out of fold. Not alone: the best learner also than a constant."""
    monkeypatch.setattr("vwlite.training.auto.final_choice.MISLED", -10.0)
    if not alone:
        losses = iter([1.0, 0.5, 2.0])  # of the constant, of the model, of its best learner
        monkeypatch.setattr(FinalChoice, "_loss_as_learned", lambda choice, candidate: next(losses))
    said = vwlite("train", data[0], *LOGISTIC, "-m", tmp_path / "m").err
    (chosen,) = (line for line in said.splitlines() if line.startswith("chosen = "))
    assert "stacked" not in chosen and ("the intercept alone" in chosen) != alone
    assert "so losses out of fold are not those of new rows: shuffle the lines" in said


@pytest.mark.parametrize("label", ["-1", "1"])
@pytest.mark.parametrize("passes", [[], ["--passes", "1"]])
def test_one_label_alone_leaves_the_other_a_probability(vwlite, folder, label, passes):
    """(0 + 1/2) / (n + 1), as of n examples."""
    n = 40
    (folder / "d.vw").write_text(f"{label} |f a b\n" * n)
    vwlite("train", "d.vw", "--loss", "logistic", *passes, "-m", "m")
    p = float(vwlite("predict", "-m", "m", "d.vw").out.split()[0])
    assert min(p, 1 - p) == pytest.approx(0.5 / (n + 1), abs=1e-6) and (p > 0.5) == (label == "1")


def test_one_class_alone_leaves_the_others_a_probability(vwlite, folder):
    n, k = 40, 3
    (folder / "d.vw").write_text("2 |f a b\n" * n)
    vwlite("train", "d.vw", "--oaa", k, "-m", "m")
    line = vwlite("predict", "-m", "m", "d.vw", "--probabilities").out.splitlines()[0]
    found = {name: float(p) for name, p in (word.split(":") for word in line.split())}
    expected = {name: (n * (name == "2") + 0.5) / (n + k / 2) for name in "123"}
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("how", ["file", "two files", "passes", "pipe"])
def test_labels_that_a_loss_cannot_use_have_a_place(vwlite, folder, how):
    lines = ["-1 |f a\n"] * 3 + ["0 |f b\n"] * 2 + ["1 |f c\n", "-1 |f a\n"]
    names = ["a.vw", "b.vw"] if how == "two files" else ["a.vw"]
    (folder / "a.vw").write_text("".join(lines[:5] if how == "two files" else lines))
    (folder / "b.vw").write_text("".join(lines[5:]))
    expected = {"-1": "a.vw:1", "0": "a.vw:4", "1": "b.vw:1" if how == "two files" else "a.vw:6"}
    if how == "pipe":
        with standard_input(folder / "a.vw"):
            said = vwlite("train", "--loss", "logistic", "-m", "m", code=65).err
        expected = {label: place.replace("a.vw", "<stdin>") for label, place in expected.items()}
    else:
        more = ["--passes", "1"] if how == "passes" else []
        said = vwlite("train", *names, "--loss", "logistic", *more, "-m", "m", code=65).err
    listed = ", ".join(f"{label} ({place})" for label, place in expected.items())
    assert f"labels are {listed}, but --loss logistic needs" in said


def test_bad_lines_of_the_file_to_validate_with_are_kept_too(vwlite, folder):
    lines = [f"{i % 2} |a x:{i} y\n" for i in range(40)]
    Path("data").write_text("".join(lines) + "bad |a x\n")
    Path("later").write_text(lines[2] + "worse |a\n" + lines[3])
    found = vwlite("train", "data", "--loss", "logistic", "--algorithm", "auto", "--validate", "later",
                   "--on-error", "skip", "--rejects", "rejected", "-m", "m")
    assert Path("rejected").read_text() == "bad |a x\nworse |a\n"
    assert found.err.count("2 bad lines skipped\n") == 1
