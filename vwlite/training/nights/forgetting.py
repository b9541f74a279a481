"""What the past counts: gamma, by which the importances of kept rows are multiplied before a day's rows are learned.

The day's rows decide it. They are divided into J = 2 runs, below MANY rows 4, in the order in which they came:
tomorrow is no interpolation of today. For each gamma, and each run, w minimizes

    sum of u_i l(<w, x_i>, y_i) + 1/2 sum of L_j (w_j - c_j)^2

over the kept rows, u = gamma v, and the rows of other runs, u = v, with the features of yesterday's model; it
predicts the run. l is in nats: of losses that are no likelihoods, over twice their mean. L_j = strength * unit_j^2,
and c_j = 0; for the intercept L is .001 and c the intercept of yesterday. unit is the standard deviation of a column
that is not constant and that at least half of the rows have, which is centered, or the largest |x| of another one;
for losses whose scores have the unit of the labels it is over their standard deviation. Newton steps with conjugate
gradients start from yesterday's weights, or from those of the base, and end when one gains less than GAIN nats.

    level         of the day's rows: an intercept of their own (L = .001, c = 0), as a day may have a mood, such as
                  weather, and be like the past but for that
    shift         levels last where P < -LASTING sqrt(R + NOISE^2), with P <- .9 P + E, R <- .81 R + E^2: E is the sum
                  of the losses of the day's rows by yesterday's model with the level of yesterday's rows, less those
                  without. Then the intercept of the new model is moved by rho times the level of the day's rows, rho =
                  N / M, from 0 to .3, with N <- .9 N + <a, b>, M <- .9 M + <a, a>, a and b being the levels of the rows
                  of yesterday and of the day by yesterday's model. That is meant here without its own shift
    base          gamma = 1 with the strength, or with 3 times the strength if the sum of losses is less; that becomes
                  the strength if it is better by 3 standard errors. (Less past is a stronger ridge: it must not be
                  chosen for that alone.)
    grid          GRID in its order, from the second on until one is worse than the best so far, or than the base
    evidence      S <- S/2 + sum of d, Q <- Q/4 + sum of d^2, d_i the loss of row i less that of the base, times its
                  importance; of what was not tried the halves alone
    gamma         the one with the least S, of those tried with S < -c sqrt(Q); else 1
    caution c     3 at first; after a day with gamma < 1, S = Q = 0 and c = 1, as what has changed may change again;
                  after each other day .5 nearer to 3; where levels last at most 1.5, as the level of the day's own
                  hides a part of what has changed
    confirmation  on a day with gamma < 1 the model that has not forgotten is kept too. If it predicts the next day
                  better, by one standard error, it is taken, and its c becomes 2 max(3, c), at most 12

Without a level of its own a day with a mood is rid of the past by it: with intercepts drawn for each day (deviation 1)
the mean loss of next days was 6 % (logistic) and 15 % (squared) above that without forgetting, and is now the same.
Where a level lasts, the past is right but for it: to forget it, instead of a shift, cost 5 % on adult with a base rate
that moves every fourth day. A shift of the whole level is twice as wrong as none on the day of a change: there it
cost 1 to 5 %, half of it 1.4 % on bank, three tenths .7 %.
Below 20 rows, below 8 that are not of the most frequent class, and with equal labels, gamma = 1 and the evidence stays;
so it does for losses without a curvature (quantile, hinge).

Of more than MOST kept rows, or rows of the day, MOST are taken, at equal distances, with importances that add up to
the same; evidence is of rows that were taken.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.base.dense import dot
from vwlite.core.data.batch import Batch
from vwlite.core.learn.losses import Logistic
from vwlite.core.solve.rows import Rows
from vwlite.model.learners import make_expander, make_loss
from vwlite.records import record
from vwlite.training.auto.reading import learnable
from vwlite.training.newton import FLAT, OF_INTERCEPT, is_flat, minimum
from vwlite.training.nights.design import Design, aligned, products_of, targets_of, variance_of

Batches = Callable[[], Iterable[Batch]]

GRID = (0.7, 0.4, 0.2, 0.05, 0.0)
NO_SUMS = ((0.0, 0.0),) * len(GRID)
MOST = 20_000
FADING, LASTING, NOISE = 0.9, 1.2, 10.0  # the last one in nats
MOST_CARRIED, EAGER = 0.3, 1.5
MANY = 500
FEWEST, FEWEST_RARE = 20, 8
STRONGER, ERRORS = 3.0, 3.0
USUAL_CAUTION, BOLD, CALMER, MOST_CAUTION = 3.0, 1.0, 0.5, 12.0



@record(frozen=True)
class Evidence:
    """What is remembered from night to night. sums: S and Q of each gamma of GRID. strength: of the ridge. level: P and
    R. carried: N and M. rows: of the last day, which are the last of the kept rows. shift: by which the intercept of
    the model was moved, of each class; empty: it was not."""

    sums: tuple[tuple[float, float], ...] = NO_SUMS
    caution: float = USUAL_CAUTION
    strength: float = 1.0
    level: tuple[float, float] = (0.0, 0.0)
    carried: tuple[float, float] = (0.0, 0.0)
    rows: int = 0
    shift: tuple[float, ...] = ()

    def stored(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "sums": [list(pair) for pair in self.sums], "caution": self.caution, "strength": self.strength,
            "level": list(self.level), "carried": list(self.carried), "rows": self.rows, "shift": list(self.shift),
        }

    @staticmethod
    def restored(stored: Any) -> "Evidence":
        """ValueError: it is not valid."""
        if not isinstance(stored, Mapping) or stored.keys() != Evidence().stored().keys():
            raise ValueError(f"evidence has {', '.join(Evidence().stored())}")
        sums, levels = _pairs(stored["sums"]), _pairs([stored["level"], stored["carried"]])
        if len(sums) != len(GRID) or not levels:
            raise ValueError("evidence has a sum and a sum of squares for each part of the past, and of levels")
        caution, strength, rows = (stored[name] for name in ("caution", "strength", "rows"))
        if not _is_number(caution) or not 0 < caution <= MOST_CAUTION:
            raise ValueError(f"a caution is above 0 and at most {MOST_CAUTION:g}")
        if not _is_number(strength) or strength <= 0:
            raise ValueError("a strength is above 0")
        if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
            raise ValueError("rows are at least 0")
        shift = stored["shift"]
        if not isinstance(shift, list) or not all(map(_is_number, shift)):
            raise ValueError("a shift is a list of numbers")
        return Evidence(sums, float(caution), float(strength), levels[0], levels[1], rows, tuple(map(float, shift)))


@record(frozen=True)
class PastChoice:
    """past: gamma; 1: nothing is forgotten. nats: by which the day's rows are predicted better; error: the standard
    error of that; both 0 for gamma = 1. evidence: for the next night. carried: rho, where levels last, else 0:
    if it is not 0, the new model needs a shift, which the evidence does not have yet."""

    past: float
    nats: float
    error: float
    evidence: Evidence
    carried: float = 0.0


def choose_past(examples: "PastExamples", evidence: Evidence) -> PastChoice:
    """What the past counts for these rows of a day."""
    if not examples.can_decide:
        return PastChoice(1.0, 0.0, 0.0, replace(evidence, rows=examples.rows))
    h, strength = examples.importance, evidence.strength
    change, a, b = examples.carried(evidence.rows)
    nats = float((h * change).sum())
    level = (FADING * evidence.level[0] + nats, FADING**2 * evidence.level[1] + nats**2)
    both = (FADING * evidence.carried[0] + dot(a, b), FADING * evidence.carried[1] + dot(a, a))
    lasts = level[0] < -LASTING * sqrt(level[1] + NOISE**2)
    carried = min(max(both[0] / both[1], 0.0), MOST_CARRIED) if lasts and both[1] else 0.0
    caution = min(evidence.caution, EAGER) if lasts else evidence.caution
    evidence = replace(evidence, level=level, carried=both, rows=examples.rows, shift=(), caution=caution)
    base, stronger = examples.losses(1.0, strength), examples.losses(1.0, STRONGER * strength)
    used, better = strength, h * (base - stronger)
    if better.sum() > 0:
        used, base = STRONGER * strength, stronger
    if better.sum() > ERRORS * _error(better):
        strength = used
    tried: dict[float, Any] = {}
    for gamma in GRID:
        tried[gamma] = h * (examples.losses(gamma, used) - base)
        if len(tried) > 1 and tried[gamma].sum() > min(0.0, *(d.sum() for d in tried.values())):
            break
    sums, past, best = [], 1.0, (0.0, 0.0)
    for gamma, (s, q) in zip(GRID, evidence.sums, strict=True):
        d = tried.get(gamma, np.zeros(1))
        s, q = s / 2 + float(d.sum()), q / 4 + dot(d, d)
        sums.append((s, q))
        if gamma in tried and s < -evidence.caution * sqrt(q) and s < best[0]:
            past, best = gamma, (s, q)
    if past < 1:
        after = replace(evidence, sums=NO_SUMS, caution=BOLD, strength=strength)
        return PastChoice(past, -best[0], sqrt(best[1]), after, carried)
    c = evidence.caution
    calmer = min(USUAL_CAUTION, c + CALMER) if c < USUAL_CAUTION else max(USUAL_CAUTION, c - CALMER)
    after = replace(evidence, sums=tuple(sums), caution=calmer, strength=strength)
    return PastChoice(1.0, 0.0, 0.0, after, carried)


def confirmed(evidence: Evidence, undone: bool) -> Evidence:
    """After the next day has judged a day with gamma < 1. evidence: of the model that goes on. undone: that is the
    one that has not forgotten."""
    if not undone:
        return evidence
    return replace(evidence, caution=min(MOST_CAUTION, 2 * max(USUAL_CAUTION, evidence.caution)))


class PastExamples:
    """The rows of a night: the kept ones, and those of the day in the order in which they came.

    settings, keys, weights: of yesterday's model; weights has a number for each key, or one for each class.
    kept, day: what gives the batches, more than once, with labels as the learner gets them; importances of kept ones
    are v. shift: of the model's intercept, which is taken off it. ValueError: it is of other classes.
    """

    def __init__(
        self, settings: Settings, keys: Any, weights: Any, kept: Batches, day: Batches, shift: Sequence[float] = ()
    ) -> None:
        loss, of_classes = make_loss(settings), settings.oaa
        has_one_score = settings.outputs.records == 1 and not is_flat(loss)
        self.can_decide, self.rows = of_classes is not None or has_one_score, 0
        self._found: dict[int, Any] = {}  # the weights of the base, by run
        if not self.can_decide:
            return
        rows = Rows(make_expander(replace(settings, constant=False)))
        for_each = _add(rows, kept)
        self._kept = m = len(rows)
        for_each_today = _add(rows, day)
        rows.finish()
        y, self._v = np.asarray(rows.labels), np.array(rows.importance)
        self.importance = self._v[m:].copy()
        self._v *= np.where(np.arange(len(rows)) < m, for_each, for_each_today)
        n = len(rows) - m
        self._for_each, self.rows = for_each, round(n * for_each_today)
        self._run = np.arange(n) * (2 if n >= MANY else 4) // max(n, 1)
        is_choice = of_classes is not None or isinstance(loss, Logistic)
        counts = np.unique(y[m:], return_counts=True)[1]
        self.can_decide = bool(
            m and n >= FEWEST and len(counts) > 1 and (not is_choice or n - counts.max() >= FEWEST_RARE)
        )
        if not self.can_decide:
            return
        self._design = _NightDesign(rows, m)
        whole, (self._targets, used) = np.asarray(weights).reshape(len(keys), -1), targets_of(settings, rows)
        if shift and len(shift) != whole.shape[1]:
            raise ValueError("a shift has a number for each class")
        start = aligned(settings, rows, keys, whole[:, used])
        self._start = np.vstack([start, np.zeros_like(start[:1])])
        if shift:
            self._start[-2] -= np.array(shift)[used]
        self._start[-2] += products_of(self._design.center, self._start[:-2])
        self._penalty = np.append(np.square(self._design.unit), [OF_INTERCEPT] * 2)[:, None]
        size = variance_of(loss, y)
        if size is not None:
            self._penalty /= size
            values = self._targets.at(self._design.scores(self._start, 0), 0)[0]
            means = [dot(self._v[k], values[k]) / self._v[k].sum() for k in (slice(m), slice(m, None))]
            self._targets.scale = 2 * max(min(means), FLAT * size)

    def carried(self, rows: int) -> tuple[Any, Any, Any]:
        """The losses of the day's rows with the level of the last `rows` kept rows, less those without; and both
        levels, that of these kept rows and that of the day's."""
        m, last, p = self._kept, max(self._kept - round(rows / self._for_each), 0), self._design.scores(self._start, 0)

        def level(begin: int, end: int) -> Any:
            return self._targets.level(p[begin:], self._v[begin:end], begin, self._penalty[-1])

        a, b = level(last, m) if rows else np.zeros(p.shape[1]), level(m, len(p))
        before, after = (self._targets.at(self._targets.clipped(q), 0)[0][m:] for q in (p, p + a))
        return after - before, a, b

    def losses(self, gamma: float, strength: float) -> Any:
        """Of the day's rows, in nats: each run is predicted from the past and the other runs. The first call is the one
        whose weights the others start from."""
        first, past = (0, gamma * self._v[: self._kept]) if gamma > 0 else (self._kept, np.zeros(0))
        found = np.zeros(len(self._run))
        for k in range(self._run[-1] + 1):
            mine = self._run == k
            u = np.append(past, np.where(mine, 0.0, self._v[self._kept :]))
            w, p = self._fitted(self._found.get(k, self._start), u, first, strength)
            self._found.setdefault(k, w)
            found[mine] = self._targets.at(self._targets.clipped(p), first)[0][len(past) :][mine]
        return found

    def _fitted(self, w: Any, u: Any, first: int, strength: float) -> tuple[Any, Any]:
        """The weights for importances u of the rows from `first` on, and the scores of these rows. w: the start."""
        penalty, center = strength * self._penalty, np.zeros_like(w)
        penalty[-2:], center[-2:] = self._penalty[-2:], self._start[-2:]
        return minimum(self._design, self._targets, u, penalty, center, w, first)


class _NightDesign(Design):
    """Dense columns are centered. Behind the intercept there is that of the day's rows, from `kept` on."""

    def __init__(self, rows: Rows, kept: int) -> None:
        super().__init__(rows)
        self._today = (np.arange(len(rows)) >= kept)[:, None] * 1.0
        n, (least, most, entries) = len(rows), self.extremes()
        mean, square = (self._sums(np.ones((n, 1)), 0, squares)[:, 0] / n for squares in (False, True))
        variance, largest = square - np.square(mean), np.maximum(np.abs(least), np.abs(most))
        self._centered = (2 * entries >= n) & (least < most) & (variance > FLAT * square)
        self.center = np.where(self._centered, mean, 0.0)
        self.unit = np.where(self._centered, np.sqrt(np.maximum(variance, 0.0)), np.where(largest > 0, largest, 1.0))

    def scores(self, w: Any, first: int) -> Any:
        usual = self._products(w[:-2], first)
        return usual + (w[-2] - products_of(self.center, w[:-2])) + self._today[first:] * w[-1]

    def gradients(self, r: Any, first: int) -> Any:
        usual, whole = super().gradients(r, first), r.sum(axis=0)
        usual[:-1] -= self.center[:, None] * whole
        return np.vstack([usual, (r * self._today[first:]).sum(axis=0)])

    def squares(self, r: Any, first: int) -> Any:
        """Of centered columns the usual one."""
        found, whole = super().squares(r, first), r.sum(axis=0)
        found[:-1] = np.where(self._centered[:, None], np.square(self.unit)[:, None] * whole, found[:-1])
        return np.vstack([found, (r * self._today[first:]).sum(axis=0)])


def level_of(settings: Settings, keys: Any, weights: Any, batches: Batches) -> tuple[float, ...]:
    """What is added to the intercept of a model, of each class, so that it predicts these rows best; empty if it has
    none, there are no rows, or the loss has no curvature."""
    rows = Rows(make_expander(replace(settings, constant=False)))
    _add(rows, batches)
    rows.finish()
    whole, (targets, used) = np.asarray(weights).reshape(len(keys), -1), targets_of(settings, rows)
    if not len(rows) or targets.is_flat or make_expander(settings).constant_key not in np.asarray(keys):
        return ()
    p, found = Design(rows).scores(aligned(settings, rows, keys, whole[:, used]), 0), np.zeros(whole.shape[1])
    found[used] = targets.level(p, np.array(rows.importance), 0, OF_INTERCEPT)
    return tuple(found.tolist())


def _add(rows: Rows, batches: Batches) -> float:
    """Add the examples, MOST at most, at equal distances; returns how many each of them stands for."""
    total, at = sum(int(learnable(batch).sum()) for batch in batches()), 0
    for batch in batches():
        if total > MOST:
            usable = learnable(batch)
            number = at + np.cumsum(usable)
            at += int(usable.sum())
            batch = batch.chosen((usable & (number * MOST // total > (number - 1) * MOST // total)).view(np.uint8))
        rows.add(batch)
    return max(total / MOST, 1.0)


def _error(d: Any) -> float:
    """The standard error of the sum of differences."""
    return sqrt(dot(d, d))


def _pairs(stored: Any) -> tuple[tuple[float, float], ...]:
    """Sums and sums of squares; none if one is not valid."""
    if not isinstance(stored, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(map(_is_number, pair)) and pair[1] >= 0
        for pair in stored
    ):
        return ()
    return tuple((float(s), float(q)) for s, q in stored)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and isfinite(x)
