"""Outputs are there whole or not at all, whatever happens."""

import errno
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from running import in_child, start_child, wait_child

from vwlite.errors import BusyError, CannotCreateError, ClosedPipe, WriteError
from vwlite.output.atomic import AtomicFile

OLD, NEW = b"old" * 1000, b"new!" * 5000


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(OLD)
    return path


def write(path, data):
    with AtomicFile(path) as file:
        file.write(data)
        file.commit()


def test_what_is_committed_is_there_and_nothing_else(target):
    write(target, NEW)
    assert target.read_bytes() == NEW
    assert os.listdir(target.parent) == ["model"]


def test_what_is_not_committed_leaves_the_old_file_and_nothing_else(target):
    with pytest.raises(RuntimeError), AtomicFile(target) as file:
        file.write(NEW)
        assert target.read_bytes() == OLD
        raise RuntimeError
    assert target.read_bytes() == OLD
    assert os.listdir(target.parent) == ["model"]


def test_a_file_that_was_not_there_is_not_there_before_commit(tmp_path):
    with AtomicFile(tmp_path / "new") as file:
        file.write(NEW)
        assert not (tmp_path / "new").exists()
    assert os.listdir(tmp_path) == []


def test_versions_follow_each_other_under_one_lock(target):
    with AtomicFile(target) as file:
        for data in (b"one", b"two"):
            file.new_version()
            file.write(data)
            file.commit()
            assert target.read_bytes() == data
            with pytest.raises(BusyError):
                AtomicFile(target)
        file.new_version()
        file.write(b"three")
    assert target.read_bytes() == b"two"


def test_begin_throws_away_what_was_started(target):
    with AtomicFile(target) as file:
        file.write(NEW)
        file.new_version()
        file.write(b"x")
        file.commit()
    assert target.read_bytes() == b"x"


def test_the_permissions_of_the_old_file_stay(target):
    target.chmod(0o640)
    write(target, NEW)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        write(tmp_path / "new", NEW)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_its_file_is_written(target, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to(target)
    with AtomicFile(link) as file:
        with pytest.raises(BusyError):
            AtomicFile(target)  # another name of the same file
        file.write(NEW)
        file.commit()
    assert link.is_symlink()
    assert target.read_bytes() == NEW


def test_a_link_to_nothing_makes_the_file_that_it_names(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link", NEW)
    assert (tmp_path / "file").read_bytes() == NEW
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/model", "there is no folder"),
        ("model/below", "Not a directory"),
        ("folder", "it is a folder"),
        ("x" * 256, "File name too long"),
    ],
)
def test_what_cannot_be_created_says_its_name_and_why(target, name, reason):
    (target.parent / "folder").mkdir()
    path = str(target.parent / name)
    with pytest.raises(CannotCreateError, match=reason) as caught:
        AtomicFile(path)
    assert str(caught.value).startswith(f"{path}: cannot be ")
    assert sorted(os.listdir(target.parent)) == ["folder", "model"]


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "reason"), [(0o555, 0o666, "denied"), (0o777, 0o444, "read-only")]
)
def test_without_permission(folder_mode, file_mode, reason):
    folder = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    try:
        (folder / "model").write_bytes(OLD)
        (folder / "model").chmod(file_mode)
        folder.chmod(folder_mode)

        def attempt() -> int:
            if os.geteuid() == 0:  # who may do everything
                os.setuid(65534)
            try:
                AtomicFile(folder / "model")
            except CannotCreateError as e:
                return 0 if reason in str(e) else 1
            return 2

        assert in_child(attempt) == 0
        assert (folder / "model").read_bytes() == OLD
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk_is_a_write_error_and_the_old_file_stays(target):
    def attempt() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            write(target, NEW)
        except WriteError as e:
            return 0 if str(e) == f"{target}: cannot be written: {os.strerror(errno.EFBIG)}" else 1
        return 2

    assert in_child(attempt) == 0
    assert target.read_bytes() == OLD
    assert os.listdir(target.parent) == ["model"]


CALLS = ("open", "write", "fsync", "rename", "close", "unlink", "fchmod", "fstat", "stat", "access")


def test_killed_before_any_system_call_leaves_the_old_file_or_the_new_one(tmp_path):
    """The process kills itself before its first, second, ... call, until no call is left."""
    outcomes = []
    for n in range(1, 200):
        folder = tmp_path / str(n)
        folder.mkdir()
        path = folder / "model"
        path.write_bytes(OLD)

        def work(path: Path = path, n: int = n) -> int:
            left = n

            def counted(call):
                def replacement(*arguments, **more):
                    nonlocal left
                    left -= 1
                    if left == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return call(*arguments, **more)

                return replacement

            for name in CALLS:
                setattr(os, name, counted(getattr(os, name)))
            write(path, NEW)
            return 0

        code = in_child(work)
        assert code in (0, -signal.SIGKILL)
        assert path.read_bytes() in (OLD, NEW)
        outcomes.append(path.read_bytes() == NEW)
        write(path, b"next")  # files of a killed job do not disturb, and are removed
        assert os.listdir(folder) == ["model"]
        if code == 0:
            break
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) >= 8
    assert outcomes.count(True) >= 3


HOLD = """
import sys, time
from vwlite.output.atomic import AtomicFile
with AtomicFile(sys.argv[1]) as file:
    file.write(b"half of it")
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_job_gets_an_error_until_the_first_one_is_gone(target):
    with subprocess.Popen([sys.executable, "-c", HOLD, target], stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(BusyError) as caught:
            AtomicFile(target)
        assert f"{target}: another job is writing it" in str(caught.value)
        first.kill()
    write(target, NEW)
    assert target.read_bytes() == NEW
    assert os.listdir(target.parent) == ["model"]


def test_no_two_jobs_ever_hold_one_lock(tmp_path):
    """Each reads a number and writes the next, again and again; none is lost."""
    path = tmp_path / "number"
    path.write_text("0")
    jobs, times = 4, 40

    def work() -> int:
        done = 0
        while done < times:
            try:
                with AtomicFile(path) as file:
                    file.write(b"%d" % (int(path.read_text()) + 1))
                    file.commit()
                    done += 1
            except BusyError:
                time.sleep(0)
        return 0

    children = [start_child(work) for _ in range(jobs)]
    assert [wait_child(child) for child in children] == [0] * jobs
    assert path.read_text() == str(jobs * times)
    assert os.listdir(tmp_path) == ["number"]


def test_a_device_is_written_directly_as_often_as_it_is_requested():
    with AtomicFile(os.devnull) as file:
        for _ in range(3):
            file.new_version()
            file.write(b"x")
            file.commit()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_named_pipe_gets_one_version(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    with AtomicFile(path) as file:
        file.new_version()  # nothing was written yet: the reader must not see an end here
        file.write(NEW)
        with pytest.raises(CannotCreateError, match="cannot be written twice"):
            file.new_version()
        file.commit()
    reader.join()
    assert got == [NEW]
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_reader_that_went_away_is_not_a_write_error(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with AtomicFile(path) as file:
        os.close(reader)
        with pytest.raises(ClosedPipe):
            file.write(b"x")


WRITE = """
import sys
from vwlite.output.atomic import AtomicFile
with AtomicFile(sys.argv[1]) as file:
    file.write(b"new")
    file.commit()
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_file_that_is_open_already_continues_where_it_is(tmp_path, name):
    if not os.path.exists(name):
        pytest.skip(f"no {name} here")
    command = [sys.executable, "-c", WRITE, name]
    with (tmp_path / "out").open("ab") as out:
        out.write(b"old ")
        out.flush()
        subprocess.run(command, stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"old new"
    assert os.listdir(tmp_path) == ["out"]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"new"


def test_what_can_be_written(tmp_path):
    with AtomicFile(tmp_path / "x") as file:
        file.writelines([b"a", bytearray(b"b"), memoryview(b"xcx")[1:2], b""])
        file.commit()
        with pytest.raises(ValueError, match="not started"):
            file.write(b"x")
    assert (tmp_path / "x").read_bytes() == b"abc"


def test_what_was_written_is_on_the_disk_before_it_is_renamed(target, monkeypatch):
    calls = []
    for name in ("write", "fsync", "rename"):
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, call=call, name=name: (calls.append(name), call(*a))[1])
    write(target, NEW)
    assert calls == ["write", "fsync", "rename", "fsync"]
