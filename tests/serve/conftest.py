"""Models, and servers of them."""

from pathlib import Path

import pytest
from running import run_here
from servers import CLASSES, DENSE, PAIRS, TABLE, TEXT, Server
from tables import bent_rows, text_of


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with models and their data."""
    folder = tmp_path_factory.mktemp("models")
    for name, text, options in (
        ("text.vw", TEXT, ("--algorithm", "gd", "--loss", "logistic", "--link", "logistic")),
        ("other.vw", TEXT[: len(TEXT) // 2], ("--algorithm", "ftrl", "--loss", "logistic", "--link", "logistic")),
        ("cross.vw", TEXT, ("--algorithm", "gd", "-q", "ab")),
        ("table.csv", TABLE, ("--label", "click")),
        ("bent.csv", text_of(["x", "z", "w", "y"], bent_rows()), ("--label", "y")),
        ("pairs.csv", PAIRS, ("--label", "y", "--classes", "auto")),
        ("classes.vw", CLASSES, ("--oaa", "3", "--classes", "auto", "--loss", "logistic", "--algorithm", "gd")),
        ("center.vw", DENSE, ("--algorithm", "gd", "--normalize", "center")),
    ):
        (folder / name).write_text(text)
        model = folder / Path(name).with_suffix(".model")
        run_here("train", *options, folder / name, "-m", model, "--quiet")
    return folder


@pytest.fixture
def serve():
    """Starts servers, which end with the test: without a traceback, and with exit code 0."""
    started = []

    def begin(*options):
        started.append(Server(*options))
        return started[-1]

    yield begin
    for server in started:
        done = server.stop()
        assert done.code == 0 and "Traceback" not in done.err and "internal error" not in done.err, done


@pytest.fixture(scope="module")
def shared(models):
    """One server for the tests that leave it as it is."""
    names = ("text", "table", "classes", "cross", "center", "bent")
    named = [f"--model={name}={models / name}.model" for name in names]
    server = Server(*named, "--lines=0", "--max-body", "100K", "--timeout", "1")
    yield server
    done = server.stop()
    assert done.code == 0 and "Traceback" not in done.err and "internal error" not in done.err, done
