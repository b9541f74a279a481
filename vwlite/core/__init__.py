"""The compiled core, built from `cython_ext/`: parsing, the weight table, losses, rules, the learner.

All modules are in two shared libraries (`cython_ext/build.py`), and `Libraries` finds them there.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType

try:
    library = import_module("vwlite.core.library")
except ModuleNotFoundError:
    raise ImportError(
        f"{__path__[0]} is a source folder without compiled modules: to import the vwlite that is installed, "
        "start Python as `python -P`, or in another folder"
    ) from None


class Libraries:
    """The finder of the modules in the libraries. In a library, Python looks for the function that initializes a module
    by the last part of the module's name, so that one file can have many modules."""

    modules = frozenset(library.MODULES.split())
    folder, file = os.path.split(str(library.__file__))

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module is, if it is one of these."""
        if name not in cls.modules:
            return None
        inner = "vw" if name.startswith("vwlite.core.vw.") else ""
        origin = os.path.join(cls.folder, inner, cls.file)
        spec = ModuleSpec(name, ExtensionFileLoader(name, origin), origin=origin)
        spec.has_location = True  # so that the module has __file__
        return spec


# First, as the usual finders would search the folders for each of these modules before they give up.
sys.meta_path.insert(0, Libraries)
