"""Frequency protocols: one core (p, q, support), one interface.

_protocol   the interface: encode, encode_all, server, simulate; the format of a report
coded       Direct · Hadamard · Projective: a report is one number
bitmaps     Unary · Subset: a report is one bit per category
hashed      Hashing · Sketch: a report is a hash function and what it says of the category
repeated    Repeated: a permanent report, randomized afresh each time it is sent
fields      finite fields and projective spaces
"""

from ._protocol import Protocol
from .bitmaps import Subset, Unary
from .coded import Direct, Hadamard, Projective
from .hashed import Hashing, Sketch
from .repeated import Repeated

__all__ = [
    "Direct",
    "Hadamard",
    "Hashing",
    "Projective",
    "Protocol",
    "Repeated",
    "Sketch",
    "Subset",
    "Unary",
]
