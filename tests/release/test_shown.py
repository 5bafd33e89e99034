"""What a release says of itself: its shape, its cost after an earlier step, its notes."""

import array
import math
from dataclasses import replace

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter, UnknownName
from deniable.forms import Form
from deniable.losses.filters import Price
from deniable.mechanisms import Laplace
from deniable.release import Noisy, Provenance, Release, Summed, Tabulated, answer_of
from deniable.release._release import _rest
from deniable.release.certificate import _headings, _lines, certify

LAPLACE = Laplace(scale=10.0)
TEXT = array.array("d", [1.0])  # can list itself, but has no shape


def provenance(**changes):
    given = {"question": "q", "table": "t", "time": "2026-01-01T00:00:00+00:00", "entry": 1}
    given |= {"entry_hash": "ab", "budget": dp.epsilon(3).to_dict(), "note": ""}
    return Provenance(**given | changes)


def release(cells=(41, 29), *, keys=None, spread=None, **changes):
    given = {"keys": {"k": ("a", "b")} if keys is None else keys, "loss": dp.epsilon(0.1)}
    answers = {"n": Noisy(cells=tuple(cells), spread=spread)}
    where = provenance(price=Price(epsilon=0.1).to_dict())
    more = {"mechanisms": (LAPLACE.to_dict(),), "unit": dp.rows(), "provenance": where}
    return Release(**given | {"answers": answers} | more | changes)


@pytest.mark.parametrize(
    ("keys", "answers"),
    [
        ({"k": ("a",)}, {"n": (1, 2)}), ({"k": ("a", "b")}, {"n": (1, 2), "m": (1,)}),
        ({}, {"n": (1,), "m": (1, 2)}), ({"k": ("a",), "j": ("a", "b")}, {"n": (1,)}),
    ],
)  # fmt: skip
def test_all_columns_have_one_length(keys, answers):
    made = {name: Noisy(cells=cells) for name, cells in answers.items()}
    with pytest.raises(AssertionError, match="one length"):
        release(keys=keys, answers=made)


def test_a_table_has_no_single_value():
    assert release((5,), keys={}).value == 5
    with pytest.raises(BadParameter, match="table"):
        _ = release().value
    two = {"a": Noisy(cells=(1,)), "b": Noisy(cells=(2,))}
    with pytest.raises(BadParameter, match="table"):
        _ = release(keys={}, answers=two).value
    shaped = release(keys={}, answers={"v": Noisy(cells=(1, 2, 3, 4), shape=(2, 2))})
    assert shaped.value.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("first_free", ["", "before"])
@pytest.mark.parametrize("second_free", ["", "before"])
def test_an_answer_after_another_claims_both_and_says_what_was_charged_now(first_free, second_free):
    first = release(loss=dp.epsilon(0.25), free=first_free)
    second = release(loss=dp.epsilon(0.5), free=second_free)
    both = second.after(first)
    assert both.loss == dp.epsilon(0.75)
    assert both.mechanisms == (*first.mechanisms, *second.mechanisms)
    assert Price.from_dict(both.provenance.price).epsilon == pytest.approx(0.2)
    assert both.free == ("before" if first_free and second_free else "")
    if bool(first_free) == bool(second_free):
        assert both.charged is None
        assert both.cost == ("free: before" if first_free else "spent ε 0.75")
    else:
        now = "0.5" if first_free else "0.25"
        assert both.cost == f"spent ε {now} now; ε 0.75 with what was charged earlier"


def notes(cells, halves):
    ends = tuple((c - h, c + h) for c, h in zip(cells, halves, strict=True))
    made = release(
        cells, keys={"k": tuple(range(len(cells)))}, spread=Tabulated(intervals={0.95: ends})
    )
    return made.notes


def test_noise_as_large_as_the_answer_is_noted_with_how_many_rows():
    assert notes((10.0, 20.0), (9.0, 19.0)) == []
    assert notes((10.0, 20.0), (10.0, 19.0)) == [
        "n: the noise is as large as the answer in 1 of 2 rows"
    ]
    assert notes((-10.0, 20.0, 3.0), (11.0, 21.0, 1.0)) == [
        "n: the noise is as large as the answer in 2 of 3 rows"
    ]
    assert notes((0.0,), (1.0,)) == ["n: the noise is as large as the answer"]
    assert notes((0.0,), (0.0,)) == []


def test_an_answer_at_the_limit_of_its_type_is_noted():
    (note,) = notes((5.0, 6.0), (math.inf, 1.0))
    assert "64-bit" in note


def test_notes_of_the_session_follow_only_where_there_is_an_error():
    where = provenance(note="± at 95 %")
    spread = Summed(law="laplace", scales=(1.0,))
    assert release((99, 98), spread=spread, provenance=where).notes == ["± at 95 %"]
    assert release((99, 98), provenance=where).notes == []


@pytest.mark.parametrize(("count", "shown"), [(3, 3), (40, 40), (41, 41), (100, 41)])
def test_long_answers_show_their_ends(count, shown):
    made = release(range(count), keys={"k": tuple(range(count))})
    header, rows = made.shown()
    assert header == ["k", "n"]
    assert len(rows) == shown
    if count > 40:
        assert rows[20] == ["…", "…"]
        assert [row[0] for row in rows[:20] + rows[21:]] == [
            str(i) for i in [*range(20), *range(count - 20, count)]
        ]


@pytest.mark.parametrize(
    ("drawn", "cells", "shape", "keys"),
    [
        (5, (5,), None, {}), (2.5, (2.5,), None, {}), ([1, 2], (1, 2), (2,), {"index": (0, 1)}),
        (np.array([1.0, 2.0]), (1.0, 2.0), (2,), {"index": (0, 1)}),
        (np.arange(6).reshape(2, 3), tuple(range(6)), (2, 3),
         {"index_0": (0, 0, 0, 1, 1, 1), "index_1": (0, 1, 2, 0, 1, 2)}),
        (["a", "b"], (["a", "b"],), None, {}), (["a", 1], (["a", 1],), None, {}),
        (np.array(7), (7,), None, {}), (TEXT, (TEXT,), None, {}),
    ],
)  # fmt: skip
def test_what_was_drawn_is_a_column_with_an_index(drawn, cells, shape, keys):
    found, noisy = answer_of(LAPLACE, Form(), drawn)
    assert (found, noisy.cells, noisy.shape) == (keys, cells, shape)


def test_declared_keys_are_those_of_entries_that_get_noise_each():
    form = Form(keys=("x", "y"))
    found, _ = answer_of(LAPLACE, form, np.array([1.0, 2.0]))
    assert found == ({"key": ("x", "y")} if LAPLACE.by_entry else {"index": (0, 1)})


def test_a_record_reads_as_indented_lines():
    record = {"a": 1, "b": {"c": None, "d": [2, {"e": 3}]}, "f": ()}
    assert list(_lines(record, "")) == ["a: 1", "b", "  c: ", "  d", "      2", "      e: 3", "f"]


def test_headings_of_a_docstring_run_over_indented_lines():
    class Told:
        """Name: what it is.

        Releases   a number
        Privacy    ε-DP,
                   and more of it                  [Key]
        Error      small
        Not a heading
                   nor this
        """

    found = _headings(Told)
    assert found["Privacy"] == "ε-DP, and more of it [Key]"
    assert (found["Releases"], found["Error"]) == ("a number", "small")
    assert _headings(None) == {}


@pytest.mark.parametrize(
    ("entry", "entry_hash", "shown"),
    [
        (3, "ab", 3),
        (0, "ab", 0),
        (None, "ab", "look it up by its hash"),
        (None, "", "charged to another asker"),
    ],
)
def test_a_certificate_names_the_entry_as_far_as_the_asker_may_know(entry, entry_hash, shown):
    where = provenance(question="", entry=entry, entry_hash=entry_hash)
    made = certify(replace(release(), provenance=where))
    assert made.record["ledger"]["entry"] == shown
    assert made.record["question"]["data_version"] == "not given"
    assert made.record["registry"]["deployment"]["product"]["description"] is None


def columns(**changes):
    known = Noisy(cells=(4.0, 5.0), spread=Tabulated(intervals={0.95: ((3.0, 5.0), (1.0, 6.0))}))
    parts = {"n": known, "m": Noisy(cells=(1, 2)), "word": Noisy(cells=("a", 1))}
    return release(answers=parts, **changes)


def test_a_chart_draws_the_first_column_or_the_one_that_is_named():
    made = columns()
    assert made._drawn(None) == made._drawn("n") == ("n", [4.0, 5.0], [1.0, 4.0])
    name, numbers, told = made._drawn("m")
    assert (name, numbers) == ("m", [1, 2])
    assert len(told) == 2
    assert all(map(math.isnan, told))
    with pytest.raises(BadParameter, match="not a numeric column"):
        made._drawn("word")
    with pytest.raises(UnknownName, match="column"):
        made._drawn("x")


def test_a_column_without_an_error_in_some_rows_is_drawn_without_it_there():
    spread = Tabulated(intervals={0.95: ((3.0, 5.0), (1.0, 6.0))})
    partly = replace(columns(), answers={"n": Noisy(cells=(4.0, 5.0), spread=spread)})
    held = partly._errors
    held["n"] = (None, 4.0)
    _, _, told = partly._drawn("n")
    assert math.isnan(told[0])
    assert told[1] == 4.0


@pytest.mark.parametrize(
    ("question", "one", "several"),
    [
        ("", "", ""), ("mean age", "mean age", "mean age: n"), ("mean\nage", "", ""),
        ("SELECT 1", "", ""), ("  (with a as (select 1) from a)", "", ""),
        ("selections by city", "selections by city", "selections by city: n"),
    ],
)  # fmt: skip
def test_a_chart_is_headed_by_a_question_in_words_and_not_by_sql(question, one, several):
    where = provenance(question=question)
    assert release(provenance=where)._heading("n") == one
    assert columns(provenance=where)._heading("n") == several


def test_an_answer_without_columns_is_an_empty_table():
    assert release(keys={}, answers={}).shown() == ([], [])


def test_a_card_names_each_mechanism_once_with_its_parameters():
    page = release()._repr_html_()
    assert f"laplace: {_rest(LAPLACE.to_dict())}" in page
    assert _rest({"mechanism": "laplace", "scale": 10.0, "sensitivity": 1}) == (
        "scale = 10.0, sensitivity = 1"
    )
