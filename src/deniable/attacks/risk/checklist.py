"""What each way of publishing does for privacy properties, requirements and principles.

The properties are those of threat modelling [DWSPJ11]: each names what an attacker must not be able
to do; pseudonymity and unobservability stand beside them [PH10]. The requirements are what a
definition of privacy must stand up to [DR14]. The principles are those of fair information
practice [OECD80]: no technique meets them for you. Verdicts are about the ways of publishing; the
measured figures stand above them in the report.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPTIONS = ("raw rows", "k-anonymous rows", "private statistics", "private synthetic rows")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of a checklist: the question, and a verdict for each way of publishing.

    A question without verdicts is the curator's to answer.
    """

    name: str
    question: str
    verdicts: tuple[str, ...]
    """In the order of OPTIONS. They begin with No, Partly, Yes, Yours or Not needed."""


def item(name: str, question: str, *verdicts: str) -> Item:
    """A line with all its verdicts."""
    return Item(name=name, question=question, verdicts=verdicts)


PROPERTIES = (
    item(
        "unlinkability",
        "Can two records, or a record and a name, be tied to one person?",
        "No: whoever is alone on known columns is tied to their row",
        "Partly: within one release, for the columns that were foreseen; not across releases",
        "Yes, up to ε: there is no row to tie to",
        "Yes, up to ε: a synthetic row belongs to nobody",
    ),
    item(
        "anonymity",
        "Can a person be picked out from everyone who might be meant?",
        "No",
        "Partly: a person hides among k, if nothing but the listed columns is known",
        "Yes, up to ε",
        "Yes, up to ε",
    ),
    item(
        "plausible deniability",
        "Can a person credibly say: that is not about me?",
        "No: the row says otherwise",
        "Partly: not where everyone in a class has the same secret",
        "Yes, up to ε: the answer is nearly as likely without them",
        "Yes, up to ε",
    ),
    item(
        "undetectability",
        "Can anyone tell whether a person is in the data at all?",
        "No: their row is there or it is not",
        "No: a class that only one known person fits reveals it",
        "Yes, up to ε: odds move by a factor of at most e^ε",
        "Yes, up to ε",
    ),
    item(
        "confidentiality",
        "Are the values themselves kept from those who may not see them?",
        "No",
        "Partly: blurred in some columns, plain in the others",
        "Yes, up to ε; the original table still has to be guarded",
        "Yes, up to ε; the original table still has to be guarded",
    ),
    item(
        "awareness",
        "Do people know what is published about them, and what that means?",
        *("Yours: no technique decides this",) * 2,
        *("Yours: ε, δ and the unit are facts you can tell them",) * 2,
    ),
    item(
        "compliance",
        "Do law, consent and policy allow it, and can that be shown later?",
        "Yours: rows about people are personal data",
        "Yours: whether k suffices is a judgement of your regulator",
        *("Yours: the ledger and the certificates are the evidence",) * 2,
    ),
)

REQUIREMENTS = (
    item(
        "background knowledge",
        "Does it hold whatever else the attacker knows, now or later?",
        "No",
        "No: k holds for the columns that were foreseen",
        "Yes: the promise does not mention what the attacker knows",
        "Yes",
    ),
    item(
        "no obscurity",
        "Does it hold when the method and its parameters are public?",
        "No: the only protection is secrecy",
        "Partly: choosing the least generalisation reveals something about the rows",
        "Yes: only the random bits are secret",
        "Yes",
    ),
    item(
        "composition",
        "Is it known what two releases reveal together?",
        "No",
        "No: two k-anonymous tables may single out everyone",
        "Yes: losses add up, and the ledger adds them",
        "Yes",
    ),
    item(
        "post-processing",
        "Does nothing that is computed from the release make it worse?",
        "No",
        "No: joining and filtering can undo it",
        "Yes: whatever is computed from private answers is as private",
        "Yes",
    ),
)

BESIDE = (
    item(
        "pseudonymity",
        "Are people known by names that only a key holder can tie to them?",
        "Partly: a keyed hash hides the name, and all rows of a person stay tied together",
        "Partly: drop pseudonyms too, since they tie a person's rows together",
        "Not needed: there are no names, true or other",
        "Not needed: made-up rows need no names",
    ),
    item(
        "unobservability",
        "Is it hidden from everyone, even from those who run the system, that a person took part?",
        *("No: whoever holds the table sees it",) * 2,
        *("No: the curator sees it; the local model and secure sums change that",) * 2,
    ),
)

PRINCIPLES = (
    item(
        "collection limitation",
        "Was only what is needed collected, lawfully, and with people's knowledge?",
    ),
    item("data quality", "Are the data relevant, accurate, complete and up to date?"),
    item("purpose specification", "Was the purpose stated before the data were collected?"),
    item(
        "use limitation", "Is this publication within that purpose, or covered by consent or law?"
    ),
    item("security safeguards", "Is the original table protected against loss and access?"),
    item(
        "openness", "Can anyone find out what is held, published and promised (ε, δ and the unit)?"
    ),
    item(
        "individual participation",
        "Can people see their data, have them corrected, and decline to take part?",
    ),
    item("accountability", "Who answers for all this, and do the ledger and certificates show it?"),
)

ROWS = (
    "Every row was taken for a person: if people have several rows, name the column that says so."
)

NOT_TESTED = (
    "What nobody has published yet: next year's data can single out people who hide today.",
    "Free text, images and other columns that this report does not read.",
    "Access, storage and logs of the original table.",
)


def verdict_word(verdict: str) -> str:
    """The first words of a verdict, which carry it.

    >>> verdict_word("Yes, up to ε: odds move"), verdict_word("Partly: blurred")
    ('Yes', 'Partly')
    """
    return re.split("[:,;]", verdict, maxsplit=1)[0]
