/* The prediction of scores: a number, clipped and linked; or with classes the number of one, from 1. */
static inline double vwlite_prediction(const double scores[VWLITE_SCORES]) {
#if VWLITE_CLASSES
    int k, best = 0;
    for (k = 1; k < VWLITE_CLASSES; k++)
        if (scores[k] > scores[best])
            best = k;
    return best + 1;
#else
    double p = scores[0];
@CLIP@    return @LINK@;
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
