"""What is asked of a session is checked by public facts; what it hands out says what it cost."""

import datetime as dt
from contextlib import contextmanager
from types import SimpleNamespace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import NOTHING_SPENT, UnitMismatch
from deniable.losses.filters import Price
from deniable.mechanisms import Step
from deniable.mechanisms.combine import Composed
from deniable.session import asked

TENTH, FIFTH = dp.Laplace(scale=10.0), dp.Laplace(scale=5.0)


def step(mechanism=TENTH, **declared):
    return mechanism.on(dp.Sensitive(lambda: 1.0, l1=1, **declared))


def test_steps_come_one_or_several_and_nothing_else():
    one, two = step(), step(FIFTH)
    assert asked.checked(one, unit=dp.rows()) == [one]
    assert asked.checked((one, two), unit=dp.rows()) == asked.checked([one, two], unit=dp.rows())
    for wrong in ([], ()):
        with pytest.raises(dp.BadParameter, match="empty list"):
            asked.checked(wrong, unit=dp.rows())
    for wrong in (5, [one, "two"], TENTH):
        with pytest.raises(dp.BadParameter, match="must be a step"):
            asked.checked(wrong, unit=dp.rows())


def test_a_step_made_by_hand_is_checked_like_any_other():
    by_hand = Step(mechanism=TENTH, value=dp.Sensitive(lambda: 1.0, l1=7))
    with pytest.raises(dp.DeniableError):
        asked.checked(by_hand, unit=dp.rows())
    with pytest.raises(dp.DeniableError):
        asked.checked(Step(mechanism=TENTH, value=3.0), unit=dp.rows())


def test_bounds_hold_for_the_unit_they_were_stated_for():
    stated = step(unit=dp.person("id", rows=2))
    assert asked.checked(stated, unit=dp.person("id", rows=2)) == [stated]
    for unit in (dp.rows(), dp.person("id", rows=3)):
        with pytest.raises(UnitMismatch, match="but the session protects"):
            asked.checked(stated, unit=unit)


def test_an_opened_mechanism_answers_one_step_at_a_time():
    table = pa.table({"a": [1]})
    session = dp.open(table, unit=dp.rows(), budget=dp.epsilon(9.0))
    handle = session.open(2 * TENTH)
    alone = handle.on(dp.Sensitive(lambda: 1.0, l1=1))
    assert asked.checked(alone, unit=dp.rows()) == [alone]
    with pytest.raises(dp.BadParameter, match="one step at a time"):
        asked.checked([alone, step()], unit=dp.rows())


def test_steps_are_charged_together_and_answered_in_the_kind_of_their_list():
    assert asked.together([step()]) is TENTH
    both = asked.together([step(), step(FIFTH)])
    assert both == Composed.of((TENTH, 1), (FIFTH, 1))
    assert asked.like((1, 2), [3, 4]) == (3, 4)
    assert asked.like([1, 2], [3, 4]) == [3, 4]


def test_one_step_has_a_column_and_several_have_one_each():
    keys, columns = asked.columns_of([step()])([5.0])
    assert (keys, columns["value"].cells) == ({}, (5.0,))
    keys, columns = asked.columns_of([step(), step(FIFTH)])([5.0, 6.0])
    assert {name: column.cells for name, column in columns.items()} == {
        "value_1": (5.0,), "value_2": (6.0,),
    }  # fmt: skip
    assert columns["value_1"].errors()[0] == pytest.approx(2 * columns["value_2"].errors()[0])


def test_what_values_need_is_entered_once_in_one_order_and_left():
    seen = []

    @contextmanager
    def need(name):
        seen.append(name)
        yield
        seen.append(f"{name} left")

    first, second = need("a"), need("b")
    values = [SimpleNamespace(ready=(first, second)), SimpleNamespace(ready=(second,))]
    with asked.made_ready([SimpleNamespace(value=value) for value in values]):
        assert sorted(seen) == ["a", "b"]
    assert sorted(seen[2:]) == ["a left", "b left"]
    assert seen[2] == f"{seen[1]} left"


@pytest.mark.parametrize(("loss", "said"), [(None, "nothing more"), (dp.epsilon(0.1), "ε 0.1")])
def test_an_error_after_a_charge_says_what_was_spent(loss, said):
    assert asked.cost(loss) == said
    with pytest.raises(dp.BadParameter) as told, asked.after_charge(loss):
        raise dp.BadParameter("no")
    assert told.value.cost == f"{said} was spent"


NOT_CHARGED, CHARGED = "this step was not charged", "this step: ε 0.5 was spent"
FILTER = SimpleNamespace(filter=SimpleNamespace(spent=lambda price: dp.epsilon(price.epsilon)))


@pytest.mark.parametrize(
    ("cost", "prices", "said"),
    [
        (NOTHING_SPENT, [], NOTHING_SPENT),
        (NOTHING_SPENT, [0.25], f"{NOT_CHARGED}; the step before it cost ε 0.25"),
        (
            NOTHING_SPENT,
            [0.25, 0.5],
            "this step was not charged; the 2 steps before it cost ε 0.75",
        ),
        ("ε 0.5 was spent", [0.5], "ε 0.5 was spent"),
        (
            "ε 0.5 was spent",
            [0.25, 0.5],
            "this step: ε 0.5 was spent; the step before it cost ε 0.25",
        ),
        (NOTHING_SPENT, [None, 0.5], f"{NOT_CHARGED}; the 2 steps before it cost ε 0.5"),
    ],
)
def test_an_error_that_ends_an_algorithm_says_what_its_earlier_steps_cost(cost, prices, said):
    error = dp.BadParameter("no", cost=cost)
    paid = [SimpleNamespace(price=p and Price(epsilon=p)) for p in prices]
    asked.tell_earlier(error, paid, ledger=FILTER)
    assert error.cost == said


def test_only_stated_bounds_and_keys_are_in_a_certificate():
    columns = {"age": dp.bounds(0, 9), "city": dp.keys(["a"]), "note": dp.column("text")}
    table = SimpleNamespace(name="t", columns=columns)
    assert list(asked._stated({"t": table})) == ["t.age", "t.city"]


@pytest.mark.parametrize("asker", [None, "ann"])
def test_an_asker_sees_a_name_for_the_line_and_the_curator_its_number(asker):
    halts = SimpleNamespace(resumptions=2, failures=3)
    ledger = SimpleNamespace(halts=lambda: halts, where="here")
    whole = SimpleNamespace(alias=lambda entry: "alias")
    session = SimpleNamespace(
        ledger=ledger, _ledger=whole, budget=dp.epsilon(1.0), tables={}, asker=asker
    )
    paid = SimpleNamespace(time=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), sequence=7, hash="hash")
    facts = asked.facts_of(session, paid)
    assert (facts["resumptions"], facts["failures"], facts["ledger"]) == (2, 3, "here")
    named = (facts["entry"], facts["entry_hash"])
    assert named == ((7, "hash") if asker is None else (None, "alias"))
    assert facts["time"] == "2026-01-02T00:00:00+00:00"
    unpaid = asked.facts_of(session, None)
    assert (unpaid["entry"], unpaid["entry_hash"], "time" in unpaid) == (None, "", False)


@pytest.mark.parametrize(("new", "said"), [(True, "ε 0.1"), (False, "nothing more")])
def test_a_stored_answer_that_cannot_be_shown_says_what_its_asker_paid_just_now(new, said):
    curator = dp.open(pa.table({"a": [1]}), unit=dp.rows(), budget=dp.epsilon(9.0))
    curator.ledger.share("ann", amount=dp.epsilon(1.0))
    curator.release(step(), question="q")
    hers, found = curator.for_("ann"), curator.fingerprint(TENTH, question="q")
    stored = [curator._ledger.recalled(found, asker="ann") for _ in range(2)][not new]
    assert stored.new == new
    shown = asked.given_again(hers, stored)
    assert (shown.free == "") == new
    assert shown.provenance.entry is None

    def fails():
        raise dp.LedgerFailure("the disk is gone")

    broken = SimpleNamespace(asker="ann", ledger=SimpleNamespace(halts=fails))
    with pytest.raises(dp.LedgerFailure, match="the disk is gone") as told:
        asked.given_again(broken, stored)
    assert told.value.cost == f"{said} was spent"


def part(**facts):
    """A mechanism with one part, of which these facts are stated."""
    held = {"priced_for": lambda: None, "draws_units": False} | facts
    inner = type("Part", (), {k: staticmethod(v) if callable(v) else v for k, v in held.items()})()
    return SimpleNamespace(within=lambda: [inner])


REPLACE, ADD = dp.rows(relation="replace"), dp.rows()


@pytest.mark.parametrize(
    ("facts", "unit", "proved"),
    [
        ({}, ADD, True),
        ({}, REPLACE, True),
        ({"unit": ADD}, ADD, True),
        ({"unit": REPLACE}, ADD, False),
        ({"unit": "of something else"}, ADD, True),
        ({"monotonic": True}, ADD, True),
        ({"monotonic": True}, REPLACE, False),
        ({"monotonic": False}, REPLACE, True),
        ({"priced_for": lambda: REPLACE.relation}, ADD, False),
        ({"priced_for": lambda: REPLACE.relation}, REPLACE, True),
        ({"priced_for": lambda: ADD.relation}, REPLACE, False),
    ],
)
def test_a_price_is_proved_for_the_neighbours_of_the_session(facts, unit, proved):
    if proved:
        asked.check_proved(part(**facts), unit)
    else:
        with pytest.raises(UnitMismatch, match="Part is proved private for") as refused:
            asked.check_proved(part(**facts), unit)
        fix = "monotonic=False" if "monotonic" in facts else "another mechanism"
        assert refused.value.fix == fix


def test_a_sample_is_proposed_for_the_relation_of_the_session():
    sampled = TENTH.sampled(rate=0.25, relation="replace")
    with pytest.raises(UnitMismatch) as refused:
        asked.check_proved(sampled, ADD)
    assert refused.value.fix == '.sampled(rate=0.25, relation="add_remove")'


@pytest.mark.parametrize(
    ("draws", "entries", "unit", "fine"),
    [
        (False, None, ADD, True),
        (False, 5, dp.person("id", rows=2), True),
        (True, None, ADD, True),
        (True, 1, ADD, True),
        (True, 2, ADD, False),
        (True, 1, dp.person("id", rows=2), True),
        (True, None, dp.person("id", rows=1), False),
        (True, 3, dp.person("id", rows=2), False),
    ],
)
def test_who_may_have_several_rows_is_not_sampled_row_by_row(draws, entries, unit, fine):
    value = dp.Sensitive(lambda: 1.0, l1=1, entries=entries)
    asking = SimpleNamespace(mechanism=part(draws_units=draws), value=value)
    if fine:
        asked.check_entries(asking, unit)
    else:
        with pytest.raises(dp.DeniableError, match="draws units"):
            asked.check_entries(asking, unit)


@pytest.mark.parametrize("draws", [True, False])
def test_a_statistic_is_asked_of_a_sample(draws):
    value = dp.Sensitive(lambda: [1.0], l1=1, statistic=sum)
    asking = SimpleNamespace(mechanism=part(draws_units=draws), value=value)
    if draws:
        asked.check_entries(asking, ADD)
    else:
        with pytest.raises(dp.BadParameter, match="needs a sampled mechanism"):
            asked.check_entries(asking, ADD)
