"""Fair integers, coins and shuffles, exactly: what comparing uniform words can give."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter
from deniable.parameters import non_negative, probability, value_as_fraction, whole

from .exact import exp_bounds
from .floats import EXP_ERROR, check_floats
from .lazy import Uniform
from .source import Source, Words, chosen

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Number = Fraction | float
# For a number of bits, integers lo ≤ p·2ᵇⁱᵗˢ ≤ hi.
Bounds = Callable[[int], tuple[int, int]]

_FULL = 1 << 64
_FEW_COINS = 1 << 16
_BITS_AT_ONCE = 1 << 26


def below(bound: int, count: int = 1, *, source: Source | None = None) -> Integers:
    """Integers uniform in [0, bound).

    The remainder of a word, where words in the last incomplete run of `bound` are drawn again.
    They are int64, or uint64 for a bound above 2⁶³, or Python integers for one above 2⁶⁴.
    """
    bound, count = whole("bound", bound), whole("count", count, least=0)
    source = chosen(source)
    if bound > _FULL:
        large: Integers = np.empty(count, dtype=object)
        large[:] = [_below_large(bound, source) for _ in range(count)]
        return large
    words = source.words(count)
    excess = _FULL % bound
    if excess:
        words = _redraw(words, np.uint64(_FULL - excess), source)
    if bound < _FULL:
        words = words % np.uint64(bound)
    drawn: Integers = words.view(np.int64 if bound <= 1 << 63 else np.uint64)
    return drawn


def bernoulli(p: Number, count: int = 1, *, source: Source | None = None) -> Flags:
    """Coins that are True with probability p, a rational number (a float is the number it is).

    U < p is decided by 64 bits of U, unless they are the first 64 bits of p.
    """
    probability("p", p)
    exact = value_as_fraction(p)

    def bounds(bits: int) -> tuple[int, int]:
        floor, rest = divmod(exact.numerator << bits, exact.denominator)
        return floor, floor + (rest > 0)

    return _coins(bounds, whole("count", count, least=0), chosen(source))


def bernoulli_exp(
    x: Number | ArrayLike, count: int | None = None, *, source: Source | None = None
) -> Flags:
    """Coins that are True with probability e⁻ˣ: `count` for a number x, one each for an array.

    Decided in float64 where U is clear of its error, else in exact arithmetic with more bits of U.
    """
    if not isinstance(x, np.ndarray | list | tuple):
        non_negative("x", x)
        bounds = partial(exp_bounds, -value_as_fraction(x))
        return _coins(
            bounds, whole("count", 1 if count is None else count, least=0), chosen(source)
        )
    rates = np.asarray(x, dtype=np.float64)
    if count is not None or not (np.isfinite(rates).all() and (rates >= 0).all()):
        raise BadParameter(
            "x must be finite numbers of at least 0, with no count beside an array",
            why="each is the exponent of one coin's probability e⁻ˣ",
        )
    return _exp_coins(rates.ravel(), chosen(source)).reshape(rates.shape)


def binomial(trials: int, p: Number, count: int = 1, *, source: Source | None = None) -> Integers:
    """How many of `trials` independent coins of probability p come up, exactly.

    All coins are compared with p at once, one binary digit at a time. Where p has a 1, coins whose
    random bit is 0 are below p: count them and drop them; where it has a 0, coins whose bit is 1
    are above: drop them. About half are dropped at each digit, so 2·trials random bits are counted
    in all, 64 at a time. (Where coins are few, they are simply tossed.)
    """
    trials, count = whole("trials", trials, least=0), whole("count", count, least=0)
    if trials > 1 << 50:
        raise BadParameter.of("trials", trials, must="a whole number up to 2⁵⁰")
    probability("p", p)
    rest = value_as_fraction(p)
    source = chosen(source)
    if rest == 1:
        return np.full(count, trials, dtype=np.int64)
    if trials * count <= _FEW_COINS:
        coins = bernoulli(rest, trials * count, source=source)
        heads: Integers = coins.reshape(count, trials).sum(axis=1, dtype=np.int64)
        return heads
    total, undecided = np.zeros(count, dtype=np.int64), np.full(count, trials, dtype=np.int64)
    alive = np.arange(count) if trials else np.arange(0)
    while rest and alive.size:
        rest *= 2
        halves = _binomial_half(undecided[alive], source)
        if rest >= 1:
            rest -= 1
            total[alive] += halves
        undecided[alive] -= halves
        alive = alive[undecided[alive] > 0]
    return total


def bernoulli_bits(p: Number, count: int = 1, *, source: Source | None = None) -> Words:
    """Words of 64 independent coins each, one per bit, that are 1 with probability p, exactly.

    All coins are compared with p at once, one binary digit at a time, as in `binomial`. A word is
    done when its last coin is decided, so about eight random words are used for each.
    """
    probability("p", p)
    rest, count, source = value_as_fraction(p), whole("count", count, least=0), chosen(source)
    ones = np.uint64(_FULL - 1)
    if rest == 1:
        return np.full(count, ones)
    heads, undecided = np.zeros(count, dtype=np.uint64), np.full(count, ones)
    alive = np.arange(count)
    while rest and alive.size:
        rest *= 2
        bits, open_ = source.words(alive.size), undecided[alive]
        if rest >= 1:
            rest -= 1
            heads[alive] |= open_ & ~bits
            open_ = open_ & bits
        else:
            open_ = open_ & ~bits
        undecided[alive] = open_
        alive = alive[open_ != 0]
    return heads


def permutation(size: int, *, source: Source | None = None) -> Integers:
    """A uniformly random order of 0 … size − 1: the order of random keys, drawn again on a tie."""
    size, source = whole("size", size, least=0), chosen(source)
    while True:
        keys = source.words(size)
        order = np.argsort(keys)
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order.astype(np.int64, copy=False)


def poisson_mask(size: int, rate: Number, *, source: Source | None = None) -> Flags:
    """Which of `size` records enter a Poisson sample: each by itself with probability `rate`."""
    probability("rate", rate)
    return bernoulli(rate, whole("size", size, least=0), source=source)


def _below_large(bound: int, source: Source) -> int:
    while True:
        value = source.integer((bound - 1).bit_length())
        if value < bound:
            return value


def _redraw(words: Words, limit: np.uint64, source: Source) -> Words:
    """The words, with those at or above the limit replaced by fresh ones below it."""
    rejected = np.flatnonzero(words >= limit)
    if rejected.size:
        words = words.copy()
    while rejected.size:
        words[rejected] = source.words(rejected.size)
        rejected = rejected[words[rejected] >= limit]
    return words


def _coins(bounds: Bounds, count: int, source: Source) -> Flags:
    """U < p for `count` uniforms, where p is known by its bounds."""
    low, high = bounds(64)
    if low == _FULL:
        return np.ones(count, dtype=np.bool_)
    words = source.words(count)
    flags = words < np.uint64(low)
    if high > low:
        unclear = words - np.uint64(low) < np.uint64(high - low)
        for i in np.flatnonzero(unclear).tolist():
            flags[i] = _is_below(Uniform(source, value=int(words[i])), bounds)
    return flags


def _is_below(uniform: Uniform, bounds: Bounds) -> bool:
    """Whether U < p, with as many bits of U as that takes."""
    while True:
        low, high = bounds(uniform.width)
        if uniform.value < low:
            return True
        if uniform.value >= high:
            return False
        uniform.extend()


def _exp_coins(rates: NDArray[np.float64], source: Source) -> Flags:
    check_floats()
    words = source.words(rates.size)
    chances = np.exp(-rates)
    distance = words * 2.0**-64
    distance -= chances
    flags = distance < 0
    # The float of U is right to 2⁻⁵³ of itself and its cell is 2⁻⁶⁴ wide; 2⁻⁶⁰ covers underflow.
    unclear = np.abs(distance) <= chances * (2 * EXP_ERROR) + 2.0**-60
    for i in np.flatnonzero(unclear).tolist():
        bounds = partial(exp_bounds, -Fraction(float(rates[i])))
        flags[i] = _is_below(Uniform(source, value=int(words[i])), bounds)
    return flags


def _binomial_half(trials: Integers, source: Source) -> Integers:
    """Binomial(trials, ½) for each: the ones among that many random bits."""
    total = np.zeros(trials.size, dtype=np.int64)
    each = max(64, _BITS_AT_ONCE // trials.size)
    left = trials.copy()
    while (open_ := np.flatnonzero(left)).size:
        now = np.minimum(left[open_], each)
        groups = -(-now // 64)
        last = np.cumsum(groups) - 1
        words = source.words(int(last[-1]) + 1)
        ones = np.bitwise_count(words)
        ones[last] = np.bitwise_count(words[last] >> (64 * groups - now).astype(np.uint64))
        total[open_] += np.add.reduceat(ones, last - groups + 1, dtype=np.int64)
        left[open_] -= now
    return total
