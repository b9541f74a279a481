"""No command overwrites what it reads, by whatever name: every command, every option that names a file to write."""

import os
from pathlib import Path

import click
import pytest
from output_options import OUTPUTS, all_commands

# What is typed where the arguments of a command are not enough: DATA is the data, MODEL the model, TABLE the weights.
COMMANDS = {
    "tune": ["DATA", "--seconds", "1"],
    "split": ["DATA", "-o", "new"],
    "predict": ["-m", "MODEL", "DATA"],
    "serve": ["-m", "MODEL", "--port", "0"],
    "evaluate": ["-m", "MODEL", "DATA"],
    "report": ["-m", "MODEL", "DATA"],
    "drift": ["-m", "MODEL", "DATA", "DATA"],
    "explain": ["-m", "MODEL", "DATA"],
    "worst": ["-m", "MODEL", "DATA"],
    "convert": ["-m", "MODEL", "DATA"],
    "calibrate": ["-m", "MODEL", "DATA"],
    "export": ["MODEL", "--to", "tsv"],
    "solve": ["DATA", "--l1", "1", "--loss", "logistic"],
    "certify": ["-m", "MODEL", "DATA"],
    "merge": ["MODEL", "OTHER"],
    "dask predict": ["--scheduler", "tcp://127.0.0.1:1", "-m", "MODEL", "DATA"],
    "dask train": ["--scheduler", "tcp://127.0.0.1:1", "DATA"],
}
OUTPUT = {"calibrate": ["-o", "new"], "dask predict": ["-o", "new"], "names": ["-o", "new"], "export": ["-o", "new"],
          "import": ["-m", "new"], "merge": ["-o", "new"], "train": ["-m", "new"], "solve": ["-m", "new"],
          "dask train": ["-m", "new"]}
NEEDS = {"--rejects": ["--on-error", "skip"]}
REPLACED = {("names", "--output", "model")}  # by its own name


def test_every_command_that_writes_a_file_is_tried():
    assert all({*_words(name)} & {"DATA", "MODEL", "TABLE"} for name, _ in OUTPUTS)
    assert len(OUTPUTS) > 40


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, vwlite_once) -> Path:
    """A folder with the data, the models and a table."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "data").write_text("".join(f"{1 - i % 2 * 2} |f a:{i % 7} b:{i % 3} c{i % 2}\n" for i in range(200)))
    for name in ("model", "other"):
        vwlite_once("train", folder / "data", "--algorithm", "gd", "--loss", "logistic", "-m", folder / name)
    vwlite_once("export", folder / "model", "--to", "tsv", "-o", folder / "table")
    return folder


@pytest.fixture(scope="module")
def vwlite_once():
    from vwlite.cli import run

    return lambda *words: run([*map(str, words)])


@pytest.mark.parametrize("kind", ["itself", "symbolic", "hard"])
@pytest.mark.parametrize(("command", "option"), OUTPUTS)
def test_an_output_that_is_an_input_is_refused_and_nothing_changes(
    command, option, kind, inputs, tmp_path, monkeypatch, vwlite
):
    monkeypatch.chdir(tmp_path)
    files = {name: (inputs / name).read_bytes() for name in ("data", "model", "other", "table")}
    names = {"DATA": "data", "MODEL": "model", "OTHER": "other", "TABLE": "table"}
    words = [names.get(word, word) for word in _words(command)]
    for input in dict.fromkeys(word for word in words if word in files):
        if kind == "itself" and (command, option, input) in REPLACED:
            continue
        for name, content in files.items():
            Path(name).write_bytes(content)
        target = {"itself": input, "symbolic": "soft", "hard": "hard"}[kind]
        if kind == "symbolic":
            os.symlink(input, target)
        elif kind == "hard":
            os.link(input, target)
        before = sorted(os.listdir())
        own = OUTPUT.get(command, [])
        typed = {word for o in _options(command) for word in o.opts if option in o.opts}
        more = [] if (own and own[0] in typed) or option == "--continue" else own
        needed = NEEDS.get(option, [])
        needed = [*needed, "--holdout", "data"] if (command, option) == ("merge", "--rejects") else needed
        done = vwlite(*command.split(), *words, *more, *needed, option, target, code=None)
        assert done.code == 2, f"{command} {option} {target}: {done.err}"
        assert "overwrite" in done.err or " are both " in done.err
        assert sorted(os.listdir()) == before
        assert {name: Path(name).read_bytes() for name in files} == files
        if kind != "itself":
            os.unlink(target)


def _options(command: str) -> list[click.Parameter]:
    return next(found.params for name, found in all_commands() if name == command)


def _words(command: str) -> list[str]:
    return COMMANDS.get(command) or [p.name.upper() for p in _options(command) if isinstance(p, click.Argument)]
