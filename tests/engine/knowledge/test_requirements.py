"""The contract's requirements R1 to R156: each is named by at least one test (R64 is two, a and b)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

REQUIREMENTS = {str(number) for number in range(1, 157) if number != 64} | {"64a", "64b"}


def test_every_requirement_has_a_test_of_its_number() -> None:
    named = {
        number.lstrip("0")
        for file in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for number in re.findall(r"(?<![a-z0-9])r(\d+[ab]?)(?=_)", node.name)
    }
    assert REQUIREMENTS - named == set()
    assert named - REQUIREMENTS == set()
