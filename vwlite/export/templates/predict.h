/* A model of vwlite: @WHAT@.
 *
 * One header, which needs the C standard library alone (C99; link with -lm). All of it is static, so that each file that
 * includes it has its own. It predicts what `vwlite predict` does:
 *
 *     double scores[VWLITE_SCORES];
 *     if (vwlite_vw_line("|user anna |page home", 21, scores) == 1)
 *         printf("%.9g\n", vwlite_prediction(scores));
 *
 * vwlite_vw_line and vwlite_libsvm_line read a line of text; vwlite_scores takes features that are at hand. Keys are
 * hashes of names: vwlite_hash(name, size, vwlite_space(namespace, size)).
 */
#ifndef VWLITE_MODEL_H
#define VWLITE_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

@DEFINES@

/* A feature: the first letter of its namespace (' ' if that has no name), the hash of that, the hash of its name, its
 * value. Namespaces matter to models of interactions, --keep and --ignore alone. */
typedef struct {
    unsigned char letter;
    uint32_t space;
    uint32_t hash;
    float value;
} vwlite_feature;

/* The weights by rising key, one for each score@NAMES@. */
static const struct {
    uint32_t key;
    double weight[VWLITE_SCORES];
} vwlite_rows[VWLITE_ROWS + 1] = {
@ROWS@    {0xFFFFFFFFu, {0}} /* none */
};
/* The weight of the constant feature, and that of features which are not in the table. */
static const double vwlite_constant[VWLITE_SCORES] = {@CONSTANT@};
static const double vwlite_unseen[VWLITE_SCORES] = {@UNSEEN@};
/* The interactions, each as its length and the letters of its namespaces, or 256 + the place of a namespace among those
 * that are crossed by name; 0 ends them. */
static const unsigned short vwlite_terms[] = {@TERMS@0};
static const uint32_t vwlite_spaces[VWLITE_NAMED + 1] = {@SPACES@0};
/* By the letter of a namespace: 1 if its features count by themselves, 2 if they do in interactions, 3: both. */
static const unsigned char vwlite_counts[256] = {@COUNTS@};
/* The names of the classes: vwlite_class_names[vwlite_prediction(scores) - 1]. */
static const char *const vwlite_class_names[VWLITE_CLASSES + 1] = {@CLASSES@0};

/* --- hashes of names -------------------------------------------------------------------------- */

/* MurmurHash3_x86_32, Austin Appleby. */
static inline uint32_t vwlite_murmur(const char *text, size_t size, uint32_t seed) {
    const unsigned char *s = (const unsigned char *)text;
    uint32_t h = seed, k;
    size_t i = 0;
    for (; size - i >= 4; i += 4) {
        k = (uint32_t)s[i] | (uint32_t)s[i + 1] << 8 | (uint32_t)s[i + 2] << 16 | (uint32_t)s[i + 3] << 24;
        k *= 0xcc9e2d51u;
        k = (k << 15 | k >> 17) * 0x1b873593u;
        h ^= k;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    k = 0;
    if (size - i == 3)
        k = (uint32_t)s[i + 2] << 16;
    if (size - i >= 2)
        k |= (uint32_t)s[i + 1] << 8;
    if (size - i >= 1) {
        k = (k | s[i]) * 0xcc9e2d51u;
        h ^= (k << 15 | k >> 17) * 0x1b873593u;
    }
    h ^= (uint32_t)size;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* The hash of a name in a namespace of that hash. */
static inline uint32_t vwlite_hash(const char *name, size_t size, uint32_t space) {
#if VWLITE_HASH_ALL
    return vwlite_murmur(name, size, space);
#else /* a number is its own index; blanks around a name do not count */
    uint32_t number = 0;
    size_t i;
    for (; size > 0 && (unsigned char)name[0] <= 0x20; size--)
        name++;
    while (size > 0 && (unsigned char)name[size - 1] <= 0x20)
        size--;
    for (i = 0; i < size; i++) {
        if (name[i] < '0' || name[i] > '9')
            return vwlite_murmur(name, size, space);
        number = number * 10 + (uint32_t)(name[i] - '0');
    }
    return number + space;
#endif
}

/* The hash of a namespace; of one without a name if the size is 0. */
static inline uint32_t vwlite_space(const char *name, size_t size) {
    return size ? vwlite_hash(name, size, 0) : vwlite_murmur("", 0, 0);
}

#if VWLITE_ESCAPED
/* The byte that % and two digits at p stand for in the VW text of a table, or -1. */
static inline int vwlite_escape(const char *p, const char *end) {
    int high, low, c;
    if (end - p < 3 || p[0] != '%')
        return -1;
    high = p[1] >= '0' && p[1] <= '7' ? p[1] - '0' : -1;
    low = p[2] >= '0' && p[2] <= '9' ? p[2] - '0' : p[2] >= 'A' && p[2] <= 'F' ? p[2] - 'A' + 10 : -1;
    if (high < 0 || low < 0)
        return -1;
    c = 16 * high + low;
    return c <= 0x20 || c == '%' || c == '\'' || c == ':' || c == '|' ? c : -1;
}
#endif

/* The hash of a name of VW text; 0 without memory. */
static inline int vwlite_name(const char *p, size_t size, uint32_t space, uint32_t *hash) {
#if VWLITE_ESCAPED
    if (memchr(p, '%', size)) {
        const char *end = p + size;
        char *name = (char *)malloc(size), *to = name;
        if (!name)
            return 0;
        for (; p < end; p++) {
            int c = vwlite_escape(p, end);
            *to++ = c < 0 ? *p : (char)c;
            p += c < 0 ? 0 : 2;
        }
        *hash = vwlite_hash(name, (size_t)(to - name), space);
        free(name);
        return 1;
    }
#endif
    *hash = vwlite_hash(p, size, space);
    return 1;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* A feature of an example that will be normalized, and how many came before it. */
typedef struct {
    uint32_t key;
    float value;
    size_t at;
} vwlite_pair;

/* The example that is being scored. */
typedef struct {
    double *scores;
    vwlite_pair *pairs; /* only if VWLITE_NORMALIZE: its features so far */
    size_t size, capacity;
    int failed; /* there was no memory for them */
} vwlite_example;

static inline void vwlite_weigh(uint32_t key, double value, double *scores) {
    size_t low = 0, high = VWLITE_ROWS, k;
    const double *weight = vwlite_unseen;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vwlite_rows[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low != VWLITE_ROWS && vwlite_rows[low].key == key)
        weight = vwlite_rows[low].weight;
    for (k = 0; k < VWLITE_SCORES; k++)
        scores[k] += weight[k] * value;
}

static inline void vwlite_add(uint32_t hash, float value, vwlite_example *e) {
#if VWLITE_NORMALIZE
    if (e->size == e->capacity && !e->failed) {
        size_t want = e->capacity ? 2 * e->capacity : 64;
        vwlite_pair *more = (vwlite_pair *)realloc(e->pairs, want * sizeof(vwlite_pair));
        if (more) {
            e->pairs = more;
            e->capacity = want;
        } else
            e->failed = 1;
    }
    if (!e->failed) {
        e->pairs[e->size].key = hash & VWLITE_MASK;
        e->pairs[e->size].value = value;
        e->pairs[e->size].at = e->size;
        e->size++;
    }
#else
    vwlite_weigh(hash & VWLITE_MASK, value, e->scores);
#endif
}

static inline int vwlite_by_key(const void *a, const void *b) {
    const vwlite_pair *x = (const vwlite_pair *)a, *y = (const vwlite_pair *)b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->at > y->at) - (x->at < y->at);
}

/* After the last feature: 1, or -2 if there was no memory. Values of equal keys are added up; they become logarithms
 * with the sign of the value, if VWLITE_NORMALIZE is 2; and are divided by the length of the example. */
static inline int vwlite_sum(vwlite_example *e) {
#if VWLITE_NORMALIZE
    size_t i, n = 0;
    double square = 0, length;
    if (e->failed || !e->size) {
        free(e->pairs);
        return e->failed ? -2 : 1;
    }
    qsort(e->pairs, e->size, sizeof(vwlite_pair), vwlite_by_key);
    for (i = 0; i < e->size; i++)
        if (n && e->pairs[n - 1].key == e->pairs[i].key)
            e->pairs[n - 1].value += e->pairs[i].value;
        else
            e->pairs[n++] = e->pairs[i];
    for (i = 0; i < n; i++) {
        if (VWLITE_NORMALIZE == 2)
            e->pairs[i].value = (float)copysign(log1p(fabs(e->pairs[i].value)), e->pairs[i].value);
        square += (double)e->pairs[i].value * e->pairs[i].value;
    }
    length = square > 0 ? sqrt(square) : 1;
    for (i = 0; i < n; i++)
        vwlite_weigh(e->pairs[i].key, (float)(e->pairs[i].value / length), e->scores);
    free(e->pairs);
#else
    (void)e;
#endif
    return 1;
}

/* The products of the namespaces of a term, from `depth` on; a namespace that stands twice gives combinations. */
static inline void vwlite_cross(const vwlite_feature *f, const size_t *begin, const unsigned short *term, int order, int depth,
                         size_t first, uint64_t hash, float value, vwlite_example *e) {
    size_t i, end = begin[term[depth] + 1];
    for (i = first; i < end; i++) {
        uint64_t h = hash ^ f[i].hash;
        float x = value * f[i].value;
        if (depth + 1 == order)
            vwlite_add((uint32_t)h, x, e);
        else
            vwlite_cross(f, begin, term, order, depth + 1, term[depth + 1] == term[depth] ? i : begin[term[depth + 1]],
                         h * 16777619u, x, e);
    }
}

/* The scores of an example: one, or one for each class. initial: what they begin with, usually 0. In models without
 * interactions, features may come in any order, and those of value 0 may be left out; in others, namespaces too.
 * 1; or -2 if there is no memory. */
static inline int vwlite_scores(const vwlite_feature *features, size_t n, double initial, double scores[VWLITE_SCORES]) {
    size_t i, k, begin[256 + VWLITE_NAMED + 1], at[256 + VWLITE_NAMED];
    const unsigned short *term = vwlite_terms;
    vwlite_feature *sorted;
    vwlite_example e;
    memset(&e, 0, sizeof(e));
    e.scores = scores;
    for (k = 0; k < VWLITE_SCORES; k++)
        scores[k] = initial + vwlite_constant[k];
    for (i = 0; i < n; i++)
        if (vwlite_counts[features[i].letter] & 1)
            vwlite_add(features[i].hash, features[i].value, &e);
    if (!term[0] || n == 0)
        return vwlite_sum(&e);
    /* Side by side: the features of each letter, and of each namespace that is crossed by name. */
    memset(begin, 0, sizeof(begin));
    for (i = 0; i < n; i++)
        if (vwlite_counts[features[i].letter] & 2) {
            begin[features[i].letter + 1]++;
            for (k = 0; k != VWLITE_NAMED; k++)
                begin[256 + k + 1] += features[i].space == vwlite_spaces[k];
        }
    for (i = 0; i < 256 + VWLITE_NAMED; i++) {
        begin[i + 1] += begin[i];
        at[i] = begin[i];
    }
    sorted = (vwlite_feature *)malloc((begin[256 + VWLITE_NAMED] + 1) * sizeof(vwlite_feature));
    if (!sorted) {
        vwlite_sum(&e);
        return -2;
    }
    for (i = 0; i < n; i++)
        if (vwlite_counts[features[i].letter] & 2) {
            sorted[at[features[i].letter]++] = features[i];
            for (k = 0; k != VWLITE_NAMED; k++)
                if (features[i].space == vwlite_spaces[k])
                    sorted[at[256 + k]++] = features[i];
        }
    for (; term[0]; term += term[0] + 1)
        vwlite_cross(sorted, begin, term + 1, term[0], 0, begin[term[1]], 0, 1, &e);
    free(sorted);
    return vwlite_sum(&e);
}

/* --- predictions ------------------------------------------------------------------------------ */

@PREDICTION@
/* --- text ------------------------------------------------------------------------------------- */

/* The number [p, end): [+-] digits [. digits] [e [+-] digits], whatever the locale is. 0 if it is none. */
static inline int vwlite_number(const char *p, const char *end, double *out) {
    uint64_t digits = 0;
    long power = 0, exponent = 0;
    int negative = 0, down = 0, some = 0, point = 0;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = 1;
            continue;
        }
        some = 1;
        if (digits < 1000000000000000000u)
            digits = digits * 10 + (uint64_t)(*p - '0');
        else
            power++;
        power -= point;
    }
    if (!some)
        return 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+'))
            down = *p++ == '-';
        if (p == end)
            return 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (exponent < 100000)
                exponent = exponent * 10 + (*p - '0');
        power += down ? -exponent : exponent;
    }
    if (p != end)
        return 0;
    *out = (double)digits;
    for (; power < 0 && *out != 0; power += power < -300 ? 300 : -power)
        *out /= pow(10, power < -300 ? 300 : (double)-power);
    for (; power > 0 && *out != 0 && *out < 1e308; power -= power > 300 ? 300 : power)
        *out *= pow(10, power > 300 ? 300 : (double)power);
    if (negative)
        *out = -*out;
    return 1;
}

/* The same as a value of a feature. 0 if it is none, or too large. */
static inline int vwlite_value(const char *p, const char *end, float *out) {
    double x;
    if (!vwlite_number(p, end, &x) || x > 3.4028235677973366e38 || x < -3.4028235677973366e38)
        return 0;
    *out = (float)x;
    return 1;
}

/* The features of a line as they are read. */
typedef struct {
    vwlite_feature *features;
    size_t size, capacity;
} vwlite_list;

static inline int vwlite_append(vwlite_list *list, unsigned char letter, uint32_t space, uint32_t hash, float value) {
    vwlite_feature *more;
    if (list->size == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        more = (vwlite_feature *)realloc(list->features, list->capacity * sizeof(vwlite_feature));
        if (!more)
            return 0;
        list->features = more;
    }
    if (value != 0) {
        list->features[list->size].letter = letter;
        list->features[list->size].space = space;
        list->features[list->size].hash = hash;
        list->features[list->size].value = value;
        list->size++;
    }
    return 1;
}

static inline int vwlite_is_blank(char c) { return c == ' ' || c == '\t'; }

/* Where a line ends: before LF or CR LF. */
static inline const char *vwlite_line_end(const char *line, size_t size) {
    if (size && line[size - 1] == '\n')
        size--;
    if (size && line[size - 1] == '\r')
        size--;
    return line + size;
}

static inline int vwlite_take_vw(const char *p, const char *end, vwlite_list *list, double *initial) {
    const char *q, *first;
    int words = 0, tag = 0;
    double number;
    while (p < end && *p != '|') {
        if (vwlite_is_blank(*p)) {
            p++;
            continue;
        }
        for (first = p; p < end && *p != '|' && !vwlite_is_blank(*p); p++)
            ;
        words++;
        tag = *first == '\'' || (p < end && *p == '|');
        if (words == 3 && !tag) {
            if (!vwlite_number(first, p, initial))
                return -1;
        } else if (words == 2 && !tag && (!vwlite_number(first, p, &number) || number < 0))
            return -1;
    }
    if (p == end)
        return words ? -1 : 0;
    if (words - tag > 3)
        return -1;
    if (words - tag < 3)
        *initial = 0;
    while (p < end) { /* at a bar */
        unsigned char letter = ' ';
        uint32_t space = vwlite_space("", 0), nameless = 0, hash;
        float scale = 1, value;
        p++;
        for (q = p; q < end && !vwlite_is_blank(*q) && *q != ':' && *q != '|'; q++)
            ;
        if (q != p) {
            letter = (unsigned char)*p;
            space = vwlite_space(p, (size_t)(q - p));
        } else if (q < end && *q == ':')
            return -1;
        if (q < end && *q == ':') {
            for (p = ++q; q < end && !vwlite_is_blank(*q) && *q != '|'; q++)
                ;
            if (!vwlite_value(p, q, &scale))
                return -1;
        }
        for (p = q; p < end && *p != '|';) {
            if (vwlite_is_blank(*p)) {
                p++;
                continue;
            }
            for (q = p; q < end && !vwlite_is_blank(*q) && *q != ':' && *q != '|'; q++)
                if (*q == '\r')
                    return -1;
            if (q == p)
                hash = space + nameless++;
            else if (!vwlite_name(p, (size_t)(q - p), space, &hash))
                return -2;
            value = 1;
            if (q < end && *q == ':') {
                for (p = ++q; q < end && !vwlite_is_blank(*q) && *q != '|'; q++)
                    ;
                if (!vwlite_value(p, q, &value))
                    return -1;
            }
            p = q;
            value *= scale;
            if (!(value - value == 0))
                return -1;
            if (!vwlite_append(list, letter, space, hash, value))
                return -2;
        }
    }
    return 1;
}

static inline int vwlite_take_libsvm(const char *p, const char *end, vwlite_list *list) {
    const char *q, *colon;
    int words = 0;
    double label;
    float value;
    const uint32_t space = vwlite_space("", 0);
    while (p < end && *p != '#') {
        if (vwlite_is_blank(*p)) {
            p++;
            continue;
        }
        for (q = p, colon = NULL; q < end && !vwlite_is_blank(*q) && *q != '#'; q++)
            if (*q == ':' && !colon)
                colon = q;
        if (!colon) {
            if (words++ || (!VWLITE_CLASSES && !vwlite_number(p, q, &label)))
                return -1;
        } else {
            const char *digit;
            words++;
            for (digit = p; digit < colon; digit++)
                if (*digit < '0' || *digit > '9')
                    return -1;
            if (p == colon || !vwlite_value(colon + 1, q, &value))
                return -1;
            while (*p == '0')
                p++;
            if (!vwlite_append(list, ' ', space, vwlite_hash(p, (size_t)(colon - p), space), value))
                return -2;
        }
        p = q;
    }
    return words != 0;
}

/* The scores of a line of VW text, with or without a label, which does not count. 1; 0 for a blank line, which has no
 * scores; -1 if it is no VW text; -2 if there is no memory. */
static inline int vwlite_vw_line(const char *line, size_t size, double scores[VWLITE_SCORES]) {
    vwlite_list list = {NULL, 0, 0};
    double initial = 0;
    int state = vwlite_take_vw(line, vwlite_line_end(line, size), &list, &initial);
    if (state == 1)
        state = vwlite_scores(list.features, list.size, initial, scores);
    free(list.features);
    return state;
}

/* The same of a line of libsvm text, [label] index:value ... [# comment]. */
static inline int vwlite_libsvm_line(const char *line, size_t size, double scores[VWLITE_SCORES]) {
    vwlite_list list = {NULL, 0, 0};
    int state = vwlite_take_libsvm(line, vwlite_line_end(line, size), &list);
    if (state == 1)
        state = vwlite_scores(list.features, list.size, 0, scores);
    free(list.features);
    return state;
}

#endif
