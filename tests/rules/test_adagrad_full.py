"""AdaGrad and AROW with the full matrix: against their eager references, and what the battery asks of other rules."""

import os
import subprocess
import sys
from math import inf
from pathlib import Path

import numpy as np
import pytest
import slow_rules
from batches import Line, batch_of
from losses import LOG_LINKED, LOSSES
from streams import Walk, random_stream

from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.learn.losses import Hinge, Logistic, Squared
from vwlite.core.rules.adagrad_full import AdagradFull, feature_sign
from vwlite.core.rules.arow_full import ArowFull

pytestmark = pytest.mark.pairwise
MOST_FEATURES = AdagradFull.MOST_FEATURES
RATES = dict.fromkeys(LOSSES, 0.1) | {"quantile": 0.05} | dict.fromkeys(LOG_LINKED, 0.01)
OPTIONS = {
    "plain": {"delta": 0.01},
    "l1": {"delta": 0.1, "l1": 0.01},
    "old roots": {"delta": 0.3, "root_every": 7},
    "old roots and l1": {"delta": 0.3, "root_every": 20, "l1": 0.02},
    "falling rate": {"delta": 0.1, "l1": 0.01, "power_t": 0.5, "rate": 1.0},
    "radius": {"delta": 0.01, "radius": 0.02},
    "old roots and radius": {"delta": 0.3, "root_every": 7, "radius": 0.01},
}


def weights_of(rule, size):
    slots = rule.slots()
    out = np.zeros(len(slots) // rule.slot_size())
    rule.weights(slots, out)
    dense = np.zeros(size)
    dense[np.frombuffer(bytes(slots), np.dtype(rule.SLOT, align=True))["mark"] - np.uint32(1)] = out
    return dense


def learner_of(loss, *, bits=32, constant=True, kind=AdagradFull, **options):
    expander = Expander(bits=bits, constant=constant)
    rule = kind(loss, constant_key=expander.constant_key, **({"power_t": 0.0} | options))
    return Learner(rule, loss, expander, raw_predictions=True)


def run(learner, stream):
    batch = batch_of(stream)
    assert learner.run(batch) == len(batch)
    assert learner.reason == Reason.DONE
    return learner.raw_predictions.take()


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("update", ["cmd", "rda"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_its_reference(loss, options, update, constant):
    """Over two passes, the second with a lower rate; 8 keys for 40 features."""
    options = {"rate": RATES[loss], "power_t": 0.0, "update": update} | OPTIONS[options]
    stream = random_stream(31, 32, loss=loss, keys=40, width=6, scales=False)
    compiled, plain = LOSSES[loss]
    learner = learner_of(compiled, bits=3, constant=constant, **options)
    key = learner.expander.constant_key
    reference = slow_rules.AdagradFull(plain, 8, constant_key=key if constant else None, **options)
    walk = Walk(reference, bits=3, constant=constant, largest_p=inf)
    for decay in (1.0, 0.7):
        learner.rule.pass_decay = reference.decay = decay
        run(learner, stream)
        walk.run(stream)
        ours = weights_of(learner.rule, 8)
        assert np.abs(reference.weights).max() > 1e-3
        assert np.linalg.norm(ours[reference.penalized]) <= options.get("radius", inf) * (1 + 1e-15)
        # A root keeps half of the digits that a small eigenvalue has beside the largest; those of poisson differ most.
        tolerance = 1e-5 if loss in LOG_LINKED else 1e-9
        largest = np.abs(reference.weights).max()
        np.testing.assert_allclose(ours, reference.weights, rtol=tolerance, atol=tolerance * largest)
        np.testing.assert_array_equal(ours == 0, np.abs(reference.weights) < 1e-11)  # rounding, for features never seen
    assert reference.roots < reference.t // 2 or options.get("root_every", 1) == 1
    assert (reference.projections > 9) == ("radius" in options)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("update", ["cmd", "rda"])
def test_l1_in_the_ball(update, constant):
    options = {"rate": 0.3, "power_t": 0.0, "update": update, "delta": 0.3, "l1": 0.02, "radius": 0.2, "root_every": 2}
    learner = learner_of(Logistic(), bits=3, constant=constant, **options)
    key = learner.expander.constant_key if constant else None
    reference = slow_rules.AdagradFull(slow_rules.Logistic(), 8, constant_key=key, **options)
    walk, on_sphere, zeros = Walk(reference, bits=3, constant=constant), 0, 0
    for line in random_stream(37, 18, loss="logistic", keys=40, width=4, scales=False):
        run(learner, [line])
        walk.run([line])
        ours = weights_of(learner.rule, 8)
        np.testing.assert_allclose(ours, reference.weights, rtol=1e-8, atol=1e-9)
        size = np.linalg.norm(ours[reference.penalized])
        assert size <= 0.2 * (1 + 1e-15)
        on_sphere += size > 0.2 * (1 - 1e-9)
        zeros += (ours == 0).sum()
    assert on_sphere > 10 and zeros > 10


@pytest.mark.parametrize("seed", range(20))
def test_no_point_of_the_ball_is_nearer(seed):
    """In the norm of S. The intercept is anywhere."""
    rng = np.random.default_rng(seed)
    delta = float(rng.choice([1e-8, 0.1, 10.0]))
    learner = learner_of(Squared(), rate=1.0, delta=delta)
    lines = [Line(float(rng.normal()), [(k, float(rng.normal())) for k in range(5)]) for _ in range(8)]
    run(learner, lines)
    before = learner.rule.scalars()
    slots = np.frombuffer(bytes(learner.rule.slots()), np.dtype(AdagradFull.SLOT, align=True))
    place = int(slots["place"][slots["mark"] == learner.expander.constant_key + 1][0]) - 1
    others = np.arange(6) != place
    v, basis, root = np.array(before["w"]), np.reshape(before["basis"], (6, 6)), np.array(before["root"])
    S = delta * np.eye(6) + basis @ np.diag(root) @ basis.T
    radius = 0.3 * np.linalg.norm(v[others])
    smaller = learner_of(Squared(), rate=1.0, delta=delta, radius=radius)
    smaller.rule.load(before, learner.rule.slots())
    smaller.rule.radius_changed()
    w = np.array(smaller.rule.scalars()["w"])
    assert np.linalg.norm(w[others]) == pytest.approx(radius, rel=1e-9)

    def far(points):
        return np.einsum("ij,jk,ik->i", points - v, S, points - v)

    other = w + rng.normal(0, 1, (2000, 6)) * 10.0 ** rng.uniform(-4, 0, (2000, 1))
    sizes = np.linalg.norm(other[:, others], axis=1)
    other[:, others] *= np.minimum(1, radius / sizes)[:, None]
    assert (far(other) >= far(w[None])[0] * (1 - 1e-9)).all()


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("r", [0.1, 1.0, 30.0])
def test_arow_full_is_its_reference(r, constant):
    stream = random_stream(38, 150, loss="hinge", keys=40, width=6)
    learner = learner_of(Hinge(), bits=4, constant=constant, kind=ArowFull, arow_r=r)
    key = learner.expander.constant_key if constant else None
    reference = slow_rules.ArowFull(slow_rules.Hinge(), 16, constant_key=key, arow_r=r)
    walk = Walk(reference, bits=4, constant=constant)
    for _ in range(2):
        run(learner, stream)
        walk.run(stream)
        largest = np.abs(reference.weights).max()
        np.testing.assert_allclose(weights_of(learner.rule, 16), reference.weights, rtol=1e-8, atol=1e-8 * largest)


def test_arow_full_of_features_that_never_meet_is_arow():
    """Without an intercept its matrix is diagonal then."""
    rng = np.random.default_rng(39)
    drawn = zip(rng.choice([-1.0, 1.0], 200), rng.integers(8, size=200), rng.choice([-0.5, 1.0, 3.0], 200), strict=True)
    stream = [Line(float(y), [(int(key), float(x))]) for y, key, x in drawn]
    learner = learner_of(Hinge(), constant=False, kind=ArowFull, arow_r=0.5)
    run(learner, stream)
    reference = slow_rules.Arow(slow_rules.Hinge(), 8, arow_r=0.5)
    Walk(reference, bits=3, constant=False).run(stream)
    np.testing.assert_allclose(weights_of(learner.rule, 8), reference.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
def test_the_threads_of_the_linear_algebra_library_change_nothing(tmp_path):
    """It was slower with two threads than with one, and gave other bytes."""
    models = []
    data = Path(__file__).parents[2] / "data/sources.train.vw"
    (tmp_path / "data").write_text("".join(data.read_text().splitlines(keepends=True)[:30]))
    for threads in ("1", "2"):
        command = [sys.executable, "-P", "-m", "vwlite", "train", "data", "-m", "model", "--quiet"]
        command += ["--algorithm", "adagrad-full", "--loss", "logistic"]
        subprocess.run(command, cwd=tmp_path, env=os.environ | {"OPENBLAS_NUM_THREADS": threads}, check=True)
        models.append((tmp_path / "model").read_bytes())
    assert models[0] == models[1]


def test_one_feature_is_the_diagonal():
    stream = [Line(y, [(7, x)]) for y, x in [(1.0, 2.0), (0.5, -1.0), (3.0, 0.25), (-2.0, 1.5)]]
    for update, diagonal in (("cmd", slow_rules.Adagrad), ("rda", slow_rules.AdagradRda)):
        learner = learner_of(Squared(), constant=False, rate=0.5, l1=0.05, update=update)
        run(learner, stream)
        reference = diagonal(slow_rules.Squared(), 8, rate=0.5, power_t=0, l1=0.05)
        Walk(reference, bits=3, constant=False).run(stream)
        np.testing.assert_allclose(weights_of(learner.rule, 8), reference.weights, rtol=1e-12)


@pytest.mark.parametrize("update", ["cmd", "rda"])
@pytest.mark.parametrize("loss", LOSSES)
def test_save_load_continue_equals_never_stopping(loss, update):
    stream = random_stream(32, 90, loss=loss, keys=30, width=6, scales=False)
    options = {"rate": RATES[loss] / 10, "l1": 0.003, "delta": 0.1, "root_every": 3, "update": update}
    straight = learner_of(LOSSES[loss][0], **options)
    run(straight, stream[:40])
    again = learner_of(LOSSES[loss][0], **options)
    again.rule.load(straight.rule.scalars(), straight.rule.slots())
    assert run(again, stream[40:]) == run(straight, stream[40:])
    assert again.rule.slots() == straight.rule.slots()
    ours, theirs = again.rule.scalars(), straight.rule.scalars()
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.mark.parametrize("update", ["cmd", "rda"])
def test_predicting_changes_nothing_and_harsh_l1_leaves_nothing(update):
    stream = random_stream(33, 60, loss="logistic", keys=30, width=6, scales=False)
    learner = learner_of(Logistic(), rate=0.1, l1=100.0, delta=0.1, update=update)
    run(learner, stream)
    assert learner.rule.count_nonzero() == 0
    assert any(learner.rule.scalars()["w"])  # the constant
    before, slots = learner.rule.scalars(), learner.rule.slots()
    run(learner, [line._replace(importance=0.0) for line in random_stream(34, 60, loss="logistic")])
    assert learner.rule.slots() == slots
    for name, value in learner.rule.scalars().items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("delta", [1e-8, 1e-3, 1.0])
def test_feature_sign_finds_the_minimum(delta):
    """By the conditions of a minimum, also for a matrix that is all but singular."""
    rng = np.random.default_rng(35)
    for _ in range(100):
        n, rank = int(rng.integers(1, 25)), int(rng.integers(1, 25))
        root = rng.normal(0, 1, (n, rank))
        S = root @ root.T + delta * np.eye(n)
        b, c = S @ rng.normal(0, 1, n), np.full(n, float(rng.choice([0.01, 0.3, 3.0])))
        c[0] *= rng.random() < 0.5
        w = feature_sign(S, b, c, rng.normal(0, 1, n) * (rng.random(n) < 0.5))
        slope = S @ w - b
        small = 1e-6 * max(1, np.abs(b).max())
        assert (np.abs(slope[w == 0]) <= c[w == 0] + small).all()
        assert (np.abs(slope + c * np.sign(w))[w != 0] <= small).all()


def test_an_old_root_never_makes_a_longer_step_than_a_new_one():
    """The second gradient leads out of the old matrix; dividing it by delta would be a step of 10^8."""
    learner = learner_of(Squared(), constant=False, rate=0.1, root_every=1000)
    run(learner, [Line(1.0, [(1, 1.0), (2, 1.0)]), Line(1.0, [(1, 1.0), (2, -1.0)]), Line(1.0, [(3, 2.0)])])
    assert np.abs(weights_of(learner.rule, 4)).max() < 0.3


def test_more_features_than_it_can_take_are_refused():
    learner = learner_of(Squared(), constant=False, delta=1e6, root_every=10**9, rate=1e-3)
    stream = [Line(1.0, [(k, 1.0) for k in range(begin, begin + 1024)]) for begin in range(0, MOST_FEATURES, 1024)]
    stream[-1].features.pop()
    assert learner.run(batch_of([*stream, Line(1.0, [(0, 1.0), (9990, 1.0)]), Line(1.0, [(9991, 1.0)])])) == 5
    assert learner.reason == Reason.TOO_MANY


def test_which_algorithm_takes_more_features(vwlite, tmp_path):
    (tmp_path / "wide").write_text("1 | " + " ".join(str(k) for k in range(MOST_FEATURES + 1)) + "\n")
    for name in ("arow", "adagrad"):
        loss = ["--loss", "hinge", "--algorithm", f"{name}-full"]
        done = vwlite("train", "--quiet", *loss, tmp_path / "wide", "-m", tmp_path / "no", code=65)
        assert f"too many for a matrix: use --algorithm {name}, or fewer --bits" in done.err


@pytest.mark.parametrize("update", ["cmd", "rda"])
def test_on_the_command_line(vwlite, tmp_path, update):
    rng = np.random.default_rng(36)
    values = rng.normal(0, 1, (60, 2)).tolist()
    text = [f"{rng.choice([-1, 1])} |a x:{x:.3f} z:{z:.3f} w\n" for x, z in values]
    (tmp_path / "all").write_text("".join(text))
    command = ["train", "--quiet", "--algorithm", "adagrad-full", "--loss", "logistic", "--update", update]
    command += ["--l1", "0.01", "--delta", "0.1", "--root-every", "5", "--radius", "0.05"]
    vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole")
    (tmp_path / "part").write_text("".join(text[:33]))
    vwlite(*command, tmp_path / "part", "-m", tmp_path / "model")
    (tmp_path / "part").write_text("".join(text[33:]))
    vwlite("train", "--quiet", tmp_path / "part", "-i", tmp_path / "model", "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    vwlite("check", tmp_path / "model")
    assert "adagrad-full" in vwlite("info", tmp_path / "model").out
    light = vwlite(*command, tmp_path / "all", "-m", tmp_path / "light", "--save-weights-only", "-r", tmp_path / "raw")
    assert light.out == ""
    predictions = [vwlite("predict", "-m", tmp_path / name, tmp_path / "all").out for name in ("whole", "light")]
    assert predictions[0] == predictions[1]

    (tmp_path / "wide").write_text("1 |a b\n-1 | " + " ".join(str(k) for k in range(MOST_FEATURES)) + "\n")
    done = vwlite(*command, tmp_path / "wide", "-m", tmp_path / "no", code=65)
    assert done.err == (
        f"{tmp_path}/wide:2:1: more than 4096 features, too many for a matrix: use --algorithm adagrad, "
        "or fewer --bits\n"
    )
    assert not (tmp_path / "no").exists()
