"""Other rule models that predict as well as those of a fit, chosen to differ."""

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import is_interrupt, part, parts
from defragtrees._utils.values import shown
from defragtrees.metrics.ranking import positive_place
from defragtrees.rules.model import Edit, RuleModel
from defragtrees.search.driver import (
    Candidate,
    best_model,
    leave_one_out_losses,
    paired_difference,
)

MOST_CHANGES = 4  # of columns, in the table
MOST_SWAPS = 3  # of one column for others, that are put in words
SAME = 0.99  # agreement from which on models with the same columns count as one
N_SEEDS = 3  # searches with all columns and other random numbers
MORE_CONDITIONS = 1.5  # times those of the printed rules; at most two more are allowed
UNLISTED = "The best of those found is not listed: it predicts like one of these."


@dataclass(frozen=True, eq=False)
class Alternatives(render.Tabular, Sequence[RuleModel]):
    """Rule models as good as the best that is known, the result of `alternatives`.

    A sequence of rule models: number 0 has the rules of the fit.

    Parameters
    ----------
    models : tuple of RuleModel
        The rules of the fit, then the others by their loss.
    losses : tuple of float
        Mean loss of each on the rows that count: the squared error of probabilities,
        or of predictions as a share of the variance of y, or the deviance of rates and
        hazard ratios. Each row is left out of its rule.
    differences : tuple of tuple of float
        How much more it is than that of the best, and the ends of the 95% interval of
        this paired difference.
    agreement : tuple of float
        Share of equal predictions with the rules of the fit; in regression see
        `metrics.rule_stability`.
    n_searches : int
        Number of further searches.
    scores : tuple of dict
        What `use` takes over: measures on the rows of the fit.
    group_gaps : tuple of float, default=()
        What `gaps` returns, if they were chosen by it.
    stopped : str, default=""
        Why fewer searches were run.
    """

    models: tuple[RuleModel, ...]
    losses: tuple[float, ...]
    differences: tuple[tuple[float, float, float], ...]
    agreement: tuple[float, ...]
    n_searches: int
    scores: tuple[dict[str, Any], ...]
    group_gaps: tuple[float, ...] = ()
    stopped: str = ""

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, number: Any) -> Any:
        return self.models[number]

    def use(self, simple: Any, number: int) -> None:
        """See `DefragClassifier.use`."""
        most = len(self) - 1
        is_number = isinstance(number, numbers.Integral) and not isinstance(
            number, bool
        )
        if not is_number or not 0 <= number <= most:
            raise ValueError(
                f"An alternative is given by its number from 0 to {most}; got "
                f"{shown(number)}."
            )
        rules, (difference, low, high) = self.models[number], self.differences[number]
        if number:
            text = (
                f"chose alternative {number} of {most} in place of the rules of the "
                f"fit, with a loss of {self.losses[number]:.4f}"
            )
            if difference:
                text += (
                    f", {difference:.4f} more than the best (95% interval "
                    f"{low:+.4f} to {high:+.4f})"
                )
            rules = replace(rules, edits=(*rules.edits, Edit("use", text)))
        simple.rules_, simple.stability_, simple.advice_ = rules, None, ()
        vars(simple).update(self.scores[number])

    def gaps(self, X: Any, groups: Any, pos_label: Any = None) -> tuple[float, ...]:
        """How far groups of rows are apart in their mean prediction, by rule model.

        Parameters
        ----------
        X : array, data frame or sparse matrix
            Rows, best new ones.
        groups : array of shape (n_rows,)
            The group of each row, say `X["gender"]`; the rules need not use it.
        pos_label : object, optional
            The class whose probability counts. By default the second of two, or of more
            the one with the largest gap; in regression there is none.

        Returns
        -------
        tuple of float
            The largest mean probability, or prediction, of a group, less the smallest.
        """
        return tuple(_gap(rules, X, groups, pos_label) for rules in self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict for each rule model."""
        return [
            {
                "columns": list(rules.features),
                "n_rules": rules.n_rules,
                "n_conditions": rules.n_conditions,
                "loss": loss,
                "difference": difference,
                "low": low,
                "high": high,
                "agreement": agreement,
            }
            for rules, loss, (difference, low, high), agreement in zip(
                self.models, self.losses, self.differences, self.agreement, strict=True
            )
        ]

    def _cells(self):
        first = set(self.models[0].features)
        lines = []
        for k, row in enumerate(self.rows()):
            used = set(row["columns"])
            changes = [f"+ {name}" for name in self._shown(used - first)]
            changes += [f"- {name}" for name in self._shown(first - used)]
            changes[MOST_CHANGES:] = ["..."] if changes[MOST_CHANGES:] else []
            lines.append(
                [
                    str(k) if k else "0 *",
                    str(row["n_rules"]),
                    str(row["n_conditions"]),
                    f"{row['loss']:.4f}",
                    f"{row['difference']:+.4f} ± {row['high'] - row['difference']:.4f}"
                    if row["difference"]
                    else "best",
                    render.percent(row["agreement"]),
                    tuple(changes or ["the same"]) if k else "",
                ]
            )
        header = ["", "rules", "conditions", "loss", "above the best"]
        header += ["agrees", "columns"]
        if self.group_gaps:
            header.append("gap")
            write = render.percent if self.models[0].classes else render.rounded
            for line, gap in zip(lines, self.group_gaps, strict=True):
                line.append(write(gap))
        return header, lines

    _left = (0, 6)

    def _head(self):
        return self.stopped

    def _shown(self, names):
        """Columns as they are printed, in the order of the table."""
        rules = self.models[0]
        words = zip(rules.feature_names, rules._vocabulary.names, strict=True)
        return [word for name, word in words if name in names]

    def _notes(self):
        return [
            "* the rules of the fit, with which others agree on this share of rows. "
            "Intervals are at 95%.",
            *([] if any(apart == 0 for apart, *_ in self.differences) else [UNLISTED]),
            *filter(None, [self.shared, self.swaps]),
        ]

    @property
    def shared(self) -> str:
        """What all rule models use, in one sentence."""
        if len(self) == 1:
            return f"{self.n_searches} further searches found no other as good."
        common = self._shown(set.intersection(*(set(m.features) for m in self)))
        return (
            f"{'Both' if len(self) == 2 else f'All {len(self)}'} use {_and(common)}."
            if common
            else "They share no column."
        )

    @property
    def swaps(self) -> str:
        """Which columns can do instead of others, in one sentence."""
        first, texts = set(self.models[0].features), []
        for name in self.models[0].features:
            new = [
                self._shown(set(m.features) - first)
                for m in self
                if name not in m.features
            ]
            others = [word for words in new for word in words]
            if others:
                best = max(dict.fromkeys(others), key=others.count)
                texts.append((-len(new), f"{self._shown({name})[0]} for {best}"))
        most = [text for _, text in sorted(texts)[:MOST_SWAPS]]
        return f"One can swap {_and(most)}." if most else ""


def _and(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def find_alternatives(simple, rows, validation, n, within, without, using, by):
    """See `DefragClassifier.alternatives`."""
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        raise ValueError(f"n must be a whole number from 1; got {shown(n)}.")
    is_number = isinstance(within, numbers.Real) and not isinstance(within, bool)
    if within != "se" and not (is_number and 0 <= within < math.inf):
        raise ValueError(
            "within must be 'se', for one standard error, or the largest difference in "
            f"loss; got {shown(within)}."
        )
    simple._reopen(*rows)  # raises for rows unlike those of the fit
    cost, groups = _costs(simple.rules_, rows[0], by)
    settings = simple.get_params(deep=False)
    known = simple.rules_.feature_names
    for what, name, more in (
        ("without", "exclude", without),
        ("with_", "must_use", using),
    ):
        more = columns_among(known, more, what)
        settings[name] = [*_names(settings[name]), *more] or settings[name]
    again = type(simple)(**settings)
    again._kept = kept = SimpleNamespace()  # which the fit fills
    with part(0.0, 0.1):
        again._fit(simple.forest_, *rows, validation=validation)
    problem, settings, chosen_on = kept.problem, kept.settings, kept.rows
    found, stopped = [*kept.path.by_rules, *kept.path.by_conditions], ""
    printed = _printed(simple.rules_, chosen_on, settings)
    searches = _searches(simple.rules_, problem, settings.limits)
    n_done = 0
    try:
        for seed, limits in parts(searches, 0.1, 1.0):
            own = replace(settings, limits=limits)
            path = again._path(problem, own, kept.counting, chosen_on, seed)
            found += [*path.by_rules, *path.by_conditions]
            n_done += 1
    except (KeyboardInterrupt, SystemError) as raised:
        if not is_interrupt(raised):
            raise
        stopped = f"Stopped after {n_done} of {len(searches)} searches (interrupted)."
    weight = chosen_on.mean_weight
    best, good = _as_good(printed, found, weight, within)
    chosen = _chosen(printed, good, n, chosen_on, cost)
    scale = _scale(simple.rules_, chosen_on, settings)
    lines, models, scores = [], [], []
    for one in chosen:
        apart, error = paired_difference(one, best, weight)
        ends = apart - 1.96 * error, apart + 1.96 * error
        lines.append(tuple(value / scale for value in (apart, *ends)))
        if one is not printed:
            again.rules_ = one.model
            again._measure(*kept.measured)
        models.append(simple.rules_ if one is printed else again.rules_)
        names = "training_", "validation_"
        own = simple if one is printed else again
        scores.append({name: vars(own)[name] for name in names if name in vars(own)})
    answers = [_predictions(one, chosen_on) for one in chosen]
    agree = simple.rules_.outcome.agreement
    menu = Alternatives(
        tuple(models),
        tuple(one.loss / scale for one in chosen),
        tuple(lines),
        tuple(agree(answers[0], own) for own in answers),
        n_done,
        tuple(scores),
        stopped=stopped,
    )
    return (
        menu if groups is None else replace(menu, group_gaps=menu.gaps(rows[0], groups))
    )


def _costs(rules, X, by):
    """What the others should have little of, if anything; and groups of rows."""
    if isinstance(by, str):
        if by not in ("difference", "conditions"):
            raise ValueError(
                "by must be 'difference', 'conditions' or the group of each row; got "
                f"{by!r}."
            )
        return (
            lambda one: one.model.n_conditions
        ) if by == "conditions" else None, None
    _gap(rules, X, by)  # raises for groups of other rows
    return lambda one: _gap(one.model, X, by), by


def _gap(rules, X, groups, pos_label=None):
    """The largest mean prediction of a group of rows, less the smallest."""
    _, place = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    if not rules.outcome.n_classes:
        predicted = rules.predict(X)[:, None]
    else:
        predicted = rules.predict_proba(X)
        if pos_label is not None or rules.outcome.is_binary:
            predicted = predicted[:, [positive_place(rules, pos_label, "gaps")]]
    check_consistent_length(predicted, place)
    sums = [np.bincount(place, column) for column in predicted.T]
    return float(np.ptp(sums / np.bincount(place), axis=1).max())


def columns_among(known, given, what):
    """The names of columns in a setting, from None, one or several."""
    for name in _names(given):
        if name not in known:
            raise ValueError(
                f"{what} has {name!r}, which is no column of the model; "
                f"{render.nearest(name, known)}"
            )
    return _names(given)


def _names(given):
    return [] if given is None else [given] if isinstance(given, str) else [*given]


def _printed(rules, rows, settings):
    """The rules of the fit as a candidate."""
    decision = settings.decision if settings.criterion == "error" else None
    losses, weight = leave_one_out_losses(rows, rules._form, decision), rows.mean_weight
    loss = float(f"{losses @ weight / weight.sum():.9g}")
    return Candidate(rules, loss, losses)


def _searches(rules, problem, limits):
    """Seeds and limits of further searches.

    Each leaves out one column of the rules, or none.
    """
    names = problem.feature_names
    every = frozenset(range(len(names))) if limits.features is None else limits.features
    used = [names.index(name) for name in rules.features]
    searches = []
    for j in used:
        others = every - {j}
        if others and j in every and frozenset({j}) not in limits.must_use:
            searches.append((0, replace(limits, features=others)))
    return searches + [(seed, limits) for seed in range(1, N_SEEDS + 1)]


def _scale(rules, rows, settings):
    """What a mean loss is divided by, for a Brier score or a share of the variance.

    Where y has an exposure, the loss is the mean by row.
    """
    if not rules.outcome.n_classes:
        exposed = rows.outcome.mean_weight(rows.labels, rows.sample_weight)
        return (rows.spread**2 or 1.0) * rows.sample_weight.sum() / exposed.sum()
    return 2.0 if rules.outcome.is_binary and settings.criterion != "error" else 1.0


def _predictions(one, rows):
    held = rows.matches([rule.conditions for rule in one.model.rules])
    return one.model._form.predict(held)


def _as_good(printed, found, weight, within):
    """The best candidate of about the size of the rules, and those as good as it."""
    most = max(
        MORE_CONDITIONS * printed.model.n_conditions, printed.model.n_conditions + 2
    )
    found = [one for one in found if one.model.n_conditions <= most]
    best = best_model([printed, *found], "loss")
    # One without rules is useless, unless it is the best.
    least, good = min(best.model.n_conditions, 1), []
    for one in found:
        apart, error = paired_difference(one, best, weight)
        if (
            apart <= (error if within == "se" else within)
            and one.model.n_conditions >= least
        ):
            good.append(one)
    return best, sorted(good, key=lambda one: (one.loss, one.model.n_conditions))


def _chosen(printed, good, n, rows, cost=None):
    """The printed rules, the best of the others, and those that differ most.

    In columns first, then in predictions; or those with the least `cost`. What predicts
    like one that is chosen is left out, unless there is nothing else.
    """
    answers = {id(one): _predictions(one, rows) for one in (printed, *good)}
    agree = rows.outcome.agreement

    def alike(one, other):
        return agree(answers[id(one)], answers[id(other)])

    def apart(one, other):
        a, b = set(one.model.features), set(other.model.features)
        return 1 - len(a & b) / max(len(a | b), 1), 1 - alike(one, other)

    chosen, others = [printed], [one for one in good if alike(one, printed) < SAME]
    others = others or [one for one in good if any(apart(one, printed))]
    while others and len(chosen) <= n:
        if cost is not None:
            best = min(others, key=cost)
        elif len(chosen) == 1:
            best = others[0]
        else:
            best = max(others, key=lambda a: min(apart(a, b) for b in chosen))
        chosen.append(best)
        others = [one for one in others if alike(one, best) < SAME]
    own = cost or (lambda one: one.loss)
    return [printed, *sorted(chosen[1:], key=lambda one: (own(one), one.loss))]
