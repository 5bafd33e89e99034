"""The local model: each person randomizes their own answer before anything is sent.

protocols   frequencies: Direct, Unary, Hashing, Hadamard, Subset, Projective, Sketch, Repeated
choosing    choose: the best protocol for so many categories and people, and why
means       Mean: the average of bounded numbers, by Duchi's bit, piecewise, or both
vectors     Vector: the average of bounded vectors
several     Attributes: several attributes from one report
ranges      Ranges: counts in ranges and quantiles of numbers
heavy       heavy_hitters, HeavyHitters: the most frequent of 2⁶⁴ values
client      Client: a memory on disk, so that repeated reports cost once
files       one SQLite file of one owner: a client's memory, or a collection
collection  Collection: a durable store that accepts submissions over any transport
pictures    plot_error: the ± beside that of a trusted curator
records     from_dict: a protocol from the record that a server publishes
reports     the format of a report, and what every way to report shares
server      Server: adds up reports
frames      aggregate: adds up the reports of a Spark frame, in its executors
estimate    Estimate: counts with their ±, unbiased and projected

Clients and servers build a protocol from the same public parameters. `p.encode(value)` is all that
leaves a device; `p.server().add(reports).estimate()` is what the collector learns.
"""

from .choosing import Option, choose, options
from .client import Client
from .collection import Collection, Receipt
from .estimate import Estimate
from .frames import aggregate
from .heavy import HeavyHitter, HeavyHitters, heavy_hitters
from .means import Mean, MeanEstimate
from .pictures import plot_error
from .protocols import (
    Direct,
    Hadamard,
    Hashing,
    Projective,
    Protocol,
    Repeated,
    Sketch,
    Subset,
    Unary,
)
from .ranges import RangeEstimate, Ranges
from .records import from_dict
from .server import Server
from .several import Attributes
from .vectors import Vector, VectorEstimate

__all__ = [
    "Attributes",
    "Client",
    "Collection",
    "Direct",
    "Estimate",
    "Hadamard",
    "Hashing",
    "HeavyHitter",
    "HeavyHitters",
    "Mean",
    "MeanEstimate",
    "Option",
    "Projective",
    "Protocol",
    "RangeEstimate",
    "Ranges",
    "Receipt",
    "Repeated",
    "Server",
    "Sketch",
    "Subset",
    "Unary",
    "Vector",
    "VectorEstimate",
    "aggregate",
    "choose",
    "from_dict",
    "heavy_hitters",
    "options",
    "plot_error",
]
