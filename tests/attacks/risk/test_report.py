"""The risk report: its figures, its page, and that it says that it is confidential."""

import json
import tracemalloc
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.attacks import linkage, report, uniqueness
from deniable.attacks.risk.checklist import BESIDE, OPTIONS, PRINCIPLES, PROPERTIES, REQUIREMENTS

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


def test_the_page_says_on_its_face_that_it_is_confidential(found):
    page = read(found.to_html())
    assert "".join(page.text).index("Confidential.") < 3_500
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
    assert "is confidential" in record["confidential"]
    assert record["alone"] == found.alone
    assert set(record["properties"]) == {item.name for item in (*PROPERTIES, *BESIDE)}
    assert set(record["principles"]) == {item.name for item in PRINCIPLES}
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
    with pytest.raises(dp.BadParameter, match="at least four rows"):
        report(people.slice(0, 2), quasi=["age"])


def test_a_file_or_a_dictionary_is_a_table_too(people, tmp_path):
    import pyarrow.parquet as pq

    some = people.select(["age", "sex", "race", "income"])
    pq.write_table(some, tmp_path / "people.parquet")
    told = [report(each, sensitive="income", largest=2)
            for each in (some, tmp_path / "people.parquet", some.to_pydict())]  # fmt: skip
    assert len({each.alone for each in told}) == 1


def test_the_printed_report_has_all_checklists(found):
    text = str(found)
    assert [len(items) for items in (PROPERTIES, BESIDE, REQUIREMENTS, PRINCIPLES)] == [7, 2, 4, 8]
    for item in (*PROPERTIES, *BESIDE, *REQUIREMENTS, *PRINCIPLES):
        assert item.name in text
        assert item.name in found.to_html()


def test_people_with_many_rows_are_counted_once():
    """400 people with 1 to 9 rows each, the same age and city in all of them."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(400), rng.integers(1, 10, 400))
    age, city = rng.integers(20, 60, 400)[who], rng.integers(0, 4, 400)[who]
    table = {"patient": who, "age": age, "city": city, "ill": rng.integers(0, 3, who.size)}
    once = np.unique(np.stack([who, age, city], axis=1), axis=0)
    crowd = Counter(map(tuple, once[:, 1:].tolist()))
    told = report(pd.DataFrame(table), quasi=["age", "city"], sensitive="ill", unit="patient")
    assert told.people == 400
    assert told.alone == sum(n == 1 for n in crowd.values()) > 0
    assert told.uniqueness.of("age", "city").unique == told.alone
    assert told.k == 1
    assert told.below == sum(n for n in crowd.values() if n < 5)
    assert "of 400 people" in str(told)
    assert "taken for a person" not in str(told)
    by_row = report(pd.DataFrame(table), quasi=["age", "city"], sensitive="ill")
    assert "taken for a person" in str(by_row)
    assert f"of {who.size:,} rows" in str(by_row)
    same = report(pd.DataFrame(table), quasi=["age", "city"], unit=dp.person("patient", rows=9))
    assert same.alone == told.alone


def test_a_k_anonymous_table_of_rows_may_show_one_person():
    """Each person has ten rows and an age of their own: classes of 5 rows are one person's."""
    table = pd.DataFrame({"id": np.repeat(np.arange(30), 10), "age": np.repeat(np.arange(30), 10)})
    told = report(table, quasi=["age"], unit="id")
    assert "30 people (100 %): classes of 10 rows may all be rows of one person" in str(told)


def test_memory_grows_with_the_rows_and_not_with_the_values_of_the_secret():
    draw = np.random.default_rng(0)
    table = {"zip": draw.integers(0, 3_000, 6_000), "cost": draw.uniform(0, 1_000, 6_000)}
    tracemalloc.start()
    told = report(table, quasi=["zip"], sensitive="cost")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "noisy counts of the 900 commonest values of cost" in told.options[2].detail
    assert most < 2e8  # a table of groups × values with its noise took ten times that


@pytest.mark.parametrize("where", ["defended._counts", "risk.ways.attributes"])
def test_a_failure_in_or_out_of_its_own_sessions_is_not_a_charge(people, monkeypatch, where):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(f"deniable.attacks.{where}", full)
    with pytest.raises(dp.DataFailure, match="could not be compared") as caught:
        report(people.slice(0, 300), quasi=["age"], sensitive="income")
    assert "not enough memory" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("ledger", "was spent", "resume"))


def test_progress_says_what_is_going_on(monkeypatch):
    said = []
    for module in ("_report", "ways"):
        monkeypatch.setattr(f"deniable.attacks.risk.{module}.say", said.append)
    table = pd.DataFrame({"age": [1, 2, 3, 4] * 10, "ill": [0, 1] * 20})
    report(table, quasi=["age"], sensitive="ill", auxiliary={"age": [1]})
    assert said == [
        "counting who looks alike",
        "linking the auxiliary records",
        "trying combinations of columns",
        "guessing the sensitive column",
        "trying a 5-anonymous table",
        "trying private statistics",
        "trying private synthetic rows",
    ]
