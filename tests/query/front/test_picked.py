"""Groups that noisy values pick are told apart from those that public facts pick."""

import pytest

from deniable.query.integers import in_integers

from .front_tables import ask

ASKED = "SELECT sex, COUNT(*) AS n, AVG(wage) AS w FROM people GROUP BY sex"
PICKED = {
    "": False,
    "ORDER BY n": False,
    "ORDER BY sex LIMIT 1": False,
    "ORDER BY sex LIMIT 1 OFFSET 1": False,
    "ORDER BY n LIMIT 1": True,
    "ORDER BY n, sex LIMIT 1": True,
    "ORDER BY sex, n LIMIT 1": True,
    "ORDER BY w DESC OFFSET 1": True,
    "HAVING COUNT(*) > 5": True,
    "HAVING COUNT(*) > 5 ORDER BY sex LIMIT 1": True,
    "HAVING sex = 'f' ORDER BY w LIMIT 1": True,
    "HAVING sex = 'f' ORDER BY w": False,
}


@pytest.mark.parametrize("rest", PICKED)
def test_noise_picks_where_a_noisy_value_decides_what_is_shown(rest):
    assert in_integers(ask(f"{ASKED} {rest}")).picked == PICKED[rest]
