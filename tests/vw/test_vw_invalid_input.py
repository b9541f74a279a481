"""`vwlite vw` with unusual values and data, and damaged files: a message and an exit code, no internal error."""

import os
import resource
import shutil
from array import array
from math import inf
from pathlib import Path

import pytest
from running import finish, leftovers, start

from vwlite.core.data.expand import Expander
from vwlite.core.learn.losses import Squared
from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.core.vw.stepper import Stepper
from vwlite.model.learners import field_of
from vwlite.vw.arguments import MODELS, OPTIONS
from vwlite.vw.layers.bootstrap import majority
from vwlite.vw.layers.ect import Circuit, circuit_width
from vwlite.vw.messages import Critical
from vwlite.vw.models.binary import LAYOUTS, STATE, Header, SlotLayout, VwModel, read_head, read_rest, write_binary
from vwlite.vw.text.examples import _offsets
from vwlite.vw.text.parser import read_number

DATA = "1 |a x y:2 |b z\n2 |a x |b w:0.5\n"
HUGE = "99999999999999999999"


@pytest.fixture
def data(tmp_path):
    (tmp_path / "d").write_text(DATA)
    return str(tmp_path / "d")


# --- values of options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("hash_seed", "-1", 2**32 - 1), ("hash_seed", " +5", 5), ("hash_seed", "-4294967295", 1),
        ("passes", "4294967296", 2**32), ("random_seed", "-1", 2**64 - 1), ("boosting", "-2147483648", -(2**31)),
        ("examples", "-1", -1), ("learning_rate", " +1.e-50", 1e-50), ("learning_rate", "-.5", -0.5),
    ],
)
def test_numbers_are_read_as_vowpal_wabbit_does(name, text, value):
    assert OPTIONS[name].read(text) == value


@pytest.mark.parametrize(
    ("name", "code", "texts"),
    [
        ("hash_seed", "j", ["", "x", "1x", "1 ", "0x10", "1_0", "4294967296", "-4294967296"]),
        ("oaa_subsample", "m", ["\u00b2", "\u0661", "9" * 5000]),
        ("passes", "m", ["18446744073709551616", HUGE]),
        ("boosting", "i", ["2147483648", "-2147483649", HUGE]),
        ("examples", "l", ["9223372036854775808"]),
        ("learning_rate", "f", ["", "x", "1x", "1 ", "0x10", "1_0", "nan", "inf", "1e39", "-1e400", "1e"]),
    ],
)
def test_numbers_that_vowpal_wabbit_refuses_are_refused_in_its_words(name, code, texts):
    for text in texts:
        with pytest.raises(Critical) as error:
            OPTIONS[name].read(text)
        assert str(error.value) == f"Failed to convert {text} to {code}"


@pytest.mark.parametrize(
    "name", ["autolink", "boosting", "bootstrap", "csoaa", "ect", "multilabel_oaa", "nn", "oaa"]
)
def test_a_number_of_models_has_a_range(vwlite, data, name):
    done = vwlite("vw", "-d", data, f"--{name}", "-1", code=1)
    assert f"--{name} " in done.out and "a number from " in done.out
    assert f"Failed to convert {HUGE}" in vwlite("vw", "-d", data, f"--{name}", HUGE, code=1).out
    if name not in ("autolink", "boosting", "nn"):
        assert f"--{name} 0: must be a number from 1 to {MODELS}" in vwlite("vw", f"--{name}", "0", code=1).out


@pytest.mark.parametrize(
    "options", ["--oaa 4096 --nn 4096", "--ect 8192 --error 1000", "--lrq ab99999999", "--lrqfa ab99999999"]
)
def test_too_many_models_are_refused(vwlite, data, options):
    done = vwlite("vw", "-d", data, *options.split(), code=1)
    assert options.split()[0] in done.out and f"the maximum is {MODELS}" in done.out


def test_more_namespaces_than_can_be_crossed_are_refused(vwlite, data):
    said = vwlite("vw", "-d", data, "--interactions", 65 * "a", code=2)
    assert "an interaction of 65 namespaces is not supported: 2 to 64 can be crossed" in said.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ngram", ""], "malformed ngram: "),
        (["--ngram", HUGE], f"malformed ngram: {HUGE}"),
        (["--ngram", "2", "--skips", "\u00b2"], "malformed skips: \u00b2"),
        (["--feature_limit", ""], "malformed feature_limit: "),
        (["--classweight", "a:b"], "error while parsing --classweight a:b"),
        (["--classweight", "::"], "error while parsing --classweight ::"),
        (["--classweight", "1:1e60"], "error while parsing --classweight 1:1e60"),
        (["--csv", "--csv_ns_value", "a:b"], "NaN namespace value at cell 1: a:b"),
        (["--csv", "--csv_ns_value", "a:1,::"], "Malformed namespace value pair at cell 2: ::"),
    ],
)
def test_bad_texts_are_refused_by_name(vwlite, data, options, words):
    assert words in vwlite("vw", "-d", data, *options, code=1).out


@pytest.mark.parametrize(
    "options",
    [["--spelling", ""], ["--replay_b", "-1"], ["--ngram", "5000", "--skips", "5000"], ["--classweight", "1x: 2y"]],
)
def test_what_vowpal_wabbit_takes_is_taken(vwlite, data, options):
    vwlite("vw", "-d", data, *options)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("skips", [0, 1, 3])
def test_the_places_of_ngrams(n, skips):
    from itertools import combinations

    last = n - 1 + skips
    every = sorted([0, *rest] for rest in combinations(range(1, last + 1), n - 1))
    assert _offsets(n, skips) == every


def test_long_ngrams_need_no_recursion():
    assert _offsets(3000, 0) == [list(range(3000))]


def test_the_models_of_a_circuit_are_counted():
    for k in range(1, 9):
        for errors in range(4):
            circuit = Circuit(k, errors)
            matches = len(circuit.matches) - k
            assert circuit_width(k, errors) == circuit.width == max(1, matches + (errors if k > 1 else 0))


@pytest.mark.parametrize(("bits", "shift"), [(33, 0), (-1, 0), (18, 32), (18, -1)])
def test_a_stepper_refuses_keys_that_it_cannot_make(bits, shift):
    with pytest.raises(ValueError, match="bits"):
        Stepper(GdWithFlags(Squared()), Squared(), Expander(bits=32), bits=bits, shift=shift)


def test_a_stepper_has_sums_for_every_model():
    stepper = Stepper(GdWithFlags(Squared()), Squared(), Expander(bits=32), bits=18, shift=31)
    stepper.set([1], [1.0])
    for model in (2**31 - 1, 2**32 - 1, 0, 2**31 - 1):
        stepper.learn(1.0, 1.0, model)
    assert stepper.rule.weight_sum == 2
    stepper.select(0)
    assert stepper.rule.weight_sum == 1


# --- data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[1,2]", "3", '{"_label":[1,2],"a":1}', '{"_label":["ab","cd"]}', '{"a":[[1,2]]}', '{"a":[["xy"]]}',
        '{"a":' * 3000 + "1" + "}" * 3000, '{"a":' * 700 + "1" + "}" * 700 + "]", '{"a":[{"a":[' * 900,
        '{"a":' + "9" * 5000 + "}", '{"\\ud800":1}', '{"a":"\\ud800 x"}',
    ],
)
def test_bad_json_is_critical(vwlite, tmp_path, text):
    (tmp_path / "j").write_text(text + "\n")
    assert "JSON parser error" in vwlite("vw", "--json", "-d", str(tmp_path / "j"), code=1).out


@pytest.mark.parametrize(
    "text",
    [
        '{"":[1,2],"a":3}', '{"_tag":"\\udcff","_text":"a \\udcff"}',
        '{"_label":{}}',
    ],
)
def test_unusual_json_is_taken(vwlite, tmp_path, text):
    (tmp_path / "j").write_text(text + "\n")
    assert "number of examples = 1" in vwlite("vw", "--json", "-d", str(tmp_path / "j")).err


@pytest.mark.parametrize(
    ("text", "value"),
    [(b"0x1p3000", inf), (b"-0x1p3000", -inf), (b"1e" + b"9" * 5000, inf), (b"0x1p3", 8), (b"1e-" + b"9" * 5000, 0)],
)
def test_numbers_too_large_are_infinite(text, value):
    assert read_number(text) == (value, len(text))


def test_a_label_without_end_has_no_class_weight(vwlite, tmp_path):
    (tmp_path / "d").write_text("inf |a x\n1e400 |a x\n-inf |a x\n")
    vwlite("vw", "--classweight", "1:2", "-d", str(tmp_path / "d"))


@pytest.mark.parametrize("options", [[], ["--initial_t", "1e38", "--progress", "1e60"], ["--oaa", "2", "--invariant"]])
def test_a_model_of_numbers_without_end_is_written_and_read(vwlite, tmp_path, options):
    (tmp_path / "d").write_text("1 1e38 |a x:1e38\n1 1e38 |a x:-1e38\n1 1e38 |a x\n2 inf |a x\n1 1e38 |a x\n" * 9)
    at = {name: str(tmp_path / name) for name in "dm"}
    vwlite("vw", "-d", at["d"], "-f", at["m"], *options)
    vwlite("vw", "-d", at["d"], "-i", at["m"], "-t")


def test_counters_at_their_end_begin_again():
    state: dict[str, float] = {name: 0.0 for name, _ in STATE}
    state |= {"example_number": 2**64 + 5, "min_label": -1e39}
    header, source = read_head("m", write_binary(VwModel(Header(min_label=1e39), state, 1, array("I"), array("f"))))
    found = read_rest(header, source, 1).state
    assert header.min_label == inf
    assert found is not None and found["example_number"] == 5 and found["min_label"] == -inf


def test_a_negative_sum_of_squares_in_a_model_is_not_a_number():
    from vwlite.core.rules.ftrl import Ftrl

    rule = Ftrl(Squared())
    written = SlotLayout(rule, LAYOUTS["ftrl"]).write(array("I", [7]), array("f", [1.0, 2.0, -4.0]), 3, {})
    (root,) = field_of(rule, written, "root")
    assert root != root


@pytest.mark.parametrize(("found", "mean"), [([inf, 1.2, inf], inf), ([0.9, 1.2, -inf], 1.0)])
def test_a_vote_may_be_infinite(found, mean):
    assert majority(found) == pytest.approx(mean)


# --- files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-d d -p d", "--predictions d is the data, which it would overwrite"),
        ("-d d -p hard", "--predictions hard is the data"),
        ("d -f soft", "--final_regressor soft is the data"),
        ("-d hard -r ./d", "--raw_predictions ./d is the data"),
        ("-d d --readable_model d", "--readable_model d is the data"),
        ("-d d --invert_hash d", "--invert_hash d is the data"),
        ("-d d -i m --audit_regressor d", "--audit_regressor d is the data"),
        ("-d d -i m --audit_regressor m", "--audit_regressor m is a model that is read"),
        ("-d d --bfgs --passes 2 -k -c --output_feature_regularizer_text d --predict_only_model",
         "--output_feature_regularizer_text d is the data"),
        ("-d d -k --cache_file d", "--cache_file d is the data"),
        ("-d d --cache_file x -f x", "--final_regressor and --cache_file are both x"),
        ("-d d -c -f d.cache", "--final_regressor and --cache are both d.cache"),
        ("-d d -p x -r x", "--predictions and --raw_predictions are both x"),
        ("-d d -t -i m -p m", "--predictions m is a model that is read"),
        ("-d d -f x --feature_mask m --readable_model m", "--readable_model m is the file of --feature_mask"),
        ("-d x.1 -k -c --passes 2 --save_per_pass -f x", "--save_per_pass in pass 1 x.1 is the data"),
        ("-d d -f .x.lock --readable_model x", "--final_regressor .x.lock has the name of a lock"),
    ],
)
def test_outputs_that_would_destroy_what_is_read_are_refused(data, tmp_path, monkeypatch, vwlite, arguments, message):
    """Vowpal Wabbit destroys it."""
    monkeypatch.chdir(tmp_path)
    vwlite("vw", "-d", "d", "-f", "m", "--quiet")
    os.link("d", "hard")
    os.symlink("d", "soft")
    shutil.copy("d", "x.1")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    done = vwlite("vw", *arguments.split(), code=2)
    assert done.err.startswith(message)
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


def test_outputs_that_harm_nothing_are_not_refused(data, tmp_path, monkeypatch, vwlite):
    monkeypatch.chdir(tmp_path)
    vwlite("vw", "-d", "d", "-f", "m", "--quiet")
    done = vwlite("vw", "-d", "d", "-i", "m", "-f", "m", "-p", "/dev/stdout", "-r", "stdout", "--quiet")
    assert done.out.count("\n") == 4
    vwlite("vw", "-d", "d", "-c", "-k", "-f", "m", "--passes", "2", "--save_per_pass", "--quiet")
    vwlite("vw", "-d", "d", "-c", "-f", "m", "-p", os.devnull, "-r", os.devnull, "--quiet")
    assert sorted(os.listdir()) == ["d", "d.cache", "m", "m.0", "m.1"]


def test_an_export_may_not_be_its_model(data, tmp_path, monkeypatch, vwlite):
    monkeypatch.chdir(tmp_path)
    vwlite("train", "d", "--algorithm", "gd", "-m", "m", "--quiet")
    os.link("m", "hard")
    for name in ("m", "./m", "hard"):
        done = vwlite("export", "m", "--to", "vw", "-o", name, code=2)
        assert done.err == f"--output {name} is the input model, which it would overwrite\n"
    vwlite("info", "m")


@pytest.mark.parametrize("limit", range(9, 21, 2))
def test_few_file_descriptors(data, tmp_path, limit):
    """A sentence, no error of the program itself."""
    (tmp_path / "m").write_bytes(b"old")

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    command = ["vw", "-d", data, "-c", "-k", "--passes", "2", "-f", tmp_path / "m", "-p", tmp_path / "p"]
    done = finish(start(*command, preexec_fn=few))
    assert done.code in (0, 1)
    if done.code:
        assert done.err.endswith("Too many open files\n") and "internal" not in done.err and "Traceback" not in done.err
        assert (tmp_path / "m").read_bytes() == b"old"
    assert leftovers(tmp_path, ["d", "d.cache", "m", "p"]) == []


# --- CSV --------------------------------------------------------------------------------------------------


def test_carriage_returns_within_a_line_of_csv_are_characters_like_others(tmp_path, vwlite):
    """The indices are those of Vowpal Wabbit."""
    (tmp_path / "d").write_bytes(
        b'a,b,_label\r\n3\r4,5,-1\n\r1,2,1\n1,"a\r b",1\r\nx\r,\ry,1\r\r\n\0,' + b"1" * 200_000 + b",1\n"
    )
    out = vwlite("vw", "--csv", "-d", tmp_path / "d", "-a", "--quiet").out
    found = [{name.rsplit(":", 3)[0]: name.rsplit(":", 3)[1] for name in row.split("\t")[1:]}
             for row in out.split("\n")[1::2]]
    constant = {"Constant": "116060"}
    assert found[:4] == [
        {"a^3\r4": "62444", "b": "163331", **constant},
        {"a": "92594", "b": "163331", **constant},
        {"a": "92594", "b^a\r b": "21069", **constant},
        {"a^x\r": "55432", "b^\ry": "152274", **constant},
    ]
    assert set(found[4]) == {"a^\0", "b", "Constant"}


# --- class weights of costs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "loss", "count"), [("1:1", 0.75, 4), ("0:2", 0.8, 5), ("1:2", 0.5, 6), ("2:2", 1.0, 5), ("3:2", 0.75, 4)]
)
def test_class_weights_of_costs_are_those_of_vowpal_wabbit(tmp_path, vwlite, weight, loss, count):
    """A weight belongs to a cost that is the number; an example counts as its last cost does."""
    (tmp_path / "d").write_text("1:1 2:0 | a b\n1:0 2:2 | a c\n2:1 1:1 | a\n1:3 2:1 | b\n")
    err = vwlite("vw", "--csoaa", "2", "-d", tmp_path / "d", "--classweight", weight).err
    assert "Enabled learners: gd, scorer-identity, classweight-scalar, csoaa\n" in err
    assert f"weighted example sum = {count:.6f}\n" in err
    assert f"average loss = {loss:.6f}\n" in err


def test_class_weights_of_several_labels_are_those_of_vowpal_wabbit(tmp_path, vwlite):
    """They multiply within an example, in which nothing is learned behind a 0; and it counts once."""
    (tmp_path / "d").write_text("0,1 | a b\n1 | a c\n0 | b\n")
    arguments = ["vw", "--multilabel_oaa", "2", "-d", tmp_path / "d", "-p", tmp_path / "p", "--classweight"]
    for weight, predicted in (("5:2", [" ", "0,1 ", "0,1 "]), ("1:0", [" ", " ", " "])):
        assert "weighted example sum = 3.000000\n" in vwlite(*arguments, weight).err
        assert (tmp_path / "p").read_text().split("\n")[:3] == predicted


LINES = (
    "1:1 |a x y\n2:0 |a z\n3:2 |b x\n\n1:0 |a x\n2:1 |a y z\n\nshared |s q\n1:1 |a x\n2:0.5 |a w\n\n"
    "1 |a x\n2 |a y\n\n"
)


@pytest.fixture(name="lines_model")
def lines_model_fixture(tmp_path, vwlite):
    def model(text: str, *options: str) -> bytes:
        (tmp_path / "d").write_text(text)
        err = vwlite("vw", "-d", tmp_path / "d", "-f", tmp_path / "m", "--predict_only_model", *options).err
        learners = "classweight-scalar, csoaa_ldf" if "--classweight" in options else "csoaa_ldf"
        assert f"Enabled learners: gd, scorer-identity, {learners}, shared_feature_merger\n" in err
        return (tmp_path / "m").read_bytes()

    return model


def test_class_weights_of_several_lines_are_those_of_their_costs(lines_model):
    """With a weight of 0 for a cost, its lines might as well not be there: those of a regression do not meet."""
    without = "".join(line for line in LINES.splitlines(True) if ":1 " not in line)
    assert lines_model(LINES, "--csoaa_ldf", "m", "--classweight", "1:0") == lines_model(without, "--csoaa_ldf", "m")


@pytest.mark.parametrize("options", ["--csoaa_ldf mc", "--wap_ldf m"])
def test_class_weights_of_classifiers_over_lines_are_those_of_their_sides(lines_model, options):
    """They learn -1 and 1, whatever the costs are."""
    plain = lines_model(LINES, *options.split())
    assert lines_model(LINES, *options.split(), "--classweight", "2:5,0:3,-1:1") == plain
    assert lines_model(LINES, *options.split(), "--classweight", "1:2") != plain
