"""Frames as people have them: nullable types, text with gaps, decimals, dates."""

import decimal

import numpy as np
import pytest

from defragtrees import DefragClassifier

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N_ROWS = 200
PLAIN = pd.DataFrame(
    {
        "size": RNG.integers(0, 9, N_ROWS).astype(float),
        "open": RNG.random(N_ROWS) < 0.5,
        "city": RNG.choice(["x", "y", "z"], N_ROWS),
    }
)
Y = np.where((PLAIN["size"] > 4) ^ (PLAIN["city"] == "x"), "yes", "no")
GAPS = RNG.random(N_ROWS) < 0.1


def nullable(frame, text="string"):
    frame = frame.astype({"size": "Int64", "open": "boolean", "city": text})
    frame.loc[GAPS, ["size", "city"]] = pd.NA
    return frame


FRAMES = {
    "nullable": nullable(PLAIN),
    "text of arrow": nullable(PLAIN, "str"),
    "objects": nullable(PLAIN).astype(object),
    "decimals": PLAIN.assign(size=[decimal.Decimal(str(v)) for v in PLAIN["size"]]),
    "truth": PLAIN.assign(open=PLAIN["open"].astype(int)),
    "dates": PLAIN.assign(
        size=pd.Timestamp("2024-03-01") + pd.to_timedelta(PLAIN["size"], unit="D")
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_rules_of_frames_of_every_kind(kind):
    frame = FRAMES[kind]
    simple = DefragClassifier(random_state=0).fit(frame, Y)
    assert simple.score(frame, Y) > 0.8
    assert "city" in simple.rules_.features
    answers = simple.rules_.predict(frame)
    assert (answers == simple.predict(frame)).all()
    # A row by itself, of plain values, is answered as in its table.
    for i in (0, int(np.argmax(GAPS)), N_ROWS - 1):
        assert simple.rules_.predict(frame.iloc[[i]])[0] == answers[i]


def test_missing_values_of_nullable_columns_are_missing():
    frame = FRAMES["nullable"]
    simple = DefragClassifier(random_state=0).fit(frame, Y)
    plain = PLAIN.assign(
        open=PLAIN["open"].astype(float), city=PLAIN["city"].astype("O")
    )
    plain.loc[GAPS, ["size", "city"]] = np.nan
    assert (simple.predict(plain) == simple.predict(frame)).all()
