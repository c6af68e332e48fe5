"""A score for the bedside: five lines, points of at most 3, one page, all totals."""

import numpy as np
import pytest

from defragtrees import DefragClassifier, write_report
from defragtrees.datasets import load_table
from tests.report.cases import CHROMIUM, PATIENCE, launch

MOST_LINES = 5


@pytest.fixture(scope="module")
def patients():
    X, y = load_table("heart")
    order = np.random.default_rng(0).permutation(len(y))
    first, last = order[:220], order[220:]
    return (X.iloc[first], y[first]), (X.iloc[last], y[last])


@pytest.fixture(scope="module")
def score(patients):
    settings = {"form": "points", "points": "integer", "max_points": 3}
    settings |= {"max_rules": MOST_LINES + 1, "max_conditions": 1, "pos_label": "ill"}
    return DefragClassifier(random_state=0, **settings).fit(*patients[0]).rules_


def test_a_nurse_can_add_it_up(score, patients):
    points = [rule.points[0] for rule in score.rules]
    assert len(points) <= MOST_LINES
    assert all(abs(p) in (1, 2, 3) for p in points)
    X, y = patients[1]
    assert score.evaluate(X, y)["auc_low"] > 0.75
    # Every total that occurs is printed, and stands for the probability predicted.
    lines = [line.split() for line in score.table().rpartition("\n\n")[2].splitlines()]
    printed = {float(line[0]): float(line[1].rstrip("%")) / 100 for line in lines[1:]}
    totals, likely = score.totals(X)[:, 0], score.predict_proba(X)[:, 1]
    for total, probability in zip(totals, likely, strict=True):
        assert printed[total] == pytest.approx(probability, abs=0.006)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium was found; install it")
def test_the_card_is_one_page_on_paper(score, patients, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    write_report(tmp_path / "score.html", score, *patients[1])
    with sync_api.sync_playwright() as running:
        browser = launch(running)
        page = browser.new_page(viewport={"width": 680, "height": 960})
        page.set_default_timeout(PATIENCE)
        page.emulate_media(media="print")
        page.goto((tmp_path / "score.html").as_uri())
        card = page.locator("section#scorecard")
        height = card.bounding_box()["height"]
        text = card.inner_text()
        browser.close()
    assert height < 960
    for total in np.unique(score.totals(patients[1][0])):
        assert f"{total:.0f}".replace("-", "\u2212") in text
