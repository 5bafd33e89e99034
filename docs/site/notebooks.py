"""Pages as notebooks: a cell for the text between snippets, a cell per snippet."""

import json
import re
from pathlib import Path

FENCE = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
SHOW = "\nfrom IPython.display import Image, display\n\ndisplay({})\n"


def notebook(page: Path) -> str:
    """The page as a notebook of format 4: text cells, and code cells without prompts or outputs."""
    cells = []
    for place, part in enumerate(FENCE.split(page.read_text(encoding="utf-8"))):
        if not part.strip():
            continue
        code = place % 2 == 1  # split by one group: text and code alternate
        source = program(part) if code else words(part)
        cell = {
            "cell_type": "code" if code else "markdown",
            "id": f"cell-{place}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        cells.append(cell | {"execution_count": None, "outputs": []} if code else cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def words(text: str) -> str:
    """Text with links that fit beside the site's pages; pictures become their captions."""
    text = re.sub(r"!\[([^\]]*)\]\(pictures/[^)]*\)", r"*\1*", text)
    text = re.sub(r"\((\d\d-[\w-]+)\.md\)", r"(\1.ipynb)", text)
    text = re.sub(r"\((\.\./[\w/-]+)\.md\)", r"(\1.html)", text).replace(
        "/README.html", "/index.html"
    )
    return text.strip() + "\n"


def program(code: str) -> str:
    """A snippet without `>>>` and outputs, which shows the pictures that it saves."""
    if ">>>" in code:
        lines = [line[4:] for line in code.splitlines() if line.startswith((">>>", "..."))]
        code = "\n".join(lines) + "\n"
    pictures = re.findall(r'savefig\("(\w+\.png)"', code)
    shown = ", ".join(f'Image("{name}")' for name in pictures)
    return code + SHOW.format(shown) if pictures else code
