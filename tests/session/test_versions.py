"""A stored answer says of which state of the data it is, or that nobody knows."""

import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp

ASKED = "SELECT COUNT(*) AS n FROM data"
SPEND = dp.epsilon(0.1)


def opened(ledger, rows, **options):
    frame = pd.DataFrame({"x": [1.0] * rows})
    return dp.open(frame, unit=dp.rows(), budget=dp.epsilon(1), ledger=ledger, **options)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.db"


def test_without_a_version_a_stored_answer_says_its_date_and_that_data_may_have_changed(ledger):
    with opened(ledger, 5) as session:
        first = session.sql(ASKED).release(spend=SPEND)
    with opened(ledger, 500_000) as session:
        again = session.sql(ASKED).release(spend=SPEND)
    assert again.value == first.value
    day = first.provenance.time[:10]
    said = f"free: stored answer from {day}, not recomputed; the data may have changed since then"
    assert said in str(again)
    assert "stored answer" in again._repr_html_()
    assert "may have changed" not in str(first)


def test_an_answer_about_one_version_is_not_given_for_another(ledger):
    with opened(ledger, 5, version="May") as session:
        may = session.sql(ASKED).release(spend=SPEND)
    with opened(ledger, 500_000, version="June") as session:
        assert session.sql(ASKED).due(spend=SPEND) != session.sql(ASKED).due(spend=SPEND) * 0
        june = session.sql(ASKED).release(spend=SPEND)
        assert abs(june.value - 500_000) < 1000
        assert session.spent.epsilon == pytest.approx(0.2)
    with opened(ledger, 5, version="May") as session:
        again = session.sql(ASKED).release(spend=SPEND)
        assert again.value == may.value
        assert "about data version May" in again.free
        assert session.spent.epsilon == pytest.approx(0.2)


def test_the_ceiling_is_one_for_all_versions(ledger):
    for version in range(10):
        with opened(ledger, 5, version=f"{version}") as session:
            session.sql(ASKED).release(spend=SPEND)
    with opened(ledger, 5, version="one more") as session, pytest.raises(dp.BudgetExceeded):
        session.sql(ASKED).release(spend=SPEND)


def test_a_version_is_shown_wherever_an_answer_is_defended(ledger):
    with opened(ledger, 5, version="May") as session:
        query = session.sql(ASKED)
        assert "data    version May" in str(query.explain(spend=SPEND))
        release = query.release(spend=SPEND)
        assert "data version May" in str(release)
        assert "May" in release._repr_html_()
        assert release.certificate().record["question"]["data_version"] == "May"
        assert any("data version May" in str(e.record.get("what")) for e in session.ledger.entries)


def test_a_version_can_stand_in_the_schema(tmp_path, ledger):
    path = tmp_path / "data.toml"
    dp.Schema(columns={"x": dp.bounds(0.0, 1.0)}, version="May").to_toml(path)
    assert dp.Schema.from_toml(path).version == "May"
    with opened(ledger, 5, schema=path) as session:
        assert session.version == "May"
    with pytest.raises(dp.BadParameter, match="the schema says May"):
        opened(ledger, 5, schema=path, version="June")


@pytest.mark.parametrize("bad", ["", " ", "a\nb", 7, "x" * 101])
def test_a_version_is_a_short_text(bad):
    with pytest.raises(dp.BadParameter, match="version"):
        opened(None, 5, version=bad)


def test_a_version_is_of_all_tables():
    with pytest.raises(dp.BadParameter, match="as a whole"):
        dp.Schema(tables={"people": dp.Schema(version="May")})


def test_the_certificate_of_a_public_answer_names_the_version_too():
    table = pa.table({"x": [1.0, 2.0]})
    schema = dp.Schema(columns={"x": dp.bounds(0, 9)}, size=2)
    unit = dp.rows(relation="replace")
    s = dp.open(table, unit=unit, budget=dp.epsilon(1), schema=schema, version="2026-01")
    answer = s.sql("SELECT COUNT(*) AS n FROM data").release(spend=dp.epsilon(0.1))
    assert answer.free
    assert answer.provenance.data_version == "2026-01"


def test_the_order_of_tables_does_not_matter_to_a_stored_answer(tmp_path):
    """One question has one fingerprint, in whichever order its tables are opened."""
    tables = {name: pa.table({"id": [1, 2], f"x_{name}": [1.0, 2.0]}) for name in ("a", "b")}
    unit, ledger = dp.person("id", rows=1), tmp_path / "ledger.db"
    found = []
    for names in (("a", "b"), ("b", "a")):
        source = {name: tables[name] for name in names}
        with dp.open(source, unit=unit, budget=dp.epsilon(1), ledger=ledger) as s:
            found.append(s.sql("SELECT COUNT(*) AS n FROM a").release(spend=dp.epsilon(0.4)).value)
    assert found[0] == found[1]


def test_a_question_without_a_version_says_nothing_of_one():
    """So that answers stored before versions were given are found."""
    given = {"unit": dp.rows(), "budget": dp.epsilon(1), "name": "t"}
    sessions = [dp.open(pd.DataFrame({"x": [1]}), version=v, **given) for v in (None, "2026")]
    keys = [session._key(dp.Laplace(scale=2.0), "q", "t") for session in sessions]
    assert "data" not in keys[0]
    assert keys[1] == keys[0] | {"data": "2026"}
