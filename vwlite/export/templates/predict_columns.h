/* A model of vwlite: @WHAT@.
 *
 * One header, which needs the C standard library alone (C99; link with -lm). All of it is static, so that each file that
 * includes it has its own; nothing is allocated, and nothing is written to but what is passed. It predicts what
 * `vwlite predict` does:
 *
 *     vwlite_row row = vwlite_missing_row();
 *     row.numbers[VWLITE_NUMBER_age] = 39;
 *     row.words[VWLITE_WORD_city] = "Lisbon";
 *     printf("%.9g\n", vwlite_predict(&row));
 *
 * A column that is not set is a missing value. vwlite_scores gives what is before clipping and link, or the scores of
 * all classes. Texts are UTF-8. A column of times is three columns of words: the hour (0 to 23), the weekday (1 is
 * Monday) and the month, as text.
 */
#ifndef VWLITE_MODEL_H
#define VWLITE_MODEL_H

#include <math.h>
#include <stddef.h>
#include <string.h>

@DEFINES@

/* The columns of numbers, as places in row.numbers. */
enum {
@NUMBERS@    VWLITE_NUMBER_END_
};
/* The columns of words, as places in row.words. */
enum {
@WORDS@    VWLITE_WORD_END_
};
/* Their names in the table. */
static const char *const vwlite_number_names[VWLITE_NUMBERS + 1] = {@NUMBER_NAMES@0};
static const char *const vwlite_word_names[VWLITE_WORDS + 1] = {@WORD_NAMES@0};
/* The names of the classes: vwlite_class_names[vwlite_prediction(scores) - 1]. */
static const char *const vwlite_class_names[VWLITE_CLASSES + 1] = {@CLASSES@0};

/* A row of the table. */
typedef struct {
    double numbers[VWLITE_NUMBERS + 1];    /* NAN: missing */
    const char *words[VWLITE_WORDS + 1];   /* NULL or "": missing; blanks at their ends do not count */
} vwlite_row;

/* Where effects have values: at the knots of a number, between which they are linear, or at the words of a column, and
 * behind them for any other word; last for a missing value. */
typedef struct {
    int column;                 /* among the numbers or words */
    int missing;                /* the place of a missing value: so many are before it */
    const double *knots;        /* NULL: it is one of words */
    const char *const *levels;  /* words by rising bytes */
    int count;                  /* of these */
    const int *codes;           /* their places; NULL: in this order */
    int other;                  /* the place of any other word */
} vwlite_axis;

/* A number without a curve: what is added for each unit, for each score. */
typedef struct {
    int number;
    double weight[VWLITE_SCORES];
} vwlite_slope;

/* The effect of a column or of a product of columns: its axes, and values by their places, for each score. */
typedef struct {
    int count;
    int axis[3];
    const double *values;
} vwlite_effect;

static const double vwlite_intercept[VWLITE_SCORES] = {@INTERCEPT@};
/* Numbers that mean a missing value. */
static const double vwlite_missing_numbers[VWLITE_MISSING + 1] = {@MISSING@0};
@ARRAYS@
/* --- scores ----------------------------------------------------------------------------------- */

/* A row whose values are all missing. */
static inline vwlite_row vwlite_missing_row(void) {
    vwlite_row row;
    size_t i;
    for (i = 0; i < VWLITE_NUMBERS + 1; i++)
        row.numbers[i] = NAN;
    for (i = 0; i < VWLITE_WORDS + 1; i++)
        row.words[i] = NULL;
    return row;
}

/* A number as a 32-bit float; NAN: it is missing. */
static inline double vwlite_number(const vwlite_row *row, int column) {
    double x = (float)row->numbers[column];
    int i;
    for (i = 0; i < VWLITE_MISSING; i++)
        if (x == vwlite_missing_numbers[i])
            return NAN;
    return x;
}

#if VWLITE_WHOLES
/* The length of a word without the point of a whole number and the zeros behind it: of 2.0 it is that of 2. */
static inline size_t vwlite_whole(const char *p, size_t n) {
    size_t size = n, i = *p == '-';
    while (size && p[size - 1] == '0')
        size--;
    if (size == n || size < i + 2 || p[--size] != '.' || (p[i] == '0' && size > i + 1))
        return n;
    while (i < size && p[i] >= '0' && p[i] <= '9')
        i++;
    return i == size ? size : n;
}
#endif

/* The length of a word at *p, which is set behind the blanks before it. */
static inline size_t vwlite_word(const char **p) {
    size_t n;
    if (!*p)
        return 0;
    while (**p == ' ' || **p == '\t' || **p == '\r' || **p == '\n')
        ++*p;
    n = strlen(*p);
    while (n && (unsigned char)(*p)[n - 1] <= ' ')
        n--;
#if VWLITE_WHOLES
    n = vwlite_whole(*p, n);
#endif
    return n;
}

/* A place on an axis, and how far behind it, from 0 to 1. */
typedef struct {
    int low;
    double behind;
} vwlite_place;

static inline vwlite_place vwlite_find(const vwlite_axis *axis, const vwlite_row *row) {
    vwlite_place found = {0, 0};
    int high = axis->knots ? axis->missing : axis->count, middle;
    if (axis->knots) {
        double x = vwlite_number(row, axis->column);
        if (x != x) {
            found.low = axis->missing;
            return found;
        }
        while (found.low + 1 < high) {
            middle = (found.low + high) / 2;
            if (axis->knots[middle] <= x)
                found.low = middle;
            else
                high = middle;
        }
        if (found.low + 1 < axis->missing && x > axis->knots[0])
            found.behind = (x - axis->knots[found.low]) / (axis->knots[found.low + 1] - axis->knots[found.low]);
    } else {
        const char *word = row->words[axis->column];
        size_t n = vwlite_word(&word);
        if (!n) {
            found.low = axis->missing;
            return found;
        }
        while (found.low < high) {
            int order;
            middle = (found.low + high) / 2;
            order = strncmp(axis->levels[middle], word, n);
            if (order == 0 && !axis->levels[middle][n]) {
                found.low = axis->codes ? axis->codes[middle] : middle;
                return found;
            }
            if (order < 0)
                found.low = middle + 1;
            else
                high = middle;
        }
        found.low = axis->other;
    }
    return found;
}

/* Add an effect at these places of all axes, times a factor. */
static inline void vwlite_add(const vwlite_effect *effect, const vwlite_place *places, double factor,
                              double scores[VWLITE_SCORES]) {
    int corner, i, k;
    for (corner = 0; corner < 1 << effect->count; corner++) {
        double part = factor;
        size_t at = 0;
        for (i = 0; i < effect->count && part != 0; i++) {
            const vwlite_axis *axis = &vwlite_axes[effect->axis[i]];
            const vwlite_place *place = &places[effect->axis[i]];
            int next = corner >> i & 1;
            at = at * (size_t)(axis->missing + 1) + (size_t)(place->low + next);
            part *= next ? place->behind : 1 - place->behind;
        }
        if (part != 0)
            for (k = 0; k < VWLITE_SCORES; k++)
                scores[k] += part * effect->values[at * VWLITE_SCORES + (size_t)k];
    }
}

#if VWLITE_NORMALIZE
/* A value before the row is divided by its length. */
static inline float vwlite_scaled(double x) {
    return VWLITE_NORMALIZE == 2 ? (float)copysign(log1p(fabs(x)), x) : (float)x;
}
#endif

/* The scores of a row: one, or one for each class. */
static inline void vwlite_scores(const vwlite_row *row, double scores[VWLITE_SCORES]) {
    vwlite_place places[VWLITE_AXES + 1];
    int i, k;
#if VWLITE_NORMALIZE
    float numbers[VWLITE_SLOPES + 1], one = vwlite_scaled(1);
    double square = 0, length;
#endif
    for (k = 0; k < VWLITE_SCORES; k++)
        scores[k] = vwlite_intercept[k];
    for (i = 0; i != VWLITE_AXES; i++)
        places[i] = vwlite_find(&vwlite_axes[i], row);
#if VWLITE_NORMALIZE
    for (i = 0; i != VWLITE_SLOPES; i++) {
        double x = vwlite_number(row, vwlite_slopes[i].number);
        numbers[i] = x == x ? vwlite_scaled(x) : 0;
        square += (double)numbers[i] * numbers[i];
    }
    for (i = 0; i != VWLITE_AXES; i++) {
        const vwlite_axis *axis = &vwlite_axes[i];
        int kind = places[i].low == axis->missing ? 2 : !axis->knots && places[i].low == axis->other;
        square += vwlite_units[i][kind] * (double)one * one;
    }
    length = square > 0 ? sqrt(square) : 1;
    for (i = 0; i != VWLITE_SLOPES; i++)
        for (k = 0; k < VWLITE_SCORES; k++)
            scores[k] += vwlite_slopes[i].weight[k] * (float)(numbers[i] / length);
    for (i = 0; i != VWLITE_EFFECTS; i++)
        vwlite_add(&vwlite_effects[i], places, (float)(one / length), scores);
#else
    for (i = 0; i != VWLITE_SLOPES; i++) {
        double x = vwlite_number(row, vwlite_slopes[i].number);
        for (k = 0; k < VWLITE_SCORES && x == x; k++)
            scores[k] += vwlite_slopes[i].weight[k] * x;
    }
    for (i = 0; i != VWLITE_EFFECTS; i++)
        vwlite_add(&vwlite_effects[i], places, 1, scores);
#endif
}

/* --- predictions ------------------------------------------------------------------------------ */

@PREDICTION@
/* The prediction for a row. */
static inline double vwlite_predict(const vwlite_row *row) {
    double scores[VWLITE_SCORES];
    vwlite_scores(row, scores);
    return vwlite_prediction(scores);
}

#endif
