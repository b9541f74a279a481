"""A tool of the build, no part of the engine: it writes what is generated from the sources, stubs and manual page.

It imports the package `vwlite` of these sources, whose options and commands it describes.

    python cython_ext/generate PACKAGE MANUAL     the folder of the built package; the file of the manual page
"""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2]))  # the package of these sources, not an installed one

import manual
import stubs

if __name__ == "__main__":
    package, page = map(Path, sys.argv[1:])
    stubs.write(package)
    page.write_text(manual.manual(), encoding="utf-8")
