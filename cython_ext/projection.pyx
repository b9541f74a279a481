"""Euclidean projections onto the simplex and the l1 ball, and a vector that stays on the ball while it changes.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball for Learning in High Dimensions. ICML 2008.

Every projection here is w_i = sign(v_i) min(b, max(|v_i| - theta a_i, 0)) for one number theta >= 0, for which
sum a_i |w_i| = z (for the simplex, of any sign, and without |.|); the algorithms find theta. `vwlite.projection`
validates the arguments, and has the documentation.

A. Without weights and box (`threshold`). Beside the random pivot of the paper (Fig. 2), each round tries
   theta = (sum - z) / count over the remaining numbers (Michelot 1986): all that are not larger are dropped; if none is
   dropped, this is the answer. That is the usual case, after a few rounds; alone it would be quadratic for some inputs.
   Numbers equal to the pivot are decided with it: for a pivot that is too small the paper removes only one index, and
   is quadratic with many ties. The largest number, M, is subtracted first, so no digits of z are lost however large the
   numbers are.
B. With weights or box (`breakpoint_search`). sum a_i |w_i| falls in theta, and is linear between the breakpoints |v_i| / a_i
   (w_i becomes 0) and (|v_i| - b) / a_i (w_i leaves the box). A random one between the current bounds becomes the new
   lower or upper bound; a coordinate without breakpoints between them is decided.

Both take O(n) expected time for any input. Pivots are random, but from a fixed seed: the same input gives the same bytes.

C. The sparse form (`SparseBall`); section 6 of the paper.
"""

from math import frexp, ldexp

import numpy as np

from libc.math cimport INFINITY, copysign, fabs, isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from vwlite.core.base.active_set cimport (
    AHEAD, WAITING, ActiveSet, drop_waiting, free_active_set, is_valid, push, reserve_waiting, sift_due, take_due, wait,
)
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.base.radix_heap cimport BUCKETS, HeapEntry, append, clear

cdef enum:
    MOST = 0xFFFFFFFE # rank of a cell

cdef uint64_t SEED = 0x853C49E6748FEA9B
cdef double LARGEST_SUM = 16          # of |u|, in radii; beyond, u - Theta would lose digits
cdef double LARGE = 4                 # a weight of this many radii before the projection: see `restart`
cdef double RANKS_OF_AVERAGE = 1 << 16


cdef inline size_t random_below(uint64_t* state, size_t n) noexcept nogil:
    """xorshift64*"""
    cdef uint64_t x = state[0]
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    state[0] = x
    return <size_t>((x * <uint64_t>0x2545F4914F6CDD1D) >> 11) % n


# --- A. one theta for all ----------------------------------------------------------------------

# The loops below have no branch that depends on the data, as it would be a coin toss; and several sums, as additions
# in one chain wait for each other.

cdef inline double size_of(double v, bint signed) noexcept nogil:
    return v if signed else fabs(v)


cdef double largest(const double* v, size_t n, bint signed, double* total) noexcept nogil:
    """The largest v_i, or |v_i|, and the sum of |v_i|."""
    cdef double sums[4]
    cdef double tops[4]
    cdef double x
    cdef size_t i, j
    for j in range(4):
        sums[j], tops[j] = 0, -INFINITY
    for i in range(0, n - n % 4, 4):
        for j in range(4):
            x = size_of(v[i + j], signed)
            sums[j] += fabs(x)
            tops[j] = x if x > tops[j] else tops[j]
    for i in range(n - n % 4, n):
        x = size_of(v[i], signed)
        sums[0] += fabs(x)
        tops[0] = x if x > tops[0] else tops[0]
    total[0] = (sums[0] + sums[1]) + (sums[2] + sums[3])
    return max(max(tops[0], tops[1]), max(tops[2], tops[3]))


cdef double sum_of(const double* x, size_t n) noexcept nogil:
    cdef double sums[4]
    cdef size_t i, j
    for j in range(4):
        sums[j] = 0
    for i in range(0, n - n % 4, 4):
        for j in range(4):
            sums[j] += x[i + j]
    for i in range(n - n % 4, n):
        sums[0] += x[i]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


cdef size_t gather(const double* v, size_t n, bint signed, double top, double t, double* out, double* total) noexcept nogil:
    """Keep v_i - top (or |v_i| - top) where it is above t; how many, and their sum."""
    cdef size_t i, j, k = 0
    cdef double x[4]
    for i in range(0, n - n % 4, 4):
        for j in range(4):
            x[j] = size_of(v[i + j], signed) - top
        for j in range(4):
            out[k] = x[j]
            k += x[j] > t
    for i in range(n - n % 4, n):
        x[0] = size_of(v[i], signed) - top
        out[k] = x[0]
        k += x[0] > t
    total[0] = sum_of(out, k)
    return k


cdef double threshold(double* d, double* spare, size_t n, double total, double z) noexcept nogil:
    """theta with sum max(d_i - theta, 0) = z > 0.

    The d_i, whose sum is `total`, are at most 0, and one is 0. They are overwritten; `spare` has the same size.

    Dropped numbers are at most t, a lower bound of theta, which rounding must not decrease: else dropped numbers,
    perhaps many ties, could exceed the final theta by one bit.
    """
    cdef uint64_t state = SEED
    cdef double s = 0, t = -INFINITY, p, x, s_greater
    cdef double* swap
    cdef size_t rho = 0, kept, greater, less, ties, i
    cdef int slow = 0      # rounds in a row that took out less than a quarter
    while n:
        t = max(t, (s + total - z) / (rho + n))
        kept = gather(d, n, True, 0, t, d, &total)
        if kept == n:
            return t
        slow = slow + 1 if kept > n - n / 4 else 0
        n = kept
        if n == 0:
            break
        if slow < 2:
            continue
        slow = 0
        p = d[random_below(&state, n)]
        greater = less = 0
        for i in range(n):
            x = d[i]
            d[greater] = x
            spare[less] = x
            greater += x > p
            less += x < p
        s_greater = sum_of(d, greater)
        ties = n - greater - less
        if s + s_greater - (rho + greater) * p < z:
            s += s_greater + ties * p
            rho += greater + ties
            swap = d
            d = spare
            spare = swap
            n, total = less, sum_of(d, less)
        else:
            n, total, t = greater, s_greater, max(t, p)
    return max(t, (s - z) / rho) if rho else t


def project_plain(const double[::1] v, double z, bint simplex, double[::1] out):
    """Onto the simplex, or the l1 ball; z > 0. `out` does not overlap v. False: v has a number that is not finite."""
    cdef size_t n = v.shape[0], kept, i
    cdef double top, total, t, theta, x
    cdef double* spare
    if n == 0:
        return True
    with nogil:
        top = largest(&v[0], n, simplex, &total)
        if not isfinite(total) and not all_finite(&v[0], n):
            with gil:
                return False
        if not simplex and total <= z:
            memcpy(&out[0], &v[0], n * sizeof(double))
            with gil:
                return True
        t = -z
        if not simplex and isfinite(total):
            # theta is at least (sum - z) / n, minus the largest rounding error
            t = max(t, (total * (1 - n * 2.3e-16) - z) / n - top * (1 + 4.5e-16))
        kept = gather(&v[0], n, simplex, top, t, &out[0], &total)
        spare = <double*>malloc(kept * sizeof(double))
        if spare == NULL:
            with gil:
                raise MemoryError("no memory for the projection")
        theta = threshold(&out[0], spare, kept, total, z)
        free(spare)
        for i in range(n):
            x = (size_of(v[i], simplex) - top) - theta
            out[i] = copysign(x if x > 0 else 0, 1 if simplex else v[i])
    return True


cdef bint all_finite(const double* v, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if not isfinite(v[i]):
            return False
    return True


# --- B. weights and box ------------------------------------------------------------------------

cdef struct Component:
    double v, a       # both positive; for the simplex v has any sign


cdef inline double mass(Component c, double theta, double b) noexcept nogil:
    """a |w|"""
    cdef double w = c.v - theta * c.a
    return c.a * (b if w > b else w if w > 0 else 0)


cdef double breakpoint_search(Component* undecided, size_t n, double z, double b, double low) noexcept nogil:
    """theta with sum a_i min(b, max(v_i - theta a_i, 0)) = z > 0; the sum is larger than z for theta = low."""
    cdef uint64_t state = SEED
    cdef double high = INFINITY     # the other bound of theta
    cdef double fixed = 0     # of those decided: the mass of those that are clipped, and for the others
    cdef double linear = 0    # sum a v,
    cdef double slope = 0     # sum a^2
    cdef double p, zero, clip, found
    cdef size_t i, kept
    cdef Component c
    while n:
        c = undecided[random_below(&state, n)]
        zero, clip = c.v / c.a, (c.v - b) / c.a
        if zero >= high or (clip > low and random_below(&state, 2)):
            p = clip
        else:
            p = zero
        found = fixed + linear - p * slope
        for i in range(n):
            found += mass(undecided[i], p, b)
        if found >= z:
            low = p
        else:
            high = p
        kept = 0
        for i in range(n):
            c = undecided[i]
            zero, clip = c.v / c.a, (c.v - b) / c.a
            if zero <= low:
                continue
            if clip >= high:
                fixed += c.a * b
            elif zero >= high and clip <= low:
                linear += c.a * c.v
                slope += c.a * c.a
            else:
                undecided[kept] = c
                kept += 1
        n = kept
    if slope > 0:
        return min(max((fixed + linear - z) / slope, low), high)
    return low


def project_general(const double[::1] v, double z, weights, double b, double to_unit, double a_to_unit,
                    double[::1] out, bint simplex=False):
    """Onto sum a_i |w_i| <= z and |w_i| <= b, or the simplex sum a_i w_i = z, 0 <= w_i <= b; z, b > 0. `out` may be v.

    `to_unit` and `a_to_unit` are powers of two that bring the largest |v_i| and a_i to about 1.
    """
    cdef const double[::1] a
    cdef const double* given = NULL
    cdef size_t n = v.shape[0], i, kept = 0
    cdef double total = 0, theta, w, radius = z * to_unit * a_to_unit, edge = b * to_unit, back = 1 / to_unit
    cdef Component c
    cdef Component* coordinates
    if n == 0:
        return
    if weights is not None:
        a = weights
        given = &a[0]
    with nogil:
        coordinates = <Component*>malloc(n * sizeof(Component))
        if coordinates == NULL:
            with gil:
                raise MemoryError("no memory for the projection")
        for i in range(n):
            c = Component(size_of(v[i], simplex) * to_unit, (given[i] if given else 1) * a_to_unit)
            total += mass(c, 0, edge)
            coordinates[kept] = c
            kept += simplex or c.v > 0
        theta = 0
        if simplex or total > radius:
            theta = breakpoint_search(coordinates, kept, radius, edge, -INFINITY if simplex else 0)
        free(coordinates)
        if theta == 0 and not simplex:
            for i in range(n):
                out[i] = min(max(v[i], -b), b)
        else:
            for i in range(n):
                w = size_of(v[i], simplex) * to_unit - theta * ((given[i] if given else 1) * a_to_unit)
                out[i] = copysign(min(max(w, 0), edge) * back, 1 if simplex else v[i])


# --- C. the sparse form ------------------------------------------------------------------------

cdef struct BallCell:     # see active_set.pxd
    uint32_t mark     # its place plus one, once it was active
    uint32_t rank
    double u          # sign(w) (|w| + Theta); 0 if w is 0


cdef class SparseBall:
    """SparseBall(n, z, start=None): a vector w of n numbers that stays on the l1 ball, ||w||_1 <= z.

    `add` adds to k of them and projects, exactly, at a cost that does not depend on n: O(k) amortised steps, each of
    which moves an entry of a radix heap at most 32 times. `start` is the first w (zeros if None); it is projected.

    A nonzero w_i is a raw magnitude u_i and one global shift Theta: w_i = sign(u_i) (|u_i| - Theta). With S the sum of
    |u| and rho the count over the active set {|u| > Theta}, projecting means raising Theta to (S - z) / rho, after
    dropping the active |u| that this leaves behind, which are at the head of a queue. Each was added once.

    - Queue and waiting cells: see active_set.pxd. Here the ranks are lower bounds of |u| in units of a fraction of the
      average weight.
    - S is the sum of two doubles, with twice the digits of one, and so stays the sum of |u|.
    - When S exceeds 16 z, Theta is taken off all |u| (`rebase`). Of the active weights those that have not been touched
      since the last time were above Theta > 15 z / rho then, with a sum of at most z: at most every 15th. So all the
      others have paid for it.

    All numbers are kept in units of the power of two above z.

    Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6, with another
    queue than its red-black tree.
    """

    cdef BallCell* cells                  # owned; [n]
    cdef readonly size_t n
    cdef readonly double z
    cdef readonly size_t active       # rho: how many weights are not zero
    cdef double unit, to_unit, radius # radius: z in units
    cdef double shift                 # Theta
    cdef double sum, rest             # S = sum + rest
    cdef double to_rank
    cdef size_t ranked_for            # `active` when `to_rank` was chosen
    cdef ActiveSet active_set         # a key is the place of a cell

    def __cinit__(self, size_t n, double z, start=None):
        if not 1e-290 <= z <= 1e290:
            raise ValueError(f"z is {z}: it must lie between 1e-290 and 1e290")
        if not 0 < n <= MOST:
            raise ValueError(f"n is {n}: it must be at least 1 and below 2^32 - 1")
        self.n, self.z = n, z
        self.active_set.rank_at = sizeof(uint32_t)
        self.unit = ldexp(1, frexp(z)[1])
        self.to_unit = 1 / self.unit
        self.radius = z * self.to_unit
        self.choose_ranks()
        self.cells = <BallCell*>calloc(n, sizeof(BallCell))
        if self.cells == NULL:
            raise MemoryError("no memory for the vector")

    def __init__(self, n, z, start=None):
        if start is not None:
            self.start_at(start)

    def __dealloc__(self):
        free(self.cells)
        free_active_set(&self.active_set)

    cdef start_at(self, start):
        """Start at the projection of `start`."""
        cdef size_t i
        cdef double u
        cdef const double[::1] given = np.ascontiguousarray(start, dtype=np.float64)
        cdef double[::1] projected = np.empty(self.n)
        if <size_t>given.shape[0] != self.n:
            raise ValueError(f"start has {given.shape[0]} numbers, not {self.n}")
        if not project_plain(given, self.z, False, projected):
            raise ValueError("start has a number that is not finite")
        with nogil:
            for i in range(self.n):
                u = projected[i] * self.to_unit
                self.cells[i].mark, self.cells[i].u = <uint32_t>(i + 1), u
                if u != 0:
                    self.active += 1
                    self.count(fabs(u))
            self.choose_ranks()
            for i in range(self.n):
                if self.cells[i].u != 0:
                    self.push(&self.cells[i])
        self.check_memory()

    def add(self, indices, values):
        """w <- the projection of w + sum_j values[j] e_indices[j] onto the ball.

        `indices` are integers from 0 to n - 1, `values` as many numbers; an index may occur more than once. Raises
        IndexError or ValueError before anything is changed. A value may be at most 1e290 z.
        """
        cdef const int64_t[::1] at
        cdef const double[::1] by
        cdef size_t k, i
        cdef bint large = False
        cdef double size
        indices, values = np.asarray(indices), np.ascontiguousarray(values, dtype=np.float64)
        if indices.ndim != 1 or indices.shape != values.shape:
            raise ValueError(f"indices and values are vectors of one length, not {indices.shape} and {values.shape}")
        k = len(indices)
        if k == 0:
            return
        if indices.dtype.kind not in "iu":
            raise ValueError(f"indices are integers, not {indices.dtype}")
        if indices.min() < 0 or indices.max() >= self.n:
            raise IndexError(f"indices go from 0 to {self.n - 1}")
        at, by = np.ascontiguousarray(indices, dtype=np.int64), values
        self.check_memory()
        for i in range(k):
            if not fabs(by[i] * self.to_unit) <= 1e290 * self.radius:
                raise ValueError(f"value {by[i]} is not finite, or too large for a ball of radius {self.z}")
        with nogil:
            if self.active_set.queue.size > 2 * self.active + 1024:
                self.clean()
            for i in range(k):
                if i + AHEAD < k:
                    prefetch_write(&self.cells[at[i + AHEAD]])
                size = self.change(<uint32_t>at[i], by[i] * self.to_unit)
                large |= size > LARGE
            if large:
                self.restart(&at[0], k)
            else:
                self.project()
            if (
                self.sum > LARGEST_SUM * self.radius
                or self.active > 4 * self.ranked_for
                or 16 * self.active + 64 < self.ranked_for
            ):
                self.rebase()
        self.check_memory()

    def vector(self):
        """w, as a new array."""
        cdef object array = np.empty(self.n)
        cdef double[::1] w = array
        cdef size_t i
        with nogil:
            for i in range(self.n):
                w[i] = self.weight(&self.cells[i]) * self.unit
        return array

    @property
    def norm(self):
        """||w||_1, from the books: S - rho Theta."""
        return ((self.sum - self.active * self.shift) + self.rest) * self.unit

    @property
    def entries(self):
        """The size of the queue with stale entries: at most 2 active + 1024, and the entries of the last call."""
        return self.active_set.queue.size

    cdef check_memory(self):
        if self.active_set.out_of_memory:
            raise MemoryError("no memory for the queue of the ball; its vector is lost")

    cdef inline double weight(self, const BallCell* c) noexcept nogil:
        """w, in units. No branch: whether a weight is zero is a coin toss."""
        cdef double size = fabs(c.u) - self.shift
        return copysign(size if size > 0 else 0, c.u)

    cdef inline void count(self, double x) noexcept nogil:
        """S += x"""
        cdef double sum = self.sum + x
        cdef double part = sum - self.sum
        self.rest += (self.sum - (sum - part)) + (x - part)
        self.sum = sum

    cdef inline double change(self, uint32_t key, double by) noexcept nogil:
        """w += by, before the projection; the new |w|."""
        cdef BallCell* c = &self.cells[key]
        cdef double w = self.weight(c) + by
        cdef double old = fabs(c.u)
        cdef double new = fabs(w) + self.shift
        if not new > self.shift:    # w is 0 within rounding
            if old != 0:
                self.drop(c)
            return 0
        c.u = copysign(new, w)
        self.count(new)
        if old == 0:
            self.active += 1
            c.mark = key + 1
            if reserve_waiting(&self.active_set, 1) == 0:
                wait(&self.active_set, <char*>c)
        else:
            self.count(-old)
            if c.rank != WAITING and self.rank(new) < c.rank:
                self.push(c)
        return fabs(w)

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= z, and take the waiting cells into the queue.

        In rounds: drop all that the shift leaves behind; that raises the shift, as long as there is something.
        """
        cdef double shift = self.shift
        cdef ActiveSet* m = &self.active_set
        cdef size_t i
        cdef BallCell* c
        if (self.sum - self.active * self.shift) + self.rest > self.radius:
            while True:
                shift = max(shift, self.required_shift())     # rounding must not let it fall
                if not self.leave_behind(shift):
                    break
            self.shift = shift
        for i in range(m.size):
            c = <BallCell*>m.waiting[i]
            if c.u != 0 and c.rank == WAITING:
                self.push(c)
        m.size = 0

    cdef bint leave_behind(self, double shift) noexcept nogil:
        """Drop all cells that a shift drops; whether there are any."""
        cdef ActiveSet* m = &self.active_set
        cdef size_t i, before = self.active, n = drop_waiting(m, shift)
        take_due(m, max(self.rank(shift), m.queue.last), n)
        for i in range(m.due.size):
            m.found[i] = <char*>&self.cells[m.due.entries[i].key]
        for i in range(sift_due(m, shift, &n)):
            self.push(<BallCell*>m.found[i])
        for i in range(n):
            if (<BallCell*>m.dropped[i]).u != 0:
                self.drop(<BallCell*>m.dropped[i])
        m.due.size = 0
        return self.active < before

    cdef inline double required_shift(self) noexcept nogil:
        """(S - z) / rho"""
        return ((self.sum - self.radius) + self.rest) / self.active if self.active else self.shift

    cdef inline void drop(self, BallCell* c) noexcept nogil:
        self.count(-fabs(c.u))
        self.active -= 1
        c.u = 0

    cdef inline uint32_t rank(self, double u) noexcept nogil:
        """Monotone: a larger rank is a larger u."""
        cdef double rank = u * self.to_rank
        return <uint32_t>rank if rank < MOST else MOST

    cdef inline void push(self, BallCell* c) noexcept nogil:
        """Put a cell into the queue."""
        push(&self.active_set, <char*>c, max(self.rank(fabs(c.u)), self.active_set.queue.last))

    cdef void clean(self) noexcept nogil:
        """Remove stale and duplicate entries."""
        cdef size_t i
        self.gather_due()
        clear(&self.active_set.queue, self.active_set.queue.last)
        for i in range(self.active_set.due.size):
            self.push(&self.cells[self.active_set.due.entries[i].key])
        self.active_set.due.size = 0

    cdef void choose_ranks(self) noexcept nogil:
        self.ranked_for = max(self.active, <size_t>16)
        self.to_rank = RANKS_OF_AVERAGE * self.ranked_for / self.radius

    cdef void forget(self) noexcept nogil:
        """Empty books and queue; the cells are as they were."""
        clear(&self.active_set.queue, 0)
        self.active_set.size = self.active = 0
        self.sum = self.rest = self.shift = 0

    cdef void gather_due(self) noexcept nogil:
        """All active cells to `due`, each once; they count as waiting. Nothing waits when this is called."""
        cdef int i
        cdef size_t j
        cdef HeapEntry entry
        cdef BallCell* c
        for i in range(BUCKETS):
            for j in range(self.active_set.queue.buckets[i].size):
                entry = self.active_set.queue.buckets[i].entries[j]
                c = &self.cells[entry.key]
                if is_valid(&self.active_set, <char*>c, entry):
                    c.rank = WAITING
                    self.active_set.out_of_memory |= append(&self.active_set.due, entry) != 0

    cdef void rebase(self) noexcept nogil:
        """Subtract the shift from every |u|, recompute S, and choose the ranks by the current average weight."""
        cdef size_t i
        cdef BallCell* c
        cdef double shift = self.shift
        self.gather_due()
        self.forget()
        for i in range(self.active_set.due.size):
            c = &self.cells[self.active_set.due.entries[i].key]
            c.u = copysign(max(fabs(c.u) - shift, 0), c.u)
            if c.u != 0:
                self.active += 1
                self.count(fabs(c.u))
        self.choose_ranks()
        for i in range(self.active_set.due.size):
            if self.cells[self.active_set.due.entries[i].key].u != 0:
                self.push(&self.cells[self.active_set.due.entries[i].key])
        self.active_set.due.size = 0

    cdef void restart(self, const int64_t* touched, size_t k) noexcept nogil:
        """Project after a large change, in whose sum with z all digits of z may be lost."""
        cdef size_t i, m = 0
        cdef double top = 0, total = 0, theta, w
        cdef double* d
        cdef BallCell* c
        for i in range(k):
            top = max(top, fabs(self.weight(&self.cells[touched[i]])))
        if top <= 2 * self.radius:     # it was taken back in the same call
            self.project()
            return
        # Theta is at least top - z, and so more than z above Theta of before: nothing stays but what was touched.
        d = <double*>malloc(3 * k * sizeof(double))
        if d == NULL:
            self.active_set.out_of_memory = True
            return
        for i in range(k):
            c = &self.cells[touched[i]]
            w = self.weight(c)
            c.u = 0             # an index that comes again finds nothing
            d[2 * k + i] = w
        self.empty_cells()
        for i in range(k):
            w = fabs(d[2 * k + i]) - top
            if d[2 * k + i] != 0 and w > -self.radius:
                d[m] = w
                m += 1
                total += w
        theta = threshold(d, d + k, m, total, self.radius)
        for i in range(k):
            w = (fabs(d[2 * k + i]) - top) - theta
            if d[2 * k + i] != 0 and w > 0:
                self.cells[touched[i]].u = copysign(w, d[2 * k + i])
                self.active += 1
                self.count(w)
        self.choose_ranks()
        for i in range(k):
            if d[2 * k + i] != 0 and self.cells[touched[i]].u != 0:
                self.push(&self.cells[touched[i]])
        free(d)

    cdef void empty_cells(self) noexcept nogil:
        """Drop everything in the queue."""
        cdef int i
        cdef size_t j
        for i in range(BUCKETS):
            for j in range(self.active_set.queue.buckets[i].size):
                self.cells[self.active_set.queue.buckets[i].entries[j].key].u = 0
        self.forget()
