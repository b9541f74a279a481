"""The papers' theorems, on the compiled rules: regret and suboptimality stay below their bounds.

Each stream is played example by example, so that w_1, ..., w_{T+1} are those of the algorithm. The labels are drawn, or
chosen by an adversary against each prediction. The bounds hold for every comparator u; some u are tried, among them the
one that does best on the whole stream.

TG: Langford, Li, Zhang 2009. ADA: Duchi, Hazan, Singer 2010. L1B: Duchi, Shalev-Shwartz, Singer, Chandra 2008.
SMD: Shalev-Shwartz, Tewari 2009.
"""

from math import e, inf, log, sqrt

import batch
import numpy as np
import pytest
import slow_rules
from batch_problems import draw
from batches import Line, batch_of
from losses import LOSSES
from test_rules import weights_of

from vwlite.core.data.expand import Expander
from vwlite.core.learn.learner import Learner
from vwlite.core.rules.adagrad import Adagrad, AdagradRda, BoxAdagrad
from vwlite.core.rules.adagrad_ball import AdagradBall
from vwlite.core.rules.eg import Eg, EgPm
from vwlite.core.rules.l1_ball import L1Ball
from vwlite.core.rules.rda import Rda
from vwlite.core.rules.rounding import Rounding
from vwlite.core.rules.simplex import Simplex
from vwlite.core.rules.smidas import AveragedSmidas, Smidas
from vwlite.core.rules.truncated_gradient import AveragedTruncatedGradient, TruncatedGradient
from vwlite.core.solve.papers.scd import StochasticCoordinateDescent

T, BITS = 200, 3
D = 1 << BITS
STREAMS = [(loss, how) for loss in ("logistic", "hinge", "squared") for how in ("drawn", "adversarial")]
streams = pytest.mark.parametrize(("loss", "how"), STREAMS)
ROUNDING = 1 + 1e-6  # of weights in 32 bits


class Game:
    """What a rule did on a stream: weights W[0], ..., W[T], losses, gradients G. The first keys are common."""

    def __init__(self, rule, loss, how, seed=1, order=None):
        rng = np.random.default_rng(seed)
        self.X = rng.choice([-1.0, 1.0], (T, D)) * (rng.random((T, D)) < 1 / np.arange(1, D + 1))
        self.y = np.sign(self.X[:, 0] * 2 + self.X[:, 3] + rng.normal(0, 0.5, T))
        if order is not None:
            self.X, self.y = self.X[order], self.y[order]
        compiled, self.loss = LOSSES[loss]
        learner = Learner(rule(compiled), compiled, Expander(bits=BITS, constant=False))
        self.W = np.zeros((T + 1, D))
        self.W[0] = weights_of(learner.rule, D)
        for t in range(T):
            if how == "adversarial":
                self.y[t] = -1.0 if self.W[t] @ self.X[t] > 0 else 1.0
            learner.run(batch_of([Line(self.y[t], [(k, x) for k, x in enumerate(self.X[t]) if x])]))
            self.W[t + 1] = weights_of(learner.rule, D)
        p = (self.W[:-1] * self.X).sum(axis=1)
        self.G = self.X * np.array([[self.loss.dloss(*pair)] for pair in zip(p, self.y, strict=True)])
        self.losses = self.of(p)
        self.norms = np.sqrt((self.G**2).sum(axis=0))  # ||g_1:T,i||_2

    def of(self, p):
        return np.array([self.loss.value(*pair) for pair in zip(p, self.y, strict=True)])

    def total(self, u):
        return self.of(self.X @ u).sum()

    def comparators(self, l1=0.0, project=lambda u: u):
        """Points of the domain: 0, some near the end and the mean of the play, and about the best of all."""
        best = np.zeros(D)
        for t in range(1, 300):
            slopes = [self.loss.dloss(*pair) for pair in zip(self.X @ best, self.y, strict=True)]
            best = project(slow_rules.soft(best - self.X.T @ slopes / T / sqrt(t), l1 / sqrt(t)))
        return [project(np.zeros(D)), self.W[-1], self.W[:-1].mean(axis=0), best, project(2 * best), project(-best)]


@pytest.mark.parametrize(("period", "theta", "g"), [(1, inf, 0.0), (1, inf, 0.02), (10, inf, 0.02), (1, 0.05, 0.02)])
@streams
def test_truncated_gradient(loss, how, period, theta, g):
    """TG theorem 3.1, for equation 6: A = 4 C^2, B = 0 for squared loss, else A = 0, B = C^2."""
    eta = 0.02

    def rule(loss):
        return TruncatedGradient(loss, rate=eta, power_t=0, l1=g, period=period, threshold=theta)

    game = Game(rule, loss, how)
    C2 = (game.X**2).sum(axis=1).max()
    A, B = (4 * C2, 0) if loss == "squared" else (0, C2)
    gravity = np.where(np.arange(1, T + 1) % period == 0, period * g, 0)[:, None]
    small = np.abs(game.W[1:]) <= np.float32(theta)
    left = (1 - A * eta / 2) * game.losses.sum() + (gravity * np.abs(game.W[1:]) * small).sum()
    for u in game.comparators(g):
        right = eta / 2 * B * T + u @ u / 2 / eta + game.total(u) + (gravity * np.abs(u) * small).sum()
        assert left <= right * ROUNDING


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_the_mean_of_truncated_gradient_solves_the_batch_problem(loss):
    """TG theorem 3.2: examples drawn with replacement; the mean of w_1, ..., w_T is that of --average."""
    eta, g = 0.01, 0.02

    def rule(loss):
        return AveragedTruncatedGradient(loss, rate=eta, power_t=0, l1=g)

    games = [Game(rule, loss, "drawn", order=np.random.default_rng(seed).integers(0, T, T)) for seed in range(12)]
    whole = Game(rule, loss, "drawn")
    C2 = (whole.X**2).sum(axis=1).max()
    A, B = (4 * C2, 0) if loss == "squared" else (0, C2)
    left = np.mean([(1 - A * eta / 2) * whole.total(game.W[-1]) / T + g * np.abs(game.W[-1]).sum() for game in games])
    for u in whole.comparators(g):
        assert left <= eta / 2 * B + u @ u / (2 * eta * T) + whole.total(u) / T + g * np.abs(u).sum()


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_truncated_gradient_of_strong_gravity_is_rounding(loss):
    """TG section 3.3: equation 6 is equation 4 where eta K g >= theta."""
    options = {"rate": 0.0973, "power_t": 0, "period": 5, "threshold": 0.08}  # no margin of exactly 1
    one = Game(lambda loss: TruncatedGradient(loss, l1=0.2, **options), loss, "drawn")
    other = Game(lambda loss: Rounding(loss, **options), loss, "drawn")
    np.testing.assert_allclose(one.W, other.W, atol=1e-6 * np.abs(other.W).max())
    zero = other.W[T // 2 :] == 0
    assert zero.any() and not zero.all()


@streams
def test_adagrad_by_mirror_descent(loss, how):
    """ADA theorem 5, equation 16, for the regret with l1 ||w||_1, and a term of delta, which the paper leaves out."""
    eta, l1, delta = 1.0, 0.02, 1e-8
    game = Game(lambda loss: Adagrad(loss, rate=eta, power_t=0, l1=l1, delta=delta), loss, how)
    left = game.losses.sum() + l1 * np.abs(game.W[:-1]).sum()
    for u in game.comparators(l1):
        far = (np.abs(u - game.W[:-1]).max(axis=1) ** 2).max()
        bound = (far / 2 / eta + eta) * game.norms.sum() + delta * u @ u / 2 / eta
        assert left <= (game.total(u) + T * l1 * np.abs(u).sum() + bound) * ROUNDING


@streams
def test_adagrad_by_dual_averaging(loss, how):
    """ADA theorem 5, equation 15, which needs delta >= max |g|."""
    eta, l1, delta = 1.0, 0.02, {"logistic": 1.0, "hinge": 1.0, "squared": 12.0}[loss]
    game = Game(lambda loss: AdagradRda(loss, rate=eta, power_t=0, l1=l1, delta=delta), loss, how)
    assert np.abs(game.G).max() <= delta
    left = game.losses.sum() + l1 * np.abs(game.W[:-1]).sum()
    for u in game.comparators(l1):
        bound = delta / eta * u @ u + (np.abs(u).max() ** 2 / eta + eta) * game.norms.sum()
        assert left <= game.total(u) + T * l1 * np.abs(u).sum() + bound


@streams
def test_dual_averaging(loss, how):
    """Xiao 2010, section 3, for beta_t = sqrt t / eta: (||u||^2 / 2 eta + eta max ||g||^2) sqrt T."""
    eta, l1 = 0.5 if loss != "squared" else 0.05, 0.02
    game = Game(lambda loss: Rda(loss, rate=eta, l1=l1), loss, how)
    left = game.losses.sum() + l1 * np.abs(game.W[:-1]).sum()
    for u in game.comparators(l1):
        bound = (u @ u / 2 / eta + eta * (game.G**2).sum(axis=1).max()) * sqrt(T)
        assert left <= game.total(u) + T * l1 * np.abs(u).sum() + bound


@pytest.mark.parametrize("domain", ["ball", "hypercube"])
@streams
def test_adagrad_on_a_domain(loss, how, domain):
    """ADA corollary 6 for the ball, and for the hypercube of corollary 1. Of both, with c the radius or the side, the
    diameter in the maximum norm is D = 2 c: eta = D / sqrt 2."""
    c = 3.0 if domain == "ball" else 1.0
    eta = sqrt(2) * c

    def make(loss):
        return AdagradBall(loss, rate=eta, power_t=0, radius=c) if domain == "ball" else (
            BoxAdagrad(loss, rate=eta, power_t=0, box=c))

    def project(u):
        return slow_rules.project_l1(u, c) if domain == "ball" else np.clip(u, -c, c)

    game = Game(make, loss, how)
    np.testing.assert_allclose(game.W, [project(w) for w in game.W], rtol=1e-9, atol=1e-12)
    for u in game.comparators(project=project):
        assert game.losses.sum() <= (game.total(u) + sqrt(2) * 2 * c * game.norms.sum()) * ROUNDING


@pytest.mark.parametrize("rule", ["l1-ball", "simplex"])
@streams
def test_projections(loss, how, rule):
    """Zinkevich 2003, theorem 1, which L1B section 1 builds on, with eta_t = eta / sqrt t: diameter^2 sqrt T / 2 eta +
    (sqrt T - 1/2) eta max ||g||^2."""
    radius = 3.0
    diameter, project = {
        "l1-ball": (2 * radius, slow_rules.project_l1), "simplex": (sqrt(2) * radius, slow_rules.project_simplex)
    }[rule]
    eta = diameter / (2 if loss != "squared" else 20)

    def make(loss):
        return L1Ball(loss, rate=eta, radius=radius) if rule == "l1-ball" else (
            Simplex(loss, rate=eta, radius=radius, features=D))

    game = Game(make, loss, how)
    bound = diameter**2 * sqrt(T) / 2 / eta + (sqrt(T) - 0.5) * eta * (game.G**2).sum(axis=1).max()
    for u in game.comparators(project=lambda u: project(u, radius)):
        assert game.losses.sum() <= (game.total(u) + bound) * ROUNDING


@pytest.mark.parametrize("both", [False, True])
@streams
def test_exponentiated_gradient(loss, how, both):
    """Kivinen, Warmuth 1997, for L1B equation 13: radius log(N) / eta + eta radius T max |g|^2 / 2, N the number of
    positive weights."""
    radius, numbers = 3.0, 2 * D if both else D
    eta = sqrt(2 * log(numbers) / T) / (1 if loss != "squared" else 8)
    game = Game(lambda loss: (EgPm if both else Eg)(loss, rate=eta, power_t=0, radius=radius, features=D), loss, how)
    bound = radius * log(numbers) / eta + eta * radius * T * np.abs(game.G).max() ** 2 / 2
    project = slow_rules.project_l1 if both else slow_rules.project_simplex
    for u in game.comparators(project=lambda u: project(u, radius)):
        assert game.losses.sum() <= (game.total(u) + bound) * ROUNDING


@streams
def test_smidas(loss, how):
    """SMD theorem 2, with the constants of its proof: ||u||_1^2 / 2 eta + eta (p - 1) e T max |g|^2 / 2, p = 2 ln d."""
    eta, l1 = 0.05 if loss != "squared" else 0.01, 0.02
    game = Game(lambda loss: Smidas(loss, rate=eta, power_t=0, l1=l1, features=D), loss, how)
    left = game.losses.sum() + l1 * np.abs(game.W[1:]).sum()
    for u in game.comparators(l1):
        size = np.abs(u).sum()
        bound = size**2 / 2 / eta + eta * (2 * log(D) - 1) * e * T * np.abs(game.G).max() ** 2 / 2
        assert left <= game.total(u) + T * l1 * size + bound


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_mean_of_smidas_solves_the_batch_problem(loss):
    """SMD theorem 2: examples drawn with replacement; the mean of the weights is that of --average; |g| <= max |x|."""
    eta, l1 = 0.05, 0.02

    def rule(loss):
        return AveragedSmidas(loss, rate=eta, power_t=0, l1=l1, features=D)

    games = [Game(rule, loss, "drawn", order=np.random.default_rng(seed).integers(0, T, T)) for seed in range(12)]
    whole = Game(rule, loss, "drawn")
    left = np.mean([whole.total(game.W[-1]) / T + l1 * np.abs(game.W[-1]).sum() for game in games])
    for u in whole.comparators(l1):
        size = np.abs(u).sum()
        bound = size**2 / (2 * eta * T) + eta * (2 * log(D) - 1) * e * np.abs(whole.X).max() ** 2 / 2
        assert left <= whole.total(u) / T + l1 * size + bound


@pytest.mark.parametrize("visits", [40, 400, 4000])
@pytest.mark.parametrize("beta", ["mean", "paper"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_stochastic_coordinate_descent(loss, beta, visits):
    """SMD theorem 1: E R(w_o) - R(w*) <= N (beta ||w*||^2 + 2 R(0)) / 2 T with N = 2 d numbers, of which T are drawn;
    R(w + a e_j) <= R(w) + a R'_j(w) + beta a^2 / 2."""
    drawn = draw(5, loss)
    reference = drawn.reference(l1=0.01, constant=False)
    w = batch.solve(reference)[0]
    at_zero, optimum = (reference.objective(v, 0.0) for v in (np.zeros_like(w), w))
    gaps = []
    for seed in range(20):
        problem = drawn.problem(l1=0.01, constant=False)
        StochasticCoordinateDescent(problem, seed=seed, beta=beta, visits=visits).step()
        gaps.append(problem.objective - optimum)
    curvature = (0.25 if loss == "logistic" else 2) * np.abs(reference.x).max() ** 2
    assert -1e-9 <= np.mean(gaps) <= len(w) * (curvature * w @ w + 2 * at_zero) / visits
