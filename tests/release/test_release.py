"""Releases: the answer in every form, its error, and the record it is stored as."""

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable.errors import BadParameter, NoBound, UnknownName
from deniable.forms import Form
from deniable.mechanisms import Mechanism
from deniable.mechanisms.numbers import Gaussian, Laplace
from deniable.release import (
    Additive,
    Frame,
    Noisy,
    Plan,
    Provenance,
    Release,
    Summed,
    Tabulated,
    answer_of,
    numbers,
)
from deniable.release.noisy import decode, encode, marked, unmarked

LAPLACE, GAUSSIAN = Laplace(scale=10.0), Gaussian(sigma=3.0)
MECHANISMS = (LAPLACE.to_dict(), GAUSSIAN.to_dict())


def release(**changes):
    made = Release(
        keys={"city": ("Oslo", "Bergen")},
        answers={
            "n": Noisy(cells=(41, 29), spread=Additive(mechanism=LAPLACE)),
            "age": Noisy(
                cells=(38.5, 41.25),
                spread=Tabulated(
                    intervals={0.95: ((38.0, 39.5), (40.0, 42.0)), 0.99: ((30, 50), (30, 50))}
                ),
                estimand="the mean of ages clipped to [0, 125]",
            ),
        },
        loss=dp.epsilon(0.1),
        mechanisms=MECHANISMS,
        unit=dp.person("id", rows=10),
        provenance=Provenance(
            question="SELECT <b>", table="people", time="2026-01-01T00:00:00+00:00",
            entry=3, entry_hash="ab" * 32, budget=dp.epsilon(3, delta=1e-7).to_dict(),
        ),
        randomness="the operating system's generator",
    )  # fmt: skip
    return replace(made, **changes)


def single(cell, **options):
    return release(keys={}, answers={"value": Noisy(cells=(cell,), **options)})


def test_rows_hold_keys_values_and_errors():
    first, _ = release().rows()
    assert list(first) == ["city", "n", "n_error", "age", "age_error"]
    assert first["n_error"] == LAPLACE.error(0.95)
    assert first["age_error"] == 1.0  # the longer arm


def test_frames_are_what_people_have():
    assert list(release().to_pandas().columns) == ["city", "n", "n_error", "age", "age_error"]
    assert release().to_arrow().num_rows == 2


def test_intervals_at_any_confidence():
    frame = release().interval(0.5)
    low, high = frame["n_low"][0], frame["n_high"][0]
    assert (high - low) / 2 == pytest.approx(LAPLACE.error(0.5))
    assert frame["age_low"] == (38.0, 40.0)  # the next higher confidence that was worked out
    assert release().interval(0.99)["age_low"] == (30, 30)
    with pytest.raises(BadParameter, match="at most"):
        release().interval(0.999)
    for confidence in (0, 1, 95, "a"):
        with pytest.raises(BadParameter):
            release().interval(confidence)


def test_one_cell_has_a_value_and_several_have_none():
    assert single(5).value == 5
    assert single(None).value is None
    with pytest.raises(BadParameter, match=r"r\.rows\(\)"):
        _ = release().value


@pytest.mark.parametrize(
    "drawn",
    [5, 5.5, True, None, "Oslo", np.float64(1.5), np.arange(3), np.zeros((2, 3)), [1, 2], (1, 2.5),
     [(1, 2.5)], [], np.zeros(0)],
    ids=repr,
)  # fmt: skip
def test_whatever_a_mechanism_draws_survives_storage(drawn):
    keys, answer = answer_of(LAPLACE, Form(), drawn)
    made = release(keys=keys, answers={"value": answer})
    again = Release.from_dict(json.loads(json.dumps(made.to_dict())))
    assert np.array_equal(np.asarray(again.value, dtype=object), np.asarray(drawn, dtype=object))
    assert again.rows() == made.rows()
    assert again.free


def test_noise_as_large_as_the_answer_is_said_in_words():
    noisy = release().answers["n"]
    assert "noise is as large" not in str(release(answers={"n": replace(noisy, cells=(41, -31))}))
    small = replace(noisy, cells=(41, -29))
    made = release(answers={"n": small})
    assert "n: the noise is as large as the answer in 1 of 2 rows" in str(made)
    assert "noise is as large as the answer\n" in str(single(5, spread=small.spread))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(("rounded", "whole"), [(False, False), (True, False), (True, True)])
def test_sums_of_noises_survive_storage(law, rounded, whole):
    spread = Summed(law=law, scales=(2.0, 3.5), rounded=rounded, whole=whole)
    made = single(5, spread=spread)
    again = Release.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.answers["value"].spread == spread
    assert again.interval(0.97) == made.interval(0.97)  # any confidence, not only those tabulated


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_rounded_sums_of_noises_are_covered_as_often_as_is_said(law):
    """Of 10⁶, 95 % ± 0.11 % but for a chance of 10⁻⁶; rounding covers more, never less."""
    draw = np.random.default_rng(3)
    noise = draw.laplace if law == "laplace" else draw.normal
    seen = noise(0, 2.0, 10**6) + noise(0, 3.5, 10**6)
    for spread, values in [
        (Summed(law=law, scales=(2.0, 3.5)), seen),
        (Summed(law=law, scales=(2.0, 3.5), rounded=True, whole=True), np.floor(seen + 0.5)),
        (Summed(law=law, scales=(2.0, 3.5), rounded=True), np.floor(seen + 0.8) - 0.3),
    ]:
        share = (np.abs(values) <= spread.half(0.95)).mean()
        assert share >= 0.95 - 0.0011
        assert share <= 0.95 + (0.02 if spread.rounded else 0.0011)


def test_a_release_survives_storage_whole_and_what_later_versions_add():
    made = release()
    record = made.to_dict()
    record["provenance"]["later"] = 1
    assert Release.from_dict(record).provenance == made.provenance
    again = Release.from_dict(json.loads(json.dumps(made.to_dict())))
    assert replace(again, free="") == made


def test_a_noise_scale_that_depends_on_data_shows_no_error():
    @dataclass(frozen=True, kw_only=True)
    class Smooth(Mechanism):
        name = "test_smooth"
        norm = "l1"

        def draw(self, value):
            return value

        def error(self, confidence=0.95):
            raise NoBound("the scale of the noise is private")

    try:
        made = single(5.0, spread=Additive(mechanism=Smooth()))
        assert made.rows() == [{"value": 5.0}]
        assert "±" not in str(made)
        assert made.interval(0.95).rows() == [{"value_low": None, "value_high": None}]
    finally:
        del Mechanism.registry["test_smooth"]


def test_text_is_a_box_with_errors_and_says_what_they_cover():
    text = str(release())
    assert "│ Oslo   │ 41 ± 30 │ 38.50 ± 1    │" in text
    assert "spent ε 0.1 · protects any one person (id; counted as at most 10 rows)" in text
    assert "not any bias from clipping" in text
    assert "age: the mean of ages clipped" in text
    assert "free: answered before" in str(release(free="answered before"))


def test_long_answers_are_shortened_in_the_middle():
    many = release(keys={}, answers={"n": Noisy(cells=tuple(range(1000)))})
    assert len(str(many).splitlines()) < 60
    assert "…" in str(many)


def test_html_is_a_card_without_scripts_and_escapes_what_users_wrote():
    page = release()._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>SELECT <b>" not in page
    assert "<script" not in page
    assert "<details>" in page


def test_a_plot_has_whiskers_and_a_caption():
    axes = release().plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Oslo", "Bergen"]
    assert "protects any one person" in axes.get_xlabel()
    assert release().plot(ax=axes) is axes
    with pytest.raises(BadParameter, match="not a numeric column"):
        single("Oslo").plot()
    assert single(5.0).plot().get_yticklabels()[0].get_text() == "value"


def test_a_frame_finds_its_columns():
    with pytest.raises(UnknownName, match="did you mean"):
        _ = Frame({"city": (1,)})["cty"]
    assert list(Frame({"a": (1,)})) == ["a"]
    assert len(Frame({})) == 0
    assert "<table" in Frame({"a": ("<b>",)})._repr_html_()


def test_only_plain_answers_can_be_stored():
    with pytest.raises(BadParameter, match="numbers, text"):
        encode(object())
    array = decode(encode((1, np.arange(2), [None, "a"])))
    assert array[0] == 1
    assert array[1].dtype == np.arange(2).dtype
    assert array[2] == [None, "a"]


def test_a_plan_prints_like_a_query_plan():
    plan = Plan(
        question="SELECT COUNT(*) FROM people",
        cost=dp.epsilon(0.2501),
        errors={"n": 11.98, "age": None},
        steps=["keep at most 10 rows of each person", "count, with Laplace noise"],
        left=dp.epsilon(0.7499),
        notes=("decided without looking at the data",),
    )
    assert str(plan).splitlines() == [
        "SELECT COUNT(*) FROM people",
        "  1  keep at most 10 rows of each person",
        "  2  count, with Laplace noise",
        "  cost    ε 0.251 (leaves ε 0.749)",
        f"  means   {numbers.meaning(dp.epsilon(0.2501))}",
        "  expect  n ± 12, age ± unknown in advance (95 % confidence)",
        "  note    decided without looking at the data",
    ]
    assert "<ol" in plan._repr_html_()
    with pytest.raises(TypeError):
        plan.errors["n"] = 1


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.5, 1.25, 3.0])
def test_the_error_of_whole_answers_covers_whole_answers(scale):
    """Rounding to whole numbers widens the ±; false alarm below 1e-8."""
    mechanism = dp.Laplace(scale=scale)
    drawn = mechanism.release(np.zeros(20_000, dtype=np.int64))
    _, column = answer_of(mechanism, Form(whole=True), drawn)
    half = column.errors(0.95)[0]
    assert half == int(half)
    inside = int((np.abs(drawn) <= half).sum())
    assert goodness.covered(inside, drawn.size, 0.95) > 1e-8
    short = int((np.abs(drawn) <= mechanism.error(0.95)).sum())  # what the ± of floats would cover
    assert inside >= short


def test_a_release_cannot_be_changed_afterwards():
    keys, answers = {"city": ("Oslo",)}, {"n": Noisy(cells=(41,))}
    made = release(keys=keys, answers=answers)
    keys["city"], answers["n"] = ("Bergen",), Noisy(cells=(0,))
    assert made.keys["city"] == ("Oslo",)
    assert made.answers["n"].cells == (41,)
    for held, name in ((made.keys, "city"), (made.answers, "n")):
        with pytest.raises(TypeError):
            held[name] = ()


@pytest.mark.parametrize("power", [0, 10, 33, 36, 40, 50, 56, 57, 58, 60, 70, 200, 1000])
@pytest.mark.parametrize("mantissa", [1.0, 1.5, 2 - 2.0**-52])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_interval_of_a_large_float_holds_what_was_rounded_to_it(power, mantissa, sign):
    """A float stands for all numbers within half an ulp: the ± reaches as far beyond them."""
    value = sign * mantissa * 2.0**power
    spread = Additive(mechanism=LAPLACE)
    low, high, arm = spread.at(0.95)(0, value)
    half = Fraction(LAPLACE.shown_error(0.95, whole=False))
    needed = half + Fraction(math.ulp(value)) / 2 - half / 2**20
    assert Fraction(low) <= Fraction(value) - needed
    assert Fraction(high) >= Fraction(value) + needed
    assert needed <= arm <= (half + Fraction(math.ulp(value))) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize(
    "record",
    [math.inf, [1.0, -math.inf], {"a": [[math.inf], {"b": [2, -math.inf]}]}, [], {"float": [1]}],
)
def test_infinite_numbers_survive_json_wherever_they_are(record):
    stored = json.dumps(marked(record), allow_nan=False)
    assert unmarked(json.loads(stored)) == record


def test_a_column_without_numbers_has_no_error_at_any_confidence():
    spread = Tabulated(intervals={0.95: ((0, 1), (0, 1))})
    assert Noisy(cells=(None, "a"), spread=spread).errors(0.999) == (None, None)
    with pytest.raises(BadParameter, match=r"at most 0\.95"):
        Noisy(cells=(None, 1.0), spread=spread).errors(0.999)


def test_a_column_that_has_an_error_in_some_rows_shows_it():
    column = Noisy(cells=(1.0, None, 3.0), spread=Additive(mechanism=Laplace(scale=2.0)))
    assert [e is None for e in column.errors()] == [False, True, False]
    errors = Release._errors.func(SimpleNamespace(answers={"a": column}))
    assert list(errors) == ["a"]
    gone = Noisy(cells=(None, None), spread=Additive(mechanism=Laplace(scale=2.0)))
    assert Release._errors.func(SimpleNamespace(answers={"a": gone})) == {}


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((3,), {"index": (0, 1, 2)}),
        ((2, 2), {"index_0": (0, 0, 1, 1), "index_1": (0, 1, 0, 1)}),
        ((), {}),
    ],
)
def test_places_of_an_array_are_its_keys(shape, index):
    assert answer_of(LAPLACE, Form(shape=shape), np.zeros(shape))[0] == index
