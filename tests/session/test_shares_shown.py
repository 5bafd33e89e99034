"""A curator is told where the budget went that is neither spent nor left."""

import pytest

import deniable as dp


def test_what_is_reserved_explains_why_spent_and_left_are_not_the_budget():
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(3.0))
    assert "shares" not in str(s)
    s.ledger.share("bob", amount=dp.epsilon(1.0))
    s.for_("bob").count(spend=dp.epsilon(0.25))
    assert 'reserved  bob ε 1 (ε 0.25 spent); not included in "left"' in str(s)
    assert "bob ε 1 (ε 0.25 spent)" in s._repr_html_()
    with pytest.raises(dp.BudgetExceeded) as caught:
        s.count(spend=dp.epsilon(2.5))
    assert "is ε 3; reserved as shares: bob ε 1 (ε 0.25 spent)" in str(caught.value)
    with pytest.raises(dp.BudgetExceeded) as caught:
        s.for_("bob").count(spend=dp.epsilon(0.8))
    assert "reserved:" not in str(caught.value)
