"""The mutants are Python, differ from what was there, and are the same for the same seed."""

import ast
import random
import tomllib

import pytest

from .__main__ import choose
from .covering import COVER, HOME, ROOT, covering, naming
from .scratch import COLLECTING, LEFT_OUT, CleanCopyFails, Scratch, busy
from .weakening import mutants

SOURCE = """
def price(epsilon, times):
    if times < 1:
        raise ValueError("at least 1 + 1")
    self.ledger.charge(times)
    value = compute()
    return up(2 * epsilon, max(times, 0))
"""


def test_each_kind_of_weakening_is_found_and_messages_are_left_alone():
    found = {(m.kind, m.applied(SOURCE)) for m in mutants("x.py", SOURCE)}
    kinds = {kind for kind, _ in found}
    assert kinds >= {
        "flip a comparison", "skip a branch", "forget a statement", "charge too late",
        "round to nearest", "drop a factor", "swap a function", "remove a clamp",
    }  # fmt: skip
    assert all('ValueError("at least 1 + 1")' in text for _, text in found)
    assert any("value = compute()\n    self.ledger.charge" in text for _, text in found)


def test_mutants_are_python_and_change_something():
    for mutant in random.Random(0).sample(choose(list(COVER), seed=1, count=2000), 60):
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        ast.parse(mutant.applied(text))
        assert mutant.applied(text) != text


def test_the_same_seed_chooses_the_same():
    assert choose(["losses"], 3, 20) == choose(["losses"], 3, 20) != choose(["losses"], 4, 20)


def test_only_places_that_are_asked_for_are_chosen():
    line = choose(["units"], 1, 1)[0].line
    chosen = choose(list(COVER), 1, 50, at=["losses/amplify.py", f"units.py:{line}"])
    assert {m.path for m in chosen} == {f"{HOME}/losses/amplify.py", f"{HOME}/units.py"}
    assert {m.line for m in chosen if m.path.endswith("units.py")} == {line}
    assert {m.kind for m in choose(["losses"], 1, 9, of=["off by one"])} == {"off by one"}


def test_the_nearest_tests_come_first():
    path = f"{HOME}/losses/pairs/discrete.py"
    line = (ROOT / path).read_text(encoding="utf-8").partition("class StaircasePair")[0].count("\n")
    assert covering(path, line)[0] == path  # the examples of the module itself
    assert "tests/losses/test_pairs.py::test_staircase_atoms_are_those_of_its_density" in naming(
        path, line + 2
    )
    assert covering(f"{HOME}/losses/amplify.py")[1] == "tests/losses/test_amplify.py"


def test_the_file_of_the_modules_name_comes_before_tests_that_name_it():
    path = f"{HOME}/query/integers.py"
    assert naming(path, 60)[0] == "tests/query/test_integers.py"
    assert not any(test.startswith(f"{naming(path, 60)[0]}::") for test in naming(path, 60))


def test_a_docstring_that_speaks_of_charges_is_left_in_its_place():
    source = 'def f():\n    """As x.charge(1) does."""\n    y = 1\n    x.charge(y)\n    z = 2\n'
    late = [m.now for m in mutants("x.py", source) if m.kind == "charge too late"]
    assert late == ["z = 2\n    x.charge(y)"]


def test_what_only_the_type_checker_sees_is_left_alone():
    source = "if TYPE_CHECKING:\n    import x\nelif TYPES:\n    y = 1\n"
    assert [m.was for m in mutants("x.py", source)] == ["TYPES"]


def test_lists_and_texts_are_not_subtracted():
    source = "x = [1] + y\nz = 'a' + b\nw = f'{a}' + c + d\nv = a + b\n"
    signs = [m.now for m in mutants("x.py", source) if m.kind == "change a sign"]
    assert signs == ["(a - b)"]


@pytest.mark.parametrize("package", COVER)
def test_every_package_is_there_and_covered_by_its_own_tests(package):
    place = ROOT / HOME / package
    assert place.is_dir() or place.with_suffix(".py").is_file()
    path = f"{HOME}/{package}/__init__.py" if place.is_dir() else f"{HOME}/{package}.py"
    assert all((ROOT / each).exists() for each in covering(path))
    assert all((ROOT / each).exists() for each in COVER[package])


def test_equivalents_are_argued():
    listed = tomllib.loads((ROOT / "tests/mutants/equivalents.toml").read_text(encoding="utf-8"))
    for each in listed["mutant"]:
        assert set(each) == {"path", "was", "now", "why"}
        assert len(each["why"]) > 40
        assert (ROOT / each["path"]).is_file()


class Scripted(Scratch):
    """Runs no tests: `fails` says of a list of tests which of them fails first."""

    def __init__(self, folder, fails):
        self.folder, self.broken, self.writes, self.fails = folder, set(), 0, fails

    def _run(self, tests, seconds, *, slow, hangs=60):
        left = [t for i, t in enumerate(tests) if t[0] != "-" and tests[i - 1] != "--deselect"]
        out = {t for i, t in enumerate(tests) if tests[i - 1] == "--deselect"}
        failed = self.fails([t for t in left if t not in out])
        return int(bool(failed)), failed, ""


@pytest.mark.parametrize(
    ("fails", "outcome"),
    [
        (lambda tests: {"b"} if "b" in tests else set(), ("killed", "b")),
        (lambda tests: {"b"} if {"a", "b"} <= {*tests} else set(), ("survived", "")),
        (
            lambda tests: {"b"} if {"a", "b"} <= {*tests} else {"c"} & {*tests},
            ("killed", "c"),
        ),
    ],
    ids=["fails by itself", "fails after another only", "then another fails by itself"],
)
def test_only_a_test_that_fails_by_itself_judges(fails, outcome, tmp_path):
    mutant = copied(tmp_path)
    scratch = Scripted(tmp_path, fails)
    assert scratch.tried(mutant, ["a", "b", "c"], 9, slow=True) == outcome


def copied(folder):
    """A mutant, and its file in the folder."""
    mutant = choose(["units"], 1, 1)[0]
    file = folder / mutant.path
    file.parent.mkdir(parents=True)
    file.write_text((ROOT / mutant.path).read_text(encoding="utf-8"), encoding="utf-8")
    return mutant


class Crashing(Scratch):
    """pytest crashes on the weakened copy, and on the clean one as well where that is `broken`."""

    def __init__(self, folder, mutant, *, broken):
        self.folder, self.broken, self.writes = folder, set(), 0
        self.file, self.crashes = folder / mutant.path, broken
        self.clean = self.file.read_text(encoding="utf-8")

    def _run(self, tests, seconds, *, slow, hangs=60):
        weakened = self.file.read_text(encoding="utf-8") != self.clean
        return (4 if weakened or self.crashes else 0), set(), ""


def test_a_crash_kills_only_where_the_clean_copy_does_not_crash(tmp_path):
    mutant = copied(tmp_path)
    scratch = Crashing(tmp_path, mutant, broken=False)
    assert scratch.tried(mutant, ["a"], 9, slow=True) == ("killed", COLLECTING)
    assert scratch.doubt({"a"}) == set()
    scratch.crashes = True  # the machine broke meanwhile: nothing is credited to that
    with pytest.raises(CleanCopyFails):
        scratch.tried(mutant, ["a"], 9, slow=True)
    with pytest.raises(CleanCopyFails):
        scratch.doubt({"a"})


def test_weakened_code_is_not_given_what_all_programs_share():
    file, _, name = LEFT_OUT[0].partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {name.partition('[')[0]}(" in text
    given = [each for each in (ROOT / "tests").rglob("test_*.py") if each.parent.name != "mutants"]
    named = [each for each in given if '"/dev/' in each.read_text(encoding="utf-8")]
    assert named == [ROOT / file]


def test_a_busy_machine_gets_more_time_and_an_idle_one_no_less(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (16.0, 1.0, 1.0))
    assert busy() == 8
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 9.0, 9.0))
    assert busy() == 1
