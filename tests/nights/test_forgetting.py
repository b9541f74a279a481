"""What the past counts: the rule beside an eager twin, and what it decides for drawn streams of days."""

import json
from dataclasses import replace

import numpy as np
import pytest
from night_twins import CLASSES, batch, derivatives, minimized, settings_of

from vwlite.model.learners import make_expander
from vwlite.training import newton
from vwlite.training.nights import forgetting
from vwlite.training.nights.forgetting import (
    GRID,
    Evidence,
    PastChoice,
    PastExamples,
    choose_past,
    confirmed,
    level_of,
)


class Night:
    """Kept rows x, y with weights v, and those of a day; w: yesterday's weights, the intercept last, with its shift."""

    def __init__(self, loss, w, kept, day, shift=()):
        self.loss, self.w, self.kept, self.day = loss, np.asarray(w, float).reshape(len(w), -1), kept, day
        self.shift = shift

    def of_model(self):
        """Settings, keys and weights."""
        settings, d = settings_of(self.loss), len(self.w) - 1
        keys = np.append(7 * np.arange(d) + 1, make_expander(settings).constant_key).astype(np.uint32)
        order = np.argsort(keys)
        return settings, keys[order], self.w[order]

    def examples(self, pieces=1):
        """pieces: batches of the kept rows."""
        n = len(self.kept[1])
        kept = [batch(*(array[k * n // pieces : (k + 1) * n // pieces] for array in self.kept)) for k in range(pieces)]
        return PastExamples(*self.of_model(), lambda: kept, lambda: [batch(*self.day)], self.shift)


# --- the twin ---------------------------------------------------------------------------------------


def chosen(night, evidence):
    """gamma, and the S and Q, strength, P and R for the next night, N and M, and rho, as the module defines
    them."""
    (kx, ky, kv), (dx, dy, dv), loss, n = night.kept, night.day, night.loss, len(night.day[1])
    x, y = np.vstack([kx, dx]), np.append(ky, dy)
    m, often = len(ky), 2 * np.count_nonzero(x, axis=0) >= len(x)
    for j in range(x.shape[1]):
        often[j] &= len(set(x[x[:, j] != 0, j])) > 1
    center = np.where(often, x.mean(axis=0), 0)
    unit = np.where(often, x.std(axis=0), np.abs(x).max(axis=0))
    x = np.column_stack([x - center, np.ones(len(x)), np.arange(len(x)) >= m])
    start = np.vstack([night.w, 0 * night.w[:1]])
    start[-2] += center @ night.w[:-1]
    if len(night.shift):
        start[-2] -= night.shift
    middle = np.zeros_like(start)
    middle[-2] = start[-2]
    spread, scale = 1.0, 1.0
    if loss == "squared":
        values, spread = derivatives(loss, x @ start, y)[0], np.var(y)
        scale = 2 * min(kv @ values[:m] / kv.sum(), dv @ values[m:] / dv.sum())
    v, levels = np.append(kv, dv), []
    for rows in (slice(m - evidence.rows, m), slice(m, None)):
        levels.append(np.zeros(start.shape[1]))
        for _ in range(1000):
            _, slopes, curvatures = derivatives(loss, x[rows] @ start + levels[-1], y[rows])
            curvature = v[rows] @ np.einsum("ikk->ik", curvatures) / scale + 0.001 / spread
            step = (v[rows] @ slopes) / scale / curvature
            levels[-1] -= step if loss == "squared" else np.clip(step, -1, 1)
    carried = derivatives(loss, x[m:] @ start + levels[0], dy)[0] - derivatives(loss, x[m:] @ start, dy)[0]
    carried = dv @ carried / scale
    level = (0.9 * evidence.level[0] + carried, 0.81 * evidence.level[1] + carried**2)
    both = [0.9 * before + levels[0] @ a for before, a in zip(evidence.carried, reversed(levels), strict=True)]
    lasts = level[0] < -1.2 * np.sqrt(level[1] + 100)
    rho = np.clip(both[0] / both[1], 0, 0.3) if lasts else 0
    run = np.arange(n) * (2 if n >= 500 else 4) // n

    def losses(gamma, strength):
        penalty, found = np.append(strength * unit**2, [0.001] * 2) / spread, np.zeros(n)
        for k in range(run.max() + 1):
            u = np.append(gamma * kv, dv * (run != k))
            w = minimized(loss, x[u > 0], y[u > 0], u[u > 0], penalty, middle, scale, start)
            found[run == k] = derivatives(loss, x[m:][run == k] @ w, dy[run == k])[0] / scale
        return found

    strength, caution = evidence.strength, min(evidence.caution, 1.5) if lasts else evidence.caution
    base, stronger, used = losses(1, strength), losses(1, 3 * strength), strength
    d = dv * (stronger - base)
    if d.sum() < 0:
        base, used = stronger, 3 * strength
    if d.sum() < -3 * np.sqrt((d * d).sum()):
        strength = used
    tried = {}
    for gamma in (0.7, 0.4, 0.2, 0.05, 0.0):
        tried[gamma] = dv * (losses(gamma, used) - base)
        if len(tried) >= 2 and tried[gamma].sum() > min(0, *(d.sum() for d in tried.values())):
            break
    sums, best = [], (1.0, 0.0)
    for gamma, (s, q) in zip((0.7, 0.4, 0.2, 0.05, 0.0), evidence.sums, strict=True):
        d = tried.get(gamma, np.zeros(1))
        s, q = s / 2 + d.sum(), q / 4 + (d * d).sum()
        sums.append((s, q))
        if gamma in tried and s < -caution * np.sqrt(q) and s < best[1]:
            best = gamma, s
    return best[0], sums, strength, level, both, rho


# --- drawn nights -----------------------------------------------------------------------------------


def drawn_rows(rng, n, w, loss, mood=0.0):
    """Numbers, one far from 0; two levels; labels by the weights w and an intercept."""
    x = rng.normal(size=(n, 5))
    x[:, 1] = 40 + 3 * x[:, 1]
    x[:, 2] *= rng.random(n) < 0.3
    x[:, 3:] = np.eye(3)[rng.integers(0, 3, n)][:, :2]
    x = np.float32(x).astype(float)
    p = x @ w + mood
    if loss == "classes":
        y = 1.0 + np.argmax(np.column_stack([np.zeros(n), p, 1 - p]) + rng.gumbel(size=(n, 3)), axis=1)
    elif loss == "logistic":
        y = np.where(rng.random(n) < 1 / (1 + np.exp(-p)), 1.0, -1.0)
    elif loss == "poisson":
        y = rng.poisson(np.exp(0.6 * p)).astype(float)
    else:
        y = 100 + 20 * (p + rng.normal(size=n))
    return x, y, rng.choice([0.5, 1.0, 2.0], n)


TRUE = np.array([1.0, 0.02, -1.0, 1.0, 0.0])


@pytest.mark.parametrize("days_rows", [90, 600])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("lasts", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "classes"])
def test_evidence_is_that_of_the_twin(loss, lasts, turned, days_rows, monkeypatch):
    """With steps that end late: what the rule says is in the definition, but for rounding."""
    monkeypatch.setattr(newton, "GAIN", 1e-11)
    monkeypatch.setattr(newton, "MORE", 0)
    monkeypatch.setattr(newton, "PART", 1e-9)
    monkeypatch.setattr(newton, "MOST_PRODUCTS", 400)
    rng = np.random.default_rng(days_rows + turned)
    kept = drawn_rows(rng, 300, TRUE, loss, -0.8)
    day = drawn_rows(rng, days_rows, -TRUE if turned else TRUE, loss, 0.8 if turned else -0.8)
    start = rng.normal(size=(6, CLASSES if loss == "classes" else 1)) * 0.1
    start[-1] += 100 if loss == "squared" else 0
    night = Night(loss, start, kept, day, (0.3,) * start.shape[1] if lasts else ())
    level = (-1e6, 1e11) if lasts else (1.0, 1.0)
    sums = ((-1.0, 4.0), (2.0, 9.0), (0.0, 1.0), (0.5, 0.25), (3.0, 2.0))
    before = Evidence(sums, 4.0, 2.0, level, (1.0, 3.0), 80, night.shift)
    found, (past, sums, strength, level, both, rho) = choose_past(night.examples(3), before), chosen(night, before)
    # Steps of a level take each class by itself, and end after 100
    assert found.evidence.level == pytest.approx(level, rel=1e-3 if loss == "classes" else 1e-6)
    assert found.evidence.carried == pytest.approx(both, rel=1e-3 if loss == "classes" else 1e-6)
    assert found.carried == pytest.approx(rho, rel=1e-3 if loss == "classes" else 1e-6)
    assert (found.evidence.rows, found.evidence.shift) == (days_rows, ())
    assert (found.past, found.evidence.strength) == (past, strength)
    assert past < 0.5 or not turned or days_rows < 100
    if past < 1:
        s, q = sums[GRID.index(past)]
        assert (found.nats, found.error) == pytest.approx((-s, np.sqrt(q)), rel=1e-6)
        assert found.evidence.sums == ((0.0, 0.0),) * len(GRID)
        assert found.evidence.caution == 1
    else:
        assert np.array(found.evidence.sums) == pytest.approx(np.array(sums), rel=1e-6, abs=1e-6)
        assert (found.nats, found.error, found.evidence.caution) == (0, 0, 2 if lasts else 3.5)


# --- streams ----------------------------------------------------------------------------------------


def stream(loss, days):
    """gamma of each day but the first, whether it was undone, and the mean loss of each day's rows before they are
    learned. The learner is a ridge; kept rows have the weights that are left of them."""
    shadow, model, evidence, gammas, losses = None, None, Evidence(), [], []
    for x, y, v in days:
        ones = np.column_stack([x, np.ones(len(x))])

        def loss_of(w, ones=ones, y=y):
            return derivatives(loss, ones @ w, y)[0]

        if model is not None:
            losses.append(loss_of(model[0]).mean())
            if shadow is not None:
                d = loss_of(shadow[0]) - loss_of(model[0])
                undone = d.sum() < -np.sqrt((d * d).sum())
                if undone:
                    model, evidence = shadow, shadow[2]
                evidence, gammas[-1] = confirmed(evidence, undone), (*gammas[-1], undone)
            shadow = None
            w, kept = model[:2]
            choice = choose_past(Night(loss, w, kept, (x, y, v), evidence.shift).examples(), evidence)
            gammas.append((choice.past,))
            if choice.past < 1:
                shadow = (*learned(loss, kept, (x, y, v)), replace(evidence, caution=max(3, evidence.caution)))
            evidence, day = choice.evidence, (x, y, v)
            x, y, v = (np.concatenate([a, b]) for a, b in zip(kept, (x, y, v), strict=True))
            v[: len(kept[1])] *= choice.past
        model = learned(loss, None, (x[v > 0.01], y[v > 0.01], v[v > 0.01]))
        if gammas and choice.carried:
            level = level_of(*Night(loss, model[0], None, day).of_model(), lambda day=day: [batch(*day)])
            evidence = replace(evidence, shift=tuple(choice.carried * x for x in level))
            model[0][-1] += evidence.shift
    return gammas, losses


def learned(loss, kept, day):
    rows = day if kept is None else tuple(np.concatenate([a, b]) for a, b in zip(kept, day, strict=True))
    x, y, v = rows
    center = np.zeros((x.shape[1] + 1, CLASSES if loss == "classes" else 1))
    center[-1] = np.mean(y) if loss == "squared" else 0
    penalty = np.append(np.ones(x.shape[1]), 1e-3)
    return minimized(loss, np.column_stack([x, np.ones(len(x))]), y, v, penalty, center), rows


def still(rng, loss, days, rows=150):
    return [drawn_rows(rng, rows, TRUE, loss, -0.8) for _ in range(days)]


@pytest.mark.parametrize("seeds", [range(5), range(5, 10), range(10, 15), range(15, 20)], ids=str)
def test_nothing_is_forgotten_of_still_data(seeds):
    """Nor do many days add up to a wrong decision: at most one day of 35 for all seeds of a case."""
    streams = (still(np.random.default_rng(seed), "logistic", 8) for seed in seeds)
    gammas = [gamma for days in streams for gamma in stream("logistic", days)[0]]
    assert len(gammas) == 35
    assert sum(gamma[0] < 1 for gamma in gammas) <= 1


@pytest.mark.parametrize("loss", ["logistic", "squared", "classes"])
def test_a_relation_that_turns_round_is_forgotten_at_once(loss):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        days = [*still(rng, loss, 3, 200), *(drawn_rows(rng, 200, -TRUE, loss, 0.8) for _ in range(3))]
        gammas, _ = stream(loss, days)
        assert [gamma[0] for gamma in gammas[:2]] == [1, 1]
        assert gammas[2][0] <= 0.05
        assert not gammas[2][1]  # the next day confirms it


def moods(rng, loss):
    return [drawn_rows(rng, 150, TRUE, loss, -0.8 + rng.normal()) for _ in range(8)]


def weekdays(rng, loss):
    levels = (0, 0.1, 0.2, 0, 0.3, 1.5, 1.8)
    return [drawn_rows(rng, 150, TRUE, loss, -1 + levels[k % 7]) for k in range(21)]


def moving(rng, loss):
    return [drawn_rows(rng, 150, TRUE, loss, -0.8 + 1.5 * (k // 4 % 2)) for k in range(12)]


def never(examples, evidence):
    return PastChoice(1.0, 0.0, 0.0, evidence)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("days", [moods, weekdays, moving])
def test_levels_that_come_and_go_are_no_reason_to_forget(days, loss, monkeypatch):
    """A random intercept of each day, weekdays (but for the first weekend, which may be a level that lasts), a level
    that moves every fourth day: the mean loss of next days is at most 1 % above that without forgetting."""
    losses, seeds = [], range(1 if days is weekdays else 2)
    for choose in (choose_past, never):
        monkeypatch.setitem(stream.__globals__, "choose_past", choose)
        found = [stream(loss, days(np.random.default_rng(seed), loss))[1] for seed in seeds]
        losses.append(np.mean(np.array(found)[:, 7 if days is weekdays else 0 :]))
    assert losses[0] < losses[1] * 1.01


def test_a_level_that_lasts_is_learned():
    rng = np.random.default_rng(1)
    days = [drawn_rows(rng, 150, TRUE, "squared", -0.8 if k < 4 else 0.7) for k in range(9)]
    gammas, losses = stream("squared", days)
    assert min(gamma[0] for gamma in gammas) >= 0.7  # the intercept moves, most of the past stays
    assert np.mean(losses[-2:]) < 1.1 * np.mean(losses[:3])


@pytest.mark.parametrize(("rows", "rare"), [(19, 9), (200, 7)])
def test_few_rows_decide_nothing(rows, rare):
    rng, before = np.random.default_rng(1), Evidence(((1.0, 2.0),) * len(GRID), 2.0, 3.0)
    past, (x, _, v) = drawn_rows(rng, 300, TRUE, "logistic"), drawn_rows(rng, rows, -TRUE, "logistic")
    few = x, np.where(np.arange(rows) < rare, 1.0, -1.0), v
    nothing, equal = tuple(array[:0] for array in past), (past[0], np.ones(300), past[2])
    for kept, day in ((past, few), (nothing, past), (past, equal)):
        choice = choose_past(Night("logistic", np.zeros(6), kept, day).examples(), before)
        of_day = replace(before, rows=len(day[1]))  # the last kept rows of the next night
        assert (choice.past, choice.nats, choice.error, choice.evidence) == (1, 0, 0, of_day)


def test_losses_without_curvature_decide_nothing():
    rng = np.random.default_rng(1)
    kept, day = drawn_rows(rng, 300, TRUE, "squared"), drawn_rows(rng, 200, -TRUE, "squared")
    assert not Night("quantile", np.zeros(6), kept, day).examples().can_decide
    assert Night("huber", np.zeros(6), kept, day).examples().can_decide


def test_many_rows_are_taken_at_equal_distances(monkeypatch):
    """Copies of rows, of which every third is taken and stands for three, decide as these rows with three times the
    importance; the day's evidence is that of the rows taken."""
    rng = np.random.default_rng(1)
    kept, day = drawn_rows(rng, 60, TRUE, "logistic"), drawn_rows(rng, 40, TRUE, "logistic")
    thrice = tuple(np.repeat(array, 3, axis=0) for array in kept)
    few = Night("logistic", np.zeros(6), (*kept[:2], 3 * kept[2]), day).examples()
    monkeypatch.setattr(forgetting, "MOST", 60)
    many = Night("logistic", np.zeros(6), thrice, day).examples(4)
    assert many.losses(0.7, 1.0) == pytest.approx(few.losses(0.7, 1.0), rel=1e-9)


def test_confirmation():
    before = Evidence(caution=2.0)
    assert confirmed(before, False) == before
    assert [confirmed(replace(before, caution=c), True).caution for c in (1, 3, 5, 7)] == [6, 6, 10, 12]


def test_evidence_is_stored_and_restored():
    evidence = Evidence(((-1.5, 2.0),) * len(GRID), 6.0, 9.0, (-3.0, 4.0), (-1.0, 2.0), 100, (0.5,))
    stored = json.loads(json.dumps(evidence.stored()))
    assert Evidence.restored(stored) == evidence
    wrong = [
        None, {}, stored | {"more": 1}, stored | {"sums": stored["sums"][1:]}, stored | {"sums": [[1, -1]] * len(GRID)},
        stored | {"sums": [[1, float("nan")]] * len(GRID)}, stored | {"caution": 0}, stored | {"caution": 13},
        stored | {"strength": 0}, stored | {"strength": True}, stored | {"sums": [["a", 1]] * len(GRID)},
        stored | {"level": [1, -1]}, stored | {"level": 1}, stored | {"rows": -1}, stored | {"rows": 1.5},
        stored | {"carried": [1, -1]}, stored | {"shift": 1}, stored | {"shift": ["a"]}, stored | {"shift": [1e999]},
    ]
    for one in wrong:
        with pytest.raises(ValueError, match=r"evidence|caution|strength|rows|shift"):
            Evidence.restored(one)
