"""From arguments to a learner: what is built, and what the header says of it."""

import os
import re
from array import array
from typing import Any

from vwlite.core.data.expand import CONSTANT_HASH, Expander
from vwlite.core.learn.losses import Classic, Expectile, Hinge, Loss, PoissonDeviance, Quantile, SoftLogistic, Squared
from vwlite.core.learn.rule import Rule
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.rules.gd import Gd
from vwlite.core.vw.coin import Coin
from vwlite.core.vw.freegrad import FreeGrad
from vwlite.core.vw.interleaved import Interleaved
from vwlite.core.vw.pistol import Pistol
from vwlite.core.vw.stepper import Stepper
from vwlite.input.interactions import concrete
from vwlite.input.reader import read_blocks
from vwlite.vw.arguments import OPTIONS, Arguments, letters, parse, unescaped
from vwlite.vw.layers.base import Layer, Linear
from vwlite.vw.layers.stack import count_models, side_by_side, stack
from vwlite.vw.messages import Critical, short
from vwlite.vw.models.binary import ALL_COUNTS, LAYOUTS, Header, Layout, Model, read_head, read_rest
from vwlite.vw.random import normal_weights, uniform_weights
from vwlite.vw.setup import Setup
from vwlite.vw.statistics import ConstantLoss
from vwlite.vw.text.examples import Shape
from vwlite.vw.text.parser import Features, TextParser, parse_affixes, read_dictionary

UPDATE_OPTIONS = ("sgd", "adaptive", "invariant", "normalized", "learning_rate", "power_t")
ONLINE = (
    "adaptive", "normalized", "invariant", "sgd", "adax", "sparse_l2", "l1_state", "l2_state", "ftrl", "pistol", "coin",
    "freegrad",
)  # fmt: skip
CROSSING = ("quadratic", "cubic", "interactions")


def load_model(path: str) -> tuple[Header, Any]:
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        raise Critical(f"can't open: {path}, errno = {e.strerror}", "io_adapter.cc", 180) from None
    return read_head(path, data)


def merge_options(arguments: Arguments, header: Header) -> bool:
    """Take over the options that a model keeps. Whether it crosses namespaces in a way that the command line undoes."""
    kept = parse(header.options.split())
    given = [name for name in CROSSING if name in arguments]
    stored = [name for name in CROSSING if name in kept]
    undone = bool(given) and (
        bool(header.crossings) or (bool(stored) and any(arguments[name] != kept.get(name) for name in given))
    )
    for name, value in kept.values.items():
        if name in CROSSING and given:
            continue
        if name == "random_seed" or name in arguments:
            if OPTIONS[name].type == "list[str]" and name not in CROSSING:
                arguments.values[name] = list(dict.fromkeys([*value, *arguments[name]]))
            elif name in ("learning_rate", "power_t", "random_seed", "hash_seed", "l1_state", "l2_state"):
                pass
            elif arguments.get(name) != value:
                raise Critical(
                    f"Disagreeing option values for '{name}': '{arguments[name]}' vs '{value}'", "options.cc", 60
                )
            if name not in arguments:
                arguments.values[name] = value
            continue
        arguments.values[name] = value
    if header.id and "id" not in arguments:
        arguments.values["id"] = header.id
    if header.ngrams and "ngram" not in arguments:
        arguments.values["ngram"] = list(header.ngrams)
    if header.skips and "skips" not in arguments:
        arguments.values["skips"] = list(header.skips)
    bits = arguments.get("bit_precision")
    if bits is not None and bits != header.bits:
        raise Critical(
            f"Disagreeing option values for 'bit_precision': '{bits}' vs '{header.bits}'", "parse_args.cc", 110
        )
    arguments.values["bit_precision"] = header.bits
    return undone


# --- features ------------------------------------------------------------------------------------


def make_features(a: Arguments, s: Setup) -> Features:
    """What the parser makes of names."""
    found = Features(hash_all=a.get("hash") == "all", hash_seed=a.get("hash_seed", 0))
    if "affix" in a:
        found.affixes = parse_affixes(unescaped(a["affix"]))
    for value in a.get("spelling", []):
        text = unescaped(value)
        found.spelling.add(32 if text[:1] in ("", "_") else letters([value])[0])
    for value in a.get("redefine", []):
        _redefine(found.redefined, unescaped(value))
    for value in a.get("dictionary", []):
        letter, path = (ord(value[0]), value[2:]) if value[1:2] == ":" else (32, value)
        found.dictionaries.setdefault(letter, []).append(_dictionary(path, a, s, found))
    return found


def _redefine(redefined: dict[int, int], text: str) -> None:
    """`N:=S`: the namespaces S become N; `:` stands for all, nothing for the default one."""
    target, sign, sources = text.partition(":=")
    if not sign:
        target, sign, sources = text.partition("=")
        if not sign:
            raise Critical(f"argument of --redefine is malformed. Valid format is N:=S, :=S or N:=: {text}")
    name = ord(target[0]) if target else 32
    if sources == "":
        redefined[32] = name
    for c in sources:
        if c == ":":
            for i in range(256):
                redefined[i] = name
        else:
            redefined[ord(c)] = name


def _dictionary(path: str, a: Arguments, s: Setup, features: Features) -> Any:
    places = [path, *(os.path.join(folder, path) for folder in a.get("dictionary_path", []))]
    place = next((place for place in places if os.path.exists(place)), None)
    if place is None:
        raise Critical(f"error: cannot find dictionary '{path}' in path; try adding --dictionary_path", "parse_args.cc")
    data = b"".join(bytes(block.data) for block in read_blocks([place]) if hasattr(block, "data"))
    s.header_lines.append(f"scanned dictionary '{path}' from '{place}', hash={_content_hash(data):x}")
    if data in s.dictionaries:
        return s.dictionaries[data]
    plain = Features(hash_all=features.hash_all, hash_seed=0)
    entries = read_dictionary(data.split(b"\n"), TextParser(plain, s.streams))
    s.dictionaries[data] = entries
    s.header_lines.append(f"dictionary {path} contains {len(entries)} item{'' if len(entries) == 1 else 's'}")
    return entries


def _content_hash(data: bytes) -> int:
    found = 5289374183516789128
    for c in data:
        found = (found * 341789041 + (c - 256 if c > 127 else c)) & 0xFFFFFFFFFFFFFFFF
    return found


def per_space(values: list[str], what: str) -> dict[int, int]:
    """`2`, `a2`, `a:5`: numbers by namespace; 0 stands for all."""
    found: dict[int, int] = {}
    for value in values:
        parts = re.fullmatch(r"(?:([^0-9]):?|([0-9]):)?([0-9]{1,9})", unescaped(value), re.DOTALL)
        if parts is None:
            raise Critical(f"malformed {what}: {value}", "parse_args.cc", 300)
        letter = parts[1] or parts[2]
        found[ord(letter) if letter else 0] = int(parts[3])
    return found


def make_shape(a: Arguments, s: Setup) -> Shape:
    """N-grams, skips and limits, with their words."""
    shape = Shape(bits=s.bits)
    if "ngram" in a:
        if a.flag("sort_features"):
            raise Critical("ngram is incompatible with sort_features.")
        shape.ngrams = per_space(a["ngram"], "ngram")
        _say_spaces(s, shape.ngrams, "Generating {}-grams for {} namespaces.")
    if "skips" in a:
        if "ngram" not in a:
            raise Critical("you can not skip unless ngram is > 1", "parse_args.cc", 690)
        shape.skips = per_space(a["skips"], "skips")
        _say_spaces(s, shape.skips, "Generating {}-skips for {} namespaces.")
    if "feature_limit" in a:
        shape.limits = per_space(a["feature_limit"], "feature_limit")
        for letter, limit in shape.limits.items():
            if letter == 0:
                s.streams.warn(f"limiting to {limit} features for each namespace.")
            else:
                s.streams.warn(f"limiting to {limit} features for namespace {chr(letter)}")
    keep, ignore = letters(a.get("keep", [])), letters(a.get("ignore", []))
    shape.dropped = lambda letter: letter < 128 and ((bool(keep) and letter not in keep) or letter in ignore)
    s.dropped = shape.dropped
    return shape


def _say_spaces(s: Setup, found: dict[int, int], text: str) -> None:
    for letter, n in found.items():
        s.streams.info(text.format(n, "all" if letter == 0 else chr(letter)))


def make_interactions(a: Arguments, s: Setup) -> None:
    """The interactions, sorted and without duplicates."""
    patterns: list[bytes] = []
    for name, intro, size in (
        ("quadratic", "creating quadratic features for pairs: ", 2),
        ("cubic", "creating cubic features for triples: ", 3),
        ("interactions", "creating features for following interactions: ", 0),
    ):
        if name not in a:
            continue
        for value in a[name]:
            pattern = letters([value])
            if size and len(pattern) != size:
                if size == 2:
                    raise Critical("error, quadratic features must involve two sets.)", "parse_args.cc", 820)
                raise Critical("error, cubic features must involve three sets.", "parse_args.cc", 830)
            if len(pattern) < 2:
                raise Critical("error, feature interactions must involve at least two namespaces.", "parse_args.cc")
            patterns.append(pattern)
        s.say(intro + " ".join(a[name]))
    if s.undone:
        s.streams.warn(
            "model file has set of {-q, --cubic, --interactions} settings stored, but they'll be OVERRIDDEN by set of "
            "{-q, --cubic, --interactions} settings from command line."
        )
    s.interactions = patterns
    if not patterns:
        # Of those that stand in the head of a model before 7.10.3 only these count: Vowpal Wabbit 9 reads pairs and
        # triples with another namespace, which is empty. It says nothing of them, and keeps none.
        s.interactions = [pattern.encode("latin-1") for pattern in s.head[0].longer] if s.head else []
    for pattern in s.interactions:
        if not 2 <= len(pattern) <= 64:
            raise Refused(f"an interaction of {len(pattern)} namespaces", "2 to 64 can be crossed")
    if not patterns:
        return
    leaves = a.flag("leave_duplicate_interactions")
    if any(b":" in pattern for pattern in patterns) and not leaves:
        s.streams.info(
            "Any duplicate namespace interactions will be removed\n"
            "You can use --leave_duplicate_interactions to disable this behaviour."
        )
    plain = [pattern for pattern in patterns if b":" not in pattern]
    removed = len(plain) - len(concrete(plain, [])) if not leaves else 0
    if removed:
        s.streams.warn(
            f"Duplicate namespace interactions were found. Removed: {removed}.\n"
            "You can use --leave_duplicate_interactions to disable this behaviour."
        )


# --- the learner ---------------------------------------------------------------------------------


def make_expander(a: Arguments, s: Setup, bits: int) -> Expander:
    """What makes features of a line, with keys of so many bits."""
    return Expander(
        bits=bits, constant=not a.flag("noconstant"), keep=letters(a.get("keep", [])),
        ignore=letters(a.get("ignore", [])), ignore_linear=s.not_linear, interactions=s.interactions,
        leave_duplicates=a.flag("leave_duplicate_interactions"), permutations=a.flag("permutations"),
        constant_early=True,
    )  # fmt: skip


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
    """The rule, and its name in the header. Sets the rates of the setup."""
    tests = a.flag("testonly")
    s.learning_rate, s.power_t = a.get("learning_rate", 0.5), a.get("power_t", 0.5)
    s.initial_t = a.get("initial_t", 0.0)
    if a.flag("bfgs") or a.flag("conjugate_gradient"):
        for name in ONLINE:
            if name in a:
                raise Critical(f"unrecognised option '--{name}'", "options_cli.cc", 294)
        s.fields, s.stride = model_fields(a), 4
        return Gd(loss, forgiving=True, adaptive=False, normalized=False, invariant=False), "bfgs"
    betting = next((name for name in ("ftrl", "pistol", "coin") if a.flag(name)), None)
    if betting is not None or a.flag("freegrad"):
        return _make_parameter_free(a, s, loss, betting or "freegrad")
    flags = {name: a.flag(name) for name in ("adaptive", "normalized", "invariant")}
    if a.flag("sgd") or any(flags.values()):
        adaptive, normalized, invariant = flags["adaptive"], flags["normalized"], flags["invariant"]
        if a.flag("adax") and not adaptive:
            raise Critical("Cannot use adax without adaptive", "gd.cc", 1290)
        if not (adaptive and normalized) and "learning_rate" not in a:
            s.learning_rate = 10.0
    else:
        adaptive = normalized = invariant = True
    rate = s.learning_rate
    if not adaptive and not normalized:
        if "initial_t" not in a:
            s.initial_t = 1.0
        rate *= s.initial_t**s.power_t
        s.learning_rate = rate
    s.fields = model_fields(a)
    s.sums_squares = invariant and not (adaptive or normalized)
    rule = Gd(
        loss, rate=rate, power_t=s.power_t, initial_t=s.initial_t, adaptive=adaptive, normalized=normalized,
        invariant=invariant, adax=a.flag("adax"), masked="feature_mask" in a, forgiving=True,
        sparse_l2=a.get("sparse_l2", 0.0), l1=a.get("l1", 0.0), l2=a.get("l2", 0.0),
    )  # fmt: skip
    if "initial_t" not in a:
        rule.norm_sum = rule.weight_sum = 0.0
    s.statistics.t = s.initial_t
    _pull(a, s, rule, a.get("l1_state", 0.0), a.get("l2_state", 1.0))
    s.stride = 4 if (adaptive or normalized) and not tests else 1
    return rule, "gd"


def _pull(a: Arguments, s: Setup, rule: Gd, gravity: float, contraction: float) -> None:
    """Give the rule its gravity and contraction. Without --l1 gravity waits, unless the weights are only to predict."""
    rule.contraction = contraction
    if a.get("l1", 0.0) > 0 or a.flag("testonly"):
        rule.gravity = gravity
    else:
        s.owed = gravity


def _make_parameter_free(a: Arguments, s: Setup, loss: Loss, name: str) -> tuple[Rule, str]:
    s.fields = LAYOUTS[name]
    s.stride = 8 if name in ("coin", "freegrad") else 4
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
    return rule, f"ftrl-{called}"


def model_fields(a: Arguments) -> tuple[str, ...]:
    """The floats of a slot in a model made with these options."""
    for name in ("ftrl", "pistol", "coin", "freegrad"):
        if a.flag(name):
            return LAYOUTS[name]
    if a.flag("bfgs") or a.flag("conjugate_gradient") or a.flag("svrg"):
        return ("w",)
    flags = ("sgd", "adaptive", "normalized", "invariant")
    if not any(a.flag(name) for name in flags):
        return ("w", "G", "N")
    return ("w", *(("G",) if a.flag("adaptive") else ()), *(("N",) if a.flag("normalized") else ()))


def initial_weights(a: Arguments, s: Setup, rule: Rule) -> None:
    """Fill the table, if weights do not begin at 0."""
    slots = 1 << s.bits
    stride = s.stride
    if a.flag("random_weights"):
        weights = uniform_weights(slots, s.random)
    elif a.flag("normal_weights") or a.flag("truncated_normal_weights"):
        weights = normal_weights(slots, stride, a.flag("truncated_normal_weights"))
    elif a.get("initial_weight", 0.0) != 0:
        weights = array("f", [a["initial_weight"]]) * slots
    else:
        weights = array("f")
    constant = a.get("constant", 0.0) if isinstance(rule, Gd) else 0.0  # others do not know it
    defaults = {"G": s.initial_t if "G" in s.fields else 0.0}
    if weights:
        if constant:
            weights[CONSTANT_HASH & (slots - 1)] = constant
        rule.table_load(Layout(rule, s.fields).write(array("I", range(slots)), weights, 1, defaults))
    elif constant:
        key = CONSTANT_HASH & (slots - 1)
        rule.table_load(Layout(rule, s.fields).write(array("I", [key]), array("f", [constant]), 1, defaults))


def restore(a: Arguments, s: Setup, stepper: Stepper, model: Model) -> None:
    """Continue from a model."""
    rule = stepper.rule
    stepper.min_label, stepper.max_label = model.header.min_label, model.header.max_label
    layout = Layout(rule, s.fields)
    defaults = {"G": s.initial_t if "G" in s.fields else 0.0}
    rule.table_load(layout.write(model.slots, model.floats, model.width, defaults))
    state = model.state
    if state is None:
        return
    statistics = s.statistics
    statistics.t = state["t"]
    if a.flag("preserve_performance_counters"):
        for name in (
            "sum_loss", "sum_loss_since_last_dump", "dump_interval", "weighted_labeled_examples", "weighted_labels",
            "weighted_unlabeled_examples", "example_number", "total_features", "current_pass",
        ):  # fmt: skip
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


def merge_bits_of_mask(a: Arguments) -> None:
    """The bits of `--feature_mask` are those of the run; Critical if it has others already."""
    if "feature_mask" not in a or a["feature_mask"] in a.get("initial_regressor", [])[:1]:
        return
    header, _ = load_model(a["feature_mask"])
    bits = a.values.setdefault("bit_precision", header.bits)
    if bits != header.bits:
        raise Critical(f"-b bits mismatch: command-line {bits} != {header.bits} stored in model", "vw_validate.cc", 31)


def load_mask(a: Arguments, s: Setup, stepper: Stepper, loaded: bool) -> None:
    """`--feature_mask`: weights that are 0 in the mask stay 0; without -i the others and their state begin as there."""
    if loaded:
        return
    header, source = load_model(a["feature_mask"])
    kept = header.options
    width = 1
    if " --" in kept or kept == "":
        width = len(s.fields)
    restore(a, s, stepper, read_rest(header, source, width))


MOST_CLASSES = 1000


def fits_classes(a: Arguments, s: Setup, rule: Rule) -> bool:
    """Whether the models of classes can lie side by side in the table."""
    k = a.get("oaa", 0)
    return (
        0 < k <= MOST_CLASSES and (k - 1).bit_length() <= s.bits and isinstance(rule, Gd | Ftrl)
        and side_by_side(a)
    )  # fmt: skip


def make_classes(a: Arguments, s: Setup, loss: Loss, first: Rule) -> Interleaved:
    """The rule of `--oaa`, from that of its first class."""
    k, said = a["oaa"], len(s.header_lines)
    rules = [first, *(make_rule(a, s, loss)[0] for _ in range(k - 1))]
    del s.header_lines[said:]
    probable = a.flag("probabilities")
    rule = Interleaved(
        rules, shift=(k - 1).bit_length(), probable=probable, raw=a.flag("scores") and not probable
    )  # fmt: skip
    if isinstance(first, Gd):
        rule.norm_sum, rule.weight_sum = first.norm_sum, first.weight_sum
    return rule


def build(a: Arguments, s: Setup) -> Layer:
    """The learner, from the bottom up."""
    loss, s.loss_words = make_loss(a)
    rule, name = make_rule(a, s, loss)
    if fits_classes(a, s, rule):
        rule = make_classes(a, s, loss, rule)
    s.not_linear = letters(a.get("ignore_linear", []))
    shift = max(0, (count_models(a) - 1).bit_length())
    stepper = Stepper(rule, loss, make_expander(a, s, 32), bits=s.bits, shift=shift)
    stepper.widens = not (a.flag("testonly") or "min_prediction" in a or "max_prediction" in a)
    if a.get("loss_function") in ("logistic", "poisson") and stepper.widens:
        stepper.min_label, stepper.max_label = -50.0, 50.0
    apart = (a.flag("ftrl") or a.flag("coin")) and "nn" not in a
    learner: Layer = Linear(name, stepper, s.streams, apart)
    if hasattr(rule, "elapsed"):
        rule.wound = True
        rule.elapsed = s.initial_t
    initial_weights(a, s, rule)
    s.first_t = s.initial_t
    learner = stack(s, learner)
    if s.head is not None:
        header, source = s.head
        learner.load(source)
        model = read_rest(header, source, len(s.fields))
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
    learner.bottom.begin()
    return learner

