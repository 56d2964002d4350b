"""Two languages that say the same things."""

import re
from collections import Counter
from string import Formatter

import pytest

from specdemo import drafters
from specdemo.config import POLICIES
from specdemo.errors import SettingError, sentences
from specdemo.paths import ASSETS
from specdemo.prompts import load_prompts
from specdemo.ui.i18n import browser_texts, closest, spoken
from specdemo.ui.settings import FIELDS

EN, ZH = sentences("en"), sentences("zh")


def placeholders(sentence: str) -> Counter[str]:
    return Counter(name for _, name, _, _ in Formatter().parse(sentence) if name is not None)


def test_both_have_the_same_keys() -> None:
    assert EN.keys() ^ ZH.keys() == set()


def test_both_have_the_same_placeholders() -> None:
    assert [key for key in EN.keys() & ZH.keys() if placeholders(EN[key]).keys() != placeholders(ZH[key]).keys()] == []


def test_nothing_is_left_untranslated() -> None:
    """Sentences of ours in Chinese have Chinese characters; names, formulas and other programs' words may have none."""
    free = ("player.card.", "player.engine.", "ui.page.choice.", "ui.field.top_p", "player.walk.")
    plain = [key for key, said in ZH.items() if not re.search("[\u4e00-\u9fff]", said) and len(said.split()) > 3]
    assert [key for key in plain if not key.startswith(free)] == []


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("zh", "zh"),
        ("zh-Hans-CN", "zh"),
        ("zh-HK", "zh"),
        ("ZH_tw", "zh"),
        ("en-GB", "en"),
        ("fr", "en"),
        ("", "en"),
        (None, "en"),
    ],
)
def test_the_closest_language(tag: object, language: str) -> None:
    assert closest(tag) == language


def test_an_error_names_the_setting_as_the_page_does() -> None:
    said = spoken(SettingError("not_whole", name="gamma", value=3.5))
    assert EN["ui.field.gamma"] in said["en"]
    assert ZH["ui.field.gamma"] in said["zh"]


def test_everything_in_a_menu_has_a_name() -> None:
    for table in (EN, ZH):
        for entry in drafters.entries():
            assert table[f"ui.about.{entry.id}"]
            assert table[f"player.drafter.{entry.id}"]
            for knob in entry.knobs:
                assert knob.kind == "path" or table[f"ui.page.knob.{knob.name}"]
                assert all(table[f"ui.page.choice.{choice}"] for choice in knob.choices)
        assert all(table[f"ui.policy.{policy}"] for policy in POLICIES)
        assert all(table[f"ui.field.{field}"] for field in FIELDS)
        assert all(table[f"ui.group.{prompt.group}"] for prompt in load_prompts())


def test_every_stage_of_loading_has_a_name() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ASSETS.parent / "specdemo" / "models").glob("*.py")]
    stages = {stage for source in sources for stage in re.findall(r'progress\("(\w+)"', source)}
    assert "download" in stages
    assert {stage for stage in stages if f"ui.stage.{stage}" not in EN} == set()


def test_the_browser_gets_the_texts_that_it_composes_and_no_others() -> None:
    for table in browser_texts().values():
        assert "player.fate.accepted" in table
        assert not any(key.startswith("error.") for key in table)
