"""The report as one HTML page: inline style, light and dark, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from deniable.attacks.linkage import Linkage
from deniable.attacks.members import AttributeInference
from deniable.attacks.telling import percent

from .checklist import BESIDE, OPTIONS, PRINCIPLES, PROPERTIES, REQUIREMENTS, Item, verdict_word

if TYPE_CHECKING:
    from ._report import Report

_STYLE = """
:root { color-scheme: light dark; --ink: #22262b; --paper: #fff; --faint: #5b626b; --line: #d5d9de;
        --warn: #8c1d18; --wash: #fbeae9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #16181b; --faint: #a3abb5; --line: #3a4047; --warn: #f2b8b5;
          --wash: #3b1a18; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .4rem; }
p.lead { font-size: 1.1rem; } p.note, caption { color: var(--faint); }
[role=note] { border-left: 5px solid var(--warn); background: var(--wash); padding: .6rem .9rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; padding: .2rem 0 .5rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0;
         border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; } .q { color: var(--faint); }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


def html_page(report: Report) -> str:
    """The report as one HTML page that needs no other file."""
    from ._report import CONFIDENTIAL

    parts = [
        "<h1>Before this table is published</h1>",
        f"<p role='note'><b>Confidential.</b> {escape(CONFIDENTIAL)}</p>",
        f"<p class='lead'>{escape(report.explain().splitlines()[0])}</p>",
        _first(report),
        _singled_out(report),
        _linked(report),
        _guessed(report),
        _options(report),
        _checklist("Seven properties", PROPERTIES, "What an attacker must not be able to do."),
        _checklist("Beside them", BESIDE, "Two properties that are often asked for as well."),
        _checklist(
            "Four requirements", REQUIREMENTS, "What a promise of privacy must stand up to."
        ),
        "<h2>Eight principles of fair information practice</h2>"
        + _table(
            "Yours to answer, whatever you publish",
            ("principle", "question"),
            [(item.name, item.question) for item in PRINCIPLES],
        ),
        "<h2>Not tested</h2><ul>"
        + "".join(f"<li>{escape(each)}</li>" for each in report.not_tested)
        + "</ul>",
    ]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='robots' content='noindex'>"
        f"<title>Risk report (confidential)</title><style>{_STYLE}</style></head><body><main>"
        + "\n".join(part for part in parts if part)
        + "</main></body></html>\n"
    )


def _first(report: Report) -> str:
    if not report.identifiers:
        return ""
    named = ", ".join(report.identifiers)
    return (
        f"<p><b>Drop first:</b> {escape(named)}. These columns look as if they named people "
        "outright.</p>"
    )


def _singled_out(report: Report) -> str:
    best = [
        (" + ".join(each.columns), f"{each.unique:,}", percent(each.unique / report.people))
        for each in report.uniqueness.combinations[:8]
    ]
    counted = "rows" if report.unit is None else "people"
    alone = (
        f"<p>k = {report.k}: the smallest group that shares {escape(', '.join(report.quasi))} has "
        f"{report.k:,}. {report.below:,} {counted} are in groups of fewer than {report.wanted}.</p>"
    )
    columns = [
        (c.name, f"{c.distinct:,}", f"{c.unique:,}", f"{c.crowd:,.1f}", f"{c.bits:.1f}")
        for c in report.selectivity.columns
    ]
    return (
        "<h2>Who is singled out</h2>"
        + alone
        + _table("Who is alone, by the columns known", ("known together", "alone", "share"), best)
        + _table(
            "How identifying each column is by itself; the crowd is whom a person hides among",
            ("column", "values", "alone", "crowd", "bits"),
            columns,
        )
    )


def _linked(report: Report) -> str:
    if report.linkage is None:
        return (
            "<h2>Linkage</h2><p class='note'>No auxiliary data were given. Anyone who knows "
            "these columns about a person counted above as alone can find that person's row.</p>"
        )
    return f"<h2>Linkage</h2>{_told(report.linkage)}"


def _guessed(report: Report) -> str:
    if report.attributes is None:
        return ""
    return (
        f"<h2>Inference</h2>{_told(report.attributes)}"
        "<p class='note'>Half of the people were published and the others kept as a control. "
        "Right guesses about people outside show what anyone can learn from the table; the extra "
        "right guesses about people inside are what it leaks.</p>"
    )


def _told(result: Linkage | AttributeInference) -> str:
    head, *facts = result.explain().splitlines()
    lines = "".join(f"<li>{escape(' '.join(fact.split()))}</li>" for fact in facts)
    return f"<p>{escape(head)}</p><ul>{lines}</ul>"


def _options(report: Report) -> str:
    rows = [(each.name, each.reidentified, each.secret, each.detail) for each in report.options]
    return "<h2>Ways to publish</h2>" + _table(
        "The same attacks on each; guesses judged against people who are not in the table",
        ("published", "re-identified", "secret", "at the price of"),
        rows,
    )


def _checklist(title: str, items: Sequence[Item], caption: str) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in ("", *OPTIONS))
    body = "".join(
        f"<tr><th scope='row'>{escape(item.name)}<br><span class='q'>{escape(item.question)}</span>"
        "</th>" + "".join(f"<td>{_marked(verdict)}</td>" for verdict in item.verdicts) + "</tr>"
        for item in items
    )
    return (
        f"<h2>{title}</h2><div class='scroll'><table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _marked(verdict: str) -> str:
    """The first word carries the verdict; it is set bold, so that colour is not needed."""
    word = verdict_word(verdict)
    return f"<b>{escape(word)}</b>{escape(verdict[len(word) :])}"


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<div class='scroll'><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr>"
        f"</thead><tbody>{body}</tbody></table></div>"
    )
