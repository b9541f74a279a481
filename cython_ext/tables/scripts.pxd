"""Letters of scripts that have no blanks between words."""

from libc.stdint cimport uint32_t

cdef extern from *:
    """
    /* The first and the last character of each range, without digits; marks and signs within do not matter. */
    typedef struct { uint32_t first, last; } vwlite_script_range;
    static const vwlite_script_range vwlite_unspaced[] = {
        {0x0E01, 0x0E3A}, {0x0E40, 0x0E4E},  /* Thai */
        {0x0E81, 0x0EC6}, {0x0EDC, 0x0EDF},  /* Lao */
        {0x1000, 0x103F}, {0x1050, 0x108F}, {0x109A, 0x109F},  /* Myanmar */
        {0x1780, 0x17DD},  /* Khmer */
        {0x3005, 0x3007},  /* signs of repetition and zero of Han */
        {0x3040, 0x30FF}, {0x31F0, 0x31FF},  /* Hiragana and Katakana */
        {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},  /* Han */
        {0xA9E0, 0xA9EF}, {0xA9FA, 0xA9FE}, {0xAA60, 0xAA7F},  /* Myanmar */
        {0xF900, 0xFAFF}, {0xFF66, 0xFF9F},  /* Han; Katakana of half width */
        {0x1AFF0, 0x1B16F},  /* Hiragana and Katakana */
        {0x20000, 0x3FFFF},  /* Han: the planes of ideographs */
    };
    enum { VWLITE_UNSPACED = sizeof(vwlite_unspaced) / sizeof(vwlite_unspaced[0]) };

    static inline int vwlite_is_unspaced(uint32_t c) {
        for (size_t i = 0; i < VWLITE_UNSPACED && c >= vwlite_unspaced[i].first; i++) {
            if (c <= vwlite_unspaced[i].last) {
                return 1;
            }
        }
        return 0;
    }
    """
    struct ScriptRange "vwlite_script_range":
        uint32_t first, last
    const ScriptRange[1] UNSPACED "vwlite_unspaced"
    size_t UNSPACED_COUNT "VWLITE_UNSPACED"
    bint is_unspaced "vwlite_is_unspaced"(uint32_t c) noexcept nogil  # of a letter
