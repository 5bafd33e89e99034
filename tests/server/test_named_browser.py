"""Questions by name in a real browser: pick a kind, see the price, ask, watch, cancel."""

import pytest
from playwright.sync_api import expect

from deniable.server.jobs.kinds import KINDS, forms

from .test_accessible import SMALL, faults
from .test_browser import SIZES, adult, ben, chromium, look, picture, spent  # noqa: F401  (fixtures)

pytestmark = pytest.mark.xdist_group("browser")


def test_a_kind_is_picked_priced_asked_watched_and_read(look, adult, ben):  # noqa: F811
    before, page = spent(adult, ben), look(ben)
    page.goto(f"{adult.url}/ask")
    page.click("text=ranges, cross tables")
    page.click(".kinds >> text=Cross tables")
    page.check("text=education")
    page.check("text=sex")
    page.fill("#figure", "0.2")
    page.wait_for_selector(".priced")  # by itself, after a pause
    expect(page.locator("#release")).to_have_text("Release for ε 0.2")
    assert "±" in page.inner_text("#price")
    picture(page, "server-named", whole=True)
    assert spent(adult, ben) == before
    page.click("#release")
    page.wait_for_url("**/answers/**")
    assert spent(adult, ben) == pytest.approx(before + 0.2)
    page.click("text=The same from Python")
    assert "c.named(\"marginals\", table='adult', columns=[" in page.inner_text("main")
    page.go_back()
    page.go_back()
    page.wait_for_selector("#release")
    assert spent(adult, ben) == pytest.approx(before + 0.2)


def test_a_question_that_waits_is_watched_and_cancelled_before_the_charge(look, adult, ben):  # noqa: F811
    before, page = spent(adult, ben), look(ben)
    page.goto(f"{adult.url}/ask/named?kind=ranges&table=adult")
    page.select_option("#column", "age")
    page.fill("#figure", "0.3")
    page.wait_for_selector(".priced")
    with adult.house.workers.one(patience=60):  # nobody is free to answer
        page.click("#release")
        page.wait_for_url("**/jobs/**")
        assert "Nothing has been charged" in page.inner_text("#job")
        picture(page, "server-waiting")
        assert not faults(page)
        page.click("text=Cancel")
        expect(page.locator("h1")).to_have_text("No answer")
        assert "cancelled before it was charged" in page.inner_text("#job")
    assert spent(adult, ben) == before
    with adult.house.workers.one(patience=60):
        page.goto(f"{adult.url}/ask/named?kind=ranges&table=adult")
        page.select_option("#column", "age")
        page.fill("#figure", "0.3")
        page.click("#release")
        page.wait_for_url("**/jobs/**")
    page.wait_for_url("**/answers/**")  # by itself, once a worker was free
    assert spent(adult, ben) == pytest.approx(before + 0.3)


def test_the_form_works_without_javascript(look, adult, ben):  # noqa: F811
    before, page = spent(adult, ben), look(ben, java_script_enabled=False)
    page.goto(f"{adult.url}/ask/named?kind=running")
    page.click(".kinds >> text=All ranges")
    page.select_option("#column", "age")
    page.fill("#figure", "0.1")
    page.click("text=Price it")
    assert "±" in page.inner_text("#price")
    assert page.input_value("#column") == "age"
    page.click("#release")
    page.wait_for_url("**/answers/**")  # the page loads itself again
    assert spent(adult, ben) == pytest.approx(before + 0.1)


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", "desk"), ("dark", "desk"), ("dark", "phone")]
)
def test_every_form_is_accessible_and_fits(look, adult, ben, scheme, size):  # noqa: F811
    page = look(ben, color_scheme=scheme, size=size)
    for kind in KINDS:
        page.goto(f"{adult.url}/ask/named?kind={kind}")
        shown = page.evaluate("[...document.querySelectorAll('#ask [name]')].map(e => e.name)")
        asked = {each.partition(":")[0] for each in shown}
        assert {field.name for field in forms.fields(kind, ["a"], {})} <= asked
        assert not faults(page), (kind, scheme, size)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
        if size == "phone":
            assert page.evaluate(SMALL) == [], kind
            if kind == "fit":
                picture(page, "server-named-phone")
        elif scheme == "dark" and kind == "fit":
            picture(page, "server-named-dark")
