"""The sums over shards that a merge is made of, in one scan over the keys of all shards.

Shards k = 1, ..., K are models that were trained from one common start 0. For each key and class, with Delta_k = w_k - w_0
and dS_k = max(S_k - S_0, 0):

    start, start_evidence   w_0 and S_0
    evidence                dS = sum dS_k
    extra                   other merged numbers: x_0 + sum (x_k - x_0), the largest x, or the common one
    absent                  sum of penalty_k over the shards without the key: their missing shrinkage

and the directions of a merge, each a change of the weight from the start (`ways` in Python):

    mean                    sum of share_k Delta_k: 1 / K each, or, of means of weights, by the examples that are in them
    touched                 sum Delta_k / m, m the number of shards in which the weight has moved
    root                    sum Delta_k / sqrt m
    information             sum dS_k Delta_k / dS: Agarwal, Chapelle, Dudik, Langford. A Reliable Effective Terascale
                            Linear Learning System. JMLR 15, 2014; in differences from the start, counted once
    path2, path, path32     r(S_0, dS) (sum dS_k Delta_k / r(S_0, dS_k)) / dS with c = 2, 8 and 32, r the share of its way
                            that a weight has gone (formulas.pxd): the sum of what rare features have learned, the
                            weighted mean of what common ones have
    dual                    (u_0 + sum (u_k - u_0)) / (S_0 + dS) - w_0, u = w S, of arow: the product of the distributions

Where dS is 0, information and the paths are `touched`: so a single shard is unchanged. There a weight moves by shrinkage
only, and the sum of the shrinkage of K shards may exceed the weight. Sums run in the order of the shards.

Keys ascend in every model, so those of all models below some key are the next ones of each: they are sorted in chunks
by radix sort, which keeps the shards of a key in order. Beside the result that takes a fixed memory, and 7 ns per key
of a shard instead of the 16 of a tournament. Exponentials and logarithms for the paths are computed for a whole chunk at
once (20 ns each one by one). Arrays may be at any address, as in a file.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.base.arrays cimport view_of
from vwlite.core.base.buffers cimport resize_large
from vwlite.core.base.targets cimport *
from vwlite.core.merge.formulas cimport ITSELF, LEAST_C, ROOT, VARIANCE, evidence_of, share_at_four_times, share_of_way

NAMES = ("start", "start_evidence", "evidence", "extra", "absent", "mean", "touched", "root", "information", "path2",
         "path", "path32", "dual")

cdef enum:
    START, START_EVIDENCE, EVIDENCE, EXTRA, ABSENT, MEAN, TOUCHED, ROOTED, INFORMATION, PATH2, PATH, PATH32, DUAL, COLUMNS

# How the extra number is merged.
cdef enum Extra:
    NOTHING, ADDED, LARGEST, SAME

EVIDENCES = {"itself": ITSELF, "root": ROOT, "variance": VARIANCE}
EXTRAS = {"": NOTHING, "added": ADDED, "largest": LARGEST, "same": SAME}

cdef enum:
    TOGETHER = 8192     # keys of shards that are sorted at a time, or a few more
    LEAST = 64          # of them that a shard may have, however many shards there are
    DIGIT = 11          # bits that are sorted by at a time

cdef extern from *:
    """
    /* share_of_way of formulas.pxd, of many; -1 where another formula than the usual one is needed. */
    VWLITE_CLONES static void vwlite_shares_of_ways(const double *root, const double *gained, const double *later,
                                                    const double *rate, double beta, double *share, size_t n) {
        for (size_t i = 0; i < n; i++) {
            double q = gained[i] / (root[i] + later[i]);
            double ratio = q / (beta + root[i]);
            double x = rate[i] * (q - beta * vwlite_log(1 + ratio));
            double found = 1 - vwlite_exp(x < 700 ? -x : -700.0);
            share[i] = ratio > 1e-3 && x > 1e-3 ? found : -1;
        }
    }
    """
    void shares_of_ways "vwlite_shares_of_ways"(const double* root, const double* gained, const double* later,
                                                const double* rate, double beta, double* share, size_t n) noexcept nogil


cdef inline double number_at(const Numbers* numbers, size_t i) noexcept nogil:
    cdef double x
    cdef float narrow
    if numbers.wide:
        memcpy(&x, numbers.at + 8 * i, 8)
        return x
    memcpy(&narrow, numbers.at + 4 * i, 4)
    return narrow


cdef class ModelStream:
    """A model during the scan: key after key.

    keys, weights, evidence, extra: memoryviews of formats "I", "d", and "f" or "d", a row of `records` numbers for each
    key; evidence and extra may be None. columns: the position of each class in a row. unseen: the weight of each class
    for a missing key; blank_evidence, blank_extra: the same of those. penalty: the shrinkage that the shard would have
    applied to the weights of each class by. share: its part in `shared`.
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


cdef inline uint32_t key_at(const ModelArrays* a, size_t i) noexcept nogil:
    cdef uint32_t found
    memcpy(&found, a.keys + 4 * i, 4)
    return found


cdef inline double weight_at(const ModelArrays* a, size_t at) noexcept nogil:
    cdef double found
    memcpy(&found, a.w + 8 * at, 8)
    return found


cdef class Sums:
    """The sums, by their names: those of `wanted`, memoryviews with a row of all classes for each of `keys`.

    evidence, extra: names in EVIDENCES and EXTRAS. beta: as in formulas.pxd. rates: eta of each class. by_extra: the
    rate of a key is that over its merged extra number.
    """

    def __init__(self, ModelStream start not None, list shards not None, *, wanted, str evidence="itself", str extra="",
                 double beta=0, rates=None, bint by_extra=False):
        self.allocate(start.a.records, wanted, evidence, beta, rates, by_extra)
        if not shards:
            raise ValueError("no shards are given")
        for stream in shards:
            if (<ModelStream?>stream).a.records != self.records:
                raise ValueError("the shards have other classes than the start")
        self.sum_up(start, shards, EXTRAS[extra])

    cdef allocate(self, size_t records, wanted, str evidence, double beta, rates, bint by_extra):
        cdef size_t i
        self.records, self.kind, self.beta, self.by_extra = records, EVIDENCES[evidence], beta, by_extra
        self.rate = <double*>calloc(records, sizeof(double))
        if self.rate == NULL:
            raise MemoryError("no memory for the classes")
        for i in range(records):
            self.rate[i] = rates[i] if rates is not None else 0
        self.wanted = [name in wanted for name in NAMES]
        for i in range(COLUMNS):
            self.wants[i] = self.wanted[i]
        self.uses_path = self.wants[PATH2] or self.wants[PATH] or self.wants[PATH32]

    def __dealloc__(self):
        cdef size_t i
        free(self.key)
        free(self.rate)
        for i in range(COLUMNS):
            free(self.column[i])

    def __len__(self):
        return self.size

    @property
    def keys(self):
        """All keys of the start and the shards, ascending."""
        return view_of(self, self.key, self.size, 4, "I")

    def __getitem__(self, str name):
        """A column, as a memoryview. KeyError if it was not requested."""
        i = NAMES.index(name)
        if not self.wanted[i]:
            raise KeyError(name)
        return view_of(self, self.column[i], self.size * self.records, 8, "d")

    def __contains__(self, str name):
        return self.wanted[NAMES.index(name)]

    @property
    def names(self):
        """The names of the computed columns."""
        return [name for name in NAMES if name in self]

    cdef int grow(self, size_t want) noexcept nogil:
        """Increase the capacity to `want` keys; -1: no memory."""
        cdef size_t i
        if resize_large(<void**>&self.key, want, sizeof(uint32_t)):
            return -1
        for i in range(COLUMNS):
            if self.wants[i] and resize_large(<void**>&self.column[i], want * self.records, sizeof(double)):
                return -1
        self.capacity = want
        return 0

    cdef sum_up(self, ModelStream start, list shards, int extra):
        cdef Scan s
        cdef size_t i, c, n = len(shards) + 1, step_capacity
        cdef int failed
        cdef ModelStream stream
        memset(&s, 0, sizeof(s))
        s.shards, s.most = n - 1, max(LEAST, TOGETHER // self.records // n)
        step_capacity = n * s.most      # of each shard; and as many of all
        s.sources = <ModelArrays*>calloc(n, sizeof(ModelArrays))
        s.at = <size_t*>calloc(n, sizeof(size_t))
        s.items = <uint64_t*>malloc(step_capacity * sizeof(uint64_t))
        s.spare = <uint64_t*>malloc(step_capacity * sizeof(uint64_t))
        s.found = <uint32_t*>calloc(n, sizeof(uint32_t))
        s.present = <Present*>calloc(n, sizeof(Present))
        s.totals = <double*>calloc(4 * self.records, sizeof(double))
        s.steps = <double*>malloc((6 * sizeof(double) + sizeof(size_t))
                                  * (2 * step_capacity * self.records if self.uses_path else 1))
        s.step_capacity = 2 * step_capacity * self.records
        try:
            if (s.sources == NULL or s.at == NULL or s.items == NULL or s.spare == NULL or s.found == NULL
                    or s.present == NULL or s.totals == NULL or s.steps == NULL):
                raise MemoryError("no memory to merge")
            for i, stream in enumerate([start, *shards]):
                s.sources[i] = stream.a
                for c in range(self.records if i else 0):
                    s.totals[4 * c] += stream.a.share
                    s.totals[4 * c + 1] += stream.a.share * stream.a.unseen[c]
                    s.totals[4 * c + 2] += stream.a.unseen[c]
                    s.totals[4 * c + 3] += stream.a.penalty[c]
            with nogil:
                failed = self.scan(&s, extra)
            if failed == -1:
                raise MemoryError("no memory for the merged model")
            if failed:
                raise ValueError("the extra numbers of a key differ")
        finally:
            free(s.sources)
            free(s.at)
            free(s.items)
            free(s.spare)
            free(s.found)
            free(s.present)
            free(s.totals)
            free(s.steps)

    cdef int scan(self, Scan* s, int extra) noexcept nogil:
        """All keys; -1: no memory, -2: see `add_up`."""
        cdef size_t i, c, n, at, count
        cdef uint64_t key
        cdef const uint64_t* item
        while True:
            count = next_keys(s, &item)
            if count == 0:
                return 0
            at = 0
            while at < count:
                if self.size == self.capacity and self.grow(self.capacity + self.capacity // 2 + 1024):
                    return -1
                key, n = item[at] >> 32, 0
                while at < count and item[at] >> 32 == key:
                    i = <uint32_t>item[at]
                    s.found[n] = <uint32_t>i
                    s.at[i] += 1
                    n += 1
                    at += 1
                self.key[self.size] = <uint32_t>(s.least + key)
                for c in range(self.records):
                    if self.add_up(s, n, c, extra):
                        return -2
                self.size += 1
            self.add_paths(s)

    cdef inline int add_up(self, Scan* s, size_t n, size_t c, int extra) noexcept nogil:
        """The sums of a class, of a key that n streams have; -2: the extra numbers differ."""
        cdef size_t i, place, first = s.found[0] == 0, out = self.size * self.records + c
        cdef size_t absent = s.shards - (n - first)
        cdef const ModelArrays* a = &s.sources[0]
        cdef Present* p
        cdef double w = a.unseen[c], S = evidence_of(a.evidence.blank, self.kind), x = a.extra.blank
        cdef double root = 0, delta, dS, rate = self.rate[c], merged = x
        cdef double moved = 0, total = 0, shared = 0, evidence = 0, information = 0, dual = 0
        cdef double there = 0, there_unseen = 0, unseen = 0, penalty = 0
        cdef double H, found[COLUMNS]
        cdef bint none = True
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
        rate *= LEAST_C
        if self.uses_path:
            root = sqrt(S)
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
            dual += p.w * p.S - w * S
            if self.uses_path and dS > 0 and delta != 0:
                add_step(s, out, root, dS, sqrt(p.S), rate, delta)
        if self.uses_path and evidence > 0:
            add_step(s, out, root, evidence, sqrt(S + evidence), rate, 0)
        if absent > 0:      # they have forgotten it, or never seen it: its weight is that of all such
            total += (s.totals[4 * c + 2] - unseen) - absent * w
            shared += (s.totals[4 * c + 1] - there_unseen) - (s.totals[4 * c] - there) * w
            moved += absent if w != 0 else 0
            dual -= absent * (w * S)
            if extra == ADDED:
                merged -= absent * x
        H = S + evidence
        found[START], found[START_EVIDENCE], found[EVIDENCE], found[EXTRA], found[MEAN] = w, S, evidence, merged, shared
        found[ABSENT] = s.totals[4 * c + 3] - penalty if absent > 0 else 0
        found[TOUCHED] = total / moved if moved > 0 else 0
        found[ROOTED] = total / sqrt(moved) if moved > 0 else 0
        found[INFORMATION] = information / evidence if evidence > 0 else found[TOUCHED]
        found[PATH2] = found[PATH] = found[PATH32] = 0 if evidence > 0 else found[TOUCHED]     # `add_paths` adds to these
        found[DUAL] = (w * S + dual) / H - w if H > 0 else 0
        for i in range(COLUMNS):
            if self.wants[i]:
                self.column[i][out] = found[i]
        return 0

    cdef void add_paths(self, Scan* s) noexcept nogil:
        """Add the steps that were noted to the sums of the paths."""
        cdef size_t i, j, n = s.count, step_capacity = s.step_capacity
        cdef const double* root = s.steps
        cdef const double* gained = s.steps + step_capacity
        cdef const double* later = s.steps + 2 * step_capacity
        cdef const double* rate = s.steps + 3 * step_capacity
        cdef const double* delta = s.steps + 4 * step_capacity
        cdef double* share = s.steps + 5 * step_capacity
        cdef const size_t* out = <const size_t*>(s.steps + 6 * step_capacity)
        if n:
            shares_of_ways(root, gained, later, rate, self.beta, share, n)
        for i in range(n):
            if share[i] < 0 or self.beta == 0:
                share[i] = share_of_way(root[i], gained[i], later[i], self.beta, rate[i])
        for j in range(PATH2, PATH32 + 1):
            for i in range(n if self.wants[j] else 0):
                if delta[i] == 0:       # that of all shards
                    self.column[j][out[i]] *= share[i] / gained[i]
                elif share[i] > 0:
                    self.column[j][out[i]] += gained[i] * delta[i] / share[i]
            for i in range(n):
                share[i] = share_at_four_times(share[i])
        s.count = 0


cdef inline void add_step(Scan* s, size_t out, double root, double gained, double later, double rate,
                          double delta) noexcept nogil:
    """Record the step of a shard for the paths, to be added to the sum at `out`; or, of no `delta`, that of all."""
    cdef size_t i = s.count
    s.steps[i], s.steps[s.step_capacity + i], s.steps[2 * s.step_capacity + i] = root, gained, later
    s.steps[3 * s.step_capacity + i], s.steps[4 * s.step_capacity + i] = rate, delta
    (<size_t*>&s.steps[6 * s.step_capacity])[i] = out
    s.count += 1


cdef size_t next_keys(Scan* s, const uint64_t** item) noexcept nogil:
    """The next keys of all streams, less `least`, in order, those of a key by their streams: key << 32 | stream. Their
    number; 0: the end. The streams are not advanced."""
    cdef size_t i, j, n = 0
    cdef uint64_t end = <uint64_t>1 << 32, least = end, key, bits = 0
    cdef const ModelArrays* a
    for i in range(s.shards + 1):
        a = &s.sources[i]
        if s.at[i] < a.n:
            least = min(least, <uint64_t>key_at(a, s.at[i]))
            if a.n - s.at[i] > s.most:
                end = min(end, <uint64_t>key_at(a, s.at[i] + s.most))
    s.least = least
    for i in range(s.shards + 1):
        a = &s.sources[i]
        for j in range(s.at[i], a.n):
            key = key_at(a, j)
            if key >= end:
                break
            bits |= key - least
            s.items[n] = (key - least) << 32 | i
            n += 1
    item[0] = sorted_items(s.items, s.spare, n, bits)
    return n


cdef const uint64_t* sorted_items(uint64_t* items, uint64_t* spare, size_t n, uint64_t bits) noexcept nogil:
    """The items by their upper halves, none of which has another bit than these; equal ones as they were. They are in one
    of the two places."""
    cdef uint32_t[1 << DIGIT] place
    cdef uint32_t total, count
    cdef uint64_t digits = (1 << DIGIT) - 1
    cdef size_t i
    cdef int shift = 32
    while bits:
        memset(place, 0, sizeof(place))
        for i in range(n):
            place[items[i] >> shift & digits] += 1
        total = 0
        for i in range(1 << DIGIT):
            count = place[i]
            place[i] = total
            total += count
        for i in range(n):
            count = place[items[i] >> shift & digits]
            place[items[i] >> shift & digits] += 1
            spare[count] = items[i]
        items, spare = spare, items
        bits >>= DIGIT
        shift += DIGIT
    return items
