"""Nights: a model that is continued day by day, beside one that learns all days at once.

    make continue SETS=FOLDER       writes a table of AUTO.md; ONLY=NAMES prints the rows of some sets or streams

Sets: the training part of each, cut into 10 and 30 days in its order, is learned by `vwlite train --continue`, and the
model of the last day is compared with `vwlite train` of all days by the loss of the test part: log(loss / that of all
days), loss being log loss or the root of the mean squared error. All rows fit into what is kept, so that forgetting on
data that do not change is all that can make a difference.

Streams change, at the 8th of 14 days of 800 rows: all labels are turned round; those of half of the rows (the first
number above its median); those of a share that grows to .8; none; or the base rate moves every fourth day. The mean
loss of each next day, before it is learned, is compared with that of models of all days before, and of the last day
alone; the day of the change is left out, which no model can know.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from auto_tables import Data, sets_of, small_sets
from compare import vwlite
from harness import made, options_of, read_lines, say, show, table, work_folder

from vwlite.model import read_model
from vwlite.model.nights import nights_of

DAYS = (10, 30)
APART = ("nursery", "german")  # losses of about 0; a few rows a day
STREAM_DAYS, ROWS = 14, 800
CHANGES = ("flip", "part", "slow", "still", "rate")
STREAMS = ("adult", "bank")


class Csv(NamedTuple):
    header: str
    rows: list[str]

    @staticmethod
    def of(path: Path) -> "Csv":
        header, *rows = read_lines(path)
        return Csv(header, rows)

    def write(self, path: Path, begin: int, end: int) -> Path:
        path.write_text(self.header + "".join(self.rows[begin:end]))
        return path


def options(data: Data) -> list[str]:
    texts = [name for name, kind in data.kinds.items() if kind == "text"]
    classes = ["--oaa", str(len(data.names)), "--classes", "auto"] if data.task == "mc" else []
    return ["--label", "target", *(["--text", ",".join(texts)] if texts else []), *classes]


def loss_of(model: Path, test: Path, task: str) -> float:
    measures = vwlite(model.parent, "evaluate", "-m", model, test)["measures"]
    return float(measures["rmse" if task == "reg" else "log_loss"]["value"])


def of_set(data: Data, days: int) -> tuple[str, int, float, float, int]:
    """The set, its days, the loss of all days at once, the difference of the nights, and on how many they forgot."""
    with work_folder() as name:
        folder, rows = Path(name), Csv.of(data.train)
        test = Csv.of(data.test).write(folder / "test.csv", 0, 1 << 30)
        vwlite(folder, "train", rows.write(folder / "all.csv", 0, 1 << 30), *options(data), "-m", folder / "all")
        n = len(rows.rows)
        for day in range(days):
            part = rows.write(folder / "day.csv", n * day // days, n * (day + 1) // days)
            vwlite(folder, "train", "--continue", folder / "m", part, *options(data))
        found, whole = (loss_of(folder / model, test, data.task) for model in ("m", "all"))
        return data.name, days, whole, float(np.log(found / whole)), forgot(folder / "m")


def forgot(model: Path) -> int:
    """The number of the last nights on which the past was made to count less."""
    return sum(night.past < 1 for night in nights_of(read_model(str(model)).continued))


def changed(data: Data, change: str, rows_of_day: int) -> list[list[list[str]]]:
    """The rows of the days of a stream, as cells."""
    header, *rows = csv.reader(read_lines(data.train))
    rows, draw = rows[: STREAM_DAYS * rows_of_day * (2 if change == "rate" else 1)], np.random.default_rng(1)
    target, words = header.index("target"), sorted({row[header.index("target")] for row in rows})
    number = header.index(next(name for name, kind in data.kinds.items() if kind == "num"))
    middle = np.median([float(row[number] or "nan") for row in rows if row[number]])
    days: list[list[list[str]]] = [[] for _ in range(STREAM_DAYS)]
    for row in rows:
        day = next((k for k, rows_of in enumerate(days) if len(rows_of) < rows_of_day), None)
        if day is None:
            break
        late, is_first = day >= STREAM_DAYS // 2, row[target] == words[0]
        if change == "rate" and is_first == (day // 4 % 2 == 0) and draw.random() < 0.6:
            continue
        is_turned = {
            "flip": late, "part": late and float(row[number] or 0) > middle,
            "slow": draw.random() < day / (STREAM_DAYS - 1) * 0.8,
        }.get(change, False)
        days[day].append([*row[:target], words[is_first] if is_turned else row[target], *row[target + 1 :]])
    return [[header], *days]


def of_stream(data: Data, change: str, rows_of_day: int) -> tuple[str, str, float, float, float, int]:
    """The set, the change, the mean loss of the nights, those of all days and of the last day, over the better of these
    as logarithms, and on how many nights the past was made to count less."""
    head, *days = changed(data, change, rows_of_day)
    with work_folder() as name:
        folder, losses = Path(name), np.zeros((3, STREAM_DAYS - 1))

        def write(file: str, rows: Sequence[Sequence[str]]) -> Path:
            with (folder / file).open("w", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([*head, *rows])
            return folder / file

        for k in range(STREAM_DAYS - 1):
            day, following = write("day.csv", days[k]), write("next.csv", days[k + 1])
            vwlite(folder, "train", "--continue", folder / "m", day, *options(data))
            for i, past in enumerate(([row for rows in days[: k + 1] for row in rows], days[k])):
                vwlite(folder, "train", write("past.csv", past), *options(data), "-m", folder / f"past{i}")
                losses[i + 1, k] = loss_of(folder / f"past{i}", following, data.task)
            losses[0, k] = loss_of(folder / "m", following, data.task)
        calm = [k for k in range(STREAM_DAYS - 1) if k != STREAM_DAYS // 2 - 1 or change in ("slow", "still", "rate")]
        nights, whole, last = losses[:, calm].mean(axis=1)
        best = min(whole, last)
        return data.name, change, nights, *(float(np.log(x / best)) for x in (nights, whole)), forgot(folder / "m")


def main() -> None:
    parser = options_of(__doc__, quick="small sets, and a stream of few rows: does it work?", data=True,
                        results="put the tables into this file")
    parser.add_argument("--only", default="", help="names of sets or changes, some of which a row must have")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    o = parser.parse_args()
    only: Callable[[str], bool] = lambda text: not o.only or any(word in text for word in o.only.split())  # noqa: E731
    with work_folder() as name, ProcessPoolExecutor(o.jobs) as pool:
        folder = small_sets(Path(name)) if o.quick else o.data / "tables"
        found = [data for texts in (False, True) for data in sets_of(folder, texts, Path(name))]
        sets = {data.name: data for data in found if data.name not in APART}
        streamed, rows = ([name for name, data in sets.items() if data.task == "bin"][:1], 20) if o.quick else (
            [name for name in STREAMS if name in sets], ROWS)
        chains = [pool.submit(of_set, data, days) for data in sets.values() for days in DAYS[: 1 if o.quick else None]
                  if only(f"{data.name} {days} days")]
        streams = [pool.submit(of_stream, sets[name], change, rows) for name in streamed for change in CHANGES
                   if only(f"{name} {change}")]
        nights = list(_shown(chains))
        drifts = list(_shown(streams))
    mean = np.mean([difference for *_, difference, _ in nights]) if nights else 0.0
    rows = [[name, str(days), f"{whole:.4f}", f"{d:+.3f}", str(n)] for name, days, whole, d, n in nights]
    first = table(["set", "days", "all at once", "nights", "forgot"], rows, "lr")
    others = [[name, change, f"{loss:.4f}", f"{d:+.3f}", f"{whole:+.3f}", str(n)]
              for name, change, loss, d, whole, n in drifts]
    second = table(["stream", "change", "loss", "nights", "all days", "forgot"], others, "llr")
    parts = ([first, f"Mean {mean:+.4f}."] if nights else []) + ([second] if others else [])
    show("\n\n".join([*parts, made("vwlite", "numpy")]), o.results, "continue")


def _shown(futures: Sequence) -> Iterator[tuple]:  # type: ignore[type-arg]
    for future in futures:
        say(str(result := future.result()))
        yield result


if __name__ == "__main__":
    main()
