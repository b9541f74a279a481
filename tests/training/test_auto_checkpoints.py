"""`--checkpoint-every` and signals with `vwlite train --algorithm auto`"""

import os
import signal
import time
from pathlib import Path

import pytest
from test_auto import LOGISTIC, lines_of, model_of, write

from vwlite.training.auto.selection import Selection
from vwlite.training.run import TrainRun


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "train.vw", lines_of(900))


def learned(path):
    """What a model has learned, but for whether it was interrupted."""
    model = model_of(path)
    state = {name: array.tolist() for name, array in model.state.items()}
    return model.keys.tolist(), model.weights.tolist(), state, model.rule, model.counters, model.range, model.chosen


@pytest.mark.parametrize("every", [900, 1000, 2700])
def test_after_passes_the_best_model_so_far_is_saved(vwlite, data, tmp_path, committed, every):
    vwlite("train", data, *LOGISTIC, "--passes", "5", "-m", tmp_path / "m", "-p", tmp_path / "p",
           "--checkpoint-every", every)
    *checkpoints, last = [path for path in committed if path.read_bytes()[:2] == b"PK"]
    after = [number for number in range(1, 6) if number % -(-every // 900) == 0]
    assert len(checkpoints) == len(after)
    for path, passes in zip(checkpoints, after, strict=True):
        assert model_of(path).interrupted
        if passes > 1:  # --passes 1 learns a stream
            vwlite("train", data, *LOGISTIC, "--passes", passes, "-m", tmp_path / "n")
            assert learned(path) == learned(tmp_path / "n")
    vwlite("train", data, *LOGISTIC, "--passes", "5", "-m", tmp_path / "n", "-p", tmp_path / "q")
    assert last.read_bytes() == (tmp_path / "n").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


@pytest.mark.parametrize("kept", [100, 400, 12000])
def test_a_stream_is_saved_at_these_examples(vwlite, data, tmp_path, committed, monkeypatch, kept):
    """Blank lines and lines without labels among them. A checkpoint is the model of the stream so far, if learning has
    begun by then, and changes nothing that follows."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", kept)
    monkeypatch.setattr("vwlite.training.auto.stream.SIDE_BY_SIDE", 500)
    lines = Path(data).read_text().splitlines(keepends=True)
    lines.insert(20, "\n")
    lines.insert(40, "|a f1\n")
    train = write(tmp_path / "d.vw", lines)
    how = (*LOGISTIC, "--passes", "1", "--quiet")
    vwlite("train", train, *how, "-m", tmp_path / "m", "-p", tmp_path / "p", "--checkpoint-every", "200")
    checkpoints = [path for path in committed if path.read_bytes()[:2] == b"PK"][:-1]
    assert len(checkpoints) == 4
    for number, path in enumerate(checkpoints, 1):
        if kept <= 200 * number - 1:
            vwlite("train", write(tmp_path / "part.vw", lines[: 200 * number + 1]), *how, "-m", tmp_path / "n")
            assert learned(path) == learned(tmp_path / "n")
    vwlite("train", train, *how, "-m", tmp_path / "n", "-p", tmp_path / "q")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


@pytest.mark.parametrize("passes", [(), ("--passes", "1")])
def test_checkpoints_by_time(vwlite, data, tmp_path, monkeypatch, passes):
    """A program that is killed after one leaves a model that predicts and can be continued."""
    monkeypatch.setattr("vwlite.input.reader.BLOCK_SIZE", 5000)
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 50)
    written, save = [], TrainRun.on_checkpoint

    def saved(run, apart):
        save(run, apart)
        written.append(apart)
        if len(written) == 2:
            raise RuntimeError("killed")

    monkeypatch.setattr(TrainRun, "on_checkpoint", saved)
    monkeypatch.setattr(TrainRun, "is_checkpoint_due", lambda run, examples: run._seconds == 1)
    vwlite("train", data, *LOGISTIC, *passes, "-m", tmp_path / "m", "--checkpoint-every", "1s", code=70)
    assert model_of(tmp_path / "m").interrupted
    vwlite("predict", data, "-m", tmp_path / "m", "-p", tmp_path / "p")
    vwlite("train", data, "-i", tmp_path / "m", "-m", tmp_path / "n")


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("number", [1, 2])
def test_a_signal_within_a_pass(vwlite, data, tmp_path, monkeypatch, in_turn, number):
    """Within the first pass, when only some normalizations have learned it, there is no model yet. Later it is
    that of the best finished pass."""
    if in_turn:
        monkeypatch.setattr("vwlite.training.auto.race.available_memory", lambda: 10_000)
    one_pass, ran = Selection._one_pass, []

    def interrupted(self, c, at):
        if at == number and len(ran) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            while not self.stopped:
                time.sleep(0.01)
        if at == number and not (in_turn and number <= len(c.passes)):
            ran.append(c)
        one_pass(self, c, at)

    monkeypatch.setattr(Selection, "_one_pass", interrupted)
    said = vwlite("train", data, *LOGISTIC, "--threads", "1", "-m", tmp_path / "m", code=130).err
    if number == 1:
        assert "no example was learned" in said and not (tmp_path / "m").exists()
    else:
        model = model_of(tmp_path / "m")
        assert model.interrupted and model.chosen["loss"] < model.chosen["baseline"]
