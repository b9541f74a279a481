"""The grammar of delimited text (RFC 4180): splits a record into cells.

    cell , cell , "cell with , and "" and line ends"

A record ends with LF, CR LF or the text, outside of quotes. A quote starts a cell or does not occur in it; quotes in
quotes are doubled; the closing quote is followed by the delimiter or the end. RFC 4180 has no blanks around quotes; here
they may be there, as blanks at the ends of a cell do not count. If quotes are ordinary characters, there are only
delimiters and line ends. After an escape character, which RFC 4180 does not have, a quote, a delimiter and a line end are
ordinary, and so is another escape character.
An invalid record ends at its next line end; one whose quote is never closed ends at the end of its
first line, so that a caller that continues loses no more than that.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr

from vwlite.core.base.simd cimport unlikely
from vwlite.core.text.tokens cimport TokenError, error_at

cdef extern from *:
    """
    static inline uint64_t vwlite_csv64_portable(const char *p, char delimiter, char mark, uint64_t *high) {
        uint64_t found = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t w = vwlite_load64(p + 8 * i);
            uint64_t marks = vwlite_zeros(w ^ VWLITE_EACH(mark)) | vwlite_zeros(w ^ VWLITE_EACH('\\n'))
                | vwlite_zeros(w ^ VWLITE_EACH(delimiter));
            found |= (((marks >> 7) * 0x0102040810204080u) >> 56) << (8 * i);
            *high |= w & VWLITE_EACH(0x80);
        }
        return found;
    }

    #ifdef VWLITE_SSE2
    static inline uint64_t vwlite_csv64(const char *p, char delimiter, char mark, uint64_t *high) {
        const __m128i quote = _mm_set1_epi8(mark), feed = _mm_set1_epi8('\\n'), comma = _mm_set1_epi8(delimiter);
        uint64_t found = 0;
        for (int i = 0; i < 4; i++) {
            __m128i w = _mm_loadu_si128((const __m128i *)(p + 16 * i));
            __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(w, quote),
                _mm_or_si128(_mm_cmpeq_epi8(w, feed), _mm_cmpeq_epi8(w, comma)));
            found |= (uint64_t)(uint32_t)_mm_movemask_epi8(marks) << (16 * i);
            *high |= (uint32_t)_mm_movemask_epi8(w);
        }
        return found;
    }
    #else
    #define vwlite_csv64 vwlite_csv64_portable
    #endif

    /* The quotes, line ends and delimiters in [begin, end), as distances from base, while there is space for 66. mark: the
          quote, or the line end if quotes are ordinary. Returns the number, and where it stopped. high: not zero if a byte is not ASCII. */
    static size_t vwlite_find_csv_delimiters(const char *base, const char *begin, const char *end, char delimiter, char mark,
            uint32_t *positions, size_t capacity, const char **reached, uint64_t *high) {
        size_t count = 0;
        while (begin < end && count + 66 <= capacity) {
            uint64_t bits = vwlite_csv64(begin, delimiter, mark, high);
            count += vwlite_write_positions(bits, end - begin, (uint32_t)(begin - base), positions + count);
            begin += 64;
        }
        *reached = begin < end ? begin : end;
        return count;
    }
    """
    size_t find_csv_delimiters "vwlite_find_csv_delimiters"(
        const char* base, const char* begin, const char* end, char delimiter, char mark, uint32_t* positions,
        size_t capacity, const char** reached, uint64_t* high) noexcept nogil
    # Bit i: p[i] is a quote, a line end or the delimiter, for i from 0 to 63. high: as above.
    uint64_t csv_window "vwlite_csv64"(const char* p, char delimiter, char mark, uint64_t* high) noexcept nogil
    uint64_t csv_window_portable "vwlite_csv64_portable"(const char* p, char delimiter, char mark, uint64_t* high) noexcept nogil


# Error codes of a record of a table, in addition to those of tokens.pxd; the names are TABLE_CODES in tables.pyx.
cdef enum TableCode:
    RAGGED = 100
    QUOTE_INSIDE
    QUOTE_TEXT
    QUOTE_OPEN
    ESCAPE_OPEN
    NOT_UTF8
    CELL
    CELL_LARGE
    CELL_TIME
    LABEL_CONTROL
    SECOND_LABEL
    LATE_LABEL
    HEADER_AGAIN


# [begin, end) of the text, without the quotes around it. doubled: quotes in it are doubled, or there are escapes.
cdef struct Cell:
    const char* begin
    const char* end
    bint quoted, doubled


cdef struct Record:
    const char* end       # its LF
    size_t cells          # may be more than are stored, if the array was too small
    size_t breaks         # line ends in its cells


cdef enum ScanResult:
    COMPLETE
    CUT                   # the known delimiters do not reach its end
    BAD


# How delimited text is written. quoted: quotes are not ordinary characters. escape: 0: there is none.
cdef struct Dialect:
    char delimiter, escape
    bint quoted


cdef inline char mark_of(const Dialect* d) noexcept nogil:
    """The `mark` of find_csv_delimiters."""
    return c'"' if d.quoted else c'\n'


cdef inline bint is_between(char c, const Dialect* d) noexcept nogil:
    """Whether this is a blank between a quote and the end of its cell."""
    return (c == c' ' or c == c'\t') and c != d.delimiter


cdef inline bint is_escaped(const char* p, const char* begin, const Dialect* d) noexcept nogil:
    """Whether the number of escape characters before p, in a cell that begins at `begin`, is odd."""
    cdef const char* q = p
    while q > begin and (q - 1)[0] == d.escape:
        q -= 1
    return (p - q) & 1


cdef inline size_t write_cell(char* to, const char* p, const char* end, const Dialect* d) noexcept nogil:
    """Write a cell with one quote for two and without its escapes, in at most as many bytes; returns how many."""
    cdef char* begin = to
    while p < end:
        if d.escape and p[0] == d.escape and p + 1 < end and (
                p[1] == d.escape or p[1] == c'"' or p[1] == d.delimiter or p[1] == c'\n'):
            p += 1
            to[0] = p[0]
        else:
            to[0] = p[0]
            p += p[0] == c'"' and d.quoted
        p += 1
        to += 1
    return to - begin


cdef inline ScanResult csv_record(const char* base, const char* p, const Dialect* d, const uint32_t** position,
                               const uint32_t* last, Cell* cells, size_t capacity, Record* record,
                               TokenError* error) noexcept nogil:
    """The record at p. position: in the positions of delimiters, from p on, up to `last`; is set after the record's."""
    cdef const uint32_t* m = position[0]
    cdef const char* q
    cdef const char* end
    cdef size_t n = 0, breaks = 0
    cdef Cell cell
    while True:
        if m >= last:
            return CUT
        q = base + m[0]
        cell.begin, cell.quoted, cell.doubled = p, False, False
        if unlikely(d.escape):
            while is_escaped(q, p, d):
                error_at(error, ESCAPE_OPEN, q - 1, q)
                breaks += q[0] == c'\n'
                m += 1
                if m >= last:
                    return CUT
                q = base + m[0]
        if q[0] == c'"':
            while p < q and is_between(p[0], d):
                p += 1
            if q != p:
                error_at(error, QUOTE_INSIDE, q, q + 1)
                return BAD
            cell.begin, cell.quoted = p + 1, True
            while True:
                m += 1
                if m >= last:
                    error_at(error, QUOTE_OPEN, p, p + 1)
                    return CUT
                q = base + m[0]
                if q[0] != c'"':
                    breaks += q[0] == c'\n'
                    continue
                if unlikely(d.escape) and is_escaped(q, cell.begin, d):
                    continue
                if q[1] != c'"':
                    break
                cell.doubled = True
                m += 1
                if m >= last:
                    error_at(error, QUOTE_OPEN, p, p + 1)
                    return CUT
            cell.end = q
            q += 1
            while unlikely(is_between(q[0], d)):
                q += 1
            if q[0] == c'\r' and q[1] == c'\n':
                q += 1
            m += 1
            if m >= last:
                error_at(error, QUOTE_OPEN, p, p + 1)
                return CUT
            if q != base + m[0]:
                error_at(error, QUOTE_TEXT, q, q + 1)
                return BAD
        else:
            end = q
            if q[0] == c'\n' and q > p and (q - 1)[0] == c'\r':
                end -= 1
            cell.end = end
        if unlikely(d.escape) and memchr(cell.begin, d.escape, cell.end - cell.begin) != NULL:
            cell.doubled = True
        m += 1
        if n < capacity:
            cells[n] = cell
        n += 1
        if q[0] == c'\n':
            break
        p = q + 1
    position[0], record.end, record.cells, record.breaks = m, q, n, breaks
    return COMPLETE
