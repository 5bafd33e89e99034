"""Interactive charts are valid Vega-Lite, and contain each value with its ±."""

import datetime as dt
import importlib.resources
import json
import math
import subprocess
import sys

import jsonschema
import pytest

import deniable as dp
from deniable.plots.answers import MOST_BARS
from deniable.plots.charts import chart

DAYS = [dt.date(2024, 3, d) for d in (1, 2, 3)]
MANY = MOST_BARS + 5
KINDS = {
    "one number": ({}, 1),
    "one key": ({"city.name[0]": ["Oslo", "東京", None]}, 3),
    "dates": ({"day": DAYS}, 3),
    "numbers": ({"age": list(range(MANY))}, MANY),
    "dates by sex": ({"sex": ["f", "m"] * 3, "day": [d for d in DAYS for _ in "fm"]}, 6),
    "two keys": ({"city": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}, 4),
    "bins": ({"low": [0.0, 5.0], "high": [5.0, 10.0]}, 2),
    "many words": ({"word": [f"w{i}" for i in range(MANY)]}, MANY),
}


def drawn(kind):
    keys, count = KINDS[kind]
    values = [float(10 * i) for i in range(count)]
    errors = [math.nan, *[1.0] * (count - 1)]
    shown = [f"{value:g} ± 1" for value in values]
    return chart(keys, values, errors, shown, name="n", caption="ε 1").to_dict()


@pytest.fixture(scope="module")
def vega_lite():
    """The specification of Vega-Lite itself, as Altair ships it."""
    import altair as alt

    name = "vegalite/v6/schema/vega-lite-schema.json"
    folder = importlib.resources.files(alt)
    schema = json.loads(folder.joinpath(name).read_text(encoding="utf-8"))
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_valid_vega_lite_with_values_and_errors(vega_lite, kind):
    spec = drawn(kind)
    vega_lite.validate(spec)
    rows = spec["data"]["values"] if "data" in spec else next(iter(spec["datasets"].values()))
    assert all(row["high"] - row["low"] == 2.0 for row in rows if row["low"] is not None)
    assert all(" ± 1" in row["shown"] for row in rows)
    titles = [each["title"] for each in spec["layer"][0]["encoding"]["tooltip"]]
    assert titles[-1] == "n (95 % confidence)"
    marks = {layer["mark"]["type"] for layer in spec["layer"]}
    assert marks in ({"bar", "rule"}, {"area", "line"})


def test_a_broken_specification_would_be_seen(vega_lite):
    spec = drawn("one key")
    spec["layer"][0]["mark"]["type"] = "pie"
    with pytest.raises(jsonschema.ValidationError):
        vega_lite.validate(spec)


def test_many_bars_are_cut_and_counted_and_lines_are_not():
    cut = drawn("many words")
    rows = cut["data"]["values"] if "data" in cut else next(iter(cut["datasets"].values()))
    assert len(rows) == MOST_BARS
    assert f"the {MOST_BARS} largest of {MANY}" in " ".join(cut["title"]["subtitle"])


def test_a_release_has_the_chart_of_its_question():
    schema = dp.Schema(columns={"sex": dp.keys(["Female", "Male"]), "age": dp.bounds(17, 90)})
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(2), schema=schema)
    answer = s.mean("age", by="sex", spend=dp.epsilon(1))
    spec = answer.chart().to_dict()
    assert spec["title"]["text"] == "mean of age by sex" == answer.plot().get_title(loc="left")
    assert "protects one row" in " ".join(spec["title"]["subtitle"])
    with pytest.raises(dp.errors.UnknownName):
        answer.chart("height")


@pytest.mark.parametrize("hostile", ["</script>", "</ScRiPt >", "<!--<script>", "<img src=x>"])
def test_no_text_of_an_answer_is_a_tag_of_the_page_that_shows_it(hostile):
    keys = {hostile: [hostile, "b"], f"second {hostile}": ["c", hostile]}
    made = chart(keys, [1.0, 2.0], [1.0, 1.0], ["1", "2"], name=hostile, title=hostile,
                 caption=hostile)  # fmt: skip
    plain = chart({}, [1.0], [1.0], ["1"], name="n")
    assert made.to_html().count(hostile) == plain.to_html().count(hostile)
    assert hostile not in made.to_json(ensure_ascii=False)
    assert hostile in made.to_json(ensure_ascii=False).replace("\N{WORD JOINER}", "")


def test_without_altair_it_says_how_to_install_it():
    code = (
        "import sys; sys.modules['altair'] = None\n"
        "from deniable.plots.charts import chart\n"
        "try: chart({}, [1.0], [1.0], ['1'], name='n')\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 'pip install "deniable[charts]"' in done.stdout
