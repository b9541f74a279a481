"""Derived features: curves of numbers, and products of two or three columns.

A number x between the knots a <= x < b has two hats, 1 - w and w, w = (x - a) / (b - a); outside of all knots the nearest
one alone has 1. (Linear B-splines: Friedman. Multivariate Adaptive Regression Splines. Annals of Statistics 1991.) A
column that is curved has its standardized value z and its hats as features, in place of x; while it is learned, it may have a
rescaled value, too, which is linear between those of the knots. A product has the outer product of what its columns have,
each at a resolution of its own: hats of a number, the level of a word, and a code of its own for what is missing. (Lou,
Caruana, Gehrke, Hooker. Accurate Intelligible Models with Pairwise Interactions. KDD 2013.)

A line of a table has a namespace for each column that is not empty, and batches for it have the hashes of these,
and zeros. What is not derived stays as it is, first and in the order of the line, without zeros; features that have the
value OPEN get 1, or are left out. Then come the curves, in
the order of the columns, and the products. Hats and products with the value 0 are left out.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.base.murmur cimport murmur
from vwlite.core.data.batch cimport EXAMPLE, Batch


cdef void* allocated(size_t items, size_t size) except NULL:
    """An array of zeros, of at least one item."""
    cdef void* found = calloc(items + 1, size)
    if found == NULL:
        raise MemoryError("no memory for derived features")
    return found


cdef class Derivation:
    """Which features are derived, and their hashes.

    columns: of each its namespace as bytes and the hash of that; then, for a number, `True`, the hash of its feature, mean,
    standard deviation, the hash of the feature of a missing one (0: none), its knots by resolution as (knots, hashes of hats),
    of which the first are those of its curve, the hash of the feature of its rescaled value, and the rescaled knots of
    its curve (empty: it has none); for a word, `False`, the hashes of its levels, whether these are all
    that it may be, of several words in its namespace, such as the hours of a time, and the hash of the feature of an absent
    one, which may stand behind words. Columns of a namespace are in a row.
    products: the factors of each as (column, resolution), and of each factor the names of its codes as bytes; names are
    joined by `^`, and hashed in the namespace of the first column. only_words: of texts; features beyond these are left out.
    """

    def __cinit__(self, columns, products, bint only_words=False):
        cdef size_t i, j, n
        cdef Column* c
        cdef Product* p
        cdef Knots* knots
        self.count, self.product_count, self.open_value = len(columns), len(products), not only_words
        self.columns = <Column*>allocated(self.count, sizeof(Column))
        self.products = <Product*>allocated(self.product_count, sizeof(Product))
        self.knots = <Knots*>allocated(sum(len(column[7]) for column in columns if column[2]), sizeof(Knots))
        self.level_hash = <uint32_t*>allocated(sum(len(column[3]) for column in columns if not column[2]), sizeof(uint32_t))
        at = []             # of each column, the place of its knots by resolution
        n = 0
        for i, column in enumerate(columns):
            c = &self.columns[i]
            c.letter, c.space, c.is_number = (column[0] or b" ")[0], column[1], column[2]
            at.append({})
            if not c.is_number:
                c.first_level, c.levels, c.is_part, c.missing = n, len(column[3]), column[4], column[5]
                for hash in column[3]:
                    self.level_hash[n] = hash
                    n += 1
                continue
            c.hash, c.mean, c.missing = column[3], column[4], column[6]
            c.deviation = column[5]
            c.first_knots, c.resolutions = self.knot_count, len(column[7])
            for resolution, (values, hashes) in column[7].items():
                if not 1 <= len(values) <= MOST_KNOTS or any(a >= b for a, b in zip(values, values[1:])):
                    raise ValueError(f"{len(values)} knots, which are not 1 to {MOST_KNOTS} rising numbers")
                at[i][resolution] = self.knot_count
                knots = &self.knots[self.knot_count]
                self.knot_count += 1
                knots.count = len(values)
                knots.at = <float*>allocated(knots.count, sizeof(float))
                for j, x in enumerate(values):
                    knots.at[j] = x
                if hashes:
                    knots.hash = <uint32_t*>allocated(knots.count, sizeof(uint32_t))
                    for j, hash in enumerate(hashes):
                        knots.hash[j] = hash
            if column[9]:
                self.set_rescaled(c, column[8], column[9])
        self.find_spaces()
        self.set_products(columns, products, at)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.knot_count):
            free(self.knots[i].at)
            free(self.knots[i].hash)
        for i in range(self.count if self.columns != NULL else 0):
            free(self.columns[i].rescaled)
        free(self.columns)
        free(self.knots)
        free(self.level_hash)
        free(self.products)
        free(self.hashes)
        free(self.spaces)
        free(self.space_of)
        free(self.units)

    cdef object set_rescaled(self, Column* c, hash, values):
        cdef size_t i
        if <size_t>len(values) != self.knots[c.first_knots].count:
            raise ValueError("a rescaled value for each knot")
        c.rescaled_hash, c.rescaled = hash, <float*>allocated(len(values), sizeof(float))
        for i, x in enumerate(values):
            c.rescaled[i] = x

    cdef object find_spaces(self):
        """The table of namespaces."""
        cdef size_t i, at
        self.space_bits = 1
        while <size_t>1 << self.space_bits < 2 * self.count + 2:
            self.space_bits += 1
        self.spaces = <uint32_t*>allocated(<size_t>1 << self.space_bits, sizeof(uint32_t))
        self.space_of = <uint32_t*>allocated(<size_t>1 << self.space_bits, sizeof(uint32_t))
        for i in range(self.count):
            at = place_of(self.columns[i].space, 64 - self.space_bits)
            while self.spaces[at] and self.space_of[at] != self.columns[i].space:
                at = (at + 1) & ((<size_t>1 << self.space_bits) - 1)
            if self.spaces[at] == 0:
                self.spaces[at], self.space_of[at] = <uint32_t>i + 1, self.columns[i].space

    cdef object set_products(self, columns, products, at):
        cdef size_t i, k, cell, total = 0, size, width
        cdef Product* p
        cdef Factor* f
        cdef bytes joined
        for i, (factors, _) in enumerate(products):
            if not 2 <= len(factors) <= MOST_FACTORS:
                raise ValueError(f"a product has 2 to {MOST_FACTORS} columns")
            p = &self.products[i]
            p.count, p.first_hash = len(factors), total
            p.letter, p.space = self.columns[<size_t>factors[0][0]].letter, self.columns[<size_t>factors[0][0]].space
            size = width = 1
            for k, (column, resolution) in enumerate(factors):
                f = &p.factors[k]
                f.column = column
                if self.columns[f.column].is_number:
                    f.knots = at[column][resolution]
                    f.size = self.knots[f.knots].count + 1
                    width *= 2
                else:
                    f.size = self.columns[f.column].levels + 2
                size *= f.size
            p.repeats = i > 0 and [column for column, _ in factors] == [column for column, _ in products[i - 1][0]]
            total += size
            self.most_products += width
        self.cells = total
        self.hashes = <uint32_t*>allocated(total, sizeof(uint32_t))
        cell = 0
        for i, (factors, names) in enumerate(products):
            p = &self.products[i]
            parts = [b""]
            for k in range(p.count):
                if <size_t>len(names[k]) != p.factors[k].size:
                    raise ValueError("as many names as codes")
                parts = [part + b"^" * (k > 0) + name for part in parts for name in names[k]]
            for joined in parts:
                self.hashes[cell] = murmur(joined, len(joined), p.space)
                cell += 1

    def __len__(self):
        """The features that can be derived of numbers and products, but for those of z."""
        cdef size_t i, found = self.cells
        for i in range(self.knot_count):
            found += self.knots[i].count if self.knots[i].hash != NULL else 0
        return found

    def cells_of(self, const uint32_t[::1] keys, uint32_t mask):
        """The cells of products whose key is one of `keys` (ascending), numbered through all products."""
        cdef size_t cell, low, high, middle
        cdef uint32_t key
        found = []
        for cell in range(self.cells if keys.shape[0] else 0):
            key, low, high = self.hashes[cell] & mask, 0, keys.shape[0]
            while high - low > 1:
                middle = (low + high) // 2
                if keys[middle] <= key:
                    low = middle
                else:
                    high = middle
            if keys[low] == key:
                found.append(cell)
        return found

    def find_units(self, uint32_t mask):
        """Keep the keys of hats and products, whose values are from 0 to 1, for `is_unit`."""
        cdef size_t i, j, n = len(self)
        if self.units != NULL:
            return
        self.unit_bits = 1
        while <size_t>1 << self.unit_bits < 2 * n + 2:
            self.unit_bits += 1
        self.units = <uint32_t*>allocated(<size_t>1 << self.unit_bits, sizeof(uint32_t))
        for i in range(self.cells):
            self.add_unit(self.hashes[i] & mask)
        for i in range(self.knot_count):
            if self.knots[i].hash != NULL:
                for j in range(self.knots[i].count):
                    self.add_unit(self.knots[i].hash[j] & mask)

    cdef void add_unit(self, uint32_t key) noexcept nogil:
        cdef size_t at = place_of(key, 64 - self.unit_bits)
        if key + 1 == 0:
            self.has_key_max = True
            return
        while self.units[at] and self.units[at] != key + 1:
            at = (at + 1) & ((<size_t>1 << self.unit_bits) - 1)
        self.units[at] = key + 1

    cdef bint is_unit(self, uint32_t key) noexcept nogil:
        """Whether a key is that of a hat or a product. After `find_units`."""
        cdef size_t at = place_of(key, 64 - self.unit_bits)
        if key + 1 == 0:
            return self.has_key_max
        while self.units[at] and self.units[at] != key + 1:
            at = (at + 1) & ((<size_t>1 << self.unit_bits) - 1)
        return self.units[at] != 0

    cdef int derive(self, const Arrays* a, size_t line, DerivedLine* out) noexcept nogil:
        """Fill in the features of a line of a batch, as its only line; -1: no memory. A batch without the hashes of namespaces
        has no columns."""
        cdef size_t i, span, first = a.span_begin[line], last = a.span_begin[line + 1]
        cdef size_t most = a.feature_begin[last] - a.feature_begin[first] + 4 * self.count + self.most_products
        cdef size_t spans = last - first + self.count + self.product_count
        if (reserve(<void**>&out.a.hash, &out.hash_capacity, most, sizeof(uint32_t))
                or reserve(<void**>&out.a.value, &out.value_capacity, most, sizeof(float))
                or reserve(<void**>&out.a.feature_begin, &out.span_capacity, spans + 1, sizeof(uint32_t))
                or reserve(<void**>&out.a.space, &out.space_capacity, spans, sizeof(uint32_t))
                or reserve(<void**>&out.a.letter, &out.letter_capacity, spans, sizeof(uint8_t))):
            return -1
        out.a.features = out.a.spans = 0
        out.a.feature_begin[0] = 0
        memset(out.present, 0, self.count)
        for span in range(first, last):
            self.take_span(a, span, out)
        out.copied = out.a.features
        for i in range(self.count if not out.is_folded else 0):
            if self.columns[i].is_number:
                self.locate(i, out)
                self.add_curve(i, out)
        out.crossed = out.a.spans
        for i in range(self.product_count if not out.is_folded else 0):
            self.add_product(&self.products[i], out)
        out.span_begin[1] = <uint32_t>out.a.spans
        return 0

    cdef void take_span(self, const Arrays* a, size_t span, DerivedLine* out) noexcept nogil:
        """Note the values of the columns of a namespace, and copy the features that stay."""
        cdef uint32_t space = a.space[span] if a.space != NULL else 0
        cdef size_t i, k, at = place_of(space, 64 - self.space_bits)
        cdef size_t begin = a.feature_begin[span], end = a.feature_begin[span + 1]
        cdef Column* c = NULL
        while self.spaces[at] and self.space_of[at] != space:
            at = (at + 1) & ((<size_t>1 << self.space_bits) - 1)
        if self.spaces[at]:
            i = self.spaces[at] - 1
            c = &self.columns[i]
            if c.is_number:
                if end == begin + 1 and a.hash[begin] == c.hash:
                    out.number[i], out.present[i] = a.value[begin], True
                    return
                if end == begin + 1 and a.hash[begin] == c.missing:
                    return
            elif c.is_part:
                while i < self.count and self.columns[i].is_part and self.columns[i].space == space:
                    for k in range(begin, end):
                        self.note_word(i, a.hash[k], out)
                    i += 1
            elif end > begin and a.hash[end - 1] != c.missing:
                self.note_word(i, a.hash[begin], out)
        for k in range(begin, end):
            add(out, a.hash[k], self.open_value if a.value[k] == OPEN else a.value[k])
        end_span(out, a.letter[span], space)

    cdef void note_word(self, size_t i, uint32_t hash, DerivedLine* out) noexcept nogil:
        """Note the level of a word of a column. Of several words the first counts; of a part, the first that is one."""
        cdef size_t k
        cdef Column* c = &self.columns[i]
        if out.present[i]:
            return
        for k in range(c.levels):
            if self.level_hash[c.first_level + k] == hash:
                break
        else:
            if c.is_part:
                return
            k = c.levels
        out.code[i], out.present[i] = <uint16_t>k, True

    cdef void locate(self, size_t i, DerivedLine* out) noexcept nogil:
        """The hats of a number at all resolutions."""
        cdef Column* c = &self.columns[i]
        cdef Knots* knots
        cdef Place* place
        cdef size_t k, low
        cdef float x = out.number[i], w
        for k in range(c.first_knots, c.first_knots + c.resolutions):
            knots, place = &self.knots[k], &out.places[k]
            if not out.present[i]:
                place.code, place.weight = knots.count, 0
                continue
            low = last_knot(knots.at, knots.count, x)
            place.code = <uint32_t>low
            if low + 1 == knots.count or x < knots.at[0]:
                place.weight = 0
            else:
                w = <float>((<double>x - knots.at[low]) / (<double>knots.at[low + 1] - knots.at[low]))
                place.weight = w
                if w >= 1:          # rounded
                    place.code, place.weight = <uint32_t>low + 1, 0

    cdef void add_curve(self, size_t i, DerivedLine* out) noexcept nogil:
        """The features of a number with a curve: z, hats and a rescaled value, or the one of a missing number."""
        cdef Column* c = &self.columns[i]
        cdef Knots* knots
        cdef Place* place
        if not out.present[i]:
            if c.missing:
                add(out, c.missing, 1)
                end_span(out, c.letter, c.space)
            return
        if c.deviation > 0:
            add(out, c.hash, standardized(out.number[i], c.mean, c.deviation))
            knots, place = &self.knots[c.first_knots], &out.places[c.first_knots]
            if knots.hash != NULL:
                add(out, knots.hash[place.code], 1 - place.weight)
                if place.weight != 0:
                    add(out, knots.hash[place.code + 1], place.weight)
            if c.rescaled != NULL:
                add(out, c.rescaled_hash, rescaled_value(c, place))
        end_span(out, c.letter, c.space)

    cdef void add_product(self, const Product* p, DerivedLine* out) noexcept nogil:
        """The cells that the hats of all factors reach: those of the first factor are doubled by each further one that is
        between two knots."""
        cdef float[CORNERS] value
        cdef size_t[CORNERS] cell
        cdef size_t k, i, n = 1
        cdef uint32_t code
        cdef float weight
        cdef bint some_number = False
        cdef const Factor* f
        value[0], cell[0] = 1, 0
        for k in range(p.count):
            f = &p.factors[k]
            if self.columns[f.column].is_number:
                code, weight = out.places[f.knots].code, out.places[f.knots].weight
                some_number |= out.present[f.column]
            else:
                code, weight = out.code[f.column] if out.present[f.column] else f.size - 1, 0
            if weight == 0:
                for i in range(n):
                    cell[i] = cell[i] * f.size + code
                continue
            for i in reversed(range(n)):
                cell[2 * i] = cell[i] * f.size + code
                cell[2 * i + 1] = cell[2 * i] + 1
                value[2 * i + 1] = value[i] * weight
                value[2 * i] = value[i] * (1 - weight)
            n *= 2
        if p.repeats and not some_number:
            return          # without hats, all resolutions have the same feature
        for i in range(n):
            if value[i] != 0:
                add(out, self.hashes[p.first_hash + cell[i]], value[i])
        end_span(out, p.letter, p.space)

    def derived(self, Batch batch not None):
        """The features of each line of a batch, as lists of hashes and values, and how many of these, the first ones, are as
        they were; None for a line that is no example."""
        cdef DerivedLine out
        cdef size_t line, i
        found = []
        if batch.decode() or batch.a.space == NULL:
            raise ValueError("a batch without the hashes of namespaces")
        prepare(&out, self)
        try:
            for line in range(batch.a.lines):
                if batch.a.kind[line] != EXAMPLE:
                    found.append(None)
                    continue
                if self.derive(&batch.a, line, &out):
                    raise MemoryError("no memory for derived features")
                hashes, values = [out.a.hash[i] for i in range(out.a.features)], [out.a.value[i] for i in range(out.a.features)]
                found.append((hashes, values, out.copied))
        finally:
            release(&out)
        return found


cdef inline float rescaled_value(const Column* c, const Place* place) noexcept nogil:
    """That of a number at this place on its curve."""
    cdef double at = c.rescaled[place.code]
    if place.weight == 0:
        return <float>at
    return <float>(at + place.weight * (<double>c.rescaled[place.code + 1] - at))


cdef inline void add(DerivedLine* out, uint32_t hash, float value) noexcept nogil:
    out.a.hash[out.a.features], out.a.value[out.a.features] = hash, value
    out.a.features += value != 0


cdef inline void end_span(DerivedLine* out, uint8_t letter, uint32_t space) noexcept nogil:
    """The features since the last namespace are one; without any, it is left out."""
    if out.a.features == out.a.feature_begin[out.a.spans]:
        return
    out.a.letter[out.a.spans], out.a.space[out.a.spans] = letter, space
    out.a.spans += 1
    out.a.feature_begin[out.a.spans] = <uint32_t>out.a.features


cdef int prepare(DerivedLine* line, Derivation derivation) except -1:
    """Make a line for a derivation, which `release` frees."""
    memset(line, 0, sizeof(DerivedLine))
    line.number = <float*>allocated(derivation.count, sizeof(float))
    line.code = <uint16_t*>allocated(derivation.count, sizeof(uint16_t))
    line.present = <uint8_t*>allocated(derivation.count, sizeof(uint8_t))
    line.places = <Place*>allocated(derivation.knot_count, sizeof(Place))
    line.a.lines = 1
    line.a.span_begin = line.span_begin
    return 0


cdef void release(DerivedLine* line) noexcept nogil:
    free(line.a.hash)
    free(line.a.value)
    free(line.a.feature_begin)
    free(line.a.space)
    free(line.a.letter)
    free(line.number)
    free(line.code)
    free(line.present)
    free(line.places)
    memset(line, 0, sizeof(DerivedLine))
