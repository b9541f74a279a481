"""The folds of examples: which part of the data each of them is judged in.

Examples of equal content are a kind, and repeats are those after the first of their kind. Repeats that are copies must
share a fold, as must near copies that stand together: else out-of-fold scores are of rows learned by heart. Repeats that are
natural, as there are few different rows, must be in all folds alike: a lane that has seen a kind in no other fold
knows of it only what the other kinds say, which can be the opposite of the truth.

Natural are those of a kind whose examples have at most one feature; those of a kind of at least FEWEST_OF_A_KIND
examples that has more than a part 1 / LARGEST_KINDS of all, which would make folds of different sizes; those of large kinds,
which have as many examples, and more than a part 1 / LARGE_KINDS, if there are at most MOST_FEW kinds, or if their labels
differ; and all repeats, if the labels of those that these rules leave differ. Labels differ that are other ones than
that of the first of their kind at least a tenth as often as those of any two examples. In a table of counts, which has a
row with an importance for each pair of content and label, none are.
"""

from array import array
from collections import Counter

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from vwlite.core.base.random cimport mixed

cdef enum:
    MOST = 4                # folds, of training
    LARGEST = 20            # folds, of cross-validation
    ORDERS = 24             # permutations of them
    LONGEST_RUN = 16        # examples
    FEWEST_RUNS = 64
    FEWEST_OF_A_KIND = 4
    LARGE_KINDS = 64
    LARGEST_KINDS = 8
    MOST_FEW = 32
    AGREEING = 10           # copies agree in their labels unless this part, 1 / AGREEING, of what chance gives differs
    IN_NONE = 2             # the number of examples in no fold, where a tenth is in one

# The permutations of 0, 1, 2, 3 in the order of a dictionary.
cdef uint8_t[ORDERS][MOST] DEALT = [
    [0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 3, 2, 1],
    [1, 0, 2, 3], [1, 0, 3, 2], [1, 2, 0, 3], [1, 2, 3, 0], [1, 3, 0, 2], [1, 3, 2, 0],
    [2, 0, 1, 3], [2, 0, 3, 1], [2, 1, 0, 3], [2, 1, 3, 0], [2, 3, 0, 1], [2, 3, 1, 0],
    [3, 0, 1, 2], [3, 0, 2, 1], [3, 1, 0, 2], [3, 1, 2, 0], [3, 2, 0, 1], [3, 2, 1, 0],
]


cdef size_t drawn(uint64_t block, size_t place, size_t folds) noexcept nogil:
    """P[place] of a permutation P of so many folds, drawn by the hash of a block (Fisher and Yates): for i from folds - 1
    down to 1, P[i] and P[h % (i + 1)] are exchanged, h the hash of 1 + the h before."""
    cdef size_t i, j
    cdef uint8_t[LARGEST] order
    for i in range(folds):
        order[i] = <uint8_t>i
    for i in range(folds - 1, 0, -1):
        block = mixed(block + 1)
        j = block % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order[place]


cdef class Folds:
    """What the folds of n examples are found from. Arrays are of all examples, and owned."""

    cdef size_t n
    cdef uint64_t* work               # hashes whose equality is looked for
    cdef uint32_t* first              # the first example of its kind
    cdef uint32_t* first_label        # the first one with its label
    cdef uint32_t* first_pair         # the first one with its content and label
    cdef uint32_t* size               # examples of its kind, where it is the first one
    cdef uint32_t* before             # examples of its kind before it
    cdef uint32_t* buckets            # of a hash table: number of an example + 1, or 0
    cdef size_t mask                  # buckets - 1
    cdef bint large_are_natural

    def __cinit__(self, size_t n):
        cdef size_t count = 1
        while count < 2 * n:
            count *= 2
        self.n, self.mask = n, count - 1
        self.work = <uint64_t*>PyMem_Calloc(n + 1, sizeof(uint64_t))
        self.first = <uint32_t*>PyMem_Calloc(n + 1, sizeof(uint32_t))
        self.first_label = <uint32_t*>PyMem_Calloc(n + 1, sizeof(uint32_t))
        self.first_pair = <uint32_t*>PyMem_Calloc(n + 1, sizeof(uint32_t))
        self.size = <uint32_t*>PyMem_Calloc(n + 1, sizeof(uint32_t))
        self.before = <uint32_t*>PyMem_Calloc(n + 1, sizeof(uint32_t))
        self.buckets = <uint32_t*>PyMem_Calloc(count, sizeof(uint32_t))
        if not (self.work and self.first and self.first_label and self.first_pair and self.size and self.before
                and self.buckets):
            raise MemoryError("no memory for the folds")

    def __dealloc__(self):
        PyMem_Free(self.work)
        PyMem_Free(self.first)
        PyMem_Free(self.first_label)
        PyMem_Free(self.first_pair)
        PyMem_Free(self.size)
        PyMem_Free(self.before)
        PyMem_Free(self.buckets)

    cdef size_t find_firsts(self, uint32_t* first) noexcept nogil:
        """For each example, the first one whose number in `work` is equal. Returns how many different numbers there are."""
        cdef size_t i, at, distinct = 0
        memset(self.buckets, 0, (self.mask + 1) * sizeof(uint32_t))
        for i in range(self.n):
            at = mixed(self.work[i]) & self.mask
            while self.buckets[at] and self.work[self.buckets[at] - 1] != self.work[i]:
                at = (at + 1) & self.mask
            if self.buckets[at] == 0:
                self.buckets[at] = <uint32_t>(i + 1)
                distinct += 1
            first[i] = self.buckets[at] - 1
        return distinct

    cdef size_t find_kinds(self, const uint64_t* contents) noexcept nogil:
        """Returns how many kinds there are."""
        cdef size_t i, kinds
        memcpy(self.work, contents, self.n * sizeof(uint64_t))
        kinds = self.find_firsts(self.first)
        for i in range(self.n):
            self.before[i] = self.size[self.first[i]]
            self.size[self.first[i]] += 1
        return kinds

    cdef size_t find_labels(self, const double* labels) noexcept nogil:
        """Returns how many different labels there are."""
        cdef size_t i
        cdef double label
        for i in range(self.n):
            label = labels[i] + 0.0         # -0 is 0
            memcpy(&self.work[i], &label, sizeof(double))
        return self.find_firsts(self.first_label)

    cdef size_t find_pairs(self) noexcept nogil:
        """Returns how many different pairs of content and label there are."""
        cdef size_t i
        for i in range(self.n):
            self.work[i] = <uint64_t>self.first[i] << 32 | self.first_label[i]
        return self.find_firsts(self.first_pair)

    cdef inline bint is_natural(self, size_t i, const uint32_t* features) noexcept nogil:
        """Whether an example is of a kind whose repeats are natural by themselves."""
        return (features[self.first[i]] <= 1
                or self.is_large(i, LARGE_KINDS if self.large_are_natural else LARGEST_KINDS))

    cdef inline bint is_large(self, size_t i, size_t parts) noexcept nogil:
        """Whether an example is of a kind with more than a part 1 / parts of all."""
        cdef size_t size = self.size[self.first[i]]
        return size >= FEWEST_OF_A_KIND and parts * size > self.n

    cdef bint labels_differ(self, const uint32_t* features, bint of_large):
        """Whether the repeats that are not natural by themselves differ in their labels from the first of their kind at
        least a part 1 / AGREEING as often as any two examples. of_large: only those of large kinds."""
        cdef size_t i, repeats = 0, differing = 0
        cdef uint64_t equal_pairs = 0
        for i in range(self.n):
            if self.first[i] != i and not self.is_natural(i, features) and (not of_large or self.is_large(i, LARGE_KINDS)):
                repeats += 1
                differing += self.first_label[i] != self.first_label[self.first[i]]
        if repeats == 0:
            return False
        memset(self.buckets, 0, (self.mask + 1) * sizeof(uint32_t))
        for i in range(self.n):
            self.buckets[self.first_label[i]] += 1
        for i in range(self.n):
            equal_pairs += <uint64_t>self.buckets[i] * self.buckets[i]
        pairs = int(self.n) ** 2                # exact
        return pairs * AGREEING * differing >= (pairs - equal_pairs) * repeats > 0

    cdef void deal(self, uint8_t* out, size_t folds, uint64_t seed, const uint32_t* features, bint none, bint all) noexcept nogil:
        """Fill in the folds; with 0 of them, what is held out. none, all: whether no repeats are natural, or all of them."""
        cdef size_t width = folds if folds == 3 or folds > MOST else MOST
        cdef size_t i, place, length = min(LONGEST_RUN, max(1, self.n * MOST // (FEWEST_RUNS * width)))
        cdef uint64_t block
        for i in range(self.n):
            if not none and self.size[self.first[i]] > 1 and (all or self.is_natural(i, features)):
                place = self.before[i]
                block = mixed(self.first[i] + 1) + place // width
            else:
                place = self.first[i] // length
                block = place // width + 1
            block = mixed(block + seed)
            if width != MOST:
                out[i] = <uint8_t>drawn(block, place % width, width)
            elif folds:
                out[i] = DEALT[block % ORDERS][place % MOST] % folds
            else:
                out[i] = 0 if DEALT[block % ORDERS][place % MOST] == 0 and block // ORDERS % 5 < 2 else IN_NONE


def copies_of(const uint64_t[::1] contents not None, const uint8_t[::1] folds not None):
    """Of each example, by number, the first one of its kind, if all of that kind share a fold: they are copies; else itself."""
    cdef size_t i, n = contents.shape[0]
    cdef Folds found
    if <size_t>folds.shape[0] != n:
        raise ValueError("arrays of different lengths")
    copies = array("I", bytes(4 * n))
    cdef uint32_t[::1] out = copies
    found = Folds(n)
    if n == 0:
        return copies
    found.find_kinds(&contents[0])
    memset(found.before, 0, n * sizeof(uint32_t))       # of the first of a kind: whether there is another fold
    for i in range(n):
        found.before[found.first[i]] |= folds[i] != folds[found.first[i]]
    for i in range(n):
        out[i] = <uint32_t>i if found.before[found.first[i]] else found.first[i]
    return copies


def folds_of(const uint64_t[::1] contents not None, const uint32_t[::1] features not None, const double[::1] labels not None,
             uint8_t[::1] out not None, size_t folds, uint32_t seed=0):
    """Fill in the folds of examples, at most 20, in the order of the file; 0: a tenth is held out, in fold 0, and the
    others are in none, which is number 2.

    contents: hashes of the examples' contents. features: how many features each of them has as it is read; labels: which
    count only as equal or different. seed: of the permutations. MemoryError.

    With f the first example of a kind and runs of m examples, the k-th example of a natural kind is in the fold
    P[mixed(mixed(f + 1) + k // 4) % 24][k % 4], and any other one in P[mixed(r // 4 + 1) % 24][r % 4], r = f // m; P are the
    permutations of the folds. With one or two folds, that number modulo theirs. Held out is what would be in fold 0 of
    four, where the outer hash // 24 % 5 is below 2. With 3 folds, or more than 4, these are in the place of 4, and a
    permutation is drawn by the outer hash.
    """
    cdef size_t n = contents.shape[0], kinds, distinct
    cdef bint counts = False, differ = False
    cdef Folds found
    if not <size_t>features.shape[0] == <size_t>labels.shape[0] == <size_t>out.shape[0] == n:
        raise ValueError("arrays of different lengths")
    if folds > LARGEST:
        raise ValueError("more than 20 folds")
    if n == 0:
        return
    found = Folds(n)
    with nogil:
        kinds = found.find_kinds(&contents[0])
    if kinds < n:
        with nogil:
            distinct = found.find_labels(&labels[0])
            counts = found.find_pairs() == n and 2 * distinct <= n
        if not counts:
            found.large_are_natural = kinds <= MOST_FEW or found.labels_differ(&features[0], True)
            differ = found.labels_differ(&features[0], False)
    with nogil:
        found.deal(&out[0], folds, mixed(seed), &features[0], counts, differ)


def folds_of_groups(const uint64_t[::1] groups not None, uint8_t[::1] out not None, size_t folds):
    """The same for examples of which each has a group, whose examples share a fold.

    By decreasing size, each goes into the fold with the fewest examples so far. Held out is a tenth: by increasing number,
    groups that have room in it. OverflowError for fewer groups than folds.
    """
    cdef size_t n = groups.shape[0], i
    sizes, filled, dealt = Counter(groups), [0] * max(folds, 1), {}
    if len(sizes) < folds:
        raise OverflowError("fewer groups than folds")
    for group in sorted(sizes, key=lambda x: (-sizes[x] if folds else 0, x)):
        fold = min(range(len(filled)), key=filled.__getitem__)
        dealt[group] = fold if folds or 10 * (filled[0] + sizes[group]) <= n else IN_NONE
        filled[fold] += sizes[group] if dealt[group] == fold else 0
    for i in range(n):
        out[i] = dealt[groups[i]]
