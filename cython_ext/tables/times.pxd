"""Dates and times: from text, or seconds since 1970, to hour, weekday and month.

    2026-01-31    2026-01-31T13:05:00.25+01:00    2026-01-31 13:05Z    20260131T130500    1769864700.5

ISO 8601 with a date of the calendar; T or a blank before the time, whose minutes and seconds may be absent; then Z, an
offset or nothing. The hour is taken from the text: an offset is checked, and changes nothing. Seconds are in UTC. A
whole number of 8 digits is a date, and one of 4 or 6 digits (a year, a month) is not a time, as a year does not mean
seconds. Years are 1 to 9999.

Howard Hinnant. chrono-Compatible Low-Level Date Algorithms (days_from_civil, civil_from_days).
"""

from libc.math cimport floor
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stdint.h>

    struct vwlite_moment {
        int hour, weekday, month; /* hour: -1 for a date; Monday is 1 */
    };

    static inline int64_t vwlite_days_from_civil(int64_t y, int m, int d) {
        y -= m <= 2;
        int64_t era = y / 400, of_era = y - era * 400;  /* y is not negative */
        int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
        return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    }

    /* The moment of a day since 1970-01-01; 0 if its year is not 1 to 9999. */
    static inline int vwlite_moment_of(int64_t days, int hour, struct vwlite_moment *to) {
        if (days < -719162 || days > 2932896) {
            return 0;
        }
        int64_t z = days + 719468, of_era = z % 146097;  /* z is above 0 */
        int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        int64_t month = (5 * (of_era - (365 * year + year / 4 - year / 100)) + 2) / 153;
        to->hour = hour;
        to->weekday = (int)((days + 719162) % 7) + 1;  /* 0001-01-01 is a Monday */
        to->month = (int)(month < 10 ? month + 3 : month - 9);
        return 1;
    }

    static inline int vwlite_date(int year, int month, int day, int hour, struct vwlite_moment *to) {
        static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        if (year < 1 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1] + (month == 2 && leap)) {
            return 0;
        }
        return vwlite_moment_of(vwlite_days_from_civil(year, month, day), hour, to);
    }

    /* The moment `ticks` parts of a second after 1970, in UTC; 0 as above. */
    static inline int vwlite_moment_of_ticks(int64_t ticks, int64_t per_second, struct vwlite_moment *to) {
        int64_t hours = ticks / (3600 * per_second) - (ticks % (3600 * per_second) < 0);
        int64_t days = hours / 24 - (hours % 24 < 0);
        return vwlite_moment_of(days, (int)(hours - 24 * days), to);
    }

    /* A number of exactly n digits at *p, which is set behind them; -1 if it is not there. */
    static inline int vwlite_some_digits(const char **p, const char *end, int n) {
        int number = 0;
        if (end - *p < n) {
            return -1;
        }
        for (int i = 0; i < n; i++) {
            unsigned digit = (unsigned)((*p)[i] - '0');
            if (digit > 9) {
                return -1;
            }
            number = 10 * number + (int)digit;
        }
        *p += n;
        return number;
    }

    /* Whether [p, end) is a date or time of ISO 8601: 1, 0, or -1 if it does not even begin as one. */
    static int vwlite_read_iso(const char *p, const char *end, struct vwlite_moment *to) {
        int year = vwlite_some_digits(&p, end, 4), extended = p < end && *p == '-';
        p += extended;
        int month = vwlite_some_digits(&p, end, 2);
        if (year < 0 || month < 0 || (extended && (p == end || *p != '-'))) {
            return -1;
        }
        p += extended;
        int day = vwlite_some_digits(&p, end, 2), hour = -1, part;
        if (day < 0 || (p < end && *p != 'T' && *p != 't' && *p != ' ')) {
            return -1;
        }
        if (p < end) {
            p++;
            hour = vwlite_some_digits(&p, end, 2);
            if (hour < 0 || hour > 23) {
                return 0;
            }
            for (int i = 0; i < 2 && p < end && (extended ? *p == ':' : (unsigned)(*p - '0') <= 9); i++) {
                p += extended;
                part = vwlite_some_digits(&p, end, 2);
                if (part < 0 || part > 59 + i) {  /* a leap second */
                    return 0;
                }
                if (i == 1 && p < end && (*p == '.' || *p == ',')) {
                    const char *begin = ++p;
                    while (p < end && (unsigned)(*p - '0') <= 9) {
                        p++;
                    }
                    if (p == begin) {
                        return 0;
                    }
                }
            }
            if (p < end && (*p == 'Z' || *p == 'z')) {
                p++;
            } else if (p < end && (*p == '+' || *p == '-')) {
                p++;
                part = vwlite_some_digits(&p, end, 2);
                if (part < 0 || part > 23) {
                    return 0;
                }
                if (p < end) {
                    p += *p == ':';
                    part = vwlite_some_digits(&p, end, 2);
                    if (part < 0 || part > 59) {
                        return 0;
                    }
                }
            }
        }
        return p == end && vwlite_date(year, month, day, hour, to);
    }
    """
    struct Moment "vwlite_moment":
        int hour
        int weekday
        int month

    bint moment_of_day "vwlite_moment_of"(int64_t days, int hour, Moment* to) noexcept nogil
    bint moment_of_ticks "vwlite_moment_of_ticks"(int64_t ticks, int64_t per_second, Moment* to) noexcept nogil
    bint moment_of_date "vwlite_date"(int year, int month, int day, int hour, Moment* to) noexcept nogil
    int read_iso "vwlite_read_iso"(const char* p, const char* end, Moment* to) noexcept nogil


cdef inline bint moment_of_number(double x, Moment* to) noexcept nogil:
    """The time that a number stands for; false: it is not a time."""
    cdef int64_t whole
    if not -1e12 < x < 1e12:
        return False
    whole = <int64_t>floor(x)
    if whole == x:
        if 1000 <= whole < 10000 or 100000 <= whole < 1000000:
            return False
        if 10000000 <= whole < 100000000:
            return moment_of_date(<int>(whole // 10000), <int>(whole // 100 % 100), <int>(whole % 100), -1, to)
    return moment_of_ticks(whole, 1, to)
