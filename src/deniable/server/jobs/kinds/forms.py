"""A question by name as a form: what it asks for, from the parameters of its kind, and reading it.

Nothing here knows any kind: the form follows from the kind's own description, which is also what
OpenAPI publishes. So a further kind has its form as soon as it is in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from deniable.errors import BadParameter

from . import KINDS, named
from ._kind import Named

Typed = Mapping[str, str]
_OTHERS: Final = {"kind", "table"}


@dataclass(frozen=True, kw_only=True)
class Field:
    """One parameter as a form asks for it."""

    name: str
    widget: str
    """sql, column, columns, choice, number, names, numbers or settings."""
    help: str
    required: bool
    typed: str
    options: Sequence[str] = ()
    chosen: frozenset[str] = frozenset()
    """For `columns`: those that are ticked."""

    @property
    def label(self) -> str:
        """The parameter's name, for people."""
        return self.name.replace("_", " ").replace("sql", "query").capitalize()


def fields(kind: str, columns: Sequence[str], typed: Typed) -> list[Field]:
    """What the form for a kind asks for, with what was typed into it so far."""
    described = _kind(kind).model_json_schema()
    needed = described.get("required", [])
    return [
        _field(name, facts, columns, typed, required=name in needed)
        for name, facts in described["properties"].items()
        if name not in _OTHERS
    ]


def read(kind: str, typed: Typed, *, table: str | None) -> dict[str, Any]:
    """The question that a form states; BadParameter if it states none."""
    asked: dict[str, Any] = {"kind": kind}
    for field in fields(kind, [], typed):
        found = _READERS[field.widget](field, typed)
        if found not in (None, "", [], {}):
            asked[field.name] = found
    if table is not None and "sql" not in asked:
        asked["table"] = table
    try:
        named({"ask": asked})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = next((str(part) for part in first["loc"][1:]), kind)
        said = "nothing was chosen or filled in" if first["type"] == "missing" else first["msg"]
        raise BadParameter(f"{where}: {said[:1].lower()}{said[1:]}") from None
    return asked


def _kind(kind: str) -> type[Named]:
    if kind not in KINDS:
        raise BadParameter(f"there is no kind of question called {kind}", fix=", ".join(KINDS))
    return KINDS[kind]


def _field(
    name: str, facts: Mapping[str, Any], columns: Sequence[str], typed: Typed, *, required: bool
) -> Field:
    widget, options = _widget(name, facts), facts.get("enum", ())
    default = facts.get("default")
    prefix = f"{name}:"
    return Field(
        name=name,
        widget=widget,
        help=facts.get("description", ""),
        required=required,
        typed=typed.get(name, "" if default is None else str(default)),
        options=columns if widget in ("column", "columns") else options,
        chosen=frozenset(each.removeprefix(prefix) for each in typed if each.startswith(prefix)),
    )


def _widget(name: str, facts: Mapping[str, Any]) -> str:
    """What a parameter of this description is typed into."""
    if name == "sql" or "enum" in facts:
        return "sql" if name == "sql" else "choice"
    kinds = {each.get("type"): each for each in facts.get("anyOf", [facts])}
    if "object" in kinds and "string" not in kinds and "array" not in kinds:
        return "settings"
    items = kinds.get("array", {}).get("items", {}).get("type")
    if items == "string":
        return "names" if facts.get("ordered") else "columns"
    if items == "number":
        return "numbers"
    return "column" if "string" in kinds else "number"


def _text(field: Field, typed: Typed) -> str:
    return typed.get(field.name, "").strip()


def _chosen(field: Field, _: Typed) -> list[str]:
    return sorted(field.chosen)


def _names(field: Field, typed: Typed) -> list[str]:
    return [each.strip() for each in _text(field, typed).split(",") if each.strip()]


def _numbers(field: Field, typed: Typed) -> Any:
    """A whole number, or several numbers separated by commas."""
    listed = [_number(field, each) for each in _names(field, typed)]
    return listed[0] if len(listed) == 1 else listed


def _one(field: Field, typed: Typed) -> Any:
    text = _text(field, typed)
    return _number(field, text) if text else None


def _number(field: Field, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise BadParameter.of(field.label, text, must="a number") from None


def _settings(field: Field, typed: Typed) -> dict[str, Any]:
    """name = value, separated by commas or lines."""
    found: dict[str, Any] = {}
    for part in _text(field, typed).replace("\n", ",").split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not part.strip():
            continue
        if not equals:
            raise BadParameter.of(field.label, part, must="settings, as steps = 60, alpha = 0.1")
        truth = {"true": True, "false": False}.get(value.lower())
        found[name] = _number(field, value) if truth is None else truth
    return found


_READERS: Final[dict[str, Callable[[Field, Typed], Any]]] = {
    "sql": _text,
    "column": _text,
    "choice": _text,
    "columns": _chosen,
    "names": _names,
    "numbers": _numbers,
    "number": _one,
    "settings": _settings,
}
