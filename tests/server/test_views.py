"""What people may see: their own, the public facts, and nothing of others."""

import json
import re

import pytest

import deniable as dp
from deniable.server import folder as folder_
from deniable.server.house import House
from deniable.server.jobs.asking import Asking
from deniable.server.jobs.door import Door
from deniable.server.pages.asking import for_page
from deniable.server.views import Views

from .conftest import SCHEMA, fill, settings_of
from .test_asking import SQL, ask_of


@pytest.mark.parametrize("path", ["/tables", "/tables/visits", "/ask", "/ask/named", "/ledger",
                                  "/public", "/limits", "/health", "/collections"])  # fmt: skip
def test_every_page_that_shows_something_has_a_twin(site, path):
    site.analyst("twin")
    browser = site.browser("twin")
    assert browser.get(path).headers["content-type"].startswith("text/html")
    twin = browser.get(f"{path}.json")
    assert twin.status_code == 200
    assert twin.json()


@pytest.mark.parametrize("field", ["plan", "made_up", "problem", "chosen", "tables", "kinds"])
@pytest.mark.parametrize("path", ["/ask", "/ask/named"])
def test_no_field_of_a_form_takes_the_place_of_what_the_page_adds(site, path, field):
    site.analyst("fields")
    for figure in ("0.1", "nothing"):
        form = {"sql": SQL, "kind": "ranges", "column": "age", "figure": figure, field: "boo"}
        answer = site.browser("fields").post(path, data=form)
        assert answer.status_code == (200 if figure == "0.1" else 400)


def test_the_words_of_a_burn_down_are_within_its_picture():
    from deniable.server.pages.charts import burn_down

    drawn = str(burn_down([{"kind": "charge", "figure": 0.1}], 1.0))
    tall = float(drawn.split('viewBox="0 0 ')[1].split('"', maxsplit=1)[0].split()[1])
    assert all(float(y) + 5 <= tall for y in re.findall(r'<text[^>]* y="([0-9.]+)"', drawn))


@pytest.fixture
def shared_home(house, tmp_path):
    folder = fill(tmp_path / "tables")
    home = house(folder=folder)
    asking = Asking(home)
    asking.ask(ask_of(home, name="ann"))
    return home, asking


def test_an_analysts_pages_do_not_depend_on_what_others_did(shared_home):
    home, asking = shared_home
    views = Views(home, asking)
    ann = home.accounts.find("ann")

    def seen():
        return json.dumps([views.tables(ann), views.table("visits", ann), views.ledger(ann)])

    before = seen()
    asking.ask(ask_of(home, name="bob", sql=SQL + " WHERE age > 50"))
    asking.ask(ask_of(home, name="cy", sql="SELECT * FROM visits"))
    assert seen() == before


def test_the_public_page_is_silent_unless_the_curator_publishes(house, tmp_path):
    for publish in ("false", "true"):
        rows = [(len(publish), 30, "Oslo")]  # of other people: the same would share a ledger
        folder = fill(tmp_path / publish, rows=rows)
        (folder / "server.toml").write_text(
            f"[people]\nbudget = {{epsilon = 9}}\npublish = {publish}\n"
        )
        home = house(folder=folder, budget=None)
        asking = Asking(home)
        empty = json.dumps(Views(home, asking).public())
        asking.ask(ask_of(home))
        now = json.dumps(Views(home, asking).public())
        assert (now != empty) == (publish == "true")
        assert "ann" not in now.replace("annot", "")


def test_the_page_counts_how_many_more_questions_are_left(shared_home):
    home, asking = shared_home
    ann = home.accounts.find("ann")
    (table,) = Views(home, asking).tables(ann)["tables"]
    assert table["more"] == 19  # a share of 2, and the last question cost 0.1
    (mine,) = Views(home, asking).tables(home.accounts.curator())["tables"]
    assert mine["more"] is None


def test_all_figures_on_a_page_are_of_one_moment_though_a_step_ends_while_it_is_made(
    shared_home, monkeypatch
):
    home, asking = shared_home
    ann = home.accounts.find("ann")
    newest = home.ledgers["people"].head().sequence
    before = next(e.sequence for e in home.ledgers["people"].entries if e.kind == "charge") - 1

    def pages(*lines):
        for page in (
            Views(home, asking).tables,
            lambda who: Views(home, asking).ledger(who)["groups"],
        ):
            known = iter(lines)
            monkeypatch.setattr(asking.known, "line", lambda *_, known=known: next(known))
            yield page(ann)

    for ending, still, ended in zip(
        pages(before, newest), pages(*[before] * 2), pages(*[newest] * 2), strict=True
    ):
        assert ending == still != ended


def test_who_has_no_share_sees_tables_and_cannot_ask(shared_home):
    home, asking = shared_home
    (table,) = Views(home, asking).tables(home.accounts.add("dan"))["tables"]
    assert table["left"] is None
    assert not table["may_ask"]


@pytest.mark.parametrize(
    "text",
    [
        "[people]\nbudget = 3\n",
        "[people]\nbudget = {rho = 1, delta = 1e-6}\n",
        "[people]\nbudget = {epsilon = 1, mu = 2}\n",
        "[people]\nsurprise = 1\n",
        'people = "x"\n',
        '[people]\ntables = ["nothing"]\n',
        '[a]\ntables = ["visits"]\n[b]\ntables = ["visits"]\n',
        '[people]\npurposes = "x"\n',
        "[people]\ntables = []\n[other]\ntables = []\n",
        "not TOML",
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(tmp_path, text):
    folder = fill(tmp_path)
    (folder / "server.toml").write_text(text)
    from deniable.errors import DeniableError

    with pytest.raises(DeniableError):
        folder_.read(folder)


def test_tables_of_one_group_must_protect_the_same_unit(tmp_path):
    folder = fill(tmp_path)
    fill(folder, name="other", schema=SCHEMA.replace("rows = 2", "rows = 3"))
    from deniable.errors import UnitMismatch

    with pytest.raises(UnitMismatch):
        folder_.read(folder)
    (folder / "server.toml").write_text('[others]\ntables = ["other"]\n')
    assert set(folder_.read(folder)) == {"people", "others"}


PUBLISHED = """\
[people]
budget = {epsilon = 9}
publish = true
contact = "privacy@clinic.example"
purposes = ["care"]
"""


@pytest.fixture
def published(serve_house, tmp_path):
    folder = fill(tmp_path / "tables")
    (folder / "server.toml").write_text(PUBLISHED)
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    site = serve_house(House(settings))
    yield site
    while site.opened:
        site.opened.pop().close()


def test_the_public_page_has_the_certificate_of_every_published_answer(published):
    client = published.connect("zoe-q")
    query = client.sql("SELECT COUNT(*) AS n FROM visits", purpose="care")
    release = query.release(spend=dp.epsilon(0.5))
    stranger = published.plain()
    (group,) = stranger.get("/public.json").json()["groups"]
    (shown,) = group["releases"]
    assert "asker" not in shown
    assert "key" not in shown
    found = stranger.get(f"/public/{shown['entry']}.json").json()
    assert found["certificate"] == release.certificate().record
    page = stranger.get(f"/public/{shown['entry']}")
    assert "added or removed" in page.text
    assert "zoe-q" not in page.text
    assert stranger.get("/public/" + "0" * 64).status_code == 404


def test_a_certificate_stays_public_however_much_is_asked_later(published):
    """Each certificate has one address for good; looking it up reads that answer alone."""
    client, house = published.connect("yan-q", 3.0), published.house
    first = client.sql("SELECT COUNT(*) AS n FROM visits", purpose="care")
    entry = first.release(spend=dp.epsilon(0.5)).provenance.entry_hash
    named = client.ranges("age", bins=4, purpose="care").release(spend=dp.epsilon(0.5))
    copied = "body, state, lease, question, result, visible"
    for copy in range(250):
        house.database.rows(
            f"INSERT INTO asks (asker, key, attempt, people, created, {copied}) "
            f"SELECT asker, ?, ?, 'elsewhere', created + 9, {copied} FROM asks WHERE entry = ?",
            *(f"copy-{copy}", f"copy-{copy}", entry),
        )
    stranger = published.plain()
    assert stranger.get(f"/public/{entry}").status_code == 200
    (group,) = stranger.get("/public.json").json()["groups"]
    assert {each["entry"] for each in group["releases"]} == {
        entry,
        named.release.provenance.entry_hash,
    }
    assert [bool(each["code"]) for each in group["releases"]] == [True, True]


def test_nothing_is_certified_in_public_unless_the_curator_publishes(site):
    release = (
        site.connect("quiet")
        .sql("SELECT COUNT(*) AS n FROM visits")
        .release(spend=dp.epsilon(0.013))
    )
    entry = release.provenance.entry_hash
    assert site.plain().get(f"/public/{entry}").status_code == 404


def test_the_checklist_has_all_eight_principles_and_says_what_is_not_stated(published, site):
    (group,) = published.plain().get("/public.json").json()["groups"]
    met = {each["name"]: each["met"] for each in group["principles"]}
    assert len(met) == 8
    assert [name for name, done in met.items() if not done] == [
        "Collection limitation",
        "Data quality",
    ]
    assert "privacy@clinic.example" in published.plain().get("/public").text
    (bare,) = site.plain().get("/public.json").json()["groups"]
    assert sum(each["met"] for each in bare["principles"]) == 2


def test_the_ledger_page_shows_code_that_asks_the_same_question(published):
    client = published.connect("eve")
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"
    client.sql(sql, purpose="care").release(spend=dp.epsilon(0.25))
    code = published.browser("eve").get("/ledger.json").json()["answers"][0]["code"]
    assert f"c.sql({sql!r}, purpose='care').release(spend=dp.epsilon(0.25))" in code
    assert "connect" in code


def test_a_price_above_the_most_of_a_question_is_refused_with_the_price(house, tmp_path):
    folder = fill(tmp_path / "tables")
    (folder / "server.toml").write_text(
        "[people]\nbudget = {epsilon = 9}\nmost = {epsilon = 0.5}\n"
    )
    home = house(folder=folder, budget=None)
    door = Door(home, Asking(home))
    task = {"sql": "SELECT COUNT(*) AS n FROM visits", "spend": {"epsilon": 0.6}}
    with pytest.raises(dp.BudgetExceeded, match="at most"):
        door.explain(home.accounts.curator(), task)


NAMES = ["Größe (cm)", "select", "all", 'a"b', "case", "from", "two words", "1st", "order", "date"]


@pytest.mark.parametrize("name", NAMES)
def test_every_example_can_be_priced_whatever_columns_and_tables_are_called(house, tmp_path, name):
    folder = tmp_path / "tables"
    folder.mkdir()
    key, number = json.dumps(name, ensure_ascii=False), json.dumps(f"{name} 2", ensure_ascii=False)
    facts = f'[columns.{key}]\nkeys = ["a"]\n[columns.{number}]\ntype = "int"\nbounds = [0, 9]\n'
    (folder / "select.toml").write_text('[unit]\nrelation = "add_remove"\n' + facts)
    cells = [each.replace('"', '""') for each in (name, f"{name} 2")]
    (folder / "select.csv").write_text('"{}","{}"\na,3\n'.format(*cells))
    home = house(folder=folder)
    asking, curator = Asking(home), home.accounts.curator()
    examples = Views(home, asking).table("select", curator)["examples"]
    assert len(examples) == 3
    for each in examples:
        task = {"sql": each["sql"], "spend": {"epsilon": 0.1}}
        assert Door(home, asking).explain(curator, task)["cost"]["epsilon"] == 0.1


def test_the_ask_page_shows_columns_and_what_is_known_of_an_error_in_no_programs_words(site):
    site.analyst("words")
    with site.browser("words") as browser:
        form = {"sql": "SELECT city, AVG(age) AS a FROM visits GROUP BY city", "figure": "0.1"}
        page = browser.post("/ask", data=form).text
    price = page.partition('id="price"')[2]
    assert "unknown in advance" in price
    known = price.index("a ± ")  # beside the price, before what one has to open
    assert known < price.index("<details>")
    assert "explain(" not in price
    assert "s.contributions" not in price
    columns = page.partition("Columns of visits")[2].partition("</details>")[0]
    assert "Oslo, Bergen" in columns
    assert "0 to 120" in columns


def test_a_chart_says_what_it_shows(site):
    site.analyst("chart")
    with site.browser("chart") as browser:
        sql = "SELECT city, AVG(age) AS a, COUNT(*) AS n FROM visits GROUP BY city"
        form = {"sql": sql, "figure": "0.5", "action": "release", "nonce": "1"}
        found = browser.post("/ask", data=form).headers["location"]
        page = browser.get(found).text
    assert "<figcaption>a, with its 95 % confidence intervals</figcaption>" in page


def test_prices_do_not_crowd_out_what_the_curator_has_to_see(house):
    """Refused prices are free and frequent: the log is of what was done."""
    home = house()
    asking, curator = Asking(home), home.accounts.curator()
    with pytest.raises(dp.DeniableError):
        Door(home, asking).explain(curator, {"sql": "SELECT *", "spend": {"epsilon": 0.1}})
    assert not home.logged()


@pytest.mark.parametrize(
    ("sql", "advised", "never"),
    [
        ("SELECT AVG(id) AS a FROM visits", "SELECT COUNT(DISTINCT id)", "state it"),
        ("SELECT SUM(1 / dose) AS a FROM visits", "CLAMP(", "state it"),
        ("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", "state it in the schema", "dp."),
        ("SELECT SUM(weight) AS w FROM visits", "state it in the schema", "dp."),
    ],
)
@pytest.mark.parametrize("person", ["curator", "ann"])
def test_a_page_advises_what_helps_in_the_words_of_a_page(
    house, tmp_path, sql, advised, never, person
):
    """A fact is stated in the schema; what is wrong with the question is mended in the question."""
    more = '[columns.note]\ntype = "text"\n[columns.weight]\ntype = "float"\n'
    more += '[columns.dose]\ntype = "float"\nbounds = [0.0, 9.0]\nmissing = "drop"\n'
    folder = fill(tmp_path / "tables", schema=SCHEMA + more)
    (folder / "visits.csv").write_text("id,age,city,note,weight,dose\n1,2,Oslo,x,7,2\n")
    home = house(folder=folder)
    who = home.accounts.curator() if person == "curator" else ask_of(home, name=person).person
    with pytest.raises(dp.DeniableError) as caught:
        Door(home, Asking(home)).explain(who, {"sql": sql, "spend": {"epsilon": 0.1}})
    shown = for_page(caught.value, who, "visits")
    assert advised in shown["fix"]
    assert never not in shown["fix"]
    assert not re.search(r"\bs[.]", shown["fix"] + shown.get("hint", ""))
    assert ("to" in shown) == (person == "curator" and "state it" in shown["fix"])
