"""What `vwlite serve` predicts: the bytes of `vwlite predict`, and objects of JSON with the same numbers."""

import json
import random
import socket
import time
from itertools import product

import pytest
from running import run_here
from servers import CLASSES, DENSE, TABLE, TEXT, predicted
from tiers import drawn

from vwlite.core.learn.output import number_text
from vwlite.serve.json_rows import Rows
from vwlite.serve.served import BadBody, Served

HEADER, *ROWS = TABLE.splitlines()


@pytest.mark.parametrize("name", ["text", "cross", "center", "classes", "table"])
@pytest.mark.parametrize("cut", ["whole", "without newline", "blank lines", "one"])
def test_text_gets_the_bytes_of_predict(shared, models, name, cut):
    data = {"table": TABLE, "classes": CLASSES, "center": DENSE}.get(name, TEXT)
    data = {"whole": data, "without newline": data[:-1], "blank lines": data.replace("\n", "\n\n"),
            "one": data.split("\n", 2)[0] + "\n" + (ROWS[0] if name == "table" else "")}[cut].encode()
    kind = "text/csv" if name == "table" else "text/plain"
    assert shared.post(f"/predict?model={name}", data, kind=kind) == predicted(models / f"{name}.model", data)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_derived_features_get_the_bytes_of_predict(shared, models, kind):
    """Curves and pairs, of rows with values missing, unseen and beyond all others; many rows, and single ones."""
    cells = product(("", -40, 0.1, 1e9), ("", -0.5, 2), ("", "a", "b c", "new"))
    rows = [dict(zip("xzw", row, strict=True)) for row in cells if any(x != "" for x in row)]
    if kind == "csv":
        head, lines = "x,z,w\n", [f"{r['x']},{r['z']},{r['w']}\n" for r in rows]
    else:
        head, lines = "", [json.dumps({k: v for k, v in r.items() if v != ""}) + "\n" for r in rows]
    expected = predicted(models / "bent.model", (head + "".join(lines)).encode())
    kind = "text/csv" if kind == "csv" else "application/x-ndjson"

    def post(some: list[str]) -> list[bytes]:
        found = shared.post("/predict?model=bent", (head + "".join(some)).encode(), kind=kind).splitlines()
        return found if head else [number_text(json.loads(line)["prediction"]).encode() for line in found]

    assert post(lines) == expected.splitlines() and len({*post(lines)}) > 30
    assert [post([line]) for line in lines[:9]] == [[line] for line in expected.splitlines()[:9]]


def test_large_bodies_are_cut_without_a_trace(serve, models):
    server, data = serve("-m", models / "text.model"), (TEXT * 120).encode()
    assert len(data) > 3 * (256 << 10)
    assert server.post("/predict", data) == predicted(models / "text.model", data)


@pytest.mark.drawn
def test_drawn_bodies_get_the_bytes_of_predict(shared, models):
    draw = random.Random(7)
    words = ["1", "-1", "|a", "|b", " ", "w1", "w2:3", "'tag", ":", "\n", "\n", "w\xe9", "nan", "1e9", "|", "\r\n"]
    for _ in range(drawn(25)):
        data = ("1 |a x\n" + "".join(draw.choice(words) + " " * draw.randrange(2) for _ in range(60))).encode("latin-1")
        expected = predicted(models / "text.model", data, "--on-error", "skip")
        assert shared.post("/predict?model=text&on_error=skip", data, kind="text/plain") == expected


def test_a_bad_line_refuses_the_body_or_is_skipped(shared, models):
    data = b"1 |a w1\n1 |a w1:x\n-1 |a w2\n"
    error = json.loads(shared.post("/predict?model=text", data, 422))
    assert (error["line"], error["column"]) == (2, 9) and "'x'" in error["error"]
    lines = shared.post("/predict?model=text&on_error=skip", data).split(b"\n")
    assert lines[1] == b"" and lines[0] and lines[2] and len(lines) == 4


@pytest.mark.parametrize("kind", ["", "application/json", "application/x-www-form-urlencoded"])
def test_json_has_the_numbers_of_predict(shared, models, kind):
    records = [dict(zip(HEADER.split(","), row.split(","), strict=True)) for row in ROWS[:9]]
    records = [{"age": int(r["age"]), "city": r["city"], "note": r["note"]} for r in records]
    lines = "".join(json.dumps(r) + "\n" for r in records).encode()
    numbers = [float(x) for x in predicted(models / "table.model", lines).split()]
    as_list = shared.json("/predict?model=table", json.dumps(records, indent=3).encode(), kind=kind)
    as_lines = shared.post("/predict?model=table", lines, kind=kind).splitlines()
    one = shared.json("/predict?model=table", json.dumps(records[0], indent=1).encode(), kind=kind)
    assert [a["prediction"] for a in as_list] == pytest.approx(numbers, abs=1e-6)
    assert [json.loads(line) for line in as_lines] == as_list and one == as_list[0]
    assert all(a["unknown"] == [] and 0 < a["probability"] < 1 for a in as_list)
    assert shared.post("/predict?model=table", lines, kind="text/plain") == predicted(models / "table.model", lines)


ROWS_OF_ALL = [{"y": i % 2, "w": ("ham", "spam")[i % 2], "c": ("a", "b", 'ü"x')[i % 3], "n": 1 + i % 3, "count": i % 5,
                "x": (i * i % 7 - 3) / 2, "z": 1e3 * (i % 11), "tag": f"t{i}"} for i in range(120)]
LEARNED = {
    "numbers as labels": ("y", "--loss logistic --labels 0,1"), "words": ("w", "--loss logistic --labels ham,spam"),
    "scores": ("y", "--loss hinge --labels 0,1"), "squared": ("count", "--loss squared"),
    "large": ("count", "--loss squared --normalize none -l 1e-7"),
    "classes": ("c", "--oaa 3 --classes auto --loss logistic"), "numbered classes": ("n", "--oaa 3 --loss logistic"),
    "softmax": ("c", "--oaa 4 --classes auto --softmax --algorithm adagrad"), "hinge": ("n", "--oaa 3 --loss hinge"),
    "quantiles": ("count", "--loss quantile --quantile-tau 0.1,0.5,0.9"),
}


@pytest.mark.parametrize("name", LEARNED)
def test_answers_are_the_rows_of_predict(tmp_path, name):
    """With the same columns in the same order, and numbers as they are written."""
    label, options = LEARNED[name]
    options += "" if "--algorithm" in options else " --algorithm gd"
    data, model = tmp_path / "d.jsonl", tmp_path / "m"
    data.write_text("".join(json.dumps({k: r[k] for k in (label, "x", "z", "tag")}) + "\n" for r in ROWS_OF_ALL))
    learn = ("train", data, "--label", label, "--tag", "tag", *options.split(), "-m", model, "--quiet")
    run_here(*learn)
    shares = ["--probabilities"] if "--oaa" in options and "hinge" not in options else []
    done = run_here("predict", "-m", model, data, "--output-format", "json", "--quiet", *shares)
    served = Served(str(model))
    answers, _ = served.rows(data.read_bytes())
    explained, _ = served.rows(data.read_bytes(), explain=1)
    for line, answer, more in zip(done.out.splitlines(), answers, explained, strict=True):
        row = {key: value for key, value in json.loads(line).items() if value is not None}
        prediction = row.pop("class") if "--oaa" in options else answer["prediction"]
        assert json.dumps(answer) == json.dumps({"prediction": prediction, **row, "unknown": []})
        if "quantiles" not in answer:  # whose scores are not in ascending order
            assert more["score"] == pytest.approx(answer["score"], rel=1e-7)
        assert answer["prediction"] == more["prediction"] and len(more["contributions"]) == 1


def test_the_text_of_a_number_is_what_is_hashed(serve, tmp_path):
    (tmp_path / "d.csv").write_text("y,v\n" + "1,1.50\n-1,1.5\n" * 20)
    options = ("--label", "y", "--categorical", "v", "-m", tmp_path / "m")
    run_here("train", tmp_path / "d.csv", *options)
    server = serve("-m", tmp_path / "m")
    answers = json.loads(server.post("/predict", b'[{"v": "1.50"}, {"v":\n "1.5"}, {"v": "2"}]'))
    assert answers[0]["prediction"] != answers[1]["prediction"]
    assert [a["unknown"] for a in answers] == [[], [], ["v^v=2"]]


@pytest.mark.parametrize("name, kind, body", [
    ("table", "application/json", b'[{"age": 30},\n {"age": 40, "city": "Rome"}]'),
    ("table", "", b'{"age": 30}\n{"age": 40, "city": "Rome"}'),
    ("table", "application/x-ndjson", b'{"age": 30}\n{"age": 40, "city": "Rome"}\n'),
    ("table", "text/csv", b"age,city,note\n30,Rome,w1\n"),
])
def test_a_byte_order_mark_means_nothing(shared, name, kind, body):
    path = f"/predict?model={name}"
    assert shared.post(path, b"\xef\xbb\xbf" + body, kind=kind) == shared.post(path, body, kind=kind)


def test_unknown_columns_words_and_contributions(shared):
    row = {"age": 33, "city": "Paris", "nope": [1, 2], "note": "w1 w1"}
    answer = shared.json("/predict?model=table&explain=2", json.dumps(row).encode())
    assert answer["unknown"][0] == "nope" and any("Paris" in name for name in answer["unknown"][1:])
    assert len(answer["unknown"]) == 2 and len(answer["contributions"]) == 2
    total = sum(c["contribution"] for c in answer["contributions"]) + answer["others"]["contribution"]
    assert answer["base"] + answer["intercept"] + total == pytest.approx(answer["score"])
    both = shared.json("/predict?model=table", json.dumps([{"age": 3}, row, {"x": 1, "city": None}]).encode())
    assert [a["unknown"][:1] for a in both] == [[], ["nope"], ["x"]]
    for _ in range(3):  # names that earlier requests had
        assert shared.json("/predict?model=table", b'{"nope": 1, "age": 3}')["unknown"] == ["nope"]


STRANGERS = [b"{}", b'{"agee": 33}', b'{"AGE": 1, "x": [1]}', b'{"click": 1}', b'{"n": %s}' % (b"9" * 5000)]


@pytest.mark.parametrize("row", STRANGERS)
def test_a_row_without_a_column_of_the_model_is_refused(shared, row):
    path, lines = "/predict?model=table", b'{"age": 3}\n' + row + b'\n{"age": 4}\n'
    assert "column" in json.loads(shared.post(path, row, 422))["error"]
    for kind in ("application/x-ndjson", "application/json", "text/plain"):
        assert json.loads(shared.post(path, lines, 422, kind=kind))["line"] == 2
    skipped = shared.post(path + "&on_error=skip", lines, kind="application/x-ndjson").splitlines()
    assert ["error" in json.loads(a) for a in skipped] == [False, True, False]
    skipped = shared.post(path + "&on_error=skip", lines, kind="text/plain").split(b"\n")
    assert [bool(a) for a in skipped] == [True, False, True, False]


def test_a_misspelt_key_gets_a_guess(shared):
    assert b"did you mean age?" in shared.post("/predict?model=table", b'{"agee": 33}', 422)


@pytest.mark.parametrize("row", [b'{"age": null}', b'{"age": 0}', b'{"city": "Lima"}', b'{"note": "", "x": 2}'])
def test_a_row_with_a_column_of_the_model_is_answered(shared, row):
    assert shared.json("/predict?model=table", row)["prediction"] is not None


def test_strangers_are_only_noted_if_that_is_asked_for(serve, models):
    server = serve("-m", models / "table.model", "--on-unknown", "note")
    found = [server.json("/predict", row) for row in STRANGERS]
    assert len({a["prediction"] for a in found}) == 1
    assert [a["unknown"] for a in found] == [[], ["agee"], ["AGE", "x"], [], ["n"]]


def test_an_intercept_alone_knows_every_row(serve, tmp_path):
    (tmp_path / "d.csv").write_text("y,v\n" + "1,0\n0,0\n" * 20)  # zeros are no features
    options = ("--label", "y", "--algorithm", "gd", "-m", tmp_path / "m")
    run_here("train", tmp_path / "d.csv", *options)
    server = serve("-m", tmp_path / "m")
    assert server.json("/predict", b"{}")["prediction"] == server.json("/predict", b'{"v": 0}')["prediction"]


MLFLOW = [
    {"dataframe_split": {"columns": ["age", "city"], "data": [[30, "Rome"], [40.5, "Oslo"]], "index": [0, 1]}},
    {"dataframe_records": [{"age": 30, "city": "Rome"}, {"age": 40.5, "city": "Oslo"}]},
    {"instances": [{"age": 30, "city": "Rome"}, {"age": 40.5, "city": "Oslo"}], "signature_name": "x"},
    {"params": {"a": 1}, "inputs": {"age": [30, 40.5], "city": ["Rome", "Oslo"]}},
]


@pytest.mark.parametrize("body", MLFLOW, ids=lambda body: next(iter(body)))
def test_the_bodies_of_mlflow_get_the_answers_of_their_rows(shared, body):
    expected = shared.json("/predict?model=table", json.dumps(MLFLOW[1]["dataframe_records"]).encode())
    found = shared.json("/invocations?model=table", json.dumps(body, indent=1).encode(), kind="application/json")
    assert found == {"predictions": expected}


@pytest.mark.parametrize("body", [
    {"dataframe_split": {"columns": ["age"], "data": [[1, 2]]}}, {"dataframe_split": [1]}, {"inputs": {"age": 1}},
    {"inputs": {"age": [1], "city": []}}, {"instances": [[1, 2]]}, {"dataframe_records": {"age": 1}},
    {"dataframe_records": [{"agee": 1}]}, {"instances": [{"age": "x"}]}, {"instances": [], "inputs": []},
])
def test_what_mlflow_does_not_send_is_refused(shared, body):
    assert shared.post("/invocations?model=table", json.dumps(body).encode(), 422, kind="application/json")


def test_rows_with_errors_are_named_at_their_place(shared):
    body = b'[{"age": 3},\n\n {"age": "x"}]'
    error = json.loads(shared.post("/predict?model=table", body, 422))
    assert (error["line"], error["column"]) == (3, 10)
    found = json.loads(shared.post("/predict?model=table&on_error=skip", body))
    assert found[0]["prediction"] is not None and found[1]["prediction"] is None and "'" in found[1]["error"]


BAD = [b'{"age": 3', b'{"age": [1', b'{"age":', b'{"note": "x', b"}}", b"[1]", b"null", b"text", b"{}x", b"[", b""]


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl"])
@pytest.mark.parametrize("bad", BAD)
def test_each_json_line_gets_the_answer_of_predict(shared, models, kind, bad):
    lines = b'{"age": 30}\n' + bad + b'\n{"age": 40, "x": 1}\r\n{"age": 50}'
    expected = predicted(models / "table.model", lines, "--on-error", "skip").splitlines()
    answers = shared.post("/predict?model=table&on_error=skip", lines, kind=kind).splitlines()
    found = [json.loads(answer) for answer in answers]
    assert [a["prediction"] for a in found] == [float(x) if x else None for x in expected]
    assert ["error" in a for a in found] == [False, True, False, False]
    assert [a["unknown"] for a in found] == [[], [], ["x"], []]
    if bad:
        error = json.loads(shared.post("/predict?model=table", lines, 422, kind=kind))
        assert error["line"] == 2
    else:
        assert shared.post("/predict?model=table", lines, kind=kind).splitlines() == answers


def test_classes_have_names_and_probabilities(shared, models):
    data = CLASSES.encode()
    found = shared.post("/predict?model=classes", data)
    assert found == predicted(models / "classes.model", data) and found.split(b"\n")[0] == b"red"


def test_text_of_no_format_is_refused_in_the_words_of_http(shared):
    error = json.loads(shared.post("/predict?model=text", b"\x89PNG\r\n\x1a\n", 422))
    assert error["line"] == error["column"] == 1
    assert "Content-Type names other formats" in error["error"] and "--" not in error["error"]


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("table", "", b'{"age": "?"}'),
        ("table", "text/csv", b"age\n?\n"),
        ("table&on_error=skip", "application/json", b'[{"age": "?"}]'),
        ("text", "text/csv", b"a,b\n1,2\n"),
        ("text", "text/csv", b"a,\n1,2\n"),
        ("text", "application/x-ndjson", b'{"a": 1}\n'),
        ("text", "", b'{"a": 1}'),
        ("classes", "", b"x" * (1 << 17)),
    ],
)
def test_errors_do_not_speak_of_the_command_line(shared, models, path, kind, body):
    said = shared.ask(f"/predict?model={path}", body, kind=kind)[2].decode()
    assert '"error": "' in said and "--" not in said and "vwlite" not in said and str(models) not in said


@pytest.mark.parametrize("body", [
    b"[" * 50_000, b'{"a":' * 20_000, b"[1, 2]", b'{"age": Infinity}', b'{"age": 1e999}', b'{"age": 1', b'[{"age": 1}',
    b"{}x", b'[{"age": 1},]x', b'[{"age": 1} {"age": 2}]', b'{"age": {"b": {"c": 1}}}', b'{"age": 1, "age": 2}',
    b"\xff{}",
    b"null", b'{"city": "\xff"}', b'{"city": "a\nb"}', b'"text"', b"{,}", b"[,]", b'{"\\u0000": "\\ud800"}\x00',
])
def test_what_is_not_json_is_refused(shared, body):
    error = json.loads(shared.post("/predict?model=table", body, 422, kind="application/json"))
    assert error["error"]


def test_a_number_of_very_many_digits_is_no_error_of_the_server(shared):
    many = b"9" * 5000
    assert shared.json("/predict?model=table", b'{"age": 3, "new": %b}' % many)["unknown"] == ["new"]
    assert b"too large" in shared.post("/predict?model=table", b'{"age": %b}' % many, 422)
    for kind in ("text/csv", "application/x-ndjson"):
        assert json.loads(shared.post("/predict?model=table", many + b"," + many + b"\n1,2\n", 422, kind=kind))["error"]


@pytest.mark.parametrize("before", [b"", b'[{"age": 1},\n', b'{"age": {"b": '])
@pytest.mark.parametrize("text", [b'"' + b'\\"' * 9, b'"' + b"\\\\" * 9, b'"abc\\', b'"', b'"a\nb"', b'"a\\\nb"'])
def test_a_string_that_does_not_end_is_an_error_at_its_quote(before, text):
    body = before + b"{" + text
    with pytest.raises(BadBody, match="a string that does not end on its line") as error:
        Rows(body)
    at = len(before) + 1
    assert (error.value.line, error.value.column) == (1 + before.count(b"\n"), at - before.rfind(b"\n"))


def test_an_unclosed_string_of_escapes_takes_no_more_than_its_length():
    """Every other connection would wait: it took four times as long for twice as many."""
    begin = time.process_time()
    with pytest.raises(BadBody):
        Rows(b'{"' + b'\\"' * 20_000)
    assert time.process_time() - begin < 2  # of 0.001


def test_json_for_a_model_without_columns_says_what_to_do(shared):
    assert b"without columns" in shared.post("/predict?model=text", b'{"age": 1}', 422)
    assert shared.post("/predict?model=table", b"[]", kind="application/json") == b"[]\n"
    assert shared.post("/predict?model=text", b"") == b""


def test_a_line_with_too_many_crosses_is_refused(shared):
    body = b"1 |a " + b" ".join(b"w%d" % i for i in range(2000)) + b" |b " + b" ".join(b"c%d" % i for i in range(2000))
    assert b"features" in shared.post("/predict?model=cross", body, 422)


def test_lines_speak_the_protocol_of_vowpal_wabbit(shared, models):
    """The model is the first one. A line may come in pieces, and the last one without its end."""
    port, data = shared.others[0], TEXT.encode()
    assert shared.raw(data, port=port, half=True) == predicted(models / "text.model", data)
    assert shared.raw(data[:-1], port=port, half=True) == predicted(models / "text.model", data)
    bad = b"1 |a w1\nnonsense\n1 |a w1:x\n\n-1 |a w2\n"
    answers = shared.raw(bad, port=port, half=True).split(b"\n")
    assert [bool(a) for a in answers] == [True, False, False, False, True, False]


def test_a_client_of_lines_may_wait_for_each_answer(shared, models):
    expected = predicted(models / "text.model", TEXT.encode()).splitlines(True)
    with socket.create_connection(("127.0.0.1", shared.others[0])) as s, s.makefile("rb") as answers:
        for line, answer in zip(TEXT.encode().splitlines(True)[:30], expected, strict=False):
            s.sendall(line[:5])
            s.sendall(line[5:])
            assert answers.readline() == answer
