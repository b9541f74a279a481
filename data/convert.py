#!/usr/bin/env python3
"""Make the data sets of this folder from those that come with scikit-learn, and from the sources of this repository.

Needs scikit-learn; its results are here. Other sources than those of the day it was run make other lines.

    python data/convert.py [FOLDER]
"""

import csv
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

SEED = 1
TRAIN = 3 / 4
ROOT = Path(__file__).parents[1]
LINES = 6000  # of the sources
ROWS = {"train": 1500, "test": 500}  # of the table made of them
WORD = re.compile(r"[A-Za-z_]+|[0-9]+|[^\sA-Za-z0-9_:|]")


def breast_cancer() -> tuple[list[str], str]:
    """VW text: 1 is malignant, -1 benign; the namespaces are the three statistics of each measurement."""
    data: Any = load_breast_cancer()
    places: dict[str, list[tuple[int, str]]] = {"mean": [], "error": [], "worst": []}
    for i, name in enumerate(data.feature_names):
        statistic = next(word for word in places if word in name.split())
        places[statistic].append((i, "_".join(word for word in name.split() if word != statistic)))
    lines = []
    for x, malignant in zip(data.data, data.target == 0, strict=True):
        spaces = (
            f"|{statistic} " + " ".join(f"{name}:{x[i]:.6g}" for i, name in features)
            for statistic, features in places.items()
        )
        lines.append(f"{'1' if malignant else '-1'} {' '.join(spaces)}")
    return lines, "vw"


def digits() -> tuple[list[str], str]:
    """libsvm: the label is the digit, 10 for a zero; 64 pixels from 1, row by row, with values 0 to 16; no zeros."""
    data: Any = load_digits()
    lines = []
    for x, digit in zip(data.data, data.target, strict=True):
        pixels = " ".join(f"{i}:{value:g}" for i, value in enumerate(x, start=1) if value)
        lines.append(f"{digit or 10} {pixels}")
    return lines, "libsvm"


def sources() -> tuple[list[str], str]:
    """VW text: lines of this repository's code as words, numbers and signs; 1 is Cython, -1 Python."""
    languages: dict[str, set[int]] = {}
    for suffix, label in ((".pyx", 1), (".pxd", 1), (".py", -1)):
        for path in (p for folder in ("cython_ext", "vwlite") for p in (ROOT / folder).rglob(f"*{suffix}")):
            for line in path.read_text(encoding="utf-8").splitlines():
                words = WORD.findall(line)
                if len(words) >= 3:
                    languages.setdefault(" ".join(words), set()).add(label)
    lines = [f"{min(found)} |t {words}" for words, found in sorted(languages.items()) if len(found) == 1]
    return [lines[i] for i in np.random.RandomState(SEED).permutation(len(lines))[:LINES]], "vw"


def main(folder: Path) -> None:
    for make in (breast_cancer, digits, sources):
        lines, suffix = make()
        order = np.random.RandomState(SEED).permutation(len(lines))  # frozen for good, as default_rng is not
        shuffled = [lines[i] for i in order]
        cut = int(len(lines) * TRAIN)
        write(folder / f"{make.__name__}.train.{suffix}", shuffled[:cut])
        write(folder / f"{make.__name__}.test.{suffix}", shuffled[cut:])
    table(folder)


def table(folder: Path) -> None:
    """A CSV file with some of the lines of the sources: is_cython is 1 or 0; how many words, the first one, all."""
    for part, rows in ROWS.items():
        lines = (folder / f"sources.{part}.vw").read_text(encoding="utf-8").splitlines()[:rows]
        with (folder / f"code.{part}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "is_cython", "words", "first", "code"])
            for number, line in enumerate(lines, start=1):
                label, _, code = line.partition(" |t ")
                words = code.split()
                writer.writerow([number, int(label == "1"), len(words), words[0], code])


def write(path: Path, lines: Iterable[str]) -> None:
    path.write_bytes("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
