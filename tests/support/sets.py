"""Where the public data sets are that some tests read, and the benchmarks: elsewhere those tests are skipped."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (Path(os.environ.get("VWLITE_SETS", ROOT / ".bench/sets")), ROOT.parent / "shared/data")
SETS = next((folder for folder in FOLDERS if folder.is_dir()), FOLDERS[0])
