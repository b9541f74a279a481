"""The columns of a table as features are derived from them: their values and words in a sample of rows, knots, and the
screening of pairs and triples.

A row is an example that can be learned; rows are counted from 0 in the order of the data. The sample is of the rows with the
least hashes of their numbers, so that it does not depend on how the data are read.
"""

from array import array

from libc.math cimport NAN, fabs, isnan, sqrt
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy, memset

from vwlite.core.auto.order cimport is_used
from vwlite.core.base.buffers cimport reserve, resize
from vwlite.core.base.elementary cimport exp, log
from vwlite.core.base.fibonacci cimport place_of
from vwlite.core.base.random cimport mixed
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.learn.losses cimport Loss, bounded

cdef enum:
    FOLDS = 4               # of the screening; they are not those of the lanes
    MOST_WORDS = 1 << 16    # different words of a column; one with more has numbers for names, and is not crossed
    FIRST_PLACES = 256

cdef double LARGEST_SCORE = 500
cdef double SHRINKAGE = 4   # added to the sum of second derivatives of a cell
cdef uint64_t GOLDEN = <uint64_t>0x9E3779B97F4A7C15


cdef inline uint64_t hash_of_row(uint64_t row) noexcept nogil:
    """SplitMix64 of the row's number."""
    return mixed(row + GOLDEN)


cdef int by_size(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t*>a)[0], y = (<const uint64_t*>b)[0]
    return (x > y) - (x < y)


cdef int by_value(const void* a, const void* b) noexcept nogil:
    cdef float x = (<const float*>a)[0], y = (<const float*>b)[0]
    return (x > y) - (x < y)


def sampled_rows(uint64_t rows, size_t most):
    """Which rows are the sample, as a byte for each; all, if they are at most `most`."""
    cdef uint64_t i, limit
    found = bytearray(b"\x01") * rows
    cdef unsigned char[::1] out = found
    cdef uint64_t* hashes
    if rows <= most:
        return found
    hashes = <uint64_t*>calloc(rows, sizeof(uint64_t))
    if hashes == NULL:
        raise MemoryError("no memory for a sample of rows")
    for i in range(rows):
        hashes[i] = hash_of_row(i)
    qsort(hashes, rows, sizeof(uint64_t), by_size)
    limit = hashes[most - 1]
    free(hashes)
    for i in range(rows):
        out[i] = hash_of_row(i) <= limit    # hashes of different numbers differ
    return found


def folds_of_rows(const unsigned char[::1] sampled not None, const uint32_t[::1] copies not None, size_t folds=FOLDS):
    """The fold of each row of the sample, for the screening: by its number, of copies by that of the first one. copies: of
    `folds.copies_of`. folds: 2 or 4."""
    cdef size_t i
    if folds not in (2, FOLDS):
        raise ValueError("2 or 4 folds")
    return bytes([hash_of_row(copies[i]) & (folds - 1) for i in range(<size_t>sampled.shape[0]) if sampled[i]])


def knots(const float[::1] values not None, sizes):
    """Knots of the values that are not NaN, as a list for each K in `sizes`: all different values if they are at most K; else
    those that more than 1 / K of the values are, and quantiles of the others."""
    cdef size_t n = 0, i
    cdef float* x = <float*>calloc(values.shape[0] + 1, sizeof(float))
    cdef float* spare = <float*>calloc(values.shape[0] + 1, sizeof(float))
    try:
        if x == NULL or spare == NULL:
            raise MemoryError("no memory for knots")
        for i in range(<size_t>values.shape[0]):
            if not isnan(values[i]):
                x[n] = values[i] + <float>0.0      # -0 is 0
                n += 1
        qsort(x, n, sizeof(float), by_value)
        return [knots_of(x, n, size, spare) for size in sizes]
    finally:
        free(x)
        free(spare)


cdef list knots_of(const float* x, size_t n, size_t most, float* others):
    """Those of n sorted values. others: room for n values."""
    cdef size_t i, begin = 0, m, rest = 0
    cdef list distinct = [], frequent = []
    for i in range(1, n + 1):
        if i < n and x[i] == x[begin]:
            continue
        if <size_t>len(distinct) <= most:
            distinct.append(x[begin])
        if (i - begin) * most > n:
            frequent.append(x[begin])
        else:
            while begin < i:
                others[rest] = x[begin]
                rest += 1
                begin += 1
        begin = i
    if <size_t>len(distinct) <= most:
        return distinct
    m = max(2, most - len(frequent))
    return sorted({*frequent, *[others[i * (rest - 1) // (m - 1)] for i in range(m) if rest]})


def moments(const float[::1] values not None):
    """Mean and standard deviation of the values that are not NaN, and how many these are; zeros without any."""
    cdef size_t i, n = 0
    cdef double sum = 0, squares = 0, mean
    for i in range(<size_t>values.shape[0]):
        if not isnan(values[i]):
            n += 1
            sum += values[i]
    if n == 0:
        return 0.0, 0.0, 0
    mean = sum / n
    for i in range(<size_t>values.shape[0]):
        if not isnan(values[i]):
            squares += (values[i] - mean) * (values[i] - mean)
    return mean, (squares / n) ** 0.5, n


def codes_of_numbers(const float[::1] values not None, at):
    """Codes of the values by the edges half way between knots: how many edges are below. NaN has the code behind them."""
    cdef size_t i, k, n = values.shape[0]
    cdef size_t count = max(len(at) - 1, 0)
    cdef double[64] edges
    found = bytearray(n)
    cdef unsigned char[::1] out = found
    if count > 64:
        raise ValueError("at most 65 knots")
    for k in range(count):
        edges[k] = (<double>at[k] + <double>at[k + 1]) / 2
    for i in range(n):
        if isnan(values[i]):
            out[i] = <uint8_t>(count + 1)
            continue
        for k in range(count):
            out[i] += values[i] > edges[k]
    return found


# A word of a column.
cdef struct WordCount:
    uint32_t hash
    uint32_t count          # 0: the place is free


cdef struct ScannedColumn:
    uint32_t space          # the hash of its namespace
    uint32_t number         # the hash of its number as a feature
    uint32_t absent         # that of the feature of an absent cell
    uint32_t* part          # owned; [parts] the words that are of this column; NULL: all of the namespace
    size_t parts
    size_t numbers, words   # rows that have one
    bint several            # a row has more than one feature
    float* value            # owned; [rows of the sample] NaN: none. NULL: no number so far
    uint32_t* word          # owned; [rows of the sample] 1 + the place of its hash in `hashes`; 0: none. NULL: no word so far
    WordCount* counts       # owned; [places]
    size_t places, distinct


cdef class ColumnScan:
    """What columns have in all rows, and which values in those of the sample.

    columns: of each the hash of its namespace, of its number, and of the feature of an absent cell; or, of a part of a
    time, the hash of its namespace, those of its words, and that of an absent cell. Columns of a namespace are in a row.
    sampled: a byte for each row. words, on the other hand, are counted in all rows.
    """

    cdef ScannedColumn* columns   # owned
    cdef size_t count, row, at, size
    cdef uint32_t* places         # owned; [1 << bits] 1 + a column
    cdef int bits
    cdef const unsigned char[::1] sampled

    def __cinit__(self, columns, const unsigned char[::1] sampled not None):
        cdef size_t i, at
        self.count, self.sampled = len(columns), sampled
        for i in range(<size_t>sampled.shape[0]):
            self.size += sampled[i]
        self.bits = 1
        while <size_t>1 << self.bits < 2 * self.count + 2:
            self.bits += 1
        self.columns = <ScannedColumn*>calloc(self.count + 1, sizeof(ScannedColumn))
        self.places = <uint32_t*>calloc(<size_t>1 << self.bits, sizeof(uint32_t))
        if self.columns == NULL or self.places == NULL:
            raise MemoryError("no memory for columns")
        for i, (space, number, absent) in enumerate(columns):
            self.columns[i].space, self.columns[i].absent = space, absent
            if isinstance(number, int):
                self.columns[i].number = number
            else:
                self.columns[i].parts = len(number)
                self.columns[i].part = <uint32_t*>calloc(len(number) + 1, sizeof(uint32_t))
                if self.columns[i].part == NULL:
                    raise MemoryError("no memory for columns")
                for k, hash in enumerate(number):
                    self.columns[i].part[k] = hash
            at = place_of(space, 64 - self.bits)
            while self.places[at]:
                at = (at + 1) & ((<size_t>1 << self.bits) - 1)
            self.places[at] = <uint32_t>i + 1

    def __dealloc__(self):
        cdef size_t i
        if self.columns != NULL:
            for i in range(self.count):
                free(self.columns[i].part)
                free(self.columns[i].value)
                free(self.columns[i].word)
                free(self.columns[i].counts)
        free(self.columns)
        free(self.places)

    def take(self, Batch batch not None):
        """Look at the next rows."""
        cdef size_t line
        cdef int failed = 0
        if batch.decode() or (batch.a.spans and batch.a.space == NULL):
            raise ValueError("a batch without the hashes of namespaces")
        with nogil:
            for line in range(batch.a.lines):
                if is_used(&batch.a, line) and not failed:
                    if self.row == <size_t>self.sampled.shape[0]:
                        failed = -2
                        break
                    failed = self.take_row(&batch.a, line)
                    self.at += self.sampled[self.row]
                    self.row += 1
        if failed == -2:
            raise IndexError("more rows than the sample is of")
        if failed:
            raise MemoryError("no memory for the values of columns")

    cdef int take_row(self, const Arrays* a, size_t line) noexcept nogil:
        cdef size_t span, at, begin, last_column = <size_t>-1
        cdef ScannedColumn* c
        for span in range(a.span_begin[line], a.span_begin[line + 1]):
            at = place_of(a.space[span], 64 - self.bits)
            while self.places[at] and self.columns[self.places[at] - 1].space != a.space[span]:
                at = (at + 1) & ((<size_t>1 << self.bits) - 1)
            if self.places[at] == 0:
                continue
            c, begin = &self.columns[self.places[at] - 1], a.feature_begin[span]
            if a.hash[begin] == c.absent:
                continue
            if c.part != NULL:
                if self.take_parts(a, span, self.places[at] - 1):
                    return -1
                continue
            c.several |= a.feature_begin[span + 1] > begin + 1 or self.places[at] == last_column
            last_column = self.places[at]
            if a.hash[begin] == c.number:
                c.numbers += 1
                if self.sampled[self.row] and self.keep_number(c, a.value[begin]):
                    return -1
            else:
                c.words += 1
                if self.keep_word(c, a.hash[begin]):
                    return -1
        return 0

    cdef int take_parts(self, const Arrays* a, size_t span, size_t column) noexcept nogil:
        """Keep the words of a time, of which each is in one of the columns from this one on; -1: no memory."""
        cdef size_t i, j, k
        cdef ScannedColumn* c
        for i in range(column, self.count):
            c = &self.columns[i]
            if c.space != a.space[span] or c.part == NULL:
                break
            for k in range(a.feature_begin[span], a.feature_begin[span + 1]):
                for j in range(c.parts):
                    if c.part[j] == a.hash[k]:
                        c.words += 1
                        if self.keep_word(c, a.hash[k]):
                            return -1
        return 0

    cdef int keep_number(self, ScannedColumn* c, float value) noexcept nogil:
        cdef size_t i
        if c.value == NULL:
            c.value = <float*>calloc(self.size + 1, sizeof(float))
            if c.value == NULL:
                return -1
            for i in range(self.size):
                c.value[i] = NAN
        c.value[self.at] = value
        return 0

    cdef int keep_word(self, ScannedColumn* c, uint32_t hash) noexcept nogil:
        """Count a word, and note it for a row of the sample; -1: no memory."""
        cdef size_t at
        if c.distinct > MOST_WORDS:
            return 0
        if 2 * c.distinct >= c.places and self.grow(c):
            return -1
        at = place_in(c, hash)
        c.distinct += c.counts[at].count == 0
        c.counts[at].hash = hash
        c.counts[at].count += 1
        if self.sampled[self.row]:
            if c.word == NULL:
                c.word = <uint32_t*>calloc(2 * self.size + 1, sizeof(uint32_t))
                if c.word == NULL:
                    return -1
            c.word[self.at], c.word[self.size + self.at] = hash, True
        return 0

    cdef int grow(self, ScannedColumn* c) noexcept nogil:
        cdef WordCount* before = c.counts
        cdef size_t i, places = c.places
        cdef WordCount* grown = <WordCount*>calloc(max(2 * places, FIRST_PLACES), sizeof(WordCount))
        if grown == NULL:
            return -1
        c.counts, c.places = grown, max(2 * places, FIRST_PLACES)
        for i in range(places):
            if before[i].count:
                grown[place_in(c, before[i].hash)] = before[i]
        free(before)
        return 0

    def __len__(self):
        return self.count

    def facts(self, size_t i):
        """Of a column: the rows with numbers, with words, whether a row has several features, and the different words;
        those are None if there are too many."""
        cdef ScannedColumn* c = &self.columns[i]
        return c.numbers, c.words, c.several, c.distinct if c.distinct <= MOST_WORDS else None

    def words(self, size_t i, size_t least):
        """The hashes of words that at least so many rows have, and how many: as pairs."""
        cdef ScannedColumn* c = &self.columns[i]
        cdef size_t k
        return [(c.counts[k].hash, c.counts[k].count) for k in range(c.places) if c.counts[k].count >= least]

    def values(self, size_t i):
        """The numbers of a column in the rows of the sample, NaN where there is none or it is not finite."""
        cdef ScannedColumn* c = &self.columns[i]
        cdef size_t k
        found = array("f", bytes(4 * self.size))
        cdef float[::1] out = found
        for k in range(self.size):
            out[k] = c.value[k] if c.value != NULL else NAN
        return found

    def cells(self, size_t i):
        """What a column has in the rows of the sample, as numbers that are equal or different; 0: nothing."""
        cdef ScannedColumn* c = &self.columns[i]
        cdef size_t k
        cdef float value
        cdef uint32_t bits
        found = array("Q", bytes(8 * self.size))
        cdef uint64_t[::1] out = found
        for k in range(self.size):
            if c.word != NULL and c.word[self.size + k]:
                out[k] = <uint64_t>1 << 32 | c.word[k]
            elif c.value != NULL and not isnan(c.value[k]):
                value = c.value[k] + <float>0.0     # -0 is 0
                memcpy(&bits, &value, sizeof(uint32_t))
                out[k] = <uint64_t>2 << 32 | bits
        return found

    def codes(self, size_t i, levels):
        """The codes of a column of words in the rows of the sample: the place of its hash among the levels; behind them any
        other word, then none."""
        cdef ScannedColumn* c = &self.columns[i]
        cdef size_t k, j, count = len(levels)
        cdef uint32_t[64] hashes
        found = bytearray(self.size)
        cdef unsigned char[::1] out = found
        if count > 64:
            raise ValueError("at most 64 levels")
        for j in range(count):
            hashes[j] = levels[j]
        for k in range(self.size):
            out[k] = <uint8_t>(count + 1)
            if c.word != NULL and c.word[self.size + k]:
                for j in range(count):
                    if hashes[j] == c.word[k]:
                        break
                else:
                    j = count
                out[k] = <uint8_t>j
        return found


cdef inline size_t place_in(const ScannedColumn* c, uint32_t hash) noexcept nogil:
    """Where a word is counted, or may be."""
    cdef size_t at = mixed(hash) & (c.places - 1)
    while c.counts[at].count and c.counts[at].hash != hash:
        at = (at + 1) & (c.places - 1)
    return at


# --- screening ---------------------------------------------------------------------------------------

def row_losses(Loss loss not None, const double[::1] scores not None, const double[::1] labels not None):
    """The loss of each row by its score."""
    cdef size_t i
    cdef double slope
    found = array("d", bytes(8 * scores.shape[0]))
    cdef double[::1] out = found
    for i in range(<size_t>scores.shape[0]):
        out[i] = loss.evaluate(bounded(loss, scores[i]), labels[i], &slope)
    return found


def row_log_losses(const double[::1] scores not None, const double[::1] labels not None):
    """The log loss of each row by the softmax of its scores; labels are classes, from 1."""
    cdef size_t i, k, width = scores.shape[0] // max(labels.shape[0], 1)
    cdef double most, sum
    found = array("d", bytes(8 * labels.shape[0]))
    cdef double[::1] out = found
    for i in range(<size_t>labels.shape[0]):
        most = scores[i * width]
        for k in range(1, width):
            most = max(most, scores[i * width + k])
        sum = 0
        for k in range(width):
            sum += exp(max(scores[i * width + k] - most, -LARGEST_SCORE))
        out[i] = log(sum) + most - scores[i * width + <size_t>labels[i] - 1]
    return found


def difference_of(const double[::1] losses not None, const double[::1] others not None, const double[::1] weights not None,
                  const uint32_t[::1] copies not None):
    """The mean of the other losses, weighted, and of the differences of the losses from them, with its standard error, for
    which copies are one row. copies: of `folds.copies_of`."""
    cdef size_t i, n = losses.shape[0]
    cdef double total = 0, sum = 0, squares = 0, mean, before = 0
    cdef double[::1] parts = array("d", bytes(8 * n))
    for i in range(n):
        total += weights[i]
        before += weights[i] * others[i]
        sum += weights[i] * (losses[i] - others[i])
    if total == 0:
        return 0.0, 0.0, 0.0
    mean = sum / total
    for i in range(n):
        parts[copies[i]] += weights[i] * (losses[i] - others[i] - mean)
    for i in range(n):
        squares += parts[i] ** 2
    return before / total, mean, sqrt(squares) / total


def losses_of_tenths(const double[::1] losses not None, const double[::1] weights not None, const uint32_t[::1] order not None,
                     size_t rows):
    """Of each tenth of the data the mean loss, weighted, and its standard error. order: which of the rows each loss is of."""
    cdef size_t i, at, n = losses.shape[0]
    cdef double[10] total = [0] * 10
    cdef double[10] sum = [0] * 10
    cdef double[10] squares = [0] * 10
    for i in range(n):
        at = 10 * <size_t>order[i] // rows
        total[at] += weights[i]
        sum[at] += weights[i] * losses[i]
    for i in range(n):
        at = 10 * <size_t>order[i] // rows
        squares[at] += (weights[i] * (losses[i] - sum[at] / total[at])) ** 2
    return [(sum[at] / total[at], sqrt(squares[at]) / total[at]) if total[at] else (0.0, 0.0) for at in range(10)]


def residuals(Loss loss not None, str name, const double[::1] scores not None, const double[::1] labels not None,
              const double[::1] weights not None, double unit=0):
    """Minus the first derivatives of the loss at the scores, and the second ones, times weights; and the unit of the first ones.
    Of losses other than the logistic one it is their standard deviation, over the root of the second ones, which are 1 where the
    loss has no logarithm of a mean: labels have any unit, and counts may vary more than those of Poisson. unit: another one; 0:
    none."""
    cdef size_t i, n = scores.shape[0]
    cdef double p, slope, sum = 0, squares = 0, total = 0
    cdef bint logistic = name == "logistic"
    first, second = array("d", bytes(8 * n)), array("d", bytes(8 * n))
    cdef double[::1] r = first
    cdef double[::1] h = second
    for i in range(n):
        p = bounded(loss, scores[i])
        loss.evaluate(p, labels[i], &slope)
        r[i] = -slope
        h[i] = 1
        if logistic:
            p = min(fabs(p), LARGEST_SCORE)
            h[i] = 1 / ((1 + exp(-p)) * (1 + exp(p)))
        elif loss.power > 0:    # what is expected of it
            h[i] = exp((2 - loss.power) * max(p, -LARGEST_SCORE))
        total += weights[i]
        sum += weights[i] * r[i] / sqrt(h[i])
        squares += weights[i] * r[i] * r[i] / h[i]
    if unit == 0 and total > 0 and not logistic:
        unit = sqrt(max(squares / total - (sum / total) ** 2, 0))
    unit = unit if unit > 0 else 1
    for i in range(n):
        r[i] *= weights[i] / unit
        h[i] *= weights[i]
    return first, second, unit


def class_residuals(const double[::1] scores not None, const double[::1] labels not None, const double[::1] weights not None):
    """The same for each class, by the softmax of the scores: 1 - p or -p, and p (1 - p)."""
    cdef size_t i, k, n = labels.shape[0], width = scores.shape[0] // max(n, 1)
    cdef double most, sum, p
    first, second = array("d", bytes(8 * n * width)), array("d", bytes(8 * n * width))
    cdef double[::1] r = first
    cdef double[::1] h = second
    for i in range(n):
        most, sum = scores[i * width], 0
        for k in range(1, width):
            most = max(most, scores[i * width + k])
        for k in range(width):
            sum += exp(max(scores[i * width + k] - most, -LARGEST_SCORE))
        for k in range(width):
            p = exp(max(scores[i * width + k] - most, -LARGEST_SCORE)) / sum
            r[i * width + k] = weights[i] * ((k + 1 == <size_t>labels[i]) - p)
            h[i * width + k] = weights[i] * p * (1 - p)
    return first, second


def rows_of_sample(const double[::1] values not None, const unsigned char[::1] sampled not None, size_t width=1):
    """Of `width` values of each row those of the sample."""
    cdef size_t i, k
    found = array("d")
    for i in range(<size_t>sampled.shape[0]):
        if sampled[i]:
            for k in range(width):
                found.append(values[i * width + k])
    return found


cdef class RowCells:
    """The cell of each row: where one to three columns have the codes that the row has. codes: of each of them, one for each
    row, and how many there are."""

    cdef const unsigned char[::1] a, b, c
    cdef size_t width_b, width_c, count

    def __init__(self, codes, size_t rows):
        self.a = codes[0][0]
        self.b = codes[1][0] if len(codes) > 1 else bytes(rows)
        self.c = codes[2][0] if len(codes) > 2 else None
        self.width_b, self.width_c = codes[1][1] if len(codes) > 1 else 1, codes[2][1] if len(codes) > 2 else 1
        self.count = codes[0][1] * self.width_b * self.width_c
        if not <size_t>self.a.shape[0] == <size_t>self.b.shape[0] == rows or (
                self.c is not None and <size_t>self.c.shape[0] != rows):
            raise ValueError("a code for each row")


cdef class Residuals:
    """Of each row of the sample and each class: minus the first derivative of the loss at its score, and the second one, times
    the importance; and the fold of each row."""

    cdef const double[::1] first, second
    cdef const unsigned char[::1] folds
    cdef size_t rows, classes
    cdef double scale

    def __init__(self, const double[::1] first not None, const double[::1] second not None,
                 const unsigned char[::1] folds not None, double scale=1):
        """scale: of all rows over those of the sample."""
        self.first, self.second, self.folds, self.rows, self.scale = first, second, folds, folds.shape[0], scale
        self.classes = first.shape[0] // max(self.rows, 1)
        if first.shape[0] != second.shape[0] or self.classes * self.rows != <size_t>first.shape[0]:
            raise ValueError("arrays of different lengths")

    def gain(self, codes, Residuals learned=None, learned_codes=None):
        """What the mean residual of each cell, shrunk, gains on the rows of the other folds, in nats. codes: as of `RowCells`.
        learned: of rows that all folds may learn from, with their codes."""
        cdef RowCells cells = RowCells(codes, self.rows), theirs = None
        cdef size_t k
        cdef double found = 0
        cdef double* sums
        cdef double* before
        if learned is not None:
            theirs = RowCells(learned_codes, learned.rows)
            if theirs.count != cells.count or learned.classes != self.classes:
                raise ValueError("other cells")
        sums = <double*>calloc(cells.count * (FOLDS + 1) * 2, sizeof(double))
        if sums == NULL:
            raise MemoryError("no memory to screen pairs")
        before = sums + cells.count * FOLDS * 2
        with nogil:
            for k in range(self.classes):
                self.add_up(k, cells, FOLDS, sums)
                if learned is not None:
                    learned.add_up(k, theirs, 1, before)
                found += gain_of_class(sums, before, cells.count)
        free(sums)
        return found * self.scale

    cdef void add_up(self, size_t k, RowCells cells, size_t folds, double* sums) noexcept nogil:
        """The sums of both derivatives of a class, by cells, and in these by folds. folds: 1 for none."""
        cdef size_t i, cell
        cdef double* at
        cdef const uint8_t* a = &cells.a[0]
        cdef const uint8_t* b = &cells.b[0]
        cdef const uint8_t* c = &cells.c[0] if cells.c is not None else NULL
        memset(sums, 0, cells.count * folds * 2 * sizeof(double))
        for i in range(self.rows):
            cell = a[i] * cells.width_b + b[i]
            if c != NULL:
                cell = cell * cells.width_c + c[i]
            at = sums + 2 * (cell * folds + (self.folds[i] if folds > 1 else 0))
            at[0] += self.first[i * self.classes + k]
            at[1] += self.second[i * self.classes + k]


cdef double gain_of_class(const double* sums, const double* before, size_t cells) noexcept nogil:
    """sums: of a cell those of each fold. before: those that all folds know."""
    cdef size_t cell, f
    cdef const double* at
    cdef double first, second, step, found = 0
    for cell in range(cells):
        at = sums + 2 * cell * FOLDS
        first = at[0] + at[2] + at[4] + at[6] + before[2 * cell]
        second = at[1] + at[3] + at[5] + at[7] + before[2 * cell + 1]
        if second == 0:
            continue
        for f in range(FOLDS):
            step = (first - at[2 * f]) / (second - at[2 * f + 1] + SHRINKAGE)
            found += step * at[2 * f] - step * step * at[2 * f + 1] / 2
    return found
