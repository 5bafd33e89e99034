"""Every result tells itself: in words, in HTML that is escaped, and in numbers JSON can hold."""

from dataclasses import dataclass

from deniable import attacks
from deniable.attacks.telling import Told, percent


@dataclass(frozen=True, kw_only=True)
class Sample(Told):
    values: tuple[float, ...]

    def _headline(self):
        return "a < b & c"

    def _facts(self):
        return [("fact", "<script>"), ("a longer label", "x")]


def test_words_line_up_and_markup_is_escaped():
    told = Sample(values=(1.0, 2.0))
    first, *facts = told.explain().split("\n")
    assert first == "a < b & c"
    assert facts[0].index("<script>") == facts[1].index("x")
    assert "<script>" not in told._repr_html_()
    assert "a &lt; b &amp; c" in told._repr_html_()


def test_percent_never_rounds_to_all_or_nothing():
    assert percent(0.0) == "0 %"
    assert percent(1.0) == "100 %"
    assert "under" in percent(1e-6)
    assert "over" in percent(1 - 1e-6)


def test_every_result_of_the_package_can_be_told():
    kinds = [value for value in vars(attacks).values() if isinstance(value, type)]
    results = [kind for kind in kinds if issubclass(kind, Told)]
    assert len(results) >= 14
    for kind in results:
        assert all(hasattr(kind, name) for name in ("_headline", "_facts", "plot")), kind
