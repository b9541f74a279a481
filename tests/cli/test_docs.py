"""README, help texts and results say what the program does."""

import ast
import re
import sys
from pathlib import Path

import click
import docs
import manual
import pytest
from running import shell

import vwlite
from vwlite import errors
from vwlite.commands.export import KINDS
from vwlite.commands.help import TEXTS, topics
from vwlite.program import COMMANDS, GROUPS, program

ROOT = Path(__file__).parents[2]
README = docs.README.read_text(encoding="utf-8")
RESULTS = docs.RESULTS.read_text(encoding="utf-8")
HELP = {path.stem: path.read_text(encoding="utf-8") for path in TEXTS.glob("*.txt")}
BLOCKS = [block for block in re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S) if block.startswith("vwlite")]


def test_what_is_made_from_the_program_is_up_to_date() -> None:
    assert docs.updated(README, docs.sections()) == README, "run `make docs`"
    assert docs.updated(RESULTS, docs.results()) == RESULTS, "run `make docs`"
    text = docs.ALGORITHMS_TEXT.read_text(encoding="utf-8")
    assert docs.with_losses(text) == text, "run `make docs`"


def test_the_manual_page_has_every_option() -> None:
    text = manual.manual().replace("\\-", "-")
    for name, about in docs.COMMANDS.items():
        assert f".SS vwlite {name}" in text and about in text
    for option in re.findall(r"^  (?:-., )*(--[a-z0-9-]+)", docs.help_of("train"), re.M):
        assert option in text


def test_options_that_messages_and_texts_name_exist() -> None:
    """Of some command; those of `vwlite vw` are Vowpal Wabbit's."""
    known, commands = {"--help", "--version"}, [program]
    while commands:
        command = commands.pop()
        known |= {name for p in command.params for name in p.opts}
        if isinstance(command, click.Group):
            ctx = click.Context(command)
            commands += [c for n in command.list_commands(ctx) if (c := command.get_command(ctx, n)) is not None]
    package = Path(vwlite.__file__).parent
    texts = {name: text for name, text in HELP.items() if name not in ("vowpal-wabbit", "vwlite")}
    for path in [p for p in package.rglob("*.py") if p.relative_to(package).parts[0] != "vw"]:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        literals = [n.value for n in nodes if isinstance(n, ast.Constant)]
        texts[path.name] = "\n".join(text for text in literals if isinstance(text, str) and not text.startswith("-"))
    for place, text in texts.items():
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*(?![\w])", text)) - {"--nthreads"}  # of a worker of Dask
        assert named <= known, (place, named - known)
        kinds = set(re.findall(r"--to ([a-z]+)", text))
        assert kinds <= set(KINDS), place
        assert set(re.findall(r"`?vwlite (?=[a-z]+[`; ]-)([a-z]+)", text)) <= {*COMMANDS}, place


@pytest.mark.parametrize("dask", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_commands_of_the_readme_run(tmp_path: Path, dask: bool) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data", target_is_directory=True)
    assert len(BLOCKS) >= 6
    for block in BLOCKS:  # in turn, as later ones use the models of earlier ones
        if "vwlite dask" in block and not dask:
            continue
        done = shell(f"cd {tmp_path} && set -e\n{block}")
        assert done.code == 0, (block, done)


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```", README, re.M | re.S))
def test_the_python_of_the_readme_runs(tmp_path: Path, code: str) -> None:
    for name in re.findall(r"^(?:import|from) (\w+)", code, re.M):
        pytest.importorskip(name)
    (tmp_path / "data").symlink_to(ROOT / "data", target_is_directory=True)
    (tmp_path / "code.py").write_text(code)
    done = shell(f"cd {tmp_path} && {sys.executable} code.py")
    assert done.code == 0, (code, done)
    if "m.score" in code:
        assert float(done.out.split()[0]) > 0.8


@pytest.mark.parametrize(
    ("word", "claimed"), [("sparse.model", ["83.1", "83.8"]), ("soft.model", ["94.4", "95.8"])]
)
def test_the_accuracies_in_the_readme_are_those_of_the_runs(tmp_path: Path, word: str, claimed: list[str]) -> None:
    commands = next(block for block in BLOCKS if word in block)
    (tmp_path / "data").symlink_to(ROOT / "data", target_is_directory=True)
    done = shell(f"cd {tmp_path} && set -e\n{commands}")
    found = re.findall(r"^number of examples = (?:1500|450)\n(?:.*\n)*?accuracy = ([\d.]+)", done.err, re.M)
    shown = list(dict.fromkeys(f"{100 * float(a):.1f}" for a in found))
    assert shown == claimed
    assert all(f"{number} %" in README for number in shown)


def test_every_exit_code_is_in_the_help() -> None:
    codes = {int(c) for row in re.findall(r"^    (\d[\d, ]*?)  ", HELP["errors"], re.M) for c in row.split(",")}
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.VwliteError)]
    assert {k.exit_code for k in kinds} | {0, 1, 129, 130, 143} == codes  # check returns 1, signals theirs


@pytest.mark.parametrize("text", [README, RESULTS], ids=["README", "RESULTS"])
def test_links_inside_lead_somewhere(text: str) -> None:
    headings = {
        re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings


PATHS = r"(?<![\w./-])((?:cython_ext|vwlite|tests|data)/[\w./-]*\w)"


@pytest.mark.parametrize("name", ["README.md", "tests/bench/RESULTS.md", "data/README.md", *HELP])
def test_every_path_named_is_there(name: str) -> None:
    text = HELP.get(name) or (ROOT / name).read_text(encoding="utf-8")
    missing = [p for p in re.findall(PATHS, text) if not (ROOT / p).exists()]
    assert missing == []
    assert "../shared" not in text


def test_the_topics_are_the_files(vwlite) -> None:
    assert set(topics()) == set(HELP)
    assert vwlite("help").out.split("\n")[:-1] == [f"{n:<15}{about}" for n, about in topics().items()]
    for name, text in HELP.items():
        assert text.startswith(f"{name}: ") and text.isascii() and text.endswith("\n")
        assert vwlite("help", name).out == text
        assert f"| `{name}` |" in README


def test_commands_are_listed_in_groups_each_on_one_line(vwlite) -> None:
    text = vwlite("--help").out
    assert re.findall(r"^(\w.*):\n(?=  [a-z])", text, re.M)[-len(GROUPS) :] == [*GROUPS]
    assert re.findall(r"^  ([a-z]+) +([A-Z].*)$", text, re.M) == [*COMMANDS.items()]


def test_the_glossary_is_sorted_and_short() -> None:
    entries = re.findall(r"^(\S.*?)  +(\S.*(?:\n +.*)*)", HELP["glossary"], re.M)
    terms = [term.lower() for term, _ in entries]
    assert terms == sorted(set(terms)) and {"intercept", "shard", "duality gap", "holdout"} <= {*terms}
    assert all(about.count("\n") < 2 and about.endswith(".") for _, about in entries)
    seen = re.findall(r"\bSee ([a-z ]+)\.", HELP["glossary"])
    assert seen and {*seen} <= {*terms}


def test_a_topic_that_is_none(vwlite) -> None:
    names = ", ".join(topics())
    assert f"'model' is no topic: there are {names}" in vwlite("help", "model", code=2).err.replace("\n", " ")
    assert f"`vwlite train --help` is about that command; topics are {names}" in vwlite("help", "train", code=2).err
