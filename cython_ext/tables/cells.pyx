"""The columns of a table, as the readers of tables want them; and the words of texts. See cells.pxd."""

from unicodedata import normalize

from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset, strlen

from vwlite.core.base.decimal cimport write_unsigned
from vwlite.core.base.random cimport mixed
from vwlite.core.base.escapes cimport escape, fits_all, needs_escape
from vwlite.core.base.simd cimport PADDING
from vwlite.core.base.utf8 cimport character, write_character
from vwlite.core.data.derivation cimport OPEN
from vwlite.core.tables.known cimport KnownKeys
from vwlite.core.tables.marks cimport CLASS_BITS, IS_MARK, MARK_COUNT, MARKS, MAY_CHANGE
from vwlite.core.tables.scripts cimport UNSPACED, UNSPACED_COUNT, is_unspaced
from vwlite.core.tables.times cimport WrittenTime, days_from_civil, moment_of_number, read_iso, read_written
from vwlite.core.tables.zones cimport Zone
from vwlite.core.tables.zones import zone_info
from vwlite.core.text.numbers cimport Double, read_double

cdef enum:
    LONGEST_SECONDS = 40        # bytes of a number that is a time
    MARK_PAGES = 96             # pages of 256 characters with marks, and an empty one
    FIRST_MARK = 0x300          # NFC changes no character below, and none is a mark; in UTF-8 it begins with ...
    BEGINS_MARK = 0xCC

cdef uint8_t[0x1100] page_of
cdef uint16_t[MARK_PAGES][256] pages


cdef read_marks():
    """Fill in the table of characters from that of ranges."""
    cdef size_t i
    cdef uint32_t c
    cdef int used = 0
    for i in range(MARK_COUNT):
        for c in range(MARKS[i].first, MARKS[i].first + MARKS[i].more + 1):
            if page_of[c >> 8] == 0:
                used += 1
                if used == MARK_PAGES:
                    raise ImportError("the table of marks has more pages than there is room for")
                page_of[c >> 8] = <uint8_t>used
            pages[page_of[c >> 8]][c & 255] = MARKS[i].kind


read_marks()


cdef inline uint16_t mark_kind(uint32_t c) noexcept nogil:
    """0, or IS_MARK, MAY_CHANGE and the canonical combining class of a character."""
    return pages[page_of[c >> 8]][c & 255]


cdef bint is_normal(const char* p, size_t n) noexcept nogil:
    """Whether NFC surely leaves a text as it is: the quick check of UAX 15. Invalid UTF-8 is left as it is."""
    cdef const char* end = p + n
    cdef uint32_t c = 0
    cdef uint16_t kind, last = 0
    cdef size_t i, size
    cdef bint plain = True
    for i in range(n):
        plain &= <uint8_t>p[i] < BEGINS_MARK
    if plain:
        return True
    while p < end:
        size = character(<const uint8_t*>p, end - p, &c)
        kind = mark_kind(c) if size > 1 else 0
        if kind & MAY_CHANGE or 0 < (kind & CLASS_BITS) < last:
            return False
        last = kind & CLASS_BITS
        p += size if size else 1
    return True


cdef int add_normal_text(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept with gil:
    """The words of a text in NFC."""
    try:
        text = normalize("NFC", p[:n].decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        return add_grams(sink, c, batch, text, len(text))
    except MemoryError:
        return -1


cdef int add_text(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept nogil:
    """The words of a text in lower case, and up to `ngram` in a row with `_` between them: each word, then the
    n-grams that end with it, the shorter ones first. Then n-grams of characters. Invalid UTF-8 separates words."""
    if sink.words == 1 or likely(is_normal(p, n)):
        return add_grams(sink, c, batch, p, n)
    return add_normal_text(sink, c, batch, p, n)


cdef int add_grams(CellSink* sink, const Column* c, Batch batch, const char* p, size_t n) noexcept nogil:
    """`add_text` without normalization."""
    if add_words(sink, c.space, c.unspaced, batch, p, n):
        return -1
    return add_characters(sink, c.space, batch, p, n) if sink.characters else 0


cdef size_t size_of_marks(const char* p, const char* end) noexcept nogil:
    """The bytes of the marks with which a text begins."""
    cdef const char* begin = p
    cdef uint32_t c = 0
    cdef size_t size
    while p < end and <uint8_t>p[0] >= BEGINS_MARK:
        size = character(<const uint8_t*>p, end - p, &c)
        if size == 0 or not mark_kind(c) & IS_MARK:
            break
        p += size
    return p - begin


cdef int add_words(CellSink* sink, uint32_t space, bint unspaced, Batch batch, const char* p, size_t n) noexcept nogil:
    """Those of a text, and n-grams of them. unspaced: each letter of a script without blanks is a word, with its marks."""
    cdef const char* end = p + n
    cdef uint32_t c = 0
    cdef size_t size, at = 0, begin = 0, words = 0, first
    cdef size_t[MOST_WORDS] begins      # of the last words, each at its number modulo MOST_WORDS
    cdef bint letter
    cdef int k
    # A character takes at most twice its bytes in lower case, and each word is followed by `_`.
    if reserve(<void**>&sink.scratch, &sink.scratch_size, 2 * n + 8, 1):
        return -1
    while p < end or at > begin:
        if p < end:
            letter, c, size = False, <uint8_t>p[0], 1
            if likely(c < 0x80):
                letter = c'0' <= c <= c'9' or c'a' <= (c | 0x20) <= c'z'
                if letter and c >= c'A':
                    c |= 0x20
            else:
                size = character(<const uint8_t*>p, end - p, &c)
                if size == 0:
                    size = 1
                elif is_alnum(c):
                    if unlikely(unspaced) and is_unspaced(c):
                        # The letters before it are a word first, and it comes again. None of these has a lower case.
                        size = 0 if at > begin else size + size_of_marks(p + size, end)
                        memcpy(sink.scratch + at, p, size)
                        at += size
                    else:
                        letter, c = True, to_lower(c)
                elif c >= FIRST_MARK and at > begin and sink.words > 1:
                    letter = mark_kind(c) & IS_MARK != 0     # it belongs to the letter before
            p += size
            if letter:
                at += write_character(sink.scratch + at, c)
                continue
            if at == begin:
                continue
        begins[words % MOST_WORDS] = begin
        words += 1
        for k in range(1, sink.ngram + 1):
            if <size_t>k > words:
                break
            first = begins[(words - k) % MOST_WORDS]
            if sink.as_text:
                if write(sink, b" ", 1) or write(sink, sink.scratch + first, at - first):
                    return -1
                note_written(sink, name_hash(sink, sink.scratch + first, at - first, space))
            elif put(batch, name_hash(sink, sink.scratch + first, at - first, space), 1 if k == 1 else sink.beyond):
                return -1
        sink.scratch[at] = c'_'
        at += 1
        begin = at
    return 0


cdef int add_characters(CellSink* sink, uint32_t space, Batch batch, const char* p, size_t n) noexcept nogil:
    """The n-grams of characters of each piece of a text between blanks, in lower case and with `<` before and `>` behind
    it: those of `<york>` are `~<yor`, `~york`, `~ork>`. Control characters and invalid UTF-8 are blanks."""
    cdef const char* end = p + n
    cdef uint32_t c = 0
    cdef size_t size, at, first, count = 0      # characters of the piece, with its `<`
    cdef size_t[MOST_CHARACTERS] begins         # of the last ones, each at its number modulo `characters`
    cdef bint inside, is_begin
    cdef int i
    # A character takes at most twice its bytes in lower case, and each piece has a `<` and a `>`.
    if reserve(<void**>&sink.scratch, &sink.scratch_size, 2 * n + 16, 1):
        return -1
    at = 0
    while p < end or count:
        inside, size = False, 1
        if p < end:
            c = <uint8_t>p[0]
            if likely(c < 0x80):
                inside = c > c' '
                if c'A' <= c <= c'Z':
                    c |= 0x20
            else:
                size = character(<const uint8_t*>p, end - p, &c)
                inside = size > 0 and not is_space(c)
                c, size = to_lower(c) if inside else c, size if size else 1
            p += size
        if not inside and count == 0:
            continue
        is_begin = count == 0
        for i in range(1 + is_begin):
            begins[count % sink.characters] = at
            at += write_character(sink.scratch + at, c'<' if is_begin and i == 0 else c if inside else c'>')
            count += 1
            if count >= <size_t>sink.characters:
                first = begins[count % sink.characters]
                if add_gram(sink, space, batch, sink.scratch + first, at - first):
                    return -1
        if not inside:
            at = count = 0
    return 0


cdef int add_gram(CellSink* sink, uint32_t space, Batch batch, const char* p, size_t n) noexcept nogil:
    """An n-gram of characters, `~` and n bytes."""
    cdef char[1 + 4 * MOST_CHARACTERS] name
    cdef char[3 * (1 + 4 * MOST_CHARACTERS)] escaped
    cdef const char* fits
    name[0] = c'~'
    memcpy(name + 1, p, n)
    n += 1
    if sink.as_text:
        note_written(sink, name_hash(sink, name, n, space))
        if sink.keeps and needs_escape(name, n, True):
            n = escape(escaped, name, n, True)
            sink.escaped += 1
            return write(sink, b" ", 1) or write(sink, escaped, n)
        return write(sink, b" ", 1) or write(sink, name, n)
    return put(batch, name_hash(sink, name, n, space), sink.beyond)


cdef bint read_time(const CellSink* sink, const char* p, size_t n, Moment* to) noexcept nogil:
    """Read a cell, without blanks at its ends, as a time; returns whether it is one."""
    cdef char[LONGEST_SECONDS + PADDING] copy
    cdef Double seconds
    cdef WrittenTime time
    cdef int found
    if sink.format != NULL:
        return read_written(sink.format, sink.format_end, p, p + n, &time, to)
    found = read_iso(p, p + n, sink.wide_times, to)
    if found >= 0:
        return found == 1
    if n > LONGEST_SECONDS:
        return False
    memcpy(copy, p, n)
    memset(copy + n, 0, PADDING)
    seconds = read_double(copy)
    return seconds.end == copy + n and moment_of_number(seconds.value, sink.wide_times, to)


cdef int add_time(CellSink* sink, const Column* c, Batch batch, const Moment* time) noexcept nogil:
    """hour=13 weekday=1 month=11, without the hour for a date, and with the month alone for one."""
    cdef char[16] word
    cdef const char** names = [b"hour=", b"weekday=", b"month="]
    cdef int* numbers = [time.hour, time.weekday, time.month]
    cdef size_t size
    cdef int i
    for i in range(3):
        if numbers[i] < 0:
            continue
        size = strlen(names[i])
        memcpy(word, names[i], size)
        size += write_unsigned(word + size, numbers[i])
        if unlikely(sink.as_text):
            if write(sink, b" ", 1) or write(sink, word, size):
                return -1
            note_written(sink, name_hash(sink, word, size, c.space))
        elif put(batch, name_hash(sink, word, size, c.space), 1):
            return -1
    return 0


cdef bint is_missing_word(const Missing* missing, const char* p, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(missing.count):
        if missing.sizes[i] == n and memcmp(missing.words[i], p, n) == 0:
            return True
    return False


cdef int log_name(CellSink* sink, const Column* c, uint32_t hash, const char* p, size_t n) noexcept nogil:
    """Add a column, or the word [p, p + n) of it, to the log unless it is there; -1: no memory."""
    cdef uint64_t key = <uint64_t>c.space << 32 | hash
    cdef size_t at
    cdef uint32_t[4] head = [c.space, hash, c.size, <uint32_t>(c.size if p == NULL else c.size + 1 + n)]
    if p != NULL and c.logged >= MOST_LOGGED:
        return 0
    if (sink.logged == NULL or 2 * sink.logged_count >= <size_t>1 << sink.logged_bits) and grow_logged(sink):
        return -1
    at = mixed(key) & ((<size_t>1 << sink.logged_bits) - 1)
    while sink.logged[at] and sink.logged[at] != key:
        at = (at + 1) & ((<size_t>1 << sink.logged_bits) - 1)
    if sink.logged[at]:
        return 0
    sink.logged[at] = key
    sink.logged_count += 1
    (<Column*>c).logged += p != NULL
    return (append(&sink.log, head, sizeof(head)) or append(&sink.log, c.name, c.size + (p != NULL))
            or append(&sink.log, p, n))


cdef int grow_logged(CellSink* sink) noexcept nogil:
    cdef uint64_t* before = sink.logged
    cdef size_t i, at, places = <size_t>1 << sink.logged_bits
    sink.logged = <uint64_t*>calloc(2 * places, sizeof(uint64_t))
    if sink.logged == NULL:
        sink.logged = before
        return -1
    for i in range(places):
        if before != NULL and before[i]:
            at = mixed(before[i]) & (2 * places - 1)
            while sink.logged[at]:
                at = (at + 1) & (2 * places - 1)
            sink.logged[at] = before[i]
    sink.logged_bits += 1
    free(before)
    return 0


cdef int write_name(CellSink* sink, const Column* c, const char* p, size_t n) noexcept nogil:
    """Add name=word to the VW text."""
    cdef size_t size
    note_written(sink, begun_hash(c, p, n))
    if not sink.keeps or not needs_escape(p, n, True):
        sink.escaped += c.escaped
        return write(sink, b" ", 1) or write(sink, c.name, c.size + 1) or write(sink, p, n)
    if reserve(<void**>&sink.scratch, &sink.scratch_size, 3 * n, 1):
        return -1
    size = escape(sink.scratch, p, n, True)
    sink.escaped += 1
    return write(sink, b" ", 1) or write(sink, c.name, c.size + 1) or write(sink, sink.scratch, size)


cdef uint32_t name_hash(const CellSink* sink, const char* p, size_t n, uint32_t space) noexcept nogil:
    return hash_strings(p, n, space) if sink.strings else murmur(p, n, space)


cdef int add_absent(CellSink* sink, const Column* c, Batch batch, bint missing) noexcept nogil:
    """The feature `name?` of a column, behind words that are unknown. missing: there is no value."""
    if missing:
        (<Column*>c).missing += 1
    else:
        (<Column*>c).unknown += 1
    if unlikely(sink.as_text):
        sink.escaped += c.escaped
        return write(sink, b" ", 1) or write(sink, c.name, c.size) or write(sink, b"?", 1)
    return put(batch, c.absent_hash, 1)


cdef uint32_t absent_hash(const char* p, size_t n, uint32_t space) noexcept nogil:
    """The hash of `name?`. [p, p + n): `name=`."""
    cdef uint32_t h = space, block = 0
    cdef size_t i
    for i in range(n):
        block |= <uint32_t><uint8_t>(p[i] if i + 1 < n else c'?') << (8 * (i % 4))
        if i % 4 == 3:
            h, block = mix(h, block), 0
    return finish(h ^ scramble(block), <uint32_t>n)


cdef void set_column(Column* c, const char* p, size_t n, Role role, uint32_t space, bint strings, uint8_t letter) noexcept nogil:
    """A column whose features are `name` or start with `name=`, in a namespace. [p, p + n): `name=`, which the caller
    keeps alive, without characters that are not valid in VW text."""
    cdef size_t i
    c.role, c.letter, c.space, c.name, c.size = role, letter, space, p, <uint32_t>(n - 1)
    c.numeric_hash = hash_strings(p, n - 1, space) if strings else murmur(p, n - 1, space)
    c.absent_hash = absent_hash(p, n, space)
    c.prefix, c.rest, c.rest_size = space, 0, <uint32_t>(n % 4)
    for i in range(n // 4):
        c.prefix = mix(c.prefix, load32(p + 4 * i))
    for i in range(n % 4):
        c.rest |= <uint32_t><uint8_t>p[n // 4 * 4 + i] << (8 * i)


cdef bint can_be_absent(const CellSink* sink, const Column* c) noexcept nogil:
    """Whether absent cells of a column have a feature: of those of a model, if it has that."""
    if not sink.absents or IS_LABEL <= c.role <= DROPPED:
        return False
    return sink.known == NULL or is_known(sink.known, c.absent_hash)


cdef class Cells:
    """The columns of a table, for the parsers in the core.

    columns: the namespace of each, as text, and its role as an index into ROLES of vwlite/input/schema.py. ngram: the
    maximal number of words per n-gram of a text. missing: words that mean a missing value. hash_all, hash_seed: as for
    Parser. as_text: write VW text. words, names: as of Schema in vwlite/input/schema.py. notation: of numbers in text;
    None: that of VW text. zeros: numbers of value 0 are features too, as others are derived from them, and those of
    texts with n-grams of characters have the value OPEN beyond words. logs: keep a log of names, for `take_log`.
    characters: of n-grams. absents: a cell that is absent has the feature `name?`, and times are read as of 0.3.0
    (times.pxd); without it, as in models of 0.2.0, and those of a type with a zone are in UTC. time_format: of times
    that are text or numbers, "": ISO 8601. unspaced: namespaces of texts of which each letter of a script without blanks
    is a word. known: the keys of a model that is applied: then absent cells have only
    features of these, and a cell of words is absent, too, if none of them is one of these.
    """

    def __cinit__(self, columns, *, int ngram=1, missing=(), bint hash_all=False, uint32_t hash_seed=0,
                  bint as_text=False, int words=2, int names=3, Notation notation=None, bint zeros=False, bint logs=False,
                  int characters=0, bint absents=False, str time_format="", unspaced=(), KnownKeys known=None):
        cdef size_t i
        cdef bytes name
        cdef uint32_t space
        cdef Column* c
        if not 1 <= ngram <= MOST_WORDS:
            raise ValueError(f"an n-gram has 1 to {MOST_WORDS} words")
        if not 0 <= characters <= MOST_CHARACTERS:
            raise ValueError(f"an n-gram has at most {MOST_CHARACTERS} characters")
        self.sink.strings, self.sink.ngram, self.sink.as_text = not hash_all, ngram, as_text
        self.sink.seed, self.sink.words, self.sink.keeps = hash_seed, words, names > 1
        self.sink.wholes = names > 2
        self.sink.zeros, self.sink.logs, self.sink.characters = zeros, logs, characters
        self.sink.beyond = OPEN if zeros and characters else 1
        self.sink.absents, self.sink.wide_times, self.known, self.zones = absents, absents, known, {}
        self.format = time_format.encode()
        if self.format:
            self.sink.format = self.format
            self.sink.format_end = self.sink.format + len(self.format)
        if known is not None:
            self.sink.known, self.sink.knows = &known.known, known.known.words
            for i in range(RECENT):
                self.sink.recent[i] = <uint32_t>(i + 1)
        self.notation = notation
        if notation is not None:
            self.sink.written = &notation.written
        self.count = len(columns)
        self.names = [text.encode("utf-8", "surrogateescape") + b"=" for text, _ in columns]
        self.columns = <Column*>calloc(self.count + 1, sizeof(Column))
        if self.columns == NULL:
            raise MemoryError("no memory for columns")
        self.set_missing([word.encode("utf-8", "surrogateescape") for word in missing])
        heads = []
        for i in range(self.count):
            name = self.names[i]
            role = columns[i][1]
            if role != DROPPED and not IS_LABEL <= role <= IS_TAG and not fits_all(name, len(name)):
                raise ValueError(f"{name!r} cannot be a namespace")
            space = name_hash(&self.sink, name, len(name) - 1, hash_seed)
            if IS_LABEL <= role <= IS_TAG:
                heads.append((role, i))
            c = &self.columns[i]
            set_column(c, name, len(name), role, space, not hash_all, name[0] if len(name) > 1 else c' ')
            c.has_absent = can_be_absent(&self.sink, c)
            c.unspaced = columns[i][0] in unspaced

        self.heads = len(heads)
        if self.heads > 3 or len({role for role, _ in heads}) < self.heads:
            raise ValueError("one column is the label, and so for the importance and the tag")
        for i, (_, column) in enumerate(sorted(heads)):
            self.head[i] = column

    cdef set_missing(self, list words):
        cdef Missing* missing = &self.sink.missing
        cdef const char* word
        cdef Double number
        self.missing = words
        missing.words = <const char**>calloc(len(words) + 1, sizeof(char*))
        missing.sizes = <size_t*>calloc(len(words) + 1, sizeof(size_t))
        missing.numbers = <float*>calloc(len(words) + 1, sizeof(float))
        if missing.words == NULL or missing.sizes == NULL or missing.numbers == NULL:
            raise MemoryError("no memory for columns")
        for text in words:
            padded = text + bytes(PADDING)
            word = padded
            number = read_double(word)
            if number.end == word + len(text):
                missing.numbers[missing.number_count] = <float>number.value
                missing.number_count += 1
                continue
            missing.nan = missing.nan or text.lower() == b"nan"
            word = text             # `self.missing` owns it
            missing.words[missing.count], missing.sizes[missing.count] = word, len(text)
            missing.begins[<uint8_t>word[0]] = True
            missing.count += 1

    cdef zone(self, str name, str column):
        """The Zone of this name; None: UTC. ValueError if it is unknown. column: which has it."""
        if name not in self.zones:
            try:
                info = zone_info(name)
                self.zones[name] = None if info is None else Zone(info)
            except ValueError as e:
                raise ValueError(f"column {column!r}: {e}") from None
        return self.zones[name]

    def writing(self):
        """The same columns, for a parser that writes VW text."""
        names = [name.removesuffix(b"=").decode("utf-8", "surrogateescape") for name in self.names]
        columns = [(name, self.columns[i].role) for i, name in enumerate(names)]
        missing = [word.decode("utf-8", "surrogateescape") for word in self.missing]
        unspaced = [name for i, name in enumerate(names) if self.columns[i].unspaced]
        return Cells(columns, ngram=self.sink.ngram, missing=missing, hash_all=not self.sink.strings,
                     hash_seed=self.sink.seed, as_text=True, words=self.sink.words, names=1 + self.sink.keeps + self.sink.wholes,
                     notation=self.notation, characters=self.sink.characters, absents=self.sink.absents,
                     time_format=self.format.decode(), unspaced=unspaced, known=self.known)

    def take_absents(self):
        """Of each column, how many cells since the last call had the feature of an absent cell: as they have no value, and
        as the model knows none of their words."""
        cdef size_t i
        found = [(self.columns[i].missing, self.columns[i].unknown) for i in range(self.count)]
        for i in range(self.count):
            self.columns[i].missing = self.columns[i].unknown = 0
        return found

    def take_log(self):
        """The columns with a number or word and the words of columns that were first seen since the last call: the hash of
        the namespace and of the feature, the bytes of the column's name, and the feature's name."""
        cdef uint32_t[4] head
        cdef size_t at = 0
        found = []
        while at < self.sink.log.size:
            memcpy(head, self.sink.log.data + at, sizeof(head))
            at += sizeof(head)
            found.append((head[0], head[1], head[2], self.sink.log.data[at : at + head[3]]))
            at += head[3]
        self.sink.log.size = 0
        return found

    def __dealloc__(self):
        free(self.columns)
        free(self.sink.scratch)
        free(self.sink.text.data)
        free(self.sink.log.data)
        free(self.sink.logged)
        free(self.sink.missing.words)
        free(self.sink.missing.sizes)
        free(self.sink.missing.numbers)


def count_letters(bytes text):
    """The letters and digits of a text, and how many of them are letters of scripts without blanks between words."""
    cdef const char* p = text
    cdef const char* end = p + len(text)
    cdef uint32_t c = 0
    cdef size_t size, letters = 0, unspaced = 0
    while p < end:
        size = character(<const uint8_t*>p, end - p, &c)
        if size and is_alnum(c):
            letters += 1
            unspaced += is_unspaced(c)
        p += size if size else 1
    return letters, unspaced


def scripts_without_blanks():
    """The ranges of characters in which the letters of these scripts are: the first and the last of each."""
    cdef size_t i
    return [(UNSPACED[i].first, UNSPACED[i].last) for i in range(UNSPACED_COUNT)]


def time_of(bytes cell, *, bint wide=True):
    """Hour, weekday and month of a cell of a time column; the hour is None for a date, and the weekday for a month, the
    result is None for an invalid time. wide: it is not of a model of 0.2.0."""
    cdef Moment time
    cdef CellSink sink      # `read_time` looks at these fields alone
    sink.format, sink.wide_times = NULL, wide
    if not read_time(&sink, cell, len(cell), &time):
        return None
    return (time.hour if time.hour >= 0 else None), (time.weekday if time.weekday >= 0 else None), time.month


def parts_of_time(bytes cell, bytes format):
    """Year, month, day, hour and seconds since 1970, of a cell that is a time as a format has it; None: it is none. The
    day is None for a month, and the hour for a date."""
    cdef WrittenTime t
    cdef Moment moment
    cdef const char* f = format
    cdef const char* p = cell
    if not read_written(f, f + len(format), p, p + len(cell), &t, &moment):
        return None
    seconds = (<double>(86400 * days_from_civil(t.year, t.month, t.day or 1) + 3600 * (t.hour if t.hour > 0 else 0)
                        + 60 * t.minute + t.second - t.offset) + t.part)
    return t.year, t.month, (t.day or None), (t.hour if t.hour >= 0 else None), seconds
