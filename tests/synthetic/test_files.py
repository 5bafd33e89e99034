"""Files of synthetic tables: whole or refused, whatever somebody made of them."""

import copy
import io
import json
import math
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest
from tests.synthetic.people import opened, people

import deniable as dp
from deniable.synthetic import files, load
from deniable.synthetic.files import FORMAT, read_cells, written_cells


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    s = opened(people(300), dp.rho(5.0))
    y = s.synthesize(["age", "sex", "score", "joined"], spend=dp.rho(5.0), method="tree", bins=3)
    path = tmp_path_factory.mktemp("files") / "good"
    y.save(path)
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    return path, arrays, json.loads(arrays["record"].tobytes())


def written(path, arrays, record):
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **(arrays | {"record": text}))
    return path


def table(change):
    def apply(record, arrays):
        arrays["table0"] = change(arrays["table0"])

    return apply


def put(*keys, value):
    def apply(record, arrays):
        for key in keys[:-1]:
            record = record[key]
        record[keys[-1]] = value

    return apply


DAMAGE = {
    "NaN": table(lambda t: t * math.nan),
    "negative": table(lambda t: t * np.where(np.arange(t.size).reshape(t.shape) == 0, -1, 1)),
    "too much": table(lambda t: 2 * t),
    "wrong shape": table(lambda t: t.ravel()[:2]),
    "text": table(lambda t: t.astype(str)),
    "other type": table(lambda t: t.astype(np.float32)),
    "does not agree": table(lambda t: np.roll(t, 1).T.reshape(t.shape)[::-1]),
    "no table": lambda record, arrays: arrays.pop("table0"),
    "no counts": lambda record, arrays: arrays.pop("counts0"),
    "total NaN": put("total", value=math.nan),
    "total infinite": put("total", value=math.inf),
    "total text": put("total", value="5"),
    "total negative": put("total", value=-5.0),
    "circle": put("edges", value=[[0, 1, []], [1, 0, []]]),
    "no edges": put("edges", value=[]),
    "own parent": put("edges", 0, 1, value=-1),
    "separator": put("edges", 0, 2, value=[]),
    "clique": put("cliques", 0, value=[99]),
    "clique below 0": put("cliques", 0, value=[-1]),
    "cliques nested": put("cliques", 0, value=[[[]]]),
    "kind": put("columns", "age", "type", value="nonsense"),
    "edges decrease": put("columns", "age", "edges", value=[0, 50, 20, 100]),
    "edges text": put("columns", "age", "edges", value=["a", "b", "c", "d"]),
    "dates beyond the calendar": put("columns", "joined", "high", value=10**9),
    "bounds": put("columns", "age", "high", value=-4),
    "missing": put("columns", "age", "missing", value=-7),
    "key twice": put("columns", "sex", "keys", value=["f", "f"]),
    "key of another type": put("columns", "sex", "keys", value=[["f"], 3]),
    "sigma": put("measured", 0, 1, value=-1.0),
    "sigma text": put("measured", 0, 1, value="5"),
    "grain text": put("measured", 0, 3, value="1"),
    "law": put("measured", 0, 2, value="cauchy"),
    "release": put("release", value={}),
    "loss": put("release", "loss", value=7),
    "notes": put("notes", value=3),
    "columns": put("columns", value=[]),
    "folds": put("folds", value=[[[0], [1.0]]] * 4),
    "folds of one column": put("folds", value=[None]),
    "fold beyond": put("folds", 0, value=[[0, 1, 5, 0], [0.5, 1.0, 1.0, 0.5]]),
    "fold below 0": put("folds", 0, value=[[0, 0, 0, -1], [0.2, 0.3, 0.5, 1.0]]),
    "shares": put("folds", 0, value=[[0, 0, 0, 0], [0.5, 0.5, 0.5, -0.5]]),
    "shares NaN": put("folds", 0, value=[[0, 0, 0, 0], [math.nan, 0.5, 0.5, 0.0]]),
    "groups": put("measured", 0, 4, value=[[0, 0, 2, 2]]),
    "groups without end": put("measured", 0, 4, value=[[0, 0, 0, 10**17]]),
    "fold without end": put("folds", 0, value=[[0, 0, 0, 10**17], [0.2, 0.3, 0.5, 1.0]]),
    "groups of two": put("measured", 0, 4, value=[None, None]),
    "format": put("format", value="1"),
    "no columns": lambda record, arrays: record.pop("columns"),
    "no cliques": lambda record, arrays: record.pop("cliques"),
    "no total": lambda record, arrays: record.pop("total"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_changed_part_is_refused(saved, tmp_path, damage):
    _, arrays, record = saved
    record, arrays = copy.deepcopy(record), dict(arrays)
    assert load(written(tmp_path / "x", arrays, record)).total >= 1
    DAMAGE[damage](record, arrays)
    with pytest.raises(dp.BadParameter, match="is not a synthetic table"):
        load(written(tmp_path / "x", arrays, record))


@pytest.mark.parametrize("record", [[1], None, "text", 3, {}])
def test_a_record_that_is_none_is_refused(saved, tmp_path, record):
    with pytest.raises(dp.BadParameter, match="is not a synthetic table"):
        load(written(tmp_path / "x", saved[1], record))


def test_a_later_format_is_named(saved, tmp_path):
    with pytest.raises(dp.BadParameter, match="a later version"):
        load(written(tmp_path / "x", saved[1], saved[2] | {"format": FORMAT + 1}))


@pytest.mark.parametrize(
    "error",
    [dp.BadParameter("sigma must be positive"), dp.UnknownName("no such loss"), KeyError(3)],
)
def test_what_is_wrong_with_a_part_is_told_of_the_file(saved, error, monkeypatch):
    """Parts are made by calls of this library, whose refusals are about what somebody wrote."""

    def refused(archive, record):
        raise error

    monkeypatch.setattr(files, "_read", refused)
    with pytest.raises(dp.BadParameter, match="good' is not a synthetic table") as told:
        load(saved[0])
    assert told.value.fix == "y.save(path)"


def test_a_file_of_the_first_format_is_read(tmp_path):
    y = opened(people(300), dp.rho(5.0)).synthesize(["sex"], spend=dp.rho(5.0))
    y.save(tmp_path / "new")
    with np.load(tmp_path / "new") as held:
        arrays = {name: held[name] for name in held.files}
    record = json.loads(arrays["record"].tobytes())
    del record["folds"]
    record["measured"] = [each[:4] for each in record["measured"]]
    old = load(written(tmp_path / "x", arrays, record | {"format": 1}))
    assert old.rows(5, seed=1) == y.rows(5, seed=1)


def test_flipped_and_missing_bytes_are_refused_or_change_nothing(saved, tmp_path):
    whole = saved[0].read_bytes()
    good = load(saved[0]).rows(20, seed=1)
    draw = np.random.default_rng(5)
    for place in draw.integers(0, len(whole), 60):
        flipped = bytearray(whole)
        flipped[place] ^= int(draw.integers(1, 256))
        for held in (bytes(flipped), whole[:place]):
            (tmp_path / "x").write_bytes(held)
            try:
                assert load(tmp_path / "x").rows(20, seed=1) == good
            except dp.BadParameter:
                continue


@pytest.mark.parametrize("name", ["extra", "table0", "record"])
def test_what_would_fill_the_memory_is_not_read(saved, tmp_path, name, monkeypatch):
    """100 MB of zeros, in a file of 500 kB."""
    size = 100 * 2**20
    head = io.BytesIO()
    shape = {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(head, shape)
    with zipfile.ZipFile(tmp_path / "x", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with zipfile.ZipFile(saved[0]) as good:
            for each in good.namelist():
                if each != f"{name}.npy":
                    archive.writestr(each, good.read(each))
        with archive.open(f"{name}.npy", "w") as file:
            file.write(head.getvalue())
            for _ in range(100):
                file.write(bytes(2**20))
    amounts = []
    inner = zipfile.ZipExtFile.read
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda f, n=-1: amounts.append(n) or inner(f, n)
    )
    if name == "extra":
        load(tmp_path / "x")
    else:
        with pytest.raises(dp.BadParameter, match="is not a synthetic table"):
            load(tmp_path / "x")
    assert 0 <= min(amounts) <= max(amounts) < 2**26


@pytest.mark.parametrize("shape", [(10**12,), (2**28,), (2**40, 2**40), (-1,)], ids=repr)
def test_an_array_that_claims_to_be_larger_than_it_is_gets_no_memory(saved, tmp_path, shape):
    head = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, claim)
    with zipfile.ZipFile(tmp_path / "x", "w") as archive, zipfile.ZipFile(saved[0]) as good:
        for each in good.namelist():
            lying = each == "table0.npy"
            archive.writestr(each, head.getvalue() + bytes(16) if lying else good.read(each))
    tracemalloc.start()
    with pytest.raises(dp.BadParameter, match="is not a synthetic table"):
        load(tmp_path / "x")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**26


def chain(columns):
    """A record of a model in which each column of 1,000 cells is tied to the next: 8 MB a table."""
    cells = {"type": "int", "missing": -1, "keys": list(range(1000))}
    return {
        "columns": {f"c{i}": cells for i in range(columns)},
        "cliques": [[i, i + 1] for i in range(columns - 1)],
        "edges": [[i, i - 1, [i]] for i in range(1, columns - 1)],
        "folds": [None] * columns,
    }


@pytest.mark.parametrize("part", ["model", "measured"])
def test_many_arrays_are_no_way_around_the_limit_of_one(saved, tmp_path, monkeypatch, part):
    _, arrays, record = saved
    path = written(tmp_path / "x", arrays, record | (chain(36) if part == "model" else {}))
    if part == "measured":
        monkeypatch.setattr("deniable.synthetic.files._ALL", 2 * arrays["counts0"].nbytes)
    read, inner = [], zipfile.ZipFile.open
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda z, n: read.append(n) or inner(z, n))
    with pytest.raises(dp.BadParameter, match="is not a synthetic table"):
        load(path)
    assert "counts4.npy" not in read
    assert part == "measured" or read == ["record.npy"]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, tmp_path, monkeypatch):
    y = load(saved[0])
    y.save(tmp_path / "x")
    before = (tmp_path / "x").read_bytes()

    def broken(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(OSError, match="no space"):
        y.save(tmp_path / "x")
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == before
    assert stat.S_ISREG((tmp_path / "x").stat().st_mode)


LISTED = {"type": "text", "missing": -1, "keys": ["a", "b"]}
CUT = {"type": "int", "missing": -1, "edges": [0, 5, 10], "low": 0, "high": 9, "zero": False}


@pytest.mark.parametrize(
    ("record", "change"),
    [
        *((LISTED, {"type": kind}) for kind in ("float", "int", "decimal", None)),
        (LISTED, {"type": "float", "keys": [0.5, 1.5]}),
        (LISTED, {"keys": []}),
        (LISTED, {"keys": ["a", "a"]}),
        (LISTED, {"missing": 3}),
        (LISTED, {"missing": -2}),
        (LISTED, {"missing": 1.0}),
        *((CUT, {"type": kind}) for kind in ("text", "bool", "decimal", None)),
        (CUT, {"edges": [0]}),
        (CUT, {"edges": [0, 5, 5]}),
        (CUT, {"edges": [0, "5", 10]}),
        (CUT, {"low": 9, "high": 0}),
        (CUT, {"high": math.inf}),
        (CUT, {"low": -math.inf}),
        (CUT, {"low": None}),
        (CUT, {"type": "date", "edges": [0, 10**12], "high": 10**11}),
    ],
    ids=repr,
)
def test_cells_that_no_version_writes_are_not_read(record, change):
    made = read_cells(record)
    assert read_cells(written_cells(made)) == made
    with pytest.raises((ValueError, TypeError, OverflowError, dp.DeniableError)):
        read_cells(record | change)
