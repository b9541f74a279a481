"""What the benchmarks tell, and where they write it."""

import platform
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def say(text: str) -> None:
    """A word on standard error."""
    print(text, file=sys.stderr, flush=True)


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def processor() -> str:
    """The name of this machine's processor."""
    with suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    with suppress(OSError, subprocess.CalledProcessError):
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()


def put_into(results: Path, name: str, content: str) -> None:
    """Put tables between the markers `begin bench: NAME` and `end bench: NAME`. Without them the program ends."""
    text = results.read_text(encoding="utf-8")
    pattern = rf"(<!-- begin bench: {name} -->\n).*?(<!-- end bench: {name} -->)"
    text, found = re.subn(pattern, lambda m: f"{m[1]}{content}\n{m[2]}", text, flags=re.DOTALL)
    if found != 1:
        sys.exit(f"{name}.py: {results} has no markers for its tables")
    results.write_text(text, encoding="utf-8")
