"""Whatever is typed, the answer is a question or one of our errors."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.front.front_tables import GROUPED, ask
from tests.query.front.test_accepted import PROGRAMS, SAME
from tests.query.front.test_refused import REFUSED

from deniable.errors import DeniableError
from deniable.query.algebra import Question

TEXTS = [*PROGRAMS, *(sql for pair in SAME for sql in pair), *(case[0] for case in REFUSED)]
SPICE = [
    ")",
    "(",
    ",",
    "*",
    "'",
    '"',
    "--",
    ";",
    "NULL",
    "LATERAL",
    "PIVOT",
    "QUALIFY",
    "WINDOW",
    "::int",
    "[1]",
    "$1",
    ".",
    "\\",
    "MAP",
    "STRUCT",
    "UNNEST(age)",
    "GROUPING(sex)",
    "{'a':1}",
    "x->x",
    "COLLATE",
    "INTERVAL",
    "DATE",
    "'3days'",
    "EXCLUDE(age)",
    "OVER",
    "0x1F",
    "1e5",
    "€",
]
WORDS = [*sorted({w for text in TEXTS for w in text.replace("(", " ( ").split()}), *SPICE]


def _try(sql: str) -> None:
    with contextlib.suppress(DeniableError):
        assert isinstance(ask(sql, unit=GROUPED, private_keys=True), Question)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_words_in_any_order_raise_only_our_errors(tail):
    _try("SELECT " + tail)


@settings(max_examples=250)
@given(st.data())
def test_questions_with_parts_cut_swapped_and_doubled_raise_only_our_errors(data):
    words = data.draw(st.sampled_from(TEXTS)).replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(words) - 1)))
        how = data.draw(st.sampled_from(["cut", "double", "put"]))
        if how == "cut":
            del words[at : at + 1]
        elif how == "double":
            words[at:at] = words[at : at + 3]
        else:
            words[at:at] = [data.draw(st.sampled_from(WORDS))]
    _try(" ".join(words))


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_any_text_at_all_raises_only_our_errors(text):
    _try(text)
    _try(f"SELECT {text} FROM people")
