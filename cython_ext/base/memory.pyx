"""The amount of free memory."""


def available() -> int | None:
    """Bytes that can be had without taking them from other programs; None: the system does not say (Linux does)."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None
