"""A table is the one that was opened only if every connection in it leads to the same client."""

from types import SimpleNamespace

import pytest

from deniable.session.sources.ibis_tables import is_opened

OURS, THEIRS = object(), object()


class Node:
    """An expression of Ibis that equals every other: only its connections differ."""

    def __init__(self, *clients):
        self.leaves = [SimpleNamespace(source=SimpleNamespace(con=c)) for c in clients]

    def find(self, _kind):
        return self.leaves

    def __eq__(self, other):
        return isinstance(other, Node)

    __hash__ = None


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ((OURS, OURS), True), ((OURS, THEIRS), False), ((THEIRS, OURS), False),
        ((THEIRS, THEIRS), False),
    ],
)  # fmt: skip
def test_every_connection_is_compared(asked, same):
    held = Node(OURS, OURS)
    source = SimpleNamespace(is_table=lambda node: False)
    table = SimpleNamespace(ibis=SimpleNamespace(op=lambda: held), source=source)
    assert is_opened(Node(*asked), table) == same
