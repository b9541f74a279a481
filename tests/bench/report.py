"""What the benchmarks tell, and where they write it."""

import json
import platform
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


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


def records(value: Any, depth: int, indent: str = "") -> str:
    """Results as JSON with one record a line: a record is what has at most `depth` levels of lists and objects."""
    if nesting(value) <= depth:
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(str(name))}: {records(part, depth, inner)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + records(part, depth, inner) for part in value) + f"\n{indent}]"


def nesting(value: Any) -> int:
    """How many levels of lists and objects a value has."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(nesting, parts), default=0)


def rounded(value: Any) -> Any:
    """Results with nine digits of each fraction."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.9g}") if isinstance(value, float) and not value.is_integer() else value


def write_records(path: Path, results: Any, depth: int) -> None:
    """Write results to a JSON file that is small and easy to compare."""
    path.write_text(records(rounded(results), depth) + "\n", encoding="utf-8")


def put_into(results: Path, name: str, content: str) -> None:
    """Put tables between the markers `begin bench: NAME` and `end bench: NAME`. Without them the program ends."""
    text = results.read_text(encoding="utf-8")
    pattern = rf"(<!-- begin bench: {name} -->\n).*?(<!-- end bench: {name} -->)"
    text, found = re.subn(pattern, lambda m: f"{m[1]}{content}\n{m[2]}", text, flags=re.DOTALL)
    if found != 1:
        sys.exit(f"{name}.py: {results} has no markers for its tables")
    results.write_text(text, encoding="utf-8")
