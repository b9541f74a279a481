"""The checks that the rows of options declare, each from its row: an option that is added is checked here, too."""

from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest
from output_options import all_commands

from vwlite.algorithms.settings import Settings
from vwlite.dask.commands import DaskTrainOptions
from vwlite.errors import UsageError
from vwlite.inspection.commands import NamesOptions
from vwlite.merging.commands import MergeOptions
from vwlite.options.declaring import collected, declared
from vwlite.options.spec import check_rows
from vwlite.options.types import PATH
from vwlite.program import GROUPS
from vwlite.runs import options
from vwlite.runs.options import InputOptions, TrainOptions
from vwlite.serve.commands import ServeOptions
from vwlite.solving.commands import CertifyOptions, SolveOptions
from vwlite.tuning.commands import TuneOptions

# The dataclasses of options: of models, of runs, and of each command.
FOLDERS = dict.fromkeys(folder for group in GROUPS.values() for folder, _ in group.values())
PLACES = (options, *(import_module(f"vwlite.{folder}.commands") for folder in FOLDERS))
KINDS = (Settings, *dict.fromkeys(
    kind for place in PLACES for name, kind in vars(place).items() if name.endswith("Options") and is_dataclass(kind)
))
ROWS = [(kind, f.name, spec) for kind in KINDS for f in fields(kind) for spec in f.metadata.get("specs", ())]


def given(typed):
    """An option as the field of a dataclass and a value: the one with which it is named, or any."""
    option, _, value = typed.partition(" ")
    return {option[2:].replace("-", "_"): value or "given"}


def refusal(kind, **options):
    with pytest.raises(UsageError) as refused:
        check_rows(kind(**options))
    return str(refused.value)


NEEDS = [(kind, name, spec) for kind, name, spec in ROWS if spec.needs]


@pytest.mark.parametrize("kind, name, spec", NEEDS)
def test_an_option_is_refused_without_those_that_it_needs(kind, name, spec):
    assert refusal(kind, **{name: "given"}) == f"{spec.long} needs {' or '.join(spec.needs)}"
    for other in spec.needs:
        options = {"data": (__file__,)} if kind is not Settings else {}
        check_rows(kind(**options, **{name: "given"}, **given(other)))


PAIRS = [(kind, name, other, why) for kind, name, spec in ROWS for other, why in spec.excludes.items()]


@pytest.mark.parametrize("kind, name, other, why", PAIRS)
def test_options_that_exclude_each_other_are_refused_together(kind, name, other, why):
    said = refusal(kind, **({name: "given"} | given(other)))
    assert said.endswith(f" and {other} cannot be used together" + (f": {why}" if why else ""))


def test_the_defaults_are_accepted():
    for kind in KINDS:
        check_rows(kind())
    assert NEEDS and PAIRS


@pytest.mark.parametrize("kind, command", [
    (TrainOptions, "train"), (TuneOptions, "tune"), (SolveOptions, "solve"), (CertifyOptions, "certify"),
    (MergeOptions, "merge"), (DaskTrainOptions, "dask train"),
])
def test_a_command_takes_every_option_that_its_options_have(kind, command):
    shared = {f.name for f in fields(InputOptions)}
    rows = {spec.name for f in fields(kind) if f.name not in shared for spec in f.metadata.get("specs", ())}
    assert rows <= {parameter.name for parameter in declared(command).params}


def test_no_command_has_an_option_that_needs_one_that_it_has_not():
    """`vwlite cv --max-size` needed --model, which cv has not."""
    needs = {spec.long: spec.needs for _, _, spec in ROWS if spec.needs}
    for command, found in all_commands():
        typed = {word for option in found.params for word in option.opts}
        for option in typed & needs.keys():
            assert any(word.split()[0] in typed for word in needs[option]), (command, option)


def test_options_that_are_typed_again_for_another_command_mean_the_same():
    words = ["day.vw", "--seconds", "9", "--loss=logistic", "-m", "x.model", "-q", "ab", "--quadratic", "cd",
             "--no-constant", "--missing", "?,NA", "--on-error", "skip", "-c"]
    asked = declared("tune").make_context("tune", words).params
    again = collected(TuneOptions, asked).words
    meant = declared("train").make_context("train", [*again]).params
    assert {name: value for name, value in meant.items() if value not in (None, ())} == {
        name: value for name, value in asked.items()
        if value not in (None, ()) and name not in ("raw", "data", "model", "limit")
    }


def test_an_option_that_names_a_file_says_whether_it_is_read_or_written():
    # Of NAME=FILE, which serve itself looks at; of MODEL, which is written without --output.
    elsewhere = (ServeOptions, NamesOptions)
    files = [spec for kind, name, spec in ROWS if spec.type is PATH and name != "data" and kind not in elsewhere]
    assert len(files) > 9
    assert [spec.name for spec in files if bool(spec.reads) == spec.writes] == []
