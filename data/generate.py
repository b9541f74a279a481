#!/usr/bin/env python3
"""Seeded streams of examples, of any length.

    data/generate.py rcv1 --examples 20000 -o news.vw
    data/generate.py clicks --megabytes 400 --format libsvm | head

rcv1    documents like those of RCV1: 47,236 words, the r-th most frequent with probability proportional to
        1/r, lognormal(4.1, 0.6) tokens in a document; tf-idf values, unit length; the label is drawn from a
        logistic model with 1,000 weights that are not zero. As VW text, word 123 is `w123`.
clicks  impressions of advertisements: 12 namespaces (advertiser, browser, ... to l) with one feature each, up to
        a million values in a namespace. About one label in five is 1; it depends on every namespace and on
        which advertiser meets which format, so `-q af` helps. As libsvm, every value has its own index.
fw-synthetic
        the synthetic data of the benchmark of Fwumious Wabbit: an animal (namespace A: herbivores and carnivores)
        and a food (B: plants and meat), a hundred of each kind, and ten noise namespaces C to L with one of 10,000
        words each. The label is 1 if the animal eats the food, so only `-q AB` helps. As libsvm, every value has its
        own index.
topics  short texts of K classes (--classes, default 77): 5,000 words, the r-th most frequent with probability
        proportional to 1/r, about 12 tokens in a text; a third of them are from the 20 words of the text's class, which
        are among the 1,000 most frequent and also those of other classes. The best classifier of 77 classes has an
        error of about .1, as not every text has enough of its words. As VW text, labels are words: class 5 is `c5`.

Examples are made in blocks, each from its own random stream, so memory does not grow with the length, a
longer stream begins with the shorter one, and the same arguments give the same bytes.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator

import numpy as np

BLOCK = 4096  # examples generated at a time; the seed depends on it
MODEL = 1 << 40  # the number of the random stream for the planted model, after those of all blocks

WORDS = 47_236
PLANTED, COMMON = 1_000, 5_000  # number of words with a weight, and of the most frequent words they are drawn from
WORD_SCALE = 40.0  # of these weights; the best classifier has an error of about 7 %

CARDINALITIES = {
    "advertiser": 5_000,
    "browser": 50,
    "campaign": 20_000,
    "device": 3_000,
    "exchange": 20,
    "format": 12,
    "geo": 40_000,
    "hour": 24,
    "isp": 800,
    "journal": 100_000,
    "keyword": 1_000_000,
    "language": 100,
}
CROSSED = ("advertiser", "format")
MAIN_SCALE, CROSS_SCALE, INTERCEPT = 0.25, 1.0, -1.6


def stream(seed: int, number: int) -> np.random.Generator:
    """The random stream of a block."""
    return np.random.default_rng([seed, number])


class Rcv1:
    """Documents as lists of words with tf-idf values."""

    def __init__(self, seed: int) -> None:
        rng = stream(seed, MODEL)
        share = 1 / np.arange(1, WORDS + 1)
        share /= share.sum()
        self.cumulative = np.cumsum(share)
        self.word = 1 + rng.permutation(WORDS)  # of each rank
        tokens = np.exp(4.1 + 0.6**2 / 2)  # in a mean document
        documents = -np.expm1(tokens * np.log1p(-share))  # share of the documents with a word
        self.idf = np.empty(WORDS + 1)
        self.idf[self.word] = -np.log(documents)
        self.weights = np.zeros(WORDS + 1)
        self.weights[rng.choice(self.word[:COMMON], PLANTED, replace=False)] = WORD_SCALE * rng.standard_normal(PLANTED)

    def block(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Labels; the place in words and values where each document begins, and the end; words; values."""
        lengths = np.maximum(1, np.rint(rng.lognormal(4.1, 0.6, BLOCK))).astype(np.int64)
        ranks = np.searchsorted(self.cumulative, rng.random(int(lengths.sum())), side="right")
        words = self.word[np.minimum(ranks, WORDS - 1)]
        document = np.repeat(np.arange(BLOCK), lengths)
        pairs, counts = np.unique(document * (WORDS + 1) + words, return_counts=True)
        document, words = np.divmod(pairs, WORDS + 1)
        values = (1 + np.log(counts)) * self.idf[words]
        values /= np.sqrt(np.bincount(document, values * values, BLOCK))[document]
        margin = np.bincount(document, values * self.weights[words], BLOCK)
        labels = draw_labels(rng, margin)
        begins = np.searchsorted(document, np.arange(BLOCK + 1))
        return labels, begins, words, values

    def text(self, rng: np.random.Generator, form: str) -> list[bytes]:
        labels, begins, words, values = self.block(rng)
        head, pair = ("%d |w", " w%d:%.6g") if form == "vw" else ("%d", " %d:%.6g")
        numbers: list[float] = [0.0] * (2 * len(words))
        numbers[::2] = words.tolist()
        numbers[1::2] = values.tolist()
        lines = []
        for label, begin, end in zip(labels.tolist(), begins.tolist(), begins[1:].tolist(), strict=False):
            line = (head + pair * (end - begin) + "\n") % (label, *numbers[2 * begin : 2 * end])
            lines.append(line.encode())
        return lines


class Clicks:
    """Rows of one value per namespace."""

    def __init__(self, seed: int) -> None:
        rng = stream(seed, MODEL)
        self.names = list(CARDINALITIES)
        self.sizes = np.array(list(CARDINALITIES.values()))
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.main = MAIN_SCALE * rng.standard_normal(int(self.sizes.sum()) + 1)
        self.left, self.right = (self.names.index(name) for name in CROSSED)
        shape = self.sizes[self.left] + 1, self.sizes[self.right] + 1
        self.cross = CROSS_SCALE * rng.standard_normal(shape)

    def block(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Labels; values from 1, one row for each example. P(value k of n) = log(1 + 1/k) / log(1 + n)."""
        values = np.floor((self.sizes + 1) ** rng.random((BLOCK, len(self.sizes)))).astype(np.int64)
        values = np.clip(values, 1, self.sizes)
        margin = INTERCEPT + self.main[values + self.offsets].sum(axis=1)
        margin += self.cross[values[:, self.left], values[:, self.right]]
        return draw_labels(rng, margin), values

    def text(self, rng: np.random.Generator, form: str) -> list[bytes]:
        labels, values = self.block(rng)
        if form == "vw":
            line = "%d" + "".join(f" |{name} {name[0]}%d" for name in self.names) + "\n"
        else:
            line = "%d" + " %d:1" * len(self.names) + "\n"
            values = values + self.offsets
        rows = np.column_stack([labels, values])
        return ((line * BLOCK) % tuple(rows.ravel().tolist())).encode().splitlines(keepends=True)


class FwSynthetic:
    """Rows of one value per namespace; the label depends on a pair of namespaces."""

    KINDS = (("Herbivore", "Carnivore"), ("Plant", "Meat"))
    EACH, NOISE, WORDS = 100, 10, 10_000

    def __init__(self, seed: int) -> None:
        pass

    def text(self, rng: np.random.Generator, form: str) -> list[bytes]:
        kinds, numbers = rng.integers(2, size=(BLOCK, 2)), rng.integers(self.EACH, size=(BLOCK, 2))
        labels = np.where(kinds[:, 0] == kinds[:, 1], 1, -1)
        noise = rng.integers(self.WORDS, size=(BLOCK, self.NOISE))
        if form == "libsvm":
            pairs = 1 + np.arange(2) * 2 * self.EACH + kinds * self.EACH + numbers
            rows = np.column_stack([labels, pairs, 1 + 4 * self.EACH + np.arange(self.NOISE) * self.WORDS + noise])
            line = "%d" + " %d:1" * (2 + self.NOISE) + "\n"
            return ((line * BLOCK) % tuple(rows.ravel().tolist())).encode().splitlines(keepends=True)
        line = "%d |A %s-%d |B %s-%d" + "".join(f" |{name} w%d" for name in "CDEFGHIJKL"[: self.NOISE])
        lines = []
        for label, (a, b), (i, j), words in zip(
            labels.tolist(), kinds.tolist(), numbers.tolist(), noise.tolist(), strict=True
        ):
            lines.append((line % (label, self.KINDS[0][a], i, self.KINDS[1][b], j, *words) + "\n").encode())
        return lines


class Topics:
    """Short texts: each token is one of the words of its class with probability OWN, else any word."""

    WORDS, FREQUENT, EACH = 5_000, 1_000, 20  # all; those that classes have words among; of a class
    TOKENS, OWN = 12.0, 0.32

    def __init__(self, seed: int, classes: int = 77) -> None:
        rng = stream(seed, MODEL)
        self.share = 1 / np.arange(1, self.WORDS + 1)
        self.share /= self.share.sum()
        self.cumulative = np.cumsum(self.share)
        self.own = np.array([rng.choice(self.FREQUENT, self.EACH, replace=False) for _ in range(classes)])

    def block(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes, from 0; the text of each token; its word, from 0."""
        classes = rng.integers(len(self.own), size=BLOCK)
        texts = np.repeat(np.arange(BLOCK), np.maximum(rng.poisson(self.TOKENS, BLOCK), 1))
        words = np.searchsorted(self.cumulative, rng.random(len(texts)), side="right")
        words = np.minimum(words, self.WORDS - 1)
        is_own = rng.random(len(texts)) < self.OWN
        words[is_own] = self.own[classes[texts[is_own]], rng.integers(self.EACH, size=int(is_own.sum()))]
        return classes, texts, words

    def log_odds(self, texts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """log P(text | class) of all texts and classes, but for what is the same for all classes."""
        found = np.zeros((BLOCK, len(self.own)))
        for k, own in enumerate(self.own):
            more = np.zeros(self.WORDS)
            more[own] = np.log1p(self.OWN / self.EACH / ((1 - self.OWN) * self.share[own]))
            found[:, k] = np.bincount(texts, more[words], BLOCK)
        return found

    def text(self, rng: np.random.Generator, form: str) -> list[bytes]:
        classes, texts, words = self.block(rng)
        if form == "libsvm":
            pairs, counts = np.unique(texts * (self.WORDS + 1) + words + 1, return_counts=True)
            texts, words = np.divmod(pairs, self.WORDS + 1)
            tokens = [f" {word}:{count}" for word, count in zip(words.tolist(), counts.tolist(), strict=True)]
        else:
            tokens = [f" w{word + 1}" for word in words.tolist()]
        ends = np.searchsorted(texts, np.arange(BLOCK + 1)).tolist()
        head = "{}" if form == "libsvm" else "c{} |w"
        labels = (classes + 1).tolist()
        return [
            (head.format(labels[i]) + "".join(tokens[ends[i] : ends[i + 1]]) + "\n").encode() for i in range(BLOCK)
        ]


STREAMS: dict[str, Callable[..., Rcv1 | Clicks | FwSynthetic | Topics]] = {
    "rcv1": Rcv1, "clicks": Clicks, "fw-synthetic": FwSynthetic, "topics": Topics,
}


def draw_labels(rng: np.random.Generator, margin: np.ndarray) -> np.ndarray:
    """-1 or 1, with P(1) = 1 / (1 + exp(-margin))."""
    return np.where(rng.random(len(margin)) < 1 / (1 + np.exp(-margin)), 1, -1)


def generate(
    name: str, form: str, seed: int, examples: int | None, megabytes: float | None, **options: int
) -> Iterator[bytes]:
    """The text, in chunks: a number of examples, or whole lines until a number of megabytes (10^6 bytes)."""
    source = STREAMS[name](seed, **options)
    left = examples if examples is not None else sys.maxsize
    bytes_left = megabytes * 1e6 if megabytes is not None else float("inf")
    block = 0
    while left > 0 and bytes_left > 0:
        lines = source.text(stream(seed, block), form)[:left]
        chunk = b"".join(lines)
        if len(chunk) > bytes_left:
            ends = np.cumsum([len(line) for line in lines])
            chunk = b"".join(lines[: int(np.searchsorted(ends, bytes_left)) + 1])
        yield chunk
        left -= len(lines)
        bytes_left -= len(chunk)
        block += 1


def main(arguments: list[str] | None = None) -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stream", choices=list(STREAMS))
    parser.add_argument("--format", choices=["vw", "libsvm"], default="vw", help="the text (default: vw)")
    parser.add_argument("--examples", type=count, metavar="N", help="how many lines (default: 10000)")
    parser.add_argument("--megabytes", type=size, metavar="M", help="stop at the line that reaches M million bytes")
    parser.add_argument("--seed", type=count, default=0, help="another seed is another model and stream (default: 0)")
    parser.add_argument("--classes", type=count, metavar="K", help="of topics: how many classes (default: 77)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    typed = parser.parse_args(arguments)
    if typed.examples is None and typed.megabytes is None:
        typed.examples = 10_000
    if typed.classes is not None and (typed.stream != "topics" or typed.classes < 1):
        parser.error("--classes is for topics, at least 1")
    options = {} if typed.classes is None else {"classes": typed.classes}
    chunks = generate(typed.stream, typed.format, typed.seed, typed.examples, typed.megabytes, **options)
    try:
        if typed.output:
            write(typed.output, chunks)
        else:
            sys.stdout.buffer.writelines(chunks)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # no output at exit
    except OSError as e:
        print(f"generate.py: {typed.output or 'standard output'}: {e.strerror}", file=sys.stderr)
        return 74
    return 0


def write(path: str, chunks: Iterator[bytes]) -> None:
    """Write a file atomically."""
    unfinished = f"{path}.unfinished"
    try:
        with open(unfinished, "wb") as f:
            f.writelines(chunks)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise


def count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def size(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


if __name__ == "__main__":
    sys.exit(main())
