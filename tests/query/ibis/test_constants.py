"""Constants of any size in Ibis: a question, or one of our refusals with a fix."""

import contextlib
import itertools
from decimal import Decimal

import pytest
from tests.query.front.front_tables import GROUPED
from tests.query.ibis.ibis_tables import PEOPLE as T
from tests.query.ibis.ibis_tables import asked, ibis

from deniable.errors import DeniableError, UnsupportedQuery
from deniable.query.integers import in_integers

NUMBERS = [0, 1, -1, 15, 0.1, -0.0, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 1e30, -1e308, 5e-324,
           1.7976931348623157e308, -1e-320, 10**18]  # fmt: skip
LARGER = [Decimal("1e30"), Decimal("1e400"), Decimal("-1e400"), Decimal("NaN"), Decimal("1e-400")]

PLACES = {
    "round": lambda x, a, _b: x.round(a),
    "clip": lambda x, a, b: x.clip(a, b),
    "bucket": lambda x, a, b: x.bucket([a, b], include_under=True, include_over=True),
    "histogram": lambda x, a, b: x.histogram(binwidth=a, base=b),
    "substr": lambda _x, a, b: T.city.substr(a, b).length(),
    "slice": lambda _x, a, b: T.city[a:b].length(),
    "arithmetic": lambda x, a, b: x * a + b,
    "division": lambda x, a, b: x / a - b,
    "integer division": lambda x, a, b: x // a + b,
    "power": lambda x, a, b: (x**a) % b,
    "case": lambda x, a, b: ibis.cases((x < a, b), else_=x),
    "interval": lambda _x, a, _b: (T.born + ibis.interval(weeks=a)).year(),
    "minutes": lambda _x, a, _b: (T.seen - ibis.interval(minutes=a)).hour(),
    "hours of a date": lambda _x, _a, _b: T.born.cast("timestamp").truncate("h").hour(),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_constant_of_any_size_is_a_question_or_a_refusal(place):
    numbers = [*NUMBERS, 10**30, 10**400, float("nan"), float("inf")]
    for number, (a, b) in enumerate(itertools.product(numbers, repeat=2)):
        x = (T.age, T.wage, T.income)[number % 3]
        try:
            made = PLACES[place](x, a, b)
            expression = (made.sum(), made.median(), made.clip(0, 10**200).mean())[number % 3]
        except Exception:  # Ibis itself refuses it
            continue
        with contextlib.suppress(DeniableError):
            in_integers(asked(expression.name("s"), unit=GROUPED))


@pytest.mark.parametrize("value", LARGER, ids=str)
def test_a_number_beyond_64_bits_is_a_float_or_refused(value):
    with contextlib.suppress(UnsupportedQuery):
        in_integers(asked((T.age + ibis.literal(value)).clip(0, 1).sum().name("s")))
    in_integers(asked((T.age + ibis.literal(2**64 - 1, "uint64")).clip(0, 1).sum().name("s")))


REFUSED = {
    "clip": (T.age.clip(10, 5), "above the upper end"),
    "bucket": (T.age.bucket([0, 10**30]), "64 bits"),
    "bucket of nan": (T.age.bucket([0, float("nan")]), "finite"),
    "interval": ((T.born + ibis.interval(weeks=10**16)).year(), "calendar"),
    "round": (T.wage.round(16), "digits"),
    "substr": (T.city.substr(2**63 - 1).length(), "64 bits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_constant_that_makes_a_declaration_false_is_refused_with_a_fix(case):
    made, words = REFUSED[case]
    with pytest.raises(UnsupportedQuery, match=words) as raised:
        asked(made.sum().name("s"))
    assert raised.value.fix
