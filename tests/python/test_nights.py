"""`partial_fit` of estimators that keep rows: a model is trained again from these and the new rows."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import pandas as pd
from tables import review_rows

from vwlite import SparseClassifier, SparseRegressor
from vwlite.model.learners import make_expander

DAYS = 3
CALM = {"keep_rows": "1M", "algorithm": "auto"}


@pytest.fixture(autouse=True)
def nothing_is_forgotten(monkeypatch):
    """So that days are learned as all their rows at once."""
    from vwlite.training.nights import trainer
    from vwlite.training.nights.forgetting import PastChoice

    monkeypatch.setattr(trainer, "choose_past", lambda rows, evidence: PastChoice(1.0, 0.0, 0.0, evidence))


def table(n, seed=0):
    """Columns of numbers with a curve, categories and a text-like label."""
    rng = np.random.default_rng(seed)
    x, kind = rng.uniform(-3, 3, n).round(2), rng.choice([*"abc"], n)
    score = np.sin(x) * 2 + (kind == "a") + rng.normal(0, 0.3, n)
    return pd.DataFrame({"x": x, "kind": kind}), score.round(3)


def matrix(n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 6))
    return x, x @ rng.normal(size=6) + rng.normal(0, 0.5, n)


def cases():
    frame, y = table(240)
    yield "frame, numbers", SparseRegressor, {}, frame, y
    yield "frame, two words", SparseClassifier, {}, frame, np.where(y > 0.3, "yes", "no")
    yield "frame, classes", SparseClassifier, {}, frame, np.digitize(y, [-1, 1])
    x, score = matrix(450)
    yield "matrix, numbers", SparseRegressor, {}, x, score
    yield "matrix, two classes", SparseClassifier, {}, x, score > 0
    reviews = pd.DataFrame(review_rows(450), columns=["review", "y"])
    yield "texts", SparseClassifier, {"text": "review"}, reviews[["review"]], reviews["y"]


CASES = {name: case for name, *case in cases()}


def parts(x, y, days=DAYS):
    n = len(y)
    for k in range(days):
        part = slice(n * k // days, n * (k + 1) // days)
        yield (x.iloc[part] if isinstance(x, pd.DataFrame) else x[part]), np.asarray(y)[part]


def in_days(made, x, y):
    first, *others = parts(x, y)
    made.fit(*first)
    for part in others:
        made.partial_fit(*part)
    return made


@pytest.mark.parametrize("name", CASES)
def test_days_are_all_their_rows_at_once(name):
    """As long as all rows are kept: the same weights."""
    kind, options, x, y = CASES[name]
    days, whole = in_days(kind(**CALM, **options), x, y), kind(algorithm="auto", **options).fit(x, y)
    assert days._learned.rows.facts.lines == len(y)
    one, other = days._learned.model(), whole._learned.model()
    assert (one.keys.tolist(), one.weights.tolist()) == (other.keys.tolist(), other.weights.tolist())
    assert (days.predict(x) == whole.predict(x)).all()


def test_few_rows_are_kept():
    kind, options, x, y = CASES["matrix, numbers"]
    size = 33 + 9 + 8 * x.shape[1]
    made = in_days(kind(**{**CALM, "keep_rows": 100 * size}, **options), x, y)
    assert made._learned.rows.facts.lines == 100 and made._learned.rows.facts.dropped == 350


def test_pickles_have_rows_if_asked():
    kind, options, x, y = CASES["frame, numbers"]
    for asked in (False, True):
        made = in_days(kind(**CALM, pickle_rows=asked, **options), x, y)
        assert "keep_rows='1M'" in repr(made) and ("pickle_rows=True" in repr(made)) == asked
        for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert (other._learned.rows is not None) == asked
            assert (other.predict(x) == made.predict(x)).all()
            if asked:
                more, label = table(60, seed=7)
                assert (other.partial_fit(more, label).predict(x) == copy.deepcopy(made).partial_fit(more, label)
                        .predict(x)).all()


def test_a_call_that_fails_changes_nothing():
    kind, options, x, y = CASES["matrix, numbers"]
    made = in_days(kind(**CALM, **options), x, y)
    before, rows = made.predict(x).tolist(), made._learned.rows
    with pytest.raises(ValueError, match="NaN"):
        made.partial_fit(x[:50], np.full(50, np.nan))
    with pytest.raises(ValueError, match="one non-zero number"):
        made.partial_fit(x[:50], y[:50], sample_weight=np.zeros(50))
    assert made.predict(x).tolist() == before and made._learned.rows is rows


def test_new_rows_are_learned_without_kept_ones():
    """As `train -i` does: a shifted label moves the intercept."""
    x, y = matrix(400)
    made = SparseRegressor(algorithm="auto").fit(x, y)
    before = made.predict(x).mean()
    made.partial_fit(x, y + 2)
    assert made.predict(x).mean() > before + 0.3
    assert made._learned.rows is None
    assert make_expander(made._learned.settings).constant_key in made._learned.model().keys


@pytest.mark.parametrize(("options", "more", "message"), [
    ({"algorithm": "gd"}, {}, "keep_rows is for algorithm='auto', and not gd: leave it out"),
    ({"algorithm": "auto"}, {"groups": np.arange(400) % 9}, "keep_rows cannot be used with groups"),
    ({"algorithm": "auto", "keep_rows": "many"}, {}, "keep_rows"),
])
def test_rows_that_cannot_be_kept(options, more, message):
    x, y = matrix(400)
    with pytest.raises(ValueError, match=message):
        SparseRegressor(**{"keep_rows": "1M"} | options).fit(x, y, **more)
