"""Counting lines."""

from libc.stdint cimport uint8_t


def count_lines(const uint8_t[::1] data not None):
    """How many line ends there are. In short lines several times as fast as bytes.count."""
    cdef Py_ssize_t at = 0, end, size = data.shape[0]
    cdef size_t total = 0
    cdef uint8_t some   # for at most 255 bytes, so it cannot overflow, and 16 or more fit into a register
    cdef const uint8_t* p = &data[0] if size else NULL
    with nogil:
        while at < size:
            end = min(at + 255, size)
            some = 0
            while at < end:
                some += p[at] == 10
                at += 1
            total += some
    return total
