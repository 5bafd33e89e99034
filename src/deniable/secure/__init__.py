"""Secure sums: parties mask their vectors and add noise; only the sum can be read.

    aggregating   a private sum charged by a session: parties run in one process, or elsewhere
    party         one party: five messages
    coordinator   the one who carries messages and adds up
    two_servers   additive shares for two servers that do not collude
    rounds        the public facts of one round
    wire          messages, byte by byte
    graph         who masks with whom, and how many shares reveal a secret
    vectors       a party's numbers, read exactly and clipped
    turns         steps that are taken once, whatever threads ask
    keys          key agreement, masks, sealed letters
    shamir        secrets in shares
    homomorphic   sums under encryption for one key holder: Paillier, lattices, and specimens

Encryption hides what goes in, and does nothing about what comes out: that is what the noise is for.
"""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .aggregating import aggregate, explain, release, run
    from .coordinator import Coordinator
    from .keys import Identity
    from .party import Party
    from .rounds import Round
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "aggregating": "aggregate explain release run",
            "coordinator": "Coordinator",
            "keys": "Identity",
            "party": "Party",
            "rounds": "Round",
        },
    )

__all__ = [
    "Coordinator",
    "Identity",
    "Party",
    "Round",
    "aggregate",
    "explain",
    "release",
    "run",
]
