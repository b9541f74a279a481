"""What columns contribute to rows that --normalize has divided by their length, from the definition."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from effects import frame_of

from vwlite import SparseClassifier
from vwlite.model.readable import readable_effects
from vwlite.model.scaled import scaled


@pytest.fixture(scope="module", params=["l2", "log"])
def fitted(request):
    frame = labelled(400)
    return SparseClassifier(normalize=request.param, derive="none").fit(frame.drop(columns="y"), frame["y"]), frame


def labelled(n: int) -> pd.DataFrame:
    """Rows with a label that sums of columns predict."""
    frame = frame_of(n).drop(columns=["at"])
    high = frame["z"] + (frame["w"] == "a") + frame["x"].fillna(0) / 4 > 0.5
    return frame.assign(y=np.where(high, "yes", "no"))


def features_of(frame: pd.DataFrame, kind: str) -> list[dict[str, float]]:
    """The values of each row by column, before they are divided by its length: of a word, and of a missing cell, 1."""
    rows = []
    for row in frame.to_dict("records"):
        x = {name: 1.0 if isinstance(cell, str) or pd.isna(cell) else float(np.float32(cell))
             for name, cell in row.items()}
        rows.append({name: np.sign(v) * np.log1p(abs(v)) if kind == "log" else v for name, v in x.items()})
    return rows


def weights_of(m, frame: pd.DataFrame) -> list[dict[str, float]]:
    """The weight of the feature of each cell."""
    weights, found = dict(m.weights()), []
    for row in frame.to_dict("records"):
        names = {name: f"{name}?" if pd.isna(cell) else f"{name}={cell}" if isinstance(cell, str) else name
                 for name, cell in row.items()}
        found.append({name: weights.get(f"{name}^{feature}", 0.0) for name, feature in names.items()})
    return found


def test_contributions_are_those_of_the_definition(fitted):
    m, frame = fitted
    frame = frame.drop(columns="y")
    kind = m.get_params()["normalize"]
    columns = [*frame]
    x = pd.DataFrame(features_of(frame, kind))[columns].to_numpy()
    w = pd.DataFrame(weights_of(m, frame))[columns].to_numpy()
    lengths, means = np.sqrt((x**2).sum(axis=1)), (x**2).mean(axis=0)
    usual = np.sqrt(means.sum())
    scores = (w * x).sum(axis=1) / lengths
    assert (np.abs(w) > 0).mean() > 0.5
    expected = w * x / usual - scores[:, None] * (x**2 - means) / (usual * (usual + lengths))[:, None]
    assert expected.sum(axis=1) == pytest.approx(scores, abs=1e-9)
    expected -= expected.mean(axis=0)
    found = pd.DataFrame(m.contributions(frame), columns=[effect.name for effect in m.effects_])[columns].to_numpy()
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    importances = [m.effects_.importances[c] for c in columns]
    assert importances == pytest.approx(np.abs(expected).mean(axis=0), rel=1e-5, abs=1e-5)


def test_a_column_that_only_changes_the_length_of_rows_is_important():
    """Its weight is 0: it moves scores only as it divides them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=500), "b": rng.normal(size=500) * 5})
    m = SparseClassifier(normalize="l2", derive="none").fit(frame, np.where(frame["a"] > 0, "yes", "no"))
    base = m.contributions(frame).sum(axis=1)
    other = frame.assign(b=rng.permutation(frame["b"]))
    change = np.abs(m.contributions(other).sum(axis=1) - base).mean()
    assert m.effects_.importances["b"] > 0.3 * change > 0


def test_a_line_is_that_of_a_row_of_usual_length(fitted):
    m, _ = fitted
    effect, model = m.effects_["z"], m._learned.model()
    usual = np.sqrt(sum(model.means["squares"].values()))
    x = np.array([-2.0, 0.0, 3.0])
    bent = np.sign(x) * np.log1p(np.abs(x)) if m.get_params()["normalize"] == "log" else x
    assert effect.number(x)[:, 0] == pytest.approx(dict(m.weights())["z^z"] * bent / usual, rel=1e-6)
    assert [at for (at,), _ in effect.rows()][:2] == [0.0, 1.0]


@pytest.mark.parametrize("options", [{"normalize": "log", "derive": "none"}, {}])
def test_a_scaled_model_has_a_scaled_record(options):
    frame = labelled(400)
    m = SparseClassifier(**options).fit(frame.drop(columns="y"), frame["y"])
    model = m._learned.model()
    twice = readable_effects(scaled(model, np.array([2.0]), np.zeros(1), {}))
    for one, other in zip(m.effects_, twice, strict=True):
        assert one.name == other.name and other.band is None
        assert other.values == pytest.approx(2 * one.values) and other.size == pytest.approx(2 * one.size)
        assert other.mean == pytest.approx(2 * one.mean)
    assert [*twice.importances.values()] == pytest.approx([2 * x for x in m.effects_.importances.values()])
    assert replace(model, means={}).means == {} == scaled(replace(model, means={}), np.ones(1), np.zeros(1), {}).means
