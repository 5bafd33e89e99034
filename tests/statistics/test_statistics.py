"""One-line statistics: the same numbers as SQL, near the truth, and charged."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.curator import Curator
from deniable.curator import open as open_curator
from deniable.errors import BadParameter, MissingBounds, UnknownName
from deniable.query.algebra import Column, Domain, Kind, evaluate
from deniable.query.bind.bins import bucket
from deniable.schema.edges import binning_of, magnitudes

SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 125, type="int"),
        "sex": dp.keys(["Male", "Female"]),
        "hours_per_week": dp.bounds(0, 100),
    }
)
SPEND = dp.epsilon(1)


@pytest.fixture(scope="module")
def table():
    return dp.load_adult()


@pytest.fixture(scope="module")
def session(table):
    return open_curator(
        table, unit=dp.rows(), budget=dp.epsilon(500, delta=1e-7), schema=SCHEMA, name="adult"
    )


def test_opening_gives_a_curator(session):
    assert isinstance(session, Curator)
    assert isinstance(session, dp.Session)


# Each answer below is within ten times its scale of noise: a false alarm has a chance of e⁻¹⁰ per
# draw at ε = 1, about 5·10⁻⁵; with thirty scales it is below 10⁻¹².


def test_each_statistic_is_near_the_truth(session, table):
    ages = table["age"].to_numpy()
    assert session.count(spend=SPEND).value == pytest.approx(32_561, abs=30)
    assert session.sum("age", spend=SPEND).value == pytest.approx(ages.sum(), abs=125 * 30)
    assert session.mean("age", spend=SPEND).value == pytest.approx(ages.mean(), abs=0.3)
    assert session.variance("age", spend=SPEND).value == pytest.approx(ages.var(), abs=20)
    assert session.std("age", spend=SPEND).value == pytest.approx(ages.std(), abs=1)
    assert session.median("age", spend=SPEND).value == pytest.approx(37, abs=1)


def test_several_quantiles_cost_what_one_does(session, table):
    before = session.spent.epsilon
    row = session.quantile("age", [0.25, 0.5, 0.75], spend=SPEND).rows()[0]
    assert session.spent.epsilon - before <= 1 + 1e-9
    truth = np.quantile(table["age"].to_numpy(), [0.25, 0.5, 0.75])
    assert [row["q25"], row["median"], row["q75"]] == pytest.approx(truth, abs=1)


def test_groups_by_public_keys(session):
    rows = session.mean("age", by="sex", spend=SPEND).rows()
    assert [row["sex"] for row in rows] == ["Male", "Female"]
    assert rows[0]["mean"] == pytest.approx(39.43, abs=0.5)


def test_a_histogram_covers_the_bounds(session, table):
    rows = session.histogram("age", bins=5, spend=SPEND).rows()
    assert rows[0]["low"] == 0
    assert rows[-1]["high"] == 125
    ages = table["age"].to_numpy()
    for row in rows:
        truth = ((ages >= row["low"]) & (ages <= row["high"])).sum()
        assert row["count"] == pytest.approx(truth, abs=30)


@pytest.mark.parametrize(
    ("facts", "bins", "ends"),
    [
        (dp.bounds(0, 9, type="int"), 4, [(0, 2), (3, 4), (5, 7), (8, 9)]),
        (dp.bounds(0, 2, type="int"), 10, [(0, 0), (1, 1), (2, 2)]),
        (dp.bounds(0, 9, type="int"), [0, 5, 9], [(0, 4), (5, 9)]),
        (dp.bounds(0, 9), [0, 5, 9], [(0, 5), (5, 9)]),
    ],
)
def test_bins_of_whole_numbers_do_not_overlap(facts, bins, ends):
    s = dp.open(
        pa.table({"x": [*range(10)]}),
        schema=dp.Schema(columns={"x": facts}),
        unit=dp.rows(),
        budget=dp.epsilon(200),
    )
    rows = s.histogram("x", bins=bins, spend=dp.epsilon(100)).rows()
    assert [(row["low"], row["high"]) for row in rows] == ends


def test_a_histogram_with_edges_of_ones_own(session):
    rows = session.histogram("hours_per_week", bins=[0, 40, 100], within=10).rows()
    assert [(row["low"], row["high"]) for row in rows] == [(0, 40), (40, 100)]
    assert rows[0]["count_error"] <= 10
    with pytest.raises(BadParameter, match="must cover the bounds"):
        session.histogram("hours_per_week", bins=[0, 40], spend=SPEND)


def test_a_histogram_by_magnitude_has_the_cells_of_its_column():
    gains = [0, 0, 1, 5, 6, 99_999, 200_000, None]
    facts = dp.bounds(0, 100_000, type="int")
    s = open_curator(
        pa.table({"gain": gains}),
        schema=dp.Schema(columns={"gain": facts}),
        unit=dp.rows(),
        budget=dp.epsilon(200),
    )
    rows = s.histogram("gain", bins="half-octaves", spend=dp.epsilon(100)).rows()
    cells = binning_of(facts)
    counts = cells.one_hot(cells.encode(gains)).sum(axis=0)
    assert [row["count"] for row in rows] == counts.tolist()  # wrong with a chance below 1e-19
    assert [row["low"] for row in rows] == list(cells.edges[:-1])


@pytest.mark.parametrize(
    "facts",
    [
        dp.bounds(0, 2**53 + 5, type="int"),
        dp.bounds(-(2**63), 2**62, type="int"),
        dp.bounds(-8e307, 8e307),
    ],
)
def test_bins_reach_from_bound_to_bound_however_far_they_are(facts):
    s = open_curator(
        pa.table({"x": [facts.low, facts.high]}),
        schema=dp.Schema(columns={"x": facts}),
        unit=dp.rows(),
        budget=dp.epsilon(200),
    )
    rows = s.histogram("x", bins=4, spend=dp.epsilon(100)).rows()
    assert [row["count"] for row in rows] == [1, 0, 0, 1]  # wrong with a chance below 1e-19
    assert rows[0]["low"] == facts.low
    assert rows[-1]["high"] == facts.high


def test_the_commonest_values_come_first(session):
    rows = session.top_k("occupation", k=3, spend=SPEND).rows()
    assert len(rows) == 3
    assert [r["count"] for r in rows] == sorted((r["count"] for r in rows), reverse=True)


def test_a_summary_has_a_row_for_each_column_with_bounds(session, table):
    rows = session.describe(spend=dp.epsilon(5)).rows()
    assert [row["column"] for row in rows] == ["age", "hours_per_week"]
    assert rows[0]["mean"] == pytest.approx(38.58, abs=1)
    assert rows[0]["median"] == pytest.approx(37, abs=2)
    assert rows[1]["std_error"] > 0


def test_a_summary_states_a_shared_limit_once_and_bounds_by_column():
    columns = {"x": dp.bounds(0, 10, type="int"), "y": dp.bounds(0, 99, type="int")}
    table = pa.table({"id": [1, 2], "x": [3, 4], "y": [5, 6]})
    schema, unit = dp.Schema(columns=columns), dp.person("id", rows=2)
    s = dp.open(table, unit=unit, budget=dp.epsilon(1), schema=schema)
    said = s.describe(spend=dp.epsilon(1)).answers["mean"].estimand
    limit = "a person with more than 2 rows counts as 2 rows"
    assert said == f"{limit}; x is clipped to [0, 10]; y is clipped to [0, 99]"


def test_bounds_are_found_and_hold_nearly_everything(session, table):
    low, high = session.bounds("age", spend=SPEND)
    ages = table["age"].to_numpy()
    assert ((ages >= low) & (ages <= high)).mean() > 0.98
    assert (low, high) == (16, 128)


def test_automatic_bounds_are_charged_and_shown(session, table):
    with pytest.raises(MissingBounds):
        session.mean("capital_gain", spend=SPEND)
    before = session.spent.epsilon
    release = session.mean("capital_gain", spend=SPEND, bounds="auto")
    assert release.value == pytest.approx(table["capital_gain"].to_numpy().mean(), rel=0.2)
    assert session.spent.epsilon - before == pytest.approx(1.0)
    assert release.loss.epsilon == pytest.approx(1.0)
    assert "bounds found privately for ε 0.25" in str(release)


def test_bounds_of_negative_tiny_and_empty_columns():
    generator = np.random.default_rng(0)
    columns = {
        "negative": -generator.uniform(3, 500, 20_000),
        "tiny": generator.uniform(1e-6, 2e-6, 20_000),
        "both": generator.normal(0, 10, 20_000),
        "zero": np.zeros(20_000),
    }
    schema = dp.Schema(columns={name: dp.column("float") for name in columns})
    s = open_curator(pa.table(columns), unit=dp.rows(), budget=dp.epsilon(99), schema=schema)
    assert s.bounds("negative", spend=SPEND) == (-512, -2)
    low, high = s.bounds("tiny", spend=SPEND)
    assert 0 <= low <= 1e-6
    assert 2e-6 <= high <= 4e-6
    low, high = s.bounds("both", spend=SPEND)
    assert -64 <= low <= -16
    assert 16 <= high <= 64
    assert s.bounds("zero", spend=SPEND) == (-(2.0**-32), 2.0**-32)


def test_bounds_protect_people_with_many_rows():
    table = pa.table({"id": [1] * 5000 + list(range(2, 400)), "x": [1e6] * 5000 + [5.0] * 398})
    s = open_curator(
        table,
        unit=dp.person("id", rows=1),
        budget=dp.epsilon(9),
        schema=dp.Schema(columns={"x": dp.column("float")}),
    )
    assert s.bounds("x", spend=SPEND) == (4, 8)


@pytest.mark.parametrize("rows", [1, 1_000, 20_000, 1_000_000])
def test_bounds_of_people_with_very_many_rows_are_not_those_of_noise(rows):
    """Noise alone passes in one of a million searches, whatever the numbers are released as."""
    few = pa.table({"id": list(range(10)), "x": [1e6] * 10})
    s = open_curator(
        few,
        unit=dp.person("id", rows=rows),
        budget=dp.epsilon(9e9),
        schema=dp.Schema(columns={"x": dp.column("float")}),
    )
    assert s.bounds("x", spend=SPEND) == (-(2.0**-32), 2.0**-32)
    assert s.bounds("x", spend=dp.epsilon(100 * rows)) == (2.0**19, 2.0**20)


@pytest.mark.parametrize("spend", [dp.epsilon(0.05), dp.rho(0.001)], ids=repr)
@pytest.mark.parametrize("numbers", [[], [7.0] * 9, [1e12, -3.0]], ids=["none", "few", "far"])
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("id", rows=10)], ids=str)
def test_a_search_that_finds_no_bounds_says_so(numbers, unit, spend):
    ids = pa.array(range(len(numbers)), pa.int64())
    table = pa.table({"id": ids, "x": pa.array(numbers, pa.float64())})
    schema = dp.Schema(columns={"x": dp.column("float"), "id": dp.column("int")})
    budget = dp.rho(1) if isinstance(spend, dp.Zcdp) else dp.epsilon(9)
    s = open_curator(table, unit=unit, budget=budget, schema=schema)
    found = s.bounds("x", spend=spend)
    low, high = found
    assert low == -high
    assert found.note.startswith("no bounds were found at ")
    assert found.note.endswith("spend more, or state plausible bounds")
    assert str(found) == f"({low!r}, {high!r}): {found.note}"
    for name in ("mean", "sum", "std", "median", "histogram"):
        answer = getattr(s, name)("x", spend=spend, bounds="auto")
        told = [a.estimand for a in answer.answers.values()]
        assert all(each.startswith("means nothing, because no bounds were found") for each in told)
        assert "means nothing, because no bounds were found" in str(answer)
        assert "bounds found" not in str(answer).replace("no bounds found", "")


def test_bounds_that_are_found_near_zero_are_bounds():
    table = pa.table({"x": np.zeros(20_000)})
    s = open_curator(table, unit=dp.rows(), budget=dp.epsilon(9))
    found = s.bounds("x", spend=SPEND)
    assert not found.note
    assert str(found) == str((-(2.0**-32), 2.0**-32))
    assert "means nothing" not in str(s.mean("x", spend=SPEND, bounds="auto"))


@given(x=st.floats(-(2.0**70), 2.0**70) | st.none())
def test_every_number_has_one_magnitude_and_what_is_missing_has_none(x):
    edges = magnitudes().edges
    column = Column(name="x", domain=Domain(kind=Kind.FLOAT))
    place = evaluate(bucket(column, edges), {"x": x})
    if x is None:
        assert place is None
        return
    assert [place] == magnitudes().encode([x]).tolist()
    inside = min(max(x, edges[0]), edges[-1])
    assert edges[place] <= inside <= edges[place + 1]


def test_mistakes_are_told_before_anything_is_spent(session):
    before = len(session.ledger.entries)
    with pytest.raises(UnknownName, match="did you mean `age`"):
        session.mean("agee", spend=SPEND)
    with pytest.raises(BadParameter, match="only numbers have bounds"):
        session.bounds("occupation", spend=SPEND)
    with pytest.raises(BadParameter):
        session.quantile("age", 1.5, spend=SPEND)
    with pytest.raises(BadParameter, match="auto"):
        session.mean("age", within=3, size=100, bounds="auto")
    with pytest.raises(BadParameter, match="twice"):
        session.count(by=["sex", "sex"], spend=SPEND)
    with pytest.raises(BadParameter):
        session.top_k("sex", k=0, spend=SPEND)
    with pytest.raises(BadParameter):
        session.sql(3)
    assert len(session.ledger.entries) == before
