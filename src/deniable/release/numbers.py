"""Numbers for people: ε and ± to three digits, δ as 1e-07; spent and ± round up, left rounds down.

>>> digits(0.12345), digits(1234.5), digits(12345.6), digits(0.00001234)
('0.123', '1,234', '12,346', '1.23e-05')
>>> digits(0.3201, "up"), digits(0.1899, "down")
('0.321', '0.189')
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final, Literal

from deniable.losses import Approx, Loss, Pure
from deniable.losses.rounding import RESOLUTION

Direction = Literal["near", "up", "down"]

_ALL_BUT: Final = 99.9999  # percent; beyond it one is sure for all that matters
_ROUNDING: Final = {"near": ROUND_HALF_EVEN, "up": ROUND_CEILING, "down": ROUND_FLOOR}


def digits(number: float, direction: Direction = "near", *, significant: int = 3) -> str:
    """Three significant digits, never fewer than the whole part has; never 0.000."""
    if number == 0 or not math.isfinite(number):
        return {math.inf: "∞", -math.inf: "-∞"}.get(number, "0" if number == 0 else "?")
    exact = Decimal(number)
    smallest = exact.adjusted() - significant + 1
    if -5 < exact.adjusted() < 15:
        text = f"{_rounded(exact, min(smallest, 0), direction):,f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return _powers(_rounded(exact, smallest, direction), significant)


def shown_error(error: float) -> str:
    """What stands after a ±, in plans and answers alike: never less than the error there is.

    >>> shown_error(12.31), shown_error(1234.1), shown_error(6.0)
    ('12.4', '1,235', '6')
    """
    return digits(error, "up")


def decimals(number: float, places: int = 0) -> str:
    """So many decimals; what rounds to zero is 0, on whichever side of it it lies.

    >>> decimals(-0.3), decimals(-1234.5, 2)
    ('0', '-1,234.50')
    """
    return f"{number:z,.{places}f}"


def _powers(rounded: Decimal, significant: int) -> str:
    """1.23e-05: two digits of exponent, as floats print it."""
    figures, _, power = f"{rounded:.{significant - 1}e}".partition("e")
    return f"{figures}e{int(power):+03d}"


def _rounded(exact: Decimal, place: int, direction: Direction) -> Decimal:
    """Rounded at that decimal place; the double called 0.1 is a tenth, and rounds up to 0.1."""
    step = Decimal(1).scaleb(place)
    near = exact.quantize(step, ROUND_HALF_EVEN)
    same = abs(near - exact) <= abs(exact) * Decimal(RESOLUTION)
    return near if same else exact.quantize(step, _ROUNDING[direction])


def meaning(loss: Loss, delta: float = 1e-6) -> str:
    """What a loss means for one person, as odds; δ is the chance that it does not hold.

    By Bayes' rule odds grow by e^ε at most: even odds end at e^ε : 1, which is 1/(1 + e^−ε).

    >>> meaning(Pure(1.0)).partition(" can ")[2]
    'become at most 74 % sure'
    """
    tells = isinstance(loss, Pure | Approx)
    epsilon = float(getattr(loss, "epsilon", math.inf)) if tells else loss.epsilon_at(delta)
    slack = getattr(loss, "delta", 0.0) if tells else delta
    sure = 100 / (1 + math.exp(-epsilon))
    shown = f"{math.ceil(sure)}" if sure <= 99 else digits(sure, "up", significant=6)
    most = f"at most {shown} % sure" if sure < _ALL_BUT else "all but certain"
    but = f", except with probability {probability(slack, 'up')}" if slack else ""
    return (
        "someone who starts out 50 % sure that a given person is in the data can become "
        f"{most}{but}"
    )


def probability(delta: float, direction: Direction = "near") -> str:
    """A δ, always in powers of ten: 1e-07, 7.5e-08."""
    if delta == 0:
        return "0"
    exact = Decimal(delta)
    figures, _, power = _powers(_rounded(exact, exact.adjusted() - 2, direction), 3).partition("e")
    return f"{figures.rstrip('0').rstrip('.')}e{power}"


def amount(loss: Loss, direction: Direction = "near") -> str:
    """A loss in its own currency: ε 0.5, δ 1e-07; a δ of 0 is not named.

    >>> amount(Approx(0.5, delta=1e-7)), amount(Approx(0.5, delta=0.0))
    ('ε 0.5, δ 1e-07', 'ε 0.5')
    """
    parts = [
        f"{loss.symbols[name]} {(probability if name == 'delta' else digits)(figure, direction)}"
        for name, figure in loss.figures().items()
        if figure or name != "delta"
    ]
    return ", ".join(parts) if parts else f"ε {digits(loss.epsilon_at(1e-9), 'up')} at δ 1e-09"


def remaining(loss: Loss, *, groups: bool) -> str:
    """What is left, rounded down; δ is what may still pay for private group selection.

    >>> remaining(Approx(2.5, delta=2.5e-8), groups=True)
    'ε 2.5, plus δ 2.5e-08 for private group selection'
    """
    if not isinstance(loss, Approx):
        return amount(loss, "down")
    epsilon = amount(Pure(loss.epsilon), "down")
    delta = f", plus δ {probability(loss.delta, 'down')}" if loss.delta else "; no δ"
    return epsilon + (f"{delta} for private group selection" if groups else "")


def percent(share: float) -> str:
    """A share in percent, with as many digits as it takes to tell it from 100 %.

    >>> percent(0.999), percent(0.0412), percent(1 - 1e-9)
    ('99.9 %', '4.12 %', '99.9999999 %')
    """
    missing = 1 - share
    digits = 2 - math.floor(math.log10(missing)) if missing else 3
    return f"{100 * share:.{digits}g} %"


def plus_minus(value: object, error: float | dt.timedelta | None) -> str:
    """41,210 ± 1,881: the value to as many decimals as its ± is worth.

    >>> plus_minus(dt.date(2020, 7, 18), dt.timedelta(days=12))
    '2020-07-18 ± 12 days'
    """
    if isinstance(error, dt.timedelta):
        return f"{value} ± {_while(error)}"
    if not isinstance(value, float | int) or isinstance(value, bool):
        return str(value)
    if error is None or not math.isfinite(error):
        return f"{value:,}" if isinstance(value, int) else digits(value, significant=6)
    spread = shown_error(error)
    if isinstance(value, int):
        return f"{value:,} ± {spread}"
    if "e" in spread:
        return f"{digits(value, significant=6)} ± {spread}"
    places = max(0, 2 - Decimal(error).adjusted()) if error else 6
    return f"{decimals(value, places)} ± {spread}"


def _while(time: dt.timedelta) -> str:
    """12 days; below two days hours, below two hours minutes; rounded up."""
    for unit, name in ((dt.timedelta(days=1), "days"), (dt.timedelta(hours=1), "hours")):
        if time >= 2 * unit or (unit.days and not time % unit):
            count = math.ceil(time / unit)
            return f"{count:,} {name if count != 1 else name[:-1]}"
    return f"{math.ceil(time / dt.timedelta(minutes=1))} min"
