"""Losses of nights and the eager fit to them, for twins."""

import numpy as np
from batches import Line, batch_of

from vwlite.algorithms.settings import Settings

CLASSES = 3


def settings_of(loss):
    if loss == "classes":
        return Settings(loss="logistic", oaa=CLASSES, softmax_probabilities=True)
    return Settings(loss=loss)


def batch(x, y, v):
    """Feature j has key 7 j + 1; zeros are no features."""
    return batch_of(Line(label, [(7 * j + 1, x) for j, x in enumerate(row) if x], importance)
                    for row, label, importance in zip(x.tolist(), y.tolist(), v.tolist(), strict=True))


def derivatives(loss, p, y):
    """Losses in nats but for the scale, their gradients, and the Hessian of each row's scores."""
    if loss == "classes":
        log_q = p - np.logaddexp.reduce(p, axis=1, keepdims=True)
        q, own = np.exp(log_q), np.eye(CLASSES)[y.astype(int) - 1]
        return -(log_q * own).sum(axis=1), q - own, q[:, :, None] * (np.eye(CLASSES) - q[:, None, :])
    p = p[:, 0]
    if loss == "logistic":
        q = np.exp(-np.logaddexp(0, y * p))
        found = np.logaddexp(0, -y * p), -y * q, q * (1 - q)
    elif loss == "poisson":
        m = np.exp(p)
        found = m - y * p - y + np.where(y > 0, y * np.log(np.maximum(y, 1)), 0), m - y, m
    else:
        found = (p - y) ** 2, 2 * (p - y), np.full(len(p), 2.0)
    return found[0], found[1][:, None], found[2][:, None, None]


def minimized(loss, x, y, v, penalty, center, scale=1.0, w=None):
    """The weights with the least loss and penalty / 2 (w - center)^2, by Newton's method. penalty: of each column, or
    of each weight."""
    w = center.copy() if w is None else w
    penalty = np.broadcast_to(penalty.reshape(len(penalty), -1), center.shape)
    for _ in range(100):
        _, slopes, curvatures = derivatives(loss, x @ w, y)
        g = x.T @ (v[:, None] * slopes) / scale + penalty * (w - center)
        hessian = np.einsum("i,ij,ikl,im->jkml", v / scale, x, curvatures, x, optimize=True)
        hessian = hessian.reshape(g.size, g.size) + np.diag(penalty.ravel())
        step, part = np.linalg.solve(hessian, g.ravel()).reshape(g.shape), 1.0
        if np.abs(step).max() < 1e-10:
            break

        def value(w):
            return v @ derivatives(loss, x @ w, y)[0] / scale + (penalty * (w - center) ** 2).sum() / 2

        while value(w - part * step) > value(w) + 1e-12 and part > 1e-6:
            part /= 2
        w = w - part * step
    return w
