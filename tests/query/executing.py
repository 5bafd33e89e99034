"""A plan's exact whole numbers, where nothing is charged: for tests alone."""

from deniable.query.execute import Execution


def execute(plan, *, tables):
    """Make ready and run at once."""
    with Execution(plan, tables=tables) as ready:
        return ready.run()
