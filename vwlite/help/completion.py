"""`vwlite completion`"""

import os
from pathlib import Path

from vwlite.errors import CannotCreateError, UsageError

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_VWLITE_COMPLETE"  # every script of click has it, so a file with it is ours


def complete(shell: str | None, uninstall: bool) -> int:
    """Run `vwlite completion install`; the exit code."""
    name = shell or shell_of_user()
    print(remove(name) if uninstall else install(name))
    return 0


def shell_of_user() -> str:
    """The shell that the variable SHELL names."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UsageError(f"there is no completion for the shell {name!r}: --shell is one of {', '.join(SHELLS)}")
    return name


def install(shell: str) -> str:
    """Write the file of a shell, and its folder; what was done, in a sentence."""
    from vwlite.output.atomic import AtomicFile

    path, script = _path(shell), _script(shell).encode()
    _check_ours(path)
    if path.exists() and path.read_bytes() == script:
        return f"{path} is up to date.{_note(shell, path)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise CannotCreateError(f"{path.parent}: cannot be created: {e.strerror}") from e
    with AtomicFile(path) as file:
        file.write(script)
        file.commit()
    return f"Wrote {path}.{_note(shell, path)}"


def remove(shell: str) -> str:
    """Remove the file of a shell; what was done, in a sentence."""
    path = _path(shell)
    if not path.exists():
        return f"{path} is not there."
    _check_ours(path)
    try:
        path.unlink()
    except OSError as e:
        raise CannotCreateError(f"{path}: cannot be removed: {e.strerror}") from e
    return f"Removed {path}."


def _path(shell: str) -> Path:
    home = Path.home()
    data = _folder("XDG_DATA_HOME", home / ".local/share")
    if shell == "bash":
        return _folder("BASH_COMPLETION_USER_DIR", data / "bash-completion") / "completions/vwlite"
    if shell == "zsh":
        return data / "zsh/site-functions/_vwlite"
    return _folder("XDG_CONFIG_HOME", home / ".config") / "fish/completions/vwlite.fish"


def _folder(variable: str, default: Path) -> Path:
    """The folder that a variable names; relative ones are ignored, as the XDG specification says."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else default


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from vwlite.program import program

    found = get_completion_class(shell)
    assert found is not None
    made = found(program, {}, "vwlite", _VARIABLE)
    return made.source_template % made.source_vars()  # source() would start bash to see its version


def _note(shell: str, path: Path) -> str:
    if shell == "zsh":
        return f"\nIn ~/.zshrc, before compinit: fpath=({path.parent} $fpath); autoload -U compinit; compinit"
    return "\nNew shells read it." + (" They need the package bash-completion." if shell == "bash" else "")


def _check_ours(path: Path) -> None:
    if path.exists() and _VARIABLE.encode() not in path.read_bytes():
        raise CannotCreateError(f"{path}: this file is not from vwlite: move it away")
