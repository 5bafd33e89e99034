"""Membership and attributes: found without privacy, hidden with it."""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness

import deniable as dp
from deniable.attacks import attributes, defended, from_frequencies, from_model, membership
from deniable.sampling.public import PublicRandom
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using

SURE, ALARM = 1 - 1e-7, 1e-7


def surprise(right, guesses, epsilon):
    """The p-value of as many right, or as many wrong, guesses of fair coins if ε holds.

    Given all others, each guess is wrong with a chance of at least 1/(1 + e^ε): the number of wrong
    guesses is at least binomial                                             [SNJ23, Thm 5.2].
    """
    chance = 1 / (1 + np.exp(epsilon))
    return 2 * min(goodness.covered(hits, guesses, chance) for hits in (right, guesses - right))


def coins(count, seed=None):
    return np.random.default_rng(seed).random(count) < 0.5


def of_pairs(found, tossed, epsilon):
    """Which of each pair is in: the one with the higher score. One is replaced by the other."""
    higher = found.inside[tossed] > found.outside[tossed]
    return surprise(int(higher.sum()), len(higher), epsilon)


def of_people(inside, outside, epsilon):
    """Who is in: those whose score is above the middle. One is added or removed."""
    cut = np.median(np.concatenate([inside, outside]))
    right = int(np.sum(inside >= cut) + np.sum(outside < cut))
    return surprise(right, len(inside) + len(outside), epsilon)


class Logistic:
    """Logistic regression by gradient descent, without any restraint: it learns people by heart."""

    def __init__(self, rows, labels, steps=300):
        self.weights = np.zeros(rows.shape[1])
        for _ in range(steps):
            pull = rows.T @ (labels - self._chance(rows)) / len(labels)
            self.weights += 2.0 * pull

    def _chance(self, rows):
        return 1 / (1 + np.exp(-np.clip(rows @ self.weights, -30, 30)))

    def predict_proba(self, rows):
        one = self._chance(np.asarray(rows))
        return np.column_stack([1 - one, one])


@pytest.fixture(scope="module")
def genomes():
    draw = PublicRandom(3).generator
    rates = draw.uniform(0.05, 0.95, 1_500)
    return rates, *((draw.random((200, 1_500)) < rates).astype(float) for _ in range(2))


@pytest.mark.parametrize("test", ["inner_product", "likelihood"])
def test_published_frequencies_betray_who_is_in_the_pool(genomes, test):
    rates, pool, others = genomes
    found = from_frequencies(
        pool.mean(axis=0), members=pool, controls=others, reference=rates, test=test
    )
    assert found.auc > 0.95
    assert found.tpr_at(0.01) > 0.5
    assert found.epsilon_lower() > 2


def swapped(first, second, seed=None):
    tossed = coins(len(first), seed)[:, None]
    return np.where(tossed, second, first), np.where(tossed, first, second)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_private_frequencies_do_not(genomes, epsilon):
    """False alarm below 1e-7 each."""
    rates, pool, others = genomes[0], *swapped(*genomes[1:])
    found = defended.membership(pool, controls=others, reference=rates, epsilon=epsilon)
    assert of_pairs(found, slice(None), epsilon) > ALARM


def test_bare_frequencies_are_noticed(genomes):
    """Seeded: no alarms."""
    rates, pool, others = genomes[0], *swapped(*genomes[1:], seed=1)
    found = from_frequencies(pool.mean(axis=0), members=pool, controls=others, reference=rates)
    assert of_pairs(found, slice(None), 1.0) < ALARM


def test_a_sample_of_others_serves_as_reference(genomes):
    rates, pool, others = genomes
    sample = (PublicRandom(8).generator.random((300, rates.size)) < rates).astype(float)
    found = membership(pool.mean(axis=0), members=pool, controls=others, reference=sample)
    assert found.auc > 0.9


@pytest.fixture(scope="module")
def labelled():
    draw = PublicRandom(4).generator
    truth = draw.normal(size=300)

    def sample(size):
        rows = draw.integers(0, 2, (size, 300)).astype(float)
        chance = 1 / (1 + np.exp(-(rows - 0.5) @ truth / 2))
        return rows, (draw.random(size) < chance).astype(int)

    return [sample(size) for size in (150, 150, 600)]


def test_a_model_that_learned_by_heart_betrays_whom_it_saw(labelled):
    members, controls, reference = labelled
    model = Logistic(*members)
    plain = from_model(model, members=members, controls=controls)
    assert plain.auc > 0.75
    shadowed = from_model(
        model, members=members, controls=controls, train=Logistic, reference=reference, size=150
    )
    assert shadowed.auc > 0.75
    assert shadowed.tpr_at(0.01) > plain.tpr_at(0.01)
    assert "shadow" in shadowed.explain()


def parted(labelled, seed=None):
    """Everyone is a member or a control by a coin of their own."""
    rows, labels = (np.concatenate(part) for part in zip(*labelled[:2], strict=True))
    tossed = coins(len(labels), seed)
    return (rows[tossed], labels[tossed]), (rows[~tossed], labels[~tossed])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_a_model_of_private_counts_does_not(labelled, epsilon):
    """False alarm below 1e-7 each."""
    members, controls = parted(labelled)
    found = defended.model(members, controls=controls, epsilon=epsilon)
    assert of_people(found.inside, found.outside, epsilon) > ALARM


def test_a_bare_model_is_noticed(labelled):
    """Seeded: no alarms."""
    members, controls = parted(labelled, seed=1)
    found = from_model(Logistic(*members), members=members, controls=controls)
    assert of_people(found.inside, found.outside, 0.1) < ALARM


def test_classes_may_have_names(labelled):
    members, controls, _ = labelled
    model = Logistic(*members)
    plain = from_model(model, members=members, controls=controls).auc
    model.classes_ = np.array(["no", "yes"])
    words = [(rows, np.where(labels, "yes", "no")) for rows, labels in (members, controls)]
    assert membership(model, members=words[0], controls=words[1]).auc == plain


COLUMNS = ["age", "education", "occupation", "hours_per_week", "sex", "income"]


@pytest.fixture(scope="module")
def people():
    table = dp.load_adult("all").select(COLUMNS)
    order = PublicRandom(6).generator.permutation(table.num_rows)
    return [table.take(order[a:b]) for a, b in ((0, 600), (600, 1_200), (1_200, 3_000))]


def test_synthetic_rows_that_copy_people_betray_them(people):
    members, controls, others = people
    copied = pa.concat_tables([members.slice(0, 300), others])
    found = membership(copied, members=members, controls=controls, reference=others)
    assert found.auc > 0.65
    assert found.epsilon_lower() > 0.2
    assert "closest record" in found.test


def test_rows_of_other_people_betray_nobody(people):
    """Seeded; another seed alarms with a chance below 3e-7.

    P(|AUC − ½| ≥ t) ≤ 2·exp(−2nt²) for n against n people (Hoeffding 1963, section 5b).
    """
    members, controls, others = people
    found = membership(others, members=members, controls=controls)
    assert abs(found.auc - 0.5) < 0.115


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_rows_drawn_from_private_counts_betray_nobody(people, epsilon):
    """False alarm below 1e-7 each. Replacing a person is removing one and adding one: 2ε.

    Only pairs are tossed for whose values others have as well: lists of values are public.
    """
    members, controls = (table.to_pandas() for table in people[:2])
    stay = members[:300]
    common = [table[name].isin(stay[name]) for table in (members, controls) for name in COLUMNS]
    tossed = np.all(common, axis=0) & (np.arange(600) >= 300)
    swap = tossed & coins(600)
    first, second = members.copy(), controls.copy()
    first[swap], second[swap] = controls[swap], members[swap]
    found = defended.synthetic(first, columns=COLUMNS, controls=second, epsilon=epsilon)
    assert tossed.sum() > 200
    assert of_pairs(found, tossed, 2 * epsilon) > ALARM


KNOWN = ["age", "education", "occupation", "hours_per_week", "sex"]


def test_raw_rows_give_away_the_secret_of_those_in_them(people):
    members, controls, _ = people
    found = attributes(members, secret="income", known=KNOWN, members=members, controls=controls)
    assert found.accuracy > 0.95
    assert found.advantage > 0.15
    assert found.epsilon_lower() > 1
    assert found.plot() is not None


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_private_counts_do_not(people, epsilon):
    """False alarm below 1e-7 each: a person whose secret is guessed right is guessed to be in."""
    everyone = pa.concat_tables(people[:2])
    tossed = coins(everyone.num_rows)
    members, controls = everyone.filter(tossed), everyone.filter(~tossed)
    found = defended.linkage(
        members, known=KNOWN, secret="income", controls=controls, epsilon=epsilon
    )
    (right, _), (false, others) = found.members, found.controls
    assert surprise(right + others - false, everyone.num_rows, epsilon) > ALARM


def test_too_little_noise_is_noticed(people):
    """The sabotaged twin: noise for ε = 12 under a claim of 1. Seeded: no alarms."""
    members, controls, _ = people
    with using(SeededSource(1)):
        found = defended.linkage(
            members, known=KNOWN, secret="income", controls=controls, epsilon=12.0
        )
    assert found.epsilon_lower(SURE) > 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: from_frequencies([0.5], members=[[1, 0]], controls=[[1, 0]]),
        lambda: from_frequencies([0.5], members=[[np.nan]], controls=[[1]]),
        lambda: from_frequencies([0.5], members=[[0.5]], controls=[[1]], test="likelihood"),
        lambda: from_model(Logistic(np.eye(2), np.ones(2)), members=(np.eye(2), [0, 1]),
                           controls=(np.eye(2), [0, 1]), train=Logistic),
        lambda: attributes({"a": [1]}, secret="a", known=["a"], members={}, controls={}),
        lambda: defended.membership([[0.5]], controls=[[1.0]]),
        lambda: defended.model(([[0.5]], [1]), controls=([[1]], [1])),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused(call):
    with pytest.raises(dp.BadParameter):
        call()
