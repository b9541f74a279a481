"""The data sets are well-formed and the generated streams are what they claim to be."""

import gzip
import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
GENERATE = DATA / "generate.py"

spec = importlib.util.spec_from_file_location("generate", GENERATE)
assert spec is not None and spec.loader is not None
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


def generated(*arguments: str) -> bytes:
    return subprocess.run([sys.executable, str(GENERATE), *arguments], check=True, capture_output=True).stdout


def libsvm(line: str) -> tuple[int, dict[int, float]]:
    label, *pairs = line.split(" ")
    features = {}
    previous = 0
    for pair in pairs:
        index, value = pair.split(":")
        assert int(index) > previous
        previous = int(index)
        features[previous] = float(value)
    return int(label), features


def blocks(name: str, seed: int, count: int) -> list:
    source = generate.STREAMS[name](seed)
    return [source.block(generate.stream(seed, number)) for number in range(count)]


@pytest.mark.parametrize("name", list(generate.STREAMS))
@pytest.mark.parametrize("form", ["vw", "libsvm"])
class TestStreams:
    def test_the_same_arguments_give_the_same_bytes(self, name: str, form: str, tmp_path: Path) -> None:
        arguments = [name, "--format", form, "--examples", "300", "--seed", "5"]
        text = generated(*arguments)
        assert text.count(b"\n") == 300
        assert generated(*arguments, "-o", str(tmp_path / "file")) == b""
        assert (tmp_path / "file").read_bytes() == text
        assert list(tmp_path.iterdir()) == [tmp_path / "file"]

    def test_another_seed_gives_another_stream(self, name: str, form: str) -> None:
        first, second = (b"".join(generate.generate(name, form, seed, 10, None)) for seed in (0, 1))
        assert first != second

    def test_a_longer_stream_begins_with_the_shorter_one(self, name: str, form: str) -> None:
        short, long = (b"".join(generate.generate(name, form, 2, n, None)) for n in (100, generate.BLOCK + 50))
        assert long.startswith(short)
        assert long.count(b"\n") == generate.BLOCK + 50
        assert long[len(short) :].count(short[:200]) == 0  # blocks differ

    def test_megabytes_end_at_the_line_that_reaches_them(self, name: str, form: str) -> None:
        for megabytes in (1e-6, 0.05, 6.5):
            text = b"".join(generate.generate(name, form, 3, None, megabytes))
            last_line = text[text.rfind(b"\n", 0, -1) + 1 :]
            assert len(text) - len(last_line) < megabytes * 1e6 <= len(text)
            assert text.endswith(b"\n")


def test_documents_have_words_in_range_and_unit_length() -> None:
    for line in b"".join(generate.generate("rcv1", "libsvm", 1, 500, None)).decode().splitlines():
        label, features = libsvm(line)
        assert label in (-1, 1)
        assert min(features) >= 1 and max(features) <= generate.WORDS == 47_236
        assert min(features.values()) > 0
        assert sum(value**2 for value in features.values()) == pytest.approx(1, abs=1e-4)


def test_documents_are_the_same_as_vw_text_and_as_libsvm() -> None:
    as_vw, as_libsvm = (b"".join(generate.generate("rcv1", form, 1, 50, None)) for form in ("vw", "libsvm"))
    assert as_vw.replace(b" |w", b"").replace(b" w", b" ") == as_libsvm


def test_words_follow_zipf_and_lengths_are_lognormal() -> None:
    source = generate.Rcv1(0)
    begins, words = [], []
    for number in range(2):
        _, b, w, _ = source.block(generate.stream(0, number))
        begins.append(b)
        words.append(w)
    documents = 2 * generate.BLOCK
    share = np.bincount(np.concatenate(words), minlength=generate.WORDS + 1)[source.word] / documents
    rank = np.arange(1, generate.WORDS + 1)
    harmonic = (1 / rank).sum()
    # A word of rank r is in a document of n tokens with probability about n / (r H) where that is small.
    tokens = np.exp(4.1 + 0.18)
    for low, high in ((50, 100), (200, 400), (2000, 4000)):
        expected = (tokens / (rank[low:high] * harmonic)).sum()
        assert share[low:high].sum() == pytest.approx(expected, rel=0.1)
    lengths = np.concatenate([np.diff(b) for b in begins])
    assert 40 < np.median(lengths) < np.exp(4.1)  # words that come again count once
    assert 0.4 < np.log(lengths).std() < 0.7


@pytest.mark.parametrize("seed", range(4))
def test_share_of_positives(seed: int) -> None:
    (documents, *_), (clicks, _) = blocks("rcv1", seed, 1)[0], blocks("clicks", seed, 1)[0]
    assert 0.35 < (documents == 1).mean() < 0.65
    assert 0.1 < (clicks == 1).mean() < 0.3


def test_clicks_have_twelve_namespaces_of_one_feature() -> None:
    names = list(generate.CARDINALITIES)
    assert [name[0] for name in names] == list("abcdefghijkl")
    most = Counter[str]()
    for line in b"".join(generate.generate("clicks", "vw", 1, 2000, None)).decode().splitlines():
        label, *spaces = line.split(" |")
        assert label in ("-1", "1")
        assert [space.split(" ")[0] for space in spaces] == names
        for name, feature in (space.split(" ") for space in spaces):
            assert feature[0] == name[0] and 1 <= int(feature[1:]) <= generate.CARDINALITIES[name]
            most[name] = max(most[name], int(feature[1:]))
    assert most["keyword"] > 500_000 and most["format"] == 12  # the whole range is used


def test_clicks_as_libsvm_give_every_value_its_own_index() -> None:
    as_vw, as_libsvm = (b"".join(generate.generate("clicks", form, 1, 200, None)) for form in ("vw", "libsvm"))
    meaning: dict[int, str] = {}
    for row, line in zip(as_vw.decode().splitlines(), as_libsvm.decode().splitlines(), strict=True):
        label, features = libsvm(line)
        names = [space.split(" ")[1] for space in row.split(" |")[1:]]
        assert label == int(row.split(" ")[0]) and set(features.values()) == {1}
        for index, name in zip(features, names, strict=True):
            assert meaning.setdefault(index, name) == name
    assert len(set(meaning.values())) == len(meaning)


def test_the_documents_can_be_learned() -> None:
    """Stochastic gradient steps of the logistic loss, averaged over small batches."""
    weights = np.zeros(generate.WORDS + 1)
    errors = []
    for labels, begins, words, values in blocks("rcv1", 0, 6):
        margin = np.zeros(len(labels))
        for i in range(len(labels)):
            at = slice(begins[i], begins[i + 1])
            margin[i] = weights[words[at]] @ values[at]
            weights[words[at]] += 4 * labels[i] / (1 + np.exp(labels[i] * margin[i])) * values[at]
        errors.append((margin * labels <= 0).mean())
    assert errors[-1] < 0.25 < 0.4 < (labels == 1).mean() < 0.6  # 0.4 and more by guessing
    assert errors[-1] < errors[0]


def test_the_interaction_is_worth_a_feature() -> None:
    sizes = list(generate.CARDINALITIES.values())
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    a, f = (list(generate.CARDINALITIES).index(name) for name in generate.CROSSED)
    losses = {}
    stream = blocks("clicks", 0, 6)
    for crossed in (False, True):
        weights = np.zeros(2 + offsets[-1] + (sizes[a] + 1) * (sizes[f] + 1))
        margins, truth = [], []
        for labels, values in stream:
            features = values + offsets[:-1]
            if crossed:
                pair = offsets[-1] + 2 + values[:, a] * (sizes[f] + 1) + values[:, f]
                features = np.column_stack([features, pair])
            for y, x in zip(labels, features, strict=True):
                margin = weights[x].sum()
                weights[x] += 0.1 * y / (1 + np.exp(y * margin))
                margins.append(margin)
                truth.append(y)
        half = len(truth) // 2
        losses[crossed] = np.logaddexp(0, -np.multiply(truth, margins))[half:].mean()
    share = np.mean(np.array(truth[half:]) == 1)
    guess = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert losses[True] < losses[False] - 0.01
    assert losses[True] < guess - 0.01


def test_a_closed_pipe_ends_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, str(GENERATE), "clicks", "--megabytes", "1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "file"
    done = subprocess.run([sys.executable, str(GENERATE), "rcv1", "-o", str(path)], capture_output=True, text=True)
    assert done.returncode == 74
    assert done.stderr == f"generate.py: {path}: No such file or directory\n"


def read_text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_bytes().decode()


def test_breast_cancer() -> None:
    labels = Counter[str]()
    seen = set()
    for part, lines in (("train", 426), ("test", 143)):
        text = read_text(DATA / f"breast_cancer.{part}.vw")
        assert text.endswith("\n") and len(text.splitlines()) == lines
        for line in text.splitlines():
            label, *spaces = line.split(" |")
            labels[label] += 1
            seen.add(line)
            assert [space.split(" ")[0] for space in spaces] == ["mean", "error", "worst"]
            for space in spaces:
                names, values = zip(*(pair.split(":") for pair in space.split(" ")[1:]), strict=True)
                assert len(set(names)) == 10 and all(float(value) >= 0 for value in values)
    assert labels == {"1": 212, "-1": 357}
    assert len(seen) == 569


def test_digits() -> None:
    labels = Counter[int]()
    for part, lines in (("train", 1347), ("test", 450)):
        text = read_text(DATA / f"digits.{part}.libsvm")
        assert text.endswith("\n") and len(text.splitlines()) == lines
        for line in text.splitlines():
            label, features = libsvm(line)
            labels[label] += 1
            assert min(features) >= 1 and max(features) <= 64
            assert set(features.values()) <= set(range(1, 17))
    assert set(labels) == set(range(1, 11))
    assert labels.total() == 1797 and labels[10] == 178


def test_the_readme_names_every_file_and_its_lines() -> None:
    goals: dict[str, str] = {}  # name: lines, or nothing
    for line in (DATA / "README.md").read_text().splitlines():
        if line.startswith("| `"):
            names, lines = ([cell.strip(" `") for cell in cells.split(",")] for cells in line.split("|")[1:3])
            goals.update(zip(names, lines, strict=True))
    there = {path.name for path in DATA.iterdir() if path.is_file()} - {"README.md"}
    assert set(goals) == there
    for name, lines in goals.items():
        if lines:
            assert read_text(DATA / name).count("\n") == int(lines), name


@pytest.mark.parametrize("path", sorted([*DATA.glob("*.vw"), *DATA.glob("*.libsvm")]), ids=lambda path: path.name)
def test_the_parser_finds_nothing_wrong(path: Path) -> None:
    from vwlite.core.data.batch import Batch
    from vwlite.core.text.parser import Parser, detect

    text = path.read_bytes()
    assert detect(text) == path.suffix[1:]
    assert Parser(format=path.suffix[1:]).parse(text, Batch()) == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_lists_goals_that_exist() -> None:
    def make(*arguments: str) -> str:
        return subprocess.run(
            ["make", "-s", *arguments], cwd=DATA.parent, check=True, capture_output=True, text=True
        ).stdout

    goals = [line.split()[1] for line in make("help").splitlines() if line.startswith("make ")]
    assert make() == make("help")
    assert {"demo", "test", "lint", "sanitize", "bench", "clean"} <= set(goals)
    make("--dry-run", *goals)


def test_the_label_of_fw_synthetic_is_that_of_the_pair():
    """Both formats have the same examples, and the label depends on the pair of animal and food."""
    lines = {}
    for form in ("vw", "libsvm"):
        lines[form] = b"".join(generate.generate("fw-synthetic", form, 3, 500, None)).decode().splitlines()
    indices: dict[str, int] = {}
    for text, numbers in zip(lines["vw"], lines["libsvm"], strict=True):
        label, *namespaces = text.split(" |")
        assert [n[0] for n in namespaces] == list("ABCDEFGHIJKL")
        animal, food = (n.split(" ")[1].split("-")[0] for n in namespaces[:2])
        eaten = (animal, food) in {("Herbivore", "Plant"), ("Carnivore", "Meat")}
        other, features = libsvm(numbers)
        assert int(label) == other == (1 if eaten else -1)
        assert list(features.values()) == [1.0] * 12
        for name, index in zip(namespaces, features, strict=True):
            assert indices.setdefault(name, index) == index
    assert len(set(indices.values())) == len(indices)


@pytest.mark.parametrize("classes", [3, 77])
def test_topics_are_the_same_as_vw_text_and_as_libsvm(classes: int) -> None:
    lines = {
        form: b"".join(generate.generate("topics", form, 1, 400, None, classes=classes)).decode().splitlines()
        for form in ("vw", "libsvm")
    }
    labels = set()
    for text, numbers in zip(lines["vw"], lines["libsvm"], strict=True):
        head, words = text.split(" |w ")
        label, features = libsvm(numbers)
        assert head == f"c{label}"
        assert features == Counter(int(word.removeprefix("w")) for word in words.split(" "))
        labels.add(label)
    assert labels <= set(range(1, classes + 1)) and len(labels) > 0.9 * classes


@pytest.mark.parametrize("seed", range(2))
def test_the_error_of_the_best_classifier_of_topics(seed: int) -> None:
    source = generate.Topics(seed)
    classes, texts, words = source.block(generate.stream(seed, 0))
    lengths = np.bincount(texts)
    assert lengths.min() >= 1 and 11.5 < lengths.mean() < 12.5
    assert words.min() >= 0 and words.max() < source.WORDS
    error = np.mean(source.log_odds(texts, words).argmax(axis=1) != classes)
    assert 0.07 < error < 0.13


def test_classes_are_for_topics() -> None:
    done = subprocess.run([sys.executable, str(GENERATE), "rcv1", "--classes", "3"], capture_output=True, text=True)
    assert done.returncode == 2 and "--classes is for topics" in done.stderr
