"""Who imports whom: no module imports one that imports it, and the core imports nothing from above it."""

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from syntax_trees import trees

from vwlite.program import GROUPS

ROOT = Path(__file__).parents[2]
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "vwlite").rglob("*.py")
}
COMPILED = {
    ".".join(("vwlite", "core", *path.relative_to(ROOT / "cython_ext").with_suffix("").parts)): path
    for path in (ROOT / "cython_ext").rglob("*.pyx")
}
HEADERS = {
    ".".join(("vwlite", "core", *path.relative_to(ROOT / "cython_ext").with_suffix("").parts)): path
    for path in (ROOT / "cython_ext").rglob("*.pxd")
    if path.name != "__init__.pxd"
}


def statements(body):
    """What runs when a module is imported: not functions, and not what only a type checker sees."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            for name in ("body", "orelse", "handlers", "finalbody"):
                yield from statements(getattr(node, name, []))


def imported(body):
    """The modules of vwlite that statements import."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in SOURCES)
        elif isinstance(node, ast.ImportFrom) and node.module in SOURCES:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inner if name in SOURCES)
            if any(name not in SOURCES for name in inner):
                yield node.module


def cycles(graph):
    """The sets of modules that lie on a cycle, by the way that leads around."""
    done, found = set(), []

    def visit(name, way):
        if name in way:
            found.append(way[way.index(name) :])
        elif name not in done:
            for other in sorted(graph[name]):
                visit(other, [*way, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])
    return found


@cache
def graph(late):
    """Which modules each imports; late: also in functions, and for a type checker only."""
    of_modules = {name: trees()[path.relative_to(ROOT / "vwlite").as_posix()] for name, path in SOURCES.items()}
    return {name: set(imported(ast.walk(tree) if late else statements(tree.body))) for name, tree in of_modules.items()}


@pytest.fixture(scope="module", autouse=True)
def graphs():
    graph(late=False), graph(late=True)


def test_no_module_imports_one_that_imports_it():
    assert cycles(graph(late=False)) == []


def test_no_import_in_a_function_hides_a_cycle():
    """Modules imported late, for a short start, are not imported early. `vwlite/vw` is not checked."""
    hidden = [way for way in cycles(graph(late=True)) if not all(name.startswith("vwlite.vw") for name in way)]
    assert hidden == []


def folder_of(module):
    """The folder of a module; of one directly in `vwlite`, its own name."""
    return ".".join(module.split(".")[:2])


def floors(graph, folder_of=folder_of):
    """How many folders each stands on, one on the other. ValueError for a folder that stands on itself."""
    below = {}
    for name, others in graph.items():
        below.setdefault(folder_of(name), set()).update({folder_of(o) for o in others} - {folder_of(name)})
    found = {}

    def height(folder, way=()):
        if folder in way:
            raise ValueError(" -> ".join([*way, folder]))
        if folder not in found:
            found[folder] = 1 + max((height(o, (*way, folder)) for o in sorted(below[folder])), default=0)
        return found[folder]

    for folder in below:
        height(folder)
    return found


def test_folders_stand_on_floors():
    """No import leads upwards, also not one in a function or for a type checker only."""
    found = floors(graph(late=True))
    for floor in range(1, max(found.values()) + 1):
        print(floor, *sorted(name for name, height in found.items() if height == floor))
    assert max(found.values()) <= 9


CAPABILITIES = [
    "training", "tuning", "prediction", "inspection", "evaluation", "validation", "solving", "merging", "export",
]
MAY_IMPORT = {
    "evaluation": {"inspection", "prediction"}, "export": {"vw"}, "merging": {"training"},
    "tuning": {"training"}, "validation": {"training", "inspection", "evaluation"},
}


def test_a_capability_imports_no_other():
    for name, others in graph(late=True).items():
        own = folder_of(name).removeprefix("vwlite.")
        if own in CAPABILITIES:
            inner = {folder_of(o).removeprefix("vwlite.") for o in others} - {own} - MAY_IMPORT.get(own, set())
            assert not inner & {*CAPABILITIES, "vw", "serve", "dask", "estimators", "help"}, name


def test_contributing_has_each_folder():
    text = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
    places = [ROOT / "vwlite", ROOT / "cython_ext"]
    folders = {p.parent for kind in ("*.py", "*.pyx") for place in places for p in place.glob(f"*/{kind}")}
    named = {ROOT / name for name in re.findall(r"^\| `([\w/]+)` \|", text, re.M)}
    assert named == folders - {ROOT / "vwlite/core"}


def test_each_command_has_tests_of_its_name_in_its_folder():
    found = {(path.parent.name, path.stem) for path in (ROOT / "tests").glob("*/test_*.py")}
    named = {(folder, f"test_{name}") for group in GROUPS.values() for name, (folder, _) in group.items()}
    assert named - found == {("evaluation", "test_worst")}  # which is in test_explain.py


def test_the_core_imports_nothing_from_above():
    pattern = re.compile(r"^\s*(?:from|c?import)\s+vwlite(?!\.core\b)", re.M)
    upward = {name for name, path in COMPILED.items() if pattern.search(path.read_text(encoding="utf-8"))}
    assert upward == set()
    assert len(COMPILED) > 30


def core_graph():
    """The modules of the core, headers among them, and which others each imports or cimports."""
    names = COMPILED.keys() | HEADERS.keys()
    found = {name: set() for name in names}
    for name, path in [*COMPILED.items(), *HEADERS.items()]:
        text = path.read_text(encoding="utf-8")
        for module, inner in re.findall(r"^\s*from (vwlite\.core[\w.]*) c?import (\([^)]*\)|.*)", text, re.M):
            listed = [f"{module}.{word.split()[0]}" for word in inner.strip("()").split(",") if word.strip()]
            found[name] |= {module} & names or set(listed) & names
            assert module in names or set(listed) <= names, (path, module)
        assert not re.search(r"^\s*(c?import vwlite|from \.)", text, re.M), f"{path}: write `from vwlite.core...`"
    return found


def core_folder(module):
    """The folder of a module of the core; of one directly in `cython_ext`, its own name."""
    return module.split(".")[2]


def test_folders_of_the_core_stand_on_floors():
    """Nothing is imported or cimported from a folder that stands on this one."""
    found = floors(core_graph(), core_folder)
    for floor in range(1, max(found.values()) + 1):
        print(floor, *sorted(name for name, height in found.items() if height == floor))
    assert found["base"] == 1 and found["data"] == 2
    assert {"text", "tables", "learn", "rules", "projection"} < found.keys()


def test_no_header_of_the_core_needs_one_that_needs_it():
    graph = core_graph()
    assert cycles({name: others - {name} for name, others in graph.items()}) == []


def test_python_in_the_folder_of_the_sources_says_what_it_has_found(tmp_path):
    """They come before what is installed, and nothing in them is compiled."""
    shutil.copytree(ROOT / "vwlite", tmp_path / "vwlite", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    command = ["-c", "import vwlite; vwlite.load_model; print(vwlite.__file__)"]
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"ImportError: {tmp_path / 'vwlite' / 'core'} is a source folder without compiled modules: to import "
        "the vwlite that is installed, start Python as `python -P`, or in another folder\n"
    )
    if sys.version_info >= (3, 11):
        done = subprocess.run([sys.executable, "-P", *command], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, str(tmp_path) in done.stdout) == (0, False)
