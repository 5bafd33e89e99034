"""What follows the aggregate: selections, filters, order and limit of noisy numbers, all free."""

from __future__ import annotations

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Order, both

from .values import IbisLowering, Node


class After(IbisLowering):
    """The columns of an answer as they stand after each step; every one a row's, as it were."""

    def __init__(self, node: Node, columns: dict[str, Expression]) -> None:
        super().__init__({})
        self.node = node
        self.columns = columns
        self.having: Expression | None = None
        self.orders: list[Order] = []
        self.limit: int | None = None
        self.offset = 0

    def take(self, step: Node) -> None:
        """One more step: a question filters first, then sorts, then keeps the first few."""
        limited = self.limit is not None or self.offset
        if limited and type(step) in (ops.Filter, ops.Sort, ops.Limit):
            raise UnsupportedQuery(
                "limit comes last", fix=".filter(...), then .order_by(...), then .limit(...)"
            )
        columns = self.columns
        match type(step):
            case ops.Project:
                columns = {name: self.lower(value) for name, value in step.values.items()}
            case ops.DropColumns:
                columns = {n: e for n, e in columns.items() if n not in step.columns_to_drop}
            case ops.Filter:
                for predicate in step.predicates:
                    self.having = both(self.having, self.condition(predicate))
            case ops.Sort:
                self.orders = [self._order(key) for key in step.keys]
            case ops.Limit:
                self.limit, self.offset = self._whole(step.n), self._whole(step.offset) or 0
        self.node, self.columns = step, columns
        self._known.clear()

    def made(self, node: Node) -> Expression:
        """An expression about one group of the answer."""
        if type(node) is ops.WindowFunction:
            raise UnsupportedQuery(
                "window functions of an answer are left to you: they cost nothing",
                fix=".release(...).to_pandas(), and go on there",
            )
        return super().made(node)

    def field(self, node: Node) -> Expression:
        """A column of the answer."""
        if node.rel != self.node:
            raise UnsupportedQuery(
                f"`{node.name}` is a column of rows; here only columns of the answer can be used",
                fix="ibis._." + node.name,
            )
        return self.columns[node.name]

    def _order(self, key: Node) -> Order:
        made = self.lower(key.arg)
        return Order(
            expression=made, descending=not key.ascending, missing_first=bool(key.nulls_first)
        )

    @staticmethod
    def _whole(value: object) -> int | None:
        if value is not None and not isinstance(value, int):
            raise UnsupportedQuery("limit takes an integer", fix=".limit(10)")
        return value
