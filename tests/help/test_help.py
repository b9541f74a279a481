"""`--help` of every command: its groups, options and defaults; `--version`."""

import platform
import re
from importlib.metadata import version

import click
import pytest
from docs import help_of

from vwlite import __version__
from vwlite.algorithms.settings import Settings
from vwlite.input.schema import RoleOptions
from vwlite.program import COMMANDS, program
from vwlite.runs.options import TrainOptions


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_explains_every_option(command):
    text = help_of(command)
    assert max(map(len, text.splitlines())) <= 100
    options = [o for o in program.get_command(click.Context(program), command).params if isinstance(o, click.Option)]
    assert all(o.help for o in options)
    assert all(max(o.opts, key=len).replace("_", "-") in text for o in options if len(o.opts) == 1)


def test_help_has_the_groups_in_order_and_our_spelling_only():
    text = help_of("train")
    headings = re.findall(r"^(\w+):$", text, re.M)
    groups = ["Input", "Tables", "Features", "Learning", "Classes", "Passes", "Output", "Run"]
    assert headings == [*groups, "Options", "Examples"]
    assert "_" not in re.sub(r"\s", "", "".join(re.findall(r"--[\w-]+", text)))


def test_help_shows_defaults_that_are_those_in_use():
    shown = dict(re.findall(r"--([\w-]+)(?:(?!\n  -).)*?\[default:\s+([^\]]+)\]", help_of("train"), re.S))
    settings = {k.replace("_", "-"): v for k, v in vars(Settings()).items()}
    settings |= {k.replace("_", "-"): v for k, v in vars(TrainOptions()).items() if k not in vars(Settings())}
    settings |= {"threshold": float("inf"), "holdout-period": 10, "early-terminate": 3, "progress": 2.0}
    settings |= {"feature-weights": 1}
    settings |= {"missing": ",".join(RoleOptions().missing_words), "algorithm": "auto"}
    settings |= {"link": "logistic, poisson, log or expm1 by the loss"}
    assert len(shown) >= 19
    for name, text in shown.items():
        default = settings[name]
        text = " ".join(text.split())
        if default is not None:  # else the text is what happens without the option, such as "no limit"
            assert (float(text) if isinstance(default, float | int) else text) == default, name


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], *([c, "-h"] for c in COMMANDS)])
def test_help_is_a_result(vwlite, arguments):
    done = vwlite(*arguments)
    assert done.out.startswith("Usage: vwlite ")
    assert done.err == ""


@pytest.mark.parametrize("group", [[], ["dask"], ["completion"]])
def test_a_group_of_commands_alone_prints_its_help(vwlite, group):
    assert vwlite(*group) == vwlite(*group, "--help")


def test_version(vwlite):
    lines = vwlite("--version").out.splitlines()
    assert lines[0] == f"vwlite {__version__}"
    assert lines[1:3] == [f"numpy {version('numpy')}", f"Python {platform.python_version()}"]
    assert re.fullmatch(r"instructions (x86-64(-v[34])?|aarch64|portable)", lines[3]) and len(lines) == 4
