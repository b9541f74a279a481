"""--nonzeros N: a strength that is found while learning, and never more than N weights in the model."""

import json
from itertools import pairwise

import numpy as np
import pytest
import slow_rules
from batches import Line
from streams import CONSTANT, Walk, random_stream
from test_continuing import lines_of
from test_rules import BITS, LOSSES, rate_for, run, weights_of
from tiers import drawn

from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner
from vwlite.core.rules.adagrad import Adagrad, AdagradRda, ElasticAdagrad, ElasticAdagradRda
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.rules.l1_ball import L1Ball, WeightedL1Ball
from vwlite.core.rules.rda import Rda
from vwlite.core.rules.truncated_gradient import ElasticTruncatedGradient, TruncatedGradient
from vwlite.model import read_model

pytestmark = pytest.mark.pairwise
RULES = {
    "truncated-gradient": (TruncatedGradient, slow_rules.LimitedTruncatedGradient),
    "adagrad": (Adagrad, slow_rules.LimitedAdagrad),
    "adagrad-rda": (AdagradRda, slow_rules.LimitedAdagradRda),
    "ftrl": (Ftrl, slow_rules.LimitedFtrl),
    "rda": (Rda, slow_rules.LimitedRda),
    "l1-ball": (L1Ball, slow_rules.LimitedL1Ball),
    "truncated-gradient with l2": (ElasticTruncatedGradient, slow_rules.LimitedTruncatedGradient),
    "adagrad with l2": (ElasticAdagrad, slow_rules.LimitedAdagrad),
    "adagrad-rda with l2": (ElasticAdagradRda, slow_rules.LimitedAdagradRda),
}
SIZE = 1 << BITS
KEY = CONSTANT % SIZE


def options_for(name, loss):
    rate = rate_for(loss)
    return {
        "truncated-gradient": {"rate": rate},
        "adagrad": {"rate": 0.1},
        "adagrad-rda": {"rate": 0.1},
        "ftrl": {"ftrl_alpha": rate},
        "rda": {"rate": rate / 2},
        "l1-ball": {"rate": 4 * rate, "radius": 1.0},
        "truncated-gradient with l2": {"rate": rate, "l2": 0.1},
        "adagrad with l2": {"rate": 0.1, "power_t": 0.0, "l2": 0.01},
        "adagrad-rda with l2": {"rate": 0.1, "l2": 0.1},
    }[name]


@pytest.mark.parametrize("n", [1, 10, 40])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", RULES)
def test_against_the_eager_reference(name, loss, n):
    """Strength, weights and predictions; the reference counts its dense weights."""
    options = options_for(name, loss) | {"nonzeros": n}
    if name.startswith("truncated-gradient") and n == 10:
        options |= {"period": 5, "threshold": 0.3}
    if name.startswith("truncated-gradient") and n == 40:
        options |= {"gravity": "constant"}
    stream = random_stream(60, drawn(500), loss=loss, scales=False)
    compiled_loss, plain_loss = LOSSES[loss]
    compiled = RULES[name][0](compiled_loss, constant_key=KEY, **options)
    reference = RULES[name][1](plain_loss, SIZE, constant_key=KEY, **options)
    learner = Learner(compiled, compiled_loss, Expander(bits=BITS), predictions=True)
    walk = Walk(reference, bits=BITS)
    tolerance = 1e-4 if name.startswith("truncated-gradient") else 1e-8
    strengths = set()
    for line in stream:
        run(learner, [line])
        walk.run([line])
        assert compiled.strength == pytest.approx(reference.strength, rel=tolerance, abs=1e-12)
        strengths.add(f"{compiled.strength:.6g}")
    assert len(strengths) > 5
    said = [float(text) for text in learner.predictions.take().split()]
    np.testing.assert_allclose(said, walk.predictions, rtol=tolerance, atol=1e-5)
    ours, theirs = weights_of(compiled, SIZE), reference.model
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())
    penalized = np.arange(SIZE) != KEY
    assert np.count_nonzero(ours[penalized]) == compiled.count_nonzero() <= n


def test_of_equal_weights_those_with_the_smaller_keys_stay():
    compiled_loss = LOSSES["squared"][0]
    rule = Adagrad(compiled_loss, nonzeros=3, rate=0.5)
    learner = Learner(rule, compiled_loss, Expander(constant=False))
    keys = [2**32 - 1, 7, 0, 900, 2**31, 12]
    run(learner, [Line(1.0, [(key, 1.0) for key in keys])])
    table = np.frombuffer(bytes(rule.slots()), dtype=np.dtype(rule.SLOT, align=True))
    out = np.zeros(len(table))
    rule.weights(rule.slots(), out)
    assert {int(m - np.uint32(1)) for m, w in zip(table["mark"], out, strict=True) if w} == {0, 7, 12}
    assert rule.count_nonzero() == 3


@pytest.mark.parametrize("seed", range(5))
def test_the_model_has_the_largest_weights(seed):
    stream = random_stream(seed, 300, loss="logistic", keys=2000, width=30)
    compiled_loss = LOSSES["logistic"][0]
    for n in (1, 17, 100):
        rule = Ftrl(compiled_loss, nonzeros=n, ftrl_alpha=0.1)
        learner = Learner(rule, compiled_loss, Expander(constant=False))
        run(learner, stream)
        slots = rule.slots()
        kept, raw = np.zeros(len(slots) // 32), np.zeros(len(slots) // 32)
        rule.weights(slots, kept)
        table = np.frombuffer(bytes(slots), dtype=np.dtype(rule.SLOT, align=True))
        size = np.abs(table["z"])
        raw = np.where(size > rule.strength, -np.sign(table["z"]) * (size - rule.strength), 0)
        raw /= (1 + table["root"]) / 0.1
        assert np.count_nonzero(raw) >= n
        np.testing.assert_allclose(np.sort(np.abs(kept))[::-1][:n], np.sort(np.abs(raw))[::-1][:n], rtol=1e-12)
        assert np.count_nonzero(kept) == n


@pytest.mark.parametrize("name", ["truncated-gradient", "adagrad", "l1-ball"])
def test_few_weights_are_found_in_long_examples(name):
    """Five features say the label, mostly, in a few examples each, among 60 of 2,000 that say nothing."""
    rng = np.random.default_rng(61)
    stream = []
    for _ in range(4000):
        y = float(rng.choice([-1, 1]))
        pairs = [(k, y if rng.random() < 0.8 else -y) for k in range(5) if rng.random() < 0.2]
        stream.append(Line(y, [*pairs, *((int(k), 1.0) for k in rng.integers(5, 2000, 60))]))
    compiled_loss = LOSSES["logistic"][0]
    options = {"truncated-gradient": {"rate": 0.5}, "adagrad": {"rate": 0.5}, "l1-ball": {"rate": 0.5, "radius": 1.0}}
    rule = RULES[name][0](compiled_loss, nonzeros=5, **options[name])
    run(Learner(rule, compiled_loss, Expander(bits=11, constant=False)), stream)
    assert set(np.flatnonzero(weights_of(rule, 1 << 11)).tolist()) == set(range(5))


COMMANDS = {
    "truncated-gradient": ["-l", 0.1],
    "adagrad": ["-l", 0.1],
    "adagrad-rda": ["-l", 0.1],
    "ftrl": [],
    "l1-ball": ["-l", 0.5],
}


@pytest.mark.parametrize("algorithm", COMMANDS)
def test_continuing_predicting_and_reporting(vwlite, tmp_path, algorithm):
    text = lines_of(5, 1500).splitlines(keepends=True)
    (tmp_path / "all").write_text("".join(text))
    (tmp_path / "test").write_text("".join(text[:200]))
    loss = ["--loss", "logistic", "--link", "identity"]
    command = ["train", "--algorithm", algorithm, *loss, "--nonzeros", 20, *COMMANDS[algorithm]]
    err = vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole", "--report", tmp_path / "report").err
    vwlite(*command, tmp_path / "all", "-m", tmp_path / "other", "--threads", 1, "--checkpoint-every", 77)
    assert (tmp_path / "other").read_bytes() == (tmp_path / "whole").read_bytes()
    for i, (begin, end) in enumerate(pairwise([0, 3, 9, 150, 151, 900, len(text)])):
        (tmp_path / "part").write_text("".join(text[begin:end]))
        start = command if i == 0 else ["train", "-i", tmp_path / "model"]
        vwlite(*start, "--quiet", tmp_path / "part", "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()

    model = read_model(str(tmp_path / "whole"))
    weights = dict(zip(model.keys.tolist(), model.weights.tolist(), strict=True))
    assert sum(w != 0 for key, w in weights.items() if key != 11650396) == 20
    results = json.loads((tmp_path / "report").read_text())["results"]
    name = "radius" if algorithm == "l1-ball" else "l1"
    assert results["nonzero_weights"] == 20
    assert results[f"{name}_found"] == model.rule["strength"] > 0
    assert "nonzero weights = 20\n" in err
    assert f"{name} found = {model.rule['strength']:.6g}\n" in err
    assert "allows more" not in err
    assert f"strength                 {model.rule['strength']:.10g}" in vwlite("info", tmp_path / "whole").out

    vwlite(*command, "--quiet", tmp_path / "all", "-m", tmp_path / "light", "--save-weights-only")
    full, light = (vwlite("predict", "-m", tmp_path / m, tmp_path / "test").out for m in ("whole", "light"))
    assert full == light
    (tmp_path / "one").write_text("".join(f"|a w{i}\n" for i in range(300)))
    predictions = [float(p) for p in vwlite("predict", "-m", tmp_path / "whole", tmp_path / "one").out.split()]
    constant = weights[11650396]
    names = [f"--feature=a^w{i}" for i in range(300)]
    rows = [row.split() for row in vwlite("weights", tmp_path / "whole", *names).out.splitlines()]
    listed = [0.0 if weight == "unknown" else float(weight) for _, weight, *_ in rows]
    assert predictions == pytest.approx([constant + w for w in listed], abs=2e-6)


@pytest.mark.parametrize("algorithm", COMMANDS)
def test_a_limit_that_is_never_reached(vwlite, tmp_path, algorithm):
    """Nothing is shrunk, and the program says so; a given start falls to 0."""
    (tmp_path / "data").write_text(lines_of(6, 1500))
    command = ["train", tmp_path / "data", "--algorithm", algorithm, "--loss", "logistic", "--nonzeros", 100000]
    command += COMMANDS[algorithm]
    said = "--nonzeros 100000 allows more weights than the data needs: none was shrunk\n"
    assert said in vwlite(*command, "-m", tmp_path / "free").err
    if algorithm == "l1-ball":
        return
    assert read_model(str(tmp_path / "free")).rule["strength"] == 0
    vwlite(*command, "--l1", 0.01, "-m", tmp_path / "from")
    assert read_model(str(tmp_path / "from")).rule["strength"] == 0


@pytest.mark.parametrize("algorithm", COMMANDS)
def test_a_limit_that_only_the_model_keeps_to_is_not_called_needless(vwlite, tmp_path, algorithm):
    """15 weights, 10 of them in the model: learning may have had all 15."""
    rng = np.random.default_rng(62)
    rows = [(rng.choice([-1, 1]), rng.normal(size=15)) for _ in range(300)]
    text = "".join(f"{y} | " + " ".join(f"{i}:{x:.3f}" for i, x in enumerate(v)) + "\n" for y, v in rows)
    (tmp_path / "data").write_text(text)
    command = ["train", tmp_path / "data", "--algorithm", algorithm, "--loss", "logistic", *COMMANDS[algorithm]]
    assert "allows more weights" not in vwlite(*command, "--nonzeros", 10, "-m", tmp_path / "m").err
    assert len(vwlite("weights", tmp_path / "m", "--top", 100).out.splitlines()) == 10 + 1  # and the constant
    assert "allows more weights" in vwlite(*command, "--nonzeros", 15).err


def test_a_given_strength_is_the_start(vwlite, tmp_path):
    (tmp_path / "data").write_text(lines_of(6, 5))
    (tmp_path / "none").write_text("")
    for algorithm, option, value in [("truncated-gradient", "--l1", 0.5), ("l1-ball", "--radius", 7.5)]:
        command = ["train", "--algorithm", algorithm, "--nonzeros", 5, option, value, "-m", tmp_path / "model"]
        vwlite(*command, tmp_path / "data")
        assert read_model(str(tmp_path / "model")).rule["strength"] == value
        again = ["train", "-i", tmp_path / "model", tmp_path / "none", "--allow-empty", "-m", tmp_path / "model"]
        vwlite(*again, option, 0.25)
        assert read_model(str(tmp_path / "model")).rule["strength"] == 0.25


def test_a_ball_with_weights_and_a_box_keeps_to_the_limit():
    compiled_loss = LOSSES["logistic"][0]
    rule = WeightedL1Ball(compiled_loss, nonzeros=10, radius=1.0, box=0.05, rate=1.0, constant_key=KEY)
    learner = Learner(rule, compiled_loss, Expander(bits=BITS))
    run(learner, random_stream(61, 600, loss="logistic", scales=False))
    weights = weights_of(rule, SIZE)
    weights[KEY] = 0
    assert 0 < np.count_nonzero(weights) <= 10
    assert np.abs(weights).max() <= 0.05
    assert rule.norm <= rule.strength * (1 + 1e-9)
