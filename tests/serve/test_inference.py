"""The Open Inference Protocol of `vwlite serve`: its paths and objects, and the predictions of /predict."""

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import run_here
from servers import CLASSES, TEXT, predicted
from tiers import drawn

DATATYPES = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64",
             "BYTES"}
NAMES = ("text", "table", "classes", "cross", "center", "bent")


def infer(server, name, inputs, status=200, path="", **more):
    body = json.dumps({"inputs": inputs, **more}).encode()
    return json.loads(server.post(f"/v2/models/{name}{path}/infer", body, status, kind="application/json"))


def tensor(name, data, datatype="BYTES", shape=None, **more):
    return {"name": name, "shape": shape or [len(data)], "datatype": datatype, "data": data, **more}


def of_table(*age, datatype="FP64"):
    """Inputs of the model of a table, without cells in its other columns."""
    return [tensor("age", [*age], datatype), *(tensor(name, [None] * len(age)) for name in ("city", "note"))]


def check_tensor(found, *keys):
    """As the protocol has it, in metadata and in answers."""
    assert found.keys() == {"name", "datatype", "shape", *keys}
    assert type(found["name"]) is str and found["datatype"] in DATATYPES
    assert all(type(n) is int and n >= -1 for n in found["shape"]) and found["shape"]


def check_answer(found, model):
    """An answer is of the protocol, and has the tensors that the metadata promises."""
    assert found.keys() >= {"model_name", "model_version", "outputs"}
    promised = {tensor["name"]: tensor for tensor in model["outputs"]}
    kinds = {"FP64": float, "INT64": int, "BYTES": str}
    for output in found["outputs"]:
        check_tensor(output, "data")
        n, (first, *rest) = 1, output["shape"]
        for size in (first, *rest):
            n *= size
        assert len(output["data"]) == n and all(n >= 0 for n in output["shape"])
        assert promised[output["name"]]["datatype"] == output["datatype"]
        assert promised[output["name"]]["shape"] in ([-1, *rest], [first, *rest])
        assert all(isinstance(x, (kinds[output["datatype"]], int)) for x in output["data"])


def test_the_server_and_its_models_are_described(shared):
    server = shared.json("/v2")
    assert server.keys() == {"name", "version", "extensions"} and server["extensions"] == []
    assert shared.json("/v2/health/live")["live"] is True and shared.json("/v2/health/ready")["ready"] is True
    for name in NAMES:
        model = shared.json(f"/v2/models/{name}")
        assert model["name"] == name and {"platform", "algorithm", "loss", "digest"} <= model.keys()
        for found in (*model["inputs"], *model["outputs"]):
            check_tensor(found)
        (version,) = model["versions"]
        same = shared.json(f"/v2/models/{name}/versions/{version}")
        assert {**same, "age": 0, "taken": 0} == {**model, "age": 0, "taken": 0}
        for path in ("", f"/versions/{version}"):
            assert shared.json(f"/v2/models/{name}{path}/ready") == {"name": name, "ready": True}
    columns = {found["name"]: found["datatype"] for found in shared.json("/v2/models/table")["inputs"]}
    assert columns == {"age": "FP64", "city": "BYTES", "note": "BYTES"}


def test_the_example_of_the_protocol(serve, tmp_path):
    """Its two inputs are columns here, as all rows of the example have the same number of values."""
    rows = "".join(f"{i % 5 * 0.7},{i % 4},{('true', 'false')[i % 3 % 2]}\n" for i in range(60))
    (tmp_path / "d.csv").write_text(f"y,input0,input1\n{rows}")
    learn = ("train", tmp_path / "d.csv", "--label", "y", "--quiet", "-m", tmp_path / "mymodel")
    run_here(*learn)
    server = serve("-m", tmp_path / "mymodel")
    inputs = [tensor("input0", [1, 2, 3, 4], "UINT32"), tensor("input1", [True, False, True, None], "BOOL")]
    found = infer(server, "mymodel", inputs, id="42", outputs=[{"name": "prediction"}])
    check_answer(found, server.json("/v2/models/mymodel"))
    assert found["id"] == "42" and found["model_name"] == "mymodel"
    (output,) = found["outputs"]
    lines = "".join(json.dumps({"input0": x, "input1": b}) + "\n" for x, b in zip(*(t["data"] for t in inputs),
                                                                                  strict=True))
    assert output["data"] == [float(x) for x in predicted(tmp_path / "mymodel", lines.encode()).split()]
    literal = [tensor("input0", [1, 2, 3, 4], "UINT32", [2, 2]), tensor("input1", [True], "BOOL", [3])]
    assert infer(server, "mymodel", literal, 400, id="42").keys() == {"error"}


CELLS = {"age": (st.integers(-9, 99) | st.floats(-99, 99, width=32) | st.none() | st.just(float("nan")), "FP64"),
         "city": (st.sampled_from(["Rome", "Oslo", "Lima", "", 'a"b\n', "ü"]) | st.none(), "BYTES"),
         "note": (st.text(max_size=12) | st.none(), "BYTES")}


@settings(max_examples=drawn(90), deadline=None)
@given(st.data())
def test_tensors_get_the_predictions_of_their_rows(shared, data):
    n = data.draw(st.integers(0, 5))
    cells = {name: data.draw(st.lists(of, min_size=n, max_size=n)) for name, (of, _) in CELLS.items()}
    inputs = []
    for name in data.draw(st.permutations([*CELLS])):
        shape, values = data.draw(st.sampled_from([[n], [n, 1]])), cells[name]
        if len(shape) == 2 and data.draw(st.booleans()):
            values = [[x] for x in values]
        inputs.append(tensor(name, values, CELLS[name][1], shape, parameters={"content_type": "pd"}))
    model = shared.json("/v2/models/table")
    found = infer(shared, "table", inputs, id="x", parameters={"content_type": "pd"})
    check_answer(found, model)
    rows = [{name: None if cells[name][i] != cells[name][i] else cells[name][i] for name in CELLS} for i in range(n)]
    answers = shared.json("/predict?model=table", json.dumps(rows).encode())
    for output in found["outputs"]:
        assert output["data"] == [a[output["name"]] for a in answers] and output["shape"] == [n]


def test_a_model_of_text_takes_lines(shared, models):
    for name, text in (("text", TEXT), ("classes", CLASSES), ("cross", TEXT)):
        lines = text.splitlines()[:50]
        found = infer(shared, name, [tensor("lines", lines, parameters={"content_type": "str"})])
        check_answer(found, shared.json(f"/v2/models/{name}"))
        outputs = {output["name"]: output for output in found["outputs"]}
        expected = predicted(models / f"{name}.model", "\n".join(lines).encode()).decode()
        expected = [line.split()[0] for line in expected.splitlines()]
        shown = outputs["prediction"]["data"]
        assert shown == (expected if name == "classes" else [float(x) for x in expected])
        if name == "classes":
            shares, classes = outputs["probability"], outputs["classes"]["data"]
            assert sorted(classes) == ["blue", "green", "red"] and shares["shape"] == [50, 3]
            rows = [shares["data"][i : i + 3] for i in range(0, 150, 3)]
            assert [classes[row.index(max(row))] for row in rows] == shown
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in rows)


def test_quantiles_are_outputs_each(serve, tmp_path):
    (tmp_path / "d.csv").write_text("y,x\n" + "".join(f"{i % 7},{i % 3}\n" for i in range(200)))
    learn = ("train", tmp_path / "d.csv", "--label", "y", "--loss", "quantile", "--quantile-tau", "0.1,0.5,0.9",
             "--algorithm", "gd", "--quiet", "-m", tmp_path / "q")
    run_here(*learn)
    server = serve("-m", tmp_path / "q")
    found = infer(server, "q", [tensor("x", [0, 2], "FP64")])
    check_answer(found, server.json("/v2/models/q"))
    rows = json.loads(server.post("/predict", b'[{"x": 0}, {"x": 2}]'))
    outputs = {output["name"]: output["data"] for output in found["outputs"]}
    assert outputs == {"prediction": [row["prediction"] for row in rows],
                       **{f"quantile_{tau}": [row["quantiles"][tau] for row in rows] for tau in ("0.1", "0.5", "0.9")}}


def test_a_whole_number_is_one_word_whatever_its_datatype(serve, tmp_path):
    shops = [2, 30, -4, 12345678901]
    rows = "".join(f"{shops[i % 4]},{i % 3},{i // 2 % 2}\n" for i in range(80))
    (tmp_path / "d.csv").write_text(f"shop,x,y\n{rows}")
    learn = ("train", tmp_path / "d.csv", "--label", "y", "--categorical", "shop", "--algorithm", "gd", "--quiet",
             "--loss", "logistic", "--labels", "0,1")
    run_here(*learn, "-m", tmp_path / "m")
    (tmp_path / "t.csv").write_text("shop,x\n" + "".join(f"{shop},1\n" for shop in shops))
    expected = [*map(float, predicted(tmp_path / "m", (tmp_path / "t.csv").read_bytes()).split())]
    assert len({*expected}) == 4
    server = serve("-m", tmp_path / "m")
    x = tensor("x", [1] * 4, "INT8")
    for datatype, kind in (("INT64", int), ("FP64", float), ("BYTES", str), ("BYTES", "{}.0".format)):
        found = infer(server, "m", [tensor("shop", [kind(shop) for shop in shops], datatype), x])
        assert found["outputs"][0]["data"] == expected, datatype
    frame = {"columns": ["shop", "x"], "data": [*([float(shop), 1] for shop in shops), [None, 1]]}
    body = json.dumps({"dataframe_split": frame}).encode()
    answers = json.loads(server.post("/invocations", body, kind="application/json"))["predictions"]
    assert [answer["prediction"] for answer in answers][:4] == expected
    assert all(answer["unknown"] == [] for answer in answers)


def test_numbers_of_datatypes(shared):
    for datatype in sorted(DATATYPES - {"BYTES", "BOOL"}):
        bits = int(datatype.lstrip("UINTFP"))
        low, high = {"I": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), "U": (0, 2**bits - 1), "F": (-2, 2)}[datatype[0]]
        assert len(infer(shared, "table", of_table(low, high, datatype=datatype))["outputs"][0]["data"]) == 2
        wrong = [True, "1", [1]] + ([low - 1, high + 1, 1.5] if datatype[0] != "F" else [])
        for x in wrong:
            error = infer(shared, "table", of_table(high, x, datatype=datatype), 400)
            assert error["row"] == 1 and datatype in error["error"]


AGE, *OTHERS = of_table(30)


@pytest.mark.parametrize("status, body", [
    (400, {}), (400, []), (400, {"inputs": []}), (400, {"inputs": {"age": [1]}}), (400, {"inputs": [AGE, AGE]}),
    (400, {"inputs": [AGE], "id": 1}), (400, {"inputs": [AGE], "outputs": [{"name": "none"}]}),
    (400, {"inputs": [AGE], "outputs": ["prediction"]}), (400, {"inputs": [AGE], "outputs": {"name": "prediction"}}),
    (400, {"inputs": [AGE, tensor("city", ["a", "b"])]}), (400, {"inputs": [{**AGE, "shape": [1, 2]}]}),
    (400, {"inputs": [{**AGE, "shape": [2]}]}), (400, {"inputs": [{**AGE, "shape": []}]}),
    (400, {"inputs": [{**AGE, "shape": [-1]}]}), (400, {"inputs": [{**AGE, "shape": [1.0]}]}),
    (400, {"inputs": [{**AGE, "datatype": "FLOAT"}]}), (400, {"inputs": [{**AGE, "datatype": []}]}),
    (400, {"inputs": [{**AGE, "name": None}]}), (400, {"inputs": [{**AGE, "data": 30}]}),
    (400, {"inputs": [{**AGE, "data": [[[30]]], "shape": [1, 1]}]}), (400, {"inputs": [{**AGE, "parameters": 1}]}),
    (400, {"inputs": [{**AGE, "parameters": {"binary_data_size": 8}}]}),
    (400, {"inputs": [tensor("city", ["eA=="], parameters={"content_type": "base64"})]}),
    (400, {"inputs": [AGE, *OTHERS], "parameters": []}), (422, {"inputs": [tensor("age", ["x"]), *OTHERS]}),
    (422, {"inputs": [tensor("age", [float("inf")], "FP32"), *OTHERS]}),
])
def test_what_is_not_of_the_protocol_is_refused(shared, status, body):
    error = json.loads(shared.post("/v2/models/table/infer", json.dumps(body).encode(), status))
    assert error.keys() <= {"error", "row"} and type(error["error"]) is str


def test_inputs_are_those_of_the_metadata(shared, serve, models):
    """An input that is not there, or not known, is an error; with --on-unknown note the first is a missing cell."""
    city, note = OTHERS
    misspelt = infer(shared, "table", [AGE, {**city, "name": "City"}, note], 400)["error"]
    assert "no input 'City'" in misspelt and "'city'" in misspelt
    assert "missing: note;" in infer(shared, "table", [AGE, city], 400)["error"]
    assert "no input 'click'" in infer(shared, "table", [AGE, *OTHERS, tensor("click", [1], "INT8")], 400)["error"]
    notes = serve("-m", models / "table.model", "--on-unknown", "note")
    whole, part = infer(notes, "table", [AGE, *OTHERS]), infer(notes, "table", [AGE])
    assert part["outputs"] == whole["outputs"] == infer(shared, "table", [AGE, *OTHERS])["outputs"]
    counts = []
    for ask in (lambda: infer(notes, "table", [AGE]), lambda: notes.json("/predict", b'{"age": 30}'), lambda: None):
        (count,) = re.findall(rb"\nvwlite_absent_cells_total.* (\d+)", notes.ask("/metrics")[2])
        counts.append(int(count))
        ask()
    assert counts[2] - counts[1] == counts[1] - counts[0] > 0
    assert "'City'" in infer(notes, "table", [AGE, {**city, "name": "City"}], 400)["error"]


def test_optional_keys_may_be_null(shared):
    inputs = [{**given, "parameters": None} for given in (AGE, *OTHERS)]
    found = infer(shared, "table", inputs, id=None, parameters=None, outputs=None)
    assert found == infer(shared, "table", inputs)


def test_binary_tensors_get_a_sentence(shared):
    binary = {"name": "age", "shape": [1], "datatype": "FP64", "parameters": {"binary_data_size": 8}}
    assert "binary_data=False" in infer(shared, "table", [binary, *OTHERS], 400)["error"]
    body = json.dumps({"inputs": [binary]}).encode() + b"\0" * 8
    found = shared.post("/v2/models/table/infer", body, 400, kind="application/octet-stream")
    assert "binary_data=False" in json.loads(found)["error"]


@pytest.mark.parametrize("lines", [["a\nb"], [""], [None], ["\ud800"]])
def test_an_element_is_one_line(shared, lines):
    assert infer(shared, "text", [tensor("lines", ["|a w1", *lines])], 400)["error"]


@pytest.mark.parametrize("path, body, status", [
    ("/v2/models/table/versions/1", None, 404), ("/v2/models/table/versions/1/infer", b"{}", 404),
    ("/v2/models/none/ready", None, 404), ("/v2/models/none/infer", b"{}", 404), ("/v2/models", None, 404),
    ("/v2/models/table/infer", None, 405), ("/v2/models/table", b"{}", 405), ("/v2", b"{}", 405),
    ("/v2/models/table/infer/x", b"{}", 404), ("/v2/models/table/infer?explain=2", b"{}", 400),
    ("/v2/models/table/infer", b"[" * 50_000, 400), ("/v2/models/table/infer", b"\xff", 400),
])
def test_paths_of_the_protocol(shared, path, body, status):
    assert json.loads(shared.post(path, body, status))["error"]


def test_a_large_request_is_predicted_as_small_ones(shared):
    draw = random.Random(1)
    ages = [draw.randrange(100) for _ in range(3000)]
    whole = infer(shared, "table", of_table(*ages, datatype="INT64"))["outputs"]
    parts = [infer(shared, "table", of_table(*ages[i : i + 100], datatype="INT64"))["outputs"]
             for i in range(0, 300, 100)]
    for k, output in enumerate(whole):
        assert output["data"][:300] == [x for part in parts for x in part[k]["data"]]
