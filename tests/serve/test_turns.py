"""Threads of `vwlite serve`: what one request makes others wait for. Without sockets."""

import json
import random
import threading
from contextlib import contextmanager

import pytest
from fuzz.clients import Transport
from running import PATIENT
from servers import TEXT, predicted, wait_for

from vwlite.evaluation.explain import Explainer
from vwlite.serve.access_log import AccessLog
from vwlite.serve.answers import MOST_HELD, SMALL, Answers, Job
from vwlite.serve.commands import ServeOptions
from vwlite.serve.connection import Connection, LineConnection
from vwlite.serve.metrics import Metrics
from vwlite.serve.models import Models
from vwlite.serve.request import parse_head
from vwlite.serve.served import Served

LARGE = TEXT.encode() * 3  # another thread predicts it
ROWS = json.dumps([{"age": 20 + i % 40, "city": "Lima"} for i in range(1000)]).encode()
ROW = b'{"age": 30}'


def head(query=""):
    return parse_head(f"POST /predict{query} HTTP/1.1\r\nHost: x\r\nContent-Length: 1".encode())


@pytest.fixture
def answers(models):
    """Makes what answers for a model."""
    made = []

    def begin(name):
        found = Models({name.removesuffix(".model"): str(models / name)})
        made.append(Answers(ServeOptions(), found, Metrics(list(found), 1), AccessLog(None)))
        return made[-1]

    yield begin
    for one in made:
        one.pool.shutdown()
        one.small.shutdown()


@contextmanager
def stopped_in(monkeypatch, kind, name, *, once=False):
    """Whoever calls this method waits up to the end of the block. once: only the first one. Yields who has come."""
    come, go, before = [], threading.Event(), getattr(kind, name)

    def method(*arguments, **named):
        come.append(threading.current_thread())
        if not once or len(come) == 1:
            go.wait(PATIENT)
        return before(*arguments, **named)

    monkeypatch.setattr(kind, name, method)
    try:
        yield come
    finally:
        go.set()


def in_time(call):
    """What a call returns, if it does not wait for others."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(PATIENT / 2)
    assert found, "the call waits"
    return found[0]


@pytest.mark.parametrize("query, place", [("?explain=3", "explain"), ("", "unknown")])
def test_finding_names_does_not_keep_others_from_predicting(answers, monkeypatch, query, place):
    server, done = answers("table.model"), []
    with stopped_in(monkeypatch, Explainer, place) as come:
        assert isinstance(server.answer(head(query), ROWS, done.append), Job)
        wait_for(lambda: come)
        assert in_time(lambda: server.answer(head(), ROW, done.append)).status == 200
        assert not done
    wait_for(lambda: done)
    assert done[0].status == 200 and {len(a["unknown"]) for a in json.loads(done[0].body)} == {1}


def test_a_small_request_leaves_the_loop_while_the_model_is_taken(answers, models, monkeypatch):
    """It waits in another thread, which has no large bodies before it."""
    server, large, small = answers("text.model"), [], []
    line, expected = LARGE.splitlines(True)[0], predicted(models / "text.model", LARGE)
    with stopped_in(monkeypatch, Served, "_predicted", once=True) as come:
        for _ in range(2):
            assert isinstance(server.answer(head(), LARGE, large.append), Job)
        wait_for(lambda: come)
        assert isinstance(in_time(lambda: server.answer(head(), line, small.append)), Job)
        assert isinstance(in_time(lambda: server.lines(line, small.append)), Job)
        assert not large and not small
    wait_for(lambda: len(large) == len(small) == 2)
    assert {a.body for a in large} == {expected}
    assert {a.body for a in small} == {expected.splitlines(True)[0]}


def test_a_small_request_does_not_wait_for_the_bodies_before_it(answers, monkeypatch):
    server, done = answers("table.model"), []
    with stopped_in(monkeypatch, Explainer, "explain", once=True) as come:
        assert isinstance(server.answer(head("?explain=3"), ROWS, done.append), Job)
        wait_for(lambda: come)
        assert isinstance(server.answer(head("?explain=3"), ROW, done.append), Job)
        wait_for(lambda: done)
        assert done[0].status == 200


def sent(server, body):
    """A connection that has sent a body."""
    connection = Connection(server)
    connection.connection_made(Transport())
    connection.data_received(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return connection


def answered_at(server, requests, gone=()):
    """What connections are answered that send these requests at the same time; some clients go before."""
    turns, connections = [], [Connection(server) for _ in requests]
    server.soon = turns.append
    for connection in connections:
        connection.connection_made(Transport())
    for connection, request in zip(connections, requests, strict=True):
        connection.data_received(request)
    for i in gone:
        connections[i].connection_lost()
    while turns:
        turns.pop(0)()
    server.soon = None
    return [bytes(connection.transport.out) for connection in connections]


def requests_of(name):
    """Of one row: right and wrong ones, with and without a type, an end of line, an answer before them."""
    if name == "table":
        bodies = [b'{"age": %d, "city": "%s"}' % (i, (b"Rome", b"Lima")[i % 2]) for i in range(9)]
        bodies += [b'{"age": 3, "new": 1}', b'{"agee": 3}', b'{"age": "x"}', b'{"age": 1', b"[]",
                   b'{"age": 4}{"age": 5}', b'{"age":\n 7}\n', b"age\n3\n", b"1 |age age:3\n", b"", b"\xff",
                   b'{"age": 1e999}', b"{}"]
    else:
        bodies = [*LARGE.splitlines(True)[:9], b"|a w1", b"1 |a w1:x\n", b"\n", b"", b"1 |a w2\n|b c1", b"nonsense\n",
                  b"1 |a w1\r\n", b"# |a w1\n", b"PAR1|a w1\n", b"'t|a\n", b'{"a": 1}', b"7 1:2\n",
                   b"1 |a \xff\n", b"|\n"]
    for i, body in enumerate(bodies):
        for kind in ("", "text/plain", "application/json", "text/csv"):
            about = f"Content-Type: {kind}\r\n" if kind else ""
            path = ("/predict", "/predict", "/predict", f"/predict?model={name}", "/predict?model=none", "/ping")[i % 6]
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{about}\r\n".encode()
            yield head + body
            yield (head + body) * 3 + head[:9]


@pytest.mark.parametrize("name", ["table", "text", "classes"])
def test_requests_of_one_turn_get_the_answers_that_each_gets_alone(answers, name, monkeypatch):
    draw, requests = random.Random(3), [*requests_of(name)]
    server, alone = answers(f"{name}.model"), answers(f"{name}.model")
    expected = [answered_at(alone, [request])[0] for request in requests]
    assert len({*expected}) > 12
    for _ in range(30):
        chosen = draw.choices(range(len(requests)), k=draw.randrange(2, 12))
        gone = draw.sample(range(len(chosen)), draw.randrange(2))
        found = answered_at(server, [requests[i] for i in chosen], gone)
        for k, i in enumerate(chosen):
            if k not in gone:
                assert found[k] == expected[i]
        for connection in [*server.connections]:
            connection.connection_lost()
        assert server._held == 0


# Cells that the model has, or not; the first column is in each row.
COLUMNS = {
    "table": {"age": [20, 33.5, 0, 1e6], "city": ["Rome", "Oslo", "Lima", ""], "note": ["w1 w1", "zz"]},
    "bent": {"x": [-2, 0.25, 50], "z": [0, 1.5, None], "w": ["a", "b c", "never"]},
    "pairs": {"a": ["p", "q"], "b": ["s", "t", "x", "never"], "c": [0, 2, 5, 99]},
}


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_an_answer_is_what_it_is_alone(answers, name):
    """The whole object, however rows come: in one request or from several clients, with ?explain or without."""
    server, draw, (first, *others) = answers(f"{name}.model"), random.Random(name), COLUMNS[name]
    rows = []
    for _ in range(60):
        names = [first, *(other for other in others if draw.random() < 0.8)]
        row = {column: draw.choice(COLUMNS[name][column]) for column in names}
        rows.append(row | {"new": 1} if draw.random() < 0.1 else row)

    def request(body):
        text = json.dumps(body).encode()
        return b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(text) + text

    def answer(sent):
        assert sent.startswith(b"HTTP/1.1 200"), sent
        return json.loads(sent.partition(b"\r\n\r\n")[2])

    alone = [answer(answered_at(server, [request(row)])[0]) for row in rows]
    unknown = {text for a in alone for text in a["unknown"]}
    assert unknown and unknown <= {"new", "city^city=Lima", "note^note=zz", "b^b=never", "w^w=never"}
    assert answer(answered_at(server, [request(rows)])[0]) == alone
    model, lines = server.models.find(name).model, b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    for explain in (0, 2):
        found, _ = model.rows(lines, explain=explain)
        assert [{key: a[key] for key in b} for a, b in zip(found, alone, strict=True)] == [
            b | ({"score": a["score"]} if explain else {}) for a, b in zip(found, alone, strict=True)]  # all its digits
    for _ in range(30):
        chosen = draw.choices(range(len(rows)), k=draw.randrange(2, 12))
        found = answered_at(server, [request(rows[i]) for i in chosen])
        assert [*map(answer, found)] == [alone[i] for i in chosen]


@pytest.mark.parametrize("name, row", [("table", ROW), ("text", LARGE.splitlines(True)[0])])
def test_rows_of_one_turn_are_predicted_in_one_batch(answers, monkeypatch, name, row):
    server, alone, calls = answers(f"{name}.model"), answers(f"{name}.model"), []
    request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(row) + row
    before = Served._taken
    monkeypatch.setattr(Served, "_taken", lambda *arguments: calls.append(1) or before(*arguments))
    found = answered_at(server, [request] * 7)
    assert len(calls) == 1 and len({*found}) == 1 and found[0].startswith(b"HTTP/1.1 200")
    for _ in range(7):
        answered_at(alone, [request])
    counted = [[line for line in s.metrics.text({name: ("", 0)}).splitlines() if "seconds" not in line]
               for s in (server, alone)]
    assert counted[0] == counted[1]


def test_rows_of_one_turn_leave_the_loop_while_the_model_is_taken(answers, monkeypatch):
    server, large = answers("text.model"), []
    with stopped_in(monkeypatch, Served, "_predicted", once=True) as come:
        server.answer(head(), LARGE, large.append)
        wait_for(lambda: come)
        row = LARGE.splitlines(True)[0]
        request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(row) + row
        assert in_time(lambda: answered_at(server, [request] * 3)) == [b""] * 3
    wait_for(lambda: all(c.transport.out.startswith(b"HTTP/1.1 200") for c in server.connections))


def test_bodies_of_clients_that_have_gone_are_dropped_or_counted(answers, monkeypatch):
    server, calls = answers("text.model"), []
    server.later = lambda done, answer: calls.append((done, answer))
    free = MOST_HELD - len(LARGE) // 2  # not while a body is there

    def is_free():
        found = server.hold(free)
        server.hold(-free * found)
        return found

    with stopped_in(monkeypatch, Served, "_predicted") as come:
        working = sent(server, LARGE)
        wait_for(lambda: come)
        waiting = [sent(server, LARGE) for _ in range(5)]
        for connection in (*waiting, working):
            assert not is_free()
            connection.connection_lost()
        assert not is_free()  # a thread has one of them
    wait_for(lambda: calls)
    server.pool.submit(lambda: None).result(PATIENT)
    assert len(come) == len(calls) == 1  # no work was begun for the others
    done, answer = calls[0]
    done(answer)
    assert is_free() and not server.connections


def unfinished(draw, kind):
    """The bytes of a request whose body does not end, or of a line without end."""
    piece = draw.choice((1, 100, 8192, SMALL, 3 * SMALL))
    if kind == "chunks":
        head, unit = b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%b\r\n" % (piece, b"a" * piece)
    else:
        head, unit = b"Content-Length: %d\r\n\r\n" % draw.choice((100, SMALL + 1, 90_000, 2_000_000)), b"a" * piece
    head = b"" if kind == "line" else b"POST /predict HTTP/1.1\r\nHost: x\r\n" + head
    return head, unit * (40_000 // piece)


@pytest.mark.parametrize("kind", ["length", "chunks", "line"])
def test_memory_for_bodies_is_bounded_however_they_come(answers, monkeypatch, kind):
    most, many, draw = 1 << 19, 30, random.Random(kind)
    monkeypatch.setattr("vwlite.serve.answers.MOST_HELD", most)
    server = answers("text.model")
    connections = [(LineConnection if kind == "line" else Connection)(server) for _ in range(many)]
    asked = [unfinished(draw, kind) for _ in connections]
    for connection, (head, _) in zip(connections, asked, strict=True):
        connection.connection_made(Transport())
        connection.data_received(head)
    for _ in range(3):
        for connection, (_, piece) in zip(connections, asked, strict=True):
            connection.data_received(piece)
            there = sum(len(c._in) + len(c._body or b"") for c in connections)
            assert there <= most + many * SMALL + len(piece)
    refused = [c.transport.closed or b" 429 " in c.transport.out for c in connections]
    assert any(refused) and not all(refused)
    for small in (b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /predict HTTP/1.1\r\nHost: x\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n3\r\n|a \r\n3\r\nw1\n\r\n0\r\n\r\n"):
        assert answered_at(server, [small])[0].startswith(b"HTTP/1.1 200")
    for connection in [*server.connections]:
        connection.connection_lost()
    server.pool.shutdown()  # a body is there up to the end of its work
    assert server._held == 0


def test_work_for_a_client_that_has_gone_ends_after_a_piece(answers, monkeypatch):
    server, calls = answers("text.model"), []
    server.later = lambda done, answer: calls.append(answer)
    with stopped_in(monkeypatch, Served, "_predicted", once=True) as come:
        connection = sent(server, LARGE * 50)
        wait_for(lambda: come)
        connection.connection_lost()
    wait_for(lambda: calls)
    assert calls == [None] and len(come) == 1
