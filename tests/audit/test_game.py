"""The adaptive experiment: who plays, who is caught, and what the numbers mean."""

import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.audit import game
from deniable.errors import BadParameter


def noisy(scale, seed=1):
    rng = np.random.default_rng(seed)
    return lambda rows: len(rows) + rng.laplace(scale=scale)


def averaging(ask, times):
    """Asks the same count again and guesses by the mean."""

    def adversary():
        total = 0.0
        for _ in range(times):
            total += yield ask, [7] * 10, [7] * 11
        return total / times > 10.5

    return adversary


def test_composition_that_is_paid_for_is_not_refuted():
    """Five answers at ε = 0.2 each are ε = 1 in all; false alarms: 1e-6."""
    found = game(averaging(noisy(5.0), 5), epsilon=1.0, rounds=2000, confidence=1 - 1e-6)
    assert not found.violated
    assert found.advantage_lower <= found.advantage_bound == pytest.approx(math.tanh(0.5))
    assert "the claim allows 0.462" in str(found)


def test_composition_that_is_not_paid_for_is_refuted():
    found = game(averaging(noisy(1.0), 12), epsilon=1.0, rounds=1000, confidence=1 - 1e-6)
    assert found.violated
    assert found.epsilon_lower > 1
    assert found.advantage >= found.advantage_lower > found.advantage_bound


def test_later_questions_and_tables_may_depend_on_earlier_answers():
    """Reads a secret bit by bit: each pair of tables is chosen after the last answer."""
    seen = []

    def ask(rows):
        return sum(rows)  # exact: no privacy at all

    def adversary():
        first = yield ask, [0], [1]
        second = yield ask, [first, 0], [first, 1]
        seen.append((first, second))
        return second - first

    found = game(adversary, epsilon=2.0, rounds=600)
    assert found.violated
    assert found.advantage == 1
    assert set(seen) == {(0, 0), (1, 2)}


def test_a_session_may_take_the_place_of_data():
    """The budget covers all that is asked of one session: an exceeded budget is an answer, too."""
    tables = [pd.DataFrame({"x": [1] * n}) for n in (10, 11)]

    def ask(session):
        return session.count(spend=dp.epsilon(0.5)).value

    def adversary():
        sessions = [
            dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0), name="t") for table in tables
        ]
        answers = []
        for _ in range(4):
            answer = yield ask, *sessions
            answers += [answer] if isinstance(answer, float | int) else []
        return np.mean(answers) > 10.5

    found = game(adversary, epsilon=1.0, rounds=20, confidence=1 - 1e-6)
    assert not found.violated


def test_errors_are_answers():
    def ask(rows):
        return 1 / (len(rows) - 11)

    def adversary():
        return isinstance((yield ask, [7] * 10, [7] * 11), ZeroDivisionError)

    assert game(adversary, epsilon=1.0, rounds=100).advantage == 1


def test_delta_is_allowed_for():
    """Reveals the bit with probability 0.05: (0, 0.05)-private, and not (0, 0.01)-private."""
    rng = np.random.default_rng(2)

    def ask(bit):
        return bit if rng.random() < 0.05 else None

    def adversary():
        return (yield ask, 0, 1) == 1

    options = {"rounds": 10_000, "confidence": 1 - 1e-6}
    assert not game(adversary, epsilon=0.0, delta=0.05, **options).violated
    assert game(adversary, epsilon=0.0, delta=0.01, **options).violated


def test_guessing_has_no_advantage():
    rng = np.random.default_rng(3)

    def adversary():
        yield len, [], [1]
        return int(rng.integers(2))

    found = game(adversary, epsilon=0.0, rounds=2000, confidence=1 - 1e-6)
    assert not found.violated
    assert abs(found.advantage) < 0.12  # 5.3 standard deviations
    assert found.advantage_lower == 0


def asks_nothing():
    return 1
    yield


def guesses_two():
    yield len, [], [1]
    return 2


def asks_wrongly():
    yield len
    return 1


@pytest.mark.parametrize(
    "adversary", [lambda: 1, 7, guesses_two, asks_wrongly], ids=["plain", "number", "2", "one"]
)
def test_what_is_not_an_adversary_is_refused(adversary):
    with pytest.raises(BadParameter):
        game(adversary, epsilon=1.0, rounds=20)


def test_an_adversary_may_ask_nothing():
    assert game(asks_nothing, epsilon=1.0, rounds=20).advantage == 0
