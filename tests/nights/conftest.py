"""What the tests of nights share."""

from pathlib import Path

import pytest
from nights import FORMATS, KINDS, rows_of


@pytest.fixture
def write(folder):
    """Write the rows of days into a file."""
    def written(kind, name, days):
        format, names, _ = KINDS[kind]
        found = FORMATS[format]([row for day in days for row in rows_of(day)], names)
        path = Path(f"{name}.{format}")
        path.write_bytes(found) if isinstance(found, bytes) else path.write_text(found)
        return path

    return written
