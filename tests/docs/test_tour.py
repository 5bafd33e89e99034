"""The tour covers the field in order, with a picture on every page that the page itself makes."""

import re
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour"
PAGES = sorted(TOUR.glob("[0-9]*.md"))


def test_the_pages_are_numbered_without_gaps_and_listed_in_order():
    assert [int(page.name[:2]) for page in PAGES] == list(range(1, len(PAGES) + 1))
    listed = re.findall(r"^\d+\. \[.*?\]\((.*?)\)", (TOUR / "README.md").read_text(), re.MULTILINE)
    assert listed == [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_shows_the_pictures_that_it_draws(page):
    text = page.read_text()
    assert len(text.splitlines()) <= 200
    drawn = set(re.findall(r'savefig\("(\w+\.png)"', text))
    shown = dict(re.findall(r"!\[([^\]]+)\]\(pictures/(\w+\.png)\)", text))
    assert drawn
    assert drawn == set(shown.values())
    assert all((TOUR / "pictures" / name).exists() for name in drawn)
    assert all(len(words) > 30 for words in shown)  # said in words, for those who cannot see it


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_starts_with_its_number_and_leads_on(page):
    text, number = page.read_text(), int(page.name[:2])
    assert text.startswith(f"# {number}. ")
    following = PAGES[number].name if number < len(PAGES) else "../tutorials/curator.md"
    assert f"({following})" in text


def test_every_picture_belongs_to_a_page():
    text = "".join(page.read_text() for page in PAGES)
    assert {path.name for path in (TOUR / "pictures").iterdir()} == set(
        re.findall(r"pictures/(\w+\.png)", text)
    )
