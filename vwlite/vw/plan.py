"""Create the plan of a run from arguments, and its messages."""

import re
from dataclasses import dataclass
from typing import Any

from vwlite.core.data.expand import Expander
from vwlite.core.data.interactions import concrete
from vwlite.errors import NoInputError
from vwlite.input.reader import check_file
from vwlite.vw.arguments import OPTIONS, Arguments, letters, parse, unescaped
from vwlite.vw.messages import Critical, Messages, Refused, short
from vwlite.vw.models.binary import LAYOUTS, Header, read_head
from vwlite.vw.text.examples import Shape

CROSSING = ("quadratic", "cubic", "interactions")
GD_FLAGS = ("sgd", "adaptive", "normalized", "invariant")  # which steps gradient descent takes
BETTING = ("ftrl", "pistol", "coin", "freegrad")  # rules without a rate

SAVE_NOTE = (
    "VW 9.0.0 introduced a change to the default model save behavior. Please use '--predict_only_model' when using "
    "either '--invert_hash' or '--readable_model' to get the old behavior. Details: https://vowpalwabbit.org/link/1"
)


@dataclass(frozen=True)
class Plan:
    """The settings from the arguments and the header of a model that is continued."""

    arguments: Arguments
    bits: int
    passes: int
    testing: bool  # nothing is learned
    holdout: bool
    shape: Shape
    interactions: list[bytes]
    not_linear: bytes  # --ignore_linear
    names: list[str]  # of labels
    learning_rate: float
    power_t: float
    initial_t: float
    fields: tuple[str, ...]  # of a slot in a model
    stride: int  # of the slots in Vowpal Wabbit's memory
    sums_squares: bool  # steps depend on the sum of the squares of the features, without rates


def make_plan(a: Arguments, head: Header | None, undone: bool, words: Messages) -> Plan:
    """Create the plan; its messages are added to the streams, also if it fails.

    undone: interactions of the command line take the place of those of the model.
    """
    bits, passes = a.get("bit_precision", 18), a.get("passes", 1)
    if bits > 32:
        raise Refused(f"-b {bits} (more than 32 bits)")
    testing = a.flag("testonly") or (a.get("learning_rate") == 0 and passes <= 1)
    a.values["testonly"] = testing
    holdout = not a.flag("holdout_off") and (passes > 1 or a.get("holdout_after", 0) > 0)
    shape = _shape(a, bits, words)
    interactions = _interactions(a, head, undone, words)
    for name, intro in (
        ("ignore", "ignoring namespaces beginning with:"),
        ("ignore_linear", "ignoring linear terms for namespaces beginning with:"),
        ("keep", "using namespaces beginning with:"),
    ):
        if name in a:
            words.say(f"{intro} {' '.join(letters(a[name]).decode('utf-8', 'surrogateescape'))}")
    if testing:
        words.say("only testing")
    names = a["named_labels"].split(",") if "named_labels" in a else []
    if names:
        words.say(f"parsed {len(names)} named labels")
    if a.get("l1", 0.0) > 0:
        words.say(f"using l1 regularization = {short(a['l1'])}")
    if a.get("l2", 0.0) > 0:
        words.say(f"using l2 regularization = {short(a['l2'])}")
    for name, intro in (
        ("final_regressor", "final_regressor"), ("predictions", "predictions"),
        ("raw_predictions", "raw predictions"),
    ):
        if name in a:
            words.say(f"{intro} = {a[name]}")
    if a.flag("save_resume"):
        words.warn("--save_resume flag is deprecated -- learning can now continue on saved models by default.")
    if ("readable_model" in a or "invert_hash" in a) and not a.flag("predict_only_model"):
        words.info(SAVE_NOTE)
    learning_rate, power_t, initial_t = _rates(a)
    online = not any(a.flag(name) for name in (*BETTING, "bfgs", "conjugate_gradient"))
    adaptive, normalized, invariant = gd_flags(a)
    stride = 8 if a.flag("coin") or a.flag("freegrad") else 4
    if online and (testing or not (adaptive or normalized)):
        stride = 1
    return Plan(
        a, bits, passes, testing, holdout, shape, interactions, letters(a.get("ignore_linear", [])), names,
        learning_rate, power_t, initial_t, model_fields(a), stride,
        sums_squares=online and invariant and not (adaptive or normalized),
    )


def gd_flags(a: Arguments) -> tuple[bool, bool, bool]:
    """Whether steps of gradient descent are adaptive, normalized, invariant."""
    flags = a.flag("adaptive"), a.flag("normalized"), a.flag("invariant")
    return flags if a.flag("sgd") or any(flags) else (True, True, True)


def _rates(a: Arguments) -> tuple[float, float, float]:
    """learning_rate, power_t and initial_t."""
    rate, power_t, initial_t = a.get("learning_rate", 0.5), a.get("power_t", 0.5), a.get("initial_t", 0.0)
    if any(a.flag(name) for name in (*BETTING, "bfgs", "conjugate_gradient")):
        return rate, power_t, initial_t
    adaptive, normalized, _ = gd_flags(a)
    if a.flag("adax") and not adaptive:
        raise Critical("Cannot use adax without adaptive", "gd.cc", 1290)
    if not (adaptive and normalized) and "learning_rate" not in a:
        rate = 10.0
    if not adaptive and not normalized:
        initial_t = a.get("initial_t", 1.0)
        rate *= initial_t**power_t
    return rate, power_t, initial_t


def model_fields(a: Arguments) -> tuple[str, ...]:
    """The floats of a slot in a model made with these options."""
    for name in BETTING:
        if a.flag(name):
            return LAYOUTS[name]
    if a.flag("bfgs") or a.flag("conjugate_gradient") or a.flag("svrg"):
        return ("w",)
    if not any(map(a.flag, GD_FLAGS)):
        return ("w", "G", "N")
    return ("w", *(("G",) if a.flag("adaptive") else ()), *(("N",) if a.flag("normalized") else ()))


def make_expander(plan: Plan, bits: int) -> Expander:
    """The expander of the features of a line, with keys of `bits` bits."""
    a = plan.arguments
    return Expander(
        bits=bits, constant=not a.flag("noconstant"), keep=letters(a.get("keep", [])),
        ignore=letters(a.get("ignore", [])), ignore_linear=plan.not_linear, interactions=plan.interactions,
        leave_duplicates=a.flag("leave_duplicate_interactions"), permutations=a.flag("permutations"),
        constant_early=True,
    )


# --- models that are continued -------------------------------------------------------------------


def load_model(path: str) -> tuple[Header, Any]:
    try:
        check_file(path)
        with open(path, "rb") as f:
            data = f.read()
    except NoInputError as e:
        raise Critical(f"can't open: {e}", "io_adapter.cc", 180) from None
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


def merge_bits_of_mask(a: Arguments) -> None:
    """Take the bits of `--feature_mask` for the run; Critical if the run has other bits already."""
    if "feature_mask" not in a or a["feature_mask"] in a.get("initial_regressor", [])[:1]:
        return
    header, _ = load_model(a["feature_mask"])
    bits = a.values.setdefault("bit_precision", header.bits)
    if bits != header.bits:
        raise Critical(f"-b bits mismatch: command-line {bits} != {header.bits} stored in model", "vw_validate.cc", 31)


# --- examples ------------------------------------------------------------------------------------


def per_space(values: list[str], what: str) -> dict[int, int]:
    """`2`, `a2`, `a:5`: numbers by namespace; 0 means all."""
    found: dict[int, int] = {}
    for value in values:
        parts = re.fullmatch(r"(?:([^0-9]):?|([0-9]):)?([0-9]{1,9})", unescaped(value), re.DOTALL)
        if parts is None:
            raise Critical(f"malformed {what}: {value}", "parse_args.cc", 300)
        letter = parts[1] or parts[2]
        found[ord(letter) if letter else 0] = int(parts[3])
    return found


def _shape(a: Arguments, bits: int, words: Messages) -> Shape:
    """N-grams, skips and limits, with their messages."""
    shape = Shape(bits=bits)
    if "ngram" in a:
        if a.flag("sort_features"):
            raise Critical("ngram is incompatible with sort_features.")
        shape.ngrams = per_space(a["ngram"], "ngram")
        _say_spaces(words, shape.ngrams, "Generating {}-grams for {} namespaces.")
    if "skips" in a:
        if "ngram" not in a:
            raise Critical("you can not skip unless ngram is > 1", "parse_args.cc", 690)
        shape.skips = per_space(a["skips"], "skips")
        _say_spaces(words, shape.skips, "Generating {}-skips for {} namespaces.")
    if "feature_limit" in a:
        shape.limits = per_space(a["feature_limit"], "feature_limit")
        for letter, limit in shape.limits.items():
            if letter == 0:
                words.warn(f"limiting to {limit} features for each namespace.")
            else:
                words.warn(f"limiting to {limit} features for namespace {chr(letter)}")
    keep, ignore = letters(a.get("keep", [])), letters(a.get("ignore", []))
    shape.dropped = lambda letter: letter < 128 and ((bool(keep) and letter not in keep) or letter in ignore)
    return shape


def _say_spaces(words: Messages, found: dict[int, int], text: str) -> None:
    for letter, n in found.items():
        words.info(text.format(n, "all" if letter == 0 else chr(letter)))


def _crossable(pattern: bytes) -> bytes:
    if not 2 <= len(pattern) <= 64:
        raise Refused(f"an interaction of {len(pattern)} namespaces", "2 to 64 can be crossed")
    return pattern


def _interactions(a: Arguments, head: Header | None, undone: bool, words: Messages) -> list[bytes]:
    """The interactions, with their messages."""
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
            patterns.append(_crossable(pattern))
        words.say(intro + " ".join(a[name]))
    if undone:
        words.warn(
            "model file has set of {-q, --cubic, --interactions} settings stored, but they'll be OVERRIDDEN by set of "
            "{-q, --cubic, --interactions} settings from command line."
        )
    if not patterns:
        # Of the interactions in the header of a model before 7.10.3, use only these: Vowpal Wabbit 9 reads pairs and
        # triples with another namespace, which is empty. It does not report or store them.
        return [_crossable(pattern.encode("latin-1")) for pattern in head.longer] if head else []
    leaves = a.flag("leave_duplicate_interactions")
    if any(b":" in pattern for pattern in patterns) and not leaves:
        words.info(
            "Any duplicate namespace interactions will be removed\n"
            "You can use --leave_duplicate_interactions to disable this behaviour."
        )
    plain = [pattern for pattern in patterns if b":" not in pattern]
    removed = len(plain) - len(concrete(plain, [])) if not leaves else 0
    if removed:
        words.warn(
            f"Duplicate namespace interactions were found. Removed: {removed}.\n"
            "You can use --leave_duplicate_interactions to disable this behaviour."
        )
    return patterns
