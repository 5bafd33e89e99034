"""Figures that benchmarks measured, kept in docs/explain/figures.toml, and the tables made of them.

A benchmark notes each figure with `measured`. With `--write` the figures are kept, with their unit,
date and command, and every table of `bench/tables.md` is written into its page. There a section is
a page, and {sampling/whole Laplace 10 deniable:.1f} stands for a kept figure in a format; A ÷ B is
the ratio of two figures. A test checks that the pages say what is kept.
"""

import datetime as dt
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "explain" / "figures.toml"
HEAD = "# What benchmarks measured. Written by `./script/bench --write NAME`, as the tables are.\n"
PLACE = re.compile(r"\{(\w+)/([^{}]+):([^{}:]*)\}")

_measured = {}


def measured(name, value, unit):
    """Note a figure of the benchmark that is running, and return it."""
    if value is not None:
        _measured[name] = {"value": float(f"{value:.10g}"), "unit": unit}
    return value


def load():
    """What is kept: benchmark → name → value, unit, date and command."""
    return tomllib.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def save(bench, command):
    """Keep what was measured since the last call; older figures of other names stay."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    kept = load()
    kept[bench] = kept.get(bench, {}) | {
        name: figure | {"date": today, "command": command} for name, figure in _measured.items()
    }
    _measured.clear()
    lines = [HEAD]
    for section, figures in sorted(kept.items()):
        lines.append(f"\n[{section}]\n")
        for name, figure in figures.items():
            fields = ", ".join(f"{key} = {_toml(value)}" for key, value in figure.items())
            lines.append(f"{_toml(name)} = {{ {fields} }}\n")
    KEPT.write_text("".join(lines), encoding="utf-8")


def _toml(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def pages(kept):
    """Each page of `bench/tables.md`, and its text with the tables made of what is kept."""
    sections = (ROOT / "bench" / "tables.md").read_text(encoding="utf-8").split("\n## ")[1:]
    found = {}
    for page, *tables in (section.strip().split("\n\n") for section in sections):
        text = (ROOT / page).read_text(encoding="utf-8")
        for table in tables:
            head = re.escape(table.split("\n")[0])
            made = PLACE.sub(lambda place: _figure(kept, *place.groups()), table)
            text, times = re.subn(rf"(?m)^{head}\n(\|.*\n?)+", lambda _, m=made: m + "\n", text)
            if times != 1:
                raise ValueError(f"{page} has {times} tables that begin with {head}")
        found[page] = text
    return found


def _figure(kept, bench, name, form):
    """A kept figure, or the ratio of two, as people write it: 5e-11, 10,929."""
    try:
        top, *below = (kept[bench][each]["value"] for each in name.split(" ÷ "))
    except KeyError:
        return "not run"
    value = top / below[0] if below else top
    said = format(value, form) if value else "0"
    said = re.sub(r"e([+-])0", r"e\1", said).replace("inf", "∞")
    return "−" + said[1:] if said.startswith("-") else said


def write():
    """Write every table into its page."""
    for page, text in pages(load()).items():
        (ROOT / page).write_text(text, encoding="utf-8")
