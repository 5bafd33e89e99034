"""The SQL of every operator, every stored type and every kind of question, word by word.

Other tests show what statements find; this one, that no statement changes unnoticed, whichever part
of `query.compile` it is from: arithmetic, casts, contributions, dialect, duckdb, expressions,
moments, nodes, postgres, reading, reals, relations, spark, statements or words. After a change that
is meant, `python -m tests.query.compile.test_written` writes them anew, and the difference is for
people to read.
"""

import itertools
from pathlib import Path

import pytest

from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB
from deniable.query.compile.expressions import compiled
from deniable.query.compile.postgres import Postgres
from deniable.query.compile.reading import reading, reading_listed
from deniable.query.compile.relations import Stored
from deniable.query.compile.spark import Spark
from deniable.query.compile.statements import statements
from deniable.query.integers import in_integers

from . import corpus

ENGINES = {engine.name: engine for engine in (DuckDB(), Postgres(), Spark())}
PARTS = [
    (name, part)
    for name, part in itertools.product(ENGINES, ("expressions", "columns", "questions"))
    if (name, part) != ("postgres", "questions")  # they are Spark's, but for such spellings
]
PLACE = Path(__file__).parent / "written"


def texts(engine, part):
    """Pairs of a name and its SQL."""
    match part:
        case "expressions":
            for each in corpus.expressions():
                columns = {name: sql.name(name) for name in corpus.NAMES}
                yield repr(each), engine.write(compiled(each, dialect=engine, columns=columns))
        case "columns":
            for name, read, spelling in corpus.stored(engine):
                given = {"spelling": spelling, "dialect": engine}
                made = [reading(read, **given)]
                made += reading_listed(read, **given) if read.facts.keys is not None else []
                yield f"{name} in {spelling}", "\n".join(map(engine.write, made))
        case "questions":
            for name, question in corpus.questions():
                plan = in_integers(question, bins=256)
                made = statements(plan, dialect=engine, tables=tables(engine), secret="secret")
                yield name, "\n".join(each.text for each in made)


def tables(engine):
    types = corpus.TYPES[engine.name]
    stored = {"t": types, "public": types}
    stored |= {name: types | {"u": kind} for name, kind in corpus.IDS[engine.name].items()}
    return {name: Stored(source=sql.table(name), types=each) for name, each in stored.items()}


# Named apart from tests that need a server or a cluster, so that it runs where those are left out.
@pytest.mark.parametrize(
    "place", range(len(PARTS)), ids=[f"{name[:2]}-{part}" for name, part in PARTS]
)
def test_no_statement_changes_unnoticed(place):
    name, part = PARTS[place]
    held = (PLACE / f"{name}_{part}.sql").read_text(encoding="utf-8")
    known = [block.partition("\n")[::2] for block in held.split("\n\n")[:-1]]
    assert [(f"-- {called}", text) for called, text in texts(ENGINES[name], part)] == known


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    for name, part in PARTS:
        blocks = (f"-- {called}\n{text}\n\n" for called, text in texts(ENGINES[name], part))
        file = PLACE / f"{name}_{part}.sql"
        file.write_text("".join(blocks), encoding="utf-8", newline="\n")
