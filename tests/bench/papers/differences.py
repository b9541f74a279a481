"""Whose difference it is where a claim does not agree, or only in part, and why; by figure and claim.

Written by hand, from the numbers and the papers. A claim that agrees is not looked up.
"""

OURS, PAPERS = "ours", "paper's"
_LIKE_ROUNDING = (
    "with constant gravity theta = g has good models of few features, and rounding has none on ad; with gravity that "
    "decays as the rate, theta = g is as bad as rounding there (within 0.002 up to 20 features), worse on spambase"
)
_BOUND = "in one pass over 8,000 documents the loss falls with the bound until no weight is zero, so that the best "
_BOUND += "bound has too many; 5 % lies between the bounds 1,000 and 3,000; with the paper's, 100, it is below 1 %"
_STEP = "with the step that it states, 1 / (beta max x^2), rare words hardly move, and SCD is only level with SMIDAS; "
_STEP += "with the mean of x^2 SCD is first"

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
            "a thirty-sixth of the documents; on these AROW is ahead on ECAT, by half a point, six standard errors, "
            "and level with AdaGrad-RDA on the other topics",
        ),
        "AdaGrad-RDA keeps fewer weights than AdaGrad-FB, RDA fewer than FB": (
            OURS,
            "at lambda 1e-6 the threshold of dual averaging, 0.02 for the sums over 22,490 documents (0.8 for the "
            "paper's 804,414), is below 98 % of their values; at all other strengths it is so on every topic",
        ),
    },
    "l1-4": {
        "two orders of magnitude at n = 3,200,000, k = 5,000": (
            OURS,
            "our linear form is 9 times as fast as sorting, so that less is left to gain",
        ),
    },
    "l1-6": {
        "then they slow down: at n = 800 the interior point method is ahead of each in the end": (
            OURS,
            "L1 - Line has a line search of ours, which stays ahead; L1 - Batch and L1 - Stoch slow down",
        ),
        "at n = 4,000 the interior point method does not catch up with any": (
            OURS,
            "rates of L1 - Batch and L1 - Stoch fall with the root of t, chosen at a quarter of the budget; the "
            "interior point method passes them, not L1 - Line",
        ),
    },
    "l1-7": {
        "right: with samples of 1 and 100 EG has an advantage in run time over the projections": (
            OURS,
            "a thirty-sixth of the documents; after 2 s EG is ahead with both samples, after 0.2 s only with 1",
        ),
    },
    "l1-8": {
        "the projections zero 10 to 50 % of each class's weights, EG none": (
            OURS,
            "2,000 of 60,000 digits, and a radius that the paper does not say; five of the classes are within the "
            "limits, the others at 54 to 62 %",
        ),
    },
    "l1-9": {
        f"{topic}: about 5 % of the features seen are not zero, EG's all": (OURS, _BOUND) for topic in ("CCAT", "ECAT")
    },
    "scd-reuters": {
        "SCD outperforms the other three": (PAPERS, _STEP),
        "SMIDAS and TruncGrad do much worse than SCD, at their best rates": (PAPERS, _STEP),
    },
}
