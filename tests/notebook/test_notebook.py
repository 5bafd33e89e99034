"""In a notebook with nothing but ipykernel beside us, everything a person prints is drawn."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPEN = """
import deniable as dp
schema = dp.Schema(columns={
    "age": dp.bounds(0, 120, type="int"), "kind": dp.keys(["a", "b"]), "name": dp.column("text"),
})
s = dp.open("people.csv", unit=dp.rows(), budget=dp.epsilon(2.0), schema=schema)
q = s.sql("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind")
"""
CELLS = {
    "open": OPEN,
    "session": "s",
    "schema": "schema",
    "question": "q",
    "plan": "q.explain(spend=dp.epsilon(0.5))",
    "answer": "r = q.release(spend=dp.epsilon(0.5)); r",
    "certificate": "r.certificate()",
    "ledger": "s.ledger",
    "loss": "s.left",
    "error": 's.sql("SELECT AVG(name) FROM people")',
    "plot without matplotlib": "r.plot()",
    "parquet": """
import duckdb
duckdb.sql("COPY (FROM range(100) t(n)) TO 'numbers.parquet'")
dp.open("numbers.parquet", unit=dp.rows(), budget=dp.epsilon(1.0)).count(spend=dp.epsilon(0.5))
""",
    "connection": """
held = duckdb.connect()
held.sql("CREATE TABLE numbers AS FROM range(100) t(n)")
dp.open(held, unit=dp.rows(), budget=dp.epsilon(1.0)).count(spend=dp.epsilon(0.5))
""",
    "statistics": 's.mean("age", spend=dp.epsilon(0.1))',
}

pytestmark = pytest.mark.xdist_group("notebook")  # one kernel for all of them


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Every cell's output, from one real kernel in a fresh environment."""
    python = subprocess.run(
        [ROOT / "script" / "setup", "notebook"], check=True, capture_output=True, text=True
    ).stdout.strip()
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "people.csv").write_text("age,kind,name\n30,a,x\n40,b,y\n50,a,z\n", encoding="utf-8")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DENIABLE"))}
    done = subprocess.run(
        [ROOT / python, ROOT / "tests" / "notebook" / "kernel.py"],
        input=json.dumps(list(CELLS.values())),
        cwd=folder,
        env=plain | {"PYTHONUTF8": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return dict(zip(CELLS, json.loads(done.stdout), strict=True))


def test_opening_shows_nothing_and_warns_of_nothing(outputs):
    assert outputs["open"] == []


@pytest.mark.parametrize(
    "cell",
    ["session", "schema", "question", "plan", "answer", "certificate", "ledger", "loss"],
)
def test_what_people_print_is_drawn(outputs, cell):
    (shown,) = outputs[cell]
    assert "error" not in shown
    assert shown["text/html"].lstrip().startswith(("<div", "<table"))
    assert "text/plain" in shown


@pytest.mark.parametrize("cell", ["statistics", "parquet", "connection"])
def test_a_question_is_answered_by_the_core_alone(outputs, cell):
    (shown,) = outputs[cell]
    assert " ± " in shown["text/plain"]


@pytest.mark.parametrize("cell", ["error", "plot without matplotlib"])
def test_an_error_is_its_message_alone(outputs, cell):
    (shown,) = outputs[cell]
    assert shown["error"].startswith("error[DP")
    assert "Traceback" not in shown["error"]
    assert "fix:" in shown["error"]
