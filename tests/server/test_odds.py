"""The page says what a loss means for one person, and a client what is left, as a session does."""

import deniable as dp
from deniable.release import Plan
from deniable.release.numbers import meaning
from deniable.server import wire
from deniable.server.client.client import Client
from deniable.server.pages.asking import priced


def test_a_priced_question_states_the_odds_in_words():
    plan = Plan(question="how many?", cost=dp.epsilon(1.0), errors={"n": 3.0}, notes=("more",))
    first, *others = priced(wire.plan_to_dict(plan))["notes"]
    assert meaning(dp.epsilon(1.0)) in first
    assert "74 %" in first
    assert others == ["more"]


def test_what_is_left_for_a_client_prints_rounded_down():
    class Standing:
        def _standing(self, name):
            return dp.epsilon(0.45678)

    assert str(Client.left.fget(Standing())) == "ε = 0.456"
