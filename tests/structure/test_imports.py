"""What importing deniable loads, and what only a few files may touch."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.parsed import nodes

import deniable

SOURCE = Path(deniable.__file__).parent
HEAVY = [
    "numpy",
    "scipy",
    "duckdb",
    "sqlglot",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "psycopg",
    "ibis",
    "mpmath",
]


def test_importing_deniable_loads_no_heavy_package():
    code = f"import sys, deniable; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("given", "left"), [(None, "20"), ("24", "24")])
def test_threads_of_linear_algebra_do_not_spin_unless_told_to(given, left):
    name = "OPENBLAS_THREAD_TIMEOUT"
    code = f"import os, deniable; print(os.environ[{name!r}])"
    environment = {key: value for key, value in os.environ.items() if key != name}
    environment |= {} if given is None else {name: given}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == left


def test_a_plain_question_loads_no_package_that_it_does_not_need(tmp_path):
    needed = ("numpy", "duckdb", "sqlglot")
    path = f"{tmp_path}/data.parquet"
    code = (
        "import sys, duckdb, deniable as dp\n"
        f"duckdb.execute(\"COPY (SELECT 1.0::DOUBLE AS x) TO '{path}'\")\n"
        "schema = dp.Schema(columns={'x': dp.bounds(0, 9)})\n"
        "for budget in (dp.epsilon(1.0), dp.rho(0.5)):\n"
        f"    s = dp.open({path!r}, unit=dp.rows(), budget=budget, schema=schema)\n"
        "    s.sql('SELECT COUNT(*), AVG(x) FROM data').release(spend=budget).rows()\n"
        f"print([m for m in {HEAVY} if m in sys.modules and m not in {needed}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


OTHERS = (
    "deniable.losses.profile",
    "deniable.losses.pairs",
    "deniable.losses.pricing",
    "deniable.mechanisms.combine.sampled",
    "deniable.mechanisms.combine.shuffled",
    "deniable.mechanisms.counting",
    "deniable.mechanisms.frameworks",
    "deniable.mechanisms.local",
    "deniable.mechanisms.streams",
    "deniable.ledger.stores.postgres",
    "deniable.ledger.stores.sqlite",
    "deniable.query.backends.postgres",
    "deniable.query.backends.spark",
    "deniable.query.ibis",
    "deniable.session.sources.arrow_tables",
    "deniable.session.sources.arrow_values",
    "deniable.session.sources.csv_files",
    "deniable.session.sources.duckdb_tables",
    "deniable.session.sources.ibis_tables",
    "deniable.session.sources.pandas_frames",
    "deniable.session.sources.postgres_tables",
    "deniable.session.sources.spark_frames",
    "deniable.statistics.building",
    "numpy.polynomial",
    "sqlite3",
)


def test_a_tiny_question_loads_no_module_that_only_other_questions_need(tmp_path):
    path = f"{tmp_path}/data.parquet"
    code = (
        "import sys, duckdb, deniable as dp\n"
        f"duckdb.execute(\"COPY (SELECT 1 AS id, 1.0::DOUBLE AS x) TO '{path}'\")\n"
        "schema = dp.Schema(columns={'x': dp.bounds(0, 9)})\n"
        "unit, budget = dp.person('id', rows=2), dp.epsilon(1.0)\n"
        f"s = dp.open({path!r}, unit=unit, budget=budget, schema=schema)\n"
        "print(s.sql('SELECT COUNT(*), AVG(x) FROM data').release(spend=budget))\n"
        f"print([m for m in {OTHERS} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_mechanism_that_was_not_imported_is_found_by_its_name_in_ledgers():
    code = (
        "import sys\n"
        "from deniable.losses import Loss\n"
        "from deniable.mechanisms import Mechanism\n"
        "assert not [m for m in sys.modules if 'randomized_response' in m]\n"
        "print(Mechanism.named('randomized_response').__name__, Mechanism.named('nonsense'))\n"
        "print(Loss.named('profile').__name__, Loss.named('nonsense'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["RandomizedResponse", "None", "Profile", "None"]


def test_every_public_name_can_be_loaded_and_documents_itself():
    for public in deniable.__all__:
        value = getattr(deniable, public)
        assert public == "__version__" or value.__doc__, public


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        deniable.nonsense  # noqa: B018


LAZY = sorted(path for path in SOURCE.rglob("__init__.py") if "on_first_use(" in path.read_text())


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_what_a_type_checker_sees_is_what_is_loaded_on_first_use(path):
    package = ".".join(("deniable", *path.parent.relative_to(SOURCE).parts))
    held = importlib.import_module(package)
    (block,) = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.If)]
    seen = {(n.module, a.name) for n in block.body for a in n.names}
    assert seen
    for module, name in seen:
        value = getattr(held, name)
        assert value is getattr(importlib.import_module(f"{package}.{module}"), name)
        assert name not in {each.stem for each in path.parent.iterdir()}
    for name in held.__all__:
        assert name in dir(held)
        assert hasattr(held, name)


def called() -> set[tuple[str, str]]:
    """(file, name) of every function or method that a file calls."""
    return {
        (str(path.relative_to(SOURCE)), getattr(node.func, "attr", getattr(node.func, "id", "")))
        for path in SOURCE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Call)
    }


RANDOM = {"RAND_bytes", "urandom", "default_rng", "token_bytes", "getrandbits", "SystemRandom"}


def test_randomness_is_drawn_only_in_sampling():
    drawn = {(path, name) for path, name in called() if name in RANDOM}
    assert drawn
    assert not [(path, name) for path, name in drawn if not path.startswith("sampling/")]
