"""Repeatable words exist in tests, and nowhere else."""

import numpy as np
import pytest

from deniable.errors import BadParameter, SeedOutsideTests
from deniable.sampling import SeededSource


def test_seeded_words_repeat_and_differ_between_seeds():
    first, second = SeededSource(5), SeededSource(5)
    parts = np.concatenate([first.words(count) for count in (1, 5000, 0, 77, 4096)])
    assert (parts == second.words(parts.size)).all()
    assert not (SeededSource(6).words(100) == parts[:100]).any()
    assert np.unique(parts).size == parts.size


@pytest.mark.parametrize("setting", [None, "", "0", "true"])
def test_a_seed_is_refused_outside_tests(setting, monkeypatch):
    monkeypatch.delenv("DENIABLE_TESTING", raising=False)
    if setting is not None:
        monkeypatch.setenv("DENIABLE_TESTING", setting)
    with pytest.raises(SeedOutsideTests) as caught:
        SeededSource(1)
    assert "subtract the noise" in caught.value.why
    assert "DENIABLE_TESTING=1" in caught.value.fix


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(BadParameter, match="seed"):
        SeededSource(seed)
