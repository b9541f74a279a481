"""What others - killed jobs, users of a shared folder - leave beside an output is harmless; their files stay whole."""

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from running import in_child, leftovers, shell

from vwlite.errors import BusyError, CannotCreateError, UsageError
from vwlite.output.atomic import AtomicFile, check_apart

NOBODY, SOMEBODY = 65534, 65533
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become other users")


def write(path, data=b"new"):
    with AtomicFile(path) as file:
        file.write(data)
        file.commit()


def temporary(folder, name="model"):
    """The temporary file of an output."""
    (found,) = folder.glob(f".{name}.*.tmp")
    return found


@pytest.fixture
def shared():
    """A folder that everybody may enter and write into. Not tmp_path, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def as_user(user, work):
    """The exit code of `work`, done by another user."""

    def become() -> int:
        os.umask(0o022)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        return work()

    return in_child(become)


def killed_in_the_middle(path, umask=0o022):
    """Leave behind what a job leaves that is killed while it writes."""

    def work() -> int:
        os.umask(umask)
        AtomicFile(path).write(b"half")
        os._exit(0)

    assert in_child(work) == 0


def test_temporary_files_have_a_name_that_cannot_be_predicted_and_are_for_the_owner_alone(tmp_path):
    seen = set()
    for _ in range(3):
        with AtomicFile(tmp_path / "model") as file:
            for _ in range(2):
                file.new_version()
                found = temporary(tmp_path)
                seen.add(found.name)
                assert stat.S_IMODE(found.stat().st_mode) == 0o600
    assert len(seen) == 6
    assert leftovers(tmp_path, []) == []


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777])
def test_the_old_file_s_mode_comes_with_the_last_byte(tmp_path, mode):
    write(tmp_path / "model", b"old")
    (tmp_path / "model").chmod(mode)
    with AtomicFile(tmp_path / "model") as file:
        file.write(b"new")
        assert stat.S_IMODE(temporary(tmp_path).stat().st_mode) == 0o600
        file.commit()
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == mode


def test_the_right_to_run_as_the_owner_is_not_inherited(tmp_path):
    """Else a stranger's file gives root's new one the mode of a program that everybody runs as root."""
    write(tmp_path / "model", b"old")
    (tmp_path / "model").chmod(0o6755)
    write(tmp_path / "model")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o755


@pytest.mark.parametrize("kind", ["file", "hard link", "symbolic link", "folder"])
@pytest.mark.parametrize("name", [".model.tmp", ".model.0123456789abcdef.tmp"])
def test_existing_files_with_temporary_names_are_harmless_and_not_harmed(tmp_path, kind, name):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    planted = tmp_path / name
    plant(planted, kind, victim)
    write(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == b"new"
    assert (tmp_path / "model").stat().st_nlink == 1
    assert victim.read_bytes() == b"precious"
    if name == ".model.tmp":
        assert os.path.lexists(planted)


def plant(path, kind, victim):
    if kind == "file":
        path.write_bytes(b"")
    elif kind == "file with something in it":
        path.write_bytes(b"mine")
    elif kind == "hard link":
        os.link(victim, path)
    elif kind == "symbolic link":
        path.symlink_to(victim)
    elif kind == "link to nothing":
        path.symlink_to("nowhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.parametrize("kind", ["file", "hard link", "symbolic link", "link to nothing", "pipe"])
def test_an_existing_file_with_the_name_of_the_lock_is_harmless_and_not_harmed(tmp_path, kind):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    plant(tmp_path / ".model.lock", kind, victim)
    with AtomicFile(tmp_path / "model") as file:
        with pytest.raises(BusyError):
            AtomicFile(tmp_path / "model")
        file.write(b"new")
        file.commit()
    assert (tmp_path / "model").read_bytes() == b"new"
    assert victim.read_bytes() == b"precious"


def test_a_file_that_is_not_a_lock_stays_where_it_is(tmp_path):
    (tmp_path / ".model.lock").write_bytes(b"mine")
    write(tmp_path / "model")
    assert (tmp_path / ".model.lock").read_bytes() == b"mine"
    assert (tmp_path / "model").read_bytes() == b"new"


def test_a_folder_in_place_of_the_lock_is_named(tmp_path):
    (tmp_path / ".model.lock").mkdir()
    with pytest.raises(CannotCreateError) as caught:
        AtomicFile(tmp_path / "model")
    assert str(caught.value) == (
        f"{tmp_path}/model: cannot be locked: {tmp_path}/.model.lock is in the way: remove it"
    )


def test_who_has_the_lock_is_said_by_its_name(tmp_path):
    with AtomicFile(tmp_path / "model"), pytest.raises(BusyError) as caught:
        AtomicFile(tmp_path / "model")
    assert str(caught.value) == (
        f"{tmp_path}/model: another job is writing it; wait for it, or write to another file "
        f"(its lock is {tmp_path}/.model.lock)"
    )


def test_an_error_of_the_lock_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(fd, what):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(CannotCreateError, match="cannot be locked: No locks available"):
        AtomicFile(tmp_path / "model")
    assert leftovers(tmp_path, []) == []


@pytest.mark.parametrize("letter", ["x", "é", "\udcff"])
@pytest.mark.parametrize("size", [1, 100, 230, 233, 234, 240, 249, 250, 251, 254, 255])
def test_names_of_any_length(tmp_path, size, letter):
    width = len(os.fsencode(letter))
    name = letter * (size // width) + "y" * (size % width)
    assert len(os.fsencode(name)) == size
    write(tmp_path / name)
    with AtomicFile(tmp_path / name) as file:
        with pytest.raises(BusyError):
            AtomicFile(tmp_path / name)
        AtomicFile(tmp_path / (name[:-1] + "z")).close()  # another name that begins like it
        file.write(b"again")
        file.commit()
    assert (tmp_path / name).read_bytes() == b"again"
    killed_in_the_middle(tmp_path / name)
    assert len(leftovers(tmp_path, [name])) == 2
    write(tmp_path / name)
    assert leftovers(tmp_path, [name]) == []


@needs_root
@pytest.mark.parametrize("umask", [0o022, 0o077])
@pytest.mark.parametrize("sticky", [False, True])
def test_a_killed_job_of_root_does_not_disturb(shared, umask, sticky):
    shared.chmod(0o1777 if sticky else 0o777)
    killed_in_the_middle(shared / "model", umask)
    assert len(leftovers(shared, [])) == 2
    for user in (NOBODY, SOMEBODY):
        (shared / "model").unlink(missing_ok=True)
        assert as_user(user, lambda: write(shared / "model", b"%d" % os.getuid()) or 0) == 0
        assert (shared / "model").read_bytes() == b"%d" % user
        assert (shared / "model").stat().st_uid == user
        if not sticky:  # else it may not remove files of others
            assert leftovers(shared, ["model"]) == []
    write(shared / "model")
    assert leftovers(shared, ["model"]) == []


@needs_root
def test_another_user_s_job_that_runs_is_seen(shared):
    def attempt() -> int:
        try:
            AtomicFile(shared / "model")
        except BusyError:
            return 0
        return 1

    with AtomicFile(shared / "model"):
        assert as_user(NOBODY, attempt) == 0
    assert leftovers(shared, []) == []


@needs_root
def test_a_file_of_another_user_in_a_sticky_folder_is_refused_at_once(shared):
    (shared / "model").write_bytes(b"old")
    (shared / "model").chmod(0o666)
    shared.chmod(0o1777)

    def attempt() -> int:
        try:
            AtomicFile(shared / "model")
        except CannotCreateError as e:
            return 0 if "only its owner may replace it" in str(e) else 1
        return 2

    assert as_user(NOBODY, attempt) == 0
    assert leftovers(shared, ["model"]) == []


@needs_root
def test_a_stranger_s_files_do_not_end_up_as_the_model(shared):
    """Everything that another user can lay in the way beforehand: the model is root's."""

    def lay() -> int:
        for name in (".model.tmp", ".model.0123456789abcdef.tmp", ".model.lock"):
            (shared / name).write_bytes(b"")
            (shared / name).chmod(0o666)
        return 0

    assert as_user(NOBODY, lay) == 0
    write(shared / "model")
    assert (shared / "model").stat().st_uid == os.geteuid()
    assert leftovers(shared, ["model", ".model.tmp"]) == []


# --- inputs and outputs that meet ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").write_text("1 |a x\n-1 |a y\n")
    os.link("data", "hard")
    Path("soft").symlink_to("data")
    Path("below").mkdir()
    Path("below/up").symlink_to("../data")
    return tmp_path


NAMES = ["data", "./data", "hard", "soft", "below/up", "below/../data"]


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_two_names_of_one_file_meet(folder, first, second):
    with pytest.raises(UsageError, match="is the data, which it would overwrite"):
        check_apart({"--model": first}, [(second, "the data")])
    with pytest.raises(UsageError, match="--model and --report are both"):
        check_apart({"--model": first, "--report": second}, [])


def test_names_of_a_file_that_is_not_there_yet_meet(folder):
    Path("there").symlink_to("below/new")
    with pytest.raises(UsageError, match="--model and --report are both there"):
        check_apart({"--model": "below/new", "--report": "there"}, [])
    check_apart({"--model": "below/new", "--report": "new"}, [])


@pytest.mark.parametrize("name", [".model.lock", ".model.0123456789abcdef.tmp"])
def test_an_output_whose_lock_or_temporary_file_is_in_use_is_refused(folder, name):
    os.link("data", name)
    with pytest.raises(UsageError, match=f"^{name} has the name of a lock or a temporary file of --model model"):
        check_apart({"--model": "model"}, [(name, "the data")])
    check_apart({"--model": "model"}, [(".model.tmp", "the data")])


def test_an_output_in_the_place_of_another_s_lock_is_refused(folder):
    with pytest.raises(UsageError, match=r"^--predictions \.model\.lock has the name of a lock .* of --model model"):
        check_apart({"--model": "model", "--predictions": ".model.lock"}, [])
    with pytest.raises(UsageError, match=r"^--predictions \.model\.lock has the name of a lock .* of --model model"):
        check_apart({"--predictions": ".model.lock", "--model": "model"}, [])
    check_apart({"--model": "model", "--predictions": ".model.tmp"}, [])


def test_devices_and_pipes_need_no_lock(folder):
    os.mkfifo("pipe")
    check_apart({"--model": "/dev/null", "--report": "/dev/null", "--predictions": "pipe"}, [("pipe", "the data")])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("vwlite train -m data <data", "--model data is one of the DATA files, which it would overwrite"),
        ("vwlite train /dev/stdin -m hard <data", "--model hard is one of the DATA files, which it would overwrite"),
        ("vwlite train data -p - >>hard", "--predictions - is one of the DATA files, which it would overwrite"),
        ("vwlite train data -p /dev/stdout >>soft", "--predictions /dev/stdout is one of the DATA files, which"),
        ("vwlite train data -p - -m new >>new", "--predictions and --model are both new"),
        ("vwlite train data --cache-file hard", "--cache-file hard is one of the DATA files, which it would overwrite"),
        ("vwlite train data --report below/up", "--report below/up is one of the DATA files, which it would overwrite"),
        (
            "cp data .q.lock && vwlite train .q.lock -m q",
            ".q.lock has the name of a lock or a temporary file of --model q: choose another",
        ),
        (
            "vwlite train data -m .p.lock -p p",
            "--model .p.lock has the name of a lock or a temporary file of --predictions p: choose another",
        ),
    ],
)
def test_runs_whose_inputs_and_outputs_meet_are_refused(folder, script, message):
    done = shell(script)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert Path("data").read_text() == "1 |a x\n-1 |a y\n"
    assert not os.path.exists("q")


def test_a_file_that_an_earlier_version_used_as_its_temporary_one_is_data_like_any_other(folder):
    os.link("data", ".q.tmp")
    train = "vwlite train --algorithm gd --quiet"
    done = shell(f"{train} .q.tmp -m q && {train} data -m .p.tmp -p p")
    assert (done.code, done.err) == (0, "")
    assert Path(".q.tmp").read_text() == "1 |a x\n-1 |a y\n"
    assert Path("q").read_bytes() == Path(".p.tmp").read_bytes()
    assert Path("p").read_text().count("\n") == 2
