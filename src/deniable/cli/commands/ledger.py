"""deniable ledger: what was spent, what is left, and whether the record can be trusted."""

from __future__ import annotations

import json as notation
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from deniable import records
from deniable.cli import amounts, options, places, talk
from deniable.errors import BadParameter

if TYPE_CHECKING:
    from deniable.ledger import Account, Entry, Ledger
    from deniable.ledger.chain import Head


ledger = typer.Typer(rich_markup_mode=None, invoke_without_command=True)


@ledger.callback()
def show(
    context: typer.Context,
    *,
    verify: Annotated[bool, Option("--verify", help="Check every hash, total and charge.")] = False,
    head: Annotated[
        bool, Option("--head", help="Print the head of the hash chain as JSON, to keep elsewhere.")
    ] = False,
    anchor: Annotated[
        Path | None, Option(help="An earlier head, to detect lines removed since then.")
    ] = None,
    last: Annotated[int, Option(help="How many lines to show.", min=0)] = 20,
    asker: options.Asker = None,
    schema: options.SchemaPath = None,
    path: options.LedgerPath = None,
    json: options.Json = False,
) -> None:
    """Show what was spent, on what, and what is left.

    --verify checks that no line was changed or removed, and that no budget was exceeded.
    --asker shows one analyst's own lines and share.
    """
    if context.invoked_subcommand is not None:
        return
    if asker is not None and (verify or head or anchor is not None):
        raise BadParameter(
            "--verify, --head and --anchor check the whole ledger, not one analyst's lines",
            fix="leave out --asker (and unset DENIABLE_ASKER)",
        )
    from deniable.ledger import Account

    with _opened(path, schema) as kept:
        if asker is not None:
            _show_own(Account(kept, asker), last=last, json=json)
            return
        checked = kept.verify(_anchor(anchor)) if verify or anchor is not None else None
        if head:
            talk.answer(records.text(kept.head().to_dict()), kept.head().to_dict(), json=json)
            return
        count = len(kept.entries)
        shown = kept.entries[max(0, count - last) :]
        talk.answer(_text(kept, shown, count), _record(kept, shown, checked), json=json)
        if checked is not None:
            talk.say(f"verified: {checked.sequence} lines, unchanged and within the budget")


@ledger.command("resume")
def resume(
    *,
    asker: Annotated[str | None, Option(help="The asker [the unnamed one].")] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    schema: options.SchemaPath = None,
    path: options.LedgerPath = None,
    json: options.Json = False,
) -> None:
    """Show why queries failed, and let the asker continue.

    For the curator: the causes may contain people's values. They are erased from the ledger
    afterwards; later certificates of that asker and of the curator count the resumption.
    """
    from deniable.ledger.halts import command

    with _opened(path, schema) as kept:
        failures = kept.failures()
        if not json:
            talk.answer(failures, None, json=False)
        if failures and not yes:
            if not sys.stdin.isatty():
                raise BadParameter(
                    "somebody must read the causes before you resume",
                    why="there is no terminal to confirm in, and resuming erases the causes",
                    fix=f"{command(asker)} --yes",
                )
            typer.confirm("Allow queries again?", abort=True, err=True)
        entry = kept.resume(asker, seen=failures)
        if json:
            seen = [vars(each) for each in failures if each.asker == asker]
            talk.answer("", {"line": entry.sequence, "failures": seen}, json=True)
        talk.say(f"line {entry.sequence}: {_named(asker)} can ask again")


@ledger.command("share")
def share(
    asker: Annotated[str, Argument(help="The analyst.")],
    *,
    amount: Annotated[str, Option("--amount", help="What to add: 0.5 (ε), 0.5,1e-8, rho=0.1.")],
    schema: options.SchemaPath = None,
    path: options.LedgerPath = None,
    json: options.Json = False,
) -> None:
    """Reserve a part of the budget for one analyst, permanently."""
    with _opened(path, schema) as kept:
        reserved = amounts.loss("amount", amount)
        entry = kept.share(asker, amount=reserved)
        record = {"line": entry.sequence, "asker": asker, "left": kept.left.to_dict()}
        talk.answer(f"added to the share of {asker}: {reserved}", record, json=json)
    talk.next_step(f"deniable ask SQL --asker {shlex.quote(asker)} --spend 0.1", "spends from it")


def _named(asker: str | None) -> str:
    from deniable.ledger.halts import called

    return called(asker)


def _opened(path: str | None, schema: Path | None) -> Ledger:
    """The ledger given, the one beside the schema, or the only one in this folder."""
    from deniable.ledger import open_ledger

    if path is not None:
        return open_ledger(path if "://" in path else Path(path))
    alone = sorted(Path().glob("*.ledger"))
    if schema is None and len(alone) == 1:
        return open_ledger(alone[0])
    place = places.find(schema)
    if not place.started:
        raise places.no_ceiling(place)
    return open_ledger(place.ledger_name())


def _anchor(path: Path | None) -> Head | None:
    from deniable.ledger.chain import Head

    if path is None:
        return None
    try:
        return Head.from_dict(notation.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        raise BadParameter(
            f"{path} does not contain a ledger head", fix="deniable ledger --head > head.json"
        ) from None


def _shares(kept: Ledger) -> dict[str, str]:
    """What each asker has spent of their share."""
    from deniable.release.numbers import amount

    spent = kept.filter.spent
    found = [
        f"{asker} spent {amount(spent(share.used), 'up')} of {amount(spent(share.reserved))}"
        for asker, share in kept.shares().items()
    ]
    return {"shares": "\n          ".join(found)} if found else {}


def _show_own(account: Account, *, last: int, json: bool) -> None:
    """What one asker sees: their own lines, and what they spent."""
    from deniable.release.numbers import amount, remaining

    lines, whole = account.entries, account.reserved
    shown = [*lines[max(0, len(lines) - last) :]]
    of = amount(account.budget) if whole is None else f"{amount(whole, 'up')}, reserved"
    facts = {
        "ledger": f"{account.where}, as {account.asker} sees it",
        "protects": str(account.unit),
        "spent": f"{amount(account.spent, 'up')} of {of}",
        "left": remaining(account.left, groups=getattr(account.left, "delta", 0.0) > 0),
    }
    record: dict[str, object] = {
        "ledger": account.where,
        "asker": account.asker,
        "share": None if whole is None else whole.to_dict(),
        **{name: getattr(account, name).to_dict() for name in ("unit", "spent", "left")},
        "entries": [dict(entry.record) | {"hash": entry.hash} for entry in shown],
    }
    talk.answer(_laid_out(facts, shown), record, json=json)


def _text(kept: Ledger, shown: list[Entry], count: int) -> str:
    from deniable.ledger.show import left
    from deniable.release.numbers import amount

    facts = {
        "ledger": f"{kept.where}, {count} {'line' if count == 1 else 'lines'}",
        "protects": str(kept.unit),
        "spent": f"{amount(kept.spent, 'up')} of {amount(kept.budget)}",
        **left(kept),
        **_shares(kept),
    }
    if halts := str(kept.halts()):
        facts["failures"] = halts
    return _laid_out(facts, shown)


def _laid_out(facts: dict[str, str], shown: list[Entry]) -> str:
    from deniable.release.frame import box

    lines = [f"{name:<9} {fact}" for name, fact in facts.items()]
    if shown:
        heads = ["line", "time (UTC)", "kind", "asker", "what", "price"]
        lines.append(box(heads, [_row(entry) for entry in shown]))
    return "\n".join(lines)


def _row(entry: Entry) -> list[str]:
    from deniable.ledger.show import _priced

    asker = "" if entry.kind == "answer" else _named(entry.asker)  # its charge, above, has one
    what = "added to their share" if entry.kind == "share" else _short(entry.what)
    when = f"{entry.time:%Y-%m-%d %H:%M}"
    return [str(entry.sequence), when, entry.kind, asker, what, _priced(entry)]


def _short(text: str, most: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _record(kept: Ledger, shown: list[Entry], checked: Head | None) -> dict[str, object]:
    halts = kept.halts()
    return {
        "ledger": kept.where,
        "name": kept.name,
        **{name: getattr(kept, name).to_dict() for name in ("unit", "budget", "spent", "left")},
        "stopped": [{"asker": name, "failures": n} for name, n in halts.stopped.items()],
        "resumptions": halts.resumptions,
        "verified": None if checked is None else checked.to_dict(),
        "entries": [dict(entry.record) | {"hash": entry.hash} for entry in shown],
    }
