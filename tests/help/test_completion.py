"""`vwlite completion`: what is completed; the file of each shell, and what the shell does with it."""

import re
import shutil
import subprocess

import pytest
import running

PLACES = {
    "bash": ".local/share/bash-completion/completions/vwlite",
    "zsh": ".local/share/zsh/site-functions/_vwlite",
    "fish": ".config/fish/completions/vwlite.fish",
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("shell", PLACES)
def test_the_file_is_where_the_shell_looks(vwlite, home, monkeypatch, shell):
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    path = home / PLACES[shell]
    assert vwlite("completion", "install").out.startswith(f"Wrote {path}.\n")
    written = path.read_text()
    assert "_VWLITE_COMPLETE" in written and files(home) == [PLACES[shell]]
    assert vwlite("completion", "install").out.startswith(f"{path} is up to date.\n")
    path.write_text(written + "# of an earlier version\n")
    assert vwlite("completion", "install").out.startswith("Wrote ")
    assert path.read_text() == written


@pytest.mark.parametrize("shell", PLACES)
def test_uninstall(vwlite, home, shell):
    command = ("completion", "install", "--shell", shell)
    vwlite(*command)
    assert vwlite(*command, "--uninstall").out == f"Removed {home / PLACES[shell]}.\n"
    assert files(home) == []
    assert vwlite(*command, "--uninstall").out == f"{home / PLACES[shell]} is not there.\n"


def test_variables_choose_the_folder(vwlite, home, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    for shell in PLACES:
        vwlite("completion", "install", "--shell", shell)
    inner = [PLACES[shell].replace(".local/share", "data") for shell in PLACES]
    assert files(home) == sorted(inner)
    monkeypatch.setenv("BASH_COMPLETION_USER_DIR", str(home / "own"))
    vwlite("completion", "install", "--shell", "bash")
    assert "own/completions/vwlite" in files(home)


@pytest.mark.parametrize("more", [(), ("--uninstall",)])
def test_a_file_of_someone_else_is_kept(vwlite, home, more):
    path = home / PLACES["fish"]
    path.parent.mkdir(parents=True)
    path.write_text("complete -c vwlite\n")
    assert "is not from vwlite" in vwlite("completion", "install", "--shell", "fish", *more, code=73).err
    assert path.read_text() == "complete -c vwlite\n"


def test_what_is_in_the_way(vwlite, home, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/dash")
    assert "no completion for the shell 'dash'" in vwlite("completion", "install", code=2).err
    (home / ".config").write_text("")
    assert "cannot be created" in vwlite("completion", "install", "--shell", "fish", code=73).err


# Each prints what the shell would offer for `vwlite tra`, with a `vwlite` that offers "train".
ASKED = {
    "bash": "set -- {path}; . $1; COMP_WORDS=(vwlite tra); COMP_CWORD=1; _vwlite_completion vwlite; "
    'echo "${{COMPREPLY[@]}}"; complete -p vwlite',
    "zsh": "fpath=({path.parent} $fpath); autoload -U compinit; compinit -D -u; echo $_comps[vwlite]",
    "fish": "complete -C 'vwlite tra'",
}
OFFERED = {"bash": r"train\ncomplete .*vwlite\n", "zsh": "_vwlite\n", "fish": r"train(\t.*)?\n"}


@pytest.mark.parametrize("shell", PLACES)
def test_the_shell_reads_it(vwlite, home, monkeypatch, shell):
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"there is no {shell}")
    vwlite("completion", "install", "--shell", shell)
    stub = home / "bin/vwlite"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho plain,train\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")
    script = ASKED[shell].format(path=home / PLACES[shell])
    options = {"zsh": ["-f"], "fish": []}.get(shell, [])
    done = subprocess.run([program, *options, "-c", script], capture_output=True, text=True, check=True)
    assert re.fullmatch(OFFERED[shell], done.stdout), done


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("vwlite tr", {"train"}),
        ("vwlite train --pass", {"--passes"}),
        ("vwlite train --loss p", {"poisson"}),
        ("vwlite train --algorithm t", {"truncated-gradient"}),
        ("vwlite weights --to", {"--top"}),
    ],
)
def test_completion(words, expected):
    count = len(words.split()) - 1
    done = running.shell('vwlite "$@"', COMP_WORDS=words, COMP_CWORD=str(count), _VWLITE_COMPLETE="bash_complete")
    assert done.code == 0
    assert {line.partition(",")[2] for line in done.out.splitlines()} == expected


@pytest.mark.parametrize("words", ["vwlite train d", "vwlite train -m d", "vwlite info d"])
def test_completion_of_file_names_is_left_to_the_shell(words):
    count = str(len(words.split()) - 1)
    done = running.shell("vwlite", COMP_WORDS=words, COMP_CWORD=count, _VWLITE_COMPLETE="bash_complete")
    assert done.out == "file,d\n"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name):
    done = running.shell("vwlite", _VWLITE_COMPLETE=f"{name}_source")
    if "not supported" in done.err:
        pytest.skip(done.err)
    assert "_VWLITE_COMPLETE" in done.out
