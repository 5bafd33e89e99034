"""The outermost SELECT → a question: keys, aggregates, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from deniable.errors import DeniableError, UnsupportedQuery
from deniable.fixes import sql_name
from deniable.query.algebra import (
    Column,
    Expression,
    Key,
    Kind,
    Order,
    Output,
    Question,
    call,
    literal,
)
from deniable.query.bind import builder
from deniable.query.bind.aggregates import Aggregates
from deniable.query.bind.keys import group_key
from deniable.query.bind.scope import Names, Scope

from .aggregates import asked, binned
from .functions import NAMED
from .groups import Item, grouping, items_of, position_of
from .lower import SqlLowering, binding_of, is_aggregate, rows_error, unknown_function
from .text import Asking, Text, named_twice


def question(select: exp.Expr, scope: Scope, asking: Asking) -> Question:
    """The question that the outermost SELECT asks about the rows of a scope."""
    text = asking.text
    items = items_of(select, text)
    _check_answerable(select, items, asking)
    nodes, sets = grouping(select, items, scope, text)
    answer = Answer(asking, scope)
    answer.group(nodes, items)
    outputs = [made for item in items for made in answer.outputs(item)]
    having = select.args.get("having")
    order = select.args.get("order")
    return builder.question(
        scope,
        asking,
        keys=answer.keys,
        aggregates=answer.aggregates.made,
        outputs=outputs,
        sets=sets,
        having=None if having is None else answer.condition(having.this),
        order_by=[] if order is None else answer.orders(order.expressions),
        limit=_whole(select, "limit"),
        offset=_whole(select, "offset") or 0,
        text=text.raw,
    )


class Answer(SqlLowering):
    """Turns parts of the text into expressions about keys and noisy aggregates."""

    def __init__(self, asking: Asking, scope: Scope) -> None:
        super().__init__(asking.text, scope)
        self.asking = asking
        self.rows = SqlLowering(asking.text, scope)
        self.names = Names()
        self.keys: list[Key] = []
        self.aggregates = Aggregates(self.names, origins=asking.names)
        self.made: dict[str, Expression] = {}

    def group(self, nodes: list[exp.Expr], items: list[Item]) -> None:
        """Make keys of the parts that are grouped by."""
        for node in nodes:
            with self.text.pointing(node):
                expression = self.rows.lower(node)
                named = next((item.name for item in items if item.node == node), "")
                column = node.name if isinstance(node, exp.Column) else ""
                label = column or named or repr(expression)
                span = self.text.span_of(node)
                made = group_key(
                    expression,
                    self.asking,
                    name=self.names.fresh(named or label),
                    asked=f"GROUP BY {label}",
                    binding=binding_of(node, self.scope),
                    label=label,
                    span=span,
                    snippet=self.text.snippet(span, f"no public keys for `{label}`"),
                )
                self.keys.append(made)

    def outputs(self, item: Item) -> list[Output]:
        """The columns of the answer that one item makes: several for a histogram."""
        node, of, text = item.node, binned(item.node), self.text
        with text.pointing(node):
            if of is not None:
                name = item.name if item.aliased else text.written(of)
                made = self.aggregates.histogram(asked(node, self.rows), name=name)
            elif is_aggregate(node):
                wish = item.name if item.aliased else ""
                made = [(item.name, self.aggregate(node, wish=wish))]
            else:
                made = [(item.name, self.lower(node))]
        for name, column in made:
            if name.lower() in self.made:
                raise named_twice(name, "answer", at=text.at(node), said=item.name)
            self.made[name.lower()] = column
        return [Output(name=n, expression=e, span=text.span_of(node)) for n, e in made]

    def orders(self, parts: list[exp.Expr]) -> list[Order]:
        """What to sort by; ALL stands for everything selected, from left to right."""
        if len(parts) == 1 and isinstance(parts[0].this, exp.Var) and parts[0].name == "ALL":
            return [Order(expression=made, **_way(parts[0])) for made in self.made.values()]
        return [Order(expression=self._sorted_by(part.this), **_way(part)) for part in parts]

    def _sorted_by(self, node: exp.Expr) -> Expression:
        """The column of the answer at a position or of a name, or an expression."""
        if isinstance(node, exp.Literal) and not node.args.get("is_string"):
            return position_of(node, list(self.made.values()), self.text)
        plain = isinstance(node, exp.Column) and not node.text("table")
        return self.made.get(node.name.lower() if plain else "") or self.lower(node)

    def lower(self, node: exp.Expr) -> Expression:
        """An aggregate, a key, or an expression about them."""
        if is_aggregate(node):
            with self.text.pointing(node):
                return self.aggregate(node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            with self.text.pointing(node):
                return self._left_out(node)
        key = self._key(node)
        return super().lower(node) if key is None else key

    def column(self, node: exp.Expr) -> Expression:
        """A column that is not a key can only be a name of the answer."""
        made = self.made.get(node.name.lower()) if not node.text("table") else None
        if made is not None:
            return made.at(self.text.span_of(node))
        if isinstance(node.this, exp.Star):
            raise rows_error(self.text, node)
        value = super().column(node)  # raises if there is no such column
        raise UnsupportedQuery(
            f"`{node.name}` is neither in GROUP BY nor aggregated",
            why="a group contains many values of it, each about one person",
            fix=self._grouped_or_aggregated(node, value),
        )

    def _grouped_or_aggregated(self, node: exp.Expr, value: Expression) -> str:
        """How a column of this kind may be asked for."""
        name, binding = sql_name(node.name), binding_of(node, self.scope)
        if binding is not None and binding.person:
            return f"COUNT(DISTINCT {name})"
        match value.kind:
            case Kind.FLOAT:
                return f"bin({name}, 10), here and in GROUP BY, or AVG({name})"
            case Kind.TIMESTAMP:
                return f"date_trunc('month', {name}), here and in GROUP BY, or MAX({name})"
            case Kind.INT:
                return f"GROUP BY {name}, or AVG({name})"
            case Kind.DATE:
                return f"GROUP BY {name}, or MAX({name})"
        return f"GROUP BY {name}, or COUNT(DISTINCT {name})"

    def _key(self, node: exp.Expr) -> Expression | None:
        keys = [(key.expression, key.column) for key in self.keys]
        return self._among(keys, node)

    def _among(
        self, keys: Sequence[tuple[Expression, Column]], node: exp.Expr
    ) -> Expression | None:
        """The column of the key that a part is, if it is one."""
        if not keys or isinstance(node, exp.Literal) or any(map(is_aggregate, node.walk())):
            return None
        value = self._row_value(node)
        found = next((column for key, column in keys if key == value), None)
        return None if found is None else found.at(self.text.span_of(node))

    def _left_out(self, node: exp.Expr) -> Expression:
        """GROUPING(a, b): which keys a grouping leaves out, as binary digits from the left.

        A row whose key is missing is in no group, so a key is missing only where it is left out.
        """
        total: Expression = literal(0)
        for part in node.expressions:
            key = self._key(part)
            if key is None:
                raise UnsupportedQuery(
                    f"GROUPING takes what is grouped by, not {self.text.written(part)}",
                    fix=f"GROUPING({self.keys[0].name})" if self.keys else "GROUP BY ROLLUP (...)",
                )
            digit = call("to_int", call("is_null", key))
            total = call("add", call("multiply", total, literal(2)), digit)
        return total

    def _row_value(self, node: exp.Expr) -> Expression | None:
        """What a part means for single rows, if it means anything there."""
        try:
            return self.rows.lower(node)
        except DeniableError:
            return None

    # ---- aggregates

    def aggregate(self, node: exp.Expr, *, wish: str = "") -> Expression:
        """A noisy number; the same aggregate asked twice is computed once."""
        return self.aggregates.column(asked(node, self.rows), wish=wish)


def _way(part: exp.Expr) -> dict[str, bool]:
    return {
        "descending": bool(part.args.get("desc")),
        "missing_first": bool(part.args.get("nulls_first")),
    }


def _check_answerable(select: exp.Expr, items: list[Item], asking: Asking) -> None:
    text = asking.text
    for item in items:
        star = isinstance(item.node, exp.Star)
        if star or (isinstance(item.node, exp.Column) and isinstance(item.node.this, exp.Star)):
            raise rows_error(text, item.node)
    for node in select.find_all(exp.Anonymous):
        if not is_aggregate(node) and node.name.lower() not in NAMED:
            with text.pointing(node):
                raise unknown_function(node.name)
    distinct = select.args.get("distinct")
    if not any(item.has_aggregate for item in items):
        if distinct is not None:
            raise _distinct(items, text)
        if select.args.get("group") is None:
            raise rows_error(text, items[0].node)
        raise UnsupportedQuery(
            "this query computes nothing for the groups",
            fix="add COUNT(*)",
            snippet=text.at(items[0].node),
        )
    if distinct is not None:
        raise UnsupportedQuery(
            "SELECT DISTINCT has no effect here: groups are already distinct",
            fix="leave out DISTINCT",
            snippet=text.at(items[0].node),
        )


def _distinct(items: list[Item], text: Text) -> UnsupportedQuery:
    """SELECT DISTINCT city: the groups there are."""
    shown = ", ".join(text.written(item.node) for item in items)
    return UnsupportedQuery(
        "use GROUP BY with COUNT(*) instead of DISTINCT",
        why="a value that only one person has would reveal that person",
        fix=f"SELECT {shown}, COUNT(*) AS n ... GROUP BY {shown}",
        snippet=text.at(items[0].node),
    )


def _whole(select: exp.Expr, clause: str) -> int | None:
    node = select.args.get(clause)
    if node is None:
        return None
    value = node.expression
    digits = str(value.this) if isinstance(value, exp.Literal) else ""
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        what = f"{clause.upper()} must be a whole number, 0 or more"
        raise UnsupportedQuery(what, fix=f"{clause.upper()} 10")
    return int(digits)
