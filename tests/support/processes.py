"""What other processes have used, from Linux's /proc."""

import os
from pathlib import Path


def processor_seconds(process: int) -> float:
    """Seconds of processor time that a process has had; 0 if it is gone, or the system has no /proc."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
