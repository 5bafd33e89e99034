"""What every mechanism must do in a session, through every legal `Sensitive`.

`test_every_mechanism` asks mechanisms directly, about one Python type each. That leaves out what a
session adds: the form of a value, the unit whose bound is declared, the relation, the ± beside the
answer. Here every mechanism goes through the door. As the noise is frozen, an answer that depended
on how a value is represented would differ in its bits: no statistics, no false alarms.
"""

import math
import warnings

import numpy as np
import pytest

import deniable as dp
from deniable import mechanisms as ms
from deniable.errors import BadParameter, DataFailure, SensitivityMismatch, UnitMismatch
from deniable.ledger import open_ledger
from deniable.mechanisms import Mechanism
from deniable.release import Release
from deniable.sampling import SeededSource
from deniable.sampling.source import using
from deniable.session import Session
from deniable.units import Relation

from .representations import representations

UNITS = [
    dp.rows(),
    dp.rows(relation="replace"),
    dp.person("id", rows=3),
    dp.person("id", rows=3, relation="replace"),
]


def session(unit=UNITS[0]) -> Session:
    budget = dp.Approx(1e4, delta=0.5)
    return Session(tables={}, schema=None, ledger=open_ledger(budget=budget, unit=unit))


def unit_for(example) -> dp.Unit:
    return UNITS[1] if example.mechanism.priced_for() is Relation.REPLACE else UNITS[0]


def value_of(example):
    return example.first if example.asked is None else example.asked


def sensitive(example, value, **changes):
    return dp.Sensitive(lambda: value, **(example.declared | changes))


def answered(example, value, **changes) -> Release:
    with using(SeededSource(7)), warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would tell of the value
        step = example.mechanism.on(sensitive(example, value, **changes))
        return session(unit_for(example)).release(step, question="asked")


def shown(release: Release) -> object:
    """All that an observer sees: values, types, dtype, shape, ±, text."""
    value, record = release.value, release.to_dict()
    kind = value.dtype if isinstance(value, np.ndarray) else type(value)
    return repr(value), kind, np.shape(value), record["answers"], record["keys"], str(release)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_it_is_released_to_those_it_is_proved_for_and_refused_to_others(example, unit):
    s = session(unit)
    stated = getattr(example.mechanism, "unit", unit)
    proved = example.mechanism.priced_for() in (None, unit.relation) and stated == unit
    step = example.mechanism.on(sensitive(example, value_of(example), entries=1))
    if proved:
        release = s.release(step, question="asked")
        assert Release.from_dict(release.to_dict()).rows() == release.rows()
        assert str(release)
        assert s.ledger.entries
    else:
        with pytest.raises(UnitMismatch):
            s.release(step)
        assert not s.ledger.entries


@pytest.mark.parametrize("whole", [None, True])
def test_the_answer_is_the_same_for_every_representation_of_a_value(numeric, whole):
    first, seen = value_of(numeric), set()
    for way, value in representations(first):
        found = shown(answered(numeric, value, whole=whole))
        seen.add(repr(found))
        assert len(seen) == 1, way


def test_neighbours_are_answered_in_the_same_form(numeric):
    """Their values may have other types, as a sum has that meets a missing value."""
    forms = set()
    for value in (numeric.first, numeric.second) if numeric.asked is None else (numeric.asked,):
        for whole in (None, True):
            for _, same in representations(value):
                release = answered(numeric, same, whole=whole)
                (answer,) = release.answers.values()
                kind = np.asarray(release.value).dtype if numeric.mechanism.by_entry else None
                forms.add((whole, str(kind), str(answer.spread.to_dict())))
    assert len(forms) == 2


WRONG = [
    None,
    "text",
    math.nan,
    math.inf,
    1j,
    [[1.0], [1.0, 2.0]],
    {"a": object()},
    [None],
    object(),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong).partition(" at 0x")[0])
def test_a_value_of_another_form_is_one_opaque_failure(numeric, wrong):
    s = session(unit_for(numeric))
    with pytest.raises(DataFailure) as seen:
        s.release(numeric.mechanism.on(sensitive(numeric, wrong)))
    assert "shape" not in str(seen.value)
    assert [entry.kind for entry in s.ledger.entries] == ["charge", "stop"]
    assert len(s.failures) == 1


@pytest.mark.parametrize("more", [1, -1])
def test_a_list_that_is_longer_or_shorter_than_declared_fails(listed, more):
    """Else the length of the answer would tell how many rows there are."""
    value = np.asarray(value_of(listed))
    other = np.concatenate([value, value])[: len(value) + more]
    with pytest.raises(DataFailure):
        answered(listed, other)


def test_a_list_of_undeclared_length_is_refused_before_the_charge(listed):
    declared = {k: v for k, v in listed.declared.items() if k != "shape"} | {"entries": 1}
    with pytest.raises(BadParameter, match=r"shape=") as seen:
        listed.mechanism.on(dp.Sensitive(lambda: pytest.fail("computed"), **declared))
    assert "shape=" in seen.value.fix


@pytest.mark.parametrize("unit", UNITS[2:], ids=str)
def test_samples_of_rows_are_refused_where_a_unit_has_several(sampling, unit):
    s = session(unit)
    proved = sampling.mechanism.priced_for() is unit.relation
    with pytest.raises(SensitivityMismatch if proved else (SensitivityMismatch, UnitMismatch)):
        s.release(sampling.mechanism.on(sensitive(sampling, value_of(sampling))))
    assert not s.ledger.entries


def test_lists_of_mechanisms_read_one_value_each_in_its_own_way(light):
    """Composed with themselves, and with others of another form."""
    both = light.mechanism + light.mechanism
    release = session(unit_for(light)).release(both.on(sensitive(light, value_of(light))))
    assert str(release)


@pytest.mark.parametrize("whole", [None, True, False])
def test_whole_numbers_are_answered_where_they_are_declared(whole):
    """And nowhere else: whatever the type at run time."""
    for value in (3, 3.0, np.int8(3), np.float32(3)):
        declared = dp.Sensitive(lambda v=value: v, l1=1, l2=1, whole=whole)
        for mechanism in (dp.Laplace(scale=2.0), dp.Gaussian(sigma=2.0)):
            answer = session().release(mechanism.on(declared)).value
            assert type(answer) is (int if whole else float)
    for mechanism in (dp.DiscreteLaplace(scale=2), dp.DiscreteGaussian(sigma=2)):
        declared = dp.Sensitive(lambda: 3.0, l1=1, l2=1, whole=whole)
        if whole is False:
            with pytest.raises(BadParameter, match="whole numbers"):
                mechanism.on(declared)
        else:
            assert type(session().release(mechanism.on(declared)).value) is int


def test_every_mechanism_says_what_it_reads(table):
    """A mechanism that takes other values than numbers reads them itself."""
    for name, example in table.items():
        reads = type(example.mechanism).reading
        assert reads is not Mechanism.reading or example.mechanism.by_entry, name


OPENED = [
    ms.SparseVector(epsilon=1.0, answers=2, values=True, threshold=-1e6),
    ms.AboveThreshold(epsilon=1.0, threshold=2.0),
    ms.BinaryTreeCounter(steps=2, noise=dp.Laplace(scale=2.0, sensitivity=2)),
    ms.ToeplitzCounter(steps=2, sigma=3.0, sensitivity=2),
    ms.SquareRootCounter(steps=2, sigma=3.0, sensitivity=2),
    ms.UnboundedCounter(sigma=3.0, sensitivity=2, steps=2),
    ms.OpenEndedCounter(sigma=3.0, sensitivity=2, steps=2, first=1),
    ms.OpenEndedTreeCounter(scale=3.0, sensitivity=2, steps=2, first=1),
    dp.Laplace(scale=2.0) + dp.DiscreteLaplace(scale=2),
    2 * ms.Staircase(epsilon=1.0),
]


@pytest.mark.parametrize("mechanism", OPENED, ids=lambda m: m.name)
@pytest.mark.parametrize("whole", [None, True])
def test_an_opened_mechanism_answers_every_representation_alike(mechanism, whole):
    seen = set()
    for way, value in representations(3):
        with using(SeededSource(7)):
            s = session()
            handle = s.open(mechanism)
            step = handle.on(dp.Sensitive(lambda v=value: v, l1=1, whole=whole))
            seen.add(repr(shown(s.release(step))))
        assert len(seen) == 1, way


@pytest.mark.parametrize("mechanism", OPENED, ids=lambda m: m.name)
def test_an_opened_mechanism_takes_one_number_at_a_time(mechanism):
    s = session()
    handle = s.open(mechanism)
    with pytest.raises(DataFailure):
        s.release(handle.on(dp.Sensitive(lambda: [3], l1=1)))
    assert s.failures


@pytest.mark.parametrize("mechanism", OPENED[:4], ids=lambda m: m.name)
def test_a_stream_takes_no_lists_and_says_so_for_nothing(mechanism):
    s = session()
    handle = s.open(mechanism)
    with pytest.raises(BadParameter, match="declared an array"):
        s.release(handle.on(dp.Sensitive(lambda: pytest.fail("computed"), l1=1, shape=3)))
    assert s.release(handle.on(dp.Sensitive(lambda: 3, l1=1))).free
