"""A figure whose text is readable in every script; imports matplotlib, so it is loaded late."""

from __future__ import annotations

import functools
import unicodedata
import warnings
from typing import Any, Final

from matplotlib import font_manager, rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text

_WIDE_FONTS: Final = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "MS Gothic",
    "SimHei",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAexGothic",
    "TakaoGothic",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Unifont",
)
"""Fonts with Chinese, Japanese and Korean characters, as systems come with them."""


class Picture(Figure):
    """A figure that draws wide characters in the first font that has them."""

    def draw(self, renderer: Any) -> None:
        """Draw, without a warning for each character that no installed font has."""
        for text in self.findobj(Text):
            if any(unicodedata.east_asian_width(c) in "WF" for c in text.get_text()):
                text.set_fontfamily([*rcParams["font.family"], *wide_fonts()])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            super().draw(renderer)


def wide_fonts() -> list[str]:
    """Those installed, best first."""
    return _among(tuple(font.name for font in font_manager.fontManager.ttflist))


@functools.cache
def _among(installed: tuple[str, ...]) -> list[str]:
    return [name for name in _WIDE_FONTS if name in installed]
