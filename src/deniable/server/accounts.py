"""Who may do what: curators and analysts, their tokens, browser sessions and one-time links.

A secret is 256 random bits and is shown once. What is stored is its BLAKE2 hash under a key of this
database, so a copied table of hashes opens nothing, and how long a look-up takes tells nothing
about a secret. A link is consumed by a POST only: mail scanners and prefetching browsers send GETs.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass
from typing import Final, Literal

from deniable.errors import BadParameter
from deniable.ledger.halts import named, refuse_alike
from deniable.sampling.source import current

from .database import Database, now

Role = Literal["curator", "analyst"]
Kind = Literal["token", "session", "link"]

CURATOR: Final = "curator"
_LASTS: Final[dict[Kind, float | None]] = {"token": None, "session": 12 * 3600, "link": 7 * 86400}


@dataclass(frozen=True, kw_only=True)
class Person:
    """The person who is signed in."""

    name: str
    role: Role
    frozen: bool = False

    @property
    def asker(self) -> str | None:
        """As ledgers know them: None for the curator."""
        return None if self.role == "curator" else self.name


class Accounts:
    """People and their secrets."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key = self._secret_of_this_database()

    def _secret_of_this_database(self) -> bytes:
        with self._database.transaction() as run:
            fresh = secret()
            run("INSERT INTO facts VALUES ('key', ?) ON CONFLICT DO NOTHING", fresh)
            ((key,),) = run("SELECT value FROM facts WHERE name = 'key'")
        return bytes.fromhex(key)

    # ---- people

    def add(self, name: str, *, role: Role = "analyst") -> Person:
        """A new person; a name that another could be confused with is refused."""
        with self._database.transaction() as run:
            others = [other for (other,) in run("SELECT name FROM people")]
            if named(name) in others:
                raise BadParameter(f"there is already an account called {name}")
            refuse_alike(name, others)
            if set(name) & set("/\\?#%") or name in (".", ".."):
                raise BadParameter.of("the name", name, must="a word without / \\ ? # and %")
            run("INSERT INTO people VALUES (?, ?, 0, ?)", name, role, now())
        return Person(name=name, role=role)

    def curator(self) -> Person:
        """The first curator, made when the server first starts."""
        with self._database.transaction() as run:
            values = (CURATOR, "curator", now())
            run("INSERT INTO people VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING", *values)
        return Person(name=CURATOR, role="curator")

    def find(self, name: str) -> Person | None:
        """The person of that name."""
        return next((each for each in self.people() if each.name == name), None)

    def people(self) -> list[Person]:
        """Everyone, by name."""
        rows = self._database.rows("SELECT name, role, frozen FROM people ORDER BY name")
        return [Person(name=name, role=role, frozen=bool(frozen)) for name, role, frozen in rows]

    def freeze(self, name: str, *, frozen: bool) -> None:
        """Stop somebody from asking, or let them ask again; their browser sessions end."""
        with self._database.transaction() as run:
            run("UPDATE people SET frozen = ? WHERE name = ?", int(frozen), name)
            if frozen:
                run("DELETE FROM credentials WHERE person = ? AND kind <> 'token'", name)

    # ---- secrets

    def issue(self, person: Person, kind: Kind) -> str:
        """A new secret of this kind, shown once; of links only the newest works."""
        fresh, lasts = secret(), _LASTS[kind]
        expires = None if lasts is None else now() + lasts
        with self._database.transaction() as run:
            run("DELETE FROM credentials WHERE expires < ?", now())
            if kind == "link":
                run("DELETE FROM credentials WHERE person = ? AND kind = 'link'", person.name)
            self._put(run, fresh, person.name, kind, expires)
        return fresh

    def rotate(self, person: Person) -> str:
        """A new token; older tokens, links and browser sessions stop working."""
        fresh = secret()
        with self._database.transaction() as run:
            run("DELETE FROM credentials WHERE person = ?", person.name)
            self._put(run, fresh, person.name, "token", None)
        return fresh

    def _put(self, run: object, fresh: str, person: str, kind: Kind, expires: float | None) -> None:
        assert callable(run)
        values = (self._hashed(fresh), person, kind, expires, now())
        run("INSERT INTO credentials VALUES (?, ?, ?, ?, ?)", *values)

    def whose(self, given: str, kind: Kind) -> Person | None:
        """Who has this secret, if it is one and has not expired."""
        hashed = self._hashed(given)
        rows = self._database.rows(
            "SELECT c.hash, c.expires, p.name, p.role, p.frozen FROM credentials c "
            "JOIN people p ON p.name = c.person WHERE c.hash = ? AND c.kind = ?",
            hashed,
            kind,
        )
        for stored, expires, name, role, frozen in rows:
            alive = expires is None or expires > now()
            if hmac.compare_digest(stored, hashed) and alive:
                return Person(name=name, role=role, frozen=bool(frozen))
        return None

    def since(self, session: str) -> float:
        """Seconds since somebody signed in to this browser session."""
        rows = self._database.rows(
            "SELECT created FROM credentials WHERE hash = ? AND kind = 'session'",
            self._hashed(session),
        )
        return now() - float(rows[0][0]) if rows else math.inf

    def consume(self, given: str) -> Person | None:
        """Who has this one-time link; it is gone afterwards."""
        person = self.whose(given, "link")
        if person is None:
            return None
        with self._database.transaction() as run:
            gone = run("DELETE FROM credentials WHERE hash = ? RETURNING 1", self._hashed(given))
        return person if gone else None

    def forget(self, given: str) -> None:
        """End a browser session."""
        self._database.rows("DELETE FROM credentials WHERE hash = ?", self._hashed(given))

    def keyed(self, *parts: str) -> str:
        """A keyed hash of public or private facts, for names that tell nothing."""
        return self._hashed("\0".join(parts))

    def _hashed(self, given: str) -> str:
        return hashlib.blake2b(given.encode(), key=self._key, digest_size=32).hexdigest()


def secret() -> str:
    """256 random bits, as text."""
    return f"{current().integer(256):064x}"
