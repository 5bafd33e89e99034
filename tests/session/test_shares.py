"""A session for an asker: all it charges is theirs, and nothing of another asker's can be seen.

Every public way to an answer is tried in two worlds, which differ in what another asker did. What
the first asker can see must be the same in both, but for noise, times and hashes.
"""

import inspect
import re
from collections.abc import Sequence

import ibis
import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import Curator
from deniable.errors import AskerStopped, BadParameter, BudgetExceeded, DataFailure
from deniable.losses.filters import Price
from deniable.release import Release

ROWS = dp.rows()
TABLE = pa.table(
    {
        "age": [20, 30, 40, 50],
        "sex": ["f", "m", "f", "m"],
        "city": ["Oslo", "Oslo", "Bergen", "Oslo"],
        "paid": [1.0, 2.0, 3.0, 4.0],
    }
)
SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 120, type="int"),
        "sex": dp.keys(["f", "m"]),
        "city": dp.keys(["Oslo", "Bergen"]),
        "paid": dp.column("float"),
    }
)
SHARE = dp.epsilon(0.5)
OTHER = "bobby"
SQL = "SELECT sex, COUNT(*) AS n FROM data GROUP BY sex"


def curator(ledger=None, budget=None, **kwargs):
    budget = dp.epsilon(4.0) if budget is None and ledger is None else budget
    return dp.open(TABLE, unit=ROWS, budget=budget, schema=SCHEMA, ledger=ledger, **kwargs)


def shared():
    s = curator()
    s.ledger.share("ann", amount=SHARE)
    s.ledger.share(OTHER, amount=dp.epsilon(1.5))
    return s


def step(scale=10.0):
    return dp.Laplace(scale=scale).on(dp.Sensitive(lambda: 4, l1=1, whole=True))


def by_run(s, spend):
    def algorithm():
        yield step(2 / spend.epsilon)
        yield [step(4 / spend.epsilon), step(4 / spend.epsilon)]

    return s.run(algorithm(), name="algorithm")


def by_open(s, spend):
    handle = s.open(dp.SparseVector(epsilon=spend.epsilon, answers=1, threshold=0.0))
    return s.release(handle.on(dp.Sensitive(lambda: -9e9, l1=1)))


def by_ibis(s, spend):
    table = ibis.table({"age": "int64", "sex": "string"}, name="data")
    return s.query(table.group_by("sex").agg(oldest=table.age.sum())).release(spend=spend)


CORE = {
    "release": lambda s, e: s.release(step(1 / e.epsilon), question="how many?"),
    "release unnamed": lambda s, e: s.release(step(1 / e.epsilon)),
    "release several": lambda s, e: s.release([step(2 / e.epsilon)] * 2, question="twice"),
    "run": by_run,
    "open": by_open,
    "sql": lambda s, e: s.sql(SQL).release(spend=e),
    "query": by_ibis,
}
STATISTICS = {
    "count": lambda s, e: s.count(spend=e),
    "sum": lambda s, e: s.sum("age", spend=e),
    "mean": lambda s, e: s.mean("age", spend=e),
    "variance": lambda s, e: s.variance("age", spend=e),
    "std": lambda s, e: s.std("age", spend=e),
    "median": lambda s, e: s.median("age", spend=e),
    "quantile": lambda s, e: s.quantile("age", [0.25, 0.75], spend=e),
    "histogram": lambda s, e: s.histogram("age", bins=4, spend=e),
    "crosstab": lambda s, e: s.crosstab("sex", "city", spend=e),
    "top_k": lambda s, e: s.top_k("sex", k=1, spend=e),
    "bounds": lambda s, e: s.bounds("paid", spend=e),
    "describe": lambda s, e: s.describe(["age"], spend=e),
}
WORKLOADS = {
    "ranges": lambda s, e: s.ranges("age", bins=4, spend=e).release,
    "marginals": lambda s, e: s.marginals(["sex", "city"], ways=2, spend=e),
    "hierarchy": lambda s, e: s.hierarchy(["city", "sex"], spend=e),
    "sample_and_aggregate": lambda s, e: s.sample_and_aggregate(max, "age", spend=e),
}
AUTO = {"auto": lambda s, e: s.mean("paid", spend=e, bounds="auto")}
WAYS = CORE | STATISTICS | WORKLOADS | AUTO
UNNAMED = ("release unnamed", "run", "open", "sample_and_aggregate")
STORED = {n: WAYS[n] for n in WAYS if n not in UNNAMED}
NO_ANSWERS = {"sql", "query", "spending", "fingerprint", "resume", "for_", "close", "plot"}
NO_ANSWERS |= {"explain_fit"}
ELSEWHERE = {"commission"}  # see test_elsewhere.py
IN_SQL = {"contributions", "running"}  # questions like the others, of columns that are not here
RUNS = {"synthesis", "synthesize", "fit", "select", "tune", "follow"}  # only `run` and `open`

TENTH = dp.epsilon(0.1)


def test_every_public_way_to_an_answer_is_tried_here():
    methods = {n for n, _ in inspect.getmembers(Curator, inspect.isfunction) if n[0] != "_"}
    assert methods - NO_ANSWERS - ELSEWHERE - IN_SQL - RUNS <= set(WAYS)


def charges(s):
    return [entry for entry in s.ledger.entries if entry.kind == "charge"]


# ---- whose is it?


@pytest.mark.parametrize("way", WAYS)
def test_what_an_askers_session_does_is_charged_to_them(way, tmp_path):
    with curator(tmp_path / "a.db", dp.epsilon(4.0)) as s:
        s.ledger.share("ann", amount=SHARE)
        common = s.left
        with curator(tmp_path / "a.db", asker="ann") as ann:
            WAYS[way](ann, TENTH)
            used = ann.spent
        paid = charges(s)
        assert paid
        assert {entry.asker for entry in paid} == {"ann"}
        assert s.ledger.standing("ann").used == sum((e.price for e in paid), Price.zero)
        assert s.left == common, "a share was set aside for it"
        assert used.epsilon == pytest.approx(0.1)


@pytest.mark.parametrize("way", WAYS)
def test_a_share_that_is_exceeded_says_what_is_left_of_it(way):
    s = shared()
    ann = s.for_("ann")
    ann.count(spend=dp.epsilon(0.375))
    lines = len(s.ledger.entries)
    with pytest.raises(BudgetExceeded) as caught:
        WAYS[way](ann, dp.epsilon(0.25))
    text = str(caught.value)
    assert "share" in text
    assert re.search(r"ε (= )?0\.12", text), text
    if way != "run":  # an algorithm pays as it goes
        assert len(s.ledger.entries) == lines


@pytest.mark.parametrize("way", WAYS)
def test_where_others_have_shares_an_asker_without_one_is_refused(way, tmp_path):
    s = curator(tmp_path / "a.db", dp.epsilon(4.0))
    early = curator(tmp_path / "a.db", asker="eve")
    WAYS[way](early, TENTH)  # no share yet: one budget for all
    WAYS[way](s, dp.epsilon(0.2))
    s.ledger.share("ann", amount=SHARE)
    lines = len(s.ledger.entries)
    for spend in (TENTH, dp.epsilon(0.2), dp.epsilon(0.3)):
        with pytest.raises(BudgetExceeded, match="eve has no share"):
            WAYS[way](early, spend)
    with pytest.raises(BudgetExceeded, match="eve has no share"):
        curator(tmp_path / "a.db", asker="eve")
    with pytest.raises(BudgetExceeded, match="Ann has no share"):
        s.for_("Ann")
    assert len(s.ledger.entries) == lines


# ---- stored answers


@pytest.mark.parametrize("first", ["curator", OTHER])
@pytest.mark.parametrize("way", STORED)
def test_a_stored_answer_of_another_is_paid_from_the_share_once(way, first):
    s = shared()
    ann = s.for_("ann")
    other = s if first == "curator" else s.for_(OTHER)
    drawn = STORED[way](other, TENTH)
    spent = s.spent
    mine = STORED[way](ann, TENTH)
    assert s.spent == spent, "free for the ceiling"
    assert ann.spent.epsilon == pytest.approx(0.1)
    again = STORED[way](ann, TENTH)
    assert ann.spent.epsilon == pytest.approx(0.1)
    if not isinstance(drawn, Release):
        assert drawn == mine == again
        return
    assert drawn.rows() == mine.rows() == again.rows()
    assert not mine.free
    assert "spent ε 0.1" in str(mine)
    assert "free" not in str(mine)
    assert "free" not in mine._repr_html_()
    assert again.free
    own = {entry.hash for entry in ann.ledger.entries}
    assert {mine.provenance.entry_hash, again.provenance.entry_hash} <= own
    assert (mine.provenance.entry, again.provenance.entry) == (None, None)


def test_without_shares_names_are_labels_on_one_budget():
    s = curator()
    ann, bob = s.for_("ann"), s.for_("bob")
    first = ann.count(spend=TENTH)
    again = bob.count(spend=TENTH)
    assert again.free
    assert first.rows() == again.rows()
    assert [entry.asker for entry in charges(s)] == ["ann"]
    assert ann.left == bob.left == s.left
    assert bob.ledger.entries == ()


# ---- what is seen


SEEN = ("sql", "sum", "count")


def act_nothing(s):
    pass


def failing(s):
    broken = dp.Sensitive(lambda: 1 / 0, l1=1)
    with pytest.raises(DataFailure):
        s.release(dp.Laplace(scale=100.0).on(broken), question=f"{OTHER} broke it")


def resumed(s):
    failing(s.for_(OTHER))
    s.resume(asker=OTHER)


def by_another_version(s):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp, "__version__", "0.0.1")
        for way in SEEN:
            WAYS[way](s, TENTH)


ACTS = {
    **{way: lambda s, way=way: WAYS[way](s.for_(OTHER), dp.epsilon(0.3)) for way in WAYS},
    **{f"the same {way}": lambda s, way=way: WAYS[way](s.for_(OTHER), TENTH) for way in SEEN},
    "the same by another version": lambda s: by_another_version(s.for_(OTHER)),
    **{f"the curator's {way}": lambda s, way=way: WAYS[way](s, TENTH) for way in SEEN},
    "a failure": lambda s: failing(s.for_(OTHER)),
    "a resumption": resumed,
    "a larger share": lambda s: s.ledger.share(OTHER, amount=dp.epsilon(0.25)),
    "another share": lambda s: s.ledger.share(f"{OTHER} jr", amount=dp.epsilon(0.25)),
    "a note": lambda s: s.ledger.note(f"{OTHER} is on leave"),
}


def visible(s, mine=()):
    """All that a session shows, but for what differs without telling anything."""
    shown = everything(s, mine).items()
    return {name: scrubbed(value) for name, value in shown if not name.startswith("noisy")}


def everything(s, mine=()):
    """All that a session shows: texts, HTML, attributes, what its methods that are free return."""
    found = {"session": s, "html": s._repr_html_(), "ledger": s.ledger._repr_html_()}
    for thing in (s, s.ledger):
        for name in dir(thing):
            value = getattr(thing, name) if name[0] != "_" else None
            if isinstance(value, Sequence) and not isinstance(value, str):
                value = list(value)
            if value is not None and not callable(value):
                found[f"{type(thing).__name__}.{name}"] = value
    found["halts"] = s.ledger.halts()
    found["failures"] = [str(s.ledger.failures()), [vars(f) for f in s.failures]]
    found["lines"] = [(entry.record, entry.kind, entry.standing) for entry in s.ledger.entries]
    query = s.sql(SQL)
    for spend in (TENTH, dp.epsilon(0.3)):
        plan = query.explain(spend=spend)
        found[f"plan {spend}"] = (str(plan), plan._repr_html_(), plan.left, query.due(spend=spend))
    with pytest.raises(BudgetExceeded) as caught:
        query.release(spend=dp.epsilon(3))
    found["error"] = str(caught.value)
    for n, release in enumerate(r for r in mine if isinstance(r, Release)):
        found[f"release {n}"] = (
            release.provenance.to_dict(),
            release.free,
            release.loss,
            release.cost,
            release.mechanisms,
            release.randomness,
            list(release.answers),
            release.certificate()["ledger"],
            release.certificate()["software"],
        )
        found[f"noisy {n}"] = (release._repr_html_(), str(release), str(release.certificate()))
    return found


def scrubbed(value):
    """As text, without times, hashes, addresses in memory, and cells of stored answers."""
    text = f"{value}\n{value!r}"
    text = re.sub(r"'(cells|keys)': \[[^\]]*\]", "", text)
    text = re.sub(r"<bound method .*?>>|0x[0-9a-f]+|\b[0-9a-f]{16,64}\b", "#", text)
    return re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?([+]00:00)?)?", "when", text)


@pytest.mark.parametrize("act", ACTS)
def test_an_asker_sees_nothing_of_what_others_do(act):
    worlds = []
    for others in (act_nothing, ACTS[act]):
        s = shared()
        ann = s.for_("ann")
        mine = [ann.count(spend=dp.epsilon(0.05))]
        others(s)
        mine.append(ann.count(spend=dp.epsilon(0.05)))
        mine += [WAYS[way](ann, TENTH) for way in SEEN]
        worlds.append(visible(ann, mine))
        assert len(s.ledger.entries) > len(ann.ledger.entries)
    before, after = worlds
    assert OTHER not in str(after)
    for name in before:
        assert before[name] == after[name], name


def test_no_hash_that_covers_others_lines_is_shown_to_an_asker():
    """With the hash of her own line an asker could test guesses of all that it covers."""
    s = shared()
    ann = s.for_("ann")
    mine = [WAYS[way](ann, dp.epsilon(0.01)) for way in WAYS]
    failing(ann)
    s.resume(asker="ann")
    shown = str(everything(ann, mine)) + repr(everything(ann, mine))
    for entry in s.ledger.entries:
        assert entry.hash[:12] not in shown
    names = {entry.hash for entry in ann.ledger.entries}
    assert {r.provenance.entry_hash for r in mine if isinstance(r, Release)} <= names
    found = [s.ledger.find(name) for name in names]
    assert {entry.sequence for entry in found} == {
        entry.sequence for entry in s.ledger.entries if entry.asker == "ann"
    }
    assert s.ledger.find("0" * 64) is None


def test_the_hashes_are_seen_where_a_curators_session_shows_them():
    """Else the test above could not fail."""
    s = shared()
    WAYS["sql"](s.for_(OTHER), TENTH)
    shown = str(everything(s)) + repr(everything(s))
    assert all(entry.hash in shown for entry in s.ledger.entries)


def test_the_walk_sees_what_a_curators_session_shows():
    """Else the test above could not fail."""
    s = shared()
    WAYS["sql"](s.for_(OTHER), TENTH)
    ACTS["a failure"](s)
    shown = visible(s)
    for part in ("Ledger.entries", "failures", "lines", "ledger", "session", "halts"):
        assert OTHER in shown[part], part


def test_an_askers_own_failure_stops_them_and_hides_its_cause():
    s = shared()
    ann = s.for_("ann")
    with pytest.raises(DataFailure):
        ann.release(dp.Laplace(scale=100.0).on(dp.Sensitive(lambda: {}["Smith"], l1=1)))
    with pytest.raises(AskerStopped):
        s.for_("ann").count(spend=TENTH)
    (failure,) = ann.failures
    assert failure.asker == "ann"
    assert "Smith" not in str(ann.failures)
    assert "Smith" in str(s.failures)
    assert "stopped: ann" in str(ann)
    s.resume(asker="ann")
    release = ann.count(spend=TENTH)
    assert (release.provenance.resumptions, release.provenance.failures) == (1, 1)
    assert "resumed once" in str(ann)


@pytest.mark.parametrize(
    "what", [lambda s: s.resume(), lambda s: s.resume(asker="ann"), lambda s: s.for_(OTHER)]
)
def test_what_is_the_curators_is_refused_to_askers(what):
    with pytest.raises(BadParameter, match="only the curator"):
        what(shared().for_("ann"))


def test_the_curator_sees_all():
    s = shared()
    s.for_("ann").count(spend=TENTH)
    s.for_(OTHER).sum("age", spend=TENTH)
    assert {entry.asker for entry in charges(s)} == {"ann", OTHER}
    assert s.spent == dp.epsilon(0.1) + dp.epsilon(0.1)
    assert s.left.epsilon == pytest.approx(2.0), "shares count in full"
