"""Options of `vwlite vw`: which are taken, ignored with Vowpal Wabbit's words, or refused by name; and its `--help`."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vwlite.vw import layers
from vwlite.vw.arguments import OPTIONS, split_words, usage
from vwlite.vw.layers.base import Layer
from vwlite.vw.layers.stack import load
from vwlite.vw.layers.table import REDUCTIONS
from vwlite.vw.messages import Critical

TEXT = "1 'one |a x y:2\n-1 2 |a x |b z\n |a y\n1 0.5 0.25 'two |b z:0.5\n2 0 |a w\n"
VALUES = {
    "alg": "BBM", "cb_type": "mtr", "bs_type": "vote", "ldf_override": "m", "csv_header": "label,x",
    "csv_separator": ";",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "d").write_text(TEXT)
    return tmp_path / "d"


def value(name: str) -> list[str]:
    return [] if OPTIONS[name].type == "bool" else [VALUES.get(name, "1")]


IDLE = [name for name, row in OPTIONS.items() if not row.help]  # they belong to learners that are not here


@pytest.mark.parametrize(
    "name",
    [name for name, row in OPTIONS.items() if row.without in ("warned of", "ignored") and row.help]
    + ["alpha", "cb_type", "search"],
)
def test_an_option_without_what_it_needs_changes_nothing(vwlite: Any, data: Path, tmp_path: Path, name: str) -> None:
    plain = vwlite("vw", "-d", data, "-p", tmp_path / "p", "-f", tmp_path / "m")
    done = vwlite("vw", "-d", data, "-p", tmp_path / "q", "-f", tmp_path / "n", f"--{name}", *value(name))
    assert done.err.replace("/q", "/p").replace("/n\n", "/m\n") == plain.err
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    warned = f"[warning] Option '{name}' depends on another option" in done.out
    assert warned == (OPTIONS[name].without == "warned of")
    if warned:
        assert done.out.endswith("enable this option are:\n" + "".join(f"\t{x}\n" for x in OPTIONS[name].needs) + "\n")
    # The model says it, if it is one of those that models keep, and can be used.
    assert (f" --{name}".encode() in (tmp_path / "n").read_bytes()) == OPTIONS[name].keep
    vwlite("vw", "-d", data, "-t", "-i", tmp_path / "n")


@pytest.mark.parametrize(
    "options",
    ["--compressed", "--foreground --num_children 3", "--port_file x", "--cb_force_legacy", "--per_model_save_load",
     "--span_server_port 5", "--sparse_weights", "--no_daemon"],
)
def test_options_that_change_nothing_are_taken(vwlite: Any, data: Path, options: str) -> None:
    plain, done = vwlite("vw", "-d", data), vwlite("vw", "-d", data, *options.split())
    assert (done.out, done.err) == (plain.out, plain.err)


def test_options_of_learners_that_are_not_here_change_nothing(vwlite: Any, data: Path, tmp_path: Path) -> None:
    """Vowpal Wabbit warns of each, in their order, and a model keeps some. All 177 at once, and none is in --help."""
    plain = vwlite("vw", "-d", data, "-p", tmp_path / "p", "-f", tmp_path / "m")
    typed = [word for name in IDLE for word in (f"--{name}", *value(name))]
    done = vwlite("vw", "-d", data, "-p", tmp_path / "q", "-f", tmp_path / "n", *typed)
    assert done.err.replace("/q", "/p").replace("/n\n", "/m\n") == plain.err
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    warned = [line.split("'")[1] for line in done.out.splitlines() if line.startswith("[warning] Option '")]
    assert warned == sorted(name for name in IDLE if OPTIONS[name].needs) and len(IDLE) == 177
    assert done.out.count("[warning] The flag --cb_to_cbadf has no effect and should not be supplied.") == 1
    kept = (tmp_path / "n").read_bytes()
    assert [name for name in IDLE if f" --{name}".encode() + (b"" if OPTIONS[name].type == "bool" else b" ") in kept] \
        == [name for name in IDLE if OPTIONS[name].keep]
    vwlite("vw", "-d", data, "-t", "-i", tmp_path / "n")
    assert not any(f"--{name} " in usage() for name in IDLE)


@pytest.mark.parametrize(
    ("option", "parents"),
    [
        ("swap_resistance", ["log_multi"]), ("bern_hyper", ["recall_tree"]), ("lambda_scheme", ["warm_cb"]),
        ("lambda", ["cb_explore_adf, softmax"]), ("radius", ["cbzo", "freegrad"]), ("kernel", ["ksvm"]),
        ("alpha", ["memory_tree", "active_cover", "OjaNewton"]), ("bandwidth", ["cats", "pmf_to_pdf", "ksvm"]),
        ("beta_scale", ["active_cover"]), ("search", ["search_task"]), ("project", ["freegrad"]),
    ],
)
def test_what_an_idle_option_would_need_is_what_vowpal_wabbit_says(
    vwlite: Any, data: Path, option: str, parents: list[str]
) -> None:
    out = vwlite("vw", "-d", data, f"--{option}", *value(option)).out
    words = "depends on another option (or combination of options) which was not supplied. Possible combinations of "
    options = "".join(f"\t{parent}\n" for parent in parents)
    assert out == f"[warning] Option '{option}' {words}options which would enable this option are:\n{options}\n"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--cb_explore", "contextual bandits"), ("--regcbopt", "contextual bandits"),
        ("--search_task", "learning to search"), ("--lda", "topic models"), ("--ksvm", "kernel machines"),
        ("--span_server", "clusters"), ("--rank", "matrix factorization"),
        ("--plt", "class trees"), ("--OjaNewton", "online Newton"), ("--cs_active", "active learning"),
        ("--extra_metrics", "see the summary"), ("--dsjson", "text, --json or --csv"),
        ("--flatbuffer", "text, --json or --csv"), ("--initial_pass_length", "--examples"),
        ("--dump_json_weights_experimental", "--readable_model or --invert_hash"),
        ("--experimental_full_name_interactions", "by their first letters"),
    ],
)
def test_what_is_not_here_is_refused_with_its_own_sentence(vwlite: Any, option: str, said: str) -> None:
    done = vwlite("vw", option, code=2)
    assert done.err.startswith(f"vwlite vw: {option} is not supported: ") and said in done.err
    assert ("bandits" in done.err) == ("cb" in option) and done.err.count("\n") == 1


def test_the_projection_of_freegrad_is_refused_with_it(vwlite: Any, data: Path) -> None:
    for name in ("project", "flipschitz_const"):
        assert f"--freegrad with --{name} is not supported" in (
            vwlite("vw", "-d", data, "--freegrad", f"--{name}", *value(name), code=2).err
        )
    vwlite("vw", "-d", data, "--freegrad", "--radius", "1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--quantile_tau 0.2", "Option 'quantile_tau' was passed but the quantile loss function is not being used"),
        ("--expectile_q 0.2", "Option 'expectile_q' was passed but the expectile loss function is not being used"),
        ("--logistic_max 0", "Options 'logistic_min' or 'logistic_max' were passed but the logistic loss"),
        ("--csoaa 3 --probabilities", "csoaa does not support probabilities flag"),
        ("--sgd --adax", "Cannot use adax without adaptive"),
    ],
)
def test_what_vowpal_wabbit_gives_up_for(vwlite: Any, data: Path, options: str, said: str) -> None:
    assert said in vwlite("vw", "-d", data, *options.split(), code=1).out


def test_l1_does_nothing_in_batches(vwlite: Any, data: Path) -> None:
    arguments = ["-d", data, "-c", "-k", "--passes", "3", "--bfgs", "--l2", "0.1", "--holdout_off"]
    plain, done = vwlite("vw", *arguments), vwlite("vw", *arguments, "--l1", "0.5")
    assert (done.out, done.err) == (plain.out, plain.err)


def test_a_dry_run_reads_nothing(vwlite: Any, data: Path, tmp_path: Path) -> None:
    done = vwlite("vw", "-d", data, "--dry_run", "-f", tmp_path / "m", "-p", tmp_path / "p")
    assert f"Reading datafile = {data}\n" in done.err and "number of examples = 0\n" in done.err
    assert (tmp_path / "p").read_text() == ""


def test_examples_are_printed(vwlite: Any, data: Path, tmp_path: Path) -> None:
    """Those that are learned twice: Vowpal Wabbit predicts before it learns. The constant has its whole hash."""
    done = vwlite("vw", "-d", data, "--print", "-P", "9", "-p", tmp_path / "p")
    lines = [line for line in done.err.splitlines() if "|" in line]
    names = {line.partition("|")[0] for line in lines}
    assert names == {"1 'one", "-1 2 ", "", "1 0.5 0.25 'two", "2 0 "} and len(lines) == 9
    assert lines[0].endswith(" 11650396 ") and lines[0].split()[-2].endswith(":2")
    assert "Enabled learners: print, scorer-identity, count_label\n" in done.err
    assert {line.split()[0] for line in (tmp_path / "p").read_text().splitlines()} == {"0"}
    assert len([x for x in vwlite("vw", "-d", data, "--print", "-t").err.splitlines() if "|" in x]) == 5
    assert "--print with --quadratic" in vwlite("vw", "-d", data, "--print", "-q", "ab", code=2).err


@pytest.mark.parametrize(
    "options", ["-f x -f y", "-d d -d e", "-b 10 --bit_precision 12", "--loss_function hinge --loss_function squared"]
)
def test_values_that_disagree_are_critical(vwlite: Any, data: Path, options: str) -> None:
    """For most options; of a rate, the first counts."""
    given = dict.fromkeys(word for word in options.split() if word.startswith("-"))
    name = {"-f": "final_regressor", "-d": "data", "-b": "bit_precision"}.get(next(iter(given)), "loss_function")
    one, other = options.split()[1::2]
    out = vwlite("vw", *options.split(), code=1).out
    assert out.startswith("[critical] vw (options_cli.cc:60): Disagreeing option values for ")
    assert out.endswith(f"'{name}': '{one}' vs '{other}'\n")


def test_values_that_agree_or_override_are_taken(vwlite: Any, data: Path, tmp_path: Path) -> None:
    done = vwlite("vw", "-d", data, "-l", "0.25", "--learning_rate", "2", "--l1=0.1", "--l1", "0.10", "-b", "9", "-b9")
    assert "learning rate = 0.25\n" in done.err and "Num weight bits = 9\n" in done.err


# --- arguments from a file ---------------------------------------------------------------------------


def test_arguments_from_a_file(vwlite: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "args").write_text("-d d --loss_function squared -P 1 --readable_model 'a model'\n")
    done = vwlite("vw", "--args", "args")
    line = "-d d --loss_function squared -P 1 --readable_model 'a model' -f model.1 --no_stdin"
    assert done.out.splitlines()[0] == line and "final_regressor = model.1" in done.err
    plain = vwlite("vw", *line.replace(" 'a model'", " other").split())
    assert done.err == plain.err and (tmp_path / "a model").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("-d d\n-d d --sgd\n", 2, "--args with 2 lines in args is not supported: in Vowpal Wabbit all"),
        ("-d d\n\n", 2, "--args with 2 lines"),
        ("", 2, "--args with an empty file, args"),
        ("-d 'd\n", 1, "unbalanced quotes in string"),
        ("-d d -f mine\n", 1, "Disagreeing option values for 'final_regressor': 'mine' vs 'model.1'"),
        ("-d d\r\n", 1, "can't open: d\\r"),
        (None, 1, "Could not open file: args"),
        ("-d d --nothing\n", 1, "unrecognised option '--nothing'"),
        ("\udcff\n", 1, ""),
    ],
)
def test_files_of_arguments_that_are_invalid(
    vwlite: Any, data: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, code: int, said: str
) -> None:
    monkeypatch.chdir(data.parent)
    if text is not None:
        Path("args").write_bytes(text.encode("utf-8", "surrogateescape"))
    done = vwlite("vw", "--args", "args", code=code)
    assert said in done.out + done.err


def test_a_file_of_arguments_may_be_a_line_without_its_end_or_an_empty_one(
    vwlite: Any, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    Path("args").write_text("-d d  --quiet -f model.1")
    vwlite("vw", "--args", "args")
    learned = Path("model.1").read_bytes()
    Path("args").write_text("\n")
    assert "Reading datafile = none\n" in vwlite("vw", "--args", "args").err
    vwlite("vw", "-d", "d", "-f", "m", "--quiet")
    assert Path("m").read_bytes() == learned != Path("model.1").read_bytes()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r"--ring_size 1024 -f my_model\ best.model", ["--ring_size", "1024", "-f", "my_model best.model"]),
        (r"""-d "this is my file\"" 'another arg' test\ arg \\test""",
         ["-d", 'this is my file"', "another arg", "test arg", "\\test"]),
        (r'thisis"this is my file"', ["thisisthis is my file"]),
        (r"""'hello "inner" world'""", ['hello "inner" world']),
        (r"\n \t \x", ["\n", "\t", "x"]),
        ("  a   '' b\tc ", ["a", "b\tc"]),
        ("", []),
    ],
)
def test_words_of_a_line_are_those_of_vowpal_wabbit(line: str, words: list[str]) -> None:
    """Not those of a shell: tabs do not separate words, an empty word in quotes is ignored."""
    assert split_words(line) == words


def test_a_backslash_at_the_end_escapes_nothing() -> None:
    with pytest.raises(Critical, match="unexpected end of string"):
        split_words("a \\")


def test_arguments_from_a_file_are_alone(vwlite: Any, data: Path, tmp_path: Path) -> None:
    (tmp_path / "args").write_text("--sgd\n")
    done = vwlite("vw", "-d", data, "--args", tmp_path / "args", code=1)
    assert "unrecognised option '--args'" in done.out


# --- the table of reductions -------------------------------------------------------------------------

def test_each_row_is_asked_for_by_the_option_of_its_class() -> None:
    classes = {row.place: load(row.place) for row in REDUCTIONS}
    assert len(classes) == len(REDUCTIONS) > 30
    for row in REDUCTIONS:
        layer = classes[row.place]
        assert issubclass(layer, Layer) and layer.option == row.option
        assert not set(layer.excludes) - set(OPTIONS)
    # And each class with its own option is listed.
    for _, name, _ in pkgutil.iter_modules(layers.__path__):
        module = importlib.import_module(f"vwlite.vw.layers.{name}")
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, Layer) and found.__dict__.get("option"):
                assert found in classes.values()


def test_a_run_loads_the_reductions_that_it_asks_for() -> None:
    code = """if True:
        import sys
        from vwlite.vw.arguments import parse
        from vwlite.vw.layers.stack import check
        check(parse(sys.argv[1:]))
        print(*sorted(name for name in sys.modules if name.startswith("vwlite.vw.layers.")))"""

    def loaded(*options: str) -> set[str]:
        done = subprocess.run([sys.executable, "-P", "-c", code, *options], capture_output=True, text=True, check=True)
        return {name.rpartition(".")[2] for name in done.stdout.split()}

    always = {"base", "table", "stack", "scorer", "named"}
    assert loaded("--sgd") == always
    assert loaded("--oaa", "3", "--autolink", "1") - always == {"oaa", "classes", "autolink"}


# --- --help ------------------------------------------------------------------------------------------


def test_help_describes_each_option_in_a_line(vwlite: Any) -> None:
    out = vwlite("vw", "--help").out
    assert out == usage() + "\n"
    lines = out.splitlines()
    for option in filter(lambda option: option.help, OPTIONS.values()):
        shown = [line for line in lines if line[6:].startswith(f"--{option.name} ")]
        assert len(shown) == 1 and len(shown[0]) <= 120 and option.help and shown[0].endswith(option.help)
        assert (f"-{option.letter}, --{option.name}" in shown[0]) == bool(option.letter)
        assert (f"--{option.name} arg" in shown[0]) == (option.type != "bool")
