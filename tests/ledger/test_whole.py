"""Foresight saves time and decides nothing: it ends as a walk does that parses every line."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.ledger import books, open_ledger
from deniable.ledger.chain import Walk
from deniable.ledger.entry import canonical, digest, row_of, sealed
from deniable.ledger.whole import WholeWalk, _text
from deniable.losses.filters import Price

ROWS = dp.rows()
CHARGED = [dp.Laplace(scale=10.0), dp.Gaussian(sigma=20.0), dp.Laplace(scale=10.0)]


class Parsing(WholeWalk):
    """Foresees nothing."""

    def _foreseen(self, row):
        return False


PURE, BOTH = dp.epsilon(5.0), dp.epsilon(5.0, delta=1e-6)


@pytest.fixture(scope="module", params=[(PURE, False), (BOTH, False), (PURE, True)], ids=repr)
def ledger(request):
    """Charges with and without questions, askers and words; a Gaussian has an infinite ε."""
    budget, shared = request.param
    charged = CHARGED if budget.to_dict().get("delta") else CHARGED[::2]
    with open_ledger(budget=budget, unit=ROWS) as ledger:
        if shared:  # what is committed is then more than the total
            ledger.share("ann", amount=dp.epsilon(1.0))
            ledger.charge(CHARGED[0], unit=ROWS, asker="ann")
        for turn, mechanism in enumerate(2 * charged):
            asked = {"asker": 'q"é' if turn % 2 else None, "what": "wörds" if turn % 3 else ""}
            question = ledger.fingerprint(turn)
            paid = ledger.charge(mechanism, unit=ROWS, question=question, **asked)
            ledger.charge(mechanism, unit=ROWS, **asked)
            ledger.answer(paid, {"mechanisms": [turn], "text": "}"})
        yield ledger


def walked(kind, rows, ledger):
    """Where a walk ends and what it holds then, or why it failed."""
    walk = kind(rows[0], filter=ledger.filter, where="here")
    try:
        for row in rows[1:]:
            walk.step(row)
    except dp.LedgerFailure as failure:
        return str(failure)
    return walk.at, walk._total, walk._committed, walk._unanswered, walk._halts


def assert_alike(rows, ledger):
    ended = walked(WholeWalk, rows, ledger)
    assert ended == walked(Parsing, rows, ledger)
    return ended


# ---- what each line must prove


def forged(rows, place, **changes):
    """The lines with one of them changed, and all hashes put right; without digests of states."""
    made, previous = [], None
    for row in rows:
        record = json.loads(row.line) | (changes if row.sequence == place else {})
        record = {k: v for k, v in record.items() if v is not None and k != "state"}
        record |= {} if previous is None else {"previous": previous}
        made.append(row_of(canonical(record), record))
        previous = made[-1].hash
    return made


def charged_once(budget, mechanism, delta=None):
    with open_ledger(budget=budget, unit=ROWS) as ledger:
        ledger.charge(mechanism, unit=ROWS, delta=delta, question="q")
        return ledger, ledger._store.read(lambda lines: lines.since(0, limit=9))


@pytest.mark.parametrize(
    ("delta", "factor", "fine"),
    [
        (None, 1.0, True), (None, 2.0, True), (None, 1 - 5e-10, True), (None, 1 - 1e-8, False),
        (1e-7, 1.0, True), (1e-7, 1.5, True), (1e-7, 0.995, True), (1e-7, 0.98, False),
    ],
)  # fmt: skip
def test_no_charge_is_below_what_it_costs_but_for_a_rounding(delta, factor, fine):
    mechanism = dp.Laplace(scale=10.0) if delta is None else dp.Gaussian(sigma=20.0)
    ledger, rows = charged_once(BOTH, mechanism, delta)
    price = json.loads(rows[1].line)["price"]
    price |= {"epsilon": price["epsilon"] * factor}
    if "renyi" in price:
        price |= {"renyi": [value * factor for value in price["renyi"]]}
    ended = walked(WholeWalk, forged(rows, 1, price=price, total=price, committed=price), ledger)
    assert isinstance(ended, str) != fine
    assert fine or "was charged less than it costs" in ended


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        ({"mechanism": "unheard"}, ""),  # has no price here, and nothing more can be charged
        ({"mechanism": "laplace", "scale": -1.0}, "charges what has no price"),
        ({"mechanism": "laplace", "scale": 5.0}, "was charged less than it costs"),
        ({"mechanism": "laplace", "scale": 10.0}, ""),
    ],
)
def test_only_what_is_known_has_a_price_and_that_must_be_one(mechanism, said):
    ledger, rows = charged_once(PURE, dp.Laplace(scale=10.0))
    ended = walked(WholeWalk, forged(rows, 1, mechanisms=[mechanism]), ledger)
    assert said in ended if said else not isinstance(ended, str)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (3, {"charge": 2}), (3, {"question": "other"}), (3, {"charge": None}), (4, {"charge": 1}),
        (4, {"question": None}), (2, {"question": None}), (1, {"repeats": 3}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [WholeWalk, Parsing])
def test_every_answer_has_a_charge_of_its_own_about_its_question(kind, place, change):
    with open_ledger(budget=PURE, unit=ROWS) as ledger:
        paid = [ledger.charge(CHARGED[0], unit=ROWS, question=q) for q in ("a", "b")]
        for each in paid:
            ledger.answer(each, 7)
        rows = ledger._store.read(lambda lines: lines.since(0, limit=9))
    assert not isinstance(walked(kind, forged(rows, 0), ledger), str)
    wrong = change
    if "repeats" in change:  # it is free for the ceiling: the totals are those of the other charge
        price = json.loads(rows[1].line)["price"]
        rows = forged(rows, 1, total={}, committed={}, **change)
        for later in (2, 3, 4):
            rows = forged(rows, later, total=price, committed=price)
        wrong = {}
    assert "is an answer without its charge" in walked(kind, forged(rows, place, **wrong), ledger)


def test_lines_that_do_not_begin_with_the_header_are_not_walked(ledger):
    rows = list(books.rows(ledger._store))
    for start in rows[1:]:
        with pytest.raises(dp.LedgerFailure, match="line 0 of the ledger is missing"):
            WholeWalk(start, filter=ledger.filter, where="here")


# ---- foresight


def changed_texts(line):
    for place, character in enumerate(line):
        for other in {chr(ord(character) ^ 1), '"', ""} - {character}:
            yield line[:place] + other + line[place + 1 :]
    for field in ('"halts":{},', '"kind":"note",', '"standing":{},', '"repeats":1,', '"delta":0,'):
        yield "{" + field + line[1:]
        yield line[:-1] + "," + field[:-1] + "}"
    yield json.dumps(json.loads(line))
    yield json.dumps(dict(reversed(json.loads(line).items())), separators=(",", ":"))


def test_no_changed_text_is_foreseen_that_parsing_would_refuse(ledger):
    rows = list(books.rows(ledger._store))
    refused = 0
    for place in range(len(rows) - 3, len(rows)):
        for line in changed_texts(rows[place].line):
            hashed = digest(line) if line.isascii() else ""
            forged = [*rows[:place], rows[place]._replace(line=line, hash=hashed)]
            refused += isinstance(assert_alike(forged, ledger), str)
    assert refused > 1000


OTHERS = {
    "sequence": [0, "1", None],
    "line": ["", "{}", None, b"{}"],
    "hash": ["", None],
    "kind": ["note", "loan", "answer", "charge", None],
    "asker": ["ann", "", 5, None],
    "question": ["", 5, b"", None],
    "mechanisms": ["laplace", "gaussian", "quantum", "", None],
}


@pytest.mark.parametrize("column", OTHERS)
def test_no_changed_column_is_foreseen_that_parsing_would_refuse(ledger, column):
    rows = list(books.rows(ledger._store))
    for place in range(1, len(rows)):
        for other in OTHERS[column]:
            forged = [*rows[:place], rows[place]._replace(**{column: other})]
            same = getattr(rows[place], column) == other
            assert isinstance(assert_alike(forged, ledger), tuple if same else str)


def test_most_lines_are_foreseen(ledger, monkeypatch):
    parsed, step = [], Walk.step
    monkeypatch.setattr(Walk, "step", lambda walk, row: parsed.append(row) or step(walk, row))
    rows = list(books.rows(ledger._store))
    assert isinstance(assert_alike(rows, ledger), tuple)
    assert len(parsed) - (len(rows) - 1) <= 5, "one for each mechanism and kind of line"


def test_a_sharers_charge_is_not_foreseen_as_one_outside_shares():
    """Its line would be plain but for the standing that it leaves out."""
    with open_ledger(budget=dp.epsilon(5.0), unit=ROWS) as ledger:
        ledger.share("ann", amount=dp.epsilon(1.0))
        for asker in ("bob", "bob", "cat"):
            paid = ledger.charge(CHARGED[0], unit=ROWS, asker=asker)
        rows = list(books.rows(ledger._store))
        record = json.loads(rows[-1].line) | {"asker": "ann"}
        rows[-1] = sealed(
            {k: v for k, v in record.items() if k not in ("sequence", "previous", "time")},
            after=ledger.entries[-2],
        )
        assert paid.sequence == rows[-1].sequence
        assert "does not keep to the share of ann" in assert_alike(rows, ledger)


@pytest.mark.parametrize("kind", [WholeWalk, Parsing])
def test_the_first_answer_is_not_foreseen_as_one_of_many(kind):
    """It is the first line of its kind, which its state has to say."""
    with open_ledger(budget=dp.epsilon(5.0), unit=ROWS) as ledger:
        charges = [
            ledger.charge(CHARGED[0], unit=ROWS, question=ledger.fingerprint(turn))
            for turn in range(2)
        ]
        ledger.answer(charges[0], 1)
        rows = list(books.rows(ledger._store))
        left_out = ("sequence", "previous", "time")
        record = {k: v for k, v in json.loads(rows[-1].line).items() if k not in left_out}
        record["state"] = json.loads(rows[-2].line)["state"]
        rows[-1] = sealed(record, after=ledger.entries[-2])
        assert "states other shares than those before it" in walked(kind, rows, ledger)


def test_a_line_after_a_stop_is_not_foreseen_as_one_where_nobody_is_stopped():
    """Its line would be plain but for those stopped, whom it leaves out."""
    with open_ledger(budget=dp.epsilon(5.0), unit=ROWS) as ledger:
        ledger.charge(CHARGED[0], unit=ROWS)
        ledger.stop(ledger.charge(CHARGED[0], unit=ROWS, asker="eve"), cause="")
        ledger.charge(CHARGED[0], unit=ROWS)
        rows, left_out = list(books.rows(ledger._store)), ("halts", "sequence", "previous", "time")
        record = json.loads(rows[-1].line)
        assert record["halts"]
        kept = {k: v for k, v in record.items() if k not in left_out}
        rows[-1] = sealed(kept, after=ledger.entries[-2])
        assert "does not state who is stopped" in assert_alike(rows, ledger)


figures = st.sampled_from([0.0, 0.1, 1e-300, 1e16, 12.0, math.inf]) | st.floats(0, 1e9)


@given(figures, figures, figures, figures, st.lists(figures, max_size=3))
def test_totals_are_written_as_lines_have_them(epsilon, delta, rho, mu_squared, renyi):
    price = Price(
        epsilon=epsilon, delta=delta, rho=rho, mu_squared=mu_squared, renyi=tuple(renyi)
    )  # fmt: skip
    assert _text(price) == canonical(price.to_dict())


@pytest.mark.parametrize("plain", ["share", "stop", "note"])
def test_what_follows_lines_that_are_not_plain_is_checked_as_well(plain):
    with open_ledger(budget=dp.epsilon(5.0), unit=ROWS) as ledger:
        for turn in range(4):
            paid = ledger.charge(CHARGED[0], unit=ROWS, question=ledger.fingerprint(turn))
            ledger.answer(paid, turn)
            if turn == 1:
                other = {
                    "share": lambda: ledger.share("ann", amount=dp.epsilon(1.0)),
                    "stop": lambda: ledger.stop(
                        ledger.charge(CHARGED[0], unit=ROWS, asker="eve"), cause=""
                    ),
                    "note": lambda: ledger.note("between"),
                }
                other[plain]()
        rows = list(books.rows(ledger._store))
        assert isinstance(assert_alike(rows, ledger), tuple)


@pytest.mark.parametrize("page", [2, 3, 5])
def test_an_anchor_is_found_wherever_pages_end(ledger, monkeypatch, page):
    monkeypatch.setattr(books, "PAGE", page)
    for number, entry in enumerate(ledger.entries, 1):
        kept = dp.ledger.Head(sequence=number, hash=entry.hash, total=entry.total)
        ledger.verify(kept)
        other = dp.ledger.Head(sequence=number, hash="0", total=entry.total)
        with pytest.raises(dp.LedgerFailure, match="anchor does not match"):
            ledger.verify(other)


@pytest.mark.parametrize(("kind", "shared"), [("charge", False), ("charge", True), ("share", True)])
@pytest.mark.parametrize("epsilon", [0.5, 0.75])
def test_a_walk_from_any_line_on_admits_neither_sum_beyond_the_ceiling(kind, shared, epsilon):
    """From the middle of a ledger shares are not known: totals are held against reservations."""
    half, price = {"epsilon": 0.5}, {"epsilon": epsilon}
    from_share = kind == "charge" and shared
    with open_ledger(budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        if from_share:
            paid = ledger.share("ann", amount=dp.epsilon(0.5))
        else:
            paid = ledger.charge(dp.Laplace(scale=2.0), unit=ROWS)
        row, filter_ = list(books.rows(ledger._store))[-1], ledger.filter
    total = price if from_share else {"epsilon": 0.5 + epsilon}
    standing = {"reserved": price, "used": price if kind == "charge" else {}}
    record = {
        "kind": kind, "asker": "ann" if shared else None, "price": price,
        "standing": standing if shared else None,
        "mechanisms": [dp.Laplace(scale=1 / epsilon).to_dict()] if kind == "charge" else None,
        "total": total if kind == "charge" else half,
        "committed": half if from_share else total,
    }  # fmt: skip
    walk = Walk(row, filter=filter_, where="here")
    assert walk.state is None
    if epsilon == 0.5:
        walk.step(sealed(record, after=paid))
        assert walk.at.sequence == 2
    else:
        with pytest.raises(dp.LedgerFailure, match="line 2 of the ledger passes the ceiling"):
            walk.step(sealed(record, after=paid))
