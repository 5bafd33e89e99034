"""Runs that end early keep what they paid for, and certificates cite what a run was charged."""

import numpy as np
import pytest
from tests.interrupting import Interrupt, alone
from tests.synthetic.people import SCHEMA, opened, people

import deniable as dp
from deniable.schema.binning import Listed
from deniable.synthetic import Interrupted
from deniable.synthetic.domain import Domain
from deniable.synthetic.inference import Measurement, Model, merged
from deniable.synthetic.purse import Purse
from deniable.synthetic.run import Run

COLUMNS = ["age", "sex", "score"]
ENDS = {"Ctrl-C": KeyboardInterrupt, "memory": MemoryError, "a bug": ZeroDivisionError}


def failing(monkeypatch, error, at, times=1):
    """Let the fit fail when it is called for the n-th time, and so often."""
    fitted, calls = Run.refit, []

    def refit(run, **options):
        calls.append(1)
        if at <= len(calls) < at + times:
            raise error
        fitted(run, **options)

    monkeypatch.setattr(Run, "refit", refit)


@pytest.mark.parametrize("error", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize(
    ("method", "at"),
    [("independent", 1), ("tree", 1), ("tree", 2), ("adaptive", 1), ("adaptive", 3)],
)
def test_a_run_that_ends_in_a_fit_has_all_that_was_measured_in_its_model(
    monkeypatch, method, at, error
):
    failing(monkeypatch, error, at)
    s = opened(people(2000), dp.rho(100.0))
    with pytest.raises(error) as caught:
        s.synthesize(COLUMNS, spend=dp.rho(50.0), method=method, bins=4)
    y = caught.value.synthetic
    assert isinstance(caught.value, Interrupted) == (error is KeyboardInterrupt)
    for m in y.measured:
        now = merged(y.model.marginal(m.columns), m.partitions)
        assert np.abs(now * y.total - m.counts).max() < 25
    assert "only what was measured until then" in repr(y)


def test_a_fit_that_fails_twice_still_hands_back_what_was_measured(monkeypatch):
    failing(monkeypatch, KeyboardInterrupt, at=1, times=2)
    s = opened(people(200), dp.rho(1.0))
    with pytest.raises(Interrupted) as caught:
        s.synthesize(COLUMNS, spend=dp.rho(1.0), method="independent", bins=4)
    assert len(caught.value.synthetic.measured) == 3
    assert "misses the last measurements" in repr(caught.value.synthetic)


def interrupted(function, *, at):
    """Call it with a Ctrl-C at its n-th line; whether there were so many."""
    interrupt = Interrupt((function.__code__.co_filename,), at=at)
    try:
        alone(lambda: interrupt.during(function))
    except KeyboardInterrupt:
        return True
    return False


def test_a_fold_that_is_interrupted_at_any_line_is_whole_or_not_there():
    cells = Listed(type="text", keys=tuple("abcdef"))
    noisy = [np.array([50.0, 1, 40, 0, 2, 1]), np.array([1.0, 90, 0, 0, 1, 2])]
    at, more = 0, True
    while more:
        at += 1
        run = Run(
            domain=Domain(cells={"x": cells, "y": cells}),
            marginals={},
            purse=Purse(kind=dp.Pure, total=1.0),
            model=Model.uniform([6, 6]),
        )
        run.measured = [Measurement(columns=(i,), counts=noisy[i], sigma=3.0) for i in range(2)]
        run._seen = list(run.measured)
        run.refit(steps=50)
        was = run.model.marginal((0, 1))
        more = interrupted(run.fold, at=at)
        run.refit(steps=1)
        assert run.unfolded.sizes == (6, 6)
        assert run.unfolded.marginal((0, 1)) == pytest.approx(was, abs=0.01)
    assert at > 10
    assert run.sizes == (2, 1)


@pytest.mark.parametrize("method", ["independent", "tree", "adaptive"])
def test_a_certificate_cites_the_charges_of_its_run_and_no_others(monkeypatch, tmp_path, method):
    frame, books = people(100), str(tmp_path / "books.ledger")
    options = {"unit": dp.rows(), "budget": dp.epsilon(9.0), "schema": SCHEMA, "ledger": books}
    s, other = dp.open(frame, **options), dp.open(frame, **options)
    fitted = Run.refit

    def refit(run, **given):
        fitted(run, **given)
        other.release(dp.Laplace(scale=100.0).on(dp.Sensitive(lambda: 1.0, l1=1)))

    monkeypatch.setattr(Run, "refit", refit)
    y = s.synthesize(COLUMNS, spend=dp.epsilon(1.0), method=method, bins=3)
    record = y.certificate().to_dict()
    own = [e for e in s.ledger.entries if e.what.startswith("synthesis")]
    assert record["ledger"]["all_charges"] == [e.hash for e in own]
    assert record["ledger"]["entry_hash"] == own[-1].hash != s.ledger.entries[-1].hash
    assert record["ledger"]["entry"] == own[-1].sequence
    assert record["ledger"]["charged"]["epsilon"] == pytest.approx(1.0)
    assert record["randomness"]
