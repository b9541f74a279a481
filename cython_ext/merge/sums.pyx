"""The sums over shards that every way of merging is made of, in one sweep over the keys of all of them.

Shards k = 1, ..., K are models that were trained from one common start 0. For each key and class, with Delta_k = w_k - w_0
and dS_k = max(S_k - S_0, 0):

    start, start_evidence   w_0 and S_0
    moved                   the number of k with Delta_k != 0
    delta                   sum Delta_k
    shared                  sum of share_k Delta_k: 1 / K each, or, of means of weights, by the examples that are in them
    evidence                dS = sum dS_k
    information             sum dS_k Delta_k
    path                    sum dS_k Delta_k / r(S_0, dS_k): see formulas.pxd
    dual                    sum (u_k - u_0), u = w H(S)
    extra                   what else is merged: x_0 + sum (x_k - x_0), the largest x, or the one that all have
    absent                  sum of penalty_k over the shards without the key: what each would have shrunk it by

All but `extra` are sums of terms of one shard, so sums of sums are the same. They run in the order of the shards.

Keys ascend in every model, so a tournament of K streams gives the keys of all, each with the shards that have it: a key
of a shard costs log2 K comparisons, and memory is that of the result. Arrays may lie at any address, as in a file.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.buffers cimport resize_large
from vwlite.core.merge.formulas cimport ITSELF, ROOT, VARIANCE, evidence_of, root_of, share_of_way

NAMES = ("start", "start_evidence", "moved", "delta", "shared", "evidence", "information", "path", "dual", "extra",
         "absent")

cdef enum:
    START, START_EVIDENCE, MOVED, DELTA, SHARED, EVIDENCE, INFORMATION, PATH, DUAL, EXTRA, ABSENT, COLUMNS

# How the extra number is merged.
cdef enum Extra:
    NOTHING, ADDED, LARGEST, SAME

EVIDENCES = {"itself": ITSELF, "root": ROOT, "variance": VARIANCE}
EXTRAS = {"": NOTHING, "added": ADDED, "largest": LARGEST, "same": SAME}

cdef uint64_t DONE = <uint64_t>-1


cdef inline double number_at(const Numbers* numbers, size_t i) noexcept nogil:
    cdef double x
    cdef float narrow
    if numbers.wide:
        memcpy(&x, numbers.at + 8 * i, 8)
        return x
    memcpy(&narrow, numbers.at + 4 * i, 4)
    return narrow


cdef class Stream:
    """A model as the sweep sees it: key after key.

    keys, weights, evidence, extra: memoryviews of formats "I", "d", and "f" or "d", a row of `records` numbers for each
    key; evidence and extra may be None. columns: where in a row each class stands. unseen: the weight of each class for
    a key that is not there; blank_evidence, blank_extra: the same of those. penalty: what the shard would have shrunk
    the weights of each class by. share: its part in `shared`.
    """

    def __cinit__(self, keys, weights, evidence, extra, columns, unseen, penalty, *, double blank_evidence=0,
                  double blank_extra=0, double share=1):
        cdef size_t c
        cdef const unsigned char[::1] bytes_of_keys = keys.cast("B") if len(keys) else b""
        cdef const unsigned char[::1] bytes_of_weights = weights.cast("B") if len(keys) else b""
        self.owners = keys, weights, evidence, extra
        self.a.n, self.a.records, self.a.share = len(keys), len(columns), share
        if keys.format != "I" or weights.format != "d" or len(weights) != self.a.n * self.a.records:
            raise ValueError("keys and weights are not those of a model")
        if sorted(columns) != list(range(self.a.records)):
            raise ValueError("the columns are not those of the classes")
        if self.a.n:
            self.a.keys, self.a.w = <const char*>&bytes_of_keys[0], <const char*>&bytes_of_weights[0]
        self.a.evidence, self.a.extra = self.numbers(evidence, blank_evidence), self.numbers(extra, blank_extra)
        self.a.column = <uint32_t*>malloc(self.a.records * sizeof(uint32_t))
        self.a.unseen = <double*>malloc(self.a.records * sizeof(double))
        self.a.penalty = <double*>malloc(self.a.records * sizeof(double))
        if self.a.column == NULL or self.a.unseen == NULL or self.a.penalty == NULL:
            raise MemoryError("no memory for the classes of a model")
        for c in range(self.a.records):
            self.a.column[c], self.a.unseen[c], self.a.penalty[c] = columns[c], unseen[c], penalty[c]

    def __dealloc__(self):
        free(self.a.column)
        free(self.a.unseen)
        free(self.a.penalty)

    cdef Numbers numbers(self, array, double blank) except *:
        cdef const unsigned char[::1] view
        if array is None or self.a.n == 0:
            return Numbers(NULL, False, blank)
        if array.format not in "fd" or len(array) != self.a.n * self.a.records:
            raise ValueError("the state is not that of a model")
        view = array.cast("B")
        return Numbers(<const char*>&view[0], array.format == "d", blank)

    def __len__(self):
        return self.a.n

    def aligned(self, const uint32_t[::1] keys not None, double[::1] out not None):
        """Fill in the weights of these keys, which ascend: a row of all classes for each."""
        cdef size_t i, c, at = 0, records = self.a.records
        cdef bint there
        if <size_t>out.shape[0] != keys.shape[0] * records:
            raise ValueError("the result is not as long as the keys")
        with nogil:
            for i in range(<size_t>keys.shape[0]):
                at = first_from(&self.a, at, keys[i])
                there = at < self.a.n and key_at(&self.a, at) == keys[i]
                for c in range(records):
                    if there:
                        out[i * records + c] = weight_at(&self.a, at * records + self.a.column[c])
                    else:
                        out[i * records + c] = self.a.unseen[c]


cdef inline uint32_t key_at(const Source* a, size_t i) noexcept nogil:
    cdef uint32_t found
    memcpy(&found, a.keys + 4 * i, 4)
    return found


cdef inline double weight_at(const Source* a, size_t at) noexcept nogil:
    cdef double found
    memcpy(&found, a.w + 8 * at, 8)
    return found


cdef size_t first_from(const Source* a, size_t at, uint32_t key) noexcept nogil:
    """The first place from `at` on whose key is not below this one: in growing steps, then halving them."""
    cdef size_t step = 1, low = at, high, middle
    while low + step < a.n and key_at(a, low + step) < key:
        low += step
        step *= 2
    if low >= a.n or key_at(a, low) >= key:
        return low
    high = min(low + step, a.n)
    while low + 1 < high:       # the key at low is below, that at high is not
        middle = low + (high - low) // 2
        if key_at(a, middle) < key:
            low = middle
        else:
            high = middle
    return high


cdef class Sums:
    """The sums, by their names: those of `wanted`, memoryviews with a row of all classes for each of `keys`.

    evidence, extra: names in EVIDENCES and EXTRAS. beta, c: as in formulas.pxd. rates: eta of each class. by_extra: the
    rate of a key is that over its merged extra number.
    """

    def __init__(self, Stream start not None, list shards not None, *, wanted, str evidence="itself", str extra="",
                 double beta=0, double c=2, rates=None, bint by_extra=False):
        cdef size_t i
        self.records, self.kind, self.beta, self.c = start.a.records, EVIDENCES[evidence], beta, c
        self.by_extra = by_extra
        self.rate = <double*>calloc(self.records, sizeof(double))
        if self.rate == NULL:
            raise MemoryError("no memory for the classes")
        for i in range(self.records):
            self.rate[i] = rates[i] if rates is not None else 0
        self.wanted = [name in wanted for name in NAMES]
        for i in range(COLUMNS):
            self.wants[i] = self.wanted[i]
        if not shards:
            raise ValueError("there is no shard")
        for stream in shards:
            if (<Stream?>stream).a.records != self.records:
                raise ValueError("the shards have other classes than the start")
        self.sum_up(start, shards, EXTRAS[extra])

    @staticmethod
    def restored(const uint32_t[::1] keys not None, columns, size_t records, *, str evidence="itself", double beta=0,
                 double c=2, rates=None, bint by_extra=False):
        """Sums that were made elsewhere. columns: by name, doubles, a row of all classes for each of the keys, which
        ascend. The others: as for the constructor. MemoryError; ValueError for columns of another length."""
        cdef Sums found = Sums.__new__(Sums)
        cdef const double[::1] numbers
        cdef size_t i, n = keys.shape[0]
        found.records, found.kind, found.beta, found.c, found.by_extra = records, EVIDENCES[evidence], beta, c, by_extra
        found.wanted = [name in columns for name in NAMES]
        for i in range(COLUMNS):
            found.wants[i] = found.wanted[i]
        found.rate = <double*>calloc(records, sizeof(double))
        if found.rate == NULL or found.make_room(n + 1):
            raise MemoryError("no memory for the sums")
        for i in range(records):
            found.rate[i] = rates[i] if rates is not None else 0
        for i, name in enumerate(NAMES):
            if name in columns:
                numbers = columns[name]
                if <size_t>numbers.shape[0] != n * records:
                    raise ValueError(f"{name} is not as long as the keys")
                if n:
                    memcpy(found.number[i], &numbers[0], n * records * sizeof(double))
        if n:
            memcpy(found.key, &keys[0], n * sizeof(uint32_t))
        found.size = n
        return found

    def __dealloc__(self):
        cdef size_t i
        free(self.key)
        free(self.rate)
        for i in range(COLUMNS):
            free(self.number[i])

    def __len__(self):
        return self.size

    @property
    def keys(self):
        """All keys of the start and the shards, ascending."""
        return view_of(self, self.key, self.size, 4, "I")

    def __getitem__(self, str name):
        """A column, as a memoryview. KeyError if it was not wanted."""
        i = NAMES.index(name)
        if not self.wanted[i]:
            raise KeyError(name)
        return view_of(self, self.number[i], self.size * self.records, 8, "d")

    def __contains__(self, str name):
        return self.wanted[NAMES.index(name)]

    def part(self, const uint32_t[::1] keys not None):
        """The same sums, of those of these ascending keys that are there. MemoryError."""
        cdef Sums found = Sums.__new__(Sums)
        cdef size_t i, j, at = 0, width = self.records * sizeof(double)
        cdef Source of_keys
        found.records, found.kind, found.beta, found.c = self.records, self.kind, self.beta, self.c
        found.by_extra, found.wanted, found.wants = self.by_extra, self.wanted, self.wants
        found.rate = <double*>malloc(width)
        if found.rate == NULL or found.make_room(min(self.size, <size_t>keys.shape[0]) + 1):
            raise MemoryError("no memory for some of the sums")
        memcpy(found.rate, self.rate, width)
        of_keys.keys, of_keys.n = <const char*>self.key, self.size
        with nogil:
            for i in range(<size_t>keys.shape[0]):
                at = first_from(&of_keys, at, keys[i])
                if at == self.size:
                    break
                if self.key[at] != keys[i]:
                    continue
                found.key[found.size] = keys[i]
                for j in range(COLUMNS):
                    if self.wants[j]:
                        memcpy(found.number[j] + found.size * self.records, self.number[j] + at * self.records, width)
                found.size += 1
        return found

    cdef int grow(self) noexcept nogil:
        """Make room; -1: no memory."""
        return self.make_room(self.capacity + self.capacity // 2 + 1024)

    cdef int make_room(self, size_t want) noexcept nogil:
        """Have room for so many keys; -1: no memory."""
        cdef size_t i
        if resize_large(<void**>&self.key, want, sizeof(uint32_t)):
            return -1
        for i in range(COLUMNS):
            if self.wants[i] and resize_large(<void**>&self.number[i], want * self.records, sizeof(double)):
                return -1
        self.capacity = want
        return 0

    cdef sum_up(self, Stream start, list shards, int extra):
        cdef Sweep s
        cdef size_t i, c, leaves = 1, n = len(shards) + 1
        cdef int failed
        cdef Stream stream
        while leaves < n:
            leaves *= 2
        s.shards, s.leaves = n - 1, leaves
        s.sources = <Source*>calloc(n, sizeof(Source))
        s.at = <size_t*>calloc(n, sizeof(size_t))
        s.tree = <uint64_t*>malloc(2 * leaves * sizeof(uint64_t))
        s.found = <uint32_t*>calloc(n, sizeof(uint32_t))
        s.present = <Present*>calloc(n, sizeof(Present))
        s.totals = <double*>calloc(4 * self.records, sizeof(double))
        try:
            if (s.sources == NULL or s.at == NULL or s.tree == NULL or s.found == NULL or s.present == NULL
                    or s.totals == NULL):
                raise MemoryError("no memory to merge")
            for i, stream in enumerate([start, *shards]):
                s.sources[i] = stream.a
                for c in range(self.records if i else 0):
                    s.totals[4 * c] += stream.a.share
                    s.totals[4 * c + 1] += stream.a.share * stream.a.unseen[c]
                    s.totals[4 * c + 2] += stream.a.unseen[c]
                    s.totals[4 * c + 3] += stream.a.penalty[c]
            with nogil:
                failed = self.sweep(&s, extra)
            if failed == -1:
                raise MemoryError("no memory for the merged model")
            if failed:
                raise ValueError("the extra numbers of a key differ")
        finally:
            free(s.sources)
            free(s.at)
            free(s.tree)
            free(s.found)
            free(s.present)
            free(s.totals)

    cdef int sweep(self, Sweep* s, int extra) noexcept nogil:
        """All keys; -1: no memory, -2: see `add_up`."""
        cdef size_t i, c, n
        cdef uint64_t top
        cdef uint32_t key
        cdef double* number
        for i in range(s.leaves):
            s.tree[s.leaves + i] = head(s, i) if i <= s.shards else DONE
        for i in range(s.leaves - 1, 0, -1):
            s.tree[i] = min(s.tree[2 * i], s.tree[2 * i + 1])
        while True:
            top = s.tree[1]
            if top == DONE:
                return 0
            key = <uint32_t>(top >> 32)
            n = 0
            if self.size == self.capacity and self.grow():
                return -1
            while top != DONE and top >> 32 == key:
                i = <uint32_t>top
                s.found[n] = <uint32_t>i
                n += 1
                s.at[i] += 1
                top = play(s, i)
            self.key[self.size] = key
            for c in range(self.records):
                if self.add_up(s, n, c, extra):
                    return -2
            self.size += 1

    cdef inline int add_up(self, Sweep* s, size_t n, size_t c, int extra) noexcept nogil:
        """The sums of a class, of a key that n streams have; -2: the extra numbers differ."""
        cdef size_t i, place, first = s.found[0] == 0, out = self.size * self.records + c
        cdef size_t absent = s.shards - (n - first)
        cdef const Source* a = &s.sources[0]
        cdef Present* p
        cdef double w = a.unseen[c], S = evidence_of(a.evidence.blank, self.kind), x = a.extra.blank
        cdef double root = 0, later = 0, delta, dS, share, rate = self.rate[c], merged = x
        cdef double moved = 0, total = 0, shared = 0, evidence = 0, information = 0, path = 0, dual = 0
        cdef double there = 0, there_unseen = 0, unseen = 0, penalty = 0
        cdef bint uses_path = self.wants[PATH], uses_dual = self.wants[DUAL], none = True
        for i in range(n):
            a = &s.sources[s.found[i]]
            place = (s.at[s.found[i]] - 1) * self.records + a.column[c]
            p = &s.present[i]
            p.w = weight_at(a, place)
            p.S = evidence_of(a.evidence.blank if a.evidence.at == NULL else
                              number_at(&a.evidence, place), self.kind)
            p.extra = a.extra.blank if a.extra.at == NULL else number_at(&a.extra, place)
        if first:
            w, S, x = s.present[0].w, s.present[0].S, s.present[0].extra
            merged, none = x, False
        if extra != NOTHING:
            for i in range(first, n):
                if extra == ADDED:
                    merged += s.present[i].extra - x
                elif none or (extra == LARGEST and s.present[i].extra > merged):
                    merged, none = s.present[i].extra, False
                elif extra == SAME and s.present[i].extra != merged:
                    return -2
        if self.by_extra:
            rate = rate / merged if merged > 0 else 0
        rate *= self.c
        if uses_dual or uses_path:
            root = root_of(S, self.kind)
        for i in range(first, n):
            p = &s.present[i]
            a = &s.sources[s.found[i]]
            delta = p.w - w
            dS = p.S - S if p.S > S else 0
            moved += delta != 0
            total += delta
            shared += a.share * delta
            evidence += dS
            information += dS * delta
            there += a.share
            there_unseen += a.share * a.unseen[c]
            unseen += a.unseen[c]
            penalty += a.penalty[c]
            if uses_dual or uses_path:
                later = root_of(p.S, self.kind)
            if uses_path and dS > 0 and delta != 0:
                share = share_of_way(root, dS, later, self.beta, rate)
                path += dS * delta / share if share > 0 else 0
            if uses_dual:
                dual += p.w * (self.beta + later) - w * (self.beta + root)
        if absent > 0:      # they have forgotten it, or never seen it: its weight is that of all such
            total += (s.totals[4 * c + 2] - unseen) - absent * w
            shared += (s.totals[4 * c + 1] - there_unseen) - (s.totals[4 * c] - there) * w
            moved += absent if w != 0 else 0
            dual -= absent * (w * (self.beta + root))
            if extra == ADDED:
                merged -= absent * x
        if self.wants[START]:
            self.number[START][out] = w
        if self.wants[START_EVIDENCE]:
            self.number[START_EVIDENCE][out] = S
        if self.wants[MOVED]:
            self.number[MOVED][out] = moved
        if self.wants[DELTA]:
            self.number[DELTA][out] = total
        if self.wants[SHARED]:
            self.number[SHARED][out] = shared
        if self.wants[EVIDENCE]:
            self.number[EVIDENCE][out] = evidence
        if self.wants[INFORMATION]:
            self.number[INFORMATION][out] = information
        if uses_path:
            self.number[PATH][out] = path
        if uses_dual:
            self.number[DUAL][out] = dual
        if self.wants[EXTRA]:
            self.number[EXTRA][out] = merged
        if self.wants[ABSENT]:
            self.number[ABSENT][out] = s.totals[4 * c + 3] - penalty if absent > 0 else 0
        return 0


cdef inline uint64_t head(Sweep* s, size_t i) noexcept nogil:
    """The key that a stream is at, with its number; DONE behind the last."""
    cdef const Source* a = &s.sources[i]
    return <uint64_t>key_at(a, s.at[i]) << 32 | i if s.at[i] < a.n else DONE


cdef inline uint64_t play(Sweep* s, size_t i) noexcept nogil:
    """Let a stream that has moved on play its matches; the winner of all."""
    cdef size_t at = s.leaves + i
    cdef uint64_t winner = head(s, i), other
    s.tree[at] = winner
    while at > 1:
        other = s.tree[at ^ 1]
        winner = other if other < winner else winner
        at >>= 1
        s.tree[at] = winner
    return winner
