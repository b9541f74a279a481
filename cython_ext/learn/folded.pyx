"""The sum of weight times value over the derived features of a line, from tables made when a model is opened.

A model that does not learn needs no features for it. A number x that is curved has the sum

    w_z z + f(x),    f(x) = the sum over its hats of w_hat hat(x),

where f is linear between two knots: for each of these pieces there are its value at the begin and the difference at the
end. The products of two columns at several resolutions have a sum that is bilinear between the knots of all of them:
there is a grid of its values where these knots meet, and a line needs the four corners around it; two if one column has
words, one if both have; up to eight of three columns. A level of words, and what is missing, is a corner of its own.

Sums are those over the derived features, but for rounding: the values of hats and products are not rounded to float.
"""

from array import array
from itertools import accumulate
from math import prod

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memset

from vwlite.core.data.derivation cimport (
    Column, Derivation, DerivedLine, Knots, Product, allocated, last_knot, standardized,
)
from vwlite.core.data.expand cimport Expander
from vwlite.core.learn.multiclass cimport Classifier
from vwlite.core.learn.rule cimport Rule

most_bytes = 1 << 26    # of the tables; a model that needs more, such as one of many classes, has no folded form


cpdef Folded fold(Expander expander, Rule rule):
    """The folded form of what an expander derives, with the weights of a rule. None: there is none, as these have to be
    features, which are normalized, left out or crossed; or they are too many."""
    if expander.derivation is None or not expander.only_derives:
        return None
    found = Folded(expander.derivation, Weights(rule, expander.mask), most_bytes)
    return found if found.number_count or found.grid_count else None


cdef class Weights:
    """The weights of a rule, or of one for each class, which will not change."""

    def __cinit__(self, Rule rule not None, uint32_t mask):
        self.rule, self.mask, self.classes = rule, mask, 1
        if isinstance(rule, Classifier):
            self.classifier = rule
            self.classifier.prepare_all()
            self.classes = self.classifier.classes

    cdef bint read(self, uint32_t hash, double* out) noexcept nogil:
        """Those of a feature, by class; whether the model has the feature."""
        cdef uint32_t key = hash & self.mask
        cdef char* slot
        cdef size_t k
        self.rule.table.lookup(&key, 1, &slot)
        if self.classifier is None:
            out[0] = self.rule.weight(slot)
        else:
            for k in range(self.classes):
                out[k] = (<Rule>self.classifier.each[k]).weight(slot + k * self.classifier.record)
        return slot != self.rule.table.blank


cdef class Folded:
    """most: bytes of the tables; if they need more, it is empty."""

    def __init__(self, Derivation derivation not None, Weights weights not None, size_t most):
        cdef size_t i, n, points = 0, pieces = 0, spots = 0
        cdef const Column* c
        axes, grids = layout(derivation)
        knots = [all_knots(derivation, i, axes[i]) for i in range(derivation.count)]
        first_axis = [*accumulate(map(len, axes), initial=0)]
        for i in range(derivation.count):
            if derivation.columns[i].is_number:
                points, pieces = points + padded(len(knots[i])), pieces + len(knots[i]) + 2
                spots += (len(knots[i]) + 2) * len(axes[i])
        self.derivation, self.classes = derivation, weights.classes
        corners = sum(prod(len(axes[column][axis]) + 2 for column, axis in factors) for _, factors in grids)
        if (corners + 2 * pieces) * self.classes * sizeof(double) + spots * sizeof(Spot) > most:
            return
        self.numbers = <FoldedNumber*>allocated(derivation.count, sizeof(FoldedNumber))
        self.words = <FoldedWord*>allocated(derivation.count, sizeof(FoldedWord))
        self.points = <float*>allocated(points, sizeof(float))
        self.pieces = <Piece*>allocated(pieces, sizeof(Piece))
        self.z_weight = <double*>allocated(derivation.count * self.classes, sizeof(double))
        self.value = <double*>allocated(pieces * self.classes, sizeof(double))
        self.rise = <double*>allocated(pieces * self.classes, sizeof(double))
        self.spots = <Spot*>allocated(spots, sizeof(Spot))
        self.places = <AxisPlace*>allocated(first_axis[derivation.count], sizeof(AxisPlace))
        self.grids = <Grid*>allocated(len(grids), sizeof(Grid))
        self.corners = <double*>allocated(corners * self.classes, sizeof(double))
        self.sums[0] = <double*>allocated(self.classes, sizeof(double))
        self.sums[1] = <double*>allocated(self.classes, sizeof(double))
        points = pieces = spots = 0
        for i in range(derivation.count):
            c = &derivation.columns[i]
            if c.is_number:
                n = len(knots[i])
                self.numbers[self.number_count] = FoldedNumber(
                    <uint32_t>i, c.mean, c.deviation, n, padded(n), points, pieces, spots, len(axes[i]), first_axis[i])
                self.fold_number(weights, &self.numbers[self.number_count], knots[i], axes[i])
                points, pieces, spots = points + padded(n), pieces + n + 2, spots + (n + 2) * <size_t>len(axes[i])
                self.number_count += 1
            elif axes[i]:
                self.words[self.word_count] = FoldedWord(<uint32_t>i, c.levels + 1, first_axis[i])
                self.word_count += 1
        for products, factors in grids:
            self.fold_grid(
                weights, products, [axes[column][axis] for column, axis in factors],
                [first_axis[column] + axis for column, axis in factors])

    def __dealloc__(self):
        free(self.numbers)
        free(self.words)
        free(self.points)
        free(self.pieces)
        free(self.z_weight)
        free(self.value)
        free(self.rise)
        free(self.spots)
        free(self.places)
        free(self.grids)
        free(self.corners)
        free(self.sums[0])
        free(self.sums[1])

    cdef object fold_number(self, Weights weights, FoldedNumber* f, list points, list axes):
        """The pieces of a number, with its curve and its places on its axes."""
        cdef const Column* c = &self.derivation.columns[f.column]
        cdef const Knots* curve = &self.derivation.knots[c.first_knots]
        cdef size_t i, k, piece, low, n = f.points, K = self.classes
        cdef size_t z = f - self.numbers
        cdef Piece* pieces = self.pieces + f.first_piece
        cdef double* value = self.value + f.first_piece * K
        cdef double* rise = self.rise + f.first_piece * K
        cdef double[::1] hats = zeros((curve.count + 1) * K)
        cdef bint z_is_known = False
        cdef list known = [False] * (curve.count + 1)
        cdef double behind
        cdef Spot* spot
        cdef float[::1] at
        for i in range(f.compared):
            self.points[f.first_point + i] = points[i] if i < n else INFINITY
        if c.deviation > 0:
            z_is_known = weights.read(c.hash, self.z_weight + z * K)
            for i in range(curve.count if curve.hash != NULL else 0):
                known[i] = weights.read(curve.hash[i], &hats[i * K])
        else:
            f.deviation = 1
        if c.missing:
            weights.read(c.missing, value + (n + 1) * K)
        for piece in range(n + 1):
            i = piece - 1 if piece else 0
            low = last_knot(curve.at, curve.count, self.points[f.first_point + i])
            behind = behind_knot(curve, low, self.points[f.first_point + i])
            for k in range(K):
                value[piece * K + k] = between(behind, hats[low * K + k], hats[(low + 1) * K + k])
            # Without a curve there is nothing to be known.
            pieces[piece].is_known = (
                c.deviation <= 0 or z_is_known or known[low] or (0 < piece < n and known[low + 1]))
            if 0 < piece < n:
                pieces[piece].at = points[i]
                pieces[piece].inverse = 1 / (<double>points[i + 1] - <double>points[i])
        for piece in range(1, n):
            for k in range(K):
                rise[piece * K + k] = value[(piece + 1) * K + k] - value[piece * K + k]
        for i, knots in enumerate(axes):
            at = array("f", knots)
            for piece in range(n + 2):
                spot = self.spots + f.first_spot + piece * f.axes + i
                if piece > n:
                    spot.code = len(knots)
                elif piece > 0:
                    spot.code = last_knot(&at[0], len(knots), self.points[f.first_point + piece - 1])
                    if spot.code + 1 < <size_t>len(knots) and at[spot.code] <= self.points[f.first_point + piece - 1]:
                        spot.at = at[spot.code]
                        spot.inverse = 1 / (<double>at[spot.code + 1] - spot.at)

    cdef object fold_grid(self, Weights weights, list products, list axes, list places):
        """Add the grid of these products. The places on its last axis run fastest."""
        cdef Grid* grid = &self.grids[self.grid_count]
        cdef const Product* p = &self.derivation.products[<size_t>products[0]]
        cdef size_t i, k, size = self.classes
        cdef double[::1] part
        cdef double* to
        numbers = [bool(self.derivation.columns[p.factors[k].column].is_number) for k in range(p.count)]
        strides = [0] * p.count
        for k in reversed(range(p.count)):
            strides[k] = size
            size *= <size_t>len(axes[k]) + 2
        if self.grid_count > 0:
            grid.first = self.grids[self.grid_count - 1].first + self.grids[self.grid_count - 1].size
        grid.numbers, grid.count, grid.size = sum(numbers), p.count, size
        for i, (_, place, stride) in enumerate(sorted(zip([not x for x in numbers], places, strides))):
            grid.axis[i], grid.stride[i] = place, stride
        to = self.corners + grid.first
        for product in products:
            part = self.corners_of(weights, &self.derivation.products[<size_t>product], product == products[0], axes)
            for i in range(size):
                to[i] += part[i]
        self.grid_count += 1

    cdef double[::1] corners_of(self, Weights weights, const Product* p, bint is_first, list axes):
        """The sum of a product at all corners of its grid. Without any number, the products of a grid have the same
        feature: the first one counts."""
        cdef size_t i, k, rest, code, cells = 1, K = self.classes
        cdef bint some_number
        cdef double[::1] found
        for k in range(p.count):
            cells *= p.factors[k].size
        found = zeros(cells * K)
        for i in range(cells):
            rest, some_number = i, is_first
            for k in reversed(range(p.count)):
                code, rest = rest % p.factors[k].size, rest // p.factors[k].size
                some_number |= self.derivation.columns[p.factors[k].column].is_number and code + 1 < p.factors[k].size
            if some_number:
                weights.read(self.derivation.hashes[p.first_hash + i], &found[i * K])
        outer, inner = 1, cells * K
        for k in range(p.count):
            inner //= p.factors[k].size
            if self.derivation.columns[p.factors[k].column].is_number:
                found = at_corners(found, outer, &self.derivation.knots[p.factors[k].knots], axes[k], inner)
            outer *= len(axes[k]) + 2
        return found

    cdef void sum(self, const DerivedLine* line, size_t which) noexcept nogil:
        """The sums of a line from the noted values of its columns."""
        cdef double* sums = self.sums[which]
        cdef size_t i, K = self.classes
        memset(sums, 0, K * sizeof(double))
        self.locate(line, which)
        if K == 1:      # the compiler makes loops over one class disappear
            for i in range(self.grid_count):
                add_grid(&self.grids[i], self.corners, self.places, sums, 1)
            return
        for i in range(self.grid_count):
            add_grid(&self.grids[i], self.corners, self.places, sums, K)

    cdef void locate(self, const DerivedLine* line, size_t which) noexcept nogil:
        """Find the places of a line on the axes, and add its curves."""
        cdef const FoldedNumber* f
        cdef const Piece* piece
        cdef const Spot* spot
        cdef const double* value
        cdef const double* rise
        cdef const double* z_weight = self.z_weight
        cdef double* sums = self.sums[which]
        cdef size_t i, k, at, K = self.classes, present = 0, unknown = 0
        cdef double z, behind
        cdef float x
        for i in range(self.number_count):
            f = &self.numbers[i]
            if line.present[f.column]:
                x, z = line.number[f.column], standardized(line.number[f.column], f.mean, f.deviation)
                at = count_not_above(self.points + f.first_point, f.compared, x)
                present += 1
                unknown += not self.pieces[f.first_piece + at].is_known
            else:
                x, z, at = 0, 0, f.points + 1
            piece = &self.pieces[f.first_piece + at]
            value, rise = self.value + (f.first_piece + at) * K, self.rise + (f.first_piece + at) * K
            behind = (x - piece.at) * piece.inverse
            for k in range(K):
                sums[k] += z_weight[k] * z + (value[k] + behind * rise[k])
            z_weight += K
            spot = self.spots + f.first_spot + at * f.axes
            for k in range(f.axes):
                self.places[f.first_axis + k].code = spot[k].code
                self.places[f.first_axis + k].weight = (x - spot[k].at) * spot[k].inverse
        for i in range(self.word_count):
            at = self.words[i].column
            self.places[self.words[i].axis].code = line.code[at] if line.present[at] else self.words[i].missing
        self.present[which], self.unknown[which] = present, unknown


cdef inline uint32_t padded(size_t points) noexcept nogil:
    return <uint32_t>((points + WIDE - 1) // WIDE * WIDE)


cdef inline uint32_t count_not_above(const float* at, uint32_t count, float x) noexcept nogil:
    """How many are not above x. Compilers compare several at once: faster than a binary search in about 100."""
    cdef uint32_t i, found = 0
    for i in range(count // WIDE * WIDE):
        found += at[i] <= x
    return found


cdef inline void add_grid(
    const Grid* grid, const double* corners, const AxisPlace* places, double* sums, size_t K
) noexcept nogil:
    """Add the value of a grid at a place, interpolated between the corners around it."""
    cdef const double* a = corners + grid.first
    cdef size_t k, to_0 = grid.stride[0], to_1 = grid.stride[1], to_2 = grid.stride[2]
    cdef double u, v, w, low, high
    for k in range(grid.count):
        a += places[grid.axis[k]].code * grid.stride[k]
    if grid.numbers == 0:
        for k in range(K):
            sums[k] += a[k]
        return
    u = places[grid.axis[0]].weight
    if grid.numbers == 1:
        for k in range(K):
            sums[k] += between(u, a[k], a[to_0 + k])
        return
    v = places[grid.axis[1]].weight
    if grid.numbers == 2:
        for k in range(K):
            sums[k] += between(u, between(v, a[k], a[to_1 + k]), between(v, a[to_0 + k], a[to_0 + to_1 + k]))
        return
    w = places[grid.axis[2]].weight
    for k in range(K):
        low = between(v, between(w, a[k], a[to_2 + k]), between(w, a[to_1 + k], a[to_1 + to_2 + k]))
        high = between(
            v, between(w, a[to_0 + k], a[to_0 + to_2 + k]), between(w, a[to_0 + to_1 + k], a[to_0 + to_1 + to_2 + k]))
        sums[k] += between(u, low, high)


cdef inline double between(double u, double low, double high) noexcept nogil:
    return low + u * (high - low)


cdef tuple layout(Derivation d):
    """Of each column its axes, each as its knots, or the levels of words; and of each grid its products and its columns,
    each with the number of its axis. Products of the same columns that follow each other have one grid."""
    cdef size_t i, k, column
    cdef list run = []
    runs, grids = [], []
    numbers = [{} for i in range(d.count)]      # of each column, of each of its axes, by whose knots it has
    axes = [[] for i in range(d.count)]
    for i in range(d.product_count):
        if not d.products[i].repeats:
            run = []
            runs.append(run)
        run.append(i)
    for run in runs:
        factors = []
        for k in range(d.products[<size_t>run[0]].count):
            column = d.products[<size_t>run[0]].factors[k].column
            is_number = d.columns[column].is_number
            whose = frozenset(d.products[<size_t>i].factors[k].knots for i in run if is_number)
            if whose not in numbers[column]:
                numbers[column][whose] = len(axes[column])
                axes[column].append(union_of(d, whose) if is_number else range(d.columns[column].levels))
            factors.append((column, numbers[column][whose]))
        grids.append((run, factors))
    return axes, grids


cdef list union_of(Derivation d, whose):
    """The knots that these have, rising."""
    cdef size_t i, k
    return sorted({d.knots[k].at[i] for k in whose for i in range(d.knots[k].count)})


cdef list all_knots(Derivation d, size_t i, list axes):
    """Of a number, those of its curve and of its axes."""
    if not d.columns[i].is_number:
        return []
    return sorted({*union_of(d, [d.columns[i].first_knots]), *(x for axis in axes for x in axis)})


cdef double[::1] zeros(size_t n):
    return array("d", bytes((n + 1) * sizeof(double)))


cdef inline double behind_knot(const Knots* knots, size_t low, float x) noexcept nogil:
    """How far x is behind the knot `low`, the last one that is not above it, on the way to the next one; of a value
    outside of all knots 0."""
    if low + 1 == knots.count or x < knots.at[0]:
        return 0
    return (<double>x - knots.at[low]) / (<double>knots.at[low + 1] - knots.at[low])


cdef double[::1] at_corners(const double[::1] sums, size_t outer, const Knots* knots, axis, size_t inner):
    """Sums by the codes of these knots, as sums by the corners of an axis that has more knots. outer, inner: items of
    the axes before and after it."""
    cdef size_t i, j, corner, low, n = len(axis)
    cdef double behind
    cdef double[::1] found = zeros(outer * (n + 2) * inner)
    for corner in range(n + 1):
        low, behind = knots.count, 0        # it is missing
        if corner < n:
            low = last_knot(knots.at, knots.count, axis[corner])
            behind = behind_knot(knots, low, axis[corner])
        for i in range(outer):
            for j in range(inner):
                found[(i * (n + 2) + corner) * inner + j] = between(
                    behind, sums[(i * (knots.count + 1) + low) * inner + j],
                    sums[(i * (knots.count + 1) + low + (behind > 0)) * inner + j])
    return found
