"""Questions by name: priced for free, charged once, answered as a local session answers."""

import csv
import io
import json
import math

import numpy as np
import pytest

import deniable as dp
from deniable import learn
from deniable.errors import BadParameter, BudgetExceeded, DeniableError
from deniable.server import wire
from deniable.server.house import House
from deniable.server.jobs.asking import Ask, Asking
from deniable.server.jobs.door import Door
from deniable.server.jobs.kinds import KINDS
from deniable.server.jobs.kinds.models import read as read_model
from deniable.server.jobs.kinds.models import written as written_model

from .conftest import fill, settings_of
from .test_asking import charges

SCHEMA = """\
size = 200
[unit]
relation = "add_remove"
[columns.id]
type = "int"
[columns.age]
type = "int"
bounds = [0, 120]
missing = "drop"
[columns.city]
keys = ["Oslo", "Bergen"]
[columns.day]
type = "date"
bounds = [2026-01-01, 2026-01-31]
"""
AVERAGE = "SELECT AVG(age) AS a FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"

QUESTIONS = [
    {"kind": "choose", "sql": BY_CITY},
    {"kind": "above", "sql": BY_CITY, "threshold": 10.0},
    {"kind": "median", "sql": AVERAGE, "method": "smooth"},
    {"kind": "median", "sql": AVERAGE, "method": "propose_test_release", "bound": 20.0},
    {"kind": "median", "sql": AVERAGE, "method": "sample_and_aggregate", "parts": 5},
    {"kind": "ranges", "column": "age", "bins": 12},
    {"kind": "prefixes", "column": "age", "bins": 12},
    {"kind": "marginals", "columns": ["city", "age"], "bins": 4},
    {"kind": "hierarchy", "columns": ["city"]},
    {"kind": "running", "column": "day"},
    {"kind": "synthesize", "columns": ["city", "age"], "method": "independent"},
    {"kind": "fit", "estimator": "LogisticRegression", "target": "city", "features": ["age"]},
]
NAMES = [each.get("method", each["kind"]) for each in QUESTIONS]
NO_DELTA = {"choose", "above", "sample_and_aggregate", "synthesize"}


def spend_of(ask, epsilon=0.5):
    pure = ask["kind"] in NO_DELTA or ask.get("method") in NO_DELTA
    return {"epsilon": epsilon} if pure else {"epsilon": epsilon, "delta": 1e-8}


@pytest.fixture
def home(tmp_path, house):
    """Rows are units, and the budget has a δ."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "visits.toml").write_text(SCHEMA)
    lines = ["id,age,city,day"]
    lines += [
        f"{i},{20 + i % 60},{'Oslo' if i % 3 else 'Bergen'},2026-01-{1 + i % 30:02d}"
        for i in range(200)
    ]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    opened = house(folder=folder, budget=1.0)
    opened.close()
    for each in folder.glob(".deniable/*"):
        each.unlink()
    settings = settings_of(folder, tmp_path / "other anchors", workers=1)
    made = House(settings, budget=dp.epsilon(50.0, delta=1e-4))
    from deniable.server.jobs.work import Room, said

    room = Room(made.groups, {name: made._place(name) for name in made.groups})
    for worker in (*made.workers.all, *made.planners.all):
        worker.do = lambda task: said(room, task)
    yield made
    made.close()


def ask_of(home, ask, *, key="key-00001", spend=None, **more):
    person = home.accounts.find("ann") or home.accounts.add("ann")
    if home.ledgers["people"].standing("ann") is None:
        home.ledgers["people"].share("ann", amount=dp.epsilon(20.0, delta=1e-5))
    body = {"sql": None, "ask": ask, "spend": spend or spend_of(ask), **more}
    return Ask(person=person, key=key, people="people", body=body)


@pytest.mark.parametrize("ask", QUESTIONS, ids=NAMES)
def test_a_question_by_name_is_priced_for_free_and_charged_once(home, ask):
    asking = Asking(home)
    prepared = ask_of(home, ask)
    plan = Door(home, asking).explain(prepared.person, prepared.body)
    assert not charges(home)
    first = asking.ask(prepared)
    assert first.error is None
    again = asking.ask(ask_of(home, ask))
    assert first.state == again.state == "stored"
    assert first.release == again.release
    release = wire.release_from_dict(first.release)
    paid = [line.price for line in charges(home)]
    assert paid
    cost = wire.loss(plan["cost"])
    assert release.loss.epsilon <= cost.epsilon * (1 + 1e-9) <= 0.5 * (1 + 1e-8)
    assert release.provenance.entry_hash
    wire.answer_from_dict(first.release)


@pytest.mark.parametrize("ask", QUESTIONS, ids=NAMES)
def test_explaining_reads_no_rows(home, ask):
    prepared, door = ask_of(home, ask), Door(home, Asking(home))
    plan = door.explain(prepared.person, prepared.body)
    for path in home.settings.folder.glob("*.csv"):
        path.unlink()
    assert door.explain(prepared.person, prepared.body) == plan


def test_every_kind_is_asked_here():
    assert {each["kind"] for each in QUESTIONS} == set(KINDS)


@pytest.mark.parametrize("ask", QUESTIONS, ids=NAMES)
def test_what_exceeds_a_share_is_refused_before_the_charge(home, ask):
    outcome = Asking(home).ask(ask_of(home, ask, spend=spend_of(ask, 30.0)))
    assert outcome.state == "refused"
    assert outcome.error["code"] == BudgetExceeded.code
    assert not charges(home)


def test_the_same_key_with_another_question_is_a_conflict(home):
    asking = Asking(home)
    asking.ask(ask_of(home, QUESTIONS[0]))
    with pytest.raises(BadParameter, match="another question"):
        asking.ask(ask_of(home, QUESTIONS[1]))


@pytest.mark.parametrize(
    "ask",
    [
        {"kind": "median", "sql": BY_CITY, "method": "smooth"},
        {"kind": "median", "sql": "SELECT COUNT(*) AS n FROM visits", "method": "smooth"},
        {"kind": "median", "sql": AVERAGE, "method": "propose_test_release"},
        {"kind": "median", "sql": AVERAGE, "method": "smooth", "bound": 1.0},
        {"kind": "median", "sql": AVERAGE, "method": "sample_and_aggregate", "bound": 1.0},
        {"kind": "ranges", "column": "nothing"},
        {"kind": "prefixes", "column": "city"},
        {"kind": "running", "column": "age"},
        {"kind": "synthesize", "columns": ["nothing"]},
        {"kind": "fit", "estimator": "Ridge", "target": "city"},
        {"kind": "fit", "estimator": "Ridge", "target": "age", "parameters": {"random_state": 1}},
        {"kind": "fit", "estimator": "Ridge", "target": "age", "parameters": {"epsilon": 9}},
        {"kind": "fit", "estimator": "KMeans", "target": "age"},
    ],
    ids=range(13),
)
def test_what_cannot_be_asked_is_refused_by_public_facts(home, ask):
    outcome = Asking(home).ask(ask_of(home, ask))
    assert outcome.state == "refused", outcome
    assert not charges(home)


def test_the_median_by_parts_is_near_and_all_are_in_range(home):
    """Ages 20 to 79, median 49. By parts: 20 medians of about 10 values each have a mean within 20
    of 49 unless most parts err alike (P < 1e-9), and noise of scale 120/20/7 = 0.9 passes 25 with
    probability e⁻²⁷. Smooth noise has polynomial tails, so only its range is asked.
    """
    asking = Asking(home)
    for i, method in enumerate(("smooth", "sample_and_aggregate")):
        ask = {"kind": "median", "sql": AVERAGE, "method": method}
        found = asking.ask(ask_of(home, ask, key=f"median-{i:04}", spend={"epsilon": 7.0}))
        value = wire.release_from_dict(found.release).value
        assert 0 <= value <= 120
        if method == "sample_and_aggregate":
            assert abs(value - 49) < 45


def test_a_person_is_one_value_however_many_rows_they_have(house):
    """Replayed on neighbours with noise frozen: a person with many rows moves the count by one."""
    from deniable.query.rows import Matrix
    from deniable.server.jobs.kinds.robust import _values

    home = house()
    from deniable.server.jobs.work import Room

    room = Room(home.groups, {name: home._place(name) for name in home.groups})
    session = room._session("people", None)
    values = _values(session.sql(AVERAGE), 0.5)
    rng = np.random.default_rng(5)
    low, high = values.low, values.high
    for _ in range(300):
        people = np.sort(rng.integers(0, 12, 40))
        points = np.stack([rng.integers(0, 2, 40), rng.integers(-60, 61, 40)], axis=1)
        points[:, 1] *= points[:, 0]
        whole = Matrix(
            keys=np.zeros((40, 0), dtype=np.int64),
            points=points,
            weights=np.ones(40, dtype=np.int64),
            people=people,
        )
        kept = people != rng.integers(0, 12)
        less = Matrix(
            keys=whole.keys[kept],
            points=points[kept],
            weights=whole.weights[kept],
            people=np.unique(people[kept], return_inverse=True)[1],
        )
        more, fewer = (sorted(values.of(m, 0, 1).tolist()) for m in (whole, less))
        assert len(more) - len(fewer) in (0, 1)
        rest = list(more)
        for each in fewer:  # all others keep their value, to the last bit
            rest.remove(each)
        assert all(low <= each <= high for each in more)


ESTIMATORS = [
    (learn.LogisticRegression(steps=5), {"target": "y"}),
    (learn.LinearRegression(), {"target": "inc"}),
    (learn.Ridge(alpha=2.0), {"target": "inc"}),
    (learn.GaussianNB(), {"target": "y", "features": ["age", "inc"]}),
    (learn.KMeans(n_clusters=3, steps=2), {"features": ["age", "inc"]}),
    (learn.PCA(), {"features": ["age", "inc"]}),
    (learn.StandardScaler(), {"features": ["age", "inc"]}),
    (learn.GradientBoosting(rounds=5), {"target": "y"}),
]


@pytest.mark.parametrize(
    ("estimator", "how"), ESTIMATORS, ids=lambda each: type(each).__name__
)  # fmt: skip
def test_a_fitted_estimator_survives_the_wire(estimator, how):
    import pyarrow as pa

    rng, n = np.random.default_rng(0), 400
    table = pa.table(
        {
            "age": rng.integers(0, 100, n),
            "inc": rng.uniform(0, 10, n),
            "city": rng.choice(["a", "b"], n),
            "y": rng.choice(["no", "yes"], n),
        }
    )
    schema = dp.Schema(
        columns={
            "age": dp.bounds(0, 100, type="int"),
            "inc": dp.bounds(0, 10),
            "city": dp.keys(["a", "b"]),
            "y": dp.keys(["no", "yes"]),
        }
    )
    budget = dp.epsilon(10, delta=1e-6)
    session = dp.open(table, unit=dp.rows(), budget=budget, schema=schema)
    fitted = session.fit(estimator, spend=dp.epsilon(1, delta=1e-8), **how)
    back = read_model(json.loads(json.dumps(written_model(fitted))))
    act = "predict" if hasattr(fitted, "predict") else "transform"
    assert np.array_equal(getattr(fitted, act)(table), getattr(back, act)(table))
    assert str(back.certificate()) == str(fitted.certificate())
    assert back.loss_ == fitted.loss_


# ---- from Python, over HTTP, and for agents
#
# Sums of Laplace noises pass 12 times their ± (95 % confidence) with P < 1e-9: the ± of one
# is 3 scales, so 12 of them e⁻³⁶; a sum has lighter tails relative to its ±.


@pytest.fixture
def client(site):
    ledger = site.house.ledgers["people"]
    if ledger.standing("kim") is None:
        ledger.share("kim", amount=dp.epsilon(400.0, delta=1e-8))
    return site.connect("kim", share=None)


def test_ranges_from_a_server_are_ranges(client):
    spend = dp.epsilon(20.0)
    assert client.ranges("age", bins=12).explain(spend=spend).cost == spend
    found = client.ranges("age", bins=12, spend=spend)
    everything, error = found.between(0, 120)
    assert 0 < error < 20
    assert abs(everything - 200) < 12 * error
    assert found.between(20, 59)[1] > 0
    assert 0 <= found.quantile(0.5) <= 120
    assert found.certificate()


def test_marginals_hierarchies_and_prefixes_from_a_server_are_releases(client):
    spend = dp.epsilon(5.0)
    assert len(client.hierarchy(["city"], spend=spend).rows()) >= 2
    assert client.marginals(["city"], ways=1, spend=spend).rows()
    prefixes = client.named("prefixes", column="age", bins=6).release(spend=spend)
    last = prefixes.rows()[-1]
    assert abs(last["total"] - 200) < 12 * last["total_error"]


def test_a_synthetic_table_comes_back_whole_and_as_a_download(site, client):
    spend = dp.epsilon(5.0)
    asked = client.named("synthesize", columns=["city", "age"], method="independent")
    made = asked.release(spend=spend, key="synthetic-1")
    assert {row["city"] for row in made.rows(50)} <= {"Oslo", "Bergen", None}
    assert made.marginal("city")
    token = site.house.accounts.issue(site.house.accounts.find("kim"), "token")
    api = site.api(token)
    text = api.get("/api/answers/synthetic-1/rows?n=30&seed=1").text
    assert text == api.get("/api/answers/synthetic-1/rows?n=30&seed=1").text
    assert len(list(csv.DictReader(io.StringIO(text)))) == 30
    assert api.post("/api/answers/synthetic-1/predict", json={"columns": {}}).status_code == 404
    other = site.api(site.analyst("lou"))
    assert other.get("/api/answers/synthetic-1/rows").status_code == 404


def test_an_estimator_is_fitted_on_the_server_and_predicts_here_and_there(site, client):
    spend = dp.epsilon(10.0, delta=1e-9)
    model = learn.LogisticRegression(steps=5)
    found = client.fit(model, target="city", features=["age"], spend=spend)
    assert found is model
    here = model.predict({"age": [20, 50, None]})
    assert set(here) <= {"Oslo", "Bergen"}
    named = client.named(
        "fit", estimator="LogisticRegression", target="city", features=["age"]
    ).release(spend=spend, key="a-fit-key")
    token = site.house.accounts.issue(site.house.accounts.find("kim"), "token")
    body = {"columns": {"age": [20, 50, None]}}
    there = site.api(token).post("/api/answers/a-fit-key/predict", json=body).json()
    assert there["predictions"] == list(named.predict({"age": [20, 50, None]}))
    assert site.api(token).get("/api/answers/a-fit-key/rows").status_code == 404
    for odd in (["x", None, "<b>"], [1e308, -1e308, True], [[1]], []):
        body = {"columns": {"age": odd}}
        found = site.api(token).post("/api/answers/a-fit-key/predict", json=body)
        assert found.status_code < 500, (odd, found.text)
    for columns in ({"city": ["Oslo"]}, {}, {"age": [1], "city": []}):
        found = site.api(token).post("/api/answers/a-fit-key/predict", json={"columns": columns})
        assert 400 <= found.status_code < 500, (columns, found.text)


@pytest.mark.parametrize(
    "ask",
    [
        {"kind": "eval", "code": "1"},
        {"kind": "fit", "estimator": "os.system"},
        {"kind": "fit", "estimator": "Ridge", "parameters": {"alpha": "__import__('os')"}},
        {"kind": "ranges"},
        {"kind": "ranges", "column": "age", "path": "/etc/passwd"},
        {"kind": "median", "sql": AVERAGE, "method": "smooth", "quantile": math.inf},
        "ranges",
    ],
    ids=range(7),
)
def test_what_is_no_kind_is_refused_when_it_arrives(site, ask):
    api = site.api(site.analyst("mallory"))
    body = {"ask": ask, "spend": {"epsilon": 0.1}}
    text = json.dumps(body)
    headers = {"content-type": "application/json", "idempotency-key": "some-key-1"}
    for path in ("/api/explain", "/api/ask"):
        assert api.post(path, content=text, headers=headers).status_code == 422


def test_openapi_describes_every_kind(site):
    described = site.plain().get("/api/openapi.json").json()
    mapping = described["components"]["schemas"]["Question"]["properties"]["ask"]["anyOf"][0]
    assert set(mapping["discriminator"]["mapping"]) == set(KINDS)


def test_a_purpose_is_named_or_refused(house, tmp_path):
    folder = fill(tmp_path / "tables")
    (folder / "server.toml").write_text('[people]\ntables = ["visits"]\npurposes = ["care"]\n')
    home = house(folder=folder, budget=10.0)
    ask = {"kind": "hierarchy", "columns": ["city"]}
    person = home.accounts.add("ann")
    home.ledgers["people"].share("ann", amount=dp.epsilon(2.0))
    body = {"sql": None, "ask": ask, "spend": {"epsilon": 0.1}}
    with pytest.raises(DeniableError, match="purposes"):
        Asking(home).ask(Ask(person=person, key="key-00001", people="people", body=body))
    named = Ask(person=person, key="key-00001", people="people", body=body | {"purpose": "care"})
    assert Asking(home).ask(named).state == "stored"
