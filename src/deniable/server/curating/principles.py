"""The eight fair-information principles (OECD, 1980) as a checklist, from what the system knows."""

from __future__ import annotations

from typing import Any

from deniable.server.folder import Group


def checklist(group: Group, resumptions: int) -> list[dict[str, Any]]:
    """Each principle, whether the system does or was told what it asks for, and what that is."""
    consents = [f"{n} ({t.consent})" for n, t in group.schema.tables.items() if t.consent]
    held = sum(len(t.columns) for t in group.schema.tables.values())
    purposes, version = ", ".join(group.purposes), group.schema.version
    resumed = f"asking was resumed after a failure {resumptions} times"
    rows = [
        ("Collection limitation", bool(consents),
         f"rows count only with consent: {', '.join(consents)}",
         f"the curator states no consent column; {held} columns are held"),
        ("Data quality", version is not None,
         f"every answer names the version of the data: {version}",
         "the curator states no version of the data"),
        ("Purpose specification", bool(purposes), purposes, "the curator states no purpose"),
        ("Use limitation", bool(purposes),
         "each question names one of these purposes",
         "questions need not name a purpose"),
        ("Security safeguards", True,
         "only noisy answers leave the server, within a budget; see the limits page", ""),
        ("Openness", group.publish,
         "questions, answers and spending are published on this page",
         "tables, unit and budget are published; questions are not"),
        ("Individual participation", bool(group.contact),
         f"people ask {group.contact} about their rows",
         "the curator gives no contact for people to ask about their rows"),
        ("Accountability", True,
         f"every answer is a line of a hash-chained ledger; {resumed}", ""),
    ]  # fmt: skip
    return [{"name": n, "met": met, "told": yes if met else no} for n, met, yes, no in rows]
