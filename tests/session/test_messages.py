"""The commonest mistakes, and the whole text that each is answered with."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DeniableError, MissingRule
from deniable.mechanisms.numbers import Laplace
from deniable.schema import Schema, bounds
from deniable.session import open as open_session

DATA = pa.table({"income": [1.0], "user_id": [1]})


def told(mistake):
    with pytest.raises(DeniableError) as caught:
        mistake()
    return str(caught.value)


def opened(**options):
    return open_session(DATA, **{"unit": dp.rows(), "budget": dp.epsilon(0.5)} | options)


def test_a_budget_that_is_a_bare_number():
    assert told(lambda: opened(budget=3)) == (
        "error[DP111]: budget must be a privacy loss; you gave 3\n  fix:  budget=dp.epsilon(3)"
    )


def test_a_delta_that_is_too_large_for_so_many_people():
    schema = Schema(size=2_000_000)
    text = told(lambda: opened(budget=dp.epsilon(1, delta=1e-4), schema=schema))
    assert text.startswith("error[DP110]: with δ = 0.0001, publishing 1 in 10,000 people's rows")
    assert "  fix:  delta=5e-08    (the schema says about 2,000,000 people)" in text


def test_nobody_said_whom_to_protect():
    assert told(lambda: opened(unit=None, name="visits")) == (
        "error[DP130]: no privacy unit was given for `visits`\n"
        "  why:  the data do not show which rows belong to the same person\n"
        '  fix:  unit=dp.person("user_id", rows=10)    each person counts as at most 10 rows\n'
        "        unit=dp.rows()                        only if every person has exactly one row\n"
        "  hint: columns: income, user_id"
    )


def test_a_column_that_is_not_there():
    text = told(lambda: opened(schema=Schema(columns={"incom": bounds(0, 1)})))
    assert text.startswith("error[DP320]: `data` has no column `incom`; did you mean `income`?")


def test_missing_values_without_a_rule():
    text = str(MissingRule.of("income", table="data", type="float"))
    assert 'fix:  schema=dp.Schema(columns={"income": dp.column("float", missing="drop")})' in text
    assert "the data were not read" in text


def test_two_currencies():
    assert told(lambda: opened().spending(dp.rho(0.02))) == (
        "error[DP210]: this session's budget is in ε, and you tried to spend ρ\n"
        "  why:  losses add up only within one definition of privacy\n"
        "  fix:  spend=dp.epsilon(0.05)    a tenth of what is left"
    )


def test_nothing_for_nothing():
    text = told(lambda: opened().spending(dp.epsilon(0)))
    assert "spend must be above 0: every answer costs something" in text


@pytest.mark.parametrize("spend", [0.5, "0.5", -1, None])
def test_a_spend_that_is_no_loss(spend):
    assert "spend=dp.epsilon(" in told(lambda: opened().spending(spend))


def test_the_budget_is_gone():
    session = opened()
    step = Laplace(scale=3.0).on(dp.Sensitive(lambda: 1, l1=1))
    session.release(step)
    text = told(lambda: session.release(step))
    assert text.startswith("error[DP201]")
    assert "0.33" in text
    assert "nothing was spent" in text


def test_a_value_without_bounds_for_its_unit():
    step = Laplace(scale=3.0).on(dp.Sensitive(lambda: 1, l1=1, unit=dp.person("user_id", rows=3)))
    text = told(lambda: opened().release(step))
    assert "any one person (user_id; counted as at most 3 rows), added or removed" in text
    assert "the session protects one row, added or removed" in text


def test_something_failed_on_the_data():
    step = Laplace(scale=3.0).on(dp.Sensitive(lambda: 1 / 0, l1=1))
    assert told(lambda: opened().release(step)) == (
        "error[DP601]: something failed while the data were read\n"
        "  why:  the cause may depend on people's values, so only the curator sees it; "
        "queries are refused until the curator has looked\n"
        "  fix:  the curator reads the cause in print(s.failures), then calls s.resume()\n"
        "        or, in a terminal: deniable ledger resume\n"
        "  cost: ε 0.334 was spent"
    )


def test_a_ceiling_that_promises_next_to_nothing_is_said_to_do_so():
    large = dp.open(pa.table({"x": [1.0]}), unit=dp.rows(), budget=dp.epsilon(50.0))
    assert "note[DP112]: ε = 50 lets an observer's odds" in repr(large)
    assert "DP112" in large._repr_html_()
    usual = dp.open(pa.table({"x": [1.0]}), unit=dp.rows(), budget=dp.epsilon(3.0))
    assert "DP112" not in repr(usual)
