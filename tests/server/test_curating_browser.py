"""A curator with a folder of rows, in a real browser: from nothing to a first answer."""

import pytest

import deniable as dp
from deniable.server.house import House

from .conftest import ROWS, settings_of
from .test_browser import chromium, picture  # noqa: F401  (a fixture)

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def clinic(serve_house, tmp_path):
    folder = tmp_path / "clinic"
    folder.mkdir()
    lines = ["patient,age,city", *(",".join(map(str, row)) for row in ROWS)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    return serve_house(House(settings_of(folder, tmp_path / "anchors", workers=1)))


@pytest.mark.parametrize("script", [True, False])
def test_a_curator_registers_mends_saves_and_invites(chromium, clinic, script):  # noqa: F811
    context = chromium.new_context(
        viewport={"width": 1100, "height": 800}, java_script_enabled=script
    )
    context.set_default_timeout(300_000)  # milliseconds: it only ends what hangs
    page = context.new_page()
    house = clinic.house
    page.goto(f"{clinic.url}/join/{house.accounts.issue(house.accounts.curator(), 'link')}")
    page.click("button:has-text('Sign in as curator')")
    page.click("text=Register a table")
    page.select_option("#file", "visits.csv")
    page.check("#header")
    page.click("text=Look at its columns")
    page.select_option("#unit", "column:patient")
    page.fill("#rows", "2")
    page.fill("#epsilon", "3")
    picture(page, "server-register", whole=True)
    page.click("button:has-text('Register')")
    assert "no public list of values" in page.inner_text("main")
    page.click("button:has-text('Fill in float, 0, 100 for age'), button:has-text('0 to 100')")
    assert page.input_value("#high-1") == "100"
    page.fill("#high-1", "120")
    page.fill("#keys-2", "Oslo\nBergen")
    page.keyboard.press("Escape")
    page.click(".buttons button:has-text('Review changes')")
    assert "become schema 2" in page.inner_text("main")
    picture(page, "server-schema")
    page.click("text=Save as schema 2")
    assert "Saved as schema 2" in page.inner_text("main")
    page.goto(f"{clinic.url}/curator")
    page.fill("#name", "ann")
    page.fill("#share", "1")
    page.click("button:has-text('Add')")
    with dp.connect(clinic.url, token=page.inner_text("#token")) as ann:
        counted = ann.sql("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
        assert len(counted.release(spend=dp.epsilon(0.5)).rows()) == 2
    page.goto(f"{clinic.url}/curator/tables/visits/risk")
    page.check("text=age")
    page.check("text=city")
    page.click("text=Make the report")
    for _ in range(600):
        if page.locator("text=Ways to publish").count():
            break
        page.wait_for_timeout(500)
        page.reload()
    picture(page, "server-risk")
    assert "100 people have 200 rows" in page.inner_text("main")
    context.close()
