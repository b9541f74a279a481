"""The two ways through `vwlite vw`, by the engine's loop and one example at a time, give the same bytes."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from vw_draws import Case, cases

from vwlite.vw import run as vw_run

TEXT = b"""1 |a x y:2 |b z
-1 0.5 'tag |a x |b w:0.25
1 2 0.5 second| u
|a x y

1 0 |b z
-1 -1 |b z
1 |a x:nan y
0.5 |a big:1e25 x
-1 |a x |b z:1
1 1 x|a
-1 |c:2 x y z
"""

PLAIN = [
    "",
    "--quiet",
    "-P 1",
    "-P 1.5",
    "--loss_function logistic --link logistic",
    "--loss_function hinge -q ab --l1 1e-3 --l2 1e-2",
    "--loss_function poisson",
    "--loss_function quantile --quantile_tau 0.2 --cubic aab",
    "--sgd -l 0.1",
    "--adaptive --initial_t 2 -l 0.1",
    "--normalized -b 4 --power_t 0.3",
    "--invariant -l 0.1 --noconstant",
    "-c -k --passes 5 --holdout_period 3",
    "-c -k --passes 5 --holdout_off --decay_learning_rate 0.8 --save_per_pass",
    "--holdout_after 5",
    "--holdout_after 5 -c -k --passes 6 --early_terminate 1 --predict_only_model",
    "--min_prediction -0.1",
    "-t",
    "--ignore a --interactions aa --permutations",
    "--keep b --constant 0.5 --initial_weight 0.1",
    "--sparse_l2 0.1",
    "--ngram 2 --examples 7",
    "--driver_output_off",
    "--ftrl --ftrl_alpha 50 -P 1",
    "--ftrl --l1 1e-2 --l2 0.1 --loss_function logistic --link logistic -q ab",
    "--ftrl -c -k --passes 5 --holdout_period 3 --ftrl_alpha 0.05",
    "--coin -P 1",
    "--coin --loss_function logistic -c -k --passes 4 --holdout_after 5 --save_per_pass",
    "--coin --min_prediction -0.1 --loss_function quantile --noconstant",
    "--pistol -P 1",
    "--pistol --loss_function hinge -b 4 --cubic aab",
    "--pistol -c -k --passes 5 --holdout_off --predict_only_model",
    "--freegrad -P 1",
    "--freegrad --restart --loss_function poisson",
    "--freegrad -c -k --passes 5 --holdout_period 3 --early_terminate 1",
    "--coin -t",
]  # fmt: skip


def outcome(
    folder: Path, text: bytes, arguments: list[str], quick: bool, monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    """Everything that a run leaves behind, and whether it was quick."""
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    (folder / "train").write_bytes(text)
    took = []
    before = os.getcwd()
    os.chdir(folder)
    try:
        with (
            monkeypatch.context() as patch,
            open("out", "w", errors="surrogateescape") as out,
            open("err", "w") as err,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            plain = vw_run.is_plain
            patch.setattr(vw_run, "is_plain", lambda run: took.append(plain(run)) or (quick and took[-1]))
            code = vw_run.main(["-d", "train", "-p", "p", "-r", "r", "-f", "model", *arguments])
    finally:
        os.chdir(before)
    files = [file for file in sorted(folder.iterdir()) if "cache" not in file.name]
    return [b"%d %d" % (code, any(took)), *(file.name.encode() + b": " + file.read_bytes() for file in files)]


def compare(folder: Path, text: bytes, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the run could be quick."""
    quick = outcome(folder, text, arguments, True, monkeypatch)
    slow = outcome(folder, text, arguments, False, monkeypatch)
    assert quick == slow
    return quick[0].endswith(b"1")


@pytest.mark.parametrize("arguments", PLAIN)
def test_plain_runs_are_the_same_both_ways(arguments, tmp_path, monkeypatch):
    assert compare(tmp_path / "w", TEXT * 3, arguments.split(), monkeypatch)


def test_drawn_runs_are_the_same_both_ways(tmp_path, monkeypatch):
    taken = 0

    @settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=HealthCheck)
    @given(cases())
    def check(case: Case) -> None:
        nonlocal taken
        taken += compare(tmp_path / "w", case.train, case.arguments, monkeypatch)

    check()
    assert taken > 15
