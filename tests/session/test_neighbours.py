"""For whom a price is proved, and when nothing may be asked."""

import pytest
from tests.session.opened import EIGHTH, secret, session

import deniable as dp
from deniable.errors import (
    DataFailure,
    UnitMismatch,
)
from deniable.mechanisms import Exponential, Mechanism, Step
from deniable.mechanisms.combine import Parallel, SampledWithoutReplacement
from deniable.mechanisms.streams import SparseVector
from deniable.session.asked import check_proved


def test_nothing_is_asked_while_a_value_is_computed():
    """Whether it is asked, and what, would depend on rows; and the ledger would show it."""
    s = session()
    handle = s.open(4 * EIGHTH)
    inner = [lambda: s.release(EIGHTH.on(secret(1))), lambda: s.release(handle.on(secret(1)))]
    for ask in inner:
        before = s.spent
        with pytest.raises(DataFailure):
            s.release(EIGHTH.on(dp.Sensitive(lambda ask=ask: ask().value, l1=1)))
        assert s.spent == before + dp.epsilon(0.125)
        assert "while a value is computed" in s.failures[-1].detail
        s.resume()


REPLACE = dp.rows(relation="replace")


@pytest.mark.parametrize(
    ("mechanism", "unit"),
    [
        (EIGHTH.sampled(rate=0.1), REPLACE),
        (3 * EIGHTH.sampled(rate=0.1), REPLACE),
        (EIGHTH.sampled(rate=0.1, relation="replace"), dp.rows()),
        (SampledWithoutReplacement(of=EIGHTH, size=1, population=9), dp.rows()),
        (Exponential(epsilon=1.0, monotonic=True), REPLACE),
        (SparseVector(epsilon=1.0, answers=1, monotonic=True, threshold=0.0), REPLACE),
        (Parallel(parts=(EIGHTH, EIGHTH), unit=dp.rows()), REPLACE),
        (Parallel(parts=(EIGHTH, EIGHTH), unit=REPLACE), dp.rows()),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_a_price_holds_only_for_the_neighbours_it_was_proved_for(mechanism, unit):
    with pytest.raises(UnitMismatch, match="proved private for"):
        check_proved(mechanism, unit)
    other = dp.rows() if unit == REPLACE else REPLACE
    check_proved(mechanism, other)
    s = session(unit=unit)
    form = 1 if mechanism.name in ("exponential", "sparse_vector") else None
    with pytest.raises(UnitMismatch):
        s.release(Step(mechanism, secret([1.0], shape=form)))
    assert s.spent == dp.epsilon(0)


def test_every_mechanism_that_assumes_a_relation_is_known_to_do_so():
    """A docstring that says what becomes of units must have its line in the table."""
    words = {"units are replaced": "replace", "units are added or removed": "add_remove"}
    for name, kind in Mechanism.registry.items():
        text = " ".join((kind.__doc__ or "").split())
        for phrase, relation in words.items():
            if phrase in text:
                chosen = "neighbours" in getattr(kind, "__dataclass_fields__", {})
                assert chosen or kind.relation == relation, name


# ---- a statistic of a sample


def test_a_statistic_is_asked_about_the_rows_of_a_sample():
    s = session(dp.epsilon(500.0))
    rows = dp.Sensitive(lambda: [5] * 400, l1=1, whole=True, statistic=lambda drawn: drawn.max())
    release = s.release(dp.Laplace(scale=0.01).sampled(rate=0.9).on(rows))
    assert release.value == 5  # false alarm: e^(−50), of the noise


@pytest.mark.parametrize("opened", [False, True], ids=["at once", "opened"])
def test_a_statistic_needs_a_sample_and_nothing_is_charged_without_one(opened):
    s = session()
    mechanism = dp.Laplace(scale=1.0)
    asked = s.open(2 * mechanism) if opened else mechanism
    spent = s.spent
    with pytest.raises(dp.BadParameter, match="needs a sampled mechanism"):
        s.release(asked.on(dp.Sensitive(lambda: [1, 2, 3], l1=1, statistic=max)))
    assert s.spent == spent


@pytest.mark.parametrize("opened", [False, True], ids=["at once", "opened"])
@pytest.mark.parametrize(
    ("unit", "entries", "right"),
    [
        (dp.rows(), None, True),
        (dp.rows(), 1, True),
        (dp.rows(), 2, False),
        (dp.person("id", rows=1), None, False),  # so few count, and each of them may be drawn
        (dp.person("id", rows=1), 1, True),
        (dp.person("id", rows=2), None, False),
        (dp.person("id", rows=2), 2, False),
        (dp.person("id", rows=2), 1, True),
    ],
    ids=str,
)
def test_a_sample_is_drawn_of_values_with_one_row_for_each_unit(unit, entries, right, opened):
    """Of fifty rows one is drawn far more often than the price says that a unit is."""
    s = session(dp.epsilon(9.0), unit=unit)
    mechanism = dp.Laplace(scale=1.0).sampled(rate=0.1)
    asked = s.open(2 * mechanism) if opened else mechanism
    spent = s.spent
    value = dp.Sensitive(
        lambda: [1] * 50, l1=1, whole=True, statistic=lambda drawn: len(drawn) > 0, entries=entries
    )
    if right:
        assert isinstance(s.release(asked.on(value)).value, int)
        return
    with pytest.raises(dp.SensitivityMismatch, match="of the rows"):
        s.release(asked.on(value))
    assert s.spent == spent


def test_a_pair_is_not_read_as_rows_and_a_function():
    """What a value means is declared; a tuple that happens to hold a function is not numbers."""
    s = session()
    pair = dp.Sensitive(lambda: ([1, 2, 3], sum), l1=1)
    with pytest.raises(DataFailure):
        s.release(dp.Laplace(scale=1.0).sampled(rate=0.5).on(pair))
