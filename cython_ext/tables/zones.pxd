"""Time zones: from UTC to the time of a place. See zones.pyx."""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    DAYS_KEPT = 1 << 12


# A day of UTC: the offset at its begin, and another one from a second on.
cdef struct Day:
    int64_t number      # since 1970
    int64_t change      # the second since 1970 from which on the offset is `after`
    int32_t before, after


cdef class Zone:
    cdef object info    # a tzinfo
    cdef object epoch, delta    # 1970 in UTC, and the class timedelta
    cdef Day[DAYS_KEPT] days    # each at its number modulo DAYS_KEPT

    cdef int64_t offset(self, int64_t second)
    cdef void find(self, int64_t day, Day* to) noexcept with gil


cdef inline int64_t local_second(Zone zone, int64_t second) noexcept nogil:
    """A second since 1970 in UTC, as the second of a clock there."""
    cdef int64_t number = second // 86400 - (second % 86400 < 0)
    cdef Day* day = &zone.days[<size_t>number % DAYS_KEPT]
    if day.number != number:
        zone.find(number, day)
    return second + (day.after if second >= day.change else day.before)
