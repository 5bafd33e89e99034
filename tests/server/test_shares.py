"""A share says what it pays for when it is given, and one with a δ pays for Gaussian noise."""

import pytest

import deniable as dp

FIT = {"kind": "fit", "estimator": "LogisticRegression", "target": "city", "features": ["age"],
       "parameters": {"steps": 3}}  # fmt: skip


SHARES = [({"epsilon": 1.0}, False), ({"epsilon": 1.0, "delta": 1e-10}, True)]


@pytest.mark.parametrize(("share", "covered"), SHARES)
def test_a_share_without_delta_says_that_it_buys_no_gaussian_noise(site, share, covered):
    curator = site.api(site.house.accounts.issue(site.house.accounts.curator(), "token"))
    name = f"share-{covered}"
    made = curator.post("/api/people", json={"name": name, "share": share}).json()
    assert bool(made["note"]) is not covered
    asker = site.api(made["token"])
    body = {"ask": FIT, "spend": {"epsilon": 0.4, "delta": 1e-11}}
    answer = asker.post("/api/ask", json=body, headers={"idempotency-key": "fit-00001"})
    assert (answer.status_code == 200) is covered, answer.text
    plain = {"sql": "SELECT COUNT(*) AS n FROM visits", "spend": {"epsilon": 0.1}}
    told = asker.post("/api/ask", json=plain, headers={"idempotency-key": "sql-00001"})
    assert told.status_code == 200  # Laplace noise is paid for by either


@pytest.mark.parametrize("delta", ["", "1e-10"])
def test_the_page_takes_a_delta_and_says_what_is_missing_without(site, delta):
    curator = site.browser()
    assert 'name="delta"' in curator.get("/curator").text
    typed = {"name": f"page-{delta or 'none'}", "share": "0.5", "delta": delta}
    made = curator.post("/curator/people", data=typed)
    assert made.status_code == 200
    assert ("This share has no δ" in made.text) is not bool(delta)
    wrong = curator.post("/curator/people", data=typed | {"name": "other", "delta": "x"})
    assert wrong.status_code == 400


@pytest.mark.parametrize("asked", [{"kind": "ranges", "column": "age", "bins": 4},
                                   {"kind": "hierarchy", "columns": ["city"]}])  # fmt: skip
def test_the_plan_of_a_workload_says_what_is_left_after_it(site, asked):
    client = site.connect(f"planner-{asked['kind']}")
    question = client.named(**asked)
    plan = question.explain(spend=dp.epsilon(0.25))
    assert plan.left.epsilon == pytest.approx(0.75)
    question.release(spend=dp.epsilon(0.25))
    assert client.left.epsilon == pytest.approx(plan.left.epsilon)
