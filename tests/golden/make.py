"""Makes the golden models of a release: `.venv/bin/python tests/golden/make.py`, as the last thing before it.

The folder of the release gets a small model of each algorithm and form (NAME.model), and beside it (NAME.json) how it
was made, how it predicts and is continued, what it predicts, and what tests/reference/slow_rules.py, written from the
papers only, computes from the same data. A model that differs from its reference is not written.
From then on the files stay as they are, and the tests see that later programs read them as this one does. --replace
replaces a folder that was not released yet, and --only NAME adds to it.
"""

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("core", "support", "reference")]

import batch  # noqa: E402
import slow_rules  # noqa: E402
from algorithm_options import OPTIONS, usual_loss, words  # noqa: E402
from batches import Line  # noqa: E402
from slow_parser import SlowParser  # noqa: E402
from streams import CONSTANT, Walk  # noqa: E402
from test_expand import slow_expand  # noqa: E402

from vwlite import __version__  # noqa: E402
from vwlite.algorithms.rules import rule_class  # noqa: E402
from vwlite.algorithms.settings import Settings  # noqa: E402
from vwlite.algorithms.table import ALGORITHMS, SOLVED  # noqa: E402
from vwlite.hashing import feature_hash  # noqa: E402

BITS = 8  # of the references' keys: they hold a number for each
CLOSE = 2e-5  # how near predictions must be to those of the reference, whose numbers are doubles
PREDICT = ["predict", "-m", "MODEL", "TEST", "-r", "RAW", "--quiet"]
CONTINUE = ["train", "-i", "MODEL", "MORE", "-m", "OUT", "--quiet"]
VW_PREDICT = ["vw", "-t", "-i", "MODEL", "-d", "TEST", "-p", "/dev/stdout", "--quiet"]
VW_CONTINUE = ["vw", "-i", "MODEL", "-d", "MORE", "-f", "OUT", "--quiet"]
WEIGHTS = {("a", f"w{i}"): 0.5 + i / 4 for i in range(0, 12, 2)}

# --- data --------------------------------------------------------------------------------------------

LABELS: dict[str, Callable[[float, random.Random], str]] = {
    "binary": lambda score, chance: "1" if score + chance.gauss(0, 0.5) > 0 else "-1",
    "zero-one": lambda score, chance: "1" if score + chance.gauss(0, 0.5) > 0 else "0",
    "real": lambda score, chance: f"{score + chance.gauss(0, 0.3):.2f}",
    "counts": lambda score, chance: str(max(0, round(math.exp(score / 2) + chance.gauss(0, 0.5)))),
    "classes": lambda score, chance: str(1 + (score > -0.6) + (score > 0.6)),
    "words": lambda score, chance: ["red", "green", "blue"][(score > -0.6) + (score > 0.6)],
}


def text(kind: str, part: str) -> str:
    """Lines of two namespaces, some with importance, a tag, no label, or a feature that occurs twice."""
    chance = random.Random(f"{part}")
    truth = random.Random("truth")
    weights = {f"w{i}": truth.gauss(0, 1) for i in range(12)} | {str(i): truth.gauss(0, 1) for i in range(8)}
    lines = []
    for i in range({"train": 60, "test": 20, "more": 20}[part]):
        a = {f"w{chance.randrange(10 if part == 'train' else 12)}": round(chance.gauss(0, 1), 2) for _ in range(4)}
        b = [str(chance.randrange(8)) for _ in range(2)]
        score = sum(weights[name] * x for name, x in a.items()) + sum(weights[name] for name in b)
        noise = random.Random(f"{part} {i}")
        initial = "" if kind == "classes" else " 0.25"  # which Vowpal Wabbit's lines of classes cannot have
        head = LABELS[kind](score, noise) + {3: " 2", 7: " 0.5 'seven", 11: f" 1{initial}"}.get(i % 13, "")
        if i % 17 == 5:
            head = "'none"
        spaces = " ".join(f"{name}:{x:g}" for name, x in a.items())
        lines.append(f"{head} |a {spaces} |b:0.5 {' '.join(b)}\n")
    return "".join(lines)


# --- forms -------------------------------------------------------------------------------------------


@dataclass
class Form:
    """A kind of model: how it is made, and its reference."""

    name: str
    algorithm: str
    options: str
    data: str = "binary"
    reference: type | None = None
    more: dict[str, Any] | None = None  # options of the reference
    loss: Any = None
    classes: int = 0
    softmax: bool = False
    quadratic: bool = False
    bits: int = 32
    link: bool = False
    only: bool = False  # it cannot be continued
    vw: bool = False  # Vowpal Wabbit's arguments
    export: bool = False
    solve: bool = False  # by vwlite solve; `more` is the problem


def forms() -> list[Form]:
    r = slow_rules
    logistic, hinge, squared = r.Logistic(), r.Hinge(), r.Squared()

    def form(
        name: str, algorithm: str, options: str, reference: type | None, more: dict[str, Any], **rest: Any
    ) -> Form:
        rest.setdefault("loss", logistic)
        loss = {logistic: "logistic", hinge: "hinge", squared: "squared"}.get(rest["loss"])
        if loss and "--softmax" not in options:
            options += f" --loss {loss}"
        return Form(name, algorithm, f"--algorithm {algorithm} {options}", reference=reference, more=more, **rest)

    rate, ball = {"rate": 0.5}, {"radius": 3.0, "rate": 0.5}
    adagrad = {"rate": 0.5, "power_t": 0.0}
    ftrl = {"ftrl_alpha": 0.5, "ftrl_beta": 1.0, "l1": 0.2, "l2": 0.1}
    found = [
        # Each algorithm.
        form("gd", "gd", "", r.Gd, {}),
        form("sgd", "sgd", "", r.Sgd, rate),
        form("truncated-gradient", "truncated-gradient", "--l1 0.02 --period 3 --threshold 2",
             r.TruncatedGradient, {"l1": 0.02, "period": 3, "threshold": 2, **rate}),
        form("rounding", "rounding", "--threshold 0.05 --period 5", r.Rounding,
             {"threshold": 0.05, "period": 5, **rate}),
        form("l1-subgradient", "l1-subgradient", "--l1 0.01", r.L1Subgradient, {"l1": 0.01, **rate}),
        form("rda", "rda", "--l1 0.001", r.Rda, {"l1": 0.001, **rate}),
        form("l1-ball", "l1-ball", "--radius 3", r.L1Ball, ball),
        form("simplex", "simplex", "--radius 40 --features 1000 -l 4", r.Simplex,
             {"radius": 40.0, "features": 1000, "rate": 4.0}),
        form("eg", "eg", "--radius 40 --features 1000", r.Eg, {"radius": 40.0, "features": 1000, **rate}),
        form("eg-pm", "eg-pm", "--radius 40 --features 1000", r.EgPm, {"radius": 40.0, "features": 1000, **rate}),
        form("adagrad", "adagrad", "--l1 0.001", r.Adagrad, {"l1": 0.001, **adagrad}),
        form("adagrad-rda", "adagrad-rda", "--l1 0.001", r.AdagradRda, {"l1": 0.001, **adagrad}),
        form("adagrad-ball", "adagrad-ball", "--radius 3", r.AdagradBall, {"radius": 3.0, **adagrad}),
        form("adagrad-full", "adagrad-full", "--l1 0.001 --delta 0.1", r.AdagradFull,
             {"l1": 0.001, "delta": 0.1, **adagrad}),
        form("pa", "pa", "", r.Pa, {}, loss=hinge),
        form("pa-i", "pa-i", "--pa-c 0.1", r.PaI, {"pa_c": 0.1}, loss=hinge),
        form("pa-ii", "pa-ii", "--pa-c 0.1", r.PaII, {"pa_c": 0.1}, loss=hinge),
        form("arow", "arow", "--arow-r 2", r.Arow, {"arow_r": 2.0}, loss=hinge),
        form("ftrl", "ftrl", "--l1 0.2 --l2 0.1", r.Ftrl, ftrl),
        form("smidas", "smidas", "--l1 0.01", r.Smidas, {"l1": 0.01, **rate}),
        # Other forms of them.
        form("adagrad-full-rda", "adagrad-full", "--update rda --root-every 7 --delta 1", r.AdagradFull,
             {"update": "rda", "root_every": 7, "delta": 1.0, **adagrad}),
        form("l1-ball-nonnegative", "l1-ball", "--radius 3 --nonnegative", r.L1Ball, {"nonnegative": True, **ball}),
        form("l1-ball-box", "l1-ball", "--radius 3 --box 0.4", r.WeightedL1Ball, {"box": 0.4, **ball}),
        form("l1-ball-weights", "l1-ball", "--radius 3 --feature-weights WEIGHTS", r.WeightedL1Ball, ball),
        form("truncated-gradient-constant", "truncated-gradient", "--l1 0.005 --gravity constant",
             r.TruncatedGradient, {"l1": 0.005, "gravity": "constant", **rate}),
        form("l1-subgradient-constant", "l1-subgradient", "--l1 0.005 --gravity constant", r.L1Subgradient,
             {"l1": 0.005, "gravity": "constant", **rate}),
        form("sgd-average", "sgd", "--average", r.AveragedSgd, rate),
        form("truncated-gradient-average", "truncated-gradient", "--l1 0.02 --average",
             r.AveragedTruncatedGradient, {"l1": 0.02, **rate}),
        form("l1-ball-average", "l1-ball", "--radius 3 --average", r.AveragedL1Ball, ball),
        form("adagrad-average", "adagrad", "--l1 0.001 --average", r.AveragedAdagrad, {"l1": 0.001, **adagrad}),
        form("adagrad-box", "adagrad", "--l1 0.001 --box 0.2", r.Adagrad, {"l1": 0.001, "box": 0.2, **adagrad}),
        form("adagrad-rda-box", "adagrad-rda", "--l1 0.001 --box 0.2", r.AdagradRda,
             {"l1": 0.001, "box": 0.2, **adagrad}),
        form("smidas-average", "smidas", "--l1 0.01 --smidas-p 4 --average", r.AveragedSmidas,
             {"l1": 0.01, "smidas_p": 4.0, **rate}),
        form("truncated-gradient-nonzeros", "truncated-gradient", "--nonzeros 4",
             r.LimitedTruncatedGradient, {"nonzeros": 4, **rate}),
        form("l1-ball-nonzeros", "l1-ball", "--nonzeros 4", r.LimitedL1Ball, {"nonzeros": 4, **rate}),
        form("adagrad-nonzeros", "adagrad", "--nonzeros 4", r.LimitedAdagrad, {"nonzeros": 4, **adagrad}),
        form("adagrad-rda-nonzeros", "adagrad-rda", "--nonzeros 4", r.LimitedAdagradRda, {"nonzeros": 4, **adagrad}),
        form("ftrl-nonzeros", "ftrl", "--nonzeros 4", r.LimitedFtrl, {"nonzeros": 4}),
        # Losses, features, labels.
        form("gd-squared", "gd", "--l1 0.001 --l2 0.0001", r.Gd, {"l1": 1e-3, "l2": 1e-4}, data="real", loss=squared),
        form("gd-quantile", "gd", "--loss quantile --quantile-tau 0.3", r.Gd, {}, data="real", loss=r.Quantile(0.3)),
        form("gd-poisson", "gd", "--loss poisson", r.Gd, {}, data="counts", loss=r.Poisson()),
        form("gd-bits", "gd", "-b 4", r.Gd, {}, bits=4),
        form("gd-quadratic", "gd", "-q ab", r.Gd, {}, quadratic=True),
        form("gd-no-constant", "gd", "--no-constant --ignore b", None, {}),
        form("gd-labels", "gd", "--labels 0,1", r.Gd, {}, data="zero-one"),
        form("gd-weights-only", "gd", "--save-weights-only", r.Gd, {}, only=True),
        form("eg-weights-only", "eg", "--radius 40 --features 1000 --save-weights-only", r.Eg,
             {"radius": 40.0, "features": 1000, **rate}, only=True),
        # Classes.
        form("oaa", "gd", "--oaa 3", r.Gd, {}, data="classes", classes=3),
        form("oaa-sgd-average", "sgd", "--oaa 3 --average", r.AveragedSgd, rate, data="classes", classes=3),
        form("oaa-names", "adagrad", "--classes red,green,blue", r.Adagrad, adagrad, data="words", classes=3),
        form("oaa-auto", "gd", "--oaa 5 --classes auto", r.Gd, {}, data="words", classes=3),
        form("softmax", "l1-ball", "--oaa 3 --softmax --radius 3", r.L1Ball, ball, data="classes", classes=3,
             softmax=True),
        form("softmax-weights-only", "sgd", "--oaa 3 --softmax --save-weights-only", r.Sgd, rate, data="classes",
             classes=3, softmax=True, only=True),
        # Batch problems.
        Form("solve", SOLVED.name, "--l1 0.02 --tolerance 0", "binary", None, {"loss": "logistic", "l1": 0.02},
             only=True, solve=True),
        Form("solve-names", SOLVED.name,
             "--loss squared-hinge --classes red,green,blue --l1 0.05 --l2 0.1 --tolerance 0", "words", None,
             {"loss": "squared-hinge", "l1": 0.05, "l2": 0.1}, classes=3, only=True, solve=True),
        # Vowpal Wabbit's own format: by its arguments, and exported.
        Form("vw", "gd", "", "real", r.Gd, {}, squared, vw=True),
        Form("vw-quadratic", "gd", "-q ab --loss_function logistic", "binary", r.Gd, {}, logistic, quadratic=True,
             vw=True),
        Form("vw-weights-only", "gd", "--predict_only_model", "real", r.Gd, {}, squared, vw=True, only=True),
        Form("vw-ftrl", "ftrl", "--ftrl --loss_function logistic", vw=True),
        Form("vw-oaa", "gd", "--oaa 3", "classes", vw=True),
        Form("vw-sgd", "gd", "--sgd -l 0.05", "real", vw=True),
        form("export", "gd", "-b 18", r.Gd, {}, loss=squared, data="real", bits=18, export=True),
    ]
    if "link" in {field.name for field in fields(Settings)}:
        found.append(form("gd-link", "gd", "--link logistic", r.Gd, {}, link=True))
    for name in ALGORITHMS.keys() - {each.algorithm for each in found}:
        kind, options = rule_class(ALGORITHMS[name].rule).__name__, OPTIONS[name]
        loss = logistic if usual_loss(name) == "logistic" else hinge
        found.append(form(name, name, " ".join(words(options)), getattr(r, kind), options, loss=loss))
    return found


def missing(folder: Path) -> list[str]:
    """Forms of which the folder of a release has no model."""
    return [form.name for form in forms() if not (folder / f"{form.name}.model").exists()]


# --- references -------------------------------------------------------------------------------------------


class Keys(dict[int, int]):
    """Small numbers for indices of features, as the references hold one number for each that there may be."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.mask = (1 << bits) - 1
        self[CONSTANT & self.mask] = CONSTANT & (1 << BITS) - 1

    def __missing__(self, index: int) -> int:
        used = set(self.values())
        self[index] = next(i for i in range(1 << BITS) if i not in used)
        return self[index]


def stream(form: Form, part: str, keys: Keys) -> list[Line]:
    """The examples, by the slow parser."""
    words = ["red", "green", "blue"]
    content = text(form.data, part)
    if form.data == "words":  # with --classes auto, in the order of the training data
        if "auto" in form.options:
            words = list(dict.fromkeys(w for w in text("words", "train").split() if w in words))
        for i, word in enumerate(words):
            content = content.replace(word, str(i + 1))
    labels = (0.0, 1.0) if form.data == "zero-one" else None
    examples, faults = SlowParser(labels=labels).parse(content.encode())
    assert not faults
    found = []
    for e in examples:
        indices, values = slow_expand(e.spans, [b"ab"] if form.quadratic else [], constant=False)
        features = [(keys[index & keys.mask], x) for index, x in zip(indices, values, strict=True)]
        label = e.label if part == "train" else nan
        found.append(Line(label, features, e.importance, e.initial))
    return found


def reference_scores(form: Form) -> list[list[float]] | None:
    """What the reference says of each example of the test data, or the references of all classes."""
    if form.solve:
        return solved_scores(form)
    if form.reference is None:
        return None
    keys = Keys(form.bits)
    train, test = (stream(form, part, keys) for part in ("train", "test"))
    key = CONSTANT & (1 << BITS) - 1
    options = dict(form.more or {})
    if "WEIGHTS" in form.options:
        options["a"] = np.ones(1 << BITS)
        for (space, name), a in WEIGHTS.items():
            options["a"][keys[feature_hash(name.encode(), space.encode())]] = a
    make: Callable[[Any], Any] = lambda loss: form.reference(loss, 1 << BITS, constant_key=key, **options)  # noqa: E731
    if form.softmax:
        return softmax_scores(make, train, test, form.classes)
    low, high = (-50.0, 50.0) if isinstance(form.loss, slow_rules.Logistic | slow_rules.Poisson) else (0.0, 0.0)
    columns = []
    for k in range(1, max(form.classes, 1) + 1):
        reference = make(form.loss)
        walk = Walk(reference, bits=BITS, range_of_labels=(low, high),
                    largest_p=44 if isinstance(form.loss, slow_rules.Poisson) else inf)
        labelled = train
        if form.classes:
            sides = [nan if math.isnan(x.label) else 1.0 if x.label == k else -1.0 for x in train]
            labelled = [x._replace(label=side) for x, side in zip(train, sides, strict=True)]
        walk.run(labelled)
        if isinstance(reference, slow_rules.Limited):
            reference.weights = reference.model
        walk.run(test)
        columns.append(walk.predictions[-len(test) :])
    scores = [list(row) for row in zip(*columns, strict=True)]
    if form.link:
        scores = [[1 / (1 + math.exp(-p)) for p in row] for row in scores]
    return scores


class Given:
    """A loss whose dloss is the prediction, so that a reference of one score takes the given step."""

    def dloss(self, p: float, y: float) -> float:
        return p


def softmax_scores(make: Callable[[Any], Any], train: list[Line], test: list[Line], classes: int) -> list[list[float]]:
    references = [make(Given()) for _ in range(classes)]
    found = []
    for line in [*train, *test]:
        ids = [k for k, _ in line.features] + [CONSTANT & (1 << BITS) - 1]
        values = [x for _, x in line.features] + [1.0]
        scores = [reference.predict(ids, values, line.initial) for reference in references]
        found.append(scores)
        if not math.isnan(line.label):
            shares = slow_rules.softmax(np.array(scores))
            for k, reference in enumerate(references):
                reference.learn(ids, values, shares[k] - (line.label == k + 1), line.label, line.importance)
    return found[-len(test) :]


def solved_scores(form: Form) -> list[list[float]]:
    """What the optimum, found by plain coordinate descent, says of the test data."""
    keys = Keys(form.bits)
    train, test = (stream(form, part, keys) for part in ("train", "test"))
    train = [x for x in train if not math.isnan(x.label)]
    columns = []
    for k in range(1, max(form.classes, 1) + 1):
        labels = [x.label if not form.classes else 1.0 if x.label == k else -1.0 for x in train]
        problem = batch.Problem(
            matrix(train), np.array(labels), importance=np.array([x.importance for x in train]),
            initial=np.array([x.initial for x in train]), **(form.more or {}),
        )
        w, b = batch.solve(problem)
        columns.append(matrix(test) @ w + b + np.array([x.initial for x in test]))
    return np.stack(columns, axis=1).tolist()


def matrix(lines: list[Line]) -> np.ndarray:
    """A row for each line, without the constant."""
    x = np.zeros((len(lines), 1 << BITS), np.float32)
    for i, line in enumerate(lines):
        for key, value in line.features:
            x[i, key] += np.float32(value)
    return x.astype(float)


# --- the program -------------------------------------------------------------------------------------


def vwlite(arguments: list[str], files: dict[str, Path]) -> str:
    """Run the program; what it wrote to standard output."""
    command = [str(files.get(a, a)) for a in arguments]
    done = subprocess.run([sys.executable, "-m", "vwlite", *command], capture_output=True, text=True, cwd="/")
    if done.returncode:
        raise SystemExit(f"vwlite {' '.join(command)}\n{done.stdout[-300:]}{done.stderr}")
    return done.stdout


def make(form: Form, folder: Path, work: Path) -> None:
    """One model, and what belongs to it."""
    data = {part.upper(): folder / f"{form.data}.{part}.vw" for part in ("train", "test", "more")}
    files = {**data, "MODEL": folder / f"{form.name}.model", "RAW": work / "raw", "OUT": work / "out",
             "WEIGHTS": folder / "weights", "OWN": work / "own"}
    (work / "raw").unlink(missing_ok=True)
    vw = form.vw or form.export
    commands = [["train", "TRAIN", "-m", "MODEL", "--quiet", *form.options.split()]]
    if form.solve:
        commands[0][0] = "solve"
    if form.vw:
        commands = [["vw", "-d", "TRAIN", "-f", "MODEL", "--quiet", *form.options.split()]]
    if form.export:
        commands = [["train", "TRAIN", "-m", "OWN", "--quiet", *form.options.split()],
                    ["export", "OWN", "--to", "vw", "-o", "MODEL"]]
    for command in commands:
        vwlite(command, files)
    predict = [*VW_PREDICT, *(["--predict_only_model"] if form.vw and form.only else [])] if vw else PREDICT
    predictions = vwlite(predict, files)
    raw = None if vw else files["RAW"].read_text()
    of_raw = bool(raw) and not form.link  # the reference has scores, without their link
    scores = reference_scores(form)
    if scores is not None:
        assert scores_of(raw if of_raw else predictions, form.classes) == near(scores), form.name
    content = {
        "algorithm": form.algorithm,
        "commands": commands,
        "data": form.data,
        "predict": predict,
        "predictions": predictions,
        "raw": raw,
        "continue": None if form.only else VW_CONTINUE if vw else CONTINUE,
        "twin": scores,
        "twin_of": "raw" if of_raw else "predictions",
    }
    rows = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items()]
    (folder / f"{form.name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


def scores_of(predictions: str, classes: int) -> list[list[float]]:
    """The numbers in what was predicted."""
    words = [line.split() for line in predictions.splitlines()]
    return [[float(w.rpartition(":")[2]) for w in row[: classes or 1]] for row in words]


class near:
    """Equal to numbers that are near to these."""

    def __init__(self, scores: list[list[float]]) -> None:
        self.scores = scores

    def __eq__(self, other: object) -> bool:
        return np.allclose(np.array(other), np.array(self.scores), rtol=CLOSE, atol=CLOSE)


def pickles(folder: Path) -> None:
    """Estimators of all kinds, in a folder of their own, and what each predicts of the rows that it was trained on."""
    import pickle

    from vwlite import SparseClassifier, SparseRegressor

    folder.mkdir()
    chance = np.random.default_rng(1)
    x = np.round(chance.normal(size=(200, 4)), 2)
    number = x @ [1.0, -2.0, 0.0, 0.5]
    words = np.array(["low", "middle", "high"])[np.digitize(number, [-1, 1])]
    np.save(folder / "x.npy", x)
    fitted = {
        "classifier": SparseClassifier().fit(x, number > 0),
        "words": SparseClassifier(algorithm="adagrad", passes=3).fit(x, words),
        "regressor": SparseRegressor().fit(x, number),
        "quantile": SparseRegressor(algorithm="gd", loss="quantile", quantile_tau=0.8).fit(x, number),
        "stream": SparseRegressor(algorithm="auto").partial_fit(x, number),
        "steps": SparseClassifier(algorithm="gd").partial_fit(x, number > 0, classes=[False, True]),
    }
    for name, estimator in fitted.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(estimator, 4))
        np.save(folder / f"{name}.npy", estimator.predict(x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replace", action="store_true", help="replace the folder of a release that is not out yet")
    parser.add_argument("--only", metavar="NAME", help="make only the model of this name, beside those that are there")
    o = parser.parse_args()
    folder = HERE / __version__
    if o.only:
        form = next(form for form in forms() if form.name == o.only)
        with tempfile.TemporaryDirectory() as work:
            make(form, folder, Path(work))
        return
    if folder.exists() and not o.replace:
        raise SystemExit(f"{folder} exists: only the folder of an unreleased version may be replaced, with --replace")
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    for kind in LABELS:
        for part in ("train", "test", "more"):
            (folder / f"{kind}.{part}.vw").write_text(text(kind, part))
    (folder / "weights").write_text("".join(f"{space}^{name} {a}\n" for (space, name), a in WEIGHTS.items()))
    for form in forms():
        make(form, folder, work)
    shutil.rmtree(work)
    pickles(folder / "pickles")


if __name__ == "__main__":
    main()
