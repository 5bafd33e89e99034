"""What each way of publishing does for seven privacy properties and four requirements.

The properties are those of threat modelling [DWSPJ11]: each names what an attacker must not be able
to do. The requirements are what a definition of privacy must stand up to [DR14, §1.1]. Verdicts are
about the ways of publishing; the measured figures stand above them in the report.
"""

from __future__ import annotations

from dataclasses import dataclass

OPTIONS = ("raw rows", "k-anonymous rows", "private statistics", "private synthetic rows")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of a checklist: the question, and a verdict for each way of publishing."""

    name: str
    question: str
    verdicts: tuple[str, str, str, str]
    """In the order of OPTIONS. They begin with No, Partly, Yes or Yours."""


PROPERTIES = (
    Item(
        name="unlinkability",
        question="Can two records, or a record and a name, be tied to one person?",
        verdicts=(
            "No: whoever is alone on known columns is tied to their row",
            "Partly: within one release, for the columns that were foreseen; not across releases",
            "Yes, up to ε: there is no row to tie to",
            "Yes, up to ε: a synthetic row belongs to nobody",
        ),
    ),
    Item(
        name="anonymity",
        question="Can a person be picked out from everyone who might be meant?",
        verdicts=(
            "No",
            "Partly: a person hides among k, if nothing but the listed columns is known",
            "Yes, up to ε",
            "Yes, up to ε",
        ),
    ),
    Item(
        name="plausible deniability",
        question="Can a person credibly say: that is not about me?",
        verdicts=(
            "No: the row says otherwise",
            "Partly: not where everyone in a class has the same secret",
            "Yes, up to ε: the answer is nearly as likely without them",
            "Yes, up to ε",
        ),
    ),
    Item(
        name="undetectability",
        question="Can anyone tell whether a person is in the data at all?",
        verdicts=(
            "No: their row is there or it is not",
            "No: a class that fits nobody else shows it",
            "Yes, up to ε: odds move by a factor of at most e^ε",
            "Yes, up to ε",
        ),
    ),
    Item(
        name="confidentiality",
        question="Are the values themselves kept from those who may not see them?",
        verdicts=(
            "No",
            "Partly: blurred in some columns, plain in the others",
            "Yes, up to ε; the original table still has to be guarded",
            "Yes, up to ε; the original table still has to be guarded",
        ),
    ),
    Item(
        name="awareness",
        question="Do people know what is published about them, and what that means?",
        verdicts=("Yours: no technique decides this",) * 2
        + ("Yours: ε, δ and the unit are facts you can tell them",) * 2,
    ),
    Item(
        name="compliance",
        question="Do law, consent and policy allow it, and can that be shown later?",
        verdicts=("Yours: rows about people are personal data",)
        + ("Yours: whether k suffices is a judgement of your regulator",)
        + ("Yours: the ledger and the certificates are the evidence",) * 2,
    ),
)

REQUIREMENTS = (
    Item(
        name="background knowledge",
        question="Does it hold whatever else the attacker knows, now or later?",
        verdicts=(
            "No",
            "No: k holds for the columns that were foreseen",
            "Yes: the promise does not mention what the attacker knows",
            "Yes",
        ),
    ),
    Item(
        name="no obscurity",
        question="Does it hold when the method and its parameters are public?",
        verdicts=(
            "No: nothing protects but not knowing",
            "Partly: that the least generalisation was chosen tells about the rows",
            "Yes: only the random bits are secret",
            "Yes",
        ),
    ),
    Item(
        name="composition",
        question="Is it known what two releases reveal together?",
        verdicts=(
            "No",
            "No: two k-anonymous tables may single out everyone",
            "Yes: losses add up, and the ledger adds them",
            "Yes",
        ),
    ),
    Item(
        name="post-processing",
        question="Does nothing that is computed from the release make it worse?",
        verdicts=(
            "No",
            "No: joining and filtering can undo it",
            "Yes: whatever is computed from private answers is as private",
            "Yes",
        ),
    ),
)

NOT_TESTED = (
    "What nobody has published yet: next year's data can single out people who hide today.",
    "Free text, images and other columns that this report does not read.",
    "People who have several rows: every row was taken for a person.",
    "Access, storage and logs of the original table.",
)
