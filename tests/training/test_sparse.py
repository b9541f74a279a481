"""`vwlite train --sparse`"""

import json
from pathlib import Path

import numpy as np
import pytest
from running import finish, run_here, start
from test_auto import LOGISTIC, lines_of, loss_on, model_of, write

from vwlite.algorithms.settings import Settings
from vwlite.model.header import in_json
from vwlite.model.learners import make_learner
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.sparse import RATES, STRENGTHS
from vwlite.training.auto.sparse_folds import PASSES, FoldSearch
from vwlite.training.auto.sparse_trainer import SparseTrainer, share

ONE = ("--threads", "1")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Twenty columns that matter, and many that do not."""
    folder = tmp_path_factory.mktemp("sparse")
    rng = np.random.default_rng(5)
    lines = [
        line[:-1] + "".join(f" noise{k}" for k in rng.integers(0, 3000, 5)) + "\n" for line in lines_of(2500)
    ]
    return write(folder / "train.vw", lines[:2000]), write(folder / "test.vw", lines[2000:])


def sparse(vwlite, path, train, *options) -> dict:
    """Train a model, and return the report."""
    report = path.with_suffix(".report")
    vwlite("train", train, *options, "-m", path, "--report", report, "--quiet")
    return json.loads(report.read_text())


@pytest.fixture(scope="module")
def front(data, tmp_path_factory):
    """A model of the data, and its report."""
    path = tmp_path_factory.mktemp("front") / "m"
    return path, sparse(run_here, path, data[0], "--sparse")


def chosen_of(report: dict) -> dict:
    """The point of the front that is chosen, which is the model's."""
    (found,) = (p for p in report["front"] if p["chosen"])
    assert report["chosen"].items() >= {k: v for k, v in found.items() if k != "chosen"}.items()
    return found


def test_a_small_model_keeps_most_of_the_gain(vwlite, data, tmp_path):
    train, test = data
    report = sparse(vwlite, tmp_path / "m", train, "--sparse")
    chosen, model, p = report["chosen"], model_of(tmp_path / "m"), chosen_of(report)
    assert model.algorithm == "adagrad-rda" and in_json(model.chosen) == chosen
    assert (model.options["l1"], model.options["learning_rate"]) == (p["l1"], p["learning_rate"])
    assert report["results"]["nonzero_weights"] == p["nonzero_weights"] < 200 < 2000 < len(model.keys)
    vwlite("train", train, *LOGISTIC, "-m", tmp_path / "auto")
    auto = model_of(tmp_path / "auto").chosen
    assert chosen["largest_gain"] == pytest.approx(auto["baseline"] - auto["loss"], rel=1e-12)
    assert chosen["baseline"] - p["loss"] == pytest.approx(chosen["kept"] * chosen["largest_gain"])
    assert chosen["kept"] >= 0.95 or p == report["front"][-1]
    assert all(chosen["baseline"] - q["loss"] < 0.95 * chosen["largest_gain"] for q in report["front"]
               if q["nonzero_weights"] < p["nonzero_weights"])
    dense = loss_on(vwlite, tmp_path / "auto", test)
    assert chosen["baseline"] - loss_on(vwlite, tmp_path / "m", test) > 0.85 * (chosen["baseline"] - dense)


def test_the_front_is_printed_and_reported(vwlite, data, tmp_path):
    train, _ = data
    said = vwlite("train", train, "--sparse", "-m", tmp_path / "m", "--report", tmp_path / "r").err.splitlines()
    report = json.loads((tmp_path / "r").read_text())
    front = report["front"]
    sizes, losses = ([p[name] for p in front] for name in ("nonzero_weights", "loss"))
    assert sizes == sorted(set(sizes)) and losses == sorted(set(losses), reverse=True)
    assert len(front) <= STRENGTHS * len(RATES) * len(PASSES)
    at = said.index("nonzero weights  loss      l1         learning rate  passes")
    rows = said[at + 1 : at + 1 + len(front)]
    assert [int(row.split()[0]) for row in rows] == sizes
    assert [row.endswith("  chosen") for row in rows] == [p["chosen"] for p in front]
    p = chosen_of(report)
    kept = f"keeps {share(report['chosen']['kept'])} of the gain of the default"
    size = f", {p['nonzero_weights']} of "
    assert any(line.startswith("chosen = ") and size in line and kept in line for line in said)


def test_more_of_the_gain_takes_more_weights(vwlite, data, tmp_path):
    train, _ = data
    found = [
        chosen_of(sparse(vwlite, tmp_path / f"m{i}", train, *options))["nonzero_weights"]
        for i, options in enumerate((("--sparse=0.5",), ("--sparse", "0.9"), ("--sparse",), ("--sparse=0.99",)))
    ]
    assert found == sorted(found) and found[0] < found[1] < found[3]
    sparse(vwlite, tmp_path / "n", train, "--sparse=0.9")
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "n").read_bytes()


def test_the_same_bytes_for_any_number_of_threads_and_from_a_cache(vwlite, data, tmp_path):
    train, _ = data
    vwlite("train", train, "--sparse", "-m", tmp_path / "m", *ONE)
    for threads in ("2", "5"):
        vwlite("train", train, "--sparse", "-m", tmp_path / "n", "--threads", threads, "--cache-file", tmp_path / "c")
        assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("at_once", [1, 7, 44])
def test_learners_that_do_not_fit_learn_in_turn(vwlite, data, front, tmp_path, monkeypatch, at_once):
    (path, one), (train, _) = front, data
    monkeypatch.setattr(SparseTrainer, "_fit", lambda run, features, most: at_once)
    other = sparse(vwlite, tmp_path / "n", train, "--sparse")
    assert path.read_bytes() == (tmp_path / "n").read_bytes() and one["front"] == other["front"]


def test_a_learner_that_does_not_fit(vwlite, data, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.sparse_trainer.available_memory", lambda: 1000)
    said = vwlite("train", data[0], "--sparse", "-m", tmp_path / "m", code=70).err
    assert "use fewer --bits" in said and not (tmp_path / "m").exists()
    said = vwlite("train", data[0], "--sparse", "--passes", "1", "-m", tmp_path / "m", code=70).err
    assert "--nonzeros N" in said


def test_the_model_is_that_of_an_ordinary_run_in_drawn_order(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    drawn = []
    original = DrawnExamples.of
    keep = staticmethod(lambda *a: drawn.append(original(*a)) or drawn[-1])
    monkeypatch.setattr("vwlite.training.auto.sparse_trainer.DrawnExamples.of", keep)
    searches = []
    begin = FoldSearch.__init__
    monkeypatch.setattr(FoldSearch, "__init__", lambda search, *a: searches.append(search) or begin(search, *a))
    report = sparse(vwlite, tmp_path / "m", train, "--sparse")
    vwlite("train", train, "--loss", "logistic", "--algorithm", "adagrad-rda", "-m", tmp_path / "usual",
           *(part for name in ("l1", "learning_rate") for part in (f"--{name.replace('_', '-')}",
                                                                   repr(report["chosen"][name]))),
           "--normalize", report["chosen"]["normalize"])
    usual, found = model_of(tmp_path / "usual"), model_of(tmp_path / "m")
    assert found.options == usual.options and found.keys.tolist() == usual.keys.tolist()
    number = report["chosen"]["passes"]
    learner = learned_by(usual.options, drawn[0], number)
    expected = np.zeros(len(found.keys))
    learner.rule.weights(learner.rule.slots(), expected)
    assert found.weights.tolist() == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-9)
    loss = weight = 0.0
    for fold in searches[0].folds:
        judge = learned_by(usual.options, fold.learned, number)
        before = judge.progressive.loss, judge.progressive.weight
        for batch in fold.judged.batches():
            for line in range(len(batch)):  # a copy predicts one row, and is thrown away
                copy = learned_copy(judge, usual.options)
                copy.run(batch, line, line + 1)
                loss, weight = loss + copy.progressive.loss, weight + copy.progressive.weight
        assert (judge.progressive.loss, judge.progressive.weight) == before
    assert weight == 2000 and report["chosen"]["loss"] == pytest.approx(loss / weight, rel=1e-6)
    assert report["results"]["out_of_fold_average_loss"] == pytest.approx(loss / weight, rel=1e-6)


def learned_by(options, examples, passes):
    """An ordinary learner, after so many passes."""
    learner = make_learner(Settings.restored(options))
    for _ in range(passes):
        learner.begin_pass()
        for batch in examples.batches():
            learner.run(batch)
    return learner


def learned_copy(learner, options):
    """A new learner with the same weights."""
    found = make_learner(Settings.restored(options))
    found.rule.load(learner.rule.scalars(), learner.rule.slots())
    return found


# --- tables ------------------------------------------------------------------------------------


def table(n: int, seed: int, true: int = 4, others: int = 30) -> list[str]:
    """Rows whose label depends on a few columns: the first one by a curve with a top in the middle."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, true + others)).round(3)
    score = 4 * (np.abs(x[:, 0]) < 0.7) - 2 + x[:, 1:true] @ np.full(true - 1, 1.5)
    y = rng.random(n) < 1 / (1 + np.exp(-score))
    header = "y," + ",".join(f"c{k}" for k in range(true + others)) + "\n"
    return [header, *(f"{int(a)},{','.join(map(str, row))}\n" for a, row in zip(y, x.tolist(), strict=True))]


@pytest.mark.long
def test_a_table_of_few_true_columns_has_few_weights(vwlite, tmp_path):
    """The curve takes hats of its column: with the columns as they are, nothing keeps so much."""
    train, test = (write(tmp_path / f"{k}.csv", table(4000, k)) for k in range(2))
    report = sparse(vwlite, tmp_path / "m", train, "--label", "y", "--sparse")
    vwlite("train", train, "--label", "y", "-m", tmp_path / "auto")
    chosen, auto = report["chosen"], model_of(tmp_path / "auto").chosen
    assert chosen["largest_gain"] == pytest.approx(auto["baseline"] - auto["loss"], rel=1e-12)
    assert chosen["kept"] >= 0.95 and chosen["nonzero_weights"] < 40
    model = model_of(tmp_path / "m")
    assert model.options["derived"] is not None and len(model.keys) > 200
    losses = [loss_on(vwlite, tmp_path / name, test) for name in ("m", "auto")]
    assert chosen["baseline"] - losses[0] > 0.9 * (chosen["baseline"] - losses[1])
    said = vwlite("train", train, "--label", "y", "--sparse", "--derive", "none", "-m", tmp_path / "n").err
    assert model_of(tmp_path / "n").options.get("derived") is None and "features:" not in said


def test_products_are_learned_and_the_model_is_read_again(vwlite, tmp_path):
    """The label is that of a product of two columns, some of whose cells are missing."""
    rng = np.random.default_rng(3)
    a, b, noise = rng.choice([0, 1], 3000), rng.choice([0, 1], 3000), rng.normal(0, 1, 3000)
    y = (a ^ b) ^ (rng.random(3000) < 0.05)
    rows = [f"{k},{'' if i % 50 == 0 else 'uv'[p]},{'xy'[q]},{z:.3f}\n"
            for i, (k, p, q, z) in enumerate(zip(y, a, b, noise, strict=True))]
    train, test = (write(tmp_path / name, ["y,a,b,c\n", *some]) for name, some in
                   (("d.csv", rows[:2500]), ("t.csv", rows[2500:])))
    report = sparse(vwlite, tmp_path / "m", train, "--label", "y", "--sparse")
    assert model_of(tmp_path / "m").options["derived"]["products"] and report["chosen"]["kept"] >= 0.95
    assert loss_on(vwlite, tmp_path / "m", test) < 0.5 * report["chosen"]["baseline"]
    vwlite("train", test, "-i", tmp_path / "m", "-m", tmp_path / "n")
    assert loss_on(vwlite, tmp_path / "n", test) < 0.5 * report["chosen"]["baseline"]


def test_a_share_that_is_not_reached_is_noted(vwlite, data, tmp_path):
    said = vwlite("train", data[0], "--sparse=0.999", "-m", tmp_path / "m").err
    assert "note: no sparse model that was tried keeps 99.9 % of the gain of the default; the model is the one" in said
    assert "no sparse model" not in vwlite("train", data[0], "--sparse=0.5", "-m", tmp_path / "m").err


def test_shares_are_rounded_down():
    assert [share(x) for x in (0.94999, 0.95, 0.9999, 0.5, 1.0)] == ["94.9 %", "95 %", "99.9 %", "50 %", "100 %"]


def test_it_continues(vwlite, data, tmp_path):
    train, test = data
    before = sparse(vwlite, tmp_path / "m", train, "--sparse")
    vwlite("train", test, "-i", tmp_path / "m", "-m", tmp_path / "n")
    now = model_of(tmp_path / "n")
    assert now.algorithm == "adagrad-rda" and now.counters["examples"] == 2500 and not now.chosen
    assert now.options["l1"] == before["chosen"]["l1"]


@pytest.mark.parametrize("loss", ["squared", "poisson", "quantile", "huber"])
def test_other_losses(vwlite, tmp_path, loss):
    lines = lines_of(2000, 4, loss=loss, offset={"poisson": 0, "quantile": 1e3}.get(loss, 1e6), size=50)
    train, test = write(tmp_path / "d.vw", lines[:1500]), write(tmp_path / "t.vw", lines[1500:])
    report = sparse(vwlite, tmp_path / "m", train, "--sparse", "--loss", loss)
    baseline = report["chosen"]["baseline"]
    assert report["chosen"]["loss"] < {"squared": 0.3, "poisson": 0.9}.get(loss, 0.5) * baseline
    assert loss_on(vwlite, tmp_path / "m", test) < 1.1 * report["chosen"]["loss"] + 0.02 * abs(baseline)
    vwlite("train", test, "-i", tmp_path / "m", "-m", tmp_path / "n")
    assert loss_on(vwlite, tmp_path / "n", test) < 1.3 * report["chosen"]["loss"] + 0.02 * abs(baseline)


# --- streams -----------------------------------------------------------------------------------


def test_a_short_stream_is_a_file(vwlite, data, tmp_path):
    train, _ = data
    vwlite("train", train, "--sparse", "-m", tmp_path / "m")
    finish(start("train", "--sparse", "-m", tmp_path / "n"), Path(train).read_bytes())
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_a_stream_is_learned_as_it_comes(vwlite, data, tmp_path):
    train, test = data
    report = sparse(vwlite, tmp_path / "m", train, "--sparse", "--passes", "1", *ONE)
    other = sparse(vwlite, tmp_path / "n", train, "--sparse", "--passes", "1", "--threads", "3")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert report["front"] == other["front"] and report["results"]["number_of_examples"] == 2000
    assert loss_on(vwlite, tmp_path / "m", test) < 1.2 * chosen_of(report)["loss"]


def test_a_stream_longer_than_what_is_kept(vwlite, data, tmp_path, monkeypatch):
    train, test = data
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 700)
    lines = Path(train).read_text().splitlines(keepends=True)
    lines.insert(900, "'unlabelled |a f1\n")
    lines.insert(1500, "\n")
    report = sparse(vwlite, tmp_path / "m", write(tmp_path / "d.vw", lines), "--sparse", "--passes", "1")
    assert report["results"]["number_of_examples"] == 2001 and report["results"]["unlabelled_examples"] == 1
    assert loss_on(vwlite, tmp_path / "m", test) < 1.2 * chosen_of(report)["loss"]


def test_a_stream_in_order_is_noticed(vwlite, data, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 100)
    lines = sorted(Path(data[0]).read_text().splitlines(keepends=True))
    train = write(tmp_path / "d.vw", lines)
    assert "seem to be in order" in vwlite("train", train, "--sparse", "--passes", "1", "-m", tmp_path / "m").err
    assert "seem to be in order" not in vwlite("train", train, "--sparse", "-m", tmp_path / "m").err


# --- little data, and what is refused --------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_very_few_examples(vwlite, tmp_path, n):
    lines = [f"{1 if i % 2 else -1} |a x{i % 2} y{i}\n" for i in range(n)]
    report = sparse(vwlite, tmp_path / "m", write(tmp_path / "d.vw", lines), "--sparse", "--loss", "logistic")
    assert report["results"]["number_of_examples"] == n
    vwlite("predict", "-m", tmp_path / "m", tmp_path / "d.vw")


@pytest.mark.parametrize(("label", "options"), [("1", ("--loss", "logistic")), ("-1", ()), ("7", ()), ("0", ())])
@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_equal_labels_give_the_intercept_alone(vwlite, tmp_path, label, options, passes):
    train = write(tmp_path / "d.vw", [f"{label} |a x{i}\n" for i in range(30)])
    said = vwlite("train", train, "--sparse", *options, *passes, "-m", tmp_path / "m").err
    assert "the intercept alone" in said and "nonzero weights = 0" in said
    vwlite("train", train, *LOGISTIC[:2], *options, "-m", tmp_path / "auto")
    found, expected = (vwlite("predict", "-m", tmp_path / name, train).out.split() for name in ("m", "auto"))
    assert [float(x) for x in found] == pytest.approx([float(x) for x in expected], rel=1e-5, abs=1e-9)


def test_noise_gives_the_intercept_alone(vwlite, tmp_path):
    """Learners of noise are better than a constant in some draws; the default seldom is at the same time."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        lines = [f"{rng.choice([-1, 1])} |a x{rng.integers(100)} y{rng.integers(100)}\n" for _ in range(200)]
        report = sparse(vwlite, tmp_path / "m", write(tmp_path / "d.vw", lines), "--sparse")
        found.append(report["results"]["nonzero_weights"])
    assert sum(n > 0 for n in found) <= 1


def test_a_share_that_no_learner_keeps_gives_the_best_one(vwlite, data, tmp_path):
    train, _ = data
    said = vwlite("train", train, "--sparse=0.999999", "-m", tmp_path / "m", "--report", tmp_path / "r").err
    report = json.loads((tmp_path / "r").read_text())
    assert report["chosen"]["kept"] < 0.999999 and report["front"][-1]["chosen"]
    assert f"keeps {share(report['chosen']['kept'])} of the gain of the default" in said
    assert "note: no sparse model that was tried keeps 99.9 % of the gain of the default" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sparse=0",), "it must be above 0 and below 1"),
        (("--sparse", "1.5"), "it must be above 0 and below 1"),
        (("--sparse=many",), "not a number"),
        (("--sparse", "--passes", "2"), "leave --passes out"),
        (("--sparse", "--nonzeros", "10"), "--sparse and --nonzeros cannot be used together"),
        (("--sparse", "--l1", "1e-4"), "--sparse and --l1 cannot be used together"),
        (("--sparse", "-l", "1"), "--sparse and --learning-rate cannot be used together"),
        (("--sparse", "--oaa", "3"), "--sparse and --oaa cannot be used together"),
        (("--sparse", "--loss", "hinge"), "--sparse and --loss hinge cannot be used together"),
        (("--sparse", "--algorithm", "adagrad-rda"), "leave --algorithm adagrad-rda out"),
        (("--sparse", "--normalize", "center"), "--sparse cannot center values"),
        (("--sparse", "--validate", "train.vw"), "--validate has no effect with --sparse"),
        (("--sparse", "-p", "p"), "--predictions has no effect with --sparse"),
    ],
)
def test_what_is_refused(vwlite, data, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(Path(data[0]).parent)
    assert said in vwlite("train", "train.vw", *options, "-m", tmp_path / "m", code=2).err
    assert not (tmp_path / "m").exists()


def test_a_model_is_not_continued_by_it(vwlite, data, tmp_path):
    vwlite("train", data[1], "--sparse", "-m", tmp_path / "m")
    assert "leave -i out" in vwlite("train", data[1], "--sparse", "-i", tmp_path / "m", code=2).err
