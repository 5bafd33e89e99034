"""The pages in a real browser: a curator's and an analyst's first ten minutes.

Pictures for the docs are written where DENIABLE_PICTURES says, if it says anything.
"""

import os
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect, sync_playwright

import deniable as dp
from deniable.data.adult import PATH
from deniable.data.facts import ADULT
from deniable.server.house import House

from .conftest import settings_of

BY_CITY = "SELECT education, COUNT(*) AS n FROM adult GROUP BY education"
SIZES = {"desk": {"width": 1100, "height": 800}, "phone": {"width": 390, "height": 844}}

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def adult(serve_house, tmp_path_factory):
    """A server on the bundled table, as `script/serve` starts it."""
    folder = tmp_path_factory.mktemp("adult")
    shutil.copyfile(PATH, folder / "adult.parquet")
    (folder / "adult.toml").write_text(ADULT)
    settings = settings_of(folder, tmp_path_factory.mktemp("anchors"), workers=1)
    return serve_house(House(settings, budget=dp.epsilon(30.0, delta=1e-7)))


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium")
    if path is None:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("NOT TESTED: pages in a browser. Install Chromium to test them")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def look(chromium, adult):
    """Opens a page; afterwards nothing may have come from elsewhere or gone wrong in a script."""
    opened, seen, faults = [], [], []

    def new(person=None, *, size="desk", **options):
        context = chromium.new_context(viewport=SIZES[size], **options)
        context.set_default_timeout(300_000)  # milliseconds: it only ends what hangs
        opened.append(context)
        if person is not None:
            accounts = adult.house.accounts
            who = accounts.curator() if person == "curator" else accounts.find(person)
            cookie = adult.house.accounts.issue(who, "session")
            context.add_cookies([{"name": "deniable", "value": cookie, "url": adult.url}])
        page = context.new_page()
        page.on("request", lambda request: seen.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if "Policy" in m.text else None)
        return page

    yield new
    for context in opened:
        context.close()
    assert all(url.startswith(adult.url) for url in seen)
    assert not faults


def picture(page, name, *, whole=False):
    folder = os.environ.get("DENIABLE_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)


def spent(adult, name):
    ledger = adult.house.ledgers["people"]
    return ledger.filter.spent(ledger.standing(name).used).epsilon


def test_the_first_ten_minutes(look, adult):
    """A curator signs in, invites, sees a first question; an analyst prices, tries and releases."""
    link = adult.house.accounts.issue(adult.house.accounts.curator(), "link")
    curator = look()
    curator.goto(adult.url)
    assert "Statistics about people" in curator.inner_text("h1")
    picture(curator, "server-public")
    curator.goto(f"{adult.url}/join/{link}")
    curator.click("button:has-text('Sign in as curator')")
    curator.fill("#name", "ann")
    curator.fill("#share", "1")
    curator.click("button:has-text('Add')")
    invitation = curator.inner_text("#link")
    ann = look()
    ann.goto(invitation)
    ann.click("button:has-text('Sign in as ann')")
    assert ann.inner_text("h1") == "Tables"
    ann.click("h2 a")
    ann.click("text=How many per education?")
    ann.wait_for_selector(".priced")  # by itself, after a pause
    assert "± 30" in ann.inner_text("#price")
    picture(ann, "server-ask")
    ann.focus("#slider")
    ann.keyboard.press("End")
    expect(ann.locator("#release")).to_contain_text("ε 1")
    ann.fill("#figure", "0.2")
    expect(ann.locator("#release")).to_have_text("Release for ε 0.2")
    ann.click("text=Try on made-up rows")
    assert "not real" in ann.inner_text(".madeup")
    assert spent(adult, "ann") == 0
    ann.click("#release")
    ann.wait_for_url("**/answers/**")
    assert ann.locator("svg.chart .bar").count() == 16
    picture(ann, "server-answer")
    assert spent(adult, "ann") == pytest.approx(0.2)
    curator.goto(f"{adult.url}/curator")
    assert "ε 0.2 of ε 1" in curator.inner_text("main")
    picture(curator, "server-curator")
    curator.goto(f"{adult.url}/ledger")
    assert BY_CITY in curator.inner_text("main")


@pytest.fixture
def ben(adult):
    if adult.house.accounts.find("ben") is None:
        adult.analyst("ben", share=5.0)
    return "ben"


def test_double_click_back_and_refresh_are_one_charge(look, adult, ben):
    page = look(ben)
    page.goto(f"{adult.url}/ask?sql={quote('SELECT COUNT(*) AS n FROM adult WHERE age > 30')}")
    page.wait_for_selector(".priced")
    page.fill("#figure", "0.11")
    expect(page.locator("#release")).to_contain_text("0.11")
    page.dblclick("#release")
    page.wait_for_url("**/answers/**")
    answer = page.inner_text(".single")
    page.reload()
    page.go_back()
    page.click("#release")
    page.wait_for_url("**/answers/**")
    assert page.inner_text(".single") == answer
    assert spent(adult, ben) == pytest.approx(0.11)


def test_the_whole_path_works_without_javascript(look, adult, ben):
    before = spent(adult, ben)
    page = look(ben, java_script_enabled=False)
    page.goto(f"{adult.url}/ask")
    assert page.locator("#slider").is_hidden()
    page.fill("#sql", "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex")
    page.fill("#figure", "0.1")
    page.click("text=Price it")
    assert "± 30" in page.inner_text("#price")
    page.click("#release")
    assert "Female" in page.inner_text("main")
    assert spent(adult, ben) == pytest.approx(before + 0.1)


PAGES = ["tables", "tables/adult", f"ask?sql={quote(BY_CITY)}", "ledger", "public", "limits"]


@pytest.mark.parametrize("path", [*PAGES, "curator"])
def test_a_phone_shows_pages_without_sideways_scroll_and_with_large_targets(look, adult, ben, path):
    page = look("curator" if path == "curator" else ben, size="phone")
    page.goto(f"{adult.url}/{path}")
    if path.startswith("ask"):
        page.wait_for_selector(".priced")
        picture(page, "server-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    heights = page.evaluate(
        "[...document.querySelectorAll('button, nav a, .button, input, select')]"
        ".filter(e => e.offsetParent && e.type !== 'range').map(e => e.offsetHeight)"
    )
    assert min(heights) >= 44


_CONTRAST = """() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const lum = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const worst = [];
  for (const e of document.querySelectorAll('main *, header *, footer *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.offsetParent || e.closest('svg')) continue;
    const [a, b] = [lum(parse(getComputedStyle(e).color)), lum(ground(e))].sort((x, y) => y - x);
    worst.push([(a + .05) / (b + .05), e.tagName + '.' + e.className]);
  }
  return worst.sort((x, y) => x[0] - y[0])[0];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_and_every_field_a_label(look, adult, ben, scheme):
    page = look(ben, color_scheme=scheme)
    for path in PAGES:
        page.goto(f"{adult.url}/{path}")
        if path.startswith("ask"):
            page.wait_for_selector(".priced")
            if scheme == "dark":
                picture(page, "server-dark")
        ratio, where = page.evaluate(_CONTRAST)
        assert ratio >= 4.5, (path, where)
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select, textarea, meter')]"
            ".filter(e => !e.labels?.length && !e.ariaLabel).map(e => e.outerHTML)"
        )
        assert not unnamed
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.locator("h1").count() == 1


def test_the_keyboard_alone_is_enough(look, adult, ben):
    page = look(ben)
    page.goto(f"{adult.url}/ask")
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.href"))
    assert {"sql", "slider", "figure", "pricing", "release"} <= set(reached)
    assert reached[0].endswith("#main")  # past the navigation at once


def test_pages_are_small(look, adult, ben):
    page = look(ben)
    sizes = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(f"{adult.url}/ask", wait_until="networkidle")
    assert sum(sizes) <= 60_000
    code = page.request.get(f"{adult.url}/static/page.js").text()
    assert len(code.splitlines()) <= 150


def test_a_stopped_asker_is_shown_with_the_cause_to_the_curator_and_resumed(look, adult):
    if adult.house.accounts.find("unlucky") is None:
        adult.analyst("unlucky", share=0.5)
    ledger = adult.house.ledgers["people"]
    charge = ledger.charge(dp.Laplace(scale=100.0), unit=ledger.unit, asker="unlucky")
    ledger.stop(charge, cause="row 17 of a secret table")
    asker = look("unlucky")
    asker.goto(f"{adult.url}/ask?sql={quote('SELECT COUNT(*) AS n FROM adult')}")
    asker.wait_for_selector(".priced")
    asker.click("#release")
    asker.wait_for_selector(".trouble")
    assert "row 17" not in asker.content()
    curator = look("curator")
    curator.goto(f"{adult.url}/curator")
    curator.click("summary")
    assert "row 17" in curator.inner_text("main")
    picture(curator, "server-stopped")
    curator.click("text=Resume unlucky")
    assert "Stopped askers" not in curator.inner_text("main")
    asker.click("#release")
    asker.wait_for_url("**/answers/**")
    assert re.search(r"± \d+", asker.inner_text(".single"))
