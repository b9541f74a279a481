"""Dates and times: from text, or a number since 1970, to hour, weekday and month.

    2026-01-31    2026-01-31T13:05:00.25+01:00    2026-01-31 13:05Z    20260131T130500    1769864700.5
    2026-01       2026-01-31 13:05:00 UTC                                                 1769864700500

ISO 8601 with a date of the calendar; T or a blank before the time, whose minutes and seconds may be absent; then Z, an
offset, a blank and UTC or GMT, or nothing. The hour is taken from the text: an offset is checked, and changes nothing.
A month has no weekday. Numbers are seconds in UTC; from 1e11 on (1e14, 1e17), in absolute value, milliseconds (micro-,
nanoseconds). A whole number of 8 digits is a date; those of 4 or 6 digits (a year, a month), and of 14 that begin with
19 or 20 (a date and a time) are not times, as they do not mean seconds. Years are 1 to 9999. For models of 0.2.0 there
are neither months nor UTC nor milliseconds.

Or times are as a format in letters of strptime has them. Numbers have one or two digits, and both before another
number or a digit; those of a year are fixed. A blank of the format is one or more blanks or tabs of the text. The case
of letters does not matter.

Howard Hinnant. chrono-Compatible Low-Level Date Algorithms (days_from_civil, civil_from_days).
"""

from libc.math cimport fabs, floor
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    struct vwlite_moment {
        int hour, weekday, month; /* hour: -1 for a date, weekday: -1 for a month; Monday is 1 */
    };

    /* A time of a format. day: 0 for a month; hour: -1 for a date; part: of a second; offset: seconds, from UTC. */
    struct vwlite_written {
        int year, month, day, hour, minute, second, offset;
        double part;
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

    static inline int vwlite_month(int year, int month, struct vwlite_moment *to) {
        int found = vwlite_date(year, month, 1, -1, to);
        to->weekday = -1;
        return found;
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

    /* Whether there is Z or an offset at *p, which is set behind it. */
    static inline int vwlite_zone(const char **p, const char *end, int *offset) {
        int sign, hours, minutes = 0;
        if (*p == end || (**p != '+' && **p != '-')) {
            *offset = 0;
            return *p < end && (*(*p)++ | 0x20) == 'z';
        }
        sign = *(*p)++ == '-' ? -1 : 1;
        hours = vwlite_some_digits(p, end, 2);
        if (*p < end && (**p == ':' || (unsigned)(**p - '0') <= 9)) {
            *p += **p == ':';
            minutes = vwlite_some_digits(p, end, 2);
        }
        *offset = sign * (3600 * hours + 60 * minutes);
        return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
    }

    /* Whether [p, end) is a date or time of ISO 8601: 1, 0, or -1 if it does not even begin as one. wide: or a month,
       and UTC or GMT may be behind a time. */
    static int vwlite_read_iso(const char *p, const char *end, int wide, struct vwlite_moment *to) {
        int year = vwlite_some_digits(&p, end, 4), extended = p < end && *p == '-';
        p += extended;
        int month = vwlite_some_digits(&p, end, 2);
        if (wide && extended && year >= 0 && month >= 0 && p == end) {
            return vwlite_month(year, month, to);
        }
        if (year < 0 || month < 0 || (extended && (p == end || *p != '-'))) {
            return -1;
        }
        p += extended;
        int day = vwlite_some_digits(&p, end, 2), hour = -1, part, offset;
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
            if (wide && end - p == 4 && (memcmp(p, " UTC", 4) == 0 || memcmp(p, " GMT", 4) == 0)) {
                p = end;
            }
            if (p < end && !vwlite_zone(&p, end, &offset)) {
                return 0;
            }
        }
        return p == end && vwlite_date(year, month, day, hour, to);
    }

    /* Whether [p, end) begins, in any case, with a word in lower case. */
    static inline int vwlite_begins(const char *p, const char *end, const char *word, size_t n) {
        if ((size_t)(end - p) < n) {
            return 0;
        }
        for (size_t i = 0; i < n; i++) {
            if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20 : p[i]) != word[i]) {
                return 0;
            }
        }
        return 1;
    }

    /* The month whose name, or the first three letters of it, is at *p, which is set behind them; 0: there is none. */
    static inline int vwlite_name_of_month(const char **p, const char *end, int in_full) {
        static const char *const names[] = {"january", "february", "march", "april", "may", "june", "july", "august",
                                            "september", "october", "november", "december"};
        for (int i = 0; i < 12; i++) {
            size_t n = in_full ? strlen(names[i]) : 3;
            if (vwlite_begins(*p, end, names[i], n)) {
                *p += n;
                return i + 1;
            }
        }
        return 0;
    }

    /* Whether [p, end) is a time as the format [f, f_end) has it. */
    static int vwlite_read_written(const char *f, const char *f_end, const char *p, const char *end,
                                   struct vwlite_written *to, struct vwlite_moment *moment) {
        const char *begin;
        int afternoon = 0, number;
        *to = (struct vwlite_written){0, 0, 0, -1, 0, 0, 0, 0};
        for (; f < f_end; f++) {
            begin = p;
            if (*f == ' ') {
                while (p < end && (*p == ' ' || *p == '\t')) {
                    p++;
                }
                for (; f + 1 < f_end && f[1] == ' '; f++) {
                }
                if (p == begin) {
                    return 0;
                }
                continue;
            }
            if (*f != '%' || *++f == '%') {
                char c = *f >= 'A' && *f <= 'Z' ? *f | 0x20 : *f;
                if (!vwlite_begins(p++, end, &c, 1)) {
                    return 0;
                }
                continue;
            }
            if (*f == 'Y' || *f == 'y') {
                number = vwlite_some_digits(&p, end, *f == 'Y' ? 4 : 2);
                to->year = *f == 'Y' || number < 0 ? number : number + (number < 69 ? 2000 : 1900);
            } else if (*f == 'b' || *f == 'B') {
                to->month = vwlite_name_of_month(&p, end, *f == 'B');
            } else if (*f == 'p') {
                afternoon = vwlite_begins(p, end, "pm", 2);
                if (!afternoon && !vwlite_begins(p, end, "am", 2)) {
                    return 0;
                }
                p += 2;
            } else if (*f == 'z') {
                if (!vwlite_zone(&p, end, &to->offset)) {
                    return 0;
                }
            } else if (*f == 'f') {
                double unit = 1;
                for (; p < end && (unsigned)(*p - '0') <= 9; p++) {
                    unit /= 10;
                    to->part += unit * (*p - '0');
                }
                if (p == begin) {
                    return 0;
                }
            } else {
                int digits = end - p > 1 && (unsigned)(p[1] - '0') <= 9 ? 2 : 1;
                if (digits == 1 && f_end - f > 2 && f[1] == '%' && strchr("dmYyHIMSf", f[2]) != NULL) {
                    return 0;
                }
                number = vwlite_some_digits(&p, end, digits);
                if (number < 0 || number > (*f == 'H' ? 23 : *f == 'I' ? 12 : 59) || (number == 0 && *f == 'I')) {
                    return 0;
                }
                switch (*f) {
                case 'd': to->day = number == 0 ? 32 : number; break;
                case 'm': to->month = number; break;
                case 'M': to->minute = number; break;
                case 'S': to->second = number; break;
                case 'I': to->hour = number % 12; break;
                default: to->hour = number;
                }
            }
        }
        to->hour += 12 * afternoon;
        return p == end && (to->day ? vwlite_date(to->year, to->month, to->day, to->hour, moment)
                                    : vwlite_month(to->year, to->month, moment));
    }
    """
    struct Moment "vwlite_moment":
        int hour
        int weekday
        int month

    bint moment_of_day "vwlite_moment_of"(int64_t days, int hour, Moment* to) noexcept nogil
    bint moment_of_ticks "vwlite_moment_of_ticks"(int64_t ticks, int64_t per_second, Moment* to) noexcept nogil
    bint moment_of_date "vwlite_date"(int year, int month, int day, int hour, Moment* to) noexcept nogil
    int64_t days_from_civil "vwlite_days_from_civil"(int64_t y, int m, int d) noexcept nogil
    int read_iso "vwlite_read_iso"(const char* p, const char* end, bint wide, Moment* to) noexcept nogil

    struct WrittenTime "vwlite_written":
        int year
        int month
        int day
        int hour
        int minute
        int second
        int offset
        double part

    bint read_written "vwlite_read_written"(const char* f, const char* f_end, const char* p, const char* end,
                                            WrittenTime* to, Moment* moment) noexcept nogil


cdef inline bint moment_of_number(double x, bint wide, Moment* to) noexcept nogil:
    """The time that a number stands for; false: it is not a time. wide: large ones are not seconds."""
    cdef double size = fabs(x)
    cdef int64_t whole, per_second = 1
    if not size < (9.2e18 if wide else 1e12):
        return False
    whole = <int64_t>floor(x)
    if whole == x:
        if 1000 <= whole < 10000 or 100000 <= whole < 1000000 or (wide and 1.9e13 <= x < 2.1e13):
            return False
        if 10000000 <= whole < 100000000:
            return moment_of_date(<int>(whole // 10000), <int>(whole // 100 % 100), <int>(whole % 100), -1, to)
    if wide and size >= 1e11:
        per_second = 1000 if size < 1e14 else 1000000 if size < 1e17 else 1000000000
    return moment_of_ticks(whole, per_second, to)
