"""Five hospitals publish a private histogram, and nobody sees another's counts.

deniable demo hospitals
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deniable as dp
from deniable import secure
from deniable.ledger import open_ledger
from deniable.release.numbers import shown_error
from deniable.sampling import PublicRandom
from deniable.secure import Coordinator, Party, Round
from deniable.secure.aggregating import calibrated
from deniable.secure.keys import KEY_BYTES, KeyPair, mask
from deniable.secure.shamir import joined

NAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm")
AGES = ("0–17", "18–39", "40–59", "60–79", "80+")
GONE, COLLUDER, VICTIM = 3, 4, 0
SPEND = dp.Approx(1.0, delta=1e-6)


def main() -> int:
    """Tell the story, figures included."""
    counts = PublicRandom(5).generator.integers(20, 400, (len(NAMES), len(AGES)))
    for line in story(counts):
        sys.stdout.write(f"{line}\n")
    return 0


def story(counts: NDArray[np.int64]) -> Iterator[str]:
    """The hospitals' counts, one round, what a coalition sees, and what is published."""
    yield "\n1. What each hospital knows: its own patients of one diagnosis, by age (made up)\n"
    yield table([(name, row.tolist()) for name, row in zip(NAMES, counts, strict=True)])
    with dp.Session(
        tables={}, schema=None, ledger=open_ledger(budget=SPEND, unit=dp.rows(), name="hospitals")
    ) as session:
        noise = calibrated(
            SPEND, session=session, parties=5, l1=1, l2=None, dropouts=1, colluding=1
        )
        yield "\n2. What they agree on, before anyone looks at data\n"
        yield f"  one patient adds 1 to one count; the sum may cost {SPEND}"
        yield f"  so the sum needs Skellam noise of variance {noise.of.variance:.3g}, which nobody"
        yield "  may know or leave out. One hospital may drop out, one may tell what it knows:"
        yield f"  each of the 5 adds a third of it, variance {noise.share.variance:.3g}"
        round_ = Round(
            parties=5, length=len(AGES), limit=100_000, dropouts=1, colluding=1, noise=noise
        )
        seen: dict[str, Any] = {}
        release = secure.release(round_, lambda: play(round_, counts, seen), session=session)
        yield from told(round_, counts, seen)
        yield "\n5. What is published, and what it cost\n"
        errors = release.answers["value"].errors()
        pairs = zip(np.asarray(release.value).tolist(), errors, strict=True)
        yield table([("noisy sum", [f"{a} ± {shown_error(e)}" for a, e in pairs])], width=11)
        there = [i for i in range(5) if i != GONE]
        yield table([("true sum*", counts[there].sum(axis=0).tolist())], head=False, width=11)
        yield f"  cost: {release.loss}, charged before a single message was sent"
        yield "  (less than they allowed, because a ledger keeps a part of δ back)"
        yield "  * of the four that stayed. In life nobody can compute this line.\n"


def play(round_: Round, rows: NDArray[np.int64], seen: dict[str, Any]) -> NDArray[np.int64]:
    """One round, message by message; `seen` collects what passes through the coordinator."""
    parties = [Party(round_, i) for i in range(round_.parties)]
    coordinator = Coordinator(round_)
    coordinator.receive(*(p.advertise() for p in parties))
    rosters = coordinator.rosters()
    coordinator.receive(*(p.share(rosters[p.index]) for p in parties))
    letters = coordinator.deliveries()
    left = [p for p in parties if p.index != GONE]
    messages = {p.index: p.mask(letters[p.index], rows[p.index]) for p in left}
    coordinator.receive(*messages.values())
    survivors = coordinator.survivors()
    coordinator.receive(*(p.confirm(survivors[p.index]) for p in left))
    codes = coordinator.confirmations()
    coordinator.receive(*(p.reveal(codes[p.index]) for p in left))
    seen |= {"messages": messages, "coordinator": coordinator, "colluder": parties[COLLUDER]}
    return coordinator.total()


def told(round_: Round, counts: NDArray[np.int64], seen: dict[str, Any]) -> Iterator[str]:
    """What the coordinator sees, alone and with a colluding hospital."""
    words = np.frombuffer(seen["messages"][VICTIM][26:], "<u4")
    name = NAMES[VICTIM]
    sent = sum(map(len, seen["messages"].values()))
    yield "\n3. What the coordinator sees: four masked vectors of random-looking words"
    yield f"   ({sent} bytes in all; {NAMES[GONE]} sent its keys and then vanished)\n"
    yield table([(f"{name} sent", words.tolist())], width=11)
    peeled = unmasked(round_, words, seen)
    yield f"\n4. {NAMES[COLLUDER]} colludes: the coordinator has its keys and its noise."
    yield f"   They lift {name}'s own mask, the one it shares with {NAMES[COLLUDER]}, and the one"
    yield f"   with {NAMES[GONE]}, whose key was rebuilt. Masks shared with the others remain:\n"
    yield table([("left over", peeled.tolist()), ("the truth", counts[VICTIM].tolist())], width=11)
    yield "\n   They do not know the noise of the three that stayed and kept theirs secret, and"
    yield "   that noise has the variance that was agreed on."


def unmasked(round_: Round, words: NDArray[np.uint32], seen: dict[str, Any]) -> NDArray[np.uint32]:
    """The victim's vector without every mask that the coalition can compute."""
    coordinator, threshold = seen["coordinator"], round_.shape.threshold
    shared = seen["colluder"]._masks_key  # noqa: SLF001  a coalition looks
    revealed, keys = coordinator._revealed, coordinator._keys  # noqa: SLF001  (as above)
    public = keys[VICTIM][KEY_BYTES : 2 * KEY_BYTES]

    seed = joined(revealed[VICTIM], threshold=threshold) or b""
    rest: NDArray[np.uint32] = words - mask(seed, length=len(words), bits=round_.bits)
    rebuilt = KeyPair(joined(revealed[GONE], threshold=threshold))
    for who, pair in ((COLLUDER, shared), (GONE, rebuilt)):
        key = pair.agreed(public, use=b"masks" + round_.id, ends=(who, VICTIM))
        rest = rest - mask(key, length=len(words), bits=round_.bits)
    return rest


def table(rows: list[tuple[str, list[Any]]], *, head: bool = True, width: int = 8) -> str:
    """Names and numbers in columns, by age."""
    lines = [("", list(AGES)), *rows] if head else rows
    return "\n".join(
        f"  {name:<12}" + "".join(f"{cell:>{width + 1}}" for cell in cells) for name, cells in lines
    )
