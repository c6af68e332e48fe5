"""What people changed is kept with the rules, in the file too, and is shown."""

import pytest

import defragtrees
from defragtrees import RuleModel
from defragtrees.errors import ModelFileError
from defragtrees.rules.model import ACTIONS, Edit
from tests.rules.test_schema import load, refused

DROPPED = {
    "action": "drop",
    "rule": 3,
    "text": "dropped rule 3: if age > 80 then \x1b[31mno",
}


def edited(*edits):
    return {**load(), "edits": list(edits)}


def test_edits_of_a_file_are_kept_and_shown(tmp_path):
    rules = RuleModel.from_dict(edited(DROPPED, {"action": "refit", "text": "anew"}))
    assert rules.edits == (
        Edit("drop", DROPPED["text"], 3),
        Edit("refit", "anew"),
    )
    rules.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == rules
    assert again.to_dict()["edits"][0] == DROPPED
    for text in (str(again), again._repr_html_()):
        assert "Edited after the fit" in text
        assert "dropped rule 3: if age &gt; 80" in text.replace("> 80", "&gt; 80")
        assert "\x1b" not in text
    assert rules != RuleModel.from_dict(load())


def test_rules_without_edits_say_nothing_of_them():
    for data in (load(), {**load(), "edits": []}, {**load(), "edits": None}):
        rules = RuleModel.from_dict(data)
        assert rules.edits == ()
        assert "Edited" not in str(rules)
        assert "edits" not in rules.to_dict()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"action": "burn", "text": "x"}, "edits[0].action must be one of 'drop'"),
        ({"action": "drop"}, "edits[0] has no 'text'"),
        ({"action": "drop", "text": 3}, "edits[0].text must be a text; got 3"),
        ({"action": "drop", "text": " "}, "must describe the change in words"),
        ({"action": "drop", "text": "x", "rule": 0}, "edits[0].rule must be from 1"),
        ({"action": "drop", "text": "x", "by": "me"}, "edits[0] has 'by', which this"),
        ("dropped", "edits[0] must be an object; got 'dropped'"),
    ],
)
def test_other_edits_are_refused_by_their_place(edit, message, tmp_path):
    assert message in refused(edited(edit), tmp_path)


def test_the_schema_names_the_same_actions():
    from defragtrees.export.tables import schema as rules_schema

    schema = rules_schema()["$defs"]["edit"]["properties"]["action"]
    assert tuple(schema["enum"]) == ACTIONS
    with pytest.raises(ModelFileError):
        RuleModel.from_dict(edited({"action": "burn", "text": "x"}))
