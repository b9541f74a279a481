"""Reductions: learners made of several linear models. What stands in which order is decided here."""

from typing import Any

from vwlite.vw.arguments import Arguments
from vwlite.vw.learners import Binary, ClassWeight, Layer, Named, Scorer
from vwlite.vw.reductions.ect import Circuit, Ect
from vwlite.vw.setup import Setup, class_weights, unescaped
from vwlite.vw.words import Critical, Refused

# Known to Vowpal Wabbit's command line, and not (yet) here.
ABSENT = (
    "audit_regressor", "baseline", "csoaa_ldf", "nn",
    "replay_b", "replay_c", "replay_m", "svrg", "top", "wap_ldf", "compressed",
)  # fmt: skip

# What an option needs to mean something. Vowpal Wabbit ignores it otherwise; here nothing is ignored.
NEEDS = {
    "simulation": ("active",), "direct": ("active",), "lrqdropout": ("lrq",), "csoaa_rank": ("csoaa", "csoaa_ldf"),
    "mellowness": ("active",), "alg": ("boosting",), "gamma": ("boosting",),
    "bs_type": ("bootstrap",), "confidence_after_training": ("confidence",), "indexing": ("oaa", "csoaa"),
    "probabilities": ("oaa", "multilabel_oaa"), "scores": ("oaa",), "oaa_subsample": ("oaa",),
    "cs_absolute_loss": ("csoaa",), "ftrl_alpha": ("ftrl", "pistol", "coin"), "ftrl_beta": ("ftrl", "pistol", "coin"),
    "restart": ("freegrad",), "fepsilon": ("freegrad",), "chain_hash": ("json",), "csv_separator": ("csv",),
    "csv_no_file_header": ("csv",), "csv_header": ("csv",), "csv_ns_value": ("csv",), "adax": ("adaptive",),
    "lr_multiplier": ("baseline",), "global_only": ("baseline",), "check_enabled": ("baseline",),
    "hessian_on": ("bfgs", "conjugate_gradient"), "mem": ("bfgs",),
    "termination": ("bfgs",), "batch_sz": ("stage_poly",), "sched_exponent": ("stage_poly",),
    "batch_sz_no_doubling": ("stage_poly",), "stage_size": ("svrg",), "inpass": ("nn",), "multitask": ("nn",),
    "dropout": ("nn",), "meanfield": ("nn",), "initial_numerator": ("marginal",), "initial_denominator": ("marginal",),
    "decay": ("marginal",), "compete": ("marginal",), "unweighted_marginals": ("marginal",),
    "update_before_learn": ("marginal",), "ldf_override": ("csoaa_ldf", "wap_ldf"), "error": ("ect",),
    "no_bias_regularization": ("bfgs", "conjugate_gradient"), "expectile_q": (), "quantile_tau": (),
    "input_feature_regularizer": ("bfgs", "conjugate_gradient"),
    "output_feature_regularizer_binary": ("bfgs", "conjugate_gradient"),
    "output_feature_regularizer_text": ("bfgs", "conjugate_gradient"),
    "replay_b_count": ("replay_b",), "replay_c_count": ("replay_c",), "replay_m_count": ("replay_m",),
}  # fmt: skip

# Learners that count the features of an example themselves.
COUNTING = ("oaa", "csoaa", "multilabel_oaa", "ect", "bootstrap", "boosting")

NO_CONFIDENCE = (
    "Confidence does not work in test mode because learning algorithm state is needed.  Do not use "
    "--predict_only_model when saving the model and avoid --test_only"
)


# What does not go with weights that change between passes only, or has no meaning there.
NOT_IN_BATCHES = (
    "l1", "feature_mask", "noop", "lrq", "lrqfa", "autolink", "confidence", "active", "bootstrap", "boosting",
    "oaa_subsample", "stage_poly", "marginal", "ect",
)  # fmt: skip


def check(a: Arguments, whole: bool = True) -> None:
    """Refused for what is not here, alone or without what it belongs to. whole: a model has no more arguments."""
    for name in ABSENT:
        if name in a:
            raise Refused(f"--{name}")
    for name, others in NEEDS.items() if whole else ():
        if name in a and others and not any(other in a for other in others):
            raise Refused(f"--{name} without --{' or --'.join(others)}")
    several = [name for name in ("oaa", "csoaa", "multilabel_oaa", "ect") if name in a]
    if len(several) > 1:
        raise Refused(f"--{several[0]} with --{several[1]}")
    if several and any(name in a for name in ("binary", "confidence", "active")):
        raise Refused(f"--{several[0]} with --binary, --confidence or --active")
    if len(a.get("initial_regressor", [])) > 1:
        raise Refused("-i with several models")
    if len(a.get("cache_file", [])) > 1:
        raise Refused("--cache_file with several files")
    if "initial_regressor" in a and "input_feature_regularizer" in a:
        raise Refused("-i with --input_feature_regularizer")
    batch = next((name for name in ("bfgs", "conjugate_gradient") if name in a), None)
    for name in NOT_IN_BATCHES if batch else ():
        if name in a:
            raise Refused(f"--{batch} with --{name}")


def count_models(a: Arguments) -> int:
    """How many linear models the reductions need, before it is rounded up to a power of two."""
    count = 1
    for name in ("oaa", "csoaa", "multilabel_oaa", "bootstrap", "boosting"):
        count *= max(1, a.get(name, 1))
    if "ect" in a:
        count *= Circuit(a["ect"], a.get("error", 0)).width
    if "lrq" in a:
        count *= 1 + max(rank for _, _, rank in _lrq(a))
    if "lrqfa" in a:
        fields, k = _lrqfa(a)
        count *= 1 + k * len(fields)
    return count


def _lrqfa(a: Arguments) -> tuple[str, int]:
    text = unescaped(a["lrqfa"])
    if ":" in text:
        raise Critical("--lrqfa does not support wildcards ':'", "lrqfa.cc", 151)
    fields = text.rstrip("0123456789")
    if not fields or fields == text:
        raise Critical(f"lrqfa needs namespaces and a rank: {text}", "lrqfa.cc", 150)
    return fields, int(text[len(fields) :])


def _lrq(a: Arguments) -> list[tuple[int, int, int]]:
    """The pairs of namespaces and their ranks, sorted and each once."""
    pairs = []
    for text in sorted({unescaped(value) for value in a["lrq"]}):
        if ":" in text:
            raise Critical("--lrq does not support wildcards ':'", "lrq.cc", 184)
        if len(text) < 3 or not text[2:].isdigit():
            raise Critical("Low-rank quadratic features must involve two sets and a rank: " + text, "lrq.cc", 209)
        pairs.append((ord(text[0]), ord(text[1]), int(text[2:])))
    return pairs


def stack(a: Arguments, s: Setup, learner: Layer) -> Layer:
    """The layers over the linear model."""
    from vwlite.vw.reductions import many, scalar

    loss = learner.bottom.stepper.loss
    link = a.get("link", "identity")
    if a.flag("probabilities"):
        if a.get("loss_function") != "logistic":
            s.streams.warn("--probabilities should be used only with --loss_function=logistic")
        link = "logistic" if "multilabel_oaa" in a else "identity"
    if any(b":" in pattern for pattern in s.interactions):
        learner = Named(learner, "generate_interactions")
    if a.flag("active"):
        active = scalar.Active(learner, s, a)
        learner = s.active = active
        if a.flag("simulation"):
            s.finish = lambda: s.queries.append(active.queries)
    if a.flag("confidence") and a.flag("testonly"):
        s.streams.warn(NO_CONFIDENCE)
    elif a.flag("confidence"):
        learner = scalar.Confidence(
            learner, a.flag("confidence_after_training"), a.get("example_queue_limit", a.get("ring_size", 256))
        )  # fmt: skip
    if "marginal" in a:
        from vwlite.vw.reductions.marginal import Marginal

        learner = Marginal(learner, s, a)
    if "autolink" in a:
        learner = scalar.Autolink(learner, a["autolink"], s)
    if "lrq" in a:
        learner = scalar.Lrq(learner, _lrq(a), s, a.flag("lrqdropout"))
    if "lrqfa" in a:
        learner = scalar.Lrqfa(learner, *_lrqfa(a), s)
    if a.flag("stage_poly"):
        from vwlite.vw.reductions.stage_poly import StagePoly

        learner = StagePoly(
            learner, s, exponent=a.get("sched_exponent", 1.0), batch=a.get("batch_sz", 1000),
            doubles=not a.flag("batch_sz_no_doubling"), counts=not any(name in a for name in COUNTING),
        )  # fmt: skip
    learner = Scorer(learner, link)
    if "interact" in a:
        learner = scalar.Interact(learner, a["interact"], s)
    if "bootstrap" in a:
        learner = scalar.Bootstrap(learner, a["bootstrap"], a.get("bs_type", "mean"), s.random, loss)
    if "boosting" in a:
        learner = scalar.Boosting(learner, a["boosting"], a.get("alg", "BBM"), a.get("gamma", 0.1), s)
    if a.flag("binary"):
        learner = Binary(learner, s.streams)
    layer = _of_classes(a, s, learner, many, link)
    if layer is not None:
        if "classweight" in a:
            layer = ClassWeight(layer, class_weights(a["classweight"], s.streams), "multiclass")
        return layer
    if "classweight" in a:
        learner = ClassWeight(learner, class_weights(a["classweight"], s.streams))
    if not a.flag("dont_output_best_constant"):
        learner = Named(learner, "count_label")
    return learner


def _of_classes(a: Arguments, s: Setup, learner: Layer, many: Any, link: str) -> Layer | None:
    """The layer of a multi-class learner."""
    if "oaa" in a:
        s.kind, s.output = "MULTICLASS", "MULTICLASS"
        oaa = many.Oaa(
            learner, a["oaa"], s, indexing=a.get("indexing"), probabilities=a.flag("probabilities"),
            scores=a.flag("scores"), subsample=a.get("oaa_subsample", 0),
        )  # fmt: skip
        if a.flag("probabilities") or a.flag("scores"):
            s.output = "SCALARS"
        if "raw_predictions" in a:
            oaa.name += "-raw"
        s.indexing, s.hides_labels = oaa.indexing, bool(oaa.subsample)
        return oaa  # type: ignore[no-any-return]
    if "ect" in a:
        s.kind, s.output = "MULTICLASS", "MULTICLASS"
        return Ect(learner, Circuit(a["ect"], a.get("error", 0)), s, 0.5 if link == "logistic" else 0.0)
    if "csoaa" in a:
        s.kind, s.output = "CS", "MULTICLASS"
        csoaa = many.Csoaa(learner, a["csoaa"], s, a.get("indexing"))
        s.indexing = csoaa.indexing
        return csoaa  # type: ignore[no-any-return]
    if "multilabel_oaa" in a:
        s.kind, s.output = "MULTILABEL", "SCALARS" if a.flag("probabilities") else "MULTILABELS"
        return many.MultilabelOaa(learner, a["multilabel_oaa"], s, a.flag("probabilities"), link)  # type: ignore[no-any-return]
    return None
