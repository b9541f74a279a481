"""A run of `vwlite dask predict`: one file of predictions for each shard."""

import os
from pathlib import Path, PurePosixPath
from typing import Any

from vwlite.dask.child import PREDICTIONS, REPORT, START
from vwlite.dask.cluster import Cluster, Interrupted
from vwlite.dask.commands import DaskPredictOptions
from vwlite.dask.parts import FilePart, file_system, listed
from vwlite.dask.tables import with_roles
from vwlite.dask.work import ShardJob, same
from vwlite.dask.work import predict as predicted
from vwlite.errors import CannotCreateError, NoInputError
from vwlite.model import read_model
from vwlite.output.progress import LiveLine
from vwlite.output.results import Result, summary, values
from vwlite.prediction.commands import PredictOptions
from vwlite.runs.frame import RunFrame

SUFFIX = ".predictions"


def predict(o: DaskPredictOptions) -> int:
    """Run `vwlite dask predict`; the exit code."""
    o.check()
    assert o.model is not None and o.predictions is not None
    model = read_model(o.model)
    with RunFrame("dask predict", o) as frame:
        parts = listed(o.data, o.block_size, o.format).parts
        job = ShardJob(o.of_shards(PredictOptions, model=START, predictions=PREDICTIONS, report=REPORT))
        job = with_roles(job, o, parts, model.columns)
        outputs = outputs_of(parts, o.predictions)
        content = content_of(o.model)
        cluster = Cluster(o.scheduler, o.retries)
        frame.stop_with(cluster.stop)
        try:
            frame.enter_context(cluster)
            _make_folders(outputs)
            sent = cluster.put(same, content)
            live, done = LiveLine(quiet=o.quiet), [0, 0]

            def make(i: int, avoid: str | None) -> Any:
                return cluster.put(predicted, parts[i], sent, job, outputs[i], avoid=avoid)

            def one(i: int, lines: int) -> None:
                done[0], done[1] = done[0] + 1, done[1] + lines
                live.show(lambda seconds: f"{done[0]} of {len(parts)} shards, {done[1] / (seconds or 1):,.0f} rows/s")

            cluster.each(len(parts), make, lambda i: parts[i].name, one)
            live.clear()
        except Interrupted:
            return frame.code(f"; the files in {o.predictions} are complete, but some are missing")
        results = [Result("shards", len(parts)), Result("number_of_predictions", done[1]),
                   Result("seconds", frame.seconds())]
        frame.show(summary(results))
        pairs = zip(parts, outputs, strict=True)
        frame.report(results=values(results), outputs=[{"shard": part.name, "file": output} for part, output in pairs])
    return 0


def outputs_of(parts: list[FilePart], folder: str) -> list[str]:
    """Where the predictions of each shard go: as its file is named below the folder that all have in common."""
    paths = [PurePosixPath(part.url.partition("://")[2] or part.url) for part in parts]
    common = os.path.commonpath([path.parent for path in paths])
    root = folder.rstrip("/") if "://" in folder else os.path.abspath(folder)
    digits = len(str(max(part.of for part in parts)))
    found = []
    for part, path in zip(parts, paths, strict=True):
        number = f".{part.number + 1:0{digits}}-of-{part.of}" if part.of > 1 else ""
        found.append(f"{root}/{path.relative_to(common)}{number}{SUFFIX}")
    return found


def _make_folders(outputs: list[str]) -> None:
    """Those that the outputs are in. CannotCreateError."""
    for folder in sorted({output.rpartition("/")[0] for output in outputs}):
        try:
            if "://" in folder:
                fs, path = file_system(folder)
                fs.makedirs(path, exist_ok=True)
            else:
                os.makedirs(folder, exist_ok=True)
        except OSError as e:
            raise CannotCreateError(f"{folder}: cannot be created: {e.strerror or e}") from e


def content_of(path: str) -> bytes:
    """The content of a file. NoInputError."""
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e
