"""How fast the attacks are, and what they find: python -m bench attacks."""

import time

import numpy as np

import deniable as dp
from deniable import attacks
from deniable.sampling.public import PublicRandom

COLUMNS = [
    "age", "workclass", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
]  # fmt: skip


def main():
    """Print the figures."""
    decoders()
    fourier()
    rows()


def decoders():
    """Each decoder on the noise it is for; m = 4n random subset questions."""
    print("reconstruction                        n     seconds (cpu)   bits found   expected")
    plans = [
        ("bounded", 0.3, None, (1_000, 5_000)),
        ("laplace", 0.2, None, (1_000, 5_000)),
        ("outliers", 0.1, None, (1_000,)),
        ("laplace", 0.2, "linear_program", (400,)),
    ]
    for noise, level, method, sizes in plans:
        for n in sizes:
            bits, asked, answers = questions(n, noise, level)
            wall, cpu, found = timed(
                attacks.reconstruct, asked, answers, noise=noise, method=method
            )
            name = f"{noise} {level:g}√n, {found.method.replace('_', ' ')}"
            right = f"{found.accuracy(bits):12.4f} {found.sure:10.4f}"
            print(f"  {name:<34}{n:6,} {wall:8.2f} ({cpu:.2f}) {right}")


def questions(n, noise, level):
    draw = PublicRandom(n).generator
    bits = draw.integers(0, 2, n)
    asked = draw.integers(0, 2, (4 * n, n), dtype=np.int8)
    size = level * np.sqrt(n)
    wrong = draw.laplace(scale=size, size=4 * n)
    if noise != "laplace":
        wrong = draw.uniform(-size, size, 4 * n)
    answers = asked.astype(np.float32) @ bits.astype(np.float32) + wrong
    if noise == "outliers":
        wild = draw.random(4 * n) < 0.2
        answers[wild] = draw.uniform(0, n, wild.sum())
    return bits, asked, answers


def fourier():
    """A million bits, for three sizes of noise."""
    draw = PublicRandom(0).generator
    bits = draw.integers(0, 2, 2**20)
    counts = attacks.hadamard_counts(bits)
    for level in (0.1, 0.25, 0.5):
        noise = draw.uniform(-level * 2**10, level * 2**10, bits.size)
        wall, cpu, found = timed(attacks.reconstruct, None, counts + noise, method="fourier")
        name = f"uniform ±{level:g}√n, fourier"
        right = f"{found.accuracy(bits):12.4f} {found.sure:10.4f}"
        print(f"  {name:<34}{bits.size:6,} {wall:6.2f} ({cpu:.2f}) {right}")


def rows():
    """Attacks on the rows of Adult."""
    people = dp.load_adult("all", identifiers=True)
    print("rows of Adult, 48,842 people")
    wall, cpu, found = timed(attacks.uniqueness, people, columns=COLUMNS, largest=4)
    print(f"  {len(found.combinations):,} combinations of columns: {wall:.2f} s ({cpu:.2f})")
    wall, cpu, linked = timed(attacks.linkage, people, people, on=["zip", "birth_date"])
    print(f"  linkage by two columns: {wall:.2f} s ({cpu:.2f}), {linked.reidentified:,} found")
    rules = [attacks.spelling("name", edits=2), attacks.prefix("zip", length=3)]
    wall, cpu, linked = timed(attacks.linkage, people, people, on=rules)
    print(f"  linkage by misspelt names: {wall:.2f} s ({cpu:.2f}), {linked.reidentified:,} found")
    quasi = ["age", "zip", "sex", "race", "education"]
    wall, cpu, _ = timed(attacks.report, people, quasi=quasi, sensitive="income", auxiliary=people)
    print(f"  risk report: {wall:.2f} s ({cpu:.2f})")


def timed(run, *arguments, **options):
    wall, cpu = time.perf_counter(), time.process_time()
    result = run(*arguments, **options)
    return time.perf_counter() - wall, time.process_time() - cpu, result


if __name__ == "__main__":
    main()
