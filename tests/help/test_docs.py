"""README, help texts and results say what the program does."""

import ast
import re
import shutil
import socket
import sys
from pathlib import Path

import click
import docs
import manual
import pytest
import release
from running import shell

import vwlite
from vwlite import errors
from vwlite.export import EXPORTS
from vwlite.help.commands import TEXTS, topics
from vwlite.options.command import MAX_BRIEF, Command, Option, brief
from vwlite.program import COMMANDS, GROUPS, program

ROOT = Path(__file__).parents[2]
README = docs.README.read_text(encoding="utf-8")
RESULTS = docs.RESULTS.read_text(encoding="utf-8")
HELP = {path.stem: path.read_text(encoding="utf-8") for path in TEXTS.glob("*.txt")}
SET_UP, INSTALL, *BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S)
FOREIGN = {"--nthreads", "--sshlogin", "--wait", "--array", "--wrap", "--bfgs", "--daemon", "--data-binary", "--retry",
           "--retry-connrefused", "--no-cache-dir"}  # options of other programs


def test_what_is_made_from_the_program_is_up_to_date() -> None:
    assert docs.updated(README, docs.sections()) == README, "run `make docs`"
    assert docs.updated(RESULTS, docs.results()) == RESULTS, "run `make docs`"
    text = docs.ALGORITHMS_TEXT.read_text(encoding="utf-8")
    assert docs.with_losses(text) == text, "run `make docs`"


def test_the_manual_page_has_every_option() -> None:
    text = manual.manual().replace("\\-", "-")
    for name, about in COMMANDS.items():
        assert f".SS vwlite {name}" in text and about in text
    for option in re.findall(r"^  (?:-., )*(--[a-z0-9-]+)", docs.help_of("train"), re.M):
        assert option in text


def every_command() -> dict[str, click.Command]:
    return {name: command for name, _, command, _ in manual.all_commands()}


def test_the_help_of_every_option_begins_with_a_short_line() -> None:
    for name, command in every_command().items():
        for option in command.params:
            if isinstance(option, Option) and not option.hidden:
                assert 0 < len(brief(option.help)) <= MAX_BRIEF, (name, option.opts)


@pytest.mark.parametrize("command", ["train", "predict"])
def test_h_is_one_screen(vwlite, command: str) -> None:
    lines = vwlite(command, "-h").out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert sum(line.startswith("  -") for line in lines) == len(lines) - lines.index("Usual options:") - 1


# The data that the examples name: VW text, and a table.
DATA = r"""
printf '1 |a b:2 c\n-1 |a c:3 d\n1 |e f b\n-1 |e d\n%.0s' $(seq 30) > day1.vw
cp day1.vw held.vw
cat day1.vw held.vw > day2.vw
printf 'clicked,id,device,price\n1,a,phone,3.5\n0,b,desktop,2\n1,c,phone,4\n0,d,tablet,1.5\n' > clicks.csv
vwlite train day1.vw --algorithm gd --quiet -m shard1.model
vwlite train day2.vw --algorithm gd --quiet -m shard2.model
cp shard1.model A.model
cp shard2.model B.model
vwlite vw -d day1.vw --loss_function logistic --quiet -f vw.model
vwlite export vw.model --to tsv -o model-of-vw.tsv
"""


@pytest.mark.parametrize("dask", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_examples_of_commands_run(tmp_path: Path, dask: bool) -> None:
    """In an order in which each finds what others have made."""
    found = {name: c.examples for name, c in every_command().items()
             if isinstance(c, Command) and not c.hidden and name.startswith("dask") == dask}
    assert all(len(examples) == 2 for examples in found.values())
    if dask:
        pytest.importorskip("distributed")
    first = ("dask train",) if dask else ("train", "predict", "solve")
    lines = [served(line) if name == "serve" else line
             for name in (*first, *sorted(set(found) - {*first})) for line in found[name]]
    done = shell("\n".join([at_data(tmp_path), DATA, *lines]), timeout=120)
    assert done.code == 0, done


def served(line: str) -> str:
    """A server is ended as soon as it listens, which an older one has said too. Its port is any that is free."""
    return (f": > said; {re.sub(r' --port [0-9]+', '', line)} --port 0 2>> said & server=$!\n"
            "until grep -q ^serving said; do kill -0 $server; sleep 0.1; done; kill $server; wait $server")


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
    texts = {name: text for name, text in HELP.items() if name not in ("vowpal-wabbit", "vwlite")} | {"README": README}
    for path in [p for p in package.rglob("*.py") if p.relative_to(package).parts[0] != "vw"]:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        literals = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        # Not lists of options: usage.py has those of other programs.
        texts[path.name] = "\n".join(t for t in literals if not all(word.startswith("-") for word in t.split()))
    for place, text in texts.items():
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*(?![\w])", text)) - FOREIGN
        assert named <= known, (place, named - known)
        kinds = set(re.findall(r"--to ([a-z]+)", text))
        assert kinds <= set(EXPORTS), place
        assert set(re.findall(r"`?vwlite (?=[a-z]+[`; ]-)([a-z]+)", text)) <= {*COMMANDS}, place


def at_data(folder: Path) -> str:
    """The head of a script in a folder with the data, which is its home, and with `vwlite` for what it starts."""
    (folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
    program = folder / "bin" / "vwlite"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vwlite "$@"\n')
    program.chmod(0o755)
    home = f"cd {folder} && export HOME={folder} PATH={folder}/bin:$PATH && unset ${{!XDG_*}}"
    return f"{home} && unset -f vwlite && set -e\n"


def commands_of(topic: str) -> list[str]:
    """The indented blocks of a help topic whose commands have data of this repository."""
    found = re.findall(r"(?<=\n\n)((?: {4}.+\n)+)", HELP[topic])
    return [block for block in found if block.startswith("    vwlite") and "data/" in block]


def test_the_readme_is_short_and_begins_with_the_set_up() -> None:
    assert len(README.splitlines()) <= 300
    commands = [line.split("#")[0].strip() for line in SET_UP.splitlines()]
    assert commands == ["make demo", "make test"]
    ci = (ROOT / ".ci/run").read_text().splitlines()
    assert [line for line in ci if line in commands] == commands
    assert INSTALL == "pip install vwlite\n"  # tests/wheels.sh does, from the wheels


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    head = at_data(tmp_path)
    assert len(BLOCKS) >= 10
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    for block in BLOCKS:  # in turn, as later ones use the models of earlier ones
        if "curl" in block and not shutil.which("curl"):
            continue
        done = shell(f"{head}{block}".replace("8080", port).replace("localhost", "127.0.0.1"))
        assert done.code == 0, (block, done)
        if block == next(block for block in BLOCKS if "sparse.model" in block):
            assert accuracies(done.err) == ["83.1", "83.8", "82.7"]
            assert all(f"{number} %" in README for number in accuracies(done.err))
    if shutil.which("git"):  # a clone stays clean
        shutil.copy(ROOT / ".gitignore", tmp_path)
        done = shell(f"cd {tmp_path} && git init -q && git status --porcelain")
        assert sorted(done.out.splitlines()) == ["?? .gitignore", "?? bin/", "?? data"]


def test_the_readme_shows_what_its_first_commands_print() -> None:
    assert " ".join(BLOCKS[0].replace("\\\n", " ").split()) == " ".join(docs.FIRST_RUN)


def test_the_commands_of_a_topic_run(tmp_path: Path) -> None:
    head = at_data(tmp_path)
    assert len(commands_of("training")) == 5
    for block in commands_of("training"):
        done = shell(f"{head}{block}")
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


def accuracies(words: str) -> list[str]:
    """Of what runs over the test sets have said, in percent."""
    found = re.findall(r"^number of examples = (?:1500|450)\n(?:.*\n)*?accuracy = ([\d.]+)", words, re.M)
    return list(dict.fromkeys(f"{100 * float(a):.1f}" for a in found))


def test_the_commands_of_a_topic_have_the_accuracies_in_its_text(tmp_path: Path) -> None:
    assert len(commands_of("classes")) == 2
    done = shell(f"{at_data(tmp_path)}{''.join(commands_of('classes'))}")
    assert done.code == 0 and accuracies(done.err) == ["94.4", "95.6"], done
    assert all(f"{number} %" in HELP["classes"] for number in accuracies(done.err))


def test_every_exit_code_is_in_the_help() -> None:
    codes = {int(c) for row in re.findall(r"^    (\d[\d, ]*?)  ", HELP["errors"], re.M) for c in row.split(",")}
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.VwliteError)]
    assert {k.exit_code for k in kinds} | {0, 1, 129, 130, 143} == codes  # check returns 1, signals theirs


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a text in Markdown."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("name", ["README.md", "tests/bench/RESULTS.md"])
def test_links_lead_somewhere(name: str) -> None:
    path = ROOT / name
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", path.read_text(encoding="utf-8"))
    assert links
    for file, anchor in links:
        target = path.parent / file if file else path
        assert target.exists(), file
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (file, anchor)


def test_links_of_a_release_are_absolute() -> None:
    made = release.with_absolute_links(README, "https://example.org/v", "1.2.3")
    assert not re.findall(r"\]\((?!https?:|#)", made)
    assert "![" in made and "](https://example.org/v/raw/v1.2.3/tests/bench/page.png)" in made
    assert "[Changes](https://example.org/v/blob/v1.2.3/CHANGELOG.md)" in made
    with pytest.raises(SystemExit, match="does not exist"):
        release.with_absolute_links("[a](none.md)", "https://example.org/v", "1.2.3")


@pytest.mark.parametrize("text", [README, *HELP.values()], ids=["README", *HELP])
def test_topics_that_texts_name_exist(text: str) -> None:
    lists = re.findall(r"`vwlite\s+help\s+([a-z][\w-]*)`((?:,\s+`[\w-]+`)*)", text)
    named = {name for first, others in lists for name in (first, *re.findall(r"[\w-]+", others))}
    assert named <= set(HELP)


PATHS = r"(?<![\w./-])((?:cython_ext|vwlite|tests|data)/[\w./-]*\w)"


MARKDOWN = ["README.md", ".github/CONTRIBUTING.md", "tests/bench/RESULTS.md", "data/README.md"]


@pytest.mark.parametrize("name", [*MARKDOWN, *HELP])
def test_every_path_named_is_there(name: str) -> None:
    text = HELP.get(name) or (ROOT / name).read_text(encoding="utf-8")
    missing = [p for p in re.findall(PATHS, text) if not (ROOT / p).exists()]
    assert missing == []
    assert "../shared" not in text


def test_the_topics_are_the_files(vwlite) -> None:
    assert set(topics()) == set(HELP)
    start, _, rest = vwlite("help").out.partition("\nAll topics:\n\n")
    assert rest.splitlines() == [f"{n:<15}{about}" for n, about in topics().items()]
    named = [name for line in re.findall(r"(?m)^  (\S.*?)   ", start) for name in line.split(", ")]
    assert len(named) == 7 and {*named} <= {*topics()}
    for name, text in HELP.items():
        assert text.startswith(f"{name}: ") and text.isascii() and text.endswith("\n")
        assert vwlite("help", name).out == text
        assert f"[`{name}`](vwlite/help/{name}.txt)" in README


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


def test_a_topic_that_is_invalid(vwlite) -> None:
    names = ", ".join(topics())
    assert f"unknown topic 'model': topics are {names}" in vwlite("help", "model", code=2).err.replace("\n", " ")
    assert f"`vwlite train --help` is about that command; topics are {names}" in vwlite("help", "train", code=2).err
