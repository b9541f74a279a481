"""Creates batches from a matrix in memory: the same as from the libsvm text of its rows, without the text.

Column j is the feature of index j, as in a file written by scikit-learn's dump_svmlight_file. A value is rounded to the
nearest float, and omitted if that is zero. A row is one example, with one namespace without a name.

If the columns of a row are not in order, they are sorted, and duplicate entries are summed, as scipy does it.

The memory belongs to the caller. Each `fill` validates all that it reads, as it may have changed since the
previous pass.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDED_RO, PyObject_GetBuffer, PyBuffer_Release, Py_buffer
from libc.math cimport NAN, isfinite, isnan
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.base.buffers cimport reserve, resize
from vwlite.core.base.decimal cimport LONGEST_NUMBER, write_unsigned
from vwlite.core.base.murmur cimport murmur
from vwlite.core.base.sorting cimport sort_by_high_half
from vwlite.core.base.targets cimport *
from vwlite.core.data.batch cimport EXAMPLE, MOST_DISTINCT, Batch, new_dictionary
from vwlite.core.text.tokens cimport close_line, close_span

cdef extern from *:
    """
    #define VWLITE_OF_REAL(real) \\
        VWLITE_CLONES static int vwlite_narrow_##real(const real *values, float *out, size_t n) { \\
            int special = 0; \\
            for (size_t i = 0; i < n; i++) { \\
                float x = (float)values[i]; \\
                out[i] = x; \\
                special |= (x == 0) | (x - x != 0); \\
            } \\
            return special; \\
        }
    #define VWLITE_OF_INDEX(index, unsigned) \\
        VWLITE_CLONES static size_t vwlite_falls_##index(const index *columns, size_t n) { \\
            size_t falls = 0; \\
            for (size_t i = 1; i < n; i++) { \\
                falls += columns[i] <= columns[i - 1]; \\
            } \\
            return falls; \\
        } \\
        VWLITE_CLONES static int vwlite_add_##index(const index *columns, uint64_t width, uint32_t added, uint32_t *out, \\
                                                    size_t n) { \\
            unsigned largest = 0; \\
            for (size_t i = 0; i < n; i++) { \\
                unsigned x = (unsigned)columns[i]; \\
                out[i] = (uint32_t)x + added; \\
                largest = x > largest ? x : largest; \\
            } \\
            return n == 0 || largest < width; \\
        } \\
        VWLITE_CLONES static int vwlite_shorten_##index(const index *columns, uint64_t width, uint16_t *out, size_t n) { \\
            unsigned largest = 0; \\
            for (size_t i = 0; i < n; i++) { \\
                unsigned x = (unsigned)columns[i]; \\
                out[i] = (uint16_t)x; \\
                largest = x > largest ? x : largest; \\
            } \\
            return n == 0 || largest < width; \\
        }
    VWLITE_OF_REAL(float)
    VWLITE_OF_REAL(double)
    VWLITE_OF_INDEX(int32_t, uint32_t)
    VWLITE_OF_INDEX(int64_t, uint64_t)
    """
    bint narrow_float "vwlite_narrow_float"(const void* values, float* out, size_t n) noexcept nogil
    bint narrow_double "vwlite_narrow_double"(const void* values, float* out, size_t n) noexcept nogil
    size_t count_falls_int32 "vwlite_falls_int32_t"(const void* columns, size_t n) noexcept nogil
    size_t count_falls_int64 "vwlite_falls_int64_t"(const void* columns, size_t n) noexcept nogil
    bint add_int32 "vwlite_add_int32_t"(
        const void* columns, uint64_t width, uint32_t added, uint32_t* out, size_t n) noexcept nogil
    bint add_int64 "vwlite_add_int64_t"(
        const void* columns, uint64_t width, uint32_t added, uint32_t* out, size_t n) noexcept nogil
    bint shorten_int32 "vwlite_shorten_int32_t"(
        const void* columns, uint64_t width, uint16_t* out, size_t n) noexcept nogil
    bint shorten_int64 "vwlite_shorten_int64_t"(
        const void* columns, uint64_t width, uint16_t* out, size_t n) noexcept nogil

cdef enum:
    FULL = 1 << 16          # features of a batch, from where on it takes no further row
    MOST_LINES = 1 << 15

cdef enum Wrong:
    NOTHING = 0
    BEGIN = 1               # the rows are not ranges of the values
    COLUMN = 2              # it is outside of the matrix
    NOT_A_NUMBER = 3
    INFINITE = 4            # perhaps as a float only

WHY = {BEGIN: "begin", COLUMN: "column", NOT_A_NUMBER: "NaN", INFINITE: "infinity"}

# What `fill` gives in place of a row.
cdef enum:
    NO_MEMORY = -1
    FAULTY = -2

ctypedef fused Real:
    float
    double

ctypedef fused IndexType:
    int32_t
    int64_t


cdef class Held:
    """A buffer of someone else's, which stays where it is as long as this lives."""

    cdef Py_buffer info

    def __cinit__(self, array):
        PyObject_GetBuffer(array, &self.info, PyBUF_STRIDED_RO | PyBUF_FORMAT)

    def __dealloc__(self):
        PyBuffer_Release(&self.info)

    cdef bint is_row(self, Py_ssize_t items):
        """Whether it is a contiguous array of `items` numbers."""
        return (self.info.ndim == 1 and self.info.shape[0] == items
                and (items < 2 or self.info.strides[0] == self.info.itemsize))


# An invalid entry of a matrix.
cdef struct InvalidEntry:
    Wrong what
    Py_ssize_t row
    int64_t column


cdef class Matrix:
    """Rows of numbers of one of the types float32 and float64, with a label and an importance each.

    values: all of them with two dimensions, anyhow strided; or those of a sparse matrix (CSR), `columns` and `begins`
    being the other two arrays, of the same type, int32 or int64. width: columns. label, importance: rows of float64;
    without them no row has a label, and each counts 1. hash_all: hash the numbers of columns too, see murmur.pxd. spaces:
    as for Parser.

    ValueError if the arrays do not fit together.
    """

    cdef readonly Py_ssize_t rows, width
    cdef Held values, columns, begins, labels, importances
    cdef bint doubles, wide, hash_all, spaces
    cdef uint32_t unnamed
    cdef uint64_t dictionary  # the number of its columns as a dictionary of batches; 0: columns are not numbered
    cdef InvalidEntry found
    cdef uint64_t* places     # owned; values of a row whose columns are being put in order
    cdef size_t place_capacity
    cdef uint32_t* order      # owned; [values] which value of its row comes next, where columns do not rise; or NULL
    cdef bint* ordered        # owned; [rows] whether `order` has that of a row

    def __dealloc__(self):
        free(self.places)
        free(self.order)
        free(self.ordered)

    def __init__(self, values, columns=None, begins=None, *, Py_ssize_t width=0, label=None, importance=None,
                 bint hash_all=False, bint spaces=False):
        cdef Py_ssize_t size
        self.values = Held(values)
        self.doubles = self.values.info.itemsize == 8
        if self.values.info.format not in (b"f", b"d"):
            raise ValueError("the values are neither float32 nor float64")
        if columns is None:
            if self.values.info.ndim != 2:
                raise ValueError("the values have not two dimensions")
            self.rows, self.width = self.values.info.shape[0], self.values.info.shape[1]
        else:
            self.columns, self.begins = Held(columns), Held(begins)
            self.wide = self.columns.info.itemsize == 8
            if (self.columns.info.itemsize != self.begins.info.itemsize or self.columns.info.itemsize not in (4, 8)
                    or self.columns.info.format not in (b"i", b"l", b"q")
                    or self.begins.info.format not in (b"i", b"l", b"q")):
                raise ValueError("columns and begins are not both int32 or both int64")
            self.width, self.rows = width, self.begins.info.shape[0] - 1
            if (self.rows < 0 or not self.begins.is_row(self.rows + 1)
                    or not self.columns.is_row(self.values.info.shape[0])
                    or not self.values.is_row(self.values.info.shape[0])):
                raise ValueError("the arrays of a sparse matrix do not fit together")
        if self.width > <int64_t>1 << 32:
            raise ValueError(f"{self.width} columns are too many: there may be 2^32")
        size = self.rows * self.width if columns is None else self.values.info.shape[0]
        if 0 < 2 * self.width <= min(2 * MOST_DISTINCT, size):
            self.dictionary = new_dictionary()
        for array in (label, importance):
            if array is not None:
                held = Held(array)
                if (<Held>held).info.format != b"d" or not (<Held>held).is_row(self.rows):
                    raise ValueError("labels and importances are not one float64 for each row")
        self.labels = None if label is None else Held(label)
        self.importances = None if importance is None else Held(importance)
        self.hash_all, self.spaces, self.unnamed = hash_all, spaces, murmur(b"", 0, 0)

    @property
    def fault(self):
        """The error in the row where `fill` stopped, as (what, row, column); None without error.

        what: "begin" (its rows are not ranges), "column" (outside of the matrix), "NaN", "infinity" (perhaps only as a
        float).
        """
        return None if self.found.what == NOTHING else (WHY[self.found.what], self.found.row, self.found.column)

    cdef int number_columns(self, Batch batch, size_t n) noexcept nogil:
        """Reserve space for the numbers of n features of a batch, and a dictionary that has the columns by number, if
        there are many values for each: see Batch.number_hashes. -1: no memory."""
        cdef size_t column
        if self.dictionary == 0:
            return 0
        if batch.a.distinct_hash == NULL and resize(<void**>&batch.a.distinct_hash, MOST_DISTINCT, 4):
            return -1
        if n > batch.number_capacity:
            if resize(<void**>&batch.a.hash_number, n, 2):
                return -1
            batch.number_capacity = n
        if batch.a.dictionary != self.dictionary:
            for column in range(<size_t>self.width):
                batch.a.distinct_hash[column] = hash_of(column, self.hash_all, self.unnamed)
            batch.a.dictionary = self.dictionary
        batch.a.distinct = self.width
        batch.coded = True
        return 0

    def fill(self, Batch batch not None, Py_ssize_t row):
        """Clear the batch and fill it with rows from this one on, many thousand values; returns the row after them. -1:
        see `fault` for an error in one of them."""
        cdef void* values = self.values.info.buf
        cdef Py_ssize_t next
        if not 0 <= row <= self.rows:
            raise IndexError(row)
        if batch.owner is not None:
            raise ValueError("this batch looks at foreign memory: it cannot be filled")
        self.found.what = NOTHING
        with nogil:
            batch.clear()
            if batch.keep_spaces(self.spaces) or batch.reserve(1, 1, 64, 0):
                next = NO_MEMORY
            else:
                batch.a.tag_begin[0] = batch.a.span_begin[0] = batch.a.feature_begin[0] = 0
                if self.columns is None:
                    if self.doubles:
                        next = fill_dense[double](self, batch, row, 0)
                    else:
                        next = fill_dense[float](self, batch, row, 0)
                elif self.doubles and self.wide:
                    next = fill_csr(self, batch, row, <double*>values, <int64_t*>self.columns.info.buf,
                                    <int64_t*>self.begins.info.buf)
                elif self.doubles:
                    next = fill_csr(self, batch, row, <double*>values, <int32_t*>self.columns.info.buf,
                                    <int32_t*>self.begins.info.buf)
                elif self.wide:
                    next = fill_csr(self, batch, row, <float*>values, <int64_t*>self.columns.info.buf,
                                    <int64_t*>self.begins.info.buf)
                else:
                    next = fill_csr(self, batch, row, <float*>values, <int32_t*>self.columns.info.buf,
                                    <int32_t*>self.begins.info.buf)
        if next == NO_MEMORY:
            raise MemoryError("no memory for a batch")
        if next == FAULTY:
            next = -1
        return next


cdef inline uint32_t hash_of(uint64_t column, bint hash_all, uint32_t unnamed) noexcept nogil:
    """The hash of the feature of a column. unnamed: of the namespace without a name."""
    cdef char[LONGEST_NUMBER] digits
    if not hash_all:
        return <uint32_t>column + unnamed
    return murmur(digits, write_unsigned(digits, column), unnamed)


cdef inline int end_row(Matrix m, Batch batch, Py_ssize_t row, size_t features) noexcept nogil:
    """Count a row that ends after `features` features of the batch; -1: no memory."""
    cdef size_t line = batch.a.lines
    if features != batch.a.features and close_span(batch, c' ', m.unnamed, features):
        return -1
    batch.a.label[line] = NAN if m.labels is None else (<double*>m.labels.info.buf)[row]
    batch.a.importance[line] = 1 if m.importances is None else (<double*>m.importances.info.buf)[row]
    batch.a.initial[line] = 0
    close_line(batch, EXAMPLE, NULL)
    return 0


cdef inline Py_ssize_t fault_at(Matrix m, Wrong what, Py_ssize_t row, int64_t column) noexcept nogil:
    m.found = InvalidEntry(what, row, column)
    return FAULTY


cdef inline int add_value(Matrix m, Batch batch, size_t* n, Py_ssize_t row, uint64_t column, double value) noexcept nogil:
    """Add a value of a row to the n of a batch, if it is not zero as a float; FAULTY: it is not finite."""
    cdef float x = <float>value
    if not isfinite(x):
        return fault_at(m, NOT_A_NUMBER if isnan(value) else INFINITE, row, column)
    batch.a.value[n[0]] = x
    if batch.coded:
        batch.a.hash_number[n[0]] = <uint16_t>column
    else:
        batch.a.hash[n[0]] = hash_of(column, m.hash_all, m.unnamed)
    n[0] += x != 0
    return 0


cdef Py_ssize_t fill_csr(Matrix m, Batch batch, Py_ssize_t row, const Real* values, const IndexType* columns,
                         const IndexType* begins) noexcept nogil:
    """`fill` from a sparse matrix."""
    cdef Py_ssize_t i, end = row, first = begins[row], most = m.values.info.shape[0]
    cdef size_t n, falls = 0
    cdef int failed
    if not 0 <= first <= most:
        return fault_at(m, BEGIN, row, 0)
    while end < m.rows and begins[end] - first < FULL and end - row < MOST_LINES:
        i = begins[end]
        if not i <= begins[end + 1] <= most:
            return fault_at(m, BEGIN, end, 0)
        # Columns may fall where a row begins, and nowhere else.
        falls += first < i < begins[end + 1] and columns[i] <= columns[i - 1]
        end += 1
    n = begins[end] - first
    if batch.reserve(end - row, end - row, n, 0) or m.number_columns(batch, n):
        return NO_MEMORY
    if (not narrow(values + first, batch.a.value, n) and (batch.coded or not m.hash_all)
            and take_columns(m, batch, columns + first, n) and count_falls(columns + first, n) == falls):
        for i in range(row, end):
            if end_row(m, batch, i, begins[i + 1] - first):
                return NO_MEMORY
        return end
    n = 0
    for i in range(row, end):
        failed = add_row(m, batch, &n, i, values, columns, begins[i], begins[i + 1] - begins[i])
        if failed:
            return failed
        if end_row(m, batch, i, n):
            return NO_MEMORY
    return end


cdef int add_row(Matrix m, Batch batch, size_t* n, Py_ssize_t row, const Real* values, const IndexType* columns,
                 size_t begin, size_t size) noexcept nogil:
    """Add a row of a sparse matrix, with `n` values that start there, to those of a batch; NO_MEMORY, FAULTY."""
    cdef size_t i
    cdef bint rising = True
    for i in range(begin, begin + size):
        if not 0 <= columns[i] < m.width:
            return fault_at(m, COLUMN, row, columns[i])
        rising &= i == begin or columns[i] > columns[i - 1]
    if not rising:
        if find_order(m, row, columns + begin, size, begin):
            return NO_MEMORY
        return add_sums(m, batch, n, row, values + begin, columns + begin, size, m.order + begin)
    for i in range(begin, begin + size):
        if add_value(m, batch, n, row, columns[i], values[i]):
            return FAULTY
    return 0


cdef int find_order(Matrix m, Py_ssize_t row, const IndexType* columns, size_t size, size_t begin) noexcept nogil:
    """Set `order` to the order of the columns of a row; -1: no memory. It is computed in the first pass."""
    cdef size_t i
    cdef uint64_t* places
    if m.ordered == NULL:
        m.ordered = <bint*>calloc(m.rows, sizeof(bint))
    if m.order == NULL:
        m.order = <uint32_t*>malloc(m.values.info.shape[0] * sizeof(uint32_t))
    if m.ordered == NULL or m.order == NULL:
        return -1
    if m.ordered[row]:
        return 0
    if size >> 32 or reserve(<void**>&m.places, &m.place_capacity, 2 * size, sizeof(uint64_t)):
        return -1
    for i in range(size):
        m.places[i] = <uint64_t>columns[i] << 32 | i
    places = sort_by_high_half(m.places, m.places + size, size)
    for i in range(size):
        m.order[begin + i] = <uint32_t>places[i]
    m.ordered[row] = True
    return 0


cdef int add_sums(Matrix m, Batch batch, size_t* n, Py_ssize_t row, const Real* values, const IndexType* columns,
                  size_t size, const uint32_t* order) noexcept nogil:
    """Add the columns of a row in that order, for each the sum of its values, in their type; FAULTY."""
    cdef uint64_t column
    cdef size_t i = 0
    cdef Real sum
    while i < size:
        if order[i] >= size:    # the matrix was another when the order was found
            return fault_at(m, BEGIN, row, 0)
        column, sum = columns[order[i]], values[order[i]]
        i += 1
        while i < size and order[i] < size and <uint64_t>columns[order[i]] == column:
            sum += values[order[i]]
            i += 1
        if column >= <uint64_t>m.width:
            return fault_at(m, COLUMN, row, column)
        if add_value(m, batch, n, row, column, sum):
            return FAULTY
    return 0


cdef Py_ssize_t fill_dense(Matrix m, Batch batch, Py_ssize_t row, Real kind) noexcept nogil:
    """`fill` from an array of two dimensions. kind: of which type."""
    cdef Py_ssize_t j, step = m.values.info.strides[1]
    cdef size_t n
    cdef const char* at
    while row < m.rows and batch.a.features < FULL and batch.a.lines < MOST_LINES:
        n = batch.a.features
        if batch.reserve(1, 1, m.width, 0) or m.number_columns(batch, batch.feature_capacity):
            return NO_MEMORY
        at = <const char*>m.values.info.buf + row * m.values.info.strides[0]
        for j in range(m.width):
            if add_value(m, batch, &n, row, j, (<const Real*>(at + j * step))[0]):
                return FAULTY
        if end_row(m, batch, row, n):
            return NO_MEMORY
        row += 1
    return row


# Loops that the compiler makes wide, for each type.

cdef inline bint narrow(const Real* values, float* out, size_t n) noexcept nogil:
    """The values as floats; whether one is zero, or not finite."""
    if Real is double:
        return narrow_double(values, out, n)
    else:
        return narrow_float(values, out, n)


cdef inline size_t count_falls(const IndexType* columns, size_t n) noexcept nogil:
    """The number of columns that are not larger than the previous one."""
    if IndexType is int64_t:
        return count_falls_int64(columns, n)
    else:
        return count_falls_int32(columns, n)


cdef inline bint take_columns(Matrix m, Batch batch, const IndexType* columns, size_t n) noexcept nogil:
    """Give a batch the numbers of columns, or their hashes, which are only a sum; whether all are from 0 to
    width - 1."""
    cdef uint64_t width = m.width
    if IndexType is int64_t:
        if batch.coded:
            return shorten_int64(columns, width, batch.a.hash_number, n)
        return add_int64(columns, width, m.unnamed, batch.a.hash, n)
    else:
        width = min(width, <uint64_t>1 << 31)   # that of a negative one is larger
        if batch.coded:
            return shorten_int32(columns, width, batch.a.hash_number, n)
        return add_int32(columns, width, m.unnamed, batch.a.hash, n)


def column_hashes(uint32_t[::1] out, *, bint hash_all=False):
    """Fill in the hashes of the features of columns 0, 1, ..."""
    cdef uint64_t column
    cdef uint32_t unnamed = murmur(b"", 0, 0)
    for column in range(<uint64_t>out.shape[0]):
        out[column] = hash_of(column, hash_all, unnamed)
