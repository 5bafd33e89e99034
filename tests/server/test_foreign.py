"""Foreign pages, broken text, keys of others, and questions that say too much."""

import pytest

from .test_security import BODY

LONE = '{"sql": "SELECT COUNT(*) AS n FROM visits", "spend": {"epsilon": 0.01}, %s}'
BROKEN = [
    '"within": {"\\ud800": 1}',
    '"purpose": "\\ud800"',
    '"\\ud800": 1',
    '"table": "\\udfff"',
    '"spend": {"\\ud800": 1}',
]


@pytest.mark.parametrize("part", BROKEN)
def test_half_a_character_anywhere_is_refused_and_breaks_no_page(site, part):
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    headers = {"content-type": "application/json", "idempotency-key": "half-00001"}
    with site.api(site.analyst("halver")) as http, site.api(curator) as boss:
        for path in ("/api/ask", "/api/explain", "/api/jobs"):
            sent = http.post(path, content=(LONE % part).encode(), headers=headers)
            assert 400 <= sent.status_code < 500
        site.house.log("halver", "fault", cause="\ud800")
        for path in ("/curator", "/curator.json", "/ledger.json"):
            assert boss.get(path).status_code == 200


def test_a_key_opens_its_askers_own_answer_alone(site):
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    with site.api(site.analyst("twin")) as twin, site.api(curator) as boss:
        for http, name in ((boss, "mine"), (twin, "theirs")):
            body = {"sql": f"SELECT COUNT(*) AS {name} FROM visits", "spend": {"epsilon": 0.1}}
            http.post("/api/ask", json=body, headers={"idempotency-key": "the-same-key"})
        for http, place, name in (
            (boss, "the-same-key", "mine"),
            (boss, "twin/the-same-key", "theirs"),
            (twin, "the-same-key", "theirs"),
        ):
            assert list(http.get(f"/answers/{place}.json").json()["release"]["answers"]) == [name]
            assert http.get(f"/answers/{place}").status_code == 200
            assert http.get(f"/answers/{place}.csv").text.startswith(name)
        assert twin.get("/answers/curator/the-same-key").status_code == 403
        assert "/answers/twin/the-same-key" in boss.get("/ledger").text


def test_a_question_names_one_mechanism(site):
    both = BODY | {"choose": "noisy_max", "above": {"threshold": 3}}
    with site.api(site.analyst("greedy-two")) as http:
        assert http.post("/api/explain", json=both).status_code == 422


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https self"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_page_cannot_sign_its_visitors_in(site, headers):
    """No cookie is needed for that, so its absence excuses nothing."""
    token = site.analyst("lure")
    link = site.house.accounts.issue(site.house.accounts.find("lure"), "link")
    secure = site.url.replace("http", "https")
    sent = {n: secure if v == "https self" else v for n, v in headers.items()}
    with site.plain(headers=sent) as visitor:
        assert visitor.post("/sign-in", data={"token": token}).status_code == 403
        assert visitor.post(f"/join/{link}").status_code == 403
