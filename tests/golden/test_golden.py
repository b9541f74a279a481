"""Models that releases wrote, which every later program must read as they did: see golden/make.py."""

import json
import pickle
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden.make import forms
from running import Shell
from six_decimals import near
from sklearn.base import clone

from vwlite.algorithms.table import ALGORITHMS, SOLVED
from vwlite.model.file import ZIP

GOLDEN = sorted(Path(__file__).parent.glob("*/*.json"))
CLOSE = 2e-5  # to the reference, whose numbers are doubles


@cache
def meta(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def run(vwlite: Shell, path: Path, which: str, folder: Path) -> str:
    """Run the command of a name; returns its standard output."""
    data = {part.upper(): path.parent / f"{meta(path)['data']}.{part}.vw" for part in ("train", "test", "more")}
    files = data | {"MODEL": path.with_suffix(".model"), "RAW": folder / "raw", "OUT": folder / "out"}
    return vwlite(*(files.get(a, a) for a in meta(path)[which])).out


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
class TestEach:
    def test_predicts_the_same_numbers(self, vwlite, tmp_path, path):
        """At six decimals, which files of 0.2.0 and before have; and the same bytes from then on."""
        files = {run(vwlite, path, "predict", tmp_path): meta(path)["predictions"]}
        assert len(set(meta(path)["predictions"].split())) > 2
        if meta(path)["raw"] is not None:
            files[(tmp_path / "raw").read_text()] = meta(path)["raw"]
        for found, expected in files.items():
            assert found == expected or (path.parent.name in ("0.1.0", "0.2.0") and near(found, expected))

    def test_predicts_what_its_reference_did(self, path):
        """Without running anything: the files agree with the definition of the algorithm."""
        reference = meta(path)["twin"]
        if reference is None:
            pytest.skip("has no reference")
        classes = len(reference[0])
        text = meta(path)[meta(path).get("twin_of", "raw" if classes > 1 else "predictions")]
        words = [line.split()[:classes] for line in text.splitlines()]
        scores = [[float(word.rpartition(":")[2]) for word in row] for row in words]
        np.testing.assert_allclose(scores, reference, rtol=CLOSE, atol=CLOSE)
        assert np.std(reference) > 0.01

    def test_is_whole(self, vwlite, path):
        model = path.with_suffix(".model")
        if model.read_bytes()[:4] != ZIP:
            pytest.skip("is Vowpal Wabbit's")
        assert f"a model, whole: {meta(path)['algorithm']}, " in vwlite("check", model).out
        facts = json.loads(vwlite("info", model, "--json").out)
        assert (facts["program"], facts["algorithm"]) == (f"vwlite {path.parent.name}", meta(path)["algorithm"])

    def test_continues(self, vwlite, tmp_path, path):
        model, out = path.with_suffix(".model"), tmp_path / "out"
        if meta(path)["continue"] is None:
            pytest.skip("has no state")
        run(vwlite, path, "continue", tmp_path)
        assert out.read_bytes() != model.read_bytes()
        if meta(path)["continue"][0] == "train":
            before, after = (json.loads(vwlite("info", m, "--json").out)["counters"] for m in (model, out))
            assert after["examples"] == before["examples"] + 20 == 80
        files = {"MODEL": out, "TEST": path.parent / f"{meta(path)['data']}.test.vw", "RAW": tmp_path / "raw"}
        learned = vwlite(*(files.get(a, a) for a in meta(path)["predict"])).out
        assert len(learned.splitlines()) == 20
        raw = meta(path)["raw"]
        assert learned != meta(path)["predictions"] or (raw and (tmp_path / "raw").read_text() != raw)


PICKLES = sorted(Path(__file__).parent.glob("*/pickles/*.pickle"))


@pytest.mark.parametrize("path", PICKLES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_pickles_predict_and_go_on(path):
    estimator, x = pickle.loads(path.read_bytes()), np.load(path.parent / "x.npy")
    expected = np.load(path.with_suffix(".npy"))
    assert clone(estimator).get_params().keys() == type(estimator)().get_params().keys()
    found = estimator.predict(x)
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    content = pickle.dumps(estimator)
    named = re.findall(rb"vwlite\.\w+(?:\.\w+)*", content)
    assert {name.rpartition(b".")[0] for name in named} == {b"vwlite.estimators"}  # modules that stay where they are
    again = pickle.loads(content)
    assert again.predict(x).tolist() == expected.tolist()
    if path.stem in ("stream", "steps"):
        again.partial_fit(x, expected)
        assert again.predict(x).shape == expected.shape


def test_every_algorithm_gets_one():
    """With the first release that has it, which tests/release.py checks."""
    assert {form.algorithm for form in forms()} == {*ALGORITHMS, SOLVED.name}


def test_each_model_has_what_it_predicts():
    assert [path.stem for path in GOLDEN] == [p.stem for p in sorted(Path(GOLDEN[0].parent.parent).glob("*/*.model"))]
    assert len({path.stem for path in GOLDEN}) > 50
