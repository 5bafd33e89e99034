"""Words are fresh: across calls, threads, forks, signals."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling import PublicRandom, SystemSource, current, discrete_laplace, using
from deniable.sampling.source import BLOCK


def test_words_are_never_handed_out_twice():
    source = SystemSource()
    counts = [1, 2, 700, 5, BLOCK - 1, BLOCK, 3 * BLOCK, 1, 0, 400, 900]
    words = np.concatenate([source.words(count) for count in counts])
    assert words.size == sum(counts)
    assert np.unique(words).size == words.size  # a chance repeat: below 1e-11


def test_words_are_balanced_in_every_bit():
    words = SystemSource().words(1 << 16)
    ones = np.array([int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    assert min(goodness.count(each, 1 << 16, 0.5) for each in ones) > 1e-8  # 64 times: < 1e-6


@pytest.mark.parametrize("bits", [1, 7, 63, 64, 65, 128, 1000])
def test_integers_have_the_bits_asked_for(bits, scripted):
    source = SystemSource()
    drawn = [source.integer(bits) for _ in range(200)]
    assert all(0 <= number < 2**bits for number in drawn)
    assert max(drawn) >= 2 ** (bits - 1)  # all 200 below: probability 2⁻²⁰⁰
    assert scripted([2**64 - 1] * 16).integer(bits) == 2**bits - 1


def test_a_forked_child_shares_no_words_with_its_parent():
    source = SystemSource()
    source.words(3)  # a block is open when the fork happens
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, source.words(64).tobytes())
        finally:
            os._exit(0)
    ours = source.words(64)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reader, 512), dtype=np.uint64)
    os.close(reader)
    os.close(writer)
    assert theirs.size == 64
    assert not np.isin(theirs, ours).any()


def test_without_the_fork_guards_the_words_would_be_shared(monkeypatch):
    """The sabotaged twin: a child that believes it is its parent repeats the parent's words."""
    source = SystemSource()
    source.words(3)
    kept = source._thread.kept
    ours = source.words(64)
    source._thread.kept = kept
    assert (source.words(64) == ours).all()
    source._thread.kept = (kept[0], (kept[1][0], kept[1][1] + 1))  # another process id
    assert not np.isin(source.words(64), ours).any()
    source._thread.kept = (kept[0], (kept[1][0] + 1, kept[1][1]))  # after another fork
    assert not np.isin(source.words(64), ours).any()


def test_forked_workers_draw_different_noise():
    with multiprocessing.get_context("fork").Pool(3) as pool:
        noise = pool.map(_noise, range(6))
    assert len({tuple(part) for part in noise}) == 6


def _noise(_):
    return discrete_laplace(2.0**40, 8).tolist()


def test_threads_share_no_words():
    source = SystemSource()
    drawn, ready = [], threading.Barrier(8)

    def work():
        ready.wait()
        drawn.extend(int(word) for _ in range(300) for word in source.words(7))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == len(drawn) == 8 * 300 * 7


def test_a_signal_handler_that_draws_gets_other_words():
    source = SystemSource()
    inside, outside = [], []
    before = signal.signal(signal.SIGALRM, lambda *_: inside.extend(source.words(3).tolist()))
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
    try:
        for _ in range(20000):
            outside.extend(source.words(2).tolist())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert inside
    assert len({*inside, *outside}) == len(inside) + len(outside)


def test_using_swaps_the_source_and_restores_it(scripted):
    usual, fake = current(), scripted([2**62] * 4)
    with using(fake) as given:
        assert current() is fake is given
        first = discrete_laplace(1000, 4).tolist()
    assert current() is usual
    assert len(set(first)) == 1
    assert fake.drawn == 4


def test_using_restores_the_source_after_an_exception(scripted):
    usual = current()
    with pytest.raises(KeyError), using(scripted()):
        raise KeyError
    assert current() is usual


@pytest.mark.parametrize("wrong", [PublicRandom(1), np.random.default_rng(1), 7, "os", object])
def test_what_is_not_a_source_is_refused(wrong):
    with pytest.raises(BadParameter, match="source"):
        discrete_laplace(1, 1, source=wrong)
    with pytest.raises(BadParameter, match="source"), using(wrong):
        pass


def test_importing_deniable_does_not_draw_or_load_numpy():
    code = "import sys, deniable; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
