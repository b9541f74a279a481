"""How much memory there is, and what to say when that is not enough."""

from pathlib import Path


def available() -> int | None:
    """Bytes that can be had without taking them from other programs; None: the system does not say (Linux does)."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def table_needs(features: int = 0, where: str = "") -> str:
    """What to say when there is no memory for the weights; features: of a line that is to blame, else 0."""
    if not features:
        return "the weight table needs more than there is; try fewer --bits"
    return (
        f"{where or 'a line'} makes {features:,} features with its interactions, and their weights need more than "
        "there is; try fewer --bits, or fewer interactions"
    )
