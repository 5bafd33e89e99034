"""Protocols travel as JSON, reports as bytes: a collection over HTTP, end to end."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.collection import new_ticket, submission

EVERY = [
    local.Direct(categories=["a", "b"], epsilon=1.1),
    local.Hadamard(categories=5, epsilon=1.1),
    local.Projective(categories=5, epsilon=1.1),
    local.Unary(categories=5, epsilon=1.1, kind="symmetric"),
    local.Subset(categories=5, epsilon=1.1),
    local.Hashing(categories=5, epsilon=1.1),
    local.Sketch(categories=5, epsilon=1.1, hashes=8, width=16),
    local.Repeated(categories=5, epsilon=1.1, first=0.3),
    local.Mean(epsilon=1.1, low=-1, high=3),
    local.Vector(epsilon=1.1, dimension=3),
    local.Attributes(epsilon=1.1, categories={"a": 2, "b": ["x", "y"]}),
    local.Ranges(epsilon=1.1, low=0, high=9, cells=20),
    local.HeavyHitters(epsilon=1.1, bits=20),
]


@pytest.mark.parametrize("p", EVERY, ids=lambda p: p.name)
def test_a_protocol_reads_back_from_its_record(p):
    again = local.from_dict(json.loads(json.dumps(p.to_dict())))
    assert again == p
    assert again.identity == p.identity
    assert p.loss() == dp.epsilon(1.1)


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        (local.Direct, {"categories": 5}),
        (local.Sketch, {"categories": 5, "hashes": 8, "width": 16, "family": 1}),
        (local.Vector, {"dimension": 3}),
        (local.Attributes, {"categories": {"a": 2}}),
        (local.Ranges, {"low": 0, "high": 9, "cells": 20, "branching": 3}),
        (local.HeavyHitters, {"bits": 20, "start": 6, "step": 3, "keep": 9}),
    ],
)
def test_numbers_of_any_type_make_the_same_protocol(kind, whole):
    def numpy(value):
        if isinstance(value, dict):
            return {k: numpy(v) for k, v in value.items()}
        return np.int64(value)

    plain, other = kind(epsilon=1.0, **whole), kind(epsilon=np.float64(1.0), **numpy(whole))
    assert json.dumps(other.to_dict()) == json.dumps(plain.to_dict())
    assert other.identity == plain.identity
    assert other == plain


@pytest.mark.parametrize("kind", [local.Mean, local.Ranges])
def test_minus_zero_is_zero(kind):
    plus, minus = (kind(epsilon=1.0, low=low, high=1.0) for low in (0.0, -0.0))
    assert plus == minus
    assert plus.identity == minus.identity


def test_fingerprints_differ():
    assert len({p.fingerprint for p in EVERY}) == len(EVERY)


@pytest.mark.parametrize("p", EVERY, ids=lambda p: p.name)
def test_a_server_is_not_merged_with_itself(p):
    server = p.server()
    with pytest.raises(dp.BadParameter, match="twice"):
        server.merge(server)


RECORDS = [
    {}, [], None, "direct",
    {"protocol": "nonsense"}, {"protocol": "direct"}, {"protocol": ["direct"]},
    {"protocol": "direct", "epsilon": 1, "categories": 2, "x": 1},
    {"protocol": "direct", "epsilon": "1", "categories": 2},
    {"protocol": "direct", "epsilon": 1, "categories": 2, 3: 4},
    {"protocol": "attributes", "epsilon": 1, "categories": {1: 2, "a": 2}},
]  # fmt: skip


@pytest.mark.parametrize("bad", RECORDS, ids=str)
def test_a_record_that_is_not_one_is_refused(bad):
    with pytest.raises(dp.BadParameter):
        local.from_dict(bad)


def handler(collection):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length) if length <= collection.length else b""
            try:
                self.reply(200, {"status": collection.accept(body).status})
            except dp.BadParameter as error:
                self.reply(400, error.to_json())

        def do_GET(self):
            if self.path == "/protocol":
                self.reply(200, collection.protocol.to_dict() | {"name": collection.name})
            else:
                self.reply(200, collection.aggregate().rows())

        def reply(self, code, value):
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, *_):
            pass

    return Handler


def test_a_collection_over_http(tmp_path):
    drinks = local.Collection(
        local.Direct(categories=["tea", "coffee"], epsilon=8.0), path=tmp_path / "d", name="drinks"
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(drinks))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"

    def asked(path, body=None):
        with urllib.request.urlopen(base + path, data=body) as answer:
            return json.loads(answer.read())

    try:
        record = asked("/protocol")  # a client that knows nothing but the address
        name = record.pop("name")
        p = local.from_dict(record)
        sent = [submission(p, name, p.encode("tea"), ticket=new_ticket()) for _ in range(6)]
        assert [asked("/", each)["status"] for each in sent] == ["stored"] * 6
        assert asked("/", sent[0])["status"] == "duplicate"
        for wrong in (sent[0][:-1] + bytes([9]), b"nonsense", sent[0] + bytes(10_000)):
            with pytest.raises(urllib.error.HTTPError, match="400") as caught:
                asked("/", wrong)
            caught.value.close()
        rows = asked("/aggregate")
        assert [row["category"] for row in rows] == ["tea", "coffee"]
        assert rows[0]["count"] + rows[1]["count"] == pytest.approx(6)
        assert all(row["error"] > 0 for row in rows)
    finally:
        server.shutdown()
        server.server_close()
