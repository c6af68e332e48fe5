"""scikit-learn's base classes; for type checkers, with the types that it lacks.

A base that a type checker does not know would hide misspelt settings and attributes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

    from defragtrees._types import Column, Rows

    class BaseEstimator:
        """Settings by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]: ...

        def __sklearn_tags__(self) -> Any: ...

    class _Scored:
        def score(
            self, X: Rows, y: Column, sample_weight: Column | None = None
        ) -> float: ...

    class ClassifierMixin(_Scored):
        """Accuracy."""

    class RegressorMixin(_Scored):
        """R²."""
else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin"]
