"""`vwlite train --algorithm auto` with several classes"""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from running import finish, run_here, start
from test_auto import report_of, write

from vwlite.model.header import check_header, in_json
from vwlite.model.read import read_model
from vwlite.training.auto import class_trainer, classes, selection

CLASSES = 4
AUTO = ("--algorithm", "auto", "--oaa", str(CLASSES))


def lines_of(n: int, seed: int = 0, names=("1", "2", "3", "4")) -> list[str]:
    """VW text of a planted model over twenty columns, some of them rare; classes of different sizes."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(99).normal(0, 1, (len(names), 20))
    found = []
    for i in range(n):
        has = rng.random(20) < np.linspace(1, 0.1, 20)
        x = np.round(rng.normal(0, 1, 20), 3) * has
        y = names[(truth @ x + np.linspace(0, 1, len(names)) + rng.gumbel(0, 0.7, len(names))).argmax()]
        features = " ".join(f"f{k}:{x[k]}" for k in np.flatnonzero(has))
        found.append(f"{y} 'line{i}|a {features}\n")
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("auto")
    lines = lines_of(1600)
    return write(folder / "train.vw", lines[:1000]), write(folder / "test.vw", lines[1000:])


def numbers_in(path) -> np.ndarray:
    """Those of the classes, in each line."""
    rows = [line.split() for line in path.read_text().splitlines()]
    return np.array([[float(x.split(":")[1]) for x in row if ":" in x] for row in rows])


def results_on(vwlite, model, test) -> dict:
    report = model.with_suffix(".json")
    vwlite("predict", "-m", model, test, "-p", "/dev/null", "--report", report, "--quiet")
    return report_of(report)["results"]


def test_it_is_as_good_as_gd_with_its_best_rate(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *AUTO, "-m", tmp_path / "auto")
    own = results_on(vwlite, tmp_path / "auto", test)
    single = []
    for rate in ("0.1", "0.5", "2"):
        vwlite("train", train, "--oaa", "4", "--loss", "logistic", "-l", rate, "--passes", "10", "-m", tmp_path / "gd",
               "--quiet")
        single.append(results_on(vwlite, tmp_path / "gd", test))
    assert own["log_loss"] < min(one["log_loss"] for one in single)
    assert own["average_loss"] < 1.1 * min(one["average_loss"] for one in single)


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A folder with a model, predictions and scores."""
    folder = tmp_path_factory.mktemp("learned")
    run_here("train", data[0], *AUTO, "-m", folder / "m", "-p", folder / "p", "-r", folder / "r")
    return folder


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_the_same_bytes_for_any_number_of_threads_and_from_a_cache(vwlite, data, whole, tmp_path, threads):
    train, _ = data
    for _ in range(2):
        vwlite("train", train, *AUTO, "-m", tmp_path / "n", "-p", tmp_path / "q", "-r", tmp_path / "s", "--threads",
               threads, "--cache-file", tmp_path / "c")
        for one, other in (("m", "n"), ("p", "q"), ("r", "s")):
            assert (whole / one).read_bytes() == (tmp_path / other).read_bytes()


def test_standard_input_gives_the_bytes_of_the_file(data, whole, tmp_path):
    train, _ = data
    finish(start("train", *AUTO, "-m", tmp_path / "n", "-p", tmp_path / "q"), Path(train).read_bytes())
    assert (whole / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert (whole / "p").read_bytes() == (tmp_path / "q").read_bytes()


def test_a_matrix_gives_the_bytes_of_its_text(vwlite, tmp_path):
    from vwlite import SparseClassifier

    rng = np.random.default_rng(3)
    x = np.round(rng.normal(5, 2, (400, 3)), 2)
    y = ((x - 5) @ rng.normal(0, 1, (3, 3)) + rng.normal(0, 1, (400, 3))).argmax(axis=1) + 1
    rows = [" ".join(f"{k}:{v}" for k, v in enumerate(row)) for row in x]
    lines = [f"{label} {row}\n" for label, row in zip(y, rows, strict=True)]
    train = write(tmp_path / "d.libsvm", lines)
    vwlite("train", train, "--format", "libsvm", "--algorithm", "auto", "--oaa", "3", "-m", tmp_path / "m")
    made = SparseClassifier(algorithm="auto", oaa=3).fit(x, y)
    made.save(tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    probabilities = made.predict_proba(x)
    vwlite("predict", "-m", tmp_path / "m", train, "--format", "libsvm", "-p", tmp_path / "p", "--probabilities")
    assert probabilities == pytest.approx(numbers_in(tmp_path / "p"), abs=1e-6)
    scores = made.decision_function(x)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert probabilities == pytest.approx(shares / shares.sum(axis=1, keepdims=True), rel=1e-12)
    assert (made.predict(x) == scores.argmax(axis=1) + 1).all()
    named = SparseClassifier(algorithm="auto").fit(x, np.array(["", "red", "green", "blue"])[y])
    assert named.predict_proba(x) == pytest.approx(probabilities[:, [2, 1, 0]], abs=0.02)
    with pytest.raises(ValueError, match="leave passes 1 out"):
        SparseClassifier(algorithm="auto", passes=1).fit(x, y)
    with pytest.raises(ValueError, match="several classes from all rows at once"):
        SparseClassifier(algorithm="auto").partial_fit(x, y, classes=[1, 2, 3])


def test_probabilities_are_the_softmax_of_the_scores(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *AUTO, "-m", tmp_path / "m")
    vwlite("predict", "-m", tmp_path / "m", test, "-p", tmp_path / "p", "-r", tmp_path / "r", "--probabilities",
           "--report", tmp_path / "j")
    p, scores = numbers_in(tmp_path / "p"), numbers_in(tmp_path / "r")
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert p == pytest.approx(shares / shares.sum(axis=1, keepdims=True), abs=1e-5)
    labels = np.array([int(line.split()[0]) for line in Path(test).read_text().splitlines()])
    expected = -np.log(p[np.arange(len(p)), labels - 1]).mean()
    assert report_of(tmp_path / "j")["results"]["log_loss"] == pytest.approx(expected, rel=1e-3)
    header = read_model(str(tmp_path / "m")).header()
    assert header["format"] == 3 and header["options"]["softmax_probabilities"] and header["algorithm"] == "gd"


def test_out_of_fold_predictions_are_in_the_order_of_the_data(vwlite, tmp_path):
    """Random labels cannot be predicted; but learned by heart, as there are more features than lines."""
    rng = np.random.default_rng(1)
    labels = rng.choice(["1", "2", "3", "4"], 300)
    words = [" ".join(f"w{word}" for word in rng.integers(0, 4000, 20)) for _ in labels]
    lines = [f"{y} 'row{i}|a {text}\n" for i, (y, text) in enumerate(zip(labels, words, strict=True))]
    lines.insert(7, "\n")
    lines.insert(20, "'unlabelled |a w1\n")
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, *AUTO, "-p", tmp_path / "p", "-m", tmp_path / "m")
    found = (tmp_path / "p").read_text().split("\n")[:-1]
    assert len(found) == 302 and found[7] == "" and found[0].endswith("row0") and found[20].endswith("unlabelled")
    predicted = np.array([line.split()[0] for line in found if "row" in line])
    assert abs((predicted == labels).mean() - 0.25) < 0.1


def test_the_summary_is_of_out_of_fold_predictions(vwlite, data, tmp_path):
    train, test = data
    said = vwlite("train", train, *AUTO, "-m", tmp_path / "m", "-p", tmp_path / "p", "--report", tmp_path / "r").err
    report = report_of(tmp_path / "r")
    results, chosen = report["results"], report["chosen"]
    labels = [line.split()[0] for line in Path(train).read_text().splitlines()]
    found = [line.split()[0] for line in (tmp_path / "p").read_text().splitlines()]
    wrong = np.mean([one != other for one, other in zip(labels, found, strict=True)])
    assert results["out_of_fold_average_loss"] == pytest.approx(wrong)
    assert results["out_of_fold_log_loss"] == pytest.approx(chosen["loss"], rel=1e-6)
    assert np.trace(results["out_of_fold_confusion_matrix"]["rows"]) == round(1000 * (1 - wrong))
    shares = np.unique(labels, return_counts=True)[1] / 1000
    assert chosen["baseline"] == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-9)
    assert "out-of-fold log loss" in said and "chosen = " in said and "auc" not in said
    assert results_on(vwlite, tmp_path / "m", test)["log_loss"] < 1.15 * chosen["loss"]
    assert chosen == in_json(read_model(str(tmp_path / "m")).chosen)
    assert "softmax_probabilities" in vwlite("info", tmp_path / "m", "--json").out


def test_sorted_and_repeated_lines(vwlite, data, whole, tmp_path):
    train, test = data
    lines = Path(train).read_text().splitlines(keepends=True)
    usual = results_on(vwlite, whole / "m", test)["log_loss"]
    vwlite("train", write(tmp_path / "sorted.vw", sorted(lines)), *AUTO, "-m", tmp_path / "sorted")
    assert results_on(vwlite, tmp_path / "sorted", test)["log_loss"] < 1.1 * usual
    twice = write(tmp_path / "twice.vw", [line for line in lines for _ in range(2)])
    vwlite("train", twice, *AUTO, "-m", tmp_path / "twice", "--report", tmp_path / "r")
    after = results_on(vwlite, tmp_path / "twice", test)["log_loss"]
    assert after < 1.1 * usual and report_of(tmp_path / "r")["chosen"]["loss"] > 0.85 * after


def test_examples_that_the_stack_has_not_seen(vwlite, data, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.selection.MOST_SCORED", 4 * 300)
    train, _ = data
    vwlite("train", train, *AUTO, "-m", tmp_path / "m", "-p", tmp_path / "p", "--report", tmp_path / "r")
    report = report_of(tmp_path / "r")
    assert report["results"]["out_of_fold_log_loss"] < 1.2 * report["chosen"]["loss"]


def test_a_file_to_validate_with(vwlite, data, tmp_path):
    train, test = data
    said = vwlite("train", train, *AUTO, "--validate", test, "-m", tmp_path / "m", "--report", tmp_path / "r").err
    report = report_of(tmp_path / "r")
    assert "validation log loss" in said and report["results"]["number_of_examples"] == 1000
    claimed = report["results"]["validation_log_loss"]
    assert claimed == pytest.approx(report["chosen"]["loss"], rel=1e-6)
    assert results_on(vwlite, tmp_path / "m", test)["log_loss"] == pytest.approx(claimed, rel=0.05)


@pytest.mark.parametrize("how", [("--classes", "a,b,c,d"), ("--oaa", "9", "--classes", "auto")])
def test_names(vwlite, tmp_path, how):
    numbers = lines_of(500)
    lines = ["abcd"[int(line[0]) - 1] + line[1:] for line in numbers]
    train = write(tmp_path / "d.vw", lines)
    vwlite("train", train, "--algorithm", "auto", *how, "-m", tmp_path / "m", "-p", tmp_path / "p")
    model = read_model(str(tmp_path / "m"))
    vwlite("train", write(tmp_path / "n.vw", numbers), *AUTO, "-m", tmp_path / "n", "-p", tmp_path / "q")
    found = [line.split()[0] for line in (tmp_path / "p").read_text().splitlines()]
    expected = ["abcd"[int(line.split()[0]) - 1] for line in (tmp_path / "q").read_text().splitlines()]
    assert sum(one != other for one, other in zip(found, expected, strict=True)) <= 5  # sums in another order
    if "auto" in how:  # classes that may still come have learned that no example was of them
        assert set(model.classes) == set("abcd")
        weights = np.array(model.weights).reshape(-1, 9)
        assert (weights[:, 4] == weights[:, 8]).all() and weights[:, 4].any()
        more = write(tmp_path / "more.vw", [line.replace("a '", "e '") for line in lines])
        vwlite("train", more, "-i", tmp_path / "m", "-m", tmp_path / "more")
        assert "e" in read_model(str(tmp_path / "more")).classes


def test_a_model_is_continued_by_gd(vwlite, data, tmp_path):
    train, test = data
    vwlite("train", train, *AUTO, "-m", tmp_path / "m")
    vwlite("train", test, "-i", tmp_path / "m", "-m", tmp_path / "n")
    before, after = (results_on(vwlite, tmp_path / name, test) for name in "mn")
    assert after["average_loss"] < before["average_loss"]
    model = read_model(str(tmp_path / "n"))
    assert model.algorithm == "gd" and model.options["softmax_probabilities"]


# --- bad input -----------------------------------------------------------------------------------


def learned(vwlite, folder, lines, *options, how=AUTO) -> dict:
    """The report of a run over these lines; its model predicts them."""
    train = write(folder / "d.vw", lines)
    vwlite("train", train, *how, *options, "-m", folder / "m", "-p", folder / "p", "--report", folder / "r")
    assert np.isfinite(read_model(str(folder / "m")).weights).all()
    assert len((folder / "p").read_text().splitlines()) == len(lines)
    return report_of(folder / "r") | {"again": results_on(vwlite, folder / "m", train)}


@pytest.mark.parametrize("options", [(), ("--no-constant",)])
def test_one_class(vwlite, tmp_path, options):
    lines = [f"2 |a x:{1 + i % 7}\n" for i in range(100)]
    report = learned(vwlite, tmp_path, lines, *options)
    assert report["again"]["average_loss"] == 0 and report["again"]["log_loss"] < 0.1
    assert ("model" in report["chosen"]) == (not options)


def test_one_example_of_a_class(vwlite, tmp_path):
    lines = lines_of(300)
    lines.insert(100, "4 |a rare\n")
    kept = [line for line in lines if line[0] != "4" or "rare" in line]
    report = learned(vwlite, tmp_path, kept)
    assert report["chosen"]["loss"] < 0.8 * report["chosen"]["baseline"]


def test_fewer_examples_than_folds_need(vwlite, tmp_path):
    for n in (1, 2, 3, 9):
        learned(vwlite, tmp_path, lines_of(n))


def test_no_example(vwlite, tmp_path):
    for how in (AUTO, ("--algorithm", "auto", "--oaa", "5", "--classes", "auto")):
        train = write(tmp_path / "d.vw", ["|a x\n"] * 3)
        said = vwlite("train", train, *how, "-m", tmp_path / "m", code=65).err
        assert "no example was learned" in said
        vwlite("train", train, *how, "-m", tmp_path / "m", "--allow-empty", "-p", tmp_path / "p")
        vwlite("predict", "-m", tmp_path / "m", train)


def test_examples_of_importance_0_are_predicted_only(vwlite, tmp_path):
    lines = lines_of(400)
    usual = learned(vwlite, tmp_path, lines)["chosen"]
    without = [line.replace(" '", " 0 '", 1) if i % 2 else line for i, line in enumerate(lines)]
    half = learned(vwlite, tmp_path, without)["chosen"]
    assert half == learned(vwlite, tmp_path, lines[::2])["chosen"] != usual


def test_importance_weighs_like_repetition(vwlite, tmp_path):
    """Baselines at least; folds and order differ."""
    lines = lines_of(300)
    heavy = learned(vwlite, tmp_path, [line.replace(" '", f" {1 + i % 3} '", 1) for i, line in enumerate(lines)])
    repeated = learned(vwlite, tmp_path, [line for i, line in enumerate(lines) for _ in range(1 + i % 3)])
    assert heavy["chosen"]["baseline"] == pytest.approx(repeated["chosen"]["baseline"], rel=1e-12)


def test_two_classes(vwlite, tmp_path):
    lines = lines_of(500, names=("1", "2"))
    report = learned(vwlite, tmp_path, lines, how=("--algorithm", "auto", "--oaa", "2"))
    binary = [line.replace("2", "-1", 1) if line[0] == "2" else line for line in lines]
    other = learned(vwlite, tmp_path, binary, how=("--algorithm", "auto", "--loss", "logistic"))
    assert report["again"]["log_loss"] == pytest.approx(other["again"]["average_loss"], rel=0.1)


def test_constant_features(vwlite, tmp_path):
    lines = [f"{1 + i % 3} |a x:5 y\n" for i in range(300)]
    report = learned(vwlite, tmp_path, lines)
    assert report["again"]["log_loss"] == pytest.approx(np.log(3), rel=0.01)


@pytest.mark.parametrize("options", [(), ("--on-error", "skip")])
def test_a_label_that_is_none_of_the_classes(vwlite, tmp_path, options):
    train = write(tmp_path / "d.vw", [*lines_of(50), "5 |a x\n", "1.5 |a x\n", "0 |a x\n"])
    said = vwlite("train", train, *AUTO, *options, "-m", tmp_path / "m", code=0 if options else 65).err
    assert "--oaa 4 takes whole numbers from 1 to 4" in said


@pytest.mark.parametrize("value", ["1e38", "-3e38", "1e-44", "0", "3e-39"])
def test_values_of_any_size(vwlite, tmp_path, value):
    learned(vwlite, tmp_path, [line.replace("|a", f"|a odd:{value}") if i % 2 else line
                               for i, line in enumerate(lines_of(60))])


def test_initial_predictions_shift_all_classes(vwlite, tmp_path):
    lines = [line.replace(" '", f" 1 {i % 5 - 2} '", 1) for i, line in enumerate(lines_of(500))]
    report = learned(vwlite, tmp_path, lines)
    assert report["again"]["log_loss"] < 0.8 * report["chosen"]["baseline"]
    assert report["results"]["out_of_fold_log_loss"] == pytest.approx(report["chosen"]["loss"], rel=1e-6)


@pytest.mark.parametrize("normalize", ["none", "l2", "log", "center"])
def test_each_normalization_without_an_intercept_or_with(vwlite, data, tmp_path, normalize):
    train, test = data
    for more in ((), ("--no-constant",)) if normalize != "center" else ((),):
        vwlite("train", train, *AUTO, "--normalize", normalize, *more, "-m", tmp_path / "m", "--report", tmp_path / "r")
        claimed = report_of(tmp_path / "r")["chosen"]["loss"]
        assert results_on(vwlite, tmp_path / "m", test)["log_loss"] < 1.15 * claimed


def test_values_far_from_zero(vwlite, tmp_path):
    """Only `center` learns from them, and the intercepts have all digits."""
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(0, 1, (600, 3)), 2)
    y = (x @ rng.normal(0, 1, (3, 3))).argmax(axis=1) + 1
    lines = [f"{label} |a p:{a} q:{b} r:{c}\n" for label, (a, b, c) in zip(y, x + 1e4, strict=True)]
    report = learned(vwlite, tmp_path, lines, how=("--algorithm", "auto", "--oaa", "3"))
    assert report["chosen"]["normalize"] == "center" and report["again"]["average_loss"] < 0.1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--passes", "1"), "leave --passes 1 out"),
        (("--loss", "squared"), "--algorithm auto cannot learn classes from --loss squared"),
        (("--softmax",), "without --softmax"),
        (("--oaa", "1001"), "at most 1,000 classes: use --algorithm gd"),
        (("--learning-rate", "0.1"), "it tries several learning rates"),
    ],
)
def test_what_is_refused(vwlite, data, tmp_path, options, said):
    assert said in vwlite("train", data[0], *AUTO, *options, "-m", tmp_path / "m", code=2).err
    assert not (tmp_path / "m").exists()


def test_too_little_memory_is_known_before(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    monkeypatch.setattr("vwlite.training.auto.race.available_memory", lambda: 20_000)
    said = vwlite("train", train, *AUTO, "-m", tmp_path / "m", code=70).err
    assert "use --algorithm gd" in said and not (tmp_path / "m").exists()


def test_one_after_the_other_where_memory_holds_one(vwlite, data, tmp_path, monkeypatch):
    train, _ = data
    vwlite("train", train, *AUTO, "-m", tmp_path / "m")
    monkeypatch.setattr("vwlite.training.auto.race.available_memory", lambda: 100_000)
    vwlite("train", train, *AUTO, "-m", tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_older_programs_refuse_the_model(vwlite, data, tmp_path):
    """... and this one a model that claims to be older than its options."""
    vwlite("train", data[0], *AUTO, "--normalize", "none", "-m", tmp_path / "m")
    header = read_model(str(tmp_path / "m")).header()
    check_header(header)
    with pytest.raises(ValueError, match="has no option softmax_probabilities"):
        check_header(header | {"format": 2})


def test_models_of_gd_stay(vwlite, data, tmp_path):
    vwlite("train", data[0], "--algorithm", "gd", "--oaa", "4", "--loss", "logistic", "-m", tmp_path / "m")
    header = read_model(str(tmp_path / "m")).header()
    assert header["format"] == 1 and "softmax_probabilities" not in header["options"]


def least_until(report: dict, name: str, number: int) -> float:
    """The least loss of a normalization in its first passes."""
    passes = [c for c in report["candidates"] if c["normalize"] == name and c["pass"] <= number]
    return min(loss for c in passes for loss in [*c["losses"].values(), c["stacked"]])


@pytest.mark.parametrize("many", [5, 6])
def test_large_data_have_a_short_race_and_many_classes_half_of_the_lanes(vwlite, tmp_path, monkeypatch, many):
    """The definition of the race, by the losses in the report, as if gains had no standard error."""
    compared = selection.difference_of
    monkeypatch.setattr(selection, "difference_of", lambda *given: (*compared(*given)[:2], 0.0))
    names = tuple("abcdef")
    train, test = (write(tmp_path / f"{k}.vw", lines_of(1500, k, names)) for k in range(2))
    losses = []
    for large in (1501, 1500):
        monkeypatch.setattr("vwlite.training.auto.classes.MANY", many)
        monkeypatch.setattr("vwlite.training.auto.classes.SHORT_RACE_FROM", large)
        monkeypatch.setattr("vwlite.training.auto.class_trainer.SHORT_RACE_FROM", large)
        vwlite("train", train, "--classes", "auto", "-m", tmp_path / "m", "--report", tmp_path / "r")
        losses.append(results_on(vwlite, tmp_path / "m", test)["log_loss"])
    assert losses[1] < 1.03 * losses[0]
    report = report_of(tmp_path / "r")
    kinds = {"gd(1)", "nsgd(64)"} if len(names) > many else {"gd(1)", "gd(8)", "nsgd(2)", "nsgd(32)"}
    kinds |= {f"mean of {kind}" for kind in kinds}
    assert set(report["chosen"]["weights"]) == kinds
    assert len(names) == many or "offsets" not in report["chosen"]
    first = {c["normalize"]: min([*c["losses"].values(), c["stacked"]]) for c in report["candidates"] if c["pass"] == 1}
    for name, least in first.items():
        passes = [c for c in report["candidates"] if c["normalize"] == name]
        assert [c["pass"] for c in passes] == list(range(1, len(passes) + 1))
        assert least <= 1.005 * min(first.values()) or len(passes) == 1
        for c in passes[1:]:
            assert set(c["losses"]) == kinds
            loss = min([*c["losses"].values(), c["stacked"]])
            assert loss < least * (1 - 1e-3) or c is passes[-1]
            least = min(loss, least)
    least_of_two = min(least_until(report, name, 2) for name in first)
    for name in first:
        is_near = least_until(report, name, 2) <= 1.001 * least_of_two
        assert is_near or not any(c["normalize"] == name and c["pass"] > 2 for c in report["candidates"])


FEW_KINDS = [("gd", 1), ("nsgd", 64)]
KINDS = [("gd", 1), ("gd", 8), ("nsgd", 2), ("nsgd", 32)]


@pytest.mark.parametrize(
    ("large", "few", "many", "folds", "kinds"),
    [
        (401, 20, 20, 4, KINDS),  # few examples
        (400, 19, 20, 2, KINDS),  # 400 are 20 for each of 20 features
        (400, 20, 20, 4, FEW_KINDS),  # and the intercept is the 21st one
        (400, 20, 2, 2, FEW_KINDS),  # many classes
    ],
)
def test_folds_and_lanes(vwlite, tmp_path, monkeypatch, large, few, many, folds, kinds):
    """Copies share a fold and a half, all halves have examples of all folds, and each lane learns the other folds."""
    monkeypatch.setattr(classes, "MANY", many)
    monkeypatch.setattr(classes, "SHORT_RACE_FROM", large)
    monkeypatch.setattr(class_trainer, "SHORT_RACE_FROM", large)
    monkeypatch.setattr(class_trainer, "FEW_FOR_FEATURES", few)
    found, of_lanes = [], []

    class Watched(classes.ClassSelection):
        def __init__(self, *given, **how):
            super().__init__(*given, **how)
            found.append(self)

    class Lanes(class_trainer.Lanes):
        def __init__(self, loss, expander, rates, folds, *given, **how):
            of_lanes.append((folds, rates))

    monkeypatch.setattr(class_trainer, "ClassSelection", Watched)
    monkeypatch.setattr(class_trainer, "Lanes", Lanes)
    lines = lines_of(300)
    vwlite("train", write(tmp_path / "train.vw", lines + lines[:100]), *AUTO, "-m", tmp_path / "m")
    selection, rates = found[0], [float(rate) for _, rate in kinds]
    assert {(f, tuple(filter(None, r))) for f, r in of_lanes} == {(folds, tuple(rates))}
    number = dict(zip(selection.order, range(400), strict=True))
    assert {*selection.folds} == {*range(folds)}
    assert all(selection.folds[number[i]] == selection.folds[number[i + 300]] for i in range(100))
    for half in selection._halves:
        assert {fold for fold, inside in zip(selection.folds, half, strict=True) if inside} == {*range(folds)}
        assert all(half[number[i]] == half[number[i + 300]] for i in range(100))
    assert all(a + b == 1 for a, b in zip(*selection._halves, strict=True))


@pytest.mark.parametrize("count", [2, 20, 21, 77, 100, 1000])
def test_more_rows_are_more_work(count):
    """The work that is planned, lanes times passes times rows, falls by less than one pass where rows grow."""
    most = 0
    for n in sorted({*range(50, 15_000, 7), 749, 751, 2999, 3000, 4999, 5000, 11_999, 12_000, 49_999}):
        known = SimpleNamespace(examples=n, features=10)
        data = SimpleNamespace(width=count, summary=known, given=None, is_large=False, validation=None)
        grid = class_trainer.ClassGrid(data)
        lanes = sum(rate > 0 for rate in grid.rates) * grid.folds(False)
        work = lanes * grid.most_passes * n
        assert work > most - lanes * n, n
        most = max(work, most)
    assert most == lanes * 8 * 49_999


def test_the_limit_of_passes_falls_as_rows_grow_but_where_passes_end_early():
    expected = {1: 60, 750: 60, 1000: 45, 3000: 15, 4999: 9, 5000: 19, 9600: 10, 12_000: 8, 13_000: 8, 50_000: 8}
    assert {n: classes.most_passes_of_classes(n) for n in expected} == expected
    limits = [classes.most_passes_of_classes(n) for n in range(5000, 20_000)]
    assert all(a >= b for a, b in pairwise(limits))


def test_few_rows_of_many_classes_have_fewer_lanes_and_no_offsets(vwlite, tmp_path, monkeypatch):
    train, test = (write(tmp_path / f"{k}.vw", lines_of(2500, k)) for k in range(2))
    found, losses = [], []
    for many in (CLASSES, CLASSES - 1):
        monkeypatch.setattr("vwlite.training.auto.classes.MANY", many)
        vwlite("train", train, *AUTO, "-m", tmp_path / "m", "--report", tmp_path / "r")
        found.append(report_of(tmp_path / "r")["chosen"])
        losses.append(results_on(vwlite, tmp_path / "m", test)["log_loss"])
    few, of_many = found
    assert "offsets" not in of_many and len(few["weights"]) == 8
    assert of_many["weights"].keys() == {name + kind for name in ("", "mean of ") for kind in ("gd(1)", "nsgd(64)")}
    assert losses[1] < 1.03 * losses[0]


def test_a_model_of_many_classes_goes_on(vwlite, tmp_path, monkeypatch):
    names = tuple("abcdef")
    train, more = (write(tmp_path / f"{k}.vw", lines_of(1000, k, names)) for k in range(2))
    monkeypatch.setattr("vwlite.training.auto.classes.MANY", 5)
    monkeypatch.setattr("vwlite.training.auto.classes.SHORT_RACE_FROM", 1000)
    monkeypatch.setattr("vwlite.training.auto.class_trainer.SHORT_RACE_FROM", 1000)
    vwlite("train", train, "--classes", "auto", "-m", tmp_path / "m")
    before = results_on(vwlite, tmp_path / "m", more)["log_loss"]
    vwlite("train", "-i", tmp_path / "m", train, "-m", tmp_path / "n")
    assert results_on(vwlite, tmp_path / "n", more)["log_loss"] < 1.1 * before
