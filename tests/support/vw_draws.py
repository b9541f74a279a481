"""Command lines and texts for `vwlite vw` and Vowpal Wabbit, drawn by hypothesis."""

import json
from dataclasses import dataclass

from hypothesis import strategies as st

LABELS = {
    "squared": ["1", "-1", "0", "0.5", "2", "-3.25", "1e0"],
    "classic": ["1", "-1", "0", "0.5", "2"],
    "logistic": ["1", "-1"],
    "soft": ["1", "-1", "0", "0.25", "-.5"],
    "hinge": ["1", "-1"],
    "quantile": ["1", "-1", "0", "0.5", "2"],
    "expectile": ["1", "-1", "0", "0.5", "2"],
    "poisson": ["0", "1", "2", "3"],
}
SPACES = ["a", "b", "c", "ab", ""]
NAMES = ["x", "y", "z", "long_name", "5", "05", "12a", "-3", "x^y", "x*y", "'q", "\u00e9", "\udcff", "X."]
NUMBERS = ["1", "2", "0.5", "-1", "1.25", "3e-1", "0"]
RARE_NUMBERS = [
    ".5", "5.", "+2", "1e", "0x2", "1E0", "-.25", "1e-50", "00.50", "-0", "nan", "1e+0", "--1", "-", "", "word",
]


@dataclass(frozen=True)
class Case:
    """A command line, a text to learn and one to predict, and whether the model is one only to predict with."""

    arguments: list[str]
    train: bytes
    test: bytes
    predict_only: bool


def _feature(number: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    name = st.sampled_from(NAMES)
    return st.one_of(name, st.builds("{}:{}".format, name, number), st.builds("{}:{}".format, name, number))


@st.composite
def line(draw: st.DrawFn, labels: list[str], rare: bool) -> str:
    """A line of text; rare: with the corner cases of the grammar."""
    if draw(st.integers(0, 29 if not rare else 9)) == 7:
        return draw(st.sampled_from(["", " ", "|", "1", "'tag", "1 2 3 4 |a x", "1 'tag"])) if rare else ""
    number = st.sampled_from(NUMBERS + (RARE_NUMBERS if rare else []))
    words = []
    if draw(st.integers(0, 9)):
        words.append(draw(st.sampled_from(labels + (["nan", "x1"] if rare and "0.5" in labels else []))))
        if draw(st.integers(0, 3)) == 0:
            words.append(draw(st.sampled_from(["1", "2", "0.5", "0", "1.5", "0.1"] + (["-1", "nan"] if rare else []))))
            if draw(st.integers(0, 3)) == 0:
                words.append(draw(st.sampled_from(["0", "0.25", "-1"])))
    if draw(st.integers(0, 3)) == 0:
        words.append(draw(st.sampled_from(["'tag", "'12", "'"])))
    text = (draw(st.sampled_from([" ", "  ", "\t"])) if rare else " ").join(words)
    if words and not (rare and draw(st.integers(0, 4)) == 0):
        text += " "
    for _ in range(draw(st.integers(1, 3))):
        space = draw(st.sampled_from(SPACES))
        if draw(st.integers(0, 9)) == 0:
            space += ":" + draw(number)
        features = draw(st.lists(_feature(number), max_size=5))
        gap = draw(st.sampled_from([" ", "  ", "\t", " \t "])) if rare else " "
        text += f"|{space}" + "".join(gap + feature for feature in features)
        text += draw(st.sampled_from(["", " ", "\t", "\r", "\ufeff"])) if rare else " "
    return text


def texts(labels: list[str], rare: bool) -> st.SearchStrategy[bytes]:
    lines = st.lists(line(labels, rare), min_size=5, max_size=30)
    # Behind a number at the very end of a file, Vowpal Wabbit reads on in what was in memory before.
    ends = st.sampled_from(["\n", "\n", "\n", "\r\n"] if rare else ["\n", "\n", ""])
    return st.builds(
        lambda lines, end: ("\n".join(lines) + end).encode("utf-8", "surrogateescape"), lines, ends
    )


def _some(draw: st.DrawFn, one_in: int, *choices: str) -> list[str]:
    """One of these options, or none."""
    if draw(st.integers(0, one_in - 1)):
        return []
    return draw(st.sampled_from(choices)).split()


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """One run. Rates are those with which plain steps do not grow without end."""
    loss = draw(st.sampled_from(list(LABELS)))
    arguments = ["--loss_function", "logistic" if loss == "soft" else loss]
    if loss == "expectile":
        arguments += ["--expectile_q", draw(st.sampled_from(["0.1", "0.25", "0.5"]))]
    if loss == "quantile":
        arguments += _some(draw, 2, "--quantile_tau 0.2", "--quantile_tau 0.9")
    flags = draw(st.sampled_from(FLAGS))
    arguments += flags.split()
    betting = "--ftrl" in flags or "--coin" in flags or "--pistol" in flags or "--freegrad" in flags
    plain = bool(flags) and not betting
    if betting:
        if "--freegrad" in flags:
            arguments += _some(draw, 3, "--restart", "--fepsilon 0.5", "--fepsilon 2 --restart")
        else:
            arguments += _some(draw, 3, "--ftrl_alpha 0.1", "--ftrl_beta 2", "--ftrl_alpha 0.3 --ftrl_beta 0.5")
    else:
        rates = ["0.01", "0.05", "0.1"] if plain else ["0.1", "0.5", "1", "2"]
        if plain or draw(st.booleans()):
            arguments += ["-l", draw(st.sampled_from(rates))]
        arguments += _some(draw, 3, "--power_t 0", "--power_t 0.25", "--power_t 0.7", "--power_t 1")
        arguments += _some(draw, 5, "--initial_t 1", "--initial_t 2.5")
        arguments += _some(draw, 10, "--initial_weight 0.1", "--sparse_l2 0.01")
    arguments += _some(draw, 4, "--l1 1e-4", "--l1 1e-3", "--l1 0.02") if "--freegrad" not in flags else []
    arguments += _some(draw, 4, "--l2 1e-4", "--l2 1e-2") if "--freegrad" not in flags else []
    arguments += _some(draw, 3, "-q ab", "-q aa", "-q ba -q ac", "--cubic abc", "--cubic aab", "-q ::",
                       "--interactions ab --interactions abc", "--interactions aabb", "-q a:", "-q ff",
                       "-q ab -q ba --leave_duplicate_interactions", "-q aa --permutations")
    arguments += _some(draw, 4, "-c -k --passes 3 --holdout_off", "-c -k --passes 4", "-c -k --passes 2",
                       "-c -k --passes 3 --holdout_period 4 --early_terminate 1", "--holdout_after 6",
                       "-c -k --passes 3 --holdout_off --decay_learning_rate 0.9")
    arguments += _some(draw, 5, "--link logistic", "--link glf1", "--link identity", "--link poisson")
    arguments += _some(draw, 6, "--noconstant", "--constant 0.3")
    arguments += _some(draw, 4, "-b 10", "-b 4", "-b 20", "-b 1")
    arguments += _some(draw, 6, "--ngram 2", "--ngram a2", "--ngram 3 --skips 1", "--ngram a3 --skips a2")
    arguments += _some(draw, 6, "--ignore a", "--ignore_linear b", "--keep a --keep c", "--ignore a --ignore b")
    arguments += _some(draw, 8, "--hash all", "--hash_seed 7", "--hash all --hash_seed 3", "--redefine c:=a",
                       "--affix +2a,-1b", "--spelling a", "--feature_limit 2", "--feature_limit a1",
                       "--sort_features")
    arguments += _some(draw, 10, "--min_prediction -0.5 --max_prediction 0.5", "--max_prediction 1")
    arguments += _some(draw, 12, "--binary", "--classweight 1:2.5", "--classweight 1:0.5,-1:2")
    rare = draw(st.integers(0, 2)) == 0
    text = texts(LABELS[loss], rare)
    return Case(arguments, draw(text), draw(text), draw(st.integers(0, 2)) == 0)


FLAGS = ["", "", "", "--sgd", "--adaptive", "--normalized", "--invariant", "--adaptive --normalized",
         "--adaptive --invariant", "--normalized --invariant", "--adaptive --normalized --invariant",
         "--ftrl", "--coin", "--pistol", "--freegrad"]


# Several classes: labels that are missing, outside or without a name, and what is counted then.
CLASSES = ["1", "2", "3", "3", "2 2", "1 0.5", "", "0", "4", "-1", "5", "1 0"]
NAMED = ["dog", "cat", "bird", "bird", "dog 2", "cat 0.5", "", "fish", "cow 2"]
VOTED = ["1", "2", "-1", "0", "3", "1 2", "", "2 0.5"]


@st.composite
def class_cases(draw: st.DrawFn) -> Case:
    """A run whose table, summary and predictions are compared."""
    kind = draw(st.sampled_from(["oaa", "oaa", "named", "costs", "bootstrap"]))
    shares = ["", "", "--probabilities --loss_function logistic", "--scores"]
    if kind == "bootstrap":
        labels = VOTED
        arguments = ["--bootstrap", str(draw(st.integers(1, 9))), "--bs_type", draw(st.sampled_from(["vote", "mean"]))]
    elif kind == "costs":
        costs = ["dog:1", "cat:0", "bird:0.5", "dog:2", "bird:1 dog:0", "fish:1 cat:0", "cat dog:1", "dog cat", ""]
        labels, arguments = costs, ["--csoaa", "3", "--named_labels", "dog,cat,bird"]
    elif kind == "named":
        labels = NAMED
        arguments = ["--oaa", "3", "--named_labels", "dog,cat,bird", *draw(st.sampled_from(shares)).split()]
    else:
        labels = CLASSES
        arguments = ["--oaa", draw(st.sampled_from(["3", "4", "5"])), *draw(st.sampled_from(shares)).split()]
        arguments += _some(draw, 3, "--indexing 0", "--indexing 1")
        if "--probabilities" not in arguments and "--scores" not in arguments:
            arguments += _some(draw, 4, "--classweight 1:2,2:0.5")
    arguments += _some(draw, 3, "-c -k --passes 3", "-c -k --passes 2 --holdout_off")
    arguments += _some(draw, 4, "-q ab", "-b 10")
    # Options that mean nothing alone.
    arguments += _some(draw, 6, "--confidence_after_training", "--dropout", "--mem 3", "--compressed")
    feature = st.builds("{}{}".format, st.sampled_from("xyzw"), st.sampled_from(["", ":0.5", ":2", ":-1"]))
    lines = []
    for _ in range(draw(st.integers(5, 40))):
        tag = draw(st.sampled_from(["", "", "'t1 "]))
        spaces = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True))
        features = (f"|{space} {' '.join(draw(st.lists(feature, max_size=3)))}" for space in spaces)
        lines.append(f"{draw(st.sampled_from(labels))} {tag}{' '.join(features)}\n")
    text = "".join(lines).encode()
    return Case(arguments, text, text, False)


# Several labels of one example; lines of one example; numbers.
SETS = ["0", "1", "0,2", "1,2", "0,1,2", "2,0", "", "5", "0,0", "-1", "1x", "1 2", ","]
LINE_COSTS = ["{}:1", "{}:0", "{}:0.5", "{}:2", "{}:-1"]


@st.composite
def layer_cases(draw: st.DrawFn) -> Case:
    """A run with other layers than those of `class_cases`, or with audits, whose every output is compared."""
    kind = draw(st.sampled_from(["labels", "lines", "lines", "audit", "audit", "print", "costs"]))
    several = ["-c -k --passes 2", "-c -k --passes 3 --holdout_off"]
    if kind == "labels":
        labels = SETS
        arguments = ["--multilabel_oaa", "3"]
        arguments += _some(draw, 3, "--probabilities --loss_function logistic", "--loss_function logistic", "-t",
                           "--link logistic", "--named_labels dog,cat,bird", "--classweight 1:2,-1:0.5")
        arguments += _some(draw, 3, *several)
    elif kind == "lines":
        labels = LINE_COSTS
        arguments = draw(st.sampled_from(["--csoaa_ldf m", "--csoaa_ldf mc", "--wap_ldf m"])).split()
        arguments += _some(draw, 2, "--classweight 1:2", "--classweight -1:0.5,0:3", "--classweight 2:0")
        arguments += _some(draw, 4, "-q ab", "-t", "-b 10") if "--wap_ldf" not in arguments else []
    elif kind == "print":
        labels = ["1", "-1", "0.5", "2 2", "1 0.5 0.25", ""]
        arguments = ["--print", *_some(draw, 3, "-t", "--noconstant", "-b 10")]
    elif kind == "costs":
        labels = ["1:1 2:0", "1:0", "2:x", "1:1:1", "1:1:1 2:0", "shared:1", "label", "3:nan 1:1", "::2", "2:", ""]
        arguments = ["--csoaa", "3", "--indexing", "1"]
    else:
        reduction = draw(st.sampled_from(["", "--oaa 3", "--csoaa 3", "--nn 2", "--nn 2 --inpass", "--bootstrap 2",
                                          "--oaa 3 --probabilities --loss_function logistic", "--ect 3", "--ftrl",
                                          "--multilabel_oaa 3", "--oaa 3 --classweight 1:2", "--binary"]))
        labels = ["1:1 2:0", "1:0 3:1", "2:0", "3:1 1:2"] if "--csoaa" in reduction else ["1", "1", "2", "3", "2 2", ""]
        labels = ["0", "1", "0,2", ""] if "--multilabel" in reduction else labels
        labels = ["1", "-1", "1 2", ""] if reduction == "--binary" else labels
        arguments = ["-a", *reduction.split()]
        arguments += _some(draw, 2, *several)
        arguments += _some(draw, 3, "-q ab", "--noconstant", "--ignore_linear a", "-q ab --ignore_linear b",
                           "--dictionary a:words", "--dictionary words -b 10")
    feature = st.builds("{}{}".format, st.sampled_from("xyzw"), st.sampled_from(["", ":0.5", ":2", ":-1"]))
    lines = []
    for _ in range(draw(st.integers(3, 15))):
        for k in range(1, draw(st.integers(2, 4)) if kind == "lines" else 2):
            tag = draw(st.sampled_from(["", "", "'t1 "]))
            features = " ".join(draw(st.lists(feature, min_size=1, max_size=3, unique_by=lambda x: x[0])))
            more = draw(st.sampled_from(["", " |b x", " |b y:2"]))
            lines.append(f"{draw(st.sampled_from(labels)).format(k)} {tag}|a {features}{more}\n")
        lines += ["\n"] if kind == "lines" else []
    text = "".join(lines).encode()
    return Case(arguments, text, text, False)


KEYS = ["x", "y", "ab", "a", "a b", "5", "q:r", "\u00e9", "", "n\0m"]
SPACE_KEYS = ["a", "ab", "b", "c d", "5", " "]
STRINGS = ["v", "7", "two words", "at 10:30", "yes|no", "tab\there", "\u00e9", "", " ", "http://a.example", "n\0m"]
JSON_NUMBERS = ["1", "2.5", "-1", "0", "0.0", "-0", "1e2", "3000000000", "7000000000000", "1e-60"]
JSON_FAULTS = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 400, "01", "+1", "'a'", '"\\ud800"', "[[1]]",
               '["word"]', "[true]", "[1, NaN]"]
SPECIAL = [
    ('"_label"', ["1", "-1", "0.5", '"1"', '"1 2"', '"1 2 0.25"', '"x"', '"1 nan"', '"1 2 3 4"', '""', "null"]),
    ('"_label"', ['{"Label":1}', '{"Label":1,"Weight":2}', '{"label":-1,"INITIAL":0.5}', '{"Initial":0.25}',
                  '{"Weight":2}', "{}", '{"Label":null,"Weight":0.5}', '{"Cost":1,"Action":2,"Probability":0.5}',
                  '{"Label":0.5,"Weight":0}']),
    ('"_label_Label"', ["1", "0.5", "null"]), ('"_label_Weight"', ["2", "0.5", "0"]),
    ('"_label_Initial"', ["0.5", "-1"]), ('"_tag"', ['"t"', '"a b"', "null", '""']),
    ('"_text"', [f'"{text}"' for text in ("see http://a.example at 10:30", "yes|no", " two  words ", "", "5 x")]),
    ('"_ignored"', ["1", '"a"', "NaN", '{"x":[1,{}]}', "[true]"]), ('"_a"', ["[1]"]), ('"_p"', ["[0.5]", "[]"]),
]
SPECIAL_FAULTS = [
    ('"_label"', ["true", "[1]", "NaN", '{"Foo":1}', '{"Label":{"Label":1}}', '{"Label":true}', '{"Label":"one"}']),
    ('"_label_Foo"', ["1"]), ('"_labels"', ["1"]), ('"_labelIndex"', ["0"]), ('"_tag"', ["5"]), ('"_text"', ["5"]),
    ('"_multi"', ["[]"]), ('"_slot_id"', ["1"]), ('"_a"', ['["x"]']),
]


@st.composite
def json_object(draw: st.DrawFn, faulty: bool, depth: int = 0) -> str:
    """An object as text; faulty: with values that are refused."""
    pairs = []
    for _ in range(draw(st.integers(0 if depth else 1, 4))):
        kind = draw(st.sampled_from(["number", "number", "string", "constant", "object", "array", "special"]))
        key = json.dumps(draw(st.sampled_from(SPACE_KEYS if kind in ("object", "array") else KEYS)))
        if kind == "special":
            specials = SPECIAL + (SPECIAL_FAULTS if faulty else [])
            key, values = draw(st.sampled_from(specials))
            value = draw(st.sampled_from(values))
        elif kind == "number":
            value = draw(st.sampled_from(JSON_NUMBERS + (JSON_FAULTS if faulty else [])))
        elif kind == "string":
            value = json.dumps(draw(st.sampled_from(STRINGS)), ensure_ascii=draw(st.booleans()))
        elif kind == "constant":
            value = draw(st.sampled_from(["true", "false", "null"]))
        elif depth == 3:
            value = "1"
        elif kind == "object":
            value = draw(json_object(faulty, depth + 1))
        else:
            cell = st.one_of(st.sampled_from([*JSON_NUMBERS, "null"]), json_object(faulty, depth + 1))
            value = "[" + ",".join(draw(st.lists(cell, max_size=4))) + "]"
        pairs.append(f"{key}:{value}")
    return "{" + draw(st.sampled_from([",", ", "])).join(pairs) + "}"


HASHING = ("--hash all", "--hash_seed 7", "--hash all --hash_seed 3")


@st.composite
def json_cases(draw: st.DrawFn) -> Case:
    """Lines of JSON, to be audited."""
    faulty = draw(st.integers(0, 3)) == 0
    lines = draw(st.lists(json_object(faulty), min_size=1, max_size=2 if faulty else 6))
    text = "".join(f"{line}\n" for line in lines).encode("utf-8")
    arguments = ["--json", "-a", *_some(draw, 3, "--chain_hash"), *_some(draw, 4, *HASHING)]
    return Case(arguments + _some(draw, 4, "-q ab", "--noconstant"), text, text, False)


CELLS = ["1", "2.5", "-1", "0", "nan", "", '""', '"7"', '"nan"', "word", '"a, b"', '"say ""hi"""', " 5 ", "+2",
         "0x10", 'in"side', "1e2", "\u00e9", "x\u00bb", "a:b|c", "'q"]
CELL_FAULTS = ['"open', '"shut"x', '""x""']
HEADS_OF_CSV = ["x", "y", "a|x", "a|y", "ab|z", "b|x", '"q"', "", "a|", "|z", " x ", "5", '"u,v"', "label"]


@st.composite
def csv_cases(draw: st.DrawFn) -> Case:
    """A table in CSV, to be audited."""
    faulty = draw(st.integers(0, 3)) == 0
    heads = draw(st.lists(st.sampled_from(HEADS_OF_CSV), min_size=1, max_size=5, unique=True))
    heads += draw(st.sampled_from([["_label"], ["_label"], ["_label", "_tag"], []]))
    heads = draw(st.permutations(heads))
    separator = draw(st.sampled_from([",", ",", ",", ";", "\t"]))
    cell = st.sampled_from([cell for cell in CELLS + (CELL_FAULTS if faulty else []) if "\t" not in cell])
    lines = [separator.join(heads)]
    for _ in range(draw(st.integers(1, 2 if faulty else 5))):
        row = []
        for head in heads:
            if head == "_label":
                row.append(draw(st.sampled_from(["1", "-1", "0.5", '"1"', "1 2", '"1 2 0.5"', "", "x"])))
            elif head == "_tag":
                row.append(draw(st.sampled_from(["t", "'t", '"a b"', "", "'"])))
            else:
                row.append(draw(cell))
        if faulty and draw(st.integers(0, 3)) == 0:
            row += ["1"]
        lines.append("" if faulty and draw(st.integers(0, 5)) == 0 else separator.join(row))
    text = "".join(f"{line}\n" for line in lines).encode("utf-8")
    arguments = ["--csv", "-a", *([] if separator == "," else ["--csv_separator", separator.replace("\t", "\\t")])]
    arguments += _some(draw, 4, *HASHING)
    arguments += _some(draw, 4, "--csv_ns_value a:0.5", "--csv_ns_value :2,b:0")
    return Case(arguments, text, text, False)
