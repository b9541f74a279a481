#if !VWLITE_CLASSES
/* A score, clipped and linked. */
static inline double vwlite_linked(double p) {
@CLIP@    return @LINK@;
}
#endif

#if VWLITE_QUANTILES
static const double vwlite_taus[VWLITE_QUANTILES] = {@TAUS@};

/* The predictions of vwlite_taus, in ascending order. */
static inline void vwlite_quantiles(const double scores[VWLITE_SCORES], double out[VWLITE_QUANTILES]) {
    int k, at;
    for (k = 0; k < VWLITE_QUANTILES; k++) {
        double p = vwlite_linked(scores[k]);
        for (at = k; at > 0 && out[at - 1] > p; at--)
            out[at] = out[at - 1];
        out[at] = p;
    }
}
#endif

/* The prediction of scores: a number; of several quantiles the one in the middle; or with classes the number of one, from
 * 1. */
static inline double vwlite_prediction(const double scores[VWLITE_SCORES]) {
#if VWLITE_CLASSES
    int k, best = 0;
    for (k = 1; k < VWLITE_CLASSES; k++)
        if (scores[k] > scores[best])
            best = k;
    return best + 1;
#elif VWLITE_QUANTILES
    double all[VWLITE_QUANTILES];
    vwlite_quantiles(scores, all);
    return all[VWLITE_QUANTILES / 2];
#else
    return vwlite_linked(scores[0]);
#endif
}

#if VWLITE_SIGMOID || VWLITE_SOFTMAX
/* The probabilities of all classes. */
static inline void vwlite_probabilities(const double scores[VWLITE_SCORES], double out[VWLITE_CLASSES]) {
    int k;
    double sum = 0, largest = scores[(int)vwlite_prediction(scores) - 1];
    for (k = 0; k < VWLITE_CLASSES; k++) {
        if (VWLITE_SOFTMAX || largest < -700)
            out[k] = exp(scores[k] - largest);
        else
            out[k] = 1 / (1 + exp(-scores[k]));
        sum += out[k];
    }
    for (k = 0; k < VWLITE_CLASSES; k++)
        out[k] /= sum;
}
#endif
