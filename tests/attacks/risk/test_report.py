"""The risk report: its figures, its page, and that it says that it is private."""

import json
from html.parser import HTMLParser

import pytest

import deniable as dp
from deniable.attacks import linkage, report, uniqueness
from deniable.attacks.risk.checklist import OPTIONS, PROPERTIES, REQUIREMENTS

QUASI = ["age", "zip", "sex"]


@pytest.fixture(scope="module")
def people():
    return dp.load_adult(identifiers=True).slice(0, 6_000)


@pytest.fixture(scope="module")
def found(people):
    known = people.select(["name", "zip", "sex", "age"])
    return report(people, quasi=QUASI, sensitive="income", auxiliary=known)


class Page(HTMLParser):
    """Reads a page, and notes tags that are not closed in order."""

    VOID = ("meta", "br")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.wrong = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    page = Page()
    page.feed(html)
    return page


def test_its_figures_are_those_of_the_attacks(people, found):
    assert found.alone == uniqueness(people, columns=QUASI, largest=3).best(3).unique
    linked = linkage(people, people, on=["zip", "sex", "age"])
    assert found.linkage.reidentified == linked.reidentified
    assert found.k == 1
    assert found.identifiers == ("name",)
    assert found.attributes.accuracy > 0.9


def test_every_way_of_publishing_is_weighed(found):
    raw, anonymous, private, synthetic = found.options
    assert [each.name for each in found.options] == list(OPTIONS)
    assert "%" in raw.reidentified
    assert "hides among" in anonymous.reidentified
    assert "nobody" in private.reidentified
    assert synthetic.detail


def test_the_page_says_on_its_face_that_it_is_private(found):
    page = read(found.to_html())
    assert "".join(page.text).index("Private.") < 3_500
    assert "do not publish it" in " ".join(page.text)


def test_the_page_is_sound_html_without_scripts(found):
    page = read(found.to_html())
    assert not page.wrong
    assert not page.open
    assert "script" not in page.tags
    assert "http" not in found.to_html()
    assert "prefers-color-scheme: dark" in found.to_html()


def test_the_page_has_the_seven_properties_and_the_four_requirements(found):
    text = " ".join(read(found.to_html()).text)
    names = [item.name for item in (*PROPERTIES, *REQUIREMENTS)]
    assert len(PROPERTIES) == 7
    assert len(REQUIREMENTS) == 4
    assert all(name in text for name in names)
    assert all(item.verdicts and len(item.verdicts) == len(OPTIONS) for item in PROPERTIES)


def test_nobodys_row_is_on_the_page(people, found):
    html = found.to_html()
    assert not any(name in html for name in people["name"].to_pylist())
    assert not any(f">{code}<" in html for code in people["zip"].to_pylist())


def test_the_record_is_json_and_carries_the_warning(found, tmp_path):
    path = found.write(tmp_path / "risk.json")
    record = json.loads(path.read_text())
    assert "itself private" in record["private"]
    assert record["alone"] == found.alone
    assert set(record["properties"]) == {item.name for item in PROPERTIES}
    assert found.write(tmp_path / "risk.html").read_text().startswith("<!doctype html>")
    with pytest.raises(dp.BadParameter, match="a name that ends in"):
        found.write(tmp_path / "risk.pdf")


def test_column_names_cannot_inject_markup():
    table = {"<b>age": [1, 2, 3, 4] * 5, "job & pay": list(range(20))}
    import pandas as pd

    told = report(pd.DataFrame(table), quasi=["<b>age"], sensitive="job & pay", k=2)
    html = told.to_html()
    assert "<b>age" not in html
    assert "&lt;b&gt;age" in html
    assert not read(html).wrong


def test_columns_are_found_by_their_names_if_none_are_given(people):
    told = report(people.select(["name", "age", "sex", "race", "income"]))
    assert set(told.quasi) == {"age", "sex", "race"}
    assert told.attributes is None
    assert "alone on" in told.explain()
    assert told.plot() is not None


def test_a_table_without_people_is_refused(people):
    with pytest.raises(dp.BadParameter, match="at least four people"):
        report(people.slice(0, 2), quasi=["age"])


def test_a_file_or_a_dictionary_is_a_table_too(people, tmp_path):
    import pyarrow.parquet as pq

    some = people.select(["age", "sex", "race", "income"])
    pq.write_table(some, tmp_path / "people.parquet")
    told = [report(each, sensitive="income", largest=2)
            for each in (some, tmp_path / "people.parquet", some.to_pydict())]  # fmt: skip
    assert len({each.alone for each in told}) == 1
