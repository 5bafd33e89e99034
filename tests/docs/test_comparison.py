"""Claims about speed and error are in the measurements, and name the file that prints them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEASURED = (ROOT / "docs" / "explain" / "measurements.md").read_text()
FIGURE = re.compile(r"(?<![\w.⁻])\d[\d,]*\.?\d*(?:e-\d+)?(?=[ –]|$|,)")
PAGES = [ROOT / "README.md", ROOT / "docs" / "explain" / "comparison.md"]


def rows(page: Path) -> list[list[str]]:
    """Rows of tables whose last column names a file of bench/."""
    lines = [line for line in page.read_text().splitlines() if re.search(r"`bench/\S+` \|$", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_claim_names_a_benchmark_that_exists_and_its_figures_were_measured(page):
    claims = rows(page)
    assert len(claims) >= 4
    for what, ours, theirs, printed in claims:
        assert (ROOT / printed.strip("`")).exists(), printed
        for figure in FIGURE.findall(f"{ours} · {theirs}".replace(" · ", " ")):
            assert figure in MEASURED, f"{what}: {figure} is not in measurements.md"
