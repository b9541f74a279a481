"""The event loop of `vwlite serve`: transports over pairs of sockets."""

import os
import socket
import threading
import time

import pytest
from running import PATIENT

from vwlite.serve.loop import HIGH, LOW, Loop, Transport


class Talker:
    """A connection that notes what its transport calls. answers: what it does with data."""

    def __init__(self, answers=lambda talker, data: None):
        self.calls, self.data, self.answers = [], b"", answers

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        self.answers(self, data)

    def eof_received(self):
        self.calls.append("eof")
        return "stays" in self.calls

    def pause_writing(self):
        self.calls.append("pause")

    def resume_writing(self):
        self.calls.append("resume")

    def connection_lost(self):
        self.calls.append("lost")


@pytest.fixture
def pair():
    """Creates a loop, a socket of a client, and a connection of the server."""
    made = []

    def create(answers=lambda talker, data: None, loop=None):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = socket.create_connection(listener.getsockname(), PATIENT)
            server, _ = listener.accept()
        made.extend((client, server))
        loop, talker = loop or Loop(), Talker(answers)
        Transport(loop, server, talker)
        return loop, client, talker

    yield create
    for s in made:
        s.close()


def run(loop, until):
    """Run the loop until this is true."""
    end = time.monotonic() + PATIENT
    loop.run(lambda: until() or time.monotonic() > end, lambda: None, 0.01)
    assert until()


def turns(loop):
    """Let the loop wait twice."""
    done = iter((False, False, True))
    loop.run(lambda: next(done), lambda: None, 0.01)


def read_all(loop, client):
    """What a client reads while the loop runs: all up to the end."""
    found, ended = bytearray(), []

    def read():
        while data := client.recv(1 << 16):
            found.extend(data)
        ended.append(True)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    run(loop, lambda: bool(ended))
    return bytes(found)


def test_a_large_answer_pauses_writing_and_arrives_whole(pair):
    loop, client, talker = pair()
    answer = os.urandom(1 << 16) * 200  # more than the buffers of the system take
    talker.transport.write(answer)
    talker.transport.write(b"end")
    assert talker.calls == ["pause"] and len(talker.transport._out) > HIGH
    talker.transport.close()
    assert talker.transport.is_closing()
    assert read_all(loop, client) == answer + b"end"
    assert talker.calls == ["pause", "resume", "lost"]


def test_writing_resumes_when_little_is_left(pair):
    left = []
    loop, client, talker = pair()
    talker.resume_writing = lambda: left.append(len(talker.transport._out))
    talker.transport.write(bytes(1 << 24))
    talker.transport.write_eof()
    assert len(read_all(loop, client)) == 1 << 24
    assert len(left) == 1 and left[0] <= LOW
    client.close()
    run(loop, lambda: "lost" in talker.calls)


def test_the_end_of_the_data_is_sent_after_them_and_reading_goes_on(pair):
    loop, client, talker = pair()
    talker.transport.write(b"answer")
    talker.transport.write_eof()
    assert read_all(loop, client) == b"answer"
    client.sendall(b"more")
    run(loop, lambda: talker.data == b"more")


@pytest.mark.parametrize("stays", [False, True])
def test_the_end_of_a_client_closes_unless_an_answer_is_to_come(pair, stays):
    loop, client, talker = pair()
    talker.calls += ["stays"] * stays
    client.shutdown(socket.SHUT_WR)
    run(loop, lambda: "eof" in talker.calls)
    if stays:
        turns(loop)
        assert talker.calls == ["stays", "eof"]
        talker.transport.write(b"late")
        talker.transport.close()
        assert read_all(loop, client) == b"late"
    run(loop, lambda: talker.calls[-2:] == ["eof", "lost"])


def test_reading_pauses_and_resumes(pair):
    loop, client, talker = pair(lambda talker, data: talker.transport.pause_reading())
    client.sendall(b"one")
    run(loop, lambda: talker.data == b"one")
    client.sendall(b"two")
    turns(loop)
    assert talker.data == b"one"
    talker.transport.resume_reading()
    run(loop, lambda: talker.data == b"onetwo")


def test_a_client_that_has_gone_loses_its_connection_once(pair):
    loop, client, talker = pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # its end is a reset
    client.close()
    run(loop, lambda: talker.calls == ["lost"])
    talker.transport.write(b"late")
    talker.transport.close()
    talker.transport.abort()
    turns(loop)
    assert talker.calls == ["lost"]


def test_an_error_in_one_connection_does_not_end_the_others(pair, capsys):
    def fail(talker, data):
        raise KeyError("x")

    loop, client, talker = pair(fail)
    _, other, echo = pair(lambda talker, data: talker.transport.write(data), loop)
    client.sendall(b"a")
    run(loop, lambda: talker.calls == ["lost"])
    loop.soon(fail, talker, b"")
    other.sendall(b"b")
    run(loop, lambda: echo.data == b"b")
    assert other.recv(9) == b"b" and client.recv(9) == b""
    assert capsys.readouterr().err.count("internal error: KeyError: 'x'") == 2


def test_a_call_of_another_thread_wakes_the_loop():
    loop, calls = Loop(), []
    threading.Timer(0.05, loop.later, (calls.append, 1)).start()
    begun = time.monotonic()
    loop.run(lambda: bool(calls), lambda: None, PATIENT)
    assert calls == [1] and time.monotonic() - begun < PATIENT


def test_a_socket_that_cannot_accept_is_asked_again_at_the_next_tick(capsys):
    class Short:
        """A socket that has no file for a connection at first."""

        def __init__(self, s):
            self._socket, self.failed = s, 0
            self.fileno, self.setblocking, self.close = s.fileno, s.setblocking, s.close

        def accept(self):
            self.failed += 1
            if self.failed < 3:
                raise OSError(24, "Too many open files")
            return self._socket.accept()

    loop, talker = Loop(), Talker()
    s = Short(socket.create_server(("127.0.0.1", 0)))
    loop.listen(s, lambda: talker)
    with socket.create_connection(s._socket.getsockname()) as client:
        client.sendall(b"here")
        run(loop, lambda: talker.data == b"here")
    assert s.failed >= 3 and capsys.readouterr().err.count("Too many open files") == 1
    watched = len(loop.selector.get_map())
    loop.stop_listening()
    assert len(loop.selector.get_map()) == watched - 1
