"""The command line and the HTTP interface, from the programs themselves."""

import inspect
from typing import Any


def command_line() -> str:
    """One section per command: what it does, its arguments and its options."""
    import typer

    from deniable.cli.app import app

    group = typer.main.get_command(app)
    text = "# The command line\n\n`deniable COMMAND`, or `python -m deniable COMMAND`.\n"
    return text + "".join(section(each, ["deniable"]) for each in children(group))


def children(command: Any) -> list[Any]:
    """The commands of a group, by name."""
    return [each for _, each in sorted(getattr(command, "commands", {}).items())]


def section(command: Any, above: list[str]) -> str:
    """A command and the commands below it."""
    path = [*above, command.name]
    text = f"\n## {' '.join(path)}\n\n{inspect.cleandoc(command.help or '')}\n"
    rows = [row(parameter) for parameter in command.params if not getattr(parameter, "hidden", 0)]
    if rows:
        text += "\n| | |\n|---|---|\n" + "".join(rows)
    return text + "".join(section(each, path) for each in children(command))


def row(parameter: Any) -> str:
    """An option or argument with its help."""
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.param_type_name == "argument":
        names = f"`{(parameter.metavar or parameter.name).upper()}`"
    said = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    return f"| {names} | {said} |\n"


def http() -> str:
    """One section per path and method of the HTTP interface."""
    from fastapi import FastAPI

    from deniable.server.api import people, questions

    application = FastAPI()
    application.include_router(questions.router)
    application.include_router(people.router)
    found = application.openapi()
    text = (
        "# The HTTP interface\n\n"
        "A running server describes itself at `/api/openapi.json`. Requests carry the header "
        "`Authorization: Bearer TOKEN`; errors are JSON with `code`, `why`, `fix` and `cost`.\n"
    )
    for path, methods in found["paths"].items():
        for method, facts in methods.items():
            text += f"\n## {method.upper()} {path}\n\n{facts.get('description', '').strip()}\n\n"
            text += inputs(facts, found)
    return text


def inputs(facts: dict[str, Any], found: dict[str, Any]) -> str:
    """Parameters and the fields of the body."""
    rows = [
        f"| `{each['name']}` | {each['in']} | {kind(each['schema'])} |\n"
        for each in facts.get("parameters", [])
    ]
    body = facts.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    fields = found.get("components", {}).get("schemas", {}).get(name, {}).get("properties", {})
    rows += [f"| `{field}` | body | {kind(shape)} |\n" for field, shape in fields.items()]
    return "| | where | type |\n|---|---|---|\n" + "".join(rows) if rows else ""


def kind(shape: dict[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "anyOf" in shape:
        return " or ".join(kind(each) for each in shape["anyOf"])
    return str(shape.get("type") or shape.get("$ref", "").rpartition("/")[2] or "anything")
