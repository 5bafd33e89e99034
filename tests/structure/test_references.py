"""Every citation resolves, and every reference is cited."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = re.compile(r"\[((?:[A-Z][A-Za-z+]*\d{2}[a-z]?)(?:[,;] [^\]]*)?)\]")
ONE = re.compile(r"\b[A-Z][A-Za-z+]*\d{2}[a-z]?\b")


def cited(text: str) -> set[str]:
    """Keys in square brackets: [DMNS06], [CKS20, Thm 4], [Mir12, CKS20]."""
    return {key for group in KEY.findall(text) for key in ONE.findall(group)}


def all_cited() -> set[str]:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    return {key for path in files for key in cited(path.read_text())}


def known() -> set[str]:
    return set(
        re.findall(r"^@\w+\{([^,]+),", (ROOT / "docs/references.bib").read_text(), re.MULTILINE)
    )


def test_every_citation_has_its_reference():
    assert all_cited() - known() == set()


def test_every_reference_is_cited_somewhere():
    assert known() - all_cited() == set()


def test_the_check_reads_the_ways_we_cite():
    text = "holds [DMNS06, Thm 1] and [Mir12, CKS20]; not a[0], list[X] or [DP102]"
    assert cited(text) == {"DMNS06", "Mir12", "CKS20"}
