"""Output files: whole or not there, whatever happens."""

import os
import random
import stat
import subprocess
import sys
import threading
import time

import pytest
from running import PATIENT, leftovers

from vwlite.errors import BusyError, CannotCreateError, WriteError
from vwlite.output.atomic import AtomicFile


def write(path, data):
    with AtomicFile(path) as f:
        f.write(data)
        f.commit()


def python(code, *arguments, **options):
    """Start Python with a script."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_written_file_is_there_and_nothing_else(tmp_path):
    write(tmp_path / "a", b"one")
    write(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert leftovers(tmp_path, ["a"]) == []


def test_what_is_not_committed_is_gone(tmp_path):
    write(tmp_path / "a", b"one")
    with AtomicFile(tmp_path / "a") as f:
        f.write(b"two")
        assert (tmp_path / "a").read_bytes() == b"one"
    assert (tmp_path / "a").read_bytes() == b"one"
    assert leftovers(tmp_path, ["a"]) == []
    with pytest.raises(ZeroDivisionError), AtomicFile(tmp_path / "b") as f:
        f.write(b"x")
        1 / 0  # noqa: B018
    assert leftovers(tmp_path, ["a"]) == []


def test_several_versions(tmp_path):
    with AtomicFile(tmp_path / "a") as f:
        for version in (b"one", b"three", b"two"):
            f.write(b"thrown away")
            f.new_version()
            f.write(version)
            f.commit()
            assert (tmp_path / "a").read_bytes() == version
            f.new_version()
        f.write(b"not committed")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert leftovers(tmp_path, ["a"]) == []


WRITER = """
import sys
from vwlite.output.atomic import AtomicFile
with AtomicFile(sys.argv[1]) as f:
    version = 0
    while True:
        version += 1
        line = b"%d\\n" % version
        for _ in range(200):
            f.write(line * 50)
        f.commit()
        f.new_version()
        if version == 3:
            print("ready", flush=True)
"""


def test_killed_at_any_moment_there_is_a_whole_version(tmp_path):
    path = tmp_path / "a"
    chance = random.Random(1)
    versions = set()
    for _ in range(12):
        process = python(WRITER, path)
        assert process.stdout.readline() == b"ready\n"
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.communicate()
        lines = path.read_bytes().split(b"\n")
        assert len(lines) == 10_001
        assert len(set(lines[:-1])) == 1
        versions.add(lines[0])
    assert len(versions) > 1
    # Files of killed runs do not disturb, and are removed.
    assert leftovers(tmp_path, ["a"])
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert leftovers(tmp_path, ["a"]) == []


def test_a_second_job_gets_a_busy_error(tmp_path):
    with AtomicFile(tmp_path / "a") as f:
        with pytest.raises(BusyError, match="a: another job is writing it"):
            AtomicFile(tmp_path / "a")
        (tmp_path / "link").symlink_to("a")
        with pytest.raises(BusyError):  # the same file by another name
            AtomicFile(tmp_path / "link")
        f.write(b"one")
        f.commit()
    assert (tmp_path / "a").read_bytes() == b"one"
    write(tmp_path / "a", b"two")


def test_only_one_of_many_jobs_has_the_lock(tmp_path):
    """Jobs come and go; at no time do two of them hold the file."""
    holders, most, busy = [], [], []
    deadline = time.monotonic() + PATIENT

    def job(seed):
        chance = random.Random(seed)
        left = 20
        while left and time.monotonic() < deadline:
            try:
                with AtomicFile(tmp_path / "a") as f:
                    holders.append(seed)
                    most.append(len(holders))
                    time.sleep(chance.random() * 0.001)
                    holders.remove(seed)
                    f.commit()
                    left -= 1
            except BusyError:
                busy.append(seed)
            time.sleep(chance.random() * 0.002)

    threads = [threading.Thread(target=job, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80
    assert busy
    assert leftovers(tmp_path, ["a"]) == []


def test_missing_folder(tmp_path):
    with pytest.raises(CannotCreateError, match=f"cannot be created: there is no folder {tmp_path}/none"):
        AtomicFile(tmp_path / "none" / "a")


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotCreateError, match="Not a directory"):
        AtomicFile(tmp_path / "file" / "a")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(CannotCreateError, match="it is a folder"):
        AtomicFile(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_is_not_writable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CannotCreateError, match="Permission denied"):
        AtomicFile(tmp_path / "a")


def test_full_disk(tmp_path):
    write(tmp_path / "a", b"old")
    code = """
import resource, signal, sys
from vwlite.output.atomic import AtomicFile
from vwlite.errors import WriteError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with AtomicFile(sys.argv[1]) as f:
        for _ in range(300):
            f.write(bytes(1000))
        f.commit()
except WriteError as e:
    print(e)
    sys.exit(e.exit_code)
"""
    process = python(code, tmp_path / "a")
    out, _ = process.communicate(timeout=PATIENT)
    assert process.returncode == 74
    assert out.decode() == f"{tmp_path}/a: cannot be written: File too large\n"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert leftovers(tmp_path, ["a"]) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_device_that_is_full():
    with AtomicFile("/dev/full") as f, pytest.raises(WriteError, match="/dev/full: cannot be written: No space left"):
        f.write(b"x")


def test_null_device_stays_what_it_is():
    write("/dev/null", b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert not os.path.exists("/dev/.null.lock")


def reader_of(path):
    """A thread that reads a pipe to its end; its result is in the list."""
    found = []

    def read():
        with open(path, "rb") as f:
            found.append(f.read())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread, found


def test_named_pipe_gets_the_bytes(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    thread, found = reader_of(tmp_path / "fifo")
    write(tmp_path / "fifo", b"abc")
    thread.join(PATIENT)
    assert found == [b"abc"]
    assert leftovers(tmp_path, ["fifo"]) == []
    assert stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)


def test_named_pipe_that_restarts_before_it_was_written(tmp_path):
    """As for a model: created when the run starts, to detect errors early, and again when it is written."""
    os.mkfifo(tmp_path / "fifo")
    thread, found = reader_of(tmp_path / "fifo")
    with AtomicFile(tmp_path / "fifo") as f:
        f.new_version()
        time.sleep(0.05)  # in which the reader would find the end of the file
        f.write(b"abc")
        f.commit()
    thread.join(PATIENT)
    assert found == [b"abc"]


def test_pipe_of_a_shell(tmp_path):
    """`-p >(gzip > file)` gives a name like /dev/fd/63."""
    reading, writing = os.pipe()
    write(f"/dev/fd/{writing}", b"abc")
    os.close(writing)
    with open(reading, "rb") as f:
        assert f.read() == b"abc"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o777])
def test_permissions_are_kept(tmp_path, mode):
    write(tmp_path / "a", b"one")
    (tmp_path / "a").chmod(mode)
    write(tmp_path / "a", b"two")
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == mode
    assert (tmp_path / "a").read_bytes() == b"two"


def test_new_files_obey_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write(tmp_path / "a", b"one")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == 0o640


@pytest.mark.parametrize("exists", [True, False])
def test_symbolic_links_lead_to_the_file_that_is_written(tmp_path, exists):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "a"
    if exists:
        target.write_bytes(b"old")
    (tmp_path / "link").symlink_to("there/a")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == b"new"
    assert leftovers(tmp_path / "there", ["a"]) == []
