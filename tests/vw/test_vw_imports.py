"""The modules of `vwlite/vw` import each other in one direction only."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import vwlite.vw

ROOT = Path(vwlite.vw.__file__).parent


def imported(path: Path, whole: bool) -> set[str]:
    """The modules of `vwlite.vw` that a file imports, at its top or, if `whole`, anywhere."""
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree) if whole else tree.body:
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name for name in names if name.startswith("vwlite.vw.")}
    return found


def graph(whole: bool) -> dict[str, set[str]]:
    files = {"vwlite.vw." + ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
    assert len(files) > 40
    return {name: imported(path, whole) & set(files) for name, path in files.items()}


@pytest.mark.parametrize("whole", [False, True], ids=["at the top", "anywhere"])
def test_no_imports_in_a_circle(whole: bool) -> None:
    try:
        TopologicalSorter(graph(whole)).prepare()
    except CycleError as e:
        pytest.fail(" -> ".join(e.args[1]))


def test_a_circle_would_be_found() -> None:
    found = graph(True)
    found["vwlite.vw.messages"] = {"vwlite.vw.run"}
    with pytest.raises(CycleError):
        TopologicalSorter(found).prepare()


def test_the_rest_imports_it_late_or_not_at_all() -> None:
    """`vwlite --version` and the commands that need none of it do not pay for it."""
    package = ROOT.parent
    others = [path for path in package.rglob("*.py") if ROOT not in path.parents and "vw" not in path.parts[-2:-1]]
    assert len(others) > 30
    assert not [path for path in others if imported(path, whole=False)]
