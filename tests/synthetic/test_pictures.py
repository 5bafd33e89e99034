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
