"""What rules print is read back as it was; nonsense gets one sentence with a mark.

`HYPOTHESIS_PROFILE=many pytest tests/rules/test_parsing.py` tries 10,000 of each.
"""

import contextlib
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from defragtrees.errors import ConditionTextError
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.labels import MICROSECONDS, PLAIN, Scale
from defragtrees.rules.parsing import ColumnWords, parse_conditions, read_condition

WORDS = ["is", "and", "or", "not", "missing", "<=", ">", "a", "1", "(", "'", ", ", " "]
TEXT = st.one_of(
    st.text(min_size=1, max_size=6),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)
NAME = TEXT.filter(lambda text: text.strip() and text.isprintable())
FINITE = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(10**6), 10**6).map(float)
MOMENT = st.integers(-(10**16), 10**16).map(lambda n: n / MICROSECONDS)
TIME = st.integers(0, MICROSECONDS - 1).map(lambda n: n / MICROSECONDS)
UNIT = st.one_of(st.just(""), st.sampled_from(["months", "€", "5", "%", "days"]))
KINDS = {"date": MOMENT, "datetime": MOMENT, "time": TIME, "duration": MOMENT}


def parse_condition(text, *words):
    return read_condition(text, ColumnWords(*words))


def is_kept(value):
    """Whether a time has no more digits than are printed of it."""
    return round(value * MICROSECONDS) / MICROSECONDS == value


@st.composite
def number_columns(draw):
    """A scale, whether it has whole numbers only, and a strategy of its bounds."""
    kind = draw(st.sampled_from([None, "integer", *KINDS]))
    if kind is None:
        near = FINITE.map(lambda value: math.nextafter(round(value), -math.inf))
        return Scale(draw(UNIT)), False, FINITE | WHOLE | near
    if kind == "integer":
        return Scale(draw(UNIT)), True, WHOLE
    day = WHOLE.map(lambda n: n % 30000)
    values = KINDS[kind] if kind == "time" else KINDS[kind] | day
    return Scale(draw(UNIT), kind), False, values.filter(is_kept)


@st.composite
def intervals(draw, feature):
    """A scale, whether its numbers are whole, and a condition on them."""
    scale, is_integer, bound = draw(number_columns())
    missing = draw(st.booleans())
    if draw(st.integers(0, 9)) == 0:
        return scale, is_integer, Condition(feature, lower=math.inf, missing=missing)
    ends = sorted(draw(st.lists(bound, min_size=2, max_size=2, unique=True)))
    lower = ends[0] if draw(st.booleans()) else -math.inf
    upper = ends[1] if draw(st.booleans()) else math.inf
    if draw(st.booleans()) and math.isfinite(upper):
        lower = upper - 1 if is_integer else math.nextafter(upper, -math.inf)
    condition = Condition(feature, lower, upper, None, missing, is_integer)
    return scale, is_integer, condition


@st.composite
def sets(draw, feature):
    """Categories with their scale, and a condition on them."""
    labels = st.one_of(TEXT, st.integers(), st.booleans(), FINITE)
    labels = draw(st.lists(labels, min_size=1, max_size=6, unique_by=str))
    places = draw(st.sets(st.integers(0, len(labels))))
    scale = Scale(kind="ordered") if draw(st.booleans()) else PLAIN
    condition = Condition(
        feature, categories=tuple(sorted(places)), missing=draw(st.booleans())
    )
    return tuple(labels), scale, condition


@st.composite
def printed(draw, most=3):
    """Words of some features, and one condition on each."""
    names = draw(st.lists(NAME, min_size=1, max_size=most, unique=True))
    categories, scales, integers, conditions = [], [], [], []
    for feature in range(len(names)):
        if draw(st.booleans()):
            labels, scale, condition = draw(sets(feature))
        else:
            labels = None
            scale, is_integer, condition = draw(intervals(feature))
            integers += [feature] if is_integer else []
        categories.append(labels)
        scales.append(scale)
        conditions.append(condition)
    return ColumnWords(names, categories, scales, integers), conditions


@given(printed())
def test_every_printed_condition_is_read_back_as_it_was(case):
    words, conditions = case
    texts = [words.text(condition) for condition in conditions]
    for condition, text in zip(conditions, texts, strict=True):
        # A name may be such that its condition is that of another column.
        assume(text not in other_texts(words, condition))
        again = parse_condition(
            text, words.names, words.categories, words.scales, words.integers
        )
        assert again == condition


def other_texts(words, condition):
    """The same text would be printed of other columns, which nobody could tell."""
    try:
        again = parse_conditions(words.text(condition), words)
    except ConditionTextError as error:
        return [words.text(condition)] if "must be unambiguous" in str(error) else []
    is_other = [one.feature != condition.feature for one in again]
    return [words.text(one) for one in again if any(is_other)]


@given(printed())
def test_conditions_of_a_rule_are_read_back_together(case):
    words, conditions = case
    assume(all("and" not in name and "or" not in name for name in words.names))
    assume(all(name == name.strip("() ") for name in words.names))
    for condition in conditions:
        assume(not other_texts(words, condition))
    rule = Rule(tuple(conditions), 0)
    text = rule.text(words.names, words.categories, words.scales)
    assert parse_conditions(text, words) == rule.conditions


def read(text):
    words = ColumnWords(
        ["income", "Loan [k]", "colour", "opened", "grade", " a and b"],
        [None, None, ("red", "missing", "blue"), None, ("low", "mid", "high"), None],
        [PLAIN, Scale("k€"), PLAIN, Scale(kind="date"), Scale(kind="ordered"), PLAIN],
        [1],
        ["income", "loan", "colour", "opened", "grade", " a and b"],
    )
    return " & ".join(words.text(one) for one in parse_conditions(text, words))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("income<=40000.0", "income <= 40000"),
        ("income ≤ 40,000", "income <= 40000"),
        ("  income  >  −2 ", "income > -2"),
        ("'income' = 3", "income is 3"),
        ("loan < 10", "Loan [k] <= 9 k€"),
        ("loan <= 9 k€", "Loan [k] <= 9 k€"),
        ("5 >= income > 2", "2 < income <= 5"),
        ("income > 2 and income <= 5", "2 < income <= 5"),
        ("colour is 'missing' or missing", "colour is 'missing' or missing"),
        ("colour is missing", "colour is missing"),
        ("colour is not blue", "colour is not blue"),
        ("opened > 2024-02-29", "opened > 2024-02-29"),
        ("opened <= 2024-02-29 12:30", "opened <= 2024-02-29 12:30"),
        ("grade < high", "grade <= mid"),
        ("grade >= mid and (loan > 3 or missing)",
         "grade >= mid & Loan [k] >= 4 k€ or missing"),
        (" a and b <= 3 and income > 2", " a and b <= 3 & income > 2"),
    ],
)  # fmt: skip
def test_text_that_people_write_is_read_too(text, same):
    assert read(text) == same


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The name of a column ('income', 'Loan [k]', 'colour', 'opened', 'grade', "
             "…) is needed at [here]: [here]"),
        ("incme <= 3", "is needed at [here]: [here]incme <= 3"),
        ("income", "A sign such as <= or > is needed at [here]: income[here]"),
        ("income <= 4o000", "A number is needed at [here]: income <= [here]4o000"),
        ("income <= 1e999", "A number is needed at [here]: income <= [here]1e999"),
        ("income <= 3 and loan > x", "at [here]: income <= 3 and loan > [here]x"),
        ("3 < income > 2", "A sign that ends the range is needed at [here]: 3 < income "
                           "[here]> 2"),
        ("5 < income <= 3", "A range that some number is in is needed at [here]: "
                            "[here]5"),
        ("colour is red or puce", "One of the categories 'red', 'missing', 'blue' is "
                                  "needed at [here]: colour is red or [here]puce"),
        ("colour <= red", "The word is, as its categories have no order, is needed at "
                          "[here]: colour[here] <= red"),
        ("opened > 2024-02-30", "A date such as 2024-03-01 is needed at [here]: "
                                "opened > [here]2024-02-30"),
        ("grade is low, 'mid", "at [here]: grade is low, [here]'mid"),
    ],
)  # fmt: skip
def test_nonsense_gets_one_sentence_with_the_place_marked(text, message):
    with pytest.raises(ConditionTextError) as caught:
        read(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(ConditionTextError):
        read(text)


def test_what_is_no_text_is_refused():
    with pytest.raises(ConditionTextError, match="got 3"):
        parse_condition(3, ["a"])


def test_two_columns_that_are_shown_alike_are_told_by_their_units():
    scales = [Scale("m"), Scale("s")]
    assert parse_condition("A <= 3 s", ["A", "A"], None, scales).feature == 1
    with pytest.raises(ConditionTextError, match="may mean"):
        parse_condition("A <= 3", ["A", "A"], None, scales)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("age > 3 & hue is red", "Conditions are joined by 'and'."),
        ("age > 3 AND hue is red", "Conditions are joined by 'and'."),
        ("age between 3 and 4", "A range is written '20 < age <= 30'."),
        ("hue in (red, blue)", "Categories are written 'is red or blue'."),
        ("hue != red", "Other categories are written 'is not red'."),
    ],
)
def test_what_other_languages_say_is_translated(text, ending):
    words = ColumnWords(["age", "hue"], [None, ("red", "blue")])
    with pytest.raises(ConditionTextError, match=r"is needed at \[here\]") as caught:
        parse_conditions(text, words)
    assert str(caught.value).endswith(ending)


def test_a_misspelt_column_is_guessed():
    words = ColumnWords(["age", "Records"])
    with pytest.raises(ConditionTextError, match="did you mean 'Records'"):
        parse_conditions("record > 3", words)
    with pytest.raises(ConditionTextError, match=r"\('age', 'Records'\)"):
        parse_conditions("opened > 3", words)


@pytest.mark.parametrize("names", [["a", "b"], ["salt and pepper", "b"]])
@pytest.mark.parametrize(
    ("n_parts", "end", "message"),
    [
        (300, " and b <=", "A number is needed at [here]: …"),
        (300, " and c <= 4", "The name of a column"),
        (2000, "", "at most 1000 conditions; got 2,000 joined by 'and'"),
    ],
)
def test_a_long_text_ends_in_a_short_sentence(names, n_parts, end, message):
    # Backtracking took 20 s for 300 parts, and 1,000 exceeded the recursion limit.
    text = " and ".join(["b <= 3"] * n_parts) + end
    with pytest.raises(ConditionTextError) as caught:
        parse_conditions(text, ColumnWords(names))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def test_many_conditions_are_read():
    names = [f"salt and pepper {j}" for j in range(900)]
    text = " and ".join(f"{name} <= 3" for name in names[:400])
    assert len(parse_conditions(text, ColumnWords(names[:400]))) == 400
    text = " and ".join(["b > 3"] * 999 + ["b <= 4"])
    [condition] = parse_conditions(text, ColumnWords(["b"]))
    assert (condition.lower, condition.upper) == (3.0, 4.0)


@pytest.mark.parametrize("text", ["age is" + " age" * 20_000, f"age{' ' * 50_000}x"])
def test_long_texts_are_read_in_a_time_that_grows_with_their_length(text):
    # Each name in a text started a reading of the rest: ten minutes for the first.
    with pytest.raises(ConditionTextError):
        parse_conditions(text, ColumnWords(["age"]))
