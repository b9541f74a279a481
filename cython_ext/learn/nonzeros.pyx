"""--nonzeros N: adapt the regularization strength during learning, for a model with at most N nonzero weights.

The nonzero weights are counted after 8 examples, and then each time the number of examples has grown by 1/16 (or by
131,072, or by 1/64 of the number of features in the table). The goal during learning is 2 N nonzero weights: many
belong to features that were just updated, and a count is delayed and noisy. The N largest of 2 N weights make a better
model than N weights from a strength that leaves N. Where an example makes its own weights nonzero at once (not where
weights follow from sums over all examples), the goal is at least the number of features of eight examples: otherwise
only the weights of the last few examples are nonzero, and none can grow.

- If l1 shrinks the weights, it is multiplied by (count / goal)^0.7, at least 1/4 and at most 4. From 0 it starts
  with the value that sets the surplus weights to zero until the next recount; it falls to 0 where it has no effect.
- The radius of the ball is multiplied by (goal / count)^0.2, as long as the ball limits the weights: while a
  ball that has grown fills up, no weight shrinks, so it must grow slowly.
- If l1 is a threshold for a number of each feature, it is set to the number of the feature of rank 2 N.

A recount takes place before an example is learned and depends only on what was learned before; its cost is that of a
few features per example. The written model has the N largest weights. This selection is not part of the state:
learning continues from all weights, so a continued model is the same as that of an uninterrupted run.
"""

from libc.math cimport INFINITY, fabs, floor
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport pow
from vwlite.core.learn.table cimport Head, next_slot

cdef double MARGIN = 2
cdef double SETTLED = 8     # examples
cdef double GAIN = 0.7
cdef double SURELY = 1 + 1 / 64.     # a margin, so that rounding decides no weight at the next recount
cdef double FEW = 1e-6      # of the largest weight: less shrinkage than this between two recounts counts as none


cdef double kth_largest(const double* numbers, size_t n, size_t k) noexcept nogil:
    """The k-th largest of n positive numbers, 1 <= k <= n. Their bit patterns have the same order: radix selection."""
    cdef size_t count[256]
    cdef uint64_t bits, found = 0, known = 0
    cdef size_t i
    cdef int shift, byte
    cdef double out
    for shift in range(56, -8, -8):
        memset(count, 0, sizeof(count))
        for i in range(n):
            memcpy(&bits, &numbers[i], 8)
            if bits & known == found:
                count[(bits >> shift) & 255] += 1
        byte = 255
        while count[byte] < k:
            k -= count[byte]
            byte -= 1
        found |= <uint64_t>byte << shift
        known |= <uint64_t>255 << shift
    memcpy(&out, &found, 8)
    return out


cdef class Limited(Rule):
    """The base class of rules with an adaptive regularization strength. nonzeros: the maximal number of nonzero
    weights; 0: no limit."""

    def __init__(self, loss, *, size_t nonzeros=0, **schedule):
        super().__init__(loss, **schedule)
        self.nonzeros = nonzeros
        self.next_recount_t = 8 if nonzeros else INFINITY

    def __dealloc__(self):
        free(self.sizes)

    def scalars(self):
        """The state that is not per feature, by name."""
        found = {"strength": self.strength, "look_at": self.next_recount_t} if self.nonzeros else {}
        if self.nonzeros and self.occurrences:
            found["occurrences"] = self.occurrences
        return super().scalars() | found

    def set_scalars(self, scalars):
        super().set_scalars(scalars)
        if self.nonzeros:
            self.next_recount_t = scalars["look_at"]
            self.occurrences = scalars.get("occurrences", 0)    # absent in older models
            self.strength = scalars["strength"]
            if not 0 <= self.strength < INFINITY:
                raise ValueError("the strength is not a positive number")
            self.set_strength(self.strength)

    def change_strength(self, double strength):
        """Continue from a loaded state with another regularization strength."""
        self.strength = strength
        self.set_strength(strength)
        self.update_state()

    @property
    def slack(self):
        """Whether there are fewer weights than the limit, without any shrinkage."""
        return self.strength == 0 and Rule.count_nonzero(self) <= self.nonzeros

    cdef double target_count(self) noexcept nogil:
        """The goal: the number of nonzero weights during learning."""
        return max(MARGIN * self.nonzeros, floor(SETTLED * self.occurrences / max(self.t, 1.0)))

    # --- methods of a rule -------------------------------------------------------------------

    cdef double size(self, const char* slot) noexcept nogil:
        """The distance of the weight from zero, in units of the strength; 0 if it is zero, infinite if it does not
        shrink."""
        return fabs(self.weight(slot))

    cdef void set_strength(self, double strength) noexcept nogil:
        """Learn with this strength from now on. The state is left to `update_state`."""
        pass

    cdef void update_state(self) noexcept nogil:
        """Update the state for a new strength."""
        pass

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        """The strength for the next examples; sizes[:n] are the sizes above 0."""
        return self.strength

    # --- recounts ----------------------------------------------------------------------------

    cdef void adapt_strength(self) noexcept nogil:
        """Count the weights and adapt the strength."""
        cdef size_t n = self.collect_sizes(False)
        cdef double examples = min(floor(self.t / 16), 131072.0)
        if self.out_of_memory:
            return
        examples = max(examples, floor(<double>self.table.count_live() / 64), 1.0)
        self.strength = self.next_strength(n, examples)
        self.set_strength(self.strength)
        self.update_state()
        self.next_recount_t = self.t + examples

    cdef size_t collect_sizes(self, bint of_weights) noexcept nogil:
        """Fill `sizes` with the sizes above 0, of weights or from `size`; returns their number."""
        cdef size_t n = 0
        cdef char* slot = NULL
        cdef double size
        while next_slot(self.table, &slot):
            if (<Head*>slot).mark == self.constant_mark:
                continue
            size = fabs(self.weight(slot)) if of_weights else self.size(slot)
            if not size > 0:
                continue
            if reserve(<void**>&self.sizes, &self.capacity, n + 1, sizeof(double)):
                self.out_of_memory = True
                return 0
            self.sizes[n] = size
            n += 1
        return n

    cdef double next_shrinkage(self, size_t n, double rate, double examples) noexcept nogil:
        """`next_strength` for rules that shrink all sizes by rate times the strength with every example."""
        cdef size_t i
        cdef double largest = 0, strength = self.strength, first, unit = rate * examples
        for i in range(n):
            if self.sizes[i] > largest and self.sizes[i] < INFINITY:
                largest = self.sizes[i]
        if strength > 0:
            strength *= min(max(pow(n / self.target_count(), GAIN), 0.25), 4.0)
            if n < self.target_count():
                return 0 if strength * unit < FEW * largest else strength
            return min(strength, max(self.strength, 2 * largest / rate))     # more than all of it at once
        if n > self.target_count():
            first = kth_largest(self.sizes, n, <size_t>self.target_count() + 1)
            return SURELY * min(first, largest) / unit
        return strength

    # --- the model ---------------------------------------------------------------------------

    cdef void select_largest(self) noexcept nogil:
        """Select the N largest weights; of equal ones those with the smaller keys."""
        cdef size_t i, n = self.collect_sizes(True), above = 0, equal = 0
        cdef char* slot = NULL
        self.cut, self.cut_key = 0, 0xFFFFFFFF
        if n <= self.nonzeros or self.out_of_memory:
            return
        self.cut = kth_largest(self.sizes, n, self.nonzeros)
        for i in range(n):
            above += self.sizes[i] > self.cut
        while next_slot(self.table, &slot):
            if (<Head*>slot).mark != self.constant_mark and fabs(self.weight(slot)) == self.cut:
                self.sizes[equal] = 4294967296.0 - <uint32_t>((<Head*>slot).mark - 1)
                equal += 1
        self.cut_key = <uint32_t>(4294967296.0 - kth_largest(self.sizes, equal, self.nonzeros - above))

    def weights(self, const unsigned char[::1] slots, double[::1] out):
        """The weights of the model for slots as returned by `slots()`: at most N of them are not zero."""
        cdef size_t i, stride = self.table.stride
        cdef const char* slot
        cdef double size
        super().weights(slots, out)
        if not self.nonzeros:
            return
        self.select_largest()
        if self.out_of_memory:
            raise MemoryError("no memory to find the largest weights")
        for i in range(<size_t>out.shape[0]):
            slot = <const char*>&slots[i * stride]
            size = fabs(out[i])
            if (<const Head*>slot).mark != self.constant_mark and (
                size < self.cut or (size == self.cut and <uint32_t>((<const Head*>slot).mark - 1) > self.cut_key)
            ):
                out[i] = 0

    def count_nonzero(self):
        """Features with a nonzero weight in the model, without the intercept. O(size of the table)."""
        n = super().count_nonzero()
        return min(n, self.nonzeros) if self.nonzeros else n
