"""AROW with all covariances: one normal distribution of the weights, whose covariance matrix Sigma is not diagonal.

Crammer, Kulesza, Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009; figure 1, equations 7 and 8.

With the hinge loss l, Sigma = I at first, if l > 0:

    beta = 1 / (x' Sigma x + r / h),    w <- w + l beta y Sigma x,    Sigma <- Sigma - beta Sigma x x' Sigma,

so that Sigma^-1 is I + sum of h x x' / r. Everything else is as in arow.pyx.
"""

from libc.math cimport sqrt

from vwlite.core.base.dense import dot
from vwlite.core.learn.rule cimport Example, Outcome
from vwlite.core.rules.full_matrix cimport FullMatrix

from vwlite.core.rules.full_matrix import import_numpy, product


cdef class ArowFull(FullMatrix):
    """w + l y Sigma x / (x' Sigma x + r)"""

    ARRAYS = {"w": 1, "sigma": 2}

    cdef double r
    cdef object sigma             # [n, n]

    def __init__(self, loss, *, double arow_r=1, **schedule):
        super().__init__(loss, **schedule)
        self.r = arow_r

    cdef learn(self, const Example* e, const Outcome* o):
        cdef double beta
        x = self.vector(e, 1) if o.loss > 0 else None
        if x is None or not self.n:
            return
        across = product(self.sigma, x)
        beta = 1 / (max(dot(x, across), 0.0) + self.r / o.importance)    # below 0 by rounding only
        self.w += -o.dloss * o.loss * beta * across     # the dloss of the hinge loss is -y
        across *= sqrt(beta)
        self.sigma -= across[:, None] * across

    cdef arrays(self):
        return {"w": self.w, "sigma": self.sigma}

    cdef put(self, arrays):
        FullMatrix.put(self, arrays)
        self.sigma = arrays["sigma"]
        if self.sigma.shape != (self.w.size, self.w.size):
            raise ValueError("the arrays do not fit")

    cdef grow(self, size_t more):
        np = import_numpy()
        sigma = np.eye(self.n)
        sigma[:self.w.size, :self.w.size] = self.sigma
        self.put({"w": np.append(self.w, np.zeros(more)), "sigma": sigma})
