"""The door for programs: background questions, people, twins of pages."""

import time

import pytest

SQL = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def body(number, sql=SQL):
    return {"sql": sql.replace("visits", f"visits WHERE age > {number}"), "spend": {"epsilon": 0.1}}


def ended(http, key):
    end = time.monotonic() + 300
    while (job := http.get(f"/api/jobs/{key}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < end, job
        time.sleep(0.05)
    return job


def test_a_background_question_is_looked_up_until_its_answer_is_there(site):
    with site.api(site.analyst("patient")) as http:
        key = {"idempotency-key": "job-00001"}
        begun = http.post("/api/jobs", json=body(1), headers=key)
        assert (begun.status_code, begun.json()["state"]) == (202, "queued")
        job = ended(http, "job-00001")
        assert job["state"] == "stored"
        asked = http.post("/api/ask", json=body(1), headers=key).json()
        assert asked["release"] == job["release"]
        assert http.post("/api/jobs", json=body(1), headers=key).json()["state"] == "stored"
        assert http.post("/api/jobs", json=body(2), headers=key).status_code == 409
        assert http.delete("/api/jobs/job-00001").status_code == 409
        (table,) = http.get("/tables.json").json()["tables"]
        assert table["loss_spent"]["epsilon"] == pytest.approx(0.1)


def test_a_background_question_that_is_refused_says_why_and_costs_nothing(site):
    with site.api(site.analyst("hasty")) as http:
        wrong = {"sql": "SELECT * FROM visits", "spend": {"epsilon": 0.1}}
        http.post("/api/jobs", json=wrong, headers={"idempotency-key": "job-wrong"})
        job = ended(http, "job-wrong")
        assert job["state"] == "refused"
        assert job["error"]["code"] == "DP310"
        key = {"idempotency-key": "job-wrong"}  # is free again
        assert http.post("/api/ask", json=body(2), headers=key).status_code == 200


def test_a_background_question_is_cancelled_before_it_is_charged(site):
    with site.api(site.analyst("undecided")) as http:
        with site.house.workers.one(patience=60):  # nobody can work
            http.post("/api/jobs", json=body(3), headers={"idempotency-key": "job-late"})
            assert http.get("/api/jobs/job-late").json()["state"] == "queued"
            assert http.delete("/api/jobs/job-late").json()["state"] == "cancelled"
        assert ended(http, "job-late")["state"] == "refused"
        (table,) = http.get("/tables.json").json()["tables"]
        assert table["loss_spent"]["epsilon"] == 0


def test_keys_of_one_asker_are_unknown_to_another(site):
    with site.api(site.analyst("owner")) as mine, site.api(site.analyst("other")) as theirs:
        mine.post("/api/ask", json=body(4), headers={"idempotency-key": "private-key"})
        assert theirs.get("/api/jobs/private-key").status_code == 404
        assert theirs.get("/answers/private-key.json").status_code == 404


def test_the_curator_adds_freezes_thaws_and_rotates_by_program(site):
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    with site.api(curator) as http:
        new = {"name": "erin", "share": {"epsilon": 0.5}}
        erin = http.post("/api/people", json=new).json()
        assert http.post("/api/people/erin/freeze").json()["frozen"]
        with site.api(erin["token"]) as hers:
            key = {"idempotency-key": "erin-0001"}
            frozen = hers.post("/api/ask", json=body(5), headers=key)
            assert frozen.status_code == 403
            assert "frozen" in frozen.json()["title"]
            http.post("/api/people/erin/thaw")
            assert hers.post("/api/ask", json=body(5), headers=key).status_code == 200
            fresh = http.post("/api/people/erin/rotate").json()["token"]
            assert hers.get("/tables.json").status_code == 401
        with site.api(fresh) as hers:
            assert hers.get("/tables.json").status_code == 200
        assert http.post("/api/people/nobody/rotate").status_code == 404
        log = http.get("/curator.json").json()["log"]
        assert {"added", "froze", "thawed", "rotated"} <= {line["what"] for line in log}


def test_a_share_beyond_the_ceiling_is_refused(site):
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    with site.api(curator) as http:
        greedy = {"name": "greedy", "share": {"epsilon": 10_000.0}}
        assert http.post("/api/people", json=greedy).status_code == 403
        assert site.house.accounts.find("greedy") is None


@pytest.mark.parametrize("path", ["/tables", "/tables/visits", "/ledger", "/curator", "/public"])
def test_a_page_and_its_twin_exist_together(site, path):
    with site.browser() as browser:
        assert browser.get(path).headers["content-type"].startswith("text/html")
        assert browser.get(f"{path}.json").headers["content-type"] == "application/json"


def test_the_interface_describes_itself_and_loads_nothing_from_elsewhere(site):
    with site.plain() as anyone:
        paths = anyone.get("/api/openapi.json").json()["paths"]
        assert {"/api/explain", "/api/ask", "/api/jobs/{key}"} <= set(paths)
        for path in ("/docs", "/redoc"):
            assert anyone.get(path).status_code == 404


def test_a_question_without_a_key_is_not_asked(site):
    with site.api(site.analyst("keyless")) as http:
        assert http.post("/api/ask", json=body(6)).status_code == 422
