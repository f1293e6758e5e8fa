"""The page of field cases and the tests name each other."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "field_cases.md"


def test_every_case_of_the_page_has_a_test_and_every_test_is_on_the_page():
    listed = set(re.findall(r"`test_(f\d\d)`", PAGE.read_text(encoding="utf-8")))
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        found |= set(re.findall(r"^def test_(f\d\d)_", path.read_text(encoding="utf-8"), re.M))
    assert listed == found
