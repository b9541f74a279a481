"""Makes the table of characters: `python cython_ext/generate/marks.py > cython_ext/tables/marks.pxd`."""

import unicodedata

IS_MARK, MAY_CHANGE = 256, 512
SURROGATES = range(0xD800, 0xE000)
HANGUL = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))  # vowels and finals, which are composed by a formula
LINE = 116

HEAD = '''"""Marks of Unicode, and what normalization may change: made by

    python cython_ext/generate/marks.py > cython_ext/tables/marks.pxd

One version of Unicode is used, so that the words of a text are the same with every Python.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint16_t, uint32_t

cdef extern from *:
    """
    /* Unicode {}: the first character, how many follow it, and of each: the canonical combining class, 256 for a mark
       (the categories Mn, Mc, Me), 512 if NFC may change it (NFC_Quick_Check is not Yes). */
    typedef struct {{ uint32_t first; uint16_t more, kind; }} vwlite_mark_range;
    static const vwlite_mark_range vwlite_marks[] = {{
'''
TAIL = '''    };
    enum { VWLITE_MARKS = sizeof(vwlite_marks) / sizeof(vwlite_marks[0]) };
    """
    struct MarkRange "vwlite_mark_range":
        uint32_t first
        uint16_t more, kind
    const MarkRange[1] MARKS "vwlite_marks"
    size_t MARK_COUNT "VWLITE_MARKS"

cdef enum:
    CLASS_BITS = 255        # the canonical combining class
    IS_MARK = 256
    MAY_CHANGE = 512
'''


def composed_with_before() -> set[int]:
    """The characters that NFC may compose with one before them: NFC_Quick_Check is Maybe."""
    found = set(HANGUL)
    for c in range(0x110000):
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            text = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", text) == chr(c):
                found.add(int(parts[1], 16))
    return found


def ranges() -> list[tuple[int, int, int]]:
    """The first and the last character of each range, and its kind."""
    maybe = composed_with_before()
    found: list[tuple[int, int, int]] = []
    for c in range(0x110000):
        if c in SURROGATES:
            continue
        text = chr(c)
        kind = unicodedata.combining(text)
        kind |= IS_MARK * unicodedata.category(text).startswith("M")
        kind |= MAY_CHANGE * (c in maybe or unicodedata.normalize("NFC", text) != text)
        if kind and found and found[-1][1:] == (c - 1, kind):
            found[-1] = (found[-1][0], c, kind)
        elif kind:
            found.append((c, c, kind))
    return found


def source() -> str:
    """The text of the file."""
    lines = [""]
    for first, last, kind in ranges():
        word = f"{{0x{first:X}, {last - first}, {kind}}}, "
        if len(lines[-1]) + len(word) > LINE:
            lines.append("")
        lines[-1] += word
    rows = "".join(f"        {line.rstrip()}\n" for line in lines)
    return HEAD.format(unicodedata.unidata_version) + rows + TAIL


if __name__ == "__main__":
    print(source(), end="")
