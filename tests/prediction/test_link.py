"""`--link`: kept with the model, used by `vwlite predict`, and refused for other losses."""

import json
from pathlib import Path

import numpy as np
import pytest
from crafted_models import put_together, split_into_parts
from running import GD

from vwlite.algorithms.links import FORMS
from vwlite.algorithms.losses import LINKS
from vwlite.core.learn.scorer import link_all
from vwlite.model import read_model

pytestmark = pytest.mark.usefixtures("folder")

LINKED = {
    "logistic": lambda p: 1 / (1 + np.exp(-p)),
    "glf1": lambda p: 2 / (1 + np.exp(-p)) - 1,
    "poisson": np.exp,
    "log": np.exp,
    "identity": lambda p: p,
}


@pytest.mark.parametrize("link", LINKED)
def test_a_link_is_kept_shown_used_and_overridden(vwlite, link):
    """It was forgotten with the run that trained."""
    loss = {"poisson": "poisson", "log": "gamma"}.get(link, "logistic")
    other = "-1" if loss == "logistic" else "2"
    Path("data").write_text("1 |a b c:2\n" * 20 + f"{other} |a d:0.5\n" * 9)
    plain = ("train", *GD, "data", "--loss", loss, "-p", "-")
    scores = np.array([float(p) for p in vwlite(*plain, "-m", "plain", "--link", "identity").out.split()])
    done = vwlite(*plain, "-m", "model", "--link", link)
    np.testing.assert_allclose([float(p) for p in done.out.split()], LINKED[link](scores), rtol=1e-5, atol=1e-6)
    assert (f", link = {link}\n" in done.err) == (link != "identity")
    assert json.loads(vwlite("info", "--json", "model").out)["options"]["link"] == link
    predict = ("predict", "data", "--report", "report", "-r", "raw", "-m")
    before = vwlite(*predict, "plain").out
    scores = np.array([float(p) for p in before.split()])
    linked = vwlite(*predict, "model").out
    np.testing.assert_allclose([float(p) for p in linked.split()], LINKED[link](scores), rtol=1e-5, atol=1e-6)
    assert json.loads(Path("report").read_text())["options"]["link"] == link
    np.testing.assert_allclose([float(p) for p in Path("raw").read_text().split()], scores, rtol=1e-6)
    assert vwlite(*predict, "model", "--link", "identity").out == before
    assert vwlite(*predict, "plain", "--link", link).out == linked
    vwlite("train", "data", "-i", "model", "-m", "later", "--quiet")
    vwlite("train", "data", "-i", "plain", "-m", "other", "--quiet")
    assert read_model("later").settings.link == link
    changed = vwlite("train", "data", "-i", "other", "-m", "changed", "--link", link).err
    assert ("link = " in changed) == (link != "identity")
    assert bytes(read_model("later").weights) == bytes(read_model("other").weights)
    assert read_model("changed").settings.link == link


@pytest.mark.parametrize(
    ("loss", "link", "right"),
    [("squared", "logistic", "logistic"), ("squared", "glf1", "logistic"), ("hinge", "logistic", "logistic"),
     ("quantile", "poisson", "poisson"), ("logistic", "poisson", "poisson"), ("poisson", "glf1", "logistic"),
     ("gamma", "poisson", "poisson"), ("squared", "log", "gamma or tweedie")],
)
def test_a_link_that_makes_no_sense_of_the_loss_is_refused(vwlite, loss, link, right):
    Path("data").write_text("1 |a b\n")
    said = f"--link {link} cannot be applied to the scores of --loss {loss}, only of --loss {right}"
    assert said in vwlite("train", *GD, "data", "--loss", loss, "--link", link, "-m", "model", code=2).err
    vwlite("train", *GD, "data", "--loss", loss, "-m", "model", "--quiet")
    assert said in vwlite("predict", "-m", "model", "data", "--link", link, code=2).err
    assert said in vwlite("train", "data", "-i", "model", "--link", link, "-m", "model", code=2).err
    vwlite("predict", "-m", "model", "data", "--link", "identity")


def test_a_model_from_before_links_were_kept_has_none(vwlite):
    Path("data").write_text("1 |a b\n")
    vwlite("train", *GD, "data", "--loss", "logistic", "--link", "identity", "-m", "model", "--quiet")
    new = vwlite("predict", "-m", "model", "data").out
    parts = split_into_parts(Path("model").read_bytes())
    assert parts.header["options"].pop("link") == "identity"
    Path("model").write_bytes(put_together(parts))
    assert vwlite("predict", "-m", "model", "data").out == new
    vwlite("train", "data", "-i", "model", "-m", "model", "--link", "logistic", "--quiet")


@pytest.mark.parametrize("link", FORMS)
def test_the_engine_and_exports_have_the_same_link(link):
    functions = {"identity": "{p}", "sigmoid": "{times}(1 / (1 + np.exp(-{p})))", "exp": "np.exp({p})"}
    p = np.linspace(-20, 20, 81)
    link_all(found := p.copy(), link)
    np.testing.assert_allclose(found, eval(FORMS[link].expression(functions)), rtol=1e-12, atol=1e-12)
    assert set(LINKS) == set(FORMS)
