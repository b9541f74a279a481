"""Arrays of compiled objects, seen from Python, and what is asked of the arrays of a model: NumPy can do it too, but takes
longer to load than most jobs to begin."""

import array

from cpython.buffer cimport PyBUF_STRIDED_RO, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.float cimport FLT_MIN
from libc.math cimport fabs, fmax, isfinite, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from vwlite.core.base.sums cimport Sum, add, value_of


cdef class View:
    """An array of someone else's as a buffer of bytes. It keeps the owner alive."""

    cdef object owner
    cdef void* data
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer* info, int flags):
        PyBuffer_FillInfo(info, self, self.data, self.size, 1, flags)


cdef object view_of(object owner, void* data, size_t items, size_t size, str code):
    """A read-only memoryview of an array: `items` numbers of `size` bytes, which the module struct calls `code`."""
    cdef View view
    if items == 0:      # then there may be no valid address
        return memoryview(b"").cast(code)
    view = View.__new__(View)
    view.owner, view.data, view.size = owner, data, items * size
    return memoryview(view).cast(code)


cdef inline void copy_apart(unsigned char* to, size_t step, const char* source, Py_ssize_t stride, Py_ssize_t n, size_t size) noexcept nogil:
    """Copy n numbers. Compiled once for each constant size."""
    cdef Py_ssize_t i
    for i in range(n):
        memcpy(to, source, size)
        to += step
        source += stride


def packed(view):
    """The bytes of a view of numbers of 4 or 8 bytes each, one after the other. (That of Python itself takes 5 ns each.)"""
    cdef Py_buffer info
    cdef const char* source
    cdef char* out
    PyObject_GetBuffer(view, &info, PyBUF_STRIDED_RO)
    try:
        data = PyBytes_FromStringAndSize(NULL, info.shape[0] * info.itemsize)
        out, source = PyBytes_AS_STRING(data), <const char*>info.buf
        if info.itemsize == 4:
            copy_apart(<unsigned char*>out, 4, source, info.strides[0], info.shape[0], 4)
        elif info.itemsize == 8:
            copy_apart(<unsigned char*>out, 8, source, info.strides[0], info.shape[0], 8)
        else:
            raise ValueError(f"numbers of {info.itemsize} bytes")
        return data
    finally:
        PyBuffer_Release(&info)


def spread(unsigned char[::1] out not None, size_t at, size_t step, numbers):
    """Write numbers into bytes: the first one at a place, each next one a step behind the one before."""
    cdef Py_buffer info
    cdef size_t size
    cdef const char* source
    PyObject_GetBuffer(numbers, &info, PyBUF_STRIDED_RO)
    try:
        size, source = info.itemsize, <const char*>info.buf
        if info.ndim != 1 or info.shape[0] and at + (info.shape[0] - 1) * step + size > <size_t>out.shape[0]:
            raise ValueError("not as many numbers as there are places")
        if info.shape[0] == 0:
            return
        if size == 4:
            copy_apart(&out[at], step, source, info.strides[0], info.shape[0], 4)
        elif size == 8:
            copy_apart(&out[at], step, source, info.strides[0], info.shape[0], 8)
        else:
            copy_apart(&out[at], step, source, info.strides[0], info.shape[0], size)
    finally:
        PyBuffer_Release(&info)


def first_apart(const double[:] some, const double[:] others, size_t begin=0, double relative=0):
    """The first place, from `begin` on, where numbers differ by more than this part of the larger one; -1: none."""
    cdef size_t i
    cdef double apart
    if some.shape[0] != others.shape[0]:
        raise ValueError("not as many numbers")
    for i in range(begin, <size_t>some.shape[0]):
        apart = fabs(some[i] - others[i])
        if not (apart == 0 or apart <= relative * fmax(fabs(some[i]), fabs(others[i])) or apart < FLT_MIN):
            return i
    return -1


def is_aligned(const unsigned char[::1] numbers not None, size_t size):
    """Whether an array, given as bytes, begins at a multiple of `size`."""
    return numbers.shape[0] == 0 or <size_t>&numbers[0] % size == 0


def all_finite(numbers):
    """Whether no float of a memoryview of format "f" or "d" is infinite or NaN."""
    cdef const double[::1] doubles
    cdef const float[::1] floats
    cdef Py_ssize_t i
    if numbers.format == "d":
        doubles = numbers
        for i in range(doubles.shape[0]):
            if not isfinite(doubles[i]):
                return False
    else:
        floats = numbers
        for i in range(floats.shape[0]):
            if not isfinite(floats[i]):
                return False
    return True


def is_ascending(const uint32_t[::1] numbers):
    """Whether each number is larger than the one before it."""
    cdef Py_ssize_t i
    for i in range(1, numbers.shape[0]):
        if numbers[i] <= numbers[i - 1]:
            return False
    return True


def shifted(const uint32_t[::1] numbers, uint32_t by):
    """numbers + by, mod 2^32."""
    out = array.array("I", bytes(4 * numbers.shape[0]))
    cdef uint32_t[::1] sums = out
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        sums[i] = numbers[i] + by
    return memoryview(out)


def largest(const uint32_t[:] numbers):
    """The largest number; 0 if the array is empty."""
    cdef uint32_t found = 0
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        found = max(found, numbers[i])
    return found


def total(const double[:] numbers):
    """Their sum, nearly exact: in order, with compensation for rounding errors."""
    cdef Sum sum = Sum(0, 0)
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        add(&sum, numbers[i])
    return value_of(&sum) if isfinite(sum.rounded) else sum.rounded


def narrowed(const double[:] numbers, bint squared=False):
    """The numbers, or their squares, as floats."""
    out = array.array("f", bytes(4 * numbers.shape[0]))
    cdef float[::1] floats = out
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        floats[i] = <float>(numbers[i] * numbers[i] if squared else numbers[i])
    return memoryview(out)


def widened(const float[:] numbers, bint rooted=False):
    """The numbers, or their square roots, as doubles."""
    out = array.array("d", bytes(8 * numbers.shape[0]))
    cdef double[::1] doubles = out
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        doubles[i] = sqrt(numbers[i]) if rooted else numbers[i]
    return memoryview(out)


def records_of(const uint32_t[::1] keys, const float[::1] floats, Py_ssize_t width, bint wide):
    """Each key and its floats, one after the other, as a bytearray. Those whose floats are all zero are left out.

    width: floats of a key. wide: a key takes eight bytes, not four.
    """
    cdef Py_ssize_t i, k, at = 0, head = 8 if wide else 4, n = keys.shape[0]
    cdef uint32_t key
    cdef bint some
    if floats.shape[0] != n * width:
        raise ValueError(f"{floats.shape[0]} floats are not {width} for each of {n} keys")
    out = bytearray(n * (head + 4 * width))
    cdef char* data = out
    for i in range(n):
        some = False
        for k in range(i * width, (i + 1) * width):
            some |= floats[k] != 0
        if not some:
            continue
        key = keys[i]
        memcpy(data + at, &key, 4)
        memcpy(data + at + head, &floats[i * width], 4 * width)
        at += head + 4 * width
    del out[at:]
    return out
