"""A tool of the build: type stubs for mypy and editors, one for each compiled module, generated from its source, and
the stub of the package, for which it imports `vwlite`.

The sources are read as text, as the modules cannot be imported while they are built, nor when they are compiled for
another processor. This parses lines, not the language: it finds the `def`s and `cpdef`s of a module and of
its classes, public and readonly fields, constants and enums, and translates C types. What it cannot infer is `Any`; an
annotation in the source helps. Tests compare the stubs with the compiled modules.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
PACKAGE = SOURCES.parent / "vwlite/__init__.pyi"

INT = r"(?:unsigned )?(?:int|long|char|short|size_t|Py_ssize_t|u?int(?:8|16|32|64)_t|uint128|int128)"
TYPES = {"double": "float", "float": "float", "bint": "bool", "object": "Any", "": "Any", "void": "None"}
SAME = {"bytes", "str", "bool", "None", "memoryview", "bytearray"}
CONTAINERS = {"dict": "dict[Any, Any]", "list": "list[Any]", "tuple": "tuple[Any, ...]", "set": "set[Any]"}
HEAD = '"""Made from cython_ext/{} by the build."""\n'


@dataclass
class Class:
    """What a stub says about a class."""

    name: str
    bases: str
    members: dict[str, str] = field(default_factory=dict)  # name: its lines in the stub
    fields: dict[str, str] = field(default_factory=dict)  # every C field: its type in Python


@dataclass
class Module:
    """A module on the way from source to stub."""

    path: Path
    members: dict[str, str] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    elsewhere: dict[str, tuple[str, str]] = field(default_factory=dict)  # class: module, import

    def type_of(self, c: str) -> str:
        """A type of the source as one of Python."""
        c = re.sub(r"\bconst\b|\bnot None\b", "", c).strip()
        if "*" in c:
            return "Any"
        if "[" in c and not c.startswith(("dict[", "list[", "tuple[", "set[")):
            return "Any"  # anything that is a buffer
        if re.fullmatch(INT, c):
            return "int"
        if c in SAME or c in self.classes or c in self.elsewhere:
            return c
        return TYPES.get(c) or CONTAINERS.get(c) or "Any"


def statements(text: str) -> list[tuple[int, str]]:
    """Indentation and text of each line; lines continued inside brackets are joined, docstrings and comments are
    removed."""
    text = re.sub(r'(?s)[rbf]?""".*?"""', '""', text)
    found: list[tuple[int, str]] = []
    depth = 0
    for line in text.split("\n"):
        line = re.sub(r"""^((?:[^'"#]|'[^'\n]*'|"[^"\n]*")*)#.*$""", r"\1", line).rstrip()
        if not line:
            continue
        if depth:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            found.append((len(line) - len(line.lstrip()), line.strip()))
        depth = sum(map(found[-1][1].count, "([{")) - sum(map(found[-1][1].count, ")]}"))
    return found


def split(arguments: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parameter(module: Module, text: str) -> str:
    """`const uint32_t[::1] keys=None` as `keys: Any = ...`."""
    if text in ("self", "cls", "*", "/"):
        return text
    text, _, default = (part.strip() for part in text.partition("="))
    text, _, hint = (part.strip() for part in text.partition(":")) if "[" not in text.split(":")[0] else (text, "", "")
    stars = re.match(r"\*{0,2}", text)[0] if text.startswith("*") else ""  # type: ignore[index]
    *c, name = text.removeprefix(stars).replace(" not None", "").split()
    kind = hint or module.type_of(" ".join(c))
    if default == "None" and kind != "Any":
        kind += " | None"
    return f"{stars}{name}: {kind}" + (" = ..." if default else "")


def result_of(module: Module, owner: Class | None, body: list[str]) -> str:
    """The type that a function without an annotation returns, as far as its `return` lines say it."""
    if any(re.search(r"\byield\b", line) for line in body):
        return "Any"
    returned = {m[1] for line in body if (m := re.search(r"(?:^|: )return\b *(.*)$", line))}
    fields = owner.fields if owner else {}
    kinds = set()
    own = {}  # the C variables of the function
    for line in body:
        if m := re.match(rf"cdef ((?:const )?{INT}|\w+) +([\w, ]+?)(?: = .*)?$", line):
            own.update(dict.fromkeys(split(m[2]), module.type_of(m[1])))
    for value in returned - {""}:
        value = value.strip()
        if m := re.fullmatch(r"self\.(\w+)", value):
            kinds.add(fields.get(m[1], "Any"))
        elif value in own:
            kinds.add(own[value])
        elif m := re.match(r"<(\w+)>", value):
            kinds.add(module.type_of(m[1]))
        elif m := re.fullmatch(r"(len|int|float|str|bytes|bool)\(.*\)", value):
            kinds.add("int" if m[1] == "len" else m[1])
        elif re.fullmatch(r"True|False", value):
            kinds.add("bool")
        elif value.startswith("self._view("):
            kinds.add("memoryview")
        else:
            kinds.add("Any")
    if "" in returned or not returned:
        kinds.add("None")
    elif returned == {"None"}:
        return "Any"  # what others override
    return "Any" if "Any" in kinds else " | ".join(sorted(kinds, key=lambda kind: (kind == "None", kind)))


def function(module: Module, owner: Class | None, line: str, body: list[str], decorators: list[str]) -> tuple[str, str]:
    """Name and stub of a `def` or `cpdef`."""
    begin, end = r"(?:cpdef (?:inline )?(.*?)|def )\s*(\w+)", r"(?: (?:noexcept|nogil|except.*?))*(?: *-> *(.*?))?:"
    m = re.match(rf"{begin}\((.*)\){end}", line)
    assert m is not None, line
    returns, name, arguments, hint = m.groups()
    shown = ", ".join(parameter(module, a) for a in split(arguments))
    kind = hint or (module.type_of(returns) if returns else result_of(module, owner, body))
    if name in ("__init__", "__cinit__"):
        name, kind = "__init__", "None"
    kind = {"__len__": "int", "__repr__": "str", "__bool__": "bool"}.get(name, kind)
    kept = [d for d in decorators if d in ("property", "staticmethod", "classmethod") or d.endswith(".setter")]
    above = "".join(f"@{d}\n" for d in kept)
    return name, f"{above}def {name}({shown}) -> {kind}: ..."


def declared(module: Module, owner: Class, line: str) -> None:
    """The C fields of a class, and which of them Python sees."""
    m = re.match(rf"cdef (public |readonly )?((?:const )?{INT}|\w+(?:\[[^\]]*\])?) +([\w, ]+)$", line)
    if m is None:
        return
    seen, c, names = m.groups()
    for name in split(names):
        kind = "Any" if c == "Rule" else module.type_of(c)  # a rule is one of many, and used as what it is
        owner.fields[name] = kind
        if seen == "public ":
            owner.members[name] = f"{name}: {kind}"
        elif seen:
            owner.members[name] = f"@property\ndef {name}(self) -> {kind}: ..."


def read(path: Path) -> Module:
    """All that a stub needs of a .pyx and its .pxd."""
    module = Module(path)
    texts = [p.read_text(encoding="utf-8") for p in (path.with_suffix(".pxd"), path) if p.exists()]
    for text in texts:
        for m in re.finditer(r"^from vwlite\.core\.([\w.]+) c?import (\([^)]*\)|.*)$", text, re.M):
            for found, name in re.findall(r"\b((?:[A-Z]\w* as )?([A-Z]\w*))\b", m[2]):
                if not name.isupper():
                    module.elsewhere[name] = f"vwlite.core.{m[1]}", found
        for m in re.finditer(r"^(?:cdef )?class (\w+)(?:\((.*)\))?:", text, re.M):
            module.classes.setdefault(m[1], Class(m[1], m[2] or ""))
            module.classes[m[1]].bases = m[2] or module.classes[m[1]].bases
    for text in texts:
        walk(module, statements(text))
    module.elsewhere = {name: at for name, at in module.elsewhere.items() if name not in module.classes}
    return module


def walk(module: Module, lines: list[tuple[int, str]]) -> None:
    """Add the definitions in the lines to a module."""
    owner: Class | None = None
    decorators: list[str] = []
    for i, (indent, line) in enumerate(lines):
        body = []
        for inner, text in lines[i + 1 :]:
            if inner <= indent:
                break
            body.append(text)
        if indent == 0:
            owner = None
        elif owner is None or indent > 4:
            continue
        members = owner.members if owner else module.members
        if m := re.match(r"(?:cdef )?class (\w+)", line):
            owner = module.classes[m[1]]
        elif m := re.match(r"cpdef enum (\w+):", line):
            module.classes[m[1]] = Class(m[1], "IntEnum")
            module.classes[m[1]].fields = dict.fromkeys(re.findall(r"\b([A-Z]\w*)\b", " ".join(body)), "int")
            module.classes[m[1]].members = {n: f"{n} = ..." for n in module.classes[m[1]].fields}
        elif line.startswith("@"):
            decorators.append(line[1:])
            continue
        elif re.match(r"(?:def|cpdef) .*:", line):
            name, stub = function(module, owner, line, body, decorators)
            if "__init__" not in members or name != "__init__" or "__cinit__" not in line:
                key = f"{name}=" if any(d.endswith(".setter") for d in decorators) else name
                if name not in ("__dealloc__", "__getbuffer__", "__releasebuffer__", "__reduce__"):
                    members[key] = stub
        elif owner and line.startswith("cdef "):
            declared(module, owner, line)
        elif (m := re.match(r"([A-Za-z]\w*) = (.*)$", line)) and (owner or m[2] != "None"):
            members[m[1]] = f"{m[1]}: {constant(m[2])}"
        decorators = []


CONSTANTS = (
    (r"-?\d+|ord\(.*", "int"),
    (r"-?[\d.]+(e-?\d+)?", "float"),
    (r"b['\"].*", "bytes"),
    (r"f?['\"].*", "str"),
    (r"True|False", "bool"),
    (r"\[.*", "list[Any]"),
    (r"\(.*", "tuple[Any, ...]"),
)


def constant(value: str) -> str:
    """The type of a constant, from how it is written."""
    return next((kind for pattern, kind in CONSTANTS if re.fullmatch(pattern, value)), "Any")


def stub(path: Path) -> str:
    """The text of the stub of a .pyx file."""
    module = read(path)
    parts = [*module.members.values()]
    for c in module.classes.values():
        bases = f"({c.bases})" if c.bases else ""
        inner = "\n".join(c.members.values()) or "..."
        parts.append(f"class {c.name}{bases}:\n    " + inner.replace("\n", "\n    "))
    body = "\n".join(parts)
    heads = [HEAD.format(path.relative_to(SOURCES).as_posix())]
    if re.search(r"\bIntEnum\b", body):
        heads.append("from enum import IntEnum")
    if re.search(r"\bAny\b", body):
        heads.append("from typing import Any")
    used = [imported for name, imported in module.elsewhere.items() if re.search(rf"\b{name}\b", body)]
    if used:
        heads.append("")
    for at in sorted({at for at, _ in used}):
        heads.append(f"from {at} import {', '.join(sorted(found for of, found in used if of == at))}")
    return "\n".join(heads) + "\n\n" + body + "\n"


def imports(path: Path) -> list[str]:
    """The lines of a .pyx file that import from elsewhere."""
    return re.findall(r"(?m)^(?:from|import) .*$", path.read_text(encoding="utf-8"))


def core_stubs() -> dict[Path, str]:
    """The text of each stub, by its path within the package."""
    return {Path("core", p.relative_to(SOURCES)).with_suffix(".pyi"): stub(p) for p in sorted(SOURCES.rglob("*.pyx"))}


def package_stub() -> str:
    """The stub of `vwlite` itself: the one in the sources, with the options as parameters of the estimators."""
    from vwlite.estimators import options

    shared = options.parameters(options.OF_REGRESSOR)
    own = [p for p in options.parameters(options.OF_CLASSIFIER) if p not in shared]
    text = PACKAGE.read_text(encoding="utf-8")
    for name, parameters in (("_Parameters", shared), ("_ClassifierParameters", own)):
        lines = "".join(f"\n    {p.name}: {p.kind}  # {p.default!r}" for p in parameters)
        text, found = re.subn(rf"(?m)^(class {name}\(.*\):) \.\.\.$", lambda m, made=lines: m[1] + made, text)
        assert found == 1, f"{PACKAGE} has no empty class {name}"
    return text


def write(package: Path) -> None:
    """Write all stubs into a built package, and remove those of modules that no longer exist."""
    made = core_stubs() | {Path("__init__.pyi"): package_stub()}
    for path in package.rglob("core/**/*.pyi"):
        if path.relative_to(package) not in made:
            path.unlink()
    for path, text in made.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
