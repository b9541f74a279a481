"""The data of the figures: public ones from the folder of data sets, others drawn with a seed; and both as the rows of
a batch problem, or as text."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from compare import read, values_of

from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.solve.rows import Rows

BLOCK = 4096  # examples of a batch
SEED = 1


class Missing(Exception):
    """A data set is not in the folder: its name."""


@dataclass
class Sparse:
    """Examples by rows: labels, where each row begins and the end, indices from 1, values."""

    labels: np.ndarray
    begins: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def nonzeros(self) -> int:
        return len(self.values)

    @property
    def features(self) -> int:
        """The largest index."""
        return int(self.indices.max(initial=0))

    def with_labels(self, labels: np.ndarray) -> "Sparse":
        return Sparse(np.asarray(labels, float), self.begins, self.indices, self.values)

    def take(self, which: np.ndarray) -> "Sparse":
        """These rows, in this order."""
        counts = np.diff(self.begins)[which]
        begins = np.concatenate([[0], np.cumsum(counts)])
        at = np.repeat(self.begins[:-1][which] - begins[:-1], counts) + np.arange(begins[-1])
        return Sparse(self.labels[which], begins, self.indices[at], self.values[at])

    def shuffled(self, seed: int = SEED) -> "Sparse":
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def dense(self, dtype: type = np.float64, features: int | None = None) -> np.ndarray:
        """Without column 0. features: the number of columns, if that is not the largest index."""
        X = np.zeros((len(self), self.features if features is None else features), dtype)
        X[np.repeat(np.arange(len(self)), np.diff(self.begins)), self.indices - 1] = self.values
        return X

    def scaled_to_one(self) -> "Sparse":
        """Each column divided by its largest size, so that all values are in [-1, 1]."""
        largest = np.zeros(self.features + 1)
        np.maximum.at(largest, self.indices, np.abs(self.values))
        return Sparse(self.labels, self.begins, self.indices, self.values / largest[self.indices])

    def scaled_to_unit_squares(self, like: "Sparse") -> "Sparse":
        """Each column divided by the root of the mean square that it has in `like`."""
        squares = np.bincount(like.indices, like.values**2, self.features + 1) / len(like)
        squares[squares == 0] = 1
        return Sparse(self.labels, self.begins, self.indices, self.values / np.sqrt(squares[self.indices]))

    def standardized(self, like: "Sparse") -> "Sparse":
        """Each column minus the mean and divided by the standard deviation that it has in `like`, some of
        these rows: few values stay zero."""
        X, of = self.dense(), like.dense(features=self.features)
        size = of.std(axis=0)
        return of_dense((X - of.mean(axis=0)) / np.where(size == 0, 1, size), self.labels)

    def scores(self, weights: np.ndarray, constant: float = 0.0) -> np.ndarray:
        """<w, x> + b of each row; weights by index, those above the last are zero."""
        w = np.zeros(max(self.features, len(weights)) + 1)
        w[: len(weights)] = weights
        rows = np.repeat(np.arange(len(self)), np.diff(self.begins))
        return np.bincount(rows, self.values * w[self.indices], len(self)) + constant

    def beside(self, other: "Sparse") -> "Sparse":
        """The columns of the other after these, row by row."""
        X = [np.repeat(np.arange(len(part)), np.diff(part.begins)) for part in (self, other)]
        order = np.argsort(np.concatenate(X), kind="stable")
        indices = np.concatenate([self.indices, other.indices + self.features])[order]
        values = np.concatenate([self.values, other.values])[order]
        return Sparse(self.labels, self.begins + other.begins, indices, values)

    def batches(self) -> list[Batch]:
        """As the parser gives them. Zeros are left out."""
        batches = []
        used = self.values != 0
        begins = np.concatenate([[0], np.cumsum(used)])[self.begins]
        indices, values = self.indices[used], self.values[used]
        for first in range(0, len(self), BLOCK):
            last = min(first + BLOCK, len(self))
            low, high = begins[first], begins[last]
            of_block = begins[first : last + 1] - low
            batches.append(batch(self.labels[first:last], of_block, indices[low:high], values[low:high]))
        return batches

    def rows(self) -> Rows:
        """As the solvers take them."""
        rows = Rows(Expander(constant=False))
        for part in self.batches():
            rows.add(part)
        rows.finish()
        return rows

    def write(self, path: Path) -> Path:
        """As libsvm text; six digits of a value."""
        index_words = np.array([f" {index}:" for index in range(self.features + 1)], object)
        different, of_value = np.unique(self.values, return_inverse=True)
        value_words = np.array([f"{value:.6g}" for value in different], object)
        with path.open("w", encoding="utf-8") as text:
            for i, label in enumerate(self.labels):
                row = slice(self.begins[i], self.begins[i + 1])
                words = index_words[self.indices[row]] + value_words[of_value[row]]
                text.write(f"{label:g}{''.join(words)}\n")
        return path


def batch(labels: np.ndarray, begins: np.ndarray, indices: np.ndarray, values: np.ndarray) -> Batch:
    """What the parser would make of these rows, all features in the namespace of libsvm text."""
    n = len(labels)
    arrays = [
        labels.astype("<f8"),
        np.ones(n),
        np.zeros(n),
        np.zeros(n + 1, "<u4"),
        np.arange(n + 1, dtype="<u4"),
        begins.astype("<u4"),
        np.array([], "<u4"),
        indices.astype("<u4"),
        values.astype("<f4"),
        np.zeros(n, "u1"),
        np.full(n, ord(" "), "u1"),
        np.array([], "u1"),
    ]
    data = np.array([n, n, len(values), 0, 0, 0], "<u8").tobytes()
    for array in arrays:
        piece = array.tobytes()
        data += piece + bytes(-len(piece) % 8)
    return Batch.view(data, 0, len(data))


def of_dense(X: np.ndarray, labels: np.ndarray) -> Sparse:
    """The nonzero numbers of a matrix; its columns are 1, 2, ..."""
    rows, columns = np.nonzero(X)
    begins = np.concatenate([[0], np.cumsum(np.count_nonzero(X, axis=1))])
    return Sparse(np.asarray(labels, float), begins, columns + 1, X[rows, columns])


def lines_of(folder: Path, name: str) -> list[str]:
    if not (folder / name).exists():
        raise Missing(name)
    return read(folder / name)


def parse(lines: Iterable[str]) -> Sparse:
    """libsvm text."""
    lines = list(lines)
    counts = np.array([line.count(":") for line in lines])
    numbers = np.array(" ".join(lines).replace(":", " ").split(), dtype=float)
    begins = np.concatenate([[0], np.cumsum(counts)])
    at = 2 * begins[:-1] + np.arange(len(lines))
    is_label = np.zeros(len(numbers), bool)
    is_label[at] = True
    pairs = numbers[~is_label].reshape(-1, 2)
    return Sparse(numbers[at], begins, pairs[:, 0].astype(np.int64), pairs[:, 1])


def parse_names(lines: Iterable[str]) -> Sparse:
    """VW text; features are numbered as they come, and duplicates in a line are added."""
    numbers: dict[tuple[str, str], int] = {}
    labels, begins, indices, values = [], [0], [], []
    for line in lines:
        labels.append(float(line.split(None, 1)[0]))
        for _, space, name, value in values_of(line):
            if name:
                indices.append(numbers.setdefault((space, name), len(numbers) + 1))
                values.append(value)
        begins.append(len(values))
    rows = np.repeat(np.arange(len(labels)), np.diff(begins))
    places, at = np.unique(rows * (len(numbers) + 1) + np.array(indices, int), return_inverse=True)
    rows, ordered = np.divmod(places, len(numbers) + 1)
    begins = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(labels)))])
    return Sparse(np.array(labels), begins, ordered, np.bincount(at, values, len(places)))


def load(folder: Path, name: str) -> Sparse:
    """A libsvm or VW file of the folder. Missing."""
    lines = lines_of(folder, name)
    return parse_names(lines) if ".vw" in name else parse(lines)


def topics(folder: Path, part: str) -> np.ndarray:
    """Of every document of rcv1, whether it is about CCAT, ECAT, GCAT, MCAT: -1 or 1."""
    lines = lines_of(folder, f"rcv1.{part}.topics.txt.gz")
    return np.array([[float(word) for word in line.split(None, 4)[:4]] for line in lines])


# --- drawn data -------------------------------------------------------------------------------------


def random_bits(n: int, features: int, share: float, rng: np.random.Generator) -> Sparse:
    """Features that are 1 with this probability, else 0."""
    X = rng.random((n, features)) < share
    return of_dense(X.astype(np.int8), np.zeros(n))


def random_signs(n: int, features: int, rng: np.random.Generator) -> Sparse:
    """Features that are -1 or 1, each as often."""
    X = rng.integers(0, 2, (n, features), dtype=np.int8) * 2 - 1
    return of_dense(X, np.zeros(n))


def magic(folder: Path, dense: bool, examples: int | None = None) -> Sparse:
    """MAGIC04 with 1,000 random features: signs (MAGIC04D) or rare ones (MAGIC04S); columns scaled to [-1, 1]."""
    base = load(folder, "magic04.libsvm.gz").scaled_to_one().shuffled()
    if examples:
        base = base.take(np.arange(min(examples, len(base))))
    rng = np.random.default_rng(SEED)
    noise = random_signs(len(base), 1000, rng) if dense else random_bits(len(base), 1000, 0.05, rng)
    return base.beside(noise)


def arcene(n: int = 100, real: int = 7000, noise: int = 3000, seed: int = SEED) -> Sparse:
    """Like ARCENE: few dense spectra of many features, about 54 % of them not zero, 3,000 of them noise.

    The real features are mixtures of 20 latent profiles, of which 5 separate the classes.
    """
    rng = np.random.default_rng(seed)
    latent = rng.normal(0, 1, (n, 20))
    labels = np.where(latent[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    signal = latent @ rng.normal(0, 1, (20, real)) / np.sqrt(20) + 0.3 * rng.normal(size=(n, real))
    X = np.concatenate([signal, rng.normal(size=(n, noise))], axis=1)
    X = np.maximum(X + 0.1, 0)  # what is below the threshold of a spectrometer is zero
    return of_dense(X / X.max(axis=0), labels)


def gaussian(n: int, loss: str, seed: int = SEED) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X [n, n], y and the weights that are behind it, as Duchi et al. drew them: normal, half of the weights zero;
    squared: y = Xw + noise; logistic: the sign of it, wrong in one of ten."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n) * (rng.permutation(n) < n // 2)
    X = rng.normal(size=(n, n)).astype(np.float32).astype(float)
    if loss == "squared":
        return X, X @ w + rng.normal(size=n), w
    return X, np.where(X @ w > 0, 1.0, -1.0) * np.where(rng.random(n) < 0.9, 1.0, -1.0), w
