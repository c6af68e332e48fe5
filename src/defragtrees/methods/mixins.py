"""What classifiers and regressors have besides; each stands before a method's class."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from defragtrees._types import Floats, Rows, Values
from defragtrees.methods.conformal import Conformal
from defragtrees.methods.scikit import ClassifierMixin, RegressorMixin

__all__ = ["RuleClassifier", "RuleRegressor"]


class RuleClassifier(ClassifierMixin):
    """What a method's classifier has besides; stands before the method's class."""

    _task = "classification"
    classes_: Values

    def predict_proba(self, X: Rows) -> Floats:
        """Probabilities of classes: of the answering rule, or their mean by weight.

        `DefragClassifier` tells the class rates of y among the training rows that a
        rule answers, as if 3.84 more had the rates of all rows; without y, the
        ensemble's mean probabilities. Other methods, and `refine=False`, tell the
        shares of the classes that they imitate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.predict_proba([[0.5], [2.5]]).round(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        return self._answers(
            X, rules.predict_proba_encoded, np.float64, len(rules.classes)
        )

    def rate_interval(self, X: Rows) -> Floats:
        """For each row the 95 % interval of the rate that the answering rule tells.

        Of two classes it is the rate of `pos_label`, or of the second; of more that of
        the class that is answered. For lists and trees, where one rule answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.rate_interval([[0.5], [2.5]]).round(2).tolist()
        [[0.0, 0.16], [0.84, 1.0]]
        """
        check_is_fitted(self, "rules_")
        return self._answers(X, self.rules_.rate_interval_encoded, np.float64, 2)

    def decision_function(self, X: Rows) -> Floats:
        """How much speaks for a class, by which rows can be ranked.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Two classes: the log-odds of the second less those at which it is answered,
            so that above 0 it is. More: for each class what it is expected to cost to
            answer it, negated; the answer has the largest.

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "no", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> (simple.decision_function([[0.5], [3.5]]) > 0).tolist()
        [False, True]
        """
        check_is_fitted(self, "rules_")
        rules, n_classes = self.rules_, len(self.rules_.classes)
        return self._answers(
            X,
            rules.decision_function_encoded,
            np.float64,
            n_classes if n_classes != 2 else None,
        )


class RuleRegressor(Conformal, RegressorMixin):
    """What a method's regressor has besides; stands before the method's class."""

    _task = "regression"

    if TYPE_CHECKING:

        def predict(self, X: Rows) -> Floats: ...
