"""One form sent a hundred times is one question: by double clicks, refreshes and several tabs."""

from concurrent.futures import ThreadPoolExecutor

import pytest

FORMS = {
    "/ask": {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 33"},
    "/ask/named": {"kind": "ranges", "column": "age", "bins": "4", "table": "visits"},
}


@pytest.mark.parametrize("path", FORMS)
def test_a_form_sent_a_hundred_times_is_paid_for_once(site, path):
    name = f"clicker-{len(path)}"
    site.analyst(name, share=5.0)
    browser, ledger = site.browser(name), site.house.ledgers["people"]
    typed = FORMS[path] | {"figure": "0.1", "nonce": "the-same-form", "action": "release"}

    def sent(_):
        return browser.post(path, data=typed).headers.get("location")

    with ThreadPoolExecutor(5) as hands:
        places = set(hands.map(sent, range(100)))
    assert len(places - {None}) == 1  # None: asked again while it was being answered
    charges = [e for e in ledger.entries if e.kind == "charge" and e.asker == name]
    assert len(charges) == 1
    assert ledger.filter.spent(ledger.standing(name).used).epsilon == pytest.approx(0.1)
