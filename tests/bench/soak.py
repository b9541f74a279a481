"""Mixed load and attacks on `vwlite serve` for some minutes, with each answer compared with `vwlite predict`.

    python tests/bench/soak.py --minutes 30

A line every ten seconds: what was done, and the memory of the server. Exit code 1 for a wrong answer, a failed request,
a server that has ended, or memory that keeps growing, or is more than bodies may take.
"""

import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from harness import VWLITE, options_of
from serve import rows

MOST = 600  # MB of the server: bodies may take 256, the work on some of them as much again


def memory(pid: int, what: str = "VmRSS") -> float:
    """MB of a process; VmHWM: the most that it has had."""
    return int(re.findall(rf"{what}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def chunked(body: bytes, size: int) -> bytes:
    """A body in chunks of this size, without the last one."""
    return b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in (body[i : i + size] for i in range(0, len(body), size)))


def request(
    body: bytes, query: str = "model=m", kind: str = "text/plain", path: str = "/predict", chunk: int = 0
) -> bytes:
    """chunk: the size of the chunks in which the body comes; 0: it has a length."""
    head = f"POST {path}{query and '?' + query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    if chunk:
        return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, chunk) + b"0\r\n\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def post(port: int, body: bytes, *about: str, chunk: int = 0) -> tuple[int, bytes]:
    """Status and body of the answer; once more after 429, as the bodies of others are in memory."""
    while True:
        with socket.create_connection(("127.0.0.1", port), 30) as s:
            s.sendall(request(body, *about, chunk=chunk))
            found = s.makefile("rb").read()
        head, _, rest = found.partition(b"\r\n\r\n")
        if int(head.split()[1]) != 429:
            return int(head.split()[1]), rest
        time.sleep(0.2)


def main() -> int:
    options = options_of(__doc__)
    options.add_argument("--minutes", type=float, default=30)
    end = time.monotonic() + 60 * options.parse_args().minutes
    folder = Path(tempfile.mkdtemp())
    lines, done, wrong, lock = rows(5000), Counter[str](), [], threading.Lock()
    expected: list[list[bytes]] = []
    for i in range(2):
        data = folder / f"{i}.vw"
        data.write_text("".join(lines[i * 2500 : i * 2500 + 2500]))
        learn = ["--loss", "logistic", "--algorithm", "gd", "--quiet", "-m", folder / f"{i}.model"]
        subprocess.run([VWLITE, "train", data, *learn], check=True)
    (folder / "all.vw").write_text("".join(lines))
    for i in range(2):
        predict = [VWLITE, "predict", "-m", folder / f"{i}.model", folder / "all.vw", "--quiet"]
        expected.append(subprocess.run(predict, check=True, capture_output=True).stdout.splitlines(True))
    shutil.copy(folder / "0.model", folder / "m")
    draw = random.Random(2)
    pairs = [(draw.randrange(20, 60) / 20, f"c{draw.randrange(9)}") for _ in range(3000)]
    table = [json.dumps({"age": age, "city": city, "note": "a b"}).encode() + b"\n" for age, city in pairs]
    rows_of_table = "".join(f"{i % 7 + i % 40 / 40},{i % 40 / 40 + 1},c{i % 7}\n" for i in range(500))
    (folder / "t.csv").write_text("y,age,city\n" + rows_of_table)
    (folder / "t.jsonl").write_bytes(b"".join(table))
    learn = ["--label", "y", "--algorithm", "gd", "--quiet", "-m", folder / "t"]
    subprocess.run([VWLITE, "train", folder / "t.csv", *learn], check=True)
    predict = [VWLITE, "predict", "-m", folder / "t", folder / "t.jsonl", "--quiet"]
    numbers = [float(x) for x in subprocess.run(predict, check=True, capture_output=True).stdout.split()]
    command = [VWLITE, "serve", "-m", folder / "m", "-m", folder / "t", "--port", "0", "--timeout", "3"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    port = int(re.findall(r":(\d+)", server.stderr.readline())[0])

    def ask(draw: random.Random) -> None:
        n = draw.choice((1, 1, 1, 50, 1000))
        at = draw.randrange(len(lines) - n)
        chunk = draw.choice((0, 0, 9, 700, 8192, 50_000))
        status, text = post(port, "".join(lines[at : at + n]).encode(), chunk=chunk)
        if status != 200 or text not in [b"".join(found[at : at + n]) for found in expected]:
            wrong.append((status, text[:200]))

    def drop(draw: random.Random) -> None:
        for _ in range(100):
            socket.create_connection(("127.0.0.1", port), 30).close()

    def slow(draw: random.Random) -> None:
        with socket.create_connection(("127.0.0.1", port), 30) as s:
            for byte in b"POST /predict HTTP/1.1\r\n"[: draw.randrange(24)]:
                s.sendall(bytes([byte]))
                time.sleep(0.05)
            time.sleep(draw.random() * 5)  # half-open

    def garbage(draw: random.Random) -> None:
        with socket.create_connection(("127.0.0.1", port), 30) as s:
            s.sendall(draw.randbytes(draw.randrange(1, 50_000)))

    def huge(draw: random.Random) -> None:
        with socket.create_connection(("127.0.0.1", port), 30) as s:
            how = draw.choice((b"Content-Length: 1073741824\r\n\r\n",
                               b"Transfer-Encoding: chunked\r\n\r\n40000000\r\n"))
            s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\n" + how)
            for _ in range(1024):
                s.sendall(bytes(1 << 20))

    def endless(draw: random.Random) -> None:
        """Many bodies at a time that do not end, in small chunks."""
        connections, body = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(60)], bytes(15 << 20)
        sent = chunked(body, draw.choice((1000, 8192, 16384)))
        head = b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        for s in connections:
            with suppress(OSError):  # refused
                s.sendall(head + sent)
        for s in connections:
            s.close()
        time.sleep(5)

    def explain(draw: random.Random) -> None:
        n = draw.choice((1, 10, 1000, 3000))
        at = draw.randrange(len(table) + 1 - n)
        kind, body = draw.choice((("application/json", b"[%b]" % b",".join(table[at : at + n])),
                                  ("application/x-ndjson", b"".join(table[at : at + n]))))
        status, text = post(port, body, "model=t&explain=3", kind)
        answers = json.loads(text) if kind == "application/json" else [*map(json.loads, text.splitlines())]
        if status != 200 or [a["prediction"] for a in answers] != numbers[at : at + n]:
            wrong.append((status, text[:200]))
        elif not all(a["contributions"] and "note" in a["unknown"] for a in answers):
            wrong.append(("not explained", text[:200]))

    def small(draw: random.Random) -> None:
        """Beside the others: what waits for 5 seconds is an error."""
        at, begun = draw.randrange(len(table)), time.monotonic()
        status, text = post(port, table[at], "model=t", "application/json")
        if status != 200 or json.loads(text).get("prediction") != numbers[at] or time.monotonic() - begun > 5:
            wrong.append((status, text[:200], time.monotonic() - begun))
        time.sleep(0.1)

    def leave(draw: random.Random) -> None:
        """Large bodies of clients that do not wait for the answer."""
        for _ in range(20):
            body = b"".join(table) * draw.choice((1, 20, 80))
            with socket.create_connection(("127.0.0.1", port), 30) as s:
                s.sendall(request(body, draw.choice(("model=t", "model=t&explain=9")), "application/x-ndjson"))
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(1)

    def skip(draw: random.Random) -> None:
        """One answer for each line, whatever it is."""
        at = draw.randrange(len(table) - 50)
        damaged = [draw.random() < 0.3 for _ in range(50)]
        bad = (b"\n", b"}}\n", b"[1]\n", b'{"age": [1\n', b'{"age": 1, "city": "\n', b"x\n")
        body = b"".join(draw.choice(bad) if d else table[at + i] for i, d in enumerate(damaged))
        status, text = post(port, body, "model=t&on_error=skip", "application/x-ndjson")
        found = [json.loads(line).get("prediction") for line in text.splitlines()]
        if status != 200 or found != [None if d else numbers[at + i] for i, d in enumerate(damaged)]:
            wrong.append((status, text[:200]))

    def infer(draw: random.Random) -> None:
        """Tensors of the Open Inference Protocol."""
        n = draw.choice((1, 1, 30, 3000))
        at = draw.randrange(len(table) + 1 - n)
        ages, cities = zip(*pairs[at : at + n], strict=True)
        inputs = [{"name": "age", "datatype": "FP64", "shape": [n, 1], "data": ages},
                  {"name": "city", "datatype": "BYTES", "shape": [n], "data": cities}]
        status, text = post(port, json.dumps({"inputs": inputs}).encode(), "", "application/json", "/v2/models/t/infer")
        if status != 200 or json.loads(text)["outputs"][0]["data"] != numbers[at : at + n]:
            wrong.append((status, text[:200]))

    def kept(draw: random.Random) -> None:
        """Connections that are kept, which send rows at the same time: some bad, some of clients that go."""
        head = (b"POST /predict?model=t HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n")
        connections = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(12)]
        files = [s.makefile("rb") for s in connections]
        for _ in range(30):
            asked = [draw.randrange(-2, len(table)) for _ in connections]
            for s, at in zip(connections, asked, strict=True):
                body = table[at] if at >= 0 else b'{"age": "x"}'
                s.sendall(head % len(body) + body)
            for file, at in zip(files, asked, strict=True):
                status, length = int(file.readline().split()[1]), 0
                while (line := file.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length: "):
                        length = int(line.split()[1])
                answer = json.loads(file.read(length))
                if (status == 200) != (at >= 0) or answer.get("prediction") != (numbers[at] if at >= 0 else None):
                    wrong.append((status, answer))
        connections[0].sendall(head % len(table[0]) + table[0])
        for s, file in zip(connections, files, strict=True):
            file.close()
            s.close()

    def swap(draw: random.Random) -> None:
        source = folder / f"{draw.randrange(2)}.model"
        content = source.read_bytes()
        (folder / "new").write_bytes(content if draw.random() < 0.8 else content[: draw.randrange(len(content))])
        os.replace(folder / "new", folder / "m")
        time.sleep(1.2)
        if draw.random() < 0.1:
            os.mkfifo(folder / "new")
            os.replace(folder / "new", folder / "m")
            time.sleep(1.2)

    def repeat(what: object, seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < end:
            try:
                what(draw)  # type: ignore[operator]
            except OSError as e:
                if what in answered:
                    wrong.append(("no answer", repr(e)))
            with lock:
                done[what.__name__] += 1  # type: ignore[attr-defined]

    answered = [ask, ask, ask, explain, small, skip, infer, kept, kept]
    kinds = [*answered, drop, slow, slow, garbage, huge, endless, leave, swap]
    threads = [threading.Thread(target=repeat, args=(kind, i)) for i, kind in enumerate(kinds)]
    errors = threading.Thread(target=lambda: done.update(said=sum(1 for _ in server.stderr)), daemon=True)
    for thread in (*threads, errors):
        thread.start()
    sizes: list[float] = []
    while any(thread.is_alive() for thread in threads) and server.poll() is None:
        time.sleep(min(10, max(0.5, end - time.monotonic())))
        sizes.append(memory(server.pid))
        print(f"{time.strftime('%H:%M:%S')} {sizes[-1]:.0f} MB, wrong {len(wrong)}, {dict(done)}", flush=True)
    died, peak = server.poll(), 0.0 if server.poll() is not None else memory(server.pid, "VmHWM")
    server.terminate()
    code = server.wait(30)
    grown = len(sizes) > 8 and max(sizes[-len(sizes) // 4 :]) > 1.3 * max(sizes[len(sizes) // 4 : len(sizes) // 2])
    print(f"ended before the end: {died}; exit code {code}; memory grows: {grown}, at most {peak:.0f} MB; "
          f"wrong: {wrong[:3]}")
    shutil.rmtree(folder)
    return int(bool(wrong) or died is not None or code != 0 or grown or peak > MOST)


if __name__ == "__main__":
    sys.exit(main())
