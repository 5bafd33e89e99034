"""Noise that is drawn elsewhere is charged first, and once; what is lost is paid for again."""

import pickle
import signal
from contextlib import contextmanager

import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded, DataFailure
from deniable.release import Noisy
from deniable.sensitive import Sensitive
from deniable.session import drawing
from deniable.session.elsewhere import Commission
from deniable.session.opening import open as open_session


class Shelf:
    """Work that draws into a list; tells in which order things happened."""

    columns = ({"key": ()}, {"n": Noisy(cells=())})

    def __init__(self, session, *, fails=None, refuses=False):
        self.session, self.fails, self.refuses = session, fails, refuses
        self.seen, self.kept = [], {}

    @contextmanager
    def ready(self):
        self.seen.append("ready")
        if self.refuses:
            raise BadParameter("not there")
        yield

    def stands(self, record):
        return record["name"] in self.kept

    def committed(self):
        return self.lost

    lost = None

    def do(self, commission):
        self.seen.append(f"charged {len(charges(self.session))}")
        if self.fails:
            raise self.fails
        name = f"answer {len(self.seen)}"
        self.kept[name] = commission.perform(0, 100)
        return {"name": name}


def charges(session):
    return [entry for entry in session.ledger.entries if entry.kind == "charge"]


def asked(session, shelf, *, scale=10.0):
    hidden = Sensitive(lambda: pytest.fail("computed here"), l1=1, unit=session.unit)
    steps = [dp.Laplace(scale=scale).on(hidden)]
    return session.commission(steps, work=shelf, question="how many?", title="")


@pytest.fixture
def session():
    import pandas as pd

    frame = pd.DataFrame({"x": [1]})
    with open_session(frame, unit=dp.rows(), budget=dp.epsilon(1.0)) as opened:
        yield opened


def test_the_charge_comes_before_the_work_and_after_the_checks(session):
    shelf = Shelf(session)
    release = asked(session, shelf)
    assert shelf.seen == ["ready", "charged 1"]
    assert release.loss == dp.epsilon(0.1)
    assert release.provenance.entry_hash == charges(session)[0].hash
    assert list(release.answers) == ["n"]
    assert release.rows() == []


def test_what_is_drawn_elsewhere_is_what_was_charged(session):
    commissions = []
    shelf = Shelf(session)
    shelf.do = lambda commission: commissions.append(commission) or {"name": "a"}
    asked(session, shelf)
    (entry,), (commission,) = charges(session), commissions
    assert [m.to_dict() for m in commission.mechanisms] == entry.mechanisms
    assert session.ledger.find(commission.entry) == entry
    assert commission.entry != entry.hash, "what is committed may be seen by whoever asked"
    assert pickle.loads(pickle.dumps(commission)) == commission


def test_asked_again_it_is_free_while_the_answer_stands(session):
    shelf = Shelf(session)
    first = asked(session, shelf)
    again = asked(session, shelf)
    assert again.free
    assert again.provenance == first.provenance
    assert len(charges(session)) == 1


def test_a_lost_answer_is_paid_for_again_and_the_new_one_is_found(session):
    shelf = Shelf(session)
    first = asked(session, shelf)
    shelf.kept.clear()
    second = asked(session, shelf)
    assert not second.free
    assert second.provenance.entry_hash != first.provenance.entry_hash
    assert asked(session, shelf).provenance == second.provenance
    assert len(charges(session)) == 2


def test_another_price_is_another_answer(session):
    shelf = Shelf(session)
    asked(session, shelf)
    asked(session, shelf, scale=20.0)
    assert len(charges(session)) == 2


def test_what_is_refused_beforehand_costs_nothing(session):
    with pytest.raises(BadParameter, match="not there"):
        asked(session, Shelf(session, refuses=True))
    assert not charges(session)


def test_what_would_pass_the_ceiling_is_never_begun(session):
    shelf = Shelf(session)
    with pytest.raises(BudgetExceeded):
        asked(session, shelf, scale=0.5)
    assert shelf.seen == ["ready"]


def test_a_failure_is_opaque_and_charged_and_paid_for_again(session):
    shelf = Shelf(session, fails=ValueError("Alice earns 7"))
    with pytest.raises(DataFailure) as told:
        asked(session, shelf)
    assert "Alice" not in str(told.value)
    assert told.value.__cause__ is None
    assert "Alice" in session.failures[0].detail
    shelf.fails = None
    session.resume()
    assert not asked(session, shelf).free
    assert len(charges(session)) == 2


def test_who_stops_the_program_stops_it(session):
    shelf = Shelf(session)
    shelf.do = lambda _: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        asked(session, shelf)
    assert len(charges(session)) == 1


def test_the_work_may_not_ask_further_questions(session):
    shelf = Shelf(session)
    shelf.do = lambda _: asked(session, Shelf(session), scale=30.0)
    with pytest.raises(DataFailure):
        asked(session, shelf)
    assert len(charges(session)) == 1


def test_a_replay_is_refused(session):
    with drawing.watched(object()), pytest.raises(BadParameter, match="replay"):
        asked(session, Shelf(session))
    assert not charges(session)


def test_bounds_are_checked_as_for_any_step(session):
    wide = Sensitive(lambda: 1, l1=5, unit=session.unit)
    with pytest.raises(dp.DeniableError, match="covers values"):
        session.commission(
            [dp.Laplace(scale=1.0).on(wide)], work=Shelf(session), question="too wide", title=""
        )


def test_another_version_draws_nothing():
    Commission(mechanisms=(), entry="").check()
    with pytest.raises(RuntimeError, match="where it was paid"):
        Commission(mechanisms=(), entry="", version="0.0").check()


# ---- askers, and answers that were committed and not written down


def shared(session, name="ann", amount=0.25):
    session.ledger.share(name, amount=dp.epsilon(amount))
    return session.for_(name)


def test_it_is_charged_to_the_asker_the_session_is_for(session):
    ann = shared(session)
    shelf = Shelf(session)
    asked(ann, shelf)
    assert [entry.asker for entry in charges(session)] == ["ann"]
    assert ann.spent == dp.epsilon(0.1)


def test_an_answer_of_another_is_paid_from_the_share_once_and_only_if_it_stands(session):
    ann, shelf = shared(session), Shelf(session)
    asked(session, shelf)
    mine = asked(ann, shelf)
    assert not mine.free
    assert asked(ann, shelf).free
    assert ann.spent == dp.epsilon(0.1)
    assert len(shelf.kept) == 1
    shelf.kept.clear()
    asked(ann, shelf)  # lost: drawn anew, and paid for
    assert ann.spent == dp.epsilon(0.1) + dp.epsilon(0.1)
    with pytest.raises(BudgetExceeded, match="is left of your share"):
        asked(ann, Shelf(session))
    assert ann.spent == dp.epsilon(0.1) + dp.epsilon(0.1), "nothing is paid for what is lost"


def test_what_was_committed_before_the_session_died_is_found_again(session, monkeypatch):
    shelf = Shelf(session)
    with monkeypatch.context() as patch:
        patch.setattr(type(session.ledger), "answer", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            asked(session, shelf)
    (name,), (paid,) = shelf.kept, charges(session)
    shelf.lost = ("0" * 64, {"name": name})
    shelf.refuses = True
    with pytest.raises(BadParameter, match="not there"):  # another's charge paid for it
        asked(session, shelf)
    shelf.lost = (paid.hash, {"name": name})
    found = asked(session, shelf)
    assert found.provenance.entry_hash == paid.hash
    assert found.free
    assert asked(session, shelf).free
    with pytest.raises(BadParameter, match="not there"):  # it answers its own question only
        asked(session, shelf, scale=20.0)
    assert len(charges(session)) == 1
