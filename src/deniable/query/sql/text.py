"""The text of a question, able to point at any part of itself, and what is known beside it."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from deniable import fixes
from deniable.errors import BadParameter, DeniableError, UnsupportedQuery
from deniable.fixes import Fix
from deniable.query.algebra import Span
from deniable.query.bind import scope
from deniable.snippets import Snippet

DIALECT: Final = "duckdb"
ONLY_QUESTIONS: Final = (
    "select aggregates: COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE, MIN, MAX"
)
_WORDS: Final = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "BETWEEN")
_LISTING: Final = frozenset({"SHOW", "DESCRIBE", "DESC", "SUMMARIZE", "EXPLAIN"})
_LISTED: Final = (
    "print(session) lists tables and columns, print(session.schema) what is known of them;\n"
    "q.explain(spend=...) shows the plan of a question"
)
_LONGEST: Final = 100_000
_MOST_TOKENS: Final = 5_000
_DEEPEST: Final = 300
_STARTS: Final = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN)


@dataclass(frozen=True, kw_only=True)
class Text:
    """What the user wrote, with the places of its words."""

    raw: str
    tokens: tuple[Token, ...]
    starts: list[int] = field(repr=False)
    places: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)

    def span_of(self, node: exp.Expr) -> Span | None:
        """From the first to the last letter of a part, parentheses of calls included."""
        if id(node) not in self.places:
            return None
        start, end = self.places[id(node)]
        called = node.this if isinstance(node, exp.Filter | exp.WithinGroup) else node
        if isinstance(called, exp.Func) and "start" not in called.meta:
            start = min(start, self._named(called, start))
        return Span(start=start, end=self._closed(start, end, called) + 1)

    def written(self, node: exp.Expr) -> str:
        """A part as the user wrote it, on one line."""
        span = self.span_of(node)
        return "" if span is None else " ".join(self.raw[span.start : span.end].split())

    def word(self, spelled: frozenset[str]) -> Span | None:
        """The first word that is spelled in one of these ways."""
        return next((_place(t) for t in self.tokens if t.text.upper() in spelled), None)

    def snippet(self, span: Span | None, note: str = "") -> Snippet | None:
        """A line of the text with a caret under a part of it."""
        if span is None:
            return None
        return Snippet(text=self.raw, start=span.start, end=span.end, note=note)

    def at(self, node: exp.Expr) -> Snippet | None:
        """A caret under a part."""
        return self.snippet(self.span_of(node))

    @contextlib.contextmanager
    def pointing(self, node: exp.Expr) -> Iterator[None]:
        """Errors raised inside get a caret under the node, unless they have one already."""
        try:
            yield
        except DeniableError as error:
            if error.snippet is None:
                error.snippet = self.at(node)
            raise

    def _named(self, node: exp.Func, start: int) -> int:
        """Where the name before the parenthesis around a place starts, if it is this call's."""
        depth = 0
        for index in range(self._index(start) - 1, 0, -1):
            depth -= _opens(self.tokens[index])
            if depth < 0:
                word = self.tokens[index - 1]
                known = isinstance(node, exp.AggFunc) or word.text.upper() in node.sql_names()
                return word.start if known else start
        return start

    def _closed(self, start: int, end: int, node: exp.Expr) -> int:
        """The end, moved to where every parenthesis that was opened is closed."""
        first, last = self._index(start), self._index(end)
        following = self.tokens[first + 1 : first + 2]
        without_arguments = isinstance(node, exp.Func) and first == last
        if without_arguments and following and _opens(following[0]) > 0:
            last += 1
        depth = sum(map(_opens, self.tokens[first : last + 1]))
        while depth > 0 and last + 1 < len(self.tokens):
            last += 1
            depth += _opens(self.tokens[last])
        return max(end, self.tokens[last].end)

    def _index(self, place: int) -> int:
        """The last token that starts at or before a place."""
        return bisect.bisect_right(self.starts, place) - 1


@dataclass(frozen=True, kw_only=True)
class Asking(scope.Asking):
    """The surroundings of a SELECT; `named` are the WITH parts it can see, each with its own."""

    text: Text
    named: Mapping[str, tuple[exp.Expr, Asking]] = field(default_factory=dict)

    def inside(self, node: exp.Expr) -> Asking:
        """The surroundings with what a WITH clause of this node adds."""
        clause = node.args.get("with_")
        here, added = self, set()
        for part in [] if clause is None else clause.expressions:
            name = part.alias.lower()
            if name in added:
                raise UnsupportedQuery(
                    f"two parts of WITH are named `{part.alias}`",
                    snippet=self.text.at(part.args["alias"]),
                )
            added.add(name)
            here = dataclasses.replace(here, named={**here.named, name: (part.this, here)})
        return here


def parse(raw: object) -> tuple[Text, exp.Expr]:
    """The one SELECT that a text holds."""
    if not isinstance(raw, str):
        raise BadParameter.of("a question", raw, must="SQL text")
    tokens = _tokens(raw)
    text = Text(raw=raw, tokens=tokens, starts=[token.start for token in tokens])
    _check_one_question(text)
    try:
        (tree,) = sqlglot.parse(raw, dialect=DIALECT)
    except ParseError as error:
        raise _syntax(text, error) from None
    except (SqlglotError, ValueError, TypeError, KeyError, AttributeError, IndexError):
        raise UnsupportedQuery("this is not valid SQL", fix=ONLY_QUESTIONS) from None
    if not isinstance(tree, exp.Expr):
        raise UnsupportedQuery("this is not valid SQL", fix=ONLY_QUESTIONS)
    _measure(tree, text.places)
    return text, tree


def _measure(tree: exp.Expr, places: dict[int, tuple[int, int]]) -> None:
    """Where each part of a tree is in the text, from the leaves up; refuse one that is too deep."""
    depths: dict[int, int] = {}
    for node in reversed(list(tree.walk())):
        inner = list(node.iter_expressions())
        depths[id(node)] = 1 + max((depths[id(part)] for part in inner), default=0)
        known = [places[id(part)] for part in inner if id(part) in places]
        if "start" in node.meta:
            known.append((node.meta["start"], node.meta["end"]))
        if known:
            places[id(node)] = min(start for start, _ in known), max(end for _, end in known)
    if depths[id(tree)] > _DEEPEST:
        raise UnsupportedQuery("this query is nested too deeply")


def named_twice(name: str, where: str, *, at: Snippet | None, said: str = "") -> UnsupportedQuery:
    """Two columns of an answer or of a subquery have one name."""
    return UnsupportedQuery(
        f"two columns of the {where} are named `{name}`",
        fix=f"{said or name} AS another_name",
        snippet=at,
    )


def _tokens(raw: str) -> tuple[Token, ...]:
    if len(raw) > _LONGEST:
        raise UnsupportedQuery(f"a query can have at most {_LONGEST:,} characters")
    if re.search("[\0\ud800-\udfff]", raw):
        raise UnsupportedQuery("a query cannot contain NUL or lone surrogates")
    try:
        tokens = tuple(sqlglot.tokenize(raw, dialect=DIALECT))
    except (SqlglotError, ValueError, IndexError):
        raise UnsupportedQuery(
            "this is not valid SQL", hint="is a quotation mark not closed?"
        ) from None
    if len(tokens) > _MOST_TOKENS:
        raise UnsupportedQuery(f"a query can have at most {_MOST_TOKENS:,} words")
    return tokens


def _check_one_question(text: Text) -> None:
    words = [t for t in text.tokens if t.token_type is not TokenType.SEMICOLON]
    if not words:
        raise UnsupportedQuery("this text contains no query", fix=fixes.EXAMPLE)
    first = words[0]
    if first.token_type not in _STARTS:
        raise UnsupportedQuery(
            f"{first.text.upper()[:40]} is not a query{_asked(first)}",
            why="a session only answers aggregate queries: it cannot change data or list tables",
            fix=_LISTED if first.text.upper() in _LISTING else _respelt(first),
            snippet=text.snippet(_place(first)),
        )
    ends = [t.start for t in text.tokens if t.token_type is TokenType.SEMICOLON]
    more = next((word for word in words if ends and word.start > ends[0]), None)
    if more is not None:
        raise UnsupportedQuery(
            "this text contains more than one query",
            why="each query has its own price",
            fix="run them one after the other",
            snippet=text.snippet(_place(more)),
        )


def _syntax(text: Text, error: ParseError) -> UnsupportedQuery:
    found = error.errors[0] if error.errors else {}
    what = str(found.get("description") or "unexpected text").strip().rstrip(".")
    if what.startswith("Required keyword"):
        what = "the query is incomplete here"
    elif what.startswith("Invalid expression"):
        what = "unexpected here"
    elif what.startswith("Expecting "):
        what = f"a `{what.removeprefix('Expecting ')}` is missing before this"
    place = found.get("line"), found.get("col")
    at = next((_place(each) for each in text.tokens if (each.line, each.col) == place), None)
    top = [word.text.upper() for word in text.tokens[:2]] == ["SELECT", "TOP"]
    wrong = _misspelt(text, at)
    if wrong is not None:
        return UnsupportedQuery(
            f"this is not valid SQL{_asked(wrong)}",
            snippet=text.snippet(_place(wrong)),
            fix=_respelt(wrong),
        )
    return UnsupportedQuery(
        "TOP is not supported; use LIMIT" if top else "this is not valid SQL",
        snippet=text.snippet(at, what[:80]),
        fix="SELECT ... ORDER BY n DESC LIMIT 5" if top else Fix(fixes.EXAMPLE, note="for example"),
    )


def _misspelt(text: Text, at: Span | None) -> Token | None:
    """The word around the place of an error that looks like a misspelt word of SQL."""
    if at is None:
        return None
    end = next(
        (i for i, each in enumerate(text.tokens) if each.start >= at.start), len(text.tokens)
    )
    around = text.tokens[max(0, end - 2) : end + 1]
    return next((each for each in reversed(around) if _meant(each)), None)


def _meant(word: Token) -> str:
    import difflib

    near = difflib.get_close_matches(word.text.upper(), _WORDS, n=1, cutoff=0.75)
    return near[0] if near and near[0] != word.text.upper() else ""


def _asked(word: Token) -> str:
    return f"; did you mean {meant}?" if (meant := _meant(word)) else ""


def _respelt(word: Token) -> str:
    """The word that was meant in place of the one that was written."""
    meant = _meant(word)
    return f"{meant}    in place of `{word.text}`" if meant else ONLY_QUESTIONS


def _opens(token: Token) -> int:
    """1 for an opening parenthesis, −1 for a closing one."""
    kind = token.token_type
    return (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)


def _place(token: Token) -> Span:
    return Span(start=token.start, end=token.end + 1)
