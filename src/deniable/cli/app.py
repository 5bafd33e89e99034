"""The commands by name, and the one door through which errors leave.

Exit codes: 0 done, 1 refused (an error by its own template), 2 not understood.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from deniable.errors import DeniableError

from . import start, talk
from .amounts import NotUnderstood
from .commands import (
    anonymize,
    ask,
    attack,
    audit,
    bounds,
    check,
    doctor,
    explain,
    init,
    ledger,
    rehearse,
    report,
    serve,
    synth,
)
from .commands import set as set_

_ABOUT_SPENDING = ("ask", "bounds", "explain", "synth", "try")


class Door(TyperGroup):
    """Renders what deniable refuses; everything else is a fault, and looks like one."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            paid = ctx.meta.get("paid", False)  # then an error cannot know that, nor its cost
            error.says_cost |= ctx.invoked_subcommand in _ABOUT_SPENDING and not paid
            talk.refused(error, json=ctx.meta.get("json", False))
            raise typer.Exit(2 if isinstance(error, NotUnderstood) else 1) from None


# Locals in a traceback would be people's values, so the pretty ones are off.
app = typer.Typer(
    cls=Door,
    name="deniable",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def deniable(
    context: typer.Context,
    *,
    version: Annotated[bool, Option("--version", help="Show the version.")] = False,
) -> None:
    """Query private data: answers are noisy, priced in advance, and never exceed the budget."""
    if version:
        from deniable import __version__

        talk.answer(f"deniable {__version__}", None, json=False)
        raise typer.Exit
    if context.invoked_subcommand is None:
        start.start()


@app.command("demo")
def demo(
    story: Annotated[
        str, Argument(help="hospitals, for a secure sum; empty for the whole demo.")
    ] = "",
) -> None:
    """See deniable at work, in under a minute."""
    from . import demo, hospitals

    stories = {"": demo.main, "hospitals": hospitals.main}
    if story not in stories:
        raise typer.BadParameter(f"there is no demo {story!r}; there is: hospitals")
    raise typer.Exit(stories[story]())


app.command("init")(init.init)
app.command("set")(set_.set_facts)
app.command("check")(check.check)
app.command("try")(rehearse.rehearse)
app.command("explain")(explain.explain)
app.command("ask")(ask.ask)
app.command("bounds")(bounds.bounds)
app.add_typer(ledger.ledger, name="ledger")
app.command("audit")(audit.audit)
app.command("report")(report.report)
app.add_typer(attack.attack, name="attack")
app.command("anonymize")(anonymize.anonymize)
app.command("serve")(serve.serve)
app.command("mcp")(serve.mcp)
app.command("synth")(synth.synth)
app.command("doctor")(doctor.doctor)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    try:
        app(args=arguments, prog_name="deniable")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
