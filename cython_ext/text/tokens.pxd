"""The common part of the grammars in vw.pxd and libsvm.pxd: words, names, labels, and error codes.

Every line here ends with LF, and bytes after it are readable: no function checks for the end of the text. A function
that parses a line, or the words before its first bar, adds it to the batch and returns where it stopped; or NULL, with
the error set. Then the batch's arrays may contain a part of the line after their counts, and the counts of spans and
features may be too high: the caller resets them.
"""

from libc.math cimport NAN, isfinite
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr

from vwlite.core.base.elementary cimport log1p
from vwlite.core.base.escapes cimport unescape
from vwlite.core.base.murmur cimport finish, hash_strings, mix, murmur, scramble
from vwlite.core.base.simd cimport (
    are_digits, decimal, digits_of, first_bytes, last_of, likely, load64, lowest, unlikely,
)
from vwlite.core.data.batch cimport Batch, unfit
from vwlite.core.data.class_names cimport ClassNames
from vwlite.core.text.numbers cimport Double, read_double, whole_size

cdef extern from *:
    """
    enum { VWLITE_NAME = 1, VWLITE_WORD = 2, VWLITE_PAIR = 4 };
    static const uint8_t vwlite_ends[256] = {
        [' '] = 7, ['\\t'] = 7, ['\\r'] = 7, ['\\n'] = 7, [':'] = 1, ['|'] = 3, ['#'] = 4};
    """
    enum:
        ENDS_NAME "VWLITE_NAME"   # blank, ':', '|', end of line
        ENDS_WORD "VWLITE_WORD"   # blank, '|', end of line
        ENDS_PAIR "VWLITE_PAIR"   # blank, '#', end of line: what ends index:value in libsvm
    const uint8_t ENDS "vwlite_ends"[256]
    const uint64_t LARGEST_INDEX "(uint64_t)0xFFFFFFFF"

cdef enum Domain:
    ANY = 0
    BINARY = 1       # -1 or 1
    NONNEGATIVE = 2
    TERNARY = 3      # -1, 0 or 1
    POSITIVE = 4
    LOG1P = 5        # above -1, and becomes log(1 + y)


# Settings of a parser, in the form for the inner loops.
cdef struct TokenSettings:
    bint strings           # names of digits only are numbers, not hashed
    uint32_t seed          # hashes the names of namespaces
    uint32_t unnamed       # the hash of a namespace without a name
    Domain domain          # of labels
    bint mapped            # labels are `negative` or `positive`, or the words of `names`, and become -1 or 1
    double negative
    double positive
    void* names            # ClassNames: labels are classes, and become their numbers, or are two words; NULL: numbers
    bint or_numbers        # labels are names or numbers: all of them like the first one
    void* unfit            # ClassNames: labels outside of the domain, which count as missing; NULL: they are errors
    bint stop              # at the first bad line
    bint labels_in_tags    # the words before the first bar are kept with the tag, and none is read
    bint spaces            # store the hashes of namespaces
    bint zeros             # features of value 0 are kept, as others are derived from them
    bint vw_compatible_only  # lines that Vowpal Wabbit parses differently are errors
    bint unescapes         # names and labels have the escapes of escapes.pxd: text of a table, for a model of one


# Error codes of a line; the names are CODES in parser.pyx.
cdef enum Code:
    OUT_OF_MEMORY
    NO_BAR
    CARRIAGE_RETURN
    EXTRA_WORD
    LABEL
    LABEL_LARGE
    LABEL_DOMAIN
    LABEL_MAPPING
    IMPORTANCE
    IMPORTANCE_LARGE
    IMPORTANCE_NEGATIVE
    INITIAL
    INITIAL_LARGE
    NAMESPACE_NAME
    SCALE
    SCALE_LARGE
    VALUE
    VALUE_LARGE
    VALUE_SCALED
    PAIR
    QUERY
    INDEX
    INDEX_SMALL
    INDEX_LARGE
    INDEX_REPEATED
    INDEX_ORDER
    CLASS_NUMBER
    CLASS_UNKNOWN
    CLASS_EXTRA
    CLASS_THIRD
    CLASS_OR_NUMBER
    VW_INCOMPATIBLE


# A parse error and its position in the text.
cdef struct TokenError:
    uint32_t code
    const char* begin
    const char* end


cdef struct NameToken:
    const char* end
    uint32_t hash
    uint32_t rest       # the delimiters of its window that come after its end


cdef inline const char* find(const char* p, uint8_t ends) noexcept nogil:
    """The next byte of that class; LF is in all of them."""
    while not ENDS[<uint8_t>p[0]] & ends:
        p += 1
    return p


cdef inline uint32_t name_length(const char* p, const char* end) noexcept nogil:
    """The length of the name at p, which ends as in the parser, or with the text."""
    cdef const char* q = p
    while q < end and not ENDS[<uint8_t>q[0]] & ENDS_NAME:
        q += 1
    return <uint32_t>(q - p)


cdef inline const char* space_before(const char* text, const char* name) noexcept nogil:
    """The namespace of a feature: behind the bar that precedes it."""
    while name > text and (name - 1)[0] != c'|':
        name -= 1
    return name


cdef inline uint32_t hash_of(const TokenSettings* s, const char* p, size_t n, uint32_t seed) noexcept nogil:
    """The hash of a name in a namespace of that hash."""
    return hash_strings(p, n, seed) if s.strings else murmur(p, n, seed)


cdef inline const char* skip_blanks(const char* p) noexcept nogil:
    while p[0] == c' ' or p[0] == c'\t':
        p += 1
    return p


cdef inline const char* line_feed(const char* p) noexcept nogil:
    """The LF of this line."""
    while p[0] != c'\n':
        p += 1
    return p


cdef inline const char* line_end(const char* p) noexcept nogil:
    """The LF of this line if p is at its LF or CR LF; else NULL."""
    if p[0] == c'\n':
        return p
    if p[0] == c'\r' and p[1] == c'\n':
        return p + 1
    return NULL


cdef inline const char* error_at(TokenError* error, uint32_t code, const char* begin, const char* end) noexcept nogil:
    error.code, error.begin, error.end = code, begin, end
    return NULL


cdef inline const char* no_line_end(TokenError* error, const char* p) noexcept nogil:
    """p is at a CR which does not end the line."""
    return error_at(error, CARRIAGE_RETURN, p, p + 1)


cdef inline NameToken any_name(const char* p, uint32_t seed, bint strings) noexcept nogil:
    """`name_at` for every name."""
    cdef NameToken name
    name.end, name.rest = find(p, ENDS_NAME), 0
    if strings:
        name.hash = hash_strings(p, name.end - p, seed)
    else:
        name.hash = murmur(p, name.end - p, seed)
    return name


cdef inline NameToken name_at(const char* p, uint32_t window, uint32_t seed, bint strings) noexcept nogil:
    """The name at p and its hash. `window`: the delimiters from p on; p itself is not a delimiter.

    The fast path is for names up to 31 bytes without control bytes, and for numbers up to 7.
    """
    cdef NameToken name
    cdef const char* q = p
    cdef uint32_t h = seed, last, full
    cdef uint64_t word
    cdef size_t n
    if unlikely(window == 0):
        return any_name(p, seed, strings)
    n = lowest(window)
    name.end, name.rest = p + n, window & (window - 1)
    if unlikely(p[n] != c':' and not ENDS[<uint8_t>p[n]] & ENDS_NAME):
        return any_name(p, seed, strings)
    if unlikely(<uint8_t>(p[0] - c'0') <= 9 and strings):
        word = last_of(digits_of(load64(p)), n & 7)
        if n <= 7 and are_digits(word):
            name.hash = <uint32_t>decimal(word) + seed
        else:
            name.hash = hash_strings(p, n, seed)
        return name
    while unlikely(name.end - q >= 8):
        word = load64(q)
        h = mix(mix(h, <uint32_t>word), <uint32_t>(word >> 32))
        q += 8
    # 0 to 7 bytes are left. Whether 4 of them are a block is a coin toss: no branch, and none that
    # the compiler could make of it.
    word = first_bytes(load64(q), n & 7)
    full = (n >> 2) & 1
    h ^= (h ^ mix(h, <uint32_t>word)) & (0 - full)
    last = <uint32_t>(word >> (32 * full))
    name.hash = finish(h ^ scramble(last), n)
    return name


cdef inline const char* value_end(const char* p, const char* window, uint32_t rest, uint8_t ends) noexcept nogil:
    """Where the value at p ends. `rest`: the delimiters in the window that come after p."""
    cdef const char* end
    if likely(rest != 0):
        end = window + lowest(rest)
        if likely(ENDS[<uint8_t>end[0]] & ends):
            return end
    return find(p, ends)


cdef inline bint take_unfit(const TokenSettings* s, const char* p, const char* end, uint32_t code, double* label,
                            TokenError* error) noexcept nogil:
    """The label [p, end) cannot be used: an error with that code, or it is recorded and treated as missing."""
    cdef uint32_t found = 0
    if s.unfit == NULL:
        error_at(error, code, p, end)
        return False
    if (<ClassNames>s.unfit).take(p, end - p, &found):
        error_at(error, OUT_OF_MEMORY, p, end)
        return False
    label[0] = unfit()
    return True


cdef inline bint take_class(const TokenSettings* s, const char* p, const char* end, double* label, TokenError* error) noexcept nogil:
    """The number of the class that the label [p, end) names, or false."""
    cdef Double number
    cdef uint32_t found = 0
    cdef uint32_t code
    cdef char* copy = NULL
    cdef const char* name = p
    cdef size_t size = end - p
    cdef bint failed = False
    if (<ClassNames>s.names).numbers:
        code = CLASS_NUMBER
        number = read_double(p)
        if number.end == end and 1 <= number.value <= (<ClassNames>s.names).limit and number.value == <uint32_t>number.value:
            found = <uint32_t>number.value
    else:
        code = LABEL_MAPPING if s.mapped else CLASS_EXTRA if (<ClassNames>s.names).grows else CLASS_UNKNOWN
        if s.or_numbers:
            code = CLASS_THIRD
        if unlikely(s.unescapes and memchr(p, c'%', end - p) != NULL):
            name = copy = <char*>malloc(size)
            failed = copy == NULL
            size = 0 if failed else unescape(copy, p, size)
        if not failed:
            found = (<ClassNames>s.names).find(name, size)
            # 2.0 is the class 2, unless there is one that is called 2.0.
            failed = found == 0 and (<ClassNames>s.names).take(name, whole_size(name, size), &found) != 0
        free(copy)
        if failed:
            error_at(error, OUT_OF_MEMORY, p, end)
            return False
    if found == 0:
        return take_unfit(s, p, end, code, label, error)
    label[0] = found if not s.mapped else 2 * <double>found - 3
    return True


cdef inline bint take_label(const TokenSettings* s, const char* p, const char* end, double* label,
                            TokenError* error) noexcept nogil:
    """The label [p, end), or false."""
    cdef Double number
    cdef double y
    if unlikely(s.names != NULL and not s.or_numbers):
        return take_class(s, p, end, label, error)
    number = read_double(p)
    y = number.value
    if unlikely(s.or_numbers):
        if (number.end == end and (<ClassNames>s.names).count) or (number.end != end and (<ClassNames>s.names).numbered):
            error_at(error, CLASS_OR_NUMBER, p, end)
            return False
        if number.end != end:
            return take_class(s, p, end, label, error)
        (<ClassNames>s.names).numbered = True
    if number.end != end:
        error_at(error, LABEL, p, end)
        return False
    if not isfinite(y):
        error_at(error, LABEL_LARGE, p, end)
        return False
    if s.mapped:
        if y == s.negative:
            y = -1
        elif y == s.positive:
            y = 1
        else:
            return take_unfit(s, p, end, LABEL_MAPPING, label, error)
    if (s.domain == BINARY and y != 1 and y != -1) or (s.domain == NONNEGATIVE and y < 0) or (
            s.domain == POSITIVE and y <= 0) or (s.domain == LOG1P and y <= -1) or (
            s.domain == TERNARY and y != 0 and y != 1 and y != -1):
        return take_unfit(s, p, end, LABEL_DOMAIN, label, error)
    label[0] = log1p(y) if unlikely(s.domain == LOG1P) else y
    return True


cdef inline int close_span(Batch batch, uint8_t letter, uint32_t space, size_t features) noexcept nogil:
    """Count a span that ends after `features` features of the batch; -1: no memory."""
    batch.a.features = features
    if unlikely(batch.a.spans + 1 >= batch.span_capacity) and batch.reserve(0, 1, 0, 0):
        return -1
    batch.a.letter[batch.a.spans] = letter
    if unlikely(batch.a.space != NULL):
        batch.a.space[batch.a.spans] = space
    batch.a.spans += 1
    batch.a.feature_begin[batch.a.spans] = <uint32_t>features
    return 0


cdef inline const char* close_line(Batch batch, uint8_t kind, const char* end) noexcept nogil:
    """The line is whole: count it in. `end` is its LF."""
    cdef size_t i = batch.a.lines + 1
    batch.a.kind[i - 1] = kind
    batch.a.tag_begin[i] = <uint32_t>batch.a.tag_bytes
    batch.a.span_begin[i] = <uint32_t>batch.a.spans
    batch.a.lines = i
    return end + 1
