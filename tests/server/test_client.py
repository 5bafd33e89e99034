"""`dp.connect` feels like a local session: the same plans, answers and errors."""

import threading

import httpx2
import pytest

import deniable as dp
from deniable.server.client.client import Client
from deniable.server.client.connection import Connection

SQL = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def local(site):
    group = site.house.groups["people"]
    with dp.open(dict(group.sources), schema=group.schema, budget=dp.epsilon(1.0)) as session:
        yield session


def test_a_plan_is_that_of_a_local_session(site, local):
    remote = site.connect("plans").sql(SQL).explain(spend=dp.epsilon(0.5))
    mine = local.sql(SQL).explain(spend=dp.epsilon(0.5))
    assert (remote.errors, remote.steps, remote.question) == (
        mine.errors,
        mine.steps,
        mine.question,
    )
    assert remote.cost.epsilon == mine.cost.epsilon
    assert remote.left.epsilon == pytest.approx(0.5)
    assert remote.notes == tuple(note for note in mine.notes if "s.contributions" not in note)
    assert len(remote.notes) < len(mine.notes)  # a client has no such method
    within = site.connect("plans", 0).sql(SQL).explain(within=20.0)
    assert within.errors["n"] <= 20.0


def test_an_answer_is_that_of_a_local_session_and_is_charged_once(site, local):
    c = site.connect("answers")
    r = c.sql(SQL).release(spend=dp.epsilon(0.5))
    assert [row["city"] for row in r.rows()] == ["Oslo", "Bergen"]
    assert set(r.rows()[0]) == set(local.sql(SQL).release(spend=dp.epsilon(0.5)).rows()[0])
    assert list(r.to_pandas().columns) == list(r.rows()[0])
    assert r.certificate().record["claim"]["protects"]
    assert c.left.epsilon == pytest.approx(0.5)
    assert c.spent.epsilon == pytest.approx(0.5)
    assert [line["kind"] for line in c.ledger] == ["charge", "share"]
    assert "asked again" not in r.cost
    again = c.sql(SQL).release(spend=dp.epsilon(0.5))
    assert again.rows() == r.rows()
    assert again.free
    assert c.left.epsilon == pytest.approx(0.5)


def test_an_answer_names_no_file_of_the_server(site):
    r = site.connect("files").sql(SQL).release(spend=dp.epsilon(0.1))
    assert r.provenance.ledger == "people"
    assert str(site.house.settings.folder) not in r.certificate().to_json()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM visits",
        "SELECT AVG(agee) FROM visits",
        "SELECT COUNT(*) FROM nowhere",
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
        "SELECT COUNT(*) FROM '/etc/passwd'",
        "ATTACH 'x.db'; SELECT COUNT(*) FROM visits",
        "COPY visits TO '/tmp/x'",
        "SELECT city, AVG(id) FROM visits GROUP BY city",
        "SELECT" + "(" * 3000,
        "\x00",
    ],
)
def test_errors_are_those_of_a_local_session(site, local, sql):
    try:
        local.sql(sql).explain(spend=dp.epsilon(0.1))
    except dp.DeniableError as error:
        mine = error
    c = site.connect("errors", 0 if site.house.accounts.find("errors") else 1.0)
    for spend in (c.sql(sql).explain, c.sql(sql).release):
        with pytest.raises(type(mine)) as theirs:
            spend(spend=dp.epsilon(0.1))
        assert str(theirs.value) == str(mine)


def test_a_budget_that_is_exceeded_is_said_with_what_is_left_of_the_share(site):
    with pytest.raises(dp.BudgetExceeded, match="left of your share"):
        site.connect("spender", 0.3).sql(SQL).release(spend=dp.epsilon(0.5))


def test_made_up_rows_cost_nothing_and_say_so(site):
    c = site.connect("player")
    r = c.sql(SQL).rehearse(spend=dp.epsilon(0.5))
    assert "made up" in r.cost
    assert c.left.epsilon == pytest.approx(1.0)


def test_a_token_that_is_not_known_is_refused(site):
    with (
        dp.connect(site.url, token="0" * 64) as c,
        pytest.raises(dp.DeniableError, match="does not know this token"),
    ):
        c.tables  # noqa: B018


def test_a_lost_reply_is_asked_for_again_with_the_same_key_and_paid_for_once(site):
    token = site.analyst("unlucky-reply")
    real = httpx2.HTTPTransport()

    class Dropping(httpx2.BaseTransport):
        drops = 2

        def handle_request(self, request):
            response = real.handle_request(request)
            if request.url.path == "/api/ask" and self.drops:
                self.drops -= 1
                response.read()
                raise httpx2.ReadError("the connection was lost")
            return response

    with real, Client(Connection(site.url, token, transport=Dropping())) as c:
        c.sql(SQL).release(spend=dp.epsilon(0.25))
        assert c.left.epsilon == pytest.approx(0.75)


def test_a_server_that_is_not_there_is_said_without_a_trace(monkeypatch):
    monkeypatch.setattr("deniable.server.client.connection._WAITS", (0.0,))
    with (
        dp.connect("http://127.0.0.1:9", token="a1") as c,
        pytest.raises(dp.NotReady, match="cannot be reached"),
    ):
        c.tables  # noqa: B018


@pytest.mark.parametrize("answer", [
    httpx2.Response(200, html="<h1>Welcome</h1>"), httpx2.Response(200, json=[1]),
    httpx2.Response(301, headers={"location": "https://elsewhere.example/"}),
    httpx2.Response(404, text="not here"), httpx2.Response(200, content=b"\xff\xfe"),
])  # fmt: skip
def test_what_is_not_a_server_of_ours_is_said_without_a_trace(answer):
    transport = httpx2.MockTransport(lambda _: answer)
    c = Client(Connection("http://example.org/x", "a1", transport=transport))
    asks = (lambda: c.tables, lambda: c.left, lambda: c.sql(SQL).release(spend=dp.epsilon(0.1)))
    for ask in asks:
        with pytest.raises(dp.NotReady, match="is not a deniable server") as found:
            ask()
        assert ("elsewhere.example" in str(found.value)) == (answer.status_code == 301)


def test_what_is_wrong_with_a_token_is_said_and_that_nothing_was_spent(site):
    for token, said in ((None, "sign in, or send a token"), ("abc", "replaced by a newer one")):
        with (
            dp.connect(site.url, token=token) as c,
            pytest.raises(dp.BadParameter, match=said) as found,
        ):
            c.sql(SQL).release(spend=dp.epsilon(0.1))
        assert found.value.cost == "nothing was spent"


def test_who_is_frozen_is_told_at_once(site, monkeypatch):
    monkeypatch.setattr("deniable.server.client.connection._WAITS", (3600.0,))
    c = site.connect("cold")
    site.house.accounts.freeze("cold", frozen=True)
    with pytest.raises(dp.NotReady, match="frozen"):
        c.sql(SQL).release(spend=dp.epsilon(0.1))


@pytest.mark.parametrize(
    "wrong", [{"url": "ftp://x", "token": "a"}, {"url": "http://x", "token": ""}]
)
def test_what_is_not_an_address_or_a_token_is_refused(wrong):
    with pytest.raises(dp.BadParameter):
        dp.connect(**wrong)


def test_several_analysts_at_once_never_pass_their_shares_or_the_ceiling(site):
    people = [site.connect(f"crowd-{i}", 0.2) for i in range(3)]
    done = []

    def asks(c, i):
        for j in range(3):
            try:
                c.sql(f"{SQL.replace('visits', 'visits WHERE age > ' + str(10 * i + j))}").release(
                    spend=dp.epsilon(0.09)
                )
                done.append(i)
            except dp.BudgetExceeded:
                pass

    threads = [threading.Thread(target=asks, args=(c, i)) for i, c in enumerate(people)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(done) == [0, 0, 1, 1, 2, 2]
    site.house.ledgers["people"].verify()
