"""How fast `vwlite train --algorithm auto` is, and how much memory it takes, on rcv1.

    make auto SETS=FOLDER      writes the last table of AUTO.md

Ratios are those within this run. Times are the least of several, of all threads; those of a pass are of one over
examples in memory, within one process. LogisticRegressionCV runs once.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from auto import AUTO, prepared, split
from harness import GD, ROOT, VWLITE, Run, in_turns, made, options_of, run, show, table, verdict, work_folder
from sklearn.linear_model import LogisticRegressionCV

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.lanes import Lanes
from vwlite.input.cache import open_cache
from vwlite.model.learners import make_expander, make_learner, make_loss
from vwlite.training.auto.selection import COLUMNS, FOLDS, RATES

LONGER = 4  # times that the text is read again, for a longer stream


def clock(work: Callable[[], object]) -> Run:
    processor, wall = time.process_time(), time.perf_counter()
    work()
    return Run(time.perf_counter() - wall, time.process_time() - processor, 0)


def least(works: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, Run]:
    """The least times of each."""
    each = in_turns(works, rounds)
    return {name: Run(min(r.seconds for r in of), min(r.processor for r in of), 0) for name, of in each.items()}


def within_a_process(cache: Path, rounds: int) -> tuple[dict[str, Run], str]:
    """Passes over examples in memory, and what is said of the memory of lanes."""
    batches = [batch.part(0, len(batch)) for batch, _ in open_cache(str(cache), None).batches()]
    most, settings = max(map(len, batches)), Settings(loss="logistic")
    lanes, gd = Lanes(make_loss(settings), make_expander(settings), RATES, FOLDS), make_learner(settings)
    folds = memoryview(np.random.default_rng(1).integers(0, FOLDS, most).astype(np.uint8))
    scores = memoryview(np.zeros(COLUMNS * most, np.float32))

    def over_batches(work: Callable[[Any, int], object]) -> Callable[[], Run]:
        return lambda: clock(lambda: [work(batch, len(batch)) for batch in batches])

    works = {
        "gd": over_batches(lambda batch, n: gd.run(batch)),
        "lanes": over_batches(lambda batch, n: lanes.learn(batch, folds[:n])),
        "scores": over_batches(lambda batch, n: lanes.score(batch, folds[:n], scores[: COLUMNS * n])),
    }
    found = least(works, rounds)
    memory = f"{4 * FOLDS} lanes of {len(lanes):,} features take {lanes.nbytes / len(lanes):.0f} bytes a feature."
    return found, memory


def speed(source: Path, name: str, rounds: int) -> str:
    with work_folder() as place:
        parts = split(source, name, 0, Path(place))
        model, cache = parts.folder / "model", parts.folder / "cache"
        text = parts.folder / "train"
        command = partial(run, VWLITE, "train", text, "--loss", "logistic", "--quiet", "-m", model)
        command(*GD, "--cache-file", cache)
        found, memory = within_a_process(cache, 3 * rounds)
        works = {"gd text": partial(command, *GD), "files": partial(command, *AUTO)}
        works["stream"] = partial(command, *AUTO, "--passes", 1)
        works["one stream"] = partial(command, *AUTO, "--passes", 1, "--normalize", "none")
        works["long gd"] = partial(command, *GD, *LONGER * [text])
        works["long stream"] = partial(command, *LONGER * [text], *AUTO, "--passes", 1)
        found |= least(works, rounds)
        search, (x, _) = LogisticRegressionCV(Cs=10, cv=3, solver="liblinear"), prepared(parts)
        warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
        found["search"] = clock(lambda: search.fit(x, parts.y))
    compared = {
        "a pass of 16 lanes, over one of gd, within a process": ("lanes", "gd", 4.0),
        "a sweep that scores, over a pass of gd, within a process": ("scores", "gd", 1.5),
        "`--passes 1` from text, over gd from text": ("stream", "gd text", 2.2),
        "the same with `--normalize none`": ("one stream", "gd text", None),
        f"the same, {1 + LONGER} times the text": ("long stream", "long gd", None),
        "files, over LogisticRegressionCV(Cs=10, cv=3, solver='liblinear')": ("files", "search", 0.1),
    }
    rows = []
    for what, (this, other, goal) in compared.items():
        a, b = found[this], found[other]
        ratio = a.processor / max(b.processor, 1e-9)
        cells = [f"{a.processor:.3f}", f"{b.processor:.3f}", f"{ratio:.2f}", f"{a.seconds / max(b.seconds, 1e-9):.2f}"]
        rows.append([what, *cells, *(["", ""] if goal is None else [f"{goal:g}", verdict(ratio <= goal)])])
    titles = ["", "s of processors", "of the other", "ratio", "of wall clock", "at most", "reached"]
    return f"{table(titles, rows, 'lrrrrrl')}\n\n{memory}"


def main() -> None:
    parser = options_of(__doc__, quick="small data: does it work?", data=True, results="put the table into this file")
    typed = parser.parse_args()
    found = speed(ROOT / "data", "breast_cancer", 1) if typed.quick else speed(typed.data, "rcv1", 3)
    show(f"{found}\n\n{made('vwlite', 'numpy', 'scikit-learn')}", typed.results, "auto speed")


if __name__ == "__main__":
    main()
