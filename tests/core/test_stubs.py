"""The stubs of the compiled modules say what the modules have: names and parameters, both ways."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
import stubs

MADE = stubs.all_stubs()
PLAIN = (int, float, bool, str, bytes, tuple, list, dict)  # the types of constants
RENEW = "the stubs are not those of the sources: `make docs` (or python tests/stubs.py) renews them"


def module_of(path: Path) -> ModuleType:
    return importlib.import_module(".".join(("vwlite.core", *path.relative_to(stubs.STUBS).with_suffix("").parts)))


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


def test_there_is_a_stub_for_each_module() -> None:
    assert set(stubs.STUBS.rglob("*.pyi")) == set(MADE), RENEW


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_a_stub_is_that_of_its_source(path: Path) -> None:
    assert path.exists() and path.read_text(encoding="utf-8") == MADE[path], RENEW


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_a_stub_says_what_its_module_has(path: Path) -> None:
    module, stub = module_of(path), named(ast.parse(MADE[path]).body)
    own = {n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__}
    constants = {n for n, v in vars(module).items() if type(v) in PLAIN}
    imported = set(re.findall(r"\b[A-Z_]+\b", " ".join(stubs.imports(path))))
    assert public(own | constants - imported) == set(stub), RENEW
    for name, node in stub.items():
        there = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(there).parameters), name
        elif isinstance(node, ast.ClassDef):
            members = named(node.body)
            if node.bases and ast.unparse(node.bases[0]) == "IntEnum":
                assert set(members) == set(there.__members__), RENEW
                continue
            assert public(vars(there)) == set(members), f"{name}: {RENEW}"
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
            assert [set(parameters(init)) - {"self"} for init in inits] == [set(words) - {""}], f"{name}: {RENEW}"
