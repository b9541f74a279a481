"""What `--algorithm auto` says of its models is true: none is turned round, and losses are those of other rows."""

from pathlib import Path

import numpy as np
import pytest
from slow_rules import Logistic, Poisson, Squared
from tables import written
from tiers import drawn as draws

from vwlite import SparseClassifier, SparseRegressor

RNG = np.random.default_rng
FRESH = 2000  # rows that losses are compared with
KINDS = (2, 3, 5, 9, 20)


def chosen(model) -> dict:
    found = model.chosen_
    return found | {"loss": found.get("loss", found["baseline"])}


def one_hot(kind, kinds: int) -> np.ndarray:
    return np.eye(kinds)[kind]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def expected_loss(score, share) -> float:
    """The log loss of scores, where labels are 1 with these shares."""
    return float(np.mean(np.logaddexp(0, score) - share * score))


# --- no model is turned round ------------------------------------------------------------------------------


def labels_of_kinds(rng, means, kind, noise: float) -> np.ndarray:
    y = means[kind]
    return np.where(rng.random(len(kind)) < noise, 1 - y, y)


def loss_of(name: str, scores, y, h) -> float:
    kinds = {"logistic": Logistic(), "squared": Squared(), "poisson": Poisson()}
    return float(np.average([kinds[name].value(p, label) for p, label in zip(scores, y, strict=True)], weights=h))


@pytest.mark.pairwise
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("form", ["categories", "numbers"])
@pytest.mark.parametrize("problem", ["logistic", "squared", "poisson", "importances"])
def test_no_model_of_few_kinds_is_turned_round(kinds, form, problem):
    """Predictions rise with the means of kinds, and no model is worse than the constant on its own rows."""
    means = np.arange(kinds) % 2 * 1.0 if form == "categories" else (np.arange(kinds) >= kinds / 2) * 1.0
    for seed, (n, noise) in enumerate([(20, 0), (40, 0), (40, 0.1), (60, 0), (100, 0.1), (300, 0), (300, 0.1)]):
        rng = RNG([kinds, n, seed])
        kind = np.r_[np.arange(kinds), rng.integers(0, kinds, n - kinds)]
        X = one_hot(kind, kinds) if form == "categories" else kind[:, None] * 1.0
        y = labels_of_kinds(rng, means, kind, noise)
        h = rng.choice([0.5, 1.0, 3.0], n) if problem == "importances" else np.ones(n)
        if problem in ("logistic", "importances"):
            loss, model, y = "logistic", SparseClassifier(), 2 * y - 1
        elif problem == "squared":
            loss, model, y = "squared", SparseRegressor(), 7 + 3 * y
        else:
            loss, model, y = "poisson", SparseRegressor(loss="poisson"), rng.poisson(np.exp(1.5 * y)) * 1.0
        if np.ptp(y) == 0:
            continue
        model.fit(X, y, h)
        scores = model.decision_function(X) if loss == "logistic" else model.predict(X)
        scores = np.log(scores) if loss == "poisson" else scores
        found = chosen(model)
        if n >= 40:
            assert np.corrcoef(scores, means[kind])[0, 1] > 0, (n, noise)
        baseline = min(loss_of(loss, np.full(n, constant), y, h) for constant in constants(loss, y, h))
        assert loss_of(loss, scores, y, h) <= baseline * (1 + 1e-5), (n, noise, found)
        if n >= 60 and noise == 0 and loss == "logistic":
            assert ((scores > 0) == (y > 0)).all()


def constants(loss: str, y, h):
    mean = np.average(y, weights=h)
    if loss == "logistic":
        return [np.log((1 + mean) / (1 - mean))]
    return [mean if loss == "squared" else np.log(mean)]


@pytest.mark.parametrize("kinds", [3, 5, 9])
def test_no_model_of_several_classes_is_turned_round(kinds):
    for n, noise in ((60, 0.0), (200, 0.2), (500, 0.2)):
        rng = RNG([kinds, n])
        kind = np.r_[np.arange(kinds), rng.integers(0, kinds, n - kinds)]
        y = np.where(rng.random(n) < noise, rng.integers(0, 3, n), kind % 3)
        model = SparseClassifier().fit(one_hot(kind, kinds), y)
        p = model.predict_proba(one_hot(kind, kinds))
        shares = np.bincount(y) / n
        assert -np.log(p[np.arange(n), y]).mean() <= -(shares * np.log(shares)).sum()
        for k in range(3):
            assert np.corrcoef(p[:, k], kind % 3 == k)[0, 1] > 0
        if noise == 0:
            assert (p.argmax(axis=1) == y).all()


# --- losses are those of other rows --------------------------------------------------------------------------


def drawn(name: str, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the share of label 1 of each row."""
    if name == "few kinds":
        kind = rng.integers(0, 5, n)
        return one_hot(kind, 5), np.array([0.1, 0.3, 0.5, 0.7, 0.9])[kind]
    if name.startswith("categories"):
        kind = rng.integers(0, 30, n)
        if name == "categories, sorted":
            kind = np.sort(kind)
        return one_hot(kind, 30), sigmoid(2 * np.sin(np.arange(30)))[kind]
    x = rng.normal(size=(n, 6))
    return x, np.full(n, 0.5) if name == "noise" else sigmoid(1.5 * x[:, 0] - x[:, 1])


@pytest.mark.drawn
@pytest.mark.third
@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("name", ["few kinds", "categories", "categories, sorted", "noise", "numbers", "copies"])
def test_the_reported_loss_is_that_of_other_rows(name, n):
    """In the mean of draws within 3 standard errors and 3 nats over n; fresh rows have no copies."""
    differences = []
    for seed in range(draws(36)):
        rng = RNG([n, seed])
        x, share = drawn(name, n, rng)
        y = rng.random(n) < share
        if name == "copies":
            rows = rng.permutation(np.tile(np.arange(n), 3))
            x, y = x[rows], y[rows]
        if not 8 <= y.sum() <= len(y) - 8:
            continue
        model = SparseClassifier().fit(x, y)
        fresh, shares = drawn(name, FRESH, rng)
        differences.append(chosen(model)["loss"] - expected_loss(model.decision_function(fresh), shares))
    mean, error = np.mean(differences), np.std(differences) / np.sqrt(len(differences))
    assert abs(mean) <= 3 * error + 3 / n


@pytest.mark.parametrize("n", [70, 400])
def test_copies_change_little(n):
    rng = RNG(n)
    x, share = drawn("numbers", n, rng)
    y = rng.random(n) < share
    fresh, shares = drawn("numbers", FRESH, rng)

    def losses(rows) -> tuple[float, float]:
        model = SparseClassifier().fit(x[rows], y[rows])
        return chosen(model)["loss"], expected_loss(model.decision_function(fresh), shares)

    reported, test = losses(np.arange(n))
    for times in (2, 3, 5):
        for rows in (np.tile(np.arange(n), times), np.repeat(np.arange(n), times)):
            found = losses(rng.permutation(rows) if times == 3 else rows)
            assert found[0] >= 0.8 * reported and found[1] <= 1.1 * test


def test_an_oversampled_class_is_not_learned_by_heart():
    """Rows of a rare class ten times, shuffled: copies are scattered, and share a fold all the same."""
    rng = RNG(7)
    n = 2000
    x = rng.normal(size=(n, 6))
    y = rng.random(n) < sigmoid(1.5 * x[:, 0] - 4)
    rows = rng.permutation(np.r_[np.arange(n), np.repeat(np.flatnonzero(y), 9)])
    model = SparseClassifier().fit(x[rows], y[rows])
    fresh = rng.normal(size=(20_000, 6))
    share = sigmoid(1.5 * fresh[:, 0] - 4)
    weight = 1 + 9 * share  # so often are rows of the training part there
    score = model.decision_function(fresh)
    loss = np.average(np.logaddexp(0, score) - 10 * share / weight * score, weights=weight)
    assert 0.8 * loss <= chosen(model)["loss"] <= 1.25 * loss


def test_the_order_of_rows_changes_little():
    rng = RNG(8)
    n = 1500
    kind = rng.integers(0, 40, n)
    x = np.c_[one_hot(kind, 40), rng.normal(size=(n, 2))]
    share = sigmoid(2 * np.sin(kind) + x[:, -1])
    y = rng.random(n) < share
    orders = {"shuffled": rng.permutation(n), "by category": np.argsort(kind), "by label": np.argsort(y, kind="stable")}
    new = rng.integers(0, 40, FRESH)
    fresh = np.c_[one_hot(new, 40), rng.normal(size=(FRESH, 2))]
    shares = sigmoid(2 * np.sin(new) + fresh[:, -1])
    losses = {}
    for name, order in orders.items():
        score = SparseClassifier().fit(x[order], y[order]).decision_function(fresh)
        losses[name] = expected_loss(score, shares)
    for loss in losses.values():
        assert abs(loss - losses["shuffled"]) <= max(0.1 * losses["shuffled"], 0.01), losses


@pytest.mark.parametrize("keys", [(0, 2), (2, 0), (1, 0, 2), ()])
def test_the_loss_of_a_table_that_is_sorted_is_that_of_new_rows(vwlite, tmp_path, monkeypatch, keys):
    """Equal numbers stand together, and of these equal labels. Runs of rows share a fold, so that lanes have learned
    fewer of the labels of the rows that they score, and a stack of lanes of curves gained by that."""
    monkeypatch.chdir(tmp_path)
    rng = RNG(5)

    def drawn(n):
        age, city, income = rng.integers(18, 81, n), rng.integers(0, 3, n), rng.normal(50, 20, n).round(1)
        score = (age - 50) / 10 + 2 * (city == 0)
        return [*zip(age.tolist(), city.tolist(), (rng.random(n) < sigmoid(score)).tolist(), income, strict=True)]

    def save(name, rows):
        lines = (f"{label:d},{age},{'rgb'[city]},{income:g}\n" for age, city, label, income in rows)
        Path(name).write_text("y,age,city,income\n" + "".join(lines))

    rows, fresh = drawn(3000), drawn(FRESH)
    save("train.csv", sorted(rows, key=lambda row: [row[i] for i in keys]))
    save("fresh.csv", fresh)
    done = vwlite("train", "train.csv", "--label", "y", "-m", "m")
    reported = float(done.err.partition("out-of-fold average loss = ")[2].split()[0])
    vwlite("predict", "fresh.csv", "-m", "m", "-p", "p", "--quiet")
    p = np.clip([float(line) for line in Path("p").read_text().split()], 1e-9, 1 - 1e-9)
    losses = -np.log(np.where([row[2] for row in fresh], p, 1 - p))
    assert abs(losses.mean() - reported) < 3 * losses.std() * (1 / 3000 + 1 / FRESH) ** 0.5


def test_the_loss_of_classes_with_many_words_is_that_of_new_rows(vwlite, tmp_path, monkeypatch):
    """A model of half of the rows would be much worse: with two folds the mean difference is .10."""
    monkeypatch.chdir(tmp_path)
    n, words, differences = 1000, 300, []
    for seed in range(2):
        rng = RNG([seed, n])
        weights = 1.2 * rng.normal(size=(words, 3))
        texts = rng.random((n + FRESH, words)).argpartition(8)[:, :8]
        p = np.exp(weights[texts].sum(axis=1))
        p /= p.sum(axis=1, keepdims=True)
        labels = 1 + (rng.random((n + FRESH, 1)) > p.cumsum(axis=1)[:, :2]).sum(axis=1)
        lines = [f"{y} | " + " ".join(f"w{j}" for j in text) for y, text in zip(labels, texts, strict=True)]
        Path("train.vw").write_text("\n".join(lines[:n]) + "\n")
        Path("fresh.vw").write_text("\n".join(lines[n:]) + "\n")
        done = vwlite("train", "train.vw", "--oaa", "3", "-m", "m")
        reported = float(done.err.partition("out-of-fold log loss = ")[2].split()[0])
        vwlite("predict", "fresh.vw", "-m", "m", "-r", "p", "--quiet")
        scores = np.array([[float(x.split(":")[1]) for x in line.split() if ":" in x] for line in open("p")])
        losses = np.log(np.exp(scores).sum(axis=1)) - (p[n:] * scores).sum(axis=1)
        differences.append(reported - losses.mean())
    assert 0 < np.mean(differences) < 0.085, differences


# --- the last check ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["logistic", "squared", "classes"])
def test_a_model_that_folds_have_turned_round_is_not_taken(monkeypatch, kind):
    """Folds that take whole kinds out, as those of 0.2.0: each lane has only seen the other kinds."""
    values = 3 if kind == "classes" else 2

    def by_content(contents, features, labels, out, folds):
        known = sorted(set(contents))
        for i, c in enumerate(contents):
            out[i] = known.index(c) % folds

    monkeypatch.setattr("vwlite.training.auto.selection.folds_of", by_content)
    for seed in range(5):
        rng = RNG(seed)
        x = rng.integers(0, values, 80)
        y = np.where(rng.random(80) < 0.1, rng.integers(0, values, 80), x)
        model = SparseRegressor() if kind == "squared" else SparseClassifier()
        model.fit(one_hot(x, values), y)
        if kind == "squared":
            assert np.mean((model.predict(one_hot(x, values)) - y) ** 2) <= np.var(y) * (1 + 1e-6)
        else:
            p = model.predict_proba(one_hot(x, values))[np.arange(80), y]
            shares = np.bincount(y) / 80
            assert -np.log(p).mean() <= -(shares * np.log(shares)).sum() * (1 + 1e-6)


# --- nested choices ------------------------------------------------------------------------------------------


def test_choices_without_a_fold_do_not_depend_on_its_labels(monkeypatch):
    """Of the scores of a pass: labels of a fold turned round change nothing of what its rows are predicted to be."""
    from vwlite.core.auto.stack import Scored
    from vwlite.core.learn.losses import Logistic as CompiledLogistic
    from vwlite.training.auto import selection

    rng = RNG(11)
    n = 200
    folds = rng.integers(0, 4, n)
    truth = rng.normal(size=n)
    passes = [(truth[:, None] + s * rng.normal(size=(n, 8))).astype(np.float32) for s in (2, 1, 0.5, 3)]
    y = np.where(rng.random(n) < sigmoid(2 * truth), 1.0, -1.0)

    def predictions(y):
        s = selection.Selection.__new__(selection.Selection)
        s._y, s._h, s._scored_folds = np.zeros(n), np.ones(n), bytes(folds.tolist())
        s._nests = [s._nest(fold) for fold in range(4)]
        c = selection.GridCandidate("none", lambda: None)
        for number, scores in enumerate(passes, 1):
            s._choose_nested(c, Scored(CompiledLogistic(), scores.ravel(), y, np.ones(n), np.zeros(n)), number)
        return np.array(c.nested_predictions), [choice.loss for choice in c.nested]

    found, losses = predictions(y)
    for fold in range(4):
        other, its_losses = predictions(np.where(folds == fold, -y, y))
        assert (other[folds == fold] == found[folds == fold]).all() and its_losses[fold] == losses[fold]
        assert (other[folds != fold] != found[folds != fold]).any()


# --- few of a class, the order of the rows ------------------------------------------------------------------------


def of_few(path, order: str, seed: int, effect: float, n: int) -> tuple[Path, np.ndarray]:
    """A table with 7 rows of a label, and its labels."""
    rng = RNG(seed)
    y = (np.arange(n) < 7) * 1
    y = y if order == "sorted" else rng.permutation(y)
    X = rng.normal(size=(n, 5)) + effect * y[:, None]
    rows = [[*map(str, row), str(label)] for row, label in zip(X, y, strict=True)]
    return written(path, [*"abcdey"], rows), y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_noise_of_few_of_a_class_is_the_intercept_with_its_own_loss(vwlite, tmp_path, order, seed):
    """... whatever the order: rows are drawn."""
    data, _ = of_few(tmp_path / "d.csv", order, seed, 0, 30)
    said = vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "-p", tmp_path / "p").err
    constant = -(7 * np.log(7 / 30) + 23 * np.log(23 / 30)) / 30
    assert f"log loss {constant:.4f} on rows learned; no better than the best constant" in said
    assert np.loadtxt(tmp_path / "p") == pytest.approx([7 / 30] * 30, abs=1e-4)


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_predictions_of_few_of_a_class_are_in_the_order_of_the_file(vwlite, tmp_path, order):
    data, y = of_few(tmp_path / "d.csv", order, 1, 3, 60)
    said = vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "-r", tmp_path / "p").err
    scores = np.loadtxt(tmp_path / "p", usecols=0)
    assert np.corrcoef(scores, y)[0, 1] > 0.5 and "on rows before they were learned" in said
    loss = np.mean(np.logaddexp(0, np.where(y == 1, -scores, scores)))
    assert f"log loss {loss:.3f}" in said


@pytest.mark.parametrize("n", [150, 300])
def test_copies_of_a_small_file_share_a_fold(n):
    """A bootstrap sample, of which each row is there about three times: more than a 64th of all."""
    differences = []
    for seed in range(6):
        rng = RNG([7, seed])
        X = rng.normal(size=(n // 3, 4))
        share = sigmoid(X[:, 0] - X[:, 1])
        labels, rows = rng.random(n // 3) < share, rng.integers(0, n // 3, n)
        model = SparseClassifier().fit(X[rows], labels[rows])
        fresh = rng.normal(size=(FRESH, 4))
        expected = expected_loss(model.decision_function(fresh), sigmoid(fresh[:, 0] - fresh[:, 1]))
        differences.append(chosen(model)["loss"] - expected)
    error = np.std(differences) / np.sqrt(len(differences))
    assert np.mean(differences) > -3 * error - 3 / n


def rows_in_time(seed: int, n: int, world: float) -> tuple[np.ndarray, np.ndarray]:
    """From a place on, the effect of a number is another one."""
    rng = RNG(seed)
    X = rng.normal(size=(n, 4))
    effect = np.where(np.arange(n) >= 0.9 * n, world, 1.5)
    return X, rng.random(n) < sigmoid(effect * X[:, 0] - X[:, 1])


@pytest.mark.parametrize("order", ["as it is", "another world", "shuffled", "sorted", "sorted by a number"])
@pytest.mark.parametrize("n", [2000, pytest.param(5000, marks=pytest.mark.long)])
def test_a_note_says_that_the_last_rows_are_another_world(vwlite, tmp_path, order, n):
    X, y = rows_in_time(2, n, 1.5 if order in ("as it is", "sorted by a number") else -1.5)
    places = {"shuffled": RNG(3).permutation(n), "sorted": np.argsort(y, kind="stable"),
              "sorted by a number": np.argsort(X[:, 0])}.get(order, np.arange(n))
    rows = [[*map(str, X[i]), str(int(y[i]))] for i in places]
    data = written(tmp_path / "d.csv", ["a", "b", "c", "d", "y"], rows)
    said = vwlite("train", data, "--label", "y", "-m", tmp_path / "m").err
    assert ("the last tenth of the rows has a log loss of" in said) == (order == "another world")
