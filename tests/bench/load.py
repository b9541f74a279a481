"""Load on a server from one process: requests over connections that are kept, each sent when its answer is there."""

import selectors
import socket
import time
from collections.abc import Sequence


def load(
    address: tuple[str, int], bodies: Sequence[bytes], *, connections: int = 8, seconds: float = 5.0,
    path: str = "/predict", kind: str = "text/plain", by_line: bool = False,
) -> tuple[list[float], list[tuple[int, int, bytes]]]:
    """The seconds of each request, and (number of the body, status, answer), in the order in which they came.
    by_line: in Vowpal Wabbit's protocol, which has no status: it is 200."""
    requests = list(bodies) if by_line else [
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: {kind}\r\nContent-Length: {len(b)}\r\n\r\n".encode() + b
        for b in bodies
    ]
    chosen = selectors.DefaultSelector()
    times: list[float] = []
    answers: list[tuple[int, int, bytes]] = []
    sent = 0

    def send(s: socket.socket, state: list) -> None:
        nonlocal sent
        state[:] = [b"", time.perf_counter(), sent % len(requests)]
        sent += 1
        s.sendall(requests[state[2]])

    def finish(s: socket.socket, state: list, status: int, body: bytes) -> None:
        now = time.perf_counter()
        times.append(now - state[1])
        answers.append((state[2], status, body))
        if now < end:
            send(s, state)
        else:
            chosen.unregister(s)
            s.close()

    for _ in range(connections):
        s = socket.create_connection(address)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        chosen.register(s, selectors.EVENT_READ, [])
    end = time.perf_counter() + seconds
    for key in list(chosen.get_map().values()):
        send(key.fileobj, key.data)
    while chosen.get_map():
        for key, _ in chosen.select(5):
            s, state = key.fileobj, key.data
            data = s.recv(1 << 20)
            if not data:
                raise ConnectionError("the server closed a connection")
            state[0] += data
            if by_line:
                if state[0].count(b"\n") == requests[state[2]].count(b"\n"):
                    finish(s, state, 200, state[0])
                continue
            head, found, body = state[0].partition(b"\r\n\r\n")
            if not found:
                continue
            low = head.lower()
            at = low.index(b"content-length:") + 15
            length = int(low[at:].split(b"\r\n", 1)[0])
            if len(body) < length:
                continue
            finish(s, state, int(head[9:12]), body)
    return times, answers
