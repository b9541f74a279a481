"""The processes of `vwlite serve`: new models, the log, several processes, the end; what it does not start with."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
from running import finish, in_child, start
from servers import CLASSES, DENSE, TEXT, predicted, wait_for
from tiers import ALL

from vwlite.errors import UnavailableError
from vwlite.listening import listening
from vwlite.serve.access_log import AccessLog

LINES = TEXT.encode().splitlines(True)


def replace(source, target):
    """As vwlite does it: the file is there whole."""
    shutil.copy(source, f"{target}.new")
    os.replace(f"{target}.new", target)


def digest(server):
    return next(iter(server.json("/health")["models"].values()))["digest"]


def test_a_new_model_is_taken_without_a_wrong_answer(serve, models, tmp_path):
    model = tmp_path / "m.model"
    both = [models / "text.model", models / "other.model"]
    expected = [predicted(path, TEXT.encode()) for path in both]
    assert expected[0] != expected[1]
    replace(both[0], model)
    server, answers, ended = serve("-m", model), [], threading.Event()

    def ask():
        while not ended.is_set():
            answers.append(server.ask("/predict", TEXT.encode())[::2])

    asking = threading.Thread(target=ask)
    asking.start()
    for i in (1, 0, 1):
        before = digest(server)
        replace(both[i], model)
        wait_for(lambda before=before: digest(server) != before)
        assert server.post("/predict", TEXT.encode()) == expected[i]
    ended.set()
    asking.join()
    assert set(answers) == {(200, text) for text in expected}
    assert 'vwlite_models_taken_total{model="m"} 3' in server.ask("/metrics")[2].decode()


@pytest.mark.third
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone", "no model"])
def test_a_damaged_model_is_refused_and_the_old_one_stays(serve, models, tmp_path, damage):
    model = tmp_path / "m.model"
    replace(models / "text.model", model)
    server = serve("-m", model)
    whole = (models / "other.model").read_bytes()
    if damage == "gone":
        model.unlink()
    else:
        found = {"cut": whole[: len(whole) // 2], "empty": b"", "no model": b"1 |a b\n",
                 "flipped": whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]}[damage]
        model.write_bytes(found)
    wait_for(lambda: "error" in server.json("/health")["models"]["m"])
    assert server.post("/predict", TEXT.encode()) == predicted(models / "text.model", TEXT.encode())
    assert server.ask("/ping")[0] == 200 and server.json("/health")["status"] == "old model"
    time.sleep(2.5)  # it is looked at again
    replace(models / "other.model", model)
    wait_for(lambda: "error" not in server.json("/health")["models"]["m"])
    assert server.post("/predict", TEXT.encode()) == predicted(models / "other.model", TEXT.encode())
    assert server.stop().err.count("warning") == 1


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_regular_file_is_refused_and_the_next_file_is_taken(serve, models, tmp_path, kind):
    model = tmp_path / "m.model"
    replace(models / "text.model", model)
    server = serve("-m", model)
    model.unlink()
    {"pipe": os.mkfifo, "folder": os.mkdir, "device": lambda path: os.symlink("/dev/zero", path)}[kind](model)
    wait_for(lambda: "not a regular file" in server.json("/health")["models"]["m"].get("error", ""))
    model.rename(tmp_path / "away")
    replace(models / "other.model", model)
    wait_for(lambda: "error" not in server.json("/health")["models"]["m"])
    assert server.post("/predict", TEXT.encode()) == predicted(models / "other.model", TEXT.encode())


def test_it_neither_learns_nor_writes(serve, models, tmp_path):
    model = tmp_path / "m.model"
    replace(models / "text.model", model)
    before = model.read_bytes()
    server = serve("-m", model)
    first = [server.post("/predict", TEXT.encode()) for _ in range(5)]
    assert len(set(first)) == 1 and model.read_bytes() == before and os.listdir(tmp_path) == ["m.model"]


def test_the_log_has_requests_answers_and_tags(serve, models, tmp_path):
    log = tmp_path / "log"
    log.write_text('{"old": 1}\n')
    server = serve("-m", f"a={models / 'text.model'}", "--log", log)
    answer = server.post("/predict", LINES[0] + LINES[1])
    server.post("/predict", b"1 |a \xff w1:x\n", 422)
    server.ask("/ping")
    old, good, bad, ping = map(json.loads, log.read_text().splitlines())
    assert old == {"old": 1} and ping["path"] == "/ping" and "request" not in ping
    assert good["request"].encode() == LINES[0] + LINES[1] and good["answer"].encode() == answer
    assert good["tags"] == ["t0", "t1"] and good["status"] == 200 and good["model"] == "a"
    assert good["digest"] == digest(server) and abs(good["time"] - time.time()) < 60
    assert bad["status"] == 422 and bad["request"].encode("utf-8", "surrogateescape") == b"1 |a \xff w1:x\n"


def test_a_log_that_is_moved_away_begins_anew(serve, models, tmp_path):
    server = serve("-m", models / "text.model", "--log", tmp_path / "log", "--workers", "2")
    for i in range(3):
        server.post("/predict", LINES[i])
        (tmp_path / "log").rename(tmp_path / f"log.{i}")
    for i in range(3):
        assert json.loads((tmp_path / f"log.{i}").read_text())["request"].encode() == LINES[i]


def test_too_many_connections_and_bodies_are_refused(serve, models):
    server = serve("-m", models / "text.model", "--max-connections", "3", "--max-body", "200M")
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 200000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as s, socket.create_connection(s.getpeername()) as idle:
        s.sendall(head)
        wait_for(lambda: b"429" in server.raw(head)[:20])  # there is memory for one of them
        assert server.ask("/predict", LINES[0])[0] == 200
        with socket.create_connection(s.getpeername()):
            status, headers, body = server.ask("/ping")
            assert status == 503 and "Retry-After" in headers and b"too many connections" in body
        idle.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(12).endswith(b"200")


def test_a_privileged_port_is_explained(monkeypatch):
    def bind(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", bind)
    with pytest.raises(UnavailableError, match=r"port 80: .*use --port 8080"):
        listening("127.0.0.1", 80)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_for_the_log_is_said_once(serve, models):
    server = serve("-m", models / "text.model", "--log", "/dev/full")
    assert all(server.post("/predict", LINES[0]) for _ in range(3))
    assert server.stop().err.count("No space left") == 1


def test_a_line_of_the_log_that_was_cut_stays_alone(tmp_path, monkeypatch):
    """As on a full disk, which has room again later."""
    path = tmp_path / "log"
    monkeypatch.setattr("vwlite.serve.access_log.say", lambda text: None)  # the limit is for standard error, too

    def work():
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        log = AccessLog(str(path))
        log.add({"a": 1})
        for room in (path.stat().st_size + 5, path.stat().st_size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
            log.add({"a": "cut"})
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        log.add({"a": 2})
        AccessLog(str(path)).add({"a": 3})
        return 0

    assert in_child(work) == 0
    first, cut, *others = path.read_bytes().split(b"\n")
    assert first == b'{"a": 1}' and cut == b'{"a":' and others == [b'{"a": 2}', b'{"a": 3}', b""]


def test_a_log_that_is_a_pipe_may_have_no_reader(serve, models, tmp_path):
    os.mkfifo(tmp_path / "log")
    server = serve("-m", models / "text.model", "--log", tmp_path / "log")
    assert all(server.post("/predict", LINES[0]) for _ in range(3))
    large = TEXT.encode() * 20  # more than a pipe holds
    with open(os.open(tmp_path / "log", os.O_RDWR), "rb") as reader:  # also to write, so that it does not end
        for body in (LINES[0], large, LINES[1]):
            asking = threading.Thread(target=server.post, args=("/predict", body))
            asking.start()
            assert json.loads(reader.readline())["request"].encode() == body
            asking.join()
    assert server.post("/predict", LINES[0])
    assert server.stop().err.count("warning") == 2  # before the reader, and after it


def test_metrics_count_what_was_predicted(serve, models):
    server = serve("-m", f"t={models / 'table.model'}")
    server.post("/predict", b'[{"age": 30}, {"age": "x"}]', 422)
    server.post("/predict", b'[{"age": 30}, {"city": "Paris"}]')
    server.post("/predict?on_error=skip", b'{"age": "x"}')
    text = server.ask("/metrics")[2].decode()
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert found['vwlite_lines_total{model="t"}'] == "3" and found['vwlite_errors_total{model="t"}'] == "1"
    assert found['vwlite_requests_total{code="200"}'] == "2" and found['vwlite_requests_total{code="422"}'] == "1"
    assert found['vwlite_features_total{model="t"}'] == "7" and found['vwlite_predictions_total{model="t"}'] == "2"
    assert found['vwlite_unknown_features_total{model="t"}'] == "1"
    assert found['vwlite_absent_cells_total{model="t"}'] == "5"  # one of them has a new city
    assert 0 < float(found['vwlite_prediction_sum{model="t"}']) < 2
    assert found['vwlite_labels_total{model="t"}'] == found['vwlite_losses_total{model="t"}'] == "0"
    assert found["vwlite_request_seconds_count"] == found['vwlite_request_seconds_bucket{le="+Inf"}'] == "3"


def families(text):
    """The samples of Prometheus' text format by family: (kind, help, [(name, labels, value)]). It must be valid."""
    found, name = {}, ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if about := re.fullmatch(r"# (HELP|TYPE) ([a-z_]+) (.+)", line):
            kind, of, rest = about.groups()
            if kind == "HELP":
                assert of not in found, "a family is there once"
                name, found[of] = of, ["", rest, []]
            else:
                assert of == name and not found[of][0] and rest in ("counter", "gauge", "histogram")
                found[of][0] = rest
            continue
        sample, labels, value = re.fullmatch(r'([a-z_]+)(?:\{((?:\w+="[^"\\\n]*",?)*)\})? (\S+)', line).groups()
        suffixes = ("_bucket", "_sum", "_count") if found[name][0] == "histogram" else ("",)
        assert sample in [name + suffix for suffix in suffixes]
        found[name][2].append((sample, dict(re.findall(r'(\w+)="([^"]*)"', labels or "")), float(value)))
    return found


@pytest.mark.parametrize("name", ["table", "text", "center", "classes"])
def test_metrics_are_valid_and_have_a_histogram_of_predictions(serve, models, name):
    server = serve("-m", f"t={models / name}.model", "-m", f"u={models / 'other.model'}")
    data = {"table": b'{"age": 1}\n{"age": 50}\n' * 40, "classes": CLASSES.encode(), "center": DENSE.encode()}.get(
        name, TEXT.encode())
    first = server.post("/predict?model=t", data, kind="text/plain")
    server.post("/predict?model=t", data.splitlines(True)[0], kind="text/plain")
    lines = first.splitlines()
    numbers = [] if name == "classes" else [float(line.split()[0]) for line in [*lines, lines[0]]]
    found = families(server.ask("/metrics")[2].decode())
    assert all(kind and help for kind, help, _ in found.values())
    for family in ("vwlite_prediction", "vwlite_request_seconds"):
        assert found[family][0] == "histogram"
    samples = [s for s in found["vwlite_prediction"][2] if s[1]["model"] == "t"]
    buckets = [(float(labels["le"]), n) for sample, labels, n in samples if "le" in labels]
    assert [le for le, _ in buckets] == sorted({le for le, _ in buckets}) and buckets[-1][0] == float("inf")
    for le, n in buckets:
        near = sum(abs(x - le) < 1e-6 * abs(x) for x in numbers)  # answers are 32-bit floats
        assert abs(n - sum(x <= le for x in numbers)) <= near
    total = {sample: n for sample, labels, n in samples if "le" not in labels}
    assert total["vwlite_prediction_count"] == len(numbers) == buckets[-1][1]
    assert total["vwlite_prediction_sum"] == pytest.approx(sum(numbers), rel=1e-6)
    assert found["vwlite_predictions_total"][2][0][2] == len(numbers)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_the_log_may_be_standard_output(serve, models, workers):
    """Each line comes at once, and is whole, though a pipe takes long ones in pieces."""
    server = serve("-m", models / "text.model", "--log", "-", "--workers", workers)
    answer = server.post("/predict", LINES[0])
    first = json.loads(server.process.stdout.readline())
    assert first["request"].encode() == LINES[0] and first["answer"].encode() == answer
    lines, large = [], TEXT.encode() * 9
    reading = threading.Thread(target=lambda: lines.extend(server.process.stdout.readline() for _ in range(40)))
    asking = [threading.Thread(target=lambda body=body: [server.post("/predict", body) for _ in range(10)])
              for body in (LINES[0], large, LINES[1], large)]
    for thread in (reading, *asking):
        thread.start()
    for thread in (*asking, reading):
        thread.join()
    assert sorted(len(json.loads(line)["request"]) for line in lines) == sorted(
        [len(body) for body in (LINES[0], LINES[1], large, large)] * 10)


def test_nobody_waits_for_a_reader_of_standard_output(serve, models):
    server = serve("-m", models / "text.model", "--log", "-")
    for _ in range(10):
        server.post("/predict", TEXT.encode() * 2)  # more than a pipe holds
    server.process.stdout.close()
    assert server.post("/predict", LINES[0])
    assert server.stop().err.count("warning") == 1


@pytest.mark.parametrize("options, environment", [
    ((), {"PORT": "A"}), ((), {"VWLITE_SERVE_PORT": "A", "PORT": "x"}), ((), {"VWLITE_SERVE_PORT": "", "PORT": "A"}),
    (("--port", "A"), {"VWLITE_SERVE_PORT": "x", "PORT": "y"}),
])
def test_the_port_of_the_environment(models, options, environment):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = str(s.getsockname()[1])
    put = {name: value.replace("A", free) for name, value in environment.items()}
    more = {"VWLITE_SERVE_MODEL": f"a={models / 'text.model'}:{models / 'other.model'}", "VWLITE_SERVE_MAX_BODY": "10K"}
    process = start("serve", *(o.replace("A", free) for o in options), env={**os.environ, **put, **more})
    said = process.stderr.readline().decode()
    assert said == f"serving a, other at http://127.0.0.1:{free}\n"
    with socket.create_connection(("127.0.0.1", int(free))) as s:
        s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n")
        assert b"413" in s.recv(99)
    with socket.create_connection(("127.0.0.1", int(free))) as s:
        s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 12000\r\n\r\n" + b"x" * 12000)
        assert b"413" in s.recv(99)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0


@pytest.mark.parametrize("name, value", [
    ("PORT", "http"), ("VWLITE_SERVE_PORT", "tcp://10.0.0.1:80"), ("PORT", "70000"), ("VWLITE_SERVE_WORKERS", "0"),
    ("VWLITE_SERVE_TIMEOUT", "soon"), ("VWLITE_SERVE_QUIET", "perhaps"), ("VWLITE_SERVE_ON_UNKNOWN", "x"),
])
def test_a_bad_value_of_the_environment_names_its_variable(models, name, value):
    done = finish(start("serve", "-m", models / "text.model", env={**os.environ, name: value}))
    assert done.code == 2 and f"environment variable {name}" in done.err.splitlines()[-1] and "--port" not in done.err


@pytest.mark.parametrize("kind, body", [
    ("application/json", b'[{"age": 30, "x": 1, "y": "a"}, {"age": 3}]'),
    ("text/plain", b'{"age": 1, "x": 2, "y": 1}\n'), ("text/csv", b"x,age,city,note,y\n1,30,Rome,w0 w0,2\n"),
])
def test_columns_that_the_model_does_not_have_are_counted(serve, models, kind, body):
    server = serve("-m", f"t={models / 'table.model'}")
    for times in (1, 2, 3):
        server.post("/predict", body, kind=kind)
        found = dict(re.findall(r'vwlite_(\w+)\{model="t"\} (\S+)', server.ask("/metrics")[2].decode()))
        assert found["unknown_features_total"] == str(2 * times)


def test_metrics_have_the_loss_of_lines_with_labels(serve, models):
    server = serve("-m", f"t={models / 'text.model'}")
    server.post("/predict", b"".join(LINES) + b"|a w1\n")
    found = dict(re.findall(r'vwlite_(\w+)\{model="t"\} (\S+)', server.ask("/metrics")[2].decode()))
    done = finish(start("evaluate", "-m", models / "text.model", "--json", "--quiet"), b"".join(LINES))
    loss = json.loads(done.out)["measures"]["log_loss"]["value"]
    assert int(found["labels_total"]) == int(found["losses_total"]) == len(LINES)
    assert int(found["predictions_total"]) == len(LINES) + 1
    assert float(found["loss_sum"]) / len(LINES) == pytest.approx(loss, abs=1e-6)
    assert float(found["label_sum"]) == sum(int(line.split()[0]) for line in LINES)


def test_several_processes_share_a_port_and_counters(serve, models):
    server = serve("-m", models / "text.model", "--workers", "3")
    expected = predicted(models / "text.model", TEXT.encode())
    assert all(server.post("/predict", TEXT.encode()) == expected for _ in range(20))
    assert 'code="200"} 20' in server.ask("/metrics")[2].decode()
    listed = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    if listed.exists():
        children = listed.read_text().split()
        assert len(children) == 3
        os.kill(int(children[0]), signal.SIGKILL)
        wait_for(lambda: len(set(listed.read_text().split()) - {children[0]}) == 3)
        assert server.post("/predict", TEXT.encode()) == expected


def test_the_processes_end_with_the_one_that_was_started(serve, models):
    server = serve("-m", models / "text.model", "--workers", "2")
    assert server.post("/predict", LINES[0])
    server.process.kill()
    server.process.wait()

    def is_free():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", server.port)) != 0

    wait_for(is_free)
    server.process = start("serve", "-m", models / "text.model", "--port", server.port)
    assert b"serving" in server.process.stderr.readline()


@pytest.mark.drawn
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_as_soon_as_it_serves_ends_it(serve, models, workers):
    for turn in range(0, 8, 1 if ALL else 4):
        server = serve("-m", models / "text.model", "--workers", workers)
        time.sleep(turn / 4000)
        server.process.send_signal(signal.SIGTERM)
        assert finish(server.process).code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_ends_it_after_the_requests_that_are_there(serve, models, number, workers):
    server = serve("-m", models / "text.model", "--workers", workers)
    with socket.create_connection(("127.0.0.1", server.port)) as s, socket.create_connection(s.getpeername()) as idle:
        s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n1 |a")
        time.sleep(0.3)
        server.process.send_signal(number)
        assert idle.recv(1) == b""
        s.sendall(b" w1\n")
        assert s.makefile("rb").read().startswith(b"HTTP/1.1 200")
    assert finish(server.process).code == 0


@pytest.mark.parametrize("leaves", [True, False])
def test_it_ends_though_a_thread_is_at_work(serve, models, leaves):
    """At the latest after the time of grace, or at a second signal: as here, where a client waits for its answer."""
    body = b'{"age": 30, "city": "Lima", "note": "w1 w2"}\n' * 300_000
    server = serve("-m", models / "table.model")
    with socket.create_connection(("127.0.0.1", server.port)) as s:
        s.sendall(b"POST /predict?explain=5 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.5)
        if leaves:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        if not leaves:
            server.process.send_signal(signal.SIGTERM)
        assert finish(server.process).code == 0


def test_several_models_and_names(serve, models):
    server = serve("-m", f"a={models / 'text.model'}", "-m", models / "other.model")
    assert set(server.json("/health")["models"]) == {"a", "other"}
    for name, file in (("a", "text"), ("other", "other")):
        expected = predicted(models / f"{file}.model", TEXT.encode())
        assert server.post(f"/predict?model={name}", TEXT.encode()) == expected


def refused(*options):
    done = finish(start("serve", *options))
    assert "Traceback" not in done.err and done.err.count("\n") == 1, done.err
    return done.code, done.err


def test_what_it_does_not_start_with(serve, models, tmp_path):
    model = models / "text.model"
    server = serve("-m", model)
    code, said = refused("-m", model, "--port", server.port)
    assert code == 75 and "another --port" in said
    assert refused("-m", tmp_path / "none")[0] == 66
    (tmp_path / "cut").write_bytes(model.read_bytes()[:500])
    assert refused("-m", tmp_path / "cut", "--port", "0")[0] == 65
    assert refused("-m", model, "--host", "not a host")[0] == 69
    code, said = refused("-m", f"a={model}", "-m", f"a={model}")
    assert code == 2 and "two models a" in said
    assert refused("-m", model, "--log", tmp_path / "no" / "folder", "--port", "0")[0] == 73
    assert refused("-m", model, "--log", model, "--port", "0")[0] == 2
