"""A few approximate events against many histories."""

import numpy as np
import pytest

from deniable.attacks import histories, near
from deniable.errors import BadParameter, UnknownName

RULES = ["item", near("value", within=1), near("day", within=14)]


def ratings(people=2000, items=3000, each=30, seed=4):
    """Ratings of films by popularity, with dates."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, items + 1)
    who = np.repeat(np.arange(people), each)
    item = rng.choice(items, who.size, p=popular / popular.sum())
    return {"user": who, "item": item, "value": rng.integers(1, 6, who.size),
            "day": rng.integers(0, 2000, who.size)}  # fmt: skip


def glimpses(table, people, events=8, wrong=2, seed=5):
    """Some events of each person, values and dates roughly, a few of them invented."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in people:
        own = np.flatnonzero(table["user"] == person)
        rows += rng.choice(own, events, replace=False).tolist()
    rows = np.array(rows)
    known = {name: values[rows].copy() for name, values in table.items()}
    known["value"] += rng.integers(-1, 2, rows.size)
    known["day"] += rng.integers(-14, 15, rows.size)
    false = np.arange(rows.size) % events < wrong
    known["item"][false] = rng.integers(0, 3000, int(false.sum()))
    return known


def test_eight_rough_events_two_of_them_wrong_find_nearly_everyone():
    table = ratings()
    targets = list(range(100))
    known = glimpses(table, targets)
    strangers = glimpses(ratings(people=100, seed=77), range(100), seed=6)
    found = histories(
        known, table, unit="user", on=RULES, truth={who: who for who in targets},
        controls=strangers,
    )  # fmt: skip
    assert found.matched.sum() > 90
    assert found.correct == found.matched.sum()
    assert found.rate == found.matched.mean()
    assert found.controls[0] <= 2
    assert "people who are not in it are matched" in str(found)


def test_a_margin_trades_matches_for_false_matches():
    table = ratings()
    strangers = glimpses(ratings(people=200, seed=78), range(200), seed=7)
    known = glimpses(table, range(50))
    loose, strict = (
        histories(known, table, unit="user", on=RULES, margin=margin, controls=strangers)
        for margin in (0.0, 0.25)
    )
    assert strict.controls[0] < loose.controls[0]
    assert strict.controls[0] <= 0.02 * strict.controls[1]
    assert strict.matched.sum() <= loose.matched.sum()


def test_rare_events_count_more_than_common_ones():
    """Person 0 shares two films that everybody saw; person 1 one film that nobody else saw."""
    crowd = 50
    table = {"user": [*range(crowd), *range(2, crowd), 0, 1], "item": ["x"] * crowd
             + ["y"] * (crowd - 2) + ["y", "rare"]}  # fmt: skip
    found = histories({"user": ["?"] * 2, "item": ["x", "rare"]}, table, unit="user", on=["item"])
    assert found.best == (1,)


def test_nobody_is_matched_without_a_single_event_in_common():
    table = {"user": [1, 2], "item": ["a", "b"]}
    found = histories({"who": ["Ada"], "item": ["z"]}, table, unit="user", name="who", on=["item"])
    assert not found.matched.any()


@pytest.mark.parametrize(
    ("options", "error"),
    [({"on": [near("day", within=1)]}, BadParameter), ({"on": []}, BadParameter),
     ({"unit": "usr"}, UnknownName), ({"margin": -1}, BadParameter)],
)  # fmt: skip
def test_what_does_not_fit_is_refused(options, error):
    table = {"user": [1], "item": ["a"], "day": [3]}
    with pytest.raises(error):
        histories(table, table, **({"unit": "user", "on": ["item"]} | options))
