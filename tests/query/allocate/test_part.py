"""What becomes one vector: by how much it is rounded, and how far one unit moves it then."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.query.aggregates import Measure, Tally
from deniable.query.allocate.basis import Basis
from deniable.query.allocate.part import Part
from deniable.query.integers import Cells
from deniable.schema.binning import Grid
from deniable.workload.moves import Moves
from deniable.workload.search import Search
from deniable.workload.trees import Tree

INT64 = np.iinfo(np.int64)


def tally(l1, *, l2_squared=None, linf=None, name="t0", denominator=1, bins=None):
    square = l1 * l1 if l2_squared is None else l2_squared
    moves = Moves(l1=l1, l2_squared=square, linf=l1 if linf is None else linf)
    measure = Measure.SUM if bins is None else Measure.HISTOGRAM
    return Tally(name=name, measure=measure, moves=moves, denominator=denominator, bins=bins)


def part(l1, *, groups=1, fine=False, tree=None, weight=1.0, **more):
    basis = Basis.plain(tally(l1, **more))
    return Part(basis=basis, tree=tree, weight=weight, groups=groups, fine=fine)


@pytest.mark.parametrize(
    ("bits", "groups", "fine", "shift"),
    [
        (1, 1, False, 0), (26, 1, False, 0), (27, 1, False, 1), (60, 1, False, 34),
        (60, 2**17, False, 34), (60, 2**18, False, 33), (60, 2**30, False, 27),
        (33, 2**30, False, 0),
        (20, 1, True, 0), (19, 1, True, -1), (1, 1, True, -19), (26, 1, True, 0), (30, 1, True, 4),
    ],
)  # fmt: skip
def test_so_many_digits_are_rounded_away_or_added(bits, groups, fine, shift):
    """At most 2²⁶ steps per unit, or 2⁸ times the numbers it moves, up to 2³³; 2²⁰ if fine."""
    assert part(2**bits - 1, groups=groups, fine=fine).shift == shift


@pytest.mark.parametrize("shift", [-5, 0, 1, 7])
def test_rounding_is_to_the_nearest_and_halves_go_up(shift):
    made = part(2 ** (26 + shift) - 1) if shift >= 0 else part(2 ** (20 + shift) - 1, fine=True)
    assert made.shift == shift
    numbers = [-(2**70), -129, -128, -127, -65, -64, -63, -1, 0, 1, 63, 64, 65, 192, 2**70]
    step = Fraction(2) ** shift
    held = [math.floor(Fraction(n) / step + Fraction(1, 2)) for n in numbers]
    more = max(0, -shift)
    ends = (INT64.min >> more) << more, (INT64.max >> more) << more
    wanted = [min(max(n, ends[0]), ends[1]) for n in held]
    assert made.rounded(np.array(numbers, dtype=object)).tolist() == wanted


@pytest.mark.parametrize("groups", [1, 5])
@pytest.mark.parametrize("bits", [10, 26, 31])
def test_what_is_rounded_moves_by_one_step_more_per_number(groups, bits):
    l1 = 2**bits - 3
    square, linf = l1 * l1 // 3, l1 // 2
    made = part(l1, l2_squared=square, linf=linf, groups=groups, weight=2.0)
    step, extra = 2**made.shift, groups if made.shift > 0 else 0
    assert made.shift == max(0, bits - 26)
    assert made.vector.l1 == math.ceil(Fraction(l1, step)) + extra
    assert made.linf == math.ceil(Fraction(linf, step)) + (made.shift > 0)
    l2 = math.sqrt(square) / step + math.sqrt(extra)
    assert l2 <= made.vector.l2 <= l2 * (1 + 2.0**-40)
    assert made.vector.weight == 2.0
    assert made.vector.share is None
    assert made.worth == step
    assert (made.levels, made.shape) == (1, ())


def test_what_one_unit_moves_in_l2_is_never_rounded_below_the_truth():
    """Not even where both roots are right and their sum, rounded to the nearest, is below it."""
    below = 0
    trees = {1: None, 3: Tree(cells=64, branching=(4, 4, 4))}
    for l1 in np.random.default_rng(1).integers(2**31, 2**34, 40).tolist():
        for groups, levels in itertools.product((1, 3, 5, 6, 7), trees):
            square = l1 * l1 // 3 + l1
            made = part(l1, l2_squared=square, groups=groups, tree=trees[levels])
            step = 2**made.shift
            truth = mpmath.sqrt(levels * square) / step + mpmath.sqrt(groups)
            assert truth <= made.vector.l2 <= truth * (1 + mpmath.mpf(2) ** -40)
            plain = Moves(l1=0, l2_squared=levels * square, linf=0).l2 / step + math.sqrt(groups)
            below += plain < truth
    assert below > 5


def test_what_cannot_move_is_taken_to_move_by_one():
    made = part(0)
    assert (made.vector.l1, made.vector.l2, made.linf) == (1.0, 1.0, 1.0)


def test_bounds_beyond_2_to_the_53_are_floats_that_are_not_below():
    bins = Grid(type="int", low=0, high=3, cells=4, whole=True)
    made = part(2**53 + 1, bins=bins)
    assert made.shift == 0
    assert made.vector.l1 == made.linf == 2**53 + 2
    assert made.vector.l2 >= 2**53 + 1


BINS = Grid(type="int", low=0, high=7, cells=8, whole=True)


def test_each_level_of_a_tree_is_moved_as_far():
    tree = Tree(cells=8, branching=(2, 4))
    made = part(3, bins=BINS, tree=tree, weight=5.0)
    assert (made.levels, made.shape) == (2, (tree.nodes,))
    assert made.vector.l1 == 6
    assert math.sqrt(18) <= made.vector.l2 <= math.sqrt(18) * (1 + 2.0**-40)
    assert made.vector.weight == 5.0 * 2**2
    counts = np.arange(16).reshape(2, 8)
    cells = Cells(groups=(), numbers={}, histograms={"t0": counts})
    assert (made.numbers(cells) == tree.sums(counts)).all()
    noisy = np.arange(float(2 * tree.nodes)).reshape(2, -1)
    assert (made.read(noisy)["t0"] == noisy).all()


def test_a_search_divides_the_loss_in_three_and_says_for_which_rank():
    made = part(3, bins=BINS, tree=Search(cells=8, q=0.3), weight=5.0)
    assert made.vector.weight == 5.0 * 3**2
    assert (made.vector.share, made.shape) == (0.3, (8,))


def test_a_histogram_as_it_is_has_a_number_per_bin():
    made = part(2**40, bins=BINS)
    assert (made.shape, made.shift, made.levels) == ((8,), 0, 1)
    counts = np.arange(8).reshape(1, 8)
    cells = Cells(groups=(), numbers={}, histograms={"t0": counts})
    assert (made.numbers(cells) == counts).all()


def test_a_tally_alone_is_one_number_for_each_group():
    made = part(3)
    cells = Cells(groups=(), numbers={"t0": np.array([5, -7], dtype=object)}, histograms={})
    numbers = made.numbers(cells)
    assert (made.shape, numbers.tolist()) == ((), [5, -7])
    assert made.read(numbers)["t0"].tolist() == [5.0, -7.0]


def turned(denominator=1):
    """Two tallies told by their sum and by twice the second."""
    both = tuple(tally(6, name=name, denominator=denominator) for name in ("t0", "t1"))
    half = Fraction(1, 2)
    return Basis(
        tallies=both,
        forth=((1, 1), (0, 2)),
        back=((Fraction(1), -half), (Fraction(0), half)),
        moves=Moves(l1=12, l2_squared=80, linf=12),
    )


@pytest.mark.parametrize("denominator", [1, 4])
@pytest.mark.parametrize("fine", [False, True])
def test_tallies_told_together_are_read_back(denominator, fine):
    made = Part(basis=turned(denominator), tree=None, weight=1.0, groups=1, fine=fine)
    assert made.shape == (2,)
    assert made.shift == (4 - 20 if fine else 0)
    held = {"t0": np.array([5, -7], dtype=object), "t1": np.array([2, 100], dtype=object)}
    numbers = made.numbers(Cells(groups=(), numbers=held, histograms={}))
    assert (numbers.T / 2.0**-made.shift).tolist() == [[7.0, 93.0], [4.0, 200.0]]
    found = made.read(numbers)
    assert found["t0"].tolist() == [5 / denominator, -7 / denominator]
    assert found["t1"].tolist() == [2 / denominator, 100 / denominator]
    unit = 2.0**made.shift / denominator
    assert made.mixture(made.tallies[0]) == (unit, -unit / 2)
    assert made.mixture(made.tallies[1]) == (0.0, unit / 2)
    assert made.worth == unit


def test_more_numbers_that_one_unit_moves_keep_more_digits():
    basis = turned()
    moves = Moves(l1=2**60, l2_squared=2**120, linf=2**60)
    wide = Basis(tallies=basis.tallies, forth=basis.forth, back=basis.back, moves=moves)
    made = Part(basis=wide, tree=None, weight=1.0, groups=2**18)
    assert made.shift == 61 - 28
    assert made.vector.l1 == 2 ** (60 - 33) + 2**19
