"""Sentences that readers stumbled over, as they read now."""

import pyarrow as pa
import pytest

import deniable as dp

FACTS = dp.Schema(columns={"x": dp.bounds(0, 9, type="int"), "sex": dp.keys(["f", "m"])})


def opened(budget=1.0):
    table = pa.table({"x": [1, 2, 3], "sex": ["f", "m", "f"]})
    return dp.open(table, unit=dp.rows(), budget=dp.epsilon(budget), schema=FACTS)


def test_a_share_that_is_no_loss_names_the_parameter_that_was_given():
    with pytest.raises(dp.BadParameter, match="amount must be a loss") as told:
        opened().ledger.share("ann", amount=0.1)
    assert "amount=dp.epsilon(0.1)" in told.value.fix


def test_an_incomplete_query_is_told_without_the_words_of_the_parser():
    with pytest.raises(dp.UnsupportedQuery) as told:
        opened().sql("SELECT COUNT(*) FROM data WHERE x +")
    assert "incomplete" in str(told.value)
    assert "sqlglot" not in str(told.value)
    assert "class" not in str(told.value)


def test_one_error_for_every_answer_is_no_range():
    plan = str(opened().marginals(["sex"], ways=1).explain(spend=dp.epsilon(0.5)))
    assert "for every answer (95 % confidence)" in plan
    assert "from" not in plan.partition("±")[2].partition("(95 %")[0]


def test_one_marginal_is_singular():
    plan = str(opened().synthesis(["sex"], method="tree").explain(spend=dp.epsilon(0.5)))
    assert "1 marginals" not in plan


def test_a_rank_is_off_by_at_most_so_many_rows():
    plan = str(opened().sql("SELECT MEDIAN(x) AS m FROM data").explain(spend=dp.epsilon(0.5)))
    assert "m: noise can move the answer by up to" in plan
    assert "100 %" not in plan.partition("m: noise")[2]


def test_what_is_true_of_a_whole_answer_is_said_once():
    s = dp.open(
        pa.table({"x": [1, 2], "id": [1, 2]}),
        unit=dp.person("id", rows=2),
        budget=dp.epsilon(1),
        schema=dp.Schema(columns={"x": dp.bounds(1, 9)}),
    )
    q = s.sql("SELECT SUM(x) / COUNT(*) AS a FROM data")
    assert str(q.explain(spend=dp.epsilon(0.5))).count("compute a from") == 1
    said = q.release(spend=dp.epsilon(0.5)).answers["a"].estimand
    assert said.count("counts as 2 rows") == 1


def test_the_steps_of_a_join_are_in_the_order_in_which_they_are_done():
    table = pa.table({"x": [1], "id": [1]})
    given = {"unit": dp.person("id", rows=2), "budget": dp.epsilon(1)}
    q = dp.open({"a": table, "b": table}, **given).sql(
        "SELECT COUNT(*) AS n FROM a JOIN b USING (id) WHERE a.x > 0"
    )
    _, first, second, third, *_ = q.explain(spend=dp.epsilon(0.5)).steps
    assert first.startswith("before the join, each table keeps at most 10,000 rows per person")
    assert second == "inner join with b on the same person"
    assert third.startswith("filter ")
    codes = dp.Schema(columns={"x": dp.column("int")}, public=True)
    sources = {"codes": pa.table({"x": [1]}), "a": table, "b": table}
    q = dp.open(sources, **given, schema={"codes": codes}).sql(
        "SELECT COUNT(*) AS n FROM a JOIN codes USING (x) JOIN b USING (id)"
    )
    _, public, limits, private, *_ = q.explain(spend=dp.epsilon(0.5)).steps
    assert "with codes" in public
    assert limits == first
    assert private == second


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT COUNT(* FROM data", "a `)` is missing before this"),
        ("DROP TABLE data", "it cannot change data or list tables"),
        ("SELECT COUNT(*) FROM data; SELECT 1", "this text contains more than one query"),
    ],
)
def test_a_text_that_is_no_single_query_is_told_why_in_plain_words(text, said):
    with pytest.raises(dp.UnsupportedQuery) as told:
        opened().sql(text)
    assert said in str(told.value)


def test_a_call_without_an_amount_names_both_ways_to_state_one():
    with pytest.raises(dp.BadParameter, match="how much to spend, or how large the ±") as told:
        opened().count()
    assert [fix.python for fix in told.value.fixes] == ["spend=dp.epsilon(0.1)", "within=100"]


def test_a_ledger_of_another_unit_shows_both_units_as_they_are_typed(tmp_path):
    table, path = pa.table({"who": [1]}), tmp_path / "a.db"
    dp.open(table, unit=dp.rows(), budget=dp.epsilon(1), ledger=path)
    with pytest.raises(dp.UnitMismatch) as told:
        dp.open(table, unit=dp.person("who", rows=3), budget=dp.epsilon(1), ledger=path)
    assert "opened with unit=dp.rows(); you gave unit=dp.person('who', rows=3)" in str(told.value)
