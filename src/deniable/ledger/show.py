"""How a ledger looks in a terminal and in a notebook."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from deniable import fixes
from deniable.cards import card, facts, table
from deniable.fixes import Fix
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import Price
from deniable.losses.filters.approx import ApproxFilter
from deniable.losses.rounding import shown_down, shown_up
from deniable.release.numbers import amount, probability

if TYPE_CHECKING:
    from .account import Account
    from .books import Books
    from .entry import Entry

NEWEST = 20  # lines shown in a notebook
_SHARES = 5  # named one by one


def as_text(books: Books | Account, figures: str) -> str:
    """One line: where the ledger is, what was spent, and the privacy unit."""
    place = f"<Ledger {books.name!r} in {books.where}"
    return f"{place}: {figures}, protects {books.unit!r}{_halts(books)}>"


def as_html(books: Books | Account, figures: str) -> str:
    """A caption and the latest lines, newest first."""
    count = len(books.entries)
    newest = books.entries[max(0, count - NEWEST) :][::-1]
    more = f"the newest {NEWEST} of {count} lines" if count > NEWEST else ""
    said = {"budget": figures, "protects": f"{books.unit}{_halts(books)}", "shown": more}
    heads = ("line", "time (UTC)", "kind", "asker", "what", "price")
    return card(f"ledger {books.name}", facts(said), table(heads, [_row(e) for e in newest]))


def spent(books: Books) -> str:
    """What was spent of the budget."""
    strange = books.strange
    said = f"spent {books.spent}" if strange is None else f"closed by {strange}"
    return f"{said} of {books.budget}"


def spent_by(account: Account) -> str:
    """What an asker spent of their share, if they have one."""
    share = account.reserved
    if share is None:
        return f"spent {account.spent} of {account.budget}, asked by {account.asker}"
    return f"{account.asker} spent {account.spent} of a share of {share}"


def left(books: Books) -> dict[str, str]:
    """The budget left, and what each part of δ is for.

    A part of δ is set aside for charges that need a δ of their own, such as private group
    selection; the rest covers all Gaussian noise together, however much of it is used.
    """
    loss, rule = books.left, books.filter
    kept = shares(books)
    reserved = {"reserved": f'{kept}; not included in "left"'} if kept else {}
    if not isinstance(loss, Approx) or not isinstance(rule, ApproxFilter):
        return {"left": amount(loss, "down")} | reserved
    for_groups, for_noise = loss.delta, rule.budget.delta - rule.reserve
    return {
        "left": amount(Pure(loss.epsilon), "down"),
        **reserved,
        "of δ": f"{probability(for_groups, 'down')} is left for private group selection, "
        f"{probability(for_noise, 'down')} is reserved for Gaussian noise",
    }


def shares(books: Books) -> str:
    """Each asker's share, and how much of it is used; empty without shares."""
    said = [
        f"{asker} {_reserved(books, each.reserved)} ({_reserved(books, each.used)} spent)"
        for asker, each in books.shares().items()
    ]
    more = [f"{len(said) - _SHARES} more"] if len(said) > _SHARES else []
    return "; ".join(said[:_SHARES] + more)


def _reserved(books: Books, price: Price) -> str:
    loss = books.filter.spent(price)
    return amount(Pure(loss.epsilon) if isinstance(loss, Approx) and not loss.delta else loss, "up")


def asked_and_left(asked: Loss, left: Loss, *, reserving: bool = False) -> str:
    """What was asked for, a charge or a share, and what is left."""
    if reserving and is_spent(left):
        rest = "all of it is spent or reserved"
    elif reserving:
        rest = f"{amount(left, 'down')} is neither spent nor reserved"
    else:
        rest = f"{'nothing' if is_spent(left) else amount(left, 'down')} is left"
    return f"you asked for {amount(asked, 'up')}, and {rest}"


def reservable(left: Loss) -> list[Fix]:
    """The largest share that can still be reserved."""
    if not left.figure or is_spent(left):
        return []
    return [fixes.amount("amount", left.figure, shown_down(getattr(left, left.figure)))]


def is_spent(left: Loss) -> bool:
    """Whether nothing is left, where that is one figure."""
    return bool(left.figure) and not getattr(left, left.figure) > 0


def instead(left: Loss) -> str:
    """What can be asked where so much is left of a ledger's budget."""
    if is_spent(left):
        return "ask an earlier question again: stored answers stay free, but no new ones can be had"
    return "ask for less: a ledger's budget cannot be raised"


def _halts(books: Books | Account) -> str:
    halts = str(books.halts())
    return f"; {halts}" if halts else ""


def _row(entry: Entry) -> list[str]:
    what = entry.what or ", ".join(str(m.get("mechanism")) for m in islice(entry.mechanisms, 5))
    return [
        str(entry.sequence),
        f"{entry.time:%Y-%m-%d %H:%M:%S}",
        entry.kind,
        entry.asker or "",
        what,
        _priced(entry),
    ]


def _priced(entry: Entry) -> str:
    """The price in native units, each figure rounded up."""
    if entry.price is None:
        return ""
    price = entry.price
    figures = {symbol: getattr(price, name) for name, symbol in price.symbols.items()}
    figures["Rényi"] = min(price.renyi, default=0.0)
    return ", ".join(f"{name} {shown_up(value)}" for name, value in figures.items() if value)
