"""Where an answer came from: records that JSON holds, and the remark on a repeated answer."""

import json
from types import MappingProxyType

import pytest

from deniable.release import Provenance

MADE = {"question": "how many", "table": "visits", "time": "2026-11-18T05:00:00+00:00"}


def test_a_record_is_plain_whatever_it_was_made_of():
    held = MappingProxyType({"epsilon": 0.5})
    made = Provenance(
        **MADE, price=held, budget=held, bounds=held, entries=("ab", "cd"), noise=("±",)
    )
    record = made.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert {type(record[name]) for name in ("price", "budget", "bounds")} == {dict}
    again = Provenance.from_dict(record)
    assert again == made
    assert (again.entries, again.noise) == (("ab", "cd"), ("±",))
    assert Provenance.from_dict(record | {"added later": 1}) == made


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("", "stored answer from 2026-11-18, not recomputed; the data may have changed since then"),
        ("7", "stored answer from 2026-11-18 about data version 7, not recomputed"),
    ],
)
def test_a_repeated_answer_says_when_and_about_which_data(version, said):
    assert Provenance(**MADE, data_version=version).before == said
