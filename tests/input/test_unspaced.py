"""Texts of scripts without blanks between words, in all inputs and in what is made of models."""

import importlib
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lines import write
from models import save
from running import GD, finish, start
from slow_tables import are_unspaced, features_of_text, is_unspaced

from vwlite import SparseClassifier, load_model
from vwlite.core.tables.cells import scripts_without_blanks
from vwlite.errors import DataError
from vwlite.input.unspaced import texts_in, unspaced_of
from vwlite.model import read_model
from vwlite.serve.served import Served

pytestmark = pytest.mark.usefixtures("folder")

RUN = ("--label", "y", "--text", "t")
LEARN = (*GD, "--loss", "logistic", "--labels", "0,1", "--ngram", "2")
NOTE = "each letter of a script without blanks"
LETTERS = "中文日本語ひらカタกขิ่ເຊกါမြខ្មែ々ｶ"
ALPHABETS = {"chinese": "好坏大小书店快慢", "japanese": "あいアイ今日はー", "thai": ["ดี", "ไ", "ม่", "กิ", "น", "ขั้"]}


def texts(kind: str, count: int, seed: int) -> list[str]:
    """Texts of letters and a few Latin words."""
    chance = random.Random(seed)
    return ["".join(chance.choice([*ALPHABETS[kind], " GPU42 ", "v2", "。"]) for _ in range(chance.randrange(3, 12)))
            for _ in range(count)]


def rows_of(kind: str, count: int = 80, seed: int = 1) -> list[dict[str, object]]:
    chance = random.Random(seed)
    return [{"y": chance.randrange(2), "t": text} for text in texts(kind, count, seed)]


def file_of(name: str, rows: list[dict[str, object]]) -> str:
    """Rows as the name says: CSV, TSV, JSON lines, lines of fastText, Parquet or Arrow."""
    kind = name.rpartition(".")[2]
    if kind == "jsonl":
        return write(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if kind == "txt":
        return write(name, "".join(f"__label__{row['y']} {row['t']}\n" for row in rows))
    if kind in ("parquet", "arrow"):
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pylist(rows)
        if kind == "parquet":
            importlib.import_module("pyarrow.parquet").write_table(table, name)
        else:
            views = table.set_column(1, "t", table["t"].cast(pa.string_view()))
            importlib.import_module("pyarrow.feather").write_feather(views, name, compression="uncompressed")
        return name
    between = "\t" if kind == "tsv" else ","
    return write(name, f"y{between}t\n" + "".join(f"{row['y']}{between}{row['t']}\n" for row in rows))


FILES = ("d.csv", "d.tsv", "d.jsonl", "d.parquet", "d.arrow", "d.txt")


def test_the_ranges_are_those_of_the_letters_of_these_scripts(vwlite):
    """As Unicode names them, and as the page states them."""
    ranges = scripts_without_blanks()
    letters = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isalnum()]
    wrong = [c for c in letters if is_unspaced(c) != any(first <= ord(c) <= last for first, last in ranges)]
    assert not wrong and ranges == sorted(ranges)
    stated = re.findall(r"U\+([0-9A-F]{4,5})-([0-9A-F]{4,5})", vwlite("help", "tables").out)
    assert sorted((int(first, 16), int(last, 16)) for first, last in stated) == ranges


@pytest.mark.parametrize("seed", range(40))
def test_words_are_those_of_the_definition(vwlite, seed):
    """Of any letters, marks, digits and signs, with n-grams over words of both kinds."""
    chance = random.Random(seed)
    alphabet = LETTERS + "aÉ9\uff17๕_ -。\u0301\u0e34\u102d が🙂"
    cells = ["".join(chance.choice(alphabet) for _ in range(chance.randrange(1, 14))) for _ in range(20)]
    rows = [{"y": 1, "t": cell} for cell in cells if cell.strip() and cell.strip() != "-"]
    ngram = chance.randrange(1, 4)
    expected = [" ".join(["1 |t", *features]) if (features := features_of_text(row["t"], ngram, True)) else None
                for row in rows]
    for name in ("d.csv", "d.jsonl"):
        lines = vwlite("convert", file_of(name, rows), *RUN, "--ngram", ngram, "--quiet").out.splitlines()
        assert [line if want else None for line, want in zip(lines, expected, strict=True)] == expected


@pytest.mark.parametrize("share", [0.05, 0.095, 0.1, 0.11, 0.5])
def test_a_tenth_of_the_letters_decides(share):
    many = round(200 * share)
    cells = ["字" * many, "a. 1 " * ((200 - many) // 2)]
    assert are_unspaced(cells) == (share >= 0.1)
    assert unspaced_of({"t": texts_in(cells), "u": [b"abc"], "v": []}) == (("t",) if share >= 0.1 else ())


@pytest.mark.parametrize("kind", [*ALPHABETS])
def test_all_inputs_have_the_same_features(vwlite, kind):
    """Training on each gives the same model, and each is predicted alike by it."""
    rows, new = rows_of(kind), rows_of(kind, 40, 2)
    expected, weights = None, None
    for name in FILES:
        run = RUN if name != "d.txt" else ()
        said = vwlite("train", file_of(name, rows), *run, *LEARN, "-m", f"{name}.model").err
        assert said.count(NOTE) == 1, name
        model = read_model(f"{name}.model")
        assert model.columns["unspaced"] == ["text" if name == "d.txt" else "t"]
        if name != "d.txt":  # where the namespace is another one
            weights = weights or (bytes(model.keys), bytes(model.weights))
            assert (bytes(model.keys), bytes(model.weights)) == weights, name
        found = vwlite("predict", "-m", f"{name}.model", file_of(f"new.{name[2:]}", new), "--quiet").out
        expected = expected or found
        assert found == expected, name
    assert len({*expected.split()}) > 20


def test_a_pipe_decides_as_a_file_does(vwlite):
    """Also where the first rows come slowly, and are in another script."""
    rows = [{"y": i % 2, "t": "plain words"} for i in range(30)] + rows_of("chinese", 200)
    for name, run in (("d.jsonl", RUN), ("d.txt", ("--format", "fasttext")), ("d.csv", (*RUN, "--format", "csv"))):
        vwlite("train", file_of(name, rows), *run, *LEARN, "-m", "of_file", "--quiet")
        data = Path(name).read_bytes()
        process = start("train", *run, *LEARN, "-m", "of_pipe", "--quiet")
        process.stdin.write(data[:200])
        process.stdin.flush()
        assert finish(process, data[200:]).code == 0
        assert read_model("of_pipe").columns["unspaced"] == read_model("of_file").columns["unspaced"] != []
        assert bytes(read_model("of_pipe").weights) == bytes(read_model("of_file").weights)


@pytest.mark.parametrize("name", ["d.txt", "d.csv"])
def test_blocks_do_not_matter(vwlite, blocks_of, name):
    """The first thousand rows decide, in however many blocks they are."""
    latin, run = [{"y": i % 2, "t": "a b"} for i in range(1200)], RUN if name == "d.csv" else ()
    blocks_of(500)
    for before, known in ((900, True), (1100, False)):
        vwlite("train", file_of(name, latin[:before] + rows_of("chinese", 400)), *run, *LEARN, "-m", "m", "--quiet")
        assert ("unspaced" in read_model("m").columns) == known


def test_all_that_applies_a_model_predicts_the_same(vwlite):
    rows, new = rows_of("japanese"), rows_of("japanese", 30, 2)
    file_of("new.csv", new)
    vwlite("train", file_of("d.csv", rows), *RUN, *LEARN, "-m", "m", "--names")
    expected = vwlite("predict", "-m", "m", "new.csv", "--quiet").out
    cells, numbers = [{"t": row["t"]} for row in new], [float(x) for x in expected.split()]
    near = pytest.approx(numbers, abs=1e-6)
    assert [float(x) for x in load_model("m").predict(cells)] == near
    assert Served("m").text(Path("new.csv").read_bytes(), "csv")[0].decode() == expected
    of_text = vwlite("convert", "-m", "m", "new.csv").out
    assert of_text.splitlines()[0] == " ".join([f"{new[0]['y']} |t", *features_of_text(str(new[0]["t"]), 2, True)])
    write("new.vw", of_text)
    assert vwlite("predict", "-m", "m", "new.vw", "--quiet").out == expected
    vwlite("export", "m", "--to", "python", "-o", "program.py")
    found = subprocess.run([sys.executable, "program.py"], input=of_text, capture_output=True, text=True).stdout
    assert [float(x) for x in found.split()] == near
    assert {"t^日", "t^今_日", "t^gpu42"} <= {name for name, _ in load_model("m").weights()}
    pd = pytest.importorskip("pandas")
    assert load_model("m").predict(pd.DataFrame(cells)).tolist() == near


def test_estimators_decide_by_the_first_rows_of_a_frame(vwlite):
    pd = pytest.importorskip("pandas")
    rows, new = rows_of("thai"), rows_of("thai", 30, 2)
    vwlite("train", file_of("d.csv", rows), *RUN, *LEARN, "-m", "m", "--quiet")
    frame, y = pd.DataFrame(rows)[["t"]], pd.Series([row["y"] for row in rows])
    how = {"text": ["t"], "ngram": 2, "algorithm": "gd", "loss": "logistic"}
    one = SparseClassifier(**how).fit(frame, y)
    expected = [float(x) for x in vwlite("predict", "-m", "m", file_of("new.csv", new), "--quiet").out.split()]
    of_new = pd.DataFrame(new)[["t"]]
    assert one.predict_proba(of_new)[:, 1].tolist() == pytest.approx(expected, abs=1e-6)
    one.partial_fit(of_new, [row["y"] for row in new])
    one.save("estimator")
    assert read_model("estimator").columns["unspaced"] == ["t"]
    plain = pd.DataFrame({"t": ["plain words", "of a text"] * 9})
    two = SparseClassifier(**how, initial="m").fit(plain, [0, 1] * 9)
    two.save("two")
    assert read_model("two").columns["unspaced"] == ["t"]


@pytest.mark.parametrize("how", [["-i", "m", "-m", "new"], ["--continue", "m"]])
def test_a_model_goes_on_as_it_began(vwlite, how):
    """Whatever the scripts of the new rows are."""
    plain = [{"y": i % 2, "t": "plain words 中文字"} for i in range(40)]
    chinese = file_of("chinese.csv", rows_of("chinese"))
    latin = file_of("latin.csv", [{"y": i % 2, "t": "plain words"} for i in range(40)])
    for first, then, known in ((latin, chinese, None), (chinese, file_of("mixed.csv", plain), ["t"])):
        vwlite("train", first, *RUN, *LEARN, "-m", "m", "--quiet")
        assert read_model("m").columns.get("unspaced") == known
        assert NOTE not in vwlite("train", *how, then).err
        after = read_model("new" if "-i" in how else "m")
        assert after.columns.get("unspaced") == known and len(after.keys) > 20


def test_models_of_other_texts_are_as_before(vwlite):
    """Of Latin texts with a few such letters nothing is stored, and words are runs of letters."""
    rows = [{"y": i % 2, "t": f"a long text of {'good' if i % 2 else 'bad'} words and a name 中文"} for i in range(60)]
    assert NOTE not in vwlite("train", file_of("d.csv", rows), *RUN, *LEARN, "-m", "m").err
    assert "unspaced" not in read_model("m").columns
    assert " 中文" in vwlite("convert", "d.csv", *RUN).out
    # One of two columns.
    both = [{**row, "u": "大小"} for row in rows]
    file = write("both.csv", "y,t,the u\n" + "".join(f"{row['y']},{row['t']},{row['u']}\n" for row in both))
    said = vwlite("train", file, "--label", "y", "--text", "t,the u", *LEARN, "-m", "m").err
    assert f"note: column {'the u'!a}: {NOTE}" in said and read_model("m").columns["unspaced"] == ["the u"]
    line = vwlite("convert", file, "--label", "y", "--text", "t,the u").out.splitlines()[0]
    assert line.endswith("name 中文 |the_u 大 小")


def test_texts_in_values_of_json_count(vwlite):
    rows = [{"y": i % 2, "t": {"title": "大小", "tags": "书"} if i % 3 else ["好书", "a"]} for i in range(30)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    out = vwlite("convert", write("d.jsonl", lines), *RUN, "--quiet").out.splitlines()
    assert {*out} == {f"{y} |t {words}" for y in (0, 1) for words in ("大 小 书", "好 书 a")}


def test_models_of_other_words_are_not_merged(vwlite):
    for name, rows in (("a", rows_of("chinese")), ("b", [{"y": i % 2, "t": "plain words"} for i in range(40)])):
        vwlite("train", file_of(f"{name}.csv", rows), *RUN, *LEARN, "-m", name, "--quiet")
    said = vwlite("merge", "a", "b", "-m", "out", code=65).err
    assert "another way of cutting texts into words" in said


def test_columns_that_are_no_texts_are_refused(vwlite):
    vwlite("train", file_of("d.csv", rows_of("chinese")), *RUN, *LEARN, "-m", "m", "--quiet")
    for columns in (["y"], ["gone"], [1]):
        model = read_model("m")
        model.columns["unspaced"] = columns
        save("bad", model)
        with pytest.raises(DataError, match="its columns of texts without blanks are invalid"):
            read_model("bad")


@pytest.mark.parametrize("count, most", [(300, 0.85), (2000, 0.45)])
def test_the_default_learns_such_texts(vwlite, count, most):
    """Each letter adds its own effect to the score. The share of the constant's excess loss; before, 1."""
    np = pytest.importorskip("numpy")
    draw = np.random.default_rng(1)
    odds = 1 / np.arange(1, 401)
    effects, drawn = 0.7 * draw.normal(size=400), [
        draw.choice(400, draw.integers(6, 21), p=odds / odds.sum()) for _ in range(count + 3000)]
    p = 1 / (1 + np.exp(-np.array([effects[letters].sum() for letters in drawn])))
    y = (draw.random(len(p)) < p) * 1
    lines = [f"{label},{''.join(chr(0x4E00 + i) for i in letters)}\n" for label, letters in zip(y, drawn, strict=True)]
    vwlite("train", write("d.csv", "y,t\n" + "".join(lines[:count])), *RUN, "-m", "m", "--quiet")
    out = vwlite("predict", "-m", "m", write("new.csv", "y,t\n" + "".join(lines[count:])), "--quiet").out
    found, true = np.array(out.split(), float), p[count:]

    def loss(q):
        return -(true * np.log(q) + (1 - true) * np.log(1 - q)).mean()

    assert loss(found) - loss(true) < most * (loss(np.full_like(true, y[:count].mean())) - loss(true))
