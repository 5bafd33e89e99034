"""Small groups, differencing and averaging; and what a session leaves of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.attacks import averaging, defended, differencing, search_log, small_groups
from deniable.sampling.public import PublicRandom

SURE = 1 - 1e-7


@pytest.fixture(scope="module")
def people():
    return dp.load_adult(identifiers=True)


def test_two_sums_over_thousands_give_one_persons_age(people):
    ages = people["age"].to_numpy()
    target = people["name"].to_pylist().index("Noga Karore")
    everyone, others = int(ages.sum()), int(np.delete(ages, target).sum())
    assert everyone == 1_256_257
    found = differencing(everyone, others)
    assert (found.value, found.error, found.learned) == (39, 0, 1.0)
    assert "exactly 39" in str(found)


def test_a_session_leaves_nothing_of_differencing(people):
    ages = people["age"].to_numpy()
    for epsilon in (0.1, 1.0):
        found = defended.differencing(ages, person=0, low=0, high=125, epsilon=epsilon)
        # Each sum carries Laplace noise of scale 2·125/ε: the ± is beyond the whole range of ages.
        assert found.error > 125 / epsilon
        assert not found.learned or found.learned < 1
        assert "±" in found.explain()


def test_the_error_of_a_private_difference_covers(people):
    # 400 differences at 95 %: fewer than 340 covered has probability below 1e-12.
    ages = np.arange(20, 60)
    hits = 0
    for _ in range(400):
        found = defended.differencing(ages, person=3, low=0, high=125, epsilon=1.0)
        hits += abs(found.value - 23) <= found.error
    assert hits >= 340


def test_a_log_is_searched_for_pairs_and_for_everything_together():
    asked = np.ones((4, 6), dtype=bool)
    asked[1, 5] = False  # all but one
    asked[2, :3] = False  # half
    asked[3, 3:5] = False
    found = search_log(asked, few=2)
    assert (0, 1, (5,)) in found.pairs
    assert all(len(who) <= 2 for _, _, who in found.pairs)
    assert 5 in found.determined


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_determined_people_are_those_every_solution_agrees_on(questions, size, seed):
    asked = PublicRandom(seed).generator.integers(0, 2, (questions, size)).astype(bool)
    found = set(search_log(asked).determined.tolist())
    matrix = asked.astype(float)
    for person in range(size):
        unit = np.eye(size)[person]
        solution = np.linalg.lstsq(matrix.T, unit, rcond=None)[0]
        inside = np.allclose(matrix.T @ solution, unit, atol=1e-8)
        assert (person in found) == inside


def test_groups_of_one_give_their_value_away(people):
    found = small_groups(people, by=["native_country", "education"], value="age")
    assert found.alone > 50
    only = found.keys[0]
    table = people.to_pandas()
    mine = table[(table.native_country == only[0]) & (table.education == only[1])]
    assert mine.age.tolist() == [found.values[0]]
    assert found.plot() is not None
    assert "contain only one" in found.explain()


def test_noisy_counts_do_not_tell_one_person_from_none(people):
    # False alarm: 1e-7 by the exact binomial bound.
    result = defended.small_groups(people, by=["age", "race", "education"], epsilon=1.0)
    assert result.epsilon_lower(SURE) <= 1.0
    assert result.auc < 0.85


def test_too_little_noise_for_small_groups_is_noticed(people):
    # The sabotaged twin: noise for ε = 5 under a claim of 1. Misses with probability below 1e-9.
    result = defended.small_groups(people, by=["age", "race", "education"], epsilon=5.0)
    assert result.epsilon_lower(SURE) > 1.0


def test_fresh_noise_averages_out():
    # The mean of 10,000 Laplace draws of scale 10 is off by 1 with probability below 1e-9 (7 sd).
    answers = 57 + PublicRandom(1).generator.laplace(scale=10, size=10_000)
    found = averaging(answers)
    assert abs(found.estimate - 57) < 1
    assert found.error == pytest.approx(1.96 * 10 * 2**0.5 / 100, rel=0.1)
    assert found.plot().get_xscale() == "log"


def test_a_session_repeats_itself_or_stops():
    same = defended.averaging(57, times=200, epsilon=1.0)
    assert (same.answers.size, same.fresh, same.error) == (200, 1, np.inf)
    assert "teaches nothing" in same.explain()
    reworded = defended.averaging(57, times=200, reworded=True, epsilon=1.0)
    assert reworded.answers.size == 1
    assert "nothing to average" in reworded.explain()


@pytest.mark.parametrize("answers", [[], [np.nan]])
def test_nothing_is_not_averaged(answers):
    with pytest.raises(dp.BadParameter):
        averaging(answers)


def test_a_log_that_is_no_table_is_refused():
    with pytest.raises(dp.BadParameter, match="one row per question"):
        search_log([True, False])
