"""A cache up to a total size, against a list of what was used in order."""

import random

import pytest

from deniable.synthetic.latest import Latest


@pytest.mark.parametrize("most", [1, 5, 12])
def test_the_least_recently_used_are_forgotten_first_until_the_rest_fits(most):
    luck, kept, used = random.Random(most), Latest(most), []
    for _ in range(300):
        key = luck.randrange(8)
        held = [name for name, _ in used]
        assert kept.get(key) == (f"value {key}" if key in held else None)
        if key in held:
            used.append(used.pop(held.index(key)))
        else:
            size = luck.randrange(1, 7)
            kept.put(key, f"value {key}", size=size)
            used.append((key, size))
            while sum(n for _, n in used) > most and len(used) > 1:
                used.pop(0)
