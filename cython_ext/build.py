"""Builds `vwlite.core` from the Cython sources.

The sources are in `cython_ext/`, the modules under `vwlite.core`. Cython looks for the
.pxd of `vwlite.core.learn.table` in a folder `vwlite/core`, so the build puts a link of that
name to this folder under `build/` and lets Cython search there.

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
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent

# No -ffast-math and no contraction: the same bytes for the same input on every processor.
# Without the information for debuggers that Python itself was perhaps built with: six times the size.
FAST = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=off", "-fsanitize=address,undefined"]
SANITIZED_LINK = ["-fsanitize=address,undefined"]
STRIPPED = [] if sys.platform == "darwin" else ["-s"]
QUIET = ["-Wno-unused-function", "-Wno-unreachable-code", "-Wno-sign-compare"]

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


class BuildExt(build_ext):
    """build_ext that compiles every .pyx file of `cython_ext/` as a module of `vwlite.core`."""

    def finalize_options(self) -> None:
        self.distribution.ext_modules = _modules()
        super().finalize_options()

    def run(self) -> None:
        from Cython.Build import cythonize

        sanitize, portable = (os.environ.get(f"VWLITE_{build}") == "1" for build in ("SANITIZE", "PORTABLE"))
        compiled = cythonize(
            self.extensions,
            include_path=[str(_package_of_links())],
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            annotate=os.environ.get("VWLITE_ANNOTATE") == "1",
            nthreads=os.cpu_count() or 1,
            shared_utility_qualified_name=SHARED,
        )
        for extension, c in zip(self.extensions, compiled, strict=True):
            extension.sources = c.sources
            extension.define_macros = [("VWLITE_PORTABLE", None)] if portable else []
            extension.extra_compile_args = (SANITIZE if sanitize else FAST) + QUIET
            extension.extra_link_args = SANITIZED_LINK if sanitize else STRIPPED
        self.parallel = self.parallel or os.cpu_count()
        super().run()


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


def _modules() -> list[Extension]:
    """Every .pyx file as an extension module, without what `BuildExt` adds to it."""
    found = []
    for path in sorted(HERE.rglob("*.pyx")):
        inner = path.relative_to(HERE).with_suffix("")
        found.append(Extension(".".join(("vwlite", "core", *inner.parts)), [str(Path(HERE.name, inner)) + ".pyx"]))
    return [*found, Extension(SHARED, [str(Path(HERE.name, *SHARED.split(".")[2:])) + ".c"])]


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
