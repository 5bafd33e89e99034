"""Run the named benchmarks, or all of them: `python -m bench sampling`.

python -m bench query 1000000       a benchmark with arguments of its own
python -m bench --write sampling    keep what it measures, and write the tables in the docs anew
python -m bench --tables            only write the tables, from the figures that are kept
"""

import importlib
import pkgutil
import sys

import bench
from bench import _figures


def main(words):
    """Run each module's `main`."""
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    if words == ["--tables"]:
        return _figures.write()
    keep = "--write" in words
    names = [word for word in words if word != "--write"]
    arguments = []
    if len(names) > 1 and names[1] not in known:
        names, arguments = names[:1], names[1:]
    for name in names or known:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(known)}")
        print(f"== {name}")
        importlib.import_module(f"bench.{name}").main(*arguments)
        if keep:
            _figures.save(name, " ".join(["./script/bench", name, *arguments]))
    return _figures.write() if keep else None


if __name__ == "__main__":
    main(sys.argv[1:])
