"""Run the named benchmarks, or all of them: `python -m bench sampling`."""

import importlib
import pkgutil
import sys

import bench


def main(names):
    """Run each module's `main`."""
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    for name in names or known:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(known)}")
        print(f"== {name}")
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
