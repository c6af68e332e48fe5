"""Rules as the source of a Python module without dependencies."""

import math

from defragtrees._utils import formatting as render
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel

HEAD = '''"""Rules as plain Python without dependencies, written by defragtrees.

`predict(row)` predicts one row, a dict from column names to values. None and NaN are
missing values.
"""
'''

NUMBER = '''
def _number(value):
    """The value as a float; NaN if it is missing."""
    if value is None or type(value).__name__ == "NAType":
        return float("nan")
    return float(value)
'''

DAYS = '''
def _days(value, kind, is_zoned=False):
    """A date, time or duration as a number of days; NaN if it is missing.

    Dates count from 1970-01-01; times with a time zone in UTC. A text must be in ISO
    format (not for durations); a number is a number of days.
    """
    if value is None or type(value).__name__ == "NAType" or value != value:
        return float("nan")
    if isinstance(value, str) and kind is not datetime.timedelta:
        value = kind.fromisoformat(value)
    elif type(value).__name__ in ("datetime64", "timedelta64"):  # of numpy
        value = value.astype(type(value).__name__ + "[us]").item()
    if isinstance(value, datetime.date):
        if (getattr(value, "tzinfo", None) is not None) != is_zoned:
            needed = "with" if is_zoned else "without"
            raise ValueError(f"A time {needed} a time zone is needed; got {value!r}.")
    if isinstance(value, datetime.datetime):
        if is_zoned:
            value = value.astimezone(datetime.timezone.utc)
        value = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value = value - datetime.date(1970, 1, 1)
    elif isinstance(value, datetime.time):
        clock = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
        value = clock.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
    if not isinstance(value, datetime.timedelta):
        return float(value)
    seconds = 86_400 * value.days + value.seconds
    return float(1_000_000 * seconds + value.microseconds) / 86_400_000_000
'''

CATEGORY = '''
def _category(value):
    """The value unchanged; None if it is missing."""
    if value is None or type(value).__name__ == "NAType" or value != value:
        return None
    return value
'''

PREDICT = '''
def predict(row):
    """Predict one row."""
    return PREDICTIONS[rule(row)]
'''

PREDICT_PROBA = '''
def predict_proba(row):
    """The probability of each class for one row."""
    return dict(zip(CLASSES, PROBABILITIES[rule(row)]))
'''

MEAN = '''
def _mean(row):
    """Weighted mean of the outputs of all matching rules."""
    totals = [0.0] * len(OUTPUTS[-1])
    weight = 0.0
    for matches, output, share in zip(_matches(row), OUTPUTS, WEIGHTS):
        if matches:
            totals = [total + share * value for total, value in zip(totals, output)]
            weight += share
    if weight <= 0:
        return list(OUTPUTS[-1])
    return [total / weight for total in totals]
'''

PREDICT_NUMBER = '''
def predict(row):
    """Predict one row."""
    return {value}(row)[0]
'''

PREDICT_CLASS = '''
def predict(row):
    """Predict one row."""
    return _choose(_mean(row))


def predict_proba(row):
    """The probability of each class for one row."""
    return dict(zip(CLASSES, _mean(row)))
'''

CHOOSE = {
    "likeliest": '''
def _choose(shares):
    """The class with the largest share; the first of ties."""
    return CLASSES[shares.index(max(shares))]
''',
    "threshold": '''
def _choose(shares):
    """The second class if its share reaches the threshold."""
    return CLASSES[1] if shares[1] >= THRESHOLD else CLASSES[0]
''',
    "costs": '''
def _choose(shares):
    """The class with the lowest expected cost; the first of ties."""
    expected = [
        sum(share * row[k] for share, row in zip(shares, COSTS))
        for k in range(len(CLASSES))
    ]
    return CLASSES[expected.index(min(expected))]
''',
}

SCORE = '''
def score(row):
    """The total of points of one row."""
    return totals(row)[0]


def reasons(row, n=3):
    """The rules that cost one row the most points, at most n of them."""
    matches = _matches(row)
    found = [text for k, if_match, text in REASONS if matches[k] == if_match]
    return found[:n]
'''

TOTALS = '''
def totals(row):
    """Sums of the points of the base and of all matching rules."""
    sums = list(POINTS[-1])
    for matches, points in zip(_matches(row)[:-1], POINTS):
        if matches:
            sums = [total + value for total, value in zip(sums, points)]
    return sums


def _values(row):
    """The values of the sums: a number or log-odds."""
    return [(total - ORIGIN) * UNIT for total in totals(row)]
'''

POINTS_TWO = '''
def predict(row):
    """Predict one row: the second class if its log-odds are large enough."""
    return CLASSES[1] if _values(row)[0] {sign} CUT else CLASSES[0]


def predict_proba(row):
    """The probability of each class for one row."""
    log_odds = _values(row)[0]
    small = math.exp(-abs(log_odds))
    second = (1.0 if log_odds >= 0 else small) / (1.0 + small)
    return dict(zip(CLASSES, (1.0 - second, second)))
'''

POINTS_MANY = '''
def _shares(row):
    values = _values(row)
    parts = [math.exp(value - max(values)) for value in values]
    return [part / sum(parts) for part in parts]


def predict(row):
    """Predict one row."""
    return _choose({chosen}(row))


def predict_proba(row):
    """The probability of each class for one row."""
    return dict(zip(CLASSES, _shares(row)))
'''


TYPES = {
    "date": "datetime",
    "datetime": "datetime",
    "datetime UTC": "datetime, True",
    "time": "time",
    "duration": "timedelta",
}


def to_python(rules: RuleModel, *, best: str = "high") -> str:
    """Source of `predict(row)` and, where rules have them, `predict_proba(row)`.

    A scorecard also has `totals(row)` and, if there is one total, `score(row)` and
    `reasons(row, n=3)`.

    Parameters
    ----------
    rules : RuleModel
    best : {"high", "low"}, default="high"
        Which totals of a scorecard are desired, for reason codes; see
        `Scorecard.reasons`.
    """
    if rules._form.is_exclusive:
        constants, *functions = _ordered(rules)
    elif rules._form.is_sum:
        constants, *functions = _adding(rules, best)
    else:
        constants, *functions = _averaging(rules)
    readers = _readers(rules)
    imports = "import datetime\n" if DAYS in readers else ""
    if any("math." in function for function in functions):
        imports += "import math\n"
    head = f"{HEAD}\n{imports}" if imports else HEAD
    sections = [head, constants, *readers, *functions]
    return "\n\n".join(section.strip("\n") + "\n" for section in sections)


def _ordered(rules):
    """Constants and functions of rules in order."""
    constants = [f"PREDICTIONS = {_tuple(portable.predictions(rules))}"]
    if rules._view.decision_text():
        constants.insert(0, f"# {rules._view.decision_text()}")
    functions = [_chain(rules), PREDICT]
    if rules._form.has_probabilities:
        constants.append(f"CLASSES = {_tuple(portable.class_labels(rules))}")
        constants.append(
            f"PROBABILITIES = {_lines(map(_tuple, portable.outputs(rules)))}"
        )
        functions.append(PREDICT_PROBA)
    return ["\n".join(constants), *functions]


def _averaging(rules):
    """Constants and functions of averaged rules."""
    constants = [
        f"WEIGHTS = {_tuple([float(rule.weight) for rule in rules])}",
        f"OUTPUTS = {_lines(map(_tuple, portable.outputs(rules)))}",
    ]
    functions = [_matching(rules), MEAN]
    if not rules.outcome.has_probabilities:
        return ["\n".join(constants), *functions, PREDICT_NUMBER.format(value="_mean")]
    constants.append(f"CLASSES = {_tuple(portable.class_labels(rules))}")
    how = _how_chosen(rules, constants)
    return ["\n".join(constants), *functions, how, PREDICT_CLASS]


def _how_chosen(rules, constants):
    """The function that chooses a class from shares; adds its constants."""
    if rules.threshold is not None:
        constants.append(f"THRESHOLD = {float(rules.threshold)!r}")
        return CHOOSE["threshold"]
    if rules.costs is None:
        return CHOOSE["likeliest"]
    rows = ([float(cost) for cost in row] for row in rules.costs)
    constants.append(f"COSTS = {_lines(map(_tuple, rows))}")
    return CHOOSE["costs"]


def _adding(rules, best):
    """Constants and functions of a scorecard."""
    notes = filter(None, [rules._view.combination(), rules._view.decision_text()])
    constants = [
        *(f"# {note}" for note in notes),
        f"POINTS = {_lines(map(_tuple, portable.points(rules)))}",
        f"UNIT, ORIGIN = {float(rules.unit)!r}, {float(rules.origin)!r}",
    ]
    if rules.outcome.has_probabilities:
        constants.append(f"CLASSES = {_tuple(portable.class_labels(rules))}")
    if rules.outcome.link == "identity":
        of_total = [PREDICT_NUMBER.format(value="_values")]
    elif rules.outcome.link == "logit":
        decision = rules.outcome.decision(rules.threshold, rules.costs)
        constants.append(f"CUT = {_literal(decision.log_odds_cut)}")
        of_total = [POINTS_TWO.format(sign=">" if rules.threshold is None else ">=")]
    else:
        chosen = "_values" if rules.costs is None else "_shares"
        how = _how_chosen(rules, constants)
        of_total = [how, POINTS_MANY.format(chosen=chosen)]
    if rules.outcome.n_points == 1:
        codes = rules._reason_codes(1, best)
        lines = [_tuple((code.rule, code.if_match, code.text)) for code in codes]
        constants += [
            "# Index of a rule, whether it costs points if it matches, and its text.",
            f"REASONS = {_lines(lines)}",
        ]
        of_total = [SCORE, *of_total]
    return ["\n".join(constants), _matching(rules), TOTALS, *of_total]


def _chain(rules):
    lines = [
        "def rule(row):",
        '    """Index of the predicting rule from 0; the last is the default."""',
        *_columns(rules),
    ]
    comments = _comments(rules)
    for k, tests in enumerate(portable.column_tests(rules)[:-1]):
        lines.append(f"    # {comments[k]}")
        lines.append(f"    if {_condition(rules, tests)}:")
        lines.append(f"        return {k}")
    return "\n".join([*lines, f"    return {len(rules.rules)}"])


def _matching(rules):
    lines = [
        "def _matches(row):",
        '    """Whether each rule matches."""',
        *_columns(rules),
        "    return (",
    ]
    every = portable.column_tests(rules)
    for tests, comment in zip(every, _comments(rules), strict=True):
        lines += [f"        # {comment}", f"        {_condition(rules, tests)},"]
    return "\n".join([*lines, "    )"])


def _readers(rules):
    """The functions that read columns, as far as needed."""
    used = {_reader(rules, feature)[0] for feature in portable.used_features(rules)}
    sources = {"_number": NUMBER, "_days": DAYS, "_category": CATEGORY}
    return [source for name, source in sources.items() if name in used]


def _reader(rules, feature):
    """The function that reads a column, and its further argument."""
    if rules.categories[feature] is not None:
        return "_category", ""
    kind = rules._vocabulary.scales[feature].kind
    if kind not in TYPES:
        return "_number", ""
    return "_days", f", datetime.{TYPES[kind]}"


def _columns(rules):
    """Lines that read the columns of the rules."""
    lines = []
    for feature in portable.used_features(rules):
        read, option = _reader(rules, feature)
        name = str(rules.feature_names[feature])
        lines.append(f"    x{feature + 1} = {read}(row[{name!r}]{option})")
    return lines


def _comments(rules):
    """Each rule as text."""
    *others, last = rules._view.rows()
    last = {**last, "if": rules._view.default_text}
    texts = []
    for row in (*others, last):
        then = ", ".join(filter(None, [row["then"], row["estimate_text"]]))
        texts.append(f"{row['rule']}. {row['if']}: {then}")
    # A line break in a name would end the comment and begin a statement.
    return [render.plain(text) for text in texts]


def _condition(rules, tests):
    parts = []
    for test in tests:
        is_number = rules.categories[test.feature] is None
        column = f"x{test.feature + 1}"
        is_missing = f"{column} != {column}" if is_number else f"{column} is None"
        is_present = f"{column} == {column}" if is_number else f"{column} is not None"
        if test.matches_none:
            parts.append(is_missing if test.missing else "False")
        elif test.matches_all:
            parts.append("True" if test.missing else is_present)
        elif test.labels is not None and not test.is_listed:
            # A missing value is not among the labels, so it would match.
            other = f"{column} not in {_tuple(test.labels)}"
            parts.append(other if test.missing else f"{is_present} and {other}")
        else:
            text = _test(test, column)
            parts.append(f"({text} or {is_missing})" if test.missing else text)
    return " and ".join(parts) if parts else "True"


def _test(test, column):
    if test.labels is not None:
        return f"{column} in {_tuple(test.labels)}"
    if len(test.sides) == 1:
        [(sign, value)] = test.sides
        return f"{column} {'==' if sign == '=' else sign} {value!r}"
    (lower_sign, lower), (upper_sign, upper) = test.sides
    flipped = lower_sign.replace(">", "<")
    return f"{lower!r} {flipped} {column} {upper_sign} {upper!r}"


def _tuple(values):
    values = [_literal(value) for value in values]
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _lines(values):
    return "(\n" + "".join(f"    {value},\n" for value in values) + ")"


def _literal(value):
    is_infinite = isinstance(value, float) and not math.isfinite(value)
    return f"float({str(value)!r})" if is_infinite else repr(value)
