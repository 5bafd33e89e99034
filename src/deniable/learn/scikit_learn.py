"""What we use of scikit-learn. Its base classes have no types: what we call of them is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.errors import MissingExtra

try:
    from sklearn.utils import Tags, check_array
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.of("scikit-learn", extra="learn") from None

if TYPE_CHECKING:

    class BaseEstimator:
        """Parameters are the arguments of `__init__`."""

        def get_params(self, *, deep: bool = True) -> dict[str, Any]: ...
        def __sklearn_clone__(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """Scores by the share of labels that are right."""

    class RegressorMixin:
        """Scores by the share of the variance that is explained."""

    class ClusterMixin:
        """Tells scikit-learn that clusters are looked for."""

    class TransformerMixin:
        """Fits and transforms in one call."""

    class OneToOneFeatureMixin:
        """The names of columns that stay what they were."""

    class ClassNamePrefixFeaturesOutMixin:
        """Names new columns after the class."""

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "Tags",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "validate_data",
]
