"""Rules of inTrees are measured, and lose the conditions that do little."""

from dataclasses import dataclass

import numpy as np

from defragtrees.methods.intrees.candidates import PathRules, drop_repeats, side_bits
from defragtrees.methods.intrees.targets import thousandths

__all__ = ["MeasuredRules", "measure", "prune", "prune_all"]

BLOCK_BYTES = 64_000_000  # for the rows of the rules that are pruned at the same time
DIGITS = 10  # errors that agree in so many digits are the same; weights leave noise


@dataclass(frozen=True, eq=False)
class MeasuredRules:
    """Rules with what they answer, how often they hold and how they err.

    Parameters
    ----------
    rules : PathRules
    frequency, error : array of shape (n_rules,)
    answer : array of shape (n_rules,)
        A class number, or a mean.
    bits : uint64 array of shape (n_rules, n_words)
        The rows in which each rule holds.
    """

    rules: PathRules
    frequency: np.ndarray
    error: np.ndarray
    answer: np.ndarray
    bits: np.ndarray

    def __len__(self):
        return len(self.rules)

    def take(self, chosen):
        """The rules with these numbers."""
        return MeasuredRules(
            self.rules.take(chosen),
            self.frequency[chosen],
            self.error[chosen],
            self.answer[chosen],
            self.bits[chosen],
        )


def measure(rules, codes, target):
    """The rules that hold somewhere, with their measures; in their order."""
    lines, local = _lines(rules, codes)
    bits = lines[local[:, 0]]
    for k in range(1, local.shape[1]):
        bits &= lines[local[:, k]]
    sums = target.sums(bits)
    holds = sums[:, -1] > 0
    sums = sums[holds]
    answers = target.answers(sums)
    return MeasuredRules(
        rules.take(holds),
        _frequency(target, sums),
        target.measured_errors(sums, answers),
        answers,
        bits[holds],
    )


def prune(measured, codes, target, max_decay=0.05, decay="absolute"):
    """The rules without the conditions whose loss makes them hardly worse.

    From the last condition to the first, each one goes for good if the rule without it,
    answering as before, errs not much more than it did at the beginning.

    Parameters
    ----------
    measured : MeasuredRules
    codes : int array of shape (n_rows, n_features)
    target : ClassTarget or NumberTarget
    max_decay : float
        How much the error may rise.
    decay : {"absolute", "relative"}
        Whether that is a difference, or a share of the error at the beginning.
    """
    lines, local = _lines(measured.rules, codes)
    longest = local.shape[1]
    before = [np.broadcast_to(lines[-1], measured.bits.shape)]
    for k in range(longest - 1):
        before.append(before[-1] & lines[local[:, k]])
    n_left = measured.rules.lengths
    side_numbers = measured.rules.side_numbers.copy()
    frequency, error = measured.frequency.copy(), measured.error.copy()
    tail = before[0].copy()
    allowed = max_decay if decay == "absolute" else max_decay * np.maximum(error, 1e-6)
    limit = np.round(error + allowed, DIGITS)
    for k in range(longest - 1, -1, -1):
        trial = before[k] & tail
        sums = target.sums(trial)
        errors = target.measured_errors(sums, measured.answer)
        goes = (
            (side_numbers[:, k] >= 0)
            & (n_left > 1)
            & (np.round(errors, DIGITS) <= limit)
        )
        n_left = n_left - goes
        side_numbers[goes, k] = -1
        error[goes] = errors[goes]
        frequency[goes] = _frequency(target, sums)[goes]
        stays = ~goes
        tail[stays] &= lines[local[stays, k]]
    answer = measured.answer
    if target.answers_anew:
        answer = target.answers(target.sums(tail))
    rules = PathRules(measured.rules.sides, _closed_up(side_numbers))
    return MeasuredRules(rules, frequency, error, answer, tail)


def _frequency(target, sums):
    """Share of all rows, in whole thousandths."""
    return thousandths(target.weights(sums) / target.total) / 1000


def _closed_up(side_numbers):
    """The same without gaps between the sides of a rule."""
    order = np.argsort(side_numbers < 0, axis=1, kind="stable")
    return np.take_along_axis(side_numbers, order, axis=1)


def _lines(rules, codes):
    """The rows of the sides that the rules use, and where each rule's sides are there.

    What fills up a short rule is -1, the last line, which holds all rows.
    """
    used, local = np.unique(rules.side_numbers, return_inverse=True)
    local = local.reshape(rules.side_numbers.shape) - int((used < 0).any())
    return side_bits(rules.sides, used[used >= 0], codes), local


def prune_all(rules, codes, target, max_decay, decay, advance=None):
    """Measured and pruned rules without repeats, made block by block.

    Parameters
    ----------
    advance : callable, optional
        Called with the number of rules that are done.
    """
    bytes_each = (rules.side_numbers.shape[1] + 6) * -(-len(codes) // 64) * 8
    step = max(1, BLOCK_BYTES // bytes_each)
    blocks = []
    for start in range(0, max(len(rules), 1), step):
        block = rules.take(slice(start, start + step))
        measured = measure(block, codes, target)
        blocks.append(prune(measured, codes, target, max_decay, decay))
        if advance is not None:
            advance(len(block))
    return _without_repeats(blocks)


def _without_repeats(blocks):
    """The blocks as one; of rules with the same sides and answer only the first."""
    side_numbers = np.concatenate([block.rules.side_numbers for block in blocks])
    joined = MeasuredRules(
        PathRules(blocks[0].rules.sides, side_numbers),
        *(
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("frequency", "error", "answer", "bits")
        ),
    )
    return joined.take(drop_repeats(np.column_stack([side_numbers, joined.answer])))
