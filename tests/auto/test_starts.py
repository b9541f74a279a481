"""With which scales rare features begin that have values: one that had small values only has no large weight then."""

import json

import numpy as np
import pytest
from batches import Line, batch_of
from slow_auto import RATES, SlowLanes, starting_scales
from streams import CONSTANT

from vwlite import SparseClassifier
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn.losses import Logistic
from vwlite.training.auto.grid import Grid

BITS = 27
MASK = (1 << BITS) - 1
KEPT = b"ab"  # namespaces, of three


def drawn(seed: int, n: int = 400) -> list[Line]:
    """Features of three namespaces, some of them twice, words and numbers, rare and frequent."""
    rng, lines = np.random.default_rng(seed), []
    for _ in range(n):
        features, spans = [], []
        for letter in b"abc":
            keys = (300 * rng.random(rng.integers(0, 6)) ** 2).astype(int).tolist()
            size = 1.0 if letter == ord("c") else rng.exponential(letter - 96)
            features += [((letter << 20) + key, 1.0 if key % 5 == 0 else float(np.float32(size))) for key in keys]
            spans += [(letter, len(keys))] * bool(keys)
        if features and rng.random() < 0.2:
            features, spans = [*features, features[0]], [*spans, (spans[0][0], 1)]
        lines.append(Line(float(rng.choice([-1, 1])), features, spans=spans))
    return lines


def rows_of(expander: Expander, batch) -> list[dict[int, float]]:
    return [dict(zip(*expander.features(batch, i), strict=True)) for i in range(len(batch))]


@pytest.mark.parametrize("crossed", [(), (b"ab",)])
@pytest.mark.parametrize("keep", [b"", KEPT])
@pytest.mark.parametrize("normalize", ["none", "l2", "log"])
@pytest.mark.parametrize("n", [60, 400])
def test_starts_are_those_of_the_definition(crossed, keep, normalize, n):
    how = {"bits": BITS, "interactions": crossed, "keep": keep}
    lines = drawn(1, n)
    batch, part = batch_of(lines), batch_of(lines[: n // 2])
    plain, expander = (Expander(**how, normalizer=Normalizer(name)) for name in ("none", normalize))
    summary = DataSummary(plain)
    summary.take(batch)
    namespaces: dict[int, int] = {}
    for line in lines:
        letters = [letter for letter, size in line.spans for _ in range(size)]
        for (key, _), letter in zip(line.features, letters, strict=True):
            if not keep or letter in keep:
                namespaces.setdefault(key & MASK, letter)
    rows = rows_of(plain, batch)
    expected = starting_scales(rows, namespaces, rows_of(expander, part))
    starts = summary.starts(expander, [part])
    keys = {key for row in rows for key in row}
    assert sum(x > 0 for x in expected.values()) > 20
    assert {key: starts[key] for key in keys} == {key: pytest.approx(expected.get(key, 0), rel=1e-6) for key in keys}
    assert starts[CONSTANT & MASK] == 0


def test_words_and_frequent_numbers_have_none():
    rng = np.random.default_rng(2)
    words = [Line(1.0, [(int(k), 1.0) for k in rng.choice(500, 9, replace=False)]) for _ in range(100)]
    numbers = [Line(1.0, [(k, float(rng.exponential())) for k in range(9)]) for _ in range(150)]
    for lines in (words, numbers):
        summary = DataSummary(Expander(normalizer=Normalizer()))
        summary.take(batch_of(lines))
        assert summary.starts(Expander(normalizer=Normalizer("l2")), [batch_of(lines)]) is None


def test_lanes_begin_with_them():
    lines = drawn(3)
    batch, expander = batch_of(lines), Expander(normalizer=Normalizer())
    summary = DataSummary(expander)
    summary.take(batch)
    starts, rows = summary.starts(expander, [batch]), rows_of(expander, batch)
    keys = [*dict.fromkeys(key for row in rows for key in row)]
    slow = SlowLanes(len(keys), "logistic", 2)
    slow.s[:] = [starts[key] for key in keys]
    assert slow.s.any()
    number, fold = {key: i for i, key in enumerate(keys)}, np.arange(len(lines), dtype=np.uint8) % 2
    for row, line, at in zip(rows, lines, fold, strict=True):
        slow.learn([number[key] for key in row], [*row.values()], line.label, at)
    lanes = Lanes(Logistic(), Expander(normalizer=Normalizer()), RATES, 2, starts=starts)
    lanes.learn(batch, fold)
    found, numbers = np.zeros(len(lanes), np.uint32), np.zeros(11 * len(lanes), np.float32)
    lanes.weights(found, numbers)
    columns = dict(zip(found.tolist(), numbers.reshape(-1, 11), strict=True))
    assert np.array([columns[key][8] for key in keys]) == pytest.approx(slow.s, rel=1e-6)
    assert pytest.approx(slow.columns(), rel=2e-4, abs=2e-5) == np.array([columns[key][:8] for key in keys]).T


# --- what comes of it --------------------------------------------------------------------------------------------

VALUES = {
    "exponential": lambda rng: rng.exponential(), "lognormal": lambda rng: np.exp(rng.normal()) / 2,
    "gamma": lambda rng: rng.gamma(0.5), "large": lambda rng: 1000 * rng.exponential(),
}  # fmt: skip


def lines_of(seed: int, n: int, values: str, form: str) -> list[str]:
    """Rare features whose values count."""
    rng, size = np.random.default_rng(seed), 3000
    below = np.cumsum(1 / np.arange(1, size + 1) ** 0.8)
    effects, lines = 0.5 * rng.normal(size=size), []
    for _ in range(n):
        chosen = np.unique(np.searchsorted(below, below[-1] * rng.random(rng.integers(8, 41))))
        x = np.array([VALUES[values](rng) for _ in chosen])
        score = effects[chosen] @ x / (1000 if values == "large" else 1)
        label = 1 if rng.random() < 1 / (1 + np.exp(-score)) else -1
        pairs = " ".join(f"{k + 1}:{v:.4g}" for k, v in zip(chosen, x, strict=True))
        lines.append(f"{label} {pairs}\n" if form == "libsvm" else f"{label} |f {pairs}\n")
    return lines


@pytest.mark.third
@pytest.mark.parametrize("form", ["vw", "libsvm"])
@pytest.mark.parametrize("values", VALUES)
def test_new_rows_are_not_worse_predicted_than_by_the_constant(vwlite, tmp_path, values, form):
    losses = []
    for seed in range(4):
        lines = lines_of(seed, 800, values, form)
        (tmp_path / "train").write_text("".join(lines[:300]))
        (tmp_path / "test").write_text("".join(lines[300:]))
        vwlite("train", tmp_path / "train", "--format", form, "-m", tmp_path / "m")
        found = vwlite("evaluate", tmp_path / "test", "--format", form, "-m", tmp_path / "m", "--json").out
        losses.append(json.loads(found)["measures"]["log_loss"]["value"])
    assert np.mean(losses) < 0.7, losses


def test_a_stream_begins_with_them_too(vwlite, tmp_path):
    lines = lines_of(1, 2300, "exponential", "vw")
    (tmp_path / "train").write_text("".join(lines[:300]))
    (tmp_path / "test").write_text("".join(lines[300:]))
    vwlite("train", tmp_path / "train", "--passes", "1", "-m", tmp_path / "m")
    found = vwlite("evaluate", tmp_path / "test", "-m", tmp_path / "m", "--json").out
    assert json.loads(found)["measures"]["log_loss"]["value"] < 0.72


def test_columns_of_tables_begin_with_their_own_values(vwlite, tmp_path, monkeypatch):
    """They have units of their own."""
    rng = np.random.default_rng(4)
    rows = ["y,a,ab,ac"]
    for _ in range(90):
        a, b, c = rng.normal(size=3) * [1, 1000, 0.001]
        rows.append(f"{int(a + b / 1000 > 0)},{a:.4g},{b:.4g},{c if rng.random() < 0.3 else ''}")
    (tmp_path / "t.csv").write_text("\n".join(rows))
    vwlite("train", tmp_path / "t.csv", "--label", "y", "--derive", "none", "-m", tmp_path / "m")
    monkeypatch.setattr(Grid, "starts", lambda self, name: None)
    vwlite("train", tmp_path / "t.csv", "--label", "y", "--derive", "none", "-m", tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_a_sparse_matrix(monkeypatch):
    """The same in Python."""
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    X = sparse.random(2300, 3000, 0.008, "csr", random_state=1, data_rvs=lambda n: rng.exponential(size=n))
    score = X @ rng.normal(size=3000) / 2
    y = rng.random(2300) < 1 / (1 + np.exp(-score))
    model = SparseClassifier().fit(X[:300], y[:300])
    p = model.predict_proba(X[300:])[:, 1]
    assert -np.mean(np.log(np.where(y[300:], p, 1 - p))) < 0.7
