"""Nights: models that are learned again from the rows that were kept and the new ones."""

import json
import os
import random
import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from nights import DAYS, KINDS, a_night, rows_of, unsettled

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.model import read_model
from vwlite.model.kept_rows import KeptRows, Part, RowFacts, RowsFile, found_for
from vwlite.model.nights import nights_of
from vwlite.training.nights import new_rows_only, summary, trainer
from vwlite.training.nights.forgetting import Evidence, PastChoice
from vwlite.training.nights.keeping import RowKeeping


@pytest.mark.third
@pytest.mark.parametrize("kind", KINDS)
def test_nights_are_one_run_of_all_their_rows(vwlite, write, kind):
    """The same features, weights and predictions."""
    options = (*KINDS[kind][2], "--quiet")
    for day in range(DAYS):
        vwlite("train", "--continue", "m", write(kind, "day", [day]), *options)
    # --continue and --fail-if leave the loss squared for amounts
    vwlite("train", write(kind, "all", range(DAYS)), *options, "-m", "one", "--fail-if", "average_loss<0")
    m, one, new = read_model("m"), read_model("one"), write(kind, "new", [9])
    assert vwlite("weights", "m").out == vwlite("weights", "one").out
    assert {**m.arrays()}.keys() == {**one.arrays()}.keys()
    assert all(bytes(a) == bytes(b) for a, b in zip(m.arrays().values(), one.arrays().values(), strict=True))
    assert (m.options, m.counters["examples"], m.chosen) == (one.options, one.counters["examples"], one.chosen)
    assert vwlite("predict", "-m", "m", new).out == vwlite("predict", "-m", "one", new).out


def test_the_loss_is_that_of_the_new_rows_before_they_were_learned(vwlite, write):
    """As evaluate and predict have it, with yesterday's model: also for words and cells that it does not know."""
    first, second = write("two words", "first", [0]), write("two words", "second", [1])
    vwlite("train", "--continue", "m", first, "--label", "two", "--quiet")
    measures = json.loads(vwlite("evaluate", "-m", "m", second, "--json").out)["measures"]
    predictions = vwlite("predict", "-m", "m", second).out
    found = vwlite("train", "--continue", "m", second, "--label", "two", "-p", "-", "--report", "r.json")
    results = json.loads(Path("r.json").read_text())["results"]
    assert found.out == predictions
    assert results["average_loss"] == pytest.approx(measures["log_loss"]["value"], abs=1e-6)
    assert results["auc"] == pytest.approx(measures["auc"]["value"], abs=1e-3)
    assert results["number_of_examples"] == 150
    assert "on new rows before they were learned" in found.err


def test_a_night_of_a_pipe_is_that_of_a_file(vwlite, write):
    first, second = write("two words", "first", [0]), write("two words", "second", [1])
    for name in ("file", "pipe"):
        vwlite("train", "--continue", name, first, "--label", "two", "--quiet")
    vwlite("train", "--continue", "file", second, "--label", "two", "--quiet")
    read, end = os.pipe()
    os.write(end, second.read_bytes())
    os.close(end)
    vwlite("train", "--continue", "pipe", f"/dev/fd/{read}", "--label", "two", "--quiet")
    os.close(read)
    assert Path("file").read_bytes() == Path("pipe").read_bytes()
    sizes = [Path(f"{name}.rows").stat().st_size - len(str(data))
             for name, data in (("file", second), ("pipe", f"/dev/fd/{read}"))]
    assert sizes[0] == sizes[1]


def test_who_keeps_rows(vwlite, write):
    data = write("two words", "day", [0])
    vwlite("train", data, "--label", "two", "-m", "m", "--quiet")
    assert not Path("m.rows").exists()
    vwlite("train", data, "--label", "two", "-m", "m", "--quiet", "--keep-rows", "1M")
    assert stat.S_IMODE(Path("m.rows").stat().st_mode) == 0o600
    vwlite("train", write("two words", "next", [1]), "--label", "two", "-i", "m", "-m", "n", "--quiet")
    assert Path("n.rows").stat().st_size > Path("m.rows").stat().st_size
    vwlite("train", write("two words", "last", [2]), "--label", "two", "--continue", "n", "--quiet", "--keep-rows", "0")
    assert not Path("n.rows").exists()


@pytest.mark.parametrize("option", ["-p", "-r", "--report", "--rejects"])
def test_kept_rows_are_not_overwritten(vwlite, write, option):
    data = write("two words", "day", [0])
    vwlite("train", data, "--label", "two", "--continue", "m", "--quiet")
    before = Path("m.rows").read_bytes()
    refused = vwlite("train", write("two words", "next", [1]), "--label", "two", "--continue", "m", option, "m.rows",
                     "--on-error", "skip", code=2)
    assert refused.err.endswith(" m.rows is where rows of m are kept, which it would overwrite\n")
    assert Path("m.rows").read_bytes() == before


def test_rows_that_count_nothing_are_not_said_to_be_too_many(vwlite, write):
    for day, more in enumerate([[], ["--past", "0"]]):
        done = vwlite("train", write("two words", "day", [day]), "--label", "two", "--continue", "m", *more)
    assert "which count as 0" in done.err and "the newest" not in done.err


@pytest.mark.parametrize("bound", [3000, 9000, 40_000])
def test_the_newest_rows_that_fit_are_kept(vwlite, write, bound):
    """What a row takes: 33 bytes, 9 for each span, 8 for each feature. Older ones no longer count."""
    for day in range(DAYS):
        vwlite("train", "--continue", "m", write("two words", "day", [day]), "--label", "two", "--keep-rows", bound,
               "--quiet")
    rows = [row for day in range(DAYS) for row in rows_of(day)]
    sizes = [33 + (9 + 8) * 4 for _ in rows]  # each cell, also a missing one, is a feature of its column
    fitting = min(bound // sizes[0], len(rows))
    kept, _ = found_for("m", read_model("m").digest)
    assert sum(len(batch) for batch in kept.batches()) == kept.facts.lines == fitting
    labels = [y for batch in kept.batches() for y in batch.label]
    assert labels == [1 if row["two"] == "yes" else -1 for row in rows[len(rows) - fitting:]]
    assert kept.facts.dropped == len(rows) - fitting
    names = {name for *_, name in kept.log}
    used = {row["c"] for row in rows[len(rows) - fitting:]}
    assert {f"c={c}".encode() for c in "abcde"} & names == {f"c={c}".encode() for c in used}


def test_a_column_that_is_ignored_is_said_once(vwlite, folder):
    """DATA are read several times."""
    for day, column in enumerate(["", "", ",z"]):
        rows = bent(day, 100)
        lines = "".join(f"{y:.3f},{x:.3f},{c}{',7' * bool(column)}\n" for y, x, c in rows)
        Path("day.csv").write_text(f"y,x,c{column}\n{lines}")
        done = vwlite("train", "--continue", "m", "day.csv", "--label", "y", "--keep-rows", "4K")
    assert done.err.count("columns that are not in the model are ignored: z") == 1


def texts(seed, rows, turned=False):
    """VW text of 300 words, each with a weight of its own."""
    rng, words = random.Random(seed), [random.Random(j).gauss(0, 1.5) for j in range(300)]
    for _ in range(rows):
        chosen = rng.sample(range(300), 8)
        score = sum(words[j] for j in chosen) * (-1 if turned else 1)
        yield f"{1 if score + rng.gauss(0, 0.5) > 0 else -1} | {' '.join(f'w{j}' for j in chosen)}\n"


@pytest.mark.parametrize("turned", [False, True])
def test_a_model_that_knows_more_than_the_kept_rows_learns_the_new_rows_only(vwlite, folder, turned):
    """As without kept rows, if it is not worse than a model that is trained again: not where all before was wrong. Few
    rows do not decide; then it does, as most rows are not kept."""
    Path("first.vw").write_text("".join(texts(1, 1500, turned)) + "".join(texts(2, 150)))
    Path("next.vw").write_text("".join(texts(3, 200)))
    Path("few.vw").write_text("".join(texts(4, 20)))
    vwlite("train", "first.vw", "-m", "m", "--keep-rows", "20K", "--quiet")
    for data, old, new in (("next.vw", "m", "n"), ("few.vw", "n", "p")):
        done, again = vwlite("train", data, "-i", old, "-m", new, "--past", "1"), turned and data == "next.vw"
        assert ("trained again from" in done.err) == again != ("learned only the" in done.err)
        vwlite("train", data, "-i", old, "-m", "gd", "--keep-rows", "0", "--quiet")
        weights = [(read_model(name).weights.tolist(), read_model(name).counters) for name in (new, "gd")]
        assert (weights[0] == weights[1]) == (not again)
        kept, _ = found_for(new, read_model(new).digest)
        assert kept.facts.lines == 20 * 1024 // (33 + 9 + 8 * 8) and kept.facts.beyond > 1000


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_model_knows_of_other_rows_is_forgotten_only_if_that_is_better(vwlite, folder, monkeypatch, turned):
    """Kept rows seem to be of another time; those that are not kept are, or are not."""
    Path("first.vw").write_text("".join(texts(1, 1500, turned)) + "".join(texts(2, 150)))
    Path("next.vw").write_text("".join(texts(3, 200)))
    vwlite("train", "first.vw", "-m", "m", "--keep-rows", "20K", "--quiet")
    monkeypatch.setattr(trainer, "choose_past", lambda examples, evidence: PastChoice(
        0.4, 9.0, 1.0, replace(evidence, rows=examples.rows, caution=1.0)))
    said = vwlite("train", "next.vw", "-i", "m", "-m", "n", "--keep-rows", "60K", "--report", "r.json").err
    assert ("kept rows count 0.4 times as much" in said) == turned != ("learned only the 200 new rows" in said)
    facts = found_for("n", read_model("n").digest)[0].facts
    assert {part.counts for part in facts.parts} == ({0.4, 1.0} if turned else {1.0})
    assert facts.evidence["caution"] == (1.0 if turned else 6.0)
    assert json.loads(Path("r.json").read_text())["results"]["past"] == (0.4 if turned else 1.0)


def test_features_are_found_anew_where_rows_are_enough():
    """Half of all rows, and 1.25 times those from which features were found."""
    for lines, beyond, found_from, new, expected in (
        (900, 0, 0, 300, True), (900, 0, 0, 200, False), (1500, 500, 1500, 500, True), (1500, 500, 1700, 500, False),
        (1500, 2600, 1000, 500, False), (1500, 1900, 1000, 500, True),
    ):
        kept = KeptRows.__new__(KeptRows)
        kept.facts = RowFacts((Part(lines, 1.0, 1.0),), beyond=beyond, dropped=beyond)
        keeping = RowKeeping(None, kept, 0)
        keeping.features_from = found_from
        assert keeping.has_more_for_features(new) == expected, (lines, beyond)
        keeping.found_features(new)
        assert keeping.stored() == {"nights": []} | ({"features_from": lines + new} if beyond else {})


def learned_alone(vwlite, kind, write, more=(), days=3):
    """What was said of the nights of a model without kept rows."""
    found = [vwlite("train", "--continue", "m", write(kind, "day", [day]), *(KINDS[kind][2] if not day else []), *more)
             for day in range(days)]
    return [re.search("learned only the ([0-9,]+) new rows, (by steps[a-z ]*), as", done.err) for done in found[1:]]


@pytest.mark.parametrize("kind", KINDS)
def test_models_without_kept_rows_learn_the_new_rows_only(vwlite, write, kind):
    """Each kind of labels; the loss of the last day falls."""
    for how in learned_alone(vwlite, kind, write, ["--keep-rows", "0"], days=2):
        assert how and how[1] == "150"
    assert not Path("m.rows").exists()
    done = vwlite("train", "--continue", "m", write(kind, "last", [2]), "--keep-rows", "0")
    assert "rows before =" not in done.err and "past =" not in done.err
    night = nights_of(read_model("m").continued)[-1]
    assert (night.rows, night.pairs, night.words, night.past) == (150, 0, 0, 1)


def weights_by(vwlite, *words):
    vwlite("train", *words, "-i", "m", "-m", "n", "--quiet")
    return read_model("n").weights.tolist()


def test_rows_are_learned_by_steps_as_they_come(vwlite, folder):
    """With options of gd; and from standard input, unless it is learned whole or not at all."""
    Path("first.vw").write_text("".join(texts(1, 300)))
    Path("next.vw").write_text("".join(texts(2, 200)))
    vwlite("train", "first.vw", "-m", "m", "--quiet")
    steps = weights_by(vwlite, "next.vw", "--passes", "1")
    assert weights_by(vwlite, "next.vw", "--checkpoint-every", "100") == steps
    read, end = os.pipe()
    os.write(end, Path("next.vw").read_bytes())
    os.close(end)
    assert weights_by(vwlite, f"/dev/fd/{read}") == steps
    os.close(read)
    shutil.copy("m", "c")
    done = vwlite("train", "--continue", "c", "next.vw")
    assert "learned only the 200 new rows, by steps" in done.err
    assert (read_model("c").weights.tolist() == steps) == ("by steps and a fit" not in done.err)


def test_rows_that_nobody_reads_again_are_not_written(vwlite, folder, monkeypatch):
    """Without kept rows, days may be larger than the folder of temporary files."""
    Path("first.vw").write_text("".join(texts(1, 300)))
    Path("next.vw").write_text("".join(texts(2, 200)))
    vwlite("train", "first.vw", "-m", "m", "--quiet")
    monkeypatch.setattr("vwlite.input.cache.CacheWriter.add", None)
    assert "learned only the 200 new rows" in vwlite("train", "next.vw", "-i", "m", "-m", "n").err


@pytest.mark.parametrize("part", [1, 37, 200, 1000])
def test_many_rows_are_fitted_in_parts(vwlite, folder, monkeypatch, part):
    """In parts of 200, or of more than all, it is one fit."""
    Path("first.vw").write_text("".join(texts(1, 300)))
    Path("next.vw").write_text("".join(texts(2, 200)))
    vwlite("train", "first.vw", "-m", "m", "--quiet")
    monkeypatch.setattr(trainer, "best_way", lambda found, *others: found[1][0])
    whole = weights_by(vwlite, "next.vw")
    sizes = []
    fit = summary.Summary.fitted
    monkeypatch.setattr(summary.Summary, "fitted", lambda self, settings, rows, classes: (
        sizes.append(len(rows)), fit(self, settings, rows, classes))[1])
    monkeypatch.setattr(summary, "PART", part)
    found = weights_by(vwlite, "next.vw")
    assert sum(sizes) == 300 and max(sizes) == min(part, 200)  # the first half, then all
    assert (found == whole) == (part >= 200)
    assert np.corrcoef(found, whole)[0, 1] > 0.9


@pytest.mark.parametrize("more", [[], ["--class-weight", "balanced"]])
def test_both_ways_are_judged_by_the_same_rows(vwlite, folder, monkeypatch, more):
    """Without rows that are not learned; and by importances as they are in DATA."""
    Path("first.vw").write_text("".join(texts(1, 600)))
    lines = [*texts(3, 200)]
    # The 100th row that can be learned is line 110, as ten lines of importance 0 or without a label are before it.
    weightless, unlabelled = [line.replace(" |", " 0 |", 1) for line in texts(5, 5)], texts(6, 5)
    lines[0:0] = [*weightless, *(line[line.index("|") :] for line in unlabelled)]
    lines[150:150] = [line.replace(" |", " 0 |", 1) for line in texts(7, 5)]
    lines = [line.replace(" |", " 3 |", 1) if k % 7 == 0 and " |" in line and " 0 |" not in line else line
             for k, line in enumerate(lines)]
    Path("next.vw").write_text("".join(lines))
    vwlite("train", "first.vw", "-m", "m", "--keep-rows", "20K", "--quiet", *more)
    seen, decide = [], new_rows_only.is_taken
    monkeypatch.setattr(new_rows_only, "is_taken", lambda *rows: seen.append(rows) or decide(*rows))
    vwlite("train", "next.vw", "-i", "m", "-m", "n", "--past", "1", "--quiet", *more)
    continued, again, _ = seen[0]
    expected = [float(line.split()[1]) if line.split()[1][0] != "|" else 1.0 for line in lines[110:]]
    assert again[:, 0].tolist() == [h for h in expected if h > 0]
    assert continued.shape == again.shape and np.isfinite(continued).all()
    if not more:
        assert continued[:, 0].tolist() == again[:, 0].tolist()


@pytest.mark.parametrize("cut", [0, 10, 1000, -1])
def test_damaged_rows_are_an_error(vwlite, write, cut):
    night = a_night(vwlite, write, code=65)
    content = Path("M.rows").read_bytes()
    Path("M.rows").write_bytes(content[:cut])
    model, said = Path("M").read_bytes(), night().err
    assert "cannot be read: it is" in said and "remove it, or add --keep-rows 0" in said
    assert Path("M").read_bytes() == model and Path("M.rows").read_bytes() == content[:cut]


def test_every_byte_of_the_rows_counts(vwlite, write):
    night = a_night(vwlite, write, "--quiet", code=None)
    content, r = Path("M.rows").read_bytes(), random.Random(1)
    for _ in range(40):
        changed = bytearray(content)
        changed[r.randrange(len(content))] ^= 1 << r.randrange(8)
        Path("M.rows").write_bytes(changed)
        model = Path("M").read_bytes()
        found = night()
        assert found.code == 65, found
        assert Path("M").read_bytes() == model


@pytest.mark.parametrize("evidence", [{"a": 1}, {"shift": [1.0, 2.0]}, {"shift": ["a"]}, {"level": [1.0, -1.0]}])
def test_evidence_that_is_not_valid(vwlite, write, evidence):
    """Made by hand: the program writes none."""
    a_night(vwlite, write, "--quiet")
    model = read_model("M")
    kept, _ = found_for("M", model.digest)
    wrong = evidence if "a" in evidence else Evidence().stored() | evidence
    file = RowsFile("M", model.digest, kept.shape, replace(kept.facts, evidence=wrong))
    file.write(kept.batches(), kept.log, kept.classes, kept.keys)
    file.settle()
    data = write("two words", "third", [2])
    refused = vwlite("train", "--continue", "M", data, "--label", "two", "--quiet", code=65).err
    assert re.search(r"^M.rows: not valid rows: .*; remove the file, or add --keep-rows 0$", refused, re.M)


def test_rows_of_a_newer_program(vwlite, write):
    night = a_night(vwlite, write, code=65)
    content = bytearray(Path("M.rows").read_bytes())
    content[14] += 1
    Path("M.rows").write_bytes(content)
    assert "a newer vwlite has written it" in night().err


def test_rows_that_are_not_of_the_model(vwlite, write):
    """The past is then a summary, which is said, and no rows are kept."""
    night = a_night(vwlite, write)
    vwlite("train", write("two words", "third", [2]), "--label", "two", "-m", "M", "--quiet")
    said = night().err
    assert "M.rows is of another model: the past counts as a summary, 150 examples" in said
    assert "--keep-rows 64M keeps rows from now on" in said
    assert not Path("M.rows").exists()
    vwlite("train", write("two words", "third", [2]), "--label", "two", "-m", "M", "--quiet")
    assert "M.rows is not there" in vwlite("train", "-i", "M", write("two words", "next", [3]), "--label", "two").err


def test_rows_whose_model_got_its_name_first(vwlite, write):
    """A run that is killed between the two renames leaves them under the other name."""
    night = a_night(vwlite, write)
    digest = read_model("M").digest
    os.rename("M.rows", f"M.rows.{digest[:16]}")
    Path("M.rows.0123456789abcdef").write_bytes(Path("M").with_suffix(f".rows.{digest[:16]}").read_bytes()[:100])
    assert "trained again from 150 kept rows" in night().err
    assert Path("M.rows").exists() and not unsettled()


def test_a_file_that_is_no_rows_is_not_replaced(vwlite, write):
    data = write("two words", "first", [0])
    Path("M.rows").write_text("my own\n")
    said = vwlite("train", "--continue", "M", data, "--label", "two", code=73).err
    assert "not a cache of vwlite" in said and Path("M.rows").read_text() == "my own\n" and not Path("M").exists()


def test_rows_are_counted_from_when_they_were_kept(vwlite, write):
    """A model without rows is continued as before, and its rows are kept, until most of its examples have some."""
    vwlite("train", write("two words", "day", [0]), "--label", "two", "-m", "M", "--quiet")
    vwlite("train", write("two words", "day", [0]), "--label", "two", "-m", "N", "--quiet")
    second = write("two words", "second", [1])
    vwlite("train", "--continue", "M", second, "--label", "two", "--keep-rows", "1M", "--quiet")
    vwlite("train", "--continue", "N", second, "--label", "two", "--quiet")
    assert vwlite("weights", "M").out == vwlite("weights", "N").out
    kept, _ = found_for("M", read_model("M").digest)
    assert (kept.facts.before, kept.facts.lines) == (150, 150)
    third = write("two words", "third", [2])
    assert "trained again from 150 kept rows" in vwlite("train", "--continue", "M", third, "--label", "two").err
    vwlite("train", write("two words", "all", [1, 2]), "--label", "two", "-m", "one", "--quiet")
    assert vwlite("weights", "M").out == vwlite("weights", "one").out


@pytest.mark.parametrize("words", [("--sparse",), ("--algorithm", "gd"), ("--learning-rate", "1")])
def test_rows_are_for_the_default(vwlite, write, words):
    data = write("0 and 1", "day", [0])
    said = vwlite("train", data, "--label", "zero", "-m", "M", "--keep-rows", "1M", *words, code=2).err
    assert "--keep-rows is for models of --algorithm auto, the default" in said
    vwlite("train", "--continue", "M", data, "--label", "zero", *words, "--quiet")
    assert not Path("M.rows").exists()


def test_names_are_given_to_a_model_with_its_rows(vwlite, write):
    data = write("VW text", "first", [0])
    vwlite("train", "--continue", "M", data, "--quiet")
    vwlite("names", "M", data, "-o", "M", "--quiet")
    assert "trained again from 150 kept rows" in vwlite("train", "--continue", "M", write("VW text", "second", [1])).err


def test_a_limit_by_the_run_before(vwlite, write):
    night = a_night(vwlite, write, "--fail-if", "loss>yesterday-9se", code=1)
    model = Path("M").read_bytes()
    assert "--fail-if loss>yesterday-9se: it is 0." in night().err
    assert Path("M").read_bytes() == model and not unsettled()
    second = write("two words", "second", [1])
    vwlite("train", "--continue", "M", second, "--label", "two", "--fail-if", "loss>yesterday+9se", "--quiet")
    second = write("two words", "third", [2])
    said = vwlite("train", "--continue", "M", second, "--label", "two", "--fail-if", "auc<yesterday", code=2).err
    assert "yesterday is of loss or average_loss" in said
    assert "yesterday is of vwlite train" in vwlite("evaluate", "-m", "M", second, "--fail-if", "log_loss>yesterday",
                                                     code=2).err


def test_nothing_to_learn(vwlite, write):
    night = a_night(vwlite, write)
    Path("empty.csv").write_text("x,c,shop,z,two\n")
    model = Path("M").read_bytes()
    assert "M is unchanged" in vwlite("train", "--continue", "M", "empty.csv", "--label", "two", code=65).err
    Path("bad.csv").write_text("x,c,shop,z,two\n1,a,north,,yes\nno number,a,north,,no\n")
    assert "bad.csv:3:1" in vwlite("train", "--continue", "M", "bad.csv", "--label", "two", code=65).err
    assert Path("M").read_bytes() == model and not unsettled()
    vwlite("train", "--continue", "M", "bad.csv", "--label", "two", "--on-error", "skip", "--quiet")
    night()


def bent(day, n):
    """Rows of a number, a bent relation to x, and a level."""
    rng = random.Random(day)
    rows = [(rng.gauss(0, 1), rng.choice("abc")) for _ in range(n)]
    return [(x * x + (c == "a") + rng.gauss(0, 0.3), x, c) for x, c in rows]


def predicted_after(vwlite, days, n, factor=1):
    """Predictions for other rows after two nights of n rows, of labels times a factor; and the labels."""
    other = bent(99, 2000)
    for name, rows in [*(("day.csv", bent(day, n)) for day in days), ("other.csv", other)]:
        Path(name).write_text("y,x,c\n" + "".join(f"{y * factor:.6g},{x:.4f},{c}\n" for y, x, c in rows))
        if name == "day.csv":
            vwlite("train", "--continue", "m", name, "--label", "y", "--quiet")
    vwlite("predict", "other.csv", "-m", "m", "-p", "p", "--quiet")
    for name in ("m", "m.rows"):
        os.unlink(name)
    return np.loadtxt("p"), np.array([y for y, _, _ in other])


def test_labels_times_1000_have_predictions_times_1000(vwlite, folder):
    found, large = (predicted_after(vwlite, (0, 1), 250, factor)[0] for factor in (1, 1000))
    assert large == pytest.approx(1000 * found, rel=1e-3, abs=0.1)


def test_days_in_the_opposite_order_have_about_the_same_loss(vwlite, folder):
    losses = []
    for days in ((0, 1), (1, 0)):
        found, labels = predicted_after(vwlite, days, 1200)
        losses.append(np.sqrt(np.mean((found - labels) ** 2)))
    assert losses[1] == pytest.approx(losses[0], rel=0.03)


def level(day, n=300):
    """Rows of a label whose mean is higher from the third day on."""
    rng = random.Random(day)
    rows = [(rng.gauss(0, 1), rng.choice("ab")) for _ in range(n)]
    labels = [x + (c == "a") + 3 * (day > 2) + rng.gauss(0, 0.3) for x, c in rows]
    return "y,x,c\n" + "".join(f"{y:.3f},{x:.3f},{c}\n" for y, (x, c) in zip(labels, rows, strict=True))


def test_a_level_that_lasts_moves_the_intercept(vwlite, folder):
    """By three tenths of what is left of it when all rows are learned; that is what a run without forgetting does."""
    def run(day, *more):
        Path("day.csv").write_text(level(day))
        return vwlite("train", "--continue", "m", "day.csv", "--label", "y", *more)

    for day in range(5):
        assert day == 4 or "intercept was moved" not in run(day).err
    for name in ("m", "m.rows"):
        shutil.copy(name, f"{name}.before")
    models = []
    for more in ([], ["--past", "1"]):
        done = run(5, *more)
        assert ("intercept was moved" in done.err) == (not more)
        models.append(read_model("m"))
        shutil.copy("m", "m.whole")
        for name in ("m", "m.rows"):
            shutil.copy(f"{name}.before", name)
    moved, whole = ([*model.weights] for model in models)
    apart = [k for k, (a, b) in enumerate(zip(moved, whole, strict=True)) if a != b]
    assert len(apart) == 1 and models[0].keys[apart[0]] == CONSTANT_HASH
    vwlite("predict", "day.csv", "-m", "m.whole", "-p", "p", "--quiet")
    errors = [float(y) - float(line.split(",")[0]) for y, line in zip(
        Path("p").read_text().split(), Path("day.csv").read_text().splitlines()[1:], strict=True)]
    assert moved[apart[0]] - whole[apart[0]] == pytest.approx(-0.3 * sum(errors) / len(errors), rel=1e-3)


@pytest.mark.parametrize("runs", [2, 3])
def test_pages_draw_the_nights_of_three_runs(vwlite, write, runs):
    """With what kept rows count, if that has changed."""
    for day in range(runs):
        vwlite("train", "--continue", "m", write("two words", "day", [day]), "--label", "two", "--quiet",
               *(["--past", "0.5"] if day else []))
    data, other = write("two words", "next", [runs]), write("two words", "other", [runs + 1])
    vwlite("report", "-m", "m", data, "-o", "report.html", "--quiet")
    vwlite("drift", "-m", "m", data, other, "--page", "drift.html", "--quiet")
    for page in ("report.html", "drift.html"):
        drawn = re.findall("<figcaption>(Average loss of new rows|What kept rows count)<", Path(page).read_text())
        assert drawn == (["Average loss of new rows", "What kept rows count"] if runs == 3 else []), page
    nights = json.loads(vwlite("report", "-m", "m", data, "-o", "-", "--json").out)["models"][0]["nights"]
    assert [night["past"] for night in nights] == [1, 0.5, 0.5][:runs]
    assert nights[-1]["loss"] == nights_of(read_model("m").continued)[-1].loss


def test_the_last_nights_are_in_the_model(vwlite, write):
    a_night(vwlite, write)()
    nights = nights_of(read_model("M").continued)
    assert [night.rows for night in nights] == [150, 150]
    assert nights[1].words == 1 and nights[0].past == nights[1].past == 1
    losses = json.loads(vwlite("info", "M", "--json").out)["continued"]["nights"]
    assert [night["loss"] for night in losses] == [night.loss for night in nights]
