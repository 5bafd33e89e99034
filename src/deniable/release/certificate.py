"""A certificate: what is claimed about one release, and everything needed to check the claim.

It contains public facts only. Its `registry` part has the fields that public registries of DP
deployments ask for; those that only the curator knows are left empty for them to fill in.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable import parameters, records
from deniable.cards import escape
from deniable.losses import Loss
from deniable.mechanisms import Mechanism

from .numbers import amount, digits, meaning, probability

if TYPE_CHECKING:
    from ._release import Release
    from .provenance import Provenance

FORMAT: Final = 1
_MOST_ROWS: Final = 101
OPENED: Final = "paid when the mechanism was opened"
"""Why a handle's answers are free: opening the mechanism paid for all of them."""
_STEPS: Final = (
    "`noise` is in rows and in units of the columns. The scale and the sensitivity of `mechanisms` "
    "are in steps of the lattice on which sums are exact; their ratio needs no unit."
)
_DELTAS: Final = (1e-5, 1e-6, 1e-7, 1e-9)
_HEADINGS: Final = ("Releases", "Privacy", "Error", "Assumes", "Numerics")
_FLAVOURS: Final = {
    "pure": "Pure DP",
    "approx": "Approximate DP",
    "zcdp": "Zero-concentrated DP",
    "gdp": "Gaussian DP",
    "renyi": "Rényi DP",
    "profile": "Privacy loss distribution",
}


@dataclass(frozen=True)
class Certificate(Mapping[str, object]):
    """A nested record that reads as a dictionary, and prints as JSON, HTML or text."""

    record: Mapping[str, object]

    def __getitem__(self, name: str) -> object:
        return self.record[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.record)

    def __len__(self) -> int:
        return len(self.record)

    def to_dict(self) -> dict[str, object]:
        """The record itself."""
        return dict(self.record)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """JSON text, also written to `path` if one is given."""
        return _kept(records.text(self.record), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page that needs nothing else, also written to `path` if one is given."""
        page = (
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width'>"
            "<meta name='color-scheme' content='light dark'><title>Certificate of a private release"
            "</title></head><body style='font-family:system-ui,sans-serif;max-width:60em;"
            f"margin:2em auto;padding:0 1em'><h1>Certificate</h1>{_html(self.record)}</body></html>"
        )
        return _kept(page, path)

    def _repr_html_(self) -> str:
        parts = (
            f"<details{' open' * (name == 'claim')}><summary><b>{_label(name)}</b></summary>"
            f"<div style='margin-left:1.4em'>{_html(part)}</div></details>"
            if isinstance(part, Mapping | list | tuple)
            else _named(name, part)
            for name, part in self.record.items()
        )
        return f"<div style='font-size:13px'>{''.join(parts)}</div>"

    def __str__(self) -> str:
        return "\n".join(_lines(self.record, ""))

    __repr__ = __str__


def certify(release: Release) -> Certificate:
    """The certificate of a release."""
    where = release.provenance
    mechanisms = [_mechanism(record) for record in release.mechanisms]
    record = {
        "format": FORMAT,
        "claim": _claim(release),
        "loss": _loss(release.loss, release.provenance.budget),
        "mechanisms": mechanisms,
        **({"noise": list(where.noise), "units": _STEPS} if where.noise else {}),
        "question": {
            "asked": where.question,
            "table": where.table,
            "data_version": where.data_version or "not given",
            "bounds": dict(where.bounds),
        },
        "answer": _answer(release),
        "estimand": {n: a.estimand or "the exact number" for n, a in release.answers.items()},
        "uncertainty": where.note,
        "randomness": release.randomness,
        "ledger": {
            "entry": _entry(where),
            "entry_hash": where.entry_hash,
            **({"all_charges": list(where.entries)} if where.entries else {}),
            "charged": dict(where.price),
            "kept_in": where.ledger,
            "resumptions": where.resumptions,
            "failures": where.failures,
            "about_failures": "A failure while rows are read can reveal one fact about one person, "
            "which the loss claimed above does not cover. It stops the asker until the curator "
            "has seen the cause and lets the asker continue. `resumptions` and `failures` count "
            "how often that happened. " + _counted(where),
            "check": _check(where),
        },
        "software": {"deniable": where.version},
        "time": where.time,
        "registry": _registry(release, mechanisms),
    }
    return Certificate(record)


def _answer(release: Release) -> object:
    """What was answered, with its ±; a long table by its hash."""
    table = release.to_csv()
    rows = table.splitlines()
    if len(rows) <= _MOST_ROWS:
        return rows
    digest = hashlib.sha256(table.encode()).hexdigest()
    return {"rows": len(rows) - 1, "sha256 of r.to_csv()": digest}


def _entry(where: Provenance) -> object:
    """The ledger entry of the charge, as far as the asker may know it."""
    if where.entry is not None:
        return where.entry
    return "look it up by its hash" if where.entry_hash else "charged to another asker"


def _counted(where: Provenance) -> str:
    if where.entry is None:
        return "They count this asker's own failures; the curator sees everyone's."
    return "They count the failures of all askers."


def _check(where: Provenance) -> str:
    chain = (
        "The chain reveals changed or removed lines. It cannot reveal that the newest lines "
        "were cut off, unless you keep a copy of its head elsewhere."
    )
    if where.entry is not None:
        head = (
            "The hash is the head of the ledger's hash chain at the time of this charge; it covers "
            "every earlier line."
        )
    elif where.entry_hash:
        head = "The hash is keyed: the curator finds the charge with ledger.find(entry_hash)."
    else:
        head = "Another asker with the same budget was charged; the curator knows which one."
    return f"{head} {chain}"


def _claim(release: Release) -> dict[str, object]:
    unit, budget = release.unit, release.provenance.budget
    claim: dict[str, object] = {
        "definition": release.loss.definition,
        "this_release": amount(release.loss, "up"),
        "in_words": meaning(release.loss),
        "protects": str(unit),
        "unit": unit.to_dict(),
        "neighbours": unit.neighbours,
    }
    if release.free == OPENED:
        claim["paid"] = f"{OPENED}; this loss covers all of its answers together"
    if budget:
        ceiling = Loss.from_dict(budget)
        claim["all_releases_together"] = f"at most {amount(ceiling)} ({ceiling.definition})"
    return claim


def _loss(loss: Loss, budget: Mapping[str, object]) -> dict[str, object]:
    deltas = {float(str(budget["delta"]))} if "delta" in budget else set()
    shown = {}
    for delta in sorted(deltas | set(_DELTAS), reverse=True):
        epsilon = loss.epsilon_at(delta)
        if math.isfinite(epsilon):
            shown[probability(delta)] = digits(epsilon, "up")
    return {"native": loss.to_dict(), "epsilon_at_delta": shown}


def _mechanism(record: Mapping[str, object]) -> dict[str, object]:
    """A mechanism's parameters, with its documented privacy, error and numerics."""
    kind = Mechanism.named(record.get("mechanism"))
    lattice = getattr(Mechanism.from_dict(record), "lattice", None) if kind else None
    grid = f"multiples of 2^{lattice.exponent}" if lattice is not None else None
    told = {name.lower(): text for name, text in _headings(kind).items()}
    return dict(record) | told | ({"lattice": grid} if grid else {})


def _headings(kind: type[Mechanism] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    heading = ""
    for line in inspect.cleandoc(kind.__doc__ or "").splitlines():
        first, _, rest = line.partition(" ")
        if first in _HEADINGS:
            heading = first
            found[heading] = " ".join(rest.split())
        elif heading and line.startswith(" "):
            after = "; " if found[heading].endswith("]") else " "  # its source ends a statement
            found[heading] += after + " ".join(line.split())
        else:
            heading = ""
    return found


# ---- the fields of a registry of deployments

_BY_CURATOR: Final = None


def _models(names: list[str]) -> list[str]:
    """Who made the noise of these mechanisms."""
    kinds = [Mechanism.named(name) for name in names]
    return sorted({kind.model for kind in kinds if kind is not None})


def _registry(release: Release, mechanisms: list[dict[str, object]]) -> dict[str, object]:
    names = sorted({str(m.get("mechanism")) for m in mechanisms})
    deployment = {
        "product": _product(release),
        "dp_flavor": _flavour(release),
        "privacy_loss": {
            "privacy_unit": "Row-level" if release.unit.column is None else "User-level",
            "privacy_unit_description": str(release.unit),
            "privacy_parameters": release.loss.figures() or None,
            "privacy_parameters_description": amount(release.loss, "up"),
        },
        "model": {
            "model_name": ", ".join(_models(names)) or "Central",
            "release_type": _BY_CURATOR,
            "data_source_type": _BY_CURATOR,
            "access_type": "Interactive",
        },
        "accounting": {
            "post_processing": _BY_CURATOR,
            "composition": "adaptive, enforced by a privacy filter in the budget's own definition; "
            "each release is charged before data are read",
        },
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": _BY_CURATOR,
            "mechanisms": f"{', '.join(names) or 'none'}; deniable {release.provenance.version}",
            "justification": _BY_CURATOR,
        },
        "resources": {"sources": _BY_CURATOR, "registry_authors": _BY_CURATOR},
    }
    return {"status": "Draft", "tier": 3, "deployment": deployment}


def _product(release: Release) -> dict[str, object]:
    return {
        "name": _BY_CURATOR,
        "data_curators": _BY_CURATOR,
        "intended_use": _BY_CURATOR,
        "data_product_region": _BY_CURATOR,
        "data_product_sector": _BY_CURATOR,
        "data_product_type": "Summary statistics",
        "description": release.provenance.question or None,
        "publication_date": release.provenance.time[:10] or None,
    }


def _flavour(release: Release) -> dict[str, object]:
    return {
        "name": _FLAVOURS.get(release.loss.kind, release.loss.kind),
        "input_metric": release.unit.neighbours,
        "bound_on_input_distance": 1,
        "output_measure": release.loss.definition,
        "bound_on_output_distance": amount(release.loss, "up"),
        "data_domain": _BY_CURATOR,
        "unprotected_quantities": "the schema: types, bounds, lists of keys, the size if stated",
    }


# ---- forms


def _kept(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        parameters.target(path).write_text(text, encoding="utf-8")
    return text


def _label(name: object) -> str:
    return escape(str(name)).replace("_", " ")


def _named(name: object, value: object) -> str:
    """A heading and what belongs to it; no list of definitions, which notebooks squeeze."""
    if isinstance(value, Mapping | list | tuple):
        inside = f"<b>{_label(name)}</b><div style='margin-left:1.4em'>{_html(value)}</div>"
    else:
        inside = f"<b>{_label(name)}</b>: {_html(value)}"
    return f"<div style='margin:.2em 0'>{inside}</div>"


def _html(part: object) -> str:
    match part:
        case Mapping():
            return "".join(_named(name, value) for name, value in part.items())
        case list() | tuple():
            return "".join(f"<div>{_html(value)}</div>" for value in part)
        case None:
            return "<i>for the curator to fill in</i>"
    return escape(str(part))


def _lines(part: object, indent: str) -> Iterator[str]:
    match part:
        case Mapping():
            for name, value in part.items():
                if isinstance(value, Mapping | list | tuple):
                    yield f"{indent}{name}"
                    yield from _lines(value, indent + "  ")
                else:
                    yield f"{indent}{name}: {'' if value is None else value}"
        case list() | tuple():
            for value in part:
                yield from _lines(value, indent + "  ")
        case _:
            yield f"{indent}{part}"
