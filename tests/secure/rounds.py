"""A round taken apart, so that tests can change what is said in it."""

import numpy as np

from deniable.secure import Coordinator, Party, Round


class Play:
    """All parties and a coordinator, one step at a time."""

    def __init__(self, vectors, **facts):
        self.vectors = np.asarray(vectors)
        count, length = self.vectors.shape
        self.round = Round(**({"parties": count, "length": length, "limit": 10_000} | facts))
        self.parties = [Party(self.round, i) for i in range(count)]
        self.coordinator = Coordinator(self.round)

    def keys(self, without=()):
        self.said = [p.advertise() for p in self.parties if p.index not in without]
        return self.said

    def shares(self, rosters, without=()):
        return [
            p.share(rosters[p.index])
            for p in self.parties
            if p.index in rosters and p.index not in without
        ]

    def masked(self, letters, without=()):
        return [
            p.mask(letters[p.index], self.vectors[p.index])
            for p in self.parties
            if p.index in letters and p.index not in without
        ]

    def confirmed(self, survivors, without=()):
        return [
            p.confirm(survivors[p.index])
            for p in self.parties
            if p.index in survivors and p.index not in without
        ]

    def revealed(self, codes, without=()):
        return [
            p.reveal(codes[p.index])
            for p in self.parties
            if p.index in codes and p.index not in without
        ]

    def steps(self):
        """How the coordinator ends each step, and what the parties say next."""
        c = self.coordinator
        return [
            (c.rosters, self.shares),
            (c.deliveries, self.masked),
            (c.survivors, self.confirmed),
            (c.confirmations, self.revealed),
        ]

    def finish(self):
        """From the end of the third step on, all as it should be; the total."""
        for close, speak in self.steps()[2:]:
            self.coordinator.receive(*speak(close()))
        return self.coordinator.total()

    def to(self, step, gone=((), (), (), (), ())):
        """Play until the messages of a step are made and not yet received; return them."""
        messages = self.keys(gone[0])
        for number, (close, speak) in enumerate(self.steps(), 1):
            if step == number:
                return messages
            self.coordinator.receive(*messages)
            messages = speak(close(), gone[number])
        return messages

    def total(self, gone=((), (), (), (), ())):
        self.coordinator.receive(*self.to(5, gone))
        return self.coordinator.total()
