"""Builds `vwlite.core` from the Cython sources.

The sources are in `cython_ext/`, the modules under `vwlite.core`. Cython looks for the
.pxd of `vwlite.core.learn.table` in a folder `vwlite/core`, so the build puts a link of that
name to this folder under `build/` and lets Cython search there.

The modules are linked into two shared libraries, as opening a file for each of them took 4 % of a short run:
`vwlite/core/library`, and `vwlite/core/vw/library` for `vwlite.core.vw`, which has modules of the same names and is the
only one that calls mathematical functions of the C library. `vwlite/core/__init__.py` finds the modules there, each
when it is imported.

Environment: VWLITE_SANITIZE=1 builds with AddressSanitizer and UndefinedBehaviorSanitizer
(`make sanitize`); VWLITE_PORTABLE=1 builds without code that is written or compiled
for particular processors, as for an unknown one (`make portable`);
VWLITE_ANNOTATE=1 also writes Cython's annotated HTML beside the C files.

`cython_ext/generate` creates the type stubs and the manual page, in every build, from the sources alone: no
compiled module is imported, so that it works for another processor too.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.modified import newer

HERE = Path(__file__).resolve().parent
LIBRARIES = ["vwlite.core.library", "vwlite.core.vw.library"]

# No -ffast-math and no contraction: the same bytes for the same input on every processor.
# Without the information for debuggers that Python itself was perhaps built with: six times the size. Without tables
# for exceptions of C++, of which there are none: a sixteenth of the size.
FAST = ["-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables"]
# Of the modules in these folders -O3: they have the loops over features. Elsewhere -O2 is as fast, is compiled in four
# fifths of the time, and is smaller.
HOT = {"auto", "data", "learn", "projection", "rules"}
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=off", "-fsanitize=address,undefined"]
SANITIZED_LINK = ["-fsanitize=address,undefined"]
STRIPPED = [] if sys.platform == "darwin" else ["-s"]
QUIET = ["-Wno-unused-function", "-Wno-unreachable-code", "-Wno-sign-compare"]
# With the Python of Debian and others they are errors; so with every Python.
STRICT = ["-Wformat", "-Werror=format-security"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": True,
    "freethreading_compatible": False,
}


# What Cython itself has for arrays, once and not in each module that has some: a third of the size of all.
SHARED = "vwlite.core.base.cython_shared"

# The module `vwlite.core.library`, which has the names of all modules.
NAMES = """\
#include <Python.h>

static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "library", NULL, 0, NULL}};

PyMODINIT_FUNC PyInit_library(void) {{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddStringConstant(module, "MODULES", "{}") < 0) Py_CLEAR(module);
    return module;
}}
"""


class BuildExt(build_ext):
    """build_ext that compiles every .pyx file of `cython_ext/` as a module of `vwlite.core`, and links them."""

    def finalize_options(self) -> None:
        self.distribution.ext_modules = [Extension(library, []) for library in LIBRARIES]
        super().finalize_options()

    def build_extensions(self) -> None:
        from Cython.Build import cythonize

        modules = _modules()
        compiled = cythonize(
            modules,
            include_path=[str(_package_of_links())],
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            annotate=os.environ.get("VWLITE_ANNOTATE") == "1",
            nthreads=os.cpu_count() or 1,
            shared_utility_qualified_name=SHARED,
        )
        sources = {module.name: c.sources[0] for module, c in zip(modules, compiled, strict=True)}
        sources[LIBRARIES[0]] = _source_of_names([module.name for module in modules])
        with ThreadPoolExecutor(self.parallel or os.cpu_count()) as pool:
            objects = dict(zip(sources, pool.map(self._compile, *zip(*sources.items(), strict=True)), strict=True))
        for extension in self.extensions:
            extension.depends = [o for name, o in objects.items() if _library(name) == extension.name]
            extension.extra_objects = extension.depends
            extension.extra_link_args = SANITIZED_LINK if _build("SANITIZE") else STRIPPED
        super().build_extensions()

    def _compile(self, module: str, source: str) -> str:
        """Compile a file unless its object is newer: setuptools would compile all files of a library again."""
        (made,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
        if self.force or newer(source, made):
            self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                macros=[("VWLITE_PORTABLE", None)] if _build("PORTABLE") else [],
                extra_postargs=(SANITIZE if _build("SANITIZE") else [_level(module), *FAST]) + QUIET + STRICT,
            )
        return made


class BuildPy(build_py):
    """build_py that adds the type stubs and the manual page, in a process of its own as it imports the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        page = Path(self.get_finalized_command("build").build_base, "vwlite.1")
        package = Path(self.build_lib, "vwlite")
        subprocess.run([sys.executable, "-B", str(HERE / "generate"), str(package), str(page)], check=True)
        self.distribution.data_files = [("share/man/man1", [str(page)])]


def _build(kind: str) -> bool:
    return os.environ.get(f"VWLITE_{kind}") == "1"


def _level(module: str) -> str:
    """How much a module is optimized."""
    return "-O3" if module.split(".")[2] in HOT else "-O2"


def _modules() -> list[Extension]:
    """Every .pyx file as a module, and what they share."""
    found = []
    for path in sorted(HERE.rglob("*.pyx")):
        inner = path.relative_to(HERE).with_suffix("")
        found.append(Extension(".".join(("vwlite", "core", *inner.parts)), [str(Path(HERE.name, inner)) + ".pyx"]))
    return [*found, Extension(SHARED, [str(Path(HERE.name, *SHARED.split(".")[2:])) + ".c"])]


def _library(module: str) -> str:
    """The library that a module is linked into."""
    return LIBRARIES[module.startswith("vwlite.core.vw.")]


def _source_of_names(modules: list[str]) -> str:
    """Write the C file of `NAMES`, unless it is there and the same."""
    path, text = Path("build/cython/library.c"), NAMES.format(" ".join(modules))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return str(path)


def _package_of_links() -> Path:
    root = Path("build/include").absolute()
    package = root / "vwlite"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.pxd").touch()
    link = package / "core"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(HERE, target_is_directory=True)
    return root
