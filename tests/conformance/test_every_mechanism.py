"""What every mechanism must do, whoever wrote it. The examples are in examples/.

Each statistical test alarms falsely with probability below 1e-8, the suite with below 1e-6.
"""

import dataclasses
import json
import math

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable import losses
from deniable.audit import audit
from deniable.mechanisms import Mechanism
from deniable.sampling.source import Source, using

ALARM = 1e-9
KINDS = [losses.Pure, losses.Approx, losses.Zcdp, losses.Gdp, losses.Renyi, losses.Profile]
HEADINGS = ["Releases", "Privacy", "Error", "Assumes", "Numerics"]


class NothingDrawn(Source):
    """Fails the test if anything is drawn."""

    def words(self, count):
        raise AssertionError("randomness was drawn")


def test_every_mechanism_has_an_example(table):
    ours = {n for n, c in Mechanism.registry.items() if c.__module__.startswith("deniable.")}
    assert ours == set(table)
    assert all(e.mechanism.name == name for name, e in table.items())


def test_the_record_reads_back_as_the_same_mechanism(example):
    record = json.loads(json.dumps(example.mechanism.to_dict()))
    again = Mechanism.from_dict(record)
    assert again == example.mechanism
    assert again.to_dict() == example.mechanism.to_dict()


def test_the_docstring_has_the_headings(example):
    lines = type(example.mechanism).__doc__.split("\n")
    seen = [line.split()[0] for line in lines if line[:4] == "    " and line[4:5].isalpha()]
    assert [word for word in seen if word in HEADINGS] == HEADINGS


def fit(answers, law) -> float:
    """The p-value of the answers, in cells that expect at least 25 of them."""
    points, below = law
    expected, seen, last = [], [], (0.0, 0.0)
    empirical = np.searchsorted(np.sort(answers), points + 1e-12 * np.abs(points), side="right")
    for chance, count in zip(below, empirical / len(answers), strict=True):
        if min(chance - last[0], 1 - chance) * len(answers) >= 25:
            expected.append(chance - last[0])
            seen.append(count - last[1])
            last = (chance, count)
    expected.append(1 - last[0])
    seen.append(1 - last[1])
    assert len(expected) >= 2
    return goodness.cells(np.rint(np.array(seen) * len(answers)), expected)


@pytest.mark.statistical
def test_the_sampler_has_its_law(example):
    answers = example.ask(example.mechanism, example.first, example.draws)
    assert fit(answers, example.law(example.mechanism)) > ALARM


@pytest.mark.statistical
def test_the_same_test_catches_the_twin_with_a_fault(example):
    assert type(example.twin) is type(example.mechanism)
    answers = example.ask(example.twin, example.first, example.draws)
    assert fit(answers, example.law(example.mechanism)) < ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_stated_error_covers(erring, confidence):
    answers = erring.ask(erring.mechanism, erring.first, erring.draws)
    reach = erring.error(erring.mechanism, confidence)
    covered = int(np.count_nonzero(np.abs(answers - erring.truth) <= reach * (1 + 1e-12)))
    assert goodness.covered(covered, len(answers), confidence) > ALARM


def prices(mechanism) -> dict[type, losses.Loss]:
    """The mechanism's loss in every kind in which one is proved."""
    found = {}
    for kind in KINDS:
        try:
            found[kind] = mechanism.loss(kind)
        except dp.NoBound:
            continue
    return found


def test_n_times_costs_what_n_cost(example):
    m = example.mechanism
    one, three, sum_of_three = prices(m), prices(3 * m), prices(m + m + m)
    assert one
    assert one.keys() == three.keys() == sum_of_three.keys()
    for kind, loss in one.items():
        assert three[kind] == 3 * loss == sum_of_three[kind]
    assert (3 * m).pure() >= m.pure() * 3 * (1 - 1e-15)


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_a_weaker_definition_never_beats_the_stronger_it_follows_from(example, delta):
    m = example.mechanism
    tightest = m.epsilon_at(delta)
    assert tightest <= m.pure()
    assert tightest <= m.epsilon_at(delta / 10)
    for kind, loss in prices(m).items():
        if kind is not losses.Profile:
            assert loss.epsilon_at(delta) >= tightest * (1 - 1e-6), kind


def test_epsilon_and_delta_are_one_curve(example):
    m = example.mechanism
    epsilon = m.epsilon_at(1e-2)
    if math.isfinite(epsilon):
        assert m.delta_at(epsilon * (1 + 1e-6)) <= 1e-2 * (1 + 1e-3)


@pytest.mark.statistical
def test_the_auditor_finds_nothing(example):
    m = example.mechanism
    pure = m.pure()
    claim = {"epsilon": pure} if math.isfinite(pure) else {"loss": m.loss(losses.Profile)}
    verdict = audit(
        None,
        example.first,
        example.second,
        **claim,
        samples=min(example.draws, 2000),
        confidence=1 - 1e-8,
        batch=lambda value, n: example.ask(m, value, n),
    )
    assert not verdict.violated


def numeric_fields(mechanism) -> list[str]:
    return [f.name for f in dataclasses.fields(mechanism) if f.type in ("float", "int")]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0, -1, True, "1", None, [1.0]])
def test_bad_parameters_are_refused_before_anything_is_drawn(example, bad):
    for name in numeric_fields(example.mechanism):
        if name not in example.signed or bad not in (0, -1) or isinstance(bad, bool):
            with using(NothingDrawn()), pytest.raises(dp.BadParameter):
                dataclasses.replace(example.mechanism, **{name: bad})


def test_parameters_cannot_be_changed_afterwards(example):
    for field in dataclasses.fields(example.mechanism):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(example.mechanism, field.name, 1)
