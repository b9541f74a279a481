"""Mixed load and attacks on `vwlite serve` for some minutes, with each answer compared with `vwlite predict`.

    python tests/bench/soak.py --minutes 30

A line every ten seconds: what was done, and the memory of the server. Exit code 1 for a wrong answer, a failed request,
a server that has ended, or memory that keeps growing.
"""

import argparse
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from serve import rows

VWLITE = str(Path(sys.executable).with_name("vwlite"))


def memory(pid: int) -> float:
    """MB of a process."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def post(port: int, body: bytes) -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", port), 30) as s:
        head = b"POST /predict HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        s.sendall(head % len(body) + body)
        found = s.makefile("rb").read()
    head, _, rest = found.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


def main() -> int:
    options = argparse.ArgumentParser()
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
    command = [VWLITE, "serve", "-m", folder / "m", "--port", "0", "--timeout", "3"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    port = int(re.findall(r":(\d+)", server.stderr.readline())[0])

    def ask(draw: random.Random) -> None:
        n = draw.choice((1, 1, 1, 50, 1000))
        at = draw.randrange(len(lines) - n)
        status, text = post(port, "".join(lines[at : at + n]).encode())
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
                               b"Transfer-Encoding: chunked\r\n\r\n40000000\r\n"))  # fmt: skip
            s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\n" + how)
            for _ in range(1024):
                s.sendall(bytes(1 << 20))

    def swap(draw: random.Random) -> None:
        source = folder / f"{draw.randrange(2)}.model"
        content = source.read_bytes()
        (folder / "new").write_bytes(content if draw.random() < 0.8 else content[: draw.randrange(len(content))])
        os.replace(folder / "new", folder / "m")
        time.sleep(1.2)

    def repeat(what: object, seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < end:
            try:
                what(draw)  # type: ignore[operator]
            except OSError as e:
                if what is ask:
                    wrong.append(("no answer", repr(e)))
            with lock:
                done[what.__name__] += 1  # type: ignore[attr-defined]

    kinds = [ask, ask, ask, drop, slow, slow, garbage, huge, swap]
    threads = [threading.Thread(target=repeat, args=(kind, i)) for i, kind in enumerate(kinds)]
    errors = threading.Thread(target=lambda: done.update(said=sum(1 for _ in server.stderr)), daemon=True)
    for thread in (*threads, errors):
        thread.start()
    sizes: list[float] = []
    while any(thread.is_alive() for thread in threads) and server.poll() is None:
        time.sleep(min(10, max(0.5, end - time.monotonic())))
        sizes.append(memory(server.pid))
        print(f"{time.strftime('%H:%M:%S')} {sizes[-1]:.0f} MB, wrong {len(wrong)}, {dict(done)}", flush=True)
    died = server.poll()
    server.terminate()
    code = server.wait(30)
    grown = len(sizes) > 8 and max(sizes[-len(sizes) // 4 :]) > 1.3 * max(sizes[len(sizes) // 4 : len(sizes) // 2])
    print(f"ended before the end: {died}; exit code {code}; memory grows: {grown}; wrong: {wrong[:3]}")
    shutil.rmtree(folder)
    return int(bool(wrong) or died is not None or code != 0 or grown)


if __name__ == "__main__":
    sys.exit(main())
