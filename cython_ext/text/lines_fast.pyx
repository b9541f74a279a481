"""Many features at a time: from their text to hashes and values.

To hash one name, or to read one number, takes a chain of dependent operations. So the parser only finds the
positions of names and values, and copies their first 16 bytes into columns. Each step is then done for hundreds
of features in one loop without branches and lookups, which compilers turn into vector instructions. Names of 16
bytes or more, and values in other forms than those below, do not fit into the columns: numbers.pyx and murmur.pxd
handle them one by one. The results have the same bits either way.

Values that are read here: [-] digit . 1 to 8 digits, and [-] 1 to 8 digits. Both are an integer
below 2^53 divided by 1 or 10^8, which IEEE division rounds correctly.
"""

from libc.math cimport isfinite

from vwlite.core.base.murmur cimport finish, hash_strings, mix, murmur, scramble
from vwlite.core.base.simd cimport PADDING, are_digits, decimal, delimiters, digits_of, lowest, unlikely
from vwlite.core.base.targets cimport *
from vwlite.core.text.numbers cimport Float, read_float

cdef extern from *:
    """
    static inline void vwlite_hash_names_body(size_t n, const uint64_t *restrict head, const uint64_t *restrict more,
            const uint32_t *restrict length, const uint32_t *restrict seed, uint32_t *restrict hash) {
        for (size_t i = 0; i < n; i++) {
            uint32_t a = (uint32_t)head[i], b = (uint32_t)(head[i] >> 32);
            uint32_t c = (uint32_t)more[i], d = (uint32_t)(more[i] >> 32);
            uint32_t blocks = length[i] >> 2, h = seed[i], last;
            uint32_t h1 = vwlite_mix(h, a), h2 = vwlite_mix(h1, b), h3 = vwlite_mix(h2, c);
            h = blocks == 0 ? h : blocks == 1 ? h1 : blocks == 2 ? h2 : h3;
            last = blocks == 0 ? a : blocks == 1 ? b : blocks == 2 ? c : d;
            last &= ((uint32_t)1 << (8 * (length[i] & 3))) - 1;
            hash[i] = vwlite_finish(h ^ vwlite_scramble(last), length[i]);
        }
    }

    /* Whether a name begins with a digit. */
    VWLITE_CLONES static int vwlite_any_digit(size_t n, const uint64_t *head) {
        uint64_t found = 0;
        for (size_t i = 0; i < n; i++) {
            found |= (head[i] & 0xFF) - '0' <= 9;
        }
        return found != 0;
    }

    /* Names that are 1 to 8 digits are hashed to their number. */
    static inline void vwlite_number_names_body(size_t n, const uint64_t *restrict head,
            const uint32_t *restrict length, const uint32_t *restrict seed, uint32_t *restrict hash) {
        for (size_t i = 0; i < n; i++) {
            uint64_t digits = vwlite_digits_of(head[i]) << (-8 * (uint64_t)length[i] & 56);
            uint32_t number = (uint32_t)vwlite_decimal(digits) + seed[i];
            hash[i] = (length[i] <= 8) & vwlite_are_digits(digits) ? number : hash[i];
        }
    }

    /* mask: all ones or all zeros. */
    static inline uint64_t vwlite_choose(uint64_t mask, uint64_t yes, uint64_t no) {
        return no ^ ((no ^ yes) & mask);
    }

    /* Replaces text[i] by 0 if value[i] is right and not zero, by something else if not; and returns
       whether that happened. Written without conditions and in 64 bits, so that compilers vectorize it. */
    static inline uint64_t vwlite_read_values_body(size_t n, uint64_t *restrict text, const uint64_t *restrict more,
            const uint32_t *restrict length, float *restrict value) {
        uint64_t others = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t w = text[i], v = more[i], left = length[i], shift, digits, first, bad;
            uint64_t absent = -(uint64_t)(left == 0), negative = -(uint64_t)((w & 0xFF) == '-'), point;
            double x;
            w = vwlite_choose(negative, w >> 8 | v << 56, w);
            v = vwlite_choose(negative, v >> 8, v);
            left += negative;
            point = -(uint64_t)((w >> 8 & 0xFF) == '.');
            first = ((w & 0xFF) ^ '0') & point;
            w = vwlite_choose(point, w >> 16 | v << 48, w);
            left += 2 * point;
            /* Pad with zeros: before the digits, or after them if they follow a point. */
            shift = -8 * left & 56;
            digits = vwlite_digits_of(w) << shift;
            digits = vwlite_choose(point, digits >> shift, digits);
            bad = ((digits + VWLITE_EACH(0x76)) | digits) & VWLITE_EACH(0x80);
            bad |= first > 9;
            bad |= left - 1 > 7;
            x = (double)(int32_t)(uint32_t)(first * 100000000u + vwlite_decimal(digits)) / (point ? 1e8 : 1.0);
            x = negative ? -x : x;
            x = absent ? 1.0 : x;
            bad |= x == 0;
            bad &= ~absent;
            value[i] = (float)x;
            text[i] = bad;
            others |= bad;
        }
        return others;
    }

    VWLITE_CLONES static void vwlite_hash_names(size_t n, const uint64_t *head, const uint64_t *more,
            const uint32_t *length, const uint32_t *seed, uint32_t *hash) {
        vwlite_hash_names_body(n, head, more, length, seed, hash);
    }

    VWLITE_CLONES static void vwlite_number_names(size_t n, const uint64_t *head, const uint32_t *length,
            const uint32_t *seed, uint32_t *hash) {
        vwlite_number_names_body(n, head, length, seed, hash);
    }

    VWLITE_CLONES static uint64_t vwlite_read_values(size_t n, uint64_t *text, const uint64_t *more,
            const uint32_t *length, float *value) {
        return vwlite_read_values_body(n, text, more, length, value);
    }

    VWLITE_CLONES static size_t vwlite_find_delimiters_portable(const char *base, const char *begin, const char *end,
            uint32_t *positions, size_t capacity, const char **reached) {
        size_t count = 0;
        while (begin < end && count + 66 <= capacity) {
            uint64_t bits = vwlite_delimiters(begin, '|') | (uint64_t)vwlite_delimiters(begin + 32, '|') << 32;
            count += vwlite_write_positions(bits, end - begin, (uint32_t)(begin - base), positions + count);
            begin += 64;
        }
        *reached = begin < end ? begin : end;
        return count;
    }

    #if defined(__x86_64__) && defined(__GNUC__) && !defined(VWLITE_PORTABLE)
    #include <immintrin.h>

    /* The same with AVX-512, which has an instruction that picks the marked ones among 16 numbers. */
    __attribute__((target("avx512f,avx512bw,popcnt")))
    static size_t vwlite_find_delimiters_512(const char *base, const char *begin, const char *end,
            uint32_t *positions, size_t capacity, const char **reached) {
        const __m512i blank = _mm512_set1_epi8(0x20), colon = _mm512_set1_epi8(':'), bar = _mm512_set1_epi8('|');
        const __m512i sixteen = _mm512_set1_epi32(16);
        const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        size_t count = 0;
        while (begin < end && count + 80 <= capacity) {
            __m512i text = _mm512_loadu_si512(begin);
            __m512i at = _mm512_add_epi32(places, _mm512_set1_epi32((int)(begin - base)));
            uint64_t bits = _mm512_cmple_epu8_mask(text, blank) | _mm512_cmpeq_epi8_mask(text, colon)
                | _mm512_cmpeq_epi8_mask(text, bar);
            size_t left = end - begin;
            bits = left < 64 ? bits & (((uint64_t)1 << left) - 1) : bits;
            for (int i = 0; i < 4; i++) {
                _mm512_storeu_si512(positions + count, _mm512_maskz_compress_epi32((__mmask16)bits, at));
                count += _mm_popcnt_u32((uint16_t)bits);
                at = _mm512_add_epi32(at, sixteen);
                bits >>= 16;
            }
            begin += 64;
        }
        *reached = begin < end ? begin : end;
        return count;
    }

    static size_t vwlite_find_delimiters(const char *base, const char *begin, const char *end,
            uint32_t *positions, size_t capacity, const char **reached) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
            return vwlite_find_delimiters_512(base, begin, end, positions, capacity, reached);
        }
        return vwlite_find_delimiters_portable(base, begin, end, positions, capacity, reached);
    }
    #else
    #define vwlite_find_delimiters vwlite_find_delimiters_portable
    #endif
    """
    void hash_names "vwlite_hash_names"(size_t n, const uint64_t* head, const uint64_t* more, const uint32_t* length,
                                        const uint32_t* seed, uint32_t* hash) noexcept nogil
    bint any_digit "vwlite_any_digit"(size_t n, const uint64_t* head) noexcept nogil
    void number_names "vwlite_number_names"(size_t n, const uint64_t* head, const uint32_t* length,
                                            const uint32_t* seed, uint32_t* hash) noexcept nogil
    uint64_t read_values "vwlite_read_values"(size_t n, uint64_t* text, const uint64_t* more, const uint32_t* length,
                                              float* value) noexcept nogil
    size_t find_for_processor "vwlite_find_delimiters"(
        const char* base, const char* begin, const char* end, uint32_t* positions, size_t capacity,
        const char** reached) noexcept nogil


cdef size_t find_delimiters(const char* base, const char* begin, const char* end, uint32_t* positions, size_t capacity,
                       const char** reached) noexcept nogil:
    """The delimiters in [begin, end), as distances from base, while there is space for 80. Returns their
    number, and where it stopped. PADDING bytes after the end are readable."""
    return find_for_processor(base, begin, end, positions, capacity, reached)


cdef long compute(FeatureColumns* c, bint strings, uint32_t* hash, float* value) noexcept nogil:
    """The hashes and values of all features. Returns the number of zero values, or NOT_PLAIN if a
    value is invalid or too large."""
    cdef size_t i, k
    cdef const char* begin
    cdef Float number
    cdef long zeros = 0
    hash_names(c.size, c.head, c.more, c.length, c.seed, hash)
    if strings and any_digit(c.size, c.head):
        number_names(c.size, c.head, c.length, c.seed, hash)
    for k in range(c.slow_count):
        i = c.slow[k]
        if strings:
            hash[i] = hash_strings(c.name[i], c.length[i], c.seed[i])
        else:
            hash[i] = murmur(c.name[i], c.length[i], c.seed[i])
    if read_values(c.size, c.value, c.value_more, c.value_length, value):
        for i in range(c.size):
            if unlikely(c.value[i]):
                begin = c.name[i] + c.length[i] + 1
                number = read_float(begin, begin + c.value_length[i])
                if number.end != begin + c.value_length[i] or not isfinite(number.value):
                    return NOT_PLAIN
                value[i] = number.value
                zeros += number.value == 0
    return zeros


# --- for tests -----------------------------------------------------------------------------------

cdef extern from *:
    size_t find_portable "vwlite_find_delimiters_portable"(
        const char* base, const char* begin, const char* end, uint32_t* positions, size_t capacity,
        const char** reached) noexcept nogil
    void hash_names_portable "vwlite_hash_names_body"(
        size_t n, const uint64_t* head, const uint64_t* more, const uint32_t* length, const uint32_t* seed,
        uint32_t* hash) noexcept nogil
    void number_names_portable "vwlite_number_names_body"(
        size_t n, const uint64_t* head, const uint32_t* length, const uint32_t* seed, uint32_t* hash) noexcept nogil
    uint64_t read_values_portable "vwlite_read_values_body"(
        size_t n, uint64_t* text, const uint64_t* more, const uint32_t* length, float* value) noexcept nogil


def delimiters_of(bytes text, bint portable=False):
    """The delimiters of a text, up to the capacity of the array."""
    cdef bytes padded = text + bytes(PADDING)
    cdef const char* p = padded
    cdef const char* reached = NULL
    cdef uint32_t positions[MOST_DELIMITERS]
    cdef size_t n
    if portable:
        n = find_portable(p, p, p + len(text), positions, MOST_DELIMITERS, &reached)
    else:
        n = find_for_processor(p, p, p + len(text), positions, MOST_DELIMITERS, &reached)
    return [positions[i] for i in range(n)], reached - p


def hashes_of(const uint64_t[::1] head, const uint64_t[::1] more, const uint32_t[::1] length,
              const uint32_t[::1] seed, uint32_t[::1] hash, bint portable):
    """The hashes of names, by the version for this processor or the portable one."""
    cdef size_t n = head.shape[0]
    if portable:
        hash_names_portable(n, &head[0], &more[0], &length[0], &seed[0], &hash[0])
        number_names_portable(n, &head[0], &length[0], &seed[0], &hash[0])
    else:
        hash_names(n, &head[0], &more[0], &length[0], &seed[0], &hash[0])
        number_names(n, &head[0], &length[0], &seed[0], &hash[0])


def values_of(uint64_t[::1] head, const uint64_t[::1] more, const uint32_t[::1] length, float[::1] value,
              bint portable):
    """The values of texts. `head` is set to 0 where the text could be read."""
    cdef size_t n = head.shape[0]
    if portable:
        return read_values_portable(n, &head[0], &more[0], &length[0], &value[0]) != 0
    return read_values(n, &head[0], &more[0], &length[0], &value[0]) != 0
