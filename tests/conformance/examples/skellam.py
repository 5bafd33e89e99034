"""Examples: Skellam noise, whole and in shares."""

import numpy as np
from scipy import special

from deniable import mechanisms as ms

from .example import WHOLE, Example, at_once, masses, one_by_one, plain_error


def skellam(variance):
    return masses(special.ive(np.abs(WHOLE), variance))


EXAMPLES = {
    "skellam": Example(
        mechanism=ms.Skellam(variance=4.0, sensitivity=2),
        twin=ms.Skellam(variance=2.0, sensitivity=2),
        first=0,
        second=2,
        declared={"l1": 2},
        ask=at_once,
        law=lambda m: skellam(m.variance),
        error=plain_error,
    ),
    "skellam_l2": Example(
        mechanism=ms.SkellamL2(variance=4.0),
        twin=ms.SkellamL2(variance=2.0),
        first=0,
        second=1,
        declared={"l2": 1},
        ask=at_once,
        law=lambda m: skellam(m.variance),
        error=plain_error,
    ),
    "skellam_shares": Example(
        mechanism=ms.SkellamShares(of=ms.Skellam(variance=4.0), parties=4, dropouts=1, colluding=1),
        twin=ms.SkellamShares(of=ms.Skellam(variance=2.0), parties=4, dropouts=1, colluding=1),
        first=np.array([[0], [0], [0], [0]]),
        second=np.array([[0], [0], [1], [0]]),
        declared={"l1": 1, "shape": (4, 1)},
        ask=one_by_one(lambda total: float(total[0])),
        law=lambda m: skellam(8.0),
        draws=2000,
        error=plain_error,
        signed=("dropouts", "colluding"),
    ),
}
