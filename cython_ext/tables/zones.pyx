"""Time zones of columns with a type. Offsets are those of Python's zoneinfo, looked up once for each day.

An offset changes at most once a day.
"""

import re

from libc.stdint cimport INT64_MIN

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")


def zone_info(str name):
    """The zone of an Arrow type, which is a name in the database of time zones, or an offset; None: UTC. ValueError if it
    is unknown."""
    if name.upper() in ("UTC", "Z", "GMT", "ETC/UTC"):
        return None
    from datetime import timedelta, timezone    # here, as few columns have a zone
    from zoneinfo import ZoneInfo

    offset = _OFFSET.fullmatch(name)
    if offset:
        hours, minutes = int(offset[2]), int(offset[3])
        return timezone((-1 if offset[1] == "-" else 1) * timedelta(hours=hours, minutes=minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"the time zone {name!r} is unknown on this computer: pip install tzdata, or convert the times "
                         "to UTC") from None


cdef class Zone:
    """A time zone. For one thread. info: a tzinfo."""

    def __cinit__(self, info):
        cdef size_t i
        from datetime import datetime, timedelta, timezone

        self.info, self.epoch, self.delta = info, datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta
        for i in range(DAYS_KEPT):
            self.days[i].number = INT64_MIN

    cdef int64_t offset(self, int64_t second):
        """Of a second since 1970; 0 where Python has no such time."""
        try:
            offset = (self.epoch + self.delta(seconds=second)).astimezone(self.info).utcoffset()
        except (OverflowError, ValueError):
            return 0
        return 86400 * offset.days + offset.seconds

    cdef void find(self, int64_t day, Day* to) noexcept with gil:
        """Look up the offsets of a day."""
        cdef int64_t low = 86400 * day, high = low + 86399, middle
        cdef int64_t before = self.offset(low), after = self.offset(high)
        to.number, to.before, to.after, to.change = day, <int32_t>before, <int32_t>after, low
        while before != after and high - low > 1:
            middle = (low + high) // 2
            if self.offset(middle) == before:
                low = middle
            else:
                high = middle
        if before != after:
            to.change = high
