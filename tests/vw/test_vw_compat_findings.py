"""What `make compat` has found: each is how Vowpal Wabbit does it, worked out by hand."""

from math import exp, log, sqrt

import pytest

from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import CONSTANT_HASH, Expander
from vwlite.core.text.parser import Parser, murmur3


def predictions(vwlite, folder, text: str, *arguments: str) -> list[float]:
    (folder / "t").write_text(text)
    vwlite("vw", "-d", folder / "t", "-p", folder / "p", "--quiet", *arguments)
    return [float(line.split()[0]) for line in (folder / "p").read_text().splitlines()]


def test_a_first_pass_that_holds_nothing_out_is_the_best_one(vwlite, tmp_path):
    # The second pass is then one without gain: two passes of two examples.
    more = ("-c", "-k", "--passes", "5", "--early_terminate", "1")
    assert len(predictions(vwlite, tmp_path, "1 |a x\n0 |a y\n", *more)) == 4


@pytest.mark.parametrize("p", [15.5, 17])
def test_where_single_precision_has_no_loss_only_the_ordinary_command_learns(vwlite, tmp_path, p):
    """The paper's equation at yp: d + e^yp (e^d - 1) = s h, where the first step of a feature has s h = e^yp / 2."""
    text = f"1 1 {p} | a\n1 | a\n"
    step = pytest.approx(log(1.5), rel=1e-5)
    more = ("--loss_function", "logistic", "--noconstant")
    assert predictions(vwlite, tmp_path, text, *more)[1] == (step if p < 16.6 else 0)
    options = ("--algorithm", "gd", "--loss", "logistic", "--link", "identity", "--no-constant")
    said = vwlite("train", tmp_path / "t", *options, "--quiet", "-p", "-").out
    assert float(said.split()[1]) == step


@pytest.mark.parametrize("rule", ["--ftrl", "--coin", "--pistol", "--freegrad"])
def test_only_gradient_descent_knows_the_constant_at_the_beginning(vwlite, tmp_path, rule):
    text = "1 |a x\n0 |a y\n1 |a x\n"
    assert predictions(vwlite, tmp_path, text, rule, "--constant", "0.3") == predictions(vwlite, tmp_path, text, rule)


def test_ftrl_begins_with_the_initial_weight(vwlite, tmp_path):
    # Two features of 0.3 each; the first label has allowed predictions up to 1 before.
    more = ("--ftrl", "--initial_weight", "0.3", "--noconstant")
    assert predictions(vwlite, tmp_path, "1 |a x\n1 |b y z\n", *more)[1] == pytest.approx(0.6)


def test_what_a_class_weight_shows_is_predicted_before_the_label_is_seen(vwlite, tmp_path):
    more = ("--classweight", "1:2", "--initial_weight", "0.1")
    assert predictions(vwlite, tmp_path, "1 |a x\n", *more) == [0]  # no label allows another prediction yet
    assert predictions(vwlite, tmp_path, "1 |a x\n", *more[2:]) == [pytest.approx(0.2)]


def test_a_limit_of_predictions_takes_away_those_of_the_loss(vwlite, tmp_path):
    # Without it, logistic loss allows -50 to 50; with it, the range begins as that of no label at all: 0.
    text = "-1 |a x\n-1 |a x\n"
    assert predictions(vwlite, tmp_path, text, "--loss_function", "logistic", "--max_prediction", "1") == [0, 0]
    assert predictions(vwlite, tmp_path, text, "--loss_function", "logistic")[1] < 0


def test_coin_and_pistol_learn_without_the_initial_prediction(vwlite, tmp_path):
    # The second example's slope is that of sum w x alone; so is every weight after it.
    with_initial, without = "1 |a x\n2 1 0.5 |a x\n1 |a x\n", "1 |a x\n2 |a x\n1 |a x\n"
    for rule in ("--coin", "--pistol"):
        one, other = (predictions(vwlite, tmp_path, text, rule) for text in (with_initial, without))
        assert one[2] == other[2]


def test_weights_are_folded_before_they_only_predict(vwlite, tmp_path):
    # Else the contraction of --l2 would shrink the initial prediction too.
    predictions(vwlite, tmp_path, "1 |a x\n-1 |a x\n", "--l2", "0.1", "-f", tmp_path / "m")
    text = "1 1 0.5 |b never\n1 1 0 |b never\n"
    (tmp_path / "t").write_text(text)
    vwlite("vw", "-d", tmp_path / "t", "-r", tmp_path / "r", "-t", "-i", tmp_path / "m", "--quiet")
    one, other = map(float, (tmp_path / "r").read_text().split())
    assert one - other == pytest.approx(0.5, abs=2e-6)


def test_freegrad_does_not_cut_what_an_importance_adds(vwlite, tmp_path):
    # Squared loss, one feature, no constant: G, V and the shown weight by hand.
    text = "1 |a x\n-1 3 |a x:2\n1 |a x\n"
    got = predictions(vwlite, tmp_path, text, "--freegrad", "--noconstant", "--min_prediction", "-9",
                      "--max_prediction", "9")
    G = V = 0.0
    h = h1 = 0.0
    expected = []
    for y, c, x in ((1, 1, 1), (-1, 3, 2), (1, 1, 1)):
        w = 0.0
        if h1:
            s = abs(G)
            w = -G * (2 * V + h * s) * h1**2 / (2 * (V + h * s) ** 2 * sqrt(V)) * exp(s * s / (2 * V + 2 * h * s))
        expected.append(w * x)
        g = cut = 2 * (w * x - y) * x
        if not h1:
            h1 = h = abs(g)
            V += c * g * g
        elif abs(g) > h:
            cut, h = g * h / abs(g), abs(g)
        G += cut + (c - 1) * g
        V += cut * cut + (c - 1) * g * g
    assert got == pytest.approx(expected, abs=1e-5)


def test_the_constant_comes_before_the_interactions():
    batch = Batch()
    Parser().parse(b"1 |a x y\n", batch)
    for early, place in ((True, 2), (False, 5)):
        keys, _ = Expander(interactions=[b"aa"], constant_early=early).features(batch, 0)
        assert len(keys) == 6 and keys.index(CONSTANT_HASH) == place


def test_ngrams_of_sorted_features_are_refused(vwlite, tmp_path):
    (tmp_path / "t").write_text("1 |a x y\n")
    said = vwlite("vw", "-d", tmp_path / "t", "--ngram", "2", "--sort_features", code=1).out
    assert "ngram is incompatible with sort_features" in said


def test_without_l1_the_gravity_of_an_earlier_run_waits(vwlite, tmp_path):
    text = "1 |a x\n"
    more = ("--l1", "0.1", "--noconstant", "-f", tmp_path / "m", "--readable_model", tmp_path / "r")
    predictions(vwlite, tmp_path, text, *more)
    lines = (tmp_path / "r").read_text().splitlines()
    gravity = next(float(line.split()[1]) for line in lines if line.startswith("l1_state"))
    w = float(lines[-1].split(":")[1].split()[0])
    assert 0 < gravity < w < 1
    continued = ("-i", tmp_path / "m", "--readable_model", tmp_path / "r")
    assert predictions(vwlite, tmp_path, text, *continued) == [pytest.approx(w, abs=1e-6)]
    assert f"l1_state {gravity:g}\n" in (tmp_path / "r").read_text()
    for option in (["-t"], ["--l1", "0.1"]):
        found = predictions(vwlite, tmp_path, text, "-i", tmp_path / "m", *option)
        assert found == [pytest.approx(w - gravity, abs=1e-6)]


def test_gravity_that_waits_is_paid_by_weights_that_only_predict(vwlite, tmp_path):
    more = ("--l1_state", "0.05", "--initial_weight", "0.2", "-b", "1", "--predict_only_model")
    predictions(vwlite, tmp_path, "|a x\n", *more, "--readable_model", tmp_path / "r")
    assert [line.split()[0] for line in (tmp_path / "r").read_text().splitlines()[-2:]] == ["0:0.15", "1:0.15"]


@pytest.mark.parametrize("loss, label", [("logistic", "3"), ("hinge", "-2"), ("poisson", "-2")])
def test_a_label_that_is_learned_is_warned_of_twice(vwlite, tmp_path, loss, label):
    (tmp_path / "t").write_text(f"{label} |a x\n{label} 0 |a x\n1 |a x\n")
    for more, count in (([], 2), (["-t"], 1)):
        said = vwlite("vw", "-d", tmp_path / "t", "--loss_function", loss, *more).out
        assert said.count(f"label {label} is not") + said.count(f"but received '{label}'.") == count


@pytest.mark.parametrize("bits", [4, 10, 18])
def test_a_limit_keeps_the_features_of_the_least_index(vwlite, tmp_path, bits):
    space = murmur3(b"a", 0)
    first = min("xyzw", key=lambda name: murmur3(name.encode(), space) % 2**bits)
    text = "1 |a x y z w\n" + "".join(f"1 |a {name}\n" for name in "xyzw")
    got = predictions(vwlite, tmp_path, text, "--feature_limit", "a1", "-b", str(bits), "--noconstant")
    assert next("xyzw"[i] for i, p in enumerate(got[1:]) if p) == first


@pytest.mark.parametrize("option", ["--sort_features", "--feature_limit=1"])
def test_of_equal_features_the_least_value_is_kept(vwlite, tmp_path, option):
    more = (option, "--noconstant", "--initial_weight", "0.25", "--max_prediction", "9")
    assert predictions(vwlite, tmp_path, "1 |a x:2 x:1.5\n", *more) == [0.375]


@pytest.mark.parametrize("option", ["-p", "-r"])
def test_predictions_that_cannot_be_written_end_the_run_with_a_sentence(vwlite, tmp_path, option):
    # /dev/full takes nothing, like a full disk.
    (tmp_path / "t").write_text("1 |a x\n" * 5)
    said = vwlite("vw", "-d", tmp_path / "t", option, "/dev/full", "--quiet", code=1).err
    assert said == "/dev/full: cannot be written: No space left on device\n"


SCATTERED = [
    ("0.5 |b x:0.3 |a 12a:1.25 |b x:0.5\n", "0.5 |b x:0.3 x:0.5 |a 12a:1.25\n"),
    ("1 |b |a x y |b z:2 x:0 |c w |a z\n", "1 |a x y z |b z:2 |c w\n"),
    ("-1 'tag |c:0.5 x |ab y |cd z |a x\n", "-1 'tag |c:0.5 x |cd z |ab y |a x\n"),
    ("1|b x:1.5|a z|b w\n", "1|b x:1.5|b w|a z\n"),  # read one by one
]


@pytest.mark.parametrize("more", ["", "--power_t 0.3", "--coin", "--freegrad", "-q ab", "--ignore_linear b", "-q :b",
                                  "-c -k --passes 3 --holdout_off", "--feature_limit 2", "--hash all"])
def test_namespaces_with_the_same_letter_are_where_the_first_one_is(vwlite, tmp_path, more):
    # With two slots for all features, the order in which they are visited shows.
    texts = ["".join(lines) * 3 for lines in zip(*SCATTERED, strict=True)]
    one, other = (predictions(vwlite, tmp_path, text, "-b", "1", *more.split()) for text in texts)
    assert one == other


def test_features_of_a_shared_line_are_with_those_of_the_same_letter(vwlite, tmp_path):
    found = []
    for first in ("shared |a s:2\n1:1 |a x |b y:3\n2:0 |a z:.5 |b y\n", "1:1 |a x s:2 |b y:3\n2:0 |a z:.5 s:2 |b y\n"):
        (tmp_path / "t").write_text((first + "\n") * 3)
        vwlite("vw", "-d", tmp_path / "t", "--csoaa_ldf", "m", "-b", "1", "-r", tmp_path / "r", "--quiet")
        found.append([line for line in (tmp_path / "r").read_text().splitlines() if line[:2] != "0:"])
    assert found[0] == found[1]


# The step of a fresh model is y (1 - exp(-2 eta h)) / h, with h the sum of squares that Vowpal Wabbit has noted.
STEPS = ("--invariant", "-l", "0.1", "--power_t", "0", "--initial_t", "1")


@pytest.mark.parametrize(
    "features, more, noted, learned",
    [
        ("|a x y |b z:2", "", 7, 7),
        ("|a x y |b z:2", "--ignore_linear b", 7, 3),
        ("|a x y |b z:2", "--ignore_linear b -q ab", 7 + 8, 3 + 8),
        # 1 is kept, and of 2 and 3 behind it 2 * 2 + 3 * 2 are taken away: 4 stay, and the constant's 1.
        ("|a x:1 x:2 x:3", "--feature_limit a1", 4 + 1, 2),
        ("|a x:1 x:2 x:3", "--feature_limit 2", 4 + 1, 2),
        ("|a x:1 x:2 x:3", "--sort_features", 4 + 1, 2),
        ("|a x:1 x:2 x:3 |b z:2", "--feature_limit a1 -q ab", 4 + 4 + 1 + 16, 1 + 4 + 1 + 4),
        ("|a x:1 x:2 x:3", "--feature_limit a1 -q aa", 4 + 1 + 1, 3),
        ("|a x:1 x:2 x:3", "--feature_limit a1 -q aa --permutations", 4 + 1 + 16, 3),
        ("|a x:1 x:2 x:3", "--feature_limit a0", 1, 1),
    ],
)
def test_steps_without_rates_depend_on_what_vowpal_wabbit_has_noted(vwlite, tmp_path, features, more, noted, learned):
    got = predictions(vwlite, tmp_path, f"1 {features}\n" * 2, *STEPS, *more.split())
    assert got == pytest.approx([0, learned * (1 - exp(-0.2 * noted)) / noted], abs=1e-6)


def test_a_cache_forgets_what_was_noted_of_features_that_were_left_out(vwlite, tmp_path):
    more = ("--sort_features", "-c", "-k", "--passes", "3", "--holdout_off")
    got = predictions(vwlite, tmp_path, "1 |a x:1 x:2 x:3\n", *STEPS, *more)
    second = 2 * (1 - exp(-0.2 * 5)) / 5
    assert got == pytest.approx([0, second, second + (1 - second) * (1 - exp(-0.2 * 2))], abs=1e-6)


def test_steps_of_several_lines_count_what_was_noted(vwlite, tmp_path):
    # The cost is learned as a label; features of the shared line come after those of the class.
    text = "shared |b z:2\n1:1 |a x:1 x:2 x:3\n\n" * 2
    more = ("--csoaa_ldf", "m", "--feature_limit", "1", "-r", tmp_path / "r", *STEPS)
    (tmp_path / "t").write_text(text)
    vwlite("vw", "-d", tmp_path / "t", "--quiet", *more)
    second = float((tmp_path / "r").read_text().split()[-1].split(":")[1])
    noted, learned = 4 + 4 + 1, 1 + 4 + 1
    assert second == pytest.approx(learned * (1 - exp(-0.2 * noted)) / noted, abs=1e-6)


def test_coin_computes_in_single_precision(vwlite, tmp_path):
    # The hinge's corner: the fourth prediction is 1 and not 1 - 3e-8, so that nothing is learned of it.
    text = "1 2.5 |a x:0.3 y\n1 2.5 |a z y\n1 2.5 |a\n1 2.5 |a u:2 v w:1.25 v:-1\n"
    more = ("--coin", "--loss_function", "hinge", "--readable_model", tmp_path / "r")
    predictions(vwlite, tmp_path, text, *more)
    slots = (line.split() for line in (tmp_path / "r").read_text().partition("l2_state")[2].splitlines()[1:])
    untouched = [float(largest) for _, z, n, largest, _, _ in slots if z == n == "0"]
    assert sorted(untouched) == [1, 1.25, 2]


def test_models_of_coin_have_one_average(vwlite, tmp_path):
    # Two examples of each of three models: three features of unit size in each, the constant too.
    (tmp_path / "t").write_text("1 |a x y\n3 |a x y\n")
    vwlite("vw", "-d", tmp_path / "t", "--oaa", "3", "--coin", "--readable_model", tmp_path / "r", "--quiet")
    lines = dict(line.rpartition(" ")[::2] for line in (tmp_path / "r").read_text().splitlines())
    assert (lines["norm normalizer"], lines["total_weight"]) == ("18", "6")


def test_raw_predictions_of_classes(vwlite, tmp_path):
    def raw(text: str, *more: str) -> list[str]:
        (tmp_path / "t").write_text(text)
        vwlite("vw", "-d", tmp_path / "t", "-r", tmp_path / "r", "--quiet", *more)
        return (tmp_path / "r").read_text().splitlines()

    text = "1 't |a x\n2 |a x\n"
    assert raw(text, "--oaa", "2", "--sgd", "-l", "2") == [" 1:0 2:0 t", " 1:1 2:-1"]  # in the range of labels seen
    assert raw(text, "--oaa", "2", "--scores") == raw(text, "--oaa", "2", "--probabilities") == []
    assert raw(text, "--ect", "2") == []
    text = "1:1 2:0 't |a x\n't |a x\n2 1:1 |a y\n"
    assert raw(text, "--csoaa", "2", "--sgd", "-l", "2", "--noconstant") == ["1:0 2:0 t", " t", "2:0 1:0"]


@pytest.mark.parametrize("more", ["", "--coin", "-q sa", "--ignore_linear b"])
def test_the_constant_comes_before_the_features_of_a_shared_line(vwlite, tmp_path, more):
    # Two slots for all features, so that the order shows: a line has its own features, the constant, then the others.
    (tmp_path / "c").write_text("shared |s q:2\n1:1 |a x |b y:3\n2:0 |a z:.5 |b y\n\n" * 3)
    constant = next(name for name in map(str, range(9)) if (int(name) + murmur3(b"k", 0) - CONSTANT_HASH) % 2 == 0)
    spelled = f"|a x |b y:3 |k {constant} |s q:2", f"|a z:.5 |b y |k {constant} |s q:2"
    (tmp_path / "d").write_text("1:1 {}\n2:0 {}\n\n".format(*spelled) * 3)
    found = []
    for name, constants in (("c", []), ("d", ["--noconstant"])):
        options = ["--csoaa_ldf", "m", "-b", "1", *more.split(), *constants]
        vwlite("vw", "-d", tmp_path / name, "-r", tmp_path / "r", "--quiet", *options)
        found.append([line for line in (tmp_path / "r").read_text().splitlines() if line[:2] != "0:"])
    assert found[0] == found[1]
    assert len(set(found[0])) > 2


def test_freegrad_computes_in_single_precision(vwlite, tmp_path):
    # The second weight has V^2 of about 1e50 above and below the line: it is not a number, and predicts 0.
    assert predictions(vwlite, tmp_path, "1e12 |a x\n1 |a x\n", "--freegrad") == [0, 0]
    assert predictions(vwlite, tmp_path, "1e6 |a x\n1 |a x\n", "--freegrad")[1] > 0


def test_freegrad_keeps_initial_weights_until_there_is_a_gradient(vwlite, tmp_path):
    more = ("--freegrad", "--initial_weight", "0.25", "-b", "4", "--noconstant", "--readable_model", tmp_path / "r")
    # What is learned is predicted without them.
    assert predictions(vwlite, tmp_path, "0 |a 1\n1 |a 1 2\n|a 3\n", *more) == [0, 0, 0.25]
    lines = (tmp_path / "r").read_text().partition("l2_state 1\n")[2].splitlines()
    assert len(lines) == 16 and all(line.split(":")[1].split()[0] == "0.25" for line in lines)
