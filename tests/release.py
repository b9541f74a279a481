"""Prepares a release: `python tests/release.py URL FOLDER`.

Checks that nothing is left to commit, that all places name the same version, and that it has all of its golden models.
Copies the committed files into FOLDER, with the links of the README and the package's metadata leading to URL, the page
of the repository, at the tag of the version.
"""

import re
import subprocess
import sys
from pathlib import Path

from golden.make import missing as missing_models

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s]+)\)")


def git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True).stdout


def version_of_all() -> str:
    """The version. SystemExit if a place has another one."""
    found = {
        name: re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
        for name, pattern in (
            ("pyproject.toml", r'^version = "([^"]+)"$'),
            ("vwlite/__init__.py", r'^__version__ = "([^"]+)"$'),
            ("CHANGELOG.md", r"^## (\S+) - \d{4}-\d\d-\d\d$"),
        )
    }
    versions = {name: match[1] if match else None for name, match in found.items()}
    first = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if len(set(versions.values())) > 1 or first is None or "-" not in first[0]:
        sys.exit(f"release.py: the versions are not the same, or not all there: {versions}")
    return str(versions["pyproject.toml"])


def check_golden_models(version: str) -> None:
    """SystemExit if the release has no golden model of some form."""
    if missing := missing_models(ROOT / f"tests/golden/{version}"):
        sys.exit(f"release.py: tests/golden/{version} has no {', '.join(missing)}: see tests/golden/make.py --only")


def with_absolute_links(text: str, url: str, version: str) -> str:
    """Links to files lead to the repository; a picture to its bytes. SystemExit if there is no such file."""

    def absolute(link: re.Match[str]) -> str:
        mark, words, path = link.groups()
        file = path.partition("#")[0]
        if not (ROOT / file).exists():
            sys.exit(f"release.py: README.md links to {file}, which does not exist")
        return f"{mark}[{words}]({url}/{'raw' if mark else 'blob'}/v{version}/{path})"

    return LINK.sub(absolute, text)


def main(url: str, folder: str) -> None:
    version, into, url = version_of_all(), Path(folder), url.rstrip("/")
    if not url.startswith("https://"):
        sys.exit("release.py: the page of the repository is needed: make release URL=https://...")
    if git("status", "--porcelain"):
        sys.exit("release.py: there are changes that are not committed")
    check_golden_models(version)
    into.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", into], input=git("archive", "HEAD"), check=True)
    readme, project = into / "README.md", into / "pyproject.toml"
    readme.write_text(with_absolute_links(readme.read_text(encoding="utf-8"), url, version), encoding="utf-8")
    places = f'"Source" = "{url}"\n"Changelog" = "{url}/blob/v{version}/CHANGELOG.md"\n'
    text = project.read_text(encoding="utf-8").replace("[project.urls]\n", f"[project.urls]\n{places}")
    project.write_text(text, encoding="utf-8")
    print(f"vwlite {version} is in {into}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
