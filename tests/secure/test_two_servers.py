"""Two servers: exact sums, uniform shares, strict messages."""

import numpy as np
import pytest
from tests import goodness

from deniable.errors import BadParameter, MessageRejected
from deniable.mechanisms import Skellam, SkellamShares
from deniable.secure import Round
from deniable.secure.two_servers import Server, combined, shares
from deniable.secure.wire import Kind, bitmap, written


def servers(round_):
    return Server(round_, first=True), Server(round_, first=False)


def sums(one, other):
    """What two servers that have heard all say in the end."""
    heard = one.heard(), other.heard()
    return one.total(heard[1]), other.total(heard[0])


def total(one, other):
    return combined(one.round, *sums(one, other))


def saying(round_, sender, who):
    """That a server heard these parties."""
    return written(Kind.HEARD, round_, sender, bitmap(who, count=round_.parties))


def test_the_sum_is_exact_and_parties_that_reach_one_server_are_left_out():
    round_ = Round(parties=5, length=3, limit=2**40, dropouts=2)
    one, other = servers(round_)
    for i in range(5):
        first, second = shares(round_, i, [i, -i, 2**40])
        if i != 1:
            one.receive(first)
        if i != 3:
            other.receive(second)
    assert total(one, other).tolist() == [6, -6, 3 * 2**40]


def test_too_few_parties_are_not_added_up():
    round_ = Round(parties=4, length=1, dropouts=1)
    one, other = servers(round_)
    for i in range(2):
        for server, message in zip((one, other), shares(round_, i, [1]), strict=True):
            server.receive(message)
    with pytest.raises(MessageRejected, match="are needed"):
        total(one, other)


@pytest.mark.statistical
@pytest.mark.parametrize("value", [0, 2**31 - 1])
def test_either_share_is_uniform_whatever_the_vector(value):
    """False-alarm rate 1e-8."""
    round_ = Round(parties=2, length=40_000)
    one, other = servers(round_)
    for i in range(2):
        for server, message in zip((one, other), shares(round_, i, [value] * 40_000), strict=True):
            server.receive(message)
    for message in sums(one, other):
        low = np.frombuffer(message[27:], "<u8").astype(np.uint8)
        assert goodness.cells(np.bincount(low, minlength=256), np.full(256, 1 / 256)) > 2e-9


@pytest.mark.statistical
def test_noise_is_added_in_shares():
    """False-alarm rate 1e-9: six standard errors."""
    noise = SkellamShares(of=Skellam(variance=1000.0), parties=3, colluding=1)
    round_ = Round(parties=3, length=2000, limit=10, colluding=1, noise=noise)
    one, other = servers(round_)
    for i in range(3):
        for server, message in zip((one, other), shares(round_, i, [7] * 2000), strict=True):
            server.receive(message)
    residual = total(one, other) - 21
    assert 1200 < residual.var() < 1800  # 1500 ± 6 standard errors of 47


@pytest.mark.parametrize("bend", [lambda m: m[:-1], lambda m: m + b"x", lambda m: b"", lambda m: 5])
def test_malformed_shares_are_rejected(bend):
    round_ = Round(parties=3, length=2)
    for server, message in zip(servers(round_), shares(round_, 0, [1, 2]), strict=True):
        with pytest.raises(MessageRejected):
            server.receive(bend(message))
        server.receive(message)
        with pytest.raises(MessageRejected, match="already"):
            server.receive(message)
        with pytest.raises(MessageRejected, match="another round"):
            Server(Round(parties=3, length=2), first=server.kind is Kind.FIRST).receive(message)


def test_sums_of_different_rounds_sets_or_servers_do_not_combine():
    round_, later = (Round(parties=3, length=2, limit=9, dropouts=1) for _ in range(2))
    both = {}
    for each in (round_, later):
        one, other = servers(each)
        for i in range(3):
            for server, message in zip((one, other), shares(each, i, [1, 2]), strict=True):
                server.receive(message)
        both[each] = sums(one, other)
    first, second = both[round_]
    assert combined(round_, second, first).tolist() == [3, 6]
    for wrong in (
        (first, both[later][1]), (first, first), (first,), (), (first, second, second),
        (first, second[:-1]), (first, second + b"\0"), (first, second[:27]), (first, b""),
        (first, second[:26] + b"\xc0" + second[27:]),  # another set
        tuple(m[:26] + b"\x80" + m[27:] for m in (first, second)),  # too small a set
        tuple(m[:26] + b"\xf0" + m[27:] for m in (first, second)),  # one that does not exist
    ):  # fmt: skip
        with pytest.raises(MessageRejected):
            combined(round_, *wrong)


@pytest.mark.parametrize("first", [True, False])
def test_a_server_answers_for_one_set_of_parties_and_takes_no_late_shares(first):
    """The difference of two sums would be one party's share, or the mask that covers the other."""
    round_ = Round(parties=4, length=2, limit=1000, dropouts=1)
    server = Server(round_, first=first)
    sent = [shares(round_, i, [i, 1])[0 if first else 1] for i in range(4)]
    for message in sent[:3]:
        server.receive(message)
    other = 1 if first else 0
    with pytest.raises(MessageRejected, match="must first tell the other whose shares arrived"):
        server.total(saying(round_, other, range(4)))  # before it has said so itself
    own = server.heard()
    with pytest.raises(MessageRejected, match="too late"):
        server.receive(sent[3])
    for wrong in (own, b"", sent[0], saying(round_, other, range(4)) + b"\0"):
        with pytest.raises(MessageRejected):
            server.total(wrong)
    with pytest.raises(MessageRejected, match="are needed"):
        server.total(saying(round_, other, {0, 1}))
    told = server.total(saying(round_, other, {0, 1, 2}))
    for others in ({0, 1, 3}, {0, 1}, set()):
        with pytest.raises(MessageRejected, match="a different set"):
            server.total(saying(round_, other, others))
    assert server.total(saying(round_, other, range(4))) == told  # the same set
    assert server.heard() == own


@pytest.mark.parametrize("index", [3, 4, 2**40, -1, 1.5])
def test_shares_are_made_for_a_party_of_the_round(index):
    round_ = Round(parties=3, length=1)
    with pytest.raises(BadParameter, match="index"):
        shares(round_, index, [1])
    Server(round_, first=True).receive(shares(round_, 2, [1])[0])
