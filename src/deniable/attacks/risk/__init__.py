"""The risk report for a table about to be published."""

from __future__ import annotations

from ._report import PRIVATE, Report, report
from .ways import Option

__all__ = ["PRIVATE", "Option", "Report", "report"]
