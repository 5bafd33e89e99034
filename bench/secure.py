"""Sums that nobody sees: all parties and the coordinator in one process, beside encrypted sums.

CPU seconds of one run. Noise is added in shares; 5 % of the parties drop out after they shared
their secrets and 5 % may collude. Peers add 1,000 numbers under encryption; one that is not
installed is printed as such. Last, ε of noises of equal variance.

    python -m bench secure      peers: phe 1.5
"""

import time

import numpy as np

import deniable as dp
from deniable import secure
from deniable.mechanisms import Skellam, SkellamShares
from deniable.sampling import PublicRandom

SIZES = [(10, 1024), (100, 1024), (1000, 1024), (1000, 65_536)]
CHANCE = 2**-40


def main():
    """Print three tables."""
    widths = {"parties": 8, "values": 9, "neighbours": 12, "CPU s": 8, "bytes per party": 17}
    print("".join(f"{head:>{width}}" for head, width in widths.items()) + f"{'exact':>7}")
    for parties, length in SIZES:
        masked(parties, length)
    print("the same on a sparser ring, which fails with a probability of at most 2⁻⁴⁰")
    masked(1000, 65_536, chance=CHANCE)
    print(f"\n{'1,000 numbers of 3 parties under encryption':<48}{'CPU s':>8}")
    for name, run in {
        "Paillier, 3,072 bits, packed (ours)": paillier,
        "BFV, lattice (ours, by tenseal)": lattice,
        "phe, 3,072 bits, one number per ciphertext": phe,
        "masks, 3 parties (ours)": lambda: run_round(3, 1000, 0, 0)[0],
    }.items():
        try:
            print(f"{name:<48}{run():>8.2f}")
        except ImportError:
            print(f"{name:<48}{'not installed':>14}")
    print(f"\n{'ε at δ = 1e-6, one count':<26}{'v = 10':>9}{'v = 100':>9}")
    for name, made in {
        "Skellam": lambda v: dp.Skellam(variance=v),
        "discrete Gaussian": lambda v: dp.DiscreteGaussian(sigma=v**0.5),
        "Gaussian": lambda v: dp.Gaussian(sigma=v**0.5),
        "Skellam, vector in L2": lambda v: dp.SkellamL2(variance=v),
    }.items():
        print(f"{name:<26}" + "".join(f"{made(v).epsilon_at(1e-6):>9.4f}" for v in (10.0, 100.0)))


def run_round(parties, length, dropouts, colluding, chance=None):
    """CPU seconds, the round, and what is not explained by the vectors."""
    noise = SkellamShares(
        of=Skellam(variance=200.0), parties=parties, dropouts=dropouts, colluding=colluding
    )
    round_ = secure.Round(
        parties=parties,
        length=length,
        limit=1000,
        dropouts=dropouts,
        colluding=colluding,
        noise=noise,
        chance=chance,
    )
    vectors = PublicRandom(1).generator.integers(-1000, 1000, (parties, length))
    start = time.process_time()
    total = secure.run(round_, vectors, missing=frozenset(range(dropouts)))
    seconds = time.process_time() - start
    return seconds, round_, total - vectors[dropouts:].sum(axis=0)


def masked(parties, length, chance=None):
    """One line about one size."""
    few = parties // 20
    seconds, round_, rest = run_round(parties, length, few, few, chance)
    sent = length * round_.bits // 8 + round_.shape.degree * (86 + 38 + 36) + 26 * 5 + 128 + 32
    expected = 200 / (parties - 2 * few) * (parties - few)
    exact = abs(rest.var() / expected - 1) < 8 / np.sqrt(length)
    print(
        f"{parties:>8,}{length:>9,}{round_.shape.degree:>12}{seconds:>8.2f}{sent:>17,}{exact!s:>7}"
    )


def paillier():
    """Encrypt, add and decrypt; without the key."""
    from deniable.secure.homomorphic.paillier import Encrypted, PrivateKey

    key = PrivateKey.generate(parties=3, length=1000, limit=1_000_000)
    start = time.process_time()
    key.decrypt(Encrypted.sum([key.public.encrypt(np.arange(1000)) for _ in range(3)]))
    return time.process_time() - start


def lattice():
    """Encrypt, add and decrypt; without the key."""
    from deniable.secure.homomorphic.lattice import Lattice

    keys = Lattice(parties=3, limit=1_000_000)
    start = time.process_time()
    one, two, three = (keys.encrypt(np.arange(1000)) for _ in range(3))
    keys.decrypt(one + two + three, length=1000)
    return time.process_time() - start


def phe():
    """Encrypt, add and decrypt 20 numbers of three parties, times 50; without the key."""
    from phe import paillier as peer

    public, private = peer.generate_paillier_keypair(n_length=3072)
    start = time.process_time()
    for number in range(20):
        total = sum((public.encrypt(number) for _ in range(2)), public.encrypt(number))
        private.decrypt(total)
    return 50 * (time.process_time() - start)
