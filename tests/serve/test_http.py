"""The protocol of `vwlite serve`: its paths, its limits, and clients that break the rules."""

import json
import random
import re
import resource
import select
import signal
import socket
import time
from pathlib import Path

import pytest
from servers import TEXT, predicted, wait_for

LINE = b"1 |a w1\n"
POST = b"POST /predict?model=text HTTP/1.1\r\nHost: x\r\n"


def statuses(answer):
    """Of answers one after the other."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) [^\r]+\r\nContent-Type", answer)]


def sized(body, more=b"", begin=POST):
    return begin + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


CLOSE = b"Connection: close\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n" + CLOSE + b"\r\n"


@pytest.mark.parametrize("status, sent", [
    (200, sized(LINE, CLOSE)),
    (200, b"\r\n" + sized(LINE, CLOSE)),
    (200, CHUNKED + b"3\r\n1 |\r\n5;x=y\r\na w1\n\r\n0\r\nTrailer: 1\r\n\r\n"),
    (200, CHUNKED + b"0\r\nA: 1\r\nB: \xff\r\n\r\n"),
    (400, CHUNKED + b"0\r\nA: \x01\r\n\r\n"),
    (400, CHUNKED + b"0\r\nA: 1\nB: 2\r\n\r\n"),
    (400, CHUNKED + b"0\r\nno header\r\n\r\n"),
    (200, CHUNKED + b"0\r\n\r\n"),
    (200, b"GET http://host:80/ping HTTP/1.1\r\nHost: host\r\n" + CLOSE + b"\r\n"),
    (200, b"GET HTTPS://[::1]/ping?x HTTP/1.1\r\nHost: [::1]:443\r\n" + CLOSE + b"\r\n"),
    (404, b"GET http://host HTTP/1.1\r\nHost: host\r\n" + CLOSE + b"\r\n"),
    (404, b"GET /http://host/ping HTTP/1.1\r\nHost: host\r\n" + CLOSE + b"\r\n"),
    (400, b"GET /ping HTTP/1.1\r\nHost: a b\r\n\r\n"),
    (400, b"GET /ping HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    (200, b"GET /ping HTTP/1.0\r\n\r\n"),
    (400, CHUNKED + b"zz\r\n"),
    (400, CHUNKED + b"-1\r\n"),
    (400, CHUNKED + b"3\r\nabcdef\r\n"),
    (413, CHUNKED + b"7fffffff\r\n"),
    (431, CHUNKED + b"1;" + b"x" * 20_000),
    (431, CHUNKED + b"0\r\nA: " + b"x" * 20_000),
    (400, sized(LINE, b"Content-Length: 3\r\n")),
    (400, sized(LINE, b"Transfer-Encoding: chunked\r\n")),
    (400, POST + b"Content-Length: -1\r\n\r\n"),
    (400, POST + b"Content-Length: 1_0\r\n\r\n"),
    (400, POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n"),
    (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n"),
    (400, POST + b"Name : x\r\n\r\n"),
    (400, POST + b"A: b\r\n folded\r\n\r\n"),
    (400, POST + b"A: b\nB: c\r\n\r\n"),
    (400, POST + b"A: \x00\r\n\r\n"),
    (400, POST + b"Host: y\r\n\r\n"),
    (400, b"GET /ping HTTP/1.1\r\n\r\n"),
    (400, b"GET  /ping HTTP/1.1\r\nHost: x\r\n\r\n"),
    (400, b"\x16\x03\x01\x02\x00"),
    (505, b"GET / HTTP/2.0\r\n\r\n"),
    (431, POST + b"A: " + b"x" * 20_000),
    (431, POST + b"X: 1\r\n" * 1000 + b"\r\n"),
    (431, POST + b"".join(b"X%d: 1\r\n" % i for i in range(150)) + b"\r\n"),
    (417, POST + b"Expect: more\r\n\r\n"),
    (415, sized(LINE, CLOSE + b"Content-Type: image/png\r\n")),
    (415, sized(LINE, CLOSE + b"Content-Type: text/plain; charset=utf-16\r\n")),
    (415, sized(LINE, CLOSE + b"Content-Encoding: gzip\r\n")),
    (413, POST + b"Content-Length: 1073741824\r\n\r\n" + b"x" * 100_000),
    (408, POST + b"A: b\r\n"),
    (408, POST + b"Content-Length: 10\r\n\r\n123"),
    (408, CHUNKED + b"5\r\n12"),
])
def test_each_request_gets_its_status(shared, status, sent):
    answer = shared.raw(sent)
    assert statuses(answer) == [status]
    if status != 200:
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


@pytest.mark.parametrize("path, body, status", [
    ("/nothing", None, 404), ("/predict?model=nobody", b"", 404), ("/predict", b"", 404),
    ("/v2/models/none", None, 404),
    ("/v2/models/text/other", None, 404), ("/predict?model=text", None, 405), ("/health", b"x", 405),
    ("/predict?model=text&on_error=no", LINE, 400), ("/predict?model=text&explain=2", LINE, 400),
    ("/predict?model=table&explain=x", b"{}", 400), ("/predict?model=text&x=1", LINE, 400),
    ("/invocations?model=text", LINE, 200), ("/v2/models/text", None, 200),
    ("/v2/health/live", None, 200), ("/v2/health/ready", None, 200),
    ("/ping", None, 200), ("/health/", None, 200),
])
def test_paths(shared, path, body, status):
    found, head, answer = shared.ask(path, body)
    assert found == status
    assert ("Allow: " in head) == (status == 405)
    if status != 200:
        assert json.loads(answer)["error"]


def test_head_has_the_headers_of_get_and_no_body(shared):
    _, head, body = shared.ask("/nothing", method="HEAD")
    _, same, whole = shared.ask("/nothing")
    assert head == same and body == b"" and f"Content-Length: {len(whole)}" in head


def test_connections_are_kept_and_requests_pipelined(shared, models):
    lines = TEXT.encode().splitlines(True)[:40]
    large = TEXT.encode() * 3
    assert len(large) > 16 << 10  # another thread predicts it, and the order stays
    bodies = [*lines, large, *lines]
    answer = shared.raw(b"".join(map(sized, bodies)) + sized(LINE, CLOSE))
    assert statuses(answer) == [200] * (len(bodies) + 1)
    found, rest = [], answer
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split()[0])
        found.append(rest[:length])
        rest = rest[length:]
    assert b"".join(found) == predicted(models / "text.model", b"".join(bodies) + LINE)


def test_requests_in_pieces_of_one_byte(shared):
    with socket.create_connection(("127.0.0.1", shared.port)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in CHUNKED + b"8\r\n" + LINE + b"\r\n0\r\n\r\n":
            s.sendall(bytes([byte]))
        assert s.makefile("rb").read().startswith(b"HTTP/1.1 200")


def test_who_expects_to_continue_is_told(shared):
    with socket.create_connection(("127.0.0.1", shared.port)) as s:
        s.sendall(POST + CLOSE + b"Expect: 100-continue\r\nContent-Length: 8\r\n\r\n")
        assert s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(LINE)
        assert s.makefile("rb").read().startswith(b"HTTP/1.1 200")
    assert statuses(shared.raw(POST + b"Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n")) == [413]


def test_old_clients_may_keep_the_connection(shared):
    begin = POST.replace(b"1.1", b"1.0")
    answer = shared.raw(sized(LINE, b"Connection: keep-alive\r\n", begin) + sized(LINE, b"", begin))
    assert statuses(answer) == [200, 200] and answer.count(b"Connection: keep-alive") == 1


def test_who_has_said_all_still_gets_the_answer(shared):
    assert statuses(shared.raw(sized(LINE), half=True)) == [200]
    assert statuses(shared.raw(sized(TEXT.encode() * 3), half=True)) == [200]
    assert statuses(shared.raw(POST, half=True)) == [400]
    assert shared.raw(b"", half=True) == b""


def test_idle_and_slow_clients_are_closed(shared):
    begin = time.monotonic()
    assert shared.raw(b"") == b""
    with socket.create_connection(("127.0.0.1", shared.port)) as s, pytest.raises(OSError):
        for _ in range(100):  # a byte now and then does not help
            s.sendall(b"G")
            time.sleep(0.1)
    assert time.monotonic() - begin < 30


def test_a_client_that_never_reads_is_closed(shared):
    body = sized(b"1 |a w1\n" * 10_000)
    with socket.create_connection(("127.0.0.1", shared.port)) as s:
        s.settimeout(5)
        with pytest.raises(OSError):
            while True:
                s.sendall(body)
    assert shared.ask("/ping")[0] == 200


def test_garbage_never_ends_the_server(shared):
    draw = random.Random(5)
    parts = [POST, b"GET /ping HTTP/1.1\r\n", b"\r\n", b"\r\n\r\n", b"Content-Length: 5\r\n", b"Host: x\r\n",
             b"\x00\xff", b"Transfer-Encoding: chunked\r\n", b"5\r\n", b"0\r\n\r\n", LINE, b"{", b" "]
    for _ in range(60):
        data = b"".join(draw.choice(parts) for _ in range(draw.randrange(1, 12)))
        assert set(statuses(shared.raw(data, half=True))) <= {200, 400, 404, 405, 422, 431}
    assert shared.post("/predict?model=text", LINE)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit")
def test_too_many_open_files_are_said_once(serve, models):
    server = serve("-m", models / "text.model")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (32, 32))
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    time.sleep(2.5)  # it is tried each second
    for s in idle:
        s.close()
    wait_for(lambda: server.ask("/ping")[0] == 200)
    said = server.stop().err.splitlines()
    assert len(said) == 1 and "Too many open files" in said[0]


def most_waiting():
    try:
        return int(Path("/proc/sys/net/core/somaxconn").read_text())
    except OSError:
        return 0


@pytest.mark.skipif(most_waiting() < 1024, reason="needs a system that lets so many connections wait")
def test_hundreds_of_connections_wait_for_a_busy_server(serve, models):
    server = serve("-m", models / "text.model")
    assert server.ask("/ping")[0] == 200
    server.process.send_signal(signal.SIGSTOP)
    waiting = [socket.socket() for _ in range(400)]
    connecting = select.poll()  # not select: descriptors may be above 1,023
    for s in waiting:
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", server.port))
        connecting.register(s, select.POLLOUT)
    time.sleep(0.5)  # before the first one is tried again
    connected = connecting.poll(0)
    server.process.send_signal(signal.SIGCONT)
    for s in waiting:
        s.close()
    assert len(connected) == len(waiting)


def test_too_many_connections(serve, models):
    server = serve("-m", models / "text.model", "--max-connections", "2")
    first, second = (socket.create_connection(("127.0.0.1", server.port)) for _ in range(2))
    wait_for(lambda: statuses(server.raw(b"")) == [503])
    first.close()
    wait_for(lambda: statuses(server.raw(b"GET /ping HTTP/1.0\r\n\r\n")) == [200])
    second.close()
