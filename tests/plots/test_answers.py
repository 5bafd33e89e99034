"""Each kind of answer has the chart that fits it, and nothing is left out silently."""

import datetime as dt
import math

import pytest

from deniable.plots import answers
from deniable.plots.answers import MOST_BARS, binned

DAYS = [dt.date(2024, 3, d) for d in (3, 1, 2)]


def drawn(keys, count, **options):
    values = [float(10 * i) for i in range(count)]
    return answers(keys, values, [1.0] * count, name="n", **options)


def test_one_key_has_bars_in_the_order_of_the_table():
    ax = drawn({"city": ["Oslo", "Bergen", None]}, 3)
    assert ax.get_title(loc="left") == "n by city"
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["Oslo", "Bergen", "(missing)"]


def test_dates_are_a_line_in_order_of_time_with_a_band():
    ax = drawn({"day": DAYS}, 3)
    line = ax.get_lines()[0]
    assert list(line.get_ydata()) == [10.0, 20.0, 0.0]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 21.0


@pytest.mark.parametrize("order", [("day", "sex"), ("sex", "day")])
def test_dates_and_a_second_key_are_a_line_for_each_of_its_values(order):
    keys = {"day": [day for day in DAYS for _ in "fm"], "sex": ["f", "m"] * 3}
    ax = drawn({name: keys[name] for name in order}, 6)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["f", "m"]
    women, men = ax.get_lines()[:2]
    assert (list(women.get_ydata()), list(men.get_ydata())) == (
        [20.0, 40.0, 0.0],
        [30.0, 50.0, 10.0],
    )
    assert len(ax.collections) == 2


def test_of_many_lines_the_highest_are_shown_and_the_rest_counted():
    keys = {"day": [day for day in DAYS for _ in range(9)], "code": [f"c{i}" for i in range(9)] * 3}
    ax = drawn(keys, 27)
    shown = [t.get_text() for t in ax.get_legend().get_texts()]
    assert shown == ["c8", "c7", "c6", "c5", "c4", "c3"]
    assert "the 6 largest of 9" in ax.get_xlabel().replace("\n", " ")


def test_midnights_are_days_and_large_numbers_have_commas():
    midnights = [*map(dt.datetime.fromisoformat, ("2024-03-01", "2024-04-01"))]
    keys = {"month": midnights * 8, "code": [f"c{i}" for i in range(16)], "sex": ["f"] * 16}
    ax = drawn(keys, 16)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["2024-03-01", "2024-04-01"]
    days = [dt.datetime.fromisoformat(f"2024-03-{1 + i:02}") for i in range(16)]
    ax = drawn({"day": days, "code": keys["code"], "sex": keys["sex"]}, 16)
    assert ax.get_yticklabels()[0].get_text() == "2024-03-01, c0, f"
    ax.set_xlim(0, 40_000)
    ax.figure.draw_without_rendering()
    assert "40,000" in [t.get_text() for t in ax.get_xticklabels()]


def test_many_numbers_are_a_line_and_many_words_are_cut_and_counted():
    many = MOST_BARS + 10
    line, _ = drawn({"age": list(range(many))}, many).get_lines()
    assert len(line.get_ydata()) == many
    ax = drawn({"word": [f"w{i}" for i in range(many)]}, many)
    assert len(ax.get_yticklabels()) == MOST_BARS
    assert f"the {MOST_BARS} largest of {many}" in ax.get_xlabel()


def test_two_keys_are_grouped_with_a_legend():
    ax = drawn({"city": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}, 4)
    assert ax.get_title(loc="left") == "n by city and sex"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["f", "m"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]


@pytest.mark.parametrize("keys", [{}, {"day": DAYS[:1]}, {"a": ["x"], "b": [None]}])
def test_one_number_is_one_bar_also_without_error(keys):
    ax = answers(keys, [3.0], [math.nan], name="n", caption="word " * 60)
    assert len(ax.patches) == 1
    assert max(map(len, ax.get_xlabel().splitlines())) <= 90


def test_a_notebook_is_given_a_picture():
    assert drawn({"city": ["Oslo"]}, 1)._repr_png_().startswith(b"\x89PNG")


def test_bins_are_labelled_by_their_ends_and_many_are_a_line():
    ax = drawn({"low": [0.0, 500.0, 1000.0], "high": [500.0, 1000.0, 2000.0]}, 3)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["0 to 500", "500 to 1,000", "1,000 to 2,000"]


def narrow(place):
    """Edges of bins of one width."""
    return 10.0 * place


def wider(place):
    """Edges of bins of which each is wider than the one before."""
    return place * (place + 1) / 2


@pytest.mark.parametrize("edge", [narrow, wider])
def test_many_bins_are_steps_from_their_lower_to_their_upper_ends(edge):
    many = MOST_BARS + 1
    edges = [edge(place) for place in range(many + 1)]
    ax = drawn({"low": edges[:-1], "high": edges[1:]}, many)
    steps = ax.get_lines()[0]
    assert steps.get_drawstyle() == "steps-post"
    assert list(steps.get_xdata()) == edges
    assert list(steps.get_ydata()) == [*(10.0 * i for i in range(many)), 10.0 * (many - 1)]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 0].min() == edges[0]
    assert band.get_paths()[0].vertices[:, 0].max() == edges[-1]
    assert ax.get_xlabel() == "bin"


def test_many_bins_of_whole_numbers_meet_halfway_between_them():
    many = MOST_BARS + 1
    keys = {"low": [3 * i for i in range(many)], "high": [3 * i + 2 for i in range(many)]}
    steps = drawn(keys, many).get_lines()[0]
    assert list(steps.get_xdata()) == [3 * i - 0.5 for i in range(many + 1)]
    assert binned(keys) == {"bin": [3 * i + 1 for i in range(many)]}


def test_of_two_keys_the_one_with_few_values_has_the_colours():
    keys = {"sex": ["f", "m"] * 8, "code": [f"c{i // 2}" for i in range(16)]}
    ax = drawn(keys, 16)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["f", "m"]
    assert len(ax.get_yticklabels()) == 8


@pytest.fixture
def installed(tmp_path):
    """A font with one Japanese character, under the name of a common one."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from matplotlib import font_manager

    pen = TTGlyphPen(None)
    for place, move in enumerate([(0, 0), (0, 700), (700, 700), (700, 0)]):
        (pen.lineTo if place else pen.moveTo)(move)
    pen.closePath()
    made = FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder([".notdef", "east"])
    made.setupCharacterMap({ord("東"): "east"})
    made.setupGlyf({".notdef": pen.glyph(), "east": pen.glyph()})
    made.setupHorizontalMetrics({".notdef": (1000, 0), "east": (1000, 0)})
    made.setupHorizontalHeader(ascent=800, descent=-200)
    made.setupNameTable({"familyName": "IPAexGothic", "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    path = tmp_path / "wide.ttf"
    made.save(path)
    before = list(font_manager.fontManager.ttflist)
    font_manager.fontManager.addfont(path)
    yield "IPAexGothic"
    font_manager.fontManager.ttflist[:] = before


def test_wide_characters_are_drawn_in_a_font_that_has_them(installed):
    ax = drawn({"city": ["東", "Oslo"]}, 2)
    ax._repr_png_()
    wide, narrow = ax.get_yticklabels()
    assert installed in wide.get_fontfamily()
    assert installed not in narrow.get_fontfamily()


def test_without_such_a_font_nothing_is_warned_of():
    ax = drawn({"city": ["東京", "Oslo"]}, 2)  # a warning would be an error here
    assert ax._repr_png_().startswith(b"\x89PNG")
