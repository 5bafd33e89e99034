"""The definitions, spelled out row by row: slow, and written without the library's arithmetic."""

import itertools
import math
from collections import Counter, defaultdict


def classes_of(rows, quasi):
    """Rows by their quasi-identifiers."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return found


def spread_of(rows, quasi, sensitive, *, ordered):
    """(k, l, entropy l, c at that l, t)."""
    classes = classes_of(rows, quasi).values()
    counts = [Counter(row[sensitive] for row in part) for part in classes]
    l = min(map(len, counts))
    whole = Counter(row[sensitive] for row in rows)
    return (
        min(map(len, classes)),
        l,
        min(math.exp(entropy(c)) for c in counts),
        max(recursive(c, l) for c in counts),
        max(distance(c, whole, ordered=ordered) for c in counts),
    )


def relatives_of(rows, quasi, sensitive):
    """(α, β, enhanced β, δ), each class and each value of the table by itself."""
    whole, n = Counter(row[sensitive] for row in rows), len(rows)
    alpha, beta, enhanced, delta = 0.0, 0.0, 0.0, 0.0
    for part in classes_of(rows, quasi).values():
        counts = Counter(row[sensitive] for row in part)
        for value, total in whole.items():
            p, q = total / n, counts[value] / len(part)
            gain = q / p - 1
            alpha, beta = max(alpha, q), max(beta, gain)
            allowed = gain <= -math.log(p) + 1e-9
            enhanced = max(enhanced, 0.0 if gain <= 1e-12 else gain if allowed else math.inf)
            delta = max(delta, abs(math.log(q / p)) if q else math.inf)
    return alpha, beta, enhanced, delta


def entropy(counts):
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values())


def recursive(counts, l):
    ranked = sorted(counts.values(), reverse=True)
    tail = sum(ranked[l - 1 :])
    return ranked[0] / tail if tail else math.inf


def distance(counts, whole, *, ordered):
    n, m = sum(counts.values()), sum(whole.values())
    values = sorted(whole, key=lambda v: (v is None, v))
    gaps = [counts[v] / n - whole[v] / m for v in values]
    if not ordered:
        return sum(map(abs, gaps)) / 2
    if len(values) == 1:
        return 0.0
    return sum(abs(total) for total in itertools.accumulate(gaps)) / (len(values) - 1)


def passes(counts, whole, demands, *, ordered):
    """Whether one class meets all demands."""
    n = sum(counts.values())
    if n < demands.k:
        return False
    if demands.l is not None:
        if demands.diversity == "distinct" and len(counts) < demands.l:
            return False
        if demands.diversity == "entropy" and entropy(counts) < math.log(demands.l) - 1e-12:
            return False
        if demands.diversity == "recursive" and recursive(counts, demands.l) >= demands.c:
            return False
    return demands.t is None or distance(counts, whole, ordered=ordered) <= demands.t + 1e-12


def publish(rows, quasi, sensitive, demands, *, ordered=False):
    """The rows that stay, when failing classes are taken out until none is left."""
    kept = list(rows)
    while True:
        parts = classes_of(kept, quasi).values()
        whole = Counter(row[sensitive] for row in kept)
        good = [
            p for p in parts
            if passes(Counter(row[sensitive] for row in p), whole, demands, ordered=ordered)
        ]  # fmt: skip
        left = [row for part in good for row in part]
        if len(left) == len(kept):
            return kept
        kept = left


def losses(rows, kept, quasi, original, ladders, levels):
    """Every loss of a published table, from its definition; `original` has the values by row id."""
    n, gone = len(rows), len(rows) - len(kept)
    sizes = [len(part) for part in classes_of(kept, quasi).values()]
    found = {
        "discernibility": (sum(s * s for s in sizes) + gone * n) / n**2,
        "average_class": 1 / max(1, len(sizes) + (gone > 0)),
    }
    ncp = precision = entropy_lost = 0.0
    for name, level in zip(quasi, levels, strict=True):
        column = [row[name] for row in original]
        domain = sorted(set(column))
        numeric = isinstance(domain[0], int)
        span = (domain[-1] - domain[0] if numeric else len(domain) - 1) or 1
        label = {v: ([v, *ladders[name](v)])[level] for v in domain}
        under = defaultdict(list)
        for value in domain:
            under[label[value]].append(value)
        height = len(ladders[name](domain[0]))
        counts, labelled = Counter(column), Counter(label[v] for v in column)
        bits = sum(math.log2(n / counts[v]) for v in column) or 1.0
        for row in kept:
            value = original[row["id"]][name]
            inside = under[label[value]]
            ncp += ((inside[-1] - inside[0]) if numeric else len(inside) - 1) / span
            precision += level / height
            entropy_lost += n * math.log2(labelled[label[value]] / counts[value]) / bits
        stay = {row["id"] for row in kept}
        out = [row for row in original if row["id"] not in stay]
        ncp += len(out)
        precision += len(out)
        entropy_lost += sum(n * math.log2(n / counts[row[name]]) / bits for row in out)
    parts = n * len(quasi)
    return found | {
        "ncp": ncp / parts,
        "precision": precision / parts,
        "entropy": entropy_lost / parts,
    }
