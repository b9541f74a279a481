"""Reductions: learners made of several linear models. What stands in which order is decided here."""

from typing import Any

from vwlite.vw.arguments import CHOICES, MODELS, RANGES, Arguments
from vwlite.vw.layers.base import Binary, ClassWeight, Layer, Named, Scorer
from vwlite.vw.layers.ect import Circuit, Ect, circuit_width
from vwlite.vw.messages import Critical, Refused
from vwlite.vw.plan import Setup, class_weights, unescaped

# What an option needs to mean something. Vowpal Wabbit warns of one that stands alone, names these, and ignores it.
NEEDS = {
    "alg": ("boosting",), "batch_sz": ("stage_poly",), "batch_sz_no_doubling": ("stage_poly",),
    "bs_type": ("bootstrap",), "compete": ("marginal",), "confidence_after_training": ("confidence",),
    "cs_absolute_loss": ("csoaa",), "csoaa_rank": ("csoaa_ldf",), "decay": ("marginal",), "direct": ("active",),
    "dropout": ("nn",), "error": ("ect",), "fepsilon": ("freegrad",), "ftrl_alpha": ("ftrl", "pistol", "coin"),
    "ftrl_beta": ("ftrl", "pistol", "coin"), "gamma": ("boosting",), "global_only": ("baseline",),
    "hessian_on": ("bfgs",), "indexing": ("csoaa", "oaa"), "initial_denominator": ("marginal",),
    "initial_numerator": ("marginal",), "inpass": ("nn",), "ldf_override": ("csoaa_ldf",),
    "lr_multiplier": ("baseline",), "lrqdropout": ("lrq",), "meanfield": ("nn",),
    "mellowness": ("cb_explore_adf, squarecb", "cb_explore_adf, regcb", "cs_active", "active_cover", "active"),
    "mem": ("bfgs",), "multitask": ("nn",), "oaa_subsample": ("oaa",),
    "probabilities": ("csoaa_ldf", "plt", "multilabel_oaa", "oaa"), "replay_b_count": ("replay_b",),
    "replay_c_count": ("replay_c",), "replay_m_count": ("replay_m",), "restart": ("freegrad",),
    "sched_exponent": ("stage_poly",), "scores": ("oaa",), "simulation": ("cs_active", "active"),
    "stage_size": ("svrg",), "termination": ("bfgs",), "unweighted_marginals": ("marginal",),
    "update_before_learn": ("marginal",),
}  # fmt: skip

# The same without a word.
QUIETLY_NEEDS = {
    "chain_hash": ("json",), "csv_separator": ("csv",), "csv_no_file_header": ("csv",), "csv_header": ("csv",),
    "csv_ns_value": ("csv",), "no_bias_regularization": ("bfgs", "conjugate_gradient"),
    "output_feature_regularizer_binary": ("bfgs", "conjugate_gradient"),
    "output_feature_regularizer_text": ("bfgs", "conjugate_gradient"),
}  # fmt: skip

# What only these can do here.
ONLY_WITH = {
    "replay_c": ("csoaa",), "replay_m": ("oaa",), "input_feature_regularizer": ("bfgs", "conjugate_gradient"),
}  # fmt: skip

# The options of a loss, which are critical with another one.
OF_A_LOSS = {
    "quantile_tau": "quantile", "expectile_q": "expectile", "logistic_min": "logistic", "logistic_max": "logistic",
}  # fmt: skip

# Learners that count the features of an example themselves.
COUNTING = ("oaa", "csoaa", "multilabel_oaa", "ect", "bootstrap", "boosting")

NO_CONFIDENCE = (
    "Confidence does not work in test mode because learning algorithm state is needed.  Do not use "
    "--predict_only_model when saving the model and avoid --test_only"
)

# What makes several linear models of one. The first of them say how many.
MANY = ("oaa", "csoaa", "multilabel_oaa", "bootstrap", "boosting", "ect", "error", "lrq", "lrqfa", "nn")

CLASSES = ("oaa", "csoaa", "multilabel_oaa", "ect", "csoaa_ldf", "wap_ldf")

# What needs examples of one line.
WITHOUT_LINES = (
    "active", "autolink", "bootstrap", "boosting", "classweight", "confidence", "csv", "interact", "json", "lrq",
    "lrqfa", "marginal", "named_labels", "replay_b", "stage_poly",
)  # fmt: skip

# What is not the gradient descent that svrg is.
NOT_SVRG = (
    "sgd", "adaptive", "normalized", "invariant", "adax", "ftrl", "pistol", "coin", "freegrad", "noop", "l1", "l2",
    "sparse_l2", "feature_mask", "nn", "baseline", "active", "confidence",
)  # fmt: skip


# What does not go with weights that change between passes only, or has no meaning there.
NOT_IN_BATCHES = (
    "feature_mask", "noop", "lrq", "lrqfa", "autolink", "confidence", "active", "bootstrap", "boosting",
    "oaa_subsample", "stage_poly", "marginal", "ect", "nn", "replay_b", "replay_c", "replay_m", "svrg", "top",
    "csoaa_ldf", "wap_ldf", "baseline", "audit_regressor",
)  # fmt: skip


def drop_idle(a: Arguments) -> dict[str, Any]:
    """Take out options that mean nothing without others; they, with their values."""
    idle = {}
    for name in sorted(a.values):
        others = NEEDS.get(name) or QUIETLY_NEEDS.get(name)
        more = ("wap_ldf",) if others == ("csoaa_ldf",) else ()
        if others and not any(other in a for other in (*others, *more)):
            idle[name] = a.values.pop(name)
    if "bfgs" in a:
        a.values.pop("l1", None)  # which Vowpal Wabbit takes there, and does not use
    for name, others in ONLY_WITH.items():
        if name in a and not any(other in a for other in others):
            raise Refused(f"--{name} without --{' or --'.join(others)}")
    return idle


def check(a: Arguments) -> None:
    """Refused for what is not here together, Critical for what is nowhere."""
    loss = a.get("loss_function", "squared")
    for name, wanted in OF_A_LOSS.items():
        if name in a and loss != wanted:
            shown = f"Option '{name}' was" if wanted != "logistic" else "Options 'logistic_min' or 'logistic_max' were"
            raise Critical(
                f"{shown} passed but the {wanted} loss function is not being used. Selected loss function: {loss}",
                "loss_functions.cc", 520,
            )  # fmt: skip
    if "csoaa" in a and "probabilities" in a:
        raise Critical("csoaa does not support probabilities flag, please use oaa or multilabel_oaa", "csoaa.cc", 200)
    for name, (least, most) in RANGES.items():
        if name in a and not least <= a[name] <= most:
            raise Critical(f"--{name} {a[name]}: a number from {least} to {most} is needed", "options.cc", 30)
    several = [name for name in CLASSES if name in a]
    if len(several) > 1:
        raise Refused(f"--{several[0]} with --{several[1]}")
    if several and any(name in a for name in ("binary", "confidence", "active")):
        raise Refused(f"--{several[0]} with --binary, --confidence or --active")
    for name in ("lrq", "lrqfa"):
        if name in a and "ftrl" in a:
            raise Refused(f"--{name} with --ftrl", "its weights follow from sums, so they cannot begin at random")
    by_lines = [name for name in ("csoaa_ldf", "wap_ldf", "top") if name in a]
    for name in (*CLASSES, *WITHOUT_LINES) if by_lines else ():
        if name in a and name != by_lines[0]:
            raise Refused(f"--{by_lines[0]} with --{name}")
    if "nn" in a:
        for name in ("coin", "freegrad", "pistol", "active", "confidence", "replay_b"):
            if a.get(name):
                raise Refused(f"--nn with --{name}")
    for name in ("audit", "final_regressor", "predictions", "raw_predictions", "invert_hash", "readable_model"):
        if "audit_regressor" in a and name in a:
            raise Refused(f"--audit_regressor with --{name}")
    if a.flag("svrg"):
        for name in NOT_SVRG:
            if a.get(name):
                raise Refused(f"--svrg with --{name}")
    if a.flag("print"):
        for name in ("quadratic", "cubic", "interactions", "svrg", "bfgs", "conjugate_gradient", "ngram"):
            if name in a:
                raise Refused(f"--print with --{name}")
    if a.flag("baseline"):
        for name in ("nn", "bootstrap", "boosting", "active", "confidence"):
            if name in a:
                raise Refused(f"--baseline with --{name}")
    if a.get("replay_b"):
        for name in ("bootstrap", "boosting", "active", "confidence", *CLASSES):
            if name in a:
                raise Refused(f"--replay_b with --{name}")
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
    """How many linear models the reductions need, before it is rounded up to a power of two.

    Critical if that is more than there can be.
    """
    count = 1
    for name in MANY[:5]:
        count *= max(1, a.get(name, 1))
    if "ect" in a:
        count *= circuit_width(a["ect"], a.get("error", 0))
    if "lrq" in a:
        count *= 1 + max(rank for _, _, rank in _lrq(a))
    if "lrqfa" in a:
        fields, k = _lrqfa(a)
        count *= 1 + k * len(fields)
    if "nn" in a:
        count *= 1 + a["nn"]
    if count > MODELS:
        names = " ".join(f"--{name}" for name in MANY if name in a)
        raise Critical(f"{names} would need {count} linear models: {MODELS} are the most", "options.cc", 30)
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
    from vwlite.vw.layers import many, scalar

    loss = learner.bottom.stepper.loss
    weights = class_weights(a["classweight"], s.streams) if "classweight" in a else None
    if weights is not None and "oaa" in a and (a.flag("probabilities") or a.flag("scores")):
        raise Critical("--classweight not implemented for this type of prediction", "classweight.cc", 180)
    link = a.get("link", "identity")
    if a.flag("probabilities"):
        if a.get("loss_function") != "logistic":
            words = "--probabilities should be used only with --loss_function=logistic"
            if "multilabel_oaa" not in a:
                words += f", currently using: {a.get('loss_function', 'squared')}"
            s.streams.warn(words)
        link = "logistic" if "multilabel_oaa" in a else "identity"
        if "multilabel_oaa" in a or ("oaa" in a and "link" in a):
            a.values["link"] = link  # which a model keeps, and not --probabilities
    if any(b":" in pattern for pattern in s.interactions):
        learner = Named(learner, "generate_interactions")
    if a.flag("baseline"):
        from vwlite.vw.layers.baseline import Baseline

        learner = Baseline(learner, s, a.get("lr_multiplier"), a.flag("global_only"))
    learner = _replayed(a, s, learner, "b")
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
    if "nn" in a:
        from vwlite.vw.layers.nn import Nn

        dropout = a.flag("dropout") and not a.flag("meanfield")
        learner = Nn(
            learner, a["nn"], s, inpass=a.flag("inpass"), dropout=dropout, multitask=a.flag("multitask")
        )  # fmt: skip
    if "marginal" in a:
        from vwlite.vw.layers.marginal import Marginal

        learner = Marginal(learner, s, a)
    if "autolink" in a:
        learner = scalar.Autolink(learner, a["autolink"], s)
    if "lrq" in a:
        learner = scalar.Lrq(learner, _lrq(a), s, a.flag("lrqdropout"))
    if "lrqfa" in a:
        learner = scalar.Lrqfa(learner, *_lrqfa(a), s)
    if a.flag("stage_poly"):
        from vwlite.vw.layers.stage_poly import StagePoly

        learner = StagePoly(
            learner, s, exponent=a.get("sched_exponent", 1.0), batch=a.get("batch_sz", 1000),
            doubles=not a.flag("batch_sz_no_doubling"), counts=not any(name in a for name in COUNTING),
        )  # fmt: skip
    learner = Scorer(learner, link)
    if "interact" in a:
        learner = scalar.Interact(learner, a["interact"], s)
    if "bootstrap" in a:
        learner = scalar.Bootstrap(learner, a["bootstrap"], a.get("bs_type", "mean"), s, loss)
    if "boosting" in a:
        learner = scalar.Boosting(learner, a["boosting"], a.get("alg", "BBM"), a.get("gamma", 0.1), s)
    if a.flag("binary"):
        learner = Binary(learner, s.streams)
    of_one_class = "oaa" in a or "ect" in a
    if weights is not None and not of_one_class:
        learner = ClassWeight(learner, weights)
    layer = _of_classes(a, s, learner, many, link)
    if layer is not None:
        return ClassWeight(layer, weights, "multi") if weights is not None and of_one_class else layer
    if "top" in a:
        from vwlite.vw.layers.top import Top

        top = Top(learner, a["top"])
        learner = top
        s.output, s.multiline, s.multi = "SCALARS", True, top.group
    if not a.flag("dont_output_best_constant"):
        learner = Named(learner, "count_label")
    return learner


def _of_classes(a: Arguments, s: Setup, learner: Layer, many: Any, link: str) -> Layer | None:
    """The layer of a multi-class learner."""
    if "oaa" in a:
        s.kind, s.output = "MULTICLASS", "MULTICLASS"
        oaa = many.Oaa(
            _replayed(a, s, learner, "m"), a["oaa"], s, indexing=a.get("indexing"),
            probabilities=a.flag("probabilities"), scores=a.flag("scores"), subsample=a.get("oaa_subsample", 0),
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
        return _replayed(a, s, csoaa, "c")
    if "multilabel_oaa" in a:
        s.kind, s.output = "MULTILABEL", "SCALARS" if a.flag("probabilities") else "MULTILABELS"
        return many.MultilabelOaa(learner, a["multilabel_oaa"], s, a.flag("probabilities"), link)  # type: ignore[no-any-return]
    if "csoaa_ldf" in a or "wap_ldf" in a:
        return _of_lines(a, s, learner)
    return None


def _replayed(a: Arguments, s: Setup, learner: Layer, level: str) -> Layer:
    """The learner with a buffer of examples, if one is wanted."""
    size = a.get(f"replay_{level}", 0)
    if not size:
        return learner
    from vwlite.vw.layers.replay import Replay

    return Replay(learner, level, size, a.get(f"replay_{level}_count", 1), s)


def _of_lines(a: Arguments, s: Setup, learner: Layer) -> Layer:
    """The layers of a learner whose examples have several lines."""
    from vwlite.vw.layers.ldf import Ldf

    kind = a.get("ldf_override") or a.get("csoaa_ldf") or a["wap_ldf"]
    if kind not in CHOICES["csoaa_ldf"]:
        raise Critical("ldf requires either m/multiline or mc/multiline-classifier", "csoaa.cc", 910)
    classifier = kind in ("mc", "multiline-classifier")
    if a.flag("probabilities") and not classifier:
        s.streams.warn("--probabilities should be used with --csoaa_ldf=mc (or --oaa, --multilabel_oaa)")
    ldf = Ldf(
        learner, s, wap="wap_ldf" in a, classifier=classifier, rank=a.flag("csoaa_rank"),
        probabilities=a.flag("probabilities"),
    )  # fmt: skip
    s.kind, s.multiline, s.multi = "CS", True, ldf.group
    s.output = "ACTION_SCORES" if ldf.rank else "SCALARS" if ldf.probabilities else "MULTICLASS"
    return Named(ldf, "shared_feature_merger")
