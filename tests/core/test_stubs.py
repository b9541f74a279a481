"""The stubs that the build makes of the compiled modules have the same names and parameters as the modules."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
import stubs

import vwlite
from vwlite.core import Libraries

PACKAGE = Path(vwlite.__file__).parent
MADE = stubs.core_stubs()
PLAIN = (int, float, bool, str, bytes, tuple, list, dict)  # the types of constants
UNREAD = "cython_ext/generate/stubs.py does not understand this source"


def module_of(path: Path) -> ModuleType:
    return importlib.import_module(".".join(("vwlite", *path.with_suffix("").parts)))


def named(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """The names that a stub, or a class of it, defines; those without an underscore."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return {name: node for name, node in found.items() if not name.startswith("_")}


def parameters(node: ast.FunctionDef) -> list[str]:
    a = node.args
    every = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else [])]
    return [argument.arg for argument in every]


def public(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_the_installed_package_has_the_stub_of_each_module() -> None:
    installed = {p.relative_to(PACKAGE): p.read_text(encoding="utf-8") for p in PACKAGE.rglob("core/**/*.pyi")}
    assert installed == MADE
    modules = {Path(*name.split(".")[1:]) for name in Libraries.modules}
    assert modules - {p.with_suffix("") for p in installed} == {Path("core/base/cython_shared")}  # Cython's own
    assert (PACKAGE / "py.typed").exists()


def test_mypy_accepts_the_stubs(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for path, text in MADE.items():
        stub = tmp_path / "vwlite" / path
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(text, encoding="utf-8")
        for folder in (stub.parent, *stub.parent.parents):
            if folder == tmp_path:
                break
            (folder / "__init__.pyi").touch()
    # Overrides: a stub says what a class is, even if its methods take other parameters than those of its base.
    strict = ["--strict", "--allow-any-generics", "--disable-error-code", "override"]
    command = [sys.executable, "-m", "mypy", *strict, "--cache-dir", str(tmp_path / "cache"), "vwlite"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Success: no issues found in "), done.stdout + done.stderr


def test_a_source_that_is_gone_takes_its_stub_along(tmp_path: Path) -> None:
    gone = tmp_path / "core/rules/gone.pyi"
    gone.parent.mkdir(parents=True)
    gone.touch()
    stubs.write(tmp_path)
    assert {p.relative_to(tmp_path) for p in tmp_path.rglob("*.pyi")} == {*MADE, Path("__init__.pyi")}


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_a_stub_says_what_its_module_has(path: Path) -> None:
    module, stub = module_of(path), named(ast.parse(MADE[path]).body)
    own = {n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__}
    constants = {n for n, v in vars(module).items() if type(v) in PLAIN}
    source = (stubs.SOURCES / path.relative_to("core")).with_suffix(".pyx")
    imported = set(re.findall(r"\b[A-Z_]+\b", " ".join(stubs.imports(source))))
    assert public(own | constants - imported) == set(stub), UNREAD
    for name, node in stub.items():
        there = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(there).parameters), name
        elif isinstance(node, ast.ClassDef):
            members = named(node.body)
            if node.bases and ast.unparse(node.bases[0]) == "IntEnum":
                assert set(members) == set(there.__members__), UNREAD
                continue
            assert public(vars(there)) == set(members), f"{name}: {UNREAD}"
            for member, inner in members.items():
                kind = inspect.getattr_static(there, member)
                if isinstance(inner, ast.FunctionDef) and not inspect.isgetsetdescriptor(kind):
                    shown = parameters(inner)
                    of_class = isinstance(kind, classmethod) or inspect.ismethod(getattr(there, member))
                    assert shown[of_class:] == list(inspect.signature(getattr(there, member)).parameters), member


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_a_stub_says_how_a_class_is_made(path: Path) -> None:
    """Cython writes the parameters at the head of the docstring, unless there are none."""
    module = module_of(path)
    for name, node in named(ast.parse(MADE[path]).body).items():
        first = (getattr(module, name).__doc__ or "").split("\n")[0]
        if isinstance(node, ast.ClassDef) and (made := re.match(rf"{name}\((.*)\)$", first)):
            words = [part.split("=")[0].split(" ")[-1].lstrip("*") for part in stubs.split(made[1])]
            inits = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
            assert [set(parameters(init)) - {"self"} for init in inits] == [set(words) - {""}], f"{name}: {UNREAD}"


def test_no_index_is_negative() -> None:
    """`wraparound` is off in the sources: an index of -1 is the last one or none, as the version of NumPy likes."""
    for path in (Path(__file__).parents[2] / "cython_ext").rglob("*.p[yx][xd]"):
        code = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        assert re.findall(r"[\w\])]\[:?-\w+\]", code) == [], path
