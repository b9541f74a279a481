"""What a type checker knows of the estimators: a user's script passes mypy --strict, a wrong one does not."""

import inspect
import subprocess
import sys
import typing

import pytest
import stubs

pytest.importorskip("mypy")

SCRIPT = '''
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vwlite import SparseClassifier, SparseRegressor, load_model


def learned(x: NDArray[np.float64], y: list[int], path: Path) -> NDArray[np.float64]:
    m = SparseClassifier(algorithm="ftrl", l1=1.0, passes=5, class_weight="balanced", quadratic=["ab"])
    m.fit(x, y).partial_fit(x, y, sample_weight=np.ones(len(y))).save(path)
    print(m.classes_, m.coef_, m.sparsify().intercept_, m.get_params()["l1"])
    return m.predict_proba(x)


def again(path: Path, lines: list[str]) -> dict[str, float]:
    model = load_model(path, link="logistic")
    found = {line: p for line, p in zip(lines, model.predict_lines(lines)) if isinstance(p, float)}
    for shares in model.predict_lines(lines, probabilities=True):
        found |= shares or {}
    return found


mean: float = float(SparseRegressor(loss="poisson", l2=1e-3).fit([[1.0]], [2]).predict([[1.0]])[0])
'''
WRONG = {
    'SparseClassifier(algorithm="sdg")': "arg-type",
    'SparseClassifier(l3=1.0)': "call-arg",
    'SparseRegressor(softmax=True)': "call-arg",
    'SparseRegressor(passes="5")': "arg-type",
    'load_model(3)': "arg-type",
    'SparseRegressor().predict_proba([[1.0]])': "attr-defined",
}


def mypy(folder, script):
    (folder / "script.py").write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_a_script_passes_mypy(tmp_path):
    assert mypy(tmp_path, SCRIPT) == "Success: no issues found in 1 source file\n"
    lines = "\n".join(WRONG)
    found = mypy(tmp_path, f"from vwlite import SparseClassifier, SparseRegressor, load_model\n{lines}\n")
    for i, kind in enumerate(WRONG.values()):
        assert any(f"script.py:{i + 2}: error:" in line and f"[{kind}]" in line for line in found.splitlines()), found


def test_the_stub_has_what_the_estimators_have():
    pytest.importorskip("sklearn")
    import ast

    import vwlite

    classes = {node.name: node for node in ast.parse(stubs.package_stub()).body if isinstance(node, ast.ClassDef)}
    shared = [node.target.id for node in classes.pop("_Parameters").body]
    own = {
        "SparseClassifier": [node.target.id for node in classes.pop("_ClassifierParameters").body],
        "SparseRegressor": [],
    }
    of_both = classes.pop("_Estimator").body
    assert set(classes) == {"SparseClassifier", "SparseRegressor"} <= set(vwlite.__all__)
    for name, node in classes.items():
        kind = getattr(vwlite, name)
        assert kind.__doc__ is not None
        for inner in [*of_both, *node.body]:
            if not isinstance(inner, ast.FunctionDef):
                continue
            there = inspect.getattr_static(kind, inner.name)
            if isinstance(there, property) or inner.name in ("set_params", "score"):
                continue
            shown = [a.arg for a in (*inner.args.args, *inner.args.kwonlyargs)]
            if inner.name == "__init__":
                assert set(inspect.signature(kind).parameters) == {*shared, *own[name]}
                assert shown == ["self"]
            elif (made := getattr(kind, inner.name, None)) is not None:
                assert [*inspect.signature(made).parameters][-len(shown) :] == shown, inner.name
    assert typing.get_type_hints(vwlite.load_model)["return"] is vwlite.LoadedModel
