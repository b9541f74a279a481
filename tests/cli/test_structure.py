"""What of the structure can be counted over the syntax tree: each number may fall and not rise.

`LIMITS` has what there is; who lowers a count lowers its limit.
"""

import ast
import re
from collections import Counter

import pytest
from syntax_trees import trees

KINDS = {"oaa", "taus", "softmax", "class_names", "calibration", "link", "of_log"}
LIMITS = {
    "signatures that take a record of options": 75,
    "conditions that ask which kind a model is": 59,
    "lines of a class": 381,
    "methods of a class": 30,
}


@pytest.fixture(scope="module", autouse=True)
def parsed():
    trees()


def functions(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def takes_options(function):
    """Whether a parameter `o` or `options` is annotated as a record of options."""
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    own = [a.annotation for a in parameters if a.arg in ("o", "options") and a.annotation]
    return any(re.search(r"Options\b", ast.unparse(annotation)) for annotation in own)


def conditions(tree):
    """What is asked in statements, expressions and comprehensions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def asks_for_kind(condition):
    return any(
        (isinstance(node, ast.Attribute) and node.attr in KINDS) or (isinstance(node, ast.Name) and node.id in KINDS)
        for node in ast.walk(condition)
    )


def classes():
    """(name, lines, methods) of each."""
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                methods = sum(isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) for inner in node.body)
                yield node.name, node.end_lineno - node.lineno + 1, methods


def test_few_signatures_take_a_record_of_options():
    found = Counter({name: sum(map(takes_options, functions(tree))) for name, tree in trees().items()})
    print(sum(found.values()), *found.most_common(15), sep="\n")
    assert sum(found.values()) <= LIMITS["signatures that take a record of options"]


def test_few_conditions_ask_which_kind_a_model_is():
    """`vwlite/vw` reads and writes models of another program: it is not counted."""
    found = Counter({
        name: sum(map(asks_for_kind, conditions(tree)))
        for name, tree in trees().items()
        if not name.startswith("vw/")
    })
    print(sum(found.values()), *found.most_common(15), sep="\n")
    assert sum(found.values()) <= LIMITS["conditions that ask which kind a model is"]


def test_no_class_is_large():
    found = [*classes()]
    print(*sorted(found, key=lambda c: -c[1])[:8], sep="\n")
    assert max(lines for _, lines, _ in found) <= LIMITS["lines of a class"]
    assert max(methods for *_, methods in found) <= LIMITS["methods of a class"]


# --- messages are for people ------------------------------------------------------------------------

SEARCHES = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "find", "index",
            "replace", "split", "rsplit", "splitlines", "sub", "match", "search", "fullmatch", "findall"}
# What holds a message, by its name; in some files it is also `text`.
MESSAGES = {"message", "said", "why", "note", "sentence", "warning"}
OF_MESSAGES = ("output/stdio.py", "estimators/errors.py", "dask/work.py")
FOREIGN = {  # texts of others: of the system, click, Python, pyarrow
    "errors.py": 2, "help/usage.py": 1, "estimators/evaluation.py": 1, "estimators/frames.py": 1, "dask/parts.py": 1,
}
OWN = {  # what is left
    "estimators/errors.py": 3, "estimators/frames.py": 1, "input/arrow.py": 2,  # options become parameters, or these
    "output/stdio.py": 4,  # level and place of --log-format json
}


def is_message(node, names, caught):
    """Whether it is a message, or a part of one. caught: names of exceptions."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return name in caught
        case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner):
            return is_message(inner, names, caught)
        case ast.IfExp(body=one, orelse=other):
            return is_message(one, names, caught) or is_message(other, names, caught)
    return False


def searched(node):
    """What text a call or comparison looks into."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in SEARCHES:
            return [value, *args]
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[text]):
            return [text]
    return []


def test_no_code_reads_its_own_messages():
    """What a part of the program tells another is a value. Texts of others are in FOREIGN; OWN only shrinks: who
    removes a search removes it there."""
    found = Counter()
    for file, tree in trees().items():
        names = MESSAGES | {"text"} if file in OF_MESSAGES else MESSAGES
        exceptions = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)} | {"e", "error"}
        for node in ast.walk(tree) if not file.startswith("vw/") else ():
            if any(is_message(text, names, exceptions) for text in searched(node)):
                print(f"vwlite/{file}:{node.lineno}: {ast.unparse(node)}")
                found[file] += 1
    assert found == Counter(FOREIGN) + Counter(OWN)
