"""`--loss expectile`: its definition, and that it is learned wherever the squared loss is."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from running import GD

from vwlite import SparseRegressor

pytestmark = pytest.mark.usefixtures("folder")


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 2))
    return x, 5 + x @ [2, -1] + rng.exponential(1, n) * np.exp(x[:, 0] / 2)


def written(path, x, y):
    rows = zip(x.tolist(), y.tolist(), strict=True)
    Path(path).write_text("".join(f"{label!r} |f a:{a!r} b:{b!r}\n" for (a, b), label in rows))


def predicted(vwlite, model, data, what="-p"):
    """`-r`: before predictions are clipped to the labels."""
    vwlite("predict", "-m", model, data, what, "found", "--quiet")
    return np.loadtxt("found")


def expectile(y, tau):
    """Where E[|tau - (y < e)| (y - e)] = 0, by iteration."""
    e = y.mean()
    for _ in range(200):
        weight = np.abs(tau - (y < e))
        e = (weight * y).sum() / weight.sum()
    return e


def mean_loss(p, y, tau):
    return np.mean(2 * np.abs(tau - (y < p)) * (p - y) ** 2)


@pytest.mark.parametrize("how", [GD, ("--algorithm", "adagrad"), ("--passes", "1"), ()])
def test_of_a_half_is_the_squared_loss(vwlite, how):
    """Also in its scale, so that rates mean the same."""
    written("d", *drawn(300))
    for loss in ("squared", "expectile"):
        vwlite("train", *how, "d", "--loss", loss, "-p", loss, "-m", f"{loss}.model", "--quiet")
    found, expected = (np.loadtxt(name) for name in ("expectile", "squared"))
    # auto begins with the mean of the labels, which is found in another way
    assert (found == expected).all() if "--algorithm" in how else found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_errors_on_both_sides_are_in_balance(vwlite, tau):
    """The mean derivative of the loss is 0 at its minimum, and the baseline is the expectile of the labels."""
    x, y = drawn(4000)
    written("a", x[:3000], y[:3000])
    written("b", x[3000:], y := y[3000:])
    vwlite("train", "a", "--loss", "expectile", "--expectile-tau", tau, "-m", "m", "--quiet")
    p = predicted(vwlite, "m", "b")
    slopes = np.abs(tau - (y < p)) * (p - y)
    assert abs(slopes.mean()) < 0.15 * np.abs(slopes).mean()
    said = json.loads(vwlite("evaluate", "-m", "m", "b", "--json").out)["measures"]["expectile_loss"]
    assert said["value"] == pytest.approx(mean_loss(p, y, tau), rel=1e-4)
    assert said["baseline"] == pytest.approx(mean_loss(expectile(y, tau), y, tau), rel=1e-6)
    assert said["value"] < 0.6 * said["baseline"]


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_auto_does_not_depend_on_the_unit_of_labels(vwlite, passes):
    x, y = drawn(1000)
    for name, label in (("one", y), ("other", 1e5 + 1e3 * y)):
        written(f"{name}.vw", x, label)
        vwlite("train", f"{name}.vw", "--loss", "expectile", "--expectile-tau", "0.8", *passes, "-m", name, "--quiet")
    one, other = (predicted(vwlite, name, "one.vw", "-r") for name in ("one", "other"))
    assert other == pytest.approx(1e5 + 1e3 * one, abs=20)


def test_estimators_and_exports_have_it(vwlite):
    x, y = drawn(500)
    written("d", x, y)
    low, high = (SparseRegressor(loss="expectile", expectile_tau=tau).fit(x, y).predict(x) for tau in (0.2, 0.8))
    assert (low < high).mean() > 0.95
    vwlite("train", "d", "--loss", "expectile", "--expectile-tau", "0.8", "-m", "m")
    vwlite("export", "m", "--to", "python", "-o", "p.py")
    assert runpy.run_path("p.py")["LINK"] == "identity"
    assert vwlite("info", "--json", "m").out.count('"expectile_tau": 0.8') == 1


def test_what_is_refused(vwlite):
    written("d", *drawn(50))
    found = vwlite("train", *GD, "d", "--expectile-tau", "0.8", code=2).err
    assert "--expectile-tau has no effect with --loss squared: add --loss expectile" in found
    for tau in ("0", "1"):
        vwlite("train", *GD, "d", "--loss", "expectile", "--expectile-tau", tau, code=2)
    assert "expectile" in vwlite("solve", "d", "--loss", "expectile", "--l1", "0", code=2).err
