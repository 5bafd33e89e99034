"""The pages: rendered here, without a JavaScript build; each that shows something has a .json twin.

render      templates, and what every page knows
viewing     pages to look at
asking      the ask form: price it, try it, release it
named       questions by name, and waiting for their answers
editing     the schema editor
registering  serve another table
risks       the risk report
forms       what curators' forms have in common
accounts    signing in and out, and the curator's forms
charts      answers and budgets as SVG
answers     one answer as a page, JSON or CSV
"""

from __future__ import annotations

from fastapi import APIRouter

from . import accounts, answers, asking, editing, named, registering, risks, viewing

router = APIRouter(include_in_schema=False)
for each in (viewing, named, asking, answers, editing, registering, risks, accounts):
    router.include_router(each.router)

__all__ = ["router"]
