"""A synthetic model draws its marginals."""

import pyarrow as pa

import deniable as dp


def test_a_marginal_is_drawn_with_what_is_known_of_its_error():
    facts = {"sex": dp.keys(["Female", "Male"]), "income": dp.keys(["<=50K", ">50K"])}
    schema = dp.Schema(columns=facts)
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.rho(1.0), schema=schema)
    model = s.synthesize(["sex", "income"], method="independent", spend=dp.rho(0.5))
    one = model.plot("sex")
    assert [tick.get_text() for tick in one.get_yticklabels()][:2] == ["Female", "Male"]
    assert one.get_title(loc="left") == "rows by sex"
    both = model.plot(["sex", "income"])  # never measured together: no ± is claimed
    assert [text.get_text() for text in both.get_legend().get_texts()][:2] == ["<=50K", ">50K"]
    assert model.plot("income")._repr_png_().startswith(b"\x89PNG")


def test_names_are_escaped_once_in_notebooks():
    table = pa.table({"a<b": ["x", "y"]})
    schema = dp.Schema(columns={"a<b": dp.keys(["x", "y"])})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0), schema=schema)
    model = s.synthesize(["a<b"], method="independent", spend=dp.epsilon(0.5))
    for shown in (model, model.marginal(["a<b"])):
        html = shown._repr_html_()
        assert "a&lt;b" in html
        assert "&amp;lt;" not in html


def test_many_cells_of_numbers_are_drawn_in_their_order():
    facts = {"gain": dp.bounds(0.0, 1e5), "town": dp.keys(["Oslo", "東京"])}
    table = pa.table({"gain": [float(i) for i in range(900)], "town": ["Oslo", "東京", None] * 300})
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(1.0), schema=dp.Schema(columns=facts))
    model = s.synthesize(["gain", "town"], method="independent", spend=dp.rho(0.5))
    axes = model.plot("gain")
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    labels = list(model.marginal("gain").labels[0])
    assert len(labels) > 30
    places = [labels.index(tick) for tick in ticks]
    assert places == sorted(places)
    assert "largest" not in axes.get_xlabel()
    assert all(len(label) < 24 for label in labels)  # six digits per edge


def test_wide_characters_do_not_move_the_columns_of_a_marginal():
    facts = {"town": dp.keys(["Oslo", "東京"])}
    table = pa.table({"town": ["Oslo", "東京"] * 50})
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(1.0), schema=dp.Schema(columns=facts))
    shown = str(s.synthesize(["town"], method="independent", spend=dp.rho(0.5)).marginal("town"))
    oslo, tokyo = (next(x for x in shown.splitlines() if x.startswith(t)) for t in ("Oslo", "東京"))
    assert oslo.index("±") == tokyo.index("±") + 2  # two characters that are two columns wide
