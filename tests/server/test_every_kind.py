"""Every kind of question by name: its price is kept, and its answer can be read by itself."""

import html
import re

import pytest

from deniable.errors import BudgetExceeded, DeniableError, MixedLosses
from deniable.server import wire
from deniable.server.jobs.asking import Asking
from deniable.server.jobs.door import Door
from deniable.server.jobs.kinds import KINDS
from deniable.server.pages.asking import for_page, priced

from .test_asking import charges
from .test_kinds import NAMES, QUESTIONS, ask_of, home  # noqa: F401  (a fixture)


@pytest.mark.parametrize("delta", [0.0, 1e-8])
@pytest.mark.parametrize("ask", QUESTIONS, ids=NAMES)
def test_what_is_priced_is_answered_and_what_is_refused_has_no_price(home, ask, delta):  # noqa: F811
    """Public facts decide both: nobody is shown a price for what is refused afterwards."""
    asking = Asking(home)
    spend = {"epsilon": 0.5, "delta": delta} if delta else {"epsilon": 0.5}
    prepared = ask_of(home, ask, spend=spend)
    try:
        plan = Door(home, asking).explain(prepared.person, prepared.body)
        refused = BudgetExceeded.code if plan["left"] is None else None  # "more than is left"
    except DeniableError as error:
        refused = error.code
    outcome = asking.ask(prepared)
    assert (None if outcome.error is None else outcome.error["code"]) == refused
    assert bool(charges(home)) == (refused is None)


@pytest.mark.parametrize("ask", QUESTIONS, ids=NAMES)
def test_an_answer_says_what_was_asked_and_why_it_has_no_error_where_it_has_none(home, ask):  # noqa: F811
    release = wire.release_from_dict(Asking(home).ask(ask_of(home, ask)).release)
    asked = release.provenance.question
    assert asked != ask.get("sql")  # that would be another question
    assert "\n" not in asked
    assert not re.search("[0-9a-f]{32}", asked)  # nor how a ledger finds it again
    for answer in release.answers.values():
        assert answer.estimand or any(error is not None for error in answer.errors())


@pytest.mark.parametrize(
    "kind", [name for name, made in KINDS.items() if "sql" in made.model_fields]
)
def test_every_form_for_a_query_begins_with_one_that_can_be_priced(site, kind):
    site.analyst("starts")
    with site.browser("starts") as browser:
        empty = browser.get("/ask/named", params={"kind": kind}).text
        (link,) = re.findall(r'href="(/ask/named[?][^"]*sql=[^"]*)"', empty)
        filled = browser.get(html.unescape(link)).text
        (query,) = re.findall(r'<textarea id="sql"[^>]*>([^<]+)<', filled)
        more = {"threshold": "10", "method": "smooth", "figure": "0.1", "table": "visits"}
        priced = browser.post("/ask/named", data={"kind": kind, "sql": html.unescape(query)} | more)
    assert priced.status_code == 200
    assert 'class="priced"' in priced.text


def test_a_form_says_where_to_fill_in_a_delta_that_is_missing(home):  # noqa: F811
    fit = next(each for each in QUESTIONS if each["kind"] == "fit")
    prepared = ask_of(home, fit, spend={"epsilon": 0.5})
    with pytest.raises(MixedLosses) as caught:
        Door(home, Asking(home)).explain(prepared.person, prepared.body)
    assert "fill in a δ" in for_page(caught.value, prepared.person, "visits")["fix"]


def test_a_price_that_has_no_error_says_why_beside_it(home):  # noqa: F811
    prepared = ask_of(home, next(each for each in QUESTIONS if each.get("method") == "smooth"))
    plan = Door(home, Asking(home)).explain(prepared.person, prepared.body)
    shown = priced(plan)
    assert shown["instead"] == ["the ± depends on the data, so it may not be shown"]
    assert not set(shown["instead"]) & set(shown["notes"])
