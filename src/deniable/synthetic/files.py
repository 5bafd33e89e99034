"""A synthetic table in a file: a ZIP archive of arrays (NumPy's own format) and one JSON record."""

from __future__ import annotations

import datetime as dt
import io
import json
import math
import os
import tempfile
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, DeniableError
from deniable.release import Release
from deniable.schema.arrays import value_of
from deniable.schema.binning import Intervals, Listed

from .domain import MOST_CELLS, Cells, Domain
from .inference import (
    Clique,
    Fold,
    Measurement,
    Model,
    Partition,
    Partitions,
    Unfolded,
    merged_shape,
)
from .inference.junction import Edge, Tree
from .inference.model import project, shapes

if TYPE_CHECKING:
    from ._synthetic import Synthetic

FORMAT: Final = 2
_MOST: Final = 2**28  # bytes of one array, and of the model
_ALL: Final = 2**32  # bytes of all that was measured
_RECORD: Final = 2**24  # bytes of the record
_HEADER: Final = 2**12  # bytes that describe it
_BROKEN: Final = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(AssertionError, zipfile.BadZipFile, zlib.error),
    *(RuntimeError, DeniableError),
)
_READ: Final = {"date": dt.date.fromisoformat, "timestamp": dt.datetime.fromisoformat}


def save(synthetic: Synthetic, path: str | os.PathLike[str]) -> None:
    """Write the model, what it was fitted to, and its certificate."""
    target = parameters.target(path)
    model = synthetic.model.folded
    tree = model.tree
    record = {
        "format": FORMAT,
        "columns": {name: written_cells(cells) for name, cells in synthetic.domain.cells.items()},
        "cliques": tree.cliques,
        "edges": [[e.child, e.parent, e.separator] for e in tree.edges],
        "folds": [
            fold and [fold.partition.group.tolist(), fold.shares.tolist()]
            for fold in synthetic.model.folds
        ],
        "measured": [
            [m.columns, m.sigma, m.law, m.grain, _groups(m.partitions)] for m in synthetic.measured
        ],
        "total": synthetic.total,
        "method": synthetic.method,
        "notes": synthetic.notes,
        "release": synthetic.release.to_dict(),
    }
    arrays = {f"table{i}": table for i, table in enumerate(model.tables)}
    arrays |= {f"counts{i}": m.counts for i, m in enumerate(synthetic.measured)}
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, record=text, **arrays)  # type: ignore[arg-type]
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Synthetic:
    """The synthetic table that `save` wrote.

    Every part is checked, so that a damaged or hostile file is refused. The file is not signed:
    whoever could write it could have changed the model and what its certificate claims.
    """
    try:
        with zipfile.ZipFile(Path(path)) as archive:
            record = json.loads(_array(archive, "record", np.uint8, most=_RECORD).tobytes())
            if isinstance(record, dict) and _later(record.get("format")):
                raise BadParameter(f"{str(path)!r} was written by a later version of deniable")
            return _read(archive, record)
    except FileNotFoundError:
        raise BadParameter(f"there is no file {str(path)!r}") from None
    except _BROKEN as error:
        if isinstance(error, BadParameter) and "later version" in error.what:
            raise
        raise BadParameter(f"{str(path)!r} is not a synthetic table", fix="y.save(path)") from None


def _later(number: object) -> bool:
    return isinstance(number, int) and number > FORMAT


def _read(archive: zipfile.ZipFile, record: Any) -> Synthetic:
    from ._synthetic import Synthetic

    _check(record["format"] in (1, FORMAT))
    domain = Domain(cells={name: read_cells(each) for name, each in record["columns"].items()})
    folds = _folds(domain, record.get("folds") or [None] * len(domain.sizes))
    tree = _tree(domain, folds, record)
    _check(8 * tree.cells <= _MOST)
    tables = [_floats(archive, f"table{i}", shape) for i, shape in enumerate(shapes(tree))]
    _check(all((each >= 0).all() and abs(each.sum() - 1) < 1e-6 for each in tables))
    for edge in tree.edges:
        sides = [
            project(tables[at], tree.cliques[at], edge.separator)
            for at in (edge.child, edge.parent)
        ]
        _check(bool(np.abs(sides[0] - sides[1]).max() < 1e-6))
    total = float(record["total"])
    _check(isinstance(record["total"], float | int) and 1 <= total < math.inf)
    return Synthetic(
        domain=domain,
        model=Unfolded(Model(tree=tree, tables=tuple(tables)), folds),
        total=total,
        method=str(record["method"]),
        measured=_measured(archive, domain, record["measured"]),
        release=Release.from_dict(record["release"]),
        notes=tuple(map(str, record["notes"])),
    )


def _groups(partitions: Partitions | None) -> list[list[int] | None]:
    return [None if part is None else part.group.tolist() for part in partitions or ()]


def _partition(groups: Any, size: int) -> Partition | None:
    if groups is None:
        return None
    _check(type(groups) is list and len(groups) == size and all(type(g) is int for g in groups))
    _check(set(groups) == set(range(len(set(groups)))))
    return Partition(np.array(groups, dtype=np.int64))


def _folds(domain: Domain, record: Any) -> tuple[Fold | None, ...]:
    """How columns are folded: shares add up to 1 in each group."""
    made: list[Fold | None] = []
    for held, size in zip(record, domain.sizes, strict=True):
        part = None if held is None else _partition(held[0], size)
        if part is None:
            made.append(None)
            continue
        shares = np.array(held[1], dtype=np.float64)
        _check(shares.shape == (size,) and bool((shares >= 0).all()))
        _check(bool(np.abs(part.sums(shares, axis=0) - 1).max() < 1e-6))
        made.append(Fold(part, shares))
    return tuple(made)


def _tree(domain: Domain, folds: tuple[Fold | None, ...], record: Any) -> Tree:
    """A tree that rows can be drawn from: a clique hangs on an earlier one by what they share."""
    cliques = tuple(_clique(domain, each) for each in record["cliques"])
    edges = tuple(Edge(child=c, parent=p, separator=tuple(s)) for c, p, s in record["edges"])
    _check(bool(cliques) and len(edges) == len(cliques) - 1)
    known, reached = set(cliques[0]), {0}
    for edge in edges:
        _check(edge.parent in reached and edge.child not in reached)
        _check(edge.child in range(len(cliques)))
        child, parent = cliques[edge.child], cliques[edge.parent]
        shared = tuple(a for a in child if a in parent)
        _check(edge.separator == shared and known.intersection(child) == set(shared))
        known, reached = known.union(child), reached | {edge.child}
    _check(known == set(range(len(domain.sizes))))
    sizes = merged_shape(
        domain.sizes, tuple(None if fold is None else fold.partition for fold in folds)
    )
    return Tree(sizes=sizes, cliques=cliques, edges=edges)


def _clique(domain: Domain, columns: Any) -> Clique:
    found = tuple(columns)
    _check(all(type(a) is int and 0 <= a < len(domain.sizes) for a in found))
    _check(len(set(found)) == len(found) > 0)
    return found


def _measured(archive: zipfile.ZipFile, domain: Domain, record: Any) -> tuple[Measurement, ...]:
    made, size = [], 0
    for i, (columns, sigma, law, grain, *more) in enumerate(record):
        clique = _clique(domain, columns)
        shape = tuple(domain.sizes[a] for a in clique)
        groups = more[0] if more and more[0] else [None] * len(clique)
        parts = tuple(map(_partition, groups, shape))
        _check(len(parts) == len(groups) == len(clique))
        size += 8 * math.prod(merged_shape(shape, parts))
        _check(size <= _ALL)
        counts = _floats(archive, f"counts{i}", merged_shape(shape, parts))
        _check(all(type(each) in (int, float) and 0 < each < math.inf for each in (sigma, grain)))
        _check(law in ("gaussian", "laplace"))
        made.append(
            Measurement(
                columns=clique,
                counts=counts,
                sigma=float(sigma),
                law=law,
                grain=float(grain),
                partitions=parts if any(part is not None for part in parts) else None,
            )
        )
    return tuple(made)


def _floats(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    found = _array(archive, name, np.float64, most=8 * math.prod(shape))
    _check(found.shape == shape and bool(np.isfinite(found).all()))
    return found


def _array(archive: zipfile.ZipFile, name: str, kind: Any, *, most: int) -> NDArray[Any]:
    """One array of at most so many bytes: its size is read, and refused, before the array is."""
    _check(most <= _MOST)
    with archive.open(f"{name}.npy") as file:
        held = file.read(most + _HEADER + 1)
    _check(len(held) <= most + _HEADER)
    stream = io.BytesIO(held)
    _check(np.lib.format.read_magic(stream) == (1, 0))
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    _check(dtype == kind and 0 <= math.prod(shape) * dtype.itemsize <= most)
    stream.seek(0)
    found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return found


def _check(holds: bool) -> None:  # noqa: FBT001  reads as a sentence
    if not holds:
        raise ValueError


def written_cells(cells: Cells) -> dict[str, object]:
    """The cells of a column in plain JSON types."""
    common: dict[str, object] = {"type": cells.type, "missing": cells.missing}
    if isinstance(cells, Listed):
        keys = [k.isoformat() if isinstance(k, dt.date) else k for k in cells.keys]
        return common | {"keys": keys}
    return common | {"edges": cells.edges, "low": cells.low, "high": cells.high, "zero": cells.zero}


def read_cells(record: Any) -> Cells:
    """The cells that `written_cells` wrote, checked."""
    kind, missing = record["type"], record["missing"]
    made: Cells
    if "keys" in record:
        _check(kind in ("int", "text", "bool", "date", "timestamp"))
        keys = tuple(map(_READ.get(kind, lambda value: value), record["keys"]))
        made = Listed(type=kind, missing=missing, keys=keys)
        _check(made.encode(list(keys)).tolist() == list(range(len(keys))))
    else:
        _check(kind in ("int", "float", "date", "timestamp"))
        edges, low, high = tuple(record["edges"]), record["low"], record["high"]
        _check(all(type(each) in (int, float) for each in (*edges, low, high)))
        _check(len(edges) > 1 and all(a < b for a, b in pairwise(edges)) and low <= high)
        _check(math.isfinite(low) and math.isfinite(high))
        zero = record["zero"] is True
        made = Intervals(type=kind, missing=missing, edges=edges, low=low, high=high, zero=zero)
        _check(zero or made.filled)
        _check(kind not in _READ or all(value_of(int(end), kind) for end in (low, high)))
    _check(type(missing) is int and -1 <= missing <= made.size and 0 < made.count <= MOST_CELLS)
    return made
