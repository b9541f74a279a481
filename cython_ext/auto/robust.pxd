"""Losses with kinks, smoothed. See robust.pyx."""

from vwlite.core.learn.losses cimport Loss

cpdef Loss smoothed(Loss loss)
