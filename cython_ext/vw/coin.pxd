"""COIN. See coin.pyx."""

from vwlite.core.learn.rule cimport Rule


cdef class Coin(Rule):
    cdef public double norm_sum, weight_sum
    cdef public double importance   # of the example that will be learned after the prediction: set by the caller
    cdef float alpha, beta
    cdef double next_norm_sum, next_weight_sum      # with that example
    cdef float average                              # A, with that example
