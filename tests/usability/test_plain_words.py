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
    assert "m: its rank is off by at most" in plan


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
