"""The rules on the page: the player's table is the registry's, the menu names them all, notes say what each does."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from specdemo.config import RULES
from specdemo.core import rules
from specdemo.core.events import RunStarted
from specdemo.paths import ASSETS
from specdemo.ui.callbacks import rule_note
from specdemo.ui.i18n import LANGUAGES
from specdemo.ui.tabs.watch import _rules
from specdemo.wire import decode

NODE = shutil.which("node")
PRINTED = """import { IDS, keepsLaw, rule } from "%s";
const known = (id) => ({ ...rule(id), drawn: keepsLaw(rule(id), false), greedy: keepsLaw(rule(id), true) });
console.log(JSON.stringify(IDS.map(known)));"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_player_promises_of_a_rule_what_the_registry_promises() -> None:
    assert NODE is not None
    code = PRINTED % (ASSETS / "player" / "rules.js").as_uri()
    done = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True, check=True)
    shown = [(one["id"], one["badge"], one["coupled"], one["drawn"], one["greedy"]) for one in json.loads(done.stdout)]
    known = [(e.id, str(e.badge), e.coupled, e.keeps_law(False), e.keeps_law(True)) for e in rules.entries()]
    assert shown == known


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menu_has_every_rule_with_its_badge(language: str) -> None:
    menu = _rules(language)
    assert [id for _, id in menu] == list(RULES)
    assert all(" · " in name for name, _ in menu)
    assert len({name for name, _ in menu}) == len(RULES)


def test_a_note_says_what_a_rule_does_and_whose_side_it_changes() -> None:
    said = rule_note(rules.entry("argmax-draft"))
    assert set(said) == set(LANGUAGES)
    for part in ("biased", "side of: draft", "full q"):
        assert part in said["en"]


def test_the_runs_that_the_player_is_tested_with_are_traces_of_every_rule() -> None:
    text = (Path(__file__).parents[1] / "player" / "rules.jsonl").read_text(encoding="utf-8")
    streams = ['{"specdemo"' + one for one in text.split('{"specdemo"')[1:]]
    judged = {event.rule for one in streams for event in decode(one.splitlines()) if isinstance(event, RunStarted)}
    assert judged == set(RULES)
