"""Create the learner of a plan: loss, rule, initial weights, layers."""

from array import array
from typing import Any

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.core.learn.losses import Hinge, Loss, Quantile, Squared
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.vw.coin import Coin
from vwlite.core.vw.freegrad import FreeGrad
from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.core.vw.interleaved import Interleaved, load_slots
from vwlite.core.vw.losses import Classic, Expectile, PoissonDeviance, SoftLogistic
from vwlite.core.vw.pistol import Pistol
from vwlite.core.vw.stepper import Stepper
from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Layer, LinearLayer
from vwlite.vw.layers.stack import count_models, side_by_side, stack
from vwlite.vw.messages import Critical, short
from vwlite.vw.models.binary import ALL_COUNTS, SlotLayout, VwModel, read_regularizer, read_rest
from vwlite.vw.plan import BETTING, gd_flags, load_model, make_expander
from vwlite.vw.random import normal_weights, uniform_weights
from vwlite.vw.setup import Setup
from vwlite.vw.statistics import ConstantLoss

ONLINE = ("adaptive", "normalized", "invariant", "sgd", "adax", "sparse_l2", "l1_state", "l2_state", *BETTING)


def make_loss(a: Arguments) -> tuple[Loss, ConstantLoss]:
    name = a.get("loss_function", "squared")
    low, high = a.get("logistic_min", -1.0), a.get("logistic_max", 1.0)
    if name == "quantile":
        loss: Loss = Quantile(a.get("quantile_tau", 0.5))
    elif name == "expectile":
        if not 0 < a.get("expectile_q", 0.0) <= 0.5:
            raise Critical("'q' must be specified for expectile loss and must be in (0.0, 0.5]", "loss_functions.cc")
        loss = Expectile(a["expectile_q"])
    elif name == "logistic":
        loss = SoftLogistic(low, high)
    else:
        loss = {"squared": Squared, "classic": Classic, "hinge": Hinge, "poisson": PoissonDeviance}[name]()
    return loss, ConstantLoss(name, a.get("quantile_tau", 0.5), low, high)


def make_rule(a: Arguments, s: Setup, loss: Loss) -> tuple[Rule, str]:
    """The rule, and its name in the header."""
    plan = s.plan
    if a.flag("bfgs") or a.flag("conjugate_gradient"):
        for name in ONLINE:
            if name in a:
                raise Critical(f"unrecognised option '--{name}'", "options_cli.cc", 294)
        return GdWithFlags(loss, adaptive=False, normalized=False, invariant=False), "bfgs"
    betting = next((name for name in BETTING if a.flag(name)), None)
    if betting is not None:
        return _make_parameter_free(a, s, loss, betting)
    adaptive, normalized, invariant = gd_flags(a)
    rule = GdWithFlags(
        loss, rate=plan.learning_rate, power_t=plan.power_t, initial_t=plan.initial_t, adaptive=adaptive,
        normalized=normalized, invariant=invariant, adax=a.flag("adax"), masked="feature_mask" in a,
        sparse_l2=a.get("sparse_l2", 0.0), l1=a.get("l1", 0.0), l2=a.get("l2", 0.0),
    )
    if "initial_t" not in a:
        rule.norm_sum = rule.weight_sum = 0.0
    s.statistics.t = plan.initial_t
    _pull(a, s, rule, a.get("l1_state", 0.0), a.get("l2_state", 1.0))
    return rule, "gd"


def _pull(a: Arguments, s: Setup, rule: GdWithFlags, gravity: float, contraction: float) -> None:
    """Set gravity and contraction of the rule. Without --l1 gravity is deferred, unless the run only predicts."""
    rule.contraction = contraction
    if a.get("l1", 0.0) > 0 or a.flag("testonly"):
        rule.gravity = gravity
    else:
        s.owed = gravity


def _make_parameter_free(a: Arguments, s: Setup, loss: Loss, name: str) -> tuple[Rule, str]:
    if name == "freegrad":
        s.header_lines.append("Enabling FreeGrad based optimization")
        s.header_lines.append("Algorithm used: FreeGrad")
        return FreeGrad(loss, epsilon=a.get("fepsilon", 1.0), restart=a.flag("restart")), "freegrad"
    alpha, beta = {"ftrl": (0.5, 1.0), "pistol": (1.0, 0.5), "coin": (4.0, 1.0)}[name]
    alpha, beta = a.get("ftrl_alpha", alpha), a.get("ftrl_beta", beta)
    called = {"ftrl": "Proximal-FTRL", "pistol": "PiSTOL", "coin": "Coin Betting"}[name]
    s.header_lines += [
        "Enabling FTRL based optimization",
        f"Algorithm used: {called}",
        f"ftrl_alpha = {short(alpha)}",
        f"ftrl_beta = {short(beta)}",
    ]
    if name == "ftrl":
        rule: Rule = Ftrl(
            loss, ftrl_alpha=alpha, ftrl_beta=beta, l1=a.get("l1", 0.0), l2=a.get("l2", 0.0), merging=False
        )
    elif name == "pistol":
        rule = Pistol(loss, alpha=alpha, beta=beta)
    else:
        rule = Coin(loss, alpha=alpha, beta=beta)
    return rule, f"ftrl-{called}{'-audit' if a.flag('audit') or 'invert_hash' in a else ''}"


def read_regularization(s: Setup) -> None:
    """Read regularization strengths and initial weights from the file of `--input_feature_regularizer`."""
    if "input_feature_regularizer" not in s.arguments or s.head is None:
        return
    header, source = s.head
    s.head = None
    s.regularizer = slots, floats = read_regularizer(header, source)
    pulls = [(slot >> 1, x) for slot, x in zip(slots, floats, strict=True) if slot & 1]
    s.model = VwModel(header, None, 1, array("I", [j for j, _ in pulls]), array("f", [x for _, x in pulls]))


def initial_weights(a: Arguments, s: Setup, rule: Rule) -> None:
    """Fill the table, if weights do not begin at 0."""
    slots = 1 << s.plan.bits
    stride = s.plan.stride
    if a.flag("random_weights"):
        weights = uniform_weights(slots, s.random)
    elif a.flag("normal_weights") or a.flag("truncated_normal_weights"):
        weights = normal_weights(slots, stride, a.flag("truncated_normal_weights"))
    elif a.get("initial_weight", 0.0) != 0:
        weights = array("f", [a["initial_weight"]]) * slots
    else:
        weights = array("f")
    constant = a.get("constant", 0.0) if isinstance(rule, GdWithFlags) else 0.0  # other rules do not have it
    defaults = {"G": s.initial_t if "G" in s.plan.fields else 0.0}
    if weights:
        if constant:
            weights[CONSTANT_HASH & (slots - 1)] = constant
        load_slots(rule, SlotLayout(rule, s.plan.fields).write(array("I", range(slots)), weights, 1, defaults))
    elif constant:
        key = CONSTANT_HASH & (slots - 1)
        load_slots(rule, SlotLayout(rule, s.plan.fields).write(array("I", [key]), array("f", [constant]), 1, defaults))


def restore(a: Arguments, s: Setup, stepper: Stepper, model: VwModel) -> None:
    """Continue from a model."""
    rule = stepper.rule
    stepper.min_label, stepper.max_label = model.header.min_label, model.header.max_label
    layout = SlotLayout(rule, s.plan.fields)
    defaults = {"G": s.initial_t if "G" in s.plan.fields else 0.0}
    load_slots(rule, layout.write(model.slots, model.floats, model.width, defaults))
    state = model.state
    if state is None:
        return
    statistics = s.statistics
    statistics.t = state["t"]
    if a.flag("preserve_performance_counters"):
        for name in (
            "sum_loss", "sum_loss_since_last_dump", "dump_interval", "weighted_labeled_examples", "weighted_labels",
            "weighted_unlabeled_examples", "example_number", "total_features", "current_pass",
        ):
            setattr(statistics, name, int(state[name]) if name in _WHOLE else state[name])
        statistics.old_weighted_labeled_examples = state["sd::oec.weighted_labeled_examples"]
    stepper.min_label, stepper.max_label = state["min_label"], state["max_label"]
    s.initial_t = statistics.t
    if hasattr(rule, "norm_sum"):
        rule.norm_sum, rule.weight_sum = state["norm normalizer"], state["total_weight"]
        stepper.share_sums()
    if hasattr(rule, "elapsed"):
        rule.elapsed = statistics.t
        _pull(a, s, rule, a.get("l1_state", state["l1_state"]), a.get("l2_state", state["l2_state"]))
        if a.flag("testonly"):
            rule.fold_weights()


_WHOLE = ("example_number", "total_features", "current_pass")


def load_mask(a: Arguments, s: Setup, stepper: Stepper, loaded: bool) -> None:
    """`--feature_mask`: weights that are 0 in the mask stay 0; without -i the others and their state begin as there."""
    if loaded:
        return
    header, source = load_model(a["feature_mask"])
    kept = header.options
    width = 1
    if " --" in kept or kept == "":
        width = len(s.plan.fields)
    restore(a, s, stepper, read_rest(header, source, width))


MOST_CLASSES = 1000


def fits_classes(a: Arguments, s: Setup, rule: Rule) -> bool:
    """Whether the models of classes can be stored side by side in the table."""
    k = a.get("oaa", 0)
    return (
        0 < k <= MOST_CLASSES and (k - 1).bit_length() <= s.plan.bits and isinstance(rule, GdWithFlags | Ftrl)
        and side_by_side(a)
    )


def make_classes(a: Arguments, s: Setup, loss: Loss, first: Rule) -> Interleaved:
    """The rule of `--oaa`, from that of its first class."""
    k, said = a["oaa"], len(s.header_lines)
    rules = [first, *(make_rule(a, s, loss)[0] for _ in range(k - 1))]
    del s.header_lines[said:]
    probable = a.flag("probabilities")
    rule = Interleaved(rules, shift=(k - 1).bit_length(), probable=probable, raw=a.flag("scores") and not probable)
    if isinstance(first, GdWithFlags):
        rule.norm_sum, rule.weight_sum = first.norm_sum, first.weight_sum
    return rule


def build(s: Setup) -> Layer:
    """The learner, from the bottom up."""
    a = s.arguments
    read_regularization(s)
    loss, s.loss_words = make_loss(a)
    rule, name = make_rule(a, s, loss)
    if fits_classes(a, s, rule):
        rule = make_classes(a, s, loss, rule)
    shift = max(0, (count_models(a) - 1).bit_length())
    stepper = Stepper(rule, loss, make_expander(s.plan, 32), bits=s.plan.bits, shift=shift)
    stepper.widens = not (a.flag("testonly") or "min_prediction" in a or "max_prediction" in a)
    if a.get("loss_function") in ("logistic", "poisson") and stepper.widens:
        stepper.min_label, stepper.max_label = -50.0, 50.0
    predicts_first = (a.flag("ftrl") or a.flag("coin")) and "nn" not in a
    learner: Layer = LinearLayer(name, stepper, s.streams, predicts_first)
    if hasattr(rule, "elapsed"):
        timed: Any = rule
        timed.external_clock = True
        timed.elapsed = s.initial_t
    initial_weights(a, s, rule)
    learner = stack(s, learner)
    if s.head is not None:
        header, source = s.head
        learner.load(source)
        model = read_rest(header, source, len(s.plan.fields))
        if model.state is not None and header.version < ALL_COUNTS:
            since = ".".join(map(str, ALL_COUNTS))
            s.streams.warn(
                f"save_resume functionality is known to have inaccuracy in model files version less than '{since}'"
            )
        restore(a, s, stepper, model)
    elif s.model is not None:
        restore(a, s, stepper, s.model)
    if "feature_mask" in a:
        load_mask(a, s, stepper, s.head is not None)
    if "min_prediction" in a:
        stepper.min_label = a["min_prediction"]
    if "max_prediction" in a:
        stepper.max_label = a["max_prediction"]
    learner.bottom.weights_are_set()
    return learner

