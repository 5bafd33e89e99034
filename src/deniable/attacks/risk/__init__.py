"""The risk report for a table about to be published."""

from __future__ import annotations

from ._report import CONFIDENTIAL, Report, report
from .ways import Option

__all__ = ["CONFIDENTIAL", "Option", "Report", "report"]
