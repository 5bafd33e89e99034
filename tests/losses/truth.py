"""δ(ε) of short lists to twenty digits: closed forms, and one integral over a first mechanism."""

import mpmath as mp


def gaussian(mu, epsilon):
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    near, far = (epsilon / mu - mu / 2) / mp.sqrt(2), (epsilon / mu + mu / 2) / mp.sqrt(2)
    return (mp.erfc(near) - mp.exp(epsilon) * mp.erfc(far)) / 2


def laplace(ratio, epsilon):
    ratio, epsilon = mp.mpf(ratio), mp.mpf(epsilon)
    if epsilon >= ratio:
        return mp.mpf(0)
    return (
        1 - mp.exp(max(epsilon, -ratio) / 2 - ratio / 2)
        if epsilon > -ratio
        else 1 - mp.exp(epsilon)
    )


def sampled_gaussian(mu, rate, epsilon, *, added=False):
    rate, odds = mp.mpf(rate), mp.exp(epsilon)
    if added:
        rest = 1 - odds * (1 - rate)
        return rest * gaussian(mu, mp.log(odds * rate / rest)) if rest > 0 else mp.mpf(0)
    if odds <= 1 - rate:
        return 1 - odds
    return rate * gaussian(mu, mp.log((odds - 1 + rate) / rate))


def after_laplace(ratio, rest, epsilon, *, kinks=()):
    """δ of one Laplace mechanism followed by a list whose δ is `rest`, not smooth at `kinks`."""
    a = mp.mpf(ratio)
    ends = sorted(
        set(mp.linspace(-a, a, 13)) | {epsilon - k for k in kinks if abs(epsilon - k) < a}
    )
    most = rest(epsilon - a)  # the rule works to an absolute accuracy: give it numbers near 1
    if most == 0:
        return most
    between = most * mp.quad(lambda l: mp.exp((l - a) / 2) / 4 * rest(epsilon - l) / most, ends)
    return rest(epsilon - a) / 2 + mp.exp(-a) / 2 * rest(epsilon + a) + between


def after_sampled_gaussian(mu, rate, rest, epsilon):
    """δ of one sampled Gaussian (remove) followed by a list whose δ is `rest`."""
    mu, rate = mp.mpf(mu), mp.mpf(rate)

    def part(x):
        ratio = 1 - rate + rate * mp.exp(mu * x - mu**2 / 2)
        return mp.npdf(x) * ratio * rest(epsilon - mp.log(ratio))

    return mp.quad(part, mp.linspace(-12, 14, 27))


def responses(epsilon0, times, epsilon):
    """δ of `times` randomized responses."""
    epsilon0, odds = mp.mpf(epsilon0), mp.exp(epsilon)
    chance = 1 / (1 + mp.exp(-epsilon0))
    total = mp.mpf(0)
    for j in range(times + 1):
        loss = (2 * j - times) * epsilon0
        if loss > epsilon:
            mass = mp.binomial(times, j) * chance**j * (1 - chance) ** (times - j)
            total += mass * (1 - odds * mp.exp(-loss))
    return total
