"""`--class-weight`: the importance of each example times the weight of its label."""

import random
from dataclasses import replace

import pytest

from vwlite.model.read import read_model

KINDS = {
    "auto": (),
    "sparse": ("--sparse",),
    "gd": ("--algorithm", "gd", "--loss", "logistic", "--labels", "{labels}", "--passes", "3"),
    "cached": ("--algorithm", "ftrl", "--loss", "logistic", "--labels", "{labels}", "-c"),
    "center": ("--algorithm", "gd", "--loss", "logistic", "--labels", "{labels}", "--normalize", "center"),
    "oaa": ("--oaa", "2", "--classes", "{labels}"),
}


def lines(seed, labels, weight=lambda label: 1.0, n=300):
    """Examples of two labels, of which the first one is more frequent."""
    draw = random.Random(seed)
    for _ in range(n):
        x = [round(draw.gauss(0, 1), 3) for _ in range(3)]
        label = labels[draw.random() < 0.2 + 0.1 * (x[0] > 0)]
        yield f"{label} {weight(label) * draw.choice([1, 2]):.17g} |f a:{x[0]} b:{x[1]} c:{x[2]}\n"


def learned(path):
    """The header of a model, without the words that were typed for it, and its arrays."""
    model = replace(read_model(path), typed=[])
    return model.header(), {name: bytes(numbers) for name, numbers in model.arrays().items()}


@pytest.mark.parametrize("labels", [("0", "1"), ("ham", "spam")])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_as_importances_in_the_data(vwlite, tmp_path, kind, labels):
    options = [part.format(labels=",".join(labels)) for part in KINDS[kind]]
    counted = [line.split()[0] for line in lines(1, labels)]
    balanced = {label: len(counted) / (2 * counted.count(label)) for label in labels}
    for name, weights in {"balanced": balanced, "pairs": {labels[0]: 0.5, labels[1]: 3.0}}.items():
        plain, weighted = tmp_path / "plain.vw", tmp_path / "weighted.vw"
        plain.write_text("".join(lines(1, labels)))
        weighted.write_text("".join(lines(1, labels, weights.__getitem__)))
        typed = name if name == "balanced" else ",".join(f"{k}:{w}" for k, w in weights.items())
        for _ in range(2):  # with --cache, the second one reads it
            said = vwlite("train", plain, *options, "--class-weight", typed, "-m", tmp_path / "a.model").err
        vwlite("train", weighted, *options, "-m", tmp_path / "b.model")
        assert learned(tmp_path / "a.model") == learned(tmp_path / "b.model"), (name, said)
        assert "note: --class-weight: probabilities are not calibrated" in said
        assert "vwlite calibrate" in said


@pytest.mark.parametrize("labels", [("0", "1"), ("a", "b", "c")])
def test_derived_features_of_tables_are_chosen_by_the_weights(vwlite, tmp_path, labels):
    draw, rows = random.Random(5), []
    for _ in range(1000):
        x, word = round(draw.uniform(-3, 3), 3), draw.choice(["u", "v"])
        rows.append((labels[int(abs(x) * len(labels) / 3.01)] if draw.random() < 0.9 else labels[0], x, word))
    weights = {label: 0.5 + 2 * k for k, label in enumerate(labels)}
    plain, weighted = tmp_path / "plain.csv", tmp_path / "weighted.csv"
    plain.write_text("y,x,word\n" + "".join(f"{y},{x},{w}\n" for y, x, w in rows))
    weighted.write_text("y,x,word,weight\n" + "".join(f"{y},{x},{w},{weights[y]}\n" for y, x, w in rows))
    options = ["--label", "y", *(["--oaa", "3", "--classes", "a,b,c"] if len(labels) > 2 else [])]
    typed = ",".join(f"{label}:{weight}" for label, weight in weights.items())
    said = vwlite("train", plain, *options, "--class-weight", typed, "-m", tmp_path / "a.model").err
    assert "curves of 1 number" in said
    vwlite("train", weighted, *options, "--importance", "weight", "-m", tmp_path / "b.model")
    assert read_model(tmp_path / "a.model").weights == read_model(tmp_path / "b.model").weights


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pipe_a_validation_file_and_a_continued_model_are_weighted(vwlite, tmp_path, threads, monkeypatch):
    files = {}
    for name, weight in {"plain": lambda _: 1.0, "weighted": lambda label: 4.0 if label == "b" else 1.0}.items():
        files[name] = [tmp_path / f"{name}{k}.vw" for k in range(2)]
        for k, file in enumerate(files[name]):
            file.write_text("".join(lines(k, "ab", weight)))
    found = {}
    for name, (one, other) in files.items():
        typed = ["--class-weight", "b:4"] if name == "plain" else []
        model, again = tmp_path / "validated.model", tmp_path / "again.model"
        vwlite("train", one, *typed, "--validate", other, "-m", model, "--threads", threads)
        gd = ["--algorithm", "gd", "--loss", "logistic", "--labels", "a,b", *typed]
        vwlite("train", one, *gd, "-m", again)
        vwlite("train", other, "-i", again, "-m", again, *typed)
        found[name] = learned(model), learned(again)
    assert found["plain"] == found["weighted"]


def test_balanced_is_that_of_the_estimator(vwlite, tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.datasets import dump_svmlight_file, make_classification

    from vwlite import SparseClassifier

    for classes in (2, 4):
        shares = [0.6, *[0.1] * (classes - 2)]
        x, y = make_classification(500, 6, n_informative=5, n_classes=classes, weights=shares, n_redundant=0,
                                   random_state=1)
        y += classes > 2  # classes are 1 to 4
        dump_svmlight_file(x, y, str(tmp_path / "data"), zero_based=True)
        options = ["--oaa", classes] if classes > 2 else ["--labels", "0,1", "--loss", "logistic"]
        more = {"oaa": classes} if classes > 2 else {"loss": "logistic"}
        vwlite("train", tmp_path / "data", *options, "--algorithm", "gd", "--loss", "logistic", "--class-weight",
               "balanced", "-m", tmp_path / "a.model")
        made = SparseClassifier(algorithm="gd", class_weight="balanced", **more).fit(x, y)
        made.save(tmp_path / "b.model")
        assert learned(tmp_path / "a.model") == learned(tmp_path / "b.model")


BAD = {
    ("--class-weight", "2"): (2, "neither balanced nor labels with weights"),
    ("--class-weight", "0:x"): (2, "'x' is not a number"),
    ("--class-weight", "0:-1"): (2, "must be at least 0"),
    ("--class-weight", "0:1,0:2"): (2, "duplicate name"),
    ("--class-weight", "0:1,7:2"): (65, "--class-weight names 7, which is no label of the data; one is 1"),
    ("--class-weight", "0:1e308"): (65, "an importance times its --class-weight is too large"),
    ("--class-weight", "balanced", "--loss", "squared"): (2, "--loss squared predicts numbers"),
    ("--class-weight", "balanced", "--algorithm", "gd"): (2, "--loss squared predicts numbers"),
}


@pytest.mark.parametrize("options", BAD, ids=" ".join)
def test_bad_weights_are_refused(vwlite, tmp_path, options):
    (tmp_path / "data").write_text("".join(f"{k % 2} 20 | a:{k}\n" for k in range(30)))
    code, why = BAD[options]
    assert why in vwlite("train", tmp_path / "data", *options, code=code).err


def test_labels_that_are_numbers_and_pipes_are_refused(vwlite, tmp_path):
    (tmp_path / "numbers").write_text("".join(f"{k}.5 | a:{k}\n" for k in range(1, 30)))
    for typed in ("balanced", "0:1"):
        said = vwlite("train", tmp_path / "numbers", "--class-weight", typed, code=65).err
        assert "--class-weight needs labels that are classes: as the labels are numbers" in said
    said = vwlite("train", "-", "--class-weight", "balanced", code=2).err
    assert "counts the labels first, in files: name the weights" in said
    (tmp_path / "bad").write_text("1 | a\n0 | b\n1 |a:x\n")
    assert "bad:3:" in vwlite("train", tmp_path / "bad", "--class-weight", "balanced", code=65).err
    said = vwlite("train", tmp_path / "bad", "--class-weight", "balanced", "--on-error", "skip").err
    assert said.count("bad line skipped") == 1
