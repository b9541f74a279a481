"""The figures of the papers: the pieces that they are made of, and that those without public data can be made."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benches import HAS_PICTURES, NO_PICTURE, load, start

from vwlite.core.solve.problem import Problem


@pytest.fixture
def papers() -> Any:
    """The modules of the folder `papers`, by name."""
    names = ("adagrad", "batch", "data", "differences", "figures", "interior", "online", "projections", "stochastic",
             "truncated_gradient")
    return SimpleNamespace(**{name: load(f"papers.{name}") for name in names})


def run(folder: Path, *options: object) -> Any:
    return start("papers", "--quick", "--jobs", "1", "--out", folder, *options)


@pytest.mark.parametrize("names", [["l1-4"], pytest.param(["l1-5", "l1-6", "scd-arcene"], marks=pytest.mark.long)])
def test_figures_of_drawn_data_are_made_and_others_left_out(tmp_path: Path, names: list[str]) -> None:
    out = tmp_path / "out"
    done = run(out, "--data", tmp_path, "--only", *names, "scd-reuters")
    assert f"scd-reuters: left out, as there is no rcv1.train.libsvm.gz in {tmp_path}" in done.stderr
    found = json.loads((out / "papers.json").read_text())["figures"]
    assert set(found) == {*names, "scd-reuters"} and found["scd-reuters"]["missing"] == "rcv1.train.libsvm.gz"
    text = (out / "PAPERS.md").read_text()
    assert "scd-reuters is left out: rcv1.train.libsvm.gz is not there." in text
    for name in names:
        assert f"![{found[name]['title']}](figures/{name}.svg)" in text and f"ONLY={name}`" in text
        assert all(f["verdict"] in ("agrees", "in part", "**no**", "not done") for f in found[name]["findings"])
        for panel in found[name]["panels"]:
            assert panel["series"] and all(np.isfinite(s["y"]).all() and s["y"] for s in panel["series"])
        picture = out / f"figures/{name}.svg"
        assert picture.read_text().startswith("<?xml") if HAS_PICTURES else NO_PICTURE in done.stderr
    run(out, "--draw")
    assert (out / "PAPERS.md").read_text() == text


# --- the table ----------------------------------------------------------------------------------------


def test_a_claim_agrees_as_far_as_its_facts_do(papers) -> None:
    verdicts = [papers.figures.finding("a", "b", *facts).verdict for facts in ((True, True), (True, False), (False,))]
    assert verdicts == ["agrees", "in part", "**no**"]


def test_every_difference_is_somebodys(papers) -> None:
    known = papers.differences.DIFFERENCES
    kept = json.loads((Path(__file__).parent / "papers.json").read_text())["figures"]
    differing = {
        name: [f["claim"] for f in found["findings"] if f["verdict"] in ("in part", "**no**")]
        for name, found in kept.items()
    }
    assert {name: claims for name, claims in differing.items() if claims} == {n: list(c) for n, c in known.items()}
    assert {whose for claims in known.values() for whose, _ in claims.values()} <= {"ours", "paper's"}
    one = papers.figures.finding("a | b", "c", False)
    assert "| a \\| b | c | **no** | ours: d |" in papers.figures.table_of([one], {"a | b": ("ours", "d")})
    agreeing = papers.figures.finding("a", "c", True)
    assert "ours" not in papers.figures.table_of([agreeing], {"a": ("ours", "d")})


def test_curves_are_read_at_a_goal_and_at_a_place(papers) -> None:
    f = papers.figures
    x, y = [0.0, 10.0, 20.0], [5.0, 1.0, 2.0]
    assert f.reached(x, y, 1.5) == 10 and f.reached(x, y, 0.5) is None
    assert [f.value_at(x, y, at) for at in (-1, 0, 9.9, 10, 100)] == [5, 5, 5, 1, 2]
    long = f.thinned(f.Series("s", list(range(1000)), [float(i) for i in range(1000)]), 50)
    assert len(long.x) == 50 and (long.x[0], long.x[-1]) == (0, 999) and long.y == [float(i) for i in long.x]
    assert f.spread([0.1, -0.2, 0.3]) == "from -0.200 to +0.300, median +0.1000"
    assert f.spread([]) == "nothing to compare" and np.isnan(f.middle([]))


# --- the data -----------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(getattr(one, f), getattr(other, f)) for f in ("labels", "begins", "indices", "values"))


def test_text_is_read_as_it_was_written(papers, tmp_path: Path) -> None:
    d = papers.data
    data = d.parse(["1 2:0.5 7:-3", "-1", "2.5 1:1e-3"])
    assert data.features == 7 and data.nonzeros == 3 and data.begins.tolist() == [0, 2, 2, 3]
    assert data.dense().tolist() == [[0, 0.5, 0, 0, 0, 0, -3], [0] * 7, [1e-3, 0, 0, 0, 0, 0, 0]]
    assert same(d.parse(data.write(tmp_path / "text").read_text().splitlines()), data)
    assert same(data.take(np.array([2, 0])), d.parse(["2.5 1:1e-3", "1 2:0.5 7:-3"]))
    named = d.parse_names(["1 |a x:2 y |b x", "-1 |b x:3 x |a y"])
    assert named.dense().tolist() == [[2, 1, 1], [0, 1, 4]]


def test_rows_are_those_of_the_text(papers) -> None:
    d = papers.data
    X = np.array([[0.5, 0, -2], [0, 0, 0], [1, 3, 0]], np.float32)
    rows = d.of_dense(X, np.array([1.0, -1, 1])).rows()
    assert list(rows.keys) == [1, 2, 3] and list(rows.labels) == [1, -1, 1] and rows.nonzeros == 4
    problem = Problem(rows, "squared", constant=False)
    w = np.array([1.0, 2.0, 3.0])
    problem.set(w, 0.0)
    problem.evaluate()
    assert problem.objective == pytest.approx(np.mean((X @ w - [1, -1, 1]) ** 2), rel=1e-12)
    assert d.of_dense(X, np.ones(3)).scores(np.append(0, w), 0.5).tolist() == (X @ w + 0.5).tolist()


def test_columns_are_scaled_and_put_beside(papers) -> None:
    d = papers.data
    one = d.of_dense(np.array([[1.0, -4], [2, 0]]), np.ones(2))
    assert one.scaled_to_one().dense().tolist() == [[0.5, -1], [1, 0]]
    assert one.scaled_to_unit_squares(one).dense()[:, 1].tolist() == pytest.approx([-(2**0.5), 0])
    three = d.of_dense(np.array([[1.0, 0, 3], [3, 0, 3], [9, 2, 4]]), np.ones(3))
    standard = three.standardized(three.take(np.array([0, 1]))).dense()
    assert standard.tolist() == [[-1, 0, 0], [1, 0, 0], [7, 2, 1]]  # by the first two rows
    both = one.beside(d.of_dense(np.array([[0, 1.0], [1, 1]]), np.zeros(2)))
    assert both.dense().tolist() == [[1, -4, 0, 1], [2, 0, 1, 1]] and both.labels.tolist() == [1, 1]


def test_drawn_data_are_the_same_for_a_seed(papers) -> None:
    d = papers.data
    for make in (lambda seed: d.arcene(20, 60, 30, seed),
                 lambda seed: d.random_bits(30, 50, 0.05, np.random.default_rng(seed)),
                 lambda seed: d.random_signs(5, 9, np.random.default_rng(seed))):
        assert same(make(1), make(1)) and not same(make(1), make(2))
    found = d.arcene()
    assert len(found) == 100 and found.features == 10_000 and 0.5 < found.nonzeros / 1e6 < 0.58
    assert found.values.min() > 0 and found.values.max() == 1 and 20 < (found.labels > 0).sum() < 80
    bits = d.random_bits(400, 1000, 0.05, np.random.default_rng(1))
    assert set(bits.values) == {1} and bits.nonzeros / 4e5 == pytest.approx(0.05, abs=0.002)
    assert set(d.random_signs(5, 9, np.random.default_rng(1)).values) == {-1, 1}


def test_the_synthetic_problems_are_as_the_paper_draws_them(papers) -> None:
    X, y, w = papers.data.gaussian(400, "squared")
    assert X.shape == (400, 400) and (w == 0).sum() == 200
    assert np.var(y - X @ w) == pytest.approx(1, abs=0.2)
    X, y, w = papers.data.gaussian(400, "logistic", seed=2)
    assert set(y) == {-1, 1} and (y * (X @ w) < 0).mean() == pytest.approx(0.1, abs=0.04)


# --- truncated gradient, AdaGrad ------------------------------------------------------------------------


def test_the_fewest_features_are_of_a_setting_that_is_good_enough(papers) -> None:
    tried = [((1, 0), 0.90, 50), ((3, 0), 0.95, 60), ((3, 0.1), 0.943, 20), ((1, 0.5), 0.941, 9), ((1, 1), 0.93, 2)]
    assert papers.truncated_gradient.fewest(tried, False) == ((3, 0), (1, 0.5))
    losses = [((1, 0), -1.0, 50), ((1, 0.1), -1.009, 20), ((1, 1), -1.02, 2)]
    assert papers.truncated_gradient.fewest(losses, True) == ((1, 0), (1, 0.1))


def test_the_front_is_chosen_by_validation_and_shows_the_test(papers) -> None:
    t = papers.truncated_gradient
    points = [t.Point(0, 0.99, 0.99), t.Point(2, 0.7, 0.6), t.Point(4, 0.8, 0.9), t.Point(9, 0.75, 1.0)]
    assert dict(zip(t.LIMITS, t.front(points), strict=True)) == {1: 0.5, 2: 0.6} | dict.fromkeys(t.LIMITS[2:], 0.9)


def test_a_path_is_followed_until_a_model_has_too_many_features(papers) -> None:
    t = papers.truncated_gradient
    path = [t.Point(n, 0.9, test) for n, test in ((2, 0.6), (1, 0.7), (7, 0.8), (4, 0.9), (60, 0.55))]
    found = dict(zip(t.LIMITS, t.stopped(path), strict=True))
    assert [found[n] for n in (1, 2, 5, 10, 20, 50, 100, 1000)] == [0.5, 0.7, 0.7, 0.9, 0.9, 0.9, 0.55, 0.55]


def test_a_split_loses_no_row_and_ends_with_shrinking(papers) -> None:
    t, d = papers.truncated_gradient, papers.data
    X = np.arange(1, 114.0)[:, None]
    part = d.of_dense(X, np.ones(113))
    found = t.Split(t.Task("x", part.take(np.arange(93)), part.take(np.arange(93, 113)), False), 1)
    (valid, _), (test, _) = found.others
    assert sorted([*found.fit.values, *valid[:, 0], *test[:, 0]]) == X[:, 0].tolist()
    assert len(found.fit) == 70 and all(len(found.fit) * t.PASSES % k == 0 for k in t.PERIODS)


def test_the_lead_is_the_median_over_splits_of_the_lead_over_the_best(papers) -> None:
    curves = {"a": np.array([[0.9, 0.5], [0.8, 0.7], [0.5, 0.9]]), "b": np.full((3, 2), 0.6), "c": np.full((3, 2), 0.7)}
    assert papers.truncated_gradient.lead(curves, "a", "b", "c") == pytest.approx([0.1, 0.0])
    assert str(papers.truncated_gradient.Mean.of(np.array([1.0, 2.0, 3.0]))) == "2.000 +- 0.577"


def test_the_findings_of_a_made_up_table(papers) -> None:
    a = papers.adagrad
    rows = {"RDA": (0.06, 0.2), "FB": (0.07, 0.4), "AdaGrad-RDA": (0.05, 0.1), "AdaGrad-FB": (0.05, 0.3),
            "PA": (0.08, 0.9), "AROW": (0.04, 0.9)}
    best = {method: {t: a.Cell(*row, []) for t in a.TOPICS} for method, row in rows.items()}
    # The best settings have nothing to say of sparsity: with more weights at lambda 1e-4 RDA is not as sparse.
    alike = {m: {t: {1e-5: cell, 1e-4: a.Cell(0.5, {"RDA": 0.05}.get(m, cell.share), [])} for t, cell in row.items()}
             for m, row in best.items()}
    findings = a.findings_of(best, alike, {"ECAT": (0.004, 0.001), "CCAT": (-0.001, 0.0005)})
    assert [f.verdict for f in findings] == ["agrees", "in part", "agrees", "in part", "not done"]
    assert "AROW 4.0 (0.90)" in findings[1].came and "AdaGrad-RDA on 0 of 4 topics, AROW on 4 of 4" in findings[1].came
    assert findings[1].came.endswith("ECAT +0.40 +- 0.10, CCAT -0.10 +- 0.05")
    expected = "AdaGrad-RDA, RDA: 1e-05 on 4 of 4 topics (0.100, 0.200), 0.0001 on 0 of 4 topics (0.100, 0.050)"
    assert findings[3].came.endswith(expected)


def test_every_document_is_out_of_one_fold(papers, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    data = papers.data.of_dense(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    options = ["--algorithm", "rda", "--loss", "hinge", "-l", 1.0, "--l1", 0.01]
    order = rng.permutation(60)
    (wrong,) = papers.adagrad.out_of_fold(SimpleNamespace(folder=tmp_path), data, {"RDA": options}, order).values()
    for fold in range(papers.adagrad.FOLDS):
        out = order[fold :: papers.adagrad.FOLDS]
        bench = papers.online.Bench(tmp_path)
        bench.add("rest", data.take(np.array([i for i in order if i not in out])))
        held = data.take(out)
        scores = bench.run("rest", held, *options).scores
        assert wrong[out].tolist() == (scores * held.labels <= 0).tolist()
        bench.close()


# --- batch --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_interior_point_method_finds_what_newton_finds(papers, loss: str) -> None:
    X, y, _ = papers.data.gaussian(60, loss)
    problem = Problem(papers.data.of_dense(X, y).rows(), loss, l1=0.0, constant=False)
    problem.set_l1(0.05 * problem.l1_max())
    least = papers.batch.optimum(problem, 1e-10)
    trace = list(papers.interior.interior_point(X, y, loss, problem.l1, 1e-7))
    flops, objectives = zip(*trace, strict=True)
    assert objectives[0] > 1.5 * least and list(flops) == sorted(flops)
    assert objectives[-1] == pytest.approx(least, rel=2e-7)
    assert min(objectives) >= least * (1 - 1e-9)


def test_conjugate_gradients_solve(papers) -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 20))
    A = A @ A.T + np.eye(20)
    right = rng.normal(size=20)
    x, steps = papers.interior.conjugate_gradients(lambda v: A @ v, right, np.diag(A).copy(), np.zeros(20), 1e-10)
    np.testing.assert_allclose(A @ x, right, atol=1e-8)
    assert 0 < steps <= 60


def test_a_solver_is_followed_from_zero(papers) -> None:
    d = papers.data
    problem = Problem(d.arcene(20, 30, 10).rows(), "logistic", l1=1e-3, constant=False)
    papers.batch.optimum(problem)
    trace = papers.batch.follow("scd", problem, accesses=2000, visits=20)
    assert trace.objectives[0] == pytest.approx(np.log(2)) and trace.nonzeros[0] == 0
    assert trace.accesses[-2] < 2000 <= trace.accesses[-1] and trace.accesses == sorted(trace.accesses)
    assert trace.objectives[-1] < trace.objectives[0] and len(trace.seconds) == len(trace.accesses)


def test_the_objective_of_an_online_learner_is_that_of_the_problem(papers, tmp_path: Path, capfd) -> None:
    data = papers.data.arcene(20, 30, 10)
    problem = Problem(data.rows(), "logistic", l1=1e-2, constant=False)
    bench = papers.online.Bench(tmp_path)
    bench.add("data", data)
    options = ["--algorithm", "truncated-gradient", "--loss", "logistic", "-l", 0.01, "--power-t", 0, "--l1", 0.01]
    accesses, objectives, counts = papers.online.trace(bench, "data", problem, options, [1, 3], data.nonzeros)
    assert accesses == [0, data.nonzeros, 3 * data.nonzeros] and objectives[0] == pytest.approx(np.log(2))
    run = bench.run("data", data, *options, "--no-constant", passes=3)
    assert run is not None and counts[-1] == run.nonzeros
    w = np.asarray(problem.w)  # of the last model
    assert objectives[-1] == pytest.approx(np.logaddexp(0, -data.labels * run.scores).mean() + 0.01 * np.abs(w).sum())
    with capfd.disabled():  # what the child says is read
        assert papers.online.unless_diverged(tmp_path, bench.texts["data"], "-l", "1e30", "--algorithm", "sgd") is None
        with pytest.raises(load("papers.online").Refused, match="Usage"):
            papers.online.unless_diverged(tmp_path, bench.texts["data"], "--no-such-option")


@pytest.mark.parametrize(
    "setting",
    [
        {"algorithm": "truncated-gradient", "l1": 0.05, "gravity": "constant", "period": 10},
        {"algorithm": "rounding", "threshold": 0.02, "period": 3},
        {"algorithm": "l1-subgradient", "l1": 0.05, "round_at_end": 0.01},
    ],
)
def test_a_model_learned_in_this_process_is_that_of_the_command(papers, tmp_path: Path, setting: dict) -> None:
    rng = np.random.default_rng(1)
    data = papers.data.of_dense((rng.integers(-2, 3, (50, 30)) * (rng.random((50, 30)) < 0.3)), rng.integers(0, 2, 50))
    setting |= {"learning_rate": 0.02, "power_t": 0.0, "decay_learning_rate": 0.8}
    bench = papers.online.Bench(tmp_path)
    bench.add("data", data)
    options = [word for name, value in setting.items() for word in (f"--{name.replace('_', '-')}", value)]
    run = bench.run("data", data, *options, passes=4)
    w, constant = papers.online.learn(data.batches(), data.features, 4, **setting)
    assert run is not None and 0 < run.nonzeros == np.count_nonzero(w) < 30
    assert data.scores(w, constant).tolist() == run.scores.tolist()
    diverging = {"algorithm": "sgd", "learning_rate": 1e30}
    assert papers.online.learn(data.batches(), data.features, 4, **diverging) is None


def test_a_race_says_what_is_left_of_the_way(papers) -> None:
    s = papers.stochastic
    curve = s.Curve([0.0, 5.0, 10.0], [1.1, 0.6, 0.2], [0, 1, 2])
    race = s.Race({"SCD": curve, "TruncGrad": curve}, least=0.1, budget=10.0)
    assert race.excess("SCD", 0.5) == pytest.approx(0.5) and race.excess("SCD") == pytest.approx(0.1)
    assert "SCD 50, 10; TruncGrad 50, 10" in race.summary()


def test_speed_is_measured_where_the_slower_one_ends(papers) -> None:
    s = papers.stochastic
    fast = s.Curve([0.0, 2.0, 5.0, 10.0], [1.1, 0.9, 0.6, 0.2], [0, 1, 2, 3])
    slow = s.Curve([0.0, 5.0, 10.0], [1.1, 1.0, 0.9], [0, 1, 2])
    race = s.Race({"SCD": fast, "DetCD": slow}, least=0.1, budget=10.0)
    assert race.speed("SCD", "DetCD") == pytest.approx(5) and race.speed("DetCD", "SCD") == 0
    few = s.Race({"SCD": s.Curve([0.0, 4.0, 7.0], [0] * 3, [0, 5, 3]), "TruncGrad": slow}, least=0.1, budget=10.0)
    assert few.weights_beside("SCD", "TruncGrad") == ([5, 3], [1, 2])


def test_the_first_of_some_curves_to_a_goal(papers) -> None:
    p = papers.projections
    curves = {"a": p.Curve([1.0, 2.0], [0.5, 0.1]), "b": p.Curve([1.0, 3.0], [0.5, 0.0])}
    assert p.first_to(curves, ["a", "b"], 0.1) == 2 and p.first_to(curves, ["a"], 0.05) == np.inf
    assert curves["b"].positive() == ([1.0], [0.5])


def test_a_search_goes_on_until_the_best_is_not_at_an_edge(papers) -> None:
    p = papers.projections
    assert [p.amount(step) for step in range(-3, 4)] == pytest.approx([0.03, 0.1, 0.3, 1, 3, 10, 30])
    asked = []

    def loss(step: int) -> float:
        asked.append(step)
        return abs(step + 4) if step < 3 else np.inf

    assert p.climb(loss, (1, 2)) == -4
    assert len(asked) == len(set(asked)) and {-5, -4, -3} <= set(asked)
    assert p.climb(lambda step: min(abs(step) + 3, 2 * abs(step - 9)), (0, 8)) == 9  # two valleys
    assert p.climb(lambda step: 1.0, (0, 5)) == 0
