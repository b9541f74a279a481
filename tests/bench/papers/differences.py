"""Whose difference it is where a claim does not agree, or only in part, and why; by figure and claim.

Written by hand, from the numbers and the papers. A claim that agrees is not looked up.
"""

OURS, PAPERS = "ours", "paper's"
_LIKE_ROUNDING = (
    "with constant gravity theta = g has good models of few features, and rounding has none on ad; with gravity that "
    "decays as the rate, theta = g is as bad as rounding there (within 0.002 up to 20 features), worse on spambase"
)
_STRENGTH = "strengths are chosen by the error, from a grid of 5, and differ from topic to topic"
_LINE = "L1 - Line has a line search of ours, which does not slow down; L1 - Batch and L1 - Stoch do"
_FALLING = "rates of L1 - Batch and L1 - Stoch fall with the root of t, chosen at a quarter of the budget; the method "
_FALLING += "stays behind L1 - Line"
_PAIRS = "all pairs of words and 8,000 documents, not bigrams and 804,414: most pairs occur once"
_STEP = "with the step that it states, 1 / (beta max x^2), rare words hardly move; with the mean of x^2 SCD is first"
_SIGNS = "the limit, half of the weights, is ours; and random signs fit 4,000 examples better than 19,020"
_SYNTHETIC = {
    "then they slow down: at n = 800 the interior point method is ahead of each in the end": (OURS, _LINE),
    "at n = 4,000 the interior point method does not catch up with any": (OURS, _FALLING),
}
_DENSITY = (
    "MAGIC04D, lambda {}: SCD is sparse along the way, its weights at the end a bit sparser than TruncGrad's, which "
    "has the smaller objective"
)

DIFFERENCES: dict[str, dict[str, tuple[str, str]]] = {
    "tg-1": {
        "with 1,000 random features, more than 90 % of the features go in every set but `ad` (71 %)": (
            OURS,
            "all but wpbc, where 89.5 % go: 1 % of accuracy is 1.5 of its 149 examples, so that the choice is noise; "
            "with four other seeds of split and random features 97 to 100 % go",
        ),
    },
    "tg-2": {
        "truncated gradient (theta = inf) is competitive with the other online algorithms on every set, and clearly "
        "ahead on some": (
            OURS,
            "two of the paper's eleven sets, a third of ad: competitive on both, clearly ahead of rounding on ad, but "
            "level with theta = g and with the subgradient method, also where that rounds at 0.01 without tuning",
        ),
        "with theta = g it is like rounding, sometimes better": (OURS, _LIKE_ROUNDING),
    },
    "tg-3": {
        "that is especially important for rounding": (
            PAPERS,
            "no numbers are stated; with theta tuned for each K, truncated gradient gains more from K = 10 on both "
            "sets; rounding gains 0.2 on ad, but from K = 100",
        ),
        "theta = inf is generally the better choice, theta = g is like rounding": (
            OURS,
            "on spambase theta = inf is 0.008 behind theta = g, with standard errors of 0.005; " + _LIKE_ROUNDING,
        ),
    },
    "ada-rcv1": {
        "they err less than AROW, and AROW less than PA": (
            OURS,
            "AdaGrad-RDA and AROW are at most 0.3 points apart, the standard error of 5,123 test documents",
        ),
        "AdaGrad-RDA keeps fewer weights than AdaGrad-FB, RDA fewer than FB": (OURS, _STRENGTH),
        "AdaGrad-RDA is as sparse as RDA or sparser": (OURS, _STRENGTH),
    },
    "l1-4": {
        "two orders of magnitude at n = 3,200,000, k = 5,000": (
            OURS,
            "our linear form is 9 times as fast as sorting, so that less is left to gain",
        ),
    },
    "l1-5": _SYNTHETIC,
    "l1-6": _SYNTHETIC,
    "l1-7": {
        "right: with samples of 1 and 100 EG has an advantage in run time over the projections": (
            OURS,
            "a thirty-sixth of the documents; after 2 s EG is ahead with both samples, after 0.2 s only with 1",
        ),
    },
    "l1-8": {
        "the projections zero 10 to 50 % of each class's weights, EG none": (
            OURS,
            "the ball's radius, which the paper does not say, is small here",
        ),
    },
    "l1-9": {
        f"{topic}: about 5 % of the features seen are not zero, EG's all": (OURS, _PAIRS) for topic in ("CCAT", "ECAT")
    },
    "scd-reuters": {
        "SCD outperforms the other three": (PAPERS, _STEP),
        "SMIDAS and TruncGrad do much worse than SCD, at their best rates": (PAPERS, _STEP),
    },
    "scd-magic04": {
        "MAGIC04D, lambda 0.001: SMIDAS does much better than TruncGrad": (
            OURS,
            "40 of 210 passes over 4,000 of 19,020 examples; ahead at both places, at the end by less than 30 %",
        ),
        _DENSITY.format("0.001"): (OURS, _SIGNS),
        _DENSITY.format("0.0001"): (OURS, _SIGNS),
    },
}
