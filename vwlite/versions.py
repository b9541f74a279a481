"""The output of `vwlite --version`."""

import os
import sys

from vwlite import __version__


def version_text() -> str:
    """The version, and those of what results may depend on."""
    # Not at the top: only this needs it.
    from vwlite.core.base.targets import instruction_set

    versions = f"vwlite {__version__}\nnumpy {_numpy_version()}\nPython {sys.version.split()[0]}"
    return f"{versions}\ninstructions {instruction_set()}"


def _numpy_version() -> str:
    """From the name of the folder beside NumPy: to import that, or importlib.metadata, takes longer than all else."""
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, "numpy")):
            names = [name for name in os.listdir(folder) if name.startswith("numpy-") and name.endswith(".dist-info")]
            if names:
                return names[0].removesuffix(".dist-info").removeprefix("numpy-")
            break
    from importlib.metadata import version

    return version("numpy")
