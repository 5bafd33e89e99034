"""axe-core finds nothing on any page, in light and dark, at a desk and on a phone."""

from importlib.resources import files
from urllib.parse import quote

import pytest

import deniable as dp

from .test_browser import BY_CITY, SIZES, adult, ben, chromium, look  # noqa: F401  (fixtures)

pytestmark = pytest.mark.xdist_group("browser")

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
ASK = f"ask?sql={quote(BY_CITY)}"
EVERYONE = ["public", "limits", "health", "sign-in", "nothing-here"]
ANALYST = ["tables", "tables/adult", ASK, "ask?sql=SELECT+age+FROM+adult", "ledger"]
CURATOR = [
    "curator",
    "curator/register",
    "curator/tables/adult/schema",
    "curator/tables/adult/risk",
    "sign-in?to=/curator",
]
LOOKS = [("light", "desk"), ("dark", "desk"), ("light", "phone")]


SMALL = """[...document.querySelectorAll('button, nav a, .button, .target, input, select')]
  .filter(e => e.offsetParent && !['range', 'checkbox'].includes(e.type) && !e.matches('.aside'))
  .filter(e => e.offsetHeight < 44).map(e => e.outerHTML)"""


def faults(page):
    """What axe finds, in its own words, with the elements; also while a price is awaited."""
    page.evaluate("document.getElementById('price')?.classList.add('waiting')")
    page.evaluate(AXE)  # run by the test, not by the page: its policy holds
    found = page.evaluate("() => axe.run().then(found => found.violations)")
    return [(each["id"], node["html"]) for each in found for node in each["nodes"]]


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_axe_finds_nothing(look, adult, ben, scheme, size):  # noqa: F811
    with dp.connect(adult.url, token=adult.analyst(ben, 0)) as client:
        client.sql(BY_CITY).release(spend=dp.epsilon(0.05), key="for-axe-1")
    options = {"color_scheme": scheme, "size": size}
    for person, paths in ((None, EVERYONE), (ben, ANALYST), ("curator", CURATOR)):
        page = look(person, **options)
        for path in [*paths, *(["answers/for-axe-1"] if person == ben else [])]:
            page.goto(f"{adult.url}/{path}")
            if path.startswith("ask"):
                page.wait_for_selector(".priced, .trouble")
            page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
            assert not faults(page), (path, scheme, size)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= SIZES[size]["width"], path
            if size == "phone":
                assert page.evaluate(SMALL) == [], path


def test_axe_would_find_something(look, adult, ben):  # noqa: F811
    """A page with a field that has no label, and text that cannot be read."""
    page = look(ben)
    page.goto(f"{adult.url}/ask")
    page.evaluate("document.querySelector('label[for=figure]').remove()")
    page.evaluate("document.querySelector('h1').style.color = '#f0f0f0'")
    assert {"label", "color-contrast"} <= {name for name, _ in faults(page)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sql", [BY_CITY, "SELECT MEDIAN(age) AS middle FROM adult"])
def test_nothing_moves_when_the_price_arrives(look, adult, ben, sql, size):  # noqa: F811
    """The page keeps room for a price and its ±: what one is about to press stays in place."""
    page = look(ben, size=size)
    page.goto(f"{adult.url}/ask")
    top = "document.querySelector('#release').getBoundingClientRect().top"
    before = page.evaluate(top)
    page.fill("#sql", sql)
    page.wait_for_selector(".priced")
    assert page.evaluate(top) == before
