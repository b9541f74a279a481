"""The README says what the program does."""

import importlib.util
import re
import sys
from pathlib import Path

from vwlite import errors

HERE = Path(__file__).parents[1]
README = (HERE.parent / "README.md").read_text(encoding="utf-8")


def test_what_is_made_from_the_program_is_up_to_date():
    spec = importlib.util.spec_from_file_location("docs", HERE / "docs.py")
    docs = importlib.util.module_from_spec(spec)
    sys.modules["docs"] = docs
    spec.loader.exec_module(docs)
    assert docs.updated(README) == README, "run `make docs`"


def test_every_exit_code_is_in_the_readme():
    codes = {int(c) for row in re.findall(r"^\| ([\d, ]+) \|", README, re.M) for c in row.split(",")}
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.VwliteError)]
    assert {k.exit_code for k in kinds} | {0, 129, 130, 143} == codes


def test_links_inside_the_readme_lead_somewhere():
    headings = {
        re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
