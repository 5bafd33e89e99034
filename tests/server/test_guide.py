"""The guide to the local model says what a reader can do over HTTP; here it is done."""

import doctest
import json
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "local-model.md"


def section(title):
    return GUIDE.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_guide_to_collecting_over_http_works(house, serve_house, tmp_path, monkeypatch):
    site = serve_house(house())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said = section("Collect over HTTP")
    blocks = re.findall(r"^```text\n(.*?)^```", said, re.MULTILINE | re.DOTALL)
    begin, report = blocks
    verb, path, body = re.fullmatch(r"(\w+) (\S+)\n(.*)", begin, re.DOTALL).groups()
    asked = json.loads(body)
    curator = site.browser()
    made = curator.request(verb, path, json=asked)
    assert made.status_code == 200, made.text

    test = doctest.DocTestParser().get_doctest(
        "import deniable as dp\n" + report.replace("https://data.example.org", site.url),
        {"dp": __import__("deniable")}, "local-model.md", str(GUIDE), 0,
    )  # fmt: skip
    runner = doctest.DocTestRunner()
    runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).attempted == 3
    assert runner.summarize(verbose=False).failed == 0
    test.globs["drinks"]._connection.close()

    everyone = site.plain()
    for page in re.findall(r"`(/collections/[\w.]+)`", said):
        assert everyone.get(page).status_code == 200, page
    found = everyone.get("/collections/drinks.json").json()
    assert found["collection"]["epsilon"] == asked["epsilon"]
    assert found["estimate"] is None  # it appears after 100 reports

    (verb, path) = re.search(r"`(POST) (/api/collections/drinks/tickets)`", said).groups()
    issued = asked | {"name": "by-invitation", "tickets": "issued", "public": False}
    assert curator.post("/api/collections", json=issued).status_code == 200
    tickets = curator.request(verb, path.replace("drinks", "by-invitation"), json={"count": 3})
    assert len(tickets.json()["tickets"]) == 3
    assert everyone.get("/collections/by-invitation").status_code == 200
    for each in site.opened:
        each.close()
