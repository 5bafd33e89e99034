"""Small bundled data for demonstrations and docs."""

from .adult import PATH, load_adult

__all__ = ["PATH", "load_adult"]
