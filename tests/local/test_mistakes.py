"""Likely mistakes with local protocols: what is said, and that the fix works."""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable import local

LABELS = ["tea", "coffee", "water"]
DRINKS = local.Direct(categories=LABELS, epsilon=1.0)


def refusal(act: Callable[[], object], kind: type[Exception] = dp.BadParameter) -> str:
    with pytest.raises(kind) as raised:
        act()
    return str(raised.value)


def protocol(categories: object) -> local.Protocol:
    return local.Direct(categories=categories, epsilon=1.0)  # type: ignore[arg-type]


# ---- categories


@pytest.mark.parametrize("given", [set(LABELS), "tea", np.array(LABELS), {"tea": 1}, None, 3.0])
def test_categories_that_are_neither_a_number_nor_a_list_are_told_that_both_are_possible(given):
    said = refusal(lambda: protocol(given))
    assert "categories must be a whole number of at least 2, or a list of texts" in said
    assert 'fix:  categories=["tea", "coffee", "water"]' in said


@pytest.mark.parametrize("given", [[1, 2, 3], range(18, 95), ["yes", None], ["a", "b\0"]])
def test_labels_that_are_not_texts_are_told_how_to_become_texts(given):
    said = refusal(lambda: protocol(given))
    assert "fix:  [str(each) for each in categories], and values as texts, too" in said
    assert protocol([str(each) for each in (1, 2, 3)]).encode("2")


def test_a_label_that_is_listed_twice_is_named():
    assert "'tea' is listed twice" in refusal(lambda: protocol(["tea", "coffee", "tea"]))
    assert "two or more" in refusal(lambda: protocol(["tea"]))
    assert "at least 2" in refusal(lambda: protocol(1))
    assert "at least 2" in refusal(lambda: protocol(True))


# ---- values


@pytest.mark.parametrize("value", ["beer", "Tea", 3, -1, None, True, 1.0])
def test_a_value_outside_the_categories_is_told_which_there_are_and_not_what_it_was(value):
    said = refusal(lambda: DRINKS.encode(value))
    assert "one of 'tea', 'coffee', 'water', or a whole number from 0 to 2" in said
    assert said == refusal(lambda: DRINKS.encode_all(["tea", value]))
    assert "beer" not in said


def test_of_many_labels_some_are_shown():
    many = protocol([f"label {i}" for i in range(1000)])
    said = refusal(lambda: many.encode("other"))
    assert "'label 7', …, or a whole number from 0 to 999" in said
    assert "label 8" not in said


@pytest.mark.parametrize(
    "act",
    [
        lambda: DRINKS.encode(["tea", "tea"]),
        lambda: DRINKS.encode_all("tea"),
        lambda: DRINKS.encode_all(x for x in LABELS),
        lambda: DRINKS.encode_all([["tea"], ["water"]]),
    ],
)
def test_one_value_and_a_list_of_them_are_told_apart(act):
    assert "fix:  p.encode(value)    (one person); p.encode_all(values)" in refusal(act)


def test_a_loss_in_place_of_its_epsilon_is_refused_with_the_number():
    said = refusal(lambda: local.Direct(categories=2, epsilon=dp.epsilon(0.5)))  # type: ignore[arg-type]
    assert "fix:  epsilon=0.5" in said
    assert local.Direct(categories=2, epsilon=0.5).loss() == dp.epsilon(0.5)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_several_attributes_are_read_from_a_dict_or_a_frame(frame):
    p = local.Attributes(categories={"sex": ["f", "m"], "drink": LABELS}, epsilon=1.0)
    given = {"sex": ["f", "m", "m"], "drink": ["tea", "water", "tea"]}
    assert p.numbered(frame(given)).tolist() == [[0, 0], [2, 1], [0, 1]]
    wider = frame(given | {"age": [30, 40, 50]})
    said = refusal(lambda: p.encode_all(wider))
    assert "fix:  {name: frame[name] for name in p.categories}" in said
    assert p.encode_all({name: wider[name] for name in p.categories}).shape == (3, p.length)


@pytest.mark.parametrize("given", [[{"sex": "f", "drink": "tea"}], {"sex": ["f"]}, None, 3, "sex"])
def test_what_has_other_columns_or_none_is_told_which_there_are(given):
    p = local.Attributes(categories={"sex": ["f", "m"], "drink": LABELS}, epsilon=1.0)
    assert "with the columns drink, sex" in refusal(lambda: p.encode_all(given))


@pytest.mark.parametrize("kind", [local.Mean, local.Ranges])
@pytest.mark.parametrize("values", [[1.0, np.nan], [np.inf], ["44"], [[1.0]], [None, 2.0], 3.0])
def test_numbers_that_are_missing_are_replaced_by_a_public_one(kind, values):
    p = kind(epsilon=1.0, low=0, high=100)
    said = refusal(lambda: p.encode_all(values))
    assert "fix:  np.nan_to_num(values, nan=50.0)" in said
    assert p.encode_all(np.nan_to_num([1.0, np.nan], nan=50.0)).shape == (2, p.length)


# ---- frequent values


def as_number(text: str) -> int:
    return int.from_bytes(text.encode()[:8].ljust(8), "big")


def test_texts_can_be_searched_for_as_the_refusal_says():
    words = ["gut"] * 6000 + ["отлично"] * 4000
    said = refusal(lambda: local.heavy_hitters(words, bits=32, epsilon=4.0))
    assert 'fix:  int.from_bytes(text.encode()[:8].ljust(8), "big")' in said
    numbers = [as_number(word) for word in words]  # on both sides of 2⁶³
    p = local.HeavyHitters(bits=64, epsilon=4.0)
    assert p.numbered(numbers).tolist() == numbers
    assert p.encode_all(tuple(numbers)).shape == (10_000, p.length)


@pytest.mark.parametrize("values", [[-1, 2**63], [1.0, 2.0], [2**64], [True]])
def test_what_is_not_a_whole_number_of_so_many_bits_is_refused(values):
    refusal(lambda: local.HeavyHitters(bits=64, epsilon=4.0).encode_all(values))


# ---- servers and collections


@pytest.mark.parametrize("other", [["coffee", "tea", "water"], ["tea", "coffee"]])
def test_reports_and_servers_of_other_categories_are_told_that_their_order_counts(other):
    theirs = protocol(other)
    fix = "fix:  build both from the same parameters, and list categories in the same order"
    assert fix in refusal(lambda: DRINKS.server().add(theirs.encode("tea")))
    assert fix in refusal(lambda: DRINKS.server().merge(theirs.server()))


def test_a_ticket_that_was_issued_is_used_by_the_call_that_the_refusal_shows(tmp_path):
    invited = local.Collection(DRINKS, path=tmp_path / "i.db", name="drinks", tickets="issued")
    report = DRINKS.encode("tea")
    said = refusal(lambda: invited.submission(report))
    assert "fix:  collection.submission(report, ticket=collection.issue(1)[0])" in said
    sent = invited.submission(report, ticket=invited.issue(1)[0])
    assert invited.accept(sent).status == "stored"
    assert invited.accept(sent).status == "duplicate"


@pytest.mark.parametrize("given", ["tea", b"tea", None, 7])
def test_a_submission_takes_a_report_and_not_an_answer(tmp_path, given):
    drinks = local.Collection(DRINKS, path=tmp_path / "d.db", name="drinks")
    said = refusal(lambda: drinks.submission(given))  # type: ignore[arg-type]
    assert "a report of this collection is 6 bytes" in said
    assert "fix:  p.encode(value)" in said
    assert "a ticket of this collection is 16 bytes" in refusal(
        lambda: drinks.submission(DRINKS.encode("tea"), ticket=b"mine")
    )


def test_a_collection_that_cannot_be_opened_says_in_what_it_differs(tmp_path):
    path = tmp_path / "d.db"
    local.Collection(DRINKS, path=path, name="drinks")
    others = {
        "another protocol or another name": lambda: local.Collection(DRINKS, path=path, name="x"),
        'made with tickets="open"': lambda: local.Collection(
            DRINKS, path=path, name="drinks", tickets="issued"
        ),
        f"no folder {tmp_path / 'no'}": lambda: local.Collection(
            DRINKS, path=tmp_path / "no" / "d.db", name="drinks"
        ),
    }
    for why, act in others.items():
        assert why in refusal(act, dp.NotReady)
    local.Collection(DRINKS, path=path, name="drinks")


def test_another_lifetime_is_refused_with_the_one_that_was_fixed(tmp_path):
    path = tmp_path / "c.db"
    local.Client(DRINKS, memory=path, lifetime=2.0)
    said = refusal(lambda: local.Client(DRINKS, memory=path, lifetime=3.0), dp.NotReady)
    assert "fix:  lifetime=2, or no lifetime=" in said
    assert (
        local.Client(DRINKS, memory=path).lifetime
        == local.Client(DRINKS, memory=path, lifetime=2).lifetime
    )


# ---- answers


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.995, 0.999])
def test_a_confidence_is_never_rounded_up_to_certainty(confidence):
    said = f"{100 * confidence:g} % confidence"
    assert said in repr(DRINKS.server().estimate(confidence=confidence))


@pytest.mark.parametrize(("size", "more"), [(12, 0), (20, 0), (21, 1), (1000, 980)])
def test_an_estimate_that_leaves_categories_out_says_how_many(size, more):
    found = local.Hadamard(categories=size, epsilon=1.0).server().estimate()
    for text in (repr(found), found._repr_html_()):
        assert (f"… and {more:,} more" in text) == (more > 0)
    pytest.importorskip("matplotlib")
    figure = found.plot().figure
    texts = " ".join(t.get_text() for ax in figure.axes for t in (ax.xaxis.label, *ax.texts))
    texts += " ".join(t.get_text() for t in figure.texts)
    assert (f"the 40 largest of {size:,} categories" in texts) == (size > 40)


def test_a_list_of_options_is_readable():
    said = repr(local.options(categories=["x" * 100, "y" * 100], epsilon=1.0, reports=1000))
    assert "bytes per report" in said
    assert "xxx" not in said


def test_a_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "deniable[frames]" in refusal(DRINKS.server().estimate().to_pandas, dp.MissingExtra)
