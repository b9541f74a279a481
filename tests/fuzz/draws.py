"""Cases, drawn from a random number generator: the same seed gives the same cases."""

import bz2
import csv
import gzip
import io
import json
import lzma
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import click
import crafted_models

from fuzz.case import Case, Command
from fuzz.check_case import check_case
from fuzz.damage import changed_bytes, damaged_cache, damaged_model
from fuzz.patterns import drawn as drawn_pattern
from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.solvers import SOLVERS
from vwlite.algorithms.table import ALGORITHMS, CHOICES
from vwlite.options.types import Classes, FileName, IntervalType, Labels, LettersType, Number, ProgressType, Whole
from vwlite.program import command_of
from vwlite.vw.arguments import OPTIONS

# --- lines -------------------------------------------------------------------------------------------

NUMBERS = ["0", "1", "-1", "+2", ".5", "5.", "-0", "1e-50", "1e39", "nan", "inf", "0.0123456", "123456789", "1e5", "1e",
           "-1.5E-3", "4294967295", "4294967296", "1.2.3", "-", "05", "1e400", "1e-400", "-1e308", "3.4028235e38",
           "340282356779733661637539395458142568447", "340282356779733661637539395458142568448", "1.17549429e-38",
           "0.1000000000000000055511151231257827", "9007199254740993", "1e000000001", "000000000001"]
WORDS = ["a", "f", "abc", "word", "words", "seventy", "eight888", "ninechars", "a_long_name_indeed", "qid", "\u00e9t",
         "12abc", "x1", "-3", "1234567", "a\x01", "\x01a", "\x02", "0", "7", "4294967297", "x" * 63, "y" * 64, "z" * 65,
         "1" * 40, "^", "a^b", "'", "\u2028"]
PIECES = [" ", "  ", "\t", "|", ":", "\r", "\n", "\r\n", "'", "#", "\0", "\v", "\x1f", "\x7f", "\udcff", "||", "|:1"]
BLANKS = [" ", " ", " ", " ", "  ", "\t", " \t "]


def number(rng: Random) -> str:
    match rng.randrange(5):
        case 0:
            return rng.choice(NUMBERS)
        case 1:
            return f"{rng.gauss(0, 1):.{rng.randrange(20)}{rng.choice('efg')}}"
        case 2:
            whole, fraction = (rng.randrange(10 ** rng.randrange(1, 25)) for _ in range(2))
            return f"{rng.choice(['', '-', '+'])}{whole}.{fraction}"
        case 3:
            return f"{rng.randrange(1, 1000)}e{rng.randint(-60, 45)}"
    return str(rng.randrange(100) / rng.choice([1, 10, 100]))


def name(rng: Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(WORDS)
    return "".join(rng.choice("abcxyz0195_") for _ in range(rng.choice([1, 2, 3, 7, 8, 9, 15, 16, 17, 33])))


def vw_line(rng: Random) -> str:
    words = [rng.choice(["1", "-1", "0", "0.5", "2", "red", number(rng)]) for _ in range(rng.randrange(4))]
    line = "".join(word + rng.choice(BLANKS) for word in words)
    line += rng.choice(["", "", "tag", "'tag", "'tag ", "1"])
    for _ in range(rng.choice([1, 1, 2, 3])):
        line += "|" + rng.choice(["", name(rng)])
        if rng.random() < 0.2:
            line += ":" + number(rng)
        for _ in range(rng.choice([0, 1, 2, 5, 12])):
            line += rng.choice(BLANKS) + (name(rng) if rng.random() < 0.95 else "")
            if rng.random() < 0.6:
                line += ":" + number(rng)
        line += rng.choice(["", "", " "])
    return line


def libsvm_line(rng: Random) -> str:
    line, index = rng.choice(["1", "-1", "0", "+2.5", "", " 1", "x", "red"]), 0
    for _ in range(rng.choice([0, 1, 3, 9])):
        index += rng.choice([1, 1, 2, 7, 100, 54321, 10**8, 2**31, 0, -1])
        line += f"{rng.choice(BLANKS)}{index}:{number(rng)}"
    return line + rng.choice(["", "", " ", "#c", " # 1:2", "\t", " qid:3", " 0:1"])


def garbage(rng: Random) -> str:
    if rng.random() < 0.3:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).decode("utf-8", "surrogateescape")
    return "".join(rng.choice(rng.choice([PIECES, NUMBERS, WORDS])) for _ in range(rng.randrange(25)))


def text(rng: Random, format: str) -> bytes:
    """Mostly lines that mean something, some garbage, now and then changed bytes or no end of the last line."""
    line = vw_line if format == "vw" else libsvm_line
    parts = [rng.choice([line, line, line, line, garbage])(rng) + rng.choice(["\n", "\n", "\n", "\r\n", "\n\n"])
             for _ in range(rng.choice([1, 2, 5, 20]))]
    found = (rng.choice(["", "", "", "\ufeff"]) + "".join(parts)).encode("utf-8", "surrogateescape")
    if rng.random() < 0.2:
        found = changed_bytes(rng, found)
    return found[:-1] if rng.random() < 0.2 else found


# Of lines with classes: the numbers from 1, names, names as they come.
CLASSES: list[dict[str, Any]] = [
    {"limit": 3, "numbers": True},
    {"limit": 3, "names": ["red", "1", "-1"]},
    {"limit": 3, "grows": True},
    {"limit": 5, "names": ["0.5"], "grows": True},
]

DOMAINS = {
    "any": ["1", "-1", "0", "0.5", "2", "-3.25"], "binary": ["1", "-1"], "nonnegative": ["0", "1", "2", "5"],
    "positive": ["0.25", "1", "5"],
}


def lines(rng: Random) -> Case:
    """Texts for the parser and its slow reference."""
    texts = []
    for _ in range(25):
        format = rng.choice(["vw", "vw", "libsvm"])
        options: dict[str, Any] = {
            "hash_all": rng.random() < 0.5,
            "hash_seed": rng.choice([0, 0, 1, 2**32 - 1]),
            "label_domain": rng.choice(["any", "any", "binary", "nonnegative", "positive"]),
            "labels": rng.choice([None, None, (0.0, 1.0)]),
            "lenient_labels": rng.random() < 0.5,
            "stop_at_fault": rng.random() < 0.5,
        }
        if rng.random() < 0.2:
            options |= {"labels": None, "classes": rng.choice(CLASSES)}
        texts.append((format, options, rng.choice([1, 2]), text(rng, format)))
    return Case("lines", texts=texts)


# --- data that can be learned --------------------------------------------------------------------------

PLAIN_VALUES = ["1", "2", "0.5", "-1", "1.25", "3e-1", "-2"]
RARE_VALUES = ["0", "-0", "1e38", "-1e38", "3.4028234e38", "1e-38", "1e-45", "1e-30", "16777217", "1e10", "1e-7",
               "1e20"]


def value(rng: Random, rare: float) -> str:
    if rare < 0:
        return rng.choice(["1", "-1", "0.5", "-0.5", "2", "-2"])
    return rng.choice(RARE_VALUES) if rng.random() < rare else rng.choice([*PLAIN_VALUES, f"{rng.gauss(0, 1):.3g}"])


def data(
    rng: Random, labels: list[str], count: int, *, format: str = "vw", rare: float = 0, bad: float = 0,
    dense: bool = False,
) -> bytes:
    """Lines with these labels. rare: the share of extreme numbers; below 0: few features of
    few values, so that sums are equal now and then. bad: how many lines are any text at all. dense: most lines have the
    same two features, too. The first line is always one that can be learned."""
    found = []
    spaces_of, most = (["a"], 2) if rare < 0 else (["a", "b", "c", "ab", "f"], 30)
    for i in range(count):
        if i and rng.random() < bad:
            found.append(rng.choice([vw_line, libsvm_line, garbage])(rng).replace("\n", ""))
            continue
        if format == "libsvm":
            indices = sorted(rng.sample(range(1, 5 if rare < 0 else 30), rng.randrange(1, 4)))
            pairs = " ".join(f"{index}:{value(rng, rare)}" for index in indices)
            found.append(f"{rng.choice(labels)} {pairs}")
            continue
        head = rng.choice(labels)
        if i and rng.random() < 0.1:
            head = ""
        elif i and rng.random() < 0.2:
            head += " " + rng.choice(["1e9", "1e-9", "1e300"] if rng.random() < rare else ["1", "2", "0.5", "0", "0.1"])
            if rng.random() < 0.3:
                head += " " + rng.choice(["1e300", "-1e30"] if rng.random() < rare else ["0", "0.25", "-1"])
        tag = rng.choice(["", "", "", "'t1", "'", "'nan"])
        spaces = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            scale = f":{value(rng, rare)}" if rng.random() < 0.1 else ""
            space = rng.choice(spaces_of) + scale
            names = [rng.choice("xyzw") + rng.choice(["", str(rng.randrange(most))]) for _ in range(rng.randrange(7))]
            features = [n + (f":{value(rng, rare)}" if rng.random() < 0.6 else "") for n in names]
            spaces.append(f"|{space} {' '.join(features)}")
        if dense and rng.random() < 0.9:
            spaces.append(f"|d p:{100 + rng.randrange(9)} q:{value(rng, rare)}")
        line = f"{head} {tag}{' '.join(spaces)}".lstrip()
        found.append(line if i == 0 or rng.random() > 0.03 else rng.choice(["", " ", "|", f"{head} |"]))
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    return (end.join(found) + end).encode("utf-8", "surrogateescape")


@dataclass
class Setup:
    """What to learn, with which labels."""

    options: Command
    labels: list[str]
    more: dict[str, bytes] = field(default_factory=dict)  # files that the options name
    predict: Command = field(default_factory=list)


PARAMETERS = {p.name: p for p in command_of("train").params if isinstance(p, click.Option)}
WHOLES = [1, 1, 2, 2, 3, 5, 7, 10, 100, 1000, 2**31, 2**32, 10**17]
REALS = [1e-300, 1e-9, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 1, 1, 2, 10, 1e4, 1e9, 1e100, 1e300]
USUAL = [1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 1, 2, 10]
SHAPING = [p for p in PARAMETERS.values() if getattr(p, "group", "") in ("Features", "Learning", "Classes")]
FEATURES = (
    "bits", "hash", "no_constant", "quadratic", "cubic", "interactions", "keep", "ignore", "ignore_linear", "normalize",
)
FULL = {"adagrad-full", "arow-full"}  # of a matrix of features
NAMED = ["red", "green", "blue", "\u00e9", "1", "-1"]


def option(rng: Random, parameter: click.Option, rare: float) -> Command:
    """An option as it is typed, with a value of its type."""
    kind, spelling = parameter.type, rng.choice(parameter.opts)
    if parameter.is_flag:
        return [spelling]
    if rng.random() < rare * 0.1:
        return [spelling, rng.choice(["", "nan", "-1", "x", "1e999", "0", "1_0", "-", "9" * 20, "\u00e9", "a,b"])]
    if isinstance(kind, Whole):
        wholes = WHOLES if rng.random() < rare else WHOLES[:8]
        most = 100 if parameter.name == "passes" else kind.high  # two billion passes take the time that they take
        text = str(rng.choice([n for n in wholes if kind.low <= n <= most] or [2]))
    elif isinstance(kind, Number):
        reals = [x for x in (REALS if rng.random() < rare else USUAL) if kind.low <= x <= kind.high and x != kind.high]
        text = f"{rng.choice(reals):g}"
    elif isinstance(kind, click.Choice):
        text = str(rng.choice(list(kind.choices)))
    elif isinstance(kind, Labels):
        text = rng.choice(["0,1", "-1,1", "1,2", "1,0"])
    elif isinstance(kind, Classes):
        text = rng.choice(["auto", "red,green,blue", "1,2,3"])
    elif isinstance(kind, LettersType):
        size = kind.size or rng.choice([2, 2, 3, 4])
        text = "".join(rng.choice("aabbcf" + (":" if kind.wildcards and size < 4 else "")) for _ in range(size))
    elif isinstance(kind, IntervalType):
        text = rng.choice(["1", "7", "1000", "1s", "60s", "5m", "1h"])
    elif isinstance(kind, ProgressType):
        text = rng.choice(["1", "3", "2.0", "1.1", "10"])
    elif isinstance(kind, FileName | click.Path):
        text = rng.choice(["other", "data", "none", "-"])
    else:
        text = rng.choice(["a^x", "x", "", "b^", "\udcff"])
    return [spelling, text]


def setup(rng: Random, *, rare: float = 0, in_parts: bool = False) -> Setup:
    """An algorithm, a loss, labels and options that go together; now and then one not. in_parts: only those for which
    learning in parts is learning at once."""
    without = ("round_at_end", "normalize") if in_parts else ()  # which is done at the end of each part; means
    a = CHOICES[rng.choice(list(ALGORITHMS if in_parts else [*CHOICES, "auto"]))]
    loss = rng.choice(a.losses)
    options = ["--algorithm", a.name, "--loss", loss]
    labels = DOMAINS[LOSSES[loss].labels]
    if rare and LOSSES[loss].labels != "binary" and rng.random() < rare:
        labels = [*labels, "1e300", "1e-300", "1e30"]
    found = Setup(options, labels)
    classes = rng.random() < 0.2 and LOSSES[loss].labels not in ("nonnegative", "positive")
    for each in (name for name in a.options if name not in without):
        if each == "feature_weights":
            if rng.random() < 0.2:
                options += ["--feature-weights", "weights"]
                found.more["weights"] = b"a^x 2\nb^y 0.5\nx1 1000\nx2 0\n"
                found.more["weights"] += b"x" if rng.random() < rare * 0.2 else b""
        elif each in a.required or rng.random() < (0.1 if each in ("average", "nonzeros") else 0.4):
            if each == "features":
                options += ["--features", str(rng.choice([1000, 2**32, 20]))]
            elif not (each == "nonzeros" and classes):
                options += option(rng, PARAMETERS[each], rare)
    for each in a.schedule:
        if rng.random() < 0.3:
            options += option(rng, PARAMETERS[each], rare)
    crossing = ("quadratic", "cubic", "interactions") if a.name in FULL else ()  # which takes their cube
    for each in (name for name in FEATURES if name not in crossing + without):
        if rng.random() < 0.1:
            options += option(rng, PARAMETERS[each], rare)
    options += some(rng, 0.1, "--normalize l2", "--normalize log" if in_parts else "--normalize center")
    if classes:
        found.labels = ["1", "2", "3"]
        match rng.randrange(4):
            case 0 | 1:
                options += ["--oaa", rng.choice(["3", "5"])]
            case 2:
                options += ["--classes", ",".join(NAMED[:4])]
                found.labels = NAMED[:4]
            case 3:
                options += ["--oaa", "4", "--classes", "auto"]
                found.labels = NAMED[:4]
        if rng.random() < 0.4 and not a.needs_loss:
            options += ["--softmax"]
            options[3] = "logistic"
        if rng.random() < 0.5:
            found.predict.append("--probabilities")
    elif LOSSES[loss].labels == "binary" and rng.random() < 0.1:
        options += ["--labels", "0,1"]
        found.labels = ["0", "1"]
    if LOSSES[loss].option and rng.random() < 0.5:
        options += option(rng, PARAMETERS[LOSSES[loss].option], rare)
    if rng.random() < rare * 0.2:
        options += option(rng, rng.choice(SHAPING), rare)
    return found


def some(rng: Random, chance: float, *choices: str) -> Command:
    """One of these options, or none."""
    return rng.choice(choices).split() if rng.random() < chance else []


# --- commands ----------------------------------------------------------------------------------------

LOOKS: list[Command] = [
    ["info", "model"], ["info", "model", "--json"], ["weights", "model"], ["weights", "model", "--all"],
    ["weights", "model", "--feature", "a^x", "--feature", "none"], ["check", "model"],
    ["export", "model", "--to", "vw", "-o", "exported"], ["export", "model", "--to", "json", "-o", "exported"],
    ["export", "model", "--to", "python", "-o", "exported"], ["names", "model", "test", "--on-error", "skip"],
    ["weights", "model", "--contains", "a"], ["weights", "model", "--json"],
]


def commands(rng: Random) -> Case:
    """Train, look at the model, predict; sometimes with extreme numbers, extreme options and bad lines."""
    rare = rng.choice([0.0, 0.1, 0.5, 1.0, -1.0])
    s = setup(rng, rare=max(rare, 0))
    bad = rng.choice([0.0, 0.0, 0.1])
    if rng.random() < 0.05:
        s.labels = ["1", "-1", "red", "nan", "1e300"]
    count, format = rng.choice([1, 5, 40, 200]), rng.choice(["vw", "vw", "vw", "libsvm"])
    if FULL & {*s.options}:
        count = min(count, 20)
    packed = rng.choice([gzip.compress, bz2.compress, lzma.compress]) if rng.random() < 0.1 else None
    how: dict[str, Any] = {"format": format, "rare": rare * 0.2, "bad": bad, "dense": "center" in s.options}
    files = {n: data(rng, s.labels, count, **how) for n in ("data", "test")} | s.more
    if packed is not None:
        files["data"] = packed(files["data"])
        if rng.random() < 0.5:
            files["data"] = changed_bytes(rng, files["data"])
    run = ["train", *s.options, "data", "-m", "model"]
    if "auto" in s.options[:2]:
        run += some(rng, 0.5, "--passes 1", "--passes 2", "--validate test", "--validate test --passes 3")
    else:
        run += some(rng, 0.3, "--passes 3", "--passes 4 --holdout-off",
                    "--passes 5 --holdout-period 2 --early-terminate 1", "--validate test")
    run += some(rng, 0.3, "-c", "--cache-file cache", "-c -k")
    run += some(rng, 0.2, "--report report", "--save-weights-only", "--checkpoint-every 7", "--quiet", "-p -",
                "-r raw -p p", "--link logistic", "--threads 1", "--threads 3", "--names", "--names=2")
    skip = "--on-error skip"
    run += some(rng, 0.6 if bad else 0.1, skip, f"{skip} --rejects bad", f"{skip} --max-errors 2")
    if rng.random() < rare * 0.3:
        run += option(rng, rng.choice(list(PARAMETERS.values())), rare)
    again = ["predict", "-m", "model", "test", *s.predict, "--on-error", "skip"]
    if rng.random() < rare * 0.3:
        again += option(rng, rng.choice([p for p in command_of("predict").params if isinstance(p, click.Option)]), rare)
    more = ["train", "-i", "model", "test", "-m", "model", "--on-error", "skip"]
    if rng.random() < 0.5:
        name = rng.choice(["learning_rate", "l1", "l2", "radius", "decay_learning_rate"])
        more += option(rng, PARAMETERS[name], rare)
    check = ["check", *rng.sample(["data", "test", "model", "cache", "none"], 2)]
    return Case("commands", files, [[run, again, rng.choice(LOOKS), more, check]])


def continued(rng: Random) -> Case:
    """Learning in parts gives the model and the predictions of learning at once."""
    rare = rng.choice([0.0, 0.1, -1.0])
    s = setup(rng, rare=max(rare, 0), in_parts=True)
    most = 6 if FULL & {*s.options} else 100
    parts = [data(rng, s.labels, rng.choice([1, 3, most]), rare=rare * 0.2) for _ in range(rng.choice([2, 2, 3]))]
    files = {f"part{i}": part for i, part in enumerate(parts)}
    names, output = list(files), ["-m", "model", "-p", "-", "--quiet"]
    files |= s.more
    once = [["train", *s.options, *names, *output]]
    first = ["train", *s.options, names[0], *output]
    return Case("continued", files, [once, [first, *(["train", "-i", "model", n, *output] for n in names[1:])]],
                ["model", "stdout"])


def equal(rng: Random) -> Case:
    """From a cache, a pipe or a compressed file, with any number of threads: the same."""
    rare = rng.choice([0.0, 0.1])
    s = setup(rng, rare=rare)
    count = 6 if FULL & {*s.options} else rng.choice([3, 40, 300])  # whose steps take the cube of the features
    content = data(rng, s.labels, count, rare=rare * 0.2, bad=rng.choice([0, 0, 0.05]), dense="center" in s.options)
    files = {"data": content, "data.gz": gzip.compress(content, mtime=0)} | s.more
    run = ["train", *s.options, "-m", "model", "--quiet", "--on-error", "skip", "-p", "-"]
    run += some(rng, 0.5, "--passes 1", "--passes 2", "--passes 4 --holdout-off", "--passes 3 --holdout-period 3")
    return Case("equal", files, ways_of_reading(rng, run, {"model": "stale.model", "-": "stale"}), ["model"])


def ways_of_reading(rng: Random, run: Command, stale: dict[str, str]) -> list[list[Command]]:
    """The same run of `data`, read in every way. stale: what the run that makes a cache writes instead of an output."""
    first = [stale.get(word, word) for word in run]
    return [
        [[*run, "data"]],
        [[*run, "data", "--threads", rng.choice(["1", "3", "4"])]],
        [[*run, "data", "-c"]],
        [[*first, "data", "-c"], [*run, "data", "-c", "--threads", rng.choice(["1", "2"])]],
        [[*run, "data.gz"]],
        [[*run, "<", "data"]],
    ]


VW_WORDS = ["1", "-1", "2", "0.5", "nan", "1:2", "1:0.5 2:1", "red", "1,2", "1:1:0.5", "shared", "2:-1"]
VW_FILES = {"final_regressor": "model", "predictions": "p", "raw_predictions": "r", "readable_model": "text",
            "invert_hash": "names", "cache_file": "cache", "audit_regressor": "audited",
            "output_feature_regularizer_binary": "r.binary", "output_feature_regularizer_text": "r.text"}
VW_WORDS_OF_OPTIONS = ["a", "ab", "::", "abc", "2", "a2", "+2a,-1b", "1:2", "data", "model", "test", "1", ""]
# Numbers that neither take time nor memory, however large they are.
VW_LARGE = {"ring_size", "example_queue_limit", "random_seed", "mem", "hash_seed"}
VW_NUMBERS = ["0", "1", "2", "3", "5", "10", "18", "0.5", "1e-4", "-1", "1e10", "0.1", "100"]


def vw_option(rng: Random, name: str) -> Command:
    o = OPTIONS[name]
    if o.type == "bool":
        return [f"--{name}"]
    if OPTIONS[name].choices:
        return [f"--{name}", rng.choice(OPTIONS[name].choices)]
    if name in VW_FILES:
        return [f"--{name}", VW_FILES[name]]
    if o.type in ("uint", "ulong", "int", "long"):
        least = 1 if name == "passes" else 0
        return [f"--{name}", str(rng.choice([least, 1, 2, 3, 4, 5, 8] + ([10**6] if name in VW_LARGE else [])))]
    if o.type == "float":
        return [f"--{name}", rng.choice(VW_NUMBERS)]
    return [f"--{name}", rng.choice(VW_WORDS_OF_OPTIONS)]


VW_REDUCTIONS = ["", "", "", "--oaa 3", "--csoaa 3", "--ect 3", "--csoaa_ldf m", "--wap_ldf m", "--nn 2", "--bfgs",
                 "--multilabel_oaa 3", "--boosting 2", "--bootstrap 2", "--lrq ab2", "--ftrl", "--coin", "--stage_poly",
                 "--autolink 2", "--conjugate_gradient", "--top 2", "--marginal a"]


def vw(rng: Random) -> Case:
    """Vowpal Wabbit's arguments."""
    rare = rng.choice([0.0, 0.1, 0.5])
    reduction = rng.choice(VW_REDUCTIONS)
    labels = ["1", "2", "3"] if "oaa" in reduction or "ect" in reduction else ["1", "-1"]
    if "cs" in reduction or "wap" in reduction:
        labels = ["1:0.5", "2:1", "1:0 2:1 3:2", "3"]
    if rng.random() < 0.2:
        labels = [*labels, *rng.sample(VW_WORDS, 3)]
    arguments = reduction.split()
    if "bfgs" in reduction or "gradient" in reduction:
        arguments += ["--passes", "3", "-c", "-k", "--predict_only_model"]
    for _ in range(rng.choice([0, 1, 1, 2])):
        arguments += vw_option(rng, rng.choice(list(OPTIONS)))
    files = {}
    for each in ("data", "test"):
        content = data(rng, labels, rng.choice([1, 20, 60]), rare=rare * 0.2, bad=rng.choice([0, 0.1]))
        if "ldf" in reduction:  # examples of several lines
            content = b"".join(line + b"\n" * rng.choice([1, 1, 1, 2]) for line in content.splitlines())
        files[each] = content
    first = ["vw", "-d", "data", "-f", "model", *arguments]
    second = ["vw", "-d", "test", "-i", "model", *some(rng, 0.7, "-t")]
    second += some(rng, 0.7, "-p p", "-r r", "-p /dev/stdout")
    if rng.random() < 0.2:
        second += vw_option(rng, rng.choice(list(OPTIONS)))
    last = rng.choice([["predict", "-m", "model", "test", "--on-error", "skip"], ["check", "model", "data"],
                       ["train", "-i", "model", "test", "-m", "m", "--loss", "squared"], ["weights", "model"],
                       ["vw", "-i", "model", "--quiet", "-f", "m2", "<", "test"], ["info", "model"],
                       ["vw", "-d", "data", "-c", "--passes", "2"]])
    return Case("vw", files, [[first, second, last]])


# --- batch problems ----------------------------------------------------------------------------------

OF_SOLVE, OF_CERTIFY = (
    [p for p in command_of(name).params if isinstance(p, click.Option)] for name in ("solve", "certify")
)


def problem(rng: Random, rare: float) -> Setup:
    """A solver, a loss, labels and a strength that go together; now and then one not."""
    row = SOLVERS[rng.choice([*SOLVERS, "newton", "newton"])]
    loss = rng.choice(row.losses)
    found = Setup(["--solver", rng.choice([row.name, row.name, row.name, "auto"]), "--loss", loss],
                  DOMAINS[LOSSES[loss].labels])
    reals = REALS if rng.random() < rare else USUAL
    strengths: list[Command] = [["--l1", f"{rng.choice([0, *reals]):g}"],
                                ["--l1-of-max", rng.choice(["0.001", "0.01", "0.3", "1", "2"])],
                                ["--l1-path", rng.choice(["2", "3:0.5", "5:0.001"])]]
    if "l1" not in row.takes:
        strengths = [["--radius", f"{rng.choice(reals):g}"]] if "radius" in row.takes else []
    elif "radius" in row.takes:
        strengths += [["--radius", f"{rng.choice(reals):g}"], ["--nonzeros", rng.choice(["1", "2", "5", "1000"])]]
    if strengths:
        found.options += rng.choice(strengths)
    if "l2" in row.needs or ("l2" in row.takes and rng.random() < 0.3):
        found.options += ["--l2", f"{rng.choice(reals):g}"]
    if "nonnegative" in row.takes and rng.random() < 0.2:
        found.options += ["--nonnegative"]
    if "box" in row.takes and rng.random() < 0.1:
        found.options += ["--box", f"{rng.choice(reals):g}"]
    if "feature_weights" in row.takes and rng.random() < 0.2:
        found.options += ["--feature-weights", "weights"]
        found.more["weights"] = b"a^x 2\nb^y 0.5\nx1 1000\n" + (b"a^y 1e300\n" if rng.random() < rare else b"")
    if rare and LOSSES[loss].labels != "binary" and rng.random() < rare:
        found.labels = [*found.labels, "1e300", "1e-300", "1e30"]
    if rng.random() < 0.2 and LOSSES[loss].labels not in ("nonnegative", "positive"):
        names = rng.random() < 0.5
        found.labels = NAMED[:3] if names else ["1", "2", "3"]
        found.options += rng.choice([["--classes", ",".join(NAMED[:3])], ["--oaa", "4", "--classes", "auto"]]
                                    if names else [["--oaa", "3"], ["--oaa", "5"]])
        if row.softmax and loss == "logistic" and rng.random() < 0.7:
            found.options += ["--softmax"]
    for each in rng.sample(FEATURES, rng.choice([0, 0, 1, 2])):
        found.options += option(rng, PARAMETERS[each], rare)
    if rng.random() < rare * 0.3:
        found.options += option(rng, rng.choice(OF_SOLVE), rare)
    return found


def solving(rng: Random) -> Case:
    """Solve, check_case, solve on, learn on; sometimes with extreme numbers, extreme options and bad lines."""
    rare = rng.choice([0.0, 0.1, 0.5, 1.0, -1.0])
    s = problem(rng, max(rare, 0))
    bad = rng.choice([0.0, 0.0, 0.1])
    if rng.random() < 0.1:
        s.labels = rng.choice([s.labels[:1], ["1", "-1", "red", "1e300"]])
    dense = "center" in s.options
    files = {
        n: data(rng, s.labels, rng.choice([1, 5, 40, 200]), rare=rare * 0.2, bad=bad, dense=dense)
        for n in ("data", "test")
    } | s.more
    run = ["solve", *s.options, "data", "-m", "model%d" if "--l1-path" in s.options else "model", "--report", "report"]
    run += ["--max-seconds", rng.choice(["0.3"] * 6 + ["0"]), *some(rng, 0.2, "--max-passes 3")]
    run += some(rng, 0.3, "--tolerance 0", "--tolerance 1", "--tolerance 1e-9", "--seed 7")
    run += some(rng, 0.3, "-c", "--cache-file cache", "--threads 1", "--quiet")
    skip = "--on-error skip"
    run += some(rng, 0.6 if bad else 0.1, skip, f"{skip} --rejects bad", f"{skip} --max-errors 2")
    model = "model2" if "--l1-path" in s.options else "model"
    certifying = ["certify", "-m", model, rng.choice(["data", "test"]), "--on-error", "skip", "--report", "report"]
    certifying += some(rng, 0.5, "--l1 0.1", "--radius 2", "--l2 0.1", "--l1 0", "--radius 1e-9", "--l1 1e300")
    certifying += some(rng, 0.4, f"--against {model}", "--against other")
    if "weights" in s.more:
        certifying += ["--feature-weights", "weights"]
    if rng.random() < rare * 0.3:
        certifying += option(rng, rng.choice(OF_CERTIFY), rare)
    more = ["solve", "-i", model, "test", "-m", "other", "--on-error", "skip", "--max-seconds", "0.3"]
    more += some(rng, 0.5, "--l1 0.01", "--radius 1", "--l1-of-max 0.1")
    learned = ["train", *s.options[2:4], *some(rng, 0.5, "--algorithm sgd", "--algorithm truncated-gradient --l1 0.01"),
               *rng.choice([["-i", model], []]), "test", "-m", "learned", "--on-error", "skip"]
    last = ["certify", "-m", "learned", "data", "--on-error", "skip", *some(rng, 0.9, "--l1 0.1", "--radius 1"),
            *some(rng, 0.3, f"--against {model}")]
    looks = [model if word == "model" else word for word in rng.choice(LOOKS)]
    again = ["predict", "-m", model, "test", "--on-error", "skip"]
    return Case("solving", files, [[run, certifying, again, looks, more, learned, last]])


def equal_solving(rng: Random) -> Case:
    """From a cache, a pipe or a compressed file, with any number of threads and any memory: the same."""
    s = problem(rng, 0)
    s.options = ["--l1-of-max" if word == "--l1-path" else word for word in s.options]
    s.options = [word.partition(":")[0] for word in s.options]
    content = data(rng, s.labels, rng.choice([3, 40, 300]), bad=rng.choice([0, 0, 0.05]), dense="center" in s.options)
    files = {"data": content, "data.gz": gzip.compress(content, mtime=0)} | s.more
    run = ["solve", *s.options, "-m", "model", "--quiet", "--on-error", "skip", "--max-passes", "30"]
    groups = ways_of_reading(rng, run, {"model": "stale"})
    return Case("equal", files, groups, ["model"])


# --- requests ------------------------------------------------------------------------------------------

PATHS = ["/predict"] * 12 + ["/invocations", "/ping", "/health", "/metrics", "/v2/models/m", "/v2/models/", "/none",
         "/v2", "/v2/models/m/ready", "/v2/models/m/versions/1", *["/v2/models/m/infer"] * 4, "/predict/",
         "/", "*", "/%70redict", "http://x/predict", "/v2/health/live", "/\udcff"]
QUERIES = ["", "", "", "", "?explain=2", "?explain=99999", "?on_error=skip", "?model=m", "?model=", "?x",
           "?explain=1&x=%zz"]
KINDS = ["", "", "", "text/plain", "text/csv", "application/json", "application/x-ndjson", "text/libsvm", "image/png",
         "text/plain; charset=latin-1", "TEXT/CSV ; charset=\"UTF-8\""]
HEADERS = ["Connection: close", "Connection: keep-alive, x", "Expect: 100-continue", "Expect: 1",
           "Content-Encoding: gzip", "Host: y", "X-Y:", "Content-Length: 3", "Transfer-Encoding: gzip", " folded",
           "a b: c", "X: " + "y" * 20_000, *["X: y"] * 3]
CELLS: list[Any] = [1, -2.5, 1e400, "x", "", None, True, [1], {"a": {"b": 1}}, {"__proto__": []}, float("nan"), 10**30]


def json_body(rng: Random) -> str:
    """An object, a list or lines; now and then too deep, too large or no JSON."""

    def row() -> Any:
        return {rng.choice(["n", "m", "c", "the text", "a:b", "x"]): rng.choice(CELLS) for _ in range(rng.randrange(5))}

    match rng.randrange(6):
        case 0:
            return json.dumps(row(), ensure_ascii=rng.random() < 0.5)
        case 1:
            return json.dumps([row() for _ in range(rng.randrange(5))])
        case 2:
            return "\n".join(json.dumps(row()) for _ in range(rng.randrange(5)))
        case 3:
            return rng.choice(
                ["[", '{"a":', "[{},", '{"n":1,"n":2}', "[[]]", "[1]", "{}x", '{"n":"\\ud800"}']
            ) * rng.choice([1, 1, 3, 5000])
        case 4:
            return '{"n": ' + "[" * rng.choice([2, 900, 9000]) + "1" + "]" * rng.choice([2, 900]) + "}"
    return rng.choice(["null", '"a"', "1", "", "[]", "{}", " [ ] ", "[null]", "\ufeff{}"])


def tensors(rng: Random) -> str:
    """A request of the Open Inference Protocol, mostly of columns of one length."""
    rows = rng.randrange(4)

    def tensor() -> Any:
        name = rng.choice(["n", "m", "c", "the text", "x", "lines", "lines", 1])
        kind = rng.choice(["FP64", "FP64", "INT8", "UINT64", "BOOL", "BYTES", "BYTES", "FLOAT", None])
        cells = {"FP64": [1, -2.5, float("nan"), 1e400, None], "INT8": [1, 127, -128, 128], "UINT64": [1, 2**64, -1],
                 "BOOL": [True, False, None], "BYTES": ["a", "1 |a b", "", "\ud800", None, "a\nb"]}.get(kind, CELLS)
        data: Any = [rng.choice(CELLS if rng.random() < 0.1 else cells) for _ in range(rows)]
        if rng.random() < 0.2:
            data = [[x] for x in data]
        odd = rng.choice([[rows + 1], [rows, 2], [], [-1], ["1"], None, 10**30])
        shape = rng.choice([[rows], [rows], [rows], [rows, 1], [rows, 1], odd])
        found = {"name": name, "datatype": kind, "shape": shape, "data": data, "parameters": {"content_type": "str"}}
        if rng.random() < 0.1:
            found[rng.choice([*found])] = rng.choice(CELLS)
        return found

    found: dict[str, Any] = {"inputs": [tensor() for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]}
    if rng.random() < 0.3:
        found["outputs"] = rng.choice([[{"name": "prediction"}], [{"name": "classes"}], [{}], [1], {}, "x"])
    if rng.random() < 0.3:
        found[rng.choice(["id", "inputs", "parameters"])] = rng.choice(CELLS)
    return json.dumps(found)


def request(rng: Random) -> bytes:
    """A request, mostly one that can be answered."""
    path = rng.choice(PATHS)
    match rng.randrange(4):
        case _ if path.endswith("/infer") and rng.random() < 0.9:
            body = tensors(rng).encode()
        case 0 | 1 as which:
            body = text(rng, ("vw", "libsvm")[which])
        case which:
            drawn = json_body(rng) if which == 2 else table_text(rng, "csv", 0.1)
            body = drawn.encode("utf-8", "surrogateescape")
    is_post = "predict" in path or path.endswith("/infer")
    method = rng.choice(["POST"] * 8 + ["GET", "HEAD", "PUT", "post"]) if is_post else "GET"
    query = "" if path.endswith("/infer") and rng.random() < 0.9 else rng.choice(QUERIES)
    head = [f"{method} {path}{query} HTTP/{rng.choice(['1.1'] * 9 + ['1.0', '2.0'])}", "Host: x"]
    if kind := rng.choice(KINDS):
        head.append(f"Content-Type: {kind}")
    if rng.random() < 0.3:
        head.append("Transfer-Encoding: chunked")
        chunks, rest = b"", body
        while rest:
            size = rng.choice([1, 2, 7, 1000, len(rest)])
            chunks += b"%x%b\r\n%b\r\n" % (len(rest[:size]), rng.choice([b"", b"", b";a=b"]), rest[:size])
            rest = rest[size:]
        body = chunks + b"0\r\n" + rng.choice([b"\r\n", b"\r\n", b"X: y\r\n\r\n"])
    elif method == "POST" or rng.random() < 0.2:
        head.append(f"Content-Length: {len(body) + rng.choice([0] * 20 + [1, -1, 10**6])}")
    else:
        body = b""
    head[2:2] = rng.choices(HEADERS, k=rng.choice([0, 0, 0, 1, 2, 101 if rng.random() < 0.1 else 1]))
    found = "\r\n".join(head).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body
    return changed_bytes(rng, found) if rng.random() < 0.2 else found


def in_pieces(rng: Random, data: bytes) -> list[bytes]:
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice([0, 1, 2, 9])))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) if a < b]


# --- crafted models and caches --------------------------------------------------------------------------


class Stock:
    """Models and caches as the program writes them, each with data that belongs to it."""

    def __init__(self, rng: Random, folder: Path, golden: list[Path]) -> None:
        self.models = [path.read_bytes() for path in golden]
        self.caches: list[tuple[bytes, bytes]] = []
        while len(self.models) < len(golden) + 30:
            s = setup(rng)
            files = {"data": data(rng, s.labels, 12)} | s.more
            run = ["train", *s.options, "data", "-m", "model", "--quiet"]
            if check_case(Case("stock", files, [[run]]), folder) == "" and (folder / "0/model").exists():
                self.models.append((folder / "0/model").read_bytes())
        while len(self.models) < len(golden) + 40:
            p = problem(rng, 0)
            files = {"data": data(rng, p.labels, 12)} | p.more
            run = ["solve", *p.options, "data", "-m", "model", "--quiet", "--max-passes", "30"]
            if check_case(Case("stock", files, [[run]]), folder) == "" and (folder / "0/model").exists():
                self.models.append((folder / "0/model").read_bytes())
        self.served = [*self.models]
        while len(self.served) < len(self.models) + 5:
            content = table_text(rng, "csv", 0.0).encode()
            run = ["train", "data.csv", "--label", "y", "-m", "model", "--quiet"]
            model = folder / "0/model"
            if check_case(Case("stock", {"data.csv": content}, [[run]]), folder) == "" and model.exists():
                self.served.append((folder / "0/model").read_bytes())
        self.tables = [*crafted_models.table_models(folder, rng).values()]
        self.served += [model for model, _ in self.tables]
        while len(self.caches) < 12:
            i = len(self.caches)
            content = data(rng, ["1", "2"], [1, 12, 200][i % 3], bad=0.1 * (i % 2))
            if i % 4 == 3:
                content = data(rng, ["1", "2"], 100)[:400] * 20  # few features, so that they are numbered
            run = ["train", "data", "-c", "--algorithm", "gd", "--on-error", "skip", "--quiet"]
            run += [["--oaa", "3"], []][i % 2]
            cache = folder / "0/data.vwlite-cache"
            if check_case(Case("stock", {"data": content}, [[run]]), folder) == "" and cache.exists():
                self.caches.append((content, cache.read_bytes()))

    def crafted_model(self, rng: Random) -> Case:
        model = rng.choice(self.models)
        whole = damaged_model(rng, model) if rng.random() < 0.9 else model[: rng.randrange(len(model))]
        files = {"data": data(rng, rng.choice([["1", "-1"], ["1", "2"]]), 5), "model": whole}
        runs = [["predict", "-m", "model", "data"], ["check", "model"], ["train", "-i", "model", "data", "-m", "m"],
                ["predict", "-m", "m", "data"], *LOOKS[:5], *LOOKS[6:],
                ["vw", "-i", "model", "-d", "data", "-f", "m"],
                ["solve", "-i", "model", "data", "-m", "m", "--max-seconds", "0.2", *some(rng, 0.5, "--l1 0.1")],
                ["certify", "-m", "model", "data", *some(rng, 0.8, "--l1 0.1", "--radius 1", "--l1 1 --loss logistic")],
                ["certify", "-m", "m", "data", "--against", "model"]]
        return Case("model", files, [runs])

    def crafted_table(self, rng: Random) -> Case:
        """Other facts in the header of a model of a table, for all that shows them."""
        model, text = rng.choice(self.tables)
        files = {"table.csv": text.encode(), "model": crafted_models.crafted_table(rng, model)}
        runs: list[Command] = [
            ["predict", "-m", "model", "table.csv", "-p", "-"], ["check", "model"], *LOOKS[:4], *LOOKS[7:9], LOOKS[10],
            ["explain", "-m", "model", "table.csv", "--quiet"], ["explain", "-m", "model", "table.csv", "--json"],
            ["report", "-m", "model", "table.csv", "-o", "page.html"], ["evaluate", "-m", "model", "table.csv"],
            ["convert", "table.csv", "-m", "model"], ["weights", "model", "table.csv"],
            ["calibrate", "-m", "model", "table.csv", "-o", "calibrated"],
            ["export", "model", "--to", "tsv", "-o", "exported"], ["export", "model", "--to", "c", "-o", "exported"],
            ["export", "model", "--to", "sql", "--table", "t", "-o", "exported"],
        ]
        return Case("table", files, [rng.sample(runs, 6)])

    def serving(self, rng: Random) -> Case:
        """Requests, and lines, to a server of one of the models."""
        requests = [b"".join(request(rng) for _ in range(rng.choice([1, 1, 2, 5]))) for _ in range(rng.randrange(1, 8))]
        lines = [text(rng, "vw") for _ in range(rng.randrange(3))]
        connections = [[in_pieces(rng, each) for each in some_of] for some_of in (requests, lines)]
        return Case("serving", {"model": rng.choice(self.served)}, requests=connections[0], lines=connections[1])

    def crafted_cache(self, rng: Random) -> Case:
        content, cache = rng.choice(self.caches)
        files = {"data": content, "data.vwlite-cache": cache}
        if rng.random() < 0.9:
            files["data.vwlite-cache"] = damaged_cache(rng, cache)
        else:
            files["data.vwlite-cache"] = cache[: rng.randrange(len(cache))]
        run = ["train", "data", "-c", "--on-error", "skip", "--quiet", "--threads", rng.choice(["1", "2"])]
        run += some(rng, 0.3, "--passes 2", "-q ab", "--ignore b")
        if rng.random() < 0.3:
            run = ["solve", "--l1", "0.1", "--max-seconds", "0.2", *run[1:8], *some(rng, 0.3, "-q ab", "--ignore b")]
        runs = [["check", "data.vwlite-cache"], [*run, *some(rng, 0.3, "--oaa 3")]]
        return Case("cache", files, [runs], caches={"data.vwlite-cache": ["data"]})


def table_text(rng: Random, format: str, bad: float) -> str:
    """A table with a label y; now and then with cells, rows or bytes that are none."""
    names = ["y", *rng.sample(["n", "m", "c", "the text", "a:b", "w", "id"], rng.randrange(1, 7))]
    words = [*WORDS[:20], "", "a, b", 'say "x"', "two\nlines", " x ", "\r\n", "\u00e9|:"]
    rows = []
    for _ in range(rng.choice([0, 1, 5, 60])):
        row: dict[str, Any] = {"y": rng.choice(["1", "-1", "1", ""])}
        for each in names[1:]:
            row[each] = number(rng) if rng.random() < bad or each in "nmw" else rng.choice(words)
            if each in "nmw" and rng.random() > bad:
                row[each] = rng.choice(["1", "0.5", "2", "", " 3 ", "1e-3"])
        rows.append(row)
    if format == "jsonl":
        nested = [{"k": 1, "l": "x y"}, ["a", "b"], [1, 2.5, None], None, True, 1e30, {}, [], [1, "x"], {"a": {"b": 1}}]
        for row in rows:
            row["o"] = rng.choice(nested[:8] if rng.random() > bad else nested)
        lines = [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows]
    else:
        delimiter = "\t" if format == "tsv" else ","
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\x00")
        writer.writerow(names)
        writer.writerows(row.values() for row in rows)
        lines = out.getvalue().split("\x00")[:-1]
    for i in range(1, len(lines)):
        if rng.random() < bad:
            at = rng.randrange(len(lines[i]) + 1)
            piece = rng.choice(['"', ",", "\n", "\udcff", "{", "]", "\\", "\\u12", "\t", "'"])
            lines[i] = lines[i][:at] + piece + lines[i][at:]
    end = rng.choice(["\n", "\r\n"])
    return "\ufeff" * (rng.random() < 0.1) + end.join(lines) + rng.choice([end, ""])


def tables(rng: Random) -> Case:
    """Any number of threads, and a cache, give the same model of a table and say the same; the model predicts it."""
    format, bad = rng.choice(["csv", "csv", "tsv", "jsonl"]), rng.choice([0.0, 0.0, 0.05, 0.3])
    name = f"data.{format}"
    files = {name: table_text(rng, format, bad).encode("utf-8", "surrogateescape")}
    typed = ["--label", "y", "--drop", "id"] if rng.random() < 0.1 else ["--label", "y"]
    typed += some(rng, 0.2, "--ngram 2", "--categorical n", "--numeric c", "--text c", "--importance w", "--tag id")
    typed += some(rng, 0.2, "--on-error skip", "--on-error skip --rejects bad")
    run = ["train", name, *typed, *some(rng, 0.3, "-q :c", "-q c,n", "--passes 2", "--hash all"), "--allow-empty"]
    run += some(rng, 0.4, "--names", "--names=3")
    rest = [["predict", "-m", "model", name, "--on-error", "skip"], ["convert", name, *typed]]
    rest += [["check", name, *typed[:2]], ["names", "model", name, "-o", "named", "--on-error", "skip"]]
    rest += [["export", "named", "--to", "tsv", "-o", "table"], ["import", "table", "-m", "model"]]
    groups = [[[*run, "--quiet", "-m", "model", "--threads", n, *more], *rest]
              for n, more in (("1", []), ("3", ["--cache-file", "cache"]))]
    return Case("tables", files, groups, ["model", "stdout"])


def patterns(rng: Random) -> Case:
    """A text of which twice as much must take about twice the time."""
    return Case("patterns", pattern=drawn_pattern(rng))


def draw(rng: Random, stock: Stock) -> Case:
    """Any case."""
    kinds = [lines] * 2 + [commands] * 3 + [continued] * 2 + [equal] + [vw] * 2 + [tables] * 2 + [patterns] * 3
    kinds += [solving] * 2 + [equal_solving]
    crafted = [stock.crafted_model] * 3 + [stock.crafted_table] * 2 + [stock.crafted_cache] * 2
    return rng.choice([*kinds, *crafted, *[stock.serving] * 2])(rng)
