"""Judges one question: refused without looking at data, or nothing moves more than was declared."""

import functools
from dataclasses import dataclass

import deniable as dp
from deniable.audit import replay
from deniable.errors import DeniableError
from deniable.query.algebra import Call, Join, PerPerson, walk
from deniable.query.allocate.basis import foldings

from .places import blind, cells, opened

SPEND = {"Pure": dp.epsilon(2), "Approx": dp.epsilon(2, delta=1e-7), "Zcdp": dp.rho(0.5)}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Whom a session protects and what it may spend."""

    unit: dp.Unit
    budget: object

    @functools.cached_property
    def blind(self):
        return blind(unit=self.unit, budget=self.budget)

    @property
    def spend(self):
        return SPEND[type(self.budget).__name__]


_PERSON = {"rows": 3, "groups": 2}
CASES = [
    Case(unit=dp.rows(), budget=dp.epsilon(50, delta=1e-6)),
    Case(unit=dp.person("id", **_PERSON), budget=dp.epsilon(50, delta=1e-6)),
    Case(unit=dp.person("id", **_PERSON, relation="replace"), budget=dp.epsilon(50, delta=1e-6)),
    Case(unit=dp.rows(relation="replace"), budget=dp.rho(20)),
    Case(unit=dp.person("id", rows=1, groups=1), budget=dp.epsilon(50)),
    Case(unit=dp.person("id", rows=50, groups=4), budget=dp.rho(20)),
]


def accepted(asked, case):
    """The query, if it is one that can be asked; None if refused. No data can be read here."""
    try:
        query = case.blind.sql(asked) if isinstance(asked, str) else case.blind.query(asked)
        query.explain(spend=case.spend)
    except DeniableError:
        return None
    return query


def weigh(query, pairs, *, place):
    """What is wrong with an accepted query by what the engine adds up for neighbours; or nothing.

    With noise left out and one key for the hash, each column of whole numbers may move by what
    its tally declares, in all three norms.
    """
    plan = query.integers
    worlds = [world for pair in pairs for world in (pair.first, pair.second)]
    try:
        found = [cells(plan, each) for each in place.asked(plan, worlds)]
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{query.question!r}"
    for pair, first, second in zip(pairs, found[::2], found[1::2], strict=True):
        for tally in (*plan.tallies, *([plan.selection] if plan.selection else [])):
            words = _too_far(tally, first.get(tally.name, {}), second.get(tally.name, {}), pair)
            if words:
                return f"{pair.what}, {plan.unit}: {words}\n{tally}\n{query.question!r}"
        for basis in foldings(plan.tallies, plan):
            moved = sum(abs(m) for m in _coordinates(basis, first, second))
            if moved > basis.moves.l1:
                return f"{pair.what}, {plan.unit}: together by {moved}\n{basis}\n{query.question!r}"
    return ""


def _coordinates(basis, first, second):
    """By how much every coordinate of a basis moves, in every group."""
    found = [(first.get(t.name, {}), second.get(t.name, {})) for t in basis.tallies]
    for group in {key for pair in found for side in pair for key in side}:
        moved = [one.get(group, 0) - other.get(group, 0) for one, other in found]
        for factors in basis.forth:
            yield sum(f * m for f, m in zip(factors, moved, strict=True))


def _too_far(tally, first, second, pair):
    changes = [abs(first.get(k, 0) - second.get(k, 0)) for k in first.keys() | second.keys()]
    l1, square, most = sum(changes), sum(c * c for c in changes), max(changes, default=0)
    if pair.nobody and l1:
        return "rows of nobody count"
    bound = tally.moves
    if l1 > bound.l1 or square > bound.l2_squared or most > bound.linf:
        return f"moved by {l1}, √{square}, {most}; declared {bound}"
    return ""


def judge(sql, case, pairs, *, opening=opened):
    """What is wrong with a question by whole sessions, recorded and replayed; or nothing."""

    def program(data):
        session = opening(data, unit=case.unit, budget=case.budget)
        return session.sql(sql).release(spend=case.spend)

    for pair in pairs:
        try:
            found = replay(program, pair.first, pair.second)
        except DeniableError as error:
            return f"refused only when released: {error}"
        if not found.ok or found.ended:
            return f"{pair.what}, {case.unit}\n{sql}\n{found}\n{found.ended}"
        if pair.nobody and any(moved.moved for _, moved in found.measured):
            return f"{pair.what}: rows of nobody count\n{sql}\n{found}"
    return ""


def operators_of(question):
    """The operators that a question applies to rows."""
    return {
        part.op
        for expression in _expressions(question)
        for part in walk(expression)
        if isinstance(part, Call)
    }


def _expressions(question):
    for key in question.keys:
        yield key.expression
    for each in question.aggregates:
        yield from each.expressions
    for relation in relations_of(question.relation):
        yield from (e for e in [getattr(relation, "where", None)] if e is not None)
        yield from (e for _, e in getattr(relation, "named", ()))
        if isinstance(relation, Join):
            yield from (e for pair in relation.on for e in pair)
        if isinstance(relation, PerPerson):
            yield from (e for _, e in relation.keys)
            for s in relation.summaries:
                yield from (e for e in (s.argument, s.where) if e is not None)


def relations_of(relation):
    """A relation and all that it is made of."""
    yield relation
    for name in ("source", "left", "right"):
        below = getattr(relation, name, None)
        if below is not None:
            yield from relations_of(below)
